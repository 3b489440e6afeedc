"""The step of a flood, and the tables of a terrain. `test_grid.py` compares the tables with the reference."""

from __future__ import annotations

import numpy as np
import pytest

from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, DX, DY, empty_map_cost, make_tables, spread

OPEN = np.ones((3, 3), dtype=np.bool_)


@pytest.mark.small
def test_the_opposite_of_a_direction_is_its_number_with_one_bit_turned() -> None:
    for d in range(8):
        assert (DX[d ^ 2], DY[d ^ 2]) == (-DX[d], -DY[d])


@pytest.mark.small
@pytest.mark.parametrize(("directions", "reached"), [(4, [4, 1, 5, 7, 3]), (8, [4, 1, 5, 7, 3, 2, 8, 6, 0])])
def test_a_step_reaches_the_blank_neighbours_in_the_order_of_directions(directions: int, reached: list[int]) -> None:
    tables = make_tables(OPEN, connectivity=8)
    mark, queue = np.full(9, -1, np.int32), np.full(9, -1, np.int32)
    mark[4], queue[0] = 0, 4
    assert spread(tables, directions, mark, -1, 7, queue, 0, 1) == len(reached)
    assert queue[: len(reached)].tolist() == reached
    assert [int(cell) for cell in np.flatnonzero(mark == 7)] == sorted(reached[1:])
    assert spread(tables, directions, mark, -1, 8, queue, 0, len(reached)) == len(reached)     # none is blank any more


@pytest.mark.small
def test_a_full_queue_ends_the_flood_and_marks_no_more() -> None:
    mark, queue = np.full(9, -1, np.int32), np.full(3, -1, np.int32)
    mark[4], queue[0] = 0, 4
    assert spread(make_tables(OPEN, connectivity=8), 8, mark, -1, 1, queue, 0, 1) == 3
    assert (mark == 1).sum() == 2


@pytest.mark.small
def test_costs_without_obstacles() -> None:
    octile, manhattan = make_tables(OPEN, connectivity=8), make_tables(OPEN, connectivity=4)
    assert empty_map_cost(octile, 2, 5) == 2 * DIAGONAL_COST + 3 * CARDINAL_COST
    assert empty_map_cost(manhattan, 2, 5) == 7 * CARDINAL_COST
