from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from wend import Grid
from wend.kernel import NO_CELL
from wend.planners.base import Agents
from wend.rules import Judge
from wend.world.referee import Referee

Found = list[tuple[str, tuple[int, ...]]]


def wanted(grid: Grid, agents: Agents, announced: list[int], proposed: list[int]) -> Found:
    """Kind and agents of all violations, one agent at a time; the joint move is judged if there are none so far."""
    found: Found = []
    for kind in ("uncontrolled", "pinned", "lost"):
        for agent, (here, goal, controlled, pinned) in enumerate(zip(*(a.tolist() for a in agents), strict=True)):
            there = proposed[agent]
            is_wrong = {
                "uncontrolled": not controlled and there != announced[agent],
                "pinned": controlled and pinned and here == goal and there != here,
                "lost": there != here and (here == NO_CELL or not 0 <= there < grid.size),
            }
            if is_wrong[kind]:
                found.append((kind, (agent,)))
    if found:
        return found
    return [(v.kind, v.agents) for v in Judge(grid).judge(1, agents.cell, np.array(proposed, np.int32))]


@pytest.mark.small
def test_everything_that_is_wrong_is_found() -> None:
    grid = Grid.from_text("....\n..@.\n....")
    referee = Referee(grid)
    kinds: Counter[str] = Counter()
    for seed in range(400):
        draw = np.random.default_rng(seed)
        at = draw.permutation(grid.free_cells())[:4].astype(np.int32)
        at[draw.random(4) < 0.1] = NO_CELL
        goals = np.where(draw.random(4) < 0.4, at, draw.choice(grid.free_cells(), 4)).astype(np.int32)
        agents = Agents(at, goals, draw.random(4) < 0.7, draw.random(4) < 0.4)
        announced, proposed = at.tolist(), at.tolist()
        for agent in np.flatnonzero((draw.random(4) < 0.5) & (at != NO_CELL)).tolist():
            beside = grid.neighbours(grid.xy(int(at[agent])))
            proposed[agent] = grid.cell(*beside[int(draw.integers(len(beside)))])
            if draw.random() < 0.8 and not agents.controlled[agent]:
                announced[agent] = proposed[agent]
        if draw.random() < 0.2:
            proposed[int(draw.integers(4))] = int(draw.integers(-3, grid.size + 3))
        cells = np.array(announced, np.int32), np.array(proposed, np.int32)
        found = [(v.kind, v.agents) for v in referee.judge(1, agents, *cells)]
        assert found == wanted(grid, agents, announced, proposed)
        kinds.update([kind for kind, _ in found] or ["legal"])
    assert {"legal", "uncontrolled", "pinned", "lost", "wall", "jump", "collision", "swap"} <= kinds.keys()
