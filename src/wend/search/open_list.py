# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The open list: smallest f first, then smallest h (which is largest g), then first in, first out. Exactly so.

Half of the entries of a grid search never lead anywhere: their node is improved and pushed again, or the goal is found
first. So an entry goes into a bucket by its coarse f, which takes constant time; only the bucket at hand is kept as a
binary heap, and entries of nodes that were closed in the meantime are left out when a bucket comes to hand. Entries
that become outdated later are recognised by the searches when they come up. A bucket is 1/64 of a cell wide; the last
one takes whatever lies beyond, which costs time and not correctness. An entry whose f is below the bucket at hand
(inconsistent heuristics) goes straight into the heap. A search that expands each cell once pushes at most eight entries
per cell, and there is space for so many: memory that is never touched costs nothing.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import allocate, int32, int64, record
from wend.search import heap

_BUCKETS = 131072
_BUCKET_SHIFT = 26      # grid.CARDINAL_COST / 64
_NOTHING = 0


class OpenList(NamedTuple):
    """A priority queue of cells: a heap (`heap.py`), which is the bucket at hand, and the buckets that come later."""

    entry: Annotated[np.ndarray, int64("entries", 3)]               # the heap: f, h, order << 32 | cell
    pool: Annotated[np.ndarray, int64("entries", 4)]                # the same, and 1 + the next entry of its bucket
    bucket: Annotated[np.ndarray, int32("buckets")]                 # 1 + its first entry in the pool, or _NOTHING
    counts: Annotated[
        np.ndarray,
        record(
            "held",     # entries in the heap
            "pooled",   # entries ever put into the pool
            "current",  # the bucket at hand
            "least_f",  # f at which bucket 0 begins
            "buckets",  # buckets up to the last one that was used
        ),
    ]

    def lengths_in_use(self) -> dict[str, int]:
        """How many entries and buckets a snapshot has to hold."""
        held, pooled, buckets = (self.counts[name].item() for name in ("held", "pooled", "buckets"))
        return {"entries": max(held, pooled), "buckets": buckets}


def make_open_list(cells: int) -> OpenList:
    """An open list for searches that expand each of so many cells at most once."""
    return allocate(OpenList, entries=8 * cells + 1, buckets=_BUCKETS)


@jit
def clear(open_list, base):
    """Empty the list for a search whose first f is `base`. Mutates: open_list."""
    counts = open_list.counts[0]
    for k in range(counts.buckets):
        open_list.bucket[k] = _NOTHING
    heap.empty(open_list)
    counts.pooled = 0
    counts.current = 0
    counts.least_f = base
    counts.buckets = 0


@jit
def push(open_list, f, h, ticket):
    """Add an entry; `ticket` is order << 32 | cell. Mutates: open_list."""
    counts = open_list.counts[0]
    k = min((f - counts.least_f) >> _BUCKET_SHIFT, _BUCKETS - 1)
    if k <= counts.current:
        heap.push(open_list, f, h, ticket)
        return
    slot = counts.pooled
    entry = open_list.pool[slot]
    entry[0], entry[1], entry[2], entry[3] = f, h, ticket, open_list.bucket[k]
    open_list.bucket[k] = counts.pooled = slot + 1
    counts.buckets = max(counts.buckets, k + 1)


@jit
def _refill(open_list, mark, closed):
    """Make the next bucket that holds anything the one at hand; False if there is none. Mutates: open_list."""
    counts = open_list.counts[0]
    for k in range(counts.current + 1, counts.buckets):
        following = np.int64(open_list.bucket[k])
        if following == _NOTHING:
            continue
        counts.current = k
        open_list.bucket[k] = _NOTHING
        while following != _NOTHING:
            entry = open_list.pool[following - 1]
            if mark[entry[2] & 0xFFFFFFFF] != closed:
                heap.push(open_list, entry[0], entry[1], entry[2])
            following = entry[3]
        if heap.size_of(open_list) > 0:
            return True
    return False


@jit
def is_empty(open_list, mark, closed):
    """Whether nothing is left. Brings the next bucket to hand if need be. Mutates: open_list.

    A cell with `mark` = `closed` is closed: its outdated entries need not pass through the heap.
    """
    return heap.size_of(open_list) == 0 and not _refill(open_list, mark, closed)


@jit
def first(open_list):
    """The ticket of the first entry; only right after `is_empty` said no."""
    return open_list.entry[0, 2]


@jit
def drop_first(open_list):
    """Take out the first entry; only right after `is_empty` said no. Mutates: open_list."""
    heap.drop_first(open_list)
