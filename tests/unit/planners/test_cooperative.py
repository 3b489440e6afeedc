from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference.cooperative import ReferenceCooperative
from wend import Grid, World, create
from wend.kernel import NO_AGENT
from wend.maps.generators import random_map
from wend.planners.base import Intent


def trips(grid: Grid, agents: int, seed: int) -> list[tuple[int, int]]:
    draw = np.random.default_rng(seed)
    cells = grid.largest_component()
    return list(zip(draw.permutation(cells)[:agents].tolist(), draw.permutation(cells)[:agents].tolist(), strict=True))


def compare(key: str, agents: int, ticks: int, seed: int, *, connectivity: int = 4, **parameters: Any) -> World:
    """Run kernels and reference side by side."""
    grid = random_map(seed=seed, width=8, height=8).with_rules(connectivity=connectivity)
    world = World(grid, create(key, **parameters), seed=seed)
    reference = ReferenceCooperative(
        grid, hierarchical=key == "hca", far_first=parameters.get("order") == "far_first",
        no_follow=parameters.get("no_follow", False),
    )  # fmt: skip
    for start, goal in trips(grid, agents, seed):
        world.add(grid.xy(start), grid.xy(goal))
        reference.add(start, goal)
    for _ in range(ticks):
        world.tick()
        reference.tick()
        assert world.state.agents.cell.tolist() == [walker.at for walker in reference.walkers], f"tick {world.ticks}"
    assert world.planner.counters()["stopped_by_guard"] == reference.stops
    return world


@pytest.mark.parametrize("key", ["ca", "hca"])
@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("order", ["id", "far_first"])
@pytest.mark.parametrize("no_follow", [False, True])
def test_agrees_with_the_reference_tick_by_tick(key: str, connectivity: int, order: str, no_follow: bool) -> None:
    stops = 0
    for seed, agents in ((0, 10), (1, 16), (2, 20)):
        world = compare(key, agents, 25, seed, connectivity=connectivity, order=order, no_follow=no_follow)
        stops += world.planner.counters()["stopped_by_guard"]
    assert stops > 0        # otherwise nobody had to plan again


@pytest.mark.small
@pytest.mark.parametrize("key", ["ca", "hca"])
def test_agrees_with_the_reference_in_small(key: str) -> None:
    compare(key, 5, 12, 3)


@pytest.mark.small
@pytest.mark.parametrize("no_follow", [False, True])
def test_with_no_follow_who_plans_later_does_not_enter_a_cell_that_is_just_being_left(no_follow: bool) -> None:
    """The second wants to the same side and would be close behind the first."""
    world = World(Grid(np.ones((1, 8)), connectivity=4), create("hca", no_follow=no_follow))
    world.add((1, 0), (7, 0))
    world.add((0, 0), (6, 0))
    for tick in range(1, 6):
        world.tick()
        assert world.position(0) == (1 + tick, 0)
        assert world.position(1) == (tick - no_follow, 0)


@pytest.mark.small
@pytest.mark.parametrize("key", ["ca", "hca"])
def test_a_pinned_agent_is_not_moved_off_its_goal(key: str) -> None:
    world = World(Grid.from_text("###.###\n.......", connectivity=4), key)
    world.add((0, 1), (6, 1))
    pinned = world.add((3, 1), pinned=True)
    for _ in range(12):
        world.tick()
        assert world.position(pinned) == (3, 1)


@pytest.mark.small
@pytest.mark.parametrize("key", ["ca", "hca"])
def test_an_agent_that_is_pinned_later_stays_where_it_is(key: str) -> None:
    world = World(Grid.from_text("###.###\n.......", connectivity=4), key)
    world.add((0, 1), (6, 1))
    pinned = world.add((3, 1))
    world.tick()
    world.pin(pinned)
    for _ in range(12):
        world.tick()
        assert world.position(pinned) == (3, 1)


@pytest.mark.small
@pytest.mark.parametrize("key", ["ca", "hca"])
def test_a_new_order_replans_that_agent_alone(key: str) -> None:
    world = World(Grid(np.ones((8, 12))), key)
    for y in range(0, 8, 2):
        world.add((0, y), (11, y))
    for _ in range(3):
        world.tick()
    plans = [world.planner.intent(agent).path for agent in range(world.agents)]
    world.order(1, (0, 3))
    world.tick()
    after = [world.planner.intent(agent).path for agent in range(world.agents)]
    assert [a[1:] == b for a, b in zip(plans, after, strict=True)] == [True, False, True, True]
    assert world.run(max_ticks=30) == "done"
    assert world.position(1) == (0, 3)


@pytest.mark.small
def test_a_wall_replans_only_those_that_it_cuts_off() -> None:
    world = World(Grid(np.ones((9, 12))), "hca")
    for y in range(0, 9, 2):
        world.add((0, y), (11, y))
    world.tick()
    plans = [world.planner.intent(agent).path for agent in range(world.agents)]
    world.block([(5, 4)])
    world.tick()
    after = [world.planner.intent(agent).path for agent in range(world.agents)]
    assert [a[1:] == b for a, b in zip(plans, after, strict=True)] == [True, True, False, True, True]
    assert world.run(max_ticks=30) == "done"
    assert world.ticks == 11


@pytest.mark.small
def test_an_agent_that_left_leaves_nothing_in_the_table() -> None:
    world = World(Grid(np.ones((1, 12)), connectivity=4), "hca")
    gone = world.add((0, 0), (11, 0))
    world.tick()
    world.tick()
    assert world.planner.overlay("owner").tolist() == [NO_AGENT] * 2 + [gone] * 10
    world.remove(gone)
    world.tick()
    assert not world.planner._timetable.table.ring.any()  # type: ignore[attr-defined]
    assert set(world.planner.overlay("owner").tolist()) == {NO_AGENT}


@pytest.mark.small
def test_plans_longer_than_the_first_table_make_it_longer() -> None:
    """One in the upper corridor has a plan of 89 steps; below, the third still makes way for the first."""
    drawing = "\n".join(["." * 90, "@" * 90, "@." + "@" * 88, "...." + "@" * 86])
    world = World(Grid.from_text(drawing, connectivity=4), "hca")
    for start, goal in (((3, 3), (0, 3)), ((0, 0), (89, 0)), ((0, 3), (3, 3))):
        world.add(start, goal)
    assert world.planner._timetable.table.ring.shape[1] == 64  # type: ignore[attr-defined]
    for _ in range(5):
        world.tick()
    assert world.planner._timetable.table.ring.shape[1] == 128  # type: ignore[attr-defined]
    assert (world.position(0), world.position(2)) == ((0, 3), (3, 3))
    assert world.run(max_ticks=200) == "done"
    assert world.ticks == 89
    assert world.planner.counters() == {"repaths": 0, "stopped_by_guard": 0, "without_a_way": 0}


@pytest.mark.small
def test_a_search_that_outgrows_its_limit_is_given_up() -> None:
    world = World(Grid(np.ones((12, 12))), create("ca", max_states=100))
    world.add((0, 0), (11, 11))
    walled = World(Grid.from_text("...........\n@@@@@@@@@@.\n..........."), create("ca", max_states=100))
    walled.add((0, 0), (0, 2))
    assert world.run(max_ticks=40) == "done"
    assert walled.run(max_ticks=5) == "max-ticks"
    assert walled.planner.counters()["without_a_way"] == 1


@pytest.mark.small
def test_intent_says_where_an_agent_goes_whom_it_waits_for_and_why() -> None:
    """The second finds no plan and stays, so that the guard stops the first where they meet."""
    world = World(Grid(np.ones((1, 5)), connectivity=4), "ca")
    first, second = world.add((0, 0), (4, 0)), world.add((4, 0), (0, 0))
    world.tick()
    assert world.planner.intent(first) == Intent((2, 3, 4))
    assert world.planner.intent(second) == Intent((), first, "it has no plan that avoids those of the others")
    for _ in range(3):
        world.tick()
    assert world.planner.intent(first) == Intent((), second, "another is where its plan leads, so it plans again")
