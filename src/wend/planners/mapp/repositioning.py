# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""MAPP's repositioning: between two progression steps, moves are undone until everybody is well positioned again.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), sections 5.4 and 8.

A unit is well positioned if it stands on its path with a blank ahead and, where tunnels come, enough blanks in its
buffer zone. Undo moves are real moves of the plan; solved units stay. Each way of repositioning may fail, because an
undo leads into somebody or the end is not well positioned: then nothing is undone, and another one is tried.

    paper                                        here
    reverse repositioning (5.4)                  by_reversing
    repositioning with counting, RC (8)          by_counting
    (ours: undo as little as possible)           minimally

Deviations and open points
- With units that are not provable, well positioned means: no worse off than before the step (sliding.level_of); units
  without a path go back to where they were.
- RC counts visits that may still be undone: those of solved units, and of units that have stopped, are left out. The
  paper goes on counting both, so that whoever follows another is undone as far as the other came from.
- In RC no unit stops in a buffer zone that lacks blanks; the paper's proof leaves buffer zones out. Where the end is
  still not well positioned, moves are reversed one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.planners.mapp import sliding


class Scratch(NamedTuple):
    """The workspace of repositioning."""

    stopped: np.ndarray     # bool[units]   undoes no more moves
    kept: np.ndarray        # int32[units]  the last move that is kept, -1 if none is
    spare: np.ndarray       # int32[units]  kappa as it was before the moves to undo were chosen
    visits: np.ndarray      # int32[cells]  c(l) of repositioning with counting
    seconds: np.ndarray     # int32[cells]  active units whose `second` this is
    returned: np.ndarray    # int32[cells]  the earliest move from here that is to be undone


def make_scratch(cells: int, units: int) -> Scratch:
    """A workspace for so many units on so many cells."""
    return Scratch(
        np.empty(units, np.bool_), np.empty(units, np.int32), np.empty(units, np.int32), np.empty(cells, np.int32),
        np.empty(cells, np.int32), np.empty(cells, np.int32),
    )  # fmt: skip


@jit
def _may_stop(paths, crowd, scratch, u):
    """Whether a unit may stay where it is while others go on undoing their moves (Def. 33)."""
    cell = crowd.cell[u]
    if sliding.last_index(paths, u) < 0 or sliding.level_of(paths, crowd, u) < crowd.level[u]:    # (a)
        return False
    if scratch.visits[cell] != 1:    # (b)
        return False
    ahead = sliding.cell_ahead(paths, u, crowd.along[u])
    if crowd.level[u] == 2 and ahead != NO_CELL and scratch.visits[ahead] != 0:    # (c)
        return False
    if scratch.seconds[cell] - (crowd.second[u] == cell) != 0:    # (d)
        return False
    for k in range(paths.zone[cell], paths.zone[cell + 1]):     # and nobody lacks this very blank
        v = paths.owner[k]
        if v != u and not crowd.solved[v] and crowd.level[v] == 2 and crowd.kappa[v] < paths.tau[v]:
            return False
    return True


@jit
def _is_over(paths, crowd, log):
    """Whether all active units are well positioned; if not, the undo moves are taken back. Mutates: crowd, log."""
    for place in range(crowd.tally[sliding.ACTIVE]):
        u = crowd.order[place]
        if not crowd.solved[u] and not sliding.is_well_positioned(paths, crowd, u):
            _take_back(paths, crowd, log)
            return False
    return True


@jit
def _take_back(paths, crowd, log):
    """Return to the end of the progression step. Mutates: crowd, log."""
    tally = crowd.tally
    for e in range(tally[sliding.MOVES] - 1, tally[sliding.STEP_ENDED] - 1, -1):
        sliding.move(paths, crowd, log, log.unit[e], log.source[e])
        tally[sliding.MOVES] = e


@jit
def by_counting(paths, crowd, log, scratch):
    """Undo the moves of each unit until it is well positioned and in nobody's way; return whether all are in the end.

    The log must have room for as many moves as the step made. Mutates: crowd, log, scratch.
    """
    tally = crowd.tally
    scratch.visits[:] = 0
    scratch.seconds[:] = 0
    for u in range(crowd.cell.size):
        scratch.stopped[u] = False
        scratch.visits[crowd.cell[u] if crowd.solved[u] else crowd.origin[u]] += 1
        if not crowd.solved[u] and crowd.second[u] != NO_CELL:
            scratch.seconds[crowd.second[u]] += 1
        scratch.kept[u] = -1
    for e in range(tally[sliding.STEP_BEGAN], tally[sliding.STEP_ENDED]):
        u = log.unit[e]
        if not crowd.solved[u]:
            scratch.visits[log.to[e]] += 1
        log.earlier[e] = scratch.kept[u]
        scratch.kept[u] = e
    for e in range(tally[sliding.STEP_ENDED] - 1, tally[sliding.STEP_BEGAN] - 1, -1):
        u = log.unit[e]
        if crowd.solved[u] or scratch.stopped[u]:
            continue
        if _may_stop(paths, crowd, scratch, u):
            scratch.stopped[u] = True
            before = log.earlier[e]                         # where it came by before, it will not come by again
            while before != -1:
                scratch.visits[log.to[before]] -= 1
                before = log.earlier[before]
            scratch.visits[crowd.origin[u]] -= 1
            continue
        if crowd.occupant[log.source[e]] != NO_AGENT:
            _take_back(paths, crowd, log)
            return False
        scratch.visits[crowd.cell[u]] -= 1
        sliding.move(paths, crowd, log, u, log.source[e])
    return _is_over(paths, crowd, log)


@jit
def _virtual_cell(crowd, log, scratch, u):
    """Where a unit stands when the moves chosen so far are undone."""
    return crowd.origin[u] if scratch.kept[u] == -1 else log.to[scratch.kept[u]]


@jit
def _must_go_back(paths, crowd, log, scratch, u):
    """Whether a unit must undo its last move that is kept: it is in the way of somebody who comes back, or right ahead
    or in the buffer of somebody who is back where it was and lacks a blank, or worse off than before the step."""
    cell = _virtual_cell(crowd, log, scratch, u)
    if scratch.kept[u] == -1:
        return False
    if sliding.last_index(paths, u) < 0 or scratch.kept[u] > scratch.returned[cell] or scratch.seconds[cell] > 0:
        return True
    for k in range(paths.zone[cell], paths.zone[cell + 1]):
        v = paths.owner[k]
        if scratch.kept[v] == -1 and not crowd.solved[v] and crowd.level[v] == 2 and crowd.kappa[v] < paths.tau[v]:
            return True
    i = sliding.index_of(paths, crowd, u, cell)
    ahead = sliding.cell_ahead(paths, u, i)
    is_open = ahead != NO_CELL and scratch.visits[ahead] == 0
    usher = paths.usher[u]
    if i == 0 and usher != NO_AGENT and not crowd.solved[usher]:
        is_open = is_open or _virtual_cell(crowd, log, scratch, usher) == ahead
    return sliding.rate(paths, crowd, u, i, is_open) < crowd.level[u]


@jit
def minimally(paths, crowd, log, scratch):
    """Undo as few moves as possible; return whether all are well positioned in the end.

    Which ones is found beforehand: nobody goes back at first, then whoever must does, move by move, until nobody must.
    Of two units on one cell the later one goes back. The log must have room for as many moves as the step made.
    Mutates: crowd, log, scratch.
    """
    tally = crowd.tally
    began, ended = tally[sliding.STEP_BEGAN], tally[sliding.STEP_ENDED]
    scratch.visits[:] = 0                     # here: units that stand on a cell when the chosen moves are undone
    scratch.returned[:] = 2**31 - 1
    for u in range(crowd.cell.size):
        scratch.kept[u] = -1
        scratch.spare[u] = crowd.kappa[u]
        scratch.visits[crowd.cell[u]] += 1
    tight = tally[sliding.TIGHT]
    for e in range(began, ended):
        u = log.unit[e]
        log.earlier[e] = scratch.kept[u]
        scratch.kept[u] = e
    scratch.seconds[:] = 0
    for place in range(tally[sliding.ACTIVE]):
        u = crowd.order[place]
        if not crowd.solved[u] and scratch.kept[u] == -1 and crowd.level[u] == 2 and crowd.second[u] != NO_CELL:
            scratch.seconds[crowd.second[u]] += 1
    changed = True
    while changed:
        changed = False
        for place in range(tally[sliding.ACTIVE]):
            u = crowd.order[place]
            while not crowd.solved[u] and _must_go_back(paths, crowd, log, scratch, u):
                changed = True
                e = scratch.kept[u]
                scratch.kept[u] = log.earlier[e]
                left, back = log.to[e], log.source[e]
                scratch.returned[back] = min(scratch.returned[back], e)
                scratch.visits[left] -= 1
                if scratch.visits[left] == 0:
                    sliding.refill(paths, crowd, left, 1)
                scratch.visits[back] += 1
                if scratch.visits[back] == 1:
                    sliding.refill(paths, crowd, back, -1)
                if scratch.kept[u] == -1 and crowd.level[u] == 2 and crowd.second[u] != NO_CELL:
                    scratch.seconds[crowd.second[u]] += 1
    for u in range(crowd.cell.size):
        crowd.kappa[u] = scratch.spare[u]
    tally[sliding.TIGHT] = tight
    for e in range(ended - 1, began - 1, -1):
        u = log.unit[e]
        if crowd.solved[u] or e <= scratch.kept[u]:
            continue
        if crowd.occupant[log.source[e]] != NO_AGENT:
            _take_back(paths, crowd, log)
            return False
        sliding.move(paths, crowd, log, u, log.source[e])
    return _is_over(paths, crowd, log)


@jit
def by_reversing(paths, crowd, log):
    """Undo the moves of active units, last one first, until all are well positioned; return whether they are.

    The log must have room for as many moves as the step made. Mutates: crowd, log.
    """
    tally = crowd.tally
    e = tally[sliding.STEP_ENDED]
    witness = 0                         # the place of a unit that was not well positioned when last looked at
    while True:
        found = False
        for k in range(tally[sliding.ACTIVE]):
            place = (witness + k) % tally[sliding.ACTIVE]
            u = crowd.order[place]
            if not crowd.solved[u] and not sliding.is_well_positioned(paths, crowd, u):
                witness = place
                found = True
                break
        if not found:
            return True
        e -= 1
        while e >= tally[sliding.STEP_BEGAN] and crowd.solved[log.unit[e]]:
            e -= 1
        if e < tally[sliding.STEP_BEGAN]:
            _take_back(paths, crowd, log)
            return False
        if crowd.occupant[log.source[e]] != NO_AGENT:
            _take_back(paths, crowd, log)
            return False
        sliding.move(paths, crowd, log, log.unit[e], log.source[e])
