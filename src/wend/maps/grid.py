# mypy: disallow-untyped-calls=False
"""Grid: the map, the moves that its rules allow, its connected components, and the two ways to name a place.

At the API a place is `(x, y)`: column, row, origin top-left, y down. In kernels it is a `cell`: `y * width + x`.

`terrain.py` has the neighbour table, `components.py` the labels; a grid keeps both in step with its terrain. An edit
recomputes the table around the edited cell and repairs the labels, and does nothing for the rest of the map.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wend.errors import MapError
from wend.maps.components import NO_COMPONENT, Components
from wend.maps.movingai import write_map
from wend.maps.sources import load_passable
from wend.maps.terrain import BLOCKED_LETTERS, PASSABLE_LETTERS, Point, make_tables, update_moves


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
        self.tables = make_tables(free, connectivity=connectivity, corner_cutting=self.corner_cutting)
        self._components = Components(self.tables, self._free)

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
        return cls(load_passable(source), connectivity=connectivity, corner_cutting=corner_cutting)

    def copy(self) -> Grid:
        """An independent copy; edits to one are not seen by the other."""
        twin = object.__new__(Grid)
        twin.__dict__.update(self.__dict__)
        twin._free = self._free.copy()
        twin.tables = self.tables._replace(moves=self.tables.moves.copy())
        twin._components = self._components.copy()
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
        return [self.xy(cell) for cell in self._around(self.cell(*point))]

    # --- components ------------------------------------------------------------------------------------------------

    @property
    def component(self) -> NDArray[np.int32]:
        """The component label of every cell, NO_COMPONENT where blocked: what edits keep up to date, not a copy."""
        return self._components.label

    def reachable(self, a: Point, b: Point) -> bool:
        """Whether a path joins the two, in O(1)."""
        label = int(self.component[self.cell(*a)])
        return label != NO_COMPONENT and label == int(self.component[self.cell(*b)])

    def largest_component(self) -> NDArray[np.int32]:
        """The cells of the largest component, ascending; of equal ones, that of the lowest label."""
        cells = self._components.largest()
        if not cells.size:
            raise MapError("the map has no passable cell")
        return cells

    def component_sizes(self) -> dict[int, int]:
        """Number of cells by component label."""
        return dict(self._components.sizes)

    def nearest_reachable(self, start: Point, target: Point) -> Point:
        """The place reachable from `start` that is nearest to `target` by straight distance: itself, if reachable."""
        label = int(self.component[self.free_cell(start)])
        x, y = int(target[0]), int(target[1])
        if self.is_free((x, y)) and self.component[self.cell(x, y)] == label:
            return x, y
        return self.xy(self._components.nearest(self.width, label, x, y))

    # --- edits -----------------------------------------------------------------------------------------------------

    def block(self, points: Iterable[Point]) -> None:
        """Put walls on these cells."""
        for cell in [self.cell(*point) for point in points]:
            if self._free[cell]:
                around = self._around(cell)
                self._set_terrain(cell, False)
                self._components.closed(self.tables, cell, around)

    def unblock(self, points: Iterable[Point]) -> None:
        """Make these cells passable."""
        for cell in [self.cell(*point) for point in points]:
            if not self._free[cell]:
                self._set_terrain(cell, True)
                self._components.opened(self.tables, cell, self._around(cell))

    def _around(self, cell: int) -> list[int]:
        """Where one legal move leads."""
        bits = int(self.tables.moves[cell])
        return [cell + int(self.tables.offset[d]) for d in range(8) if bits >> d & 1]

    def _set_terrain(self, cell: int, free: bool) -> None:
        """Open or close a cell, and recompute the neighbour table around it."""
        x, y = self.xy(cell)
        around = (x - 1, y - 1, x + 1, y + 1)
        self._free[cell] = free
        update_moves(self.tables.moves, self._free, self.width, self.connectivity == 8, self.corner_cutting, *around)

    # --- out -------------------------------------------------------------------------------------------------------

    def to_text(self) -> str:
        """The terrain as rows of `.` and `@`, each ended by a newline."""
        letters = np.where(self.passable, b".", b"@")
        return "".join(row.tobytes().decode("ascii") + "\n" for row in letters)

    def save(self, path: str | Path) -> None:
        """Write a MovingAI `.map` file."""
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
        return f"<Grid {self.width}x{self.height}, {free} passable cells in {len(self._components.sizes)} components>"
