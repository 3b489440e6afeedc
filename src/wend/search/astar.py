# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A* on a grid, as a kernel that can stop after any number of expansions and go on later.

Hart, Nilsson, Raphael: A Formal Basis for the Heuristic Determination of Minimum Cost Paths (1968), as printed in
Sigurdson et al. (CIG 2018), Algorithm 1. Order of expansion: smallest f, then largest g, then first in, first out,
where a node that is improved keeps its place in the queue of its equals. A closed node is never opened again.

`begin` sets a search up, `run` carries it on, `path_length` and `write_steps` read the path off. Cells that the search
may not enter are closed from the outset (`forbid`, between `begin` and `run`). `shortest_path` is all of it at once.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from wend.errors import NoPathError
from wend.kernel import FOUND, OUT_OF_BUDGET, UNREACHABLE, jit, scramble
from wend.kernel.arrays import allocate, int32, int64, record, uint8
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, DX, DY, Point, empty_map_cost
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push

NO_LIMIT = 2**62       # expansions
NO_DIRECTION = 8


class Search(NamedTuple):
    """The workspace of one search at a time, which all searches share."""

    open_list: OpenList
    mark: Annotated[np.ndarray, int32("cells")]     # 2 * serial: open, 2 * serial + 1: closed, else: not reached
    g: Annotated[np.ndarray, int64("nodes")]        # cost of the best path so far, in units of grid.CARDINAL_COST
    order: Annotated[np.ndarray, int32("nodes")]    # when the search first reached the cell
    parent: Annotated[np.ndarray, uint8("nodes")]   # direction of the move that leads there, NO_DIRECTION at the start
    job: Annotated[
        np.ndarray,
        record(
            "serial",       # number of this search
            "start",        # cell
            "goal",         # cell
            "reached",      # cells reached, which is also the next order
            "expanded",     # nodes expanded so far by this search
            "noise",        # cells by which the heuristic may be raised at random, 0 = none
            "noise_seed",   # what the noise is a function of
        ),
    ]


def make_search(cells: int) -> Search:
    """A workspace for maps of so many cells."""
    return allocate(Search, {"open_list": make_open_list(cells)}, cells=cells, nodes=cells)


@jit
def begin(tables, search, start, goal, noise, noise_seed):
    """Set up a search from start to goal. Mutates: search."""
    job = search.job[0]
    job.serial += 1
    if job.serial >= 2**30:                             # once in a billion searches the marks run out
        search.mark[:] = 0
        job.serial = 1
    job.start = start
    job.goal = goal
    job.reached = 1
    job.expanded = 0
    job.noise = noise
    job.noise_seed = noise_seed
    width = tables.width
    h = empty_map_cost(tables, abs(start % width - goal % width), abs(start // width - goal // width))
    search.mark[start] = 2 * job.serial
    search.g[start] = 0
    search.order[start] = 0
    search.parent[start] = NO_DIRECTION
    clear(search.open_list, h)
    push(search.open_list, h, h, start)


@jit
def forbid(search, cell):
    """Keep the search that was just begun out of a cell. Mutates: search."""
    search.mark[cell] = 2 * search.job[0].serial + 1


@jit
def run(tables, search, max_expansions):
    """Expand up to so many nodes; answer FOUND, UNREACHABLE or OUT_OF_BUDGET. Mutates: search."""
    moves, offset, width = tables.moves, tables.offset, tables.width
    open_list, mark, g, order, parent = search.open_list, search.mark, search.g, search.order, search.parent
    job = search.job[0]
    opened = 2 * job.serial
    closed = opened + 1
    goal, noise, noise_seed = job.goal, job.noise, job.noise_seed
    goal_x, goal_y = goal % width, goal // width
    if mark[goal] == closed and job.expanded == 0:
        return UNREACHABLE                              # forbidden: no need to search everything else
    expanded = 0
    while not is_empty(open_list, mark, closed):
        cell = first(open_list) & 0xFFFFFFFF
        if cell == goal:                                # it stays in the list: running again finds it again
            job.expanded += expanded
            return FOUND
        if mark[cell] == closed:                        # an entry from before the cell was improved
            drop_first(open_list)
            continue
        if expanded == max_expansions:
            job.expanded += expanded
            return OUT_OF_BUDGET
        drop_first(open_list)
        mark[cell] = closed
        expanded += 1
        x, y = cell % width, cell // width
        bits = moves[cell]
        cost_here = g[cell]
        for d in range(8):
            if not bits >> d & 1:
                continue
            beside = cell + offset[d]
            state = mark[beside]
            if state == closed:
                continue
            cost = cost_here + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            if state != opened:
                mark[beside] = opened
                order[beside] = job.reached
                job.reached += 1
            elif cost >= g[beside]:
                continue
            g[beside] = cost
            parent[beside] = d
            h = empty_map_cost(tables, abs(x + DX[d] - goal_x), abs(y + DY[d] - goal_y))
            if noise > 0:
                h += noise * scramble(noise_seed ^ scramble(beside))
            push(open_list, cost + h, h, np.int64(order[beside]) << 32 | beside)
    job.expanded += expanded
    return UNREACHABLE


@jit
def expansions_of(search):
    """Nodes expanded so far by the search at hand."""
    return search.job[0].expanded


@jit
def path_length(tables, search):
    """Number of moves of the path found."""
    cell = search.job[0].goal
    length = 0
    while search.parent[cell] != NO_DIRECTION:
        cell -= tables.offset[search.parent[cell]]
        length += 1
    return length


@jit
def write_steps(tables, search, length, steps):
    """Write the directions of the path found, first move first. Mutates: steps."""
    cell = search.job[0].goal
    for k in range(length - 1, -1, -1):
        steps[k] = search.parent[cell]
        cell -= tables.offset[steps[k]]


@dataclass(frozen=True)
class Path(Sequence[Point]):
    """A path, as a sequence of places from start to goal."""

    points: tuple[Point, ...]
    expansions: int     # nodes that the search expanded

    @property
    def diagonals(self) -> int:
        """Number of diagonal moves."""
        return sum(a[0] != b[0] and a[1] != b[1] for a, b in zip(self.points, self.points[1:], strict=False))

    @property
    def cardinals(self) -> int:
        """Number of cardinal moves."""
        return len(self.points) - 1 - self.diagonals

    @property
    def cost(self) -> float:
        """Cardinal moves plus sqrt(2) times the diagonal ones."""
        return self.cardinals + math.sqrt(2) * self.diagonals

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Point, ...]: ...
    def __getitem__(self, index: int | slice) -> Point | tuple[Point, ...]:
        return self.points[index]


_kept = threading.local()       # the last workspace of each thread: setting one up costs more than a short search


def shortest_steps(grid: Grid, start: int, goal: int) -> tuple[NDArray[np.uint8], int]:
    """The directions of a shortest path between two cells that a path joins, and how many nodes were expanded."""
    search: Search | None = getattr(_kept, "search", None)
    if search is None or search.mark.size != grid.size:
        search = _kept.search = make_search(grid.size)
    begin(grid.tables, search, start, goal, 0, 0)
    run(grid.tables, search, NO_LIMIT)
    steps = np.empty(path_length(grid.tables, search), dtype=np.uint8)
    write_steps(grid.tables, search, steps.size, steps)
    return steps, int(search.job[0].expanded)


def shortest_path(grid: Grid, start: Point, goal: Point) -> Path:
    """A shortest path between two places, found by A*.

    >>> path = shortest_path(Grid.from_text("...\\n.@.\\n..."), (0, 1), (2, 1))
    >>> list(path), path.cost
    ([(0, 1), (0, 0), (1, 0), (2, 0), (2, 1)], 4.0)
    """
    first, last = grid.free_cell(start), grid.free_cell(goal)
    if grid.component[first] != grid.component[last]:
        raise NoPathError(f"no path joins ({start[0]}, {start[1]}) and ({goal[0]}, {goal[1]})")
    steps, expanded = shortest_steps(grid, first, last)
    x, y = grid.xy(first)
    points = [(x, y)]
    for d in steps.tolist():
        x += DX[d]
        y += DY[d]
        points.append((x, y))
    return Path(tuple(points), expanded)
