# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A* in space and time: states are (cell, step), other agents are what the reservation table says.

David Silver: Cooperative Pathfinding. AIIDE 2005, sections "Cooperative A*" and "Windowed Hierarchical Cooperative A*".

Two ways to end. A *window* search looks `steps` moves ahead and ends in the state after the last of them whose cost
plus distance to the goal is smallest (the paper's terminal edge); waiting on the goal is free. A *full* search ends on
the goal, at a time from which on nobody else has it; that time is known beforehand and bounds the cost from below.
Moving costs what it costs on the map, waiting elsewhere costs 1.

Order of expansion: smallest f, then smallest distance to the goal (which is largest g while the goal is free), then
first in, first out. A window search in which nobody is in the way therefore walks straight down the distances; it is
tried that way first (`_descend`), which takes no open list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, UNREACHABLE, jit
from wend.maps.grid import CARDINAL_COST, DIAGONAL_COST, empty_map_cost
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push
from wend.search.reservations import NEVER, free_from, may_move
from wend.search.reverse_resumable import NEEDS_ROOM, OUT_OF_BUDGET, distance, expand

# What `search` answers besides the two above
FOUND = 1
NO_PATH = 2
TOO_LARGE = 3       # more states than the workspace holds

_OPEN, _CLOSED = 0, 1


class SpaceTime(NamedTuple):
    """The workspace of one search at a time."""

    open_list: OpenList     # of node numbers
    cell: np.ndarray        # int32[nodes]
    step: np.ndarray        # int32[nodes]  moves made when it is reached
    g: np.ndarray           # int64[nodes]
    h: np.ndarray           # int64[nodes]
    parent: np.ndarray      # int32[nodes]  node before it
    mark: np.ndarray        # int32[nodes]  _OPEN or _CLOSED
    slot: np.ndarray        # int32[power of two]   node of a hashed (cell, step)
    stamp: np.ndarray       # int32[power of two]   search that the slot belongs to
    tally: np.ndarray       # int64[4]      nodes; number of the search; expansions of the last one; its last node


_NODES, _SERIAL, _EXPANDED, _LAST = 0, 1, 2, 3


class Manners(NamedTuple):
    """How a search treats others, and what it takes for the distance to the goal."""

    window: bool            # a window search, not a full one
    exact: bool             # distances by RRA*; otherwise as on an empty map
    no_follow: bool         # a reserved cell stays so while it is being left
    forbid_cross: bool      # not across the diagonal move of another
    soft_tail: int          # cost of a step onto the last planned cell of another, after its plan ends
    far: np.ndarray = np.empty((0, 0), np.int64)    # [rows, groups] distances on an abstraction; none: as `exact` says
    group: np.ndarray = np.empty(0, np.int32)       # [cells] group of each cell in that abstraction


def make_space_time(nodes: int) -> SpaceTime:
    """A workspace for searches of up to so many states."""
    slots = 1 << (2 * nodes - 1).bit_length()
    return SpaceTime(
        make_open_list(nodes + nodes // 8 + 8), np.empty(nodes, np.int32), np.empty(nodes, np.int32),
        np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int32), np.empty(nodes, np.int32),
        np.empty(slots, np.int32), np.zeros(slots, np.int32), np.zeros(4, np.int64),
    )  # fmt: skip


@jit
def _slot_of(work, cells, cell, step):
    """Where a state is, or may be put."""
    last = work.slot.size - 1
    key = (np.int64(step) * cells + cell) & 0x7FFFFFFF
    k = ((key * 0x9E3779B1) >> 7) & last
    while work.stamp[k] == work.tally[_SERIAL]:
        node = work.slot[k]
        if work.cell[node] == cell and work.step[node] == step:
            break
        k = (k + 1) & last
    return k


@jit
def _estimate(tables, reverse, search_of_goal, manners, cell, goal):
    """Cost from a cell to the goal as far as no agents are in the way, or one of the negative answers of RRA*."""
    if manners.exact and manners.far.size == 0:
        return distance(tables, reverse, search_of_goal, cell)
    if manners.far.size > 0:
        far = manners.far[search_of_goal, manners.group[cell]]
        if far != 0:                                # 0 is the goal's own group
            return far
    width = tables.width
    return empty_map_cost(tables, abs(cell % width - goal % width), abs(cell // width - goal // width))


@jit
def _is_tail(tails, agent, cell, time):
    """Whether the plan of another agent ended on that cell before that time."""
    owner = tails[0][cell]
    return owner != NO_AGENT and owner != agent and tails[1][owner] < time


@jit
def _descend(tables, table, tails, reverse, search_of_goal, work, manners, agent, start, time, goal, steps):
    """Walk straight down the distances; False if somebody is in the way. Mutates: work, reverse.

    This is the window search of an agent whom nobody hinders. While a step leads nearer to the goal by all that it
    costs, f does not rise and h falls, so that this step leads to the state that is expanded next. Among several such
    steps it is the one to the smallest h, which is a diagonal, and then the first.
    """
    cell, h = np.int64(start), distance(tables, reverse, search_of_goal, start)
    if h < 0 or steps >= work.cell.size:
        return False
    whole = h
    for step in range(steps):
        work.cell[step], work.step[step], work.parent[step] = cell, step, step - 1
        bits = tables.moves[cell]
        is_found = False
        for k in range(9):
            d = k ^ 4 if k < 8 else 8               # diagonals go first
            if (d < 8) == (cell == goal):           # wait on the goal, and nowhere else
                continue
            there, far = cell, h
            if d < 8:
                there += tables.offset[d]
                far -= CARDINAL_COST if d < 4 else DIAGONAL_COST
                if not bits >> d & 1 or distance(tables, reverse, search_of_goal, there) != far:
                    continue
            if manners.soft_tail > 0 and _is_tail(tails, agent, there, time + step + 1):
                continue
            if may_move(tables, table, cell, there, time + step, agent, manners.no_follow, manners.forbid_cross):
                is_found = True
                break
        if not is_found:
            return False
        cell, h = there, far
    if not expand(reverse, steps):
        return False
    work.cell[steps], work.step[steps], work.parent[steps] = cell, steps, steps - 1
    work.g[steps], work.h[steps] = whole - h, h
    work.tally[_LAST] = steps
    work.tally[_EXPANDED] = steps
    return True


@jit
def search(tables, table, tails, reverse, search_of_goal, work, manners, agent, start, time, goal, steps):
    """Find the best way of an agent that stands on `start` after tick `time`. Mutates: work, reverse.

    `search_of_goal` is the agent's search in `reverse`, or its row in `manners.far` if there is one. `tails` are
    (int32[cells] the agent whose plan ends there or NO_AGENT, int32[agents] when it ends). What may be expanded is what
    `reverse` still allows.
    """
    work.tally[_SERIAL] += 1
    work.tally[_NODES] = 0
    work.tally[_EXPANDED] = 0
    cells = tables.moves.size
    soonest = time if manners.window else free_from(table, goal, time, agent)
    if soonest == NEVER:
        return NO_PATH
    is_plain = manners.window and manners.exact and manners.far.size == 0
    if is_plain and _descend(
        tables, table, tails, reverse, search_of_goal, work, manners, agent, start, time, goal, steps
    ):
        return FOUND
    h = _estimate(tables, reverse, search_of_goal, manners, start, goal)
    if h < 0:
        return NO_PATH if h == UNREACHABLE else h
    least = np.int64(soonest - time) * CARDINAL_COST        # a tick costs 1 at least
    clear(work.open_list, max(h, least))
    _reach(work, cells, start, 0, np.int64(0), h, least, -1)
    while not is_empty(work.open_list, work.mark, _CLOSED):
        node = first(work.open_list) & 0xFFFFFFFF
        if work.mark[node] == _CLOSED:
            drop_first(work.open_list)
            continue
        cell, step = work.cell[node], work.step[node]
        at_end = step == steps
        if at_end if manners.window else cell == goal and time + step >= soonest:
            work.tally[_LAST] = node
            return FOUND
        if not expand(reverse, 1):
            return OUT_OF_BUDGET
        drop_first(work.open_list)
        work.mark[node] = _CLOSED
        work.tally[_EXPANDED] += 1
        if at_end:
            continue
        if work.tally[_NODES] + 9 > work.cell.size:
            return TOO_LARGE
        bits = tables.moves[cell]
        for d in range(9):                          # the ninth is to wait
            if d < 8 and not bits >> d & 1:
                continue
            there = cell + tables.offset[d] if d < 8 else cell
            if not may_move(tables, table, cell, there, time + step, agent, manners.no_follow, manners.forbid_cross):
                continue
            cost = work.g[node]
            if d < 8:
                cost += CARDINAL_COST if d < 4 else DIAGONAL_COST
            elif cell != goal or not manners.window:
                cost += CARDINAL_COST
            if manners.soft_tail > 0 and _is_tail(tails, agent, there, time + step + 1):
                cost += manners.soft_tail * CARDINAL_COST
            h = _estimate(tables, reverse, search_of_goal, manners, there, goal)
            if h == OUT_OF_BUDGET or h == NEEDS_ROOM:
                return h
            if h != UNREACHABLE:
                least = np.int64(soonest - time - step - 1) * CARDINAL_COST
                _reach(work, cells, there, step + 1, cost, h, least, node)
    return NO_PATH


@jit
def _reach(work, cells, cell, step, cost, h, least, parent):
    """Open a state, or improve it; from there it costs h by the distance, and `least` at the least. Mutates: work."""
    k = _slot_of(work, cells, cell, step)
    if work.stamp[k] != work.tally[_SERIAL]:
        node = work.tally[_NODES]
        work.tally[_NODES] = node + 1
        work.stamp[k] = work.tally[_SERIAL]
        work.slot[k] = node
        work.cell[node], work.step[node], work.mark[node] = cell, step, _OPEN
    else:
        node = np.int64(work.slot[k])
        if work.mark[node] == _CLOSED or cost >= work.g[node]:
            return
    work.g[node], work.h[node], work.parent[node] = cost, h, parent
    push(work.open_list, cost + max(h, least), h, node << 32 | node)


@jit
def expansions_of(work):
    """Nodes that the last search expanded."""
    return work.tally[_EXPANDED]


@jit
def length_of(work):
    """Steps of the way that the last search found."""
    return work.step[work.tally[_LAST]]


@jit
def write_cells(work, way):
    """Write the cells of the way found, the start included. Mutates: way."""
    node = work.tally[_LAST]
    while node != -1:
        way[work.step[node]] = work.cell[node]
        node = work.parent[node]
