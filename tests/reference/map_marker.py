"""Map Marker as printed (Algorithms 1 to 3): markers and nodes in dicts, an open list of tuples (total, order, cell).

A node is (re-)opened only if its total becomes smaller, and a factor of 1 changes no marker, as in the kernel.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point


def map_marker(
    grid: Grid, starts: Sequence[Point], target: Point, factor: float, cap: float
) -> tuple[list[list[Point]], list[int], dict[Point, float]]:
    """Algorithm 1: the paths and the numbers of nodes expanded, in the order of the starts; and the markers left."""
    marker: dict[Point, float] = {}
    paths: dict[int, list[Point]] = {}
    expansions: dict[int, int] = {}
    for agent in sorted(range(len(starts)), key=lambda k: math.dist(starts[k], target)):
        paths[agent], expansions[agent] = pathfinder(grid, starts[agent], target, marker)
        if factor < 1:
            update_nodes(grid, paths[agent], factor, cap, marker)
    agents = range(len(starts))
    return [paths[agent] for agent in agents], [expansions[agent] for agent in agents], marker


def pathfinder(grid: Grid, start: Point, target: Point, marker: dict[Point, float]) -> tuple[list[Point], int]:
    """Algorithm 2."""
    g = {start: 0}
    total = {start: 0}
    parent: dict[Point, Point] = {}
    closed: set[Point] = set()
    queue = [(0, 0, start)]
    pushed, expanded = 1, 0
    while queue:
        its_total, _, here = heapq.heappop(queue)
        if here == target:
            path = [target]
            while path[-1] != start:
                path.append(parent[path[-1]])
            return path[::-1], expanded
        if here in closed or its_total != total[here]:
            continue
        closed.add(here)
        expanded += 1
        for direction, beside in reversed(legal_steps(grid, here)):
            cost = g[here] + (CARDINAL_COST if direction < 4 else DIAGONAL_COST)
            h = math.sqrt((beside[0] - target[0]) ** 2 + (beside[1] - target[1]) ** 2) * CARDINAL_COST
            its_total = int((cost + h) * marker.get(beside, 1.0))
            if beside in total and total[beside] <= its_total:
                continue
            parent[beside] = here
            g[beside] = cost
            total[beside] = its_total
            closed.discard(beside)
            heapq.heappush(queue, (its_total, pushed, beside))
            pushed += 1
    raise AssertionError("failure")


def update_nodes(grid: Grid, path: list[Point], factor: float, cap: float, marker: dict[Point, float]) -> None:
    """Algorithm 3."""
    neighbours = {(x + dx, y + dy) for x, y in path for dx in (-1, 0, 1) for dy in (-1, 0, 1)} - set(path)
    for point in path:
        marker[point] = max(marker.get(point, 1.0) * factor, cap)
    for x, y in neighbours:
        if 0 <= x < grid.width and 0 <= y < grid.height:
            marker[x, y] = max(marker.get((x, y), 1.0) * (factor + 0.02), cap)
