"""What it takes to go back in time: snapshots of 500 units in the middle of a game, for every online planner."""

from __future__ import annotations

import copy
import timeit

from benchmarks.measure import Row, best_seconds
from wend import ALGORITHMS, Grid, World
from wend.problems.scenarios import make_problem

MAP = "arena:width=256,height=256,seed=0"
AGENTS = 500
BUDGET = 8_000          # expansions per tick
TICKS = 100
TARGET_MS = 1.0


def run() -> list[Row]:
    """Milliseconds to take and to restore, beside `copy.deepcopy`, and bytes per agent."""
    grid = Grid.load(MAP)
    problem = make_problem("random", grid, agents=AGENTS, seed=1)
    rows = []
    for key, algorithm in ALGORITHMS.items():
        if algorithm.online:
            rows += _rows(algorithm.title, World.from_problem(problem, key, seed=1))
    return rows


def _rows(title: str, world: World) -> list[Row]:
    for _ in range(TICKS):
        world.tick(budget=BUDGET)
    before = world.snapshot()
    copied = timeit.timeit(lambda: copy.deepcopy(world), number=1) * 1e3
    for _ in range(8):
        world.tick(budget=BUDGET)
    ms = {name: seconds * 1e3 for name, seconds in best_seconds(
        {"take": world.snapshot, "restore": lambda: world.restore(before)}, rounds=20).items()}  # fmt: skip
    where = f"{MAP}, {AGENTS} agents"
    return [
        Row(f"{title}: take a snapshot", "ms", ms["take"], "deepcopy", copied, where=where, at_most=TARGET_MS),
        Row(f"{title}: restore it", "ms", ms["restore"], where=where, at_most=TARGET_MS),
        Row(f"{title}: take, per agent", "us", ms["take"] * 1e3 / AGENTS, where=where),
        Row(f"{title}: size, per agent", "bytes", before.nbytes / AGENTS, where=where),
    ]
