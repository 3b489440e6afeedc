"""Searching without moving: `world.think`."""

from __future__ import annotations

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, World
from wend.errors import ParameterError
from wend.problems.scenarios import make_problem
from wend.world.trace import Trace

ONLINE = [key for key, entry in ALGORITHMS.items() if entry.online]
GRID = Grid.load("caves:width=48,height=48,seed=1")
PROBLEM = make_problem("random", GRID, agents=20, seed=3)


def two(key: str) -> tuple[World, World]:
    return World.from_problem(PROBLEM, key, seed=1), World.from_problem(PROBLEM, key, seed=1)


@pytest.mark.parametrize("key", ALGORITHMS)
def test_thinking_moves_nothing_and_costs_no_tick(key: str) -> None:
    world, twin = two(key)
    before = world.positions().copy()
    thought = world.think()
    assert (thought > 0) == (key in ONLINE)     # the others plan all at once, in their first tick
    assert (world.positions() == before).all()
    assert (world.ticks, world.expansions) == (0, thought)
    assert (world.state_hash() == twin.state_hash()) == (thought == 0)
    assert [event.data for event in world.trace().events_of("thought")] == [{"expansions": thought}] * (thought > 0)


@pytest.mark.parametrize("key", ONLINE)
def test_without_a_budget_thinking_changes_no_move(key: str) -> None:
    world, twin = two(key)
    for _ in range(25):
        world.think()
        for each in (world, twin):
            each.tick()
        assert (world.positions() == twin.positions()).all()


@pytest.mark.parametrize("key", ONLINE)
def test_what_was_thought_need_not_be_searched(key: str) -> None:
    world, twin = two(key)
    while world.think(budget=97):
        assert world.trace().events[-1].data["expansions"] <= 97
    world.tick()
    if key in ("weave", "whca", "auto", "lacam-rt"):    # these plan in the tick, with distances that are known
        cells = PROBLEM.starts.tolist()
        far = [world.planner.overlay("distance", agent)[cell] for agent, cell in enumerate(cells)]
        assert np.isfinite([d for d, cell, goal in zip(far, cells, PROBLEM.goals, strict=True) if cell != goal]).all()
    elif key == "pibt":                         # it looks a few cells further when two agents would swap
        twin.tick()
        assert 10 * int(world.trace().expansions[0]) < int(twin.trace().expansions[0])
    else:
        assert world.trace().expansions.tolist() == [0]


@pytest.mark.parametrize("key", ONLINE)
def test_the_same_thoughts_the_same_run(key: str, tmp_path) -> None:
    world, twin = two(key)
    draw = np.random.default_rng(0)
    for tick in range(20):
        budgets, agent, place = draw.integers(1, 200, 3).tolist(), tick % 20, GRID.xy(int(draw.choice(PROBLEM.goals)))
        for each in (world, twin):
            for budget in budgets:
                each.think(budget=budget)
            each.order(agent, place)
            each.tick(budget=50)
    assert world.state_hash() == twin.state_hash()
    world.trace().save(tmp_path / "run.wend")
    thoughts = list(world.trace().events_of("thought"))
    assert len(thoughts) > 5
    assert list(Trace.load(tmp_path / "run.wend").events_of("thought")) == thoughts


@pytest.mark.small
def test_bad_budgets_are_refused() -> None:
    world, twin = two("lra")
    for bad in ({"budget": 0}, {"budget": 1.5}, {"budget_ms": 0}):
        with pytest.raises(ParameterError):
            world.think(**bad)
    assert world.state_hash() == twin.state_hash()
    assert world.think(budget_ms=1_000) > 0
