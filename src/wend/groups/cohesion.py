"""Does a group stay together? How far it spreads over time, and whether an obstacle parts it.

Pure functions on paths, which are lists of places from start to end, such as `wend.groups.map_marker.mark_paths` and
`wend.shortest_path` give.

The separation test stands in for the eyes of the authors of "Map Marker" (E. Wicks Rivas, R. Souza), who looked at 750
pictures and counted those on which a group broke up at a large obstacle. The test is ours. An obstacle is a connected
part of the blocked cells that does not touch the edge of the map: only such a part has two sides. Whether two units
pass it on the same side is a matter of topology: go from the first unit's start to the second's, along the second's
path, and back along the first's; the walk winds around the obstacle or it does not. So for each unit the crossings of a
ray that begins in the obstacle are counted, with their signs. Units with equal counts pass on the same side.

    found = splits(grid, paths)             all obstacles that part the group, however small
    is_separated(found)                     ... large enough to matter, and for more than a single unit
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wend.errors import ParameterError
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.search.astar import shortest_path

SMALL = 2.5         # an obstacle is small for n units if it is shorter than this times sqrt(n), the side of their block
FEW = 2             # so many units on another side break a group up; a single one does not

Walk = Sequence[Point]
Steps = NDArray[np.int64]     # [steps, 4]  unit, upper row, column in that row, +1 downwards or -1 upwards


# --- spread ----------------------------------------------------------------------------------------------------------


def places_over_time(paths: Sequence[Walk]) -> NDArray[np.int64]:
    """[ticks, units, 2] the place of each unit if all make one step per tick without collisions and stay at the end."""
    ticks = max(len(path) for path in paths)
    return np.array([[path[min(tick, len(path) - 1)] for path in paths] for tick in range(ticks)])


def spread(places: ArrayLike) -> NDArray[np.float64]:
    """[ticks] the mean straight distance of the units from their common centre; `places` is [ticks, units, 2].

    >>> spread([[(0, 0), (2, 0)], [(0, 0), (0, 0)]]).tolist()
    [1.0, 0.0]
    """
    at = np.asarray(places, dtype=np.float64)
    distance: NDArray[np.float64] = np.linalg.norm(at - at.mean(axis=1, keepdims=True), axis=2)
    return np.asarray(distance.mean(axis=1))


# --- separation ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """An obstacle that parts a group."""

    place: Point        # one of its cells
    extent: int         # cells; the longer side of its bounding box
    minority: int       # units that pass it on another side than most
    units: int          # of the whole group

    @property
    def severity(self) -> float:
        """The share of the group that passes on another side, times the extent of the obstacle."""
        return self.minority / self.units * self.extent


def splits(grid: Grid, paths: Sequence[Walk]) -> list[Split]:
    """The obstacles that parts of the group pass on different sides, the most severe first."""
    if not paths or any(len(path) == 0 for path in paths):
        raise ParameterError("a group has at least one unit, and every unit a path, if only of the place it stands on")
    own = np.concatenate([_row_steps(path, unit, 1) for unit, path in enumerate(paths)])
    links = np.concatenate([
        _links(grid, [path[0] for path in paths], 1),
        _links(grid, [path[-1] for path in paths], -1),     # back from the end: in the opposite direction
    ])
    found = []
    for place, extent in _obstacles(grid):
        # A unit is reached through the links of all units before it in the list.
        sides = _crossings(own, place, len(paths)) + np.cumsum(_crossings(links, place, len(paths)))
        minority = len(paths) - max(Counter(sides.tolist()).values())
        if minority:
            found.append(Split(place, extent, minority, len(paths)))
    return sorted(found, key=lambda split: -split.severity)


def is_separated(found: Sequence[Split], *, extent: float | None = None) -> bool:
    """Whether an obstacle of at least this extent breaks the group up; by default 2.5 times the side of its block."""
    return any(
        split.extent >= (SMALL * math.sqrt(split.units) if extent is None else extent) and split.minority >= FEW
        for split in found
    )


def _obstacles(grid: Grid) -> list[tuple[Point, int]]:
    """One cell, and the longer side of the bounding box, of each part of the blocked cells that the map encloses.

    Where corners may be cut, units pass between two blocked cells that touch at a corner; elsewhere they do not.
    """
    walls = Grid(~grid.passable, connectivity=4) if grid.corner_cutting else Grid(~grid.passable, corner_cutting=True)
    labels = len(walls.component_sizes())
    cells = walls.free_cells()
    part, x, y = walls.component[cells], cells % grid.width, cells // grid.width
    low_x, low_y = np.full(labels, grid.width), np.full(labels, grid.height)
    high_x, high_y, cell = np.zeros((3, labels), dtype=np.int64)
    np.minimum.at(low_x, part, x)
    np.minimum.at(low_y, part, y)
    np.maximum.at(high_x, part, x)
    np.maximum.at(high_y, part, y)
    cell[part] = cells
    inside = (low_x > 0) & (low_y > 0) & (high_x < grid.width - 1) & (high_y < grid.height - 1)
    extent = np.maximum(high_x - low_x, high_y - low_y) + 1
    return [(grid.xy(int(cell[k])), int(extent[k])) for k in np.flatnonzero(inside)]


def _links(grid: Grid, places: Sequence[Point], sign: int) -> Steps:
    """The steps from each unit's place in this list to the next unit's; they are counted for that next unit."""
    steps = [np.empty((0, 4), dtype=np.int64)]
    for unit, (here, there) in enumerate(itertools.pairwise(places), start=1):
        if here != there:
            steps.append(_row_steps(shortest_path(grid, here, there), unit, sign))
    return np.concatenate(steps)


def _row_steps(path: Walk, unit: int, sign: int) -> Steps:
    """The steps of a path that change the row."""
    at = np.array(path, dtype=np.int64).reshape(-1, 2)
    down = np.diff(at[:, 1])
    upper = np.where(down > 0, np.arange(down.size), np.arange(down.size) + 1)
    steps: Steps = np.stack([np.full(down.size, unit), at[upper, 1], at[upper, 0], sign * down], axis=1)[down != 0]
    return steps


def _crossings(steps: Steps, place: Point, units: int) -> NDArray[np.int64]:
    """[units] how often each crosses the ray below the cells on the right of this place, downwards minus upwards."""
    on_ray = steps[(steps[:, 1] == place[1]) & (steps[:, 2] > place[0])]
    count: NDArray[np.int64] = np.zeros(units, dtype=np.int64)
    np.add.at(count, on_ray[:, 0], on_ray[:, 3])
    return count
