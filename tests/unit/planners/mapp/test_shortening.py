from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference import shortening as reference
from tests.reference.mapp import replay, solve
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.planners.mapp import compaction, shortening
from wend.planners.mapp.shortening import shorten

pytestmark = pytest.mark.small

NOBODY = np.empty(0, np.int32)
Plan = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]      # starts; units and cells of the moves


def plan_by_mapp(grid: Grid, agents: int, draw: np.random.Generator) -> Plan:
    """A plan that MAPP makes for random starts and goals."""
    starts, goals = (draw.permutation(grid.free_cells())[:agents] for _ in range(2))
    found = solve(grid, starts.tolist(), goals.tolist(), [])
    return starts, found.unit, found.to


def wander(grid: Grid, agents: int, moves: int, draw: np.random.Generator) -> Plan:
    """Units that go anywhere, each time to a blank cell."""
    starts = draw.permutation(grid.free_cells())[:agents]
    at = starts.tolist()
    unit, to = [], []
    while len(unit) < moves:
        u = int(draw.integers(agents))
        cell = int(draw.choice(reference.beside(grid, at[u]) or at))
        if cell not in at:
            at[u] = cell
            unit.append(u)
            to.append(cell)
    return starts, np.array(unit, np.int32), np.array(to, np.int32)


def check(grid: Grid, plan: Plan, unit: NDArray[np.int32], to: NDArray[np.int32]) -> None:
    """Whether moves lead to where a plan does, with no more moves of any unit."""
    starts = plan[0].tolist()
    old = replay(grid, starts, plan[1].tolist(), plan[2].tolist())
    assert replay(grid, starts, unit.tolist(), to.tolist()) == old
    assert (np.bincount(unit, minlength=len(starts)) <= np.bincount(plan[1], minlength=len(starts))).all()


def pairs(moves: tuple[NDArray[np.int32], NDArray[np.int32]]) -> list[tuple[int, int]]:
    return list(zip(moves[0].tolist(), moves[1].tolist(), strict=True))


# --- a worked example ------------------------------------------------------------------------------------------------

#   b . . . .      unit 0 goes straight from (0, 1) to a; unit 1 goes from (2, 1) to b
#   0 . 1 . a

AISLE = Grid.from_text(".....\n.....", connectivity=4)
ASIDE_AND_BACK: list[tuple[int, Point]] = [
    (0, (1, 1)), (1, (2, 0)),                               # unit 1 is pushed aside,
    (0, (2, 1)), (0, (3, 1)), (0, (4, 1)),                  # unit 0 passes,
    (1, (2, 1)), (1, (1, 1)), (1, (0, 1)), (1, (0, 0)),     # and unit 1 goes back to where its path was
]  # fmt: skip


def aside_and_back() -> Plan:
    cells = [AISLE.cell(*point) for _, point in ASIDE_AND_BACK]
    starts = np.array([AISLE.cell(0, 1), AISLE.cell(2, 1)], np.int32)
    return starts, np.array([unit for unit, _ in ASIDE_AND_BACK], np.int32), np.array(cells, np.int32)


def test_who_was_pushed_aside_goes_on_from_there() -> None:
    plan = aside_and_back()
    assert compaction.trim(*plan, AISLE.size)[0].size == 9      # a unit passed, so this was no needless excursion
    unit, to = shorten(AISLE, *plan, NOBODY)
    check(AISLE, plan, unit, to)
    assert [AISLE.xy(cell) for cell in to[unit == 0].tolist()] == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert [AISLE.xy(cell) for cell in to[unit == 1].tolist()] == [(2, 0), (1, 0), (0, 0)]
    assert compaction.schedule(compaction.link(plan[0], unit, to, AISLE.size)).max() == 4


def test_nobody_goes_through_an_obstacle() -> None:
    plan = aside_and_back()
    unit, to = shorten(AISLE, *plan, np.array([AISLE.cell(1, 0)], np.int32))
    check(AISLE, plan, unit, to)
    assert unit.size == 9
    assert AISLE.cell(1, 0) not in to.tolist()


def test_without_passes_only_excursions_go() -> None:
    plan = aside_and_back()
    assert pairs(shorten(AISLE, *plan, NOBODY, passes=0)) == pairs(plan[1:])


def test_a_plan_without_moves() -> None:
    unit, to = shorten(AISLE, np.array([3, 4], np.int32), NOBODY, NOBODY, NOBODY)
    assert unit.size == to.size == 0


def test_a_lone_unit_goes_straight() -> None:
    grid = Grid(np.ones((6, 6), np.bool_), connectivity=4)
    plan = wander(grid, 1, 60, np.random.default_rng(3))
    unit, to = shorten(grid, *plan, NOBODY)
    check(grid, plan, unit, to)
    (x, y), (goal_x, goal_y) = grid.xy(int(plan[0][0])), grid.xy(int(plan[2][-1]))
    assert unit.size == abs(x - goal_x) + abs(y - goal_y) > 0


def test_the_given_moves_are_left_alone() -> None:
    plan = aside_and_back()
    before = [part.copy() for part in plan]
    shorten(AISLE, *plan, NOBODY)
    assert all(np.array_equal(a, b) for a, b in zip(plan, before, strict=True))


# --- the plain version -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("connectivity", [4, 8])
def test_plans_of_mapp(connectivity: int) -> None:
    draw = np.random.default_rng(1)
    saved = 0
    for _ in range(20):
        grid = Grid(draw.random((7, 8)) < 0.9, connectivity=connectivity)
        plan = plan_by_mapp(grid, 9, draw)
        comp = shorten(grid, *plan, NOBODY)
        check(grid, plan, *comp)
        assert pairs(comp) == reference.shorten(grid, *plan, NOBODY)
        saved += compaction.trim(*plan, grid.size)[0].size - comp[0].size
    assert saved > 0


def test_units_that_wandered() -> None:
    draw = np.random.default_rng(2)
    for agents in (2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20):
        grid = Grid(draw.random((7, 7)) < 0.85, connectivity=4)
        plan = wander(grid, agents, 150, draw)
        unused = np.setdiff1d(grid.free_cells(), np.concatenate([plan[0], plan[2]])).astype(np.int32)
        for obstacles in (NOBODY, unused[:3]):
            comp = shorten(grid, *plan, obstacles)
            check(grid, plan, *comp)
            assert not set(comp[1].tolist()) & set(obstacles.tolist())
            assert pairs(comp) == reference.shorten(grid, *plan, obstacles)


def test_a_unit_that_runs_out_of_expansions_keeps_its_path() -> None:
    draw = np.random.default_rng(6)
    grid = Grid(np.ones((9, 9), np.bool_), connectivity=4)
    plan = wander(grid, 30, 600, draw)
    comp = shorten(grid, *plan, NOBODY, expansions=0)
    check(grid, plan, *comp)
    assert pairs(comp) == reference.shorten(grid, *plan, NOBODY, expansions=0)
    assert pairs(comp) != reference.shorten(grid, *plan, NOBODY)


def test_cells_move_to_where_there_is_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid(np.ones((9, 9), np.bool_), connectivity=4)
    plan = wander(grid, 30, 400, np.random.default_rng(4))
    expected = reference.shorten(grid, *plan, NOBODY)
    monkeypatch.setattr(shortening, "_SPARE", 1)
    assert pairs(shorten(grid, *plan, NOBODY)) == expected
    monkeypatch.setattr(shortening, "_GROWTH", 1)
    comp = shorten(grid, *plan, NOBODY)                 # there is none: some keep the paths that they have
    check(grid, plan, *comp)
    assert len(expected) < comp[0].size < compaction.trim(*plan, grid.size)[0].size
