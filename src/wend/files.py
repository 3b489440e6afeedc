"""Files: read within limits, and written aside and renamed into place.

Reading. A file may come from a stranger. Whatever is read is a regular file of a bounded size; what is unpacked from a
zip is bounded too; JSON has finite numbers and is nested a few levels deep. Everything else is a FormatError.

Writing. A file is there whole or not at all. A link is written through, the mode of an old file is kept, and a pipe, a
device or a socket is never replaced. JSON is standard JSON.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import stat
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from wend.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# All that zipfile raises on damaged, encrypted or unsupported archives.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OSError)

# An entry of a zip may unpack to this much; a larger one to so many times its packed size, or else it is a bomb.
UNPACKED_BYTES, UNPACKED_RATIO = 24 * 2**20, 100
JSON_BYTES, JSON_RATIO = 8 * 2**20, 10      # of JSON, which takes many times its size in memory

MAX_DEPTH = 50                          # of lists and objects within each other
_MAX_DIRECTORY_BYTES = 4 * 2**20        # of the list of entries of a zip: tens of thousands of them
_CHUNK_BYTES = 2**17
_INTEGERS = range(-(2**63), 2**63)      # that JSON may hold: 64 bits


# --- reading ---------------------------------------------------------------------------------------------------------


@contextmanager
def opened(path: str | Path, *, at_most: int) -> Iterator[BinaryIO]:
    """Open a regular file of at most so many bytes to read. Anything else is a FormatError, and never waits."""
    with _errors_of(path):
        raw = _open_raw(path, at_most)
    with io.BufferedReader(raw) as file:
        yield file


def read_bytes(path: str | Path, *, at_most: int) -> bytes:
    """The contents of a regular file of at most so many bytes."""
    with _errors_of(path), opened(path, at_most=at_most) as file:
        return file.read(at_most)


@contextmanager
def opened_zip(path: str | Path, *, at_most: int) -> Iterator[zipfile.ZipFile]:
    """Open a zip file of at most so many bytes to read."""
    with _errors_of(path):
        raw = _open_raw(path, at_most)
    with _Rationed(raw) as file:
        try:
            archive = zipfile.ZipFile(file)
        except ZIP_ERRORS as error:
            raise FormatError(path, f"is not a readable zip ({error})") from error
        with archive:
            yield archive


def unpacked_limit(packed: int, *, is_json: bool = False) -> int:
    """How many bytes an entry of a zip may unpack to that has so many in the zip."""
    return max(JSON_BYTES, JSON_RATIO * packed) if is_json else max(UNPACKED_BYTES, UNPACKED_RATIO * packed)


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, at_most: int, is_json: bool = False) -> bytes:
    """Read one entry of a zip, checksum included; one that unpacks to more than allowed is a FormatError."""
    source = f"{archive.filename}/{entry.filename}"
    assert archive.fp is not None
    packed = min(entry.compress_size, os.fstat(archive.fp.fileno()).st_size)      # the zip may lie about the former
    at_most = min(at_most, unpacked_limit(packed, is_json=is_json))
    if entry.file_size > at_most:
        raise FormatError(source, f"unpacks to {entry.file_size:,} bytes, over the limit of {at_most:,}")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(source, "is packed by a method other than deflate; pack the zip anew")
    parts: list[bytes] = []
    try:
        with archive.open(entry) as file:       # which ends after the size that the zip declares
            while part := file.read(_CHUNK_BYTES):
                parts.append(part)
    except ZIP_ERRORS as error:
        raise FormatError(source, f"cannot be unpacked: {error}") from error
    return b"".join(parts)


def parse_json(text: str | bytes, source: str | Path, *, line: int | None = None) -> Any:
    """Parse JSON with finite numbers of 64 bits, nested at most MAX_DEPTH deep; anything else is a FormatError.

    Half a surrogate pair, which no file and no terminal takes, becomes an escape.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_integer)
        if isinstance(value, (list, dict)) and text.count("[") + text.count("{") > MAX_DEPTH:
            _check_depth(value, 1)
        return _without_surrogates(value) if "\\u" in text else value
    except RecursionError:
        raise FormatError(source, f"nested more than {MAX_DEPTH} deep", line=line) from None
    except ValueError as error:
        raise FormatError(source, f"not valid JSON ({error})", line=line) from None


def parse_array(data: bytes, dtype: str, source: str | Path) -> NDArray[Any]:
    """An .npy file (version 1.0) as an array of this type; anything else, an object above all, is a FormatError.

    The header allocates nothing.
    """
    from tokenize import TokenError

    import numpy as np  # only those who read arrays load it
    from numpy.lib import format as npy

    file = io.BytesIO(data)
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError("not of version 1.0")
        with warnings.catch_warnings():
            warnings.simplefilter("error")      # a header as Python 2 wrote them is none of ours
            shape, is_fortran, found = npy.read_array_header_1_0(file)
        if found != np.dtype(dtype) or is_fortran:
            raise ValueError(f"{found} where {dtype} belongs")
        return np.frombuffer(file.read(), dtype=found).reshape(shape)
    except (ValueError, SyntaxError, TokenError, UserWarning) as error:
        raise FormatError(source, f"an array that cannot be read ({error})") from None


def printable(text: object) -> str:
    """Text as a terminal may show it, on one line: what is not printable becomes an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


class _Rationed(io.BufferedReader):
    """A file of which no single call reads much: zipfile reads the whole list of entries at once, however long."""

    def read(self, size: int | None = -1, /) -> bytes:
        left = os.fstat(self.fileno()).st_size - self.tell()
        if min(left, left if size is None or size < 0 else size) > _MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile(f"its list of entries is longer than {_MAX_DIRECTORY_BYTES:,} bytes")
        return super().read(size)


@contextmanager
def _errors_of(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError(path, "there is no such file") from None
    except IsADirectoryError:
        raise FormatError(path, "is a folder, not a file") from None
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from None


def _open_raw(path: str | Path, at_most: int) -> io.FileIO:
    def without_waiting(name: str, flags: int) -> int:      # opening a pipe would wait until a program writes to it
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    try:
        file = io.FileIO(path, opener=without_waiting)
    except ValueError as error:     # a NUL in the path
        raise FormatError(path, f"cannot be read: {error}") from None
    about = os.fstat(file.fileno())
    if stat.S_ISREG(about.st_mode) and about.st_size <= at_most:
        return file
    file.close()
    if not stat.S_ISREG(about.st_mode):
        raise FormatError(path, "is a pipe, a device or a socket, not a file")
    raise FormatError(path, f"has {about.st_size:,} bytes, over the limit of {at_most:,}")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number that JSON knows")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:24]} is too large a number")
    return value


def _integer(text: str) -> int:
    if len(text) > 20 or (value := int(text)) not in _INTEGERS:
        raise ValueError(f"{text[:24]} is too large a number")
    return value


def _check_depth(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RecursionError
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, (list, dict)):
            _check_depth(each, depth + 1)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
    return value


# --- writing ---------------------------------------------------------------------------------------------------------


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to write that takes the place of `path` only when it is whole.

    When the block raises, or the disk is full, the old file stays as it was and nothing half-written is left.
    """
    target, mode = _target(path)
    handle, aside = _open_aside(target)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            aside.chmod(stat.S_IMODE(mode))
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def check_writable(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> bool:
    """Raise the error that writing `path` would end in, before long work is done for it.

    No input may be overwritten. Returns whether there is a file of that name, which would be replaced.
    """
    target, mode = _target(path)
    for source in inputs:
        if mode is not None and os.path.exists(source) and os.path.samefile(source, target):
            raise ParameterError(f"{path} would overwrite what it is made from: name another file")
    handle, aside = _open_aside(target)
    os.close(handle)
    aside.unlink()
    return mode is not None


def array_bytes(array: NDArray[Any]) -> bytes:
    """An array of numbers as an .npy file."""
    from numpy.lib import format as npy

    buffer = io.BytesIO()
    npy.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def to_json(value: Any, **layout: Any) -> str:
    """Standard JSON: infinity becomes "inf" or "-inf", what is not a number null."""
    return json.dumps(_standard(value), allow_nan=False, **layout)


def _target(path: str | Path) -> tuple[Path, int | None]:
    """The file that `path` leads to, and its mode if it exists; its folder is made."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return target, None
    reason = 0
    if stat.S_ISDIR(mode):
        reason = errno.EISDIR
    elif stat.S_ISREG(mode) and not os.access(target, os.W_OK):
        reason = errno.EACCES
    if reason:
        raise OSError(reason, os.strerror(reason), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is a pipe, a device or a socket, and only files are written", str(path))
    return target, mode


def _open_aside(target: Path) -> tuple[int, Path]:
    """A new file beside the target. Its name is short, however long the target's is."""
    aside = target.with_name(f".{os.urandom(6).hex()}.part")
    return os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), aside


def _standard(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, (list, tuple)):
        return [_standard(each) for each in value]
    if isinstance(value, dict):
        return {key: _standard(each) for key, each in value.items()}
    return value
