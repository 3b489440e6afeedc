# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Where Surge's agents want to go in a tick, for PIBT (search/pibt.py): whoever is in the way makes way.

An agent's wish is the next step of its path. Where that cannot be had, and for agents without one, cells are ordered by
what the agent believes (`heuristic`); among equals, cells where no agent stands come first, then chance decides.

Deviations from PIBT
- A step of a path comes before the nearest cell: paths look further ahead.
- An agent that is pushed off its goal takes a cell that leads on towards the goal of its pusher only if all others are
  two moves worse: it would be pushed again, or into a dead end.
- The paper's tie-breaker is drawn once for each agent; here it is drawn for each cell, and anew in every tick.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit, scramble
from wend.maps.terrain import CARDINAL_COST, GridTables
from wend.planners.base import Agents
from wend.search.pibt import decide, fix, forget_decisions, may_push_any, offer
from wend.search.real_time import Learned, heuristic

_KEY_SHIFT = 12                 # of a cost in a key, to leave room for what decides among equals: no loss that matters
_DETOUR = 2 * CARDINAL_COST     # how much further an agent at home goes to be off the path of its pusher


class Wishes(NamedTuple):
    """All agents, and what they believe and want."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]   the agent that stands there, or NO_AGENT
    learned: Learned
    wish: np.ndarray        # int32[agents]  the cell that it wants to go to, or NO_CELL if it does not know
    lot: int                # decides among equals


@jit
def _believed(wishes, agent, cell):
    """What an agent believes the path from a cell to its goal to cost."""
    width, goal = wishes.tables.width, wishes.agents.goal[agent]
    return heuristic(wishes.tables, wishes.learned, agent, cell % width, cell // width, goal % width, goal // width)


@jit
def _rank(wishes, decisions, depth):
    """List an agent's wish, then all of its next cells. Mutates: decisions."""
    tables, agents, occupant = wishes.tables, wishes.agents, wishes.occupant
    agent, asked = decisions.chain[depth], decisions.asked[depth]
    here, goal, wish = agents.cell[agent], agents.goal[agent], wishes.wish[agent]
    if wish != NO_CELL:
        if asked == 0:
            offer(decisions, depth, wish, 0)
            return 0
        asked -= 1
    if asked > 0:
        return 0
    pusher = decisions.chain[depth - 1] if depth > 0 and here == goal else NO_AGENT
    for d in range(9):                                              # the ninth is to stay
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d < 8 else here
        cost = _believed(wishes, agent, there)
        if pusher != NO_AGENT and _believed(wishes, pusher, there) < _believed(wishes, pusher, here):
            cost += _DETOUR
        is_busy = occupant[there] != NO_AGENT and occupant[there] != agent
        key = ((cost >> _KEY_SHIFT) << 1 | is_busy) << 8 | (scramble(wishes.lot ^ scramble(agent * 9 + d)) & 255)
        offer(decisions, depth, there, key)
    return 0


@jit
def settle(wishes, order, decisions, next_cell, waits_for):
    """Settle the next cell of all agents. Mutates: decisions, next_cell, waits_for.

    `order` has the agents, the first one first. `next_cell` comes with the cell of each agent, or the announced one of
    the agents that the program moves.
    """
    agents, wish = wishes.agents, wishes.wish
    forget_decisions(decisions)
    for agent in range(agents.cell.size):
        is_fixed = not agents.controlled[agent] or (agents.pinned[agent] and agents.cell[agent] == agents.goal[agent])
        if is_fixed and agents.cell[agent] != NO_CELL:
            fix(decisions, agent, next_cell[agent])
    for agent in order:
        here = agents.cell[agent]
        if here == NO_CELL or decisions.decided[agent]:
            continue
        if wish[agent] == here and decisions.taken[here] == NO_AGENT:       # as `decide` would, and most are home
            fix(decisions, agent, here)
        else:
            decide(decisions, wishes, agent, _rank, may_push_any)
    for agent in range(agents.cell.size):
        if not decisions.decided[agent]:
            continue
        next_cell[agent] = decisions.target[agent]
        if next_cell[agent] == agents.cell[agent] and wish[agent] != NO_CELL:
            waits_for[agent] = NO_AGENT if wish[agent] == agents.cell[agent] else decisions.taken[wish[agent]]
