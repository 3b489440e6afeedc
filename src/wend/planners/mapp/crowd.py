# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The units of a round of MAPP: where they are, which cells are theirs, and how they move.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), sections 4, 5.3 and 7.2.

    paper                                        here
    private zone, buffer zone                    is_held, is_reserved
    well positioned (Def. 2, 23)                 rate, level_of, is_well_positioned

    l_i, L     the cells of a unit's path, its last index      beta, kappa, tau   buffer zone, blanks in it, and needed
    rank       priority, 0 = the master unit                   level              see level_of

A unit that has no blank ahead at first may wait for its usher (slidable.py), the unit that stands there and goes before
it. As long as the usher has not left, the unit counts as well positioned. (Ours, on request.)
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import allocate, flags, int32, record, uint8
from wend.maps.terrain import GridTables
from wend.planners.mapp.alternates import Alternates
from wend.planners.mapp.slidable import Instance, Prospects, UnitPaths
from wend.search.heap import Heap

OFF_PATH = -1       # index of a unit that is not on its path
NONE = -1           # no such move, no such guest


class Crowd(NamedTuple):
    """All units of one round."""

    cell: Annotated[np.ndarray, int32("units")]         # pos(u)
    goal: Annotated[np.ndarray, int32("units")]         # t_u, NO_CELL if the unit has none of its own
    along: Annotated[np.ndarray, int32("units")]        # i where pos(u) = l_i, or OFF_PATH
    slidable: Annotated[np.ndarray, flags("units")]     # goes before those that are not
    solved: Annotated[np.ndarray, flags("units")]
    waits: Annotated[np.ndarray, int32("units")]        # how many unsolved units go before this one
    kappa: Annotated[np.ndarray, int32("units")]        # blanks in beta
    rank: Annotated[np.ndarray, int32("units")]         # place in the order of this step
    order: Annotated[np.ndarray, int32("units")]        # active units, highest priority first
    level: Annotated[np.ndarray, uint8("units")]        # at the start of the step
    origin: Annotated[np.ndarray, int32("units")]       # pos(u) at the start of the step
    second: Annotated[np.ndarray, int32("units")]       # the cell ahead at the start of the step, or NO_CELL
    pushed: Annotated[np.ndarray, int32("units")]       # the last push in this step that was not walked back, or NONE
    behind: Annotated[np.ndarray, int32("units", fill=NO_CELL)]         # l_{i-1} if the private zone has it, or NO_CELL
    behind_next: Annotated[np.ndarray, int32("units", fill=NO_AGENT)]   # next unit with the same cell behind
    behind_first: Annotated[np.ndarray, int32("cells", fill=NO_AGENT)]  # first unit with this cell behind
    known_cell: Annotated[np.ndarray, int32("total")]   # the cells of each path in ascending order, and ...
    known_index: Annotated[np.ndarray, int32("total")]  # ... their indices
    visited: Annotated[np.ndarray, int32("total")]      # the last step in which the unit was on this cell of its path
    occupant: Annotated[np.ndarray, int32("cells", fill=NO_AGENT)]
    target_of: Annotated[np.ndarray, int32("cells", fill=NO_AGENT)]     # the unit whose target it is
    guest_first: Annotated[np.ndarray, int32("cells", fill=NONE)]   # of targets: the last other unit there in this step
    segment: Annotated[np.ndarray, int32("cells")]      # cells from l_{i+1} to the blank
    came: Annotated[np.ndarray, int32("cells")]         # scratch of the search in tunnels: where it came from,
    region: Annotated[np.ndarray, int32("cells")]       # ... where it may go,
    queue: Annotated[np.ndarray, int32("cells")]        # ... its queue
    heap: Heap                                          # scratch of the ordering
    counts: Annotated[np.ndarray, record(
        "moves",        # entries in the log
        "step",         # number of this progression step
        "under_way",    # whether it has begun and not ended
        "step_began",   # moves when it began
        "step_ended",   # moves when it ended
        "active",       # units in `order`
        "cursor",       # place in the order of the unit whose turn it is
        "changed",      # whether a unit moved in this pass
        "tight",        # active units that can spare no blank in their buffer
        "guests",       # entries in the lists of guests
        "solved",       # units solved so far
        "pushes",       # moves of units that were pushed
        "region",       # stamp of the last search in a tunnel
    )]  # fmt: skip


class Log(NamedTuple):
    """All moves made, in their order."""

    unit: Annotated[np.ndarray, int32("moves")]
    source: Annotated[np.ndarray, int32("moves")]
    to: Annotated[np.ndarray, int32("moves")]
    earlier: Annotated[np.ndarray, int32("moves")]      # of a push: the unit's push before, or NONE; in repositioning:
                                                        # of every move of the step, the unit's move before
    guest: Annotated[np.ndarray, int32("guests")]       # entries of the lists in Crowd.guest_first: the unit, and ...
    guest_next: Annotated[np.ndarray, int32("guests")]  # ... the next entry


class Stage(NamedTuple):
    """What a round is played on: the map, the paths, the units, and the moves so far."""

    tables: GridTables
    alternates: Alternates
    paths: UnitPaths
    crowd: Crowd
    log: Log


def make_crowd(prospects: Prospects, instance: Instance, cells: int) -> Crowd:
    """Set up all units where they start."""
    paths, (starts, goals, _) = prospects.paths, instance
    lengths = np.diff(paths.begin)
    order = np.lexsort((paths.cell, np.repeat(np.arange(starts.size), lengths)))
    index_of = np.arange(paths.cell.size) - np.repeat(paths.begin[:-1], lengths)
    given = {
        "cell": starts.copy(), "goal": goals, "along": np.where(lengths > 0, 0, OFF_PATH).astype(np.int32),
        "slidable": prospects.slidable & (lengths > 0), "kappa": prospects.kappa.copy(),
        "waits": np.bincount(paths.follower, minlength=starts.size).astype(np.int32),
        "known_cell": paths.cell[order], "known_index": index_of[order].astype(np.int32),
    }  # fmt: skip
    crowd = allocate(Crowd, given, units=starts.size, cells=cells, total=paths.cell.size, entries=starts.size)
    aimed = np.flatnonzero(goals != NO_CELL)
    crowd.target_of[goals[aimed]] = aimed
    crowd.occupant[starts] = np.arange(starts.size)
    crowd.counts[0].tight = np.count_nonzero((paths.tau > 0) & (prospects.kappa <= paths.tau))
    return crowd


def make_log(cells: int, units: int) -> Log:
    """A log for the first moves of so many units on so many cells."""
    return allocate(Log, moves=2 * cells, guests=2 * cells + units)


# --- where units are, and what is theirs ------------------------------------------------------------------------------


@jit
def last_index(paths, u):
    """L, or -1 if the unit has no path."""
    return paths.begin[u + 1] - paths.begin[u] - 1


@jit
def index_of(paths, crowd, u, cell):
    """i with l_i = cell, or OFF_PATH."""
    low, high = paths.begin[u], paths.begin[u + 1]
    while low < high:
        middle = (low + high) // 2
        if crowd.known_cell[middle] < cell:
            low = middle + 1
        else:
            high = middle
    if low < paths.begin[u + 1] and crowd.known_cell[low] == cell:
        return crowd.known_index[low]
    return OFF_PATH


@jit
def set_behind(crowd, u, cell):
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
    """A cell became blank (+1) or occupied (-1): tell the units that have it in their buffer. Mutates: crowd."""
    for k in range(paths.zone[cell], paths.zone[cell + 1]):
        u = paths.owner[k]
        was_tight = crowd.kappa[u] <= paths.tau[u]
        crowd.kappa[u] += blanks
        if not crowd.solved[u]:
            crowd.counts[0].tight += int(crowd.kappa[u] <= paths.tau[u]) - int(was_tight)


@jit
def welcome(crowd, log, cell, u):
    """Note that a unit stands on a cell, if it is another unit's target. Mutates: crowd, log."""
    owner = crowd.target_of[cell]
    if owner != NO_AGENT and owner != u:
        k = crowd.counts[0].guests
        crowd.counts[0].guests = k + 1
        log.guest[k] = u
        log.guest_next[k] = crowd.guest_first[cell]
        crowd.guest_first[cell] = k


@jit
def move(paths, crowd, log, u, to):
    """Move a unit to a blank cell. Mutates: crowd, log."""
    source = crowd.cell[u]
    k = crowd.counts[0].moves
    crowd.counts[0].moves = k + 1
    log.unit[k], log.source[k], log.to[k] = u, source, to
    crowd.occupant[source] = NO_AGENT
    crowd.occupant[to] = u
    crowd.cell[u] = to
    i = index_of(paths, crowd, u, to)
    crowd.along[u] = i
    if i != OFF_PATH:
        crowd.visited[paths.begin[u] + i] = crowd.counts[0].step
    interior = 0 < i < last_index(paths, u)
    set_behind(crowd, u, paths.cell[paths.begin[u] + i - 1] if interior else NO_CELL)
    refill(paths, crowd, source, 1)
    refill(paths, crowd, to, -1)


@jit
def is_held(crowd, cell, rank):
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
def is_reserved(paths, crowd, cell, rank):
    """Whether a cell is in the buffer of a unit of higher priority that has no blank to spare (Alg. 4, l. 7)."""
    if crowd.counts[0].tight == 0:
        return False
    for k in range(paths.zone[cell], paths.zone[cell + 1]):
        v = paths.owner[k]
        if not crowd.solved[v] and crowd.rank[v] < rank and crowd.kappa[v] <= paths.tau[v]:
            return True
    return False


@jit
def cell_ahead(paths, u, i):
    """l_{i+1}, or NO_CELL."""
    return paths.cell[paths.begin[u] + i + 1] if i != OFF_PATH and i < last_index(paths, u) else NO_CELL


@jit
def rate(paths, crowd, u, i, is_open_ahead):
    """How well a unit is positioned: 2 = home or with a blank ahead (Def. 2, 23), 1 = on its path, 0 = off it."""
    if i == OFF_PATH:
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
