"""The conformance suite: `check_planner(factory)` tests any planner, your own included, against what the world expects.

Each check is a function that makes planners, runs them in small worlds under a referee, and raises ConformanceError
with what went wrong. The checks ask for legal moves, repeatable runs and a truthful window (`intent`, `overlay`,
`promises`), not for cleverness: a planner passes if a lone agent gets home, no agent is lost, and nothing that happens
between two ticks breaks it. A planner that leaves the window empty passes too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wend.errors import ConformanceError, ViolationError
from wend.kernel import NO_AGENT, NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.planners.base import Planner
from wend.world.world import World

Factory = Callable[[], Planner]

_ROOM = """
    ............
    ..####......
    ..#..#..##..
    ..#.....##..
    ..####......
    ............
    .....#......
    .....#..###.
    .....#......
    ............
"""
_BUDGET = 40


def check_planner(factory: Factory, *, online: bool = True) -> None:
    """Run all checks on a planner; raise ConformanceError at the first that fails.

    `factory` makes a fresh planner: a class, or a function such as `lambda: MyPlanner(depth=3)`. `online` says that it
    claims to keep within a budget in every tick.
    """
    for check in CHECKS:
        if check is budget_is_kept and not online:
            continue
        try:
            check(factory)
        except ViolationError as error:
            raise ConformanceError(f"{check.__name__}: {error}") from error


def _expect(claim: bool, failure: str, check: Callable[..., None]) -> None:
    if not claim:
        raise ConformanceError(f"{check.__name__}: {failure}")


def _crowd(factory: Factory, agents: int, seed: int) -> World:
    """A world with a crowd in a room with walls."""
    grid = Grid.from_text(_ROOM)
    places = np.random.default_rng(seed).permutation(grid.free_cells())
    world = World(grid, factory(), seed=seed)
    for start, goal in zip(places[:agents].tolist(), places[-agents:].tolist(), strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    return world


def _present(world: World) -> list[int]:
    """The agents that are on the map."""
    return [agent for agent in range(world.agents) if world.state.agents.cell[agent] != NO_CELL]


def _vacant(world: World) -> list[Point]:
    """The free places on which no agent stands."""
    return [world.grid.xy(c) for c in world.grid.free_cells().tolist() if world.state.occupant[c] == NO_AGENT]


def _stir(world: World, draw: np.random.Generator) -> None:
    """Give random orders, add and remove agents, and edit the map, some of it in every few ticks."""
    here, vacant = _present(world), _vacant(world)
    if world.ticks % 3 == 0:
        world.order(int(draw.choice(here)), vacant[int(draw.integers(len(vacant)))])
    if world.ticks % 7 == 0:
        world.add(vacant[int(draw.integers(len(vacant)))], vacant[int(draw.integers(len(vacant)))])
        world.remove(int(draw.choice(here)))
    if world.ticks % 5 == 0:
        world.block([vacant[int(draw.integers(len(vacant)))]])
    if world.ticks % 5 == 3:
        world.unblock([(int(draw.integers(12)), int(draw.integers(10)))])


def parameters_are_declared(factory: Factory) -> None:
    """Every parameter has a meaning, and its default is one of its values."""
    for declared in factory().parameters():
        _expect(bool(declared.help), f"parameter {declared.name} has no help text", parameters_are_declared)
        declared.parse(declared.default)


def lone_agent_gets_home(factory: Factory) -> None:
    """One agent reaches its goal around walls, and stays there."""
    for goal in ((11, 9), (3, 3), (0, 9)):
        world = World(Grid.from_text(_ROOM), factory())
        agent = world.add((0, 0), goal)
        world.run(max_ticks=200)
        _expect(world.all_home(), f"a lone agent did not reach {goal} in 200 ticks", lone_agent_gets_home)
        for _ in range(20):
            world.tick()
            _expect(world.position(agent) == goal, f"a lone agent left its goal {goal}", lone_agent_gets_home)


def crowd_moves_legally(factory: Factory) -> None:
    """A crowd moves without a violation, no agent is lost, and at least a quarter of them get home at some time."""
    for seed in range(3):
        world = _crowd(factory, 24, seed)
        been_home: set[int] = set()
        for _ in range(150):
            world.tick()
            cells = world.state.agents.cell
            _expect(np.unique(cells).size == 24 and NO_CELL not in cells, "an agent was lost", crowd_moves_legally)
            been_home |= {a for a in range(24) if world.position(a) == world.goal(a)}
        _expect(len(been_home) >= 6, f"only {len(been_home)} of 24 agents ever got home", crowd_moves_legally)


def same_seed_same_trace(factory: Factory) -> None:
    """The same seed gives the same run, even if another world is ticked in between."""
    alone = _crowd(factory, 20, 1)
    for _ in range(60):
        alone.tick()
    one, other = _crowd(factory, 20, 1), _crowd(factory, 16, 2)
    for _ in range(60):
        one.tick()
        other.tick()
    same = alone.state_hash() == one.state_hash()
    _expect(same, "two runs with the same seed differ", same_seed_same_trace)


def empty_and_tiny_worlds_tick(factory: Factory) -> None:
    """No agents, a map of a single cell, and agents that have nowhere to go are nothing special."""
    for drawing, places in (("..", []), (".", [(0, 0)]), ("..\n..", [(0, 0), (1, 0), (0, 1), (1, 1)])):
        world = World(Grid.from_text(drawing), factory())
        for place in places:
            world.add(place)
        for _ in range(3):
            world.tick()
        _expect(world.all_home(), "agents that were home left", empty_and_tiny_worlds_tick)


def orders_and_edits_are_heeded(factory: Factory) -> None:
    """Agents come and go and get new orders, and walls rise and fall, while agents move."""
    world = _crowd(factory, 16, 4)
    draw = np.random.default_rng(4)
    for _ in range(200):
        _stir(world, draw)
        world.tick()
    last = World(Grid.from_text(_ROOM), factory())
    agent = last.add((0, 0), (11, 0))
    for _ in range(5):
        last.tick()
    last.order(agent, (0, 9))
    last.block([(0, 4), (1, 4)])
    last.run(max_ticks=200)
    _expect(last.all_home(), "a re-tasked agent did not get home around a new wall", orders_and_edits_are_heeded)


def unreachable_goals_are_approached(factory: Factory) -> None:
    """An agent whose goal is walled off goes as near as it can, and on when the wall falls."""
    world = World(Grid.from_text("......\n......\n....##\n....#."), factory())
    agent = world.add((0, 0), (5, 3))
    world.run(max_ticks=100)
    near = world.all_home() and world.position(agent) != (5, 3)
    _expect(near, "it did not come near", unreachable_goals_are_approached)
    world.unblock([(5, 2)])
    world.run(max_ticks=100)
    _expect(world.position(agent) == (5, 3), "it did not go on when the wall fell", unreachable_goals_are_approached)


def others_are_left_alone(factory: Factory) -> None:
    """Agents that the program moves go where it says, and pinned agents stay on their goals."""
    world = _crowd(factory, 12, 5)
    pinned = [agent for agent in range(12) if agent % 4 == 0]
    for agent in pinned:
        world.pin(agent)
        world.order(agent, world.position(agent))
    posts = {agent: world.position(agent) for agent in pinned}
    walker = world.add(_vacant(world)[0], controlled=False)
    draw = np.random.default_rng(5)
    for _ in range(120):
        steps: list[Point] = [
            p for p in world.grid.neighbours(world.position(walker)) if world.state.occupant[world.grid.cell(*p)] < 0
        ]
        target = steps[int(draw.integers(len(steps)))] if steps else world.position(walker)
        world.move(walker, target)
        world.tick()
        _expect(world.position(walker) == target, "an agent of the program was moved", others_are_left_alone)
        still = all(world.position(agent) == post for agent, post in posts.items())
        _expect(still, "a pinned agent left its goal", others_are_left_alone)


def budget_is_kept(factory: Factory) -> None:
    """With a budget in expansions no tick exceeds it, runs repeat, and a lone agent still gets home."""
    hashes = []
    for _ in range(2):
        world = _crowd(factory, 20, 6)
        for _ in range(150):
            world.tick(budget=_BUDGET)
        worst = int(world.trace().expansions.max())
        _expect(worst <= _BUDGET, f"{worst} expansions in a tick with a budget of {_BUDGET}", budget_is_kept)
        hashes.append(world.state_hash())
    _expect(hashes[0] == hashes[1], "two runs with the same budget differ", budget_is_kept)
    alone = World(Grid.from_text(_ROOM), factory())
    alone.add((0, 0), (11, 9))
    alone.run(max_ticks=400, budget=5)
    _expect(alone.all_home(), "a lone agent with 5 expansions per tick did not get home in 400", budget_is_kept)


def window_is_truthful(factory: Factory) -> None:
    """After every tick, intents, overlays and promises fit the world as it is then, whatever happened to it."""
    for budget in (None, _BUDGET):
        world = _crowd(factory, 12, 7)
        world.add(_vacant(world)[0], controlled=False)
        draw = np.random.default_rng(7)
        for _ in range(40):
            _stir(world, draw)
            world.tick(budget=budget)
            for agent in _present(world):
                _check_intent(world, agent)
            _check_overlays(world)
        for promise in world.planner.promises() or ():
            known = 0 <= promise.agent < world.agents
            _expect(known, f"a promise about agent {promise.agent}, which there never was", window_is_truthful)
            reasoned = promise.provable != bool(promise.condition)
            _expect(reasoned, f"agent {promise.agent} is provable, or has a condition that fails", window_is_truthful)


def _check_intent(world: World, agent: int) -> None:
    """An intent leads over free cells, from where the agent stands, and waits for an agent that is there."""
    intent = world.planner.intent(agent)
    here = world.position(agent)
    for cell in intent.path:
        free = 0 <= cell < world.grid.size and bool(world.grid.passable.flat[cell])
        _expect(free, f"the way of agent {agent} leads over cell {cell}, which is not free", window_is_truthful)
    if intent.path:
        step = world.grid.xy(int(intent.path[0]))
        legal = step == here or step in world.grid.neighbours(here)
        _expect(legal, f"agent {agent} at {here} cannot step to {step}, the first on its way", window_is_truthful)
    there = intent.waits_for == NO_AGENT or intent.waits_for in _present(world)
    _expect(there, f"agent {agent} waits for agent {intent.waits_for}, which is not there", window_is_truthful)


def _check_overlays(world: World) -> None:
    """An overlay has one entry per cell, whether it shows what all agents know or what a single one does."""
    for name, about in world.planner.overlays.items():
        shape = np.shape(world.planner.overlay(name, _present(world)[0] if about.of_agent else NO_AGENT))
        _expect(shape == (world.grid.size,), f"overlay {name} is {shape}, not one per cell", window_is_truthful)


CHECKS = (
    parameters_are_declared,
    lone_agent_gets_home,
    crowd_moves_legally,
    same_seed_same_trace,
    empty_and_tiny_worlds_tick,
    orders_and_edits_are_heeded,
    unreachable_goals_are_approached,
    others_are_left_alone,
    budget_is_kept,
    window_is_truthful,
)
