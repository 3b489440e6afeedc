# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Routes: where each agent of a world was sent, and the waypoints on its path there.

A planner sees one waypoint at a time, as the agent's goal. An agent that has come near a waypoint heads for the next,
or for a later one that is nearer; after the last one it heads for its goal. docs/decisions/004-waypoints.md says why.

Work per tick: O(agents that have waypoints ahead). An edit of the map: O(cells ahead on their paths).

Deviations from Map Marker's units (groups/map_marker.py)
- They pass every point of their paths, and go back for those that they missed. Here every SPACING-th cell of a path is
  a waypoint, and a later one that is nearer will do.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.journal import Journal
from wend.kernel import NO_CELL, jit
from wend.kernel.arrays import ahead, allocate, flags, grown, int32, renew
from wend.maps.terrain import GridTables
from wend.planners.base import Agents

Cells = NDArray[np.int32]

SPACING = 12        # moves along a path from one waypoint to the next
REACH = 3           # cells; an agent this near to a waypoint, and in sight of it, heads for the next
LOOK_AHEAD = 4      # waypoints that are considered, the next one included

NO_PATH: Cells = np.zeros(0, dtype=np.int32)

_DIRECTION = np.array([[7, 0, 4], [3, 8, 1], [6, 2, 5]])    # [dy + 1, dx + 1] -> direction, 8 for none


class Errands(NamedTuple):
    """Where each agent was sent, with spare rows for agents to come."""

    asked: Annotated[np.ndarray, int32("agents")]           # the cell that the last order named
    nearest: Annotated[np.ndarray, int32("agents")]         # that cell, or the nearest to it within the agent's reach
    goal: Annotated[np.ndarray, int32("agents")]            # where the agent wants to be in the end: there, or a slot
    been_home: Annotated[np.ndarray, flags("agents")]       # it has reached its goal since it got it
    path: Annotated[np.ndarray, int32("agents", "cells")]   # its path; every SPACING-th cell is a waypoint
    length: Annotated[np.ndarray, int32("agents")]          # cells of its path; 0: none, or past the last waypoint
    waypoint: Annotated[np.ndarray, int32("agents")]        # index, on the path, of the waypoint that it heads for
    found: Annotated[np.ndarray, int32("agents")]           # scratch: the agents that a kernel found


class Routes:
    """The errands of a world's agents."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._errands = allocate(Errands, agents=0, cells=0)
        self._agents = 0

    @property
    def errands(self) -> Errands:
        """All errands, with spare rows: what kernels are given. It is replaced when there are more agents."""
        return self._errands

    @property
    def asked(self) -> Cells:
        """int32[agents] the cell that the last order to each agent named."""
        asked: Cells = self._errands.asked[: self._agents]
        return asked

    @property
    def nearest(self) -> Cells:
        """int32[agents] that cell, or the nearest to it that the agent can reach."""
        nearest: Cells = self._errands.nearest[: self._agents]
        return nearest

    @property
    def goal(self) -> Cells:
        """int32[agents] the cell where each agent wants to be in the end."""
        goal: Cells = self._errands.goal[: self._agents]
        return goal

    @property
    def been_home(self) -> NDArray[np.bool_]:
        """bool[agents] whether each agent has reached its goal since it got it."""
        been_home: NDArray[np.bool_] = self._errands.been_home[: self._agents]
        return been_home

    def errand_of(self, agent: int) -> tuple[int, int, int]:
        """The cell that the last order to an agent named, the nearest to it within reach, and the agent's goal."""
        errands = self._errands
        return errands.asked.item(agent), errands.nearest.item(agent), errands.goal.item(agent)

    def waypoints(self, agent: int) -> list[int]:
        """The waypoints that an agent has still to pass, as cells."""
        errands, length = self._errands, self._errands.length.item(agent)
        cells: list[int] = errands.path[agent, errands.waypoint[agent] : length : SPACING].tolist() if length else []
        return cells

    def have_waypoints(self, agents: Cells) -> NDArray[np.bool_]:
        """Whether each of these agents has waypoints still to pass."""
        return np.asarray(self._errands.length[agents] > 0)

    def add_agent(self, agent: int) -> None:
        """An agent has come, with an index that is the next one, or that of an agent that has left."""
        self._journal.keep_attribute(self, "_agents")
        if agent == self._errands.goal.size:
            self._journal.keep_attribute(self, "_errands")
            self._errands = grown(self._errands, agents=ahead(agent, agent + 1))
        renew(self._errands, agent, self._journal, is_spare=agent == self._agents)
        self._agents = max(self._agents, agent + 1)

    def add_all(self, cells: Cells, goals: Cells) -> None:
        """The first agents of all have come, who stand on these cells and are sent to these goals."""
        for name in ("_agents", "_errands"):
            self._journal.keep_attribute(self, name)
        self._agents = goals.size
        self._errands = grown(self._errands, agents=ahead(0, goals.size))
        for sent_to in (self.asked, self.nearest, self.goal):
            sent_to[:] = goals
        self.been_home[:] = cells == goals
        self._errands.waypoint[: self._agents] = SPACING

    def aim(self, agent: int, asked: int, nearest: int, goal: int, path: Cells | None) -> int:
        """Send an agent to a goal along a path, which counts only if it has a waypoint; return where it heads first.

        Without a path (None) it keeps the waypoints that it has.
        """
        if path is not None and path.size > self._errands.path.shape[1]:
            self._journal.keep_attribute(self, "_errands")
            self._errands = grown(self._errands, cells=ahead(self._errands.path.shape[1], path.size))
        errands = self._errands
        self._journal.on_failure(_put_back, errands, agent, *(value.item(agent) for value in errands[:4]))
        if path is not None:
            former = errands.path[agent, : max(path.size, errands.length[agent])].copy()
            length, waypoint = errands.length.item(agent), errands.waypoint.item(agent)
            self._journal.on_failure(_put_path_back, errands, agent, former, length, waypoint)
        if goal != errands.goal[agent]:
            errands.been_home[agent] = False
        errands.asked[agent], errands.nearest[agent], errands.goal[agent] = asked, nearest, goal
        if path is not None:
            errands.path[agent, : path.size] = path
            errands.length[agent] = path.size if path.size > SPACING else 0
            errands.waypoint[agent] = SPACING
        return int(errands.path[agent, errands.waypoint[agent]]) if errands.length[agent] else goal

    def aim_all(
        self, agents: Cells, asked: Cells, nearest: Cells, goals: Cells, *, keeps_waypoints: bool
    ) -> Cells:
        """Send agents to goals without paths, or by the waypoints that they have; return where they head first."""
        errands = self._errands
        changed = (errands.asked, errands.nearest, errands.goal, errands.been_home)
        for array in changed if keeps_waypoints else (*changed, errands.length, errands.waypoint):
            self._journal.keep(array, agents)
        errands.been_home[agents] &= errands.goal[agents] == goals
        errands.asked[agents], errands.nearest[agents], errands.goal[agents] = asked, nearest, goals
        if not keeps_waypoints:
            errands.length[agents], errands.waypoint[agents] = 0, SPACING
            return goals
        has_waypoint = errands.length[agents] > 0
        heading = goals.copy()
        on_their_way = agents[has_waypoint]
        heading[has_waypoint] = errands.path[on_their_way, errands.waypoint[on_their_way]]
        return heading

    def advance(self, tables: GridTables, agents: Agents) -> list[int]:
        """Let agents that have come to a waypoint head for the next; return these agents. Mutates: agents.goal.

        A pinned agent that stands on its goal has no more waypoints: it must not leave.
        """
        for array in (agents.goal, self._errands.waypoint, self._errands.length):
            self._journal.keep(array)
        count = _advance(tables, agents, self._errands)
        found: list[int] = self._errands.found[:count].tolist()
        return found

    def cut(self, tables: GridTables, agents: Agents) -> list[int]:
        """The agents whose paths, from the waypoint behind them on, can no longer be walked."""
        count = _find_cut(tables, agents.cell, self._errands)
        found: list[int] = self._errands.found[:count].tolist()
        return found


def _put_back(errands: Errands, agent: int, asked: int, nearest: int, goal: int, been_home: bool) -> None:
    """Send an agent to where it was sent before. Mutates: errands."""
    errands.asked[agent], errands.nearest[agent], errands.goal[agent] = asked, nearest, goal
    errands.been_home[agent] = been_home


def _put_path_back(errands: Errands, agent: int, path: Cells, length: int, waypoint: int) -> None:
    """Let an agent have the path that it had. Mutates: errands."""
    errands.path[agent, : path.size], errands.length[agent], errands.waypoint[agent] = path, length, waypoint


@jit
def _moves_between(width, a, b):
    """Moves between two cells if nothing is in the way."""
    return max(abs(a % width - b % width), abs(a // width - b // width))


@jit
def in_sight(tables, here, there):
    """Whether walking straight at a cell leads there: diagonally while that brings it nearer both ways."""
    width = tables.width
    while here != there:
        dx = min(max(there % width - here % width, -1), 1)
        dy = min(max(there // width - here // width, -1), 1)
        if tables.moves[here] >> _DIRECTION[dy + 1, dx + 1] & 1:
            here += dy * width + dx
        elif dx != 0 and dy != 0 and tables.moves[here] >> _DIRECTION[1, dx + 1] & 1:
            here += dx
        elif dx != 0 and dy != 0 and tables.moves[here] >> _DIRECTION[dy + 1, 1] & 1:
            here += dy * width
        else:
            return False
    return True


@jit
def _advance(tables, agents, errands):
    """Let agents that have come to a waypoint head for the next; return how many did, and list them in `found`.

    An agent that is nearer to a later waypoint than to its own, and sees it, heads for that one.
    Mutates: agents.goal, errands.
    """
    heading = agents.goal
    count = 0
    for agent in range(agents.cell.size):
        length, due, here = errands.length[agent], errands.waypoint[agent], agents.cell[agent]
        if length == 0 or here == NO_CELL:
            continue
        if agents.pinned[agent] and here == errands.goal[agent]:
            heading[agent] = here
            errands.length[agent] = 0
            errands.found[count] = agent
            count += 1
            continue
        near = _moves_between(tables.width, here, errands.path[agent, due])
        for k in range(LOOK_AHEAD - 1, -1, -1):
            later = due + k * SPACING
            if later >= length:
                continue
            waypoint = errands.path[agent, later]
            moves = _moves_between(tables.width, here, waypoint)
            if (moves <= REACH or moves < near) and in_sight(tables, here, waypoint):
                errands.waypoint[agent] = later + SPACING if moves <= REACH else later
                break
        if errands.waypoint[agent] == due:
            continue
        if errands.waypoint[agent] < length:
            heading[agent] = errands.path[agent, errands.waypoint[agent]]
        else:
            heading[agent] = errands.goal[agent]
            errands.length[agent] = 0
        errands.found[count] = agent
        count += 1
    return count


@jit
def _find_cut(tables, cell, errands):
    """Find the agents whose paths, from the waypoint behind them on, can no longer be walked; return how many.

    Mutates: errands, whose `found` then lists them.
    """
    count = 0
    for agent in range(cell.size):
        if errands.length[agent] == 0 or cell[agent] == NO_CELL:
            continue
        for k in range(errands.waypoint[agent] - SPACING, errands.length[agent] - 1):
            here, step = errands.path[agent, k], errands.path[agent, k + 1] - errands.path[agent, k]
            is_walkable = False
            for d in range(8):
                if tables.offset[d] == step and tables.moves[here] >> d & 1:
                    is_walkable = True
            if not is_walkable:
                errands.found[count] = agent
                count += 1
                break
    return count
