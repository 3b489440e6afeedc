# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The clique abstraction of a map: a smaller graph of groups of cells, on which distances to a goal are cheap.

Sturtevant and Buro: Improving Collaborative Pathfinding Using Map Abstraction (AIIDE 2006). WHCA*(w, a) takes its
distances from level `a` of it. Level 0 has a group for every passable cell; each further level joins groups that are
mutually adjacent, four or three at a time, then pairs what is left, and a dead end joins the group it hangs on. With
the uniform pass, passable squares of 2 x 2 cells (at level 2 of 4 x 4, and so on) that are aligned to the map's corner
go first, which keeps open ground regular. A group stands at the mean of its parts; an edge joins two groups where a
legal move does, and costs the octile distance between the two.

A 4-connected graph has no cliques, so it is always the 8-connected map that is abstracted, whatever the grid's moves.

`abstract` builds a level. `AbstractDistances` keeps a table with a row for each goal in use, by Dijkstra's algorithm
from the goal's group over all others, cut into as many slices as a budget asks for. To a kernel, the distance of an
agent at `cell` whose goal has `row` is `table[row, abstraction.group[cell]]`: UNREACHABLE where there is no path, 0 in
the goal's own group. It is an estimate that may be too high; take the larger of it and the empty map's distance.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import MapError, ParameterError
from wend.kernel import NO_CELL, UNREACHABLE, jit
from wend.kernel.arrays import allocate, flags, grown, int64, uint8
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST
from wend.planners.base import Budget, State
from wend.search.astar import NO_LIMIT
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push

NO_GROUP = -1
NO_ROW = -1


class Abstraction(NamedTuple):
    """A graph of groups of cells. The neighbours of group k are neighbour[begin[k]:begin[k + 1]], ascending."""

    group: np.ndarray       # int32[cells]        the group of each cell, NO_GROUP where blocked
    begin: np.ndarray       # int32[groups + 1]   where a group's edges begin
    neighbour: np.ndarray   # int32[edges]        each edge stands there twice, once from either side
    cost: np.ndarray        # int64[edges]        in the units of grid.CARDINAL_COST
    position: np.ndarray    # float64[groups, 2]  x, y: the mean of the group's parts, in cells


def abstract(grid: Grid, level: int, *, uniform: bool = True) -> Abstraction:
    """The clique abstraction of a map. Levels beyond the one that has no edges left are equal to it.

    >>> whole = abstract(Grid.from_text("....\\n....\\n...."), 1)
    >>> whole.group.reshape(3, 4)
    array([[0, 0, 1, 1],
           [0, 0, 1, 1],
           [2, 2, 3, 3]], dtype=int32)
    """
    if not isinstance(level, (int, np.integer)) or level < 0:
        raise ParameterError(f"the level of an abstraction is 0 (the map itself), 1, 2, ..., not {level!r}")
    map_group, source, target = _map_graph(grid if grid.connectivity == 8 else grid.with_rules(connectivity=8))
    free = np.flatnonzero(map_group != NO_GROUP)
    position = np.stack((free % grid.width, free // grid.width), axis=1).astype(np.float64)
    for k in range(1, int(level) + 1):
        if source.size == 0:
            break
        leader = np.full(len(position), NO_GROUP, dtype=np.int32)
        if uniform:
            _take_squares(grid, map_group, 2**k, leader)
        _form_groups(_begins(source, len(position)), target, leader, np.empty_like(leader))
        leaders, parent, parts = np.unique(leader, return_inverse=True, return_counts=True)
        sums = [np.bincount(parent, weights=position[:, axis]) for axis in (0, 1)]
        position = np.stack(sums, axis=1) / parts[:, np.newaxis]
        map_group[free] = parent[map_group[free]]
        source, target = _edges(parent[source], parent[target], leaders.size)
    apart = np.abs(position[source] - position[target])
    cost = np.rint(apart.max(axis=1) * CARDINAL_COST + apart.min(axis=1) * (DIAGONAL_COST - CARDINAL_COST))
    return Abstraction(map_group, _begins(source, len(position)), target, cost.astype(np.int64), position)


def _map_graph(grid: Grid) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Level 0: the number of each passable cell among them, and the edges as `_edges` has them."""
    free = grid.free_cells()
    number = np.full(grid.size, NO_GROUP, dtype=np.int32)
    number[free] = np.arange(free.size)
    directions = np.argsort(grid.tables.offset)         # so that the cells beside a cell come in ascending order
    source, k = np.nonzero(grid.tables.moves[free, np.newaxis] >> directions & 1)
    target = number[free[source] + grid.tables.offset[directions[k]]]
    return number, source.astype(np.int32), target


def _edges(
    source: NDArray[np.integer], target: NDArray[np.integer], nodes: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Edges between different nodes, ascending by source and then target, each once."""
    apart = source != target
    code = np.sort(source[apart].astype(np.int64) * nodes + target[apart])
    code = code[np.diff(code, prepend=-1) > 0]          # np.unique would hash, which is far slower
    return (code // nodes).astype(np.int32), (code % nodes).astype(np.int32)


def _begins(source: NDArray[np.int32], nodes: int) -> NDArray[np.int32]:
    """Where the edges of each node begin, and after the last one, where they end."""
    return np.searchsorted(source, np.arange(nodes + 1)).astype(np.int32)


def _take_squares(grid: Grid, map_group: NDArray[np.int32], side: int, leader: NDArray[np.int32]) -> None:
    """The uniform pass: join the four quarters of each aligned square that is all passable. Mutates: leader.

    The pass of the level before has made each of the quarters a group.
    """
    rows, columns = grid.height // side, grid.width // side
    if rows == 0 or columns == 0:
        return
    squares = grid.passable[: rows * side, : columns * side].reshape(rows, side, columns, side)
    y, x = np.argwhere(squares.all(axis=(1, 3))).T * side
    node = map_group.reshape(grid.height, grid.width)
    for dy in (0, side // 2):
        for dx in (0, side // 2):
            leader[node[y + dy, x + dx]] = node[y, x]


@jit
def _are_adjacent(begin, neighbour, a, b):
    """Whether an edge joins two nodes."""
    k, end = begin[a], begin[a + 1]
    while k < end and neighbour[k] < b:
        k += 1
    return k < end and neighbour[k] == b


@jit
def _take_clique(begin, neighbour, leader, node):
    """Join the node and three, or else two, mutually adjacent nodes beside it; False if none are. Mutates: leader."""
    end = begin[node + 1]
    third, fourth = NO_GROUP, NO_GROUP      # the first two that would do, should there be no three
    for i in range(begin[node], end):
        a = neighbour[i]
        if leader[a] != NO_GROUP:
            continue
        for j in range(i + 1, end):
            b = neighbour[j]
            if leader[b] != NO_GROUP or not _are_adjacent(begin, neighbour, a, b):
                continue
            if third == NO_GROUP:
                third, fourth = a, b
            for k in range(j + 1, end):
                c = neighbour[k]
                if (
                    leader[c] == NO_GROUP
                    and _are_adjacent(begin, neighbour, a, c)
                    and _are_adjacent(begin, neighbour, b, c)
                ):
                    leader[node] = leader[a] = leader[b] = leader[c] = node
                    return True
    if third == NO_GROUP:
        return False
    leader[node] = leader[third] = leader[fourth] = node
    return True


@jit
def _form_groups(begin, neighbour, leader, stack):
    """Put every node that has no group yet into one, named after the node that formed it. Mutates: leader, stack."""
    left = 0
    for node in range(leader.size):
        if leader[node] == NO_GROUP and not _take_clique(begin, neighbour, leader, node):
            stack[left] = node
            left += 1
    while left > 0:                                     # last in, first out
        left -= 1
        node = stack[left]
        if leader[node] != NO_GROUP:
            continue
        leader[node] = node
        for k in range(begin[node], begin[node + 1]):
            if leader[neighbour[k]] == NO_GROUP:
                leader[neighbour[k]] = node
                break
        else:
            if begin[node + 1] - begin[node] == 1:      # a dead end
                leader[node] = leader[neighbour[begin[node]]]


class _Search(NamedTuple):
    """The workspace of one search at a time, used by all rows in turn."""

    open_list: OpenList
    closed: Annotated[np.ndarray, uint8("groups")]          # 1 once the distance of the group is final


class _Rows(NamedTuple):
    """Distances to goals. Rows that are never touched cost no memory."""

    far: Annotated[np.ndarray, int64("rows", "groups")]     # in the units of grid.CARDINAL_COST
    is_ready: Annotated[np.ndarray, flags("rows")]          # the row is in use and complete


@jit
def _begin(search, distance, goal):
    """Set up a search from the goal's group. Mutates: search, distance."""
    distance[:] = UNREACHABLE
    search.closed[:] = 0
    distance[goal] = 0
    clear(search.open_list, 0)
    push(search.open_list, 0, 0, goal)


@jit
def _run(abstraction, search, distance, max_expansions):
    """Expand up to so many groups; return how many. Less than the limit: all are done. Mutates: search, distance."""
    begin, neighbour, cost = abstraction.begin, abstraction.neighbour, abstraction.cost
    open_list, closed = search.open_list, search.closed
    expanded = 0
    while expanded < max_expansions and not is_empty(open_list, closed, 1):
        group = first(open_list)
        drop_first(open_list)
        if closed[group]:                               # an entry from before the group was improved
            continue
        closed[group] = 1
        expanded += 1
        here = distance[group]
        for k in range(begin[group], begin[group + 1]):
            beside = neighbour[k]
            there = here + cost[k]
            if distance[beside] == UNREACHABLE or there < distance[beside]:
                distance[beside] = there
                push(open_list, there, 0, np.int64(beside))
    return expanded


class AbstractDistances:
    """Distances over an abstraction to the goals in use. Goals in one group share a row of the table.

    A row takes 8 bytes per group: 0.3 MB for 35,000 groups. `table` and `is_ready` are replaced when they grow, in
    `acquire`; what a row holds means nothing before it is ready.

    >>> distances = AbstractDistances(abstract(Grid.from_text("......"), 1))
    >>> row = distances.acquire(5)
    >>> distances.run(), bool(distances.is_ready[row])
    (3, True)
    >>> (distances.table[row] / CARDINAL_COST).tolist()
    [4.0, 2.0, 0.0]
    """

    def __init__(self, abstraction: Abstraction) -> None:
        groups = len(abstraction.position)
        self.abstraction = abstraction
        self._rows = allocate(_Rows, rows=0, groups=groups)
        self._row_of: dict[int, int] = {}                   # by goal group
        self._goal: list[int] = []                          # goal group by row
        self._users: list[int] = []                         # by row
        self._unused: list[int] = []                        # rows without users
        self._waiting: deque[int] = deque()                 # rows that are not ready, oldest first
        self._is_running = False                            # the search of the first of them has begun
        # A group is expanded once and pushes an entry per edge at most; an open list has room for eight per node.
        room = make_open_list(abstraction.neighbour.size // 8 + 1)
        self._search = allocate(_Search, {"open_list": room}, groups=groups)

    @property
    def table(self) -> NDArray[np.int64]:
        """int64[rows, groups]: the distances, in the units of grid.CARDINAL_COST."""
        return self._rows.far

    @property
    def is_ready(self) -> NDArray[np.bool_]:
        """bool[rows]: the row is in use and complete."""
        return self._rows.is_ready

    def acquire(self, goal: int) -> int:
        """The row with the distances to a goal cell. One that is new is ready after `run`."""
        group = int(self.abstraction.group[goal]) if 0 <= goal < self.abstraction.group.size else NO_GROUP
        if group == NO_GROUP:
            raise MapError(f"cell {goal} cannot be a goal: it is off the map, or in a wall")
        row = self._row_of.get(group)
        if row is None:
            if not self._unused:
                self._grow()
            row = self._row_of[group] = self._unused.pop()
            self._goal[row] = group
            self._waiting.append(row)
        self._users[row] += 1
        return row

    def release(self, row: int) -> None:
        """Say that one of those who acquired the row no longer needs it."""
        if not (0 <= row < len(self._users) and self._users[row] > 0):
            raise ParameterError(f"row {row} is not in use; release each row as often as it was acquired")
        self._users[row] -= 1
        if self._users[row] > 0:
            return
        if not self.is_ready[row]:
            if self._waiting[0] == row:
                self._is_running = False
            self._waiting.remove(row)
        self.is_ready[row] = False
        del self._row_of[self._goal[row]]
        self._unused.append(row)

    def run(self, max_expansions: int = NO_LIMIT) -> int:
        """Make rows ready, in the order in which they were acquired; return the number of groups expanded."""
        spent = 0
        while self._waiting and spent < max_expansions:
            row = self._waiting[0]
            if not self._is_running:
                _begin(self._search, self.table[row], self._goal[row])
                self._is_running = True
            limit = int(max_expansions) - spent
            expanded = int(_run(self.abstraction, self._search, self.table[row], limit))
            spent += expanded
            if expanded < limit:
                self.is_ready[row] = True
                self._waiting.popleft()
                self._is_running = False
        return spent

    def _grow(self) -> None:
        """Double the number of rows."""
        have = len(self._users)
        more = max(have, 8)
        self._rows = grown(self._rows, rows=have + more)
        self._goal += [NO_GROUP] * more
        self._users += [0] * more
        self._unused += range(have + more - 1, have - 1, -1)    # the lowest row is taken first


class AbstractAims:
    """Which row of abstract distances each agent goes by.

    The abstraction is made when it is first needed, and as a whole anew after an edit of the map.
    """

    def __init__(self, level: int) -> None:
        self.row = np.empty(0, np.int32)            # int32[agents]  the row of each agent, or NO_ROW
        self.far = np.empty((0, 0), np.int64)       # [rows, groups]  the distances, as they were last looked up
        self.group = np.empty(0, np.int32)          # [cells]  the group of each cell then
        self._level = level
        self._distances: AbstractDistances | None = None

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self.row = np.pad(self.row, (0, agents - self.row.size), constant_values=NO_ROW)

    def look_up(self, state: State, budget: Budget) -> NDArray[np.bool_]:
        """Search for the distances that agents lack, as far as the budget goes; say who has them."""
        if self._distances is None:
            self._distances = AbstractDistances(abstract(state.grid, self._level))
        cell, goal = state.agents.cell, state.agents.goal
        self.group = self._distances.abstraction.group
        has_goal = self.group[goal] != NO_GROUP             # an agent of the program may have its goal in a wall
        rows = self.row[: cell.size]
        for agent in np.flatnonzero((rows == NO_ROW) & (cell != NO_CELL) & has_goal).tolist():
            rows[agent] = self._distances.acquire(int(goal[agent]))
        budget.spend(self._distances.run(budget.slice()))
        self.far = self._distances.table
        is_ready = np.zeros(cell.size, np.bool_)
        has_row = rows != NO_ROW
        is_ready[has_row] = self._distances.is_ready[rows[has_row]]
        return is_ready

    def drop(self, agent: int) -> None:
        """An agent does not need its row any more."""
        if self._distances is not None and self.row[agent] != NO_ROW:
            self._distances.release(int(self.row[agent]))
        self.row[agent] = NO_ROW

    def forget(self) -> None:
        """The map is another."""
        self._distances = None
        self.row[:] = NO_ROW
