# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Who is on which cell when, and the quickest path of one unit through it all (SIPP).

Phillips, Likhachev: SIPP: Safe Interval Path Planning for Dynamic Environments (ICRA 2011).

A visit is a unit's stay on a cell, from one tick to another. Between the visits of a cell it is free: these intervals
are the states of the search, because a unit that is there earlier can do all that one can do that is there later. A
state is known by the visit before it, or by its cell if there is none.

The search looks for the earliest tick at which the unit is on its goal for good. The distance to the goal counts more
than once, so the tick found may be so many times later, and the search is far quicker. No state is expected to lead
there before the goal is free for good; among equals the one nearest to the goal comes first, so that a unit whose goal
is not free yet goes there and waits around.

The caller passes a bundle `instance` with at least the `tables` of the map and the `goal` of each unit, and a kernel
`moves(instance, unit, cell)`: how many moves it is to a unit's goal at least, or a negative answer where that is not
known. The search does not go there then.

Where many units pass, a cell has hundreds of visits. To find the one at a tick, a hint says where to begin: the visit
that was last looked at in the same stretch of time. Visits come and go, so it may be out of date, and is checked.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import allocate, int32, record
from wend.planners.lacam.tree import NONE
from wend.search.heap import Heap, drop_first, empty, push, size_of

_FOREVER = 2**30
_HINTS = 1 << 22    # entries, at most
_STRETCH = 4        # a hint is for 2^4 ticks, or more where that takes too many entries
_HEAP = 1 << 16     # entries; a search that needs more fails
_SPARE_PATHS = 8    # that units may have beside their old ones

# What is known of a visit, side by side in memory: its first tick; its last one, or _FOREVER; the visits of the same
# cell before and after it, or NONE; whose it is; another visit of the same unit, or NONE; whether it takes place, or
# its unit was taken out; and its cell.
ENTER, LEAVE, BEFORE, AFTER, UNIT, CHAIN, IS_IN, CELL = range(8)


class Visits(NamedTuple):
    """The visits of all units, and the scratch of the search."""

    first: Annotated[np.ndarray, int32("cells", fill=NONE)]     # the first visit of a cell, or NONE
    hint: Annotated[np.ndarray, int32("cells", "stretches", fill=NONE, is_hint=True)]       # the visit of it last
    stretch: int        # ... looked at, or NONE; ticks >> stretch is the hint's stretch of time
    own: Annotated[np.ndarray, int32("units", fill=NONE)]       # the chain of a unit's visits: its last one, or NONE
    visit: Annotated[np.ndarray, int32("visits", 8)]            # ENTER to CELL
    arrival: Annotated[np.ndarray, int32("states", is_hint=True)]       # by state: the earliest tick there,
    came: Annotated[np.ndarray, int32("states", is_hint=True)]          # ... the state before,
    stamp: Annotated[np.ndarray, int32("states", is_scratch=True)]      # ... and the search that found them, from 1 on
    heap: Heap
    counts: Annotated[
        np.ndarray,
        record(
            "used",         # visits that were ever used
            "unused",       # the first of a chain of visits that were given back, or NONE
            "searches",
            "expanded",     # states, in all searches
            "clear",        # the tick from which on the goal of the search at hand is free for good,
            "weight",       # ... and how much the distance to it counts, in halves; 2 is A*
        ),
    ]

    def lengths_in_use(self) -> dict[str, int]:
        """How much of it a snapshot has to hold."""
        return {"visits": self.counts["used"].item(), "entries": 0}     # a search begins with an empty heap


def make_visits(cells: int, units: int, ticks: int, others: int = 0) -> Visits:
    """No visits yet: for so many units with paths of so many cells each, and others that stand somewhere for good."""
    most, stretch = (units + _SPARE_PATHS) * ticks + others, _STRETCH
    while cells * ((ticks >> stretch) + 1) > _HINTS:
        stretch += 1
    sizes = {"cells": cells, "stretches": (ticks >> stretch) + 1, "units": units, "visits": most}
    visits = allocate(Visits, {"stretch": stretch}, states=cells + most, entries=_HEAP, **sizes)
    visits.counts[0].unused = NONE
    return visits


@jit
def last_visit(visits, cell, tick):
    """The last visit of a cell that begins at a tick or before, or NONE. Mutates: visits.hint."""
    visit, hint = visits.visit, visits.hint[cell]
    stretch = min(tick >> visits.stretch, hint.size - 1)
    at, k = np.int64(NONE), stretch
    while at == NONE and k >= 0:                    # the hint for an earlier time will do
        at = np.int64(hint[k])
        if at != NONE and (visit[at, IS_IN] == 0 or visit[at, CELL] != cell):
            at = np.int64(NONE)
        k -= 1
    if at == NONE:
        at = np.int64(visits.first[cell])
    while at != NONE and visit[at, ENTER] > tick:
        at = np.int64(visit[at, BEFORE])
    if at == NONE:
        return at
    after = np.int64(visit[at, AFTER])
    while after != NONE and visit[after, ENTER] <= tick:
        at, after = after, np.int64(visit[after, AFTER])
    hint[stretch] = at
    return at


@jit
def _link(visits, visit):
    """Put a visit between those before and after it. Mutates: visits."""
    before, after = visits.visit[visit, BEFORE], visits.visit[visit, AFTER]
    visits.visit[visit, IS_IN] = 1
    if before == NONE:
        visits.first[visits.visit[visit, CELL]] = visit
    else:
        visits.visit[before, AFTER] = visit
    if after != NONE:
        visits.visit[after, BEFORE] = visit


@jit
def _unlink(visits, visit):
    """Take a visit out, which still knows where it was. Mutates: visits."""
    before, after = visits.visit[visit, BEFORE], visits.visit[visit, AFTER]
    visits.visit[visit, IS_IN] = 0
    if before == NONE:
        visits.first[visits.visit[visit, CELL]] = after
    else:
        visits.visit[before, AFTER] = after
    if after != NONE:
        visits.visit[after, BEFORE] = before


@jit
def _add_visit(visits, unit, cell, enter, leave):
    """Add a visit to a cell, which is free then. Mutates: visits."""
    counts = visits.counts[0]
    added = counts.unused
    if added != NONE:
        counts.unused = np.int64(visits.visit[added, CHAIN])
    else:
        added = counts.used
        counts.used += 1
    before = last_visit(visits, cell, enter)
    after = visits.first[cell] if before == NONE else visits.visit[before, AFTER]
    visits.visit[added, CELL] = cell
    visits.visit[added, ENTER], visits.visit[added, LEAVE] = enter, leave
    visits.visit[added, BEFORE], visits.visit[added, AFTER] = before, after
    visits.visit[added, UNIT] = unit
    if unit != NONE:
        visits.visit[added, CHAIN] = visits.own[unit]
        visits.own[unit] = added
    _link(visits, added)


@jit
def stand(visits, cell):
    """Let someone who is no unit be on a cell for good. Mutates: visits."""
    _add_visit(visits, NONE, cell, 0, _FOREVER)


@jit
def add_path(visits, unit, path):
    """Let a unit be where its path says, by tick, and on the last cell for ever. Mutates: visits."""
    enter = 0
    visits.own[unit] = NONE
    for tick in range(1, path.size):
        if path[tick] != path[enter]:
            _add_visit(visits, unit, path[enter], enter, tick - 1)
            enter = tick
    _add_visit(visits, unit, path[enter], enter, _FOREVER)


@jit
def take_out(visits, unit):
    """Take a unit out; return the chain of its visits, for `put_back` or `give_back`. Mutates: visits.
    """
    visit, chain = np.int64(visits.own[unit]), np.int64(NONE)
    while visit != NONE:
        _unlink(visits, visit)
        earlier = np.int64(visits.visit[visit, CHAIN])
        visits.visit[visit, CHAIN] = chain         # the chain is turned round: what was taken out last comes first
        visit, chain = earlier, visit
    visits.own[unit] = NONE
    return chain


@jit
def put_back(visits, unit, chain):
    """Put a unit back that was taken out. Those that were taken out after it are back already. Mutates: visits."""
    visit = np.int64(chain)
    while visit != NONE:
        _link(visits, visit)
        later = np.int64(visits.visit[visit, CHAIN])
        visits.visit[visit, CHAIN] = visits.own[unit]
        visits.own[unit] = visit
        visit = later


@jit
def give_back(visits, chain):
    """Give the visits of a unit that was taken out back for good. Mutates: visits."""
    visit, counts = np.int64(chain), visits.counts[0]
    while visit != NONE:
        later = np.int64(visits.visit[visit, CHAIN])
        visits.visit[visit, CHAIN] = counts.unused
        counts.unused = visit
        visit = later


@jit
def _f(visits, tick, moves):
    """When a unit is expected to be on its goal for good, in half ticks."""
    return max(2 * tick + visits.counts[0].weight * moves, 2 * visits.counts[0].clear)


@jit
def _reach(visits, state, moves, tick, came):
    """Note that a unit can be in a state at a tick, so many moves from its goal. Mutates: visits."""
    counts = visits.counts[0]
    if visits.stamp[state] == counts.searches and visits.arrival[state] <= tick:
        return
    visits.stamp[state] = counts.searches
    visits.arrival[state], visits.came[state] = tick, came
    push(visits.heap, _f(visits, tick, moves), moves, state)


@jit
def _expand(visits, instance, moves, unit, state, last_tick):
    """Look where a unit can go from a state, in time to be on its goal at the last tick. Mutates: visits."""
    tables, cells, counts = instance.tables, visits.first.size, visits.counts[0]
    here = state if state < cells else np.int64(visits.visit[state - cells, CELL])
    after = np.int64(visits.first[here] if state < cells else visits.visit[state - cells, AFTER])
    earliest = visits.arrival[state] + 1
    latest = last_tick if after == NONE else np.int64(visits.visit[after, ENTER])     # to be gone from here
    counts.expanded += 1
    for d in range(8):
        if not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d]
        left = np.int64(moves(instance, unit, there))
        if left < 0:
            continue
        latest_there = min(latest, last_tick - left)
        visit = last_visit(visits, there, earliest)        # the interval behind it is the first that lasts long enough
        interval, begin = there, np.int64(0)
        if visit != NONE:
            interval, begin = cells + visit, np.int64(visits.visit[visit, LEAVE]) + 1
        visit = np.int64(visits.first[there] if visit == NONE else visits.visit[visit, AFTER])
        while begin <= latest_there:
            end = _FOREVER if visit == NONE else visits.visit[visit, ENTER] - 1
            tick = max(earliest, begin)
            if begin <= end and tick <= min(end, latest_there) and size_of(visits.heap) < _HEAP:
                # The two exchange cells if whoever leaves that cell comes here in the same tick.
                is_swap = (
                    after != NONE and interval >= cells and tick == begin == visits.visit[after, ENTER]
                    and visits.visit[interval - cells, UNIT] == visits.visit[after, UNIT]
                )  # fmt: skip
                if not is_swap:
                    _reach(visits, interval, left, tick, state)
            if visit == NONE:
                break
            begin, interval = np.int64(visits.visit[visit, LEAVE]) + 1, cells + visit
            visit = np.int64(visits.visit[visit, AFTER])


@jit
def find_path(visits, instance, moves, unit, begin, last_tick, weight, max_expansions, path):
    """Find a path for a unit that was taken out; whether there is one. Mutates: visits, path.

    Until the tick `begin` the unit is where `path` has it already. It is on its goal at the last tick at the latest,
    and stays there until the end of `path`. `weight` is how much the distance to its goal counts, in halves.
    """
    counts, cells = visits.counts[0], visits.first.size
    start, goal = np.int64(path[begin]), np.int64(instance.goal[unit])
    last, before = last_visit(visits, goal, _FOREVER), last_visit(visits, start, begin)
    final, counts.clear = goal, 0
    if last != NONE:
        final, counts.clear = cells + last, np.int64(visits.visit[last, LEAVE]) + 1
    if counts.clear > last_tick:
        return False
    counts.searches += 1
    counts.weight = weight
    limit = counts.expanded + max_expansions
    empty(visits.heap)
    _reach(visits, start if before == NONE else cells + before, moves(instance, unit, start), begin, NONE)
    while size_of(visits.heap) > 0:
        f, left, state = visits.heap.entry[0, 0], visits.heap.entry[0, 1], visits.heap.entry[0, 2]
        drop_first(visits.heap)
        if _f(visits, visits.arrival[state], left) != f:         # an entry from before the state was improved
            continue
        if state == final:
            _write_path(visits, final, path)
            return True
        if counts.expanded >= limit:
            return False
        _expand(visits, instance, moves, unit, state, last_tick)
    return False


@jit
def _write_path(visits, final, path):
    """Write the path that leads to a state, and stays there. Mutates: path."""
    cells, state, end = visits.first.size, final, path.size
    while state != NONE:
        cell = state if state < cells else np.int64(visits.visit[state - cells, CELL])
        for tick in range(visits.arrival[state], end):
            path[tick] = cell
        end = visits.arrival[state]
        state = np.int64(visits.came[state])
