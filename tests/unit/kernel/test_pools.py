from __future__ import annotations

import numpy as np
import pytest

from wend.kernel.pools import CHUNK, carry, enlarged, get, make_pool, put


@pytest.mark.small
def test_a_pool_grows_without_losing_anything_in_whatever_order_it_is_used() -> None:
    draw = np.random.default_rng(4)
    pool, twin, used = make_pool(CHUNK), {}, 0
    for _ in range(1_500):
        if used == pool.items.size:
            assert int(pool.counts[0].until) == 0       # all are over before the next array is needed
            pool = enlarged(pool)
        if used % CHUNK == 0:
            carry(pool, 2)
        twin[used] = int(draw.integers(1000))
        put(pool, used, twin[used])
        used += 1
        k = int(draw.integers(used))
        assert get(pool, k) == twin[k]
        twin[k] = int(draw.integers(1000))
        put(pool, k, twin[k])
    assert pool.items.size == 32 * CHUNK
    assert [get(pool, k) for k in range(used)] == [twin[k] for k in range(used)]


@pytest.mark.small
def test_growing_copies_nothing() -> None:
    pool = make_pool(3 * CHUNK)
    put(pool, 5, 7)
    larger = enlarged(pool)
    assert larger.older is pool.items
    assert not larger.items.any()
    assert get(larger, 5) == 7
    assert not larger.is_over.any()                     # reading changes nothing
    put(larger, 70, 1)
    assert larger.is_over.tolist() == [False, True, False]


@pytest.mark.small
def test_a_pool_that_grows_again_early_carries_the_rest_over() -> None:
    pool = make_pool(CHUNK)
    for k in range(4):
        put(pool, k, k + 1)
    pool = enlarged(enlarged(pool))
    assert pool.items.size == 4 * CHUNK
    assert [get(pool, k) for k in range(4)] == [1, 2, 3, 4]


@pytest.mark.small
def test_a_large_pool_goes_on_where_it_is() -> None:
    pool = make_pool(1 << 14)
    put(pool, 5, 7)
    larger = enlarged(pool)
    if not np.shares_memory(larger.items, pool.items):
        pytest.skip("no address space can be had here without memory")
    assert larger.items.size == 2 * pool.items.size == CHUNK * larger.written.size
    assert int(larger.counts[0].until) == 0
    assert larger.written.all()                         # a snapshot looks at all of it
    put(larger, 1 << 14, 9)
    assert [get(larger, k) for k in (5, 1 << 14, (1 << 15) - 1)] == [7, 9, 0]
