# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""RRA*: distances to a goal, found by A* from the goal backwards that stops and is resumed as nodes are asked for.

David Silver: Cooperative Pathfinding. AIIDE 2005, Algorithm 1. Agents with the same goal share one search.

Deviations
- A node is expanded before the search returns. As printed, the search returns between closing a node and generating its
  successors, and these are lost to later resumes: 1,122 of 12,000 random queries then come out wrong or infinite.
- Among equal f the last one in is the first out, instead of reversing the successors: which of two equal nodes comes
  first changes no distance.

The open list is a stack of cells for each value of f that there is. These are few, because the heuristic is consistent
and a step adds at most twice its cost to f: two values at a time where agents move in four directions, up to some
hundreds with diagonals. So neither opening a cell nor closing one needs a heap.

A search keeps what it knows of a cell in pages of 64 cells from one pool, since it reaches few of them; its stacks are
chains of entries from another. When one of them or the list of values is full, `distance` answers NEEDS_ROOM, Python
lets them grow (`with_room`), and the question is asked again. Memory that is never touched costs nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import UNREACHABLE, jit
from wend.maps.grid import CARDINAL_COST, DIAGONAL_COST, DX, DY, Grid, empty_map_cost

PAGE = 64           # cells in a page

# What `distance` may answer instead of a distance (UNREACHABLE is -1)
OUT_OF_BUDGET = -2
NEEDS_ROOM = -3

_UNREACHED = 0
_FAR = 2**62        # taken off what is known of a cell, so that _UNREACHED is more than anything
_NO_ENTRY = 0       # entry 0 is in no chain


class Reverse(NamedTuple):
    """The backward searches of a planner, one per goal."""

    page_of: np.ndarray     # int32[searches, pages of the map]  where a page begins in `known`; 0 is never written
    known: np.ndarray       # int64[pool * PAGE]        (g << 1 | closed) - _FAR, or _UNREACHED
    free_page: np.ndarray   # int32[pool]               pages that were given back, a stack
    level_f: np.ndarray     # int64[searches, room]     the values of f in the open list, descending,
    level_top: np.ndarray   # int32[searches, room]     ... and the last entry of each
    levels: np.ndarray      # int32[searches]           how many values there are
    entry: np.ndarray       # int64[pool]               cell << 32 | the entry below it, _NO_ENTRY at the bottom
    goal: np.ndarray        # int32[searches]           cell
    origin: np.ndarray      # int32[searches]           the cell that the search heads for
    tally: np.ndarray       # int64[6]                  see below


# Reverse.tally holds
_PAGES = 0          # pages of the pool that were ever used, the one that is never written included
_FREE = 1           # pages of these that were given back
_ENTRIES = 2        # entries that were ever used, entry 0 included
_FREE_ENTRY = 3     # the first of a chain of entries that were given back
_EXPANDED = 4       # expansions made so far
_ALLOWED = 5        # ... and allowed in all


def make_reverse(cells: int, *, pages: int = 1 << 16, entries: int = 1 << 20) -> Reverse:
    """No searches yet, on a map of so many cells; pools of so many pages and entries, until they grow."""
    return Reverse(
        np.zeros((0, -(-cells // PAGE)), np.int32), np.zeros(pages * PAGE, np.int64), np.empty(pages, np.int32),
        np.empty((0, 16), np.int64), np.empty((0, 16), np.int32), np.empty(0, np.int32), np.empty(entries, np.int64),
        np.empty(0, np.int32), np.empty(0, np.int32), np.array([1, 0, 1, _NO_ENTRY, 0, 0], np.int64),
    )  # fmt: skip


def with_room(reverse: Reverse, *, searches: int = 0) -> Reverse:
    """The same with room for so many searches, and with larger pools and lists of values where these are short."""
    have, room = reverse.level_f.shape
    rows = max(have, searches)
    columns = 2 * room if int(reverse.levels.max(initial=0)) + 8 > room else room
    known, free_page, entry = reverse.known, reverse.free_page, reverse.entry
    if reverse.tally[_PAGES] - reverse.tally[_FREE] + 8 > free_page.size:
        known, free_page = _enlarged(known, 2 * known.size), _enlarged(free_page, 2 * free_page.size)
    if reverse.tally[_ENTRIES] + 8 > entry.size:
        entry = _enlarged(entry, 2 * entry.size)
    return Reverse(
        _enlarged(reverse.page_of, rows), known, free_page,
        _enlarged(reverse.level_f, rows, columns), _enlarged(reverse.level_top, rows, columns),
        _enlarged(reverse.levels, rows), entry, _enlarged(reverse.goal, rows), _enlarged(reverse.origin, rows),
        reverse.tally,
    )  # fmt: skip


def _enlarged(array: NDArray[Any], *shape: int) -> NDArray[Any]:
    """The same array if it has that many rows (and columns), else a larger one with zeros behind."""
    if array.shape[: len(shape)] == shape:
        return array
    larger = np.zeros(shape + array.shape[len(shape) :], array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger


def begin(reverse: Reverse, search: int, goal: int, origin: int) -> None:
    """Say what an empty search is to find, and from where it is going to be asked. Mutates: reverse."""
    reverse.goal[search], reverse.origin[search] = goal, origin


@jit
def _known(reverse, search, cell):
    """What is known of a cell."""
    return reverse.known[reverse.page_of[search, cell >> 6] + (cell & 63)]


@jit
def forget(reverse, search):
    """Empty a search and give its pages and entries back; it begins anew when it is asked. Mutates: reverse."""
    tally = reverse.tally
    for k in range(reverse.page_of.shape[1]):
        page = reverse.page_of[search, k]
        if page != 0:
            reverse.known[page : page + PAGE] = _UNREACHED
            reverse.free_page[tally[_FREE]] = page
            tally[_FREE] += 1
            reverse.page_of[search, k] = 0
    for k in range(reverse.levels[search]):
        at = np.int64(reverse.level_top[search, k])
        while at != _NO_ENTRY:
            below = reverse.entry[at] & 0xFFFFFFFF
            reverse.entry[at] = tally[_FREE_ENTRY]
            tally[_FREE_ENTRY] = at
            at = below
    reverse.levels[search] = 0


@jit
def reaches(reverse, search, cell):
    """Whether the search has come to a cell yet."""
    return _known(reverse, search, cell) != _UNREACHED


@jit
def allow(reverse, expansions):
    """Let so many expansions be made from now on. Mutates: reverse."""
    reverse.tally[_ALLOWED] = reverse.tally[_EXPANDED] + expansions


@jit
def expand(reverse, nodes):
    """Count so many expansions if they are allowed; else False. Forward searches count here too. Mutates: reverse."""
    if reverse.tally[_EXPANDED] + nodes > reverse.tally[_ALLOWED]:
        return False
    reverse.tally[_EXPANDED] += nodes
    return True


def expansions_of(reverse: Reverse) -> int:
    """Expansions counted so far."""
    return int(reverse.tally[_EXPANDED])


@jit
def _new_page(reverse):
    """Take a page out of the pool; return where it begins. Mutates: reverse."""
    tally = reverse.tally
    if tally[_FREE] > 0:
        tally[_FREE] -= 1
        return np.int64(reverse.free_page[tally[_FREE]])
    tally[_PAGES] += 1
    return (tally[_PAGES] - 1) * PAGE


@jit
def _push(reverse, level_f, level_top, levels, f, cell):
    """Put a cell on the stack of its f; return how many values there are now. Mutates: reverse, the levels."""
    tally, entry = reverse.tally, reverse.entry
    at = tally[_FREE_ENTRY]
    if at != _NO_ENTRY:
        tally[_FREE_ENTRY] = entry[at] & 0xFFFFFFFF
    else:
        at = tally[_ENTRIES]
        tally[_ENTRIES] += 1
    k, end = 0, levels                              # the first value that is not larger
    while k < end:
        middle = (k + end) >> 1
        if level_f[middle] > f:
            k = middle + 1
        else:
            end = middle
    if k == levels or level_f[k] != f:
        for j in range(levels, k, -1):
            level_f[j], level_top[j] = level_f[j - 1], level_top[j - 1]
        level_f[k], level_top[k] = f, _NO_ENTRY
        levels += 1
    entry[at] = cell << 32 | level_top[k]
    level_top[k] = at
    return levels


@jit
def _has_room(reverse, levels):
    """Whether one more node can be expanded."""
    tally = reverse.tally
    return (
        tally[_PAGES] - tally[_FREE] + 8 <= reverse.free_page.size
        and tally[_ENTRIES] + 8 <= reverse.entry.size
        and levels + 8 <= reverse.level_f.shape[1]
    )


@jit
def distance(tables, reverse, search, cell):
    """The cost of the shortest path from a cell to the search's goal (Alg. 1, l. 8-36). Mutates: reverse.

    Or UNREACHABLE, OUT_OF_BUDGET or NEEDS_ROOM.
    """
    here = _known(reverse, search, cell)
    return (here + _FAR) >> 1 if here & 1 else _resume(tables, reverse, search, np.int64(cell))


@jit
def _resume(tables, reverse, search, cell):
    """Go on with a search until it has closed a cell; answer as `distance` does. Mutates: reverse."""
    page_of, known, entry, tally = reverse.page_of[search], reverse.known, reverse.entry, reverse.tally
    level_f, level_top = reverse.level_f[search], reverse.level_top[search]
    levels = np.int64(reverse.levels[search])
    moves, offset, width = tables.moves, tables.offset, tables.width
    directions = 4 if tables.minor == CARDINAL_COST else 8
    goal, origin = np.int64(reverse.goal[search]), np.int64(reverse.origin[search])
    origin_x, origin_y = origin % width, origin // width
    expanded, allowed = tally[_EXPANDED], tally[_ALLOWED]
    if not reaches(reverse, search, goal):          # Alg. 1, l. 1-7
        if not _has_room(reverse, levels):
            return NEEDS_ROOM
        page_of[goal >> 6] = _new_page(reverse)
        known[page_of[goal >> 6] + (goal & 63)] = -_FAR
        levels = _push(reverse, level_f, level_top, levels, np.int64(0), goal)
    answer = UNREACHABLE
    while levels > 0:
        at = np.int64(level_top[levels - 1])
        first = entry[at] >> 32
        slot = page_of[first >> 6] + (first & 63)
        is_outdated = known[slot] & 1               # an entry from before the cell was improved
        if not is_outdated:
            if not _has_room(reverse, levels):
                answer = NEEDS_ROOM
                break
            if expanded == allowed:
                answer = OUT_OF_BUDGET
                break
        level_top[levels - 1] = entry[at] & 0xFFFFFFFF
        if level_top[levels - 1] == _NO_ENTRY:
            levels -= 1
        entry[at] = tally[_FREE_ENTRY]
        tally[_FREE_ENTRY] = at
        if is_outdated:
            continue
        expanded += 1
        g = (known[slot] + _FAR) >> 1
        known[slot] |= 1
        bits = moves[first]
        y = first // width
        x = first - y * width
        for d in range(directions):
            if not bits >> d & 1:
                continue
            beside = first + offset[d]
            cost = g + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            opened = (cost << 1) - _FAR
            page = np.int64(page_of[beside >> 6])
            if opened + 1 >= known[page + (beside & 63)]:       # closed, or no better than before
                continue
            if page == 0:
                page = _new_page(reverse)
                page_of[beside >> 6] = page
            known[page + (beside & 63)] = opened
            h = empty_map_cost(tables, abs(x + DX[d] - origin_x), abs(y + DY[d] - origin_y))
            levels = _push(reverse, level_f, level_top, levels, cost + h, beside)
        if first == cell:
            answer = g
            break
    tally[_EXPANDED] = expanded
    reverse.levels[search] = levels
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
            if search == self.reverse.goal.size:
                self.reverse = with_room(self.reverse, searches=max(2 * search, 64))
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
        for search in self._by_goal.values():
            if _is_touched(self.reverse, search, self._grid.width, cells):
                forget(self.reverse, search)

    def grow(self) -> None:
        """Make the room that a search asked for."""
        self.reverse = with_room(self.reverse)
