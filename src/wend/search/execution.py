# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The execution guard: of the steps that agents want to take, those that can be taken together.

Where plans agree, every agent gets what it wants. Where they do not (a plan that could not be kept, an agent that the
program moved), an agent waits, and so do those that wanted to enter its cell.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import allocate, int32, uint8

_OPEN, _ASKED, _DECIDED = 0, 1, 2


class Guard(NamedTuple):
    """Scratch of the guard."""

    state: Annotated[np.ndarray, uint8("agents")]                   # _OPEN, _ASKED or _DECIDED
    chain: Annotated[np.ndarray, int32("agents")]                   # agents that wait for the next one's decision
    entered: Annotated[                                             # the agent that last moved there, or NO_AGENT;
        np.ndarray, int32("cells", fill=NO_AGENT, is_scratch=True)  # ... what is from ticks before counts for nothing
    ]


def make_guard(agents: int, cells: int) -> Guard:
    """Scratch for so many agents and cells."""
    return allocate(Guard, agents=agents, cells=cells)


@jit
def _is_entered(agents, entered, next_cell, cell):
    """Whether an agent has been granted a move to a cell in this tick."""
    agent = entered[cell]
    return agent != NO_AGENT and next_cell[agent] == cell and agents.cell[agent] != cell


@jit
def grant(agents, occupant, wanted, guard, next_cell, waits_for):
    """Turn what the agents want into a legal joint move; return how many of them do not get it.

    `next_cell` comes with the cell of each agent, or the announced one if the program moves it.

    Mutates: guard, next_cell, waits_for.
    """
    state, chain, entered = guard.state, guard.chain, guard.entered
    stopped = 0
    for agent in range(agents.cell.size):
        state[agent] = _OPEN
        if agents.cell[agent] == NO_CELL or not agents.controlled[agent]:
            state[agent] = _DECIDED
            if agents.cell[agent] != NO_CELL:
                entered[next_cell[agent]] = agent
    for root in range(agents.cell.size):
        length = 0
        agent = root
        while state[agent] == _OPEN:
            state[agent] = _ASKED
            chain[length] = agent
            length += 1
            target = wanted[agent]
            ahead = occupant[target]
            if target == agents.cell[agent] or ahead == NO_AGENT or state[ahead] == _DECIDED:
                break
            if state[ahead] == _ASKED:
                if wanted[ahead] != agents.cell[agent]:         # a ring of three or more: all of them turn together
                    turning = ahead
                    while True:
                        next_cell[turning] = wanted[turning]
                        entered[wanted[turning]] = turning
                        state[turning] = _DECIDED
                        turning = occupant[wanted[turning]]
                        if turning == ahead:
                            break
                break
            agent = ahead
        while length > 0:                                       # the one in front decides first
            length -= 1
            agent = chain[length]
            if state[agent] == _DECIDED:
                continue
            state[agent] = _DECIDED
            target = wanted[agent]
            if target == agents.cell[agent]:
                continue
            ahead = occupant[target]
            stays = ahead != NO_AGENT and next_cell[ahead] == target
            swaps = ahead != NO_AGENT and next_cell[ahead] == agents.cell[agent]
            if stays or swaps or _is_entered(agents, entered, next_cell, target):
                waits_for[agent] = ahead if ahead != NO_AGENT else entered[target]
                stopped += 1
            else:
                next_cell[agent] = target
                entered[target] = agent
    return stopped
