# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""How FAR resolves jams: who waits for whom is followed, and an agent steps aside where that helps."""

from __future__ import annotations

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.planners.far.traffic import EVASIONS, extend, hold_last, is_parked, is_standing
from wend.search.paths import after, direction
from wend.search.reservations import free_from

_LOOK_AHEAD = 24        # moves of a path that nobody should step aside to


@jit
def _moves_until(tables, traffic, agent, cell):
    """After how many moves of its path an agent is on a cell; more than _LOOK_AHEAD if not within so many."""
    at, packet = traffic.origin[agent], traffic.paths.top[agent]
    for k in range(min(_LOOK_AHEAD, traffic.paths.left[agent])):
        at += tables.offset[direction(packet)]
        packet = after(traffic.paths, packet)
        if at == cell:
            return k + 1
    return _LOOK_AHEAD + 1


@jit
def _refuge(moment, traffic, agent, pusher):
    """The best direction for an agent to step aside for another, -1 if none, and the number of cells to choose from."""
    tables, agents, now, waits = moment.tables, moment.agents, moment.tick, traffic.waits
    best, best_value, choices = -1, -1, 0
    if (
        not agents.controlled[agent]
        or (agents.pinned[agent] and agents.cell[agent] == agents.goal[agent])
        or not is_standing(traffic, agent, now)
    ):
        return best, choices
    for d in range(8):
        if not tables.moves[agents.cell[agent]] >> d & 1:
            continue
        cell = agents.cell[agent] + tables.offset[d]
        if free_from(traffic.table, cell, now, agent) > now:
            continue
        evaded = False
        for k in range(min(waits.evasions[agent], EVASIONS)):
            evaded = evaded or waits.evaded[agent, k] == cell
        met = _moves_until(tables, traffic, pusher, cell)
        if evaded or met <= traffic.rules.reservation:
            continue
        choices += 1
        value = 2 * (met > _LOOK_AHEAD) + (_moves_until(tables, traffic, agent, cell) > _LOOK_AHEAD)
        if value > best_value:
            best, best_value = d, value
    return best, choices


@jit
def _step_aside(moment, traffic, agent, d, other):
    """Let an agent step aside for another. Mutates: traffic."""
    waits, here = traffic.waits, moment.agents.cell[agent]
    cell = here + moment.tables.offset[d]
    extend(traffic, agent, cell, moment.tick)
    hold_last(traffic, agent)
    waits.evaded[agent, waits.evasions[agent] % EVASIONS] = cell
    waits.evasions[agent] += 1
    waits.waited[agent] = 0
    waits.left[agent] = here
    waits.left_for[agent] = other
    waits.left_until[agent] = moment.tick + 2 * traffic.rules.reservation


@jit
def _may_go_around(moment, traffic, agent):
    """Whether it is long enough ago that an agent asked to go around another."""
    return moment.tick - traffic.waits.rerouted[agent] >= traffic.rules.patience


@jit
def _go_around(moment, traffic, agent, other):
    """Let an agent search another path in the next tick. Mutates: traffic."""
    traffic.waits.rerouted[agent] = moment.tick
    traffic.avoid[agent] = moment.agents.cell[other]


@jit
def _break_circle(moment, traffic, first):
    """Let one of a circle of waiting agents step aside, or search a path around. Mutates: traffic."""
    waits, waits_for, counts = traffic.waits, moment.waits_for, traffic.counts[0]
    counts.wait_circles += 1
    chosen, chosen_for, direction_chosen, most = NO_AGENT, NO_AGENT, -1, 0
    longest, eldest = -1, NO_AGENT
    other = first
    while True:
        agent = waits_for[other]
        d, choices = _refuge(moment, traffic, agent, other)
        if choices > most or (choices == most and choices > 0 and agent < chosen):
            chosen, chosen_for, direction_chosen, most = agent, other, d, choices
        if (
            traffic.paths.left[agent] > 0
            and _may_go_around(moment, traffic, agent)
            and (waits.waited[agent] > longest or (waits.waited[agent] == longest and agent < eldest))
        ):
            longest, eldest = waits.waited[agent], agent
        other = agent
        if other == first:
            break
    if chosen != NO_AGENT:
        counts.proxies += 1
        _step_aside(moment, traffic, chosen, direction_chosen, chosen_for)
    elif eldest != NO_AGENT:
        _go_around(moment, traffic, eldest, waits_for[eldest])


@jit
def _next_in_row(moment, traffic, agent, chain):
    """The neighbour for which a parked agent without room should wait, or NO_AGENT."""
    tables, agents = moment.tables, moment.agents
    best, best_value = NO_AGENT, -1
    for d in range(8):
        if tables.moves[agents.cell[agent]] >> d & 1:
            other = moment.occupant[agents.cell[agent] + tables.offset[d]]
            if other == NO_AGENT or traffic.waits.seen[other] == chain:
                continue
            if is_parked(agents, traffic, other, moment.tick):
                value = 2
            else:
                value = 1 if moment.waits_for[other] == NO_AGENT else 0
            if value > best_value:
                best, best_value = other, value
    return best


@jit
def _follow(moment, traffic, root, before_this_tick):
    """Follow who waits for whom from one agent on, and let one step aside if it can. Mutates: traffic, waits_for."""
    agents, waits_for, waits, counts = moment.agents, moment.waits_for, traffic.waits, traffic.counts[0]
    counts.chain += 1
    chain = counts.chain
    agent, behind, pusher = root, NO_AGENT, root
    while waits.seen[agent] <= before_this_tick:
        is_waiting = waits_for[agent] != NO_AGENT
        if not is_waiting and (not is_parked(agents, traffic, agent, moment.tick) or waits.left[pusher] != NO_CELL):
            return                                      # it moves; and an agent that makes room itself does not push
        waits.seen[agent] = chain
        if is_waiting:
            pusher = agent
        else:
            d, _ = _refuge(moment, traffic, agent, pusher)
            if d >= 0:
                counts.pushes += 1
                _step_aside(moment, traffic, agent, d, behind)
                return
            if agents.controlled[agent] and not agents.pinned[agent]:
                waits_for[agent] = _next_in_row(moment, traffic, agent, chain)
            if waits_for[agent] == NO_AGENT:
                return
        behind, agent = agent, waits_for[agent]
        if waits.seen[agent] == chain:
            _break_circle(moment, traffic, agent)


@jit
def _lose_patience(moment, traffic, agent):
    """Let an agent that has waited too long push the one in front, or go around it. Mutates: traffic."""
    other = moment.waits_for[agent]
    d = -1
    if moment.waits_for[other] != NO_AGENT:
        d, _ = _refuge(moment, traffic, other, agent)
    if d >= 0:
        traffic.counts[0].proxies += 1
        _step_aside(moment, traffic, other, d, agent)
    elif _may_go_around(moment, traffic, agent):
        _go_around(moment, traffic, agent, other)


@jit
def yield_phase(moment, traffic):
    """Follow who waits for whom, and let agents step aside where that helps. Mutates: traffic, moment.waits_for."""
    before_this_tick = traffic.counts[0].chain
    for root in range(moment.agents.cell.size):
        if moment.waits_for[root] != NO_AGENT:
            _follow(moment, traffic, root, before_this_tick)
    for agent in range(moment.agents.cell.size):
        if (
            moment.waits_for[agent] != NO_AGENT
            and traffic.waits.waited[agent] >= traffic.rules.patience
            and is_standing(traffic, agent, moment.tick)
        ):
            _lose_patience(moment, traffic, agent)
