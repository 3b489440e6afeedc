# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""An open list for moves that cost 1 and, now and then, a penalty: a ladder with a rung for every f.

Order: smallest penalty first, then smallest f, then last in, first out. With a consistent heuristic and moves of cost
1, f comes in whole steps, so that pushing and popping take constant time: a rung is a stack. A penalty outweighs every
length. Entries with a larger penalty than the one at hand wait in a heap; when the ladder is empty, those with the
smallest penalty climb it. On a 4-connected map f keeps its parity, so that a rung stands for two.

Used by the searches of MAPP (`alternates.py`, `path_search.py`).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import int32, record
from wend.search import heap
from wend.search.heap import Heap

_NOTHING = -1


class Ladder(NamedTuple):
    """A priority queue of nodes."""

    rung: Annotated[np.ndarray, int32("rungs", fill=_NOTHING)]      # last entry on each rung, _NOTHING if empty
    node: Annotated[np.ndarray, int32("entries")]                   # the node of each entry, in the order of pushing
    below: Annotated[np.ndarray, int32("entries")]                  # the entry under it on its rung
    waiting: Heap                                                   # of penalty, entry, rung
    counts: Annotated[np.ndarray, record(
        "entries",      # pushed so far
        "lowest",       # no rung below this one holds anything
        "highest",      # no rung above this one was used
        "penalty",      # of the entries on the ladder
        "first_f",      # f of rung 0
    )]  # fmt: skip


@jit
def clear(ladder, f):
    """Empty the ladder for a search whose first entry has this f. Mutates: ladder."""
    counts = ladder.counts[0]
    for k in range(counts.highest + 1):
        ladder.rung[k] = _NOTHING
    counts.entries = 0
    counts.lowest = 0
    counts.highest = -1
    counts.penalty = 0
    counts.first_f = f
    heap.empty(ladder.waiting)


@jit
def _put(ladder, entry, rung):
    """Lay an entry on a rung. Mutates: ladder."""
    counts = ladder.counts[0]
    ladder.below[entry] = ladder.rung[rung]
    ladder.rung[rung] = entry
    if rung < counts.lowest:
        counts.lowest = rung
    if rung > counts.highest:
        counts.highest = rung


@jit
def push(ladder, penalty, f, node):
    """Add a node. Mutates: ladder."""
    counts = ladder.counts[0]
    entry = counts.entries
    counts.entries = entry + 1
    ladder.node[entry] = node
    rung = (f - counts.first_f) >> 1
    if penalty == counts.penalty:
        _put(ladder, entry, rung)
    else:
        heap.push(ladder.waiting, penalty, entry, rung)


@jit
def pop(ladder):
    """Take out the first node, or answer -1 when nothing is left. Mutates: ladder."""
    counts, rung, waiting = ladder.counts[0], ladder.rung, ladder.waiting
    while True:
        for k in range(counts.lowest, counts.highest + 1):
            entry = rung[k]
            if entry != _NOTHING:
                counts.lowest = k
                rung[k] = ladder.below[entry]
                return ladder.node[entry]
        if heap.size_of(waiting) == 0:
            return _NOTHING
        counts.lowest = counts.highest + 1
        counts.penalty = waiting.entry[0, 0]
        while heap.size_of(waiting) > 0 and waiting.entry[0, 0] == counts.penalty:
            entry, climbs_to = waiting.entry[0, 1], waiting.entry[0, 2]
            heap.drop_first(waiting)
            _put(ladder, entry, climbs_to)
