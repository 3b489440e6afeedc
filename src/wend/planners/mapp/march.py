# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A plan being carried out, tick by tick.

Units keep the order of their own moves and of the visits to each cell (`compaction.py`). One that is held up by an
agent outside the plan delays only those whose moves have to wait for it: all others go on as far as the order allows,
and no plan need be made anew.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import allocate, flags, int32, uint8
from wend.planners.base import Intent, Proposal, State
from wend.planners.mapp.compaction import NONE, Moves, link

# Why a unit did not move in the last tick
_MOVED, _OUT_OF_TURN, _HELD_UP = 0, 1, 2
_REASONS = ("", "another agent is to pass there first", "an agent outside the plan is in the way")


class March(NamedTuple):
    """The units of a plan, and how far each has come."""

    moves: Moves
    agent: Annotated[np.ndarray, int32("units")]        # the agent that each unit is
    at: Annotated[np.ndarray, int32("units")]           # where the plan has it
    upcoming: Annotated[np.ndarray, int32("units")]     # its next move, or NONE
    delay: Annotated[np.ndarray, uint8("units")]        # _MOVED, _OUT_OF_TURN or _HELD_UP
    done: Annotated[np.ndarray, flags("moves")]         # moves that were made


def begin_march(
    agent: NDArray[np.int32], at: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32], cells: int
) -> March:
    """Units that make these moves from now on; `agent` says which agents they are and `at` where they stand."""
    moves = link(at, unit, to, cells)
    given = {"moves": moves, "agent": agent, "at": at.copy(), "upcoming": moves.first.copy()}
    return allocate(March, given, units=at.size, moves=unit.size)


def without_agent(march: March, agent: int, cells: int) -> March:
    """The same units without the moves of an agent that left."""
    gone = np.flatnonzero(march.agent == agent)
    if gone.size == 0:
        return march
    left = ~march.done & (march.moves.unit != gone[0])
    return begin_march(march.agent, march.at, march.moves.unit[left], march.moves.to[left], cells)


def is_over(march: March) -> bool:
    """Whether all moves were made."""
    return not (march.upcoming != NONE).any()


def targets_ahead(march: March) -> NDArray[np.int32]:
    """The cells that the moves still to be made lead to."""
    return np.asarray(march.moves.to[~march.done])


@jit
def _advance(march, turns, taken, next_cell):
    """Enter this tick's moves into the proposal; return how many units are held up by agents outside the plan.

    `turns` has the next moves of all units in ascending order; `taken` is true where an agent outside the plan stands
    or will stand. Mutates: march, next_cell.
    """
    moves, held_up = march.moves, 0
    for k in range(turns.size):
        m = turns[k]
        u, to = moves.unit[m], moves.to[m]
        if moves.before[m] != NONE and not march.done[moves.before[m]]:
            march.delay[u] = _OUT_OF_TURN
        elif taken[to]:
            march.delay[u] = _HELD_UP
            held_up += 1
        else:
            march.done[m] = True
            march.delay[u] = _MOVED
            march.at[u] = next_cell[march.agent[u]] = to
            march.upcoming[u] = moves.following[m]
    return held_up


def advance(march: March, state: State, proposal: Proposal) -> bool:
    """Enter this tick's moves into the proposal; return whether agents outside the plan hold units up. Mutates: march.
    """
    agents = state.agents
    taken = np.zeros(state.grid.size, np.bool_)
    outside = np.flatnonzero(~agents.controlled & (agents.cell != NO_CELL))
    taken[agents.cell[outside]] = taken[proposal.next_cell[outside]] = True
    turns = np.sort(march.upcoming[march.upcoming != NONE])
    return bool(_advance(march, turns, taken, proposal.next_cell) > 0)


def intent_of(march: March, state: State, agent: int) -> Intent:
    """The moves ahead of an agent; what it waits for, if it did not move in the last tick."""
    units = np.flatnonzero(march.agent == agent)
    if units.size == 0:
        return Intent()
    u, moves = int(units[0]), march.moves
    path = []
    m = int(march.upcoming[u])
    while m != NONE:
        path.append(int(moves.to[m]))
        m = int(moves.following[m])
    if not path:
        is_home = state.agents.cell[agent] == state.agents.goal[agent]
        return Intent(reason="" if is_home else "the plan does not bring it home")
    if march.delay[u] == _MOVED:
        return Intent(tuple(path))
    in_the_way = int(state.occupant[path[0]])
    if in_the_way == NO_AGENT and march.delay[u] == _OUT_OF_TURN:
        in_the_way = int(march.agent[moves.unit[moves.before[int(march.upcoming[u])]]])
    return Intent(tuple(path), in_the_way, _REASONS[march.delay[u]])
