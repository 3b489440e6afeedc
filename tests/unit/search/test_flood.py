from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from tests.reference.grid import legal_steps
from wend import Grid
from wend.kernel import UNREACHABLE
from wend.search.flood import move_distances


def reference(grid: Grid, sources: list[int]) -> dict[int, int]:
    distance = dict.fromkeys(sources, 0)
    queue = deque(sources)
    while queue:
        cell = queue.popleft()
        for _, place in legal_steps(grid, grid.xy(cell)):
            beside = grid.cell(*place)
            if beside not in distance:
                distance[beside] = distance[cell] + 1
                queue.append(beside)
    return distance


@pytest.mark.small
@pytest.mark.parametrize("rules", [{}, {"connectivity": 4}, {"corner_cutting": True}])
def test_distances_agree_with_the_reference(rules) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        grid = Grid(rng.random((7, 9)) < 0.6, **rules)
        sources = rng.choice(grid.free_cells(), 2, replace=False).tolist()
        distance, order = move_distances(grid, sources)
        wanted = reference(grid, sources)
        assert {c: int(d) for c, d in enumerate(distance) if d != UNREACHABLE} == wanted
        assert order.tolist() == sorted(order.tolist(), key=lambda cell: wanted[cell])
        assert set(order.tolist()) == set(wanted)


@pytest.mark.small
def test_only_the_nearest_are_reached() -> None:
    grid = Grid(np.ones((5, 5)))
    distance, order = move_distances(grid, grid.cell(2, 2), nearest=9)
    assert order.size == 9
    assert sorted(distance[order].tolist()) == [0] + [1] * 8
    assert (distance == UNREACHABLE).sum() == 16
