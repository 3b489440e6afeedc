# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Shorter paths for units that have a plan: each in turn takes a better one that the moves of all others leave open.

A plan is a sequence of moves, each into a blank cell, as MAPP (`mapp.py`) makes it. There, units are pushed aside and
come back, many times over. `shorten` keeps where each unit starts and ends and gives the units shorter paths, one after
the other: it takes all stays of one unit out of the plan and searches a new path through what is left. What the others
do remains what it is, so every sequence that leads to the result is a plan, too.

Time is an integer: moves get the tick that `compaction.schedule` finds for them, and within a tick their place in the
sequence. A unit stays on a cell from the time it comes until the time it goes; between the stays of others a cell is
free, and such a gap is a node of the search: safe interval path planning (Phillips and Likhachev, SIPP: Safe Interval
Path Planning for Dynamic Environments, ICRA 2011). A gap can be reached with few moves or early, and either may be
better in the end: a label, which is a number of moves and a time, is dropped only if the gap was reached before with no
more moves and no later.

Labels are expanded in the order of moves made + 1.25 * moves to go on the map without units, then by time. The factor
gives up the fewest moves that are possible and finds a path that is almost as short with a tenth of the work. A new
path is taken if it has fewer moves than the old one, or as many and arrives earlier. Units that arrive first get their
new paths first: of the orders tried it did best on the most crowded maps. The work for one unit is bounded by what it
could gain.

Deviations
- SIPP finds the earliest arrival; here moves come before time.
- A unit that finds no time for a whole tick in a gap hurries through it. The result is a sequence, and what it takes in
  ticks is counted afterwards.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import UNREACHABLE, jit
from wend.kernel.arrays import allocate, int32, int64, record
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST
from wend.planners.mapp import compaction
from wend.search.flood import count_moves
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push

TICK = 2**32                # of time
NEVER = 2**62               # a time after all others
PASSES = 2                  # over all units; the first does nearly all
EXPANSIONS = 2000           # at most, for a unit whose path is as short as can be,
EXPANSIONS_PER_MOVE = 50    # ... more for each move that it has more than the distance,
MOST_EXPANSIONS = 2**17     # ... but never more than these
_MOST_LABELS = 2**20
_COST_TO_GO = CARDINAL_COST + CARDINAL_COST // 4
_SPARE = 8                  # stays that each cell has space for, beyond those that it has
_GROWTH = 2                 # times the slots that cells have to begin with are there in all
_NONE = -1


class _TimedPaths(NamedTuple):
    """Where each unit stays, one cell after the other."""

    begin: Annotated[np.ndarray, int32("units")]        # where its stays begin in the arrays below
    length: Annotated[np.ndarray, int32("units")]       # how many they are, the start included
    cell: Annotated[np.ndarray, int32("stays")]
    entered: Annotated[np.ndarray, int64("stays")]      # time


class _Stays(NamedTuple):
    """The stays on each cell, in the order of time; gap k of a cell is the one before stay k, so there is one more."""

    begin: Annotated[np.ndarray, int32("cells")]        # where its stays begin in the arrays below
    held: Annotated[np.ndarray, int32("cells")]         # how many they are
    slots: Annotated[np.ndarray, int32("cells")]        # how many there is space for; always more than there are
    entered: Annotated[np.ndarray, int64("slots")]      # time
    left: Annotated[np.ndarray, int64("slots")]         # time
    counts: Annotated[np.ndarray, record("used")]       # slots that belong to some cell or once did


class _Search(NamedTuple):
    """The search for one unit's path."""

    far: Annotated[np.ndarray, int32("cells")]          # moves to the end of the path, or UNREACHABLE
    queue: Annotated[np.ndarray, int32("cells")]
    stamp: Annotated[np.ndarray, int32("slots")]        # last search that expanded a label of the gap before this slot,
    earliest: Annotated[np.ndarray, int64("slots")]     # ... and its last label's time
    open_list: OpenList                                 # tickets are label << 32 | slot
    cell: Annotated[np.ndarray, int32("labels")]
    slot: Annotated[np.ndarray, int32("labels")]        # which gap of the cell
    time: Annotated[np.ndarray, int64("labels")]        # when the unit comes there
    moves: Annotated[np.ndarray, int32("labels")]       # made until then
    parent: Annotated[np.ndarray, int32("labels")]      # or _NONE
    found: Annotated[np.ndarray, int32("longest")]      # the labels of the path found


@jit
def _lay_out(starts, unit, to, time, paths, stays, slot):
    """Enter a sequence of moves, in the order of their times. Mutates: paths, stays, slot."""
    for u in range(starts.size):
        cell = starts[u]
        paths.cell[paths.begin[u]], paths.entered[paths.begin[u]] = cell, 0
        paths.length[u] = 1
        slot[u] = stays.begin[cell]
        stays.entered[slot[u]], stays.left[slot[u]] = 0, NEVER
        stays.held[cell] = 1
    for m in range(unit.size):
        u, cell = unit[m], to[m]
        at = paths.begin[u] + paths.length[u]
        paths.cell[at], paths.entered[at] = cell, time[m]
        paths.length[u] += 1
        stays.left[slot[u]] = time[m]
        slot[u] = stays.begin[cell] + stays.held[cell]
        stays.entered[slot[u]], stays.left[slot[u]] = time[m], NEVER
        stays.held[cell] += 1


@jit
def _slot_after(stays, cell, time):
    """The first slot of a cell whose stay begins after this time; the one behind the last stay, if none does."""
    low = stays.begin[cell]
    high = low + stays.held[cell]
    while low < high:
        middle = (low + high) >> 1
        if stays.entered[middle] > time:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def _take_out(stays, cell, entered):
    """Take out the stay that begins at this time. Mutates: stays."""
    at = _slot_after(stays, cell, entered) - 1
    stays.held[cell] -= 1
    for k in range(at, stays.begin[cell] + stays.held[cell]):
        stays.entered[k], stays.left[k] = stays.entered[k + 1], stays.left[k + 1]


@jit
def _put_in(stays, cell, entered, left):
    """Put in a stay; False if there is no space, which cannot happen where one was taken out. Mutates: stays."""
    size = stays.held[cell]
    if size + 1 == stays.slots[cell]:
        old, new, space = stays.begin[cell], stays.counts[0].used, 2 * stays.slots[cell]
        if new + space > stays.entered.size:
            return False
        for k in range(size):
            stays.entered[new + k], stays.left[new + k] = stays.entered[old + k], stays.left[old + k]
        stays.begin[cell], stays.slots[cell], stays.counts[0].used = new, space, new + space
    at = _slot_after(stays, cell, entered)
    for k in range(stays.begin[cell] + size, at, -1):
        stays.entered[k], stays.left[k] = stays.entered[k - 1], stays.left[k - 1]
    stays.entered[at], stays.left[at] = entered, left
    stays.held[cell] = size + 1
    return True


@jit
def _find_path(tables, stays, search, serial, start, goal, most, expansions):
    """Search a path with at most so many moves; answer its last label, or _NONE. Mutates: search."""
    far, open_list = search.far, search.open_list
    limit = min(expansions + EXPANSIONS_PER_MOVE * (most - far[start]), MOST_EXPANSIONS)
    search.cell[0], search.slot[0], search.time[0] = start, stays.begin[start], 0
    search.moves[0], search.parent[0] = 0, _NONE
    labels, expanded = 1, 0
    clear(open_list, 0)
    push(open_list, 0, 0, np.int64(stays.begin[start]))
    while not is_empty(open_list, search.stamp, _NONE):     # no gap is ever closed: an earlier label may come
        label = first(open_list) >> 32
        drop_first(open_list)
        cell, slot, time = search.cell[label], search.slot[label], search.time[label]
        if search.stamp[slot] == serial and search.earliest[slot] <= time:
            continue                        # the labels of a gap come up in the order of their moves
        search.stamp[slot], search.earliest[slot] = serial, time
        end = stays.begin[cell] + stays.held[cell]
        if cell == goal and slot == end:
            return label
        if expanded >= limit:
            return _NONE
        expanded += 1
        until = stays.entered[slot] if slot < end else NEVER
        moves = np.int64(search.moves[label]) + 1
        for d in range(4):
            if not tables.moves[cell] >> d & 1:
                continue
            beside = cell + tables.offset[d]
            if far[beside] == UNREACHABLE or moves + far[beside] > most:
                continue
            cost = moves * CARDINAL_COST + np.int64(far[beside]) * _COST_TO_GO
            end_beside = stays.begin[beside] + stays.held[beside]
            for there in range(_slot_after(stays, beside, time), end_beside + 1):
                since = stays.left[there - 1] if there > stays.begin[beside] else np.int64(0)
                if since >= until:
                    break
                before = min(until, stays.entered[there]) if there < end_beside else until
                after = max(time, since)
                # A tick later, or as soon as the cell is left; in a short gap at half-time, so that others fit in.
                comes = min(max(time + TICK, since + 1), after + ((before - after) >> 1))
                if comes == after or (search.stamp[there] == serial and search.earliest[there] <= comes):
                    continue
                if labels == search.cell.size:
                    return _NONE
                search.cell[labels], search.slot[labels], search.time[labels] = beside, there, comes
                search.moves[labels], search.parent[labels] = moves, label
                push(open_list, cost, comes, np.int64(labels) << 32 | there)
                labels += 1
    return _NONE


@jit
def _put_in_found(stays, search, last):
    """Put in the stays of the path that ends in this label; False if there is no space. Mutates: stays, search."""
    length = search.moves[last] + 1
    for k in range(length - 1, -1, -1):
        search.found[k] = last
        last = search.parent[last]
    for k in range(length):
        label = search.found[k]
        left = search.time[search.found[k + 1]] if k + 1 < length else NEVER
        if not _put_in(stays, search.cell[label], search.time[label], left):
            for j in range(k):
                _take_out(stays, search.cell[search.found[j]], search.time[search.found[j]])
            return False
    return True


@jit
def _shorten_each(tables, paths, stays, search, order, expansions):
    """Give each unit a better path, if there is one. Mutates: paths, stays, search."""
    for turn in range(order.size):
        u = order[turn]
        begin, length = paths.begin[u], paths.length[u]
        end = begin + length
        start, goal = paths.cell[begin], paths.cell[end - 1]
        if length == 1:
            continue
        for k in range(begin, end):
            _take_out(stays, paths.cell[k], paths.entered[k])
        count_moves(tables, search.far, search.queue, start, goal, length - 1)
        label = _find_path(tables, stays, search, turn + 1, start, goal, length - 1, expansions)
        is_better = label != _NONE and (
            search.moves[label] < length - 1 or search.time[label] < paths.entered[end - 1]
        )
        if is_better and _put_in_found(stays, search, label):
            paths.length[u] = search.moves[label] + 1
            for k in range(paths.length[u]):
                new = search.found[k]
                paths.cell[begin + k], paths.entered[begin + k] = search.cell[new], search.time[new]
        else:
            for k in range(begin, end):
                left = paths.entered[k + 1] if k + 1 < end else NEVER
                _put_in(stays, paths.cell[k], paths.entered[k], left)


def _make_paths(starts: NDArray[np.int32], unit: NDArray[np.int32]) -> _TimedPaths:
    """Space for the paths of units that make these moves."""
    length = np.bincount(unit, minlength=starts.size) + 1
    begin = (np.cumsum(length) - length).astype(np.int32)
    return allocate(_TimedPaths, {"begin": begin}, units=starts.size, stays=int(length.sum()))


def _make_stays(grid: Grid, visits: NDArray[np.int32]) -> _Stays:
    """Space for stays on these cells, and more for when a cell runs out of it."""
    slots = np.bincount(visits, minlength=grid.size) + np.where(grid.passable.ravel(), _SPARE, 0)
    used = int(slots.sum())
    given = {"begin": (np.cumsum(slots) - slots).astype(np.int32), "slots": slots.astype(np.int32)}
    stays = allocate(_Stays, given, cells=grid.size, slots=_GROWTH * used)
    stays.counts[0].used = used
    return stays


def _make_search(cells: int, slots: int, longest: int) -> _Search:
    given = {"open_list": make_open_list(_MOST_LABELS // 8)}
    return allocate(_Search, given, cells=cells, slots=slots, labels=_MOST_LABELS, longest=longest)


def _pass(
    grid: Grid, starts: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32],
    obstacles: NDArray[np.int32], expansions: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:  # fmt: skip
    """The moves after each unit had its turn."""
    tick = compaction.schedule(compaction.link(starts, unit, to, grid.size))
    by_tick = np.argsort(tick, kind="stable")
    unit, to, tick = unit[by_tick], to[by_tick], tick[by_tick].astype(np.int64)
    rank = np.arange(tick.size) - np.searchsorted(tick, tick)
    time = tick * TICK + (rank + 1) * (TICK // (starts.size + 1))
    paths = _make_paths(starts, unit)
    stays = _make_stays(grid, np.concatenate([starts, to, obstacles]))
    _lay_out(starts, unit, to, time, paths, stays, np.empty(starts.size, np.int32))
    blocked = stays.begin[obstacles]
    stays.entered[blocked], stays.left[blocked], stays.held[obstacles] = 0, NEVER, 1
    arrival = paths.entered[paths.begin + paths.length - 1]
    search = _make_search(grid.size, stays.entered.size, int(paths.length.max()))
    _shorten_each(grid.tables, paths, stays, search, np.argsort(arrival, kind="stable"), expansions)
    stayer = np.repeat(np.arange(starts.size, dtype=np.int32), np.diff(paths.begin, append=paths.cell.size))
    nth = np.arange(stayer.size) - paths.begin[stayer]
    moves = np.flatnonzero((nth > 0) & (nth < paths.length[stayer]))
    moves = moves[np.argsort(paths.entered[moves], kind="stable")]
    return stayer[moves], paths.cell[moves]


def shorten(
    grid: Grid, starts: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32],
    obstacles: NDArray[np.int32], *, passes: int = PASSES, expansions: int = EXPANSIONS,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:  # fmt: skip
    """The moves of a plan with the same ends and shorter paths; no unit makes more moves than before.

    `obstacles` are cells where agents stand that are not in the plan. `expansions` are those for a unit in one pass,
    besides EXPANSIONS_PER_MOVE for each move that it has more than the distance.
    """
    unit, to = compaction.trim(starts, unit, to, grid.size)
    for _ in range(passes):
        if unit.size == 0:
            break
        unit, to = _pass(grid, starts, unit, to, obstacles, expansions)
        unit, to = compaction.trim(starts, unit, to, grid.size)
    return unit, to
