"""How much of a budget finds rough ways."""

from __future__ import annotations

import numpy as np

from wend import Grid, World
from wend.planners.base import Budget
from wend.planners.weave.weave import Weave
from wend.problems.scenarios import make_problem
from wend.search.real_time import knows_distance


def crowd_on_a_large_map() -> World:
    grid = Grid.load("arena:width=512,height=512,seed=0")
    return World.from_problem(make_problem("random", grid, agents=600, seed=1), "weave", seed=0)


def rough_planner(world: World) -> Weave:
    assert isinstance(world.planner, Weave)
    return world.planner


def test_a_large_budget_is_not_left_to_exact_distances_while_units_go_straight_ahead() -> None:
    """After 50 ticks nearly all know the distances over blocks, so that hardly any runs into a dead end any more."""
    world = crowd_on_a_large_map()
    for _ in range(50):
        world.tick(budget=8_000)
    learned, agents = rough_planner(world)._rough.learned, world.state.agents
    away = np.flatnonzero(agents.cell != agents.goal).tolist()
    assert len(away) > 500
    assert sum(knows_distance(learned, agent, agents.cell[agent]) for agent in away) > 0.95 * len(away)


def test_with_a_budget_in_milliseconds_it_is_as_much() -> None:
    """Not one slice of it, however much time is left."""
    world = crowd_on_a_large_map()
    world.tick(budget=1)
    budget = Budget(milliseconds=60_000)
    rough_planner(world)._rough.look_ahead(world.state, budget)
    assert budget.spent > 5_500
