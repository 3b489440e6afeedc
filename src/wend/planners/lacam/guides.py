# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Guide paths: where each unit would go to be in the way of few others, found before the search and followed in it.

Okumura: Engineering LaCAM*: Towards Real-Time, Large-Scale, and Near-Optimal Multi-Agent Pathfinding (AAMAS 2024),
where they are called spatio-temporal scattering, or SUO.

    paper                                       here
    space-utilization optimization              make_guides, _plan_guides
    path of one unit among those of the others  _find_guide
    next cell on it comes first in PIBT         next_on_guide; search.py

PIBT sends every unit along a shortest path, and so all of them through the same doors at the same time. A guide path is
at most `_MARGIN` moves longer than that, and costs more for each guide path of another unit that it meets in the same
cell at the same tick or exchanges cells with. Each unit plans in turn, the one with the longest way first, `_PASSES`
times. A unit that stands on a cell of its guide path prefers the next one; elsewhere it goes by distance, as without.

A guide path is kept as a list of cells. Where in it a cell may be follows from the cell's distance to the goal, so to
find it takes at most `_MARGIN` + 1 looks. Who comes where at which tick is kept in a hash table.

Deviations
- A meeting costs as much as `_MEETING` moves, and so may be cheaper than a detour. In the paper the fewest meetings
  come first, whatever the length.
- There are always two passes. In the paper they go on until there are no fewer meetings.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_CELL, jit, scramble
from wend.kernel.arrays import allocate, int32, int64, record
from wend.planners.lacam.instance import LacamInstance, moves_from

_MARGIN = 10        # moves that a guide path may be longer than the shortest path
_PASSES = 2
_MEETING = 3        # what each unit that is met costs; a move is 1

_NEVER = 2**30
_UNUSED = -1        # no key: an empty slot
_BITS = 7           # that count the arrivals in one direction
_FULL = (1 << _BITS) - 1
_NONE = -1          # no entry
_BUCKETS = 4096     # of cells to expand; whatever costs more is in the last one

# What is known of a cell, side by side in memory: twice the number of the search that found it, odd if that is final;
# the least cost to get there; at which tick; and the cell before.
_STAMP, _COST, _TICK, _CAME = range(4)


class Guides(NamedTuple):
    """The guide paths of all units."""

    begin: np.ndarray       # int64[units + 1]  where a unit's path begins in `cell`
    length: np.ndarray      # int32[units]      how many cells it has; 0 if there is none
    cell: np.ndarray        # int32[room]       the paths, each from start to goal
    following: np.ndarray   # int32[units]      scratch of the search: the next cell on its path, or NO_CELL


class GuideTraffic(NamedTuple):
    """Who comes where at which tick by the guide paths so far, and the scratch of the search for one."""

    instance: LacamInstance
    guides: Guides
    horizon: int                                            # more ticks than any path has
    slot: Annotated[np.ndarray, int64("slots", 2)]          # hash table: a key of cell and tick, or _UNUSED; arrivals
    home: Annotated[np.ndarray, int32("cells", fill=_NEVER)]    # the tick at which a unit arrives there for good
    label: Annotated[np.ndarray, int32("cells", 4)]         # what is known of a cell: _STAMP to _CAME
    bucket: Annotated[np.ndarray, int32(_BUCKETS, fill=_NONE)]      # by cost above the least: the last entry, or _NONE
    entry: Annotated[np.ndarray, int32("entries", 2)]       # a cell to expand; the entry before it in its bucket
    counts: Annotated[
        np.ndarray,
        record(
            "searches",
            "entries",      # of the search at hand
            "lowest",       # the first bucket that may have entries,
            "highest",      # ... and the last one
        ),
    ]


@jit
def next_on_guide(instance, guides, unit, cell):
    """The cell that comes next on a unit's guide path, NO_CELL if it ends in the cell or does not lead through it."""
    path = guides.cell[guides.begin[unit] : guides.begin[unit] + guides.length[unit]]
    tick = max(moves_from(instance, unit, instance.start[unit]) - moves_from(instance, unit, cell), 0)
    last = min(tick + _MARGIN, path.size - 2)
    while tick <= last:
        if path[tick] == cell:
            return path[tick + 1]
        tick += 1
    return NO_CELL


@jit
def _slot_of(traffic, cell, tick):
    """Where a cell at a tick is in the hash table, or would be."""
    key, last = np.int64(cell) * traffic.horizon + tick, traffic.slot.shape[0] - 1
    at = scramble(key) & last               # the size is a power of two
    while traffic.slot[at, 0] != key and traffic.slot[at, 0] != _UNUSED:
        at = (at + 1) & last
    return at


@jit
def _count_guide(traffic, unit, change):
    """Count a unit's guide path among the arrivals, or no longer. Mutates: traffic."""
    tables, guides = traffic.instance.tables, traffic.guides
    path = guides.cell[guides.begin[unit] : guides.begin[unit] + guides.length[unit]]
    for tick in range(1, path.size):
        d = 0
        while not tables.moves[path[tick - 1]] >> d & 1 or path[tick - 1] + tables.offset[d] != path[tick]:
            d += 1
        at = _slot_of(traffic, path[tick], tick)
        traffic.slot[at, 0] = np.int64(path[tick]) * traffic.horizon + tick
        if traffic.slot[at, 1] >> _BITS * d & _FULL != _FULL:       # a count that is full stays so
            traffic.slot[at, 1] += np.int64(change) << _BITS * d
    if path.size > 0:
        traffic.home[path[path.size - 1]] = path.size - 1 if change > 0 else _NEVER


@jit
def _count_met(traffic, cell, tick):
    """How many units are met on a cell at a tick."""
    met, arrivals = np.int64(traffic.home[cell] < tick), traffic.slot[_slot_of(traffic, cell, tick), 1]
    while arrivals > 0:
        met += arrivals & _FULL
        arrivals >>= _BITS
    return met


@jit
def _reach(traffic, cell, cost, tick, came, excess):
    """Note that a unit can be on a cell at this cost, so much above its shortest path. Mutates: traffic."""
    label, counts, bucket = traffic.label[cell], traffic.counts[0], min(excess, _BUCKETS - 1)
    label[_STAMP], label[_COST], label[_TICK], label[_CAME] = 2 * counts.searches, cost, tick, came
    traffic.entry[counts.entries, 0], traffic.entry[counts.entries, 1] = cell, traffic.bucket[bucket]
    traffic.bucket[bucket] = counts.entries
    counts.entries += 1
    counts.highest = max(counts.highest, bucket)


@jit
def _take_first(traffic):
    """Take out the cell that costs least, of these the last one; there must be one. Mutates: traffic."""
    counts, bucket = traffic.counts[0], traffic.bucket
    while bucket[counts.lowest] == _NONE:
        counts.lowest += 1
    entry = bucket[counts.lowest]
    bucket[counts.lowest] = traffic.entry[entry, 1]
    return np.int64(traffic.entry[entry, 0])


@jit
def _find_guide(traffic, unit):
    """Find a guide path for a unit among those of the others, and write it down (A*). Mutates: traffic."""
    instance, guides, label, counts = traffic.instance, traffic.guides, traffic.label, traffic.counts[0]
    tables, start, goal = instance.tables, np.int64(instance.start[unit]), np.int64(instance.goal[unit])
    least = moves_from(instance, unit, start)
    counts.searches += 1
    known, final = 2 * counts.searches, 2 * counts.searches + 1
    counts.entries = counts.lowest = counts.highest = 0
    _reach(traffic, start, 0, 0, NO_CELL, 0)
    while label[goal, _STAMP] != final:
        here = _take_first(traffic)
        if label[here, _STAMP] == final:
            continue
        label[here, _STAMP] = final
        tick = np.int64(label[here, _TICK]) + 1
        coming = traffic.slot[_slot_of(traffic, here, tick), 1]     # who takes the unit's place, from where
        for d in range(8):
            if not tables.moves[here] >> d & 1:
                continue
            there = here + tables.offset[d]
            stamp = label[there, _STAMP]
            if stamp == final:
                continue
            moves = moves_from(instance, unit, there)
            if tick + moves > least + _MARGIN:
                continue
            cost = label[here, _COST] + 1 + _MEETING * (coming >> _BITS * (d ^ 2) & _FULL)
            if stamp == known and label[there, _COST] <= cost:
                continue
            cost += _MEETING * _count_met(traffic, there, tick)
            if stamp != known or cost < label[there, _COST]:
                _reach(traffic, there, cost, tick, here, cost + moves - least)
    for bucket in range(counts.lowest, counts.highest + 1):
        traffic.bucket[bucket] = _NONE
    guides.length[unit] = label[goal, _TICK] + 1
    cell = goal
    while cell != NO_CELL:
        guides.cell[guides.begin[unit] + label[cell, _TICK]] = cell
        cell = np.int64(label[cell, _CAME])


@jit
def _plan_guides(traffic, order):
    """Find guide paths for all units. Mutates: traffic."""
    for _ in range(_PASSES):
        for unit in order:
            _count_guide(traffic, unit, -1)
            _find_guide(traffic, unit)
            _count_guide(traffic, unit, 1)


def no_guides(instance: LacamInstance) -> Guides:
    """No guide path for any unit."""
    units = instance.start.size
    begin, length = np.zeros(units + 1, np.int64), np.zeros(units, np.int32)
    return Guides(begin, length, np.empty(0, np.int32), np.full(units, NO_CELL, np.int32))


def make_guides(instance: LacamInstance) -> Guides:
    """Guide paths for all units."""
    units, cells = instance.start.size, instance.place.size
    moves = instance.moves[np.arange(units), instance.place[instance.start]].astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(moves + _MARGIN + 1)])
    room = int(begin[-1])
    guides = no_guides(instance)._replace(begin=begin, cell=np.zeros(room, np.int32))
    slots = 1 << (_PASSES * room).bit_length()      # more than there are keys ever
    given = {"instance": instance, "guides": guides, "horizon": int(moves.max(initial=0)) + _MARGIN + 1}
    traffic = allocate(GuideTraffic, given, slots=slots, cells=cells, entries=8 * instance.moves.shape[1] + 1)
    traffic.slot[:, 0] = _UNUSED
    _plan_guides(traffic, np.argsort(-moves, kind="stable"))
    return guides
