"""Units: the agents that a planner may move in this tick. To a plan for all of them, the other agents are walls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL
from wend.planners.base import Agents


def are_posted(agents: Agents) -> NDArray[np.bool_]:
    """Which agents are pinned at home, and stay there."""
    return np.asarray(agents.pinned & (agents.cell == agents.goal))


def are_units(agents: Agents) -> NDArray[np.bool_]:
    """Which agents are units: those on the map that the planner moves and that are not pinned at home."""
    return np.asarray((agents.cell != NO_CELL) & agents.controlled & ~are_posted(agents))


def find_units(agents: Agents) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The units, and the cells of all other agents."""
    is_unit = are_units(agents)
    return np.flatnonzero(is_unit).astype(np.int32), agents.cell[~is_unit & (agents.cell != NO_CELL)]
