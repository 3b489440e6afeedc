# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Map Marker: paths that keep a group together around large obstacles, without long detours around small ones.

E. Wicks Rivas, R. Souza: Map Marker: a Multi-Agent Pathfinder for Cohesive Groups in Real-Time Strategy Games.

Every cell has a marker, at first 1. The agents of a group search one after the other, those nearest to the target
first, by an A* that takes a node's f times its marker for its total. Each path found makes the markers of its cells
smaller (and those of the cells beside them, a little less), so that agents that search later are drawn to the paths of
the others. The next order forgets the markers. With a factor of 1 no marker ever changes: that is A* for each agent.

| paper                        | here                     |
|------------------------------|--------------------------|
| Algorithm 1, main body       | `mark_paths`             |
| Algorithm 2, pathfinder      | `begin`, `run`           |
| Algorithm 3, UpdateNodes     | `trace_path`, `update`   |
| marker factor, marker cap    | `factor`, `cap`          |

Symbols: g cost from the start, h straight distance to the target, total = (g + h) * marker. g and totals are int64 in
the units of grid.CARDINAL_COST, so that equal paths have equal costs whatever the order of their moves.

Deviations
- A node is (re-)opened only if its total becomes smaller. Line 17 also takes an equal one; then a node is opened once
  for each shortest path to it, and on open ground these are too many. For one node h and marker are constants during a
  search, so this is: if its g becomes smaller.
- Of equal totals the one that was pushed first is expanded first, and the neighbours of a cell are pushed west before
  east. The paper says neither. With its units listed from right to left this gives its figures; pushing east before
  west gives other rows of its Table I.
- The cells beside a path are all eight neighbours of its cells, whether or not there is a legal move between them.
- A factor of 1 changes no marker. As printed the cells beside a path would get 1.02, and it would not be A*.
- As printed, and worth knowing: with a factor above 0.98 the markers beside a path rise above 1.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import NoPathError, ParameterError
from wend.kernel import FOUND, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.arrays import allocate, copied, float64, grown, int32, int64, record, uint8
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.search.astar import NO_LIMIT, Path
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push

FACTOR = 0.90           # the paper's best pair
CAP = 0.75
BESIDE = 0.02           # added to the factor for the cells beside a path

_NO_DIRECTION = 8


class Marking(NamedTuple):
    """The workspace of one group's order at a time: the markers, and the search of the agent at hand."""

    open_list: OpenList
    marker: Annotated[np.ndarray, float64("cells", fill=1)]     # what a node's f is multiplied by
    h: Annotated[np.ndarray, float64("cells")]      # straight distance to the target, in units of grid.CARDINAL_COST
    mark: Annotated[np.ndarray, int32("cells")]     # 4 * search + what the cell is to it, see below; else: nothing yet
    g: Annotated[np.ndarray, int64("cells")]        # cost of the best path so far, in units of grid.CARDINAL_COST
    parent: Annotated[np.ndarray, uint8("cells")]   # direction of the move that leads there, _NO_DIRECTION at the start
    path: Annotated[np.ndarray, int32("cells")]     # the cells of the path found, target first
    job: Annotated[
        np.ndarray,
        record(
            "search",       # number of this search
            "target",       # cell
            "pushed",       # entries that this search put into the open list
            "expanded",     # nodes expanded so far by this search
        ),
    ]


# Marking.mark holds 4 * search and
_OPEN = 0
_CLOSED = 1
_ON_PATH = 2        # its marker was updated as that of a cell on the path ...
_BESIDE_PATH = 3    # ... or beside it


def make_marking(cells: int) -> Marking:
    """A workspace for maps of so many cells."""
    return allocate(Marking, {"open_list": make_open_list(cells)}, cells=cells)


@jit
def begin_order(tables, marking, target):
    """Forget all markers, and measure the straight distances to a target (Alg. 1, l. 1-3). Mutates: marking."""
    width = tables.width
    x, y = target % width, target // width
    cell = 0
    for dy in range(-y, marking.h.size // width - y):
        for dx in range(-x, width - x):
            marking.marker[cell] = 1.0
            marking.h[cell] = np.sqrt(np.float64(dx * dx + dy * dy)) * CARDINAL_COST
            cell += 1
    marking.job[0].target = target


@jit
def begin(marking, start, cap):
    """Set up the search of one agent of the group (Alg. 2, l. 1-6). Mutates: marking."""
    job = marking.job[0]
    job.search += 1
    if job.search >= 2**29:                             # once in half a billion searches the marks run out
        marking.mark[:] = 0
        job.search = 1
    job.pushed = 1
    job.expanded = 0
    marking.mark[start] = 4 * job.search + _OPEN
    marking.g[start] = 0
    marking.parent[start] = _NO_DIRECTION
    clear(marking.open_list, np.int64(cap * marking.h[start]))      # no total but the start's is smaller
    push(marking.open_list, 0, 0, start)


@jit
def run(tables, marking, max_expansions):
    """Expand up to so many nodes; answer FOUND, UNREACHABLE, OUT_OF_BUDGET or OUT_OF_SPACE. Mutates: marking."""
    moves, offset = tables.moves, tables.offset
    open_list, marker, h, mark = marking.open_list, marking.marker, marking.h, marking.mark
    g, parent, job = marking.g, marking.parent, marking.job[0]
    opened, closed = 4 * job.search + _OPEN, 4 * job.search + _CLOSED
    target, capacity = job.target, open_list.pool.shape[0]
    pushed = job.pushed
    expanded = 0
    answer = UNREACHABLE
    while not is_empty(open_list, mark, closed):
        cell = first(open_list) & 0xFFFFFFFF
        if cell == target:                              # Alg. 2, l. 9; it stays in the list
            answer = FOUND
            break
        if mark[cell] == closed:                        # an entry from before the cell was improved
            drop_first(open_list)
            continue
        if expanded == max_expansions:
            answer = OUT_OF_BUDGET
            break
        if pushed + 8 > capacity:                       # re-opened nodes are pushed again and again
            answer = OUT_OF_SPACE
            break
        drop_first(open_list)
        mark[cell] = closed
        expanded += 1
        bits = moves[cell]
        cost_here = g[cell]
        for d in range(7, -1, -1):                      # west before east: see Deviations
            if not bits >> d & 1:
                continue
            beside = cell + offset[d]
            cost = cost_here + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            state = mark[beside]
            if (state == opened or state == closed) and cost >= g[beside]:
                continue                                # Alg. 2, l. 17; strictly
            mark[beside] = opened
            g[beside] = cost
            parent[beside] = d
            total = np.int64((cost + h[beside]) * marker[beside])       # l. 16
            push(open_list, total, 0, np.int64(pushed) << 32 | beside)
            pushed += 1
    job.pushed = pushed
    job.expanded += expanded
    return answer


@jit
def expansions_of(marking):
    """Nodes expanded so far by the search at hand."""
    return marking.job[0].expanded


@jit
def trace_path(tables, marking):
    """Write down the path found, target first, and return the number of its cells. Mutates: marking."""
    cell = marking.job[0].target
    length = 1
    marking.path[0] = cell
    while marking.parent[cell] != _NO_DIRECTION:
        cell -= tables.offset[marking.parent[cell]]
        marking.path[length] = cell
        length += 1
    return length


@jit
def update(tables, marking, length, factor, cap):
    """Make the first so many cells of the path more attractive, and the cells beside it (Alg. 3). Mutates: marking."""
    path, mark, marker = marking.path, marking.mark, marking.marker
    width = tables.width
    height = marker.size // width
    on_path, beside_path = 4 * marking.job[0].search + _ON_PATH, 4 * marking.job[0].search + _BESIDE_PATH
    for k in range(length):                             # l. 2-8
        mark[path[k]] = on_path
        marker[path[k]] = max(marker[path[k]] * factor, cap)
    for k in range(length):                             # l. 9-17
        x, y = path[k] % width, path[k] // width
        for beside_y in range(max(y - 1, 0), min(y + 2, height)):
            for beside_x in range(max(x - 1, 0), min(x + 2, width)):
                cell = beside_y * width + beside_x
                if mark[cell] != on_path and mark[cell] != beside_path:
                    mark[cell] = beside_path
                    marker[cell] = max(marker[cell] * (factor + BESIDE), cap)


_NO_CELLS = np.zeros(0, np.int32)
_kept = threading.local()       # a workspace of each thread that is free: setting one up costs more than a short search


def mark_paths(
    grid: Grid, starts: Sequence[Point], target: Point, *, factor: float = FACTOR, cap: float = CAP
) -> list[Path]:
    """Paths from all starts to one target that keep a group together; a factor of 1 is A*. Collisions are ignored.

    >>> grid = Grid.from_text("...\\n.@.\\n...")
    >>> [path.cost for path in mark_paths(grid, [(0, 1), (0, 2)], (2, 1))]
    [4.0, 3.0]
    """
    for name, value in (("factor", factor), ("cap", cap)):
        if not 0 < value <= 1:
            raise ParameterError(f"{name} is more than 0 and at most 1, not {value!r}")
    end = grid.free_cell(target)
    cells = [grid.free_cell(start) for start in starts]
    for start, cell in zip(starts, cells, strict=True):
        if grid.component[cell] != grid.component[end]:
            raise NoPathError(f"no path joins ({start[0]}, {start[1]}) and ({target[0]}, {target[1]})")
    marker = Marker(grid, cells, end, factor=factor, cap=cap)
    marker.run(NO_LIMIT)
    return [_as_path(grid, cells, expanded) for cells, expanded in marker.found]


class Marker:
    """Map Marker at work on one group: it can stop after any expansion, and go on from there.

    Its paths are those of the map as it was at the beginning.
    """

    def __init__(
        self, grid: Grid, starts: Sequence[int], target: int, *, factor: float = FACTOR, cap: float = CAP
    ) -> None:
        marking: Marking | None = vars(_kept).pop("marking", None)
        if marking is None or marking.mark.size != grid.size:
            marking = make_marking(grid.size)
        self._marking: Marking | None = marking             # it is replaced when it grows; None: the search has ended
        self.found: list[tuple[NDArray[np.int32], int]] = [(_NO_CELLS, 0)] * len(starts)    # path and expansions, each
        self._tables, self._starts = copied(grid.tables), list(starts)
        self._factor, self._cap = float(factor), float(cap)
        begin_order(grid.tables, marking, target)
        xy = grid.xy
        self._line = sorted(range(len(starts)), key=lambda k: _square(xy(starts[k]), xy(target)))      # Alg. 1, l. 4
        self._done = 0          # agents of the line that have their paths
        self._begin()

    @property
    def is_done(self) -> bool:
        """Whether all agents have their paths."""
        return self._done == len(self._line)

    def run(self, limit: int) -> int:
        """Expand up to so many nodes; return how many were expanded."""
        made, tables = 0, self._tables
        while (marking := self._marking) is not None:
            before = int(expansions_of(marking))
            answer = run(tables, marking, limit - made)
            made += int(expansions_of(marking)) - before
            if answer == OUT_OF_BUDGET:
                break
            if answer == OUT_OF_SPACE:
                self._marking = grown(marking, entries=2 * marking.open_list.pool.shape[0])
                continue
            length = trace_path(tables, marking)
            if self._factor < 1:
                update(tables, marking, length, self._factor, self._cap)
            path = marking.path[length - 1 :: -1].copy()
            self.found[self._line[self._done]] = path, int(expansions_of(marking))
            self._done += 1
            self._begin()
        return made

    def end(self) -> None:
        """Leave the workspace to the next search: all agents have their paths, or none waits for one any more."""
        marking, self._marking = self._marking, None
        if marking is not None:
            _kept.marking = marking

    def _begin(self) -> None:
        if self.is_done or self._marking is None:
            self.end()
        else:
            begin(self._marking, self._starts[self._line[self._done]], self._cap)


def _as_path(grid: Grid, cells: NDArray[np.int32], expanded: int) -> Path:
    y, x = np.divmod(cells, grid.width)
    return Path(tuple(zip(x.tolist(), y.tolist(), strict=True)), expanded)


def _square(a: Point, b: Point) -> int:
    """The square of the straight distance, which is a whole number: ties are ties."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
