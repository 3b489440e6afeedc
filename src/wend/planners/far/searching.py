# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""FAR's searches: whole paths, proxy paths back to a path that was left, and paths around the agent in front."""

from __future__ import annotations

from wend.kernel import FOUND, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import allow
from wend.planners.far.traffic import last_cell
from wend.search.astar import NO_LIMIT, forbid
from wend.search.paths import after, direction
from wend.search.turns import (
    NOTHING,
    begin_search,
    end_turn,
    is_begun,
    is_spent,
    keep_path,
    search_on,
    whose_turn,
)

# What an agent searches, if not NOTHING
_WHOLE = 1      # a path to its goal
_JOIN = 2       # a proxy path, back to the path that it left
_AROUND = 3     # another path, around the agent in front

_REJOIN = 8     # a proxy path leads to a place so many moves ahead on the old path


@jit
def _need(agents, traffic, agent):
    """What an agent has to search."""
    if agents.cell[agent] == NO_CELL or not agents.controlled[agent]:
        return NOTHING
    last = last_cell(traffic, agent)
    if traffic.paths.left[agent] == 0:
        return NOTHING if last == agents.goal[agent] else _WHOLE
    if last != traffic.origin[agent]:
        return _JOIN
    return NOTHING if traffic.avoid[agent] == NO_CELL else _AROUND


@jit
def _place_ahead(tables, traffic, agent, moves):
    """The cell so many moves ahead on an agent's path."""
    cell, packet = traffic.origin[agent], traffic.paths.top[agent]
    for _ in range(moves):
        cell += tables.offset[direction(packet)]
        packet = after(traffic.paths, packet)
    return cell


@jit
def _search(tables, agents, traffic, agent, need):
    """Begin an agent's search, or go on with it; answer as `search_phase` does. Mutates: traffic."""
    paths, turns, counts = traffic.paths, traffic.turns, traffic.counts[0]
    start, target, kept, most = last_cell(traffic, agent), agents.goal[agent], 0, NO_LIMIT
    if need == _JOIN:
        ahead = min(_REJOIN, paths.left[agent])
        target, kept = _place_ahead(tables, traffic, agent, ahead), paths.left[agent] - ahead
        most = traffic.rules.proxy_expansions
    if not is_begun(turns, need, start, target):
        if is_spent(turns):
            return OUT_OF_BUDGET
        begin_search(tables, turns, need, start, target, 0, 0)
        counts.repaths += traffic.known[agent]
        traffic.known[agent] = True
        if need == _AROUND:
            counts.reroutes += 1
            forbid(turns.search, traffic.avoid[agent])
    answer = search_on(tables, turns, most)
    if answer == OUT_OF_BUDGET:
        return OUT_OF_BUDGET
    if answer == FOUND:
        if not keep_path(tables, turns, paths, agent, kept):
            return OUT_OF_SPACE                         # the search is kept, to be read off when there is space
        traffic.origin[agent] = start
    elif need == _JOIN:
        paths.left[agent] = 0                           # too far away: the whole path is searched next
    traffic.avoid[agent] = NO_CELL
    return answer


@jit
def search_phase(tables, agents, traffic, expansions):
    """Let each agent search what it has to, in turn, while the allowance lasts. Mutates: traffic.

    Answers OUT_OF_BUDGET, OUT_OF_SPACE, or FOUND when every agent has had its turn.
    """
    turns = traffic.turns
    allow(turns.allowance, expansions)
    for _ in range(agents.cell.size):
        agent = whose_turn(turns)
        need = _need(agents, traffic, agent)
        while need != NOTHING:
            answer = _search(tables, agents, traffic, agent, need)
            if answer != FOUND and answer != UNREACHABLE:
                return answer
            last, need = need, _need(agents, traffic, agent)
            if last == need:                            # no path: perhaps in the next tick
                break
        end_turn(turns, agents.cell.size)
    return FOUND
