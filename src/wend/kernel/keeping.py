# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Keeping: snapshots that share what did not change between them.

A large array has marks (arrays.py): a flag for each piece, some of its rows, that was written since the last snapshot.
A copy of a piece lies on a shelf, which all snapshots of that array share and where it never changes. So a snapshot is
a list of places on the shelf: those of the snapshot before, and new ones for pieces that are marked. To go back copies
the pieces that are marked, and those that lie in another place than what the array holds now.

A piece has as many users as there are lists that name it. Python tells when a list is gone (`Kept.__del__`); the
shelf takes note of it when it is used the next time, so that this may happen in any thread and at any moment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel.compiling import jit
from wend.kernel.outline import Outlines
from wend.kernel.storing import Marked, dtype_of

_TIMES = 4              # as many pieces as the array has: space on a new shelf. What is never used takes no memory
_WORD = 4               # bytes
_RUN = 64               # pieces in a run, which are looked at together: most have nothing to do


class Places(NamedTuple):
    """Where the pieces of an array lie on a shelf."""

    place: NDArray[np.int32]    # [pieces]
    stamp: NDArray[np.int64]    # [runs]    when the places of a run were listed: two of the same stamp are the same


_NOWHERE = Places(np.empty(0, np.int32), np.empty(0, np.int64))


@jit
def _let_go(places, users, free, height):
    """A list of places is gone; return the height of the stack of free ones then. Mutates: users, free."""
    for place in places:
        users[place] -= 1
        if users[place] == 0:
            free[height] = place
            height += 1
    return height


@jit
def _keep(words, written, before, gone, kept, pieces, users, free, height, serial):
    """Put pieces that are marked onto the shelf, share the others, and let go of a list that is gone.

    `words` has a row for each piece, `before` the places of the first pieces then, as far as they are known; `free` is
    a stack of places. Returns its height then. Mutates: kept, pieces, users, free.
    """
    places, stamps = kept.place, kept.stamp
    for run in range(stamps.size):
        first = run * _RUN
        last = min(first + _RUN, places.size)
        is_changed = last > before.place.size
        if not is_changed:
            for k in range(first, last):
                is_changed |= written[k]
                places[k] = before.place[k]
        stamps[run] = serial if is_changed else before.stamp[run]
        if last <= gone.place.size and stamps[run] == gone.stamp[run]:
            continue                                    # one user for another: most are, in a game that goes on
        for k in range(first, last):
            if k >= before.place.size or written[k]:
                height -= 1
                place = free[height]
                for j in range(words.shape[1]):
                    pieces[place, j] = words[k, j]
                users[place] = 1
            else:
                place = before.place[k]
                users[place] += 1
            places[k] = place
            if k < gone.place.size:
                users[gone.place[k]] -= 1
                if users[gone.place[k]] == 0:
                    free[height] = gone.place[k]
                    height += 1
    return _let_go(gone.place[places.size :], users, free, height)


@jit
def _bring_back(words, written, now, then, pieces):
    """Write the pieces that lie at `then` over those that are marked or lie at another place now. Mutates: words."""
    for run in range(then.stamp.size):
        first = run * _RUN
        last = min(first + _RUN, then.place.size)
        if last <= now.place.size and now.stamp[run] == then.stamp[run]:
            is_changed = False
            for k in range(first, last):
                is_changed |= written[k]
            if not is_changed:
                continue
        for k in range(first, last):
            if k >= now.place.size or written[k] or now.place[k] != then.place[k]:
                for j in range(words.shape[1]):
                    words[k, j] = pieces[then.place[k], j]


class Shelf:
    """Copies of pieces of one array."""

    def __init__(self, owner: object, pieces: int, words: int) -> None:
        self.owner = owner                          # Keeper.sign: of who alone may put pieces there
        self.gone: deque[Places] = deque()
        self.pieces = np.empty((0, words), np.uint32)
        self._users = np.zeros(0, np.int32)         # lists that name each place
        self._free = np.empty(0, np.int32)          # a stack of places without a piece
        self._height = 0                            # ... and how many there are
        self._serial = 0                            # how often something was put there
        self._grow(_TIMES * pieces)

    def put(self, words: NDArray[np.uint32], written: NDArray[np.bool_], before: Places) -> Places:
        """The places of all pieces; those that are not marked stay where they were."""
        gone = self.gone.popleft() if self.gone else _NOWHERE
        while self.gone:
            self._height = int(_let_go(self.gone.popleft().place, self._users, self._free, self._height))
        shared = min(len(words), before.place.size)
        needed = len(words) - shared + int(np.count_nonzero(written[:shared]))
        if needed > self._height:
            self._grow(max(2 * len(self.pieces), len(self.pieces) + needed))
        self._serial += 1
        places = Places(np.empty(len(words), np.int32), np.empty(-(-len(words) // _RUN), np.int64))
        given = self.pieces, self._users, self._free, self._height, self._serial
        self._height = int(_keep(words, written, before, gone, places, *given))
        return places

    def _grow(self, size: int) -> None:
        """Make space for so many pieces. Those who read the shelf at this moment may go on with the old one."""
        have, words = self.pieces.shape
        pieces, users, free = np.empty((size, words), np.uint32), np.zeros(size, np.int32), np.empty(size, np.int32)
        pieces[:have], users[:have], free[: self._height] = self.pieces, self._users, self._free[: self._height]
        free[self._height : self._height + size - have] = np.arange(size - 1, have - 1, -1)
        self.pieces, self._users, self._free, self._height = pieces, users, free, self._height + size - have


class Kept:
    """An array of a snapshot: where its pieces lie on a shelf."""

    def __init__(self, shelf: Shelf, places: Places, dtype: str, shape: tuple[int, ...], rows: int) -> None:
        self.shelf = shelf
        self.places = places
        self.dtype = dtype
        self.shape = shape      # of the whole array
        self.rows = rows        # so many of its first rows were in use

    def __del__(self) -> None:
        self.shelf.gone.append(self.places)

    @property
    def nbytes(self) -> int:
        """How much memory its pieces take, and the list of their places."""
        return self.places.place.size * _WORD * (self.shelf.pieces.shape[1] + 1)

    def content(self) -> NDArray[Any]:
        """The rows that were in use."""
        whole = self.shelf.pieces[self.places.place].view(dtype_of(self.dtype))
        return whole.reshape(-1, *self.shape[1:])[: self.rows]


class _Known(NamedTuple):
    """What an array holds, but for its marked pieces."""

    array: NDArray[Any]
    written: NDArray[np.bool_]
    kept: Kept


class Keeper:
    """What is known of the arrays of one world since its last snapshot, taken or restored."""

    def __init__(self) -> None:
        self.sign = object()                    # of its own shelves, so that these do not keep a world alive
        self.outlines = Outlines()
        self._known: dict[int, _Known] = {}     # by the array's id: of those with marks

    def keep(self, found: Iterable[Marked]) -> list[Kept]:
        """What a snapshot holds of these arrays. Clears their marks, and forgets other arrays."""
        known, self._known = self._known, {}    # an interrupt leaves nothing that is half true
        kept = [self._kept(one, self._of(known, one)) for one in found]
        for one in found:
            one.written[:] = False
        self._known = {id(one.array): _Known(one.array, one.written, k) for one, k in zip(found, kept, strict=True)}
        return kept

    def _kept(self, one: Marked, before: Kept | None) -> Kept:
        if before is not None and before.rows == one.rows and not one.written.any():
            return before
        words = one.words[: -(-one.rows // one.rows_per_mark)]
        shelf = Shelf(self.sign, *words.shape) if before is None else before.shelf
        places = shelf.put(words, one.written, _NOWHERE if before is None else before.places)
        return Kept(shelf, places, one.dtype, one.array.shape, one.rows)

    def bring_back(self, one: Marked, kept: Kept) -> None:
        """Write what a snapshot holds over an array of the same shape. The caller clears its marks. Mutates: `one`."""
        now = self._of(self._known, one)
        if now is kept and not one.written.any():
            return
        self._known.pop(id(one.array), None)    # an interrupt leaves nothing that is half true
        places = now.places if now is not None and now.shelf is kept.shelf else _NOWHERE
        _bring_back(one.words, one.written, places, kept.places, kept.shelf.pieces)
        if self.owns(kept):                     # what is another world's is only read
            self._known[id(one.array)] = _Known(one.array, one.written, kept)

    def owns(self, stored: object) -> bool:
        """Whether an array of a snapshot lies on one of its own shelves."""
        return isinstance(stored, Kept) and stored.shelf.owner is self.sign

    @staticmethod
    def _of(known: dict[int, _Known], one: Marked) -> Kept | None:
        """What an array was known to hold; None where it is another one, or has grown since."""
        then = known.get(id(one.array))
        return then.kept if then is not None and then.array is one.array and then.written is one.written else None


def rehearse() -> None:
    """Load the kernels that snapshots need once some of them are gone."""
    shelf, words, written = Shelf(None, 1, 1), np.zeros((1, 1), np.uint32), np.ones(1, np.bool_)
    shelf.gone += [shelf.put(words, written, _NOWHERE) for _ in range(2)]
    _bring_back(words, written, _NOWHERE, shelf.put(words, written, _NOWHERE), shelf.pieces)
