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
times; one whose path is as short as any and meets nobody keeps it. A unit that stands on a cell of its guide path
prefers the next one; elsewhere it goes by distance, as without.

A guide path is kept as a list of cells. Where in it a cell may be follows from the cell's distance to the goal, so to
find it takes at most `_MARGIN` + 1 looks. Who comes where at which tick is kept in a hash table. In front of it, some
bits for each place say at which ticks nobody ever comes: most questions end there.

Deviations
- A meeting costs as much as `_MEETING` moves, and so may be cheaper than a detour. In the paper the fewest meetings
  come first, whatever the length.
- There are always two passes. In the paper they go on until there are no fewer meetings.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_CELL, jit, scramble
from wend.kernel.arrays import allocate, int32, int64
from wend.planners.lacam.instance import LacamInstance, moves_from

_MARGIN = 10        # moves that a guide path may be longer than the shortest path
_PASSES = 2
_MEETING = 3        # what each unit that is met costs; a move is 1

_NEVER = 2**30
_UNUSED = -1        # no key: an empty slot
_BITS = 7           # that count the arrivals in one direction
_FULL = (1 << _BITS) - 1
_NONE = -1          # no entry
_BUCKETS = 4096     # of places to expand; whatever costs more is in the last one

# What is known of a place, side by side in memory: twice the number of the search that found it, odd if that is final;
# the least cost to get there; at which tick; and the place before.
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
    slot: Annotated[np.ndarray, int64("slots", 2)]          # hash table: a key of place and tick, or _UNUSED; arrivals
    busy: Annotated[np.ndarray, int64("places")]            # bit t: somebody came there at a tick t modulo 64
    home: Annotated[np.ndarray, int32("places", fill=_NEVER)]   # the tick at which a unit arrives there for good
    label: Annotated[np.ndarray, int32("places", 4)]        # what is known of a place: _STAMP to _CAME
    bucket: Annotated[np.ndarray, int32(_BUCKETS, fill=_NONE)]      # by cost above the least: the last entry, or _NONE
    entry: Annotated[np.ndarray, int32("entries", 2)]       # a place to expand; the entry before it in its bucket
    searches: Annotated[np.ndarray, int32(1)]               # twice the number of the search at hand


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
def _slot_of(slot, key):
    """Where a key is in the hash table, or would be."""
    last = slot.shape[0] - 1
    at = scramble(key) & last               # the size is a power of two
    while slot[at, 0] != key and slot[at, 0] != _UNUSED:
        at = (at + 1) & last
    return at


@jit
def _count_guide(traffic, unit, change):
    """Count a unit's guide path among the arrivals, or no longer. Mutates: traffic."""
    instance, guides, slot = traffic.instance, traffic.guides, traffic.slot
    path = guides.cell[guides.begin[unit] : guides.begin[unit] + guides.length[unit]]
    if path.size == 0:
        return
    here = instance.place[path[0]]
    for tick in range(1, path.size):
        there = instance.place[path[tick]]
        d = 0
        while instance.beside[here, d] != there:
            d += 1
        key = np.int64(there) * traffic.horizon + tick
        at = _slot_of(slot, key)
        slot[at, 0] = key
        if slot[at, 1] >> _BITS * d & _FULL != _FULL:       # a count that is full stays so
            slot[at, 1] += np.int64(change) << _BITS * d
        traffic.busy[there] |= np.int64(1) << (tick & 63)
        here = there
    traffic.home[here] = path.size - 1 if change > 0 else _NEVER


@jit
def _arrivals(traffic, place, tick):
    """Who comes to a place at a tick: a count for each direction, _BITS each."""
    if not traffic.busy[place] >> (tick & 63) & 1:
        return np.int64(0)
    return traffic.slot[_slot_of(traffic.slot, place * traffic.horizon + tick), 1]


@jit
def _sum(arrivals):
    """How many arrivals there are from all directions."""
    total = np.int64(0)
    while arrivals > 0:
        total += arrivals & _FULL
        arrivals >>= _BITS
    return total


@jit
def _find_guide(traffic, unit):
    """Find a guide path for a unit among those of the others, and write it down (A*). Mutates: traffic."""
    instance, guides = traffic.instance, traffic.guides
    label, bucket, entry, home = traffic.label, traffic.bucket, traffic.entry, traffic.home
    beside, moves_of = instance.beside, instance.moves[unit]
    start, goal = np.int64(instance.place[instance.start[unit]]), np.int64(instance.place[instance.goal[unit]])
    least = np.int64(moves_of[start])
    traffic.searches[0] += 2
    known = traffic.searches[0]
    final = known + 1
    label[start, _STAMP], label[start, _COST], label[start, _TICK], label[start, _CAME] = known, 0, 0, _NONE
    entry[0, 0], entry[0, 1], bucket[0] = start, _NONE, 0
    entries, lowest, highest = 1, 0, 0
    while label[goal, _STAMP] != final:
        while bucket[lowest] == _NONE:              # the place that costs least, of these the last one
            lowest += 1
        first = bucket[lowest]
        here = np.int64(entry[first, 0])
        bucket[lowest] = entry[first, 1]
        if label[here, _STAMP] == final:
            continue
        label[here, _STAMP] = final
        so_far, tick = np.int64(label[here, _COST]), np.int64(label[here, _TICK]) + 1
        coming = _arrivals(traffic, here, tick)     # who takes the unit's place, from where
        for d in range(beside.shape[1]):
            there = np.int64(beside[here, d])
            stamp = label[there, _STAMP]
            if stamp == final:                      # so is its own place
                continue
            moves = np.int64(moves_of[there])
            if tick + moves > least + _MARGIN:
                continue
            cost = so_far + 1 + _MEETING * (coming >> _BITS * (d ^ 2) & _FULL)
            if stamp == known and label[there, _COST] <= cost:
                continue
            cost += _MEETING * (_sum(_arrivals(traffic, there, tick)) + int(home[there] < tick))
            if stamp == known and label[there, _COST] <= cost:
                continue
            label[there, _STAMP], label[there, _COST] = known, cost
            label[there, _TICK], label[there, _CAME] = tick, here
            excess = min(cost + moves - least, _BUCKETS - 1)
            entry[entries, 0], entry[entries, 1] = there, bucket[excess]
            bucket[excess] = entries
            entries += 1
            highest = max(highest, excess)
    bucket[lowest : highest + 1] = _NONE
    guides.length[unit] = label[goal, _TICK] + 1
    place = goal
    while place != _NONE:
        guides.cell[guides.begin[unit] + label[place, _TICK]] = instance.cell[place]
        place = np.int64(label[place, _CAME])


@jit
def _is_best(traffic, unit):
    """Whether a unit's guide path is as short as any, and meets nobody."""
    instance, guides = traffic.instance, traffic.guides
    path = guides.cell[guides.begin[unit] : guides.begin[unit] + guides.length[unit]]
    if path.size != moves_from(instance, unit, instance.start[unit]) + 1:
        return False
    here = np.int64(instance.place[path[0]])
    for tick in range(1, path.size):
        there = np.int64(instance.place[path[tick]])
        if traffic.home[there] < tick or _arrivals(traffic, there, tick) != 0:
            return False
        coming = _arrivals(traffic, here, tick)
        d = 0
        while instance.beside[here, d] != there:
            d += 1
        if coming >> _BITS * (d ^ 2) & _FULL != 0:
            return False
        here = there
    return True


@jit
def _plan_guides(traffic, order):
    """Find guide paths for all units. Mutates: traffic."""
    for _ in range(_PASSES):
        for unit in order:
            _count_guide(traffic, unit, -1)
            if not _is_best(traffic, unit):
                _find_guide(traffic, unit)
            _count_guide(traffic, unit, 1)


def no_guides(instance: LacamInstance) -> Guides:
    """No guide path for any unit."""
    units = instance.start.size
    begin, length = np.zeros(units + 1, np.int64), np.zeros(units, np.int32)
    return Guides(begin, length, np.empty(0, np.int32), np.full(units, NO_CELL, np.int32))


def make_guides(instance: LacamInstance) -> Guides:
    """Guide paths for all units."""
    units, places = instance.start.size, instance.cell.size
    moves = instance.moves[np.arange(units), instance.place[instance.start]].astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(moves + _MARGIN + 1)])
    room = int(begin[-1])
    guides = no_guides(instance)._replace(begin=begin, cell=np.zeros(room, np.int32))
    slots = 1 << (_PASSES * room).bit_length()      # more than there are keys ever
    given = {"instance": instance, "guides": guides, "horizon": int(moves.max(initial=0)) + _MARGIN + 1}
    traffic = allocate(GuideTraffic, given, slots=slots, places=places, entries=8 * places + 1)
    traffic.slot[:, 0] = _UNUSED
    _plan_guides(traffic, np.argsort(-moves, kind="stable"))
    return guides
