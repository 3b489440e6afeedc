# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Orders to groups: a place for each unit, and a way there as waypoints that any planner can honour.

`ways_to` finds ways to the target: all of them shortest (`move`), or drawn together by Map Marker (`attack_move`, see
groups/map_marker.py: one mode for speed, one for cohesion, as the paper proposes). They ignore collisions; keeping out
of each other's way is the planner's part. groups/slots.py has the places around the target.

`Routes` keeps the ways of a world's agents. A planner sees one waypoint at a time, as the agent's goal; `advance` lets
an agent head for the next when it has come near one, or for a later one that is nearer. After the last waypoint it
heads for its slot. docs/decisions/004-waypoints.md says why it is done so.

E. Wicks Rivas, R. Souza: Map Marker: a Multi-Agent Pathfinder for Cohesive Groups in Real-Time Strategy Games, section
V.C, proposes the two modes.

Work per tick: O(agents with a way). An edit of the map: O(cells ahead on all ways).

Deviations
- The paper's units all go to one point; here everybody has a place, and its way ends before the target.
- The paper's units pass every point of their paths, and went back for those that they had missed; here a waypoint is
  every SPACING-th cell, and a later one that is nearer will do.
- `move` is A* in the paper. Here one search from the target finds the shortest ways of all; which of several equally
  short ones an agent takes may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import UnknownNameError
from wend.groups.map_marker import mark_paths
from wend.groups.slots import Cells
from wend.kernel import NO_CELL, OUT_OF_SPACE, jit
from wend.kernel.allowance import allow
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.search.astar import NO_LIMIT
from wend.search.reverse_resumable import begin, distance, make_reverse, with_space

MOVE, ATTACK_MOVE = "move", "attack_move"
MODES = (MOVE, ATTACK_MOVE)

SPACING = 12        # moves along a way from one waypoint to the next
REACH = 3           # cells; so near to a waypoint, and in sight of it, an agent heads for the next
LOOK_AHEAD = 4      # waypoints that are looked at

_DIRECTION = np.array([[7, 0, 4], [3, 8, 1], [6, 2, 5]])    # [dy + 1, dx + 1] -> direction, 8 for none


@dataclass(frozen=True)
class GroupOrder:
    """An order that a group is under."""

    agents: frozenset[int]
    target: Point
    mode: str = MOVE

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownNameError("mode of a group order", self.mode, MODES)


# --- planning an order -----------------------------------------------------------------------------------------------


def ways_to(grid: Grid, units: Sequence[int], target: int, mode: str) -> list[Cells]:
    """A way from each of these cells to the target, as cells, both ends included."""
    if mode == MOVE:
        return _shortest_ways(grid, units, target)
    paths = mark_paths(grid, [grid.xy(cell) for cell in units], grid.xy(target))
    return [np.array([y * grid.width + x for x, y in path], dtype=np.int32) for path in paths]


def shortened(grid: Grid, way: Cells, slot: int) -> Cells:
    """A way to the target without its end: who comes to the target first would walk back to a slot on the near side."""
    (x, y), (slot_x, slot_y) = grid.xy(int(way[-1])), grid.xy(slot)
    return way[: max(way.size - max(abs(x - slot_x), abs(y - slot_y)) - REACH, 0)]


def _shortest_ways(grid: Grid, units: Sequence[int], target: int) -> list[Cells]:
    """Shortest ways, found by one search from the target backwards for all units together."""
    reverse = make_reverse(grid.size, searches=1)
    begin(reverse, 0, target, units[0])
    allow(reverse.allowance, NO_LIMIT)
    ways = []
    for unit in units:
        while (left := distance(grid.tables, reverse, 0, unit)) == OUT_OF_SPACE:
            reverse = with_space(reverse)
        ways.append(np.empty(left // CARDINAL_COST + 1, dtype=np.int32))
    allow(reverse.allowance, 0)
    return [way[: _follow(grid.tables, reverse, unit, way)] for unit, way in zip(units, ways, strict=True)]


@jit
def _follow(tables, reverse, cell, way):
    """Write the way from a cell that the search has closed to its goal; return the number of cells. Mutates: way."""
    way[0] = cell
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
        way[length] = cell
        length += 1
    return length


def should_exchange(here: Point, goal: Point, beside: Point, other_goal: Point) -> bool:
    """Whether an agent that waits, and the one beside it, of the same group, should have each other's places.

    Yes if that brings the two nearer to their places. If it is all the same, yes if the other is at home and nearer to
    the place of the one that waits: it goes on to that place. Then it is not at home, so they do not change back.
    """
    mine, theirs = moves_between(here, goal), moves_between(beside, other_goal)
    before, after = mine + theirs, moves_between(here, other_goal) + moves_between(beside, goal)
    return after < before or (after == before and theirs == 0 and moves_between(beside, goal) < mine)


def moves_between(a: Point, b: Point) -> int:
    """Moves between two places if nothing is in the way."""
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


# --- honouring it ----------------------------------------------------------------------------------------------------


class Routes(NamedTuple):
    """Where the agents of a world end, and the ways of those that are under a group order."""

    goal: np.ndarray    # int32[agents]        where the agent wants to be in the end
    way: np.ndarray     # int32[agents, room]  cells; every SPACING-th of them is a waypoint
    length: np.ndarray  # int32[agents]        cells of its way, 0 if it has none or is past its last waypoint
    ahead: np.ndarray   # int32[agents]        which of them is the waypoint that it heads for
    found: np.ndarray   # int32[agents]        scratch: the agents that a kernel found


def make_routes() -> Routes:
    """Nobody goes anywhere."""
    nobody = np.zeros(0, dtype=np.int32)
    return Routes(nobody, np.zeros((0, 0), dtype=np.int32), nobody, nobody, nobody)


def with_agents(routes: Routes, agents: int) -> Routes:
    """The same with room for so many agents, doubling as they grow."""
    have = routes.goal.size
    if agents <= have:
        return routes
    more = max(agents, 2 * have) - have
    goal, length, ahead, found = (
        np.pad(array, (0, more)) for array in (routes.goal, routes.length, routes.ahead, routes.found)
    )
    return Routes(goal, np.pad(routes.way, ((0, more), (0, 0))), length, ahead, found)


def with_way(routes: Routes, agent: int, way: Cells) -> Routes:
    """The same where an agent has this way ahead of it; one without a waypoint is none."""
    room = routes.way.shape[1]
    if way.size > room:
        routes = routes._replace(way=np.pad(routes.way, ((0, 0), (0, max(way.size, 2 * room) - room))))
    routes.way[agent, : way.size] = way
    routes.length[agent] = way.size if way.size > SPACING else 0
    routes.ahead[agent] = SPACING
    return routes


def waypoints(routes: Routes, agent: int) -> NDArray[np.int32]:
    """The cells that an agent is still to pass."""
    return routes.way[agent, routes.ahead[agent] : routes.length[agent] : SPACING].copy()


@jit
def _cell_moves_between(width, a, b):
    """The larger of the columns and the rows between two cells: moves, if nothing is in the way."""
    return max(abs(a % width - b % width), abs(a // width - b // width))


@jit
def in_sight(tables, here, there):
    """Whether walking straight at a place leads there: diagonally while that brings it nearer both ways."""
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
def advance(tables, cell, heading, routes):
    """Let agents that have come to a waypoint head for the next; return how many did so.

    An agent that is nearer to a later waypoint than to its own, and sees it, heads for that one. Mutates: heading
    (int32[agents], where each wants to be for now), routes, whose `found` then lists those agents.
    """
    count = 0
    for agent in range(cell.size):
        length, ahead, here = routes.length[agent], routes.ahead[agent], cell[agent]
        if length == 0 or here == NO_CELL:
            continue
        near = _cell_moves_between(tables.width, here, routes.way[agent, ahead])
        for k in range(LOOK_AHEAD - 1, -1, -1):
            later = ahead + k * SPACING
            if later >= length:
                continue
            place = routes.way[agent, later]
            moves = _cell_moves_between(tables.width, here, place)
            if (moves <= REACH or moves < near) and in_sight(tables, here, place):
                routes.ahead[agent] = later + SPACING if moves <= REACH else later
                break
        if routes.ahead[agent] == ahead:
            continue
        if routes.ahead[agent] < length:
            heading[agent] = routes.way[agent, routes.ahead[agent]]
        else:
            heading[agent] = routes.goal[agent]
            routes.length[agent] = 0
        routes.found[count] = agent
        count += 1
    return count


@jit
def cut_ways(tables, cell, routes):
    """Find the agents whose ways, from the waypoint behind them on, can no longer be walked; return their number.

    Mutates: routes, whose `found` then lists them.
    """
    count = 0
    for agent in range(cell.size):
        if routes.length[agent] == 0 or cell[agent] == NO_CELL:
            continue
        for k in range(routes.ahead[agent] - SPACING, routes.length[agent] - 1):
            here, step = routes.way[agent, k], routes.way[agent, k + 1] - routes.way[agent, k]
            is_walkable = False
            for d in range(8):
                if tables.offset[d] == step and tables.moves[here] >> d & 1:
                    is_walkable = True
            if not is_walkable:
                routes.found[count] = agent
                count += 1
                break
    return count
