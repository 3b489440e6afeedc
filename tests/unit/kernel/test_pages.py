from __future__ import annotations

import pytest

from wend.kernel.pages import PAGE, make_pages, new_page, with_more
from wend.kernel.pools import carry, get


@pytest.mark.small
def test_pages_taken_while_the_pool_is_growing_keep_what_is_written_to_them() -> None:
    """A pool grows before its last pages are used. Kernels write to a new page right away, as to any that is over."""
    pages = make_pages(16)
    for _ in range(9):
        new_page(pages)
    pages = with_more(pages)
    taken = []
    while pages.counts[0].used < 16:
        page = int(new_page(pages))
        taken.append(page)
        pages.pool.items[page : page + PAGE] = page
    assert pages.pool.counts[0].until > 0           # it is still growing
    assert all(int(get(pages.pool, page + k)) == page for page in taken for k in range(PAGE))
    carry(pages.pool, 16)
    assert pages.pool.counts[0].until == 0
    assert all(int(get(pages.pool, page + k)) == page for page in taken for k in range(PAGE))
