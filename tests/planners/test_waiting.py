"""Why agents wait: every planner says it, and what it says is held against brute force on small maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests.reference.waiting import first_met, shut_in_by, table_of, without_waits
from wend import ALGORITHMS, Grid, Problem, Trace, World, create, make_problem
from wend.kernel import NO_CELL
from wend.maps.terrain import Point
from wend.planners.base import Planner
from wend.planners.waiting import KEEPS_TO_ITS_PLAN, LETS_PASS
from wend.world.conduct import AgentIntent
from wend.world.trace import WAIT, Wait

JAMS = ("counterflow:width=1", "counterflow:width=2", "counterflow:width=3", "corner:", "crossing:", "door:")
SILENT = "its planner does not say why"


def cell_of(world: World) -> Callable[[Point], int]:
    return lambda place: world.grid.cell(*place)


def waiting_ticks(trace: Trace) -> Iterator[tuple[int, int]]:
    """Tick and agent wherever an agent stayed away from its goal; nobody is ordered about in these runs."""
    goals = [trace.grid.cell(*goal) for goal in trace.goals()]
    away = trace.positions()[:-1] != goals
    yield from ((int(tick), int(agent)) for tick, agent in np.argwhere((trace.moves == WAIT) & away))


@pytest.mark.parametrize("key", list(ALGORITHMS))
def test_in_jams_it_is_known_whom_agents_wait_for_or_why(key: str) -> None:
    """On the scenes of the jam benchmark: of nearly all ticks in which an agent waits."""
    told: list[Wait | None] = []
    for jam in JAMS:
        problem = make_problem(jam.partition(":")[0], Grid.load(jam), agents=16, seed=1)
        world = World.from_problem(problem, key, seed=1, record_reasons=True)
        world.run(max_ticks=60)
        trace = world.trace()
        told += [trace.wait(agent, tick) for tick, agent in waiting_ticks(trace)]
    known = [wait is not None and (wait.waits_for is not None or wait.reason not in ("", SILENT)) for wait in told]
    assert len(told) > 100
    assert np.mean(known) >= 0.95


def crowds(key: str, seeds: range) -> Iterator[World]:
    """Small maps with walls, and many agents on them."""
    for seed in seeds:
        draw = np.random.default_rng(seed)
        grid = Grid(draw.random((6, 7)) < 0.8, connectivity=(8, 4)[seed % 2])
        cells = grid.largest_component()
        starts, goals = draw.permutation(cells)[:12], draw.permutation(cells)[:12]
        yield World.from_problem(Problem(grid, starts, goals), key, seed=seed)


def agents_that_stay(world: World, ticks: int) -> Iterator[tuple[int, dict[int, int], dict[int, int]]]:
    """After each tick the agents that stayed away from their goals, with who stood where before the tick and after."""
    for _ in range(ticks):
        before = world.state.agents.cell.tolist()
        world.tick()
        after = world.state.agents.cell.tolist()
        for agent, (was, cell) in enumerate(zip(before, after, strict=True)):
            if was == cell != world.state.agents.goal[agent]:
                yield agent, {at: k for k, at in enumerate(before)}, {at: k for k, at in enumerate(after)}


@pytest.mark.parametrize("key", list(ALGORITHMS))
def test_whoever_is_shut_in_is_said_to_wait(key: str) -> None:
    """Where others stand on all cells with which a shortest path begins, an agent or a reason is named."""
    shut_in = 0
    for world in crowds(key, range(6)):
        for agent, _, after in agents_that_stay(world, 25):
            told, state = world.intent(agent), world.agent_state(agent)
            assert told.reason not in ("", SILENT)
            assert told.waits_for != agent
            assert told.waits_for is None or world.state.agents.cell[told.waits_for] != NO_CELL
            assert state.waits_for == told.waits_for
            cell, goal = (int(cells[agent]) for cells in world.state.agents[:2])
            shut_in += bool(shut_in_by(world.grid, cell, goal, after))
    assert shut_in > 10


@pytest.mark.parametrize(
    "key", ["lra", "bmaa", "bmaa-c", "bmaa-f", "bmaa-fc", "surge", "weave", "pibt", "lacam", "lacam-rt"]
)
def test_planners_that_look_at_the_next_cell_name_an_agent_beside(key: str) -> None:
    """It stands on one of the eight cells around the one that waits, or stood there when the tick began."""
    named = 0
    for world in crowds(key, range(6)):
        for agent, before, after in agents_that_stay(world, 25):
            told, (x, y) = world.intent(agent), world.position(agent)
            if told.waits_for is not None:
                cells = [cell for who in (before, after) for cell, k in who.items() if k == told.waits_for]
                assert min(max(abs(x - at_x), abs(y - at_y)) for at_x, at_y in map(world.grid.xy, cells)) == 1
                named += 1
            else:
                assert key in ("lra", "surge", "weave", "lacam-rt")     # which may have none to name
    assert named > 20


def test_an_agent_of_surge_without_a_path_wants_to_go_where_it_believes_its_goal_to_be_nearest() -> None:
    roaming = {"it believes that no cell beside it is nearer to its goal": 0, "another agent is in its way": 0}
    for world in crowds("surge", range(12)):
        for agent, _, after in agents_that_stay(world, 25):
            told, here = world.intent(agent), world.grid.cell(*world.position(agent))
            if told.reason not in roaming or len(told.path) > 1:
                continue
            believed = world.planner.overlay("learned", agent)
            beside = [world.grid.cell(*place) for place in world.grid.neighbours(world.position(agent))]
            nearest = min(beside, key=lambda cell: believed[cell])
            if told.waits_for is None:
                assert believed[nearest] >= believed[here]
                roaming[told.reason] += 1
            elif world.grid.cell(*told.path[0]) == nearest:
                assert believed[nearest] < believed[here]
                assert after[nearest] == told.waits_for
                roaming[told.reason] += 1
    assert min(roaming.values()) > 5


@pytest.mark.parametrize("key", ["ca", "hca", "whca"])
def test_planners_of_space_and_time_name_whom_the_agent_would_meet(key: str) -> None:
    """Without its waits, the agent's plan would lead it into the one that is named first, given the plans of all."""
    named = 0
    for world in crowds(key, range(24)):
        for agent, before, _ in agents_that_stay(world, 25):
            told, time = world.intent(agent), world.ticks - 1
            if told.reason not in (LETS_PASS, KEEPS_TO_ITS_PLAN):
                continue
            stood, stands = {who: cell for cell, who in before.items()}, world.state.agents.cell.tolist()
            courses = {
                other: [stood[other], stands[other], *map(cell_of(world), world.intent(other).path)]
                for other in range(world.agents)
            }
            table = table_of(courses, time, hold=key in ("ca", "hca"))
            if table is None:       # an agent without a plan stands on the plan of another, which will be stopped there
                continue
            way = without_waits(courses[agent][1:])
            end = time + (99 if key in ("ca", "hca") else len(courses[agent]) - 1)
            met = first_met(world.grid, table, way, time, end, agent) if len(way) > 1 else set()
            if met:
                assert told.waits_for in met
                named += 1
    assert named > 5


def test_mapp_names_the_unit_that_is_to_pass_first() -> None:
    """It is on the next cell of the one that waits, now or later, before that one comes there."""
    named = 0
    for world in crowds("mapp", range(6)):
        told = [
            (world.ticks - 1, agent, intent.waits_for, world.grid.cell(*intent.path[0]))
            for agent, _, _ in agents_that_stay(world, 60)
            if (intent := world.intent(agent)).reason == "another agent is to pass there first"
        ]
        positions = world.trace().positions()
        for tick, agent, other, cell in told:
            visits = np.flatnonzero(positions[tick:, other] == cell)
            entries = np.flatnonzero(positions[tick:, agent] == cell)
            assert visits.size
            assert not entries.size or visits[0] < entries[0]
            named += 1
    assert named > 20


@pytest.mark.parametrize("key", ["far", "astar-replan"])
def test_far_names_an_agent_that_has_one_of_the_next_cells(key: str) -> None:
    """One that stands there, has stood there, or is going to be there by the moves that it has reserved."""
    named = 0
    for world in crowds(key, range(6)):
        for agent, before, after in agents_that_stay(world, 25):
            told = world.intent(agent)
            if told.reason != "another has reserved one of its next cells":
                continue
            assert told.waits_for is not None
            other = {cell for who in (before, after) for cell, k in who.items() if k == told.waits_for}
            other.update(map(cell_of(world), world.intent(told.waits_for).path))
            assert other & {world.grid.cell(*place) for place in told.path[:4]}
            named += 1
    assert named > 20


class Mute(Planner):
    """Nobody moves, and nothing is said."""

    def plan(self, proposal, budget) -> None:
        pass


@pytest.mark.small
def test_of_a_planner_that_says_nothing_it_is_told_who_is_on_the_shortest_path() -> None:
    world = World(Grid.from_text("...."), Mute(), record_reasons=True)
    first, second = world.add((0, 0), (3, 0)), world.add((1, 0), (2, 0))
    assert world.intent(first) == world.intent(second) == AgentIntent((), None, "")     # no tick was made
    world.tick()
    assert world.intent(first) == AgentIntent((), second, "another is on its shortest path")
    assert world.intent(second) == AgentIntent((), None, SILENT)
    assert world.agent_state(first).waits_for == second
    assert world.trace().wait(first, 0) == (second, "another is on its shortest path")


@pytest.mark.small
def test_to_ask_changes_nothing() -> None:
    """A run in which all agents are asked after every tick, and recorded, is the same as one in which none is."""
    for key in ALGORITHMS:
        problem = make_problem("door", Grid.load("door:"), agents=8, seed=2)
        asked = World.from_problem(problem, create(key), record_reasons=True)
        silent = World.from_problem(problem, create(key), record=False)
        for _ in range(20):
            asked.tick(budget=50)
            silent.tick(budget=50)
            for agent in range(8):
                asked.intent(agent)
        assert asked.state_hash() == silent.state_hash(), key
        assert asked.expansions == silent.expansions, key
