# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Keeping: snapshots that share what did not change between them.

A large array has marks (arrays.py): a flag for each piece, some of its rows, that was written since the last snapshot.
A copy of a piece lies on a shelf, which all snapshots of that array share and where it never changes. Where pieces lie
is listed in strips of a few, which never change either. So a snapshot is a list of strips: those of the snapshot
before, and new ones where a piece is marked. To go back copies the pieces that are marked, and those that lie in
another place than what the array holds now.

A strip has as many users as there are snapshots with it, and a piece as many as there are strips. Python tells when a
snapshot is gone (`_Loan`); the shelf takes note of it when it is used the next time, so that this may happen in any
thread and at any moment.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel.arrays import record
from wend.kernel.compiling import Keeping, jit, prepared
from wend.kernel.memory import MEMORY
from wend.kernel.outline import Outlines
from wend.kernel.storing import Marked, dtype_of

_TIMES = 4              # as many pieces as the array has: space on a new shelf. What is never used takes no memory
_STRIP = 16             # pieces in a strip, which snapshots share as a whole: most have nothing to do
_NOWHERE = -1
_NO_STRIPS = np.empty(0, np.int32)


class _Stock(NamedTuple):
    """What lies on a shelf."""

    content: NDArray[np.uint8]  # [places, bytes]   copies of pieces
    users: NDArray[np.int32]    # [places]          how many strips list each
    free: NDArray[np.int32]     # a stack of places without a piece
    strip: NDArray[np.int32]    # [strips, _STRIP]  where the pieces of each strip lie, _NOWHERE behind the last
    strip_users: NDArray[np.int32]  # [strips]      how many snapshots have each
    free_strip: NDArray[np.int32]   # a stack of strips that no snapshot has
    counts: NDArray[Any]        # _COUNTS: the heights of the two stacks


_COUNTS = record("free", "free_strips")


def _no_stock(size: int) -> _Stock:
    """An empty shelf for pieces of so many bytes."""
    none, no_strip = np.empty(0, np.int32), np.empty((0, _STRIP), np.int32)
    return _Stock(np.empty((0, size), np.uint8), none, none, no_strip, none, none, _COUNTS.allocate((1,)))


def _strips(pieces: int) -> int:
    """How many strips so many pieces take."""
    return -(-pieces // _STRIP)


def _longer(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """The same with so many rows; more of them hold anything."""
    if rows == len(array):
        return array
    longer = np.empty((rows, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _with_more(stock: _Stock, pieces: int, strips: int) -> _Stock:
    """The same with space for so many pieces and strips more."""
    places, lists, counts = len(stock.content) + pieces, len(stock.strip) + strips, stock.counts.copy()
    more = _Stock(
        _longer(stock.content, places), _longer(stock.users, places), _longer(stock.free, places),
        _longer(stock.strip, lists), _longer(stock.strip_users, lists), _longer(stock.free_strip, lists), counts,
    )  # fmt: skip
    free, free_strips = counts[0].free, counts[0].free_strips
    more.free[free : free + pieces] = np.arange(places - 1, places - pieces - 1, -1)
    more.free_strip[free_strips : free_strips + strips] = np.arange(lists - 1, lists - strips - 1, -1)
    counts[0].free, counts[0].free_strips = free + pieces, free_strips + strips
    return more


@jit
def _let_go(stock, strip):
    """A snapshot that had this strip is gone. Mutates: stock."""
    counts = stock.counts[0]
    stock.strip_users[strip] -= 1
    if stock.strip_users[strip] > 0:
        return
    stock.free_strip[counts.free_strips] = strip
    counts.free_strips += 1
    for k in range(_STRIP):
        place = stock.strip[strip, k]
        if place == _NOWHERE:
            break
        stock.users[place] -= 1
        if stock.users[place] == 0:
            stock.free[counts.free] = place
            counts.free += 1


@jit
def _forget(stock, strips):
    """A snapshot that had these strips is gone. Mutates: stock."""
    for strip in strips:
        _let_go(stock, strip)


@jit
def _keep(stock, content, written, before, known, gone, strips):
    """List the pieces of an array in strips. Those that are not marked lie where they lay; others are copied.

    `content` has a row for each piece; `before` are the strips of the first pieces then, as far as they are `known`,
    and `gone` those of a snapshot that is gone. Mutates: stock, strips.
    """
    counts, shelved, users, strip = stock.counts[0], stock.content, stock.users, stock.strip
    for k in range(strips.size):
        first = k * _STRIP
        last = min(first + _STRIP, len(content))
        is_changed = last > known
        if not is_changed:
            for j in range(first, last):
                is_changed |= written[j]
            strips[k] = before[k]
            if not is_changed and k < gone.size and gone[k] == before[k]:
                continue                            # one user for another: most are, in a game that goes on
        if is_changed:
            counts.free_strips -= 1
            strips[k] = stock.free_strip[counts.free_strips]
            places = strip[strips[k]]
            for j in range(first, last):
                if j >= known or written[j]:
                    counts.free -= 1
                    place = stock.free[counts.free]
                    for i in range(content.shape[1]):
                        shelved[place, i] = content[j, i]
                    users[place] = 1
                else:
                    place = strip[before[k], j - first]
                    users[place] += 1
                places[j - first] = place
            for j in range(last - first, _STRIP):
                places[j] = _NOWHERE
            stock.strip_users[strips[k]] = 1
        else:
            stock.strip_users[strips[k]] += 1
        if k < gone.size:
            _let_go(stock, gone[k])
    _forget(stock, gone[strips.size :])


@jit
def _bring_back(stock, content, written, now, known, then, pieces):
    """Write so many pieces that lie in the strips `then` over those that are marked, or lie at another place now.

    `now` are the strips of the first pieces, as far as they are `known`. Mutates: content.
    """
    shelved, strip = stock.content, stock.strip
    for k in range(then.size):
        first = k * _STRIP
        last = min(first + _STRIP, pieces)
        if last <= known and now[k] == then[k]:
            is_changed = False
            for j in range(first, last):
                is_changed |= written[j]
            if not is_changed:
                continue
        for j in range(first, last):
            place = strip[then[k], j - first]
            if j >= known or written[j] or strip[now[k], j - first] != place:
                for i in range(content.shape[1]):
                    content[j, i] = shelved[place, i]


@jit
def _count_marks(memory, listing, counts):
    """Count how many marks are set, from a place in memory on and so many of them. Mutates: counts."""
    for k in range(len(listing)):
        count = np.int64(0)                             # as plain Python, a mark and a small number make a uint8
        for mark in memory[listing[k, 0] : listing[k, 0] + listing[k, 1]]:
            count += mark
        counts[k] = count


@jit
def _clear_marks(memory, listing):
    """Take marks away. Mutates: memory."""
    for k in range(len(listing)):
        marks = memory[listing[k, 0] : listing[k, 0] + listing[k, 1]]
        for j in range(marks.size):
            marks[j] = 0


def clear_marks(found: Iterable[Marked]) -> None:
    """Say of arrays that nothing was written. Mutates: their marks."""
    prepared(_clear_marks)(MEMORY, np.array([(one.place, one.written.size) for one in found], np.int64).reshape(-1, 2))


def _marks_set(found: Iterable[tuple[Marked, int]]) -> list[int]:
    """How many marks of arrays are set, of so many pieces."""
    listing = np.array([(one.place, pieces) for one, pieces in found], np.int64).reshape(-1, 2)
    counts = np.empty(len(listing), np.int64)
    prepared(_count_marks)(MEMORY, listing, counts)
    return counts.tolist()


class Shelf:
    """Copies of pieces of one array."""

    def __init__(self, owner: object, pieces: int, size: int) -> None:
        self.owner = owner                          # Keeper.sign: of who alone may put pieces there
        self.gone: deque[_Loan] = deque()           # loans to snapshots that are gone
        self._loans: dict[int, _Loan] = {}          # ... and these, and all others, by id
        self.stock = _with_more(_no_stock(size), _TIMES * pieces, _TIMES * (_strips(pieces) + 1))
        self._keeping = Keeping()

    @property
    def written(self) -> Any:
        """What lies there, for kernels."""
        return self._keeping.of((self.stock,), lambda: self.stock)

    def put(self, one: Marked, marks: int, before: Kept | None) -> Kept:
        """An array's pieces. Those that have none of so many marks lie where they lay before."""
        gone = self._given_back() if self.gone else _NO_STRIPS
        while self.gone:
            prepared(_forget)(self.written, self._given_back())
        then, known = (_NO_STRIPS, 0) if before is None else (before.strips, before.pieces)
        pieces = one.pieces
        strips = np.empty(_strips(pieces), np.int32)
        needed = max(pieces - known, 0) + marks
        if needed > self.stock.counts["free"].item():
            self.stock = _with_more(self.stock, max(len(self.stock.content), needed), 0)
        if strips.size > self.stock.counts["free_strips"].item():
            self.stock = _with_more(self.stock, 0, max(len(self.stock.strip), strips.size))
        prepared(_keep)(self.written, one.content[:pieces], one.written, then, known, gone, strips)
        kept = Kept(self, strips, pieces, one.dtype, one.array.shape, one.rows)
        loan = _Loan(kept, self.gone.append)
        loan.strips = strips
        self._loans[id(loan)] = loan
        return kept

    def _given_back(self) -> NDArray[np.int32]:
        """The strips of a snapshot that is gone."""
        loan = self.gone.popleft()
        del self._loans[id(loan)]
        return loan.strips


class Kept:
    """An array of a snapshot: the strips of its pieces on a shelf."""

    def __init__(
        self, shelf: Shelf, strips: NDArray[np.int32], pieces: int, dtype: str, shape: tuple[int, ...], rows: int
    ) -> None:
        self.shelf = shelf
        self.strips = strips
        self.pieces = pieces
        self.dtype = dtype
        self.shape = shape      # of the whole array
        self.rows = rows        # so many of its first rows were in use

    @property
    def nbytes(self) -> int:
        """How much memory its pieces take, and the list of where they are."""
        return int(self.pieces * (self.shelf.stock.content.shape[1] + self.strips.itemsize))

    def places(self) -> NDArray[np.int32]:
        """Where its pieces lie."""
        places: NDArray[np.int32] = self.shelf.stock.strip[self.strips].reshape(-1)[: self.pieces]
        return places

    def content(self) -> NDArray[Any]:
        """The rows that were in use."""
        whole = self.shelf.stock.content[self.places()].view(dtype_of(self.dtype))
        return whole.reshape(-1, *self.shape[1:])[: self.rows]


class _Loan(weakref.ref[Kept]):
    """What an array of a snapshot has of a shelf. When that is gone, Python calls a method of a deque, and no code of
    ours: an interrupt there, as in a `__del__`, would be lost, and the strips with it.
    """

    __slots__ = ("strips",)

    strips: NDArray[np.int32]


class _Known(NamedTuple):
    """What an array holds, but for its marked pieces."""

    array: NDArray[Any]
    marks: NDArray[np.bool_]
    kept: Kept


class Keeper:
    """What is known of the arrays of one world since its last snapshot, taken or restored."""

    def __init__(self) -> None:
        self.sign = object()                    # of its own shelves, so that these do not keep a world alive
        self.outlines = Outlines()
        self._known: dict[int, _Known] = {}     # by the array's id: of those with marks

    def keep(self, found: Collection[Marked]) -> list[Kept]:
        """What a snapshot holds of these arrays. Clears their marks, and forgets other arrays."""
        kept: list[Kept] = []
        for one, marks in zip(found, _marks_set((one, one.pieces) for one in found), strict=True):
            before = self._of(one)
            if before is None or marks > 0 or before.rows != one.rows:
                self._known.pop(id(one.array), None)    # an interrupt leaves nothing that is half true
                shelf = Shelf(self.sign, one.pieces, one.content.shape[1]) if before is None else before.shelf
                before = shelf.put(one, marks, before)
            kept.append(before)
        clear_marks(found)
        self._known = {id(one.array): _Known(one.array, one.marks, k) for one, k in zip(found, kept, strict=True)}
        return kept

    def bring_back(self, found: Collection[tuple[Marked, Kept]]) -> None:
        """Write what a snapshot holds over arrays of the same shapes. The caller clears their marks."""
        marks = _marks_set((one, max(one.pieces, kept.pieces)) for one, kept in found)
        for (one, kept), count in zip(found, marks, strict=True):
            now = self._of(one)
            if now is kept and count == 0:
                continue
            self._known.pop(id(one.array), None)    # an interrupt leaves nothing that is half true
            strips, known = (now.strips, now.pieces) if now is not None and now.shelf is kept.shelf else (_NO_STRIPS, 0)
            prepared(_bring_back)(kept.shelf.written, one.content, one.written, strips, known, kept.strips, kept.pieces)
            if self.owns(kept):                     # what is another world's is only read
                self._known[id(one.array)] = _Known(one.array, one.marks, kept)

    def owns(self, stored: object) -> bool:
        """Whether an array of a snapshot lies on one of its own shelves."""
        return isinstance(stored, Kept) and stored.shelf.owner is self.sign

    def _of(self, one: Marked) -> Kept | None:
        """What an array was known to hold; None where it is another one, or has grown since."""
        then = self._known.get(id(one.array))
        return then.kept if then is not None and then.array is one.array and then.marks is one.marks else None


def rehearse() -> None:
    """Load the kernels that snapshots need once some of them are gone."""
    one = Marked(np.zeros(1, np.int32), np.ones(1, np.bool_), 1, 1)
    shelf = Shelf(None, *one.content.shape)
    for _ in range(3):
        kept = shelf.put(one, 1, None)
    _bring_back(shelf.written, one.content, one.written, _NO_STRIPS, 0, kept.strips, 1)
