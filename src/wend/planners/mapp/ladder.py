# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""An open list for moves that cost 1 and, now and then, a penalty: a ladder with a rung for every f.

Order: smallest penalty first, then smallest f, then last in, first out. With a consistent heuristic and moves of cost
1, f comes in whole steps, so that pushing and popping take constant time: a rung is a stack. A penalty outweighs every
length. Entries with a larger penalty than the one at hand wait in a heap; when the ladder is empty, those with the
smallest penalty climb it. On a 4-connected map f keeps its parity, so that a rung stands for two.

Used by the searches of MAPP (`alternates.py`, `slidable.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import jit

_NOTHING = -1


class Ladder(NamedTuple):
    """A priority queue of nodes."""

    rung: np.ndarray    # int32[rungs]     last entry on each rung, _NOTHING if empty
    node: np.ndarray    # int32[room]      the node of each entry, in the order of pushing
    below: np.ndarray   # int32[room]      the entry under it on its rung; while it waits in the heap: its rung
    heap: np.ndarray    # int64[room, 2]   penalty, entry
    tally: np.ndarray   # int64[6]         see below


# Ladder.tally holds
_ENTRIES = 0    # entries pushed so far
_LOWEST = 1     # no rung below this one holds anything
_HIGHEST = 2    # no rung above this one was used
_HEAPED = 3     # entries in the heap
_PENALTY = 4    # of the entries on the ladder
_BASE = 5       # f of rung 0


def make_ladder(room: int, rungs: int) -> Ladder:
    """A ladder for searches that push at most so many entries and whose f rises by less than twice so many rungs."""
    return Ladder(
        np.full(rungs, _NOTHING, np.int32), np.empty(room, np.int32), np.empty(room, np.int32),
        np.empty((room, 2), np.int64), np.array([0, 0, -1, 0, 0, 0], np.int64),
    )  # fmt: skip


@jit
def clear(ladder, base):
    """Empty the ladder for a search whose first f is `base`. Mutates: ladder."""
    tally = ladder.tally
    for k in range(tally[_HIGHEST] + 1):
        ladder.rung[k] = _NOTHING
    tally[_ENTRIES] = 0
    tally[_LOWEST] = 0
    tally[_HIGHEST] = -1
    tally[_HEAPED] = 0
    tally[_PENALTY] = 0
    tally[_BASE] = base


@jit
def _put(ladder, entry, rung):
    """Lay an entry on a rung. Mutates: ladder."""
    tally = ladder.tally
    ladder.below[entry] = ladder.rung[rung]
    ladder.rung[rung] = entry
    if rung < tally[_LOWEST]:
        tally[_LOWEST] = rung
    if rung > tally[_HIGHEST]:
        tally[_HIGHEST] = rung


@jit
def push(ladder, penalty, f, node):
    """Add a node. Mutates: ladder."""
    tally = ladder.tally
    entry = tally[_ENTRIES]
    tally[_ENTRIES] = entry + 1
    ladder.node[entry] = node
    rung = (f - tally[_BASE]) >> 1
    if penalty == tally[_PENALTY]:
        _put(ladder, entry, rung)
        return
    heap = ladder.heap
    ladder.below[entry] = rung
    k = tally[_HEAPED]
    tally[_HEAPED] = k + 1
    while k > 0 and heap[(k - 1) >> 1, 0] > penalty:        # a later entry is the larger one: penalties decide alone
        heap[k, 0], heap[k, 1] = heap[(k - 1) >> 1, 0], heap[(k - 1) >> 1, 1]
        k = (k - 1) >> 1
    heap[k, 0], heap[k, 1] = penalty, entry


@jit
def _heap_less(heap, a, b):
    return heap[a, 0] < heap[b, 0] or (heap[a, 0] == heap[b, 0] and heap[a, 1] < heap[b, 1])


@jit
def _heap_drop_first(ladder):
    """Take the first entry out of the heap. Mutates: ladder."""
    heap = ladder.heap
    size = ladder.tally[_HEAPED] - 1
    ladder.tally[_HEAPED] = size
    heap[0, 0], heap[0, 1] = heap[size, 0], heap[size, 1]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= size:
            return
        if child + 1 < size and _heap_less(heap, child + 1, child):
            child += 1
        if not _heap_less(heap, child, k):
            return
        p, e = heap[k, 0], heap[k, 1]
        heap[k, 0], heap[k, 1] = heap[child, 0], heap[child, 1]
        heap[child, 0], heap[child, 1] = p, e
        k = child


@jit
def pop(ladder):
    """Take out the first node, or answer -1 when nothing is left. Mutates: ladder."""
    tally, rung = ladder.tally, ladder.rung
    while True:
        for k in range(tally[_LOWEST], tally[_HIGHEST] + 1):
            entry = rung[k]
            if entry != _NOTHING:
                tally[_LOWEST] = k
                rung[k] = ladder.below[entry]
                return ladder.node[entry]
        if tally[_HEAPED] == 0:
            return _NOTHING
        tally[_LOWEST] = tally[_HIGHEST] + 1
        tally[_PENALTY] = ladder.heap[0, 0]
        while tally[_HEAPED] > 0 and ladder.heap[0, 0] == tally[_PENALTY]:
            entry = ladder.heap[0, 1]
            _heap_drop_first(ladder)
            _put(ladder, entry, ladder.below[entry])
