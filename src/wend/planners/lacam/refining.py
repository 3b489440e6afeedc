# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Refinement of a plan by large-neighbourhood search: a few units are taken out and planned anew among the others.

Li, Chen, Harabor, Stuckey, Koenig: Anytime Multi-Agent Path Finding via Large Neighborhood Search (IJCAI 2021), as
Okumura's lacam3 uses it. Each time, a unit that is delayed more than others is taken out, with the last units that pass
over its goal, with some that it met on its way, or with any others. They plan one after the other by SIPP (visits.py),
each in time for the group to do no worse than before. If all find a path, the new ones are kept. So every plan on the
way is legal, and its sum of costs never rises. No path takes longer than the plan did.

A unit that has to leave its goal again arrives when it is back for good, so it might as well stay away until then. On
the way, where an order may come at any time, it had better be at home in between: `refine` can be told to count that.

Where a plan is being carried out, what lies behind the units is not changed, nor what they are about to do: the tick
from which on it may be is `counts.begin`. What the distances to goals are is said as for SIPP, by a bundle `instance`
and a kernel `moves`.

A search that may take long is given up, since another group will do as well: after a few times as many expansions as
searches take that find a path. In a jam, units are under way for several times their shortest paths. There the distance
to the goal counts for as much, or else a search would look at all that a unit could do before the jam dissolves.

To choose kinds of groups by what they have gained so far (adaptive LNS) did not pay: it gained on large maps what it
lost in dense places.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import jit, scramble
from wend.kernel.arrays import allocate, int32, record
from wend.planners.lacam.instance import LacamInstance, moves_from
from wend.planners.lacam.tree import NONE
from wend.planners.lacam.visits import (
    BEFORE,
    LEAVE,
    UNIT,
    Visits,
    add_path,
    find_path,
    give_back,
    last_visit,
    make_visits,
    put_back,
    take_out,
)

_MOST = 6                   # units in a group
_EXPANSIONS = 500           # of the search for one unit at most, and
_EXPANSIONS_PER_TICK = 12   # ... as many for each tick that it has;
_TIMES_USUAL = 4            # ... but not more than so many times as many as others took that found a path,
_SPARE_EXPANSIONS = 100     # ... and so many more
_USUAL = 1_000              # searches that found a path: those before them count half
_WEIGHT = 6                 # of the distance to the goal, in halves; 2 is A*
_TRIES = 16                 # to find a unit that is delayed;
_DRAWS = 3                  # ... of the first so many, the one that is delayed most
_NEAR_TICKS = 2             # between two units that met

_UNLIMITED = 2**62
_AT_GOAL, _MET = 0, 1       # how a group is chosen; 2: at random


class Refinement(NamedTuple):
    """A plan that is being improved."""

    visits: Visits
    plan: Annotated[np.ndarray, int32("units", "ticks")]        # the cell of each unit, by tick
    trial: Annotated[np.ndarray, int32(_MOST, "ticks")]         # new paths of the group at hand
    group: Annotated[np.ndarray, int32(_MOST)]                  # the units in it,
    old: Annotated[np.ndarray, int32(_MOST)]                    # ... and the visits of their old paths
    counts: Annotated[
        np.ndarray,
        record(
            "grouped",      # how many units are in it
            "rounds",       # groups so far
            "begin",        # the tick until which the plan stands
            "cost",         # sum of costs
            "found",        # searches of late that found a path,
            "expanded",     # ... and how many expansions they took
        ),
    ]


@jit
def _arrival(goal, path):
    """The tick from which on a unit is on its goal for good."""
    tick = path.size - 1
    while tick >= 0 and path[tick] == goal:
        tick -= 1
    return tick + 1


@jit
def _join(refinement, unit):
    """Put a unit into the group, unless it is there, is none, or the group is full. Mutates: refinement."""
    counts = refinement.counts[0]
    if unit == NONE:
        return
    for k in range(counts.grouped):
        if refinement.group[k] == unit:
            return
    if counts.grouped < _MOST:
        refinement.group[counts.grouped] = unit
        counts.grouped += 1


@jit
def _least(refinement, instance, moves, unit):
    """The tick at which a unit would arrive if it were alone from `begin` on; or did, if it is home by then."""
    begin, path = refinement.counts[0].begin, refinement.plan[unit]
    return min(begin + max(moves(instance, unit, path[begin]), 0), _arrival(instance.goal[unit], path))


@jit
def _delay(refinement, instance, moves, unit):
    """By how much a unit takes longer than its shortest path."""
    return _arrival(instance.goal[unit], refinement.plan[unit]) - _least(refinement, instance, moves, unit)


@jit
def _draw_delayed(refinement, instance, moves, lot):
    """A unit that is delayed, or NONE if none is found."""
    units, most, delayed = refinement.plan.shape[0], 0, np.int64(NONE)
    for k in range(_TRIES):
        if k >= _DRAWS and most > 0:
            break
        unit = scramble(lot + k) % units
        delay = _delay(refinement, instance, moves, unit)
        if delay > most:
            most, delayed = delay, unit
    return delayed


@jit
def _gather(refinement, instance, moves, lot):
    """Choose a group around a delayed unit, if one is found, and who plans first. Mutates: refinement."""
    counts, group = refinement.counts[0], refinement.group
    units, size, kind = refinement.plan.shape[0], 1 + scramble(lot ^ 1) % _MOST, lot % 3
    counts.grouped = 0
    delayed = _draw_delayed(refinement, instance, moves, lot)
    if delayed == NONE:
        return
    _join(refinement, delayed)
    if kind == _AT_GOAL:
        _join_guests(refinement, instance.goal[delayed], size)
        return                                          # the unit itself plans first: it is to have its goal
    if kind == _MET:
        _join_near(refinement, instance, delayed, size, scramble(lot ^ 2))
    else:
        for k in range(1, size):
            _join(refinement, scramble(lot ^ scramble(k)) % units)
    for k in range(counts.grouped - 1, 0, -1):
        other = scramble(lot + 64 + k) % (k + 1)
        group[k], group[other] = group[other], group[k]


@jit
def _join_guests(refinement, goal, size):
    """Add the last units that pass over a unit's goal: they keep it from arriving. Mutates: refinement."""
    visits, counts = refinement.visits, refinement.counts[0]
    visit = last_visit(visits, goal, refinement.plan.shape[1])
    while visit != NONE and counts.grouped < size:
        _join(refinement, visits.visit[visit, UNIT])
        visit = np.int64(visits.visit[visit, BEFORE])


@jit
def _join_near(refinement, instance, unit, size, lot):
    """Add units that are near a unit at some tick of its way. Mutates: refinement."""
    visits, counts = refinement.visits, refinement.counts[0]
    tables, path, begin = instance.tables, refinement.plan[unit], counts.begin
    tick = begin + lot % (_arrival(instance.goal[unit], path) - begin)
    here = path[tick]
    for d in range(9):
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        visit = last_visit(visits, here + tables.offset[d] if d < 8 else here, tick + _NEAR_TICKS)
        while visit != NONE and visits.visit[visit, LEAVE] >= tick - _NEAR_TICKS and counts.grouped < size:
            _join(refinement, visits.visit[visit, UNIT])
            visit = np.int64(visits.visit[visit, BEFORE])


@jit
def _replan(refinement, instance, moves, unit, last_tick, expansions, path):
    """Find a path for a unit that was taken out, if that does not take long. Mutates: refinement, path."""
    visits, counts, plan = refinement.visits, refinement.counts[0], refinement.plan
    limit = _EXPANSIONS + _EXPANSIONS_PER_TICK * (last_tick - counts.begin)
    if counts.found > 0:
        limit = min(limit, _SPARE_EXPANSIONS + _TIMES_USUAL * counts.expanded // counts.found)
    least = _least(refinement, instance, moves, unit) - counts.begin
    weight = max(_WEIGHT, 3 * (last_tick - counts.begin) // (2 * max(least, 1)))
    before = visits.counts[0].expanded
    for tick in range(counts.begin + 1):
        path[tick] = plan[unit, tick]
    if not find_path(visits, instance, moves, unit, counts.begin, last_tick, weight, min(limit, expansions), path):
        return False
    counts.found += 1
    counts.expanded += visits.counts[0].expanded - before
    if counts.found == _USUAL:
        counts.found, counts.expanded = counts.found // 2, counts.expanded // 2
    return True


@jit
def _absence(refinement, instance):
    """By how many ticks the units of the group are at home less on their new paths than on the old ones."""
    plan, trial, counts, less = refinement.plan, refinement.trial, refinement.counts[0], 0
    for k in range(counts.grouped):
        unit, goal = refinement.group[k], instance.goal[refinement.group[k]]
        for tick in range(counts.begin, plan.shape[1]):
            less += int(plan[unit, tick] == goal) - int(trial[k, tick] == goal)
    return less


@jit
def refine(refinement, instance, moves, away, rounds, expansions, seed):
    """Plan anew for so many groups, within so many expansions; return how many it took. Mutates: refinement.

    A group has to arrive `away` ticks earlier for each tick that it is at home less.

    A group counts an expansion for itself and one for each of its units, or for each try to find the first one.
    """
    visits, plan, trial, group = refinement.visits, refinement.plan, refinement.trial, refinement.group
    goal, counts, searched = instance.goal, refinement.counts[0], visits.counts[0]
    begun, paid = searched.expanded, 0
    for _ in range(rounds):
        if paid + searched.expanded - begun + 1 + _TRIES > expansions:
            break
        _gather(refinement, instance, moves, scramble(seed ^ scramble(counts.rounds)))
        counts.rounds += 1
        paid += 1 + (counts.grouped if counts.grouped > 0 else _TRIES)
        spare, planned = 0, 0                           # by how much the group is later than on its shortest paths
        for k in range(counts.grouped):
            spare += _delay(refinement, instance, moves, group[k])
            refinement.old[k] = take_out(visits, group[k])
        left = spare
        while planned < counts.grouped:
            unit, path = group[planned], trial[planned]
            least, allowed = _least(refinement, instance, moves, unit), expansions - paid - searched.expanded + begun
            if not _replan(refinement, instance, moves, unit, min(least + left, path.size - 1), allowed, path):
                break
            add_path(visits, unit, path)
            left -= _arrival(goal[unit], path) - least
            planned += 1
        if planned == counts.grouped and (away == 0 or away * _absence(refinement, instance) <= left):
            counts.cost -= left
            for k in range(counts.grouped):
                give_back(visits, refinement.old[k])
                for tick in range(plan.shape[1]):
                    plan[group[k], tick] = trial[k, tick]
            continue
        for k in range(planned):
            give_back(visits, take_out(visits, group[k]))
        for k in range(counts.grouped - 1, -1, -1):
            put_back(visits, group[k], refinement.old[k])
    return paid + searched.expanded - begun


@jit
def _refine_all(refinement, instance, rounds, seed):
    """Plan anew for so many groups, with the distances of an instance that has them all. Mutates: refinement."""
    refine(refinement, instance, moves_from, 0, rounds, _UNLIMITED, seed)


@jit
def enter_paths(refinement, begin, end):
    """Let some of the units be where the plan says. Mutates: refinement.visits."""
    for unit in range(begin, end):
        add_path(refinement.visits, unit, refinement.plan[unit])


def make_refinement(plan: NDArray[np.int32], cells: int, others: int = 0) -> Refinement:
    """The refinement of a plan, int32[units, ticks + 1], on a map of so many cells; no path is entered yet."""
    units, ticks = plan.shape
    return allocate(Refinement, {"visits": make_visits(cells, units, ticks, others), "plan": plan}, ticks=ticks)


def sum_of_costs(instance: LacamInstance, plan: NDArray[np.int32]) -> int:
    """The ticks until each unit is on its goal for good, summed over all units."""
    away = plan != instance.goal
    return int(np.where(away.any(axis=0), len(plan) - away[::-1].argmax(axis=0), 0).sum())


class Refiner:
    """Improves a plan of an instance, which brings all units home."""

    def __init__(self, instance: LacamInstance, plan: NDArray[np.int32], *, seed: int) -> None:
        self._instance, self._seed = instance, seed
        self._refinement = make_refinement(np.ascontiguousarray(plan.T), instance.place.size)
        self._refinement.counts[0].cost = sum_of_costs(instance, plan)
        enter_paths(self._refinement, 0, instance.start.size)

    @property
    def cost(self) -> int:
        """The sum of costs of the plan by now."""
        return int(self._refinement.counts[0].cost)

    def run(self, rounds: int) -> None:
        """Plan anew for so many groups."""
        _refine_all(self._refinement, self._instance, rounds, self._seed)

    def plan(self) -> NDArray[np.int32]:
        """The plan by now, int32[ticks + 1, units], without the ticks at the end in which nothing moves."""
        plan = self._refinement.plan.T
        moves = np.flatnonzero((plan[1:] != plan[:-1]).any(axis=1))
        return plan[: moves[-1] + 2 if moves.size else 1].copy()
