"""What a world shows of all agents at once, and what it tells of them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from wend import Budget, Grid, Planner, World
from wend.maps import generators as mapgen
from wend.planners.base import Proposal
from wend.world.conduct import STATES, STUCK_AFTER_TICKS, AgentEvent
from wend.world.events import EVENT_KINDS

OPEN = mapgen.open_map(width=20, height=12)


@dataclass
class StandStill(Planner):
    """Moves nobody."""

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        pass


def kinds(world: World) -> list[tuple[str, tuple[int, ...]]]:
    return [(event.kind, event.agents) for event in world.events()]


@pytest.mark.small
def test_positions_goals_and_states_come_as_arrays() -> None:
    world = World(OPEN, "lra")
    units = [world.add((x, 0), (x, 9)) for x in range(0, 10, 2)]
    mine = world.add((19, 0), controlled=False)
    world.remove(units[1])
    world.move(mine, (19, 1))
    world.tick()
    there = [agent for agent in range(world.agents) if agent != units[1]]
    for array, of_one in ((world.positions(), world.position), (world.goals(), world.goal)):
        assert (array.shape, array.dtype) == ((6, 2), np.int32)
        assert [tuple(array[agent]) for agent in there] == [of_one(agent) for agent in there]
        assert array[units[1]].tolist() == [-1, -1]
    assert world.previous_positions()[there].tolist() == [[0, 0], [4, 0], [6, 0], [8, 0], [19, 0]]
    assert world.states().tolist() == ["moving", "absent", "moving", "moving", "moving", "moving"]
    assert set(world.states().tolist()) <= set(STATES)
    assert [STATES[code] for code in world.state_codes()] == world.states().tolist()
    world.follow(units[0], units[2])
    assert world.followed().tolist() == [units[2], -1, -1, -1, -1, -1]
    world.positions()[:] = 7                    # a copy: the world does not mind
    assert world.position(units[0]) != (7, 7)
    empty = World(OPEN, "lra")
    assert (empty.positions().shape, empty.goals().shape, empty.states().shape) == ((0, 2), (0, 2), (0,))


@pytest.mark.small
def test_previous_positions_are_where_agents_came_from_in_the_last_tick() -> None:
    world = World(OPEN, "lra")
    walker, late = world.add((0, 0), (9, 0)), 1
    world.tick()
    assert world.previous_positions().tolist() == [[0, 0]]
    assert world.add((5, 5)) == late
    assert world.previous_positions().tolist() == [[0, 0], [5, 5]]
    world.teleport(walker, (0, 9))
    assert world.previous_positions().tolist() == [[0, 9], [5, 5]]      # nothing to interpolate
    world.tick()
    assert world.previous_positions().tolist() == [[0, 9], [5, 5]]


@pytest.mark.small
def test_arrivals_are_told_once() -> None:
    world = World(OPEN, "lra")
    idle, walker = world.add((9, 9)), world.add((0, 0), (2, 0))
    told = []
    for _ in range(5):
        world.tick()
        told.append(kinds(world))
    assert told == [[], [("arrived", (walker,))], [], [], []]
    world.order(idle, (9, 9))
    world.tick()
    assert kinds(world) == []
    world.order(walker, (3, 0))
    world.tick()
    assert world.events() == [AgentEvent(7, "arrived", (walker,), (3, 0))]


@pytest.mark.small
def test_agents_get_stuck_and_unstuck() -> None:
    world = World(Grid.from_text("......"), "lra")
    a, b = world.add((0, 0), (5, 0)), world.add((5, 0), (0, 0))
    told: dict[str, list[int]] = {}
    for _ in range(60):
        world.tick()
        for event in world.events():
            told.setdefault(event.kind, []).append(event.agents[0])
    assert {a, b} == set(told["stuck"])
    assert world.states().tolist() == ["stuck", "stuck"]
    world.remove(b)
    for _ in range(20):
        world.tick()
        if ("unstuck", (a,)) in kinds(world):
            break
    assert world.agent_state(a).name == "moving"
    still = World(OPEN, StandStill())
    still.add((0, 0), (5, 5))
    ticks = []
    for _ in range(40):
        still.tick()
        ticks += [event.tick for event in still.events() if event.kind == "stuck"]
    assert ticks == [1 + STUCK_AFTER_TICKS]     # in the first tick it learns of its goal


@pytest.mark.small
def test_walls_make_places_unreachable_and_reachable_again() -> None:
    world = World(Grid.from_text("...@..\n...@..\n......"), "lra")
    agent = world.add((0, 0), (5, 0))
    world.tick()
    assert kinds(world) == []
    world.block([(3, 2)])
    world.tick()
    assert world.events() == [AgentEvent(2, "unreachable", (agent,), (5, 0))]
    for _ in range(5):
        world.tick()
        assert kinds(world) == []               # it comes to the nearest place, which is not to arrive
    assert world.agent_state(agent).name == "unreachable"
    world.unblock([(3, 2)])
    world.tick()
    assert ("reachable", (agent,)) in kinds(world)
    world.block([(3, 2)])
    world.order(agent, (0, 0))          # another order: that place was never out of reach
    world.tick()
    assert {kind for kind, _ in kinds(world)} <= {"arrived"}
    world.order(agent, (4, 0))
    world.tick()
    assert ("unreachable", (agent,)) in kinds(world)


@pytest.mark.small
@pytest.mark.parametrize("by_group", [True, False])
def test_a_crowd_that_has_settled_is_told_of_once(by_group: bool) -> None:
    world = World(OPEN, "lra")
    units = [world.add((x, y)) for x in range(3) for y in range(3)]
    if by_group:
        world.order_group(units, (15, 6))
    else:
        for unit in units:
            world.order(unit, (15, 6))
    settled = []
    for _ in range(80):
        world.tick()
        settled += [event for event in world.events() if event.kind == "settled"]
    assert [(event.agents, event.place) for event in settled] == [(tuple(units), (15, 6))]
    assert world.all_home()


@pytest.mark.small
def test_a_crowd_has_settled_when_the_last_that_was_missing_dies() -> None:
    world = World(OPEN, StandStill())
    home, away = world.add((5, 5)), world.add((0, 0))
    world.order(home, (5, 5))
    world.order(away, (5, 5))
    world.tick()
    assert kinds(world) == []
    world.remove(away)
    world.tick()
    assert kinds(world) == [("settled", (home,))]


@pytest.mark.small
def test_functions_are_called_with_events_after_the_tick() -> None:
    world = World(OPEN, "lra")
    walker = world.add((0, 0), (1, 0))
    heard: list[str] = []

    def go_on(event: AgentEvent) -> None:
        heard.append(f"{event.kind} {event.place}")
        if len(heard) < 3:
            world.order(walker, (event.place[0] + 1, 0))        # it may call the world

    world.on("arrived", go_on)
    twin, thawed = copy.deepcopy(world), pickle.loads(pickle.dumps(world))
    for _ in range(6):
        world.tick()
    assert heard == ["arrived (1, 0)", "arrived (2, 0)", "arrived (3, 0)"]
    world.off("arrived", go_on)
    world.order(walker, (4, 0))
    for other in (world, twin, thawed):         # neither after `off`, nor of copies
        for _ in range(3):
            other.tick()
    assert len(heard) == 3
    assert set(EVENT_KINDS) == {"arrived", "stuck", "unstuck", "unreachable", "reachable", "settled"}


@pytest.mark.small
def test_a_function_that_raises_does_not_undo_the_tick() -> None:
    world = World(OPEN, "lra")
    world.add((0, 0), (1, 0))

    def fail(event: AgentEvent) -> None:
        raise KeyError(event.kind)

    world.on("arrived", fail)
    with pytest.raises(KeyError):
        world.tick()
    assert (world.ticks, world.position(0)) == (1, (1, 0))
    world.tick()
    assert world.ticks == 2
