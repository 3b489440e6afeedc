# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Flow annotations: the streets of a grid made one-way, so that fewer agents meet head-on.

Wang, Botea: Fast and Memory-Efficient Multi-Agent Pathfinding (ICAPS 2008), as told in Sigurdson et al. (CIG 2018),
section III.B. The result is a neighbour table like the grid's own, only directed: kernels use one or the other.

Two annotations, both of which leave everything reachable that was. `global`, the paper's, in this order:

    R1  rows run west and east in turn, columns north and south: row 0 west, column 0 north        lay_streets
    R2  corridors stay two-way                                                     find_corridors, lay_streets
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
  whole, and again after an edit: in pieces, one per tick (`Flow.advance`). Until it is whole, all legal moves are
  allowed around the edit, and a goal may be out of reach. `local` is computed whole once, and then around edits.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.kernel import jit
from wend.kernel.arrays import allocate, flags, int32, record, uint8
from wend.maps.grid import Grid
from wend.maps.terrain import GridTables
from wend.search.strong_components import StrongComponents, begin_labelling, label_on, label_strong_components

NO_FLOW = "none"
GLOBAL = "global"
LOCAL = "local"

_NORTH, _EAST, _SOUTH, _WEST = 1, 2, 4, 8       # bits of the neighbour table
_STREETS = 15                                   # the four of them

_STEPS_PER_TICK = 65_536        # cells that are looked at: about 1 ms; enough for a map of 104 x 104 cells in one tick
_NO_LIMIT = 2**62

# What an annotation under way does next, cell by cell
_FIND_CORRIDORS, _LAY_STREETS, _JOIN_ENDS, _LIST_MOVES, _LABEL, _RECONNECT, _WHOLE = 0, 1, 2, 3, 4, 5, 6


class Annotation(NamedTuple):
    """A global annotation under way, and what each of its rules had to do."""

    moves: Annotated[np.ndarray, uint8("cells")]        # the table so far
    is_corridor: Annotated[np.ndarray, flags("cells")]
    begin: Annotated[np.ndarray, int32("bounds")]       # the moves as a graph: those of a cell lead to
    target: Annotated[np.ndarray, int32("edges")]       # ... target[begin[cell] : begin[cell + 1]]
    found: StrongComponents
    counts: Annotated[
        np.ndarray,
        record(
            "sinks",
            "sources",
            "components_before",    # strongly connected components before rule R4, walls not counted
            "directions_added",     # by rule R4
        ),
    ]
    progress: Annotated[np.ndarray, record("stage", "cell", "listed")]      # what is done next, where; moves listed

    @property
    def is_begun(self) -> bool:
        """Whether some of the table is made."""
        return bool(self.progress[0].stage > 0 or self.progress[0].cell > 0)

    def lengths_in_use(self) -> dict[str, int]:
        """How much of it a snapshot has to hold: nothing before it is begun, then all but moves that are not listed."""
        if self.is_begun:
            return {"edges": int(self.progress[0].listed)}
        return dict.fromkeys(("cells", "bounds", "edges", "nodes"), 0)


def make_annotation(cells: int) -> Annotation:
    """An annotation of a map of so many cells."""
    return allocate(Annotation, cells=cells, bounds=cells + 1, edges=8 * cells, nodes=cells)


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
    if moves[cell] & _STREETS == _STREETS:                      # no wall beside it
        return bits
    for d in range(4, 8):
        if moves[cell] >> d & 1:
            dx = 1 if d < 6 else -1
            dy = 1 if d == 5 or d == 6 else -1
            if not free[cell + dx] and not free[cell + dy * width]:
                bits |= 1 << d
    return bits


@jit
def find_corridors(tables, free, is_corridor, begin, end):
    """Note which of some cells are part of a corridor. Mutates: is_corridor."""
    width = tables.width
    for cell in range(begin, end):
        is_corridor[cell] = _is_corridor(free, width, cell % width, cell // width, int(tables.moves[cell]) & _STREETS)


@jit
def lay_streets(tables, free, is_corridor, moves, begin, end):
    """Rules R1 and R2, and the gaps of maps with cut corners. Mutates: moves, the table to fill."""
    width, base, offset = tables.width, tables.moves, tables.offset
    for cell in range(begin, end):
        x, y = cell % width, cell // width
        streets = int(base[cell]) & _STREETS
        bits = streets
        if not is_corridor[cell]:
            bits = streets & _one_way(x, y)
            for d in range(4):
                if streets >> d & 1 and is_corridor[cell + offset[d]]:
                    bits |= 1 << d
        moves[cell] = bits | _gaps(free, base, width, x, y)


@jit
def join_ends(tables, counts, moves, begin, end):
    """Rule R3; count sinks and sources. Mutates: counts, moves."""
    base, offset = tables.moves, tables.offset
    for cell in range(begin, end):
        streets = int(base[cell]) & _STREETS
        if streets == 0:
            continue
        leads_in = 0
        for d in range(4):
            if streets >> d & 1 and moves[cell + offset[d]] >> (d ^ 2) & 1:
                leads_in |= 1 << d
        is_sink, is_source = moves[cell] & _STREETS == 0, leads_in == 0
        counts.sinks += is_sink
        counts.sources += is_source
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


@jit
def list_moves(offset, moves, work, begin, end):
    """List the moves from some cells as a graph; the first cell begins it. Mutates: work."""
    listed = work.progress[0].listed if begin > 0 else np.int64(0)
    for cell in range(begin, end):
        work.begin[cell] = listed
        for d in range(8):
            if moves[cell] >> d & 1:
                work.target[listed] = cell + offset[d]
                listed += 1
    work.begin[end] = listed
    work.progress[0].listed = listed


@jit
def find_components(offset, moves, work):
    """Find the strongly connected components of a map with these moves; return how many. Each wall is one.

    Mutates: work.
    """
    list_moves(offset, moves, work, 0, moves.size)
    return label_strong_components(work.begin, work.target, work.found)


@jit
def reconnect(tables, moves, component, begin, end):
    """Rule R4; return the number of directions added. Mutates: moves."""
    added = 0
    for cell in range(begin, end):
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


@jit
def begin_annotation(work):
    """Set out to annotate a map. Mutates: work."""
    counts, progress = work.counts[0], work.progress[0]
    counts.sinks = counts.sources = counts.components_before = counts.directions_added = 0
    progress.stage = progress.cell = progress.listed = 0


@jit
def _do_stage(tables, free, work, begin, end):
    """What the stage at hand does with some cells. Mutates: work."""
    counts, moves, stage = work.counts[0], work.moves, work.progress[0].stage
    if stage == _FIND_CORRIDORS:
        find_corridors(tables, free, work.is_corridor, begin, end)
    elif stage == _LAY_STREETS:
        lay_streets(tables, free, work.is_corridor, moves, begin, end)
    elif stage == _JOIN_ENDS:
        join_ends(tables, counts, moves, begin, end)
    elif stage == _LIST_MOVES:
        list_moves(tables.offset, moves, work, begin, end)
        if end == free.size:
            begin_labelling(work.begin, work.found)
    else:
        counts.directions_added += reconnect(tables, moves, work.found.component, begin, end)


@jit
def annotate_on(tables, free, work, steps):
    """Go on filling a table by rules R1 to R4, for so many steps; answer whether it is whole. Mutates: work."""
    counts, progress, cells = work.counts[0], work.progress[0], np.int64(free.size)
    while progress.stage != _WHOLE:
        if progress.stage == _LABEL:
            steps = label_on(work.begin, work.target, work.found, steps)
            if steps < 0:
                return False
            counts.components_before = work.found.counts[0].components
            for cell in range(free.size):
                counts.components_before -= not free[cell]
        else:
            end = min(progress.cell + steps, cells)
            _do_stage(tables, free, work, progress.cell, end)
            steps -= end - progress.cell
            progress.cell = end
            if end < cells:
                return False
        progress.cell = 0
        progress.stage += 1
    return True


@jit
def allow_all_around(tables, moves, cells):
    """Allow all legal moves from some cells, and from those around them. Mutates: moves."""
    width = tables.width
    for cell in cells:
        x, y = cell % width, cell // width
        for near_y in range(max(y - 1, 0), min(y + 2, moves.size // width)):
            for near_x in range(max(x - 1, 0), min(x + 2, width)):
                moves[near_y * width + near_x] = tables.moves[near_y * width + near_x]


class Flow:
    """The directed view of a grid, kept up to date by `cells_changed` and `advance`.

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
        self._work = make_annotation(grid.size if kind == GLOBAL else 0)
        self._edited: list[int] = []            # cells that were edited since the annotation under way began
        self._is_stale = False                  # one is under way, or about to begin
        if kind == GLOBAL:
            annotate_on(grid.tables, self._free, self._work, _NO_LIMIT)
            self._moves[:] = self._work.moves
            begin_annotation(self._work)
        else:
            lay_local_streets(grid.tables, self._free, self._moves, 0, 0, grid.width - 1, grid.height - 1)

    def tables(self) -> GridTables:
        """The grid's tables with one-way moves."""
        return self._grid.tables._replace(moves=self._moves)

    def advance(self) -> bool:
        """Go on with a global annotation that an edit made necessary, once per tick; return whether streets changed.

        Edits do not keep it from its end: what they change is left open, and the next one begins.
        """
        if not self._is_stale or not annotate_on(self._grid.tables, self._free, self._work, _STEPS_PER_TICK):
            return False
        self._moves[:] = self._work.moves
        allow_all_around(self._grid.tables, self._moves, np.array(self._edited, np.int32))
        self._is_stale, self._edited = bool(self._edited), []
        begin_annotation(self._work)
        return True

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        """Follow an edit of the grid at these cells."""
        if self._kind == GLOBAL:
            allow_all_around(self._grid.tables, self._moves, cells)
            if self._work.is_begun:
                self._edited += cells.tolist()
            self._is_stale = True
        else:
            for x, y in (self._grid.xy(cell) for cell in cells.tolist()):
                lay_local_streets(self._grid.tables, self._free, self._moves, x - 1, y - 1, x + 1, y + 1)


class NoFlow:
    """The same face without one-way streets, for planners that can do with or without."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def tables(self) -> GridTables:
        """The grid's tables."""
        return self._grid.tables

    def advance(self) -> bool:
        """No streets change."""
        return False

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        """The grid's tables follow an edit by themselves."""


def make_flow(grid: Grid, kind: str) -> Flow | NoFlow:
    """The streets of a grid: NO_FLOW, GLOBAL or LOCAL."""
    return NoFlow(grid) if kind == NO_FLOW else Flow(grid, kind)
