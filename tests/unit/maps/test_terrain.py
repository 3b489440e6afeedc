"""The step of a flood, and the tables of a terrain. `test_grid.py` compares the tables with the reference."""

from __future__ import annotations

import numpy as np
import pytest

from wend.maps.terrain import (
    CARDINAL_COST,
    DIAGONAL_COST,
    DX,
    DY,
    empty_map_cost,
    make_tables,
    place_of,
    row_factor,
    spread,
)

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
@pytest.mark.parametrize("width", [1, 2, 3, 7, 64, 194, 511, 513])
def test_the_place_of_a_cell_is_what_dividing_by_the_width_leaves(width: int) -> None:
    tables = make_tables(np.ones((9, width), np.bool_), connectivity=8)
    for cell in range(9 * width):
        assert place_of(tables, cell) == (cell % width, cell // width)


@pytest.mark.small
@pytest.mark.parametrize("width", [1, 2, 3, 1_000, 46_340, 46_341, 2**30, 2**31 - 1])
def test_places_are_exact_on_the_largest_maps(width: int) -> None:
    height = (2**31 - 1) // width
    factor, shift = row_factor(width, height)
    tables = make_tables(OPEN, connectivity=8)._replace(width=width, row_factor=factor, row_shift=shift)
    for row in (0, height // 3, height // 2, height - 1):
        for cell in (row * width, (row + 1) * width - 1):
            assert place_of(tables, cell) == (cell % width, row)


@pytest.mark.small
def test_costs_without_obstacles() -> None:
    octile, manhattan = make_tables(OPEN, connectivity=8), make_tables(OPEN, connectivity=4)
    assert empty_map_cost(octile, 2, 5) == 2 * DIAGONAL_COST + 3 * CARDINAL_COST
    assert empty_map_cost(manhattan, 2, 5) == 7 * CARDINAL_COST
