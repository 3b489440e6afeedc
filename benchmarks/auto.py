"""`auto`: how long it takes to decide, and what it adds to the slowest tick of the planner that it chose."""

from __future__ import annotations

import functools
import statistics
import time

from benchmarks.maps import large_map
from benchmarks.measure import Row, best_seconds
from wend import World, warm_up
from wend.planners.auto.auto import WAY_OUT, Auto, regime_of
from wend.planners.base import Budget
from wend.problems.problem import Problem
from wend.problems.scenarios import make_problem

AGENTS, BUDGET = 1000, 8000
TICKS = 60
ROUNDS = 5


def run() -> list[Row]:
    """A choice from a problem with 1,000 agents, handovers, and the slowest of the first ticks with and without."""
    name, grid = large_map()
    problem = make_problem("random", grid, agents=AGENTS, seed=1)
    chosen = Auto().first(regime_of(grid, AGENTS, Budget(expansions=BUDGET))).algorithm
    warm_up("auto")

    def decide() -> object:
        return Auto().first(regime_of(grid, AGENTS, Budget(expansions=BUDGET)))

    world = World.from_problem(problem, chosen, record=False)
    handovers = {planner: functools.partial(world.change_planner, planner) for planner in (WAY_OUT, chosen)}
    seconds = best_seconds({"decide": decide, **handovers})
    slowest: dict[str, list[float]] = {chosen: [], "auto": []}
    for _ in range(ROUNDS):                             # in turns: the first worlds of a process are the slowest
        for planner, found in slowest.items():
            found.append(_slowest_tick(problem, planner))
    best = {planner: min(found) for planner, found in slowest.items()}
    typical = {planner: statistics.median(found) for planner, found in slowest.items()}
    return [
        Row("auto: decide", "ms", 1000 * seconds["decide"], where=name, at_most=20.0),
        *(Row(f"auto: hand over to {to}", "ms", 1000 * seconds[to], where=name, at_most=20.0) for to in handovers),
        Row("auto: slowest tick, best round", "ms", best["auto"], chosen, best[chosen], where=name, at_least=0.95),
        Row("auto: slowest tick, median round", "ms", typical["auto"], chosen, typical[chosen], where=name),
    ]


def _slowest_tick(problem: Problem, planner: str) -> float:
    """Milliseconds of the slowest of the first ticks."""
    world, slowest = World.from_problem(problem, planner, record=False), 0.0
    for _ in range(TICKS):
        began = time.perf_counter()
        world.tick(budget=BUDGET)
        slowest = max(slowest, time.perf_counter() - began)
    return 1000 * slowest
