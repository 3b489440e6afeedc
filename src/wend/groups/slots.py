"""Goal slots: many units, one destination. Each gets a place of its own around it, and ways there that do not cross.

`places` picks the cells: the nearest to the target by moves, one colour of a chessboard, and none in a doorway, so that
there is always a way through, and nobody who has arrived walls in anybody who has not. `deal` says who gets which: the
formation is carried over from where the group stands to where it will stand. Who comes first goes farthest in, who is
on the left stays on the left; a group that stands around its target closes in on it from all sides.

Ways are arrays of cells, one per unit, from where it stands to the target.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.maps.grid import Grid
from wend.maps.masks import opened
from wend.search.flood import move_distances

Cells = NDArray[np.int32]
Floats = NDArray[np.float64]

_SPARE = 64             # cells to choose from beyond four times as many as are needed
_WIDE = 4              # cells; what is narrower is a doorway
_SET_OUT_MOVES = 16     # moves of a way that say in which direction the group sets out
_ONE_SIDED = 0.5        # length of the mean of the unit vectors from the target to the units, from which on they have a
                        # front; 1 if all come from the same direction, 0 if they stand all around it


def slots_for(grid: Grid, ways: Sequence[Cells], taken: Cells) -> Cells:
    """A cell for each unit of a group whose ways lead to one target: distinct, and not taken if that can be."""
    approach = _Approach(grid, ways)
    return approach.deal(approach.places(taken))


class _Approach:
    """A group on its way: whence, and in which formation."""

    def __init__(self, grid: Grid, ways: Sequence[Cells]) -> None:
        self.grid = grid
        self.units = np.array([way[0] for way in ways], dtype=np.int32)
        self.moves = np.array([way.size - 1 for way in ways])
        self.target = int(ways[0][-1])
        self.lead = ways[int(np.argsort(self.moves, kind="stable")[self.moves.size // 2])]  # one in the middle
        self.entry = int(self.lead[max(self.lead.size - 1 - math.isqrt(2 * len(ways)) - 4, 0)])
        dx, dy = self._offsets(self.units, self.target)
        far = np.maximum(np.sqrt(dx * dx + dy * dy), 1.0)
        one_sided = math.sqrt(math.fsum(dx / far) ** 2 + math.fsum(dy / far) ** 2) / len(ways)
        self.surrounds = one_sided < _ONE_SIDED

    def places(self, taken: Cells) -> Cells:
        """As many cells around the target as there are units. Doorways, gaps and taken cells are used only if need be,
        in this order."""
        count = self.units.size
        around = move_distances(self.grid, self.target, nearest=4 * count + taken.size + _SPARE)[1]
        dx, dy = (offsets % 2 for offsets in self._offsets(around, self.target))
        gap = dx != dy if self.grid.connectivity == 8 else dx + dy > 0      # without diagonals one in four is a place
        unwanted = 4 * np.isin(around, taken) + 2 * gap + _is_in_a_doorway(self.grid, around)
        return around[np.argsort(unwanted, kind="stable")][:count]

    def deal(self, places: Cells) -> Cells:
        """Who goes where: both are lined up in ranks, front first, and each rank from one side to the other."""
        if self.surrounds:
            units = _lined_up(*self._offsets(self.units, self.target))
            chosen = _lined_up(*self._offsets(places, self.target))
        else:
            set_out = int(self.lead[min(_SET_OUT_MOVES, self.lead.size - 1)])
            units = _lined_up(self.moves, self._side(int(self.lead[0]), set_out, self.units))
            depth = move_distances(self.grid, self.entry)[0][places]
            chosen = _lined_up(-depth, self._side(self.entry, self.target, places))
        slots = np.empty_like(places)
        slots[units] = places[chosen]
        return slots

    def _offsets(self, cells: NDArray[np.integer], origin: int) -> tuple[Floats, Floats]:
        """Columns and rows from an origin to cells."""
        width = self.grid.width
        dx, dy = cells % width - origin % width, cells // width - origin // width
        return dx.astype(np.float64), dy.astype(np.float64)

    def _side(self, behind: int, ahead: int, cells: Cells) -> Floats:
        """How far to one side cells are of the line through two others."""
        forward_x, forward_y = self._offsets(np.array([ahead]), behind)
        dx, dy = self._offsets(cells, behind)
        return np.asarray(forward_x * dy - forward_y * dx)


def _is_in_a_doorway(grid: Grid, cells: Cells) -> NDArray[np.bool_]:
    """Whether cells are, or are beside, free cells that are part of no free square of _WIDE cells a side."""
    y, x = cells // grid.width, cells % grid.width
    top, left = max(int(y.min()) - _WIDE, 0), max(int(x.min()) - _WIDE, 0)
    free = grid.passable[top : int(y.max()) + _WIDE + 1, left : int(x.max()) + _WIDE + 1]
    narrow = np.pad(free & ~opened(free, _WIDE), 1)
    y, x = y - top + 1, x - left + 1
    return np.asarray(np.any([narrow[y + dy, x + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)], axis=0))


def _lined_up(depth: NDArray[Any], side: Floats) -> NDArray[np.intp]:
    """Indices by rank and file: ranks of about the root of their number by depth, each ordered by side."""
    count = depth.size
    by_depth = np.lexsort((side, depth))
    rank = np.empty(count, dtype=np.intp)
    rank[by_depth] = np.arange(count) // max(math.isqrt(count), 1)
    return np.lexsort((side, rank))
