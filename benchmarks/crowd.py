"""A crowd of 10,000: ticks and memory with more and more agents on 512 x 512 cells, and how they grow.

It takes minutes, so it runs only when named. Agents start and end at random places. Each planner and number of agents
has a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.measure import Row
from wend import Grid, World, warm_up
from wend.problems.scenarios import make_problem

MAP = "random:width=512,height=512,seed=0"
PLANNERS = ("weave", "surge", "pibt")
AGENTS = (1_250, 2_500, 5_000, 10_000)
TICKS = 200
BUDGET = 8_000      # expansions per tick


def run() -> list[Row]:
    """Milliseconds of the processor per tick, the median and of the slowest of a hundred; megabytes; and slopes."""
    rows = []
    for planner in PLANNERS:
        medians = []
        for agents in AGENTS:
            command = [sys.executable, "-m", "benchmarks.crowd", planner, str(agents)]
            found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            medians.append(found["p50"])
            title = f"{planner}, {agents} agents, {BUDGET} expansions"
            rows.append(Row(f"{title}: tick, p50", "ms", found["p50"], where=MAP))
            rows.append(Row(f"{title}: tick, p99", "ms", found["p99"], where=MAP))
            rows.append(Row(f"{title}: peak memory", "MB", found["megabytes"], where=MAP))
        slope = float(np.polyfit(np.log(AGENTS), np.log(medians), 1)[0])
        rows.append(Row(f"{planner}: growth of p50, power of the number of agents", "", slope, where=MAP))
    return rows


def measure(planner: str, agents: int) -> dict[str, float]:
    """Run so many agents, and measure the ticks."""
    warm_up(planner)
    problem = make_problem("random", Grid.load(MAP), agents=agents, seed=1)
    world = World.from_problem(problem, planner, seed=0, record=False)
    taken = np.empty(TICKS)
    for tick in range(TICKS):
        before = time.process_time()
        world.tick(budget=BUDGET)
        taken[tick] = (time.process_time() - before) * 1e3
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"p50": float(np.median(taken)), "p99": float(np.quantile(taken, 0.99)), "megabytes": megabytes}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
