"""LaCAM and LaCAM* against the reference step by step, against exhaustive search, and on the cases that must hold."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.joint import least
from tests.reference.lacam import ReferenceLacam, count_moves
from tests.unit.planners.lacam.instances import CASES, NOBODY, check_plan
from wend import Grid
from wend.kernel import OUT_OF_BUDGET
from wend.planners.lacam.guides import make_guides
from wend.planners.lacam.instance import make_instance, own_goals
from wend.planners.lacam.search import EXHAUSTED, FOUND, TreeSearch

ANSWERS = {FOUND: "found", EXHAUSTED: "exhausted", OUT_OF_BUDGET: "out of steps"}
BOTH = pytest.mark.parametrize("connectivity", [4, 8])


@pytest.mark.small
@BOTH
@pytest.mark.parametrize("name", CASES)
def test_every_step_is_the_references(name: str, connectivity: int) -> None:
    case = CASES[name]
    for seed, swaps, guided in ((0, True, False), (1, False, False), (2, True, True)):
        instance, grid = case.instance(connectivity), case.grid(connectivity)
        search = TreeSearch(instance, swaps=swaps, seed=seed, guides=make_guides(instance) if guided else None)
        reference = ReferenceLacam(grid, case.starts, case.goals, swaps=swaps, seed=seed, guided=guided)
        for _ in range(12):
            answer = search.run(25)
            assert ANSWERS[answer] == reference.run(25)
            assert (search.steps, search.nodes) == (reference.steps, len(reference.explored))
            assert search.is_solved == (reference.goal is not None)
            if search.is_solved:
                places = [tuple(grid.xy(int(cell)) for cell in row) for row in search.plan()]
                assert places == reference.plan()
                assert search.cost == reference.goal.g      # type: ignore[union-attr]
            if answer == EXHAUSTED:
                break


@BOTH
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("guided", [False, True])
def test_the_optimum_is_proven_and_so_is_that_there_is_no_plan(name: str, connectivity: int, guided: bool) -> None:
    case = CASES[name]
    instance = case.instance(connectivity)
    search = TreeSearch(instance, swaps=True, seed=0, guides=make_guides(instance) if guided else None)
    grid, answer, costs = case.grid(connectivity), OUT_OF_BUDGET, []
    while answer != EXHAUSTED:
        answer = search.run(10_000)
        if search.is_solved:
            costs.append(search.cost)
            plan = search.plan()
            check_plan(grid, plan)
            assert [grid.xy(int(cell)) for cell in plan[-1]] == case.goals
    assert costs == sorted(costs, reverse=True)
    best = case.optimum[connectivity]
    assert search.is_solved == (best is not None)
    if best is not None:
        assert search.cost == best[1]
        assert len(search.plan()) - 1 >= best[0]


@pytest.mark.small
@BOTH
@pytest.mark.parametrize("name", [name for name in CASES if name != "tunnel"])
def test_the_optima_are_those_of_exhaustive_search(name: str, connectivity: int) -> None:
    case, grid = CASES[name], CASES[name].grid(connectivity)
    starts, goals = tuple(case.starts), tuple(case.goals)
    ticks, lost = least(grid, starts, goals, ticks=True), least(grid, starts, goals)
    assert (None if ticks is None else (ticks, lost)) == case.optimum[connectivity]


@pytest.mark.small
def test_swaps_make_the_difference_in_a_tunnel() -> None:
    with_swaps = TreeSearch(CASES["tunnel"].instance(4), swaps=True, seed=0)
    assert with_swaps.run(300) == FOUND
    without = TreeSearch(CASES["tunnel"].instance(4), swaps=False, seed=0)
    assert without.run(3_000) == OUT_OF_BUDGET
    assert not without.is_solved


@BOTH
def test_all_is_tried_exactly_where_exhaustive_search_finds_nothing(connectivity: int) -> None:
    """Random maps of up to 12 cells with up to 3 agents, and the least loss where there is a plan."""
    unsolvable = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        shape = (2, 6) if seed % 2 else (3, 4)
        grid = Grid(rng.random(shape) < (0.65 if seed % 3 else 0.85), connectivity=connectivity)
        if not grid.passable.any():
            continue
        cells = grid.largest_component()
        count = min(int(rng.integers(1, 4)), cells.size)
        starts, goals = (rng.permutation(cells)[:count].astype(np.int32) for _ in range(2))
        instance = make_instance(grid, starts, goals, NOBODY)
        guides = make_guides(instance) if seed % 4 else None
        search = TreeSearch(instance, swaps=bool(seed % 5), seed=seed, guides=guides)
        while search.run(10_000) != EXHAUSTED:
            pass
        places = (tuple(grid.xy(int(cell)) for cell in some) for some in (starts, goals))
        best = least(grid, *places)
        assert search.is_solved == (best is not None), seed
        assert best is None or search.cost == best, seed
        unsolvable += best is None
    assert unsolvable > 15


@pytest.mark.small
def test_the_plan_without_a_goal_is_the_nearest_that_was_found() -> None:
    search = TreeSearch(CASES["corridor"].instance(4), swaps=True, seed=0)
    before = search.moves_left
    assert search.run(1_000) == EXHAUSTED
    assert search.moves_left <= before
    check_plan(CASES["corridor"].grid(4), search.plan())


@pytest.mark.small
def test_distances_are_numbers_of_moves_around_walls_and_other_agents() -> None:
    grid = Grid.from_text("....\n.@..\n....")
    starts, goals = np.array([0], np.int32), np.array([11], np.int32)
    for obstacles in (NOBODY, np.array([2, 6], np.int32)):
        instance = make_instance(grid, starts, goals, obstacles)
        walled = grid.passable.copy()
        walled.ravel()[obstacles] = False
        expected = count_moves(Grid(walled), (3, 2))
        for cell in np.flatnonzero(walled).tolist():
            assert instance.moves[0, instance.place[cell]] == expected[grid.xy(cell)]


@pytest.mark.small
def test_every_unit_has_a_goal_of_its_own_that_it_can_reach() -> None:
    grid = Grid.from_text("....@.\n....@.", connectivity=4)
    cells = [grid.cell(*point) for point in [(0, 0), (1, 0), (2, 0), (5, 0), (3, 1)]]
    goals = [grid.cell(*point) for point in [(2, 0), (2, 0), (2, 0), (0, 0), (5, 1)]]
    own = [grid.xy(int(cell)) for cell in own_goals(grid, np.array(cells), np.array(goals))]
    assert own[2] == (2, 0)         # who stands there has it
    assert {own[0], own[1]} < {(1, 0), (3, 0), (2, 1)}
    assert own[3] == (5, 0)         # who cannot get there stays
    assert own[4] == (3, 1)
    assert len(set(own)) == 5
