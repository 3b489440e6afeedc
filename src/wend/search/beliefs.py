# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""What agents believe of the distances to their goals: what they have learned, and the distances over blocks, if known.

The Python side of real_time.py and blocks.py: it follows the events of the world, and lets arrays grow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.kernel import UNREACHABLE, jit
from wend.kernel.arrays import grown, make_in_huge_pages
from wend.kernel.compiling import prepared
from wend.kernel.pages import MOST_READY, PAGE
from wend.kernel.pools import make_ready
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST
from wend.search.blocks import CELL, NO_GROUP, NO_ROW, BlockDistances, distance_of
from wend.search.open_list import OpenList, make_open_list
from wend.search.real_time import forget, forget_all, forget_around, heuristic, make_learned, with_space

_NO_LIST = make_open_list(1)
_FAR = 2**62
_LEARNED = 8            # pages that an agent comes to know on a large map, or more
_MOST_ITEMS = 1 << 23   # of the directories of pages that are made ready: 32 MB


@jit
def _draw_costs(tables, free, learned, agent, goal, costs):
    """Write what an agent believes the path from each free cell to its goal to cost. Mutates: costs."""
    width = tables.width
    for cell in range(free.size):
        if free[cell]:
            costs[cell] = heuristic(tables, learned, agent, cell % width, cell // width, goal % width, goal // width)


class Beliefs:
    """The beliefs of all agents on a grid; with `block`, the side of a block, they know the distances over blocks.

    `learned` is replaced when its arrays grow.
    """

    def __init__(self, grid: Grid, block: int | None) -> None:
        self.learned = make_learned(grid)
        self._grid = grid
        self._distances = None if block is None else BlockDistances(grid, block)

    @property
    def open_list(self) -> OpenList:
        """What searches over blocks work with."""
        return _NO_LIST if self._distances is None else self._distances.open_list

    def reserve(self, agents: int) -> None:
        """Make space for so many agents; orders to them need no more."""
        self.learned = grown(self.learned, agents=agents)
        if self._distances is not None:
            self._distances.reserve(agents)
            self._share()

    def make_ready(self) -> None:
        """Have the memory made that agents who all search will write to at first, which is not their tick's then."""
        agents, page_of = self.learned.page_of.shape[0], self.learned.page_of
        make_ready(self.learned.values.pool, min(agents * _LEARNED, MOST_READY) * PAGE)
        make_in_huge_pages(page_of.reshape(-1), min(page_of.size, _MOST_ITEMS))

    def make_space(self) -> None:
        """Make the space that `learn` needs."""
        self.learned = with_space(self.learned)

    def aim(self, agent: int, goal: int) -> None:
        """Give an agent the distances to a goal, in place of those that it had."""
        if self._distances is not None:
            self.learned.row[agent] = self._distances.exchange(int(self.learned.row[agent]), goal)

    def forget(self, agent: int) -> None:
        """An agent forgets what it has learned. It writes to its pages first, as `reverse_resumable.begin` does."""
        pages = self.learned.page_of[agent]
        pages[0] = pages[0]
        prepared(forget)(self.learned.values, self.learned.page_of, self.learned.has_paged, agent)

    def moves_of_goal(self, agent: int, goal: int) -> int:
        """How far a goal is from the middle of the group to which an agent knows the way, in columns or rows."""
        row, learned, width = int(self.learned.row[agent]), self.learned, self._grid.width
        if row == NO_ROW or learned.blocks.group[goal] == NO_GROUP:
            return _FAR
        x, y = learned.blocks.middle[learned.rows.goal[row]].tolist()
        return int(max(abs(goal % width - x), abs(goal // width - y)))

    def moves_of_goals(self, agents: NDArray[np.int32], goals: NDArray[np.int32]) -> NDArray[np.int64]:
        """The same for many agents."""
        learned, width = self.learned, self._grid.width
        rows = learned.row[agents]
        is_known = (rows != NO_ROW) & (learned.blocks.group[goals] != NO_GROUP)
        moves, to = np.full(agents.size, _FAR, np.int64), goals[is_known]
        middle = learned.blocks.middle[learned.rows.goal[rows[is_known]]]
        moves[is_known] = np.maximum(abs(to % width - middle[:, 0]), abs(to // width - middle[:, 1]))
        return moves

    def aim_anew(self, agents: NDArray[np.int32], goals: NDArray[np.int32]) -> None:
        """Many agents forget what they have learned, and get the distances to other goals."""
        forget_all(self.learned, agents)
        if self._distances is not None:
            self._distances.exchange_all(self.learned.row, agents, goals)

    def drop(self, agent: int) -> None:
        """An agent needs no beliefs any more."""
        self.forget(agent)
        if self._distances is not None:
            self._distances.release(int(self.learned.row[agent]))
            self.learned.row[agent] = NO_ROW

    def cells_changed(
        self, cells: NDArray[np.int32], stands: NDArray[np.int32], goals: NDArray[np.int32]
    ) -> None:
        """Where a wall fell, agents forget what kept them away; distances over blocks follow the edit.

        `stands` and `goals` have the cell and the goal of each agent.
        """
        grid = self._grid
        forget_around(self.learned, filter(grid.is_free, map(grid.xy, cells.tolist())))
        if self._distances is not None:
            self._distances.cells_changed(cells)
            self._share()
            self._distances.follow(self.learned.row[: stands.size], stands, goals)

    def _share(self) -> None:
        """Let kernels see the arrays of the distances, which may have grown."""
        if self._distances is not None:
            self.learned = self.learned._replace(blocks=self._distances.blocks, rows=self._distances.rows)

    def draw_costs(self, agent: int, goal: int) -> NDArray[np.float64]:
        """What an agent believes the path from each cell to its goal to cost, in cells; UNREACHABLE in walls."""
        free = self._grid.passable.ravel()
        costs = np.zeros(free.size, np.int64)
        _draw_costs(self._grid.tables, free, self.learned, agent, goal, costs)
        return np.where(free, costs / CARDINAL_COST, UNREACHABLE)

    def draw_distances(self, agent: int) -> NDArray[np.float64]:
        """The distances over blocks to an agent's goal, in cells; UNREACHABLE in walls and without blocks."""
        row, group = int(self.learned.row[agent]), self.learned.blocks.group
        if row == NO_ROW:
            return np.full(self._grid.size, float(UNREACHABLE))
        far = self.learned.rows.far[row]
        names, of_cell = np.unique(group, return_inverse=True)
        cells = [UNREACHABLE if name == NO_GROUP else distance_of(far, name) / CELL for name in names.tolist()]
        return np.array(cells, np.float64)[of_cell]
