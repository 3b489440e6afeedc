"""The map that the benchmarks share: 512 x 512 cells from the data folder, or a generated one if it is not there."""

from __future__ import annotations

import functools
import sys

import numpy as np

from wend.errors import DataError, UnknownNameError
from wend.maps.grid import Grid
from wend.maps.terrain import Point

BENCHMARK_MAP = "bg512/AR0414SR"
GENERATED_MAP = "caves:width=512,height=512,seed=0"


@functools.cache
def large_map() -> tuple[str, Grid]:
    """Name and grid; the grid is shared and must not be edited."""
    try:
        return BENCHMARK_MAP, Grid.load(BENCHMARK_MAP)
    except (UnknownNameError, DataError) as error:
        print(f"{BENCHMARK_MAP} is missing, {GENERATED_MAP} takes its place. {error}", file=sys.stderr)
        return GENERATED_MAP, Grid.load(GENERATED_MAP)


def random_points(grid: Grid, count: int, *, seed: int) -> list[Point]:
    """Different places, each reachable from all others."""
    cells = np.random.default_rng(seed).choice(grid.largest_component(), count, replace=False)
    return [grid.xy(int(cell)) for cell in cells]
