"""Slots the slow way: which cells agents leave free, and the best one near a place that is nobody's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wend import Grid

SPARE, WIDE = 64, 4


def is_gap(grid: Grid, cell: int, origin: int) -> bool:
    """Whether a cell is left free between slots, by one colour of a chessboard; or three cells in four."""
    (x, y), (origin_x, origin_y) = grid.xy(cell), grid.xy(origin)
    dx, dy = abs(x - origin_x) % 2, abs(y - origin_y) % 2
    return dx != dy if grid.connectivity == 8 else dx + dy > 0


def doorways(grid: Grid) -> np.ndarray:
    """bool[cells] the free cells that no free square of four cells a side covers, and all that are beside one."""
    free = grid.passable
    narrow, beside = free.copy(), np.zeros_like(free)
    for y in range(grid.height - WIDE + 1):
        for x in range(grid.width - WIDE + 1):
            if free[y : y + WIDE, x : x + WIDE].all():
                narrow[y : y + WIDE, x : x + WIDE] = False
    for y, x in np.argwhere(narrow):
        beside[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] = True
    return beside.ravel()


def nearest_first(grid: Grid, place: int) -> list[tuple[int, int]]:
    """All cells within reach of a place, with their moves from it, in the order of a breadth-first search."""
    moves, order = {place: 0}, [place]
    for cell in order:
        for beside in (grid.cell(*there) for there in grid.neighbours(grid.xy(cell))):
            if beside not in moves:
                moves[beside] = moves[cell] + 1
                order.append(beside)
    return [(cell, moves[cell]) for cell in order]


def best_slot(
    grid: Grid, is_doorway: np.ndarray, around: list[tuple[int, int]], origin: int, is_vacant: Callable[[int], bool],
    but: int = -1, rather: int = -1,
) -> int | None:  # fmt: skip
    """The best cell near a place: of slots, slots in doorways, gaps, and gaps in doorways, the nearest to the place.

    `around` lists the cells around it, and `is_doorway` is what `doorways` answers.
    """
    counts_doorways = not is_doorway[around[0][0]]

    def worth(cell: int, moves: int) -> tuple[int, int]:
        return 2 * is_gap(grid, cell, origin) + bool(counts_doorways and is_doorway[cell]), moves

    count = SPARE
    while True:
        looked_at = around[:count]
        vacant = [(cell, moves) for cell, moves in looked_at if cell != but and is_vacant(cell)]
        needed = 4 * (len(looked_at) - len(vacant)) + SPARE
        if len(looked_at) < count or needed <= len(looked_at):
            break
        count = 2 * needed
    if not vacant:
        return None
    best = min(vacant, key=lambda each: worth(*each))
    as_good = [cell for cell, moves in vacant if worth(cell, moves) == worth(*best)]
    return rather if rather in as_good else best[0]
