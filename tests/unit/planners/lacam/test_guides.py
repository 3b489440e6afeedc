"""Guide paths against the reference, and what they are for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.reference.guides import guide_paths, meetings
from tests.reference.lacam import count_moves
from tests.unit.planners.lacam.instances import NOBODY
from wend import Grid
from wend.kernel import NO_CELL
from wend.maps.terrain import Point
from wend.planners.lacam.guides import Guides, make_guides, next_on_guide, no_guides
from wend.planners.lacam.instance import LacamInstance, make_instance
from wend.planners.lacam.refining import sum_of_costs
from wend.planners.lacam.search import FOUND, TreeSearch

BOTH = pytest.mark.parametrize("connectivity", [4, 8])


def draw(seed: int, grid: Grid, count: int) -> LacamInstance:
    rng, cells = np.random.default_rng(seed), grid.largest_component()
    starts, goals = (rng.permutation(cells)[:count].astype(np.int32) for _ in range(2))
    return make_instance(grid, starts, goals, NOBODY)


def points(grid: Grid, cells: np.ndarray) -> list[Point]:
    return [grid.xy(int(cell)) for cell in cells]


def path_of(grid: Grid, guides: Guides, unit: int) -> list[Point]:
    begin = int(guides.begin[unit])
    return points(grid, guides.cell[begin : begin + int(guides.length[unit])])


@pytest.mark.small
@BOTH
def test_guide_paths_are_the_references(connectivity: int) -> None:
    detours = 0
    for seed in range(6):
        grid = Grid(np.random.default_rng(seed).random((8, 9)) < 0.8, connectivity=connectivity)
        instance = draw(seed, grid, 14)
        starts, goals = points(grid, instance.start), points(grid, instance.goal)
        guides, moves = make_guides(instance), [count_moves(grid, goal) for goal in goals]
        paths = [path_of(grid, guides, unit) for unit in range(14)]
        assert paths == guide_paths(grid, moves, starts, goals)
        detours += sum(len(path) - 1 > moves[unit][starts[unit]] for unit, path in enumerate(paths))
    assert detours > 3


@pytest.mark.small
@BOTH
def test_the_next_cell_is_found_from_all_cells_of_a_guide_path_and_no_others(connectivity: int) -> None:
    grid = Grid(np.random.default_rng(1).random((9, 9)) < 0.8, connectivity=connectivity)
    instance = draw(1, grid, 20)
    guides = make_guides(instance)
    for unit in range(20):
        path = path_of(grid, guides, unit)
        after = dict(pairwise(path))
        for cell in grid.largest_component().tolist():
            following = next_on_guide(instance, guides, unit, cell)
            assert (None if following == NO_CELL else grid.xy(int(following))) == after.get(grid.xy(cell))
            assert next_on_guide(instance, no_guides(instance), unit, cell) == NO_CELL


@pytest.mark.small
def test_units_that_would_meet_head_on_take_two_lanes() -> None:
    grid = Grid.from_text("......\n......", connectivity=4)
    ends = np.array([grid.cell(0, 0), grid.cell(5, 0)], np.int32)
    guides = make_guides(make_instance(grid, ends, ends[::-1], NOBODY))
    one, other = (path_of(grid, guides, unit) for unit in range(2))
    assert all(meetings([other], one[tick - 1], one[tick], tick) == 0 for tick in range(1, len(one)))
    assert {len(one), len(other)} == {6, 8}


def test_guided_plans_cost_less_where_many_pass_the_same_doors() -> None:
    rows = np.ones((32, 33), np.bool_)
    rows[:, 16] = False
    rows[4::8, 16] = True
    grid, costs = Grid(rows, connectivity=4), np.zeros(2, np.int64)
    for seed in range(5):
        instance = draw(seed, grid, 120)
        for k, guides in enumerate((None, make_guides(instance))):
            search = TreeSearch(instance, swaps=True, seed=seed, guides=guides)
            assert search.run(2_000) == FOUND
            costs[k] += sum_of_costs(instance, search.plan())
    assert costs[1] < 0.95 * costs[0]
