"""A long run: 500 agents get random orders while walls appear and disappear. Is every move legal? Does memory leak?

It takes minutes, so it runs only when named; `--ticks` says for how long. Each planner has its own process, so that its
memory can be measured separately.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import numpy as np

from benchmarks.maps import large_map, random_points
from benchmarks.measure import Row
from wend import World

PLANNERS = ("bmaa", "surge", "far")
AGENTS = 500
TICKS = 20_000
LOOK_AT = 5_000         # by then everything has reached its usual size
BUDGET = 8_000          # expansions per tick
ORDERS = 5              # per tick: on average, each agent gets one every hundred ticks
EDIT_EVERY = 10         # ticks
WALL = 8                # cells
WALLS = 40              # standing at the same time, at most


def run(ticks: int = TICKS) -> list[Row]:
    """For each planner: violations, memory after a while and at the end, and how often an agent got home in time."""
    name, _ = large_map()
    rows = []
    for planner in PLANNERS:
        command = [sys.executable, "-m", "benchmarks.soak", planner, str(ticks)]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        rows += [
            Row(f"{planner}: illegal moves in {ticks} ticks", "moves", found["violations"], where=name, at_most=0),
            Row(f"{planner}: peak memory until tick {found['looked_at']}", "MB", found["early_mb"], where=name),
            Row(f"{planner}: peak memory until the end", "MB", found["late_mb"], where=name),
            Row(f"{planner}: at home when the next order comes", "of 100", found["at_home"], where=name),
        ]
    return rows


def soak(planner: str, ticks: int) -> dict[str, float]:
    """Run one planner, and measure it."""
    _, grid = large_map()
    rng = np.random.default_rng(0)
    world = World(grid, planner, on_violation="record", record=False)
    points = random_points(grid, AGENTS, seed=0)
    for point in points:
        world.add(point)
    walls: list[list[tuple[int, int]]] = []
    look_at = min(LOOK_AT, ticks)
    arrived, orders, early = 0, 0, 0.0
    for tick in range(1, ticks + 1):
        for agent in rng.integers(AGENTS, size=ORDERS).tolist():
            arrived += world.position(agent) == world.goal(agent)
            orders += 1
            world.order(agent, points[int(rng.integers(AGENTS))])
        if tick % EDIT_EVERY == 0:
            x, y = points[int(rng.integers(AGENTS))]
            wall = [(x, y + k) for k in range(WALL) if y + k < grid.height and world.grid.is_free((x, y + k))]
            walls.append([point for point in wall if world.state.occupant[world.grid.cell(*point)] < 0])
            world.block(walls[-1])
            if len(walls) > WALLS:
                world.unblock(walls.pop(0))
        world.tick(budget=BUDGET)
        if tick == look_at:
            early = _peak_mb()
    return {
        "violations": len(world.violations), "looked_at": look_at, "early_mb": early, "late_mb": _peak_mb(),
        "at_home": 100 * arrived / orders,
    }  # fmt: skip


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(soak(sys.argv[1], int(sys.argv[2]))))
