"""What a world costs when nothing happens: all agents stand on their goals."""

from __future__ import annotations

from benchmarks.maps import large_map, random_points
from benchmarks.measure import Row, best_seconds
from wend import Grid, World
from wend.maps import generators as mapgen

AGENTS = 2000
TICKS = 50


def run() -> list[Row]:
    """Milliseconds per tick on a small open map and on a large one."""
    return [_row("open:width=64,height=64", mapgen.open_map(width=64, height=64)), _row(*large_map())]


def _row(name: str, grid: Grid) -> Row:
    world = World(grid, "lra")
    for point in random_points(grid, AGENTS, seed=0):
        world.add(point)

    def tick() -> None:
        for _ in range(TICKS):
            world.tick()

    ms = best_seconds({"ours": tick})["ours"] / TICKS * 1e3
    return Row(f"tick of {AGENTS} idle agents", "ms", ms, where=name, at_most=0.3)
