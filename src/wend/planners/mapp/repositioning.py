# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""MAPP's repositioning: between two progression steps, moves are undone until all units are well positioned again.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), sections 5.4 and 8.

A unit is well positioned if it stands on its path with a blank ahead and, where tunnels come, enough blanks in its
buffer zone. Undo moves are real moves of the plan; solved units stay. Each way of repositioning may fail, because an
undo leads into another unit or the end is not well positioned: then nothing is undone, and another one is tried.

    paper                                        here
    reverse repositioning (5.4)                  by_reversing
    repositioning with counting, RC (8)          by_counting
    (ours: undo as little as possible)           minimally

Deviations and open points
- With units that are not provable, well positioned means: no worse off than before the step (crowd.level_of); units
  without a path go back to where they were.
- RC counts visits that may still be undone: those of solved units, and of units that have stopped, are left out. The
  paper goes on counting both, so that a unit that follows another is undone as far as the other came from.
- In RC no unit stops in a buffer zone that lacks blanks; the paper's proof leaves buffer zones out. Where the end is
  still not well positioned, moves are reversed one by one.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import flags, int32
from wend.planners.mapp.crowd import (
    NONE,
    cell_ahead,
    index_of,
    is_well_positioned,
    last_index,
    level_of,
    move,
    rate,
    refill,
)


class Undoing(NamedTuple):
    """The workspace of repositioning."""

    stopped: Annotated[np.ndarray, flags("units")]      # undoes no more moves
    kept: Annotated[np.ndarray, int32("units")]         # the last move that is kept, or NONE
    spare: Annotated[np.ndarray, int32("units")]        # kappa as it was before the moves to undo were chosen
    visits: Annotated[np.ndarray, int32("cells")]       # c(l) of repositioning with counting
    seconds: Annotated[np.ndarray, int32("cells")]      # active units whose `second` this is
    returned: Annotated[np.ndarray, int32("cells")]     # the earliest move from here that is to be undone


@jit
def _may_stop(paths, crowd, undoing, u):
    """Whether a unit may stay where it is while others go on undoing their moves (Def. 33)."""
    cell = crowd.cell[u]
    if last_index(paths, u) < 0 or level_of(paths, crowd, u) < crowd.level[u]:    # (a)
        return False
    if undoing.visits[cell] != 1:    # (b)
        return False
    ahead = cell_ahead(paths, u, crowd.along[u])
    if crowd.level[u] == 2 and ahead != NO_CELL and undoing.visits[ahead] != 0:    # (c)
        return False
    if undoing.seconds[cell] - (crowd.second[u] == cell) != 0:    # (d)
        return False
    for k in range(paths.zone[cell], paths.zone[cell + 1]):     # and no unit lacks this very blank
        v = paths.owner[k]
        if v != u and not crowd.solved[v] and crowd.level[v] == 2 and crowd.kappa[v] < paths.tau[v]:
            return False
    return True


@jit
def _is_over(paths, crowd, log):
    """Whether all active units are well positioned; if not, the undo moves are taken back. Mutates: crowd, log."""
    for place in range(crowd.counts[0].active):
        u = crowd.order[place]
        if not crowd.solved[u] and not is_well_positioned(paths, crowd, u):
            _take_back(paths, crowd, log)
            return False
    return True


@jit
def _take_back(paths, crowd, log):
    """Return to the end of the progression step. Mutates: crowd, log."""
    counts = crowd.counts[0]
    for e in range(counts.moves - 1, counts.step_ended - 1, -1):
        move(paths, crowd, log, log.unit[e], log.source[e])
        counts.moves = e


@jit
def by_counting(stage, undoing):
    """Undo the moves of each unit until it is well positioned and in no unit's way; return whether all are in the end.

    The log must have space for as many moves as the step made. Mutates: stage, undoing.
    """
    paths, crowd, log = stage.paths, stage.crowd, stage.log
    counts = crowd.counts[0]
    undoing.visits[:] = 0
    undoing.seconds[:] = 0
    for u in range(crowd.cell.size):
        undoing.stopped[u] = False
        undoing.visits[crowd.cell[u] if crowd.solved[u] else crowd.origin[u]] += 1
        if not crowd.solved[u] and crowd.second[u] != NO_CELL:
            undoing.seconds[crowd.second[u]] += 1
        undoing.kept[u] = NONE
    for e in range(counts.step_began, counts.step_ended):
        u = log.unit[e]
        if not crowd.solved[u]:
            undoing.visits[log.to[e]] += 1
        log.earlier[e] = undoing.kept[u]
        undoing.kept[u] = e
    for e in range(counts.step_ended - 1, counts.step_began - 1, -1):
        u = log.unit[e]
        if crowd.solved[u] or undoing.stopped[u]:
            continue
        if _may_stop(paths, crowd, undoing, u):
            undoing.stopped[u] = True
            before = log.earlier[e]                         # where it came by before, it will not come by again
            while before != NONE:
                undoing.visits[log.to[before]] -= 1
                before = log.earlier[before]
            undoing.visits[crowd.origin[u]] -= 1
            continue
        if crowd.occupant[log.source[e]] != NO_AGENT:
            _take_back(paths, crowd, log)
            return False
        undoing.visits[crowd.cell[u]] -= 1
        move(paths, crowd, log, u, log.source[e])
    return _is_over(paths, crowd, log)


@jit
def _virtual_cell(crowd, log, undoing, u):
    """Where a unit stands when the moves chosen so far are undone."""
    return crowd.origin[u] if undoing.kept[u] == NONE else log.to[undoing.kept[u]]


@jit
def _must_go_back(paths, crowd, log, undoing, u):
    """Whether a unit must undo its last move that is kept: it is in the way of one that comes back, or right ahead or
    in the buffer of one that is back where it was and lacks a blank, or worse off than before the step."""
    cell = _virtual_cell(crowd, log, undoing, u)
    if undoing.kept[u] == NONE:
        return False
    if last_index(paths, u) < 0 or undoing.kept[u] > undoing.returned[cell] or undoing.seconds[cell] > 0:
        return True
    for k in range(paths.zone[cell], paths.zone[cell + 1]):
        v = paths.owner[k]
        if undoing.kept[v] == NONE and not crowd.solved[v] and crowd.level[v] == 2 and crowd.kappa[v] < paths.tau[v]:
            return True
    i = index_of(paths, crowd, u, cell)
    ahead = cell_ahead(paths, u, i)
    is_open = ahead != NO_CELL and undoing.visits[ahead] == 0
    usher = paths.usher[u]
    if i == 0 and usher != NO_AGENT and not crowd.solved[usher]:
        is_open = is_open or _virtual_cell(crowd, log, undoing, usher) == ahead
    return rate(paths, crowd, u, i, is_open) < crowd.level[u]


@jit
def minimally(stage, undoing):
    """Undo as few moves as possible; return whether all are well positioned in the end.

    Which ones is found beforehand: at first no unit goes back; then those that must do, move by move, until none must.
    Of two units on one cell the later one goes back. The log must have space for as many moves as the step made.
    Mutates: stage, undoing.
    """
    paths, crowd, log = stage.paths, stage.crowd, stage.log
    counts = crowd.counts[0]
    began, ended = counts.step_began, counts.step_ended
    undoing.visits[:] = 0                     # here: units that stand on a cell when the chosen moves are undone
    undoing.returned[:] = 2**31 - 1
    for u in range(crowd.cell.size):
        undoing.kept[u] = NONE
        undoing.spare[u] = crowd.kappa[u]
        undoing.visits[crowd.cell[u]] += 1
    tight = counts.tight
    for e in range(began, ended):
        u = log.unit[e]
        log.earlier[e] = undoing.kept[u]
        undoing.kept[u] = e
    undoing.seconds[:] = 0
    for place in range(counts.active):
        u = crowd.order[place]
        if not crowd.solved[u] and undoing.kept[u] == NONE and crowd.level[u] == 2 and crowd.second[u] != NO_CELL:
            undoing.seconds[crowd.second[u]] += 1
    changed = True
    while changed:
        changed = False
        for place in range(counts.active):
            u = crowd.order[place]
            while not crowd.solved[u] and _must_go_back(paths, crowd, log, undoing, u):
                changed = True
                e = undoing.kept[u]
                undoing.kept[u] = log.earlier[e]
                left, back = log.to[e], log.source[e]
                undoing.returned[back] = min(undoing.returned[back], e)
                undoing.visits[left] -= 1
                if undoing.visits[left] == 0:
                    refill(paths, crowd, left, 1)
                undoing.visits[back] += 1
                if undoing.visits[back] == 1:
                    refill(paths, crowd, back, -1)
                if undoing.kept[u] == NONE and crowd.level[u] == 2 and crowd.second[u] != NO_CELL:
                    undoing.seconds[crowd.second[u]] += 1
    for u in range(crowd.cell.size):
        crowd.kappa[u] = undoing.spare[u]
    counts.tight = tight
    for e in range(ended - 1, began - 1, -1):
        u = log.unit[e]
        if crowd.solved[u] or e <= undoing.kept[u]:
            continue
        if crowd.occupant[log.source[e]] != NO_AGENT:
            _take_back(paths, crowd, log)
            return False
        move(paths, crowd, log, u, log.source[e])
    return _is_over(paths, crowd, log)


@jit
def by_reversing(stage):
    """Undo the moves of active units, last one first, until all are well positioned; return whether they are.

    The log must have space for as many moves as the step made. Mutates: stage.
    """
    paths, crowd, log = stage.paths, stage.crowd, stage.log
    counts = crowd.counts[0]
    e = counts.step_ended
    witness = 0                         # the place of a unit that was not well positioned when last looked at
    while True:
        found = False
        for k in range(counts.active):
            place = (witness + k) % counts.active
            u = crowd.order[place]
            if not crowd.solved[u] and not is_well_positioned(paths, crowd, u):
                witness = place
                found = True
                break
        if not found:
            return True
        e -= 1
        while e >= counts.step_began and crowd.solved[log.unit[e]]:
            e -= 1
        if e < counts.step_began:
            _take_back(paths, crowd, log)
            return False
        if crowd.occupant[log.source[e]] != NO_AGENT:
            _take_back(paths, crowd, log)
            return False
        move(paths, crowd, log, log.unit[e], log.source[e])
