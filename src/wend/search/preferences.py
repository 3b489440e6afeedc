# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Where an agent would rather be next, for PIBT (search/pibt.py): the order of its cells, and with whom it swaps.

    Okumura: Improving LaCAM (IJCAI 2023)           swap: `_partner_of`; required and possible are in search/pibt.py
    Okumura, Nagai: Lightweight and Effective       hindrance: `_crowding`
    Preference Construction in PIBT (SoCS 2025)

An agent prefers the cell nearest to its goal. Among equals, it prefers the one where it is least in the way: fewest of
the agents beside it come nearer to their goals by going there, and no agent stands there now. Then chance decides.

Where two agents in a corridor have to exchange places, the one that has to go back prefers the cells furthest from its
goal, and pulls the other along. An agent that is pushed off its goal keeps out of corridors in which it would then have
to exchange places with its pusher.

The caller passes `far(scene, agent, cell)`, the distance from a cell to an agent's goal or a negative answer, and
`known`, the same for what an agent thinks of others and of swaps, with a negative answer where the distance is only
rough; and a bundle `scene` that has at least

    tables, agents, occupant    the map, the agents, and who stands where
    step                        int64[9]  what a move in each direction adds to the distance of its cell, and a wait
    swaps                       whether agents swap
    lot                         decides among equals

Deviations
- Hindrance and occupation are one number, their sum.
- In a swap, the order of the cells is turned round, ties included.
- In the paper, an agent at home is pushed into the dead end that its pusher is headed for; the two change places there,
  and then the pusher pushes it in again. Here such a cell counts as two steps further away.
- Agents that do not move of their own accord, those of the program and those pinned at home, hinder and swap with no
  other. Corridors are looked at as if they were not there.
"""

from __future__ import annotations

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_SPACE, jit, scramble
from wend.search.pibt import decide, fix, may_push_any, offer, should_swap, turn_round


@jit
def is_fixed(agents, agent):
    """Whether an agent on the map goes where the program says, or is pinned at home."""
    return not agents.controlled[agent] or (agents.pinned[agent] and agents.cell[agent] == agents.goal[agent])


@jit
def list_cells(scene, decisions, depth, far, known):
    """List the next cells of an agent in the chain, best first, and name its partner, if it has one.

    Returns 0, or a negative answer of `far` for one of these cells. Mutates: decisions, and what the kernels do.
    """
    if decisions.asked[depth] > 0:
        return 0
    answer = _offer_all(scene, decisions, depth, NO_CELL, far, known)
    if answer < 0 or not scene.swaps:
        return answer
    partner = _partner_of(scene, decisions, depth, known)
    if partner == OUT_OF_SPACE:
        return OUT_OF_SPACE
    if partner != NO_AGENT:
        turn_round(decisions, depth)
        decisions.partner[depth] = partner
    return 0


@jit
def list_wish_first(scene, decisions, depth, wish, far, known):
    """The same for an agent of which the best cell is known: the others are looked at only if they matter.

    That is if it does not get its wish, or has to go back. Where `far` finds all that it is asked for, so that it does
    not matter what was asked before, the order is that of `list_cells`. Mutates: decisions, and what the kernels do.
    """
    if decisions.asked[depth] > 0:
        if decisions.partner[depth] != NO_AGENT:
            return 0
        return _offer_all(scene, decisions, depth, wish, far, known) if decisions.asked[depth] == 1 else 0
    offer(decisions, depth, wish, 0)
    partner = _partner_of(scene, decisions, depth, known) if scene.swaps else NO_AGENT
    if partner == OUT_OF_SPACE:
        return OUT_OF_SPACE
    if partner == NO_AGENT:
        return 0
    decisions.options[depth] = 0
    answer = _offer_all(scene, decisions, depth, NO_CELL, far, known)
    turn_round(decisions, depth)
    decisions.partner[depth] = partner
    return answer


@jit
def _offer_all(scene, decisions, depth, but, far, known):
    """Offer an agent in the chain all cells but one, or all: 0, or a negative answer. Mutates: as `list_cells`."""
    tables, agent = scene.tables, decisions.chain[depth]
    here = scene.agents.cell[agent]
    draw = scramble(scene.lot ^ scramble(agent))
    others = _others_beside(scene, here, known)
    for d in range(9):                                          # the ninth is to stay
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d < 8 else here
        if there == but:
            continue
        cost = far(scene, agent, there)
        if cost < 0:
            return cost
        if d < 8:
            is_trap = _is_trap(scene, decisions, depth, there, known)
            if is_trap < 0:
                return is_trap
            cost += is_trap * 2 * scene.step[0]
        crowding = _crowding(scene, agent, here, there, others, known)
        if crowding < 0:
            return crowding
        key = np.int64(cost + scene.step[d]) << 12 | crowding << 8 | (scramble(draw + d) & 255)
        offer(decisions, depth, there, key)
    return np.int64(0)


@jit
def _is_trap(scene, decisions, depth, there, known):
    """1 if an agent that is pushed off its goal would have to change places with its pusher once it went there, else 0.

    Or OUT_OF_SPACE. Mutates: what `known` does.
    """
    agent = decisions.chain[depth]
    here = scene.agents.cell[agent]
    if depth == 0 or not scene.swaps or here != scene.agents.goal[agent]:
        return 0
    answer = should_swap(scene, known, decisions.chain[depth - 1], here, agent, there)
    return answer if answer == 1 or answer == OUT_OF_SPACE else 0


@jit
def crowding_of(key):
    """Of the key of a cell: how many agents one is in the way of there, one that stands there included."""
    return key >> 8 & 15


@jit
def _others_beside(scene, here, known):
    """The directions, as bits, in which agents stand beside a cell that one may be in the way of.

    That are those away from home of which `known` has an answer; it has one of an agent's own cell without a search.
    """
    tables, agents, occupant = scene.tables, scene.agents, scene.occupant
    moves, bits = tables.moves[here], 0
    for d in range(8):
        if not moves >> d & 1:
            continue
        beside = here + tables.offset[d]
        other = occupant[beside]
        if other == NO_AGENT or beside == agents.goal[other] or is_fixed(agents, other):
            continue
        if known(scene, other, beside) >= 0:
            bits |= 1 << d
    return bits


@jit
def _crowding(scene, agent, here, there, others, known):
    """How many agents an agent is in the way of if it goes from here to there: `others` as in _others_beside.

    OUT_OF_SPACE is passed on. Mutates: what `known` does.
    """
    tables, occupant = scene.tables, scene.occupant
    crowding = int(occupant[there] != NO_AGENT and occupant[there] != agent)
    if others == 0:
        return crowding
    for d in range(8):
        beside = here + tables.offset[d]
        if not others >> d & 1 or beside == there:
            continue
        other = occupant[beside]
        to_there = known(scene, other, there)
        if to_there == OUT_OF_SPACE:
            return OUT_OF_SPACE
        crowding += int(0 <= to_there < known(scene, other, beside))
    return crowding


@jit
def _partner_of(scene, decisions, depth, known):
    """The agent that is to follow an agent which has to go back, NO_AGENT if it need not, or OUT_OF_SPACE.

    That is the agent ahead, or one beside that it would have to let pass further on (the clear operation). Mutates:
    what `known` does.
    """
    tables, agents, occupant = scene.tables, scene.agents, scene.occupant
    agent, best = decisions.chain[depth], decisions.option[depth, 0]
    here, ahead = agents.cell[agent], occupant[best]
    if best == here:
        return NO_AGENT
    if ahead != NO_AGENT and not decisions.decided[ahead]:
        answer = should_swap(scene, known, agent, here, ahead, best)
        if answer == OUT_OF_SPACE:
            return OUT_OF_SPACE
        if answer == 1:
            return np.int64(ahead)
    for d in range(8):
        if not tables.moves[here] >> d & 1:
            continue
        beside = here + tables.offset[d]
        other = occupant[beside]
        if other == NO_AGENT or beside == best or is_fixed(agents, other):
            continue
        answer = should_swap(scene, known, other, here, agent, best)
        if answer == OUT_OF_SPACE:
            return OUT_OF_SPACE
        if answer == 1:
            return np.int64(other)
    return NO_AGENT


@jit
def settle(scene, decisions, order, rank):
    """Decide for all agents that are not decided yet, the first one first; return 1, 0 or a negative answer of `rank`.

    0 if an agent finds no place because its own cell was promised to another one beforehand; it stays undecided, and so
    do those after it. Agents at home whose cell nobody wants stay there: it is what their ranking would say. Mutates:
    decisions, and what `rank` does.
    """
    agents = scene.agents
    for agent in order:
        here = agents.cell[agent]
        if here == NO_CELL or decisions.decided[agent]:
            continue
        if here == agents.goal[agent] and decisions.taken[here] == NO_AGENT:
            fix(decisions, agent, here)
            continue
        answer = decide(decisions, scene, agent, rank, may_push_any)
        if answer < 0:
            return answer
        if not decisions.decided[agent]:
            return 0
    return 1
