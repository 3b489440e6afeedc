# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The open list: smallest f first, then smallest h (which is largest g), then first in, first out. Exactly so.

Half of the entries of a grid search never lead anywhere: their node is improved and pushed again, or the goal is found
first. So an entry goes to a bucket by its coarse f, which takes constant time; only the bucket at hand is kept as a
binary heap, and entries of nodes that were closed in the meantime are left out when a bucket comes to hand. Those that
are outdated later, the searches recognise when they come up. A bucket is 1/64 of a cell wide; the last one takes
whatever lies beyond, which costs time and not correctness. An entry whose f is below the bucket at hand (inconsistent
heuristics) goes straight to the heap. A search that expands each cell once pushes at most eight entries per cell, and
this is the room there is: memory that is never touched costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import jit

BUCKETS = 131072
_BUCKET_SHIFT = 26      # grid.CARDINAL_COST / 64
_NOTHING = -1


class OpenList(NamedTuple):
    """A priority queue of cells."""

    heap: np.ndarray    # int64[8 * cells + 1, 3]  f, h, order << 32 | cell; the bucket at hand
    pool: np.ndarray    # int64[8 * cells + 1, 4]  the same and the next entry of its bucket; entries in other buckets
    bucket: np.ndarray  # int32[BUCKETS]           first entry in the pool, _NOTHING if empty
    tally: np.ndarray   # int64[5]                 see below


# OpenList.tally holds
_HEAPED = 0     # entries in the heap
_POOLED = 1     # entries ever put into the pool
_CURRENT = 2    # the bucket at hand
_BASE = 3       # f at which bucket 0 begins
_LAST = 4       # the last bucket in use


def make_open_list(cells: int) -> OpenList:
    """An open list for searches that expand each of so many cells at most once."""
    return OpenList(
        np.empty((8 * cells + 1, 3), dtype=np.int64),
        np.empty((8 * cells + 1, 4), dtype=np.int64),
        np.full(BUCKETS, _NOTHING, dtype=np.int32),
        np.array([0, 0, 0, 0, -1], dtype=np.int64),
    )


@jit
def clear(open_list, base):
    """Empty the list for a search whose first f is `base`. Mutates: open_list."""
    for k in range(open_list.tally[_LAST] + 1):
        open_list.bucket[k] = _NOTHING
    open_list.tally[_HEAPED] = 0
    open_list.tally[_POOLED] = 0
    open_list.tally[_CURRENT] = 0
    open_list.tally[_BASE] = base
    open_list.tally[_LAST] = -1


@jit
def _heap_push(heap, size, f, h, ticket):
    """Add an entry to a heap of `size` entries. Mutates: heap."""
    k = size
    while k > 0:
        up = (k - 1) >> 1
        up_f = heap[up, 0]
        if f > up_f or (f == up_f and (h > heap[up, 1] or (h == heap[up, 1] and ticket > heap[up, 2]))):
            break
        heap[k, 0], heap[k, 1], heap[k, 2] = up_f, heap[up, 1], heap[up, 2]
        k = up
    heap[k, 0], heap[k, 1], heap[k, 2] = f, h, ticket


@jit
def push(open_list, f, h, ticket):
    """Add an entry; `ticket` is order << 32 | cell. Mutates: open_list."""
    tally = open_list.tally
    k = min((f - tally[_BASE]) >> _BUCKET_SHIFT, BUCKETS - 1)
    if k <= tally[_CURRENT]:
        _heap_push(open_list.heap, tally[_HEAPED], f, h, ticket)
        tally[_HEAPED] += 1
        return
    slot = tally[_POOLED]
    entry = open_list.pool[slot]
    entry[0], entry[1], entry[2], entry[3] = f, h, ticket, open_list.bucket[k]
    open_list.bucket[k] = slot
    tally[_POOLED] = slot + 1
    if k > tally[_LAST]:
        tally[_LAST] = k


@jit
def _refill(open_list, mark, closed):
    """Make the next bucket that holds anything the one at hand; False if there is none. Mutates: open_list."""
    tally = open_list.tally
    for k in range(tally[_CURRENT] + 1, tally[_LAST] + 1):
        slot = open_list.bucket[k]
        if slot != _NOTHING:
            tally[_CURRENT] = k
            open_list.bucket[k] = _NOTHING
            size = 0
            while slot != _NOTHING:
                entry = open_list.pool[slot]
                if mark[entry[2] & 0xFFFFFFFF] != closed:
                    _heap_push(open_list.heap, size, entry[0], entry[1], entry[2])
                    size += 1
                slot = entry[3]
            if size > 0:
                tally[_HEAPED] = size
                return True
    return False


@jit
def is_empty(open_list, mark, closed):
    """Whether nothing is left. Brings the next bucket to hand if need be. Mutates: open_list.

    A cell with `mark` = `closed` is closed: its outdated entries need not pass through the heap.
    """
    return open_list.tally[_HEAPED] == 0 and not _refill(open_list, mark, closed)


@jit
def first(open_list):
    """The ticket of the first entry; only right after `is_empty` said no."""
    return open_list.heap[0, 2]


@jit
def drop_first(open_list):
    """Take out the first entry; only right after `is_empty` said no. Mutates: open_list."""
    heap = open_list.heap
    size = open_list.tally[_HEAPED] - 1
    open_list.tally[_HEAPED] = size
    f, h, last = heap[size, 0], heap[size, 1], heap[size, 2]
    k = 0
    child = 1
    while child < size:
        if child + 1 < size:
            a, b = heap[child, 0], heap[child + 1, 0]
            if b < a or (
                a == b
                and (
                    heap[child + 1, 1] < heap[child, 1]
                    or (heap[child + 1, 1] == heap[child, 1] and heap[child + 1, 2] < heap[child, 2])
                )
            ):
                child += 1
        child_f = heap[child, 0]
        if child_f > f or (
            child_f == f and (heap[child, 1] > h or (heap[child, 1] == h and heap[child, 2] > last))
        ):
            break
        heap[k, 0], heap[k, 1], heap[k, 2] = child_f, heap[child, 1], heap[child, 2]
        k = child
        child = 2 * k + 1
    heap[k, 0], heap[k, 1], heap[k, 2] = f, h, last
