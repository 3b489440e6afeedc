"""MAPP with 2,000 units on the largest map of its paper, from scratch and with known alternate paths."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time

from benchmarks.maps import large_map
from benchmarks.measure import Row
from wend import World
from wend.errors import DataError, UnknownNameError
from wend.maps.grid import Grid
from wend.planners import registry
from wend.problems.scenarios import make_problem
from wend.world.warming import warm_up

MAP = "bgmaps/AR0700SR"
AGENTS = 2000
MAX_TICKS = 200_000


def run() -> list[Row]:
    """Seconds to plan and to carry out the plan, and peak memory; each run has its own process."""
    try:
        Grid.load(MAP)
        name = MAP
    except (UnknownNameError, DataError):
        name, _ = large_map()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for what, at_most in (("from scratch", 20.0), ("with known alternate paths", 10.0)):
            command = [sys.executable, "-m", "benchmarks.mapp", name, folder]
            found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            rows += [
                Row(f"{AGENTS} units {what}, {found['home']} home", "s", found["seconds"], where=name, at_most=at_most),
                Row(f"{AGENTS} units {what}: of that planning", "s", found["plan_seconds"], where=name),
                Row(f"{AGENTS} units {what}: peak memory", "MB", found["peak_mb"], where=name, at_most=1500.0),
            ]
    return rows


def _measure(name: str, folder: str) -> dict[str, float]:
    problem = make_problem("random", Grid.load(name, connectivity=4), agents=AGENTS, seed=1)
    planner = registry.create("mapp", alternates_folder=folder)
    warm_up(registry.create("mapp"))
    began = time.perf_counter()
    world = World.from_problem(problem, planner, seed=1)
    world.tick()
    planned = time.perf_counter()
    world.run(max_ticks=MAX_TICKS)
    return {
        "seconds": time.perf_counter() - began,
        "plan_seconds": planned - began,
        "home": world.home_count(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    print(json.dumps(_measure(*sys.argv[1:])))
