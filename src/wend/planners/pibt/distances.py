# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""How far it is to the goals of agents that have to move at once, whether or not there was time to find out.

An agent goes by exact distances (search/reverse_resumable.py) as soon as they are known of its cell and all cells
beside it. Until then it goes by rough ones: those over blocks (search/blocks.py) where these are known, and at least
those of an empty map. The two are never mixed in one decision: `is_exact` says which of them an agent goes by. Rough
distances are of no use to tell whether an agent is in another's way, or has to swap with it.

Without a budget all distances are exact. With one, blocks are searched before cells, since a few of their expansions
lead an agent around the walls.

Distances are in eighths of grid.CARDINAL_COST, which is exact for diagonals too and leaves space in PIBT's keys.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.arrays import allocate, flags, grown, int32
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, empty_map_cost
from wend.planners.base import Agents
from wend.search.blocks import NO_ROW, BlockDistances, Blocks, DistanceRows, cost_over_blocks, is_known, reach
from wend.search.open_list import OpenList
from wend.search.reverse_resumable import Reverse, SharedSearches, distance

EIGHTHS = 3         # the shift from the units of grid.CARDINAL_COST to those of `far`
STEP = np.array([*[CARDINAL_COST] * 4, *[DIAGONAL_COST] * 4, CARDINAL_COST], np.int64) >> EIGHTHS

_BLOCK_SIDE = 8     # cells


class KnownDistances(NamedTuple):
    """What is known of the distances, by agent."""

    row: Annotated[np.ndarray, int32("agents", fill=NO_ROW)]    # the row of `rows` for its goal
    is_exact: Annotated[np.ndarray, flags("agents")]            # it goes by exact distances in this tick
    search_of: np.ndarray       # int32[agents]  its search in `reverse`
    reverse: Reverse
    blocks: Blocks
    rows: DistanceRows
    open_list: OpenList         # what searches over blocks work with


@jit
def known(scene, agent, cell):
    """The exact distance from a cell to an agent's goal, or why it is not known. Mutates: scene.distances.reverse."""
    distances = scene.distances
    if not distances.is_exact[agent]:
        return OUT_OF_BUDGET
    cost = distance(scene.tables, distances.reverse, distances.search_of[agent], cell)
    return cost >> EIGHTHS if cost >= 0 else cost


@jit
def far(scene, agent, cell):
    """The distance from a cell to an agent's goal, exact or rough, or a negative answer. Mutates: scene.distances."""
    tables, distances = scene.tables, scene.distances
    if distances.is_exact[agent]:
        return known(scene, agent, cell)
    goal, width, row = scene.agents.goal[agent], tables.width, distances.row[agent]
    x, y = cell % width, cell // width
    cost = empty_map_cost(tables, abs(x - goal % width), abs(y - goal // width))
    if row != NO_ROW:
        cost = cost_over_blocks(tables, distances.blocks, distances.rows, row, x, y, cost)
    return cost >> EIGHTHS


@jit
def search_blocks(scene, order):
    """Find rough distances for the agents that go by them, while the allowance lasts. Mutates: scene.distances."""
    agents, distances = scene.agents, scene.distances
    blocks, rows, counts = distances.blocks, distances.rows, distances.reverse.allowance.counts[0]
    for agent in order:
        row = distances.row[agent]
        if distances.is_exact[agent] or row == NO_ROW:
            continue
        group = blocks.group[agents.cell[agent]]
        if is_known(rows.far[row], group):
            continue
        if counts.spent == counts.limit:
            return
        left = counts.limit - counts.spent
        counts.spent += reach(scene.tables, blocks, rows, distances.open_list, row, group, left)


@jit
def search_cells(scene, order):
    """Find exact distances around the agents, in this order, while the allowance lasts. Mutates: scene.distances.

    Answers OUT_OF_SPACE, OUT_OF_BUDGET, or 0 if all are known.
    """
    tables, distances = scene.tables, scene.distances
    result = 0
    for agent in order:
        here = scene.agents.cell[agent]
        answer = distance(tables, distances.reverse, distances.search_of[agent], here)
        for d in range(8):
            if answer >= 0 and tables.moves[here] >> d & 1:
                answer = distance(tables, distances.reverse, distances.search_of[agent], here + tables.offset[d])
        if answer == OUT_OF_SPACE:
            return OUT_OF_SPACE
        distances.is_exact[agent] = answer >= 0
        if answer == OUT_OF_BUDGET:
            result = OUT_OF_BUDGET
    return result


@jit
def descend(scene, agent, cells):
    """Write the cells of a shortest path to an agent's goal, as far as it is known; return how many. Mutates: cells."""
    tables, distances = scene.tables, scene.distances
    search, here, count = distances.search_of[agent], np.int64(scene.agents.cell[agent]), 0
    while count < cells.size and here != scene.agents.goal[agent]:
        best, least = here, distance(tables, distances.reverse, search, here)
        for d in range(8):
            if tables.moves[here] >> d & 1:
                cost = distance(tables, distances.reverse, search, here + tables.offset[d])
                if 0 <= cost < least:
                    best, least = here + tables.offset[d], cost
        if best == here:
            break
        cells[count] = here = best
        count += 1
    return count


class Distances:
    """The Python side: it follows the events of the world, and lets arrays grow. `known` is replaced when they do."""

    def __init__(self, grid: Grid) -> None:
        self._searches = SharedSearches(grid)
        self._blocks = BlockDistances(grid, _BLOCK_SIDE)
        self.known = allocate(KnownDistances, self._shared(), agents=0)

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self._searches.reserve(agents)
        self._blocks.reserve(agents)
        self.known = grown(self.known, agents=agents)
        self._share()

    def _shared(self) -> dict[str, Any]:
        """The arrays of the searches, some of which are replaced when they grow."""
        searches, blocks = self._searches, self._blocks
        return {
            "search_of": searches.of, "reverse": searches.reverse,
            "blocks": blocks.blocks, "rows": blocks.rows, "open_list": blocks.open_list,
        }  # fmt: skip

    def _share(self) -> None:
        """Let kernels see arrays that have been replaced."""
        self.known = self.known._replace(**self._shared())

    def aim(self, agent: int, goal: int, cell: int) -> None:
        """Say where an agent wants to go, and from where."""
        self._searches.aim(agent, goal, cell)
        self.known.row[agent] = self._blocks.exchange(int(self.known.row[agent]), goal)
        self.known.is_exact[agent] = False
        self._share()

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        self._searches.drop(agent)
        self._blocks.release(int(self.known.row[agent]))
        self.known.row[agent] = NO_ROW

    def grow(self) -> None:
        """Make the space that a search asked for."""
        self._searches.grow()
        self._share()

    def cells_changed(self, cells: NDArray[np.int32], agents: Agents) -> None:
        """Forget the distances that an edit of the map may have changed."""
        self._searches.cells_changed(cells)
        self._blocks.cells_changed(cells)
        self._share()
        self._blocks.follow(self.known.row[: agents.cell.size], agents.cell, agents.goal)
        self.known.is_exact[:] = False
