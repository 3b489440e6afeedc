# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Connected components: a label per cell, so that "does a path join these two?" is one comparison.

When the map is edited, labels are repaired by floods that start at the edit and stop as soon as they meet, so that an
edit costs what it changes and not what the map weighs.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL, jit
from wend.kernel.arrays import ALL_ROWS, allocate, copied, int32, int64, marks
from wend.maps.terrain import GridTables, spread

NO_COMPONENT = -1       # of a blocked cell


@jit
def _label_from(tables, label, start, new, queue):
    """Give the new label to all cells connected to `start`; return their number. Mutates: label, queue."""
    old = label[start]
    label[start] = new
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        tail = spread(tables, 8, label, old, new, queue, head, tail)
        head += 1
    return tail


@jit
def _label_all(tables, free, label, size, queue):
    """Label every component, in the order of its first cell; return their number. Mutates: label, size, queue."""
    unlabelled = NO_COMPONENT - 1
    for cell in range(free.size):
        label[cell] = unlabelled if free[cell] else NO_COMPONENT
    count = 0
    for cell in range(free.size):
        if label[cell] == unlabelled:
            size[count] = _label_from(tables, label, cell, count, queue)
            count += 1
    return count


class _Race(NamedTuple):
    """Scratch for repairing labels: up to eight floods that advance in turn."""

    stamp: Annotated[np.ndarray, int64("cells", fill=-1)]   # repair * 8 + flood that reached the cell
    link: Annotated[np.ndarray, int32("cells")]             # the cell after this one in its flood's queue
    head: Annotated[np.ndarray, int32(8)]                   # next cell to visit, NO_CELL when the flood ran dry
    tail: Annotated[np.ndarray, int32(8)]                   # last cell reached
    group: Annotated[np.ndarray, int32(8)]                  # floods that met share the smallest number among them


@jit
def _split(tables, race, seeds, repair):
    """Advance floods from all seeds in turn until at most one group of them still runs. Mutates: race.

    Floods that touch belong to one component and merge into one group. A group whose floods have all run dry is a
    component of its own. The last group is never flooded to its end, so a cut-off corner costs what the corner holds.
    """
    for k in range(seeds.size):
        race.group[k] = k
        race.head[k] = seeds[k]
        race.tail[k] = seeds[k]
        race.stamp[seeds[k]] = repair * 8 + k
        race.link[seeds[k]] = NO_CELL
    while True:
        running = -1
        groups_running = 0
        for k in range(seeds.size):
            if race.head[k] != NO_CELL and race.group[k] != running:
                groups_running += 1
                running = race.group[k]
        if groups_running <= 1:
            return
        for k in range(seeds.size):
            cell = race.head[k]
            if cell == NO_CELL:
                continue
            bits = tables.moves[cell]
            for d in range(8):
                if not bits >> d & 1:
                    continue
                beside = cell + tables.offset[d]
                if race.stamp[beside] // 8 == repair:
                    met = race.group[race.stamp[beside] % 8]
                    mine = race.group[k]
                    if met != mine:
                        low, high = min(met, mine), max(met, mine)
                        for j in range(seeds.size):
                            if race.group[j] == high:
                                race.group[j] = low
                else:
                    race.stamp[beside] = repair * 8 + k
                    race.link[beside] = NO_CELL
                    race.link[race.tail[k]] = beside
                    race.tail[k] = beside
            race.head[k] = race.link[cell]


@jit
def _nearest(label, width, wanted, x, y):
    """The cell with that label nearest to (x, y) by straight distance, ties to the lowest cell; NO_CELL if none."""
    best, best_square = NO_CELL, 0
    for cell in range(label.size):
        if label[cell] == wanted:
            square = (cell % width - x) ** 2 + (cell // width - y) ** 2
            if best == NO_CELL or square < best_square:
                best, best_square = cell, square
    return best


@jit
def _nearest_in_rows(label, width, wanted, column):
    """Find the column of the nearest cell in its row that has that label, for every cell; -1 where there is none.

    Of two it is the left one. Mutates: column.
    """
    for first in range(0, label.size, width):
        last = -1
        for x in range(width):
            if label[first + x] == wanted:
                last = x
            column[first + x] = last
        last = -1
        for x in range(width - 1, -1, -1):
            if label[first + x] == wanted:
                last = x
            left = column[first + x]
            if last != -1 and (left == -1 or last - x < x - left):
                column[first + x] = last


@jit
def _nearest_of(column, width, cells, found):
    """What `_nearest` finds for each of these cells, by what `_nearest_in_rows` has found. Mutates: found."""
    height = column.size // width
    for k in range(cells.size):
        x, y = cells[k] % width, cells[k] // width
        best, best_square = NO_CELL, 0
        for far in range(height):
            if best != NO_CELL and far * far > best_square:
                break
            for row in (y - far, y + far):
                if 0 <= row < height and column[row * width + x] != -1:
                    cell = row * width + column[row * width + x]
                    square = (cell % width - x) ** 2 + far * far
                    if best == NO_CELL or square < best_square or (square == best_square and cell < best):
                        best, best_square = cell, square
        found[k] = best


class _Labels(NamedTuple):
    """The component of each cell."""

    label: Annotated[np.ndarray, int32("cells", marked_by="edited", rows_per_mark=ALL_ROWS)]    # NO_COMPONENT in walls
    edited: Annotated[np.ndarray, marks("edits")]


class Components:
    """The components of one map. After an edit of the neighbour table, `opened` or `closed` repairs the labels."""

    uncaptured = ("_queue", "_race", "_repairs")        # scratch

    def __init__(self, tables: GridTables, free: NDArray[np.bool_]) -> None:
        """Label the map; `free` says of each cell whether it is passable."""
        self._labels = allocate(_Labels, cells=free.size, edits=1)
        self.label = self._labels.label
        self.sizes: dict[int, int] = {}                         # cells by label
        self._queue = np.empty(free.size, dtype=np.int32)
        self._race: _Race | None = None
        self._repairs = 0           # with that race
        self.relabel(tables, free)

    def relabel(self, tables: GridTables, free: NDArray[np.bool_]) -> None:
        """Label the whole map anew."""
        sizes = np.empty(free.size, dtype=np.int32)
        self._labels.edited[0] = True
        count = _label_all(tables, free, self.label, sizes, self._queue)
        self.sizes = dict(enumerate(sizes[:count].tolist()))
        self._next_label = int(count)

    def copy(self) -> Components:
        """An independent copy."""
        twin = object.__new__(Components)
        twin.__dict__.update(self.__dict__)
        twin._labels = copied(self._labels)
        twin.label = twin._labels.label
        twin.sizes = dict(self.sizes)
        twin._queue = np.empty_like(self._queue)
        twin._race = None
        return twin

    def largest(self) -> NDArray[np.int32]:
        """The cells of the largest component, ascending; of equal ones, that of the lowest label. May be empty."""
        if not self.sizes:
            return np.empty(0, dtype=np.int32)
        label = min(self.sizes, key=lambda k: (-self.sizes[k], k))
        return np.flatnonzero(self.label == label).astype(np.int32)

    def nearest(self, width: int, label: int, x: int, y: int) -> int:
        """The cell of a component that is nearest to (x, y) by straight distance; of equal ones, the lowest."""
        return int(_nearest(self.label, width, label, x, y))

    def nearest_of(self, width: int, label: int, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """The same for many cells: one look at the map, and for each at the rows that are nearer than its answer."""
        column, found = np.empty(self.label.size, np.int32), np.empty(cells.size, np.int32)
        _nearest_in_rows(self.label, width, label, column)
        _nearest_of(column, width, cells, found)
        return found

    def opened(self, tables: GridTables, cell: int, around: list[int]) -> None:
        """A cell became passable: it joins the largest component beside it, and the others beside it join too."""
        self._labels.edited[0] = True
        labels = {int(self.label[beside]): beside for beside in around}
        if labels:
            kept = max(labels, key=lambda k: (self.sizes[k], -k))
        else:
            kept = self._new_label()
            self.sizes[kept] = 0
        self.label[cell] = kept
        self.sizes[kept] += 1
        for other, beside in labels.items():
            if other != kept:
                self.sizes[kept] += _label_from(tables, self.label, beside, kept, self._queue)
                del self.sizes[other]

    def closed(self, tables: GridTables, cell: int, around: list[int]) -> None:
        """A cell was blocked: what it held together may fall apart, and each part but one gets a label of its own.

        `around` are the cells to which one could move from it before.
        """
        self._labels.edited[0] = True
        label = int(self.label[cell])
        self.label[cell] = NO_COMPONENT
        self.sizes[label] -= 1
        if not around:
            del self.sizes[label]
            return
        if len(around) == 1:
            return
        race = self._race = self._race or allocate(_Race, cells=self.label.size)
        self._repairs += 1
        _split(tables, race, np.array(around, dtype=np.int32), self._repairs)
        groups = race.group[: len(around)].tolist()
        keeper = next((groups[k] for k in range(len(around)) if race.head[k] != NO_CELL), groups[0])
        for group in sorted(set(groups) - {keeper}):
            part = self._new_label()
            self.sizes[part] = _label_from(tables, self.label, around[groups.index(group)], part, self._queue)
            self.sizes[label] -= self.sizes[part]

    def _new_label(self) -> int:
        self._next_label += 1
        return self._next_label - 1
