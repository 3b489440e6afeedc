"""Agents that follow others, and agents that are put elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, World
from wend.maps import generators as mapgen
from wend.maps.terrain import Point
from wend.search.flood import move_distances
from wend.viewer.replay import write_replay
from wend.world.referee import judge_trace
from wend.world.trace import Trace

OPEN = mapgen.open_map(width=24, height=14)


def apart(world: World, a: int, b: int) -> int:
    (ax, ay), (bx, by) = world.position(a), world.position(b)
    return max(abs(ax - bx), abs(ay - by))


# --- following -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key, entry in ALGORITHMS.items() if entry.online])
def test_a_follower_catches_up_and_stops_beside(key: str) -> None:
    world = World(OPEN, key)
    prey, hunter = world.add((10, 7), controlled=False), world.add((1, 1))
    world.follow(hunter, prey)
    for x in range(11, 20):
        world.move(prey, (x, 7))
        world.tick()
        world.tick()
    assert world.run(max_ticks=60) == "done"
    assert apart(world, hunter, prey) == 1
    for _ in range(5):
        world.tick()
        assert (world.positions() == world.previous_positions()).all()
    world.move(prey, (20, 7))
    world.tick()
    world.tick()
    assert world.run(max_ticks=20) == "done"
    assert apart(world, hunter, prey) == 1


def walk(world: World, agent: int, draw: np.random.Generator) -> None:
    """Let an agent of the program walk on at random."""
    steps = [p for p in world.grid.neighbours(world.position(agent)) if world.state.occupant[world.grid.cell(*p)] < 0]
    if steps:
        world.move(agent, steps[int(draw.integers(len(steps)))])


def moves_between(grid: Grid, a: Point, b: Point) -> int:
    return int(move_distances(grid, grid.cell(*a))[0][grid.cell(*b)])


@pytest.mark.parametrize("how", ["order", "follow"])
@pytest.mark.parametrize("place", ["caves:width=256,height=256,seed=0", "rooms:width=512,height=512,seed=0"])
@pytest.mark.parametrize("key", [key for key, entry in ALGORITHMS.items() if entry.online and not entry.loses_track])
def test_a_unit_that_is_sent_after_a_walking_enemy_in_every_tick_chases_it(key: str, place: str, how: str) -> None:
    grid = Grid.load(place)
    corners = sorted(map(grid.xy, grid.largest_component().tolist()), key=sum)
    world = World(grid, key, seed=0)
    hunter, prey = world.add(corners[0]), world.add(corners[-1], controlled=False)
    draw, steps = np.random.default_rng(3), 0
    for _ in range(150):
        if how == "order":
            world.order(hunter, world.position(prey))
        else:
            world.follow(hunter, prey)
        walk(world, prey, draw)
        before = world.position(hunter)
        world.tick(budget=2_000)
        steps += world.position(hunter) != before
    assert steps >= 140
    assert int(world.trace().expansions.max()) <= 2_000
    before, after = (moves_between(grid, a, world.position(prey)) for a in (corners[0], world.position(hunter)))
    assert before - after >= 60


@pytest.mark.small
def test_one_order_at_most_each_time_the_other_has_moved() -> None:
    world = World(OPEN, "lra")
    prey, hunter = world.add((12, 7), controlled=False), world.add((1, 7))
    answer = world.follow(hunter, prey)
    assert (answer.asked, answer.reachable, answer.shared) == ((12, 7), True, True)
    orders = [len(list(world.trace().events_of("ordered")))]
    for x in (13, 13, 14, 14, 14, 15):
        world.move(prey, (x, 7))
        world.tick()
        orders.append(len(list(world.trace().events_of("ordered"))))
    world.tick()
    orders.append(len(list(world.trace().events_of("ordered"))))
    assert orders == [1, 1, 2, 2, 3, 3, 3, 4]        # told before the tick after the move
    assert world.follow(hunter, prey) == world.order_of(hunter)


@pytest.mark.small
def test_many_follow_one_that_the_planner_moves() -> None:
    world = World(OPEN, "weave")
    leader = world.add((12, 7))
    pack = [world.add((0, y)) for y in range(10)]
    for hunter in pack:
        world.follow(hunter, leader)
    world.order(leader, (20, 7))
    assert world.run(max_ticks=300) == "done"
    assert len({world.goal(agent) for agent in [leader, *pack]}) == 11
    assert world.position(leader) == (20, 7)
    assert max(apart(world, hunter, leader) for hunter in pack) <= 4


@pytest.mark.small
def test_following_ends_with_an_order_or_with_the_other() -> None:
    world = World(OPEN, "lra")
    prey, a, b = world.add((12, 7), controlled=False), world.add((1, 1)), world.add((1, 12))
    world.follow(a, prey)
    world.follow(b, prey)
    world.order(a, (3, 3))
    world.move(prey, (13, 7))
    world.tick()
    world.tick()
    assert world.goal(a) == (3, 3)
    last = world.order_of(b).asked
    assert last == (13, 7)
    world.remove(prey)
    assert world.order_of(b).asked == last
    assert world.run(max_ticks=60) == "done"
    followed = [(event.agent, event.data["other"]) for event in world.trace().events_of("followed")]
    assert followed == [(a, prey), (b, prey), (a, None), (b, None)]


@pytest.mark.small
def test_two_that_follow_each_other_meet_and_stand_still() -> None:
    world = World(OPEN, "lra")
    a, b = world.add((1, 1)), world.add((20, 10))
    world.follow(a, b)
    world.follow(b, a)
    for _ in range(60):
        world.tick()
    assert apart(world, a, b) <= 2
    assert world.quiet()


@pytest.mark.small
def test_a_wall_between_and_away_again() -> None:
    world = World(Grid.from_text("....@....\n....@....\n........."), "lra")
    prey, hunter = world.add((8, 0), controlled=False), world.add((0, 0))
    world.follow(hunter, prey)
    world.block([(4, 2)])
    assert not world.order_of(hunter).reachable
    assert world.run(max_ticks=30) == "quiet"
    world.unblock([(4, 2)])
    assert world.run(max_ticks=30) == "done"
    assert apart(world, hunter, prey) == 1


# --- teleporting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ALGORITHMS)
def test_a_teleported_agent_goes_on_to_its_goal(key: str, tmp_path) -> None:
    world = World(OPEN, key, seed=2)
    units = [world.add((x, 0), (20 - x, 12)) for x in range(0, 12, 2)]
    for tick in range(20):
        if tick % 4 == 2:
            place = (23 - tick, 6 + tick // 4)
            if world.state.occupant[world.grid.cell(*place)] < 0:
                world.teleport(units[tick % 6], place)
                assert world.position(units[tick % 6]) == place
        world.tick()
    assert world.run(max_ticks=300) == "done"
    world.trace().save(tmp_path / "run.wend")
    trace = Trace.load(tmp_path / "run.wend")
    assert judge_trace(trace) == []
    assert trace.positions()[-1].tolist() == world.state.agents.cell.tolist()
    assert any(trace.events_of("teleported"))


@pytest.mark.small
def test_a_teleport_is_part_of_the_trace_and_of_the_replay(tmp_path) -> None:
    world = World(OPEN, "lra")
    agent, other = world.add((0, 0), (9, 0)), world.add((0, 5), (9, 5))
    world.tick()
    before = world.state_hash()
    world.teleport(agent, (0, 0))
    world.teleport(other, (3, 9))
    assert world.state_hash() != before
    world.teleport(other, (4, 9))
    world.teleport(other, (4, 9))           # it is there already
    world.tick()
    trace = world.trace()
    assert [event.data for event in trace.events_of("teleported")] == [
        {"at": (1, 0), "to": (0, 0)}, {"at": (1, 5), "to": (3, 9)}, {"at": (3, 9), "to": (4, 9)},
    ]  # fmt: skip
    places = [[OPEN.xy(int(cell)) for cell in row] for row in trace.positions()]
    assert places[:2] == [[(0, 0), (0, 5)], [(0, 0), (4, 9)]]
    assert places[2] == [world.position(agent), world.position(other)]
    assert judge_trace(trace) == []
    trace.events[:] = [event for event in trace.events if event.kind != "teleported"]
    write_replay(trace, tmp_path / "run.html")


@pytest.mark.small
def test_a_teleport_to_an_island_and_back() -> None:
    world = World(Grid.from_text("....@....\n....@....\n....@...."), "lra")
    agent = world.add((0, 0), (3, 2))
    world.teleport(agent, (8, 0))
    assert not world.order_of(agent).reachable
    assert world.order_of(agent).asked == (3, 2)
    assert world.run(max_ticks=20) == "quiet"
    world.teleport(agent, (0, 0))
    assert world.run(max_ticks=20) == "done"
    assert world.position(agent) == (3, 2)


@pytest.mark.small
def test_a_teleport_frees_the_place_of_an_agent_of_the_program() -> None:
    world = World(OPEN, "lra")
    turret, unit = world.add((9, 9), controlled=False), world.add((0, 0))
    assert world.order(unit, (9, 9)).shared
    world.move(turret, (9, 10))
    world.teleport(turret, (20, 2))             # the announced move is cancelled
    assert world.goal(unit) == (9, 9)
    world.tick()
    assert world.position(turret) == (20, 2)


@pytest.mark.small
def test_a_teleported_agent_leaves_its_group() -> None:
    world = World(OPEN, "lra")
    group = [world.add((0, y)) for y in range(4)]
    world.order_group(group, (20, 6))
    slot = world.goal(group[0])
    world.teleport(group[0], (12, 12))
    assert (world.goal(group[0]), world.waypoints(group[0])) == (slot, [])
    assert world.run(max_ticks=80) == "done"


@pytest.mark.small
def test_what_is_told_can_be_written_as_json() -> None:
    world = World(OPEN, "lra")
    a, b = world.add((0, 0)), world.add((5, 5), controlled=False)
    world.follow(np.int64(a), np.int32(b))
    world.teleport(np.int64(a), np.array([3, 3]))
    assert json.dumps([event.data for event in world.trace().events])
