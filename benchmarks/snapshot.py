"""What it takes to go back in time: snapshots of 500 units in a game that goes on, for every online planner."""

from __future__ import annotations

import copy
import statistics
import time
import timeit
from collections import deque
from collections.abc import Callable

from benchmarks.measure import Row
from wend import ALGORITHMS, Grid, Snapshot, World
from wend.problems.scenarios import make_problem

MAP = "arena:width=256,height=256,seed=0"
AGENTS = 500
BUDGET = 8_000          # expansions per tick
TICKS = 100
WINDOW = 5              # ticks that a game has to go back
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
    """As in rollback: a snapshot before each tick, and after some ticks back to that of WINDOW ticks ago.

    Medians of the processor time. The first snapshot of a world has nothing to share yet; that of a fresh copy is
    taken for it.
    """
    for _ in range(TICKS):
        world.tick(budget=BUDGET)
    copied = timeit.timeit(lambda: copy.deepcopy(world), number=1) * 1e3
    world.restore(world.snapshot())                 # compiled, and let go of
    first = _ms(copy.deepcopy(world).snapshot)
    held: deque[Snapshot] = deque(maxlen=WINDOW)
    take, restore = list[float](), list[float]()
    for _ in range(ROUNDS):
        for _ in range(WINDOW + 1):
            take.append(_ms(lambda: held.append(world.snapshot())))
            world.tick(budget=BUDGET)
        restore.append(_ms(lambda: world.restore(held[0])))
        for _ in range(WINDOW):
            world.tick(budget=BUDGET)
    where = f"{MAP}, {AGENTS} agents"
    took, back = statistics.median(take), statistics.median(restore)
    return [
        Row(f"{title}: take a snapshot", "ms", took, "deepcopy", copied, where=where, at_most=TARGET_MS),
        Row(f"{title}: restore that of {WINDOW} ticks ago", "ms", back, where=where, at_most=TARGET_MS),
        Row(f"{title}: the first one", "ms", first, where=where),
        Row(f"{title}: least, take", "ms", min(take), where=where),
        Row(f"{title}: least, restore", "ms", min(restore), where=where),
        Row(f"{title}: take, per agent", "us", took * 1e3 / AGENTS, where=where),
        Row(f"{title}: size, per agent", "bytes", held[0].nbytes / AGENTS, where=where),
    ]


def _ms(call: Callable[[], object]) -> float:
    """The processor time that a call takes."""
    began = time.process_time()
    call()
    return (time.process_time() - began) * 1e3
