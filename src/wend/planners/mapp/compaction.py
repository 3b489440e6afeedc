# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""From moves one after the other to moves all at once: who may go when, if nobody is to notice the difference.

A sequence of moves, each into a blank cell, says more than is needed: moves that share neither unit nor cell can be
made at the same time. What has to be kept is the order of each unit's moves, and of the units that stand on each cell.
`link` finds it: a move waits for the unit's own move before, which must be made in an earlier tick, and for the move by
which the cell was last left, which may be made in the same tick. `schedule` gives each move the first tick that allows
it; `advance` does the same tick by tick and can be held up by somebody who is not in the plan: all others go on as far
as the order allows, and no plan need be made anew.

`trim` takes out what nobody needs: when a unit leaves a cell and comes back before anybody else has stood there, it
might as well stay. The moves of the others remain what they are. MAPP's undo moves leave many such excursions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import jit

_NONE = -1


class Moves(NamedTuple):
    """A sequence of moves, and what each has to wait for."""

    unit: np.ndarray        # int32[moves]
    to: np.ndarray          # int32[moves]
    before: np.ndarray      # int32[moves]  the move by which its cell was last left, or _NONE
    following: np.ndarray   # int32[moves]  the unit's next move, or _NONE
    following_first: np.ndarray     # int32[units]  the unit's first move, or _NONE


class _Visits(NamedTuple):
    """Stays of units on cells: visit u is the start of unit u, visit units + m the end of move m."""

    unit: np.ndarray        # int32[visits]
    cell: np.ndarray        # int32[visits]
    gone: np.ndarray        # bool[visits]   taken out
    next_of_unit: np.ndarray    # int32[visits]
    next_of_cell: np.ndarray    # int32[visits]
    last_of_cell: np.ndarray    # int32[visits]  the one before on the same cell
    stack: np.ndarray       # int32[2 * visits]  visits whose next one on the cell is by the same unit


@jit
def _trim(visits, last_of_unit, last_on_cell):
    """Take out excursions. Mutates: all."""
    unit, cell, gone, stack = visits.unit, visits.cell, visits.gone, visits.stack
    next_of_unit, next_of_cell, last_of_cell = visits.next_of_unit, visits.next_of_cell, visits.last_of_cell
    height = 0
    for v in range(unit.size):
        u, c = unit[v], cell[v]
        next_of_unit[v] = _NONE
        next_of_cell[v] = _NONE
        if last_of_unit[u] != _NONE:
            next_of_unit[last_of_unit[u]] = v
        last_of_unit[u] = v
        last_of_cell[v] = last_on_cell[c]
        if last_on_cell[c] != _NONE:
            next_of_cell[last_on_cell[c]] = v
            if unit[last_on_cell[c]] == u:
                stack[height] = last_on_cell[c]
                height += 1
        last_on_cell[c] = v
    while height > 0:
        height -= 1
        v = stack[height]
        while not gone[v] and next_of_cell[v] != _NONE and unit[next_of_cell[v]] == unit[v]:
            back = next_of_cell[v]
            w = v
            while w != back:
                w = next_of_unit[w]
                gone[w] = True
                left, right = last_of_cell[w], next_of_cell[w]
                if left != _NONE:
                    next_of_cell[left] = right
                if right != _NONE:
                    last_of_cell[right] = left
                if left != _NONE and left != v and right != _NONE and unit[left] == unit[right]:
                    stack[height] = left
                    height += 1
            next_of_unit[v] = next_of_unit[back]


def trim(
    starts: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32], cells: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The moves that are left when excursions that nobody needs are taken out."""
    total = starts.size + unit.size
    following, next_on_cell, last_on_cell = (np.empty(total, np.int32) for _ in range(3))
    visits = _Visits(
        np.concatenate([np.arange(starts.size, dtype=np.int32), unit]), np.concatenate([starts, to]),
        np.zeros(total, np.bool_), following, next_on_cell, last_on_cell, np.empty(2 * total, np.int32),
    )  # fmt: skip
    _trim(visits, np.full(starts.size, _NONE, np.int32), np.full(cells, _NONE, np.int32))
    kept = ~visits.gone[starts.size :]
    return unit[kept], to[kept]


@jit
def _link(starts, moves, last_move, at, left_by):
    """Find what each move waits for. Mutates: moves, and the scratch."""
    for u in range(starts.size):
        at[u] = starts[u]
    for m in range(moves.unit.size):
        u, to = moves.unit[m], moves.to[m]
        moves.before[m] = left_by[to]
        left_by[at[u]] = m
        at[u] = to
        if last_move[u] == _NONE:
            moves.following_first[u] = m
        else:
            moves.following[last_move[u]] = m
        last_move[u] = m


def link(starts: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32], cells: int) -> Moves:
    """Moves with what each has to wait for."""
    moves = Moves(
        unit, to, np.empty(unit.size, np.int32), np.full(unit.size, _NONE, np.int32),
        np.full(starts.size, _NONE, np.int32),
    )  # fmt: skip
    scratch = np.full(starts.size, _NONE, np.int32), np.empty(starts.size, np.int32), np.full(cells, _NONE, np.int32)
    _link(starts, moves, *scratch)
    return moves


@jit
def _schedule(moves, tick, free_from):
    """Give each move its tick, counted from 1; return the last. Mutates: tick, free_from."""
    last = 0
    for m in range(moves.unit.size):
        u = moves.unit[m]
        tick[m] = free_from[u]
        if moves.before[m] != _NONE:
            tick[m] = max(tick[m], tick[moves.before[m]])
        free_from[u] = tick[m] + 1
        last = max(last, tick[m])
    return last


def schedule(moves: Moves) -> NDArray[np.int32]:
    """The tick of each move, counted from 1, if nothing comes in between."""
    tick = np.empty(moves.unit.size, np.int32)
    _schedule(moves, tick, np.ones(moves.following_first.size, np.int32))
    return tick


@jit
def advance(moves, upcoming, turns, done, agent_of, occupant, taken, next_cell, waits_for):
    """Enter this tick's moves into the proposal; return how many units are held up by somebody outside the plan.

    `upcoming` is each unit's next move, or _NONE; `turns` those moves in ascending order; `agent_of` says which agent a
    unit is; `taken` is not 0 where somebody outside the plan stands or will stand. Mutates: upcoming, done, next_cell,
    waits_for.
    """
    held_up = 0
    for k in range(turns.size):
        m = turns[k]
        u, to = moves.unit[m], moves.to[m]
        agent = agent_of[u]
        if moves.before[m] != _NONE and not done[moves.before[m]]:
            waits_for[agent] = occupant[to]
        elif taken[to] != 0:
            waits_for[agent] = occupant[to]
            held_up += 1
        else:
            done[m] = True
            next_cell[agent] = to
            upcoming[u] = moves.following[m]
    return held_up
