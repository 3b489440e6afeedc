"""The slowest tick of a long run: 500 agents that are all ordered elsewhere now and then, so that all pools grow.

Where an array that has become too small is copied as a whole, one tick takes many times as long as the others.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row
from wend import Grid, World

SIDE = 256
AGENTS = 500
TICKS = 2_000
ORDERS_EVERY = 150      # ticks
BUDGET = 8_000          # expansions per tick
ROUNDS = 5


def run() -> list[Row]:
    """Milliseconds of the slowest tick, by the clock and of the processor.

    All rounds make the same moves, so the best of a tick is its least disturbed one. A round before the first is not
    counted: it compiles.
    """
    clock, processor = np.array([_ticks() for _ in range(ROUNDS + 1)][1:]).min(axis=0).max(axis=1)
    title = f"Weave, {AGENTS} agents, {BUDGET} expansions each: slowest of {TICKS} ticks"
    where = f"random, {SIDE} x {SIDE}"
    return [
        Row(title, "ms", float(clock), where=where, at_most=4.0),
        Row(f"{title}, time of the processor", "ms", float(processor), where=where, at_most=4.0),
    ]


def _ticks() -> NDArray[np.float64]:
    """Of each tick the milliseconds by the clock and of the processor, as [2, ticks]."""
    draw = np.random.default_rng(1)
    grid = Grid(draw.random((SIDE, SIDE)) < 0.85)
    cells = grid.largest_component()
    world = World(grid, "weave", record=False)
    for cell in draw.permutation(cells)[:AGENTS].tolist():
        world.add(grid.xy(cell))
    taken = np.zeros((2, TICKS))
    for tick in range(TICKS):
        if tick % ORDERS_EVERY == 0:
            for agent, cell in enumerate(draw.permutation(cells)[:AGENTS].tolist()):
                world.order(agent, grid.xy(cell))
        before = time.perf_counter(), time.process_time()
        world.tick(budget=BUDGET)
        taken[:, tick] = time.perf_counter() - before[0], time.process_time() - before[1]
    return taken * 1e3
