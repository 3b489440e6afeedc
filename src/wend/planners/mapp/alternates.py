# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Alternate paths (the Omegas of MAPP): around a cell, from one of its neighbours to another.

Ko-Hsin Cindy Wang, Adi Botea: MAPP: a Scalable Multi-Agent Path Planning Algorithm with Tractability and Completeness
Guarantees. JAIR 42 (2011), sections 4 and 5.2.

A triple is a cell b with two of its neighbours, a and c; there are at most six per cell. Its alternate path leads from
a to c without b. Those on the bare map depend on nothing else: they are found when first asked for, and kept for all
problems on the map (`known_alternates.py`). In a problem, those that cross a target are searched again, for the time of
that problem.

    paper                                   here
    "Omega for any three adjacent tiles"    alternate
    re-use across instances                 AlternatePaths, alternates_of (known_alternates.py)

Deviations and open points
- Whether an alternate path exists is read off the map's biconnected components; nothing is flooded in vain.
- The fourth cell of the 2x2 block, or a detour of five cells beside a straight triple, is taken without a search.
- Targets are crossed only if nothing else is left, and then each counts as much as 32 moves; the paper has "a very
  high cost". A unit's own target is closed to its own alternate paths. The ends of the triple are never counted.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_CELL, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.arrays import int32, int64, record, uint8
from wend.maps.terrain import GridTables
from wend.planners.mapp import ladder as open_list
from wend.planners.mapp.biconnected import NO_BICOMPONENT, BicomponentTree
from wend.planners.mapp.ladder import Ladder

# Marks of cells in a problem
TARGET = 1      # some unit's target
OBSTACLE = 2    # no unit may enter it: a pinned agent at home, an agent of the program

# How a search sees the marks
_IGNORED = 0    # not at all: the bare map
_CLOSED = 1     # marked cells are closed
_PRICED = 2     # a target costs TARGET_MOVES, obstacles are closed

TARGET_MOVES = 32       # an even number, so that f keeps its parity
PATHS_AT_ONCE = 3       # paths that one question may add: on the bare map, in the problem, for the unit
UNKNOWN = -1            # a path that has not been asked for yet


class Alternates(NamedTuple):
    """The alternate paths of a map, and those of the problem at hand. A slot is cell * 6 + pair of directions."""

    bare: Annotated[np.ndarray, int32("slots", fill=UNKNOWN)]   # path of the slot on the bare map, or UNKNOWN
    now: Annotated[np.ndarray, int32("slots")]      # path of the slot in this problem, or UNREACHABLE
    toll: Annotated[np.ndarray, int32("slots")]     # targets that it crosses
    stamp: Annotated[np.ndarray, int32("slots")]    # the problem that `now` and `toll` are of
    clear: Annotated[np.ndarray, uint8("cells")]    # bit set: this pair has a path in this problem without targets
    begin: Annotated[np.ndarray, int64("paths")]    # path k is cells[begin[k] : begin[k + 1]]
    cells: Annotated[np.ndarray, int32("path_cells")]   # from the neighbour in the smaller direction to the other
    seen: Annotated[np.ndarray, int32("paths", 4)]  # left, top, right, bottom of what its search looked at
    counts: Annotated[np.ndarray, record(
        "paths",        # so far
        "problem",      # number of the problem at hand
        "searched",     # paths found anew in this problem
        "reused",       # triples of this problem whose path was known before
        "toll",         # of the path that `alternate` answered last
    )]  # fmt: skip


class MarkedMap(NamedTuple):
    """What a problem adds to the map."""

    mark: np.ndarray        # uint8[cells]      TARGET, OBSTACLE, both or neither
    block: np.ndarray       # int32[4 * cells]  blocks of the bare map (biconnected.py)
    joined: np.ndarray      # int32[4 * cells]  blocks of the map without obstacles
    free: np.ndarray        # int32[4 * cells]  blocks of the map without obstacles and targets
    tree: BicomponentTree   # where the blocks of the bare map meet
    through_targets: bool   # whether targets may be crossed, at a toll


class Detour(NamedTuple):
    """The workspace of the searches."""

    ladder: Ladder
    state: Annotated[np.ndarray, int32("cells")]    # 2 * search: reached, 2 * search + 1: closed
    g: Annotated[np.ndarray, int32("cells")]        # moves from the start, and what the targets cost
    came: Annotated[np.ndarray, uint8("cells")]     # direction of the move that leads there
    counts: Annotated[np.ndarray, record("serial", "expanded")]     # number of this search; cells expanded by all


class Ground(NamedTuple):
    """A map with a problem on it, and all that is needed to answer which alternate paths it has."""

    tables: GridTables
    alternates: Alternates
    setting: MarkedMap
    detour: Detour


@jit
def _pair(one, other):
    """The number of a pair of directions, 0 to 5."""
    low, high = min(one, other), max(one, other)
    return low * (7 - low) // 2 + high - low - 1


@jit
def is_clear(alternates, b, one, other):
    """Whether a triple is known to have an alternate path that crosses no target."""
    return alternates.clear[b] >> _pair(one, other) & 1 != 0


@jit
def _free_of_marks(mark, marks, cell):
    return marks == _IGNORED or mark[cell] == 0


@jit
def _local_shape(ground, k, marks, b, one, other):
    """Write the shortest shape there is, beside b, as path k; return its number of cells, 0 if it is blocked.

    Mutates: ground.alternates.
    """
    moves, offset, mark = ground.tables.moves, ground.tables.offset, ground.setting.mark
    cells, at = ground.alternates.cells, ground.alternates.begin[k]
    a = b + offset[one]
    c = b + offset[other]
    if other != one ^ 2:                                # a corner: the fourth cell of the 2x2 block
        fourth = a + offset[other]
        if moves[a] >> other & 1 and moves[fourth] >> (one ^ 2) & 1 and _free_of_marks(mark, marks, fourth):
            cells[at], cells[at + 1], cells[at + 2] = a, fourth, c
            return 3
        return 0
    for turn in range(2):                               # a straight line: on one side, else on the other
        side = (one + 1) % 4 if turn == 0 else (one + 3) % 4
        if not (moves[a] >> side & 1 and moves[b] >> side & 1 and moves[c] >> side & 1):
            continue
        first, middle, last = a + offset[side], b + offset[side], c + offset[side]
        if (
            _free_of_marks(mark, marks, first)
            and _free_of_marks(mark, marks, middle)
            and _free_of_marks(mark, marks, last)
        ):
            cells[at], cells[at + 1], cells[at + 2], cells[at + 3], cells[at + 4] = a, first, middle, last, c
            return 5
    return 0


@jit
def _search(ground, k, marks, closed, b, a, c):
    """A* from a to c without b and without `closed`; write path k, return its number of cells, 0 if there is none.

    Mutates: ground.detour, ground.alternates.
    """
    moves, offset, width = ground.tables.moves, ground.tables.offset, ground.tables.width
    mark, detour, alternates = ground.setting.mark, ground.detour, ground.alternates
    state, g, came, ladder, counts = detour.state, detour.g, detour.came, detour.ladder, detour.counts[0]
    cells, at, seen = alternates.cells, alternates.begin[k], alternates.seen[k]
    counts.serial += 1
    if counts.serial >= 2**30:
        state[:] = 0
        counts.serial = 1
    reached = 2 * counts.serial
    c_x, c_y = c % width, c // width
    state[b] = reached + 1
    state[a] = reached
    g[a] = 0
    h = abs(a % width - c_x) + abs(a // width - c_y)
    open_list.clear(ladder, h)
    open_list.push(ladder, 0, h, a)
    while True:
        cell = open_list.pop(ladder)
        if cell < 0:
            return 0
        if cell == c:
            break
        if state[cell] == reached + 1:
            continue
        state[cell] = reached + 1
        counts.expanded += 1
        x, y = cell % width, cell // width
        seen[0], seen[1] = min(seen[0], x - 1), min(seen[1], y - 1)
        seen[2], seen[3] = max(seen[2], x + 1), max(seen[3], y + 1)
        for d in range(4):
            if not moves[cell] >> d & 1:
                continue
            beside = cell + offset[d]
            if state[beside] == reached + 1 or beside == closed:
                continue
            cost = g[cell] + 1
            if marks != _IGNORED and beside != c and mark[beside] != 0:
                if marks == _CLOSED or mark[beside] & OBSTACLE:
                    continue
                cost += TARGET_MOVES
            if state[beside] == reached and cost >= g[beside]:
                continue
            state[beside] = reached
            g[beside] = cost
            came[beside] = d
            estimate = cost + abs(beside % width - c_x) + abs(beside // width - c_y)
            open_list.push(ladder, 0, estimate, beside)
    length = 1
    cell = c
    while cell != a:
        cell -= offset[came[cell]]
        length += 1
    cell = c
    for place in range(at + length - 1, at, -1):
        cells[place] = cell
        cell -= offset[came[cell]]
    cells[at] = a
    return length


@jit
def _find(ground, marks, closed, b, one, other):
    """Find a path for a triple and keep it; answer its number, or UNREACHABLE. Mutates: ground."""
    tables, alternates, counts = ground.tables, ground.alternates, ground.alternates.counts[0]
    k, width = counts.paths, tables.width
    seen = alternates.seen[k]
    seen[0], seen[1], seen[2], seen[3] = b % width - 1, b // width - 1, b % width + 1, b // width + 1
    low, high = min(one, other), max(one, other)
    length = _local_shape(ground, k, marks, b, low, high)
    if length == 0:
        length = _search(ground, k, marks, closed, b, b + tables.offset[low], b + tables.offset[high])
    if length == 0:
        return UNREACHABLE
    alternates.begin[k + 1] = alternates.begin[k] + length
    counts.paths = k + 1
    counts.searched += 1
    return k


@jit
def _toll_of(alternates, mark, k):
    """Marked cells on a path, its ends left out."""
    count = 0
    for j in range(alternates.begin[k] + 1, alternates.begin[k + 1] - 1):
        count += mark[alternates.cells[j]] != 0
    return count


@jit
def _crosses(alternates, k, cell):
    for j in range(alternates.begin[k] + 1, alternates.begin[k + 1] - 1):
        if alternates.cells[j] == cell:
            return True
    return False


@jit
def _alternate_now(ground, b, one, other, slot):
    """The path of a triple in this problem, for any unit, or UNREACHABLE; its toll is noted. Mutates: ground."""
    alternates, setting = ground.alternates, ground.setting
    if setting.block[b * 4 + one] != setting.block[b * 4 + other]:
        return UNREACHABLE
    mark = setting.mark
    known = alternates.bare[slot] != UNKNOWN
    if not known:
        alternates.bare[slot] = _find(ground, _IGNORED, NO_CELL, b, one, other)
    k = np.int64(alternates.bare[slot])
    if _toll_of(alternates, mark, k) == 0:
        alternates.counts[0].reused += known
        return k
    free_one, free_other = setting.free[b * 4 + one], setting.free[b * 4 + other]
    told = free_one != NO_BICOMPONENT and free_other != NO_BICOMPONENT      # else a cell of the triple itself is marked
    marks = _CLOSED if not setting.through_targets or (told and free_one == free_other) else _PRICED
    if marks == _CLOSED and told and free_one != free_other:
        return UNREACHABLE
    if marks == _PRICED and setting.joined[b * 4 + one] != setting.joined[b * 4 + other]:
        return UNREACHABLE
    k = _find(ground, marks, NO_CELL, b, one, other)
    if k != UNREACHABLE:
        alternates.toll[slot] = _toll_of(alternates, mark, k)
    return k


@jit
def alternate(ground, b, one, other, goal):
    """The alternate path around b between its neighbours in two directions, for a unit with this goal.

    Answers its number, UNREACHABLE or OUT_OF_SPACE; `counts.toll` says how many targets it crosses. Mutates: ground.
    """
    alternates, setting = ground.alternates, ground.setting
    counts = alternates.counts[0]
    if alternates.begin[counts.paths] + PATHS_AT_ONCE * setting.mark.size > alternates.cells.size:
        return OUT_OF_SPACE
    if counts.paths + PATHS_AT_ONCE >= alternates.begin.size:
        return OUT_OF_SPACE
    pair = _pair(one, other)
    slot = b * 6 + pair
    if alternates.stamp[slot] != counts.problem:
        alternates.toll[slot] = 0
        alternates.now[slot] = _alternate_now(ground, b, one, other, slot)
        alternates.stamp[slot] = counts.problem
        if alternates.now[slot] != UNREACHABLE and alternates.toll[slot] == 0:
            alternates.clear[b] |= 1 << pair
    k = np.int64(alternates.now[slot])
    counts.toll = alternates.toll[slot]
    if k != UNREACHABLE and counts.toll > 0 and _crosses(alternates, k, goal):
        k = _find(ground, _PRICED, goal, b, one, other)
        if k != UNREACHABLE:
            counts.toll = _toll_of(alternates, setting.mark, k)
    return k
