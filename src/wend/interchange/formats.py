"""Other people's plan files: read and written.

A plan says where every agent stands at every tick, from the first to the last. Three of the field's formats are read
and written, a fourth is only written. Each has a file of its own here; `docs/formats/foreign.md` describes them field
by field.

    name       what it is                                      places are
    lacam      the log of lacam3, which mapf-visualizer shows  (x,y)
    eecbs      the path file of EECBS                          (row,col)
    yaml       the schedule of libMultiRobotPlanning           x, y, t
    tracker    the CSV of the MAPF Tracker, written only       letters: u is row + 1
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from wend.errors import FormatError, UnknownNameError
from wend.files import opened, replacing
from wend.interchange import eecbs, lacam, tracker, yaml
from wend.interchange.plan import Plan
from wend.interchange.reading import EXCERPT, LIMIT_BYTES, numbered_lines
from wend.world.trace import Trace

WRITERS: dict[str, Callable[[Trace], Iterator[str]]] = {
    "lacam": lacam.write,
    "eecbs": eecbs.write,
    "yaml": yaml.write,
    "tracker": tracker.write,
}
_READERS = {eecbs.SIGN: eecbs.read, lacam.SIGN: lacam.read, yaml.SIGN: yaml.read}       # tried in this order


def read_plan(path: str | Path) -> Plan:
    """Read a plan in any of the formats; a file that holds none, or a damaged one, is a FormatError."""
    with opened(path, at_most=LIMIT_BYTES) as binary, io.TextIOWrapper(binary, encoding="utf-8-sig") as file:
        try:
            number, line = next(numbered_lines(file, path), (1, ""))
            read = _reader_of(line, path, number)
            file.seek(0)
            return read(file, path)
        except UnicodeDecodeError:
            raise FormatError(path, "not a plan: it is not text in UTF-8") from None
        except OSError as error:
            raise FormatError(path, f"cannot be read: {error.strerror or error}") from None


def _reader_of(line: str, path: str | Path, number: int) -> Callable[[TextIO, str | Path], Plan]:
    """Tell the format by the first line that is not blank, and never by the file's name."""
    for sign, read in _READERS.items():
        if sign.match(line):
            return read
    raise FormatError(
        path,
        f"not a plan in a known format: a lacam3 log begins with `agents=`, an EECBS path file with `Agent 0:`, a "
        f"schedule in YAML with `statistics:` or `schedule:`, and this file with {line[:EXCERPT]!r}",
        line=number,
    )


def write_plan(trace: Trace, format: str, path: str | Path) -> None:
    """Write a run as a plan in one of the formats of WRITERS; a run that the format cannot hold is a ParameterError."""
    if format not in WRITERS:
        raise UnknownNameError("plan format", format, WRITERS)
    with replacing(path) as file:
        for text in WRITERS[format](trace):
            file.write(text.encode())
