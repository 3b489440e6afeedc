# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Guide paths: where agents would go in the next ticks to be in the way of few others.

Arita, Okumura: Local Guidance for Configuration-Based Multi-Agent Pathfinding (AAAI 2026).

A guide path is some steps long. Of all such paths it costs least, with what is left to the goal after it, if a step
costs what it costs on the map, a wait 1, a meeting with the guide path of another agent 1 and a cell on which an
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

from wend.kernel import FOUND, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import spend
from wend.kernel.arrays import allocate, flags, int32, record, records, uint8, uint16
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, GridTables
from wend.search.preferences import is_fixed
from wend.search.reverse_resumable import distance, known_distance

_TURN = 4                           # ticks after which a guide path is searched anew
_MOST = 48                          # expansions of a search
_MEETING = CARDINAL_COST
_PARKED = CARDINAL_COST

_NOBODY, _AT_HOME, _FIXED = range(3)

_STAY = 8       # of the nine things an agent can do
_BITS = 3       # that count the agents which come from one direction
_CROWD = 7      # agents that may come to a cell in one tick by their guide paths; so no count is ever too small
_EVERY_OTHER, _ALL_PAIRS = 0o707070707, 0o101010101


_STEP_BITS, _STEPS = 6, 63              # of a state: the steps made when it is reached; a window has 60 at the most
_NODE_BITS, _NODES = 12, 4095           # of a rank: the node
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
    obstacle: Annotated[np.ndarray, uint8("cells", is_scratch=True)]    # who stands there, as far as a guide path minds
    counts: Annotated[np.ndarray, record("found")]                  # guide paths so far


class Trial(NamedTuple):
    """The workspace of one search at a time, and the heap of its open nodes.

    It is small, since a search expands few nodes: all of it stays in the processor's nearest cache.
    """

    heap: Annotated[
        np.ndarray,
        records("nodes",
            "f",        # smallest f first,
            "rank",     # ... then smallest (h - that of the start) << 12 | node
        ),
    ]
    node: Annotated[
        np.ndarray,
        records("nodes",
            "state",    # cell << 6 | steps made when it is reached
            "g",        # what the path there costs, or _CLOSED
            "h",        # what is left from there
            "parent",   # the node before it
            "came",     # the direction that leads there, or _STAY
        ),
    ]  # fmt: skip
    slot: Annotated[np.ndarray, uint16("slots")]        # 1 + node, by hashed state, or 0; slots are a power of two
    counts: Annotated[
        np.ndarray,
        record(
            "held",     # entries in the heap
            "nodes",
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
def _meetings(guidance, slot, coming, there, d):
    """How many agents one meets that goes in a direction to a cell, in the tick of a slot.

    `coming` is the traffic to where it is now: those that come from there exchange cells with it.
    """
    met = coming >> _BITS * (d ^ 2) & _CROWD if d != _STAY else np.int64(0)
    return met + _total(np.int64(guidance.traffic[there, slot]))


@jit
def _total(counts):
    """The sum of nine counts of _BITS each: first of pairs, then of all pairs, in the highest place of a product."""
    pairs = (counts & _EVERY_OTHER) + (counts >> _BITS & _EVERY_OTHER)
    return (pairs * _ALL_PAIRS) >> 8 * _BITS & 0o77


@jit
def drop_path(tables, guidance, agent, tick):
    """Take an agent's guide path away. Mutates: guidance."""
    _enter(tables, guidance, agent, tick, -1)
    guidance.steps[agent] = guidance.done[agent] = 0


@jit
def drop_paths(tables, guidance, agents, tick):
    """Take the guide paths of some agents away. Mutates: guidance."""
    for agent in agents:
        drop_path(tables, guidance, agent, tick)


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
def _mark_obstacles(guidance, agents):
    """Note who is _AT_HOME, and who is _FIXED, a wall to guide paths: of all others these see _NOBODY.

    Mutates: guidance.obstacle.
    """
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if cell == NO_CELL:
            continue
        if is_fixed(agents, agent):
            guidance.obstacle[cell] = _FIXED
        elif cell == agents.goal[agent]:
            guidance.obstacle[cell] = _AT_HOME


@jit
def _clear_obstacles(guidance, agents):
    """Forget them. Mutates: guidance.obstacle."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] != NO_CELL:
            guidance.obstacle[agents.cell[agent]] = _NOBODY


@jit
def _descend(scene, agent, tick):
    """Walk straight down the distances: FOUND, OUT_OF_BUDGET, or UNREACHABLE if an agent is in the way.

    Mutates: scene.trial, scene.distances.
    """
    tables, guidance, trial, goal = scene.tables, scene.guidance, scene.trial, scene.agents.goal[agent]
    cell, steps = np.int64(scene.agents.cell[agent]), np.int64(0)
    h = _far(scene, agent, cell)
    while steps < guidance.step.shape[1] and cell != goal:
        slot = _slot(guidance, tick + steps + 1)
        coming = np.int64(guidance.traffic[cell, slot])
        bits, is_found = tables.moves[cell], False
        there, far = cell, h
        for k in range(8):
            d = k ^ 4                                       # diagonals go first
            if not bits >> d & 1:
                continue
            there, far = cell + tables.offset[d], h - (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            if _far(scene, agent, there) != far or guidance.obstacle[there] != _NOBODY:
                continue
            if _meetings(guidance, slot, coming, there, d) == 0:
                is_found = True
                trial.node[steps + 1].came, trial.node[steps + 1].parent = d, steps
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
    heap, counts = trial.heap, trial.counts[0]
    k = counts.held
    counts.held = k + 1
    while k > 0:
        up = (k - 1) >> 1
        above = heap[up]
        if above.f < f or (above.f == f and above.rank < rank):
            break
        heap[k].f, heap[k].rank = above.f, above.rank
        k = up
    heap[k].f, heap[k].rank = f, rank


@jit
def _pop(trial):
    """Take the first node out of the heap, which is not empty, and return it. Mutates: trial."""
    heap, counts = trial.heap, trial.counts[0]
    node, size = heap[0].rank & _NODES, counts.held - 1
    counts.held = size
    f, rank = heap[size].f, heap[size].rank
    k, child = 0, 1
    while child < size:
        below, beside = heap[child], heap[child + 1]    # the last of these is the one that was taken from the end
        is_less = (beside.f < below.f) | ((beside.f == below.f) & (beside.rank < below.rank))
        child += int(is_less)                           # no branch, since no processor could foresee it
        below = heap[child]
        if f < below.f or (f == below.f and rank < below.rank):
            break
        heap[k].f, heap[k].rank = below.f, below.rank
        k, child = child, 2 * child + 1
    heap[k].f, heap[k].rank = f, rank
    return node


@jit
def _place_of(trial, state):
    """Where a state is among the slots, or may be put."""
    last = trial.slot.size - 1
    k = ((state * 0x9E3779B1) >> 12) & last
    while trial.slot[k] != 0 and trial.node[trial.slot[k] - 1].state != state:
        k = (k + 1) & last
    return k


@jit
def _open(trial, place, state, h, f, d, parent):
    """Make a node for a state that has none, at its place among the slots, and open it. Mutates: trial."""
    counts = trial.counts[0]
    number = counts.nodes
    counts.nodes = number + 1
    trial.slot[place] = number + 1
    node = trial.node[number]
    node.state, node.g, node.h, node.parent, node.came = state, f - h, h, parent, d
    _push(trial, f, (h - trial.node[0].h) << _NODE_BITS | number)


@jit
def _find_path(scene, agent, tick):
    """Find a guide path, from where an agent is after a tick: FOUND, UNREACHABLE, OUT_OF_BUDGET or OUT_OF_SPACE.

    Mutates: scene.trial, scene.distances.
    """
    tables, guidance, trial, goal = scene.tables, scene.guidance, scene.trial, scene.agents.goal[agent]
    window = guidance.step.shape[1]
    answer = _descend(scene, agent, tick)
    if answer != UNREACHABLE:
        return answer
    start = np.int64(scene.agents.cell[agent])
    h = _far(scene, agent, start)
    if h < 0:
        return h
    counts = trial.counts[0]
    trial.slot[:] = 0                                       # 4 kB: stamps would take four times as much
    counts.nodes = counts.held = 0
    _open(trial, _place_of(trial, start << _STEP_BITS), start << _STEP_BITS, h, h, _STAY, _NO_NODE)
    expanded, longest, most = 0, np.int64(0), np.int64(0)   # the longest path seen, and its steps
    while counts.held > 0:
        number = _pop(trial)
        node = trial.node[number]
        g = node.g
        if g == _CLOSED:
            continue
        cell, step = node.state >> _STEP_BITS, node.state & _STEPS
        if step > most:
            longest, most = number, step
        if cell == goal or step == window or (expanded >= _MOST and most > 0):
            counts.last, counts.steps = (number, step) if cell == goal else (longest, most)
            return FOUND
        if not spend(scene.distances.reverse.allowance, 1):
            return OUT_OF_BUDGET
        expanded += 1
        node.g = _CLOSED
        slot = _slot(guidance, tick + step + 1)
        bits, coming = np.int64(tables.moves[cell]) | 1 << _STAY, np.int64(guidance.traffic[cell, slot])
        for d in range(_STAY + 1):
            if not bits >> d & 1:
                continue
            there = cell + tables.offset[d] if d != _STAY else cell
            state = there << _STEP_BITS | (step + 1)
            cost = g + (DIAGONAL_COST if 4 <= d < 8 else CARDINAL_COST)
            place = _place_of(trial, state)
            other = np.int64(trial.slot[place]) - 1
            is_new, known = other < 0, trial.node[max(other, 0)]
            if is_new:
                h = _far(scene, agent, there) if d != _STAY else node.h
                if h == OUT_OF_SPACE:
                    return OUT_OF_SPACE
                if h < 0:
                    continue
            elif cost >= known.g:                           # closed, or no better even if it meets nobody
                continue
            met, obstacle = _meetings(guidance, slot, coming, there, d), guidance.obstacle[there]
            if met >= _CROWD or obstacle == _FIXED:
                continue
            if met > 0:
                cost += _MEETING + met                      # among equals, fewer are better
            if obstacle == _AT_HOME:
                cost += _PARKED
            if is_new:
                _open(trial, place, state, h, cost + h, d, number)
            elif cost < known.g:
                known.g, known.parent, known.came = cost, number, d
                _push(trial, cost + known.h, (known.h - trial.node[0].h) << _NODE_BITS | other)
    return UNREACHABLE


@jit
def _take_path(scene, agent, tick):
    """Give an agent the guide path that was found. Mutates: scene.guidance."""
    guidance, trial = scene.guidance, scene.trial
    number, steps = trial.counts[0].last, trial.counts[0].steps
    guidance.steps[agent], guidance.done[agent] = steps, 0
    guidance.at[agent] = scene.agents.cell[agent]
    for k in range(steps - 1, -1, -1):
        node = trial.node[number]
        guidance.step[agent, k] = node.came
        number = node.parent
    _enter(scene.tables, guidance, agent, tick, 1)
    guidance.counts[0].found += 1


@jit
def guide_all(scene, order, tick):
    """Find guide paths for all agents that need one, in this order: 0, OUT_OF_BUDGET or OUT_OF_SPACE.

    It may be called again in the same tick, to go on. Mutates: scene.guidance, scene.distances.
    """
    _mark_obstacles(scene.guidance, scene.agents)
    answer = _guide_each(scene, order, tick)
    _clear_obstacles(scene.guidance, scene.agents)
    return answer


@jit
def _guide_each(scene, order, tick):
    """The same while obstacles are marked. Mutates: scene.guidance, scene.distances."""
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
