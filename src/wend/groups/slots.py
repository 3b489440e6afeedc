# mypy: disallow-untyped-calls=False
"""Slots: many agents, one target. Each agent gets a place of its own near the target, so that paths hardly cross.

`_choose` picks the cells: the nearest to the target by moves, one colour of a chessboard, and none in a doorway, so
that a passage stays open and agents that have arrived do not wall in those that have not. `deal` says which agent gets
which: the group keeps its formation. The first to come goes farthest in, those on the left stay on the left; a group
that stands around its target closes in on it from all sides.

Paths are arrays of cells, one per agent, from where it stands to the target.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.groups.routes import Cells
from wend.groups.surroundings import SPARE, floor_of, kinds_of
from wend.maps.grid import Grid
from wend.search.flood import move_distances

Floats = NDArray[np.float64]

_SET_OUT_MOVES = 16     # moves of a path that say in which direction the group sets out
_ONE_SIDED = 0.5        # A group has a front if the mean of the unit vectors from the target to its agents is at least
                        # this long: 1 if all come from the same direction, 0 if they stand all around the target


def slots_for(grid: Grid, paths: Sequence[Cells], taken: Cells, origin: int | None = None) -> Cells:
    """A slot for each agent of a group whose paths lead to one target: all distinct, and not taken where possible.

    The chessboard begins at the target, or at an `origin`.
    """
    approach = _Approach(grid, paths)
    return approach.deal(_choose(grid, approach.target, len(paths), taken, origin))


def slots_around(grid: Grid, starts: Cells, target: int, taken: Cells, origin: int | None = None) -> Cells:
    """The same before any path is known: agents stay on the side of the target on which they stand."""
    chosen = _choose(grid, target, starts.size, taken, origin)
    return _dealt(_lined_up(*_offsets(grid, starts, target)), chosen, _lined_up(*_offsets(grid, chosen, target)))


def _choose(grid: Grid, target: int, count: int, taken: Cells, origin: int | None) -> Cells:
    """So many cells around a target. Where others are too few, cells in doorways are used, then gaps of the chessboard,
    then taken cells."""
    around = move_distances(grid, target, nearest=4 * count + taken.size + SPARE)[1]
    kinds = np.empty(around.size, np.int32)
    kinds_of(floor_of(grid), around, target if origin is None else origin, kinds)
    return np.asarray(around[np.argsort(4 * np.isin(around, taken) + kinds, kind="stable")][:count])


def _dealt(agents: NDArray[np.intp], chosen: Cells, cells: NDArray[np.intp]) -> Cells:
    """The slot of each agent, where agents and chosen cells are both lined up."""
    slots = np.empty_like(chosen)
    slots[agents] = chosen[cells]
    return slots


class _Approach:
    """How a group comes to its target: from where, and in which formation."""

    def __init__(self, grid: Grid, paths: Sequence[Cells]) -> None:
        self.grid = grid
        self.starts = np.array([path[0] for path in paths], dtype=np.int32)
        self.moves = np.array([path.size - 1 for path in paths])
        self.target = int(paths[0][-1])
        self.lead = paths[int(np.argsort(self.moves, kind="stable")[self.moves.size // 2])]     # of median length
        self.entry = int(self.lead[max(self.lead.size - 1 - math.isqrt(2 * len(paths)) - 4, 0)])
        dx, dy = self._offsets(self.starts, self.target)
        far = np.maximum(np.sqrt(dx * dx + dy * dy), 1.0)
        one_sided = math.sqrt(math.fsum(dx / far) ** 2 + math.fsum(dy / far) ** 2) / len(paths)
        self.surrounds = one_sided < _ONE_SIDED

    def deal(self, chosen: Cells) -> Cells:
        """The slot of each agent: agents and chosen cells are both lined up in ranks, front first, side by side."""
        if self.surrounds:
            agents = _lined_up(*self._offsets(self.starts, self.target))
            cells = _lined_up(*self._offsets(chosen, self.target))
        else:
            set_out = int(self.lead[min(_SET_OUT_MOVES, self.lead.size - 1)])
            agents = _lined_up(self.moves, self._side(int(self.lead[0]), set_out, self.starts))
            depth = move_distances(self.grid, self.entry)[0][chosen]
            cells = _lined_up(-depth, self._side(self.entry, self.target, chosen))
        return _dealt(agents, chosen, cells)

    def _offsets(self, cells: NDArray[np.integer], origin: int) -> tuple[Floats, Floats]:
        """Columns and rows from an origin to cells."""
        dx, dy = _offsets(self.grid, cells, origin)
        return dx.astype(np.float64), dy.astype(np.float64)

    def _side(self, behind: int, ahead: int, cells: Cells) -> Floats:
        """How far cells are to one side of the line through two others."""
        forward_x, forward_y = self._offsets(np.array([ahead]), behind)
        dx, dy = self._offsets(cells, behind)
        return np.asarray(forward_x * dy - forward_y * dx)


def _offsets(grid: Grid, cells: NDArray[Any], origin: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Columns and rows from an origin to cells."""
    return cells % grid.width - origin % grid.width, cells // grid.width - origin // grid.width


def _lined_up(depth: NDArray[Any], side: NDArray[Any]) -> NDArray[np.intp]:
    """Indices by rank and file: by depth into about as many ranks as each has members, and each rank by side."""
    count = depth.size
    by_depth = np.lexsort((side, depth))
    rank = np.empty(count, dtype=np.intp)
    rank[by_depth] = np.arange(count) // max(math.isqrt(count), 1)
    return np.lexsort((side, rank))
