# mypy: disallow-untyped-calls=False
"""MAPP's last resort: units in the way of one that cannot get home step aside, let it pass, and come back.

A unit at home in a dead end or a tunnel keeps out all units whose goals lie behind it: none can slide around it, and as
it is home it has no reason to leave. Rounds in which all units aim at their goals never change that. `make_room` says
what to aim at in three rounds that do: the unit that is left over and those in its way go to open ground near by; it
goes to its goal; and they go back to theirs. (Ours; the paper stops where no unit gets on.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL, UNREACHABLE
from wend.maps.grid import Grid
from wend.planners.mapp.slidable import Instance, UnitPaths
from wend.search.flood import count_moves

_CARDINAL = 0b1111
_ANYWHERE = 2**30       # moves: all cells are near enough


def make_room(grid: Grid, paths: UnitPaths, instance: Instance) -> list[NDArray[np.int32]]:
    """What all units are to aim at in the next rounds; nothing if no unit is in the way of one that is left over.

    `paths` lead from where units stand, `instance.starts`, to their goals.
    """
    cells, goals, obstacles = instance
    left = np.flatnonzero((cells != goals) & (goals != NO_CELL)).tolist()
    parts = {u: slice(int(paths.begin[u]), int(paths.begin[u + 1])) for u in left}
    standing = {cell: u for u, cell in enumerate(cells.tolist())}
    taken = {*standing, *goals.tolist(), *obstacles.tolist()}
    taken.update(cell for part in parts.values() for cell in paths.cell[part].tolist())
    aside, through = goals.copy(), goals.copy()
    for u, part in parts.items():
        path, around = paths.cell[part].tolist(), paths.around[part]
        narrow = [path[i] for i in range(1, len(path)) if i == 1 or around[i] == UNREACHABLE]
        blockers = [standing[cell] for cell in narrow if cell in standing]
        movers = [v for v in (u, *blockers) if aside[v] == goals[v]]
        spots = _open_ground(grid, int(cells[u]), taken, len(movers)) if blockers else []
        for v, spot in zip(movers, reversed(spots), strict=False):      # the unit that can leave first goes farthest
            aside[v] = spot
            taken.add(spot)
        through[blockers] = aside[blockers]
    return [aside, through, goals] if (aside != goals).any() else []


def rehearse(grid: Grid) -> None:
    """Call the kernel once: whether a small game has a unit that is left over depends on its orders."""
    _open_ground(grid, int(grid.free_cells()[0]), set(), 1)


def _open_ground(grid: Grid, start: int, taken: set[int], count: int) -> list[int]:
    """The nearest cells, walls on none of their four sides, that are not taken."""
    far, nearest = np.empty(grid.size, np.int32), np.empty(grid.size, np.int32)
    reached = nearest[: count_moves(grid.tables, far, nearest, start, start, _ANYWHERE)]
    open_cells = reached[grid.tables.moves[reached] & _CARDINAL == _CARDINAL].tolist()
    return [cell for cell in open_cells if cell not in taken][:count]
