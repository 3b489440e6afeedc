# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""How far it is to the goals of agents that have to move at once, whether or not there was time to find out.

An agent goes by exact distances (search/reverse_resumable.py) as soon as they are known of its cell and all cells
beside it. Until then it goes by rough ones: those over blocks (search/blocks.py) where these are known, and otherwise
those of an empty map. In each tick it learns what the best cell beside it promises (LRTA*, search/real_time.py), which
expands nothing and leads it out of dead ends. The two are never mixed in one decision: `is_exact` says which of them an
agent goes by. Rough distances are of no use to tell whether an agent is in another's way, or has to swap with it.

Without a budget all distances are exact. With one, blocks are searched before cells, since a few of their expansions
lead an agent around the walls.

Distances are in eighths of grid.CARDINAL_COST, which is exact for diagonals too and leaves space in PIBT's keys.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.arrays import allocate, flags, grown
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST
from wend.planners.base import Agents
from wend.search.beliefs import Beliefs
from wend.search.blocks import reach
from wend.search.open_list import OpenList
from wend.search.real_time import Learned, believed, can_learn, knows_distance, learn_beside
from wend.search.reverse_resumable import Reverse, SharedSearches, distance

EIGHTHS = 3         # the shift from the units of grid.CARDINAL_COST to those of `far`
STEP = np.array([*[CARDINAL_COST] * 4, *[DIAGONAL_COST] * 4, CARDINAL_COST], np.int64) >> EIGHTHS

_BLOCK_SIDE = 8     # cells


class KnownDistances(NamedTuple):
    """What is known of the distances, by agent."""

    is_exact: Annotated[np.ndarray, flags("agents")]    # it goes by exact distances in this tick
    search_of: np.ndarray       # int32[agents]  its search in `reverse`
    reverse: Reverse
    learned: Learned            # the rough ones
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
    here, goal = scene.agents.cell[agent], scene.agents.goal[agent]
    return believed(tables, distances.learned, agent, here, cell, goal) >> EIGHTHS


@jit
def search_blocks(scene, order):
    """Find rough distances for the agents that go by them, while the allowance lasts. Mutates: scene.distances."""
    agents, distances = scene.agents, scene.distances
    learned, counts = distances.learned, distances.reverse.allowance.counts[0]
    for agent in order:
        here = agents.cell[agent]
        if distances.is_exact[agent] or knows_distance(learned, agent, here):
            continue
        if counts.spent == counts.limit:
            return
        row, group, left = learned.row[agent], learned.blocks.group[here], counts.limit - counts.spent
        counts.spent += reach(scene.tables, learned.blocks, learned.rows, distances.open_list, row, group, left)


@jit
def search_cells(scene, order):
    """Find exact distances around the agents, in this order, while the allowance lasts; the others learn.

    Answers OUT_OF_SPACE, OUT_OF_BUDGET, or 0 if all are known. Mutates: scene.distances.
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
            if not can_learn(distances.learned, 1):
                return OUT_OF_SPACE
            learn_beside(tables, distances.learned, agent, here, scene.agents.goal[agent])
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
        self.beliefs = Beliefs(grid, _BLOCK_SIDE)
        self.known = allocate(KnownDistances, self._shared(), agents=0)

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self._searches.reserve(agents)
        self.beliefs.reserve(agents)
        self.share()
        self.known = grown(self.known, agents=agents)

    def _shared(self) -> dict[str, Any]:
        """The arrays of the searches, some of which are replaced when they grow."""
        searches, beliefs = self._searches, self.beliefs
        return {
            "search_of": searches.of, "reverse": searches.reverse,
            "learned": beliefs.learned, "open_list": beliefs.open_list,
        }  # fmt: skip

    def share(self) -> None:
        """Let kernels see arrays that have been replaced."""
        shared = self._shared()
        if any(getattr(self.known, name) is not array for name, array in shared.items()):
            self.known = self.known._replace(**shared)

    def aim(self, agent: int, goal: int, cell: int) -> None:
        """Say where an agent wants to go, and from where. If that is near its last goal, it keeps what it believes."""
        self._searches.aim(agent, goal, cell)
        if self.beliefs.moves_of_goal(agent, goal) > _BLOCK_SIDE:
            self.beliefs.forget(agent)
            self.beliefs.aim(agent, goal)
        self.known.is_exact[agent] = False
        self.share()

    def aim_all(self, agents: NDArray[np.int32], goals: NDArray[np.int32], cells: NDArray[np.int32]) -> None:
        """The same for many agents, for which there is space."""
        self._searches.aim_all(agents, goals, cells)
        is_far = self.beliefs.moves_of_goals(agents, goals) > _BLOCK_SIDE
        self.beliefs.aim_anew(agents[is_far], goals[is_far])
        self.known.is_exact[agents] = False
        self.share()

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        self._searches.drop(agent)
        self.beliefs.drop(agent)

    def grow(self) -> None:
        """Make the space that a search asked for, or learning."""
        if can_learn(self.beliefs.learned, 1):
            self._searches.grow()
        else:
            self.beliefs.make_space()
        self.share()

    def cells_changed(self, cells: NDArray[np.int32], agents: Agents) -> None:
        """Forget the distances that an edit of the map may have changed."""
        self._searches.cells_changed(cells)
        self.beliefs.cells_changed(cells, agents.cell, agents.goal)
        self.share()
        self.known.is_exact[:] = False
