# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Orders: what a program may ask of agents, and the paths that a group order is planned along.

E. Wicks Rivas, R. Souza: Map Marker: a Multi-Agent Pathfinder for Cohesive Groups in Real-Time Strategy Games, section
V.C, proposes the two modes of a group order: `move` for speed, where every path is shortest, and `attack_move` for
cohesion, where Map Marker draws the paths together (groups/map_marker.py).

The paths ignore collisions; it is the planner's part to avoid them. groups/slots.py deals the slots around the target,
groups/routes.py makes waypoints of the paths.

Deviations
- The paper's units all go to one point; here every agent has a slot, and its path ends before the target.
- `move` is A* in the paper. Here one search from the target finds the shortest paths of all agents; which of several
  equally short ones an agent takes may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wend.errors import UnknownNameError
from wend.groups.map_marker import mark_paths
from wend.groups.routes import NO_PATH, REACH, Cells
from wend.kernel import OUT_OF_SPACE, jit
from wend.kernel.allowance import allow
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.search.astar import NO_LIMIT
from wend.search.reverse_resumable import begin, distance, make_reverse, with_space

MOVE, ATTACK_MOVE = "move", "attack_move"
MODES = (MOVE, ATTACK_MOVE)


@dataclass(frozen=True)
class Order:
    """The answer to an order: where the agent will go. docs/decisions/011-shared-goals.md says why."""

    agent: int
    asked: Point        # the place that the order named
    nearest: Point      # that place, or the nearest to it that the agent can reach
    goal: Point         # where the agent goes: there, or to a slot near it if that place is another agent's

    @property
    def reachable(self) -> bool:
        """Whether a path leads to the place that was asked for."""
        return self.asked == self.nearest

    @property
    def shared(self) -> bool:
        """Whether the agent got a slot, because another agent has the place."""
        return self.nearest != self.goal


class Errand(NamedTuple):
    """Where an agent is to be sent, in cells."""

    agent: int
    asked: int              # the cell that the order named
    nearest: int            # that cell, or the nearest to it within reach
    goal: int               # that cell, or a slot near it
    path: Cells | None = NO_PATH    # the path that its waypoints are on; None: it keeps those that it has


@dataclass(frozen=True)
class GroupOrder:
    """An order that a group is under."""

    agents: frozenset[int]
    target: Point
    mode: str = MOVE

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownNameError("mode of a group order", self.mode, MODES)


def paths_to(grid: Grid, starts: Sequence[int], target: int, mode: str) -> list[Cells]:
    """A path from each of these cells to the target, both ends included."""
    if mode == MOVE:
        return _shortest_paths(grid, starts, target)
    paths = mark_paths(grid, [grid.xy(cell) for cell in starts], grid.xy(target))
    return [np.array([grid.cell(*point) for point in path], dtype=np.int32) for path in paths]


def shortened(grid: Grid, path: Cells, slot: int) -> Cells:
    """A path to the target without its end: by the whole of it, an agent would walk back to a slot on the near side."""
    (x, y), (slot_x, slot_y) = grid.xy(int(path[-1])), grid.xy(slot)
    return path[: max(path.size - max(abs(x - slot_x), abs(y - slot_y)) - REACH, 0)]


def _shortest_paths(grid: Grid, starts: Sequence[int], target: int) -> list[Cells]:
    """Shortest paths, found by one search backwards from the target for all agents together."""
    reverse = make_reverse(grid.size, searches=1)
    begin(reverse, 0, target, starts[0])
    allow(reverse.allowance, NO_LIMIT)
    paths = []
    for start in starts:
        while (left := distance(grid.tables, reverse, 0, start)) == OUT_OF_SPACE:
            reverse = with_space(reverse)
        paths.append(np.empty(left // CARDINAL_COST + 1, dtype=np.int32))
    allow(reverse.allowance, 0)
    return [path[: _follow(grid.tables, reverse, start, path)] for start, path in zip(starts, paths, strict=True)]


@jit
def _follow(tables, reverse, cell, path):
    """Write the path from a cell that the search has closed to its goal; return the number of cells. Mutates: path."""
    path[0] = cell
    length = 1
    left = distance(tables, reverse, 0, cell)
    while left > 0:
        for d in range(8):
            if tables.moves[cell] >> d & 1:
                cost = CARDINAL_COST if d < 4 else DIAGONAL_COST
                if distance(tables, reverse, 0, cell + tables.offset[d]) == left - cost:
                    cell += tables.offset[d]
                    left -= cost
                    break
        path[length] = cell
        length += 1
    return length
