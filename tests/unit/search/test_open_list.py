from __future__ import annotations

import heapq

import numpy as np
import pytest

from wend.maps.terrain import CARDINAL_COST
from wend.search.open_list import clear, drop_first, first, is_empty, make_open_list, push

CLOSED = 1


@pytest.mark.small
def test_entries_of_cells_closed_meanwhile_are_left_out_when_their_bucket_comes() -> None:
    open_list, mark = make_open_list(10), np.zeros(10, dtype=np.int32)
    clear(open_list, 0)
    for cell in range(6):
        push(open_list, cell * CARDINAL_COST, 0, cell)
    mark[[1, 2, 5]] = CLOSED
    came = []
    while not is_empty(open_list, mark, CLOSED):
        came.append(first(open_list))
        drop_first(open_list)
    assert came == [0, 3, 4]


@pytest.mark.small
@pytest.mark.parametrize("spread", [1, 40, 5_000])      # within a bucket, over many, beyond the last
def test_comes_out_as_from_a_heap_of_tuples(spread: int) -> None:
    rng = np.random.default_rng(spread)
    open_list, mark = make_open_list(1_500), np.zeros(1_500, dtype=np.int32)
    for _ in range(3):
        reference: list[tuple[int, int, int]] = []
        clear(open_list, 0)
        for ticket in range(1_500):
            if rng.random() < 0.6 or not reference:
                f = int(rng.integers(0, spread * 8)) * CARDINAL_COST // 8
                h = int(rng.integers(0, 3)) * CARDINAL_COST
                heapq.heappush(reference, (f, h, ticket))
                push(open_list, f, h, ticket)
            else:
                assert not is_empty(open_list, mark, CLOSED)
                assert first(open_list) == heapq.heappop(reference)[2]
                drop_first(open_list)
        while reference:
            assert not is_empty(open_list, mark, CLOSED)
            assert first(open_list) == heapq.heappop(reference)[2]
            drop_first(open_list)
        assert is_empty(open_list, mark, CLOSED)
