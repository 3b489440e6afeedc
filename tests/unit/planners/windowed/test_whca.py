from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference.windowed import PUSHING, ReferenceWindowed
from wend import Grid, World, create
from wend.kernel import NO_AGENT
from wend.maps.generators import random_map
from wend.maps.terrain import Point
from wend.planners.base import Intent
from wend.planners.windowed.whca import Windowed


def trips(grid: Grid, agents: int, seed: int) -> list[tuple[int, int]]:
    draw = np.random.default_rng(seed)
    cells = grid.largest_component()
    return list(zip(draw.permutation(cells)[:agents].tolist(), draw.permutation(cells)[:agents].tolist(), strict=True))


def crowd(planner: Windowed, grid: Grid, agents: int, seed: int) -> World:
    world = World(grid, planner, seed=seed)
    for start, goal in trips(grid, agents, seed):
        world.add(grid.xy(start), grid.xy(goal))
    return world


def plan_of(world: World, agent: int) -> list[Point]:
    """Where an agent will be, from now on."""
    return [world.position(agent), *map(world.grid.xy, world.planner.intent(agent).path)]


# --- against the reference ------------------------------------------------------------------------------------------


def compare(
    seed: int, agents: int, ticks: int, *, connectivity: int = 4, orders: bool = True, **parameters: Any
) -> World:
    """Run kernels and reference side by side; some agents are ordered elsewhere on the way."""
    grid = random_map(seed=seed, width=9, height=9).with_rules(connectivity=connectivity)
    boxed_in = "push" if parameters.get("pushes") else "stand"
    own = {key: value for key, value in parameters.items() if key != "pushes"}
    world = crowd(Windowed(boxed_in=boxed_in, **own), grid, agents, seed)
    reference = ReferenceWindowed(grid, seed=seed, **parameters)
    for start, goal in trips(grid, agents, seed):
        reference.add(start, goal)
    for tick in range(ticks):
        if orders and tick % 9 == 5:
            taken = set(world.state.agents.goal.tolist())       # a goal that is another's would become a slot
            agent, goal = tick % agents, next(c for c in grid.largest_component()[tick:].tolist() if c not in taken)
            world.order(agent, grid.xy(goal))
            reference.retask(agent, goal)
        world.tick()
        reference.tick()
        assert world.state.agents.cell.tolist() == [walker.at for walker in reference.walkers], f"tick {world.ticks}"
    assert world.planner.counters() == {
        "searches": reference.searches,
        "repaths": reference.repaths,
        "boxed_in": reference.boxed_in,
        "pushes": reference.pushed,
        "stopped_by_guard": 0,
    }
    return world


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("order", ["rotate", "age"])
@pytest.mark.parametrize("soft_tail", [0, 1])
@pytest.mark.parametrize("no_follow", [False, True])
def test_whca_agrees_with_the_reference_tick_by_tick(
    connectivity: int, order: str, soft_tail: int, no_follow: bool
) -> None:
    boxed_in = 0
    for seed, agents, window in ((0, 16, 6), (1, 45, 5)):
        world = compare(
            seed, agents, 30, connectivity=connectivity, window=window, order=order, soft_tail=soft_tail,
            no_follow=no_follow,
        )  # fmt: skip
        boxed_in += world.planner.counters()["boxed_in"]
    assert boxed_in > 5     # otherwise nobody was called back


@pytest.mark.small
@pytest.mark.parametrize(("window", "connectivity"), [(1, 4), (2, 8), (5, 4)])
def test_whca_agrees_with_the_reference_in_small(window: int, connectivity: int) -> None:
    compare(3, 12, 12, connectivity=connectivity, window=window)


@pytest.mark.small
def test_whca_agrees_with_the_reference_when_diagonals_must_not_cross() -> None:
    compare(2, 20, 15, connectivity=8, window=5, forbid_cross=True)


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("level", [1, 2])
def test_whca_with_an_abstraction_agrees_with_the_reference(connectivity: int, level: int) -> None:
    for seed, agents in ((0, 16), (1, 40)):
        compare(seed, agents, 30, connectivity=connectivity, window=5, abstraction=level)


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("order", ["rotate", "age"])
@pytest.mark.parametrize(
    ("agents", "no_follow"),
    [(16, False), (45, False), (16, True)],
)
def test_pushes_agree_with_the_reference_tick_by_tick(
    connectivity: int, order: str, agents: int, no_follow: bool
) -> None:
    pushes = 0
    for seed in (0, 1):
        world = compare(
            seed, agents, 30, connectivity=connectivity, window=5, order=order, soft_tail=1, no_follow=no_follow,
            pushes=True, patience=4, orders=False,
        )  # fmt: skip
        pushes += world.planner.counters()["pushes"]
    assert pushes > 5


# --- what is promised -----------------------------------------------------------------------------------------------


@pytest.mark.small
@pytest.mark.parametrize(
    ("width", "mirrored"),
    [(3, False), (3, True), (2, True), (2, False)],
)
def test_with_forbid_cross_diagonals_do_not_cross(width: int, mirrored: bool) -> None:
    """Both want to the other corner of the same square; one of them has to wait."""
    left: list[tuple[Point, Point]] = [((0, 0), (1, 1)), ((1, 0), (0, 1))]
    for forbid_cross, ticks in ((False, 1), (True, 2)):
        world = World(Grid(np.ones((2, width))), create("whca", forbid_cross=forbid_cross))
        for start, goal in left[::-1] if mirrored else left:
            world.add(start, goal)
        world.run(max_ticks=10)
        assert world.ticks == ticks


@pytest.mark.small
@pytest.mark.parametrize("key", ["whca", "weave"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_pinned_agent_is_not_moved_off_its_goal(key: str, order: int) -> None:
    """It stands in a corridor in which another agent wants to pass."""
    world = World(Grid.from_text("#.#.###\n.......", connectivity=4), create(key, window=8))
    for start, goal in [((3, 1), (3, 1)), ((0, 1), (6, 1))][::order]:
        world.add(start, goal, pinned=start == goal)
    parked = 0 if order == 1 else 1
    for _ in range(60):
        world.tick()
        assert world.position(parked) == (3, 1)


@pytest.mark.small
def test_a_push_moves_nobody_who_is_away_from_home_for_longer() -> None:
    """In a corridor without any way round, the older of two keeps its place and the younger goes back."""
    world = World(Grid.from_text("........", connectivity=4), create("whca", **PUSHING, patience=2))
    old = world.add((2, 0), (7, 0))
    world.tick()
    young = world.add((6, 0), (0, 0))
    far = []
    for _ in range(20):
        world.tick()
        far.append(world.position(old)[0])
    assert far == sorted(far)
    assert world.position(old)[0] < world.position(young)[0]


# --- between two ticks ----------------------------------------------------------------------------------------------


def test_a_push_into_a_crowd_without_a_blank_gives_up_at_once() -> None:
    """More chains of agents lead through this room than could be tried in years, and all end at a wall."""
    grid = Grid.from_text(".........\n" * 9 + "@@@@.@@@@\n", connectivity=4)
    world = World(grid, create("whca", **PUSHING, patience=1))
    away = {(4, 9): (2, 2), (2, 2): (4, 9)}
    for place in map(grid.xy, grid.free_cells().tolist()):
        world.add(place, away.get(place, place))
    world.run(max_ticks=12)
    assert world.planner.counters()["boxed_in"] > 0
    assert world.position(world.agents - 1) == (4, 9)


def test_a_new_order_leaves_the_plans_of_the_others_as_they_are() -> None:
    grid = random_map(seed=5, width=16, height=16)
    world = crowd(Windowed(window=16), grid, 20, 5)
    for _ in range(3):
        world.tick()
    before = [plan_of(world, agent) for agent in range(20)]
    world.order(7, grid.xy(int(grid.largest_component()[0])))
    assert [plan_of(world, agent) for agent in range(20)] == before    # its own one too, until there is a better one
    searches = world.planner.counters()["searches"]
    regular = [agent for agent in range(20) if (world.ticks + agent) % 8 == 0]
    world.tick()
    assert 7 not in regular
    assert world.planner.counters()["searches"] - searches == len(regular) + 1
    for agent in range(20):
        if agent != 7 and agent not in regular:
            assert plan_of(world, agent) == before[agent][1:]


@pytest.mark.small
def test_a_wall_recalls_only_the_plans_that_it_cuts() -> None:
    world = World(Grid(np.ones((9, 12))), create("whca", window=8))
    for y in range(0, 9, 2):
        world.add((0, y), (11, y))
    world.tick()
    before = [plan_of(world, agent) for agent in range(5)]
    world.block([(5, 4)])
    after = [plan_of(world, agent) for agent in range(5)]
    assert after == [*before[:2], [(1, 4)], *before[3:]]
    world.run(max_ticks=30)
    assert world.home_count() == 5
    assert world.ticks == 11


@pytest.mark.small
@pytest.mark.parametrize(
    "event", ["removed", "walled", "ordered"]
)
def test_what_is_over_leaves_nothing_in_the_table(event: str) -> None:
    """Everything in the ring of reservations belongs to a plan; a ghost would come round again and again."""
    world = World(Grid(np.ones((3, 12)), connectivity=4), create("whca", window=4))
    gone = world.add((0, 1), (11, 1))
    world.add((0, 0), (11, 0))
    world.tick()
    world.tick()
    if event == "removed":
        world.remove(gone)
    elif event == "walled":
        world.block([(4, 1)])
    else:
        world.order(gone, (0, 2))
    for _ in range(10):
        world.tick()
        plans, table = world.planner._agenda.plans, world.planner._table  # type: ignore[attr-defined]
        slots = table.ring.shape[1]
        owned = {
            (int(plans.cell[agent, k]), (int(plans.since[agent]) + k) % slots, agent + 1)
            for agent in range(2)
            for k in range(world.ticks - 1 - int(plans.since[agent]), int(plans.steps[agent]) + 1)
            if k >= 0 and world.state.agents.cell[agent] >= 0
        }
        entries = {(int(cell), int(slot), int(table.ring[cell, slot])) for cell, slot in np.argwhere(table.ring)}
        assert entries == owned


@pytest.mark.small
def test_nobody_makes_way_for_an_agent_that_left() -> None:
    """One walks where another has just been removed; a ghost would hold it up when its slot comes round again."""
    grid = Grid.from_text("\n".join(["." * 30, "@" * 30, "." * 30]), connectivity=4)
    world = World(grid, create("whca", window=2))
    ghost = world.add((1, 0), (29, 0))
    for x in range(4):
        world.add((x, 2))       # they plan as far ahead as anybody, and so fill the ring
    for _ in range(8):
        world.tick()
    world.remove(ghost)
    world.add((1, 0), (29, 0))
    assert world.run(max_ticks=60) == "done"
    assert world.ticks == 8 + 28


@pytest.mark.small
def test_an_agent_of_the_program_is_walked_around() -> None:
    world = World(Grid(np.ones((3, 9)), connectivity=4), create("whca", window=6))
    world.add((0, 1), (8, 1))
    guest = world.add((4, 1), controlled=False)
    world.run(max_ticks=30)
    assert (world.ticks, world.position(0), world.position(guest)) == (10, (8, 1), (4, 1))
    assert world.planner.counters()["stopped_by_guard"] == 0


@pytest.mark.parametrize("budget", [20, 400])
def test_a_budget_is_never_exceeded_and_agents_still_arrive(budget: int) -> None:
    grid = random_map(seed=6, width=14, height=14)
    world = World(grid, create("whca", window=8), seed=6)
    for start, goal in trips(grid, 10, 6):
        world.add(grid.xy(start), grid.xy(goal))
    assert world.run(max_ticks=1_000, budget=budget) == "done"
    assert int(world.trace().expansions.max()) <= budget


@pytest.mark.small
def test_agents_that_come_later_and_go_again() -> None:
    """Indices stay as they are, arrays grow, and the table shows nobody who is gone."""
    world = World(Grid(np.ones((5, 6)), connectivity=4), create("whca", **{**PUSHING, "window": 4}))
    for x in range(5):
        world.add((x, 0), (x, 4))
        world.tick()
    world.remove(2)
    last = world.add((5, 4), (5, 0))
    assert last == 5
    assert world.run(max_ticks=40) == "done"
    reserved = world.planner.overlay("next")
    assert [reserved[world.grid.cell(x, 4)] for x in range(5)] == [0, 1, NO_AGENT, 3, 4]


# --- the window into the planner ------------------------------------------------------------------------------------


@pytest.mark.small
def test_an_intent_is_the_plan_ahead_and_says_who_is_waited_for() -> None:
    """Two pass the pocket of a corridor in which a third one waits; in the first tick, for the first of them."""
    world = World(Grid.from_text("##.##\n.....", connectivity=4), create("whca", window=8))
    first, second, third = world.add((1, 1), (4, 1)), world.add((0, 1), (3, 1)), world.add((2, 0), (0, 1))
    world.tick()
    assert world.planner.intent(second) == Intent(tuple(world.grid.cell(x, 1) for x in (2, 3, 3, 3, 3, 3, 3)))
    path, waits_for, reason = world.planner.intent(third)
    assert [world.grid.xy(cell) for cell in path[:4]] == [(2, 0), (2, 1), (1, 1), (0, 1)]
    assert (waits_for, reason) == (first, "waits for another agent to pass")
    world.tick()
    assert world.planner.intent(third)[1:] == (second, "waits for another agent to pass")


@pytest.mark.small
def test_an_intent_says_who_is_boxed_in_and_who_is_pushed() -> None:
    grid = Grid.from_text(".....\n@@@.@", connectivity=4)
    pushed = World(grid, create("whca", **PUSHING, patience=1))
    pusher, parked = pushed.add((0, 0), (4, 0)), pushed.add((1, 0), (1, 0))
    seen = set()
    for _ in range(12):
        pushed.tick()
        seen |= {pushed.planner.intent(agent).reason for agent in (pusher, parked)}
    assert {"pushes others aside", f"pushed aside by agent {pusher}"} <= seen
    stuck = World(Grid.from_text(".."), create("whca", window=4))
    stuck.add((1, 0), (0, 0))                   # plans first, and to go where the other one stands
    boxed_in = stuck.add((0, 0), (1, 0))
    stuck.tick()
    assert stuck.planner.intent(boxed_in)[1:] == (0, "boxed in")


@pytest.mark.small
def test_an_intent_says_what_is_not_known_yet() -> None:
    world = World(Grid(np.ones((12, 12))), create("whca", abstraction=1))
    agent = world.add((0, 0), (11, 11))
    guest = world.add((5, 5), controlled=False)
    world.tick(budget=1)
    assert world.planner.intent(agent) == Intent((0,) * 15, reason="its distances are not known yet")
    assert world.planner.intent(guest).reason == "the program moves it"
    late = World(Grid(np.ones((1, 12))), create("whca"))
    late.add((0, 0), (11, 0))
    late.add((1, 0), (1, 0))
    late.tick(budget=1)
    assert late.planner.intent(0).reason == "its turn to plan has not come yet"


@pytest.mark.small
def test_overlays_show_reservations_and_distances() -> None:
    world = World(Grid.from_text("....\n..@.", connectivity=4), create("whca", **{**PUSHING, "window": 4}))
    agent = world.add((0, 0), (3, 0))
    world.tick()
    planner = world.planner
    assert planner.overlay("reservations").tolist() == [0, 1, 1, 2, 0, 0, 0, 0]
    assert planner.overlay("next").tolist() == [NO_AGENT, NO_AGENT, agent, *[NO_AGENT] * 5]
    far = planner.overlay("distance", agent)
    assert far[:4].tolist() == [3, 2, 1, 0]
    assert np.isnan(far[6])


@pytest.mark.small
def test_with_an_abstraction_goals_of_the_programs_agents_may_be_walled_and_all_agents_may_leave() -> None:
    world = World(Grid.from_text("......\n......\n......"), create("whca", abstraction=1))
    mine = world.add((2, 1), controlled=False)
    runner = world.add((0, 0), (5, 2))
    world.move(mine, (2, 2))
    world.tick()
    world.block([(2, 1)])       # the goal of `mine`, which is where it began
    world.run(max_ticks=20)
    assert world.position(runner) == (5, 2)
    world.remove(mine)
    world.remove(runner)
    world.tick()
    world.block([(0, 0)])
    world.tick()
