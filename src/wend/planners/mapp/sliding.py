# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""MAPP's moves: progression steps that bring units to their targets. What comes between them: repositioning.py.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), sections 5.3 and 7.

A unit goes along its path pi wherever the next cell is blank. Where it is not, a blank is fetched: the units on the
alternate path around the unit, from the next cell to the nearest blank, move up by one each, as tiles in a sliding
puzzle do. Units of lower priority never enter the private zone of one of higher priority: where it stands and the cell
behind it. Units take turns; when none can move any more, the step is over.

    paper                                        here
    progression step (Alg. 2, 4)                 make_step: begin_step, progress
    canBringBlank (Alg. 3)                       _find_segment, _find_segment_ahead
    private zone, buffer zone                    crowd.py
    solved (Def. 15)                             _settle

Deviations and open points
- Order: slidable units that are not home, by topological order, fewest cells left first; then the other units; then
  those at home; then those without a path. Ties by index. (The paper suggests "closer to target".)
- Ours, on request: with `turn="until-stopped"` a unit's turn ends when it can move no more, and the units with the most
  cells left go first; of those that are not slidable, the ones that wait for the fewest others. A fraction of the moves
  is listed, but units have less to do at the same time (docs/papers/mapp.md).
- A unit is solved when all that go before it are, and no other active unit stood on its target in this step: such a
  one must undo its moves through it. The paper asks for the first half only.
- Ours, on request: with `inline_return` units walk back to where they were pushed from during the step; then a global
  state may be repeated within a step, which still ends.
- In a tunnel the blank is fetched through what is left of the path and the buffer zone, by breadth-first search.
"""

from __future__ import annotations

from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_SPACE, UNREACHABLE, jit
from wend.planners.mapp.crowd import (
    NONE,
    OFF_PATH,
    cell_ahead,
    is_held,
    is_reserved,
    last_index,
    level_of,
    move,
    set_behind,
    welcome,
)
from wend.search import heap

_FAR = 2**30        # cells left of a unit that is not on its path, which comes last in either order


# --- solved units -----------------------------------------------------------------------------------------------------


@jit
def _has_guest(crowd, log, v):
    """Whether another active unit stood on the target of v in this step."""
    k = crowd.guest_first[crowd.goal[v]]
    while k != NONE:
        if not crowd.solved[log.guest[k]]:
            return True
        k = log.guest_next[k]
    return False


@jit
def _settle(paths, crowd, log):
    """Mark as solved the units that are home and may be (Def. 15), and those that may be then. Mutates: crowd."""
    settled = True
    while settled:
        settled = False
        for v in range(crowd.cell.size):
            if crowd.solved[v] or crowd.cell[v] != crowd.goal[v] or crowd.waits[v] > 0 or _has_guest(crowd, log, v):
                continue
            settled = True
            crowd.solved[v] = True
            crowd.counts[0].solved += 1
            crowd.counts[0].tight -= paths.tau[v] > 0 and crowd.kappa[v] <= paths.tau[v]
            set_behind(crowd, v, NO_CELL)
            for k in range(paths.after[v], paths.after[v + 1]):
                crowd.waits[paths.follower[k]] -= 1


# --- the order of a step ----------------------------------------------------------------------------------------------


@jit
def _line_up(paths, crowd, u, waits, farthest_first):
    """Enter a unit that waits for so many others into the heap: the fewest first, then the farthest or the nearest to
    its target, then the lowest index. Mutates: crowd."""
    left = _FAR
    if crowd.along[u] != OFF_PATH:
        left = last_index(paths, u) - crowd.along[u]
        if farthest_first:
            left = -left
    heap.push(crowd.heap, waits, left, u)


@jit
def _put_in_order(paths, crowd, farthest_first):
    """Order the active units. Mutates: crowd."""
    units = crowd.cell.size
    waiting = crowd.rank                # for a moment: active slidable units that go before this one
    waiting[:] = 0
    for u in range(units):
        if crowd.slidable[u] and not crowd.solved[u]:
            for k in range(paths.after[u], paths.after[u + 1]):
                waiting[paths.follower[k]] += 1
    heap.empty(crowd.heap)
    for u in range(units):
        if crowd.slidable[u] and not crowd.solved[u] and waiting[u] == 0:
            _line_up(paths, crowd, u, 0, farthest_first)
    count = 0
    while heap.size_of(crowd.heap) > 0:     # (i) slidable, not home: Kahn's topological order
        u = crowd.heap.entry[0, 2]
        heap.drop_first(crowd.heap)
        if crowd.cell[u] != crowd.goal[u]:
            crowd.order[count] = u
            count += 1
        for k in range(paths.after[u], paths.after[u + 1]):
            v = paths.follower[k]
            waiting[v] -= 1
            if waiting[v] == 0 and crowd.slidable[v] and not crowd.solved[v]:
                _line_up(paths, crowd, v, 0, farthest_first)
    for kind in range(3):               # (ii) others, not home; (iii) home; then those without a path
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
                _line_up(paths, crowd, u, crowd.waits[u] if farthest_first and kind == 0 else 0, farthest_first)
        while heap.size_of(crowd.heap) > 0:
            crowd.order[count] = crowd.heap.entry[0, 2]
            count += 1
            heap.drop_first(crowd.heap)
    crowd.counts[0].active = count
    for place in range(count):
        crowd.rank[crowd.order[place]] = place


@jit
def promote(paths, crowd):
    """Let units that meet the conditions only now go before others: they are on their path and well positioned, and
    those that go before them are solved. Mutates: crowd."""
    for u in range(crowd.cell.size):
        if not crowd.solved[u] and not crowd.slidable[u] and crowd.waits[u] == 0 and level_of(paths, crowd, u) == 2:
            crowd.slidable[u] = True


# --- progression ------------------------------------------------------------------------------------------------------


@jit
def begin_step(stage, farthest_first):
    """Begin a progression step: which units are solved, which go first, where each stands. Mutates: stage."""
    paths, crowd, log = stage.paths, stage.crowd, stage.log
    counts = crowd.counts[0]
    counts.step += 1
    counts.step_began = counts.moves
    counts.step_ended = counts.moves
    counts.guests = 0
    counts.cursor = 0
    counts.changed = 0
    for u in range(crowd.cell.size):
        if crowd.goal[u] != NO_CELL:
            crowd.guest_first[crowd.goal[u]] = NONE
    for u in range(crowd.cell.size):
        if not crowd.solved[u]:
            welcome(crowd, log, crowd.cell[u], u)
    _settle(paths, crowd, log)
    _put_in_order(paths, crowd, farthest_first)
    for place in range(counts.active):
        u = crowd.order[place]
        crowd.pushed[u] = NONE
        crowd.origin[u] = crowd.cell[u]
        crowd.level[u] = level_of(paths, crowd, u)
        crowd.second[u] = cell_ahead(paths, u, crowd.along[u])
        if crowd.along[u] != OFF_PATH:
            crowd.visited[paths.begin[u] + crowd.along[u]] = counts.step


@jit
def _find_segment(stage, u):
    """Write the cells of Omega_i from l_{i+1} to the nearest blank; return their number, 0 if the blank may not be
    fetched (Alg. 3). Mutates: stage.crowd."""
    alternates, paths, crowd = stage.alternates, stage.paths, stage.crowd
    at = paths.begin[u] + crowd.along[u]
    k = paths.around[at]
    first, last = alternates.begin[k], alternates.begin[k + 1] - 1
    backwards = alternates.cells[last] == paths.cell[at + 1]
    for j in range(last - first + 1):
        cell = alternates.cells[last - j if backwards else first + j]
        if is_held(crowd, cell, crowd.rank[u]) or is_reserved(paths, crowd, cell, crowd.rank[u]):
            return 0
        crowd.segment[j] = cell
        if crowd.occupant[cell] == NO_AGENT:
            return j + 1
    return 0


@jit
def _find_segment_ahead(stage, u):
    """The same in a tunnel: through the path ahead and the buffer, to the nearest blank. Mutates: stage.crowd."""
    tables, alternates, paths, crowd = stage.tables, stage.alternates, stage.paths, stage.crowd
    begin, i, length = paths.begin[u], crowd.along[u], last_index(paths, u)
    crowd.counts[0].region += 2
    inside = crowd.counts[0].region
    region = crowd.region
    for j in range(i + 1, length):
        region[paths.cell[begin + j]] = inside
        if j >= paths.last_gap[u] + 2 and paths.around[begin + j] != UNREACHABLE:
            k = paths.around[begin + j]
            for place in range(alternates.begin[k], alternates.begin[k + 1]):
                region[alternates.cells[place]] = inside
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
                if is_held(crowd, cell, crowd.rank[u]) or is_reserved(paths, crowd, cell, crowd.rank[u]):
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
def _advance(stage, u):
    """Let a unit make its next move, if it can; return whether it did (Alg. 2 and 4, the loop's body). Mutates: stage.
    """
    paths, crowd, log = stage.paths, stage.crowd, stage.log
    i, length = crowd.along[u], last_index(paths, u)
    if i == OFF_PATH or i == length:                                                    # Alg. 2, l. 3
        return False
    at = paths.begin[u] + i
    ahead = paths.cell[at + 1]
    if crowd.visited[at + 1] == crowd.counts[0].step:                                  # l. 5
        return False
    if is_held(crowd, ahead, crowd.rank[u]) or is_reserved(paths, crowd, ahead, crowd.rank[u]):   # l. 7
        return False
    if crowd.occupant[ahead] != NO_AGENT:                                           # l. 11
        if not 0 < i < length - 1:
            return False
        size = _find_segment(stage, u) if paths.around[at] != UNREACHABLE else _find_segment_ahead(stage, u)
        if size == 0:
            return False
        for j in range(size - 2, -1, -1):
            v = crowd.occupant[crowd.segment[j]]
            log.earlier[crowd.counts[0].moves] = crowd.pushed[v]
            crowd.pushed[v] = crowd.counts[0].moves
            move(paths, crowd, log, v, crowd.segment[j + 1])
            welcome(crowd, log, crowd.segment[j + 1], v)
        crowd.counts[0].pushes += size - 1
    crowd.pushed[u] = NONE
    move(paths, crowd, log, u, ahead)
    welcome(crowd, log, ahead, u)
    return True


@jit
def _walk_back(paths, crowd, log, u):
    """Let a unit that was pushed undo its last push, if it can; return whether it did. Mutates: crowd, log."""
    push = crowd.pushed[u]
    if push == NONE:
        return False
    back = log.source[push]
    if crowd.occupant[back] != NO_AGENT:
        return False
    if is_held(crowd, back, crowd.rank[u]) or is_reserved(paths, crowd, back, crowd.rank[u]):
        return False
    crowd.pushed[u] = log.earlier[push]
    move(paths, crowd, log, u, back)
    welcome(crowd, log, back, u)
    return True


@jit
def _take_turn(stage, u, inline_return):
    """Let a unit make a move, if it can; return whether it did. Mutates: stage."""
    paths, crowd, log = stage.paths, stage.crowd, stage.log
    if crowd.solved[u]:
        return False
    if not (_advance(stage, u) or (inline_return and _walk_back(paths, crowd, log, u))):
        return False
    if crowd.cell[u] == crowd.goal[u]:
        _settle(paths, crowd, log)
    return True


@jit
def progress(stage, until_stopped, inline_return):
    """Let all units advance in turn until none can; answer the moves of this step, or OUT_OF_SPACE. Mutates: stage.

    A turn is one move, or with `until_stopped` as many as the unit can make. With `inline_return`, a unit that was
    pushed and cannot advance walks back to where it came from.
    """
    crowd, log = stage.crowd, stage.log
    counts = crowd.counts[0]
    most = crowd.segment.size                               # moves that one advance can take, pushes included
    while True:
        while counts.cursor < counts.active:
            if counts.moves + most > log.to.size or counts.guests + most > log.guest.size:
                return OUT_OF_SPACE
            moved = _take_turn(stage, crowd.order[counts.cursor], inline_return)
            if moved:
                counts.changed = 1
            if not (moved and until_stopped):
                counts.cursor += 1
        counts.cursor = 0
        if counts.changed == 0:
            counts.step_ended = counts.moves
            return counts.moves - counts.step_began
        counts.changed = 0


@jit
def make_step(stage, until_stopped, inline_return):
    """Make a progression step, or go on with the one that ran out of space; answer as `progress`. Mutates: stage."""
    counts = stage.crowd.counts[0]
    if counts.under_way == 0:
        begin_step(stage, until_stopped)
        counts.under_way = 1
    moves = progress(stage, until_stopped, inline_return)
    if moves != OUT_OF_SPACE:
        counts.under_way = 0
    return moves
