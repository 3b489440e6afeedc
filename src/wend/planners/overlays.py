# mypy: disallow-untyped-calls=False
"""Pictures over the map that more than one planner draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.maps.terrain import CARDINAL_COST
from wend.planners.base import Overlay
from wend.search.reverse_resumable import Reverse, write_known

DISTANCE = Overlay("how far it is to an agent's goal, in cells; NaN where not known yet", of_agent=True)
TRAFFIC = Overlay("how many moves of the plan still lead to each cell")


def draw_distances(reverse: Reverse, search: int, cells: int) -> NDArray[np.float64]:
    """DISTANCE, as far as an agent's backward search has come on a map of so many cells."""
    far = np.empty(cells, np.int64)
    write_known(reverse, search, far)
    return np.where(far >= 0, far / CARDINAL_COST, np.nan)


def draw_traffic(targets: NDArray[np.int32], cells: int) -> NDArray[np.int64]:
    """TRAFFIC, where the moves still to be made lead to these cells."""
    return np.bincount(targets, minlength=cells)
