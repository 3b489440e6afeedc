# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""What LaCAM solves: units with starts and goals on a map, and the table of all distances.

Units are the agents that the planner moves, numbered 0, 1, ... All other agents are walls. Every unit has a goal of its
own that it can reach: see `own_goals`.

Distances are numbers of moves, a diagonal counts as one. The table has a row for each unit and a column for each free
cell, which takes less time in all than searching for what is needed of it: 2 bytes * units * free cells. Free cells
have numbers of their own for it, their places, and a list of the places beside each of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL, jit
from wend.maps.grid import Grid
from wend.maps.terrain import GridTables
from wend.search.flood import move_distances

_UNREACHED = 2**16 - 1


class LacamInstance(NamedTuple):
    """What is to be solved."""

    tables: GridTables
    start: np.ndarray   # int32[units]                cells
    goal: np.ndarray    # int32[units]                cells, no two of them the same
    place: np.ndarray   # int32[cells]                the number of each free cell
    cell: np.ndarray    # int32[places]               ... and back
    beside: np.ndarray  # int32[places, directions]   the place in each direction; its own where no move leads there
    moves: np.ndarray   # uint16[units, places]       how many moves it is to a unit's goal


@jit
def moves_from(instance, unit, cell):
    """The number of moves from a cell to a unit's goal."""
    return np.int64(instance.moves[unit, instance.place[cell]])


@jit
def _count_moves(instance, queue):
    """Fill the table of distances by a flood from each goal. Mutates: instance.moves, queue."""
    beside = instance.beside
    for unit in range(instance.goal.size):
        moves = instance.moves[unit]
        moves[:] = _UNREACHED
        queue[0] = instance.place[instance.goal[unit]]
        moves[queue[0]] = 0
        head, tail, further = 0, 1, 0
        while head < tail:
            end, further = tail, min(further + 1, _UNREACHED - 1)
            for k in range(head, end):
                here = queue[k]
                for d in range(beside.shape[1]):
                    there = beside[here, d]
                    if moves[there] == _UNREACHED:
                        moves[there] = further
                        queue[tail] = there
                        tail += 1
            head = end


def make_instance(
    grid: Grid, starts: NDArray[np.int32], goals: NDArray[np.int32], obstacles: NDArray[np.int32]
) -> LacamInstance:
    """Units with these starts and goals, among agents on the cells `obstacles` that do not move."""
    if obstacles.size:
        free = grid.passable.copy()
        free.ravel()[obstacles] = False
        grid = Grid(free, connectivity=grid.connectivity, corner_cutting=grid.corner_cutting)
    cells = grid.free_cells()
    place = np.full(grid.size, NO_CELL, np.int32)
    place[cells] = np.arange(cells.size)
    moves = np.empty((starts.size, cells.size), np.uint16)
    own = own_goals(grid, starts, goals)
    instance = LacamInstance(grid.tables, starts.copy(), own, place, cells, _places_beside(grid, place, cells), moves)
    _count_moves(instance, np.empty(cells.size, np.int32))
    return instance


def _places_beside(grid: Grid, place: NDArray[np.int32], cells: NDArray[np.int32]) -> NDArray[np.int32]:
    """The place in each direction from each place; its own where no move leads there."""
    beside = np.repeat(place[cells][:, None], grid.connectivity, axis=1)
    for d in range(grid.connectivity):
        leads = grid.tables.moves[cells] >> d & 1 == 1
        beside[leads, d] = place[cells[leads] + grid.tables.offset[d]]
    return beside


def longest_path(instance: LacamInstance) -> int:
    """The most moves that a unit has to make."""
    units = np.arange(instance.start.size)
    return int(instance.moves[units, instance.place[instance.start]].max(initial=0))


def own_goals(grid: Grid, starts: NDArray[np.int32], goals: NDArray[np.int32]) -> NDArray[np.int32]:
    """A goal for each unit that it can reach and that is no other unit's.

    A unit that cannot reach its goal is to be where it starts. Of units with the same goal one has it, the one that
    stands there or else the first, and the others are to be as near to it as they can.
    """
    is_open = grid.component[starts] == grid.component[goals]
    wanted = np.where(is_open, goals, starts)
    own = np.full(starts.size, NO_CELL, np.int32)
    taken: set[int] = set()
    for unit in np.lexsort((starts != wanted, ~is_open)).tolist():
        if int(wanted[unit]) not in taken:
            own[unit] = wanted[unit]
            taken.add(int(wanted[unit]))
    for unit in np.flatnonzero(own == NO_CELL).tolist():
        _, nearest = move_distances(grid, wanted[unit])
        own[unit] = next(cell for cell in nearest.tolist() if cell not in taken)
        taken.add(int(own[unit]))
    return own
