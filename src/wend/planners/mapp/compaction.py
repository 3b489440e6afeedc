# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""From moves one after the other to moves at the same time: the first tick in which each can be made.

A sequence of moves, each into a blank cell, says more than is needed: moves that share neither unit nor cell can be
made at the same time. What has to be kept is the order of each unit's moves, and of the units that stand on each cell.
`link` finds it: a move waits for the unit's own move before, which must be made in an earlier tick, and for the move by
which the cell was last left, which may be made in the same tick. `schedule` gives each move the first tick that allows
it; `march.py` does the same tick by tick.

`trim` takes out what no unit needs: when a unit leaves a cell and comes back before another has stood there, it might
as well stay. The moves of the others remain what they are. MAPP's undo moves leave many such excursions.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import jit
from wend.kernel.arrays import allocate, flags, int32

NONE = -1


class Moves(NamedTuple):
    """A sequence of moves, and what each has to wait for."""

    unit: Annotated[np.ndarray, int32("moves")]
    to: Annotated[np.ndarray, int32("moves")]
    before: Annotated[np.ndarray, int32("moves")]       # the move by which its cell was last left, or NONE
    following: Annotated[np.ndarray, int32("moves", fill=NONE)]     # the unit's next move, or NONE
    first: Annotated[np.ndarray, int32("units", fill=NONE)]         # the unit's first move, or NONE


class _Visits(NamedTuple):
    """Stays of units on cells: visit u is the start of unit u, visit units + m the end of move m."""

    unit: Annotated[np.ndarray, int32("visits")]
    cell: Annotated[np.ndarray, int32("visits")]
    gone: Annotated[np.ndarray, flags("visits")]            # taken out
    next_of_unit: Annotated[np.ndarray, int32("visits")]
    next_of_cell: Annotated[np.ndarray, int32("visits")]
    last_of_cell: Annotated[np.ndarray, int32("visits")]    # the one before on the same cell
    stack: Annotated[np.ndarray, int32("stack")]            # visits whose next one on the cell is by the same unit


@jit
def _trim(visits, last_of_unit, last_on_cell):
    """Take out excursions. Mutates: all."""
    unit, cell, gone, stack = visits.unit, visits.cell, visits.gone, visits.stack
    next_of_unit, next_of_cell, last_of_cell = visits.next_of_unit, visits.next_of_cell, visits.last_of_cell
    height = 0
    for v in range(unit.size):
        u, c = unit[v], cell[v]
        next_of_unit[v] = NONE
        next_of_cell[v] = NONE
        if last_of_unit[u] != NONE:
            next_of_unit[last_of_unit[u]] = v
        last_of_unit[u] = v
        last_of_cell[v] = last_on_cell[c]
        if last_on_cell[c] != NONE:
            next_of_cell[last_on_cell[c]] = v
            if unit[last_on_cell[c]] == u:
                stack[height] = last_on_cell[c]
                height += 1
        last_on_cell[c] = v
    while height > 0:
        height -= 1
        v = stack[height]
        while not gone[v] and next_of_cell[v] != NONE and unit[next_of_cell[v]] == unit[v]:
            back = next_of_cell[v]
            w = v
            while w != back:
                w = next_of_unit[w]
                gone[w] = True
                left, right = last_of_cell[w], next_of_cell[w]
                if left != NONE:
                    next_of_cell[left] = right
                if right != NONE:
                    last_of_cell[right] = left
                if left != NONE and left != v and right != NONE and unit[left] == unit[right]:
                    stack[height] = left
                    height += 1
            next_of_unit[v] = next_of_unit[back]


def trim(
    starts: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32], cells: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The moves that are left when excursions that no unit needs are taken out."""
    given = {
        "unit": np.concatenate([np.arange(starts.size, dtype=np.int32), unit]), "cell": np.concatenate([starts, to])
    }  # fmt: skip
    total = starts.size + unit.size
    visits = allocate(_Visits, given, visits=total, stack=2 * total)
    _trim(visits, np.full(starts.size, NONE, np.int32), np.full(cells, NONE, np.int32))
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
        if last_move[u] == NONE:
            moves.first[u] = m
        else:
            moves.following[last_move[u]] = m
        last_move[u] = m


def link(starts: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32], cells: int) -> Moves:
    """Moves with what each has to wait for."""
    moves = allocate(Moves, {"unit": unit, "to": to}, moves=unit.size, units=starts.size)
    scratch = np.full(starts.size, NONE, np.int32), np.empty(starts.size, np.int32), np.full(cells, NONE, np.int32)
    _link(starts, moves, *scratch)
    return moves


@jit
def _schedule(moves, tick, free_from):
    """Give each move its tick, counted from 1; return the last. Mutates: tick, free_from."""
    last = 0
    for m in range(moves.unit.size):
        u = moves.unit[m]
        tick[m] = free_from[u]
        if moves.before[m] != NONE:
            tick[m] = max(tick[m], tick[moves.before[m]])
        free_from[u] = tick[m] + 1
        last = max(last, tick[m])
    return last


def schedule(moves: Moves) -> NDArray[np.int32]:
    """The tick of each move, counted from 1, if no other agent comes in between."""
    tick = np.empty(moves.unit.size, np.int32)
    _schedule(moves, tick, np.ones(moves.first.size, np.int32))
    return tick
