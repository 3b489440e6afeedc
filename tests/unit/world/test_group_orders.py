from __future__ import annotations

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, World
from wend.errors import MapError, ParameterError, UnknownNameError
from wend.groups import map_marker
from wend.groups.map_marker import make_marking
from wend.groups.routes import SPACING
from wend.maps import generators as mapgen
from wend.metrics import first_move_ticks, path_length
from wend.search.flood import move_distances
from wend.world.referee import judge_trace
from wend.world.trace import Trace

ONE_WAY = ("bmaa-f", "bmaa-fc")     # they cannot leave their streets to get to a slot between others
CROWDS = [key for key, entry in ALGORITHMS.items() if entry.online and key not in ONE_WAY]

# A long wall with a gap at either end: two passages from west to east.
TWO_WAYS = Grid.from_text("\n".join("." * 30 if y in (0, 1, 19, 20) else "." * 14 + "@@" + "." * 14 for y in range(21)))


def crowd(grid: Grid, key: str, places, **options) -> tuple[World, list[int]]:
    world = World(grid, key, **options)
    return world, [world.add(place) for place in places]


def nearest(grid: Grid, place: tuple[int, int], count: int) -> list[tuple[int, int]]:
    return [grid.xy(cell) for cell in move_distances(grid, grid.cell(*place), nearest=count)[1].tolist()]


def ticks_with_moves(world: World, ticks: int) -> int:
    moves = 0
    for _ in range(ticks):
        before = world.state.agents.cell.copy()
        world.tick()
        moves += bool((before != world.state.agents.cell).any())
    return moves


@pytest.mark.parametrize("mode", ["move", "attack_move"])
@pytest.mark.parametrize("key", CROWDS)
def test_fifty_agents_ordered_to_one_cell_settle_and_are_quiet(key: str, mode: str) -> None:
    world, group = crowd(mapgen.generate("rooms", seed=2, width=48, height=48, door=3), key, [])
    group = [world.add(place) for place in nearest(world.grid, world.grid.xy(int(world.grid.free_cells()[0])), 50)]
    target = world.grid.xy(int(world.grid.free_cells()[-200]))
    slots = {order.goal for order in world.order_group(group, target, mode)}
    assert len(slots) == 50
    assert target in slots
    assert world.run(max_ticks=1500) == "done"
    assert {world.agent_state(agent).name for agent in group} == {"arrived"}
    assert ticks_with_moves(world, 1000) == 0


@pytest.mark.parametrize("key", CROWDS)
def test_a_large_group_arrives_whole_through_a_chokepoint(key: str) -> None:
    grid = mapgen.generate("arena", seed=2, choke=2)
    cells = grid.largest_component()
    corners = cells % grid.width + cells // grid.width
    world, group = crowd(grid, key, nearest(grid, grid.xy(int(cells[corners.argmin()])), 200), record=False)
    target = nearest(grid, grid.xy(int(cells[corners.argmax()])), 121)[-1]
    world.order_group(group, target, "attack_move")
    assert world.run(max_ticks=3000) == "done"


@pytest.mark.parametrize("key", ["whca", "weave", "bmaa-c", "far"])
def test_a_settled_group_lets_others_through_and_comes_back(key: str) -> None:
    """A street three cells wide, full of idle units."""
    grid = Grid.from_text("\n".join(["." * 40] * 3))
    world, settled = crowd(grid, key, [(x, y) for x in range(16, 24) for y in range(3)])
    world.order_group(settled, (20, 1))
    world.run(max_ticks=300)
    places = {world.position(agent) for agent in settled}
    passers = [world.add((0, y)) for y in range(3)]
    world.order_group(passers, (39, 1))
    assert world.run(max_ticks=600) == "done"
    assert {world.position(agent) for agent in settled} == places
    assert ticks_with_moves(world, 200) == 0


@pytest.mark.small
def test_an_attack_move_keeps_a_group_together_where_a_move_does_not() -> None:
    starts = [(2, y) for y in range(5, 16)]
    sides = {}
    for mode in ("move", "attack_move"):
        world, group = crowd(TWO_WAYS, "lra", starts)
        world.order_group(group, (27, 10), mode)
        sides[mode] = set()
        while not world.all_home():
            world.tick()
            here = [world.position(agent) for agent in group]
            sides[mode] |= {y < 10 for x, y in here if x in (14, 15)}
    assert sides["move"] == {True, False}
    assert len(sides["attack_move"]) == 1


@pytest.mark.small
def test_the_world_speaks_of_the_slot_and_the_planner_heads_for_a_waypoint() -> None:
    world, group = crowd(TWO_WAYS, "lra", [(2, 8), (2, 9)])
    orders = world.order_group(group, (27, 8))
    assert [order.agent for order in orders] == group
    assert {world.goal(agent) for agent in group} == {order.goal for order in orders}
    assert (27, 8) in {order.goal for order in orders}
    assert all(order.reachable for order in orders)
    heading = TWO_WAYS.xy(int(world.state.agents.goal[0]))
    assert heading == world.waypoints(0)[0] != world.goal(0)
    assert world.home_count() == 0
    before = world.waypoints(0)
    assert world.run(max_ticks=60) == "done"
    assert (world.home_count(), world.waypoints(0)) == (2, [])
    assert before


@pytest.mark.small
def test_standing_on_a_waypoint_is_not_being_home() -> None:
    world, group = crowd(mapgen.open_map(width=40, height=3), "lra", [(0, 1)])
    world.order_group(group, (39, 1))
    states = set()
    while not world.all_home():
        world.tick()
        states.add(world.agent_state(0).name)
        assert world.home_count() == int(world.position(0) == (39, 1))
    assert states == {"moving", "arrived"}       # it never stopped at a waypoint, nor took one for its home


@pytest.mark.small
def test_the_trace_has_one_order_per_agent_and_its_waypoints(tmp_path) -> None:
    world, group = crowd(TWO_WAYS, "lra", [(2, 8), (2, 9)])
    world.order_group(group, (27, 8))
    world.run(max_ticks=60)
    world.trace().save(tmp_path / "run.wend")
    trace = Trace.load(tmp_path / "run.wend")
    assert [event.agent for event in trace.events_of("ordered")] == group
    assert trace.goals() == [world.goal(agent) for agent in group]
    routed = {event.agent: event.data["waypoints"] for event in trace.events_of("routed")}
    assert all(routed[agent] for agent in group)
    assert not np.isnan(path_length(trace)).any()
    assert first_move_ticks(trace).tolist() == [1, 1]


@pytest.mark.small
def test_the_same_order_again_changes_nothing() -> None:
    world, group = crowd(TWO_WAYS, "lra", [(2, 8), (2, 9), (2, 10)])
    first = world.order_group(group, (27, 8), "attack_move")
    for _ in range(10):
        world.tick()
    state, ahead = world.state_hash(), world.waypoints(0)
    again = world.order_group(reversed(group), (27, 8), "attack_move")
    assert again == first[::-1]
    assert (world.state_hash(), world.waypoints(0)) == (state, ahead)


@pytest.mark.small
def test_another_order_counts_from_then_on() -> None:
    world, group = crowd(TWO_WAYS, "lra", [(2, 8), (2, 9), (2, 10)])
    world.order_group(group, (27, 8))
    for _ in range(5):
        world.tick()
    world.order_group(group[:2], (2, 0), "attack_move")
    world.order(2, (8, 15))
    assert world.waypoints(2) == []
    assert world.run(max_ticks=60) == "done"
    assert world.position(2) == (8, 15)
    assert (2, 0) in {world.position(agent) for agent in group[:2]}


@pytest.mark.small
def test_groups_do_not_take_each_others_slots() -> None:
    world, agents = crowd(mapgen.open_map(width=30, height=30), "lra", [(x, y) for x in range(6) for y in range(4)])
    world.order_group(agents[:12], (20, 20))
    world.order_group(agents[12:], (20, 20))
    parked = world.add((21, 20), controlled=False)
    world.order_group(agents[:3], (20, 21))
    places = [world.goal(agent) for agent in agents]
    assert len(set(places)) == 24
    assert world.position(parked) not in places[:3]


@pytest.mark.small
def test_a_wall_leads_those_whose_paths_it_cuts_around_it() -> None:
    world, group = crowd(TWO_WAYS, "lra", [(2, 3), (2, 17)])
    world.order_group(group, (27, 10))
    places, low = [world.goal(agent) for agent in group], world.waypoints(1)
    assert any(y < 10 for _, y in world.waypoints(0))
    world.block([(14, 0), (14, 1)])
    assert [world.goal(agent) for agent in group] == places
    assert (world.expansions, world.waypoints(0), world.waypoints(1)) == (0, [], low)
    world.tick(budget=40)
    assert (world.expansions, world.waypoints(0)) == (40, [])       # the search goes on
    world.tick()
    assert world.waypoints(0)
    assert all(y > 10 for _, y in world.waypoints(0))
    events = [event for event in world.trace().events_of("routed", "ordered") if event.agent == 0]
    assert [event.kind for event in events] == ["ordered", "routed", "routed", "routed"]
    assert world.run(max_ticks=100) == "done"


@pytest.mark.small
def test_a_slot_that_is_walled_up_is_replaced_by_another_near_the_target() -> None:
    world, group = crowd(mapgen.open_map(width=40, height=20), "lra", [(x, y) for x in range(3) for y in range(3)])
    world.order_group(group, (30, 10))
    places = {agent: world.goal(agent) for agent in group}
    world.block([places[4], (30, 12)])
    kept = {agent: world.goal(agent) for agent in group if agent != 4 and places[agent] != (30, 12)}
    assert kept == {agent: places[agent] for agent in kept}
    now = [world.goal(agent) for agent in group]
    assert len(set(now)) == 9
    assert max(abs(world.goal(4)[0] - 30), abs(world.goal(4)[1] - 10)) <= 4
    assert world.run(max_ticks=100) == "done"
    assert world.agent_state(4).name == "arrived"


@pytest.mark.small
def test_a_target_out_of_reach_is_approached_and_gone_to_when_the_wall_falls() -> None:
    grid = Grid.from_text("\n".join(["." * 20 + "@" + "." * 9] * 10))
    world, group = crowd(grid, "lra", [(0, y) for y in range(5)])
    orders = world.order_group(group, (25, 5))
    assert not any(order.reachable for order in orders)
    assert {order.asked for order in orders} == {(25, 5)}
    assert world.run(max_ticks=60) == "quiet"
    assert {world.agent_state(agent).name for agent in group} == {"unreachable"}
    assert len({world.position(agent) for agent in group}) == 5
    world.unblock([(20, 5)])
    assert world.run(max_ticks=80) == "done"
    assert {world.agent_state(agent).name for agent in group} == {"arrived"}
    assert (25, 5) in {world.position(agent) for agent in group}


@pytest.mark.small
def test_a_group_on_two_islands_goes_as_near_as_each_can() -> None:
    grid = Grid.from_text("\n".join(["." * 9 + "@" + "." * 9] * 9))
    world, group = crowd(grid, "lra", [(0, 0), (0, 1), (18, 0), (18, 1)])
    orders = world.order_group(group, (12, 4), "attack_move")
    assert [order.reachable for order in orders] == [False, False, True, True]
    assert world.run(max_ticks=40) == "quiet"


@pytest.mark.small
def test_an_agent_that_is_pushed_ahead_goes_on_from_there() -> None:
    """It resumes at the nearest later waypoint, and does not go back for those that it missed."""
    grid = mapgen.open_map(width=60, height=5)
    world, group = crowd(grid, "lra", [(0, 2)])
    world.order_group(group, (59, 2))
    assert world.waypoints(0)[0] == (SPACING, 2)
    there = grid.cell(2 * SPACING + 2, 4)       # as if combat had carried it there
    world.state.occupant[world.state.agents.cell[0]] = -1
    world.state.agents.cell[0], world.state.occupant[there] = there, 0
    world.planner.agent_retasked(0)
    world.tick()
    assert world.waypoints(0)[0] == (3 * SPACING, 2)
    assert world.run(max_ticks=59 - 26) == "done"


@pytest.mark.small
@pytest.mark.parametrize("mode", ["move", "attack_move"])
def test_the_same_orders_give_the_same_run(mode: str) -> None:
    hashes = []
    for _ in range(2):
        world, group = crowd(TWO_WAYS, "whca", [(x, y) for x in range(3) for y in range(8, 12)], seed=3)
        world.order_group(group, (27, 10), mode)
        for _ in range(12):
            world.tick(budget=300)
        world.block([(14, 0)])
        world.remove(3)
        world.order_group([agent for agent in group if agent != 3], (2, 19), mode)
        for _ in range(20):
            world.tick(budget=300)
        hashes.append(world.state_hash())
    assert hashes[0] == hashes[1]


@pytest.mark.small
def test_orders_that_cannot_be_given_change_nothing() -> None:
    world, group = crowd(TWO_WAYS, "lra", [(2, 8), (2, 9)])
    mine = world.add((5, 5), controlled=False)
    state = world.state_hash()
    for agents, target, mode, error in (
        ([0, 0], (27, 8), "move", ParameterError),
        ([0, 9], (27, 8), "move", ParameterError),
        ([0, mine], (27, 8), "move", ParameterError),
        (group, (99, 8), "move", MapError),
        (group, (27, 8), "attack", UnknownNameError),
    ):
        with pytest.raises(error):
            world.order_group(agents, target, mode)
    assert world.order_group([], (27, 8)) == []
    assert world.state_hash() == state


@pytest.mark.parametrize("key", ["lra", "weave", "far", "surge"])
def test_a_pinned_agent_does_not_walk_off_its_slot_to_a_waypoint(key: str) -> None:
    """In a winding corridor the last agents of a group pass their slots on the way to their last waypoints."""
    rows = ["." * 20, "@" * 19 + ".", "." * 20, "." + "@" * 19] * 2
    world = World(Grid.from_text("\n".join(rows)), key)
    group = [world.add((x, 6), pinned=True) for x in range(0, 20, 2)]
    world.order_group([*group, *(world.add((x, 4), pinned=True) for x in range(0, 20, 2))], (0, 0))
    at_home: dict[int, tuple[int, int]] = {}
    left_waypoints = 0
    for _ in range(150):
        waypoints = {agent: world.waypoints(agent) for agent in range(world.agents)}
        world.tick()
        for agent in range(world.agents):
            assert world.position(agent) == at_home.get(agent, world.position(agent))
            if world.position(agent) == world.goal(agent):
                left_waypoints += bool(waypoints[agent]) and agent not in at_home
                at_home[agent] = world.position(agent)
    assert left_waypoints > 0


def far_apart(key: str, mode: str, budget: int | None) -> tuple[World, list[int]]:
    """Agents from all over a map, ordered to one corner of it."""
    grid = mapgen.generate("rooms", seed=2, width=64, height=64, door=3)
    world, cells = World(grid, key, seed=1), np.random.default_rng(1).permutation(grid.largest_component())
    group = [world.add(grid.xy(cell)) for cell in cells[:20].tolist()]
    world.order_group(group, grid.xy(int(grid.largest_component()[40])), mode, budget=budget)
    return world, group


@pytest.mark.parametrize("mode", ["move", "attack_move"])
@pytest.mark.parametrize("key", CROWDS)
def test_a_group_order_within_a_budget_is_spread_over_ticks(key: str, mode: str) -> None:
    """No call and no tick expands more than it may, and the group walks while its paths are searched."""
    (at_once, _), (world, group) = far_apart(key, mode, None), far_apart(key, mode, 150)
    assert at_once.expansions == 0
    assert world.expansions == 150
    assert any(at_once.waypoints(agent) for agent in group)
    assert not any(world.waypoints(agent) for agent in group)
    assert len({world.goal(agent) for agent in group}) == 20
    assert {world.goal(agent) for agent in group} == {at_once.goal(agent) for agent in group}
    spent, searching, has_route = world.expansions, 0, set()
    while world._dispatch._commander.is_searching:
        world.tick(budget=300)
        assert world.expansions - spent <= 300
        spent, searching = world.expansions, searching + 1
        has_route |= {agent for agent in group if world.waypoints(agent)}
    assert 3 < searching < 200
    assert len(has_route) > 5
    assert world.run(max_ticks=600, budget=300) == "done"
    assert np.nanmax(first_move_ticks(world.trace())) <= 16


@pytest.mark.parametrize("mode", ["move", "attack_move"])
def test_the_search_for_a_group_goes_on_through_walls_deaths_orders_and_snapshots(mode: str) -> None:
    world, group = far_apart("surge", mode, 10)
    world.tick(budget=100)
    world.remove(group[3])
    world.order(group[4], (1, 1))
    commander = world._dispatch._commander
    assert commander.is_searching
    world.tick(budget=100)
    taken, twin = world.snapshot(), World(Grid(world.trace().grid.passable), "surge", seed=1)
    twin.restore(type(taken).from_bytes(bytes(taken)))
    door = next(place for place in nearest(world.grid, world.goal(group[0]), 60) if world.grid.is_free(place)
                and world.state.occupant[world.grid.cell(*place)] < 0)  # fmt: skip
    hashes = []
    for each in (world, twin):
        for tick in range(60):
            if tick == 3:
                each.block([door])
            each.tick(budget=100)
        hashes.append(each.state_hash())
    assert hashes[0] == hashes[1]
    world.run(max_ticks=600, budget=300)
    assert world.all_home()
    assert judge_trace(world.trace()) == []


def test_a_search_that_is_given_up_leaves_its_workspace_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(map_marker, "make_marking", lambda cells: made.append(cells) or make_marking(cells))
    world, group = far_apart("surge", "attack_move", 10)
    made.clear()
    for target in ((10, 10), (50, 50), (10, 50)):
        for agent in group:
            world.order(agent, (1, 1))
        world.tick(budget=100)                          # no agent waits for the paths any more
        world.order_group(group, target, "attack_move", budget=10)
        world.tick(budget=100)
    assert made == []
