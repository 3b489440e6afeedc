# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Who is on which cell when, and the quickest path of one unit through it all (SIPP).

Phillips, Likhachev: SIPP: Safe Interval Path Planning for Dynamic Environments (ICRA 2011).

A visit is a unit's stay on a cell, from one tick to another. Between the visits of a cell it is free: these intervals
are the states of the search, because a unit that is there earlier can do all that one can do that is there later. A
state is known by the visit before it, or by its cell if there is none.

The search looks for the earliest tick at which the unit is on its goal for good. The distance to the goal counts one
and a half times, so the tick found may be up to so much later, and the search is far quicker. No state is expected to
lead there before the goal is free for good; among equals the one nearest to the goal comes first, so that a unit whose
goal is not free yet goes there and waits around.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import jit
from wend.kernel.arrays import allocate, int32, record
from wend.planners.lacam.instance import Instance, moves_from
from wend.planners.lacam.tree import NONE
from wend.search.heap import Heap, drop_first, empty, push, size_of

_WEIGHT = 3         # of the distance to the goal, in halves; 2 is A*
_FOREVER = 2**30
_HEAP = 1 << 16     # entries; a search that needs more fails
_SPARE_PATHS = 8    # that units may have beside their old ones

# What is known of a visit, side by side in memory: its first tick; its last one, or _FOREVER; the visits of the same
# cell before and after it, or NONE; whose it is; and another visit of the same unit, or NONE.
ENTER, LEAVE, BEFORE, AFTER, UNIT, CHAIN = range(6)


class Traffic(NamedTuple):
    """The visits of all units, and the scratch of the search."""

    instance: Instance
    weight: int                                                 # of the distance to the goal in f, in halves
    first: Annotated[np.ndarray, int32("cells", fill=NONE)]     # the first visit of a cell, or NONE
    near: Annotated[np.ndarray, int32("cells", fill=NONE)]      # the visit of it that was last looked at, or NONE
    own: Annotated[np.ndarray, int32("units", fill=NONE)]       # the chain of a unit's visits: its last one, or NONE
    visit: Annotated[np.ndarray, int32("visits", 6)]            # ENTER to CHAIN
    cell: Annotated[np.ndarray, int32("visits")]                # where a visit is
    arrival: Annotated[np.ndarray, int32("states")]             # by state: the earliest tick there,
    came: Annotated[np.ndarray, int32("states")]                # ... the state before,
    stamp: Annotated[np.ndarray, int32("states")]               # ... and the search that found them
    heap: Heap
    counts: Annotated[
        np.ndarray,
        record(
            "used",         # visits that were ever used
            "unused",       # the first of a chain of visits that were given back, or NONE
            "searches",
            "expanded",     # states, in all searches
            "clear",        # the tick from which on the goal of the search at hand is free for good
        ),
    ]


def make_traffic(instance: Instance, plan: NDArray[np.int32], weight: int = _WEIGHT) -> Traffic:
    """The traffic of a plan, int32[units, ticks + 1]."""
    cells, (units, ticks) = instance.place.size, plan.shape
    visits = (units + _SPARE_PATHS) * ticks
    given = {"instance": instance, "weight": weight}
    traffic = allocate(Traffic, given, cells=cells, units=units, visits=visits, states=cells + visits, entries=_HEAP)
    traffic.counts[0].unused = NONE
    for unit in range(units):
        add_path(traffic, unit, plan[unit])
    return traffic


@jit
def last_visit(traffic, cell, tick):
    """The last visit of a cell that begins at a tick or before, or NONE. Mutates: traffic.near.

    It is looked for from where the last one was found, since a search asks for much the same times.
    """
    at = np.int64(traffic.near[cell])
    if at == NONE:
        at = np.int64(traffic.first[cell])
    while at != NONE and traffic.visit[at, ENTER] > tick:
        at = np.int64(traffic.visit[at, BEFORE])
    if at == NONE:
        traffic.near[cell] = traffic.first[cell]
        return at
    after = np.int64(traffic.visit[at, AFTER])
    while after != NONE and traffic.visit[after, ENTER] <= tick:
        at, after = after, np.int64(traffic.visit[after, AFTER])
    traffic.near[cell] = at
    return at


@jit
def _link(traffic, visit):
    """Put a visit between those before and after it. Mutates: traffic."""
    before, after = traffic.visit[visit, BEFORE], traffic.visit[visit, AFTER]
    if before == NONE:
        traffic.first[traffic.cell[visit]] = visit
    else:
        traffic.visit[before, AFTER] = visit
    if after != NONE:
        traffic.visit[after, BEFORE] = visit


@jit
def _unlink(traffic, visit):
    """Take a visit out, which still knows where it was. Mutates: traffic."""
    cell, before, after = traffic.cell[visit], traffic.visit[visit, BEFORE], traffic.visit[visit, AFTER]
    if before == NONE:
        traffic.first[cell] = after
    else:
        traffic.visit[before, AFTER] = after
    if after != NONE:
        traffic.visit[after, BEFORE] = before
    if traffic.near[cell] == visit:
        traffic.near[cell] = before if before != NONE else after


@jit
def _add_visit(traffic, unit, cell, enter, leave):
    """Add a visit to a cell, which is free then. Mutates: traffic."""
    counts = traffic.counts[0]
    added = counts.unused
    if added != NONE:
        counts.unused = np.int64(traffic.visit[added, CHAIN])
    else:
        added = counts.used
        counts.used += 1
    before = last_visit(traffic, cell, enter)
    after = traffic.first[cell] if before == NONE else traffic.visit[before, AFTER]
    traffic.cell[added] = cell
    traffic.visit[added, ENTER], traffic.visit[added, LEAVE] = enter, leave
    traffic.visit[added, BEFORE], traffic.visit[added, AFTER] = before, after
    traffic.visit[added, UNIT], traffic.visit[added, CHAIN] = unit, traffic.own[unit]
    traffic.own[unit] = added
    _link(traffic, added)


@jit
def add_path(traffic, unit, path):
    """Let a unit be where its path says, by tick, and on the last cell for ever. Mutates: traffic."""
    enter = 0
    traffic.own[unit] = NONE
    for tick in range(1, path.size):
        if path[tick] != path[enter]:
            _add_visit(traffic, unit, path[enter], enter, tick - 1)
            enter = tick
    _add_visit(traffic, unit, path[enter], enter, _FOREVER)


@jit
def take_out(traffic, unit):
    """Take a unit out of the traffic; return the chain of its visits, for `put_back` or `give_back`. Mutates: traffic.
    """
    visit, chain = np.int64(traffic.own[unit]), np.int64(NONE)
    while visit != NONE:
        _unlink(traffic, visit)
        earlier = np.int64(traffic.visit[visit, CHAIN])
        traffic.visit[visit, CHAIN] = chain         # the chain is turned round: what was taken out last comes first
        visit, chain = earlier, visit
    traffic.own[unit] = NONE
    return chain


@jit
def put_back(traffic, unit, chain):
    """Put a unit back that was taken out. Those that were taken out after it are back already. Mutates: traffic."""
    visit = np.int64(chain)
    while visit != NONE:
        _link(traffic, visit)
        later = np.int64(traffic.visit[visit, CHAIN])
        traffic.visit[visit, CHAIN] = traffic.own[unit]
        traffic.own[unit] = visit
        visit = later


@jit
def give_back(traffic, chain):
    """Give the visits of a unit that was taken out back for good. Mutates: traffic."""
    visit, counts = np.int64(chain), traffic.counts[0]
    while visit != NONE:
        later = np.int64(traffic.visit[visit, CHAIN])
        traffic.visit[visit, CHAIN] = counts.unused
        counts.unused = visit
        visit = later


@jit
def _f(traffic, tick, moves):
    """When a unit is expected to be on its goal for good, in half ticks."""
    return max(2 * tick + traffic.weight * moves, 2 * traffic.counts[0].clear)


@jit
def _reach(traffic, unit, state, cell, tick, came):
    """Note that a unit can be in a state at a tick. Mutates: traffic."""
    counts = traffic.counts[0]
    if traffic.stamp[state] == counts.searches and traffic.arrival[state] <= tick:
        return
    traffic.stamp[state] = counts.searches
    traffic.arrival[state], traffic.came[state] = tick, came
    moves = moves_from(traffic.instance, unit, cell)
    push(traffic.heap, _f(traffic, tick, moves), moves, state)


@jit
def _expand(traffic, unit, state, last_tick):
    """Look where a unit can go from a state, in time to be on its goal at the last tick. Mutates: traffic."""
    tables, cells, counts = traffic.instance.tables, traffic.first.size, traffic.counts[0]
    here = state if state < cells else np.int64(traffic.cell[state - cells])
    after = np.int64(traffic.first[here] if state < cells else traffic.visit[state - cells, AFTER])
    earliest = traffic.arrival[state] + 1
    latest = last_tick if after == NONE else np.int64(traffic.visit[after, ENTER])     # to be gone from here
    counts.expanded += 1
    for d in range(8):
        if not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d]
        latest_there = min(latest, last_tick - moves_from(traffic.instance, unit, there))
        visit = last_visit(traffic, there, earliest)        # the interval behind it is the first that lasts long enough
        interval, begin = there, np.int64(0)
        if visit != NONE:
            interval, begin = cells + visit, np.int64(traffic.visit[visit, LEAVE]) + 1
        visit = np.int64(traffic.first[there] if visit == NONE else traffic.visit[visit, AFTER])
        while begin <= latest_there:
            end = _FOREVER if visit == NONE else traffic.visit[visit, ENTER] - 1
            tick = max(earliest, begin)
            if begin <= end and tick <= min(end, latest_there) and size_of(traffic.heap) < _HEAP:
                # The two exchange cells if whoever leaves that cell comes here in the same tick.
                is_swap = (
                    after != NONE and interval >= cells and tick == begin == traffic.visit[after, ENTER]
                    and traffic.visit[interval - cells, UNIT] == traffic.visit[after, UNIT]
                )  # fmt: skip
                if not is_swap:
                    _reach(traffic, unit, interval, there, tick, state)
            if visit == NONE:
                break
            begin, interval = np.int64(traffic.visit[visit, LEAVE]) + 1, cells + visit
            visit = np.int64(traffic.visit[visit, AFTER])


@jit
def find_path(traffic, unit, last_tick, max_expansions, path):
    """Find a path for a unit that is not in the traffic; whether there is one. Mutates: traffic, path.

    The unit is on its goal at the last tick at the latest, and stays there until the end of `path`.
    """
    instance, counts, cells = traffic.instance, traffic.counts[0], traffic.first.size
    start, goal = np.int64(instance.start[unit]), np.int64(instance.goal[unit])
    last = last_visit(traffic, goal, _FOREVER)
    final, counts.clear = goal, 0
    if last != NONE:
        final, counts.clear = cells + last, np.int64(traffic.visit[last, LEAVE]) + 1
    if counts.clear > last_tick:
        return False
    counts.searches += 1
    limit = counts.expanded + max_expansions
    empty(traffic.heap)
    _reach(traffic, unit, start, start, 0, NONE)
    while size_of(traffic.heap) > 0:
        f, moves, state = traffic.heap.entry[0, 0], traffic.heap.entry[0, 1], traffic.heap.entry[0, 2]
        drop_first(traffic.heap)
        if _f(traffic, traffic.arrival[state], moves) != f:         # an entry from before the state was improved
            continue
        if state == final:
            _write_path(traffic, final, path)
            return True
        if counts.expanded == limit:
            return False
        _expand(traffic, unit, state, last_tick)
    return False


@jit
def _write_path(traffic, final, path):
    """Write the path that leads to a state, and stays there. Mutates: path."""
    cells, state, end = traffic.first.size, final, path.size
    while state != NONE:
        cell = state if state < cells else np.int64(traffic.cell[state - cells])
        for tick in range(traffic.arrival[state], end):
            path[tick] = cell
        end = traffic.arrival[state]
        state = np.int64(traffic.came[state])
