"""How long units stand after a mass order: 500 units that rest get orders in one tick, with every online planner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row
from wend import ALGORITHMS, Grid, World
from wend.problems.scenarios import make_problem

PLANNERS = tuple(key for key, entry in ALGORITHMS.items() if entry.online)
MAPS = tuple(f"{kind}:width=256,height=256,seed=0" for kind in ("arena", "caves", "rooms"))
AGENTS = 500
BUDGETS = (8_000, 2_000)        # expansions per tick
TICKS = 64
MEDIAN, WORST = 4.0, 16.0       # the most ticks that may pass until the first step


def run() -> list[Row]:
    """Ticks until the first step, of the median unit and of the last one, for each planner, map and budget."""
    rows = []
    for planner in PLANNERS:
        for place in MAPS:
            for budget in BUDGETS:
                ticks = _first_steps(planner, place, budget)
                for what, of, most in (("median", np.median, MEDIAN), ("last", np.max, WORST)):
                    title = f"{planner}, first step after {AGENTS} orders, {budget} expansions: {what} unit"
                    rows.append(Row(title, "ticks", float(of(ticks)), where=place, at_most=most))
    return rows


def _first_steps(planner: str, place: str, budget: int) -> NDArray[np.int64]:
    """The tick after the order in which each unit takes its first step; TICKS for those that take none."""
    grid = Grid.load(place)
    problem = make_problem("random", grid, agents=AGENTS, seed=1)
    away = problem.starts != problem.goals
    world = World(grid, planner, record=False)
    for start in problem.start_points():
        world.add(start)
    world.tick(budget=budget)
    for agent, goal in enumerate(problem.goal_points()):
        world.order(agent, goal)
    first = np.full(AGENTS, TICKS)
    for tick in range(1, TICKS):
        world.tick(budget=budget)
        first[(first == TICKS) & (world.state.agents.cell != problem.starts)] = tick
    return first[away]
