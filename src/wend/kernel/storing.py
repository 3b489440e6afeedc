# mypy: disallow-untyped-calls=False
"""Storing: many arrays in one block of bytes, and back.

Of an array of some length whole lines are packed (packing.py), and what is left over is copied; short ones are copied
as they are. How an array lies in memory is found out once (`Layout`): to do so takes longer than to copy it.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import SnapshotError
from wend.kernel.packing import LINE, pack, packed_size, unpack

_LINE_BYTES = 8 * LINE
_PADDING = [bytes(-size % 8) for size in range(8)]
_PACKED_FROM = 4096     # bytes; below that, to look for empty lines takes longer than to copy them

Block = NDArray[np.uint64]
Step = tuple[Callable[..., Any], tuple[Any, ...]]


class Stored(NamedTuple):
    """Where an array lies in the block."""

    dtype: str
    shape: tuple[int, ...]
    rows: int               # so many of its first rows were in use
    begin: int              # word of the block where the packed lines begin
    words: int              # that they take
    empty: int              # the word, as an int64, that the lines that were left out consist of
    rest: int               # byte of the block where what is not packed begins


class Layout:
    """How the first rows of an array lie in memory, one behind the other."""

    __slots__ = (
        "_address", "_bytes", "_is_packed", "_row", "address", "array", "dtype", "last", "packed_size", "rest", "rows",
        "shape", "size", "words",
    )  # fmt: skip

    def __init__(
        self, array: NDArray[Any], rows: int, *, shape: tuple[int, ...] | None = None, is_packed: bool = True
    ) -> None:
        """`array` may be these rows alone; then `shape` is that of the whole. Short rows are never packed."""
        self.array = array
        self.shape = array.shape if shape is None else shape
        self.dtype = code_of(array.dtype)
        self._is_packed = is_packed
        self._bytes = array.reshape(-1).view(np.uint8)      # of all rows,
        self._row = math.prod(array.shape[1:]) * array.itemsize     # ... how many there are in one,
        self._address = self._bytes.ctypes.data             # ... and where the first is
        self._take(rows)

    def _take(self, rows: int) -> None:
        """Look at so many rows."""
        self.rows = rows
        self.size = rows * self._row
        packed = self.size - self.size % _LINE_BYTES if self._is_packed and self.size >= _PACKED_FROM else 0
        self.words = self._bytes[:packed].view(np.uint64) if packed else None       # what is packed of these rows,
        self.packed_size = packed_size(packed // 8) if packed else 0                # ... how many words it is at most,
        self.rest = self._bytes[packed : self.size]                                 # ... and what is not packed,
        self.size -= packed                                                         # ... so many bytes,
        self.address = self._address + packed                                       # ... from here on
        self.last: Stored | None = None     # where it was stored the last time, unless a part of it is packed

    def of_rows(self, rows: int) -> Layout:
        """The layout of another number of rows of the same array."""
        other = object.__new__(Layout)
        other.array, other.shape, other.dtype, other._is_packed = self.array, self.shape, self.dtype, self._is_packed
        other._bytes, other._row, other._address = self._bytes, self._row, self._address
        other._take(rows)
        return other


class Marked:
    """An array with marks, of which so many rows are in use."""

    __slots__ = ("array", "dtype", "rows", "rows_per_mark", "words", "written")

    def __init__(self, array: NDArray[Any], written: NDArray[np.bool_], rows_per_mark: int, rows: int) -> None:
        self.array = array
        self.written = written
        self.rows_per_mark = rows_per_mark
        self.rows = rows
        self.dtype = code_of(array.dtype)
        self.words = array.reshape(len(array) // rows_per_mark, -1).view(np.uint32)     # a row for each piece


def store(layouts: Sequence[Layout]) -> tuple[list[Stored], Block]:
    """Put arrays into one block: what is not packed, then what is."""
    rests: list[Any] = []
    stored: list[Stored] = []
    size = 0
    for one in layouts:
        last = one.last
        if last is None or last.rest != size:
            last = one.last = Stored(one.dtype, one.shape, one.rows, 0, 0, 0, size)
        stored.append(last)
        if one.size:
            rests.append(one.rest)
            if one.size % 8:
                rests.append(_PADDING[one.size % 8])
            size += -(-one.size // 8) * 8
    at = size // 8
    block = np.empty(at + sum(one.packed_size for one in layouts), np.uint64)
    block[:at] = np.frombuffer(b"".join(rests), np.uint64)
    for k, one in enumerate(layouts):
        if (words := one.words) is not None:
            empty = words[-1]
            end = int(pack(words, empty, block, at))
            where = at, end - at, int(empty.view(np.int64))
            stored[k] = Stored(one.dtype, one.shape, one.rows, *where, stored[k].rest)
            at = end
    block.resize(at, refcheck=False)        # nobody else has it yet
    return stored, block


class Source:
    """A block to read arrays from, and the steps that do."""

    def __init__(self, block: Block) -> None:
        self.steps: list[Step] = []
        self._block = block
        self._moves: list[tuple[int, int, int]] = []    # where to, from which byte of the block, and how many
        self._targets: list[Layout] = []                # which the steps keep alive
        if block.size:
            self.steps.append((_copy_all, (self._moves, block.ctypes.data, block, self._targets)))

    def write(self, layouts: Sequence[Layout], arrays: Sequence[Any]) -> None:
        """Steps more: stored arrays over the rows of others that lie in the same way; those without rows are left."""
        self._targets += layouts
        for layout, stored in zip(layouts, arrays, strict=True):
            if layout.size:
                self._moves.append((layout.address, stored.rest, layout.size))
            if layout.words is not None:
                empty = np.int64(stored.empty).view(np.uint64)
                self.steps.append((unpack, (self._block, stored.begin, empty, layout.words)))

    def read(self, stored: Stored) -> NDArray[Any]:
        """A stored array, of which nothing is packed, as it lies in the block."""
        if stored.words:
            raise ValueError("an array that is packed")
        return np.ndarray((stored.rows, *stored.shape[1:]), dtype_of(stored.dtype), self._block, stored.rest)


def _copy_all(moves: Sequence[tuple[int, int, int]], source: int, *_alive: object) -> None:
    """Copy bytes between addresses; what lies there is kept alive by the one who holds the step."""
    for to, begin, size in moves:
        ctypes.memmove(to, source + begin, size)


def check_stored(stored: Stored, block: Block) -> None:
    """Raise a ValueError if an array does not lie in the block: kernels do not look where they read."""
    rows, row = stored.rows, dtype_of(stored.dtype).itemsize * math.prod(stored.shape[1:])
    if not 0 <= rows <= stored.shape[0] or min(stored.shape) < 0 or min(stored.begin, stored.rest) < 0:
        raise ValueError(f"an array of the shape {stored.shape}")
    size = rows * row
    if (stored.words > 0 and size < _PACKED_FROM) or stored.words < 0 or not -(2**63) <= stored.empty < 2**63:
        raise ValueError(f"an array of {size} bytes in {stored.words} words")
    if stored.words:
        bits = -(-(size // _LINE_BYTES) // 64)
        kept = int.from_bytes(block[stored.begin : stored.begin + bits].tobytes()).bit_count()
        if bits + LINE * kept != stored.words:
            raise ValueError(f"an array of {kept} lines")
        size %= _LINE_BYTES
    if max(8 * (stored.begin + stored.words), stored.rest + size) > block.nbytes:
        raise ValueError("an array that does not end")


@functools.cache
def code_of(dtype: np.dtype[Any]) -> str:
    """The name of a kind of number, or of a record of int64."""
    if dtype.names is not None:
        return " ".join(("record", *dtype.names))
    if dtype.kind not in "biuf":
        raise SnapshotError(f"an array of {dtype} is none that a snapshot can hold")
    return dtype.str


@functools.cache
def dtype_of(code: str) -> np.dtype[Any]:
    """What `code_of` named."""
    name, *fields = code.split(" ")
    if name == "record":
        return np.dtype((np.record, [(field, np.int64) for field in fields]))
    dtype: np.dtype[Any] = np.dtype(name)
    if dtype.kind not in "biuf":
        raise ValueError(f"{code!r} names no kind of number")
    return dtype
