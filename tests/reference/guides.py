"""Guide paths with dicts and a heap: who comes where at which tick is looked up in the paths themselves."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import Point

MARGIN, PASSES, MEETING = 10, 2, 3


def meetings(others: Sequence[Sequence[Point]], here: Point, there: Point, tick: int) -> int:
    """How many units are met, in a cell or by exchanging cells, by going from here to there, to arrive at a tick."""
    met = 0
    for path in others:
        before, after = (path[min(then, len(path) - 1)] for then in (tick - 1, tick))
        met += after == there or (before == there and after == here)
    return met


def find_guide(
    grid: Grid, moves: Mapping[Point, int], start: Point, goal: Point, others: Sequence[Sequence[Point]]
) -> list[Point]:
    """The guide path of one unit among those of the others; `moves` are the distances to its goal."""
    most = moves[start] + MARGIN
    found: dict[Point, tuple[int, int, Point | None]] = {start: (0, 0, None)}       # cost, tick, the place before
    heap, closed, entries = [(moves[start], 0, start)], set[Point](), 1     # of equals the last one comes first
    while goal not in closed:
        here = heapq.heappop(heap)[2]
        if here in closed:
            continue
        closed.add(here)
        cost, tick, _ = found[here]
        for _, there in legal_steps(grid, here):
            if there in closed or tick + 1 + moves[there] > most:
                continue
            total = cost + 1 + MEETING * meetings(others, here, there, tick + 1)
            if there not in found or total < found[there][0]:
                found[there] = total, tick + 1, here
                heapq.heappush(heap, (total + moves[there], -entries, there))
                entries += 1
    path, place = [], goal
    while place is not None:
        path.append(place)
        place = found[place][2]     # type: ignore[assignment]
    return path[::-1]


def is_best(path: Sequence[Point], others: Sequence[Sequence[Point]], least: int) -> bool:
    """Whether a path has the fewest moves there are, and meets nobody."""
    steps = enumerate(pairwise(path), start=1)
    return len(path) - 1 == least and not any(meetings(others, *step, tick) for tick, step in steps)


def guide_paths(
    grid: Grid, moves: Sequence[Mapping[Point, int]], starts: Sequence[Point], goals: Sequence[Point]
) -> list[list[Point]]:
    """Guide paths for all units, the one with the longest way first."""
    paths: dict[int, list[Point]] = {}
    for _ in range(PASSES):
        for unit in sorted(range(len(starts)), key=lambda unit: -moves[unit][starts[unit]]):
            others = [path for other, path in paths.items() if other != unit]
            if unit in paths and is_best(paths[unit], others, moves[unit][starts[unit]]):
                continue
            paths[unit] = find_guide(grid, moves[unit], starts[unit], goals[unit], others)
    return [paths[unit] for unit in range(len(starts))]
