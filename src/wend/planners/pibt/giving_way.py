# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Where an agent goes that is pushed off its goal: where the fewest others have to move, too.

All cells around a goal are about as far from it as each other, so that distances do not say which of them to take. In a
packed crowd that matters: one that is pushed pushes the next one, and so on until a free cell is found. With a choice
by chance such a chain wanders through the crowd, and all in it have to come back. So an agent at home that has to go
prefers, in this order, a cell where it is in the way of few agents (hindrance, search/preferences.py), one from which
few others have to be pushed, and then the nearest.

In one of four cases an agent chooses as before: if all always gave way in the same manner, two agents that come back
from a dead end again and again would meet the same crowd each time.

Work: O(agents) in a tick in which an agent is pushed off its goal.
"""

from __future__ import annotations

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit, scramble
from wend.search.pibt import offer
from wend.search.preferences import crowding_of, is_fixed

_ENCLOSED = 1 << 30     # in place of a number of pushes: there is no free cell
_MOST = np.int64(14)    # pushes that are told apart
_NEARNESS_BITS = 52     # of a key, for the one that the cell had before; near its goal an agent's distances are small


@jit
def _count_pushes(scene, decisions):
    """Count for each agent the pushes until one has a free cell: a flood from the free cells. Mutates: decisions."""
    tables, agents, occupant = scene.tables, scene.agents, scene.occupant
    pushes, queue = decisions.pushes, decisions.queue
    tail = 0
    for agent in range(agents.cell.size):
        here = agents.cell[agent]
        pushes[agent] = _ENCLOSED
        if here == NO_CELL or is_fixed(agents, agent):
            continue
        for d in range(8):
            if tables.moves[here] >> d & 1 and occupant[here + tables.offset[d]] == NO_AGENT:
                pushes[agent] = 0
                queue[tail] = agent
                tail += 1
                break
    head = 0
    while head < tail:
        agent = queue[head]
        here, head = agents.cell[agent], head + 1
        for d in range(8):
            if not tables.moves[here] >> d & 1:
                continue
            other = occupant[here + tables.offset[d]]
            if other != NO_AGENT and pushes[other] == _ENCLOSED and not is_fixed(agents, other):
                pushes[other] = pushes[agent] + 1
                queue[tail] = other
                tail += 1


@jit
def give_way(scene, decisions, depth):
    """Order the cells listed for an agent in the chain anew, if it is pushed off its goal. Mutates: decisions.

    To stay comes first, as before.
    """
    agent, counts = decisions.chain[depth], decisions.counts[0]
    here, count = scene.agents.cell[agent], decisions.options[depth]
    if here != scene.agents.goal[agent] or count == 0 or scramble(scene.lot ^ scramble(agent)) & 3 == 0:
        return
    if not counts.has_pushes:
        _count_pushes(scene, decisions)
        counts.has_pushes = 1
    decisions.options[depth] = 0
    for k in range(count):
        there, key = decisions.option[depth, k], decisions.key[depth, k]
        if there != here:
            other, pushes, hindered = scene.occupant[there], np.int64(0), crowding_of(key)
            if other != NO_AGENT:
                pushes, hindered = 1 + min(np.int64(decisions.pushes[other]), _MOST), hindered - 1
            key |= (hindered << 4 | pushes) << _NEARNESS_BITS
        offer(decisions, depth, there, key)
