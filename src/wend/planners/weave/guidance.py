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
from wend.kernel.arrays import allocate, flags, int32, int64, record, uint8
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, GridTables
from wend.search.preferences import is_fixed
from wend.search.reverse_resumable import distance, known_distance

_TURN = 4                           # ticks after which a guide path is searched anew
_MOST = 64                          # expansions of a search
_MEETING = CARDINAL_COST * 3 // 2
_PARKED = CARDINAL_COST

_NOBODY, _AT_HOME, _FIXED = range(3)

_STAY = 8       # of the nine things an agent can do
_BITS = 3       # that count the agents which come from one direction
_CROWD = 7      # agents that may come to a cell in one tick by their guide paths; so no count is ever too small


_STEP_BITS, _STEPS = 6, 63              # of a state: the steps made when it is reached; a window has 60 at the most
_NODE_BITS, _NODES = 12, 4095           # of a slot: the node
_CLOSED = -1                            # in place of a node's cost: it was expanded
_NO_NODE = -1


class Guidance(NamedTuple):
    """The guide paths of all agents."""

    step: Annotated[np.ndarray, uint8("agents", "steps")]           # directions, first move first, _STAY for a wait
    steps: Annotated[np.ndarray, int32("agents")]                   # how many there are,
    done: Annotated[np.ndarray, int32("agents")]                    # ... and how many were made
    at: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]        # where the agent is on its path
    traffic: Annotated[np.ndarray, int32("cells", "slots", used_by="is_used")]      # who comes, by tick: a count for
    is_used: Annotated[np.ndarray, flags("cells")]                  # ... each direction. Where this is False, nobody
    counts: Annotated[np.ndarray, record("found")]                  # guide paths so far


class Trial(NamedTuple):
    """The workspace of one search at a time, and the heap of its open nodes.

    It is small, since a search expands few nodes: all of it stays in the processor's nearest cache.
    """

    f: Annotated[np.ndarray, int64("nodes")]            # the heap: smallest f first,
    rank: Annotated[np.ndarray, int64("nodes")]         # ... then smallest (h - that of the start) << 12 | node
    state: Annotated[np.ndarray, int64("nodes")]        # cell << 6 | steps made when it is reached
    g: Annotated[np.ndarray, int64("nodes")]            # what the path there costs, or _CLOSED
    h: Annotated[np.ndarray, int64("nodes")]            # what is left from there
    parent: Annotated[np.ndarray, int32("nodes")]       # the node before it
    came: Annotated[np.ndarray, uint8("nodes")]         # the direction that leads there, or _STAY
    slot: Annotated[np.ndarray, int64("slots")]         # search << 12 | node, by hashed state; slots are a power of two
    counts: Annotated[
        np.ndarray,
        record(
            "held",     # entries in the heap
            "nodes",
            "serial",   # number of the search
            "last",     # the node at which the path found ends,
            "steps",    # ... and how many steps it has
        ),
    ]


def make_trial() -> Trial:
    """A workspace for searches of up to _MOST expansions."""
    return allocate(Trial, nodes=9 * _MOST + 1, slots=2048)


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

    Mutates: scene.trial, scene.distances.
    """
    tables, trial, goal, window = scene.tables, scene.trial, scene.agents.goal[agent], scene.guidance.step.shape[1]
    cell, steps = np.int64(scene.agents.cell[agent]), np.int64(0)
    h = _far(scene, agent, cell)
    while steps < window and cell != goal:
        bits, is_found = tables.moves[cell], False
        there, far = cell, h
        for k in range(8):
            d = k ^ 4                                       # diagonals go first
            if not bits >> d & 1:
                continue
            there, far = cell + tables.offset[d], h - (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            if _far(scene, agent, there) != far or _obstacle(scene, agent, there) != _NOBODY:
                continue
            if _meetings(scene, cell, there, d, tick + steps + 1) == 0:
                is_found = True
                trial.came[steps + 1], trial.parent[steps + 1] = d, steps
                break
        if not is_found:
            return UNREACHABLE
        cell, h = there, far
        steps += 1
    trial.counts[0].last, trial.counts[0].steps = steps, steps
    return FOUND if spend(scene.distances.reverse.allowance, steps) else OUT_OF_BUDGET


@jit
def _push(trial, f, rank):
    """Put a node into the heap. Mutates: trial."""
    fs, ranks, counts = trial.f, trial.rank, trial.counts[0]
    k = counts.held
    counts.held = k + 1
    while k > 0:
        up = (k - 1) >> 1
        if fs[up] < f or (fs[up] == f and ranks[up] < rank):
            break
        fs[k], ranks[k] = fs[up], ranks[up]
        k = up
    fs[k], ranks[k] = f, rank


@jit
def _pop(trial):
    """Take the first node out of the heap, which is not empty, and return it. Mutates: trial."""
    fs, ranks, counts = trial.f, trial.rank, trial.counts[0]
    node, size = ranks[0] & _NODES, counts.held - 1
    counts.held = size
    f, rank = fs[size], ranks[size]
    k, child = 0, 1
    while child < size:
        beside = child + 1
        if beside < size and (fs[beside] < fs[child] or (fs[beside] == fs[child] and ranks[beside] < ranks[child])):
            child = beside
        if f < fs[child] or (f == fs[child] and rank < ranks[child]):
            break
        fs[k], ranks[k] = fs[child], ranks[child]
        k, child = child, 2 * child + 1
    fs[k], ranks[k] = f, rank
    return node


@jit
def _place_of(trial, state):
    """Where a state is among the slots, or may be put."""
    last = trial.slot.size - 1
    k = ((state * 0x9E3779B1) >> 12) & last
    while trial.slot[k] >> _NODE_BITS == trial.counts[0].serial:
        if trial.state[trial.slot[k] & _NODES] == state:
            break
        k = (k + 1) & last
    return k


@jit
def _open(trial, place, state, h, f, d, parent):
    """Make a node for a state that has none, at its place among the slots, and open it. Mutates: trial."""
    counts = trial.counts[0]
    node = counts.nodes
    counts.nodes = node + 1
    trial.slot[place] = counts.serial << _NODE_BITS | node
    trial.state[node], trial.h[node] = state, h
    trial.g[node], trial.came[node], trial.parent[node] = f - h, d, parent
    _push(trial, f, (h - trial.h[0]) << _NODE_BITS | node)


@jit
def _find_path(scene, agent, tick):
    """Find a guide path, from where an agent is after a tick: FOUND, UNREACHABLE, OUT_OF_BUDGET or OUT_OF_SPACE.

    Mutates: scene.trial, scene.distances.
    """
    tables, trial, goal, window = scene.tables, scene.trial, scene.agents.goal[agent], scene.guidance.step.shape[1]
    answer = _descend(scene, agent, tick)
    if answer != UNREACHABLE:
        return answer
    start = np.int64(scene.agents.cell[agent])
    h = _far(scene, agent, start)
    if h < 0:
        return h
    counts = trial.counts[0]
    counts.serial += 1
    counts.nodes = counts.held = 0
    _open(trial, _place_of(trial, start << _STEP_BITS), start << _STEP_BITS, h, h, _STAY, _NO_NODE)
    expanded, longest, most = 0, np.int64(0), np.int64(0)   # the longest path seen, and its steps
    directions = 4 if tables.minor == CARDINAL_COST else 8
    while counts.held > 0:
        node = _pop(trial)
        g = trial.g[node]
        if g == _CLOSED:
            continue
        cell, step = trial.state[node] >> _STEP_BITS, trial.state[node] & _STEPS
        if step > most:
            longest, most = node, step
        if cell == goal or step == window or (expanded >= _MOST and most > 0):
            counts.last, counts.steps = (node, step) if cell == goal else (longest, most)
            return FOUND
        if not spend(scene.distances.reverse.allowance, 1):
            return OUT_OF_BUDGET
        expanded += 1
        trial.g[node] = _CLOSED
        bits = tables.moves[cell]
        for k in range(directions + 1):
            d = k if k < directions else _STAY
            if d < 8 and not bits >> d & 1:
                continue
            there = cell + tables.offset[d] if d < 8 else cell
            state = there << _STEP_BITS | (step + 1)
            cost = g + (DIAGONAL_COST if 4 <= d < 8 else CARDINAL_COST)
            place = _place_of(trial, state)
            is_new, other = trial.slot[place] >> _NODE_BITS != counts.serial, trial.slot[place] & _NODES
            if is_new:
                h = _far(scene, agent, there) if d < 8 else trial.h[node]
                if h == OUT_OF_SPACE:
                    return OUT_OF_SPACE
                if h < 0:
                    continue
            elif cost >= trial.g[other]:                    # closed, or no better even if it meets nobody
                continue
            met, obstacle = _meetings(scene, cell, there, d, tick + step + 1), _obstacle(scene, agent, there)
            if met >= _CROWD or obstacle == _FIXED:
                continue
            if met > 0:
                cost += _MEETING + met                      # among equals, fewer are better
            if obstacle == _AT_HOME:
                cost += _PARKED
            if is_new:
                _open(trial, place, state, h, cost + h, d, node)
            elif cost < trial.g[other]:
                trial.g[other], trial.came[other], trial.parent[other] = cost, d, node
                _push(trial, cost + trial.h[other], (trial.h[other] - trial.h[0]) << _NODE_BITS | other)
    return UNREACHABLE


@jit
def _take_path(scene, agent, tick):
    """Give an agent the guide path that was found. Mutates: scene.guidance."""
    guidance, trial = scene.guidance, scene.trial
    node, steps = trial.counts[0].last, trial.counts[0].steps
    guidance.steps[agent], guidance.done[agent] = steps, 0
    guidance.at[agent] = scene.agents.cell[agent]
    for k in range(steps - 1, -1, -1):
        guidance.step[agent, k] = trial.came[node]
        node = np.int64(trial.parent[node])
    _enter(scene.tables, guidance, agent, tick, 1)
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
