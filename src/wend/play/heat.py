"""Heat: pictures over the map that any world can show, whatever its planner: where units are many, where they wait.

They are shown beside the planner's own overlays, in the same way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL
from wend.planners.base import Overlay
from wend.world.world import World

REACH = 2               # cells to each side that count for the density
_FADES = 0.98           # what is left of a wait after a tick
_HEAVIEST = 1e30        # no wait is entered with more

OVERLAYS = {
    "density": Overlay(f"how many units are within {REACH} cells"),
    "waiting": Overlay("how long units have waited on each cell of late, in ticks: the jams"),
}


class Heat:
    """What one world has to show of its units."""

    def __init__(self, cells: int) -> None:
        self._waits = np.zeros(cells)
        self._weight = 1.0          # of a tick of waiting now; older ones weigh less by comparison

    def note(self, width: int, places: NDArray[np.int32]) -> None:
        """A tick was made in which units waited at these places, on a map so wide."""
        self._weight /= _FADES
        if self._weight > _HEAVIEST:
            self._waits /= self._weight
            self._weight = 1.0
        self._waits[places[:, 1] * width + places[:, 0]] += self._weight       # no two units are on one cell

    def draw(self, name: str, world: World) -> NDArray[np.float64]:
        """One of OVERLAYS."""
        if name == "waiting":
            return self._waits / self._weight
        cell = world.state.agents.cell
        there = np.bincount(cell[cell != NO_CELL], minlength=world.grid.size).reshape(world.grid.height, -1)
        return box_sums(there, REACH).ravel().astype(np.float64)


def box_sums(values: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """The sum of the values in the square around each place, `reach` to each side, as far as it is on the map."""
    for axis in (0, 1):
        sums = np.cumsum(values, axis=axis)
        ends = np.minimum(np.arange(values.shape[axis]) + reach, values.shape[axis] - 1)
        begins = np.arange(values.shape[axis]) - reach - 1
        before = np.take(sums, np.maximum(begins, 0), axis=axis)
        shape = [1, 1]
        shape[axis] = -1
        values = np.take(sums, ends, axis=axis) - before * (begins >= 0).reshape(shape)
    return values
