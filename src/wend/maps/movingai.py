"""MovingAI's `.map` and `.scen`: the only file that knows the two formats.

A source is the path of a file, or a path that leads through a zip of the site as if it were a folder
(`bg512-map.zip/AR0414SR.map`); entries are read in memory and never extracted. Whatever is wrong with a file ends in a
`FormatError` that names file, line and reason. Numbers in a header are trusted only after the rows have been counted,
so a header cannot make Wend allocate more than the file itself holds. A map for which the machine has too little memory
is refused when its header has been read.

`docs/formats/movingai.md` describes the formats field by field.
"""

from __future__ import annotations

import difflib
import io
import math
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wend.errors import FormatError, MapError, ParameterError, ProblemError
from wend.files import opened, opened_zip, read_entry, replacing
from wend.maps.memory import MAX_CELLS, require_memory
from wend.maps.terrain import BLOCKED_LETTERS, PASSABLE_LETTERS, Point

MAX_ZIP_BYTES = 2 * 2**30       # of a whole zip, packed
MAX_ENTRY_BYTES = 64 * 2**20    # of one zip entry, unpacked: a map of 8000 x 8000, and no zip bomb
MAX_MAP_BYTES = 2 * MAX_CELLS   # of a .map file: even narrow rows with Windows line ends are few bytes per cell
MAX_SCEN_BYTES = 16 * 2**20     # of a .scen file: some 300,000 rows
_HEADER_BYTES = 2**16           # within which the rows of a map begin

# `#` is a wall in Wend's own drawings, but no letter of the format.
_PASSABLE = PASSABLE_LETTERS.encode()
_BLOCKED = BLOCKED_LETTERS.replace("#", "").encode()

# What each byte of the rows means; one translate() and two comparisons check a whole map.
_WALL, _FREE, _NEWLINE, _UNKNOWN = range(4)
_MEANING = bytes(
    _FREE if byte in _PASSABLE else _WALL if byte in _BLOCKED else _NEWLINE if byte == ord("\n") else _UNKNOWN
    for byte in range(256)
)

_HEADER_KEYS = (b"type", b"height", b"width")
_MOST_DIGITS = 9                # of any number but `optimal`: what fits into 32 bits whatever the digits are
_DECIMAL = re.compile(rb"\d+(\.\d*)?([eE][+-]?\d+)?")
_NOT_TEXT = re.compile(rb"[^\t\n\x20-\x7e]")

# The names of the MAPF benchmark's scenarios, such as `den312d-random-1`: map, kind and number
MAPF_SCENARIO = re.compile(r"(.+?)-(even|random)-([0-9]+)\b")

_SCEN_FIELDS = ("bucket", "map", "width", "height", "start x", "start y", "goal x", "goal y", "optimal")
_SCEN_FIELDS_UNVERSIONED = tuple(field for field in _SCEN_FIELDS if field not in ("width", "height"))


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """One problem of a scenario: one agent's way from start to goal."""

    bucket: int             # rows of similar length share a bucket
    map: str                # the map's file, as the scenario names it
    width: int | None       # of the map, in cells; None in files without a version line
    height: int | None
    start: Point
    goal: Point
    optimal: float          # length of the shortest path: diagonals cost sqrt(2), no corner is cut


@dataclass(frozen=True)
class Scenario:
    """The rows of a `.scen` file, in its order."""

    name: str
    rows: tuple[ScenarioRow, ...]

    def first(self, k: int) -> Scenario:
        """The scenario of the first k rows, which is how MAPF papers take k agents from a file."""
        if k < 0:
            raise ParameterError(f"the first {k} rows of {self.name}: the number cannot be negative")
        if k > len(self.rows):
            raise ProblemError(f"{self.name} has {len(self.rows)} rows, too few for the first {k}")
        return Scenario(self.name, self.rows[:k])


# --- maps ----------------------------------------------------------------------------------------------------------


def read_map(source: str | Path) -> NDArray[np.bool_]:
    """Read a `.map`: rows of booleans, True where a unit may stand."""
    with _opened(source, at_most=MAX_MAP_BYTES) as file:
        beginning = file.read(_HEADER_BYTES)
        header = _parse_header(beginning, str(source))
        require_memory(header.width, header.height, source=source)
        return _parse_rows(beginning[header.bytes :] + file.read(), header, str(source))


def parse_map(data: bytes, name: str) -> NDArray[np.bool_]:
    """Parse the bytes of a `.map`; `name` is what errors call it."""
    header = _parse_header(data[:_HEADER_BYTES], name)
    return _parse_rows(data[header.bytes :], header, name)


def parse_rows(body: bytes, width: int, height: int, name: str) -> NDArray[np.bool_]:
    """Parse rows of letters without a header; `name` is what errors call them."""
    return _parse_rows(body, _Header(width, height, 0, 0), name)


def write_map(passable: ArrayLike, path: str | Path) -> None:
    """Write a `.map` of `.` and `@`, the two letters that all readers in the field agree on."""
    free = np.asarray(passable, dtype=np.bool_)
    if free.ndim != 2 or free.size == 0:
        raise MapError(f"a map is a non-empty 2-D array of rows, not an array of shape {free.shape}")
    height, width = free.shape
    rows = np.full((height, width + 1), ord("\n"), dtype=np.uint8)
    rows[:, :width] = np.where(free, ord("."), ord("@"))
    with replacing(path) as file:
        file.write(f"type octile\nheight {height}\nwidth {width}\nmap\n".encode("ascii"))
        file.write(rows.tobytes())


class _Header(NamedTuple):
    width: int
    height: int
    lines: int
    bytes: int


def _parse_header(data: bytes, name: str) -> _Header:
    """The header at the beginning of a map."""
    if not data.strip():
        raise FormatError(name, "the file is empty")
    header: dict[bytes, tuple[bytes, int]] = {}     # key -> value and its line
    line, at = 0, 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        content, at = data[at:end], end
        line += 1
        words = content.split()
        if words == [b"map"]:
            missing = [key.decode() for key in _HEADER_KEYS if key not in header]
            if missing:
                raise FormatError(name, f"the header lacks {' and '.join(missing)}", line=line)
            kind, of_kind = header[b"type"]
            if kind != b"octile":
                raise FormatError(name, f"unknown map type {_shown(kind)}; only 'octile' is known", line=of_kind)
            width, height = (_number(*header[key.encode()], key, 1, name) for key in ("width", "height"))
            return _Header(width, height, line, at)
        if len(words) != 2 or words[0] not in _HEADER_KEYS:
            expected = "'type octile', 'height N', 'width N' or 'map'"
            raise FormatError(name, f"a header line is {expected}, not {_shown(content.strip())}", line=line)
        if words[0] in header:
            raise FormatError(name, f"the header says {words[0].decode()} twice", line=line)
        header[words[0]] = (words[1], line)
    raise FormatError(name, "the file ends inside the header: the line 'map' and the rows are missing", line=line)


def _parse_rows(body: bytes, header: _Header, name: str) -> NDArray[np.bool_]:
    width, height = header.width, header.height
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n")
    length = height * (width + 1) - 1
    if len(body) < length or body[length:].strip(b"\r\n"):
        _explain_rows(body, header, name)
    meaning = body[:length].translate(_MEANING) + bytes([_NEWLINE])
    rows = np.frombuffer(meaning, dtype=np.uint8).reshape(height, width + 1)
    free: NDArray[np.bool_] = rows[:, :width] == _FREE
    if not (np.all(rows[:, width] == _NEWLINE) and np.all(free | (rows[:, :width] == _WALL))):
        _explain_rows(body, header, name)
    return free


def _explain_rows(body: bytes, header: _Header, name: str) -> NoReturn:
    """Find the first thing wrong with rows that failed the quick check."""
    y = 0
    for y, content in enumerate(io.BytesIO(body.rstrip(b"\r\n")), 1):
        row, line = content.removesuffix(b"\n"), header.lines + y
        if y > header.height:
            raise FormatError(name, f"more rows than the {header.height} that the header announces", line=line)
        x = row.translate(_MEANING).find(_UNKNOWN)
        if x >= 0:
            known = f"({PASSABLE_LETTERS} are passable, {_BLOCKED.decode()} blocked)"
            raise FormatError(name, f"column {x + 1} holds {_letter(row[x])}, no terrain letter {known}", line=line)
        if len(row) != header.width:
            raise FormatError(name, f"the row has {len(row)} cells, the header says width {header.width}", line=line)
    reason = f"the map is truncated: {y} rows, the header says height {header.height}"
    raise FormatError(name, reason, line=header.lines + y)


# --- scenarios -----------------------------------------------------------------------------------------------------


def read_scen(source: str | Path) -> Scenario:
    """Read a `.scen`; its name is the file's, without folders and extension."""
    with _opened(source, at_most=MAX_SCEN_BYTES) as file:
        return parse_scen(file.read(), str(source))


def parse_scen(data: bytes, name: str) -> Scenario:
    """Parse the bytes of a `.scen`; `name` is what errors call it, and its last part names the scenario."""
    text = data.replace(b"\r\n", b"\n").rstrip()
    if not text:
        raise FormatError(name, "the file is empty")
    odd = _NOT_TEXT.search(text)
    if odd:
        line = text.count(b"\n", 0, odd.start()) + 1
        column = odd.start() - text.rfind(b"\n", 0, odd.start())
        raise FormatError(name, f"column {column} holds {_letter(odd[0][0])}, not text", line=line)
    first, _, _ = text.partition(b"\n")
    versioned = first.split()[:1] == [b"version"]
    if versioned and first.split()[1:] not in ([b"1"], [b"1.0"]):
        raise FormatError(name, f"{_shown(first)}: only 'version 1' is known", line=1)
    rows = [
        _parse_row(content, versioned, name, line)
        for line, content in enumerate(io.BytesIO(text), start=1)
        if not (versioned and line == 1)
    ]
    return Scenario(Path(name).name.removesuffix(".scen").removesuffix(".map"), tuple(rows))


def is_mapf(source: str | Path) -> bool:
    """Whether a scenario is one of the MAPF benchmark, by its name; its agents move in the four cardinal directions.

    >>> is_mapf("mapf/den312d-random-1"), is_mapf("dao/lak506d")
    (True, False)
    """
    return MAPF_SCENARIO.match(PurePosixPath(source).name) is not None


def write_scen(scenario: Scenario, path: str | Path) -> None:
    """Write a `.scen` of version 1, tab-separated. Rows that would not read back the same are refused."""
    lines = ["version 1"]
    for row in scenario.rows:
        if row.width is None or row.height is None:
            raise FormatError(path, "version 1 needs the map's width and height in every row", line=len(lines) + 1)
        places = (row.width, row.height, *row.start, *row.goal)
        lines.append("\t".join([str(row.bucket), str(row.map), *map(str, places), repr(float(row.optimal))]))
    data = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
    if parse_scen(data, str(path)).rows != tuple(scenario.rows):
        raise FormatError(path, "the rows would not read back: a map's name has blanks around it, or tabs or line ends")
    with replacing(path) as file:
        file.write(data)


def _parse_row(content: bytes, versioned: bool, name: str, line: int) -> ScenarioRow:
    expected = _SCEN_FIELDS if versioned else _SCEN_FIELDS_UNVERSIONED
    separator = b"\t" if b"\t" in content.strip() else None     # between tabs, a map's name may hold spaces
    fields = [field.strip() for field in content.split(separator) if field.strip()]
    if len(fields) != len(expected):
        kind = "of version 1" if versioned else "of a file without the line 'version 1'"
        reason = f"{len(fields)} fields; a row {kind} has {len(expected)}: {', '.join(expected)}"
        raise FormatError(name, reason, line=line)
    value = dict(zip(expected, fields, strict=True))
    width = height = None
    if versioned:
        width = _number(value["width"], line, "width", 1, name)
        height = _number(value["height"], line, "height", 1, name)
    points: list[Point] = []
    for end in ("start", "goal"):
        x, y = (_number(value[f"{end} {axis}"], line, f"{end} {axis}", 0, name) for axis in "xy")
        if width is not None and height is not None and not (x < width and y < height):
            raise FormatError(name, f"the {end} ({x}, {y}) is off the map, which is {width} x {height}", line=line)
        points.append((x, y))
    optimal = float(value["optimal"]) if _DECIMAL.fullmatch(value["optimal"]) else math.nan
    if not math.isfinite(optimal):
        reason = f"optimal is {_shown(value['optimal'])}; it must be a finite number, at least 0"
        raise FormatError(name, reason, line=line)
    bucket = _number(value["bucket"], line, "bucket", 0, name)
    return ScenarioRow(bucket, value["map"].decode("ascii"), width, height, points[0], points[1], optimal)


# --- what both share -----------------------------------------------------------------------------------------------


def _number(field: bytes, line: int, what: str, least: int, name: str) -> int:
    digits = field.lstrip(b"0")
    if not field.isdigit() or len(digits) > _MOST_DIGITS or int(digits or b"0") < least:
        reason = f"{what} is {_shown(field)}; it must be a whole number from {least} to {10**_MOST_DIGITS - 1}"
        raise FormatError(name, reason, line=line)
    return int(digits or b"0")


def _shown(data: bytes) -> str:
    """Bytes as part of an error message, cut short."""
    text = data[:40].decode("ascii", "backslashreplace")
    return f"{text!r}" if len(data) <= 40 else f"{text!r}..."


def _letter(byte: int) -> str:
    if byte == 0:
        return "a NUL byte"
    return repr(chr(byte)) if byte < 128 else f"the byte 0x{byte:02x}, which is not ASCII"


# --- files and zips ------------------------------------------------------------------------------------------------


def read_source(source: str | Path) -> bytes:
    """The bytes of a map or a scenario as they are."""
    with _opened(source, at_most=MAX_MAP_BYTES) as file:
        return file.read()


@contextmanager
def _opened(source: str | Path, *, at_most: int) -> Iterator[BinaryIO]:
    """A file, or an entry of a zip on the path, to read."""
    path = Path(source)
    inside = split_zip(path)
    if inside:
        yield io.BytesIO(_read_from_zip(*inside, at_most=at_most))
        return
    if path.suffix.lower() == ".zip" and path.is_file():
        raise FormatError(source, "is a whole zip; name the entry too, as in SET-map.zip/NAME.map")
    with opened(path, at_most=at_most) as file:
        yield file


def split_zip(path: Path) -> tuple[Path, str] | None:
    """The zip on a path and the entry that the rest names; None when no file on the way is a zip."""
    for parent in path.parents:
        if parent.suffix.lower() == ".zip" and os.path.isfile(parent):
            return parent, path.relative_to(parent).as_posix()
    return None


def read_zipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, at_most: int = MAX_ENTRY_BYTES) -> bytes:
    """Read one entry, checksum included; refuse names that lead out of the zip, and sizes over the limit."""
    _refuse_unsafe(entry.filename, f"{archive.filename}/{entry.filename}")
    return read_entry(archive, entry, at_most=min(at_most, MAX_ENTRY_BYTES))


def _refuse_unsafe(entry: str, source: str) -> None:
    path = PurePosixPath(entry)
    if path.is_absolute() or ".." in path.parts or "\\" in entry or re.match(r"[A-Za-z]:", entry):
        raise FormatError(source, "the entry's name leads out of the zip ('..', a backslash or an absolute path)")


def _read_from_zip(path: Path, entry: str, *, at_most: int) -> bytes:
    _refuse_unsafe(entry, f"{path}/{entry}")
    with opened_zip(path, at_most=MAX_ZIP_BYTES) as archive:
        names = archive.namelist()
        if entry not in names:
            close = difflib.get_close_matches(entry, names[:10_000], n=3)
            hint = f"; it has {', '.join(close)}" if close else f" among its {len(names)}"
            raise FormatError(path, f"has no entry {entry!r}{hint}")
        return read_zipped(archive, archive.getinfo(entry), at_most=at_most)
