# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Blocks: the map cut into squares, and how far it is from one to another. A cheap estimate that knows the walls.

The passable cells of a block that are connected, by moves that do not leave the block, are a group. Groups that a move
joins are neighbours; the path between them is taken to cost what it would on an empty map between their middles.
Distances to a goal's group are found backwards, by an A* that stops as soon as it has reached the group that was asked
for, and goes on from there when the next one is; goals in one group share it. No open list is kept: the groups that
were reached and not yet expanded are in the table, and a row of a few thousand groups is read in microseconds. If a
group was not reached, A* has proven how far away it is at least, and that stands in its place.

`block_cost` is the estimate for a cell: to the middle of the best neighbouring group, and on from there. On game maps
it is 1 % off on average. It may be too high. In groups whose distances are not final yet, the path is taken to lead
over their own middles: their neighbours may not be reached yet, and lower bounds for those would lure agents there.

How this differs from planners/windowed/abstraction.py: cliques are better groups, but that graph is made as a whole
(60 to 120 ms for 512 x 512 cells, and again after every edit) and searched as a whole for every goal. Here an edit
costs its block and those around it. A search that had come there starts anew, but only if the edit joins or parts
groups.

A group has a name, a small number that is given again when the group is gone. There is space for all names that a map
may ever need, since memory that is never touched costs nothing. Only the table of distances, which has a row for each
goal, is shorter: see `BlockDistances`.

Distances are in units of 1/256 of a cell.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.kernel import NO_CELL, jit
from wend.kernel.arrays import ALL_ROWS, ahead, allocate, grown, int32, marks, record
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY
from wend.search.open_list import clear, drop_first, first, is_empty, make_open_list, push
from wend.search.sharing import number_of

NO_GROUP = -1
NO_ROW = -1
UNIT_SHIFT = 24         # from the units of grid.CARDINAL_COST to those of the tables
CELL = 256              # the length of a cell, in those
_QUEUE_SHIFT = 20       # ... and to those of open lists, in which a bucket is then a quarter of a cell: few are empty

_FAR = 2**29            # more than any path on any map
_UNREACHED = 0          # in DistanceRows.far: nothing is known
_UNUSED = -1            # in Blocks.degree: no group has this name


class Blocks(NamedTuple):
    """The graph of groups, which edits of the map change in place."""

    side: int                                                       # of a block, in cells
    group: Annotated[                                               # the group of each cell, NO_GROUP in a wall
        np.ndarray, int32("cells", fill=NO_GROUP, marked_by="edited", rows_per_mark=ALL_ROWS)
    ]
    edited: Annotated[np.ndarray, marks("edits")]
    middle: Annotated[np.ndarray, int32("names", 2)]                # x, y of its cell that is nearest to their mean
    degree: Annotated[np.ndarray, int32("names")]                   # how many groups are beside it, or _UNUSED
    beside: Annotated[np.ndarray, int32("names", "rim", marked_by="linked")]    # those groups; the rim: all cells
    linked: Annotated[np.ndarray, marks("names")]                   # ... around a block
    counts: Annotated[np.ndarray, record("names")]                  # names ever given

    def lengths_in_use(self) -> dict[str, int]:
        """How many names a snapshot has to hold."""
        return {"names": self.counts["names"].item()}


class Labels(NamedTuple):
    """What it takes to label groups."""

    unused: Annotated[np.ndarray, int32("names")]       # a stack of names that were given back
    queue: Annotated[np.ndarray, int32("block_cells")]  # scratch: the cells of the group at hand
    counts: Annotated[np.ndarray, record("unused")]     # the height of the stack

    def lengths_in_use(self) -> dict[str, int]:
        """How much of the stack a snapshot has to hold."""
        return {"names": self.counts["unused"].item()}


class DistanceRows(NamedTuple):
    """Distances to the goals in use, a row for each group that has goals.

    An entry > 0 is 2 d + 1 for a group whose distance is d as far as is known, and 2 d + 2 once that is final. An entry
    <= 0 is -d for a group that was not reached yet and is at least d away.
    """

    far: Annotated[np.ndarray, int32("rows", "columns", marked_by="written")]   # the distance from each group, by name
    goal: Annotated[np.ndarray, int32("rows")]                                  # to this group
    written: Annotated[np.ndarray, marks("rows")]                               # rows of `far`


@jit
def _take_name(blocks, labels):
    """A name for a new group. Mutates: blocks, labels."""
    if labels.counts[0].unused > 0:
        labels.counts[0].unused -= 1
        return np.int64(labels.unused[labels.counts[0].unused])
    blocks.counts[0].names += 1
    return blocks.counts[0].names - 1


@jit
def _label(tables, free, blocks, labels, left, top):
    """Find the groups of a block; names are given back and taken again in the same order. Mutates: blocks, labels."""
    width, moves, offset, group = tables.width, tables.moves, tables.offset, blocks.group
    queue, degree, counts = labels.queue, blocks.degree, labels.counts[0]
    right, bottom = min(left + blocks.side, width), min(top + blocks.side, free.size // width)
    blocks.edited[0] = True
    for y in range(bottom - 1, top - 1, -1):
        for x in range(right - 1, left - 1, -1):
            name = group[y * width + x]
            group[y * width + x] = NO_GROUP
            if name != NO_GROUP and degree[name] != _UNUSED:
                degree[name] = _UNUSED
                labels.unused[counts.unused] = name
                counts.unused += 1
    for y in range(top, bottom):
        for x in range(left, right):
            if not free[y * width + x] or group[y * width + x] != NO_GROUP:
                continue
            name = _take_name(blocks, labels)
            degree[name] = 0
            group[y * width + x] = name
            queue[0] = y * width + x
            size, head, sum_x, sum_y = 1, 0, 0, 0
            while head < size:
                cell = queue[head]
                head += 1
                here_y = cell // width
                here_x = cell - here_y * width
                sum_x += here_x
                sum_y += here_y
                for d in range(8):
                    if (
                        moves[cell] >> d & 1
                        and left <= here_x + DX[d] < right
                        and top <= here_y + DY[d] < bottom
                        and group[cell + offset[d]] == NO_GROUP
                    ):
                        group[cell + offset[d]] = name
                        queue[size] = cell + offset[d]
                        size += 1
            nearest = _FAR
            for k in range(size):
                here_y = queue[k] // width
                here_x = queue[k] - here_y * width
                apart = abs(here_x * size - sum_x) + abs(here_y * size - sum_y)
                if apart < nearest:
                    nearest = apart
                    blocks.middle[name, 0], blocks.middle[name, 1] = here_x, here_y


@jit
def _link(tables, blocks, left, top):
    """Find the neighbours of a block's groups. Mutates: blocks."""
    width, moves, offset, group, degree = tables.width, tables.moves, tables.offset, blocks.group, blocks.degree
    right, bottom = min(left + blocks.side, width), min(top + blocks.side, group.size // width)
    for y in range(top, bottom):
        for x in range(left, right):
            if group[y * width + x] != NO_GROUP:
                degree[group[y * width + x]] = 0
    for y in range(top, bottom):
        for x in range(left, right):
            here = group[y * width + x]
            if here == NO_GROUP or (left < x < right - 1 and top < y < bottom - 1):
                continue
            for d in range(8):
                if not moves[y * width + x] >> d & 1:
                    continue
                there = group[y * width + x + offset[d]]
                if there == here:
                    continue
                k = 0
                while k < degree[here] and blocks.beside[here, k] != there:
                    k += 1
                if k == degree[here]:
                    blocks.linked[here] = True
                    blocks.beside[here, k] = there
                    degree[here] += 1


@jit
def _build(tables, free, blocks, labels):
    """Label and link all blocks. Mutates: blocks, labels."""
    height = free.size // tables.width
    for top in range(0, height, blocks.side):
        for left in range(0, tables.width, blocks.side):
            _label(tables, free, blocks, labels, left, top)
    for top in range(0, height, blocks.side):
        for left in range(0, tables.width, blocks.side):
            _link(tables, blocks, left, top)


@jit
def _empty_map_cost(minor, dx, dy):
    """What a path over dx columns and dy rows, of either sign, costs on an empty map."""
    dx, dy = abs(dx), abs(dy)
    return max(dx, dy) * CELL + min(dx, dy) * minor


@jit
def _between(minor, middle, a, b):
    """What the path between the middles of two groups costs on an empty map."""
    return _empty_map_cost(minor, middle[a, 0] - middle[b, 0], middle[a, 1] - middle[b, 1])


@jit
def is_known(far, group):
    """Whether a group's distance in a row of the table is final."""
    return far[group] > 0 and far[group] & 1 == 0


@jit
def _is_open(far, group):
    """Whether a group was reached and not yet expanded."""
    return far[group] > 0 and far[group] & 1 == 1


@jit
def distance_of(far, group):
    """The distance of a group in a row of the table: final, the best so far, or what it is at least."""
    return (far[group] - 1) >> 1 if far[group] > 0 else -far[group]


@jit
def reach(tables, blocks, rows, open_list, row, group, max_expansions):
    """Search on until a group's distance is known, or so many groups are expanded. Mutates: rows.

    Returns the number of groups expanded. The open list comes empty and is left so: a snapshot has nothing to hold.
    """
    far, middle, names = rows.far[row], blocks.middle, blocks.counts[0].names
    minor = tables.minor >> UNIT_SHIFT
    rows.written[row] = True
    if far[rows.goal[row]] <= 0:
        far[rows.goal[row]] = 1
    bound = _FAR
    for k in range(names):
        if _is_open(far, k):
            bound = min(bound, distance_of(far, k) + _between(minor, middle, k, group))
    clear(open_list, np.int64(bound) << _QUEUE_SHIFT)
    for k in range(names):
        if _is_open(far, k):
            f = distance_of(far, k) + _between(minor, middle, k, group)
            push(open_list, np.int64(f) << _QUEUE_SHIFT, 0, np.int64(k))
    expanded = 0
    bound = _FAR                                        # on a path to `group` over any group that was not expanded
    while not is_empty(open_list, far, _UNREACHED):
        here = first(open_list)
        if is_known(far, here):                         # an entry from before the group was improved
            drop_first(open_list)
            continue
        g = distance_of(far, here)
        bound = g + _between(minor, middle, here, group)
        if is_known(far, group) or expanded >= max_expansions:
            break
        drop_first(open_list)
        far[here] += 1
        expanded += 1
        for k in range(blocks.degree[here]):
            beside = blocks.beside[here, k]
            there = g + _between(minor, middle, here, beside)
            if far[beside] <= 0 or (_is_open(far, beside) and there < distance_of(far, beside)):
                far[beside] = (there << 1) + 1
                f = there + _between(minor, middle, beside, group)
                push(open_list, np.int64(f) << _QUEUE_SHIFT, 0, np.int64(beside))
    clear(open_list, np.int64(0))
    for k in range(names):
        if far[k] <= 0 and blocks.degree[k] != _UNUSED:
            far[k] = min(far[k], -max(0, bound - _between(minor, middle, k, group)))
    return expanded


@jit
def block_cost(minor, blocks, far, here, x, y):
    """What the path from (x, y) in the group `here` to the goal's group, another one, is taken to cost.

    Nothing if the two are neighbours: then the empty map knows better. `minor` and the answer are in table units.
    """
    middle = blocks.middle
    if not is_known(far, here):
        return distance_of(far, here) + _empty_map_cost(minor, x - middle[here, 0], y - middle[here, 1])
    best = _FAR
    for k in range(blocks.degree[here]):
        there = blocks.beside[here, k]
        on = (far[there] - 1) >> 1                      # it was reached: a neighbour is known
        if on == 0:
            return 0
        if on < best:
            best = min(best, on + _empty_map_cost(minor, x - middle[there, 0], y - middle[there, 1]))
    return best


@jit
def cost_over_blocks(tables, blocks, rows, row, x, y, least):
    """What the path from (x, y) to a goal with a row is taken to cost: `least`, as on an empty map, or more."""
    here = blocks.group[y * tables.width + x]
    if here == rows.goal[row]:
        return least
    far = block_cost(tables.minor >> UNIT_SHIFT, blocks, rows.far[row], here, x, y)
    return max(least, np.int64(far) << UNIT_SHIFT)


def no_blocks() -> tuple[Blocks, DistanceRows]:
    """Those of no map, to no goals: for agents that do without."""
    return allocate(Blocks, {"side": 1}, cells=0, edits=1, names=0, rim=0), allocate(DistanceRows, rows=0, columns=0)


@jit
def _exchange_all(blocks, rows, users, row_of, agents, goals):
    """Do with many agents what `BlockDistances.exchange` does with one. Mutates: rows, users, row_of."""
    for k in range(agents.size):
        former, group, row = row_of[agents[k]], blocks.group[goals[k]], NO_ROW
        if group != NO_GROUP:
            row = number_of(rows.goal, users, group)
            if users[row] == 0:
                rows.goal[row] = group
                rows.written[row] = True
                rows.far[row, : blocks.counts[0].names] = _UNREACHED
            users[row] += 1
        if former != NO_ROW:
            users[former] -= 1
        row_of[agents[k]] = row


class BlockDistances:
    """The blocks of a grid, and the rows of the goals in use.

    `rows` is replaced when it grows: in `reserve`, for more goals at a time, and in `cells_changed`, for more groups.
    The latter copies the table, but only when edits have made a quarter more groups than there were at first.

    >>> distances = BlockDistances(Grid.from_text("." * 24), 8)
    >>> distances.reserve(1)
    >>> row = distances.acquire(20)
    >>> reach(distances.grid.tables, distances.blocks, distances.rows, distances.open_list, row, 0, 100)
    3
    >>> [round(distance_of(distances.rows.far[row], group) / CELL) for group in range(3)]
    [16, 8, 0]
    """

    def __init__(self, grid: Grid, side: int) -> None:
        if not 2 <= side <= 64:
            raise ParameterError(f"a block is 2 to 64 cells wide, not {side}")
        self.grid = grid
        self._free = grid.free
        self._users = np.zeros(0, np.int32)     # int32[rows]
        across, down = -(-grid.width // side), -(-grid.height // side)
        most = across * down * ((side * side + 1) // 2)         # groups, if the walls are a chessboard
        self.blocks = allocate(Blocks, {"side": side}, cells=grid.size, edits=1, names=most, rim=4 * side + 4)
        self._labels = allocate(Labels, names=most, block_cells=side * side)
        _build(grid.tables, self._free, self.blocks, self._labels)
        self.rows = allocate(DistanceRows, rows=0, columns=0)
        names = int(self.blocks.counts[0].names)
        self._make_columns(names + names // 4 + 64)

    def reserve(self, rows: int) -> None:
        """Make sure that so many rows can be acquired at the same time."""
        rows, have = rows + 1, self._users.size         # one more: `exchange` takes a row before it gives one back
        if rows > have:
            self.rows = grown(self.rows, rows=rows)
            self._users = np.pad(self._users, (0, rows - have))

    def _make_columns(self, columns: int) -> None:
        """Make columns for so many groups."""
        # A group is expanded once and pushes an entry per neighbour at most; the list has space for eight per node.
        self.open_list = make_open_list(columns * (self.blocks.beside.shape[1] // 8 + 1))
        self.rows = grown(self.rows, columns=columns)

    def acquire(self, goal: int) -> int:
        """The row with the distances to a goal cell, NO_ROW if that is a wall. Nothing is searched yet."""
        group = int(self.blocks.group[goal])
        if group == NO_GROUP:
            return NO_ROW
        row = int(number_of(self.rows.goal, self._users, group))
        if self._users[row] == 0:
            self.rows.goal[row] = group
            self._clear(row)
        self._users[row] += 1
        return row

    def release(self, row: int) -> None:
        """Say that one of those who acquired a row no longer needs it."""
        if row != NO_ROW:
            self._users[row] -= 1

    def exchange(self, row: int, goal: int) -> int:
        """The row with the distances to a goal cell, for one that is given back; if they are the same, it is kept."""
        other = self.acquire(goal)
        self.release(row)
        return other

    def exchange_all(self, row_of: NDArray[np.int32], agents: NDArray[np.int32], goals: NDArray[np.int32]) -> None:
        """The same for many agents, one by one. Mutates: row_of."""
        _exchange_all(self.blocks, self.rows, self._users, row_of, agents, goals)

    def _clear(self, rows: int | NDArray[np.int64]) -> None:
        """Begin the searches of some rows anew. Columns that no group has had yet are not touched."""
        self.rows.written[rows] = True
        self.rows.far[rows, : self.blocks.counts["names"].item()] = _UNREACHED

    def _are_rows_of(self, rows: NDArray[np.int32], goals: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each row is the one for the goal cell beside it."""
        groups = np.where(rows == NO_ROW, NO_GROUP, self.rows.goal[rows])
        are_right: NDArray[np.bool_] = groups == self.blocks.group[goals]
        return are_right

    def follow(self, rows: NDArray[np.int32], stands: NDArray[np.int32], goals: NDArray[np.int32]) -> None:
        """Exchange the rows of agents on the map whose goals are in other groups since an edit. Mutates: rows.

        `stands` and `goals` have the cell and the goal of each agent.
        """
        for agent in np.flatnonzero(~self._are_rows_of(rows, goals) & (stands != NO_CELL)).tolist():
            rows[agent] = self.exchange(int(rows[agent]), int(goals[agent]))

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        """Follow an edit of the grid at these cells. Goals there may be in other groups than before."""
        grid, side = self.grid, self.blocks.side
        edited = sorted({(x // side, y // side) for x, y in map(grid.xy, cells.tolist())})
        around = sorted(
            {
                (x + dx, y + dy)
                for x, y in edited for dx in (-1, 0, 1) for dy in (-1, 0, 1)
                if 0 <= (x + dx) * side < grid.width and 0 <= (y + dy) * side < grid.height
            }
        )  # fmt: skip
        before = self._neighbours(around)
        for x, y in edited:
            _label(grid.tables, self._free, self.blocks, self._labels, x * side, y * side)
        for x, y in around:
            _link(grid.tables, self.blocks, x * side, y * side)
        after = self._neighbours(around)
        columns, names = self.rows.far.shape[1], int(self.blocks.counts[0].names)
        if names > columns:
            self._make_columns(ahead(columns, names))
        changed = [group for group in before.keys() | after.keys() if before.get(group) != after.get(group)]
        rows = np.flatnonzero(self._users)
        came_there = (self.rows.far[np.ix_(rows, np.array(changed, np.int32))] > 0).any(axis=1)
        self._clear(rows[came_there])

    def _neighbours(self, places: list[tuple[int, int]]) -> dict[int, set[int]]:
        """The groups of some blocks, and those beside each."""
        side, beside, degree = self.blocks.side, self.blocks.beside, self.blocks.degree
        of_cell = self.blocks.group.reshape(self.grid.height, self.grid.width)
        names = {
            int(name)
            for x, y in places
            for name in np.unique(of_cell[y * side : (y + 1) * side, x * side : (x + 1) * side])
            if name != NO_GROUP
        }
        return {name: set(beside[name, : degree[name]].tolist()) for name in names}
