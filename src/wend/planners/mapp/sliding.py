# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""MAPP's moves: progression steps that bring units to their targets. What comes between them: repositioning.py.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), sections 5.3 and 7.

A unit goes along its path pi wherever the next cell is blank. Where it is not, a blank is fetched: the units on the
alternate path around the unit, from the next cell to the nearest blank, move up by one each, as tiles in a sliding
puzzle do. Units of lower priority never enter the private zone of one of higher priority: where it stands and the cell
behind it. When nobody can move any more, the step is over.

    paper                                        here
    progression step (Alg. 2, 4)                 begin_step, progress
    canBringBlank (Alg. 3)                       _find_segment, _find_way_ahead
    private zone, buffer zone                    _is_held, _is_reserved
    solved (Def. 15)                             _settle

    l_i, L     the cells of a unit's path, its last index      beta, kappa, tau   buffer zone, blanks in it, and needed
    rank       priority, 0 = the master unit                   level              see level_of

Deviations and open points
- Order: slidable units that are not home, by topological order, fewest cells left first; then the other units; then
  those at home; then those without a path. Ties by index. (The paper suggests "closer to target".)
- A unit is solved when all that go before it are, and no other active unit stood on its target in this step: such a
  one must undo its moves through it. The paper asks for the first half only.
- Ours, on request: with `inline_return` units walk back where they were pushed from during the step; then a global
  state may be repeated within a step, which still ends.
- Ours, on request: a unit that has no blank ahead at first may wait for its usher (slidable.py), the unit that stands
  there and goes before it. As long as the usher has not left, the unit counts as well positioned.
- In a tunnel the blank is fetched through what is left of the path and the buffer zone, by breadth-first search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.planners.mapp.alternates import MISSING
from wend.planners.mapp.slidable import Plans

# What a step answers
DONE = 0
ROOM_NEEDED = 1     # in the log: make room and call again

_OFF = -1           # index of a unit that is not on its path
_FAR = 2**30


class Crowd(NamedTuple):
    """All units of one round."""

    cell: np.ndarray        # int32[units]   pos(u)
    goal: np.ndarray        # int32[units]   t_u, NO_CELL if the unit has none of its own
    along: np.ndarray       # int32[units]   i where pos(u) = l_i, _OFF if it is on no cell of pi(u)
    slidable: np.ndarray    # bool[units]    goes before those that are not
    solved: np.ndarray      # bool[units]
    waits: np.ndarray       # int32[units]   unsolved u with u << this unit
    kappa: np.ndarray       # int32[units]   blanks in beta
    rank: np.ndarray        # int32[units]   place in the order of this step
    order: np.ndarray       # int32[units]   active units, highest priority first
    level: np.ndarray       # int8[units]    at the start of the step
    origin: np.ndarray      # int32[units]   pos(u) at the start of the step
    second: np.ndarray      # int32[units]   the cell ahead at the start of the step, or NO_CELL
    pushed: np.ndarray      # int32[units]   the last push in this step that the unit has not walked back, -1 if none
    behind: np.ndarray      # int32[units]   l_{i-1} if it is part of the private zone, else NO_CELL
    behind_next: np.ndarray # int32[units]   next unit with the same cell behind
    behind_first: np.ndarray    # int32[cells]  first unit with this cell behind
    known_cell: np.ndarray  # int32[total]   the cells of each path in ascending order, and ...
    known_index: np.ndarray # int32[total]   ... their indices
    visited: np.ndarray     # int32[total]   the last step in which the unit was on this cell of its path
    occupant: np.ndarray    # int32[cells]
    target_of: np.ndarray   # int32[cells]   the unit whose target it is
    guest_first: np.ndarray # int32[cells]   of targets: the last one to stand there in this step but its owner
    segment: np.ndarray     # int32[cells]   cells from l_{i+1} to the blank
    came: np.ndarray        # int32[cells]   scratch of the search in tunnels: where from
    region: np.ndarray      # int32[cells]   ... where it may go
    queue: np.ndarray       # int32[cells]   ... its queue
    heap: np.ndarray        # int64[units]   scratch of the ordering
    tally: np.ndarray       # int64[12]      see below


class Log(NamedTuple):
    """All moves made, in their order."""

    unit: np.ndarray        # int32[room]
    source: np.ndarray      # int32[room]
    to: np.ndarray          # int32[room]
    earlier: np.ndarray     # int32[room]   of a push: the unit's push before, -1 if there is none; in repositioning: of
                            #               every move of the step, the unit's move before
    guest: np.ndarray       # int32[guests] entries of the lists in Crowd.guest_first: the unit, and ...
    guest_next: np.ndarray  # int32[guests] ... the next entry


# Crowd.tally holds
MOVES = 0           # entries in the log
STEP = 1            # number of this progression step
STEP_BEGAN = 2      # moves when it began
STEP_ENDED = 3      # moves when it ended
ACTIVE = 4          # units in `order`
CURSOR = 5          # place in the order that has its turn
CHANGED = 6         # whether somebody moved in this pass
TIGHT = 7           # active units that can spare no blank in their buffer
GUESTS = 8          # entries in the lists of guests
SOLVED = 9          # units solved so far
PUSHES = 10         # moves of units that were pushed
REGION = 11         # stamp of the last search in a tunnel


def make_crowd(plans: Plans, cells: int, starts: NDArray[np.int32], goals: NDArray[np.int32]) -> Crowd:
    """Set everybody up where it starts."""
    paths, units = plans.paths, starts.size
    unit_of = np.repeat(np.arange(units), np.diff(paths.begin))
    order = np.lexsort((paths.cell, unit_of))
    index_of = np.arange(paths.cell.size) - np.repeat(paths.begin[:-1], np.diff(paths.begin))
    target_of = np.full(cells, NO_AGENT, np.int32)
    aimed = np.flatnonzero(goals != NO_CELL)
    target_of[goals[aimed]] = aimed
    occupant = np.full(cells, NO_AGENT, np.int32)
    occupant[starts] = np.arange(units)
    tally = np.zeros(12, np.int64)
    tally[TIGHT] = np.count_nonzero((paths.tau > 0) & (plans.kappa <= paths.tau))

    def per_unit(value: int = 0) -> NDArray[np.int32]:
        return np.full(units, value, np.int32)

    def per_cell(value: int = 0) -> NDArray[np.int32]:
        return np.full(cells, value, np.int32)

    return Crowd(
        cell=starts.copy(), goal=goals, along=np.where(np.diff(paths.begin) > 0, 0, _OFF).astype(np.int32),
        slidable=plans.slidable & (np.diff(paths.begin) > 0), solved=np.zeros(units, np.bool_),
        waits=np.bincount(paths.follower, minlength=units).astype(np.int32), kappa=plans.kappa.copy(),
        rank=per_unit(), order=per_unit(), level=np.zeros(units, np.int8), origin=per_unit(), second=per_unit(),
        pushed=per_unit(), behind=per_unit(NO_CELL), behind_next=per_unit(NO_AGENT), behind_first=per_cell(NO_AGENT),
        known_cell=paths.cell[order], known_index=index_of[order].astype(np.int32),
        visited=np.zeros(paths.cell.size, np.int32), occupant=occupant, target_of=target_of,
        guest_first=per_cell(-1), segment=per_cell(), came=per_cell(), region=per_cell(), queue=per_cell(),
        heap=np.empty(units, np.int64), tally=tally,
    )  # fmt: skip


def make_log(cells: int, units: int) -> Log:
    """A log for the first moves of so many units on so many cells."""
    guests = 2 * cells + units
    return Log(
        np.empty(2 * cells, np.int32), np.empty(2 * cells, np.int32), np.empty(2 * cells, np.int32),
        np.empty(2 * cells, np.int32), np.empty(guests, np.int32), np.empty(guests, np.int32),
    )  # fmt: skip


def longer(log: Log, moves: int = 0, guests: int = 0) -> Log:
    """A log for so many moves and guests that begins with the entries of this one."""
    return Log(*(_padded(old, moves) for old in log[:4]), *(_padded(old, guests) for old in log[4:]))


def _padded(old: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    return old if size <= old.size else np.concatenate([old, np.empty(size - old.size, np.int32)])


# --- where units are, and what is theirs ------------------------------------------------------------------------------


@jit
def last_index(paths, u):
    """L, or -1 if the unit has no path."""
    return paths.begin[u + 1] - paths.begin[u] - 1


@jit
def index_of(paths, crowd, u, cell):
    """i with l_i = cell, or _OFF."""
    low, high = paths.begin[u], paths.begin[u + 1]
    while low < high:
        middle = (low + high) // 2
        if crowd.known_cell[middle] < cell:
            low = middle + 1
        else:
            high = middle
    if low < paths.begin[u + 1] and crowd.known_cell[low] == cell:
        return crowd.known_index[low]
    return _OFF


@jit
def _set_behind(crowd, u, cell):
    """Change the cell behind a unit. Mutates: crowd."""
    old = crowd.behind[u]
    if old == cell:
        return
    if old != NO_CELL:
        if crowd.behind_first[old] == u:
            crowd.behind_first[old] = crowd.behind_next[u]
        else:
            v = crowd.behind_first[old]
            while crowd.behind_next[v] != u:
                v = crowd.behind_next[v]
            crowd.behind_next[v] = crowd.behind_next[u]
    crowd.behind[u] = cell
    if cell != NO_CELL:
        crowd.behind_next[u] = crowd.behind_first[cell]
        crowd.behind_first[cell] = u


@jit
def refill(paths, crowd, cell, blanks):
    """A cell became blank (+1) or occupied (-1): tell those who have it in their buffer. Mutates: crowd."""
    for k in range(paths.zone[cell], paths.zone[cell + 1]):
        u = paths.owner[k]
        was_tight = crowd.kappa[u] <= paths.tau[u]
        crowd.kappa[u] += blanks
        if not crowd.solved[u]:
            crowd.tally[TIGHT] += int(crowd.kappa[u] <= paths.tau[u]) - int(was_tight)


@jit
def _welcome(crowd, log, cell, u):
    """Note that a unit stands on a cell, if it is somebody else's target. Mutates: crowd, log."""
    owner = crowd.target_of[cell]
    if owner != NO_AGENT and owner != u:
        k = crowd.tally[GUESTS]
        crowd.tally[GUESTS] = k + 1
        log.guest[k] = u
        log.guest_next[k] = crowd.guest_first[cell]
        crowd.guest_first[cell] = k


@jit
def move(paths, crowd, log, u, to):
    """Move a unit to a blank cell. Mutates: crowd, log."""
    source = crowd.cell[u]
    k = crowd.tally[MOVES]
    crowd.tally[MOVES] = k + 1
    log.unit[k], log.source[k], log.to[k] = u, source, to
    crowd.occupant[source] = NO_AGENT
    crowd.occupant[to] = u
    crowd.cell[u] = to
    i = index_of(paths, crowd, u, to)
    crowd.along[u] = i
    if i != _OFF:
        crowd.visited[paths.begin[u] + i] = crowd.tally[STEP]
    interior = 0 < i < last_index(paths, u)
    _set_behind(crowd, u, paths.cell[paths.begin[u] + i - 1] if interior else NO_CELL)
    refill(paths, crowd, source, 1)
    refill(paths, crowd, to, -1)


@jit
def _is_held(crowd, cell, rank):
    """Whether a cell is in the private zone of a unit of higher priority, or under a solved one."""
    v = crowd.occupant[cell]
    if v != NO_AGENT and (crowd.solved[v] or crowd.rank[v] < rank):
        return True
    v = crowd.behind_first[cell]
    while v != NO_AGENT:
        if crowd.rank[v] < rank:
            return True
        v = crowd.behind_next[v]
    return False


@jit
def _is_reserved(paths, crowd, cell, rank):
    """Whether a cell is in the buffer of a unit of higher priority that has no blank to spare (Alg. 4, l. 7)."""
    if crowd.tally[TIGHT] == 0:
        return False
    for k in range(paths.zone[cell], paths.zone[cell + 1]):
        v = paths.owner[k]
        if not crowd.solved[v] and crowd.rank[v] < rank and crowd.kappa[v] <= paths.tau[v]:
            return True
    return False


@jit
def cell_ahead(paths, u, i):
    """l_{i+1}, or NO_CELL."""
    return paths.cell[paths.begin[u] + i + 1] if i != _OFF and i < last_index(paths, u) else NO_CELL


@jit
def rate(paths, crowd, u, i, is_open_ahead):
    """How well a unit is positioned: 2 = home or with a blank ahead (Def. 2, 23), 1 = on its path, 0 = off it."""
    if i == _OFF:
        return 0
    advances = is_open_ahead and crowd.kappa[u] >= paths.tau[u]
    return 2 if advances or i == last_index(paths, u) else 1


@jit
def level_of(paths, crowd, u):
    """How well a unit is positioned now."""
    i = crowd.along[u]
    ahead = cell_ahead(paths, u, i)
    is_open = ahead != NO_CELL and crowd.occupant[ahead] == NO_AGENT
    if i == 0 and paths.usher[u] != NO_AGENT:
        is_open = is_open or crowd.occupant[ahead] == paths.usher[u]
    return rate(paths, crowd, u, i, is_open)


@jit
def is_well_positioned(paths, crowd, u):
    """Whether a unit is no worse off than before the step."""
    if last_index(paths, u) < 0:
        return crowd.cell[u] == crowd.origin[u]
    return level_of(paths, crowd, u) >= crowd.level[u]


# --- solved units -----------------------------------------------------------------------------------------------------


@jit
def _has_guest(crowd, log, v):
    """Whether another active unit stood on the target of v in this step."""
    k = crowd.guest_first[crowd.goal[v]]
    while k != -1:
        if not crowd.solved[log.guest[k]]:
            return True
        k = log.guest_next[k]
    return False


@jit
def _settle(paths, crowd, log):
    """Mark as solved whoever is home and may be (Def. 15), and whoever may be then. Mutates: crowd."""
    settled = True
    while settled:
        settled = False
        for v in range(crowd.cell.size):
            if crowd.solved[v] or crowd.cell[v] != crowd.goal[v] or crowd.waits[v] > 0 or _has_guest(crowd, log, v):
                continue
            settled = True
            crowd.solved[v] = True
            crowd.tally[SOLVED] += 1
            crowd.tally[TIGHT] -= paths.tau[v] > 0 and crowd.kappa[v] <= paths.tau[v]
            _set_behind(crowd, v, NO_CELL)
            for k in range(paths.after[v], paths.after[v + 1]):
                crowd.waits[paths.follower[k]] -= 1


# --- the order of a step ----------------------------------------------------------------------------------------------


@jit
def _heap_push(heap, size, key):
    """Add a key to a heap of `size` keys. Mutates: heap."""
    k = size
    while k > 0 and heap[(k - 1) >> 1] > key:
        heap[k] = heap[(k - 1) >> 1]
        k = (k - 1) >> 1
    heap[k] = key


@jit
def _heap_drop_first(heap, size):
    """Take the first of `size` keys out. Mutates: heap."""
    key = heap[size - 1]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = key


@jit
def _key(paths, crowd, u):
    """Fewest cells left first, then the lowest index."""
    left = last_index(paths, u) - crowd.along[u] if crowd.along[u] != _OFF else _FAR
    return np.int64(left) << 32 | u


@jit
def _append_from_heap(crowd, size, count):
    """Put `size` keyed units into the order, which has `count`; return how many it has then. Mutates: crowd."""
    while size > 0:
        crowd.order[count] = crowd.heap[0] & 0xFFFFFFFF
        count += 1
        _heap_drop_first(crowd.heap, size)
        size -= 1
    return count


@jit
def _put_in_order(paths, crowd):
    """Order the active units. Mutates: crowd."""
    units = crowd.cell.size
    waiting = crowd.rank                # for a moment: active slidable units that go before this one
    waiting[:] = 0
    for u in range(units):
        if crowd.slidable[u] and not crowd.solved[u]:
            for k in range(paths.after[u], paths.after[u + 1]):
                waiting[paths.follower[k]] += 1
    size = 0
    for u in range(units):
        if crowd.slidable[u] and not crowd.solved[u] and waiting[u] == 0:
            _heap_push(crowd.heap, size, _key(paths, crowd, u))
            size += 1
    count = 0
    while size > 0:                     # (i) slidable, not home: Kahn's topological order
        u = crowd.heap[0] & 0xFFFFFFFF
        _heap_drop_first(crowd.heap, size)
        size -= 1
        if crowd.cell[u] != crowd.goal[u]:
            crowd.order[count] = u
            count += 1
        for k in range(paths.after[u], paths.after[u + 1]):
            v = paths.follower[k]
            waiting[v] -= 1
            if waiting[v] == 0 and crowd.slidable[v] and not crowd.solved[v]:
                _heap_push(crowd.heap, size, _key(paths, crowd, v))
                size += 1
    for kind in range(3):               # (ii) others, not home; (iii) home; then those without a path
        size = 0
        for u in range(units):
            if crowd.solved[u]:
                continue
            home = crowd.cell[u] == crowd.goal[u]
            pathless = last_index(paths, u) < 0
            if (
                (kind == 0 and not home and not pathless and not crowd.slidable[u])
                or (kind == 1 and home and not pathless)
                or (kind == 2 and pathless)
            ):
                _heap_push(crowd.heap, size, _key(paths, crowd, u))
                size += 1
        count = _append_from_heap(crowd, size, count)
    crowd.tally[ACTIVE] = count
    for place in range(count):
        crowd.rank[crowd.order[place]] = place


@jit
def promote(paths, crowd):
    """Let units go before others that meet the conditions only now: they are on their path and well positioned, and
    those that go before them are solved. Mutates: crowd."""
    for u in range(crowd.cell.size):
        if not crowd.solved[u] and not crowd.slidable[u] and crowd.waits[u] == 0 and level_of(paths, crowd, u) == 2:
            crowd.slidable[u] = True


# --- progression ------------------------------------------------------------------------------------------------------


@jit
def begin_step(paths, crowd, log):
    """Begin a progression step: who is solved, who goes first, where everybody stands. Mutates: crowd, log."""
    tally = crowd.tally
    tally[STEP] += 1
    tally[STEP_BEGAN] = tally[MOVES]
    tally[STEP_ENDED] = tally[MOVES]
    tally[GUESTS] = 0
    tally[CURSOR] = 0
    tally[CHANGED] = 0
    for u in range(crowd.cell.size):
        if crowd.goal[u] != NO_CELL:
            crowd.guest_first[crowd.goal[u]] = -1
    for u in range(crowd.cell.size):
        if not crowd.solved[u]:
            _welcome(crowd, log, crowd.cell[u], u)
    _settle(paths, crowd, log)
    _put_in_order(paths, crowd)
    for place in range(tally[ACTIVE]):
        u = crowd.order[place]
        crowd.pushed[u] = -1
        crowd.origin[u] = crowd.cell[u]
        crowd.level[u] = level_of(paths, crowd, u)
        crowd.second[u] = cell_ahead(paths, u, crowd.along[u])
        if crowd.along[u] != _OFF:
            crowd.visited[paths.begin[u] + crowd.along[u]] = tally[STEP]


@jit
def _find_segment(paths, alternate_begin, alternate_cells, crowd, u):
    """Write the cells of Omega_i from l_{i+1} to the nearest blank; return their number, 0 if the blank may not be
    fetched (Alg. 3). Mutates: crowd."""
    at = paths.begin[u] + crowd.along[u]
    k = paths.around[at]
    first, last = alternate_begin[k], alternate_begin[k + 1] - 1
    backwards = alternate_cells[last] == paths.cell[at + 1]
    for j in range(last - first + 1):
        cell = alternate_cells[last - j if backwards else first + j]
        if _is_held(crowd, cell, crowd.rank[u]) or _is_reserved(paths, crowd, cell, crowd.rank[u]):
            return 0
        crowd.segment[j] = cell
        if crowd.occupant[cell] == NO_AGENT:
            return j + 1
    return 0


@jit
def _find_way_ahead(tables, paths, alternate_begin, alternate_cells, crowd, u):
    """The same in a tunnel: through the path ahead and the buffer, to the nearest blank. Mutates: crowd."""
    begin, i, length = paths.begin[u], crowd.along[u], last_index(paths, u)
    crowd.tally[REGION] += 2
    inside = crowd.tally[REGION]
    region = crowd.region
    for j in range(i + 1, length):
        region[paths.cell[begin + j]] = inside
        if j >= paths.last_gap[u] + 2 and paths.around[begin + j] != MISSING:
            k = paths.around[begin + j]
            for place in range(alternate_begin[k], alternate_begin[k + 1]):
                region[alternate_cells[place]] = inside
    region[crowd.cell[u]] = 0
    region[paths.cell[begin + length]] = 0
    head, tail = 0, 1
    start = paths.cell[begin + i + 1]
    crowd.queue[0] = start
    region[start] = inside + 1
    crowd.came[start] = NO_CELL
    while head < tail:
        cell = crowd.queue[head]
        head += 1
        if crowd.occupant[cell] == NO_AGENT:
            size = 0
            while cell != NO_CELL:
                crowd.segment[size] = cell
                size += 1
                cell = crowd.came[cell]
            for j in range(size // 2):
                other = size - 1 - j
                crowd.segment[j], crowd.segment[other] = crowd.segment[other], crowd.segment[j]
            for j in range(size):
                cell = crowd.segment[j]
                if _is_held(crowd, cell, crowd.rank[u]) or _is_reserved(paths, crowd, cell, crowd.rank[u]):
                    return 0
            return size
        for d in range(4):
            if tables.moves[cell] >> d & 1:
                beside = cell + tables.offset[d]
                if region[beside] == inside:
                    region[beside] = inside + 1
                    crowd.came[beside] = cell
                    crowd.queue[tail] = beside
                    tail += 1
    return 0


@jit
def _advance(tables, paths, alternate_begin, alternate_cells, crowd, log, u):
    """Let a unit make its next move, if it can; return whether it did (Alg. 2 and 4, the loop's body).

    Mutates: crowd, log.
    """
    i, length = crowd.along[u], last_index(paths, u)
    if i == _OFF or i == length:                                                    # Alg. 2, l. 3
        return False
    at = paths.begin[u] + i
    ahead = paths.cell[at + 1]
    if crowd.visited[at + 1] == crowd.tally[STEP]:                                  # l. 5
        return False
    if _is_held(crowd, ahead, crowd.rank[u]) or _is_reserved(paths, crowd, ahead, crowd.rank[u]):   # l. 7
        return False
    if crowd.occupant[ahead] != NO_AGENT:                                           # l. 11
        if not 0 < i < length - 1:
            return False
        if paths.around[at] != MISSING:
            size = _find_segment(paths, alternate_begin, alternate_cells, crowd, u)
        else:
            size = _find_way_ahead(tables, paths, alternate_begin, alternate_cells, crowd, u)
        if size == 0:
            return False
        for j in range(size - 2, -1, -1):
            v = crowd.occupant[crowd.segment[j]]
            log.earlier[crowd.tally[MOVES]] = crowd.pushed[v]
            crowd.pushed[v] = crowd.tally[MOVES]
            move(paths, crowd, log, v, crowd.segment[j + 1])
            _welcome(crowd, log, crowd.segment[j + 1], v)
        crowd.tally[PUSHES] += size - 1
    crowd.pushed[u] = -1
    move(paths, crowd, log, u, ahead)
    _welcome(crowd, log, ahead, u)
    return True


@jit
def _walk_back(paths, crowd, log, u):
    """Let a unit that was pushed undo its last push, if it can; return whether it did. Mutates: crowd, log."""
    push = crowd.pushed[u]
    if push == -1:
        return False
    back = log.source[push]
    if crowd.occupant[back] != NO_AGENT:
        return False
    if _is_held(crowd, back, crowd.rank[u]) or _is_reserved(paths, crowd, back, crowd.rank[u]):
        return False
    crowd.pushed[u] = log.earlier[push]
    move(paths, crowd, log, u, back)
    _welcome(crowd, log, back, u)
    return True


@jit
def progress(tables, paths, alternate_begin, alternate_cells, crowd, log, inline_return):
    """Let everybody advance in turn until nobody can; answer DONE or ROOM_NEEDED. Mutates: crowd, log.

    With `inline_return`, a unit that was pushed and cannot advance walks back where it came from.
    """
    tally = crowd.tally
    while True:
        while tally[CURSOR] < tally[ACTIVE]:
            u = crowd.order[tally[CURSOR]]
            if not crowd.solved[u]:
                room = crowd.segment.size
                if tally[MOVES] + room > log.to.size or tally[GUESTS] + room > log.guest.size:
                    return ROOM_NEEDED
                moved = _advance(tables, paths, alternate_begin, alternate_cells, crowd, log, u)
                if moved or (inline_return and _walk_back(paths, crowd, log, u)):
                    tally[CHANGED] = 1
                    if crowd.cell[u] == crowd.goal[u]:
                        _settle(paths, crowd, log)
            tally[CURSOR] += 1
        tally[CURSOR] = 0
        if tally[CHANGED] == 0:
            tally[STEP_ENDED] = tally[MOVES]
            return DONE
        tally[CHANGED] = 0
