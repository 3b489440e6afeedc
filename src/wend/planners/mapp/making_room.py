"""MAPP's last resort: who stands in the way of a unit that cannot get home steps aside, lets it pass, and comes back.

A unit at home in a dead end or a tunnel keeps everybody out whose goal lies behind it: nobody can slide around it, and
as it is home it has no reason to leave. Rounds in which everybody aims at its goal never change that. `make_room` says
what to aim at in three rounds that do: the unit that is left over and those in its way go to open ground near by; it
goes to its goal; and they go back to theirs. (Ours; the paper stops where nobody gets on.)
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.planners.mapp.alternates import MISSING
from wend.planners.mapp.slidable import Paths

_CARDINAL = 0b1111


def make_room(
    grid: Grid, paths: Paths, cells: NDArray[np.int32], goals: NDArray[np.int32], obstacles: NDArray[np.int32]
) -> list[NDArray[np.int32]]:
    """What everybody is to aim at in the next rounds; nothing if nobody is in the way of a unit that is left over.

    `paths` lead from where units stand, `cells`, to their goals; `obstacles` are where others stand.
    """
    left = np.flatnonzero((cells != goals) & (goals != NO_CELL)).tolist()
    ways = {u: slice(int(paths.begin[u]), int(paths.begin[u + 1])) for u in left}
    standing = {cell: u for u, cell in enumerate(cells.tolist())}
    taken = {*standing, *goals.tolist(), *obstacles.tolist()}
    taken.update(cell for way in ways.values() for cell in paths.cell[way].tolist())
    aside, through = goals.copy(), goals.copy()
    for u, way in ways.items():
        path, around = paths.cell[way].tolist(), paths.around[way]
        narrow = [path[i] for i in range(1, len(path)) if i == 1 or around[i] == MISSING]
        blockers = [standing[cell] for cell in narrow if cell in standing]
        movers = [v for v in (u, *blockers) if aside[v] == goals[v]]
        spots = _open_ground(grid, int(cells[u]), taken, len(movers)) if blockers else []
        for v, spot in zip(movers, reversed(spots), strict=False):      # who can leave first goes farthest
            aside[v] = spot
            taken.add(spot)
        through[blockers] = aside[blockers]
    return [aside, through, goals] if (aside != goals).any() else []


def _open_ground(grid: Grid, start: int, taken: set[int], count: int) -> list[int]:
    """The nearest cells, walls on none of their four sides, that are not taken."""
    moves, offset = grid.tables.moves, grid.tables.offset
    spots: list[int] = []
    seen, queue = {start}, deque([start])
    while queue and len(spots) < count:
        cell = queue.popleft()
        if moves[cell] & _CARDINAL == _CARDINAL and cell not in taken:
            spots.append(cell)
        for d in range(4):
            beside = cell + int(offset[d])
            if moves[cell] >> d & 1 and beside not in seen:
                seen.add(beside)
                queue.append(beside)
    return spots
