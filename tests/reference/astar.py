"""A* as printed: an open list of tuples (f, h, order, cell), nodes in dicts."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST

Heuristic = Callable[[int], int]


def empty_map_cost(grid: Grid, a: int, b: int) -> int:
    """What the way from cell to cell would cost without walls."""
    (ax, ay), (bx, by) = grid.xy(a), grid.xy(b)
    dx, dy = abs(ax - bx), abs(ay - by)
    if grid.connectivity == 4:
        return (dx + dy) * CARDINAL_COST
    return (max(dx, dy) - min(dx, dy)) * CARDINAL_COST + min(dx, dy) * DIAGONAL_COST


def astar(
    grid: Grid, start: int, goal: int, *, forbidden: Collection[int] = (), heuristic: Heuristic | None = None
) -> tuple[list[int] | None, int]:
    """The directions of a path, or None, and the number of nodes expanded."""
    estimate = heuristic or (lambda cell: empty_map_cost(grid, cell, goal))
    if goal in forbidden:
        return None, 0
    g = {start: 0}
    order = {start: 0}
    parent: dict[int, tuple[int, int]] = {}
    closed = set(forbidden)
    queue = [(0, 0, 0, start)]
    expanded = 0
    while queue:
        _, _, _, cell = heapq.heappop(queue)
        if cell == goal:
            steps = []
            while cell != start:
                cell, direction = parent[cell]
                steps.append(direction)
            return steps[::-1], expanded
        if cell in closed:
            continue
        closed.add(cell)
        expanded += 1
        for direction, point in legal_steps(grid, grid.xy(cell)):
            beside = grid.cell(*point)
            cost = g[cell] + (CARDINAL_COST if direction < 4 else DIAGONAL_COST)
            if beside in closed or (beside in g and cost >= g[beside]):
                continue
            order.setdefault(beside, len(order))
            g[beside] = cost
            parent[beside] = cell, direction
            h = estimate(beside)
            heapq.heappush(queue, (cost + h, h, order[beside], beside))
    return None, expanded
