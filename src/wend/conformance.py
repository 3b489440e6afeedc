"""The conformance suite: `check_planner(factory)` tests any planner, your own included, against what the world expects.

Each check is a function that makes planners and runs them in small worlds under a referee. It returns what it found, in
words, or raises ConformanceError with what went wrong. There are two kinds. A planner is *legal* if it makes legal
moves, repeatable runs and a truthful window (`intent`, `overlay`, `promises`; it may be empty), keeps its budget, and
if nothing that happens between two ticks breaks it. It is *good* if agents get home, too: one alone, and some in a
crowd.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wend import arguments
from wend.errors import ConformanceError, ParameterError, ViolationError
from wend.kernel import NO_AGENT, NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.planners import registry
from wend.planners.base import Planner
from wend.world.world import World

Factory = Callable[[], Planner]
Check = Callable[[Factory], str]

PASSED, UNTESTED, NOT_GOOD, NOT_LEGAL = "passed", "not tested", "not good", "not legal"

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
_TINY: tuple[tuple[str, list[Point]], ...] = (      # maps, and where agents stand
    ("..", []),
    (".", [(0, 0)]),
    ("..\n..", [(0, 0), (1, 0), (0, 1), (1, 1)]),
)
_BUDGET = 40
_NO_EXPANSIONS = "reported no expansions: the budget was not tested"


@dataclass(frozen=True)
class Finding:
    """What became of one check."""

    about: str          # legal | good: what it decides
    check: str          # its name
    claim: str          # what it checks, in a sentence
    verdict: str        # passed | not tested | not good | not legal
    found: str          # what it found, or what went wrong


@dataclass(frozen=True)
class Conformance:
    """What the suite found about a planner; printed, it is a list."""

    planner: str
    findings: tuple[Finding, ...]

    @property
    def is_legal(self) -> bool:
        """Whether the planner does what the world needs."""
        return all(finding.verdict != NOT_LEGAL for finding in self.findings)

    @property
    def is_good(self) -> bool:
        """Whether it also gets agents home."""
        return all(finding.verdict in (PASSED, UNTESTED) for finding in self.findings)

    def __str__(self) -> str:
        verdict = "legal and good" if self.is_good else "legal, but not good" if self.is_legal else "not legal"
        lines = [f"{self.planner} is {verdict}."]
        for about, findings in itertools.groupby(self.findings, key=lambda finding: finding.about):
            lines.append(f"{about}:")
            for each in findings:
                lines += [f"  {each.verdict:<10}  {each.check}: {each.claim}", f"{'':<14}{each.found}"]
        return "\n".join(lines)


class _Untested(Exception):
    """A check had nothing to judge, for this reason."""


def check_planner(factory: Factory | str, *, online: bool = True) -> Conformance:
    """Run all checks on a planner, and return what they found; a ConformanceError with all of it if it is not legal.

    `factory` makes a fresh planner: a class, or a function such as `lambda: MyPlanner(depth=3)`. The name of a planner
    stands for one with its defaults. `online` says that it claims to keep within a budget in every tick.
    """
    if isinstance(factory, str):
        factory = registry.find(factory).create
    if not callable(factory):
        raise ParameterError(f"factory is what makes a planner, a class or a function, or a name, not {factory!r:.60}")
    arguments.instance(made := factory(), "what factory makes", Planner, "a planner")
    name = type(made).__name__
    findings: list[Finding] = []
    causes: list[Exception] = []
    for check in (*LEGAL, *GOOD):
        try:
            if check in ON_A_BUDGET and not online:
                raise _Untested("it does not claim to keep a budget")
            verdict, found = PASSED, check(factory)
        except _Untested as reason:
            verdict, found = UNTESTED, str(reason)
        except (ConformanceError, ViolationError) as error:
            is_weak = check in GOOD and isinstance(error, ConformanceError)
            verdict, found = NOT_GOOD if is_weak else NOT_LEGAL, str(error)
            causes += [] if is_weak else [error]
        except Exception as error:      # a planner may raise anything; the first one is the cause of ours
            verdict, found = NOT_LEGAL, f"{type(error).__name__}: {error}"
            causes.append(error)
        about = "good" if check in GOOD else "legal"
        findings.append(Finding(about, check.__name__, str(check.__doc__), verdict, found))
    report = Conformance(name, tuple(findings))
    if not report.is_legal:
        failed = [f"{each.check}: {each.found}" for each in findings if each.verdict == NOT_LEGAL]
        raise ConformanceError(f"{name} is not legal: {'; '.join(failed)}", report) from causes[0]
    return report


def _expect(claim: bool, failure: str) -> None:
    if not claim:
        raise ConformanceError(failure)


def _crowd(factory: Factory, agents: int, seed: int) -> World:
    """A world with a crowd in a room with walls."""
    grid = Grid.from_text(_ROOM)
    places = np.random.default_rng(seed).permutation(grid.free_cells())
    world = World(grid, factory(), seed=seed)
    for start, goal in zip(places[:agents].tolist(), places[-agents:].tolist(), strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    return world


def _tiny_world(factory: Factory, drawing: str, places: list[Point]) -> World:
    """A tiny world after three ticks."""
    world = World(Grid.from_text(drawing), factory())
    for place in places:
        world.add(place)
    for _ in range(3):
        world.tick()
    return world


def _present(world: World) -> list[int]:
    """The agents that are on the map."""
    return [int(agent) for agent in world.living()]


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


# --- legal -----------------------------------------------------------------------------------------------------------


def parameters_are_declared(factory: Factory) -> str:
    """Every parameter has a meaning, and its default is one of its values."""
    declared = factory().parameters()
    for each in declared:
        _expect(bool(each.help), f"parameter {each.name} has no help text")
        each.parse(each.default)
    return f"parameters: {', '.join(each.name for each in declared) or 'none'}"


def crowd_moves_legally(factory: Factory) -> str:
    """A crowd moves without a violation, and no agent is lost."""
    for seed in range(3):
        world = _crowd(factory, 24, seed)
        for _ in range(150):
            world.tick()
            cells = world.state.agents.cell
            _expect(np.unique(cells).size == 24 and NO_CELL not in cells, "an agent was lost")
    return "no violation in 3 x 150 ticks of 24 agents"


def same_seed_same_trace(factory: Factory) -> str:
    """The same seed gives the same run, even if another world is ticked in between."""
    alone = _crowd(factory, 20, 1)
    for _ in range(60):
        alone.tick()
    one, other = _crowd(factory, 20, 1), _crowd(factory, 16, 2)
    for _ in range(60):
        one.tick()
        other.tick()
    _expect(alone.state_hash() == one.state_hash(), "two runs with the same seed differ")
    return "equal state hashes after 60 ticks of 20 agents"


def empty_and_tiny_worlds_tick(factory: Factory) -> str:
    """Worlds without agents, of a single cell, or full of agents are nothing special."""
    for drawing, places in _TINY:
        _tiny_world(factory, drawing, places)
    return f"{len(_TINY)} worlds of 1 to 4 cells"


def orders_and_edits_break_nothing(factory: Factory) -> str:
    """Agents come and go and get new orders, and walls rise and fall."""
    world = _crowd(factory, 16, 4)
    draw = np.random.default_rng(4)
    for _ in range(200):
        _stir(world, draw)
        world.tick()
    return f"no violation in 200 ticks of {world.agents} agents"


def others_are_left_alone(factory: Factory) -> str:
    """Agents that the program moves go where it says; pinned agents stay on their goals."""
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
        _expect(world.position(walker) == target, "an agent of the program was moved")
        still = all(world.position(agent) == post for agent, post in posts.items())
        _expect(still, "a pinned agent left its goal")
    return f"1 agent of the program and {len(pinned)} pinned ones among 9 others, for 120 ticks"


def budget_is_kept(factory: Factory) -> str:
    """With a budget in expansions no tick exceeds it, and runs repeat."""
    hashes, worst = [], 0
    for _ in range(2):
        world = _crowd(factory, 20, 6)
        for _ in range(150):
            world.tick(budget=_BUDGET)
        worst = int(world.trace().expansions.max())
        _expect(worst <= _BUDGET, f"{worst} expansions in a tick with a budget of {_BUDGET}")
        hashes.append(world.state_hash())
    _expect(hashes[0] == hashes[1], "two runs with the same budget differ")
    if worst == 0:
        raise _Untested(_NO_EXPANSIONS)
    return f"at most {worst} expansions in a tick with a budget of {_BUDGET}"


def window_is_truthful(factory: Factory) -> str:
    """After every tick, intents, overlays and promises fit the world as it is then."""
    shown = 0
    for budget in (None, _BUDGET):
        world = _crowd(factory, 12, 7)
        world.add(_vacant(world)[0], controlled=False)
        draw = np.random.default_rng(7)
        for _ in range(40):
            _stir(world, draw)
            world.tick(budget=budget)
            for agent in _present(world):
                shown += _check_intent(world, agent)
            _check_overlays(world)
        for promise in world.planner.promises() or ():
            known = 0 <= promise.agent < world.state.agents.cell.size
            _expect(known, f"a promise about index {promise.agent}, which no agent ever had")
            reasoned = promise.provable != bool(promise.condition)
            _expect(reasoned, f"agent {promise.agent} is provable, or has a condition that fails")
    overlays = ", ".join(world.planner.overlays) or "none"
    promises = "none" if world.planner.promises() is None else "given"
    return f"{shown} intents with a path or an agent that is waited for; overlays: {overlays}; promises: {promises}"


def _check_intent(world: World, agent: int) -> bool:
    """An intent leads over free cells, from where the agent stands, and waits for an agent that is there.

    Returns whether it says anything.
    """
    intent = world.planner.intent(world.index_of(agent))
    here = world.position(agent)
    for cell in intent.path:
        free = 0 <= cell < world.grid.size and bool(world.grid.passable.flat[cell])
        _expect(free, f"the way of agent {agent} leads over cell {cell}, which is not free")
    if intent.path:
        step = world.grid.xy(int(intent.path[0]))
        legal = step == here or step in world.grid.neighbours(here)
        _expect(legal, f"agent {agent} at {here} cannot step to {step}, the first on its way")
    there = intent.waits_for in (NO_AGENT, *map(world.index_of, _present(world)))
    _expect(there, f"agent {agent} waits for index {intent.waits_for}, which no agent has")
    return bool(intent.path) or intent.waits_for != NO_AGENT


def _check_overlays(world: World) -> None:
    """An overlay has one entry per cell, whether it shows what all agents know or what a single one does."""
    first = world.index_of(_present(world)[0])
    for name, about in world.planner.overlays.items():
        shape = np.shape(world.planner.overlay(name, first if about.of_agent else NO_AGENT))
        _expect(shape == (world.grid.size,), f"overlay {name} is {shape}, not one per cell")


# --- good ------------------------------------------------------------------------------------------------------------


def lone_agent_gets_home(factory: Factory) -> str:
    """One agent reaches its goal around walls, and stays there."""
    ticks = []
    for goal in ((11, 9), (3, 3), (0, 9)):
        world = World(Grid.from_text(_ROOM), factory())
        agent = world.add((0, 0), goal)
        world.run(max_ticks=200)
        _expect(world.all_home(), f"a lone agent did not reach {goal} in 200 ticks")
        ticks.append(world.ticks)
        for _ in range(20):
            world.tick()
            _expect(world.position(agent) == goal, f"a lone agent left its goal {goal}")
    return f"home after {ticks[0]}, {ticks[1]} and {ticks[2]} ticks"


def agents_at_home_stay(factory: Factory) -> str:
    """Agents that have nowhere to go stay where they are."""
    for drawing, places in _TINY:
        _expect(_tiny_world(factory, drawing, places).all_home(), "agents left their goals")
    return "all stayed"


def crowd_gets_home(factory: Factory) -> str:
    """Of a crowd, at least a quarter get home at some time."""
    homes = []
    for seed in range(3):
        world = _crowd(factory, 24, seed)
        been_home: set[int] = set()
        for _ in range(150):
            world.tick()
            been_home |= {a for a in range(24) if world.position(a) == world.goal(a)}
        homes.append(len(been_home))
    _expect(min(homes) >= 6, f"only {min(homes)} of 24 agents ever got home in 150 ticks")
    return f"{homes[0]}, {homes[1]} and {homes[2]} of 24 agents got home at some time in 150 ticks"


def new_orders_are_heeded(factory: Factory) -> str:
    """An agent with a new order goes there, around a wall that has just risen."""
    world = World(Grid.from_text(_ROOM), factory())
    agent = world.add((0, 0), (11, 0))
    for _ in range(5):
        world.tick()
    world.order(agent, (0, 9))
    world.block([(0, 4), (1, 4)])
    world.run(max_ticks=200)
    _expect(world.all_home(), "a re-tasked agent did not get home around a new wall in 200 ticks")
    return f"home {world.ticks - 5} ticks after the order"


def unreachable_goals_are_approached(factory: Factory) -> str:
    """A goal behind walls is approached, and reached when a wall falls."""
    world = World(Grid.from_text("......\n......\n....##\n....#."), factory())
    agent = world.add((0, 0), (5, 3))
    world.run(max_ticks=100)
    near = world.all_home() and world.position(agent) != (5, 3)
    _expect(near, "it did not come near in 100 ticks")
    world.unblock([(5, 2)])
    world.run(max_ticks=100)
    _expect(world.position(agent) == (5, 3), "it did not go on when the wall fell")
    return "it came near, and home when the wall fell"


def little_budget_is_enough(factory: Factory) -> str:
    """A lone agent gets home with few expansions per tick, too."""
    world = World(Grid.from_text(_ROOM), factory())
    world.add((0, 0), (11, 9))
    world.run(max_ticks=400, budget=5)
    _expect(world.all_home(), "a lone agent with 5 expansions per tick did not get home in 400 ticks")
    if world.trace().expansions.sum() == 0:
        raise _Untested(_NO_EXPANSIONS)
    return f"home after {world.ticks} ticks with 5 expansions each"


LEGAL: tuple[Check, ...] = (
    parameters_are_declared,
    crowd_moves_legally,
    same_seed_same_trace,
    empty_and_tiny_worlds_tick,
    orders_and_edits_break_nothing,
    others_are_left_alone,
    budget_is_kept,
    window_is_truthful,
)
GOOD: tuple[Check, ...] = (
    lone_agent_gets_home,
    agents_at_home_stay,
    crowd_gets_home,
    new_orders_are_heeded,
    unreachable_goals_are_approached,
    little_budget_is_enough,
)
ON_A_BUDGET = (budget_is_kept, little_budget_is_enough)
