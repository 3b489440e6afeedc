# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A* in space and time: states are (cell, step), other agents are what the reservation table says.

David Silver: Cooperative Pathfinding. AIIDE 2005, sections "Cooperative A*" and "Windowed Hierarchical Cooperative A*".

Two ways to end. A *window* search looks `steps` moves ahead and ends in the state after the last of them whose cost
plus distance to the goal is smallest (the paper's terminal edge); waiting on the goal is free. A *full* search ends on
the goal, at a time from which on no other agent has it; that time is known beforehand and bounds the cost from below.
Moving costs what it costs on the map, waiting elsewhere costs 1.

Order of expansion: smallest f, then smallest distance to the goal (which is largest g while the goal is free), then
first in, first out. A window search in which no agent is in the way therefore walks straight down the distances; it is
tried that way first (`_descend`), which takes no open list.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import FOUND, NO_AGENT, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import spend
from wend.kernel.arrays import allocate, int32, int64, record
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, GridTables, empty_map_cost
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push
from wend.search.reservations import NEVER, Reservations, free_from, may_move
from wend.search.reverse_resumable import Reverse, distance

_OPEN, CLOSED = 0, 1


class SpaceTime(NamedTuple):
    """The workspace of one search at a time."""

    open_list: OpenList                                 # of node numbers
    cell: Annotated[np.ndarray, int32("nodes")]
    step: Annotated[np.ndarray, int32("nodes")]         # moves made when it is reached
    g: Annotated[np.ndarray, int64("nodes")]
    h: Annotated[np.ndarray, int64("nodes")]
    parent: Annotated[np.ndarray, int32("nodes")]       # node before it
    mark: Annotated[np.ndarray, int32("nodes")]         # _OPEN or CLOSED
    slot: Annotated[np.ndarray, int32("slots")]         # node of a hashed (cell, step); slots are a power of two
    stamp: Annotated[np.ndarray, int32("slots")]        # search that the slot belongs to
    counts: Annotated[np.ndarray, record("nodes", "serial", "expanded", "last")]    # the last two: of the last search


class Manners(NamedTuple):
    """How a search treats other agents, and what it takes for the distance to the goal."""

    window: bool            # a window search, not a full one
    exact: bool             # distances by RRA*; otherwise as on an empty map
    no_follow: bool         # a reserved cell stays so while it is being left
    forbid_cross: bool      # not across the diagonal move of another
    soft_tail: int          # cost of a step onto the last planned cell of another, after its plan ends
    far: np.ndarray = np.empty((0, 0), np.int64)    # [rows, groups] distances on an abstraction; none: as `exact` says
    group: np.ndarray = np.empty(0, np.int32)       # [cells] group of each cell in that abstraction


class Tails(NamedTuple):
    """Where plans end."""

    owner: Annotated[np.ndarray, int32("cells", fill=NO_AGENT)]     # the agent whose plan ends on a cell, or NO_AGENT
    end: Annotated[np.ndarray, int32("agents")]                     # the tick after which its plan ends


class Scene(NamedTuple):
    """What a search looks at and works with. What may be expanded is what `reverse.allowance` still allows."""

    tables: GridTables
    table: Reservations
    tails: Tails
    reverse: Reverse
    work: SpaceTime
    manners: Manners


class Trip(NamedTuple):
    """What a search is to find: the best plan of an agent that stands on `start` after tick `time`."""

    agent: int
    start: int      # cell
    time: int       # tick
    goal: int       # cell
    aim: int        # the agent's search in `reverse`, or its row in `manners.far` if there is one
    steps: int      # how far it looks ahead


def states_within(steps: int, cells: int) -> int:
    """How many states a search of so many steps can reach at the most, on a map of so many cells."""
    return sum(min((2 * k + 1) ** 2, cells) for k in range(steps + 1)) + 16


def make_space_time(nodes: int) -> SpaceTime:
    """A workspace for searches of up to so many states."""
    slots = 1 << (2 * nodes - 1).bit_length()
    return allocate(SpaceTime, {"open_list": make_open_list(nodes + nodes // 8 + 8)}, nodes=nodes, slots=slots)


@jit
def make_trip(agent, start, time, goal, aim, steps):
    """A trip, in kernels: all of its numbers are int64, so that searches are compiled once."""
    return Trip(agent, start, time, goal, aim, steps)


@jit
def _slot_of(work, cells, cell, step):
    """Where a state is, or may be put."""
    last = work.slot.size - 1
    key = (np.int64(step) * cells + cell) & 0x7FFFFFFF
    k = ((key * 0x9E3779B1) >> 7) & last
    while work.stamp[k] == work.counts[0].serial:
        node = work.slot[k]
        if work.cell[node] == cell and work.step[node] == step:
            break
        k = (k + 1) & last
    return k


@jit
def _estimate(scene, trip, cell):
    """Cost from a cell to the goal as far as no agents are in the way, or one of the negative answers of RRA*."""
    manners = scene.manners
    if manners.exact and manners.far.size == 0:
        return distance(scene.tables, scene.reverse, trip.aim, cell)
    if manners.far.size > 0:
        far = manners.far[trip.aim, manners.group[cell]]
        if far != 0:                                # 0 is the goal's own group
            return far
    width, goal = scene.tables.width, trip.goal
    return empty_map_cost(scene.tables, abs(cell % width - goal % width), abs(cell // width - goal // width))


@jit
def _is_tail(tails, agent, cell, time):
    """Whether the plan of another agent ended on that cell before that time."""
    owner = tails.owner[cell]
    return owner != NO_AGENT and owner != agent and tails.end[owner] < time


@jit
def _descend(scene, trip):
    """Walk straight down the distances; False if another agent is in the way. Mutates: scene.work, scene.reverse.

    This is the window search of an agent that nobody hinders. While a step leads nearer to the goal by all that it
    costs, f does not rise and h falls, so that this step leads to the state that is expanded next. Among several such
    steps it is the one to the smallest h, which is a diagonal, and then the first.
    """
    tables, reverse, work, manners = scene.tables, scene.reverse, scene.work, scene.manners
    goal, steps = trip.goal, trip.steps
    cell, h = trip.start, distance(tables, reverse, trip.aim, trip.start)
    if h < 0 or steps >= work.cell.size:
        return False
    whole = h
    for step in range(steps):
        work.cell[step], work.step[step], work.parent[step] = cell, step, step - 1
        bits = tables.moves[cell]
        time = trip.time + step
        is_found = False
        for k in range(9):
            d = k ^ 4 if k < 8 else 8               # diagonals go first
            if (d < 8) == (cell == goal):           # wait on the goal, and nowhere else
                continue
            there, far = cell, h
            if d < 8:
                there += tables.offset[d]
                far -= CARDINAL_COST if d < 4 else DIAGONAL_COST
                if not bits >> d & 1 or distance(tables, reverse, trip.aim, there) != far:
                    continue
            if manners.soft_tail > 0 and _is_tail(scene.tails, trip.agent, there, time + 1):
                continue
            if may_move(tables, scene.table, cell, there, time, trip.agent, manners.no_follow, manners.forbid_cross):
                is_found = True
                break
        if not is_found:
            return False
        cell, h = there, far
    if not spend(reverse.allowance, steps):
        return False
    work.cell[steps], work.step[steps], work.parent[steps] = cell, steps, steps - 1
    work.g[steps], work.h[steps] = whole - h, h
    work.counts[0].last = steps
    work.counts[0].expanded = steps
    return True


@jit
def begin_search(work):
    """Forget the states of the last search. Mutates: work."""
    counts = work.counts[0]
    counts.serial += 1
    counts.nodes = 0
    counts.expanded = 0


@jit
def search(scene, trip):
    """Find the best plan for a trip; answer FOUND, UNREACHABLE, OUT_OF_BUDGET or OUT_OF_SPACE.

    Mutates: scene.work, scene.reverse.
    """
    tables, table, work, manners = scene.tables, scene.table, scene.work, scene.manners
    agent, time, goal, steps = trip.agent, trip.time, trip.goal, trip.steps
    counts = work.counts[0]
    begin_search(work)
    cells = tables.moves.size
    soonest = time if manners.window else free_from(table, goal, time, agent)
    if soonest == NEVER:
        return UNREACHABLE
    if manners.window and manners.exact and manners.far.size == 0 and _descend(scene, trip):
        return FOUND
    h = _estimate(scene, trip, trip.start)
    if h < 0:
        return h
    least = np.int64(soonest - time) * CARDINAL_COST        # a tick costs 1 at least
    clear(work.open_list, max(h, least))
    reach(work, cells, trip.start, 0, np.int64(0), h, least, -1)
    while not is_empty(work.open_list, work.mark, CLOSED):
        node = first(work.open_list) & 0xFFFFFFFF
        if work.mark[node] == CLOSED:
            drop_first(work.open_list)
            continue
        cell, step = work.cell[node], work.step[node]
        at_end = step == steps
        if at_end if manners.window else cell == goal and time + step >= soonest:
            counts.last = node
            return FOUND
        if not spend(scene.reverse.allowance, 1):
            return OUT_OF_BUDGET
        drop_first(work.open_list)
        work.mark[node] = CLOSED
        counts.expanded += 1
        if at_end:
            continue
        if is_full(work):
            return OUT_OF_SPACE
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
            if manners.soft_tail > 0 and _is_tail(scene.tails, agent, there, time + step + 1):
                cost += manners.soft_tail * CARDINAL_COST
            h = _estimate(scene, trip, there)
            if h == OUT_OF_BUDGET or h == OUT_OF_SPACE:
                return h
            if h != UNREACHABLE:
                least = np.int64(soonest - time - step - 1) * CARDINAL_COST
                reach(work, cells, there, step + 1, cost, h, least, node)
    return UNREACHABLE


@jit
def reach(work, cells, cell, step, cost, h, least, parent):
    """Open a state, or improve it; from there it costs h by the distance, and `least` at the least. Mutates: work."""
    counts = work.counts[0]
    k = _slot_of(work, cells, cell, step)
    if work.stamp[k] != counts.serial:
        node = counts.nodes
        counts.nodes = node + 1
        work.stamp[k] = counts.serial
        work.slot[k] = node
        work.cell[node], work.step[node], work.mark[node] = cell, step, _OPEN
    else:
        node = np.int64(work.slot[k])
        if work.mark[node] == CLOSED or cost >= work.g[node]:
            return
    work.g[node], work.h[node], work.parent[node] = cost, h, parent
    push(work.open_list, cost + max(h, least), h, node << 32 | node)


@jit
def is_full(work):
    """Whether the workspace has no space for the successors of one more node."""
    return work.counts[0].nodes + 9 > work.cell.size


@jit
def expansions_of(work):
    """Nodes that the last search expanded."""
    return work.counts[0].expanded


@jit
def length_of(work):
    """Steps of the plan that the last search found."""
    return work.step[work.counts[0].last]


@jit
def write_cells(work, cells):
    """Write the cells of the plan found, the start included. Mutates: cells."""
    node = work.counts[0].last
    while node != -1:
        cells[work.step[node]] = work.cell[node]
        node = work.parent[node]
