"""Real-time heuristic search: moves per second, on one thread and on two that share the configurations."""

from __future__ import annotations

from benchmarks.maps import large_map, random_points
from benchmarks.measure import Row, best_seconds
from wend.kernel.threads import Threads
from wend.search.rths import Walker, random_configurations

CONFIGURATIONS = 1000
PROBLEMS = 4


def run() -> list[Row]:
    """All configurations on a few problems; setting up the problems and their shortest paths are in the time."""
    name, grid = large_map()
    points = random_points(grid, 2 * PROBLEMS, seed=1)
    problems = list(zip(points[::2], points[1::2], strict=True))
    configurations = random_configurations(CONFIGURATIONS, seed=0)
    halves = [Walker(grid, configurations[k::2]) for k in range(2)]
    moves = sum(int(half.walks(*problem)[1].moves.sum()) for half in halves for problem in problems)

    def walk(walker: Walker, *_: int) -> None:
        for start, goal in problems:
            walker.walks(start, goal)

    def one_thread() -> None:
        for half in halves:
            walk(half)

    threads = Threads(2)
    seconds = best_seconds({"one": one_thread, "two": lambda: threads.run(walk, own=halves)})
    return [
        Row(f"rths: a move of {moves / 1e6:.0f} million", "ns", seconds["one"] / moves * 1e9, where=name),
        Row("rths: the same on two threads", "ns", seconds["two"] / moves * 1e9, where=name, at_most=1000 / 15),
    ]
