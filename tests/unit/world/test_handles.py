"""Handles stay stable while the indices of agents that have left are used again."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, Trace, World
from wend.errors import MapError, ParameterError
from wend.journal import Journal
from wend.kernel import NO_AGENT, NO_CELL
from wend.world.referee import judge_trace
from wend.world.roster import Roster

OPEN = Grid.from_text("\n".join(["." * 12] * 9))
ONLINE = [key for key, algorithm in ALGORITHMS.items() if algorithm.online]


@pytest.mark.small
def test_the_roster_agrees_with_a_plain_list() -> None:
    draw, roster, handles = np.random.default_rng(4), Roster(Journal()), []         # handles by index, None: unused
    for added in range(200):
        index = next((k for k, handle in enumerate(handles) if handle is None), len(handles))
        handles[index : index + 1] = [added]
        assert roster.enter(added // 3) == index
        for index in np.flatnonzero(draw.random(len(handles)) < 0.1).tolist():
            if handles[index] is not None:
                roster.leave(index)
                handles[index] = None
        assert (roster.size, roster.added) == (len(handles), added + 1)
        assert roster.handles.tolist() == [NO_AGENT if handle is None else handle for handle in handles]
        indices = {handle: index for index, handle in enumerate(handles) if handle is not None}
        for handle in range(-2, added + 3):
            assert roster.index_of(handle) == indices.get(handle, NO_AGENT)
        values = draw.integers(100, size=len(handles))
        assert roster.in_order(values).tolist() == [values[indices[k]] for k in sorted(indices)]
        expected = [int(values[indices[k]]) if k in indices else -7 for k in range(added + 1)]
        assert roster.by_handle(values, -7).tolist() == expected
    assert len(handles) < 40


@pytest.mark.small
def test_no_agent_ever_gets_the_handle_of_another() -> None:
    world = World(OPEN, "lra")
    first, second = world.add((0, 0), (11, 8)), world.add((3, 0))
    world.tick()
    world.remove(first)
    third = world.add((5, 5), (0, 5))
    assert (first, second, third, world.agents) == (0, 1, 2, 3)
    assert world.index_of(third) == 0                           # its arrays are those of the first
    assert world.living().tolist() == [second, third]
    for call in (world.position, world.remove, world.order_of, world.intent, world.pin, world.index_of):
        with pytest.raises(ParameterError, match="there is no agent 0 on the map"):
            call(first)
    assert world.position(third) == (5, 5)
    assert world.positions().tolist() == [[-1, -1], [3, 0], [5, 5]]
    assert world.previous_positions().tolist() == [[-1, -1], [3, 0], [5, 5]]
    assert world.goals().tolist() == [[-1, -1], [3, 0], [0, 5]]
    assert world.states().tolist() == ["absent", "arrived", "moving"]
    assert world.order(third, (1, 1)).agent == third
    with pytest.raises(MapError, match="agent 2 stands at"):
        world.add((5, 5))


@pytest.mark.small
def test_what_is_told_of_an_agent_names_its_handle() -> None:
    """Orders, events, announced moves, violations, reasons and traces."""
    world = World(Grid.from_text("....."), "lra", record_reasons=True)
    gone = world.add((2, 0))
    wall, walker = world.add((3, 0), controlled=False), world.add((0, 0), (4, 0))
    world.remove(gone)
    guard = world.add((1, 0), controlled=False)
    assert [world.index_of(agent) for agent in (wall, walker, guard)] == [1, 2, 0]
    for _ in range(20):
        world.tick()
    assert world.agent_state(walker).waits_for == world.intent(walker).waits_for == guard
    assert [event.agents for event in world.events()] in ([], [(walker,)])
    trace = world.trace()
    assert trace.agents == 4
    wait = trace.wait(walker, 19)
    assert wait is not None
    assert wait.waits_for == guard
    world.move(guard, (2, 0))
    world.tick()
    positions = world.trace().positions()[-1].tolist()
    assert positions == [NO_CELL, 3, 1, 2] or positions == [NO_CELL, 3, 0, 2]
    assert [(event.kind, event.agent) for event in trace.events] == [
        ("added", 0), ("added", 1), ("added", 2), ("removed", 0), ("added", 3)
    ]  # fmt: skip


@pytest.mark.small
def test_nobody_waits_for_an_agent_that_came_since() -> None:
    world = World(Grid.from_text("...."), "lra")
    walker, wall = world.add((0, 0), (3, 0)), world.add((1, 0), controlled=False)
    for _ in range(3):
        world.tick()
    assert world.agent_state(walker).waits_for == wall
    world.remove(wall)
    late = world.add((2, 0), controlled=False)
    assert world.index_of(late) == 1
    assert world.agent_state(walker).waits_for is None


@pytest.mark.parametrize("key", list(ALGORITHMS))
def test_a_world_in_which_all_die_and_others_come_is_recorded_as_it_was(key: str) -> None:
    """The trace is legal, says where each agent was, and the arrays are as long as there were agents at a time."""
    draw, world = np.random.default_rng(2), World(OPEN, key, seed=1)
    there: dict[int, tuple[int, int]] = {}
    places = [OPEN.xy(cell) for cell in OPEN.free_cells().tolist()]

    def vacant() -> tuple[int, int]:
        free = [place for place in places if world.state.occupant[OPEN.cell(*place)] == NO_AGENT]
        return free[int(draw.integers(len(free)))]

    for _ in range(40):
        while len(there) < 6:
            place = vacant()
            agent = world.add(place, vacant(), controlled=bool(draw.random() < 0.8))
            assert agent not in there
            there[agent] = place
        world.tick(budget=int(draw.integers(20, 200)))
        there = {agent: world.position(agent) for agent in there}
        cells = world.trace().positions()[-1]
        assert {agent: OPEN.xy(int(cells[agent])) for agent in np.flatnonzero(cells != NO_CELL).tolist()} == there
        for agent in list(there):
            if draw.random() < 0.2:
                world.remove(agent)
                del there[agent]
    assert world.agents > 30
    assert world.state.agents.cell.size == 6
    trace = world.trace()
    assert judge_trace(trace) == []
    assert trace.agents == world.agents


@pytest.mark.parametrize("key", ONLINE)
def test_an_agent_with_the_index_of_another_is_as_new(key: str) -> None:
    """It goes the way that it goes in a world of its own."""
    used, fresh = World(OPEN, key, seed=3), World(OPEN, key, seed=3)
    for _ in range(9):
        used.tick()
        fresh.tick()
    first = used.add((11, 8), (0, 8))
    for tick in range(9):
        if tick == 5:
            used.order(first, (11, 0))
        used.tick()
        fresh.tick()
    used.remove(first)
    late, lone = used.add((1, 1), (10, 5)), fresh.add((1, 1), (10, 5))
    assert used.index_of(late) == fresh.index_of(lone) == 0
    for _ in range(14):
        used.tick()
        fresh.tick()
        assert used.position(late) == fresh.position(lone)
    assert used.all_home()


@pytest.mark.parametrize("key", ["weave", "surge", "far"])
def test_copies_and_snapshots_know_the_handles(key: str, tmp_path) -> None:
    world = World(OPEN, key, seed=5)
    for x in range(8):
        world.add((x, 0), (x, 8))
    world.tick()
    for agent in (1, 3, 6):
        world.remove(agent)
    newest = [world.add((x, 2), (11 - x, 6)) for x in (0, 4)]
    taken, twin = world.snapshot(), copy.deepcopy(world)
    sent = pickle.loads(pickle.dumps(world))
    other = World(OPEN, key, seed=5)
    other.restore(type(taken).from_bytes(bytes(taken)))
    worlds = [world, twin, sent, other]
    for _ in range(2):
        for each in worlds:
            assert each.living().tolist() == [0, 2, 4, 5, 7, *newest]
            each.remove(newest[0])
            assert each.add((9, 0), (2, 2)) == 10
            each.order(10, (3, 3))
            each.tick()
        assert len({each.state_hash() for each in worlds}) == 1
        for each in worlds:
            each.restore(taken)
    world.tick()
    world.trace().save(tmp_path / "run.wend")
    assert Trace.load(tmp_path / "run.wend").positions().tolist() == world.trace().positions().tolist()


@pytest.mark.parametrize("key", ONLINE)
def test_no_array_grows_with_the_dead(key: str) -> None:
    """After 400 deaths everything that a world and its planner keep is as large as after 200."""
    world = World(OPEN, key, seed=2, record=False)
    units, sizes = [world.add((x, 0), (x, 8)) for x in range(8)], []
    for death in range(400):
        world.remove(units[death % 8])
        if death % 4 == 0:
            world.tick(budget=300)
        place = next((x, y) for y in range(9) for x in range(12) if world.state.occupant[OPEN.cell(x, y)] == NO_AGENT)
        units[death % 8] = world.add(place, (death % 12, death % 9))
        if death in (199, 399):
            sizes.append(sum(array.nbytes for array in arrays_of(world)))
    assert sizes[0] == sizes[1]


def arrays_of(root: object) -> list[np.ndarray]:
    """All arrays that an object holds, directly or not."""
    found: dict[int, np.ndarray] = {}
    seen: set[int] = set()
    left = [root]
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            found[id(value)] = value
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, (list, tuple)):
            left += value
        elif type(value).__module__.startswith("wend."):
            left += getattr(value, "__dict__", {}).values()
    return list(found.values())
