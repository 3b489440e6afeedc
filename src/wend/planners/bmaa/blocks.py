# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Blocks: the map cut into squares, and how far it is from one to another. A cheap estimate that knows the walls.

The passable cells of a block that hang together, by moves that do not leave the block, are a group. Groups that a move
joins are neighbours; the way between them is taken to cost what it would on an empty map between their middles.
Distances to a goal's group are found backwards, by an A* that stops as soon as it has reached the group of whoever
asks, and goes on from there for the next one; goals in one group share it. No open list is kept: what was reached and
not yet expanded is in the table, and a row of a few thousand groups is read in microseconds. Of a group that was not
reached, A* has proven how far it is at least, and that stands in its place.

`block_cost` is the estimate for a cell: to the middle of the best neighbouring group, and on from there. On game maps
it is 1 % off in the mean. It may be too high. In groups whose distances are not final yet the way is taken to lead over
their own middles: their neighbours may not be reached, and what is only proven of those would lure agents there.

How this differs from windowed/abstraction.py: cliques are better groups, but that graph is made as a whole (60 to 120
ms for 512 x 512 cells, and again after every edit) and searched as a whole for every goal. Here an edit costs its block
and those around it. A search that had come there starts anew, but only if groups are joined in another way than before.

Distances are in units of 1/256 of a cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.kernel import jit
from wend.maps.grid import Grid
from wend.search.open_list import clear, drop_first, first, is_empty, make_open_list, push

NO_GROUP = -1
NO_ROW = -1
UNIT_SHIFT = 24         # from the units of grid.CARDINAL_COST to those of the tables

_CELL = 256             # the length of a cell, in those
_FAR = 2**29            # more than any way on any map
_UNREACHED = -1


class Blocks(NamedTuple):
    """The graph of groups, which edits of the map change in place."""

    side: int                   # of a block, in cells
    group: np.ndarray           # int32[cells]               the group of each cell, NO_GROUP in a wall
    about: np.ndarray           # int32[room, 3 + degree]    what is known of each group, see below
    unused: np.ndarray          # int32[room]                a stack of names that no group has at present
    unused_count: np.ndarray    # int32[1]                   its height
    queue: np.ndarray           # int32[side * side]         scratch: the cells of the group at hand


# Blocks.about holds the middle of a group, which is the cell nearest to the mean; how many groups are beside it, or
# _NOBODY if no group has the name; and those groups, 4 * side + 4 at most: one for each cell around the block.
_X, _Y, _DEGREE, _BESIDE = range(4)
_NOBODY = -1


class Ways(NamedTuple):
    """Distances to the goals in use, a row for each group that has goals.

    An entry >= 0 is a distance << 1, + 1 once it is final. An entry < 0 is ~d for a group that is at least d away.
    """

    far: np.ndarray     # int32[rows, room]  the distance from each group
    goal: np.ndarray    # int32[rows]        to this one


@jit
def _label(tables, free, blocks, left, top):
    """Find the groups of a block; names are given back and taken again in the same order. Mutates: blocks."""
    width, group, queue, about = tables.width, blocks.group, blocks.queue, blocks.about
    right, bottom = min(left + blocks.side, width), min(top + blocks.side, free.size // width)
    for y in range(bottom - 1, top - 1, -1):
        for x in range(right - 1, left - 1, -1):
            name = group[y * width + x]
            group[y * width + x] = NO_GROUP
            if name != NO_GROUP and about[name, _DEGREE] != _NOBODY:
                about[name, _DEGREE] = _NOBODY
                blocks.unused[blocks.unused_count[0]] = name
                blocks.unused_count[0] += 1
    for y in range(top, bottom):
        for x in range(left, right):
            if not free[y * width + x] or group[y * width + x] != NO_GROUP:
                continue
            blocks.unused_count[0] -= 1
            name = blocks.unused[blocks.unused_count[0]]
            about[name, _DEGREE] = 0
            group[y * width + x] = name
            queue[0] = y * width + x
            size, head, sum_x, sum_y = 1, 0, 0, 0
            while head < size:
                cell = queue[head]
                head += 1
                sum_x += cell % width
                sum_y += cell // width
                for d in range(8):
                    beside = cell + tables.offset[d]
                    if (
                        tables.moves[cell] >> d & 1
                        and left <= beside % width < right
                        and top <= beside // width < bottom
                        and group[beside] == NO_GROUP
                    ):
                        group[beside] = name
                        queue[size] = beside
                        size += 1
            nearest = _FAR
            for k in range(size):
                apart = abs(queue[k] % width * size - sum_x) + abs(queue[k] // width * size - sum_y)
                if apart < nearest:
                    nearest = apart
                    about[name, _X], about[name, _Y] = queue[k] % width, queue[k] // width


@jit
def _link(tables, blocks, left, top):
    """Find the neighbours of a block's groups. Mutates: blocks."""
    width, group, about = tables.width, blocks.group, blocks.about
    right, bottom = min(left + blocks.side, width), min(top + blocks.side, group.size // width)
    for y in range(top, bottom):
        for x in range(left, right):
            if group[y * width + x] != NO_GROUP:
                about[group[y * width + x], _DEGREE] = 0
    for y in range(top, bottom):
        for x in range(left, right):
            here = group[y * width + x]
            if here == NO_GROUP or (left < x < right - 1 and top < y < bottom - 1):
                continue
            for d in range(8):
                if not tables.moves[y * width + x] >> d & 1:
                    continue
                there = group[y * width + x + tables.offset[d]]
                end = _BESIDE + about[here, _DEGREE]
                k = _BESIDE
                while k < end and about[here, k] != there:
                    k += 1
                if k == end and there != here:
                    about[here, k] = there
                    about[here, _DEGREE] += 1


@jit
def _build(tables, free, blocks):
    """Label and link all blocks. Mutates: blocks."""
    height = free.size // tables.width
    for top in range(0, height, blocks.side):
        for left in range(0, tables.width, blocks.side):
            _label(tables, free, blocks, left, top)
    for top in range(0, height, blocks.side):
        for left in range(0, tables.width, blocks.side):
            _link(tables, blocks, left, top)


@jit
def _to_middle(minor, about, group, x, y):
    """What the way from (x, y) to the middle of a group costs on an empty map."""
    dx, dy = abs(x - about[group, _X]), abs(y - about[group, _Y])
    return max(dx, dy) * _CELL + min(dx, dy) * minor


@jit
def _between(minor, about, a, b):
    """What the way between the middles of two groups costs on an empty map."""
    return _to_middle(minor, about, a, about[b, _X], about[b, _Y])


@jit
def is_known(far, group):
    """Whether a group's distance in a row of the table is final."""
    return far[group] >= 0 and far[group] & 1 == 1


@jit
def reach(tables, blocks, ways, open_list, row, group, max_expansions):
    """Search on until a group's distance is known, or so many groups are expanded. Mutates: ways, open_list.

    Returns the number of groups expanded.
    """
    far, about, minor = ways.far[row], blocks.about, tables.minor >> UNIT_SHIFT
    if far[ways.goal[row]] < 0:
        far[ways.goal[row]] = 0
    bound = _FAR
    for k in range(far.size):
        if far[k] >= 0 and far[k] & 1 == 0:
            bound = min(bound, (far[k] >> 1) + _between(minor, about, k, group))
    clear(open_list, np.int64(bound) << UNIT_SHIFT)
    for k in range(far.size):
        if far[k] >= 0 and far[k] & 1 == 0:
            push(open_list, np.int64((far[k] >> 1) + _between(minor, about, k, group)) << UNIT_SHIFT, 0, np.int64(k))
    expanded = 0
    bound = _FAR                                        # on a way to `group` over any group that was not expanded
    while not is_empty(open_list, far, _UNREACHED):
        here = first(open_list)
        if is_known(far, here):                         # an entry from before the group was improved
            drop_first(open_list)
            continue
        g = far[here] >> 1
        bound = g + _between(minor, about, here, group)
        if is_known(far, group) or expanded >= max_expansions:
            break
        drop_first(open_list)
        far[here] |= 1
        expanded += 1
        for k in range(_BESIDE, _BESIDE + about[here, _DEGREE]):
            beside = about[here, k]
            there = g + _between(minor, about, here, beside)
            if far[beside] < 0 or (far[beside] & 1 == 0 and there < far[beside] >> 1):
                far[beside] = there << 1
                f = there + _between(minor, about, beside, group)
                push(open_list, np.int64(f) << UNIT_SHIFT, 0, np.int64(beside))
    for k in range(far.size):
        if far[k] < 0 and about[k, _DEGREE] != _NOBODY:
            far[k] = min(far[k], ~max(0, bound - _between(minor, about, k, group)))
    return expanded


@jit
def block_cost(minor, about, far, here, x, y):
    """What the way from (x, y) in the group `here` to the goal's group, another one, is taken to cost.

    Nothing if the two are neighbours: then the empty map knows better. `minor` and the answer are in table units.
    """
    if not is_known(far, here):
        on = far[here] >> 1 if far[here] >= 0 else ~far[here]
        return on + _to_middle(minor, about, here, x, y)
    best = _FAR
    for k in range(_BESIDE, _BESIDE + about[here, _DEGREE]):
        there = about[here, k]
        on = far[there] >> 1                            # it was reached: a neighbour is known
        if on == 0:
            return 0
        if on < best:
            best = min(best, on + _to_middle(minor, about, there, x, y))
    return best


def no_blocks() -> tuple[Blocks, Ways]:
    """Those of no map, to no goals: for agents that do without."""
    none, table = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)
    return Blocks(1, none, table, none, none, none), Ways(table, none)


class BlockDistances:
    """The blocks of a grid, which it shares, and the rows of the goals in use.

    `blocks` and `ways` are replaced when they grow, in `acquire` and `cells_changed`.

    >>> distances = BlockDistances(Grid.from_text("." * 24), 8)
    >>> row = distances.acquire(20)
    >>> reach(distances.grid.tables, distances.blocks, distances.ways, distances.open_list, row, 0, 100)
    3
    >>> (distances.ways.far[row, :3] / 512).round().tolist()
    [16.0, 8.0, 0.0]
    """

    def __init__(self, grid: Grid, side: int) -> None:
        if not 2 <= side <= 64:
            raise ParameterError(f"a block is 2 to 64 cells wide, not {side}")
        self.grid = grid
        self._free = grid.free
        room = max(1, int(self._free.sum()))
        whole = Blocks(
            side, np.full(grid.size, NO_GROUP, np.int32), np.empty((room, _BESIDE + 4 * side + 4), np.int32),
            np.arange(room - 1, -1, -1, dtype=np.int32), np.full(1, room, np.int32), np.empty(side * side, np.int32),
        )  # fmt: skip
        _build(grid.tables, self._free, whole)
        used = room - int(whole.unused_count[0])
        self.blocks = whole._replace(
            about=whole.about[:used].copy(), unused=whole.unused[:0].copy(), unused_count=np.zeros(1, np.int32)
        )
        self.ways = Ways(np.empty((0, used), np.int32), np.empty(0, np.int32))
        self._row_of: dict[int, int] = {}       # by group
        self._users: list[int] = []             # by row
        self._unused: list[int] = []            # rows without users
        self._make_names(0)
        self._make_rows()

    def _make_names(self, wanted: int) -> None:
        """Make sure that there are so many unused names for groups."""
        blocks, count = self.blocks, int(self.blocks.unused_count[0])
        have = len(blocks.about)
        more = max(wanted - count, have // 8 + 8)
        if count < wanted or blocks.unused.size == 0:
            about = np.pad(blocks.about, ((0, more), (0, 0)), constant_values=_NOBODY)
            unused = np.zeros(have + more, np.int32)
            unused[:more] = np.arange(have + more - 1, have - 1, -1)
            unused[more : more + count] = blocks.unused[:count]
            blocks.unused_count[0] += more
            self.blocks = blocks._replace(about=about, unused=unused)
            far = np.pad(self.ways.far, ((0, 0), (0, more)), constant_values=_UNREACHED)
            self.ways = self.ways._replace(far=far)
            # A group is expanded once and pushes an entry per neighbour at most; the list has room for eight per node.
            self.open_list = make_open_list(about.shape[0] * (about.shape[1] // 8 + 1))

    def acquire(self, goal: int) -> int:
        """The row with the distances to a goal cell, NO_ROW if that is a wall. Nothing is searched yet."""
        group = int(self.blocks.group[goal])
        if group == NO_GROUP:
            return NO_ROW
        if group not in self._row_of:
            if not self._unused:
                self._make_rows()
            self._row_of[group] = row = self._unused.pop()
            self.ways.far[row] = _UNREACHED
            self.ways.goal[row] = group
        row = self._row_of[group]
        self._users[row] += 1
        return row

    def _make_rows(self) -> None:
        """Double the number of rows."""
        have, groups = self.ways.far.shape
        more = max(have, 64)
        far = np.empty((have + more, groups), np.int32)     # rows that are never touched cost no memory
        far[:have] = self.ways.far
        self.ways = Ways(far, np.pad(self.ways.goal, (0, more)))
        self._users += [0] * more
        self._unused += range(have + more - 1, have - 1, -1)

    def release(self, row: int) -> None:
        """Say that one of those who acquired a row no longer needs it."""
        if row == NO_ROW:
            return
        self._users[row] -= 1
        if self._users[row] == 0:
            del self._row_of[int(self.ways.goal[row])]
            self._unused.append(row)

    def are_rows_of(self, rows: NDArray[np.int32], goals: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each row is the one for the goal cell beside it."""
        groups = np.where(rows == NO_ROW, NO_GROUP, self.ways.goal[rows])
        are_right: NDArray[np.bool_] = groups == self.blocks.group[goals]
        return are_right

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
        self._make_names(len(edited) * side * side)
        before = self._joined(around)
        for x, y in edited:
            _label(grid.tables, self._free, self.blocks, x * side, y * side)
        for x, y in around:
            _link(grid.tables, self.blocks, x * side, y * side)
        after = self._joined(around)
        changed = [group for group in before.keys() | after.keys() if before.get(group) != after.get(group)]
        rows = np.array([*self._row_of.values()], np.int32)
        came_there = (self.ways.far[np.ix_(rows, np.array(changed, np.int32))] >= 0).any(axis=1)
        self.ways.far[rows[came_there]] = _UNREACHED

    def _joined(self, places: list[tuple[int, int]]) -> dict[int, set[int]]:
        """The groups of some blocks, and those beside each."""
        side, about = self.blocks.side, self.blocks.about
        of_cell = self.blocks.group.reshape(self.grid.height, self.grid.width)
        names = {
            int(name)
            for x, y in places
            for name in np.unique(of_cell[y * side : (y + 1) * side, x * side : (x + 1) * side])
            if name != NO_GROUP
        }
        return {name: set(about[name, _BESIDE : _BESIDE + about[name, _DEGREE]].tolist()) for name in names}
