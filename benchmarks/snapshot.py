"""What it takes to go back in time: snapshots of 500 units in the middle of a game, for every online planner."""

from __future__ import annotations

import copy
import statistics
import time
import timeit

from benchmarks.measure import Row
from wend import ALGORITHMS, Grid, World
from wend.problems.scenarios import make_problem

MAP = "arena:width=256,height=256,seed=0"
AGENTS = 500
BUDGET = 8_000          # expansions per tick
TICKS = 100
WINDOW = 8              # ticks that a game may have to go back
ROUNDS = 12
TARGET_MS = 1.0


def run() -> list[Row]:
    """Milliseconds to take and to restore in a game that goes on, beside `copy.deepcopy`, and bytes per agent."""
    grid = Grid.load(MAP)
    problem = make_problem("random", grid, agents=AGENTS, seed=1)
    rows = []
    for key, algorithm in ALGORITHMS.items():
        if algorithm.online:
            rows += _rows(algorithm.title, World.from_problem(problem, key, seed=1))
    return rows


def _rows(title: str, world: World) -> list[Row]:
    """As in rollback: a snapshot after each tick, and after WINDOW ticks back to the first of them. Medians.

    The first snapshot of a world has nothing to share yet; that of a fresh copy is taken for it.
    """
    for _ in range(TICKS):
        world.tick(budget=BUDGET)
    copied = timeit.timeit(lambda: copy.deepcopy(world), number=1) * 1e3
    world.snapshot()                                # compiled, and let go of
    world.restore(world.snapshot())
    fresh = copy.deepcopy(world)
    began = time.perf_counter()
    fresh.snapshot()
    first = (time.perf_counter() - began) * 1e3
    took: dict[str, list[float]] = {"take": [], "restore": []}
    for _ in range(ROUNDS):
        held = [world.snapshot()]
        for _ in range(WINDOW):
            world.tick(budget=BUDGET)
            began = time.perf_counter()
            held.append(world.snapshot())
            took["take"].append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        world.restore(held[0])
        took["restore"].append((time.perf_counter() - began) * 1e3)
        world.tick(budget=BUDGET)
    ms = {name: statistics.median(times) for name, times in took.items()}
    where = f"{MAP}, {AGENTS} agents"
    return [
        Row(f"{title}: take a snapshot", "ms", ms["take"], "deepcopy", copied, where=where, at_most=TARGET_MS),
        Row(f"{title}: restore that of {WINDOW} ticks ago", "ms", ms["restore"], where=where, at_most=TARGET_MS),
        Row(f"{title}: the first one", "ms", first, where=where),
        Row(f"{title}: least, take", "ms", min(took["take"]), where=where),
        Row(f"{title}: least, restore", "ms", min(took["restore"]), where=where),
        Row(f"{title}: take, per agent", "us", ms["take"] * 1e3 / AGENTS, where=where),
        Row(f"{title}: size, per agent", "bytes", held[0].nbytes / AGENTS, where=where),
    ]
