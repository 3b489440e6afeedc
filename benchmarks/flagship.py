"""Planners side by side where a game needs them: dense places, large maps, frames with a budget, orders without end.

    a   dense places of the MAPF benchmark, 4-connected: who brings all agents home, and at which sum of costs
    b   its large maps: the same, and the time
    c   the seven types of problems on game maps, with budgets per tick: who is home after 600 ticks, and when
    d   lifelong: every agent that is home gets a new goal, for 400 ticks: goals reached

It takes minutes, so it runs only when named. `--sections cd` runs some of it; `--full` runs all of the maps, sizes and
seeds, which takes hours. Every planner is set beside the best of all in its row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Row
from wend import Grid, Limits, Problem, World, solve, warm_up
from wend.maps.sources import load_scenario
from wend.metrics import completed, completion_ticks
from wend.problems.scenarios import SEVEN_TYPES, make_problem

ONLINE = ("auto", "weave", "surge", "pibt")
PLANNERS = (*ONLINE, "lacam")       # LaCAM* plans before the first tick, so it takes part in `a` and `b` alone

DENSE = {
    "random-32-32-20": 400, "room-32-32-4": 300, "maze-32-32-4": 300, "den312d": 400, "random-32-32-10": 400,
    "maze-32-32-2": 200, "empty-32-32": 500, "random-64-64-20": 1_000, "warehouse-10-20-10-2-1": 1_000,
    "room-64-64-8": 800,
}  # fmt: skip
LARGE = ("lak303d", "ost003d", "den520d", "brc202d", "Paris_1_256")
GAME_MAPS = (
    "bgmaps/AR0603SR", "dao/den520d", "bgmaps/AR0700SR", "bgmaps/AR0500SR", "bgmaps/AR0411SR", "dao/lak303d",
    "dao/brc202d", "dao/ost003d",
)  # fmt: skip
BUDGETS = (None, 8_000, 2_000, 500)     # expansions per tick
MAX_TICKS = 3_000                       # in `a` and `b`,
FRAMES = 600                            # ... in `c`,
LIFELONG = 400                          # ... and in `d`


@dataclass(frozen=True)
class Size:
    """How much of everything is run."""

    maps: int               # of each list, from the first one on
    scenarios: int
    agents: tuple[int, ...]
    kinds: tuple[str, ...]
    budgets: tuple[int | None, ...]
    seeds: int


QUICK = Size(3, 2, (300,), ("random", "cross-sides", "swap-sides"), (None, 2_000), 1)
FULL = Size(10, 5, (300, 1_000), tuple(SEVEN_TYPES), BUDGETS, 3)


def run(sections: str = "abcd", full: bool = False) -> list[Row]:
    """The rows of the sections named by their letters."""
    if unknown := set(sections) - set(SECTIONS):
        raise SystemExit(f"benchmarks: flagship has the sections {', '.join(SECTIONS)}, not {min(unknown)!r}")
    for planner in PLANNERS:
        warm_up(planner)
    size = FULL if full else QUICK
    return [row for letter in sections for row in SECTIONS[letter](size)]


def _beside(where: str, what: str, unit: str, found: dict[str, float]) -> Iterator[Row]:
    """A row for each planner, beside the best; less is better."""
    best = min(found, key=lambda planner: found[planner])
    for planner, value in found.items():
        yield Row(f"{what}: {planner}", unit, value, best, found[best], where)


# --- a and b: one problem, solved to its end ------------------------------------------------------------------------


def dense(size: Size) -> Iterator[Row]:
    """Section a."""
    for name, agents in list(DENSE.items())[: size.maps]:
        yield from _solved("(a)", name, agents, size.scenarios)


def large(size: Size) -> Iterator[Row]:
    """Section b."""
    for name in LARGE[: size.maps]:
        for agents in size.agents:
            yield from _solved("(b)", name, agents, size.scenarios)


def _solved(section: str, name: str, agents: int, scenarios: int) -> Iterator[Row]:
    """Agents left over, and in the mean of the scenarios costs over their lower bound and seconds.

    An agent that is left over costs MAX_TICKS.
    """
    grid = Grid.load(f"mapf/{name}", connectivity=4)
    costs, seconds, left = (dict.fromkeys(PLANNERS, 0.0) for _ in range(3))
    for number in range(1, scenarios + 1):
        problem = Problem.from_scen(grid, load_scenario(f"mapf/{name}-random-{number}"), agents=agents)
        for planner in PLANNERS:
            done = solve(problem, planner, Limits(max_ticks=MAX_TICKS))
            ticks = completion_ticks(done.trace, unfinished=MAX_TICKS)
            costs[planner] += float(ticks.sum()) / done.sum_of_costs_lower_bound / scenarios
            seconds[planner] += done.run_seconds / scenarios
            left[planner] += agents - completed(done.trace)
    what = f"{section} {agents} agents, {scenarios} scenarios"
    yield from _beside(name, f"{what}, not home", "agents", left)
    yield from _beside(name, f"{what}, cost", "of the bound", costs)
    yield from _beside(name, f"{what}, time", "s", seconds)


# --- c and d: a world that runs for so many ticks -------------------------------------------------------------------


def frames(size: Size) -> Iterator[Row]:
    """Section c."""
    for place in GAME_MAPS[: size.maps]:
        grid = Grid.load(place)
        for kind in size.kinds:
            for agents in size.agents:
                problems = [make_problem(kind, grid, agents=agents, seed=seed) for seed in range(1, size.seeds + 1)]
                for budget in size.budgets:
                    yield from _framed(place, problems, budget)


def _framed(place: str, problems: list[Problem], budget: int | None) -> Iterator[Row]:
    left, when, worst = (dict.fromkeys(ONLINE, 0.0) for _ in range(3))
    for problem in problems:
        for planner in ONLINE:
            home, slowest_ms = home_ticks(problem, planner, budget)
            left[planner] += int((home == FRAMES).sum())
            when[planner] += float(home.mean()) / len(problems)
            worst[planner] = max(worst[planner], slowest_ms)
    agents, kind = problems[0].starts.size, problems[0].name
    what = f"(c) {kind}, {agents} agents, {'no budget' if budget is None else f'{budget} expansions'}"
    yield from _beside(place, f"{what}, not home", "agents", left)
    yield from _beside(place, f"{what}, home in the mean after", "ticks", when)
    yield from _beside(place, f"{what}, slowest tick", "ms", worst)


def home_ticks(problem: Problem, planner: str, budget: int | None) -> tuple[np.ndarray, float]:
    """The tick from which on each agent is home, FRAMES if it is never; and the milliseconds of the slowest tick."""
    world = World.from_problem(problem, planner, seed=0, record=False)
    home, slowest = np.zeros(problem.starts.size, np.int64), 0.0
    for tick in range(1, FRAMES + 1):
        before = time.perf_counter()
        world.tick(budget=budget)
        slowest = max(slowest, time.perf_counter() - before)
        is_home = world.state.agents.cell == problem.goals
        home[~is_home] = tick
        if is_home.all():
            break
    return home, slowest * 1e3


def lifelong(size: Size) -> Iterator[Row]:
    """Section d."""
    for place in GAME_MAPS[: size.maps]:
        grid = Grid.load(place)
        for agents in size.agents:
            for budget in size.budgets:
                found = {planner: float(-goals_reached(grid, agents, planner, budget)) for planner in ONLINE}
                what = f"(d) {agents} agents, {'no budget' if budget is None else f'{budget} expansions'}, goals missed"
                most = max(-value for value in found.values())
                yield from _beside(place, f"{what} of {most:.0f}", "goals", {k: most + v for k, v in found.items()})


def goals_reached(grid: Grid, agents: int, planner: str, budget: int | None, seed: int = 1) -> int:
    """How many goals agents reach if each of them gets a new one as soon as it is there."""
    draw = np.random.default_rng(seed)
    cells = grid.largest_component()
    world = World.from_problem(make_problem("random", grid, agents=agents, seed=seed), planner, seed=0, record=False)
    reached = 0
    for _ in range(LIFELONG):
        world.tick(budget=budget)
        state = world.state.agents
        for agent in np.flatnonzero(state.cell == state.goal).tolist():
            reached += 1
            taken = set(state.goal.tolist())
            while (goal := int(draw.choice(cells))) in taken:
                pass
            world.order(agent, grid.xy(goal))
    return reached


SECTIONS: dict[str, Callable[[Size], Iterator[Row]]] = {"a": dense, "b": large, "c": frames, "d": lifelong}
