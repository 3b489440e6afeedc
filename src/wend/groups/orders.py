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
from typing import NamedTuple, Protocol

import numpy as np

from wend.errors import UnknownNameError
from wend.groups.map_marker import Marker
from wend.groups.routes import NO_PATH, REACH, Cells
from wend.kernel import OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import allow, spent
from wend.kernel.arrays import copied
from wend.kernel.pages import across_and_down
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
    search = search_for(grid, starts, target, mode)
    search.run(starts, NO_LIMIT)
    return search.paths(starts)


def shortened(grid: Grid, path: Cells, slot: int) -> Cells:
    """A path to the target without its end: by the whole of it, an agent would walk back to a slot on the near side."""
    (x, y), (slot_x, slot_y) = grid.xy(int(path[-1])), grid.xy(slot)
    return path[: max(path.size - max(abs(x - slot_x), abs(y - slot_y)) - REACH, 0)]


class PathSearch(Protocol):
    """The search for the paths of a group, which can stop after any expansion and go on from there.

    The agents may have moved on when it is done. It is told where they are now, in the order in which it got their
    starts. The paths are those of the map as it was at the beginning; what has become of it is not its business.
    """

    @property
    def is_done(self) -> bool:
        """Whether the paths of all agents are known."""

    def run(self, cells: Sequence[int], limit: int) -> int:
        """Expand up to so many nodes; return how many were expanded."""

    def paths(self, cells: Sequence[int]) -> list[Cells]:
        """The paths of all agents, from these cells on or from near them, or NO_PATH, each with the target."""

    def end(self) -> None:
        """No agent waits for a path any more: what the search works with is free for the next one."""


def search_for(grid: Grid, starts: Sequence[int], target: int, mode: str) -> PathSearch:
    """The search for paths from these cells to a target within their reach."""
    return ShortestPaths(grid, starts, target) if mode == MOVE else CohesivePaths(grid, starts, target)


class ShortestPaths:
    """One search backwards from the target for all agents together."""

    def __init__(self, grid: Grid, starts: Sequence[int], target: int) -> None:
        self._tables = copied(grid.tables)
        across, down = across_and_down(grid.width, grid.height)
        self._reverse = make_reverse(grid, searches=1, pages=across * down + 16, entries=grid.size)
        self.is_done = False
        begin(self._reverse, 0, target, starts[0])

    def run(self, cells: Sequence[int], limit: int) -> int:
        """Expand up to so many nodes; return how many were expanded."""
        before = spent(self._reverse.allowance)
        allow(self._reverse.allowance, limit)
        self.is_done = all(self._distance(cell) != OUT_OF_BUDGET for cell in cells)
        allow(self._reverse.allowance, 0)
        return spent(self._reverse.allowance) - before

    def _distance(self, cell: int) -> int:
        while (left := distance(self._tables, self._reverse, 0, cell)) == OUT_OF_SPACE:
            self._reverse = with_space(self._reverse)
        return int(left)

    def paths(self, cells: Sequence[int]) -> list[Cells]:
        """The shortest paths from these cells."""
        return [self._path(cell) for cell in cells]

    def end(self) -> None:
        """No agent waits for a path any more. All that it works with is its own."""

    def _path(self, cell: int) -> Cells:
        left = self._distance(cell)
        if left == UNREACHABLE:         # there was a wall
            return NO_PATH
        path = np.empty(left // CARDINAL_COST + 1, dtype=np.int32)
        return path[: _follow(self._tables, self._reverse, cell, path)]


class CohesivePaths:
    """Map Marker's search."""

    def __init__(self, grid: Grid, starts: Sequence[int], target: int) -> None:
        self._width = grid.width
        self._marker = Marker(grid, starts, target)

    @property
    def is_done(self) -> bool:
        """Whether the paths of all agents are known."""
        return self._marker.is_done

    def run(self, cells: Sequence[int], limit: int) -> int:
        """Expand up to so many nodes; return how many were expanded."""
        return self._marker.run(limit)

    def paths(self, cells: Sequence[int]) -> list[Cells]:
        """The paths from the agents' starts, without what lies behind the agents by now."""
        return [self._rest(path, cell) for (path, _), cell in zip(self._marker.found, cells, strict=True)]

    def end(self) -> None:
        """No agent waits for a path any more: the workspace is free for the next search."""
        self._marker.end()

    def _rest(self, path: Cells, here: int) -> Cells:
        """A path from its last cell on of those that are nearest to an agent."""
        far = (path % self._width - here % self._width) ** 2 + (path // self._width - here // self._width) ** 2
        return path[path.size - 1 - int(far[::-1].argmin()) :]


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
