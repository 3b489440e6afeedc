"""What a MAP or SCEN argument may be: a path, a path into a zip, a generator, or a name of the data folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wend.errors import UnknownNameError
from wend.maps.data import find_map, find_scen
from wend.maps.drawing import draw_spec
from wend.maps.movingai import Scenario, read_map, read_scen, read_source, split_zip

# `rooms:` or `rooms:seed=3`; at least two letters, so that the drive of a Windows path is no generator.
_GENERATOR = re.compile(r"[A-Za-z][\w-]+:")


def load_passable(source: str | Path) -> NDArray[np.bool_]:
    """The terrain of a map as rows, True where a unit may stand.

    The source is the path of a `.map` file, in a zip or not; a generator such as `rooms:seed=3`; or a name of the data
    folder such as `bg512/AR0414SR`. A file that exists comes before the other two.
    """
    place = place_of_map(source)
    return draw_spec(str(source)) if place is None else read_map(place)


def load_scenario(source: str | Path) -> Scenario:
    """A scenario: the path of a `.scen` file, in a zip or not, or a name such as `mapf/den312d-random-1`."""
    return read_scen(place_of_scenario(source))


def place_of_map(source: str | Path) -> str | Path | None:
    """Where a map lies, as a path that may lead into a zip; None if a generator draws it."""
    if _exists(source):
        return source
    if _GENERATOR.match(str(source)):
        return None
    tried = "It is no file, and no generator (kind: or kind:key=value,...)."
    return _found(find_map, source, tried)


def place_of_scenario(source: str | Path) -> str | Path:
    """Where a scenario lies, as a path that may lead into a zip."""
    return source if _exists(source) else _found(find_scen, source, "It is no file.")


def digest_of_map(source: str | Path) -> str:
    """The SHA-256 of a map's file, or of the rows of `.` and `@` that a generator draws, a newline after each."""
    place = place_of_map(source)
    if place is not None:
        return hashlib.sha256(read_source(place)).hexdigest()
    rows = np.where(draw_spec(str(source)), ".", "@")
    return hashlib.sha256("".join("".join(row) + "\n" for row in rows).encode()).hexdigest()


def digest_of_scenario(source: str | Path) -> str:
    """The SHA-256 of a scenario's file."""
    return hashlib.sha256(read_source(place_of_scenario(source))).hexdigest()


def file_at(place: str | Path) -> Path:
    """The file at a place: the place itself, or the zip that it leads into."""
    inside = split_zip(Path(place))
    return inside[0] if inside else Path(place)


def _exists(source: str | Path) -> bool:
    """Whether there is something other than a folder at this path, or a zip on it."""
    try:
        return (os.path.exists(source) and not os.path.isdir(source)) or split_zip(Path(source)) is not None
    except ValueError:      # a NUL in it
        return False


def _found(find: Callable[[str], str], source: str | Path, tried: str) -> str:
    try:
        return find(source.as_posix() if isinstance(source, Path) else source)
    except UnknownNameError as error:
        raise UnknownNameError(error.kind, error.name, error.known, hint=f"{tried} {error.hint}") from None
