# mypy: disallow-untyped-calls=False
"""The alternate paths that are known of a map: kept from problem to problem, and on disk if that is wished.

An alternate path on the bare map is searched once (`alternates.py`) and thrown away only when an edit touches what its
search looked at. A run that finds paths in memory or on disk uses the same ones as a run from scratch, because each is
the result of a search of its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.files import replacing
from wend.kernel.arrays import allocate, copied, grown
from wend.maps.grid import Grid
from wend.planners.mapp.alternates import (
    OBSTACLE,
    PATHS_AT_ONCE,
    TARGET,
    TARGET_MOVES,
    UNKNOWN,
    Alternates,
    Detour,
    MarkedMap,
)
from wend.planners.mapp.alternates_file import FORMAT, read_parts
from wend.planners.mapp.biconnected import Bicomponents, label_bicomponents, make_bicomponent_tree, make_bicomponents

_MAPS_REMEMBERED = 8
_PATHS_AHEAD = 1024     # that there is space for beyond those known, at first


class AlternatePaths:
    """The alternate paths of one map, which any number of problems share, one at a time (`lock`)."""

    def __init__(self, grid: Grid) -> None:
        cells = grid.size
        self.grid = grid.copy()
        self.lock = threading.RLock()
        self._kept = 0                              # paths on the bare map that are in a file
        self._bicomponents = _bicomponents_of(grid, np.zeros(cells, np.uint8))
        self._tree = make_bicomponent_tree(self._bicomponents.label)
        self.detour = allocate(
            Detour, cells=cells, entries=4 * cells + 1,
            rungs=(TARGET_MOVES // 2 + 1) * cells + grid.width + grid.height,
        )  # fmt: skip
        self.alternates = allocate(
            Alternates, slots=6 * cells, cells=cells, paths=_PATHS_AHEAD, path_cells=4 * cells + 4096
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> AlternatePaths:
        return self         # copies of a world share them, as other worlds on the same map do

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())

    def begin_problem(
        self, targets: NDArray[np.int32], obstacles: NDArray[np.int32], *, through_targets: bool
    ) -> MarkedMap:
        """Take up a problem. The paths of the one before are forgotten, but for those on the bare map."""
        self._tidy()
        counts = self.alternates.counts[0]
        counts.problem += 1
        counts.searched = counts.reused = 0
        self.alternates.clear.fill(0)
        mark = np.zeros(self.grid.size, np.uint8)
        mark[targets] |= TARGET
        mark[obstacles] |= OBSTACLE
        joined = _bicomponents_of(self.grid, mark & np.uint8(OBSTACLE)) if obstacles.size else self._bicomponents
        free = _bicomponents_of(self.grid, mark) if targets.size else joined
        return MarkedMap(mark, self._bicomponents.label, joined.label, free.label, self._tree, through_targets)

    def grow(self) -> None:
        """Find space for twice as many paths, or for paths of twice as many cells, whichever is short."""
        known = self.alternates
        if known.counts[0].paths + PATHS_AT_ONCE >= known.begin.size:
            self.alternates = grown(known, paths=2 * known.begin.size)
        else:
            self.alternates = grown(known, path_cells=2 * known.cells.size)

    def edited(self, grid: Grid, cells: NDArray[np.int32]) -> AlternatePaths:
        """The alternate paths of the map after an edit of these cells: what the edit does not touch is kept."""
        twin = AlternatePaths(grid)
        with self.lock:
            self._tidy()
            old, count = self.alternates, int(self.alternates.counts[0].paths)
            touched = np.zeros(count, np.bool_)
            left, top, right, bottom = old.seen[:count].T
            for x, y in (grid.xy(cell) for cell in cells.tolist()):
                touched |= (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
            twin.alternates = copied(old)
            bare = twin.alternates.bare
            held = np.flatnonzero(bare != UNKNOWN)
            bare[held[touched[bare[held]]]] = UNKNOWN
        return twin

    def keep_in(self, folder: str | Path) -> None:
        """Write the paths on the bare map to a folder, by the map's hash, if new ones were found."""
        known = int(np.count_nonzero(self.alternates.bare != UNKNOWN))
        if known > self._kept:
            self.save(_file_in(folder, self.grid))
            self._kept = known

    def save(self, path: str | Path) -> None:
        """Write the paths on the bare map to a file."""
        with self.lock, replacing(path) as file:
            self._tidy()
            old, count = self.alternates, int(self.alternates.counts[0].paths)
            np.savez_compressed(
                file, format=np.int64(FORMAT), digest=np.array(self.grid.digest()), bare=old.bare,
                begin=old.begin[: count + 1], cells=old.cells[: old.begin[count]], seen=old.seen[:count],
            )  # fmt: skip

    @classmethod
    def load(cls, grid: Grid, path: str | Path) -> AlternatePaths:
        """Read what `save` wrote for this very map."""
        parts = read_parts(grid, path)
        paths, count = cls(grid), len(parts["seen"])
        known = grown(
            paths.alternates, paths=count + _PATHS_AHEAD, path_cells=parts["cells"].size + paths.alternates.cells.size
        )
        known.bare[:], known.begin[: count + 1], known.seen[:count] = parts["bare"], parts["begin"], parts["seen"]
        known.cells[: parts["cells"].size] = parts["cells"]
        known.counts[0].paths = paths._kept = count
        paths.alternates = known
        return paths

    def _tidy(self) -> None:
        """Move the paths on the bare map together; those of the last problem go."""
        old, count = self.alternates, int(self.alternates.counts[0].paths)
        held = np.flatnonzero(old.bare != UNKNOWN)
        order = np.argsort(old.bare[held])              # in the order of their making
        held, kept = held[order], old.bare[held[order]]
        if kept.size == count:
            return
        lengths = old.begin[kept + 1] - old.begin[kept]
        begin = np.concatenate([[0], np.cumsum(lengths)])
        source = np.repeat(old.begin[kept] - begin[:-1], lengths) + np.arange(begin[-1])
        old.cells[: begin[-1]] = old.cells[source]
        old.seen[: kept.size] = old.seen[kept]
        old.begin[: kept.size + 1] = begin
        old.bare[held] = np.arange(kept.size)
        old.counts[0].paths = kept.size


def _bicomponents_of(grid: Grid, closed: NDArray[np.uint8]) -> Bicomponents:
    blocks = make_bicomponents(grid.size)
    label_bicomponents(grid.tables, closed, blocks)
    return blocks


_remembered: OrderedDict[str, AlternatePaths] = OrderedDict()
_remembering = threading.Lock()


def alternates_of(grid: Grid, folder: str | Path | None = None) -> AlternatePaths:
    """The alternate paths of a map: those in memory, else those in the folder, else none yet."""
    digest = grid.digest()
    with _remembering:
        paths = _remembered.pop(digest, None)
        if paths is None:
            file = None if folder is None else _file_in(folder, grid)
            paths = AlternatePaths.load(grid, file) if file is not None and file.exists() else AlternatePaths(grid)
        _remember(digest, paths)
    return paths


def alternates_after(before: AlternatePaths, grid: Grid, cells: NDArray[np.int32]) -> AlternatePaths:
    """The alternate paths of a map after an edit of one whose paths are known."""
    digest = grid.digest()
    with _remembering:
        paths = _remembered.pop(digest, None) or before.edited(grid, cells)
        _remember(digest, paths)
    return paths


def forget_maps() -> None:
    """Forget the alternate paths of all maps, but for those in folders."""
    with _remembering:
        _remembered.clear()


def _remember(digest: str, paths: AlternatePaths) -> None:
    _remembered[digest] = paths
    if len(_remembered) > _MAPS_REMEMBERED:
        _remembered.popitem(last=False)


def _file_in(folder: str | Path, grid: Grid) -> Path:
    """The file in a folder that holds the alternate paths of a map."""
    return Path(folder) / f"{grid.digest()}.alternates.npz"
