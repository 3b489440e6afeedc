# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Surroundings: the cells around a place, and the best of them that is nobody's.

A slot is as near to the place as can be, by moves. It is not in a gap, which agents leave free so that others can pass,
nor in a doorway, if it can be helped. The flood around the last place is kept, and goes on
where it ended: a thousand agents that are sent to one place cost one flood over the thousands of cells around it, and
for each a look at these cells.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, UNREACHABLE, jit
from wend.kernel.arrays import int32, record
from wend.maps.grid import Grid
from wend.maps.terrain import GridTables, spread

SPARE = 64              # cells to choose from beyond four times as many as are needed
WIDE = 4                # cells; what is narrower is a doorway
FOR_CUT_OFF = 0         # where the chessboard of gaps begins for all that are cut off from the places they were sent to

_KINDS = 4              # of cells, the best first: slots, those in doorways, gaps, those in doorways


class Floor(NamedTuple):
    """The map, as slots are chosen by it."""

    tables: GridTables
    free: np.ndarray        # bool[cells]
    has_diagonals: bool


def floor_of(grid: Grid) -> Floor:
    """A map for kernels."""
    return Floor(grid.tables, grid.free, grid.connectivity == 8)


class Taken(NamedTuple):
    """Which cells are somebody's."""

    holder: np.ndarray      # int32[cells]  the agent whose goal a cell is
    occupant: np.ndarray    # int32[cells]  the agent that stands there
    controlled: np.ndarray  # bool[agents]


class Nearby(NamedTuple):
    """The flood around the last place: scratch, which another place empties."""

    moves: Annotated[np.ndarray, int32("cells", fill=UNREACHABLE)]  # from the place
    order: Annotated[np.ndarray, int32("cells")]                    # the cells reached, the nearest first
    best: Annotated[np.ndarray, int32(_KINDS)]                      # the nearest vacant cell of each kind
    counts: Annotated[np.ndarray, record("reached", "visited", "flooded")]  # cells in `order`; those of them whose
                                                                    # neighbours are; and all that ever were reached


@jit
def empty(nearby):
    """Forget the place: the map is about to change, or is another one. Mutates: nearby."""
    counts = nearby.counts[0]
    for k in range(counts.reached):
        nearby.moves[nearby.order[k]] = UNREACHABLE
    counts.reached = counts.visited = 0


@jit
def is_vacant(taken, cell, agent):
    """Whether a cell is no other agent's: not its goal, and no agent of the program stands there."""
    holder, occupant = taken.holder[cell], taken.occupant[cell]
    if holder != NO_AGENT and holder != agent:
        return False
    return occupant == NO_AGENT or occupant == agent or taken.controlled[occupant]


@jit
def _is_gap(floor, cell, origin):
    """Whether a cell is left free between slots, so that agents can pass: one colour of a chessboard from `origin` on.

    Without diagonals three cells in four are left free.
    """
    width = floor.tables.width
    dx, dy = (cell % width - origin % width) & 1, (cell // width - origin // width) & 1
    return dx != dy if floor.has_diagonals else dx + dy > 0


@jit
def _is_square_free(floor, left, top):
    """Whether a square of WIDE cells a side is free."""
    for y in range(top, top + WIDE):
        for x in range(left, left + WIDE):
            if not floor.free[y * floor.tables.width + x]:
                return False
    return True


@jit
def _is_narrow(floor, x, y):
    """Whether no free square of WIDE cells a side covers a cell."""
    width = floor.tables.width
    height = floor.free.size // width
    for top in range(max(y - WIDE + 1, 0), min(y, height - WIDE) + 1):
        for left in range(max(x - WIDE + 1, 0), min(x, width - WIDE) + 1):
            if _is_square_free(floor, left, top):
                return False
    return True


@jit
def is_in_a_doorway(floor, cell):
    """Whether a cell is in a doorway or beside one: a free cell that no free square of WIDE cells a side covers."""
    width = floor.tables.width
    height = floor.free.size // width
    for y in range(max(cell // width - 1, 0), min(cell // width + 2, height)):
        for x in range(max(cell % width - 1, 0), min(cell % width + 2, width)):
            if floor.free[y * width + x] and _is_narrow(floor, x, y):
                return True
    return False


@jit
def kinds_of(floor, cells, origin, kinds):
    """Which kind each cell is, the lower the better: 2 for a gap, and 1 for a doorway. Mutates: kinds."""
    for k in range(cells.size):
        kinds[k] = 2 * _is_gap(floor, cells[k], origin) + is_in_a_doorway(floor, cells[k])


@jit
def _begin(nearby, place):
    """Begin the flood around a place, unless it is the last one. Mutates: nearby."""
    counts = nearby.counts[0]
    if counts.reached == 0 or nearby.order[0] != place:
        empty(nearby)
        nearby.order[0], nearby.moves[place] = place, 0
        counts.reached = 1
        counts.flooded += 1


@jit
def _spread(tables, nearby):
    """Go on with the flood by a step; return whether there was one to make. Mutates: nearby."""
    counts = nearby.counts[0]
    if counts.visited == counts.reached:
        return False
    before, moves = counts.reached, nearby.moves[nearby.order[counts.visited]] + 1
    counts.reached = spread(tables, 8, nearby.moves, UNREACHABLE, moves, nearby.order, counts.visited, before)
    counts.visited += 1
    counts.flooded += counts.reached - before
    return True


@jit
def best_slot(floor, taken, nearby, agent, place, origin, but, rather):
    """The best slot for an agent near a place within its reach, `but` one; NO_CELL if there is none.

    The chessboard begins at `origin`. Of equally good ones it is the one that the agent would `rather` have.
    Mutates: nearby.
    """
    best, counts = nearby.best, nearby.counts[0]
    best[:] = NO_CELL
    is_place_in_one = is_in_a_doorway(floor, place)     # a doorway, which its crowd is not to keep free then
    seen, others, most = 0, 0, SPARE        # cells looked at, those of them that are somebody's, and those to look at
    _begin(nearby, place)
    while best[0] == NO_CELL:
        if seen == most:
            most = 2 * (4 * others + SPARE)             # of four cells, one is a slot at the least
            if most <= 2 * seen:
                break
        if seen == counts.reached and not _spread(floor.tables, nearby):
            break
        if seen == counts.reached:
            continue
        cell = nearby.order[seen]
        seen += 1
        if cell == but or not is_vacant(taken, cell, agent):
            others += 1
            continue
        kind = 2 * _is_gap(floor, cell, origin)
        if best[kind] == NO_CELL:
            kind += (not is_place_in_one) and is_in_a_doorway(floor, cell)
            if best[kind] == NO_CELL:
                best[kind] = cell
    for kind in range(_KINDS):
        if best[kind] != NO_CELL:
            break
    found = best[kind]
    if found == NO_CELL or rather == NO_CELL or rather == but:
        return found
    far, order = nearby.moves[found], nearby.order
    while counts.reached < most and nearby.moves[order[counts.reached - 1]] <= far and _spread(floor.tables, nearby):
        pass                                            # all that are as near as the one found
    if nearby.moves[rather] != far:
        return found
    at = min(counts.reached, most) - 1
    while at >= 0 and order[at] != rather:
        at -= 1
    if at < 0:                                          # it is beyond what was to be looked at
        return found
    is_as_good = 2 * _is_gap(floor, rather, origin) == kind & 2 and is_vacant(taken, rather, agent)
    if is_as_good and ((not is_place_in_one) and is_in_a_doorway(floor, rather)) == kind & 1:
        return rather
    return found


@jit
def deal(floor, taken, nearby, agents, asked, nearest, goals):
    """Give these agents the nearest cells to the places that they asked for, or slots near those, one by one.

    Their goals so far are in `goals`; one that finds none keeps it. Mutates: goals, taken.holder, nearby.
    """
    for k in range(agents.size):
        agent, goal = agents[k], nearest[k]
        if not is_vacant(taken, goal, agent):
            origin = nearest[k] if asked[k] == nearest[k] else FOR_CUT_OFF
            goal = best_slot(floor, taken, nearby, agent, nearest[k], origin, NO_CELL, goals[k])
        if goal != NO_CELL:
            goals[k] = goal
        taken.holder[goals[k]] = agent
