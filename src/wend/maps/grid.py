# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Grid: terrain, the neighbour table, connected components, and the two ways to name a place.

At the API a place is `(x, y)`: column, row, origin top-left, y down. In kernels it is a `cell`: `y * width + x`.

The neighbour table holds one byte per cell, bit `d` set when the move in direction `d` is legal from there. A map edit
recomputes the bytes around the edited cell; component labels are repaired by floods that start at the edit and stop as
soon as they meet, so that an edit costs what it changes and not what the map weighs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wend.errors import MapError
from wend.kernel import NO_CELL, jit

Point = tuple[int, int]

PASSABLE_LETTERS = ".GS"
BLOCKED_LETTERS = "@OTW#"

# Directions 0..7. Cardinals come first; the opposite of direction d is d ^ 2.
DIRECTION_NAMES = ("N", "E", "S", "W", "NE", "SE", "SW", "NW")
DX = (0, 1, 0, -1, 1, 1, -1, -1)
DY = (-1, 0, 1, 0, -1, 1, 1, -1)

# What a move costs, in integers: sqrt(2) * 2**32 is 6074000999.95, so that sums of moves compare as the real numbers do
# while they differ by fewer than 170,000 diagonals. Floats are for printing.
CARDINAL_COST = 2**32
DIAGONAL_COST = 6074001000

NO_COMPONENT = -1


class GridTables(NamedTuple):
    """A grid as kernels see it."""

    width: int          # columns; cell = y * width + x
    moves: np.ndarray   # uint8[cells]   bit d set: the move in direction d is legal
    offset: np.ndarray  # int32[8]       what direction d adds to a cell
    minor: int          # cost of a step along the shorter of two axes, when both are walked without obstacles


@jit
def empty_map_cost(tables, dx, dy):
    """Cost of the shortest path over dx columns and dy rows (both >= 0) without obstacles: octile, or Manhattan."""
    return np.int64(max(dx, dy)) * CARDINAL_COST + np.int64(min(dx, dy)) * tables.minor


class _Flood(NamedTuple):
    """Scratch for repairing component labels: up to eight floods that advance in turn."""

    stamp: np.ndarray   # int64[cells]  repair * 8 + flood that reached the cell
    link: np.ndarray    # int32[cells]  the cell after this one in its flood's queue
    head: np.ndarray    # int32[8]      next cell to expand, NO_CELL when the flood ran dry
    tail: np.ndarray    # int32[8]      last cell reached
    first: np.ndarray   # int32[8]      where the flood began
    size: np.ndarray    # int32[8]      cells reached
    group: np.ndarray   # int32[8]      floods that met share the smallest number among them


@jit
def _update_moves(moves, free, width, eight, cutting, x0, y0, x1, y1):
    """Recompute the neighbour bytes of a rectangle (inclusive, clipped to the map). Mutates: moves."""
    height = free.size // width
    for y in range(max(y0, 0), min(y1, height - 1) + 1):
        for x in range(max(x0, 0), min(x1, width - 1) + 1):
            cell = y * width + x
            if not free[cell]:
                moves[cell] = 0
                continue
            north = y > 0 and free[cell - width]
            south = y < height - 1 and free[cell + width]
            west = x > 0 and free[cell - 1]
            east = x < width - 1 and free[cell + 1]
            bits = int(north) | int(east) << 1 | int(south) << 2 | int(west) << 3
            if eight:
                if y > 0 and x < width - 1 and free[cell - width + 1] and (cutting or (north and east)):
                    bits |= 16
                if y < height - 1 and x < width - 1 and free[cell + width + 1] and (cutting or (south and east)):
                    bits |= 32
                if y < height - 1 and x > 0 and free[cell + width - 1] and (cutting or (south and west)):
                    bits |= 64
                if y > 0 and x > 0 and free[cell - width - 1] and (cutting or (north and west)):
                    bits |= 128
            moves[cell] = bits


@jit
def _label_from(tables, component, start, label, queue):
    """Give everything connected to `start` the label; return the number of cells. Mutates: component, queue."""
    old = component[start]
    component[start] = label
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        bits = tables.moves[cell]
        for d in range(8):
            if bits >> d & 1:
                beside = cell + tables.offset[d]
                if component[beside] == old:
                    component[beside] = label
                    queue[tail] = beside
                    tail += 1
    return tail


@jit
def _label_all(tables, free, component, size, queue):
    """Label every component, in the order of its first cell; return their number. Mutates: all but tables, free."""
    unlabelled = NO_COMPONENT - 1
    for cell in range(free.size):
        component[cell] = unlabelled if free[cell] else NO_COMPONENT
    count = 0
    for cell in range(free.size):
        if component[cell] == unlabelled:
            size[count] = _label_from(tables, component, cell, count, queue)
            count += 1
    return count


@jit
def _split(tables, flood, seeds, seed_count, repair):
    """Advance floods from all seeds in turn until at most one group of them still runs. Mutates: flood.

    Floods that touch belong to one component and merge into one group. A group whose floods have all run dry is a
    component of its own. The last group is never flooded to its end, so a cut-off corner costs what the corner holds.
    """
    for k in range(seed_count):
        flood.group[k] = k
        flood.first[k] = seeds[k]
        flood.head[k] = seeds[k]
        flood.tail[k] = seeds[k]
        flood.size[k] = 1
        flood.stamp[seeds[k]] = repair * 8 + k
        flood.link[seeds[k]] = NO_CELL
    while True:
        running = -1
        groups_running = 0
        for k in range(seed_count):
            if flood.head[k] != NO_CELL and flood.group[k] != running:
                groups_running += 1
                running = flood.group[k]
        if groups_running <= 1:
            return
        for k in range(seed_count):
            cell = flood.head[k]
            if cell == NO_CELL:
                continue
            bits = tables.moves[cell]
            for d in range(8):
                if not bits >> d & 1:
                    continue
                beside = cell + tables.offset[d]
                if flood.stamp[beside] // 8 == repair:
                    met = flood.group[flood.stamp[beside] % 8]
                    mine = flood.group[k]
                    if met != mine:
                        low, high = min(met, mine), max(met, mine)
                        for j in range(seed_count):
                            if flood.group[j] == high:
                                flood.group[j] = low
                else:
                    flood.stamp[beside] = repair * 8 + k
                    flood.link[beside] = NO_CELL
                    flood.link[flood.tail[k]] = beside
                    flood.tail[k] = beside
                    flood.size[k] += 1
            flood.head[k] = flood.link[cell]


@jit
def _nearest_of_component(component, width, label, x, y):
    """The cell with that label nearest to (x, y) by straight distance, ties to the lowest cell; NO_CELL if none."""
    best, best_square = NO_CELL, 0
    for cell in range(component.size):
        if component[cell] == label:
            square = (cell % width - x) ** 2 + (cell // width - y) ** 2
            if best == NO_CELL or square < best_square:
                best, best_square = cell, square
    return best


class Grid:
    """A rectangular map of passable and blocked cells, with the moves that its rules allow.

    >>> grid = Grid.from_text('''
    ...     ..@.
    ...     ..@.
    ... ''')
    >>> grid.reachable((0, 0), (1, 1)), grid.reachable((0, 0), (3, 0))
    (True, False)
    >>> grid.unblock([(2, 1)])
    >>> grid.reachable((0, 0), (3, 0))
    True
    """

    def __init__(self, passable: ArrayLike, *, connectivity: int = 8, corner_cutting: bool = False) -> None:
        """Take a boolean array of rows, True where a unit may stand. The array is copied."""
        free = np.array(passable, dtype=np.bool_, order="C")
        if free.ndim != 2 or free.size == 0:
            raise MapError(f"a map is a non-empty 2-D array of rows, not an array of shape {free.shape}")
        if free.size > 2**31 - 1:
            raise MapError(f"a map of {free.shape[1]} x {free.shape[0]} cells is more than 32-bit cells can number")
        if connectivity not in (4, 8):
            raise MapError(f"connectivity is 4 or 8, not {connectivity!r}")
        if corner_cutting and connectivity == 4:
            raise MapError("corner_cutting needs diagonals, and connectivity 4 has none")
        self.height, self.width = (int(n) for n in free.shape)
        self.connectivity = connectivity
        self.corner_cutting = bool(corner_cutting)
        self._free = free.ravel()
        self._derive()

    def _derive(self) -> None:
        """Compute the neighbour table and the component labels from the terrain."""
        offset = np.array([dy * self.width + dx for dx, dy in zip(DX, DY, strict=True)], dtype=np.int32)
        minor = DIAGONAL_COST - CARDINAL_COST if self.connectivity == 8 else CARDINAL_COST
        self.tables = GridTables(self.width, np.zeros(self.size, dtype=np.uint8), offset, minor)
        self._refresh_moves(0, 0, self.width - 1, self.height - 1)
        self.component = np.empty(self.size, dtype=np.int32)    # int32[cells] label, NO_COMPONENT where blocked
        queue = np.empty(self.size, dtype=np.int32)
        sizes = np.empty(self.size, dtype=np.int32)
        count = _label_all(self.tables, self._free, self.component, sizes, queue)
        self._component_size: dict[int, int] = dict(enumerate(sizes[:count].tolist()))
        self._next_label = int(count)
        self._queue = queue
        self._flood: _Flood | None = None
        self._repairs = 0

    @classmethod
    def from_text(cls, drawing: str, *, connectivity: int = 8, corner_cutting: bool = False) -> Grid:
        """Read a drawing, a line per row: `.` `G` `S` passable, `@` `O` `T` `W` `#` blocked. Indentation is ignored."""
        rows = [line.strip() for line in drawing.strip().splitlines()]
        for y, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise MapError(f"row {y} of the drawing has {len(row)} cells, row 0 has {len(rows[0])}")
            for x, letter in enumerate(row):
                if letter not in PASSABLE_LETTERS + BLOCKED_LETTERS:
                    raise MapError(f"({x}, {y}) of the drawing holds unknown terrain {letter!r}")
        passable = [[letter in PASSABLE_LETTERS for letter in row] for row in rows]
        return cls(passable, connectivity=connectivity, corner_cutting=corner_cutting)

    @classmethod
    def load(cls, source: str | Path, *, connectivity: int = 8, corner_cutting: bool = False) -> Grid:
        """Load a map: a `.map` file, a name such as `bg512/AR0414SR`, or a generator such as `rooms:seed=3`."""
        from wend.maps.sources import load_passable  # files, formats and folders are none of this module's business

        return cls(load_passable(source), connectivity=connectivity, corner_cutting=corner_cutting)

    def copy(self) -> Grid:
        """An independent copy; edits to one are not seen by the other."""
        twin = object.__new__(Grid)
        twin.__dict__.update(self.__dict__)
        twin._free = self._free.copy()
        twin.tables = self.tables._replace(moves=self.tables.moves.copy())
        twin.component = self.component.copy()
        twin._component_size = dict(self._component_size)
        twin._queue = np.empty_like(self._queue)
        twin._flood = None
        return twin

    def with_rules(self, *, connectivity: int = 8, corner_cutting: bool = False) -> Grid:
        """The same terrain under other rules of movement."""
        return Grid(self.passable, connectivity=connectivity, corner_cutting=corner_cutting)

    # --- places ----------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of cells, blocked ones included."""
        return self.width * self.height

    @property
    def passable(self) -> NDArray[np.bool_]:
        """The terrain as rows, True where a unit may stand; a read-only view."""
        view = self._free.reshape(self.height, self.width)
        view.flags.writeable = False
        return view

    def cell(self, x: int, y: int) -> int:
        """The cell at column x, row y."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise MapError(f"({x}, {y}) is off the map, which is {self.width} x {self.height}")
        return int(y) * self.width + int(x)

    def xy(self, cell: int) -> Point:
        """Column and row of a cell."""
        if not 0 <= cell < self.size:
            raise MapError(f"cell {cell} is off the map, which has {self.size} cells")
        return int(cell) % self.width, int(cell) // self.width

    def is_free(self, point: Point) -> bool:
        """Whether a unit may stand there; False off the map too."""
        x, y = point
        return 0 <= x < self.width and 0 <= y < self.height and bool(self._free[y * self.width + x])

    def free_cell(self, point: Point) -> int:
        """The cell of a point where a unit may stand; an error that says why otherwise."""
        cell = self.cell(*point)
        if not self._free[cell]:
            raise MapError(f"({point[0]}, {point[1]}) is in a wall")
        return cell

    def free_cells(self) -> NDArray[np.int32]:
        """All passable cells, ascending."""
        return np.flatnonzero(self._free).astype(np.int32)

    def neighbours(self, point: Point) -> list[Point]:
        """Where one legal move leads, cardinals first."""
        cell = self.cell(*point)
        bits = int(self.tables.moves[cell])
        return [self.xy(cell + int(self.tables.offset[d])) for d in range(8) if bits >> d & 1]

    # --- components ------------------------------------------------------------------------------------------------

    def reachable(self, a: Point, b: Point) -> bool:
        """Whether a path joins the two, in O(1)."""
        label = int(self.component[self.cell(*a)])
        return label != NO_COMPONENT and label == int(self.component[self.cell(*b)])

    def largest_component(self) -> NDArray[np.int32]:
        """The cells of the largest component, ascending; of equal ones, that of the lowest label."""
        if not self._component_size:
            raise MapError("the map has no passable cell")
        label = min(self._component_size, key=lambda k: (-self._component_size[k], k))
        return np.flatnonzero(self.component == label).astype(np.int32)

    def component_sizes(self) -> dict[int, int]:
        """Number of cells by component label."""
        return dict(self._component_size)

    def nearest_reachable(self, start: Point, target: Point) -> Point:
        """The place reachable from `start` that is nearest to `target` by straight distance: itself, if it is."""
        label = int(self.component[self.free_cell(start)])
        x, y = self.xy(self.cell(*target))
        if self.component[self.cell(x, y)] == label:
            return x, y
        return self.xy(_nearest_of_component(self.component, self.width, label, x, y))

    # --- edits -----------------------------------------------------------------------------------------------------

    def block(self, points: Iterable[Point]) -> None:
        """Put walls on these cells."""
        for cell in [self.cell(*point) for point in points]:
            if self._free[cell]:
                self._block(cell)

    def unblock(self, points: Iterable[Point]) -> None:
        """Make these cells passable."""
        for cell in [self.cell(*point) for point in points]:
            if not self._free[cell]:
                self._unblock(cell)

    def _around(self, cell: int) -> list[int]:
        bits = int(self.tables.moves[cell])
        return [cell + int(self.tables.offset[d]) for d in range(8) if bits >> d & 1]

    def _refresh_moves(self, x0: int, y0: int, x1: int, y1: int) -> None:
        _update_moves(
            self.tables.moves, self._free, self.width, self.connectivity == 8, self.corner_cutting, x0, y0, x1, y1
        )

    def _set_terrain(self, cell: int, free: bool) -> None:
        x, y = self.xy(cell)
        self._free[cell] = free
        self._refresh_moves(x - 1, y - 1, x + 1, y + 1)

    def _unblock(self, cell: int) -> None:
        """Open one cell: it joins the largest component beside it, and the others beside it join too."""
        self._set_terrain(cell, True)
        around = self._around(cell)
        labels = {int(self.component[beside]): beside for beside in around}
        if not labels:
            label = self._new_label()
            self._component_size[label] = 0
        else:
            label = max(labels, key=lambda k: (self._component_size[k], -k))
        self.component[cell] = label
        self._component_size[label] += 1
        for other, beside in labels.items():
            if other != label:
                moved = _label_from(self.tables, self.component, beside, label, self._queue)
                self._component_size[label] += moved
                del self._component_size[other]

    def _block(self, cell: int) -> None:
        """Close one cell: what it held together may fall apart, and each part but one gets a label of its own."""
        around = self._around(cell)
        label = int(self.component[cell])
        self._set_terrain(cell, False)
        self.component[cell] = NO_COMPONENT
        self._component_size[label] -= 1
        if not around:
            del self._component_size[label]
            return
        if len(around) == 1:
            return
        flood = self._flood = self._flood or _Flood(
            np.full(self.size, -1, dtype=np.int64),
            np.empty(self.size, dtype=np.int32),
            *(np.empty(8, dtype=np.int32) for _ in range(5)),
        )
        self._repairs += 1
        _split(self.tables, flood, np.array(around, dtype=np.int32), len(around), self._repairs)
        groups = flood.group[: len(around)].tolist()
        keeper = next((groups[k] for k in range(len(around)) if flood.head[k] != NO_CELL), groups[0])
        for group in sorted(set(groups) - {keeper}):
            part = self._new_label()
            begin = int(flood.first[groups.index(group)])
            self._component_size[part] = _label_from(self.tables, self.component, begin, part, self._queue)
            self._component_size[label] -= self._component_size[part]

    def _new_label(self) -> int:
        self._next_label += 1
        return self._next_label - 1

    # --- out -------------------------------------------------------------------------------------------------------

    def to_text(self) -> str:
        """The terrain as rows of `.` and `@`, each ended by a newline."""
        letters = np.where(self.passable, b".", b"@")
        return "".join(row.tobytes().decode("ascii") + "\n" for row in letters)

    def save(self, path: str | Path) -> None:
        """Write a MovingAI `.map` file."""
        from wend.maps.movingai import write_map

        write_map(self.passable, path)

    def digest(self) -> str:
        """A hash of terrain and rules: equal digests, equal maps."""
        rules = f"{self.width} {self.height} {self.connectivity} {int(self.corner_cutting)}\n".encode()
        return hashlib.blake2b(rules + np.packbits(self._free).tobytes(), digest_size=16).hexdigest()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Grid) and self.digest() == other.digest()

    __hash__ = None     # type: ignore[assignment]      # a grid can be edited

    def __repr__(self) -> str:
        free = int(self._free.sum())
        return f"<Grid {self.width}x{self.height}, {free} passable cells in {len(self._component_size)} components>"
