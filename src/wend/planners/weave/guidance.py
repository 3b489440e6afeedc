# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Guide paths: where agents would go in the next ticks to be in the way of few others.

Arita, Okumura: Local Guidance for Configuration-Based Multi-Agent Pathfinding (AAAI 2026).

A guide path is some steps long. Of all such paths it costs least, with what is left to the goal after it, if a step
costs what it costs on the map, a wait 1, a meeting with the guide path of another agent 1.5 and a cell on which an
agent is at home 1 more. To meet is to come to one cell in one tick, or to exchange cells. A guide path is a wish, and
no reservation: it keeps nobody out, and PIBT decides who goes where.

    paper                                       here
    guide paths, in the order of priorities     guide_all
    space-time A* with collisions as a cost     _find_path
    paths of the last step, moved on            follow_paths

Who comes to a cell in which tick is counted by direction in a ring over time, as in search/reservations.py. The agents
that exchange cells with a move from u to v are those that come to u from v in the same tick: so no table of edges is
needed.

Deviations
- Not all agents search in every tick: those whose turn it is, once in `_TURN` ticks, those that were pushed off their
  path, and those whose path has ended.
- A search ends after `_MOST` expansions with the longest path that it has seen, the cheapest of these. In a crowd there
  are thousands of paths that meet one agent less.
- Where no agent is met, the path is walked straight down the distances, without an open list.
- With a budget, cells of which the distance is not known yet are not entered.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import spend
from wend.kernel.arrays import flags, int32, record, uint8
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, GridTables
from wend.search.open_list import clear, drop_first, first, is_empty
from wend.search.preferences import is_fixed
from wend.search.reverse_resumable import distance, known_distance
from wend.search.space_time import CLOSED, begin_search, is_full, reach

_TURN = 4                           # ticks after which a guide path is searched anew
_MOST = 64                          # expansions of a search
_MEETING = CARDINAL_COST * 3 // 2
_PARKED = CARDINAL_COST

_NOBODY, _AT_HOME, _FIXED = range(3)

_STAY = 8       # of the nine things an agent can do
_BITS = 3       # that count the agents which come from one direction
_CROWD = 7      # agents that may come to a cell in one tick by their guide paths; so no count is ever too small


class Guidance(NamedTuple):
    """The guide paths of all agents."""

    step: Annotated[np.ndarray, uint8("agents", "steps")]           # directions, first move first, _STAY for a wait
    steps: Annotated[np.ndarray, int32("agents")]                   # how many there are,
    done: Annotated[np.ndarray, int32("agents")]                    # ... and how many were made
    at: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]        # where the agent is on its path
    traffic: Annotated[np.ndarray, int32("cells", "slots", used_by="is_used")]      # who comes, by tick: a count for
    is_used: Annotated[np.ndarray, flags("cells")]                  # ... each direction. Where this is False, nobody
    counts: Annotated[np.ndarray, record("found")]                  # guide paths so far


# --- traffic --------------------------------------------------------------------------------------------------------


@jit
def _slot(guidance, tick):
    """Where in the ring a tick is."""
    return tick & (guidance.traffic.shape[1] - 1)


@jit
def _enter(tables, guidance, agent, tick, change):
    """Count the steps that are left of an agent's guide path after a tick, or no longer. Mutates: guidance.traffic."""
    cell = np.int64(guidance.at[agent])
    for k in range(guidance.done[agent], guidance.steps[agent]):
        d, tick = np.int64(guidance.step[agent, k]), tick + 1
        if d != _STAY:
            cell += tables.offset[d]
        guidance.is_used[cell] = True
        guidance.traffic[cell, _slot(guidance, tick)] += change << _BITS * d


@jit
def _arrivals(guidance, cell, tick):
    """How many agents come to a cell in a tick by their guide paths."""
    coming, total = np.int64(guidance.traffic[cell, _slot(guidance, tick)]), np.int64(0)
    while coming > 0:
        total += coming & _CROWD
        coming >>= _BITS
    return total


@jit
def _arrivals_from(guidance, cell, tick, d):
    """The same of those that come in one direction."""
    return np.int64(guidance.traffic[cell, _slot(guidance, tick)]) >> _BITS * d & _CROWD


@jit
def drop_path(tables, guidance, agent, tick):
    """Take an agent's guide path away. Mutates: guidance."""
    _enter(tables, guidance, agent, tick, -1)
    guidance.steps[agent] = guidance.done[agent] = 0


@jit
def follow_paths(tables, guidance, agents, tick):
    """Note who has made the next step of its guide path; the others lose theirs. Once per tick. Mutates: guidance."""
    for agent in range(agents.cell.size):
        done = guidance.done[agent]
        if done == guidance.steps[agent]:
            continue
        d = np.int64(guidance.step[agent, done])
        if d != _STAY:
            guidance.at[agent] += tables.offset[d]
        guidance.traffic[guidance.at[agent], _slot(guidance, tick)] -= 1 << _BITS * d
        guidance.done[agent] = done + 1
        if guidance.at[agent] != agents.cell[agent]:
            drop_path(tables, guidance, agent, tick)


@jit
def next_on_path(tables, guidance, agent):
    """The next cell on an agent's guide path, NO_CELL if it has none."""
    done = guidance.done[agent]
    if done == guidance.steps[agent]:
        return np.int64(NO_CELL)
    d = np.int64(guidance.step[agent, done])
    return np.int64(guidance.at[agent]) + (tables.offset[d] if d != _STAY else 0)


def guided_cells(tables: GridTables, guidance: Guidance, agent: int) -> list[int]:
    """Where an agent is on its guide path, and the cells ahead, one per tick; empty if it has none."""
    cells = [int(guidance.at[agent])]
    for d in guidance.step[agent, guidance.done[agent] : guidance.steps[agent]].tolist():
        cells.append(cells[-1] + (int(tables.offset[d]) if d != _STAY else 0))
    return cells if len(cells) > 1 else []


# --- searches -------------------------------------------------------------------------------------------------------


@jit
def _far(scene, agent, cell):
    """The distance from a cell; with a budget as far as it is known, else OUT_OF_BUDGET. Mutates: scene.distances."""
    distances = scene.distances
    if scene.courses.counts[0].with_budget:
        return known_distance(distances.reverse, distances.search_of[agent], cell)
    return distance(scene.tables, distances.reverse, distances.search_of[agent], cell)


@jit
def _meetings(scene, here, there, d, tick):
    """How many agents one meets that goes in a direction, from here to there, where it is after a tick."""
    met = _arrivals(scene.guidance, there, tick)
    return met if d == _STAY else met + _arrivals_from(scene.guidance, here, tick, d ^ 2)


@jit
def _obstacle(scene, agent, cell):
    """Who stands on a cell, as far as a guide path has to mind: _NOBODY, _AT_HOME, or _FIXED, which is a wall to it."""
    other = scene.occupant[cell]
    if other == NO_AGENT or other == agent:
        return _NOBODY
    if is_fixed(scene.agents, other):
        return _FIXED
    return _AT_HOME if scene.agents.goal[other] == cell else _NOBODY


@jit
def _descend(scene, agent, tick):
    """Walk straight down the distances: FOUND, OUT_OF_BUDGET, or UNREACHABLE if an agent is in the way.

    Mutates: scene.work, scene.distances.
    """
    tables, work, goal = scene.tables, scene.work, scene.agents.goal[agent]
    cell, steps = np.int64(scene.agents.cell[agent]), 0
    h = _far(scene, agent, cell)
    work.cell[0], work.step[0], work.parent[0] = cell, 0, -1
    while steps < scene.guidance.step.shape[1] and cell != goal:
        is_found = False
        for k in range(8):
            d = k ^ 4                                       # diagonals go first
            if not tables.moves[cell] >> d & 1:
                continue
            there, far = cell + tables.offset[d], h - (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            if _far(scene, agent, there) != far or _obstacle(scene, agent, there) != _NOBODY:
                continue
            if _meetings(scene, cell, there, d, tick + steps + 1) == 0:
                is_found = True
                break
        if not is_found:
            return UNREACHABLE
        cell, h = there, far
        steps += 1
        work.cell[steps], work.step[steps], work.parent[steps] = cell, steps, steps - 1
    work.counts[0].last = steps
    return FOUND if spend(scene.distances.reverse.allowance, steps) else OUT_OF_BUDGET


@jit
def _find_path(scene, agent, tick):
    """Find a guide path, from where an agent is after a tick: FOUND, UNREACHABLE, OUT_OF_BUDGET or OUT_OF_SPACE.

    Mutates: scene.work, scene.distances.
    """
    tables, work, goal = scene.tables, scene.work, scene.agents.goal[agent]
    answer = _descend(scene, agent, tick)
    if answer != UNREACHABLE:
        return answer
    cells, start = tables.moves.size, np.int64(scene.agents.cell[agent])
    h = _far(scene, agent, start)
    if h < 0:
        return h
    begin_search(work)
    clear(work.open_list, h)
    reach(work, cells, start, 0, np.int64(0), h, np.int64(0), -1)
    expanded, longest = 0, np.int64(0)
    while not is_empty(work.open_list, work.mark, CLOSED):
        node = first(work.open_list) & 0xFFFFFFFF
        drop_first(work.open_list)
        if work.mark[node] == CLOSED:
            continue
        cell, step = np.int64(work.cell[node]), np.int64(work.step[node])
        if step > work.step[longest]:
            longest = np.int64(node)
        if cell == goal or step == scene.guidance.step.shape[1] or (expanded >= _MOST and work.step[longest] > 0):
            work.counts[0].last = node if cell == goal else longest
            return FOUND
        if not spend(scene.distances.reverse.allowance, 1):
            return OUT_OF_BUDGET
        if is_full(work):
            return OUT_OF_SPACE
        expanded += 1
        work.mark[node] = CLOSED
        for d in range(9):
            if d < 8 and not tables.moves[cell] >> d & 1:
                continue
            there = cell + tables.offset[d] if d < 8 else cell
            h = _far(scene, agent, there)
            if h == OUT_OF_SPACE:
                return OUT_OF_SPACE
            met = _meetings(scene, cell, there, d, tick + step + 1)
            obstacle = _obstacle(scene, agent, there)
            if h < 0 or met >= _CROWD or obstacle == _FIXED:
                continue
            cost = work.g[node] + (DIAGONAL_COST if 4 <= d < 8 else CARDINAL_COST)
            if met > 0:
                cost += _MEETING + met                      # among equals, fewer are better
            if obstacle == _AT_HOME:
                cost += _PARKED
            reach(work, cells, there, step + 1, cost, h, np.int64(0), node)
    return UNREACHABLE


@jit
def _take_path(scene, agent, tick):
    """Give an agent the guide path that was found. Mutates: scene.guidance."""
    guidance, work, tables = scene.guidance, scene.work, scene.tables
    node = work.counts[0].last
    guidance.steps[agent], guidance.done[agent] = work.step[node], 0
    guidance.at[agent] = scene.agents.cell[agent]
    while work.parent[node] != -1:
        before = work.parent[node]
        d = 0
        while d < _STAY and work.cell[before] + tables.offset[d] != work.cell[node]:
            d += 1
        guidance.step[agent, work.step[before]] = d
        node = before
    _enter(tables, guidance, agent, tick, 1)
    guidance.counts[0].found += 1


@jit
def guide_all(scene, order, tick):
    """Find guide paths for all agents that need one, in this order: 0, OUT_OF_BUDGET or OUT_OF_SPACE.

    It may be called again in the same tick, to go on. Mutates: scene.guidance, scene.distances.
    """
    guidance, agents = scene.guidance, scene.agents
    for agent in order:
        has_path, done = guidance.done[agent] < guidance.steps[agent], guidance.done[agent]
        if not scene.distances.is_exact[agent] or agents.cell[agent] == agents.goal[agent]:
            drop_path(scene.tables, guidance, agent, tick)
            continue
        if has_path and (done == 0 or (tick + agent) % _TURN != 0):
            continue                                        # `done` is 0 if it was found in this very tick
        drop_path(scene.tables, guidance, agent, tick)
        answer = _find_path(scene, agent, tick)
        if answer == FOUND:
            _take_path(scene, agent, tick)
        elif answer != UNREACHABLE:
            return answer
    return 0
