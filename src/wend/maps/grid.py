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
from typing import Annotated, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wend import arguments
from wend.errors import MapError, ParameterError
from wend.kernel.arrays import ALL_ROWS, allocate, copied, flags, marks, uint8
from wend.maps.components import NO_COMPONENT, Components
from wend.maps.terrain import BLOCKED_LETTERS, PASSABLE_LETTERS, Point, make_tables, places_of, update_moves


class _Terrain(NamedTuple):
    """What edits change, for snapshots: it stands before the attributes that hold the same arrays."""

    free: Annotated[np.ndarray, flags("cells", marked_by="edited", rows_per_mark=ALL_ROWS)]
    moves: Annotated[np.ndarray, uint8("cells", marked_by="edited", rows_per_mark=ALL_ROWS)]
    edited: Annotated[np.ndarray, marks("edits")]


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
        """Take an array of rows, True or 1 where a unit may stand, False or 0 elsewhere. The array is copied."""
        try:
            given = np.array(passable)
        except (TypeError, ValueError):
            raise MapError("a map is a non-empty 2-D array of rows, all of the same length") from None
        is_number = given.dtype.kind in "iuf" and ((given == 0) | (given == 1)).all()
        if given.dtype.kind != "b" and not is_number:
            raise MapError("a map holds True and False, or 1 and 0: True or 1 where a unit may stand")
        free = given.astype(np.bool_, order="C", copy=False)
        if free.ndim != 2 or free.size == 0:
            raise MapError(f"a map is a non-empty 2-D array of rows, not an array of shape {free.shape}")
        if free.size > 2**31 - 1:
            raise MapError(f"a map of {free.shape[1]} x {free.shape[0]} cells is more than 32-bit cells can number")
        self.connectivity = arguments.whole(connectivity, "connectivity")
        self.corner_cutting = arguments.flag(corner_cutting, "corner_cutting")
        if self.connectivity not in (4, 8):
            raise MapError(f"connectivity is 4 or 8, not {self.connectivity}")
        if self.corner_cutting and self.connectivity == 4:
            raise MapError("corner_cutting needs diagonals, and connectivity 4 has none")
        self.height, self.width = (int(n) for n in free.shape)
        tables = make_tables(free, connectivity=self.connectivity, corner_cutting=self.corner_cutting)
        self._terrain = allocate(_Terrain, {"free": free.ravel(), "moves": tables.moves}, edits=1)
        # bool[cells] what edits keep up to date. Those who need it for long keep this very array and no view of it: a
        # deep copy or a pickle then holds one array too, where a view would become an array of its own.
        self.free = self._terrain.free
        self.tables = tables
        self._components = Components(self.tables, self.free)

    @classmethod
    def from_text(cls, drawing: str, *, connectivity: int = 8, corner_cutting: bool = False) -> Grid:
        """Read a drawing, a line per row: `.` `G` `S` passable, `@` `O` `T` `W` `#` blocked. Indentation is ignored."""
        arguments.instance(drawing, "drawing", str, "a text")
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
        from wend.maps.sources import load_passable  # not before: a world without files starts sooner

        return cls(load_passable(source), connectivity=connectivity, corner_cutting=corner_cutting)

    def copy(self) -> Grid:
        """An independent copy; edits to one are not seen by the other."""
        twin = object.__new__(Grid)
        twin.__dict__.update(self.__dict__)
        twin._terrain = copied(self._terrain)
        twin.free = twin._terrain.free
        twin.tables = self.tables._replace(moves=twin._terrain.moves)
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
        view = self.free.reshape(self.height, self.width)
        view.flags.writeable = False
        return view

    def cell(self, x: int, y: int) -> int:
        """The cell at column x, row y."""
        if type(x) is not int or type(y) is not int:
            x, y = arguments.point((x, y), "(x, y)")
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise MapError(f"({x}, {y}) is off the map, which is {self.width} x {self.height}")
        return y * self.width + x

    def cell_at(self, point: Point, name: str = "point") -> int:
        """The cell of a point; an error names the argument that it was given as."""
        return self.cell(*arguments.point(point, name))

    @overload
    def xy(self, cell: int) -> Point: ...
    @overload
    def xy(self, cell: NDArray[np.integer[Any]]) -> NDArray[np.int32]: ...
    def xy(self, cell: int | NDArray[np.integer[Any]]) -> Point | NDArray[np.int32]:
        """Column and row of a cell; of an array of cells, an array with one more axis that holds the two.

        >>> Grid.from_text("...\\n...").xy(np.array([0, 5])).tolist()
        [[0, 0], [2, 1]]
        """
        if isinstance(cell, np.ndarray) and cell.ndim > 0:
            return self._places(cell)
        if type(cell) is not int:
            cell = arguments.whole(cell, "cell")
        if not 0 <= cell < self.width * self.height:
            raise MapError(f"cell {cell} is off the map, which has {self.size} cells")
        return cell % self.width, cell // self.width

    def _places(self, cells: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        if cells.dtype.kind not in "iu":
            raise ParameterError(f"cell is a whole number or an array of them, not an array of {cells.dtype}")
        off = (cells < 0) | (cells >= self.size)
        if off.any():
            raise MapError(f"cell {cells[off][0]} is off the map, which has {self.size} cells")
        return places_of(self.width, cells)

    def is_free(self, point: Point) -> bool:
        """Whether a unit may stand there; False off the map too."""
        x, y = arguments.point(point, "point")
        return 0 <= x < self.width and 0 <= y < self.height and bool(self.free[y * self.width + x])

    def free_cell(self, point: Point, name: str = "point") -> int:
        """The cell of a point where a unit may stand; an error that says why otherwise."""
        cell = self.cell_at(point, name)
        if not self.free[cell]:
            raise MapError(f"{self.xy(cell)} is in a wall")
        return cell

    def free_cells(self) -> NDArray[np.int32]:
        """All passable cells, ascending."""
        return np.flatnonzero(self.free).astype(np.int32)

    def neighbours(self, point: Point) -> list[Point]:
        """Where one legal move leads, cardinals first."""
        return [self.xy(cell) for cell in self._around(self.cell_at(point))]

    # --- components ------------------------------------------------------------------------------------------------

    @property
    def component(self) -> NDArray[np.int32]:
        """The component label of every cell, NO_COMPONENT where blocked: what edits keep up to date, not a copy."""
        return self._components.label

    def reachable(self, a: Point, b: Point) -> bool:
        """Whether a path joins the two, in O(1)."""
        label, other = int(self.component[self.cell_at(a, "a")]), int(self.component[self.cell_at(b, "b")])
        return label == other != NO_COMPONENT

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
        label = int(self.component[self.free_cell(start, "start")])
        x, y = arguments.point(target, "target")
        if self.is_free((x, y)) and self.component[self.cell(x, y)] == label:
            return x, y
        x, y = (min(max(far, -(2**30)), 2**30) for far in (x, y))      # the squares of larger numbers overflow
        return self.xy(self._components.nearest(self.width, label, x, y))

    def nearest_in(self, component: int, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """For each of these cells, that of a component which is nearest to it by straight distance."""
        return self._components.nearest_of(self.width, component, cells)

    # --- edits -----------------------------------------------------------------------------------------------------

    def block(self, points: Iterable[Point]) -> None:
        """Put walls on these cells."""
        for cell in self.cells_at(points):
            if self.free[cell]:
                around = self._around(cell)
                self._set_terrain(cell, False)
                self._components.closed(self.tables, cell, around)

    def unblock(self, points: Iterable[Point]) -> None:
        """Make these cells passable."""
        for cell in self.cells_at(points):
            if not self.free[cell]:
                self._set_terrain(cell, True)
                self._components.opened(self.tables, cell, self._around(cell))

    def cells_at(self, points: Iterable[Point], name: str = "points") -> list[int]:
        """The cells of some points; an error names the argument that they were given as."""
        return [self.cell(x, y) for x, y in arguments.points(points, name)]

    def take_back(self, cells: list[int], free: NDArray[np.bool_]) -> None:
        """Give these cells back the terrain that they had before an edit, also if the edit stopped half-way."""
        for cell, was_free in zip(cells, free.tolist(), strict=True):
            self._set_terrain(cell, was_free)
        self._components.relabel(self.tables, self.free)

    def _around(self, cell: int) -> list[int]:
        """Where one legal move leads."""
        bits = int(self.tables.moves[cell])
        return [cell + offset for d, offset in enumerate(self.tables.offset.tolist()) if bits >> d & 1]

    def _set_terrain(self, cell: int, free: bool) -> None:
        """Open or close a cell, and recompute the neighbour table around it."""
        x, y = self.xy(cell)
        around = (x - 1, y - 1, x + 1, y + 1)
        self._terrain.edited[0] = True
        self.free[cell] = free
        update_moves(self.tables.moves, self.free, self.width, self.connectivity == 8, self.corner_cutting, *around)

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
        return hashlib.blake2b(rules + np.packbits(self.free).tobytes(), digest_size=16).hexdigest()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Grid) and self.digest() == other.digest()

    __hash__ = None     # type: ignore[assignment]      # a grid can be edited

    def __repr__(self) -> str:
        free = int(self.free.sum())
        parts = len(self._components.sizes)
        moves = f"{self.connectivity} directions" + (" across corners" if self.corner_cutting else "")
        where = f"{free} passable cells in {parts} component{'' if parts == 1 else 's'}"
        return f"<Grid {self.width}x{self.height}, {where}, {moves}>"


class GridView(Grid):
    """The map of a world: it shows what the world edits, and cannot be edited itself."""

    def __init__(self, grid: Grid) -> None:
        """Show a grid, with whatever becomes of it."""
        vars(self).update(vars(grid))

    def block(self, points: Iterable[Point]) -> None:
        """Refused: a world has to know of its walls."""
        raise MapError("this map belongs to a world: build walls with world.block(points)")

    def unblock(self, points: Iterable[Point]) -> None:
        """Refused: a world has to know of its walls."""
        raise MapError("this map belongs to a world: tear walls down with world.unblock(points)")

    def take_back(self, cells: list[int], free: NDArray[np.bool_]) -> None:
        """Refused: a world takes back its own edits."""
        raise MapError("this map belongs to a world, which takes back its own edits")
