"""The first tick of each planner: with an empty kernel cache, so that kernels are compiled, and again with a full one.

It takes minutes, so it runs only when named. Each planner has its own process and its own cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.measure import Row
from wend import ALGORITHMS

FIRST_TICK = """
import sys, time
from wend import World, make_problem, mapgen
problem = make_problem("random", mapgen.random_map(width=64, height=64), agents=100, seed=0)
world = World.from_problem(problem, sys.argv[1])
began = time.perf_counter()
world.tick()
print(time.perf_counter() - began)
"""


def run() -> list[Row]:
    """Seconds that the first tick of every planner takes, with kernels compiled and with kernels loaded."""
    rows = []
    for key in ALGORITHMS:
        with tempfile.TemporaryDirectory() as cache:
            compiled, loaded = _first_tick(key, cache), _first_tick(key, cache)
        rows.append(Row(f"{key}: first tick, compiled", "s", compiled, "loaded from the cache", loaded))
    return rows


def _first_tick(key: str, cache: str) -> float:
    command = [sys.executable, "-c", FIRST_TICK, key]
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    return float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env).stdout)
