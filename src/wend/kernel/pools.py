# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A pool: int64 items by number, which grows in the middle of a search without ever being copied as a whole.

When a pool is full, Python puts an empty array of twice the size beside the old one (`enlarged`), which copies nothing.
From then on, whoever takes a new item out of the pool carries two old ones over (`carry`), so that all are over before
the larger array is full. Which of the two arrays holds an item follows from its number.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel.arrays import allocate, int64, record
from wend.kernel.compiling import jit


class Pool(NamedTuple):
    """Items by number."""

    items: Annotated[np.ndarray, int64("items")]
    older: Annotated[np.ndarray, int64("older")]                # the array before it grew
    counts: Annotated[np.ndarray, record("carried", "until")]   # older[carried:until] holds the items of these numbers


def make_pool(items: int) -> Pool:
    """Room for so many items, all of them 0. What is never used takes no memory."""
    return allocate(Pool, items=items, older=1)


def enlarged(pool: Pool) -> Pool:
    """The same pool with room for twice as many items."""
    carry(pool, pool.older.size)
    pool.counts[0].carried, pool.counts[0].until = 0, pool.items.size
    return Pool(np.zeros(2 * pool.items.size, np.int64), pool.items, pool.counts)


@jit
def get(pool, k):
    """Item number k."""
    counts = pool.counts[0]
    return pool.older[k] if counts.carried <= k < counts.until else pool.items[k]


@jit
def put(pool, k, value):
    """Set item number k. Mutates: pool."""
    counts = pool.counts[0]
    if counts.carried <= k < counts.until:
        pool.older[k] = value
    else:
        pool.items[k] = value


@jit
def carry(pool, count):
    """Carry up to so many items over from the older array. Mutates: pool."""
    counts = pool.counts[0]
    end = min(counts.carried + count, counts.until)
    for k in range(counts.carried, end):
        pool.items[k] = pool.older[k]
    counts.carried = end
