"""What RRA* must answer: exact distances to a goal, by Dijkstra's algorithm over the whole map."""

from __future__ import annotations

import heapq

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST


def distances(grid: Grid, goal: int) -> dict[int, int]:
    """The cost of the shortest path from every cell that has one."""
    done: dict[int, int] = {}
    queue = [(0, goal)]
    while queue:
        cost, cell = heapq.heappop(queue)
        if cell in done:
            continue
        done[cell] = cost
        for direction, place in legal_steps(grid, grid.xy(cell)):
            heapq.heappush(queue, (cost + (CARDINAL_COST if direction < 4 else DIAGONAL_COST), grid.cell(*place)))
    return done
