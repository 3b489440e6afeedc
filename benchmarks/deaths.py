"""What the dead cost: a tick of 200 living units in a world in which 16,000 have died, beside one in which none has."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measure import Row
from wend import ALGORITHMS, Grid, World

MAP = "arena:width=128,height=128,seed=0"
LIVING = 200
DEATHS = 16_000
TICKS = 200             # that are measured
BUDGET = 8_000          # expansions per tick


def run() -> list[Row]:
    """Milliseconds of processor time of the median tick, for every online planner."""
    return [row for key, algorithm in ALGORITHMS.items() if algorithm.online for row in _rows(key, algorithm.title)]


def _rows(key: str, title: str) -> list[Row]:
    grid = Grid.load(MAP)
    worlds = [_world(grid, key, deaths) for deaths in (0, DEATHS)]
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(TICKS):
        for world, times in zip(worlds, taken, strict=True):        # by turns, so that both are disturbed alike
            began = time.process_time()
            world.tick(budget=BUDGET)
            times.append((time.process_time() - began) * 1e3)
    never, after = (float(np.median(times[10:])) for times in taken)
    what = f"{title}: tick of {LIVING} living after {DEATHS} deaths"
    return [Row(what, "ms", after, "no deaths", never, where=MAP, at_least=1 / 1.1)]


def _world(grid: Grid, key: str, deaths: int) -> World:
    """A world of so many deaths, in which the living have just been sent across the map."""
    draw = np.random.default_rng(0)
    places = [grid.xy(cell) for cell in draw.permutation(grid.largest_component()).tolist()]
    starts, goals = places[:LIVING], places[LIVING : 2 * LIVING]
    world = World(grid, key, seed=0, record=False)
    units = [world.add(start) for start in starts]
    world.tick(budget=BUDGET)
    for death in range(deaths):
        world.remove(units[death % LIVING])
        units[death % LIVING] = world.add(starts[death % LIVING])
    for unit, goal in zip(units, goals, strict=True):
        world.order(unit, goal)
    return world
