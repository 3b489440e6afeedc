# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Breadth-first search: how many moves, and so ticks, lie between places.

`move_distances` counts a diagonal as one move; `count_moves`, for kernels, is for units that go along rows and columns.
Both are loops around `spread`, the step that every flood takes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wend.kernel import UNREACHABLE, jit
from wend.maps.grid import Grid
from wend.maps.terrain import spread


@jit
def _flood(tables, distance, order, tail):
    """Go on from the first `tail` cells until `order` is full; return how many it holds. Mutates: distance, order."""
    head = 0
    while head < tail < order.size:
        tail = spread(tables, 8, distance, UNREACHABLE, distance[order[head]] + 1, order, head, tail)
        head += 1
    return tail


@jit
def count_moves(tables, far, queue, start, goal, most):
    """Count the moves to a goal along rows and columns, UNREACHABLE where there is no path. Mutates: far, queue.

    Cells that no path from the start with at most `most` moves can touch are left out. Returns how many cells were
    reached; `queue` begins with them, the nearest first.
    """
    far[:] = UNREACHABLE
    far[goal] = 0
    queue[0] = goal
    head, tail, radius = 0, 1, most
    while head < tail and far[queue[head]] < radius:
        cell = queue[head]
        if cell == start:                   # from here to a cell there are at least far[cell] - far[start] moves
            radius = (most + far[start]) >> 1
        tail = spread(tables, 4, far, UNREACHABLE, far[cell] + 1, queue, head, tail)
        head += 1
    return tail


def move_distances(
    grid: Grid, sources: ArrayLike, *, nearest: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The number of moves from the source cells to every cell, UNREACHABLE where there is no way, and the cells reached
    in the order of that number. With `nearest`, only that many cells are reached."""
    begin = np.atleast_1d(np.asarray(sources, dtype=np.int32))
    distance = np.full(grid.size, UNREACHABLE, dtype=np.int32)
    limit = grid.size if nearest is None else min(nearest, grid.size)
    order = np.empty(max(limit, begin.size), dtype=np.int32)
    distance[begin] = 0
    order[: begin.size] = begin
    reached = _flood(grid.tables, distance, order, begin.size)
    return distance, order[:reached]
