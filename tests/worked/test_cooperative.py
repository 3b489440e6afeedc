"""CA*, HCA*, WHCA* and Weave on maps that fit into a head."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from wend import Grid, World, create
from wend.maps.generators import random_map
from wend.maps.terrain import Point
from wend.search.reservations import owner_at

POCKET = "#.##\n...."
BAY = "###.###\n......."

Trip = tuple[Point, Point]


def world_of(drawing: str, key: str, trips: list[Trip], *, connectivity: int = 4, **parameters: object) -> World:
    world = World(Grid.from_text(drawing, connectivity=connectivity), create(key, **parameters))
    for start, goal in trips:
        world.add(start, goal)
    return world


def crowd(key: str, seed: int, agents: int, side: int, **parameters: object) -> World:
    grid = random_map(seed=seed, width=side, height=side).with_rules(connectivity=4)
    cells = grid.largest_component()
    draw = np.random.default_rng(seed)
    starts, goals = draw.permutation(cells)[:agents].tolist(), draw.permutation(cells)[:agents].tolist()
    world = World(grid, create(key, **parameters), seed=seed)
    for start, goal in zip(starts, goals, strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    return world


# --- CA* and HCA*: the order decides --------------------------------------------------------------------------------


@pytest.mark.small
@pytest.mark.parametrize("key", ["ca", "hca"])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("drawing", [".....", "##.##\n....."])
def test_changing_ends_fails_in_both_orders(key: str, order: int, drawing: str) -> None:
    """Silver, Fig. 1: the first goes straight, the second has no way left and stays, the guard stops the first."""
    y = drawing.count("\n")
    world = world_of(drawing, key, [((0, y), (4, y)), ((4, y), (0, y))][::order])
    world.run(max_ticks=40)
    assert world.home_count() == 0
    assert world.position(1) == ((4, y) if order == 1 else (0, y))
    assert world.planner.counters() == {"repaths": 1, "stopped_by_guard": 1, "without_a_way": 2}
    assert int(world.trace().expansions[8:].sum()) == 0        # nobody tries again and again


@pytest.mark.small
@pytest.mark.parametrize("key", ["ca", "hca"])
def test_changing_ends_with_a_pocket_near_one_end_works_in_one_order(key: str) -> None:
    trips: list[Trip] = [((0, 1), (4, 1)), ((4, 1), (0, 1))]
    failing = world_of("#.###\n.....", key, trips)
    assert failing.run(max_ticks=40) == "max-ticks"
    assert failing.home_count() == 0
    working = world_of("#.###\n.....", key, trips[::-1])
    assert working.run(max_ticks=40) == "done"
    assert working.ticks == 7
    assert working.planner.counters() == {"repaths": 0, "stopped_by_guard": 0, "without_a_way": 0}


@pytest.mark.small
def test_far_first_lets_the_farther_one_plan_before_the_others() -> None:
    """In the order of ids the first one parks in the way of the second for good."""
    ticks = {}
    for order in ("id", "far_first"):
        world = world_of("##.##\n##.##\n.....", "hca", [((2, 1), (2, 2)), ((0, 2), (4, 2))], order=order)
        world.run(max_ticks=40)
        ticks[order] = world.position(1), world.ticks
    assert ticks == {"id": ((0, 2), 40), "far_first": ((4, 2), 4)}


# --- WHCA*: windows that move on ------------------------------------------------------------------------------------


@pytest.mark.small
def test_pocket_when_the_one_that_cannot_wait_plans_first() -> None:
    b_then_a: list[Trip] = [((3, 1), (0, 1)), ((0, 1), (3, 1))]
    world = world_of(POCKET, "whca", b_then_a, window=8)
    way = []
    while not world.all_home():
        world.tick()
        way.append(world.position(1))
    assert way == [(1, 1), (1, 0), (1, 1), (2, 1), (3, 1)]
    assert world.planner.counters()["boxed_in"] == 0


@pytest.mark.small
def test_pocket_when_the_other_one_plans_first() -> None:
    a_then_b: list[Trip] = [((0, 1), (3, 1)), ((3, 1), (0, 1))]
    world = world_of(POCKET, "whca", a_then_b, window=8)
    assert world.run(max_ticks=60) == "done"
    assert world.ticks == 13
    assert world.planner.counters()["boxed_in"] >= 1
    assert world.planner.counters()["stopped_by_guard"] == 0


@pytest.mark.small
@pytest.mark.parametrize(("order", "ticks"), [(1, 12), (-1, 6)])
def test_a_parked_agent_lets_another_one_pass_and_comes_back(order: int, ticks: int) -> None:
    """Whoever plans first: the parked one (12 ticks, as it takes its turn before it gives way), or the traveller."""
    trips: list[Trip] = [((3, 1), (3, 1)), ((0, 1), (6, 1))]
    world = world_of(BAY, "whca", trips[::order], window=8)
    assert world.run(max_ticks=60) == "done"
    assert world.ticks == ticks
    for _ in range(20):
        world.tick()
    assert world.home_count() == 2      # and there they stay


@pytest.mark.small
@pytest.mark.parametrize(("agents", "window"), [(10, 8), (9, 1), (7, 4), (11, 5)])
def test_searches_are_spread_evenly_over_the_turns(agents: int, window: int) -> None:
    world = World(Grid(np.ones((11, 24))), create("whca", window=window))
    for y in range(agents):
        world.add((0, y), (23, y))
    made = 0
    for tick in range(20):
        world.tick()
        searches = world.planner.counters()["searches"] - made
        made += searches
        assert searches <= (agents if tick == 0 else -(-agents // max(1, window // 2)))
    assert world.planner.counters()["repaths"] == 0     # each of them in its turn
    assert made == agents + sum((tick + a) % max(1, window // 2) == 0 for tick in range(1, 20) for a in range(agents))


@pytest.mark.parametrize(
    ("key", "agents"),
    [("whca", 20), ("whca", 50)],
)
def test_no_two_plans_have_a_place_at_a_time_or_change_places(key: str, agents: int) -> None:
    world = crowd(key, seed=1, agents=agents, side=12, window=8)
    for _ in range(40):
        world.tick()
        plans, table = world.planner._agenda.plans, world.planner._table  # type: ignore[attr-defined]
        place: dict[tuple[int, int], int] = {}
        for agent in range(agents):
            since = int(plans.since[agent])
            for k in range(world.ticks - since, int(plans.steps[agent]) + 1):
                spot = int(plans.cell[agent, k]), since + k
                assert spot not in place
                assert owner_at(table, *spot) == agent
                place[spot] = agent
        at = {(agent, time): cell for (cell, time), agent in place.items()}
        for (cell, time), agent in place.items():
            there = at.get((agent, time + 1))
            other = None if there is None else place.get((there, time))
            assert other in (None, agent) or at.get((other, time + 1)) != cell
    assert world.planner.counters()["stopped_by_guard"] == 0


# --- Weave: the two patterns that are left over ---------------------------------------------------------------------


@pytest.mark.small
@pytest.mark.parametrize("pattern", ["parked in front", "inverted"])
def test_two_agents_change_places_in_a_dead_end(pattern: str) -> None:
    """There is room to pass only where the dead end begins."""
    for depth, connectivity, order in product((1, 2, 5), (4, 8), (1, -1)):
        end = depth + 2
        trips: list[Trip] = {
            "parked in front": [((0, 1), (end, 1)), ((end - 1, 1), (end - 1, 1))],
            "inverted": [((end - 1, 1), (end, 1)), ((end, 1), (0, 1))],
        }[pattern]
        drawing = "#." + "#" * (depth + 1) + "\n" + "." * (depth + 3)
        world = world_of(drawing, "weave", trips[::order], connectivity=connectivity)
        assert world.run(max_ticks=100) == "done"
        for _ in range(30):
            world.tick()
        assert world.home_count() == 2      # and there they stay


@pytest.mark.small
def test_a_dead_end_with_somebody_parked_in_front_is_too_much_for_whca() -> None:
    """Nobody ever gets nearer by going back: this is what the push is for."""
    world = world_of("#.###\n.....", "whca", [((0, 1), (4, 1)), ((3, 1), (3, 1))])
    assert world.run(max_ticks=100) == "max-ticks"
    assert world.position(1) == (3, 1)
