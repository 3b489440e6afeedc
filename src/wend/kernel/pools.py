# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A pool: int64 items by number, which grows in the middle of a search without ever being copied as a whole.

A large pool has address space for many times its items. When it is full, Python lets it go on there (`enlarged`), which
moves nothing. That memory comes from the system in small pages: a tick with a deadline cannot wait for a huge one,
which took about 9 ms on one virtual machine. To touch many small ones takes five times as long, though. So whoever
knows how many items will be used soon has them made in huge ones before the tick (`make_ready`).

Where there is no such space, or it is used up, Python puts an empty array of twice the size beside the old one, which
copies nothing. From then on, items are carried over in chunks of 64: a chunk that is wanted at once (`bring`), and with
each item that is taken out of the pool for the first time two more (`carry`), so that all are over before the larger
array is full.

Kernels may use `pool.items[k]` right away where `k >= pool.counts[0].until`, and after `bring(pool, k)`. Otherwise it
takes `get` and `put`. Whoever writes to `pool.items` right away marks the chunk, at `pool.written[k >> CHUNK_BITS]`.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel.arrays import allocate, flags, int64, make_in_huge_pages, marks, record
from wend.kernel.compiling import jit

CHUNK_BITS = 6
CHUNK = 1 << CHUNK_BITS     # items

_ITEMS = int64("items", marked_by="written", rows_per_mark=CHUNK, rows_ahead=1 << 25)   # 256 MB


class Pool(NamedTuple):
    """Items by number."""

    items: Annotated[np.ndarray, _ITEMS]
    written: Annotated[np.ndarray, marks("chunks")]
    older: Annotated[np.ndarray, int64("older")]            # the array before it grew
    is_over: Annotated[np.ndarray, flags("older_chunks")]   # whether a chunk of it has been carried over
    counts: Annotated[np.ndarray, record(
        "until",    # items below this number may still be in `older`; 0 when all are over
        "chunk",    # the next chunk to look at
    )]  # fmt: skip


def make_pool(items: int) -> Pool:
    """Space for so many items, all of them 0; their number is rounded up. What is never used takes no memory."""
    chunks = -(-items // CHUNK)
    return allocate(Pool, items=chunks * CHUNK, chunks=chunks, older=0, older_chunks=0)


def make_ready(pool: Pool, items: int) -> None:
    """Have the system make memory for the first so many items now, as far as they fill huge pages."""
    make_in_huge_pages(pool.items, items)


def carried(pool: Pool) -> Pool:
    """The same pool with all items in one array."""
    carry(pool, pool.is_over.size)
    return pool


def enlarged(pool: Pool) -> Pool:
    """The same pool with space for twice as many items."""
    carry(pool, pool.is_over.size)
    chunks = pool.items.size // CHUNK
    longer = _ITEMS.lengthened(pool.items, 2 * pool.items.size)
    if longer is not None:
        kept = {"counts": pool.counts, "items": longer}
        return allocate(Pool, kept, chunks=2 * chunks, older=0, older_chunks=0)
    pool.counts[0].until, pool.counts[0].chunk = pool.items.size, 0
    kept = {"counts": pool.counts, "older": pool.items}
    return allocate(Pool, kept, items=2 * pool.items.size, chunks=2 * chunks, older_chunks=chunks)


@jit
def bring(pool, k):
    """Carry the chunk of an item below `until` over, unless it is over already. Mutates: pool."""
    chunk = k >> CHUNK_BITS
    if not pool.is_over[chunk]:
        pool.is_over[chunk] = True
        for item in range(chunk * CHUNK, (chunk + 1) * CHUNK):
            pool.items[item] = pool.older[item]


@jit
def carry(pool, chunks):
    """Carry up to so many chunks over. Mutates: pool."""
    counts = pool.counts[0]
    if counts.until == 0:
        return
    end = min(counts.chunk + chunks, pool.is_over.size)
    for chunk in range(counts.chunk, end):
        bring(pool, chunk * CHUNK)
    counts.chunk = end
    if end == pool.is_over.size:
        counts.until = 0


@jit
def get(pool, k):
    """Item number k. Threads may call it side by side while none writes."""
    is_older = k < pool.counts[0].until and not pool.is_over[k >> CHUNK_BITS]
    return pool.older[k] if is_older else pool.items[k]


@jit
def put(pool, k, value):
    """Set item number k. Mutates: pool."""
    if k < pool.counts[0].until:
        bring(pool, k)
    pool.written[k >> CHUNK_BITS] = True
    pool.items[k] = value
