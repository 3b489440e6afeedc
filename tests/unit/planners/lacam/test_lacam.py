from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.unit.planners.lacam.instances import CASES
from wend import Grid, Problem, World, create, make_problem, solve
from wend.errors import ParameterError
from wend.planners.lacam.search import TreeSearch
from wend.run import Limits

BOTH = pytest.mark.parametrize("connectivity", [4, 8])


def world_of(name: str, connectivity: int = 4, algorithm: str = "lacam", seed: int = 0, **parameters: Any) -> World:
    case = CASES[name]
    world = World(case.grid(connectivity), create(algorithm, **parameters), seed=seed)
    for start, goal in case.ways:
        world.add(start, goal)
    return world


@pytest.mark.small
@BOTH
@pytest.mark.parametrize("name", CASES)
def test_the_cases_that_must_hold_are_solved_or_told_to_be_unsolvable(name: str, connectivity: int) -> None:
    world = world_of(name, connectivity, max_expansions=1_000)
    solvable = CASES[name].optimum[connectivity] is not None
    assert (world.run(max_ticks=120) == "done") == solvable
    assert world.planner.counters()["unsolvable"] == (not solvable)


# By PIBT alone: the fewest and the most ticks, or None where it never brings all home. (4 and 8 neighbours.)
PLAIN = {
    "T": None, "pocket": None, "bent corridor": None, "corridor": None, "2x1": None, "2x3": {4: (4, 6), 8: (2, 2)},
    "loop": None, "tree": None, "tunnel": None, "rotation": {4: (1, 1), 8: (1, 1)},
    "full square": {4: None, 8: (2, 4)}, "crossing": {4: (2, 4), 8: (1, 1)},
}  # fmt: skip
# With swaps, more is solved. (The paper's PIBT with swaps never solves the tree; ours also swaps in front of a dead end
# in which any other agent stands, see search/pibt.py.)
SWAPPING = {**PLAIN, **{name: {4: ticks, 8: ticks} for name, ticks in
                        {"T": (4, 5), "pocket": (6, 8), "tree": (7, 40)}.items()}}  # fmt: skip


@pytest.mark.small
@BOTH
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_what_pibt_alone_can_and_cannot_do(name: str, swap: bool, connectivity: int) -> None:
    expected = (SWAPPING if swap else PLAIN)[name]
    ticks = expected[connectivity] if expected is not None else None
    for seed in range(2):
        world = world_of(name, connectivity, "pibt", seed, swap=swap)
        assert (world.run(max_ticks=60) == "done") == (ticks is not None)
        if ticks is not None:
            assert ticks[0] <= world.ticks <= ticks[1]


@pytest.mark.small
@pytest.mark.parametrize("swap", [False, True])
def test_on_a_loop_all_visit_their_goals_but_never_together(swap: bool) -> None:
    world = world_of("loop", 4, "pibt", swap=swap)
    visited: set[int] = set()
    for _ in range(100):
        world.tick()
        visited |= {agent for agent in range(3) if world.position(agent) == world.goal(agent)}
    assert visited == {0, 1, 2}


def test_it_is_known_when_each_better_plan_was_found() -> None:
    problem = make_problem("random", Grid.load("random:seed=1"), agents=60, seed=1)
    planner = create("lacam", anytime_expansions=300)
    run = solve(problem, planner)
    seconds, costs = zip(*run.solutions, strict=True)
    assert len(costs) > 2
    assert list(seconds) == sorted(seconds)
    assert list(costs) == sorted(set(costs), reverse=True)
    assert costs[-1] == run.sum_of_costs
    assert 0 < run.measure("first_solution_seconds") == seconds[0] <= run.first_tick_seconds
    first, *better = solve(problem, create("lacam")).solutions
    assert (first.sum_of_costs, better) == (costs[0], [])
    assert solve(problem, "weave").solutions == []
    assert not planner.depends_on_clock()
    assert create("lacam", anytime_ms=1).depends_on_clock()


def test_more_effort_makes_plans_cheaper_and_proves_the_best() -> None:
    case = CASES["tree"]
    problem = Problem.from_points(case.grid(4), starts=case.starts, goals=case.goals)
    costs = []
    for expansions in (0, 60, 2_000):
        run = solve(problem, create("lacam", anytime_expansions=expansions), Limits(max_ticks=60))
        assert not run.violations
        costs.append(run.summary()["sum_of_costs"])
        assert run.counters["optimal"] == (expansions == 2_000)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]
    assert run.counters["sum_of_loss"] == 14


@pytest.mark.small
def test_an_interrupt_ends_the_improving_and_keeps_the_best_plan(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run, runs = TreeSearch.run, list[bool]()

    def run_until_interrupted(search: TreeSearch, steps: int) -> int:
        runs.append(world.planner.is_improving())
        if runs[-2:] == [True, True]:
            raise KeyboardInterrupt
        return run(search, min(steps, 5) if runs[-1] else steps)

    world = world_of("pocket", anytime_ms=1e9)
    monkeypatch.setattr(TreeSearch, "run", run_until_interrupted)
    with caplog.at_level(logging.INFO, "wend"):
        assert world.run(max_ticks=30) == "done"
    assert runs[-2:] == [True, True]
    assert not world.planner.is_improving()
    assert "interrupted; the best plan so far is kept" in caplog.messages
    assert caplog.messages[0].startswith("sum of costs ")


@pytest.mark.small
def test_orders_walls_and_agents_that_come_and_go() -> None:
    grid = Grid.from_text(".....\n.....\n.....", connectivity=4)
    world = World(grid, create("lacam"))
    agents = [world.add((x, 0), goal=(4 - x, 2)) for x in range(4)]
    for _ in range(2):
        world.tick()
    world.order(agents[0], (0, 0))
    standing = {world.position(agent) for agent in agents}
    world.block([next((x, 1) for x in (2, 1, 3) if (x, 1) not in standing)])
    world.remove(agents[3])
    late = world.add((4, 1), goal=(0, 1))
    assert world.run(max_ticks=60) == "done"
    assert world.position(late) == (0, 1)


@pytest.mark.small
def test_all_wait_for_a_walker_and_plan_anew_if_it_stays() -> None:
    grid = Grid.from_text(".....\n@...@", connectivity=4)
    world = World(grid, create("lacam"))
    agent, walker = world.add((0, 0), goal=(4, 0)), world.add((3, 1), controlled=False)
    world.move(walker, (2, 1))
    world.tick()
    world.move(walker, (2, 0))
    world.tick()
    assert world.position(agent) == (1, 0)
    assert world.intent(agent).waits_for == walker
    assert world.intent(agent).reason == "an agent outside the plan is in the way"
    assert world.run(max_ticks=30) == "done"
    assert world.planner.counters()["repaths"] == 1


@pytest.mark.small
def test_its_window_shows_the_plan_and_why_there_is_none() -> None:
    world = World(Grid.from_text("....", connectivity=4), create("lacam"))
    agent = world.add((0, 0), goal=(3, 0))
    assert world.intent(agent).path == ()
    world.tick()
    assert world.intent(agent).path == ((2, 0), (3, 0))
    assert world.planner.overlay("traffic").tolist() == [0, 0, 1, 1]
    stuck = world_of("2x1")
    stuck.tick()
    assert stuck.intent(0).reason == "there is no plan that brings all agents home"


@pytest.mark.small
def test_where_no_plan_is_found_units_come_nearer_and_try_again() -> None:
    """Six steps to go, and three configurations at a time."""
    world = World(Grid.from_text("." * 7, connectivity=4), create("lacam", max_expansions=3))
    world.add((0, 0), goal=(6, 0))
    assert world.run(max_ticks=40) == "done"
    assert world.planner.counters()["repaths"] == 1


@pytest.mark.small
def test_silly_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="anytime_ms is a number from 0"):
        create("lacam", anytime_ms=-1)
    with pytest.raises(ParameterError, match="max_expansions is a whole number from 1"):
        create("lacam", max_expansions=0)
