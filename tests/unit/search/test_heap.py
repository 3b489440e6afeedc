from __future__ import annotations

import heapq

import numpy as np
import pytest

from wend.kernel.arrays import allocate
from wend.search.heap import Heap, drop_first, empty, push, size_of


@pytest.mark.small
@pytest.mark.parametrize("values", [1, 2, 5, 2**40])
def test_entries_come_out_as_from_a_plain_heap(values: int) -> None:
    draw = np.random.default_rng(values)
    heap = allocate(Heap, entries=300)
    for _ in range(3):
        ref: list[tuple[int, ...]] = []
        empty(heap)
        for _ in range(400):
            assert size_of(heap) == len(ref)
            if ref and (draw.random() < 0.4 or len(ref) == 300):
                assert tuple(heap.entry[0].tolist()) == heapq.heappop(ref)
                drop_first(heap)
            else:
                entry = tuple(draw.integers(-values, values, 3).tolist())
                push(heap, *entry)
                heapq.heappush(ref, entry)
        while ref:
            assert tuple(heap.entry[0].tolist()) == heapq.heappop(ref)
            drop_first(heap)
        assert size_of(heap) == 0
