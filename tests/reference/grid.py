"""The rules of movement, from the terrain alone and one cell at a time."""

from __future__ import annotations

from collections import deque

from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY, Point


def legal_steps(grid: Grid, point: Point) -> list[tuple[int, Point]]:
    """(direction, place) of every legal step from a place, in the order of the directions."""
    x, y = point
    if not grid.is_free(point):
        return []
    steps = []
    for d, (dx, dy) in enumerate(zip(DX, DY, strict=True)):
        if not grid.is_free((x + dx, y + dy)):
            continue
        if dx and dy:
            if grid.connectivity == 4:
                continue
            if not grid.corner_cutting and not (grid.is_free((x + dx, y)) and grid.is_free((x, y + dy))):
                continue
        steps.append((d, (x + dx, y + dy)))
    return steps


def component(grid: Grid, start: Point) -> frozenset[Point]:
    """Everything that can be reached from a place."""
    seen = {start}
    queue = deque([start])
    while queue:
        for _, beside in legal_steps(grid, queue.popleft()):
            if beside not in seen:
                seen.add(beside)
                queue.append(beside)
    return frozenset(seen)
