# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Flow annotations: the streets of a grid made one-way, so that fewer agents meet head-on.

Wang, Botea: Fast and Memory-Efficient Multi-Agent Pathfinding (ICAPS 2008), as told in Sigurdson et al. (CIG 2018),
section III.B. The result is a neighbour table like the grid's own, only directed: kernels use one or the other.

Two annotations, both of which leave everything reachable that was. `global`, the paper's, in this order:

    R1  rows run west and east in turn, columns north and south: row 0 west, column 0 north        lay_streets
    R2  corridors stay two-way                                                                     lay_streets
    R3  a cell that cannot be left (sink) or entered (source) gets its diagonal, outward or inward join_ends
    R4  streets between cells that cannot reach each other both ways any more become two-way       reconnect

`local`, ours: of the two 2 x 2 blocks that a street borders, the one whose corner has odd x + y is a roundabout under
R1. The street is one-way if that block is free, and two-way otherwise, so that every one-way street is part of a
roundabout; no diagonals are needed. It has more two-way streets along walls, and an edit changes what is beside it.

Deviations and open points
- What a corridor is, which diagonals a sink gets and how connectivity is restored, the paper leaves open. A corridor
  cell has one neighbour; or two that are opposite; or two at a right angle, with a wall between them. R4 is a theorem:
  after one round each street is two-way or lies within one strongly connected component.
- A diagonal of R3 has both cells beside it free, whatever the grid's rules; a 4-connected grid has none, and R4 does
  the work. Where corners may be cut, a diagonal between two walls may be the only way, and stays two-way.
- The paper computes annotations cell by cell when first needed. R4 looks at the whole map, so `global` is computed
  whole, on first use and on the first use after an edit; `local` is computed whole once, and then around edits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.kernel import jit
from wend.maps.grid import Grid
from wend.maps.terrain import GridTables

GLOBAL = "global"
LOCAL = "local"

_NORTH, _EAST, _SOUTH, _WEST = 1, 2, 4, 8       # bits of the neighbour table
_STREETS = 15                                   # the four of them


@jit
def _is_free(free, width, x, y):
    """Whether there is a cell at (x, y), and no wall."""
    return 0 <= x < width and 0 <= y < free.size // width and free[y * width + x]


@jit
def _is_corridor(free, width, x, y, streets):
    """Whether a cell with these neighbours is part of a corridor."""
    if streets & (streets - 1) == 0:                            # one neighbour, or none
        return True
    if streets == _NORTH | _SOUTH or streets == _EAST | _WEST:
        return True
    if streets == _NORTH | _EAST:
        return not _is_free(free, width, x + 1, y - 1)
    if streets == _SOUTH | _EAST:
        return not _is_free(free, width, x + 1, y + 1)
    if streets == _SOUTH | _WEST:
        return not _is_free(free, width, x - 1, y + 1)
    if streets == _NORTH | _WEST:
        return not _is_free(free, width, x - 1, y - 1)
    return False


@jit
def _one_way(x, y):
    """The two directions that R1 allows from a cell."""
    return (_NORTH if x % 2 == 0 else _SOUTH) | (_WEST if y % 2 == 0 else _EAST)


@jit
def _gaps(free, moves, width, x, y):
    """The diagonals from a cell that squeeze between two walls; there are none unless corners may be cut."""
    cell = y * width + x
    bits = 0
    for d in range(4, 8):
        if moves[cell] >> d & 1:
            dx = 1 if d < 6 else -1
            dy = 1 if d == 5 or d == 6 else -1
            if not free[cell + dx] and not free[cell + dy * width]:
                bits |= 1 << d
    return bits


@jit
def lay_streets(tables, free, moves):
    """Rules R1 and R2, and the gaps of maps with cut corners. Mutates: moves, the table to fill."""
    width, base, offset = tables.width, tables.moves, tables.offset
    for cell in range(free.size):
        x, y = cell % width, cell // width
        streets = int(base[cell]) & _STREETS
        bits = streets
        if not _is_corridor(free, width, x, y, streets):
            bits = streets & _one_way(x, y)
            for d in range(4):
                if streets >> d & 1:
                    beside = cell + offset[d]
                    if _is_corridor(free, width, beside % width, beside // width, int(base[beside]) & _STREETS):
                        bits |= 1 << d
        moves[cell] = bits | _gaps(free, base, width, x, y)


@jit
def join_ends(tables, moves, ends):
    """Rule R3; write the number of sinks and of sources to `ends`. Mutates: moves, ends."""
    base, offset = tables.moves, tables.offset
    ends[0] = ends[1] = 0
    for cell in range(moves.size):
        streets = int(base[cell]) & _STREETS
        if streets == 0:
            continue
        leads_in = 0
        for d in range(4):
            if streets >> d & 1 and moves[cell + offset[d]] >> (d ^ 2) & 1:
                leads_in |= 1 << d
        is_sink, is_source = moves[cell] & _STREETS == 0, leads_in == 0
        ends[0] += is_sink
        ends[1] += is_source
        if not is_sink and not is_source:
            continue
        for d in range(4, 8):
            vertical = _NORTH if d == 4 or d == 7 else _SOUTH
            horizontal = _EAST if d < 6 else _WEST
            if base[cell] >> d & 1 and streets & vertical and streets & horizontal:
                if is_sink:
                    moves[cell] |= 1 << d
                else:
                    moves[cell + offset[d]] |= 1 << (d ^ 2)


class Components(NamedTuple):
    """Scratch for finding strongly connected components."""

    tried: np.ndarray       # uint8[cells]  directions tried already
    component: np.ndarray   # int32[cells]  number of the cell's component, -1 while it has none
    number: np.ndarray      # int32[cells]  when the cell was reached, 0 if it was not
    low: np.ndarray         # int32[cells]  the smallest number known to be reachable from it inside its component
    waiting: np.ndarray     # int32[cells]  a stack of cells reached that have no component yet
    path: np.ndarray        # int32[cells]  a stack of cells that lead to the one at hand


def make_components(cells: int) -> Components:
    """A workspace for maps of so many cells."""
    return Components(np.empty(cells, np.uint8), *(np.empty(cells, np.int32) for _ in range(5)))


@jit
def strong_components(free, moves, offset, found):
    """Number the strongly connected components; return how many there are. Mutates: found.

    Tarjan: Depth-First Search and Linear Graph Algorithms (1972), with a stack of its own instead of recursion.
    """
    component, number, low, tried = found.component, found.number, found.low, found.tried
    for cell in range(free.size):
        component[cell] = -1
        number[cell] = 0
    count, reached, held = 0, 0, 0
    for root in range(free.size):
        if not free[root] or number[root] != 0:
            continue
        depth = 0
        cell = root
        while depth >= 0:
            if number[cell] == 0:
                reached += 1
                number[cell] = low[cell] = reached
                tried[cell] = 0
                found.path[depth] = cell
                found.waiting[held] = cell
                held += 1
            down = -1
            while tried[cell] < 8 and down == -1:
                d = tried[cell]
                tried[cell] += 1
                if moves[cell] >> d & 1:
                    beside = cell + offset[d]
                    if number[beside] == 0:
                        down = beside
                    elif component[beside] == -1:
                        low[cell] = min(low[cell], number[beside])
            if down != -1:
                depth += 1
                cell = down
                continue
            if low[cell] == number[cell]:                       # nothing before it can be reached: it is complete
                while component[cell] == -1:
                    held -= 1
                    component[found.waiting[held]] = count
                count += 1
            depth -= 1
            if depth >= 0:
                above = found.path[depth]
                low[above] = min(low[above], low[cell])
                cell = above
    return count


@jit
def reconnect(tables, moves, component):
    """Rule R4; return the number of directions added. Mutates: moves."""
    added = 0
    for cell in range(moves.size):
        streets = int(tables.moves[cell]) & _STREETS
        for d in range(4):
            if streets >> d & 1 and not moves[cell] >> d & 1 and component[cell] != component[cell + tables.offset[d]]:
                moves[cell] |= 1 << d
                added += 1
    return added


@jit
def _roundabout_is_free(free, width, x, y, d):
    """Whether the block with odd x + y beside the street in direction d from (x, y) has no wall."""
    left = x - 1 if d == 3 else x                               # the two blocks begin here and one further back
    top = y - 1 if d == 0 else y
    if (left + top) % 2 == 0:
        if d == 0 or d == 2:
            left -= 1
        else:
            top -= 1
    return (
        _is_free(free, width, left, top) and _is_free(free, width, left + 1, top)
        and _is_free(free, width, left, top + 1) and _is_free(free, width, left + 1, top + 1)
    )  # fmt: skip


@jit
def lay_local_streets(tables, free, moves, x0, y0, x1, y1):
    """The local annotation of a rectangle (inclusive, clipped to the map). Mutates: moves."""
    width = tables.width
    for y in range(max(y0, 0), min(y1, free.size // width - 1) + 1):
        for x in range(max(x0, 0), min(x1, width - 1) + 1):
            cell = y * width + x
            streets = int(tables.moves[cell]) & _STREETS
            bits = streets & _one_way(x, y)
            for d in range(4):
                if streets >> d & 1 and not _roundabout_is_free(free, width, x, y, d):
                    bits |= 1 << d
            moves[cell] = bits | _gaps(free, tables.moves, width, x, y)


def annotate(tables: GridTables, free: NDArray[np.bool_], moves: NDArray[np.uint8]) -> dict[str, int]:
    """Fill a table by rules R1 to R4; return how much each had to do."""
    found, ends = make_components(free.size), np.zeros(2, np.int64)
    lay_streets(tables, free, moves)
    join_ends(tables, moves, ends)
    before = strong_components(free, moves, tables.offset, found)
    added = reconnect(tables, moves, found.component)
    return {"sinks": int(ends[0]), "sources": int(ends[1]), "components_before": before, "directions_added": added}


class Flow:
    """The directed view of a grid. Computed on first use, kept up to date by `cells_changed`.

    >>> flow = Flow(Grid.from_text("....\\n....\\n....\\n...."), GLOBAL)
    >>> int(flow.tables().moves[0])     # (0, 0) is a sink: it can only be left by its diagonal, to the south-east
    32
    """

    def __init__(self, grid: Grid, kind: str) -> None:
        """Take the grid, which is shared, and the kind of annotation: GLOBAL or LOCAL."""
        if kind not in (GLOBAL, LOCAL):
            raise ParameterError(f"a flow is {GLOBAL!r} or {LOCAL!r}, not {kind!r}")
        self._grid = grid
        self._kind = kind
        self._free = grid.free
        self._moves = np.zeros(grid.size, np.uint8)
        self._is_stale = True

    def tables(self) -> GridTables:
        """The grid's tables with one-way moves."""
        if self._is_stale:
            self._is_stale = False
            grid = self._grid
            if self._kind == GLOBAL:
                annotate(grid.tables, self._free, self._moves)
            else:
                lay_local_streets(grid.tables, self._free, self._moves, 0, 0, grid.width - 1, grid.height - 1)
        return self._grid.tables._replace(moves=self._moves)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        """Follow an edit of the grid at these cells."""
        if self._kind == GLOBAL:
            self._is_stale = True
        elif not self._is_stale:
            for x, y in (self._grid.xy(cell) for cell in cells.tolist()):
                lay_local_streets(self._grid.tables, self._free, self._moves, x - 1, y - 1, x + 1, y + 1)
