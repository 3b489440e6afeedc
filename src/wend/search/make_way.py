# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Who goes where in one tick, when everybody wants somewhere: whoever is in the way makes way, for who has waited more.

Okumura, Machida, Défago, Tamura: Priority Inheritance with Backtracking for Iterative Multi-agent Path Finding
(Artificial Intelligence 310, 2022), Algorithm 1, in which an agent pushes another, which pushes the next.

Agents decide in the order of their priority. One that wants where another stands, who has not decided yet, takes that
cell for itself, and the other decides next, as if it had the same priority: it may go anywhere but to the cell of the
one that pushes it. If it finds no place it stays, and the one before it tries its next best cell.

An agent's wish is the next step of its plan. Where that cannot be had, and for agents without one, cells are ordered by
what the agent believes (bmaa/real_time.py, `heuristic`); among equals those where nobody stands come first, then at
random.

Deviations
- A step of a plan comes before the nearest cell: plans look further ahead.
- Who is pushed off its goal takes a cell that leads on towards the goal of who pushes it only if others are two moves
  worse: it would be pushed again, or into a dead end.
- The paper's tie-breaker is drawn once for each agent; ours among cells, and anew in every tick.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit, scramble
from wend.maps.terrain import CARDINAL_COST
from wend.planners.bmaa.real_time import heuristic

_KEY_SHIFT = 12                 # of a cost in a key, to leave room for what decides among equals: no loss that matters
_DETOUR = 2 * CARDINAL_COST     # what an agent at home goes further to be off the way of who pushes
_WISH = -1                      # in Crowd.tried


class Crowd(NamedTuple):
    """Who has decided what, in the tick at hand."""

    decided: np.ndarray     # bool[agents]              its next cell is settled
    claimed: np.ndarray     # int32[cells]              the agent whose next cell it is, or NO_AGENT
    chain: np.ndarray       # int32[agents + 1]         who pushes whom, the first one first
    option: np.ndarray      # int32[agents + 1, 9]      by place in the chain: cells to go to, the best first,
    key: np.ndarray         # int64[9]                  ... by what they are ordered,
    options: np.ndarray     # int32[agents + 1]         ... how many there are,
    tried: np.ndarray       # int32[agents + 1]         ... and how many were tried; _WISH if only the wish was


def make_crowd(agents: int, cells: int) -> Crowd:
    """Room for so many agents, on so many cells."""
    return Crowd(
        np.zeros(agents, np.bool_), np.full(cells, NO_AGENT, np.int32), np.zeros(agents + 1, np.int32),
        np.zeros((agents + 1, 9), np.int32), np.zeros(9, np.int64),
        np.zeros(agents + 1, np.int32), np.zeros(agents + 1, np.int32),
    )  # fmt: skip


@jit
def _is_nearer(tables, learned, agents, agent, there, here):
    """Whether an agent believes one cell to be nearer to its goal than another."""
    width, goal = tables.width, agents.goal[agent]
    goal_x, goal_y = goal % width, goal // width
    return heuristic(tables, learned, agent, there % width, there // width, goal_x, goal_y) < heuristic(
        tables, learned, agent, here % width, here // width, goal_x, goal_y
    )


@jit
def _list_options(tables, agents, occupant, learned, crowd, lot, agent, depth):
    """List an agent's next cells, the best first. Mutates: crowd."""
    here, goal, width = agents.cell[agent], agents.goal[agent], tables.width
    goal_x, goal_y = goal % width, goal // width
    count = 0
    for d in range(9):                                              # the ninth is to stay
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d < 8 else here
        cost = heuristic(tables, learned, agent, there % width, there // width, goal_x, goal_y)
        if depth > 0 and here == goal and _is_nearer(tables, learned, agents, crowd.chain[depth - 1], there, here):
            cost += _DETOUR
        is_busy = occupant[there] != NO_AGENT and occupant[there] != agent
        key = ((cost >> _KEY_SHIFT) << 1 | is_busy) << 8 | (scramble(lot ^ scramble(agent * 9 + d)) & 255)
        k = count
        while k > 0 and crowd.key[k - 1] > key:
            crowd.key[k], crowd.option[depth, k] = crowd.key[k - 1], crowd.option[depth, k - 1]
            k -= 1
        crowd.key[k], crowd.option[depth, k] = key, there
        count += 1
    crowd.options[depth] = count
    crowd.tried[depth] = 0


@jit
def _next_option(tables, agents, occupant, learned, wish, crowd, lot, agent, depth):
    """The next cell for an agent to try, NO_CELL if there is none left. Mutates: crowd."""
    if crowd.tried[depth] == _WISH:
        _list_options(tables, agents, occupant, learned, crowd, lot, agent, depth)
    elif crowd.options[depth] == 0:
        crowd.tried[depth] = _WISH
        if wish[agent] != NO_CELL:
            return wish[agent]
        _list_options(tables, agents, occupant, learned, crowd, lot, agent, depth)
    if crowd.tried[depth] == crowd.options[depth]:
        return NO_CELL
    crowd.tried[depth] += 1
    return crowd.option[depth, crowd.tried[depth] - 1]


@jit
def _decide(tables, agents, occupant, learned, wish, crowd, lot, root, next_cell):
    """Decide for an agent, and for whomever it pushes (Alg. 1, procedure PIBT). Mutates: crowd, next_cell."""
    depth = 0
    crowd.chain[0], crowd.options[0], crowd.tried[0] = root, 0, 0
    while depth >= 0:
        agent = crowd.chain[depth]
        here = agents.cell[agent]
        there = _next_option(tables, agents, occupant, learned, wish, crowd, lot, agent, depth)
        if there == NO_CELL:                                        # it stays, and who pushed it tries another cell
            next_cell[agent] = here
            crowd.claimed[here] = agent
            crowd.decided[agent] = True
            depth -= 1
            if depth >= 0:
                crowd.decided[crowd.chain[depth]] = False
            continue
        other = occupant[there]
        if crowd.claimed[there] != NO_AGENT:
            continue
        if other != NO_AGENT and crowd.decided[other] and next_cell[other] == here:
            continue                                                # the two would change places
        next_cell[agent] = there
        crowd.claimed[there] = agent
        crowd.decided[agent] = True
        if other == NO_AGENT or crowd.decided[other]:
            return                                                  # and everybody in the chain has a place
        depth += 1
        crowd.chain[depth], crowd.options[depth], crowd.tried[depth] = other, 0, 0


@jit
def settle(tables, agents, occupant, learned, wish, order, crowd, lot, next_cell, waits_for):
    """Settle everybody's next cell. Mutates: crowd, next_cell, waits_for.

    `wish` has the cell that each agent wants to, or NO_CELL if it does not know; `order` the agents, the first one
    first. `next_cell` comes with everybody's own cell, or the announced one of the agents that the program moves.
    `lot` decides among equals.
    """
    for agent in range(agents.cell.size):
        is_fixed = not agents.controlled[agent] or (agents.pinned[agent] and agents.cell[agent] == agents.goal[agent])
        crowd.decided[agent] = is_fixed or agents.cell[agent] == NO_CELL
        if is_fixed and agents.cell[agent] != NO_CELL:
            crowd.claimed[next_cell[agent]] = agent
    for agent in order:
        if not crowd.decided[agent]:
            _decide(tables, agents, occupant, learned, wish, crowd, lot, agent, next_cell)
    for agent in range(agents.cell.size):
        if next_cell[agent] != NO_CELL and agents.cell[agent] == next_cell[agent] and wish[agent] != NO_CELL:
            waits_for[agent] = NO_AGENT if wish[agent] == agents.cell[agent] else crowd.claimed[wish[agent]]
    for agent in range(agents.cell.size):
        if next_cell[agent] != NO_CELL:
            crowd.claimed[next_cell[agent]] = NO_AGENT
