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

A search keeps what it knows of a cell in pages of 8 x 8 cells from one pool, since it reaches few of them; its stacks
are chains of entries from another pool. When a pool or the list of values is full, `distance` answers OUT_OF_SPACE,
Python lets it grow (`with_space`), and the question is asked again. Memory that is never touched costs nothing.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import Allowance
from wend.kernel.arrays import ahead, allocate, grown, int32, int64, marks, record
from wend.kernel.pages import (
    MOST_READY,
    NO_PAGE,
    PAGE,
    SIDE,
    Pages,
    across_and_down,
    give_back,
    has_space,
    make_pages,
    new_page,
    page_at,
    place_at,
    with_more,
)
from wend.kernel.pools import CHUNK, CHUNK_BITS, Pool, bring, carry, enlarged, get, make_pool, make_ready, put
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, DX, DY, empty_map_cost, place_of
from wend.search.sharing import number_of

_REACHED = 100      # pages that a search comes to on a large map, or more
_CARRIED_PER_TICK = 1024    # chunks of a pool that has grown: half a megabyte, about 0.1 ms

_UNREACHED = 0
_FAR = 2**62        # taken off what is known of a cell, so that _UNREACHED is more than anything
_NO_ENTRY = 0       # entry 0 is in no chain


class Reverse(NamedTuple):
    """The backward searches of a planner, one per goal."""

    width: int      # of the map, in cells,
    across: int     # ... and in pages;
    cells: int      # ... and all its cells;
    row_factor: int     # as in the tables
    row_shift: int
    page_of: Annotated[np.ndarray, int32("searches", "map_pages", marked_by="has_paged")]   # where a page begins in
    has_paged: Annotated[np.ndarray, marks("searches", "page_rows")]    # ... `known`, or NO_PAGE
    known: Pages    # by cell: (g << 1 | closed) - _FAR, or _UNREACHED
    entry: Pool     # cell << 32 | the entry below it, _NO_ENTRY at the bottom
    level_f: Annotated[np.ndarray, int64("searches", "levels", marked_by="has_searched")]   # the values of f in the
    level_top: Annotated[np.ndarray, int32("searches", "levels", marked_by="has_searched")] # ... open list, descending,
    has_searched: Annotated[np.ndarray, marks("searches")]          # ... and the last entry of each
    levels: Annotated[np.ndarray, int32("searches")]                # how many values there are
    goal: Annotated[np.ndarray, int32("searches")]                  # cell
    origin: Annotated[np.ndarray, int32("searches")]                # the cell that the search heads for
    counts: Annotated[
        np.ndarray,
        record(
            "entries",      # entries that were ever used, entry 0 included
            "free_entry",   # the first of a chain of entries that were given back
        ),
    ]
    allowance: Allowance    # forward searches that ask for distances count their expansions here too

    def lengths_in_use(self) -> dict[str, int]:
        """How much of the pool of entries a snapshot has to hold."""
        return {"items": self.counts["entries"].item()}


def make_reverse(
    grid: Grid, *, searches: int = 0, pages: int = 1 << 16, entries: int = 1 << 20, levels: int = 256
) -> Reverse:
    """Empty searches on a map; so many pages, entries and values of f, until these grow."""
    across, down = across_and_down(grid.width, grid.height)
    given = {
        "width": grid.width, "across": across, "cells": grid.size, "row_factor": grid.tables.row_factor,
        "row_shift": grid.tables.row_shift,
        "known": make_pages(pages), "entry": make_pool(entries),
    }  # fmt: skip
    reverse = allocate(Reverse, given, searches=searches, map_pages=across * down, page_rows=down, levels=levels)
    reverse.counts[0].entries = 1
    return reverse


def with_space(reverse: Reverse) -> Reverse:
    """The same with larger pools and lists of values where these are short."""
    known, entry = reverse.known, reverse.entry
    if not has_space(known, 8):
        known = with_more(known)
    if reverse.counts[0].entries + 8 > entry.items.size:
        entry = enlarged(entry)
    levels = reverse.level_f.shape[1]
    if int(reverse.levels.max(initial=0)) + 8 > levels:
        levels *= 2
    return grown(reverse._replace(known=known, entry=entry), levels=levels)


def begin(reverse: Reverse, search: int, goal: int, origin: int) -> None:
    """Say what an empty search is to find, and from where it is going to be asked. Mutates: reverse.

    What it will write to first is written now: a new page of memory takes a microsecond, which is not the tick's.
    """
    reverse.goal[search], reverse.origin[search] = goal, origin
    reverse.page_of[search, page_at(reverse.across, goal % reverse.width, goal // reverse.width)] = NO_PAGE
    reverse.level_f[search, 0] = reverse.level_top[search, 0] = 0


@jit
def carry_on(reverse):
    """Carry some more of the pools that have grown over, once per tick: until all is over they are slower to read.

    Mutates: reverse.
    """
    carry(reverse.known.pool, _CARRIED_PER_TICK)
    carry(reverse.entry, _CARRIED_PER_TICK)


@jit
def _known(reverse, search, cell):
    """What is known of a cell."""
    x, y = place_of(reverse, cell)
    return get(reverse.known.pool, reverse.page_of[search, page_at(reverse.across, x, y)] + place_at(x, y))


@jit
def forget(reverse, search):
    """Empty a search and give its pages and entries back; it begins anew when it is asked. Mutates: reverse."""
    counts = reverse.counts[0]
    for k in range(reverse.page_of.shape[1]):
        page = reverse.page_of[search, k]
        if page != NO_PAGE:
            give_back(reverse.known, page)
            reverse.page_of[search, k] = NO_PAGE
            reverse.has_paged[search, k // reverse.across] = True
    for k in range(reverse.levels[search]):
        at = np.int64(reverse.level_top[search, k])
        while at != _NO_ENTRY:
            below = get(reverse.entry, at) & 0xFFFFFFFF
            put(reverse.entry, at, counts.free_entry)
            counts.free_entry = at
            at = below
    reverse.levels[search] = 0


@jit
def reaches(reverse, search, cell):
    """Whether the search has come to a cell yet."""
    return _known(reverse, search, cell) != _UNREACHED


@jit
def _push(counts, entry, written, level_f, level_top, levels, f, cell):
    """Put a cell on the stack of its f; return how many values there are now.

    Mutates: reverse, of which these are the counts, the entries and their marks; the levels.
    """
    at = counts.free_entry
    if at != _NO_ENTRY:
        counts.free_entry = entry[at] & 0xFFFFFFFF
    else:
        at = counts.entries
        counts.entries += 1
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
    written[at >> CHUNK_BITS] = True
    entry[at] = cell << 32 | level_top[k]
    level_top[k] = at
    return levels


@jit
def _has_space(reverse, levels):
    """Whether one more node can be expanded."""
    counts = reverse.counts[0]
    return (
        has_space(reverse.known, 8)
        and counts.entries + 8 <= reverse.entry.items.size
        and levels + 8 <= reverse.level_f.shape[1]
    )


@jit
def distance(tables, reverse, search, cell):
    """The cost of the shortest path from a cell to the search's goal (Alg. 1, l. 8-36). Mutates: reverse.

    Or UNREACHABLE, OUT_OF_BUDGET or OUT_OF_SPACE.
    """
    here = _known(reverse, search, cell)
    return (here + _FAR) >> 1 if here & 1 else _resume(tables, reverse, search, np.int64(cell))


@jit
def known_distance(reverse, search, cell):
    """The same as far as it is known already, OUT_OF_BUDGET where it is not."""
    here = _known(reverse, search, cell)
    return (here + _FAR) >> 1 if here & 1 else OUT_OF_BUDGET


@jit
def write_known(reverse, search, far):
    """Write how far it is from each cell, OUT_OF_BUDGET where the search has not come yet. Mutates: far."""
    for cell in range(far.size):
        far[cell] = known_distance(reverse, search, cell)


@jit
def _bring_entries(reverse):
    """Carry over the next entries to be taken, as many as an expansion may need. Mutates: reverse."""
    counts, entry, until = reverse.counts[0], reverse.entry, reverse.entry.counts[0].until
    at = counts.free_entry
    for _ in range(8):
        if at == _NO_ENTRY:
            break
        if at < until:
            bring(entry, at)
        at = entry.items[at] & 0xFFFFFFFF
    for at in range(counts.entries, min(counts.entries + 8, until)):
        bring(entry, at)
    if counts.entries % CHUNK < 8:                  # once at least for so many new ones
        carry(entry, 2)


@jit
def _bring_around(tables, reverse, page_of, at):
    """Carry over what an expansion looks at: entries, and what is known of the cell of one and of those beside it.

    Mutates: reverse.
    """
    _bring_entries(reverse)
    if at < reverse.entry.counts[0].until:
        bring(reverse.entry, at)
    first = reverse.entry.items[at] >> 32
    x, y = first % tables.width, first // tables.width
    bits, until = tables.moves[first], reverse.known.pool.counts[0].until
    for d in range(9):
        if d == 8 or bits >> d & 1:
            near = page_at(reverse.across, x, y) if d == 8 else page_at(reverse.across, x + DX[d], y + DY[d])
            page = np.int64(page_of[near])
            if page < until:
                bring(reverse.known.pool, page)


@jit
def _resume(tables, reverse, search, cell):
    """Go on with a search until it has closed a cell; answer as `distance` does. Mutates: reverse."""
    page_of, known, entry = reverse.page_of[search], reverse.known.pool.items, reverse.entry.items
    is_growing = reverse.entry.counts[0].until > 0 or reverse.known.pool.counts[0].until > 0
    known_written, entry_written = reverse.known.pool.written, reverse.entry.written
    counts, allowance = reverse.counts[0], reverse.allowance.counts[0]
    level_f, level_top = reverse.level_f[search], reverse.level_top[search]
    levels = np.int64(reverse.levels[search])
    moves, offset, width, across = tables.moves, tables.offset, tables.width, reverse.across
    directions = 4 if tables.minor == CARDINAL_COST else 8
    goal, origin = np.int64(reverse.goal[search]), np.int64(reverse.origin[search])
    origin_x, origin_y = origin % width, origin // width
    expanded, allowed = allowance.spent, allowance.limit
    if not reaches(reverse, search, goal):          # Alg. 1, l. 1-7
        if not _has_space(reverse, levels):
            return OUT_OF_SPACE
        reverse.has_paged[search] = True
        x, y = goal % width, goal // width
        page = new_page(reverse.known)
        page_of[page_at(across, x, y)] = page
        put(reverse.known.pool, page + place_at(x, y), -_FAR)
        if is_growing:
            _bring_entries(reverse)
        levels = _push(counts, entry, entry_written, level_f, level_top, levels, np.int64(0), goal)
    if levels > 0:
        reverse.has_searched[search] = True
    answer = UNREACHABLE
    while levels > 0:
        at = np.int64(level_top[levels - 1])
        if is_growing:
            _bring_around(tables, reverse, page_of, at)
        top = entry[at]
        first = top >> 32
        x, y = place_of(reverse, first)
        slot = page_of[page_at(across, x, y)] + place_at(x, y)
        here = known[slot]
        is_outdated = here & 1                      # an entry from before the cell was improved
        if not is_outdated:
            if not _has_space(reverse, levels):
                answer = OUT_OF_SPACE
                break
            if expanded == allowed:
                answer = OUT_OF_BUDGET
                break
        level_top[levels - 1] = top & 0xFFFFFFFF
        if level_top[levels - 1] == _NO_ENTRY:
            levels -= 1
        entry[at] = counts.free_entry
        entry_written[at >> CHUNK_BITS] = True
        counts.free_entry = at
        if is_outdated:
            continue
        expanded += 1
        g = (here + _FAR) >> 1
        known[slot] = here | 1
        known_written[slot >> CHUNK_BITS] = True
        bits = moves[first]
        for d in range(directions):
            if not bits >> d & 1:
                continue
            cost = g + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            opened = (cost << 1) - _FAR
            near_x, near_y = x + DX[d], y + DY[d]
            at_page, place = page_at(across, near_x, near_y), place_at(near_x, near_y)
            page = np.int64(page_of[at_page])
            if opened + 1 >= known[page + place]:               # closed, or no better than before
                continue
            if page == NO_PAGE:
                page = new_page(reverse.known)
                page_of[at_page] = page
                reverse.has_paged[search, near_y // SIDE] = True
            known[page + place] = opened
            known_written[page >> CHUNK_BITS] = True
            h = empty_map_cost(tables, abs(near_x - origin_x), abs(near_y - origin_y))
            levels = _push(counts, entry, entry_written, level_f, level_top, levels, cost + h, first + offset[d])
        if first == cell:
            answer = g
            break
    allowance.spent = expanded
    reverse.levels[search] = levels
    return answer


@jit
def _aim_all(reverse, users, search_of, agents, goals, origins):
    """Do with many agents what `SharedSearches.aim` does with one. Mutates: reverse, users, search_of."""
    for k in range(agents.size):
        search = search_of[agents[k]]
        if search >= 0:
            if users[search] == 1:
                forget(reverse, search)
            users[search] -= 1
        search = number_of(reverse.goal, users, goals[k])
        if users[search] == 0:
            reverse.goal[search], reverse.origin[search] = goals[k], origins[k]
        users[search] += 1
        search_of[agents[k]] = search


@jit
def _is_touched(reverse, search, cells):
    """Whether a search has come to one of these cells or to a neighbour of one."""
    for cell in cells:
        for row in range(-1, 2):
            for column in range(-1, 2):
                near = cell + row * reverse.width + column
                if 0 <= near < reverse.cells and reaches(reverse, search, near):
                    return True
    return False


@jit
def _forget_touched(reverse, searches, cells):
    """Empty those of some searches that have come to one of these cells or beside one. Mutates: reverse."""
    for search in searches:
        if _is_touched(reverse, search, cells):
            forget(reverse, search)


class SharedSearches:
    """The backward searches of a planner's agents: one per goal, shared by the agents that have it."""

    def __init__(self, grid: Grid) -> None:
        levels = 16 if grid.connectivity == 4 else 256      # twice as many as there mostly are, at the least
        self.reverse = make_reverse(grid, levels=levels)
        self.of = np.zeros(0, np.int32)             # int32[agents] the search of each agent
        self._users = np.zeros(0, np.int32)         # int32[searches] how many agents have each search

    def reserve(self, agents: int) -> None:
        """Make space for so many agents. A search for each of them is enough: orders need no more."""
        more = ahead(self.of.size, agents)
        if more > self.of.size:
            self.reverse = grown(self.reverse, searches=more)
            self._users = np.pad(self._users, (0, more - self._users.size))
            self.of = np.pad(self.of, (0, more - self.of.size), constant_values=-1)
            pages = more * min(self.reverse.page_of.shape[1], _REACHED)
            make_ready(self.reverse.known.pool, min(pages, MOST_READY) * PAGE)

    def aim(self, agent: int, goal: int, origin: int) -> None:
        """Say where an agent wants to go, and from where."""
        self.reserve(agent + 1)
        self.drop(agent)
        search = number_of(self.reverse.goal, self._users, goal)
        if self._users[search] == 0:
            begin(self.reverse, search, goal, origin)
        self._users[search] += 1
        self.of[agent] = search

    def aim_all(self, agents: NDArray[np.int32], goals: NDArray[np.int32], origins: NDArray[np.int32]) -> None:
        """The same for many agents, for which there is space."""
        _aim_all(self.reverse, self._users, self.of, agents, goals, origins)

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        search = int(self.of[agent])
        if search < 0:
            return
        self.of[agent] = -1
        if self._users[search] == 1:
            forget(self.reverse, search)
        self._users[search] -= 1

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        """Begin anew the searches that have come near an edited cell; the others have not seen it yet."""
        _forget_touched(self.reverse, np.flatnonzero(self._users), cells)

    def grow(self) -> None:
        """Make the space that a search asked for."""
        self.reverse = with_space(self.reverse)
