"""Many agents at once: HCA*, WHCA* and Weave on 4-connected maps, alone and against w9-pathfinding.

The problems are shipped scenarios of the MAPF benchmark; without them, random problems on a generated map. Both sides
get the same map, agents and limit, and forbid the same collisions; w9-pathfinding's paths are judged by our rules.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from w9_pathfinding.envs import Grid as W9Grid  # type: ignore[import-untyped]
from w9_pathfinding.mapf import HCAStar, WHCAStar  # type: ignore[import-untyped]

from benchmarks.measure import Row, best_seconds
from wend import Grid, Problem, World, metrics
from wend.errors import DataError, UnknownNameError
from wend.maps.sources import load_scenario
from wend.maps.terrain import Point
from wend.planners import registry
from wend.problems.scenarios import make_problem
from wend.rules import Judge
from wend.search.flood import move_distances

MAP = "lak303d"
GENERATED_MAP = "caves:width=194,height=194,seed=0"
SCENARIOS = (1, 2, 3)
WINDOW = 16
LIMIT = 3_000           # ticks; w9-pathfinding's `max_length`
SILVER_MAPS = 10
SILVER_LIMIT = 100      # ticks, as in Silver's experiments

Paths = Sequence[Sequence[Point]]


def run() -> list[Row]:
    """Seconds against w9-pathfinding; ticks of WHCA* on Silver's maps; ticks and costs of Weave in a crowd."""
    return [
        _against_w9("WHCA*(16)", partial(solved, "whca", window=WINDOW), w9_whca, target=3, rounds=5),
        _against_w9("HCA*", partial(solved, "hca"), w9_hca, target=5, rounds=2),
        *_silver(),
        *_crowd(),
    ]


@functools.cache
def mapf_map(name: str) -> tuple[str, Grid]:
    """Name and grid of a map of the MAPF benchmark, or of a generated map if the data folder does not have it."""
    try:
        return f"mapf/{name}", Grid.load(f"mapf/{name}", connectivity=4)
    except (UnknownNameError, DataError) as error:
        print(f"mapf/{name} is missing, {GENERATED_MAP} takes its place. {error}", file=sys.stderr)
        return GENERATED_MAP, Grid.load(GENERATED_MAP, connectivity=4)


def mapf_problem(name: str, *, agents: int, scenario: int) -> Problem:
    """The first agents of a shipped scenario, or as many random ones on the generated map."""
    where, grid = mapf_map(name)
    if where == GENERATED_MAP:
        return make_problem("random", grid, agents=agents, seed=scenario)
    return Problem.from_scen(grid, load_scenario(f"{where}-random-{scenario}"), agents=agents)


def solved(key: str, problem: Problem, **parameters: Any) -> World:
    """A world after that planner has brought all agents home or has used up all its ticks."""
    world = World.from_problem(problem, registry.create(key, **parameters))
    world.run(max_ticks=LIMIT)
    return world


# --- w9-pathfinding --------------------------------------------------------------------------------------------------


def w9_whca(grid: Grid) -> Callable[[Problem], Paths]:
    """w9-pathfinding's WHCA*: a path per agent, or none at all if one of them finds none within its window."""
    finder = WHCAStar(_w9_grid(grid))
    return lambda problem: _paths(finder, problem, window_size=WINDOW)


def w9_hca(grid: Grid) -> Callable[[Problem], Paths]:
    """w9-pathfinding's HCA*: a path per agent, or none at all if one of them finds none."""
    finder = HCAStar(_w9_grid(grid))
    return lambda problem: _paths(finder, problem)


def _w9_grid(grid: Grid) -> W9Grid:
    """w9-pathfinding's grid, told to forbid swaps as our rules do; by default it allows them."""
    return W9Grid(np.where(grid.passable, 1.0, -1.0).tolist(), edge_collision=True)


def _paths(finder: Any, problem: Problem, **options: int) -> Paths:
    found: Paths = finder.mapf(problem.start_points(), problem.goal_points(), max_length=LIMIT, **options)
    return found


def agents_home(problem: Problem, paths: Paths) -> int:
    """How many of the paths lead home. Raises if they break our rules: then they solve another problem."""
    if not paths:
        return 0
    grid, length = problem.grid, max(map(len, paths))
    cells = np.array([[grid.cell(*path[min(t, len(path) - 1)]) for path in paths] for t in range(length)], np.int32)
    judge = Judge(grid)
    for tick in range(1, length):
        if violations := judge.judge(tick, cells[tick - 1], cells[tick]):
            raise RuntimeError(f"w9-pathfinding's paths are illegal here: {violations[0]}")
    return int(((cells[0] == problem.starts) & (cells[-1] == problem.goals)).sum())


def _against_w9(
    title: str,
    ours: Callable[[Problem], World],
    finder: Callable[[Grid], Callable[[Problem], Paths]],
    *,
    target: float,
    rounds: int,
) -> Row:
    """Seconds for all scenarios, from the problem to the last step, and how many agents either side brings home."""
    where, grid = mapf_map(MAP)
    theirs = finder(grid)
    problems = [mapf_problem(MAP, agents=100, scenario=scenario) for scenario in SCENARIOS]
    worlds: list[World] = []
    answers: list[Paths] = []

    def solve_ours() -> None:
        worlds[:] = map(ours, problems)

    def solve_theirs() -> None:
        answers[:] = map(theirs, problems)

    best = best_seconds({"ours": solve_ours, "theirs": solve_theirs}, rounds=rounds)
    home = sum(world.home_count() for world in worlds)
    their_home = sum(map(agents_home, problems, answers))
    what = f"{title}, {len(problems)} x 100 agents; home: {home}, theirs {their_home}"
    return Row(what, "s", best["ours"], "w9-pathfinding", best["theirs"], where, at_least=target)


# --- ticks -----------------------------------------------------------------------------------------------------------


def _silver() -> list[Row]:
    """The first tick, in which all agents plan, and the slowest later tick, each on the map where it is slowest."""
    first, later = [], []
    for seed in range(SILVER_MAPS):
        grid = Grid.load(f"random:seed={seed}", connectivity=4)
        problem = make_problem("random", grid, agents=100, seed=seed)
        ms = _timed("whca", problem, SILVER_LIMIT, window=WINDOW)[1].min(axis=0)
        first.append(float(ms[1]))
        later.append(float(ms[2:].max()))
    where = f"random:seed=0 to {SILVER_MAPS - 1}"
    return [
        Row("WHCA*(16), 100 agents, first tick", "ms", max(first), where=where, at_most=10),
        Row("WHCA*(16), 100 agents, worst later tick", "ms", max(later), where=where, at_most=5),
    ]


def _crowd() -> list[Row]:
    """1,000 agents with Weave: ticks, the whole run, and the sum of costs."""
    where = mapf_map(MAP)[0]
    problem = mapf_problem(MAP, agents=1_000, scenario=1)
    world, ms = _timed("weave", problem, LIMIT)
    costs = metrics.completion_ticks(world.trace(), unfinished=world.ticks).sum()
    ends = zip(problem.starts.tolist(), problem.goals.tolist(), strict=True)
    least = sum(int(move_distances(problem.grid, goal)[0][start]) for start, goal in ends)
    title = f"Weave, 1000 agents, {world.home_count()} home"
    return [
        Row(f"{title}: p99 tick", "ms", float(np.percentile(ms.min(axis=0)[1:], 99)), where=where, at_most=8),
        Row(f"{title}: run of {world.ticks} ticks", "s", float(ms.sum(axis=1).min()) / 1e3, where=where, at_most=3),
        Row(f"{title}: sum of costs", "x lower bound", float(costs / least), where=where, at_most=1.8),
    ]


def _timed(key: str, problem: Problem, limit: int, **parameters: Any) -> tuple[World, NDArray[np.float64]]:
    """A finished world, and for each of three rounds the milliseconds of its set-up and of each tick.

    All rounds make the same moves, so the best time of a tick is the least disturbed one. A round before the first is
    not counted, because it compiles.
    """
    rounds = []
    for _ in range(4):
        stamps = [time.perf_counter()]
        world = World.from_problem(problem, registry.create(key, **parameters))
        stamps.append(time.perf_counter())
        while not world.all_home() and world.ticks < limit:
            world.tick()
            stamps.append(time.perf_counter())
        rounds.append(np.diff(stamps) * 1e3)
    return world, np.array(rounds[1:])
