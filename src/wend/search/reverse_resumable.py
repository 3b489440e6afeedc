# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""RRA*: distances to a goal, found by A* from the goal backwards that stops and is resumed as nodes are asked for.

David Silver: Cooperative Pathfinding. AIIDE 2005, Algorithm 1. Agents with the same goal share one search.

Deviations
- A node is expanded before the search returns. As printed, the search returns between closing a node and generating its
  successors, and these are lost to later resumes: 1,122 of 12,000 random queries then come out wrong or infinite.
- Ties are broken by smaller h and not by reversing the successors: which of two equal nodes comes first changes no
  distance.

A search keeps what it knows of a cell in pages of 64 cells from one pool, since it reaches few of them. When a pool or
a heap is full, `distance` answers NEEDS_ROOM, Python lets them grow (`with_room`), and the question is asked again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.grid import CARDINAL_COST, DIAGONAL_COST, DX, DY, Grid, empty_map_cost
from wend.search.kernel import NO_CELL, UNREACHABLE, jit

PAGE = 64           # cells in a page

# What `distance` may answer instead of a distance (UNREACHABLE is -1)
OUT_OF_BUDGET = -2
NEEDS_ROOM = -3

_NO_PAGE = -1
_UNREACHED = -1
_TIE_SHIFT = 16     # of h, so that it fits into 32 bits: enough to tell what is nearer


class Reverse(NamedTuple):
    """The backward searches of a planner, one per goal."""

    page_of: np.ndarray     # int32[searches, pages of the map]  index into `page`, _NO_PAGE if not reached
    page: np.ndarray        # int64[pool, PAGE]         g << 1 | closed, _UNREACHED otherwise
    free_page: np.ndarray   # int32[pool]               indices of the free pages, a stack
    heap_f: np.ndarray      # int64[searches, room]     open list: f,
    heap_h: np.ndarray      # int32[searches, room]     ... h, coarsely, to break ties,
    heap_cell: np.ndarray   # int32[searches, room]     ... and cell
    size: np.ndarray        # int32[searches]           entries in the open list
    goal: np.ndarray        # int32[searches]           cell, NO_CELL where there is no search
    origin: np.ndarray      # int32[searches]           the cell that the search heads for
    tally: np.ndarray       # int64[3]                  free pages; expansions made so far, and allowed in all


_FREE, _EXPANDED, _ALLOWED = 0, 1, 2


def make_reverse(cells: int) -> Reverse:
    """No searches yet, on a map of so many cells."""
    return Reverse(
        np.full((0, -(-cells // PAGE)), _NO_PAGE, np.int32), np.empty((0, PAGE), np.int64), np.empty(0, np.int32),
        np.empty((0, 256), np.int64), np.empty((0, 256), np.int32), np.empty((0, 256), np.int32),
        np.zeros(0, np.int32), np.full(0, NO_CELL, np.int32), np.full(0, NO_CELL, np.int32), np.zeros(3, np.int64),
    )  # fmt: skip


def with_room(reverse: Reverse, *, searches: int = 0) -> Reverse:
    """The same with room for so many searches; or, without that, with more pages or larger heaps, if they are short."""
    have, room = reverse.heap_f.shape
    if 0 < searches <= have:
        return reverse
    rows = max(searches - have, have) if searches > have else 0
    columns = room if not searches and int(reverse.size.max(initial=0)) + 8 > room else 0
    wider = ((0, rows), (0, columns))
    f, h, cell = (np.pad(heap, wider) for heap in (reverse.heap_f, reverse.heap_h, reverse.heap_cell))
    page, free_page = reverse.page, reverse.free_page
    if not searches and reverse.tally[_FREE] < 16:
        old = len(page)
        more = max(old, 1024)
        page = np.concatenate([page, np.full((more, PAGE), _UNREACHED, np.int64)])
        free_page = np.concatenate([free_page[: reverse.tally[_FREE]], np.arange(old, old + more, dtype=np.int32)])
        reverse.tally[_FREE] += more
        free_page = np.pad(free_page, (0, len(page) - free_page.size))
    return Reverse(
        np.pad(reverse.page_of, ((0, rows), (0, 0)), constant_values=_NO_PAGE), page, free_page, f, h, cell,
        np.pad(reverse.size, (0, rows)), np.pad(reverse.goal, (0, rows), constant_values=NO_CELL),
        np.pad(reverse.origin, (0, rows), constant_values=NO_CELL), reverse.tally,
    )  # fmt: skip


@jit
def _known(reverse, search, cell):
    """g << 1 | closed of a cell, or _UNREACHED."""
    page = reverse.page_of[search, cell >> 6]
    return _UNREACHED if page == _NO_PAGE else reverse.page[page, cell & 63]


@jit
def _enter(reverse, search, cell, known):
    """Note what is known of a cell. Mutates: reverse."""
    page = reverse.page_of[search, cell >> 6]
    if page == _NO_PAGE:
        reverse.tally[_FREE] -= 1
        page = reverse.free_page[reverse.tally[_FREE]]
        reverse.page_of[search, cell >> 6] = page
    reverse.page[page, cell & 63] = known


@jit
def _push(heap_f, heap_h, heap_cell, size, f, h, cell):
    """Add to an open list of `size` entries. Mutates: the heap."""
    tie = h >> _TIE_SHIFT
    k = size
    while k > 0:
        up = (k - 1) >> 1
        if heap_f[up] < f or (heap_f[up] == f and heap_h[up] <= tie):
            break
        heap_f[k], heap_h[k], heap_cell[k] = heap_f[up], heap_h[up], heap_cell[up]
        k = up
    heap_f[k], heap_h[k], heap_cell[k] = f, tie, cell


@jit
def _drop_first(heap_f, heap_h, heap_cell, size):
    """Take the first out of an open list, of which `size` entries are left. Mutates: the heap."""
    f, tie, cell = heap_f[size], heap_h[size], heap_cell[size]
    k, child = 0, 1
    while child < size:
        if child + 1 < size and (
            heap_f[child + 1] < heap_f[child]
            or (heap_f[child + 1] == heap_f[child] and heap_h[child + 1] < heap_h[child])
        ):
            child += 1
        if heap_f[child] > f or (heap_f[child] == f and heap_h[child] >= tie):
            break
        heap_f[k], heap_h[k], heap_cell[k] = heap_f[child], heap_h[child], heap_cell[child]
        k = child
        child = 2 * k + 1
    heap_f[k], heap_h[k], heap_cell[k] = f, tie, cell


@jit
def forget(reverse, search):
    """Empty a search and give its pages back. Mutates: reverse."""
    for k in range(reverse.page_of.shape[1]):
        page = reverse.page_of[search, k]
        if page != _NO_PAGE:
            reverse.page[page, :] = _UNREACHED
            reverse.free_page[reverse.tally[_FREE]] = page
            reverse.tally[_FREE] += 1
            reverse.page_of[search, k] = _NO_PAGE
    reverse.size[search] = 0
    reverse.goal[search] = NO_CELL


@jit
def begin(reverse, search, goal, origin):
    """Set a search up (Alg. 1, l. 1-7); nothing is expanded yet. Mutates: reverse."""
    reverse.goal[search] = goal
    reverse.origin[search] = origin
    reverse.size[search] = 0


@jit
def reaches(reverse, search, cell):
    """Whether the search has come to a cell yet."""
    return _known(reverse, search, cell) != _UNREACHED


@jit
def allow(reverse, expansions):
    """Let so many expansions be made from now on. Mutates: reverse."""
    reverse.tally[_ALLOWED] = reverse.tally[_EXPANDED] + expansions


@jit
def expand_one(reverse):
    """Count an expansion if one more is allowed; else False. Forward searches count here too. Mutates: reverse."""
    if reverse.tally[_EXPANDED] >= reverse.tally[_ALLOWED]:
        return False
    reverse.tally[_EXPANDED] += 1
    return True


@jit
def expansions_of(reverse):
    """Expansions counted so far."""
    return reverse.tally[_EXPANDED]


@jit
def distance(tables, reverse, search, cell):
    """The cost of the shortest path from a cell to the search's goal (Alg. 1, l. 8-36). Mutates: reverse.

    Or UNREACHABLE, OUT_OF_BUDGET or NEEDS_ROOM.
    """
    known = _known(reverse, search, cell)
    if known != _UNREACHED and known & 1:
        return known >> 1
    heap_f, heap_h, heap_cell = reverse.heap_f[search], reverse.heap_h[search], reverse.heap_cell[search]
    page_of, page = reverse.page_of[search], reverse.page
    width, origin = tables.width, reverse.origin[search]
    origin_x, origin_y = origin % width, origin // width
    size = np.int64(reverse.size[search])
    if size == 0 and not reaches(reverse, search, reverse.goal[search]):
        if reverse.tally[_FREE] < 8:
            return NEEDS_ROOM
        _enter(reverse, search, reverse.goal[search], np.int64(0))
        _push(heap_f, heap_h, heap_cell, size, np.int64(0), np.int64(0), reverse.goal[search])
        size += 1
    answer = UNREACHABLE
    while size > 0:
        first = np.int64(heap_cell[0])
        known = page[page_of[first >> 6], first & 63]
        if known & 1:                               # an entry from before the cell was improved
            size -= 1
            _drop_first(heap_f, heap_h, heap_cell, size)
            continue
        if reverse.tally[_FREE] < 8 or size + 8 > heap_f.size:
            answer = NEEDS_ROOM
            break
        if not expand_one(reverse):
            answer = OUT_OF_BUDGET
            break
        size -= 1
        _drop_first(heap_f, heap_h, heap_cell, size)
        page[page_of[first >> 6], first & 63] = known | 1
        g = known >> 1
        bits = tables.moves[first]
        x, y = first % width, first // width
        for d in range(8):
            if not bits >> d & 1:
                continue
            beside = first + tables.offset[d]
            at = page_of[beside >> 6]
            before = _UNREACHED if at == _NO_PAGE else page[at, beside & 63]
            cost = g + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            if before != _UNREACHED and (before & 1 or before >> 1 <= cost):
                continue
            if at == _NO_PAGE:
                _enter(reverse, search, beside, cost << 1)
            else:
                page[at, beside & 63] = cost << 1
            h = empty_map_cost(tables, abs(x + DX[d] - origin_x), abs(y + DY[d] - origin_y))
            _push(heap_f, heap_h, heap_cell, size, cost + h, h, beside)
            size += 1
        if first == cell:
            answer = g
            break
    reverse.size[search] = size
    return answer


@jit
def _is_touched(reverse, search, width, cells):
    """Whether a search has come to one of these cells or to a neighbour of one."""
    size = reverse.page_of.shape[1] * PAGE
    for cell in cells:
        for row in range(-1, 2):
            for column in range(-1, 2):
                near = cell + row * width + column
                if 0 <= near < size and reaches(reverse, search, near):
                    return True
    return False


class SharedSearches:
    """The backward searches of a planner's agents: one per goal, shared by the agents that have it."""

    def __init__(self, grid: Grid) -> None:
        self.reverse = make_reverse(grid.size)
        self.of = np.zeros(0, np.int32)             # int32[agents] the search of each agent
        self._grid = grid
        self._by_goal: dict[int, int] = {}
        self._users: dict[int, set[int]] = {}       # by search
        self._unused: list[int] = []

    def aim(self, agent: int, goal: int, origin: int) -> None:
        """Say where an agent wants to go, and from where."""
        if agent >= self.of.size:
            self.of = np.pad(self.of, (0, max(agent + 1 - self.of.size, self.of.size)), constant_values=-1)
        self.drop(agent)
        search = self._by_goal.get(goal)
        if search is None:
            search = self._unused.pop() if self._unused else len(self._by_goal)
            self.reverse = with_room(self.reverse, searches=search + 1)
            begin(self.reverse, search, goal, origin)
            self._by_goal[goal] = search
        self._users.setdefault(search, set()).add(agent)
        self.of[agent] = search

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        search = int(self.of[agent])
        if search < 0:
            return
        self.of[agent] = -1
        self._users[search].discard(agent)
        if not self._users[search]:
            del self._by_goal[int(self.reverse.goal[search])]
            forget(self.reverse, search)
            self._unused.append(search)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        """Begin anew the searches that have come near an edited cell; the others have not seen it yet."""
        for goal, search in self._by_goal.items():
            if _is_touched(self.reverse, search, self._grid.width, cells):
                origin = int(self.reverse.origin[search])
                forget(self.reverse, search)
                begin(self.reverse, search, goal, origin)

    def grow(self) -> None:
        """Make the room that a search asked for."""
        self.reverse = with_room(self.reverse)
