# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""FAR's searches: whole paths, proxy paths back to a path that was left, and paths around the agent in front."""

from __future__ import annotations

from wend.kernel import FOUND, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import allow
from wend.planners.far.traffic import last_cell
from wend.search.astar import NO_LIMIT, forbid
from wend.search.paths import after, direction
from wend.search.rough_paths import skip_to_nearest
from wend.search.turns import (
    NOTHING,
    abandon_search,
    begin_search,
    end_turn,
    is_begun,
    is_searching,
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
    """What the agent whose turn it is has to search."""
    if agents.cell[agent] == NO_CELL or not agents.controlled[agent]:
        return NOTHING
    last, is_rough = last_cell(traffic, agent), traffic.rough.is_rough[agent]
    needs_whole = NOTHING if last == agents.goal[agent] else _WHOLE
    if traffic.paths.left[agent] == 0:
        return needs_whole
    if last != traffic.origin[agent] and not (is_rough and is_searching(traffic.turns, _WHOLE)):
        return _JOIN
    if is_rough:
        return needs_whole
    return NOTHING if traffic.avoid[agent] == NO_CELL else _AROUND


@jit
def begin_rough_paths(agents, traffic):
    """Note which agents have no path that they could follow now, and where one is to begin. Mutates: traffic."""
    paths, rough = traffic.paths, traffic.rough
    for agent in range(agents.cell.size):
        last = last_cell(traffic, agent)
        rough.begin[agent] = NO_CELL
        if agents.cell[agent] == NO_CELL or not agents.controlled[agent] or last == agents.goal[agent]:
            continue
        if paths.left[agent] == 0 or (rough.is_rough[agent] and last != traffic.origin[agent]):
            rough.begin[agent] = traffic.origin[agent] = last
            paths.left[agent] = 0


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
    is_under_way = is_searching(turns, _WHOLE) if need == _WHOLE else is_begun(turns, need, start, target)
    if not is_under_way:
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
        if need == _WHOLE:
            job = turns.search.job[0]
            traffic.rough.is_rough[agent], traffic.rough.end[agent] = job.goal != target, job.goal
            if job.start != start:                      # it went on meanwhile
                traffic.origin[agent] = skip_to_nearest(tables, paths, agent, job.start, start)
            abandon_search(turns)
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
        need, has_path = _need(agents, traffic, agent), False
        while need != NOTHING:
            answer = _search(tables, agents, traffic, agent, need)
            if answer != FOUND and answer != UNREACHABLE:
                return answer
            has_path = has_path or (need == _WHOLE and answer == FOUND)
            last, need = need, _need(agents, traffic, agent)
            if last == need or (need == _WHOLE and has_path):       # no path, or a rough one: again in the next tick
                break
        end_turn(turns, agents.cell.size)
    return FOUND
