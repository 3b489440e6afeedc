# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Storing: many arrays in one block of bytes, and back.

Of an array of some length whole lines are packed (packing.py), and what is left over is copied; short ones are copied
as they are. Where arrays lie in memory is written down once (`Listing`): to find out takes longer than to copy them.
One call of a kernel puts all of them into a block, and one takes them out.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import SnapshotError
from wend.kernel.compiling import jit, prepared
from wend.kernel.memory import MEMORY, WORDS, begin_of, copy
from wend.kernel.packing import LINE, pack, packed_size, pick_rows, unpack, words_of

_WORD = 8               # bytes
_LINE_BYTES = _WORD * LINE
_NUMBERS = np.dtype(np.int32).str
_PACKED_FROM = 4096     # bytes; below that, to look for empty lines takes longer than to copy them

# The columns of a listing of arrays in memory: where one begins, how many bytes a row has, whether it may be packed.
_PLACE, _ROW, _IS_PACKED = 0, 1, 2
# The columns of a listing of arrays in a block, which are the last fields of `Stored`.
_ROWS, _BEGIN, _WORDS, _EMPTY, _REST = 0, 1, 2, 3, 4

Block = NDArray[np.uint64]
Step = tuple[Callable[..., Any], tuple[Any, ...]]
Listing = NDArray[np.int64]
Kind = tuple[str, tuple[int, ...]]      # an array's dtype and shape


class Sparse(NamedTuple):
    """An array of which only some rows hold more than zeros."""

    array: NDArray[Any]
    flags: NDArray[np.bool_]            # which ones may


def looked_through(array: NDArray[Any]) -> Sparse:
    """An array of which nothing says which rows may hold something."""
    return Sparse(array, np.asarray(words_of(array).any(axis=1)))


class Stored(NamedTuple):
    """Where an array lies in the block."""

    dtype: str
    shape: tuple[int, ...]
    rows: int               # so many of its first rows were in use
    begin: int              # word of the block where the packed lines begin
    words: int              # that they take
    empty: int              # the word, as an int64, that the lines that were left out consist of
    rest: int               # byte of the block where what is not packed begins


class Layout(NamedTuple):
    """An array, and how it lies in memory."""

    array: NDArray[Any]     # contiguous
    kind: Kind
    line: tuple[int, int, bool]     # of a listing


def layout_of(array: NDArray[Any], *, shape: tuple[int, ...] | None = None, is_packed: bool = True) -> Layout:
    """How an array lies in memory; it may be the rows in use alone of one of that shape."""
    line = begin_of(array), math.prod(array.shape[1:]) * array.itemsize, is_packed and is_packable(array)
    return Layout(array, (code_of(array.dtype), array.shape if shape is None else shape), line)


def is_packable(array: NDArray[Any]) -> bool:
    """Whether it begins with a whole word of memory."""
    return begin_of(array) % _WORD == 0


def listing_of(layouts: Sequence[Layout]) -> Listing:
    """How arrays lie in memory, for kernels. Whoever has it keeps the arrays alive."""
    return np.array([layout.line for layout in layouts], np.int64).reshape(-1, 3)


class Arrays(Sequence[Any]):
    """Where the arrays of a capture are: in its block, or elsewhere. Written down one by one only for those who ask."""

    def __init__(self, kinds: Sequence[Kind], where: Listing, elsewhere: dict[int, Any]) -> None:
        self.where = where              # of all, and how many of their rows were in use
        self.elsewhere = elsewhere      # those that lie in no block
        self._kinds = kinds

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        stored = self.elsewhere.get(number)
        return Stored(*self._kinds[number], *self.where[number].tolist()) if stored is None else stored


@jit
def _packed_bytes(size, is_packed):
    """How many of an array's bytes are packed."""
    return size - size % _LINE_BYTES if is_packed and size >= _PACKED_FROM else 0


@jit
def _space(listing, where):
    """How many words arrays take at the most."""
    words = 0
    for k in range(len(listing)):
        size = where[k, _ROWS] * listing[k, _ROW]
        packed = _packed_bytes(size, listing[k, _IS_PACKED]) // _WORD
        words += packed_size(packed) + (size - packed * _WORD + _WORD - 1) // _WORD
    return words


@jit
def _store(memory, words, listing, where, block):
    """Put arrays into a block: what is not packed, then what is; return how many words these are.

    `where` comes with the rows in use of each. What is left of a word is 0, so that equal states are equal bytes.
    Mutates: where, block.
    """
    rests, empties, at = block.view(np.uint8), where.view(np.uint64), 0
    for k in range(len(listing)):
        size = where[k, _ROWS] * listing[k, _ROW]
        packed = _packed_bytes(size, listing[k, _IS_PACKED])
        first, last = listing[k, _PLACE] + packed, listing[k, _PLACE] + size
        where[k, _REST] = at * _WORD
        end = at + (size - packed + _WORD - 1) // _WORD
        if end > at:
            block[end - 1] = 0
        copy(memory[first:last], rests[at * _WORD : at * _WORD + size - packed])
        at = end
    for k in range(len(listing)):
        packed = _packed_bytes(where[k, _ROWS] * listing[k, _ROW], listing[k, _IS_PACKED]) // _WORD
        if packed > 0:
            first = listing[k, _PLACE] // _WORD
            empty = words[first + packed - 1]
            end = pack(words[first : first + packed], empty, block, at)
            where[k, _BEGIN], where[k, _WORDS], empties[k, _EMPTY] = at, end - at, empty
            at = end
    return at


@jit
def _take_out(memory, words, listing, where, block):
    """Write arrays that lie in a block over those in a listing. Mutates: memory, which `words` is, too."""
    rests, empties = block.view(np.uint8), where.view(np.uint64)
    for k in range(len(listing)):
        size, packed = where[k, _ROWS] * listing[k, _ROW], 0
        if where[k, _WORDS] > 0:
            packed = size - size % _LINE_BYTES
            first = listing[k, _PLACE] // _WORD
            unpack(block, where[k, _BEGIN], empties[k, _EMPTY], words[first : first + packed // _WORD])
        rest = rests[where[k, _REST] : where[k, _REST] + size - packed]
        copy(rest, memory[listing[k, _PLACE] + packed : listing[k, _PLACE] + size])


def in_use(rows: Sequence[int]) -> Listing:
    """What to give `store`: so many rows of arrays are in use."""
    where = np.zeros((len(rows), 5), np.int64)
    where[:, _ROWS] = rows
    return where


def rows_of(where: Listing) -> NDArray[np.int64]:
    """The rows in use."""
    return where[:, _ROWS]


def store(listing: Listing, where: Listing, sparse: Sequence[Sparse] = ()) -> tuple[Block, Listing, list[Kind]]:
    """A block with arrays in it; where they lie; and what else lies there.

    That is, of each sparse array, the numbers of the rows that hold something, and these rows. `where` comes with the
    rows in use. Mutates: where, and what says of sparse arrays which rows may hold something.
    """
    numbers = [np.flatnonzero(one.flags) for one in sparse]     # of the rows that may hold something
    more = 0
    for one, some in zip(sparse, numbers, strict=True):
        more += _words(4 * some.size) + _words(some.size * one.array[:1].nbytes)
    block = np.empty(int(prepared(_space)(listing, where)) + more, np.uint64)
    at = int(prepared(_store)(MEMORY, WORDS, listing, where, block))
    kinds, lines = list[Kind](), list[tuple[int, ...]]()
    for one, some in zip(sparse, numbers, strict=True):
        count, begin = _store_rows(one, some, block, at)
        lines += (count, 0, 0, 0, _WORD * at), (count, 0, 0, 0, _WORD * begin)
        kinds += (_NUMBERS, (count,)), (code_of(one.array.dtype), (count, *one.array.shape[1:]))
        at = begin + _words(count * one.array[:1].nbytes)
    block.resize(at, refcheck=False)        # nobody else has it yet
    return block, np.concatenate((where, lines)) if lines else where, kinds


def _store_rows(sparse: Sparse, numbers: NDArray[np.int64], block: Block, at: int) -> tuple[int, int]:
    """Put the rows of these numbers into a block, their numbers first, if they hold something.

    Returns how many do, and the word where the rows begin. Mutates: what says which rows may hold something, and block.
    """
    words, count = words_of(sparse.array), numbers.size
    begin = at + _words(4 * count)
    block[at:begin] = 0
    listed = block[at:begin].view(np.int32)[:count]
    listed[:] = numbers
    rows = block[begin:].view(np.uint32)[: count * words.shape[1]].reshape(count, words.shape[1])
    found = int(pick_rows(words, sparse.flags, listed, rows))
    listed[found:] = 0
    end = found * words.shape[1]
    block[begin:].view(np.uint32)[end : end + end % 2] = 0
    return found, begin


def _words(size: int) -> int:
    """How many words so many bytes take."""
    return -(-size // _WORD)


def take_out(listing: Listing, where: Listing, block: Block, *_alive: object) -> None:
    """Write arrays that lie in a block over those in a listing."""
    prepared(_take_out)(MEMORY, WORDS, listing, where, block)


class Marked:
    """An array with marks, of which so many rows are in use."""

    __slots__ = ("_part", "array", "content", "dtype", "marks", "place", "rows", "written")

    def __init__(self, array: NDArray[Any], marks: NDArray[np.bool_], rows_per_mark: int, rows: int) -> None:
        self.array = array
        self.marks = marks
        self.written = marks.reshape(-1)                    # one for each piece
        self.place = begin_of(marks)
        self.rows = rows
        self.dtype = code_of(array.dtype)
        self._part = rows_per_mark, math.prod(marks.shape[1:])      # rows and the pieces that they consist of
        pieces = len(array) // rows_per_mark * self._part[1]
        self.content = array.reshape(pieces, -1).view(np.uint8)     # a row for each piece

    @property
    def pieces(self) -> int:
        """How many of its pieces are in use."""
        rows, pieces = self._part
        return -(-self.rows // rows) * pieces


class Source:
    """A block to read arrays from, one by one."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._layouts: list[Layout] = []        # of arrays to be written,
        self._where: list[tuple[int, ...]] = []     # ... and where they lie

    def write(self, array: NDArray[Any], stored: Stored) -> None:
        """A stored array is to be written over the first rows of this one."""
        self._layouts.append(layout_of(array))
        self._where.append(stored[2:])

    def step(self) -> Step:
        """What writes all of them."""
        where = np.array(self._where, np.int64).reshape(-1, 5)
        return take_out, (listing_of(self._layouts), where, self._block, self._layouts)

    def read(self, stored: Stored) -> NDArray[Any]:
        """A stored array, of which nothing is packed, as it lies in the block."""
        if stored.words:
            raise ValueError("an array that is packed")
        return np.ndarray((stored.rows, *stored.shape[1:]), dtype_of(stored.dtype), self._block, stored.rest)


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
