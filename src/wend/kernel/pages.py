# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Pages: what a search or an agent knows of the few cells that it has reached, in pieces of 8 x 8 cells from one pool.

Who owns the pages keeps a directory of where each page of the map begins in the pool, NO_PAGE where it has none. Items
of a new page are 0, and so are all of NO_PAGE, which is never written: to read them takes no question.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel.arrays import allocate, record
from wend.kernel.compiling import jit
from wend.kernel.pools import CHUNK, Pool, bring, carry, enlarged, get, make_pool, put

PAGE = CHUNK        # cells in a page
SIDE = 8            # cells that it is wide and high
NO_PAGE = 0
MOST_READY = 1 << 15    # pages whose memory is made before they are used: 16 MB


class Pages(NamedTuple):
    """Pages in a pool."""

    pool: Pool      # items by page; a page that was given back begins with where the next one of these begins
    counts: Annotated[
        np.ndarray,
        record(
            "used",         # pages of the pool that were ever used, NO_PAGE included
            "free",         # pages of these that were given back,
            "first_free",   # ... and where the first of them begins
        ),
    ]

    def lengths_in_use(self) -> dict[str, int]:
        """How much of the pool a snapshot has to hold."""
        return {"items": self.counts["used"].item() * PAGE}


def across_and_down(width: int, height: int) -> tuple[int, int]:
    """How many pages there are in a row of a map of this size, and in a column."""
    return -(-width // SIDE), -(-height // SIDE)


@jit
def page_at(across, x, y):
    """The number of the page with the cell (x, y), on a map with so many pages in a row."""
    return (y >> 3) * across + (x >> 3)


@jit
def place_at(x, y):
    """Where in its page the cell (x, y) is."""
    return (y & 7) << 3 | (x & 7)


def make_pages(pages: int) -> Pages:
    """Space for so many pages, until it grows."""
    made = allocate(Pages, {"pool": make_pool(pages * PAGE)})
    made.counts[0].used = 1
    return made


def with_more(pages: Pages) -> Pages:
    """The same with space for twice as many."""
    return pages._replace(pool=enlarged(pages.pool))


@jit
def has_space(pages, needed):
    """Whether there is space for so many new pages."""
    counts = pages.counts[0]
    return (counts.used - counts.free + needed) * PAGE <= pages.pool.items.size


@jit
def new_page(pages):
    """Take a page out of the pool; return where it begins. Mutates: pages."""
    counts = pages.counts[0]
    if counts.free > 0:
        page = counts.first_free
        counts.first_free = get(pages.pool, page)
        counts.free -= 1
        put(pages.pool, page, 0)
        return page
    carry(pages.pool, 2)
    counts.used += 1
    page = (counts.used - 1) * PAGE
    if page < pages.pool.counts[0].until:       # the pool grew before its last pages were used
        bring(pages.pool, page)
    return page


@jit
def give_back(pages, page):
    """Put a page back into the pool. Mutates: pages."""
    counts = pages.counts[0]
    put(pages.pool, page, counts.first_free)
    for beside in range(1, PAGE):
        put(pages.pool, page + beside, 0)
    counts.first_free = page
    counts.free += 1
