from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from wend import Budget, Grid, Planner, Problem, World, create, make_problem, mapgen
from wend.errors import MapError, ParameterError, UnknownNameError, ViolationError
from wend.planners.base import Intent, Proposal
from wend.world.conduct import AgentIntent

CORRIDOR = Grid.from_text("......")


@dataclass
class Follows(Planner):
    """Proposes what it is told: one dict of agent -> place per tick."""

    def __post_init__(self) -> None:
        self.script: list[dict[int, tuple[int, int]]] = []

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        for agent, place in (self.script.pop(0) if self.script else {}).items():
            proposal.next_cell[agent] = place[1] * self.state.grid.width + place[0]


def scripted(*ticks: dict[int, tuple[int, int]], grid: Grid = CORRIDOR, **options) -> World:
    planner = Follows()
    planner.script = list(ticks)
    return World(grid, planner, **options)


@pytest.mark.small
@pytest.mark.parametrize("key", ["lra", "whca", "weave"])
def test_a_world_of_a_problem_is_one_with_its_agents_added_one_by_one(key: str) -> None:
    grid = mapgen.generate("rooms", width=24, height=24, seed=4)
    problem = make_problem("random", grid, agents=30, seed=2)
    worlds = World.from_problem(problem, key), World(grid, key)
    for start, goal in zip(problem.start_points(), problem.goal_points(), strict=True):
        worlds[1].add(start, goal)
    late = problem.goal_points()[0]
    for world in worlds:
        world.run(max_ticks=20)
        world.remove(3)
        world.order(5, late)
    a, b = (
        (world.state_hash(), world.trace().events, world.order_of(5), bytes(world.snapshot()), world.run(max_ticks=200))
        for world in worlds
    )
    assert a == b
    assert worlds[0].state_hash() == worlds[1].state_hash()


@pytest.mark.small
def test_a_map_that_was_edited_after_its_problem_was_made() -> None:
    grid = Grid.from_text("......\n......")
    problem = Problem.from_points(grid, [(0, 0), (1, 0)], [(5, 0), (4, 1)])
    grid.block([(3, 0), (3, 1)])
    world = World.from_problem(problem, "lra")
    assert [order.goal for order in map(world.order_of, (0, 1))] == [(2, 0), (2, 1)]
    grid.block([(1, 0)])
    with pytest.raises(MapError, match="wall"):
        World.from_problem(problem, "lra")


@pytest.mark.small
def test_all_agents_move_at_once() -> None:
    world = scripted({0: (1, 0), 1: (2, 0)})
    world.add((0, 0), (5, 0))
    world.add((1, 0), (4, 0))
    world.tick()
    assert [world.position(0), world.position(1)] == [(1, 0), (2, 0)]
    assert world.ticks == 1
    assert world.state.occupant.tolist() == [-1, 0, 1, -1, -1, -1]


@pytest.mark.small
@pytest.mark.parametrize(
    ("kind", "script"),
    [
        ("collision", {0: (1, 0)}),
        ("swap", {0: (1, 0), 1: (0, 0)}),
        ("jump", {0: (2, 0)}),
        ("pinned", {2: (4, 0)}),
        ("uncontrolled", {3: (4, 0)}),
        ("lost", {0: (-1, 0)}),
        ("lost", {0: (0, 7)}),
    ],
)
def test_a_violation_is_an_error_or_a_record(kind, script) -> None:
    for on_violation in ("raise", "record"):
        world = scripted(script, on_violation=on_violation)
        world.add((0, 0), (5, 0))
        world.add((1, 0), (4, 0))
        world.add((3, 0), pinned=True)
        world.add((5, 0), controlled=False)
        if on_violation == "raise":
            with pytest.raises(ViolationError, match=f"tick 1: {kind}"):
                world.tick()
            assert world.ticks == 0
        else:
            world.tick()
            assert [v.kind for v in world.violations] == [kind]
            assert [world.position(a)[0] for a in range(4)] == [0, 1, 3, 5]     # the offenders stay
            assert world.ticks == 1


@pytest.mark.small
def test_recording_goes_on_with_whatever_is_legal() -> None:
    """Agent 0 jumps and stays, so 1 cannot follow it, and so 2 cannot follow 1; 3 is not concerned."""
    world = scripted({0: (5, 0), 1: (2, 0), 2: (1, 0), 3: (4, 1)}, grid=Grid(np.ones((2, 6))), on_violation="record")
    for x in (2, 1, 0):
        world.add((x, 0), (x, 0))
    world.add((5, 1), (0, 1))
    world.tick()
    assert [world.position(a) for a in range(4)] == [(2, 0), (1, 0), (0, 0), (4, 1)]
    assert [v.kind for v in world.violations] == ["jump", "collision", "collision"]


@pytest.mark.small
def test_orders_say_where_the_agent_goes() -> None:
    world = World(Grid.from_text("...@.\n...@@"), "lra")
    agent = world.add((0, 0))
    assert world.goal(agent) == (0, 0)
    reached = world.order(agent, (2, 1))
    assert (reached.goal, reached.reachable) == ((2, 1), True)
    cut_off = world.order(agent, (4, 0))
    assert (cut_off.asked, cut_off.goal, cut_off.reachable) == ((4, 0), (2, 0), False)
    walled = world.order(agent, (3, 1))
    assert (walled.goal, walled.reachable) == ((2, 1), False)
    world.run(max_ticks=9)
    assert world.agent_state(agent).name == "unreachable"
    world.unblock([(3, 1)])
    assert world.goal(agent) == (3, 1)
    world.run(max_ticks=9)
    assert world.agent_state(agent).name == "arrived"


@pytest.mark.small
def test_the_same_order_again_changes_nothing() -> None:
    world = World(CORRIDOR, "lra")
    agent = world.add((0, 0), (5, 0))
    world.tick()
    before, events = world.state_hash(), len(world.trace().events)
    world.order(agent, (5, 0))
    assert (world.state_hash(), len(world.trace().events)) == (before, events)
    world.order(agent, (4, 0))
    assert world.state_hash() != before


@pytest.mark.small
def test_agent_states_are_visible() -> None:
    world = World(Grid.from_text("....."), "lra")
    a = world.add((0, 0), (4, 0))
    b = world.add((4, 0), (0, 0))
    assert world.agent_state(a).name == "waiting"
    world.tick()
    assert (world.agent_state(a).name, world.agent_state(b).name) == ("moving", "moving")
    for _ in range(20):
        world.tick()
    stuck = world.agent_state(a)
    assert stuck.name == "stuck"
    assert stuck.waited_ticks >= 16
    yielding = scripted({0: (1, 0)})
    yielding.add((0, 0), (1, 0))
    yielding.tick()
    assert yielding.agent_state(0).name == "arrived"
    yielding.planner.script = [{0: (2, 0)}]     # type: ignore[attr-defined]
    yielding.tick()
    assert yielding.agent_state(0).name == "yielding"


@pytest.mark.small
def test_whom_an_agent_waits_for() -> None:
    world = World(Grid.from_text("...."), "lra")
    a = world.add((0, 0), (3, 0))
    world.tick()
    b = world.add((3, 0), (3, 0))
    world.order(a, (2, 0))
    c = world.add((2, 0), (2, 0))
    world.tick()
    assert world.agent_state(c).waits_for == a      # which holds the goal that both were given
    assert world.agent_state(a).waits_for == c
    assert (world.agent_state(b).name, world.agent_state(b).waits_for) == ("arrived", None)


@pytest.mark.small
def test_what_an_agent_intends_is_told_in_places() -> None:
    class Knows(Follows):
        def intent(self, agent: int) -> Intent:
            return Intent((1, 2), 1, "agent 1 is in the way") if agent == 0 else Intent()

    world = World(CORRIDOR, Knows())
    a, b = world.add((0, 0), (2, 0)), world.add((4, 0))
    assert world.intent(a).waits_for is None        # of agents that have come since the last tick nothing is known yet
    world.tick()
    assert world.intent(a) == AgentIntent(((1, 0), (2, 0)), 1, "agent 1 is in the way")
    assert world.intent(b) == AgentIntent((), None, "")
    world.remove(b)
    with pytest.raises(ParameterError, match="there is no agent 1"):
        world.intent(b)


@pytest.mark.small
def test_agents_that_are_added_leave_arrays_in_use_alone() -> None:
    world = World(Grid(np.ones((20, 20))), "lra")
    held = []
    for k in range(200):
        world.add((k % 20, k // 20))
        held.append(world.state.agents)
    for k, agents in enumerate(held):
        assert {array.size for array in agents} == {k + 1}
        assert agents.cell.tolist() == agents.goal.tolist() == list(range(k + 1))
    assert len({array.__array_interface__["data"][0] for array in (agents.cell for agents in held)}) < 5


@pytest.mark.small
def test_the_program_moves_its_own_agents() -> None:
    world = World(CORRIDOR, "lra")
    mine = world.add((2, 0), controlled=False)
    runner = world.add((0, 0), (5, 0))
    world.move(mine, (3, 0))
    world.tick()
    assert (world.position(mine), world.position(runner)) == ((3, 0), (1, 0))
    world.tick()
    assert world.position(mine) == (3, 0)       # it stays unless it is told
    assert not world.all_home()
    with pytest.raises(ParameterError, match="moved by the planner"):
        world.move(runner, (2, 0))
    with pytest.raises(MapError, match="agent 1 stands at"):
        world.move(mine, world.position(runner))
    with pytest.raises(MapError, match="cannot step"):
        world.move(mine, (5, 0))
    world.move(mine, (4, 0))
    with pytest.raises(MapError, match="announced"):
        world.add((4, 0))
    with pytest.raises(MapError, match="announced"):
        world.block([(4, 0)])


@pytest.mark.small
def test_what_cannot_be_is_refused() -> None:
    world = World(Grid.from_text("..@"), "lra")
    world.add((0, 0))
    for bad, reason in (((0, 0), "agent 0 stands"), ((2, 0), "in a wall"), ((3, 0), "off the map")):
        with pytest.raises(MapError, match=reason):
            world.add(bad)
    with pytest.raises(MapError, match="off the map"):
        world.order(0, (9, 9))
    with pytest.raises(MapError, match=r"cannot build a wall on \(0, 0\): agent 0 stands there"):
        world.block([(1, 0), (0, 0)])
    assert world.grid.is_free((1, 0))
    world.remove(0)
    for call in (lambda: world.remove(0), lambda: world.order(0, (1, 0)), lambda: world.position(7)):
        with pytest.raises(ParameterError, match="there is no agent"):
            call()
    with pytest.raises(UnknownNameError, match=r"Known: .*lra"):
        World(CORRIDOR, "larry")
    with pytest.raises(ParameterError, match="'raise' or 'record'"):
        World(CORRIDOR, "lra", on_violation="ignore")
    with pytest.raises(ParameterError, match="needs a limit"):
        world.run()
    for budget in ({"budget": 0}, {"budget_ms": 0.0}):
        with pytest.raises(ParameterError, match="allows no search"):
            world.tick(**budget)


@pytest.mark.small
def test_a_world_leaves_the_callers_grid_alone() -> None:
    grid = Grid(np.ones((3, 3)))
    world = World(grid, "lra")
    world.block([(1, 1)])
    assert grid.is_free((1, 1))
    assert world.trace().grid == grid


@pytest.mark.small
def test_runs_end_as_they_say() -> None:
    problem = Problem.from_points(CORRIDOR, [(0, 0)], [(5, 0)])
    assert World.from_problem(problem, "lra").run(max_ticks=100) == "done"
    assert World.from_problem(problem, "lra").run(max_ticks=3) == "max-ticks"
    assert World.from_problem(problem, "lra").run(time_limit_s=1e-9) == "time-limit"
    seen: list[int] = []
    World.from_problem(problem, "lra").run(max_ticks=3, progress=lambda world: seen.append(world.ticks))
    assert seen == [1, 2, 3]


@pytest.mark.small
def test_milliseconds_bound_a_tick_and_the_search_goes_on() -> None:
    world = World(Grid(np.ones((40, 40))), "lra")
    world.add((0, 0), (39, 39))
    for _ in range(20):
        world.tick(budget_ms=1e-6)
    assert (world.expansions, world.position(0)) == (0, (20, 20))       # it goes by the empty map's distances
    world.run(max_ticks=200, budget_ms=50)
    assert world.all_home()
    assert world.expansions > 0


@pytest.mark.small
@pytest.mark.parametrize("planner", ["weave", "bmaa", "mapp", "auto"])
def test_a_world_that_nobody_has_any_more_is_gone_at_once(planner: str) -> None:
    """Its planner may have hundreds of megabytes, which a garbage collector would keep for many more worlds."""
    world = World.from_problem(Problem.from_points(CORRIDOR, [(0, 0)], [(5, 0)]), planner)
    world.run(max_ticks=3)
    seen = weakref.ref(world), weakref.ref(world.planner)
    gc.collect()
    gc.disable()
    try:
        del world
        assert [there() for there in seen] == [None, None]
    finally:
        gc.enable()


@pytest.mark.small
def test_nothing_is_kept_without_recording() -> None:
    world = World(CORRIDOR, "lra", record=False)
    world.add((0, 0), (5, 0))
    assert world.run(max_ticks=20) == "done"
    assert world.ticks == 5
    with pytest.raises(ParameterError, match="keeps no trace: make it without record=False"):
        world.trace()
    kept = world._recorder
    assert (kept._events, kept._ticks) == ([], [])


@pytest.mark.small
def test_the_hash_tells_histories_apart() -> None:
    def history(*, stop: int, edit: bool = False) -> str:
        world = World(Grid(np.ones((4, 4))), "lra")
        world.add((0, 0), (3, 3))
        for _ in range(stop):
            world.tick()
        if edit:
            world.block([(3, 0)])
        return world.state_hash()

    hashes = [history(stop=2), history(stop=3), history(stop=2, edit=True)]
    assert len(set(hashes)) == 3
    assert history(stop=2) == hashes[0]


@pytest.mark.small
def test_a_wall_cancels_the_announced_moves_whose_corner_it_is() -> None:
    """Also where the map allows only some of them: the other moves are still made."""
    world = World(Grid.from_text("....\n....\n...."), "lra")
    cuts, straight, stays = (world.add(at, controlled=False) for at in ((0, 0), (3, 0), (2, 2)))
    world.move(cuts, (1, 1))
    world.move(straight, (3, 1))
    world.move(stays, (2, 2))
    assert world.block([(1, 0)]) == [cuts]
    assert world.block([(0, 2)]) == []
    world.tick()
    assert [world.position(agent) for agent in (cuts, straight, stays)] == [(0, 0), (3, 1), (2, 2)]


@pytest.mark.small
def test_recording_ends_even_if_an_announced_move_is_illegal() -> None:
    """No such move can be announced; whoever changes the grid behind the world's back gets an agent that stays."""
    world = World(Grid.from_text("...\n..."), "lra", on_violation="record")
    mine = world.add((0, 0), controlled=False)
    world.move(mine, (1, 1))
    world._grid.block([(1, 0)])
    world.tick()
    assert [violation.kind for violation in world.violations] == ["corner"]
    assert world.position(mine) == (0, 0)


@pytest.mark.small
def test_the_same_move_can_be_announced_again() -> None:
    world = World(CORRIDOR, "lra")
    mine = world.add((2, 0), controlled=False)
    world.move(mine, (3, 0))
    world.move(mine, (3, 0))
    world.tick()
    assert world.position(mine) == (3, 0)


@pytest.mark.small
def test_a_world_tells_what_it_is() -> None:
    world = World(CORRIDOR, "lra")
    world.add((0, 0), (0, 0))
    world.add((2, 0), (4, 0))
    world.add((1, 0), controlled=False)
    world.tick()
    assert repr(world) == f"<World at tick 1: 1 of 2 agents home, moved by lra, on {CORRIDOR!r}>"
    world.change_planner("weave")
    assert "moved by weave" in repr(world)
    assert "moved by Far" in repr(World(CORRIDOR, create("far")))


@pytest.mark.small
def test_reasons_are_recorded_only_with_a_trace() -> None:
    with pytest.raises(ParameterError, match="record=False keeps no trace"):
        World(CORRIDOR, "lra", record=False, record_reasons=True)
    with pytest.raises(ParameterError, match="record_reasons is True or False"):
        World(CORRIDOR, "lra", record_reasons="yes")       # type: ignore[arg-type]


@pytest.mark.small
def test_reasons_that_an_interrupt_held_up_are_recorded_before_the_next_call() -> None:
    class Slow(Follows):
        asked = 0

        def intent(self, agent: int) -> Intent:
            self.asked += 1
            if self.asked == 1:
                raise KeyboardInterrupt
            return Intent(waits_for=77, reason=f"asked {self.asked} times")     # an agent that there is not

    world = World(CORRIDOR, Slow(), record_reasons=True)
    world.add((0, 0), (2, 0))
    with pytest.raises(KeyboardInterrupt):
        world.tick()
    trace = world.trace()
    assert (world.ticks, trace.ticks, trace.wait(0, 0)) == (1, 1, (None, "asked 2 times"))


@pytest.mark.small
def test_a_planner_that_fails_to_say_why_does_not_stop_a_tick_that_is_made() -> None:
    class Fails(Follows):
        def intent(self, agent: int) -> Intent:
            raise ZeroDivisionError

    world = World(CORRIDOR, Fails(), record_reasons=True)
    world.add((0, 0), (2, 0))
    world.tick()
    assert world.ticks == 1
    assert world.trace().wait(0, 0) == (None, "its planner failed to say why: ZeroDivisionError")
    with pytest.raises(ZeroDivisionError):
        world.intent(0)
