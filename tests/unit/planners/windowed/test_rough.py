"""Orders that never freeze a unit: what agents do while the distances to their goals are not known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.rough import ReferenceRough
from tests.reference.windowed import PUSHING
from wend import Grid, World, create
from wend.maps.generators import random_map
from wend.maps.terrain import Point
from wend.planners.windowed.plans import take_plan
from wend.planners.windowed.rough import set_courses, step_phase
from wend.planners.windowed.ticks import begin_tick
from wend.problems.scenarios import make_problem
from wend.search.flood import move_distances

# --- against the reference ------------------------------------------------------------------------------------------


@pytest.mark.small
@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("pushes", [True, False])
def test_agents_that_know_nothing_yet_agree_with_the_reference(pushes: bool, connectivity: int) -> None:
    """A budget of one expansion goes into the search of agent 1; until that reaches it, no agent knows anything.

    Agent 0 is home, and nobody may push it.
    """
    learned = ticks = 0
    for seed in range(4):
        grid = random_map(seed=seed, width=17, height=15).with_rules(connectivity=connectivity)
        draw = np.random.default_rng(seed)
        starts, goals = draw.permutation(grid.largest_component()), draw.permutation(grid.largest_component())
        goals = np.concatenate((starts[:1], goals[goals != starts[0]]))
        planner = create("whca", window=1, order="age", boxed_in="push" if pushes else "stand")
        world = World(grid, planner, seed=seed)
        reference = ReferenceRough(grid, pushes=pushes, seed=seed)
        for start, goal in zip(starts[:40].tolist(), goals[:40].tolist(), strict=True):
            world.add(grid.xy(start), grid.xy(goal))
            reference.add(start, goal)
        world.pin(0)
        reference.pinned.add(0)
        while world.ticks < 20 and np.isnan(world.planner.overlay("distance", 1)[reference.at[1]]):
            world.tick(budget=1)
            reference.tick()
            assert world.state.agents.cell.tolist() == reference.at, f"seed {seed}, tick {world.ticks}"
        learned += sum(map(len, reference.learned))
        ticks += world.ticks
    assert ticks >= 30
    assert learned > 50


@pytest.mark.small
@pytest.mark.parametrize("connectivity", [4, 8])
def test_agents_with_plans_and_rough_ones_decide_together_as_the_reference_does(connectivity: int) -> None:
    """One tick in which half of the agents have plans, which lead through the others: nothing was searched yet."""
    pushed_off = kept = 0
    for seed in range(6):
        grid = random_map(seed=seed, width=13, height=11).with_rules(connectivity=connectivity)
        draw = np.random.default_rng(seed)
        starts, goals = draw.permutation(grid.largest_component()), draw.permutation(grid.largest_component())
        goals[:5] = starts[:5]                                          # these are home,
        world = World(grid, create("whca", **PUSHING), seed=seed)
        reference = ReferenceRough(grid, pushes=True, seed=seed)
        for start, goal in zip(starts[:60].tolist(), goals[:60].tolist(), strict=True):
            world.add(grid.xy(start), grid.xy(goal))
            reference.add(start, int(world.state.agents.goal[len(reference.at)]))
        world.pin(0)                                                    # ... and the first of them stays there
        reference.pinned.add(0)
        reference.left_home = draw.integers(-9, 0, 60).tolist()
        planned: dict[int, int] = {}
        for agent in draw.permutation(np.arange(1, 60))[:30].tolist():
            cells = [reference.at[agent], *(cell for _, cell in reference.steps(agent))]
            cell = int(draw.choice(cells))
            swaps = any(reference.at[other] == cell and to == reference.at[agent] for other, to in planned.items())
            if cell not in planned.values() and not swaps:
                planned[agent] = cell
        reference.plans = planned
        setting = world.planner._setting()
        setting.courses.counts["with_budget"] = True
        setting.plans.left_home[:60] = reference.left_home
        begin_tick(setting, 0, 1, world.state.agents.cell.copy())
        set_courses(setting)
        for agent in range(60):
            if agent in planned or reference.is_home(agent):
                setting.plans.cell[agent, :2] = reference.at[agent], planned.get(agent, reference.at[agent])
                take_plan(setting.scene.table, setting.plans, agent, 1, 0)
                setting.courses.is_rough[agent] = False
        step_phase(setting)
        decisions = setting.decisions
        goes = np.where(decisions.decided[:60], decisions.target[:60], reference.at)
        assert goes.tolist() == reference.decide(), f"seed {seed}"
        kept += sum(goes[agent] == cell for agent, cell in planned.items())
        pushed_off += sum(goes[agent] != cell for agent, cell in planned.items())
    assert pushed_off > 20
    assert kept > 50


@pytest.mark.parametrize("place", ["caves:width=256,height=256,seed=0", "rooms:width=256,height=256,seed=0"])
def test_a_unit_alone_goes_as_surges_would_until_its_distances_are_known(place: str) -> None:
    """Surge has a reference of its own."""
    grid = Grid.load(place)
    draw, compared = np.random.default_rng(2), 0
    for start, goal in draw.choice(grid.largest_component(), (20, 2), replace=False).tolist():
        world, surge = (World(grid, planner, seed=0) for planner in (create("whca", **PUSHING), create("surge")))
        for each in (world, surge):
            each.add(grid.xy(start), grid.xy(goal))
        while world.ticks < 40 and np.isnan(world.planner.overlay("distance", 0)[world.state.agents.cell[0]]):
            world.tick(budget=3_000)
            surge.tick()
            assert world.position(0) == surge.position(0)
            compared += 1
    assert compared > 30


def moves_between(grid: Grid, a: Point, b: Point) -> int:
    return int(move_distances(grid, grid.cell(*a))[0][grid.cell(*b)])


# --- scenes ---------------------------------------------------------------------------------------------------------


def first_steps(key: str, place: str, budget: int, *, agents: int = 500) -> np.ndarray:
    """The tick in which each agent takes its first step after a mass order; the agents have rested before."""
    grid = Grid.load(place)
    problem = make_problem("random", grid, agents=agents, seed=1)
    world = World(grid, create(key), seed=0)
    for start in problem.starts.tolist():
        world.add(grid.xy(start))
    for _ in range(3):
        world.tick(budget=budget)
    for agent, goal in enumerate(problem.goals.tolist()):
        world.order(agent, grid.xy(goal))
    first = np.where(problem.starts == problem.goals, 0, 1_000)
    for tick in range(1, 31):
        world.tick(budget=budget)
        first[(first == 1_000) & (world.state.agents.cell != problem.starts)] = tick
        assert int(world.trace().expansions.max()) <= budget
    return first


@pytest.mark.parametrize("budget", [8_000, 2_000])
@pytest.mark.parametrize("place", ["caves:width=256,height=256,seed=0", "rooms:width=256,height=256,seed=0"])
@pytest.mark.parametrize("key", ["weave", "whca"])
def test_after_a_mass_order_all_units_move_at_once(key: str, place: str, budget: int) -> None:
    first = first_steps(key, place, budget)
    assert np.median(first) <= 4
    assert first.max() <= 16


def test_the_guard_never_stops_units_that_all_decide_together() -> None:
    """In a crowd in which some units plan in windows and others go by rough distances."""
    problem = make_problem("swap-sides", Grid.load("rooms:width=64,height=64,seed=1"), agents=300, seed=1)
    world = World.from_problem(problem, create("whca", **PUSHING), seed=0)
    kinds = np.zeros(2, np.int64)
    for _ in range(150):
        world.tick(budget=1_000)
        away = world.state.agents.cell != world.state.agents.goal
        kinds += np.bincount(world.planner._distances.rough.courses.is_rough[:300][away], minlength=2)
    assert kinds.min() > 1_000
    assert world.planner.counters()["stopped_by_guard"] == 0


@pytest.mark.parametrize("key", ["weave", "whca"])
def test_units_that_are_ordered_elsewhere_in_every_tick_keep_moving(key: str) -> None:
    grid = Grid.load("caves:width=128,height=128,seed=1")
    problem = make_problem("random", grid, agents=60, seed=2)
    world = World.from_problem(problem, create(key), seed=0)
    draw, steps = np.random.default_rng(0), np.zeros(60, np.int64)
    cells = grid.largest_component()
    for _ in range(50):
        for agent, goal in enumerate(draw.choice(cells, 60, replace=False).tolist()):
            world.order(agent, grid.xy(goal))
        before = world.state.agents.cell.copy()
        world.tick(budget=500)
        steps += world.state.agents.cell != before
    assert steps.min() >= 40


@pytest.mark.parametrize("key", ["weave", "whca"])
def test_with_a_small_budget_units_come_home_through_walls_that_rise_and_fall(key: str) -> None:
    grid = Grid.load("rooms:width=64,height=64,seed=2")
    problem = make_problem("random", grid, agents=40, seed=5)
    world = World.from_problem(problem, create(key), seed=1)
    draw, walls = np.random.default_rng(4), []
    goals = set(problem.goals.tolist())
    for _ in range(60):
        cell = int(draw.choice(world.grid.free_cells()))
        if world.state.occupant[cell] < 0 and cell not in goals:
            world.block([grid.xy(cell)])
            walls.append(grid.xy(cell))
        world.tick(budget=300)
    world.unblock(walls)
    assert world.run(max_ticks=600, budget=300) == "done"


def test_exact_distances_take_over_when_they_are_known() -> None:
    """A unit alone on the map plans in a window from the tick on in which its search has come to it."""
    grid = Grid.load("caves:width=128,height=128,seed=0")
    corners = sorted(map(grid.xy, grid.largest_component().tolist()), key=sum)
    world = World(grid, create("whca", **PUSHING), seed=0)
    unit = world.add(corners[0], corners[-1])
    lengths = []
    while not world.all_home():
        world.tick(budget=400)
        lengths.append(len(world.planner.intent(unit).path))
    known = next(k for k, length in enumerate(lengths) if length > 0)
    assert known > 1
    assert max(lengths[known:]) == 7
    assert world.ticks <= 1.1 * moves_between(grid, *corners[:: len(corners) - 1])
