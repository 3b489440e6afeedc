# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Alternate paths (the Omegas of MAPP): around a cell, from one of its neighbours to another.

Ko-Hsin Cindy Wang, Adi Botea: MAPP: a Scalable Multi-Agent Path Planning Algorithm with Tractability and Completeness
Guarantees. JAIR 42 (2011), sections 4 and 5.2.

A triple is a cell b with two of its neighbours, a and c; there are at most six per cell. Its alternate path leads from
a to c without b. Those on the bare map depend on nothing else: they are found when first asked for, kept for all
problems on the map, on disk if that is wished, and thrown away only where an edit touches what their search looked at.
In a problem, those that cross a target are searched again for the time of that problem.

    paper                                   here
    "Omega for any three adjacent tiles"    alternate
    re-use across instances                 AlternatePaths, alternates_of

A cached run and one from scratch use the same alternate paths, because each is the result of a search of its own.

Deviations and open points
- Whether an alternate path exists is read off the map's biconnected components; nothing is flooded in vain.
- The fourth cell of the 2x2 block, or a detour of five cells beside a straight triple, is taken without a search.
- Targets are crossed only if there is no other way, and then each counts as much as 32 moves; the paper has "a very
  high cost". A unit's own target is closed to its own alternate paths. The ends of the triple are never counted.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError
from wend.files import ZIP_ERRORS, replacing
from wend.kernel import jit
from wend.maps.grid import Grid
from wend.planners.mapp import ladder as open_list
from wend.planners.mapp.biconnected import (
    NO_BICOMPONENT,
    Bicomponents,
    label_bicomponents,
    make_bicomponent_tree,
    make_bicomponents,
)
from wend.planners.mapp.ladder import Ladder, make_ladder

# Marks of cells in a problem
TARGET = 1      # somebody's target
OBSTACLE = 2    # nobody may enter it: a pinned agent at home, an agent of the program

# How a search sees the marks
_IGNORED = 0    # not at all: the bare map
_CLOSED = 1     # marked cells are closed
_PRICED = 2     # a target costs _TARGET_MOVES, obstacles are closed

_TARGET_MOVES = 32      # an even number, so that f keeps its parity

# What `alternate` answers instead of an alternate path
MISSING = -1
NO_ROOM = -2

_UNKNOWN = -1
_NOWHERE = -1
_PATHS_AT_ONCE = 3      # paths that one question may add: on the bare map, in the problem, for the unit
_FORMAT = 1
_MAPS_REMEMBERED = 8


class Alternates(NamedTuple):
    """The alternate paths of a map, and those of the problem at hand. A slot is cell * 6 + pair of directions."""

    bare: np.ndarray    # int32[6 * cells]      path of the slot on the bare map, _UNKNOWN before it was asked for
    now: np.ndarray     # int32[6 * cells]      path of the slot in this problem, or MISSING
    toll: np.ndarray    # int32[6 * cells]      targets that it crosses
    stamp: np.ndarray   # int32[6 * cells]      the problem that `now` and `toll` are of
    clear: np.ndarray   # uint8[cells]          bit set: this pair has a path in this problem, which crosses no target
    begin: np.ndarray   # int64[paths + 1]      path k is cells[begin[k] : begin[k + 1]]
    cells: np.ndarray   # int32[room]           from the neighbour in the smaller direction to the other
    seen: np.ndarray    # int32[paths, 4]       left, top, right, bottom of what its search looked at
    tally: np.ndarray   # int64[5]              see below


# Alternates.tally holds
PATHS = 0       # paths so far
PROBLEM = 1     # number of the problem at hand
SEARCHED = 2    # paths found anew in this problem
REUSED = 3      # triples of this problem whose path was known before
TOLL = 4        # of the path that `alternate` answered last


class Setting(NamedTuple):
    """What a problem adds to the map."""

    mark: np.ndarray    # uint8[cells]      TARGET, OBSTACLE, both or neither
    block: np.ndarray   # int32[4 * cells]  blocks of the bare map (biconnected.py)
    joined: np.ndarray  # int32[4 * cells]  blocks of the map without obstacles
    free: np.ndarray    # int32[4 * cells]  blocks of the map without obstacles and targets
    through_targets: bool   # whether targets may be crossed, at a toll


class Detour(NamedTuple):
    """The workspace of the searches."""

    ladder: Ladder
    state: np.ndarray   # int32[cells]  2 * search: reached, 2 * search + 1: closed
    g: np.ndarray       # int32[cells]  moves from the start, and what the targets cost
    way: np.ndarray     # uint8[cells]  direction of the move that leads there
    serial: np.ndarray  # int64[2]      number of this search, cells expanded by all


@jit
def _pair(one, other):
    """The number of a pair of directions, 0 to 5."""
    low, high = min(one, other), max(one, other)
    return low * (7 - low) // 2 + high - low - 1


@jit
def is_clear(alternates, b, one, other):
    """Whether a triple is known to have an alternate path that crosses no target."""
    return alternates.clear[b] >> _pair(one, other) & 1 != 0


@jit
def _free_of_marks(mark, marks, cell):
    return marks == _IGNORED or mark[cell] == 0


@jit
def _local_shape(tables, mark, marks, b, one, other, cells, at):
    """Write the shortest shape there is, beside b; return its number of cells, 0 if it is blocked. Mutates: cells."""
    moves, offset = tables.moves, tables.offset
    a = b + offset[one]
    c = b + offset[other]
    if other != one ^ 2:                                # a corner: the fourth cell of the 2x2 block
        fourth = a + offset[other]
        if moves[a] >> other & 1 and moves[fourth] >> (one ^ 2) & 1 and _free_of_marks(mark, marks, fourth):
            cells[at], cells[at + 1], cells[at + 2] = a, fourth, c
            return 3
        return 0
    for k in range(2):                                  # a straight line: on one side, else on the other
        side = (one + 1) % 4 if k == 0 else (one + 3) % 4
        if not (moves[a] >> side & 1 and moves[b] >> side & 1 and moves[c] >> side & 1):
            continue
        first, middle, last = a + offset[side], b + offset[side], c + offset[side]
        if (
            _free_of_marks(mark, marks, first)
            and _free_of_marks(mark, marks, middle)
            and _free_of_marks(mark, marks, last)
        ):
            cells[at], cells[at + 1], cells[at + 2], cells[at + 3], cells[at + 4] = a, first, middle, last, c
            return 5
    return 0


@jit
def _search(tables, mark, detour, marks, closed, b, a, c, cells, at, seen):
    """A* from a to c without b and without `closed`; write the path, return its number of cells, 0 if there is none.

    Mutates: detour, cells, seen.
    """
    moves, offset, width = tables.moves, tables.offset, tables.width
    state, g, way, ladder = detour.state, detour.g, detour.way, detour.ladder
    detour.serial[0] += 1
    if detour.serial[0] >= 2**30:
        state[:] = 0
        detour.serial[0] = 1
    reached = 2 * detour.serial[0]
    c_x, c_y = c % width, c // width
    state[b] = reached + 1
    state[a] = reached
    g[a] = 0
    h = abs(a % width - c_x) + abs(a // width - c_y)
    open_list.clear(ladder, h)
    open_list.push(ladder, 0, h, a)
    while True:
        cell = open_list.pop(ladder)
        if cell < 0:
            return 0
        if cell == c:
            break
        if state[cell] == reached + 1:
            continue
        state[cell] = reached + 1
        detour.serial[1] += 1
        x, y = cell % width, cell // width
        seen[0], seen[1] = min(seen[0], x - 1), min(seen[1], y - 1)
        seen[2], seen[3] = max(seen[2], x + 1), max(seen[3], y + 1)
        for d in range(4):
            if not moves[cell] >> d & 1:
                continue
            beside = cell + offset[d]
            if state[beside] == reached + 1 or beside == closed:
                continue
            cost = g[cell] + 1
            if marks != _IGNORED and beside != c and mark[beside] != 0:
                if marks == _CLOSED or mark[beside] & OBSTACLE:
                    continue
                cost += _TARGET_MOVES
            if state[beside] == reached and cost >= g[beside]:
                continue
            state[beside] = reached
            g[beside] = cost
            way[beside] = d
            estimate = cost + abs(beside % width - c_x) + abs(beside // width - c_y)
            open_list.push(ladder, np.int64(0), estimate, beside)
    length = 1
    cell = c
    while cell != a:
        cell -= offset[way[cell]]
        length += 1
    cell = c
    for k in range(at + length - 1, at, -1):
        cells[k] = cell
        cell -= offset[way[cell]]
    cells[at] = a
    return length


@jit
def _find(tables, alternates, mark, detour, marks, closed, b, one, other):
    """Find a path for a triple and keep it; answer its number, or MISSING. Mutates: alternates, detour."""
    tally = alternates.tally
    k = tally[PATHS]
    at = alternates.begin[k]
    seen = alternates.seen[k]
    width = tables.width
    seen[0], seen[1], seen[2], seen[3] = b % width - 1, b // width - 1, b % width + 1, b // width + 1
    low, high = min(one, other), max(one, other)
    length = _local_shape(tables, mark, marks, b, low, high, alternates.cells, at)
    if length == 0:
        a, c = b + tables.offset[low], b + tables.offset[high]
        length = _search(tables, mark, detour, marks, closed, b, a, c, alternates.cells, at, seen)
    if length == 0:
        return MISSING
    alternates.begin[k + 1] = at + length
    tally[PATHS] = k + 1
    tally[SEARCHED] += 1
    return k


@jit
def _toll_of(alternates, mark, k):
    """Marked cells on a path, its ends left out."""
    count = 0
    for j in range(alternates.begin[k] + 1, alternates.begin[k + 1] - 1):
        count += mark[alternates.cells[j]] != 0
    return count


@jit
def _crosses(alternates, k, cell):
    for j in range(alternates.begin[k] + 1, alternates.begin[k + 1] - 1):
        if alternates.cells[j] == cell:
            return True
    return False


@jit
def _alternate_now(tables, alternates, setting, detour, b, one, other, slot):
    """The path of a triple in this problem, whoever asks, or MISSING; its toll is noted. Mutates: alternates, detour"""
    tally = alternates.tally
    if setting.block[b * 4 + one] != setting.block[b * 4 + other]:
        return MISSING
    mark = setting.mark
    known = alternates.bare[slot] != _UNKNOWN
    if not known:
        alternates.bare[slot] = _find(tables, alternates, mark, detour, _IGNORED, _NOWHERE, b, one, other)
    k = alternates.bare[slot]
    if _toll_of(alternates, mark, k) == 0:
        tally[REUSED] += known
        return k
    free_one, free_other = setting.free[b * 4 + one], setting.free[b * 4 + other]
    told = free_one != NO_BICOMPONENT and free_other != NO_BICOMPONENT      # else a cell of the triple itself is marked
    marks = _CLOSED if not setting.through_targets or (told and free_one == free_other) else _PRICED
    if marks == _CLOSED and told and free_one != free_other:
        return MISSING
    if marks == _PRICED and setting.joined[b * 4 + one] != setting.joined[b * 4 + other]:
        return MISSING
    k = _find(tables, alternates, mark, detour, marks, _NOWHERE, b, one, other)
    if k != MISSING:
        alternates.toll[slot] = _toll_of(alternates, mark, k)
    return k


@jit
def alternate(tables, alternates, setting, detour, b, one, other, goal):
    """The alternate path around b between its neighbours in two directions, for a unit with this goal.

    Answers its number, MISSING or NO_ROOM; `tally[TOLL]` says how many targets it crosses. Mutates: alternates, detour.
    """
    tally = alternates.tally
    if alternates.begin[tally[PATHS]] + _PATHS_AT_ONCE * setting.mark.size > alternates.cells.size:
        return NO_ROOM
    if tally[PATHS] + _PATHS_AT_ONCE > alternates.seen.shape[0]:
        return NO_ROOM
    pair = _pair(one, other)
    slot = b * 6 + pair
    if alternates.stamp[slot] != tally[PROBLEM]:
        alternates.toll[slot] = 0
        alternates.now[slot] = _alternate_now(tables, alternates, setting, detour, b, one, other, slot)
        alternates.stamp[slot] = tally[PROBLEM]
        if alternates.now[slot] != MISSING and alternates.toll[slot] == 0:
            alternates.clear[b] |= 1 << pair
    k = alternates.now[slot]
    tally[TOLL] = alternates.toll[slot]
    if k != MISSING and tally[TOLL] > 0 and _crosses(alternates, k, goal):
        k = _find(tables, alternates, setting.mark, detour, _PRICED, goal, b, one, other)
        if k != MISSING:
            tally[TOLL] = _toll_of(alternates, setting.mark, k)
    return k


class AlternatePaths:
    """The alternate paths of one map, which any number of problems share, one at a time (`lock`)."""

    def __init__(self, grid: Grid) -> None:
        cells = grid.size
        self.grid = grid.copy()
        self.lock = threading.RLock()
        self._kept = 0                              # paths on the bare map that are in a file
        self._bicomponents = _bicomponents_of(grid, np.zeros(cells, np.uint8))
        self.tree = make_bicomponent_tree(self._bicomponents.label)
        self.detour = Detour(
            make_ladder(4 * cells + 1, (_TARGET_MOVES // 2 + 1) * cells + grid.width + grid.height),
            np.zeros(cells, np.int32), np.empty(cells, np.int32), np.empty(cells, np.uint8), np.zeros(2, np.int64),
        )  # fmt: skip
        self.alternates = Alternates(
            bare=np.full(6 * cells, _UNKNOWN, np.int32),
            now=np.zeros(6 * cells, np.int32),
            toll=np.zeros(6 * cells, np.int32),
            stamp=np.zeros(6 * cells, np.int32),
            clear=np.zeros(cells, np.uint8),
            begin=np.zeros(1025, np.int64),
            cells=np.empty(4 * cells + 4096, np.int32),
            seen=np.zeros((1024, 4), np.int32),
            tally=np.zeros(5, np.int64),
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> AlternatePaths:
        return self         # copies of a world share them, as other worlds on the same map do

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())

    def begin_problem(
        self, targets: NDArray[np.int32], obstacles: NDArray[np.int32], *, through_targets: bool
    ) -> Setting:
        """Take up a problem. The paths of the one before are forgotten, but for those on the bare map."""
        self._tidy()
        tally = self.alternates.tally
        tally[PROBLEM] += 1
        tally[SEARCHED] = tally[REUSED] = 0
        self.alternates.clear.fill(0)
        mark = np.zeros(self.grid.size, np.uint8)
        mark[targets] |= TARGET
        mark[obstacles] |= OBSTACLE
        joined = _bicomponents_of(self.grid, mark & np.uint8(OBSTACLE)) if obstacles.size else self._bicomponents
        free = _bicomponents_of(self.grid, mark) if targets.size else joined
        return Setting(mark, self._bicomponents.label, joined.label, free.label, through_targets)

    def grow(self) -> None:
        """Make room for twice as many paths, or for paths of twice as many cells, whichever is short."""
        begin, cells, seen = self.alternates.begin, self.alternates.cells, self.alternates.seen
        if self.alternates.tally[PATHS] + _PATHS_AT_ONCE > len(seen):
            self.alternates = self.alternates._replace(
                begin=np.append(begin, np.zeros_like(begin)), seen=np.append(seen, np.zeros_like(seen), axis=0)
            )
        else:
            self.alternates = self.alternates._replace(cells=np.append(cells, np.empty_like(cells)))

    def edited(self, grid: Grid, cells: NDArray[np.int32]) -> AlternatePaths:
        """Those of the map after an edit of these cells: what the edit does not touch is kept."""
        twin = AlternatePaths(grid)
        with self.lock:
            self._tidy()
            old, count = self.alternates, int(self.alternates.tally[PATHS])
            touched = np.zeros(count, np.bool_)
            left, top, right, bottom = old.seen[:count].T
            for x, y in (grid.xy(cell) for cell in cells.tolist()):
                touched |= (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
            bare = old.bare.copy()
            held = np.flatnonzero(bare != _UNKNOWN)
            bare[held[touched[bare[held]]]] = _UNKNOWN
            twin.alternates = old._replace(
                bare=bare, now=old.now.copy(), toll=old.toll.copy(), stamp=old.stamp.copy(), clear=old.clear.copy(),
                begin=old.begin.copy(), cells=old.cells.copy(), seen=old.seen.copy(), tally=old.tally.copy(),
            )  # fmt: skip
        return twin

    def keep_in(self, folder: str | Path) -> None:
        """Write the paths on the bare map to a folder, by the map's hash, if new ones were found."""
        known = int(np.count_nonzero(self.alternates.bare != _UNKNOWN))
        if known > self._kept:
            self.save(_file_in(folder, self.grid))
            self._kept = known

    def save(self, path: str | Path) -> None:
        """Write the paths on the bare map to a file."""
        with self.lock, replacing(path) as file:
            self._tidy()
            old, count = self.alternates, int(self.alternates.tally[PATHS])
            np.savez_compressed(
                file, format=np.int64(_FORMAT), digest=np.array(self.grid.digest()), bare=old.bare,
                begin=old.begin[: count + 1], cells=old.cells[: old.begin[count]], seen=old.seen[:count],
            )  # fmt: skip

    @classmethod
    def load(cls, grid: Grid, path: str | Path) -> AlternatePaths:
        """Read what `save` wrote for this very map."""
        remedy = "delete it, and it is computed anew"
        try:
            with np.load(path, allow_pickle=False) as file:
                parts = {name: file[name] for name in ("format", "digest", "bare", "begin", "cells", "seen")}
        except (*ZIP_ERRORS, KeyError) as error:
            raise FormatError(path, f"these are no alternate paths that can be read ({error}); {remedy}") from error
        if int(parts["format"]) != _FORMAT or str(parts["digest"]) != grid.digest():
            raise FormatError(path, f"alternate paths of another map, or of another version of Wend; {remedy}")
        paths = cls(grid)
        count = len(parts["seen"])
        shapes = parts["bare"].shape == (6 * grid.size,) and parts["begin"].shape == (count + 1,)
        if not shapes or parts["begin"][-1] != parts["cells"].size or parts["bare"].max(initial=-1) >= count:
            raise FormatError(path, f"the parts of these alternate paths do not fit together; {remedy}")
        paths.alternates.bare[:] = parts["bare"]
        paths.alternates = paths.alternates._replace(
            begin=np.append(parts["begin"], np.zeros(1024, np.int64)),
            cells=np.append(parts["cells"], paths.alternates.cells),
            seen=np.append(parts["seen"], np.zeros((1024, 4), np.int32), axis=0),
        )
        paths.alternates.tally[PATHS] = paths._kept = count
        return paths

    def _tidy(self) -> None:
        """Move the paths on the bare map together; those of the last problem go."""
        old, count = self.alternates, int(self.alternates.tally[PATHS])
        held = np.flatnonzero(old.bare != _UNKNOWN)
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
        old.tally[PATHS] = kept.size


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
