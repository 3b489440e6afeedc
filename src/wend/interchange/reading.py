"""What the readers share. Files come from strangers: what is read is bounded, and all else ends in a FormatError."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError
from wend.maps.terrain import Point

LIMIT_BYTES = 128 * 2**20       # a larger file is refused
_LIMIT_LINES = 2**20            # ticks of a log, agents of a path file: each is an array of its own while reading
_LIMIT_LETTERS = 2**22          # of one line: 400,000 places and more
_LIMIT_PLACES = 2**25           # agents times ticks; short paths are filled up, so a small file can ask for much
EXCERPT = 24                    # letters of a stranger's file that an error repeats

_NUMBER = r"-?[0-9]{1,9}"       # more digits are no place on any map, and no work for int()
# Possessive: a match that cannot be completed is never tried another way, and remembers nothing on its way.
_PLACES = {separator: re.compile(rf"(?:\({_NUMBER},{_NUMBER}\){separator})*+") for separator in (",", "->")}


def numbered_lines(file: TextIO, path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    number = 0
    while line := file.readline(_LIMIT_LETTERS + 1):
        number += 1
        if number > _LIMIT_LINES:
            raise FormatError(path, f"more than {_LIMIT_LINES} lines, the most that are read as a plan", line=number)
        if len(line) > _LIMIT_LETTERS:
            raise FormatError(path, f"a line of more than {_LIMIT_LETTERS} letters", line=number)
        if line.strip():
            yield number, line.strip()


def parse_places(text: str, separator: str, what: str, path: str | Path, line: int) -> NDArray[np.int32]:
    """Read pairs of numbers, each followed by the separator, which may be missing after the last."""
    if not text.endswith(separator):
        text += separator
    found = _PLACES[separator].match(text)
    end = found.end() if found else 0
    if end == 0 or end < len(text):
        raise FormatError(
            path,
            f"expected {what}{separator} with numbers of at most 9 digits, found {text[end : end + EXCERPT]!r}",
            line=line,
        )
    numbers = text.replace(separator, ",").translate({ord("("): None, ord(")"): None})
    return np.fromstring(numbers.rstrip(","), dtype=np.int32, sep=",").reshape(-1, 2)


def parse_integer(text: str, what: str, path: str | Path, line: int) -> int:
    """Read a whole number, which may be negative."""
    if not re.fullmatch(_NUMBER, text):
        raise FormatError(path, f"{what} is no whole number of at most 9 digits: {text[:EXCERPT]!r}", line=line)
    return int(text)


def filled(paths: list[NDArray[np.int32]], path: str | Path) -> NDArray[np.int32]:
    """Put paths of several lengths into one array, in which an agent stays at its last place."""
    ticks = max(len(places) for places in paths)
    if ticks * len(paths) > _LIMIT_PLACES:
        raise FormatError(path, f"{len(paths)} agents for {ticks} ticks are more than {_LIMIT_PLACES} places")
    positions = np.empty((ticks, len(paths), 2), dtype=np.int32)
    for agent, places in enumerate(paths):
        positions[: len(places), agent] = places
        positions[len(places) :, agent] = places[-1]
    return positions


def as_points(places: NDArray[np.int32] | None) -> list[Point] | None:
    """The places as pairs; None stays None."""
    return None if places is None else [(x, y) for x, y in places.tolist()]
