"""How far it is to the agents' goals: all that WHCA* goes by, behind one face.

    over an abstraction     abstraction.py: if there is one, plans go by nothing else
    exactly                 search/reverse_resumable.py, as far as kernels have asked
    roughly                 planners/courses.py: with a budget, until the exact distances are known
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.kernel import OUT_OF_BUDGET, OUT_OF_SPACE
from wend.kernel.allowance import Allowance
from wend.maps.grid import Grid
from wend.planners.base import Agents, Budget, State
from wend.planners.courses import RoughCourses
from wend.planners.overlays import draw_distances
from wend.planners.windowed.abstraction import AbstractAims
from wend.planners.windowed.plans import Setting
from wend.planners.windowed.ticks import DONE, think_ahead
from wend.search.beliefs import Beliefs
from wend.search.reverse_resumable import SharedSearches
from wend.search.rough_paths import BLOCK
from wend.search.space_time import Manners


class WindowDistances:
    """The Python side: it follows the events of the world, and lets arrays grow."""

    def __init__(self, grid: Grid, level: int) -> None:
        """Distances on a grid, for no agents yet; an abstraction of level 0 is none."""
        self._cells = grid.size
        self.exact = SharedSearches(grid)
        self.rough = RoughCourses(grid, Beliefs(grid, BLOCK))
        self.abstract = AbstractAims(level)
        self.is_abstract = level > 0

    @property
    def allowance(self) -> Allowance:
        """Where kernels count their expansions."""
        return self.exact.reverse.allowance

    @property
    def aim_of(self) -> NDArray[np.int32]:
        """int32[agents]: the row of abstract distances that an agent's plan goes by, or else its exact search."""
        return self.abstract.row if self.is_abstract else self.exact.of

    def go_by(self, manners: Manners) -> Manners:
        """The same manners, with the abstraction if there is one."""
        abstract = self.abstract
        return manners._replace(far=abstract.far, group=abstract.group) if self.is_abstract else manners

    def parts(self) -> tuple[Any, ...]:
        """What kernels are given of it: each of these is replaced when it grows."""
        exact, rough, abstract = self.exact, self.rough, self.abstract
        return exact.reverse, exact.of, rough.courses, rough.learned, abstract.row, abstract.far, abstract.group

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self.exact.reserve(agents)
        self.rough.reserve(agents)
        self.abstract.reserve(agents)

    def aim(self, agent: int, agents: Agents, tick: int) -> None:
        """An agent has a new goal."""
        cell, goal = int(agents.cell[agent]), int(agents.goal[agent])
        self.exact.aim(agent, goal, cell)
        self.rough.aim(agent, goal, tick)
        self.abstract.drop(agent)

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        self.exact.drop(agent)
        self.rough.drop(agent)
        self.abstract.drop(agent)

    def begin_tick(self, state: State, ready: NDArray[np.bool_], budget: Budget) -> None:
        """Search for what kernels do not search themselves; say who has the distances to plan. Mutates: ready."""
        if self.is_abstract:
            ready[: state.agents.cell.size] = self.abstract.look_up(state, budget)
        elif budget.is_limited:
            self.rough.look_ahead(state, budget)
        else:
            self.rough.do_without()

    def think(self, state: State, setting: Callable[[], Setting], budget: Budget) -> None:
        """Search for distances before they are asked for, within a budget."""
        if self.is_abstract:
            self.abstract.look_up(state, budget)
            return
        answer = OUT_OF_BUDGET
        while answer != DONE and (limit := budget.slice()):
            answer = budget.call(self.allowance, think_ahead, setting(), limit)
            if answer == OUT_OF_SPACE:
                self.grow()

    def draw(self, agent: int) -> NDArray[Any]:
        """How far it is from each cell to an agent's goal, as far as that is known exactly."""
        return draw_distances(self.exact.reverse, self.exact.of[agent], self._cells)

    def grow(self) -> None:
        """Make the space that a kernel asked for."""
        self.exact.grow()
        self.rough.grow()

    def cells_changed(self, cells: NDArray[np.int32], agents: Agents) -> None:
        """Forget the distances that an edit of the map may have changed."""
        self.exact.cells_changed(cells)
        self.rough.cells_changed(cells, agents)
        self.abstract.forget()          # it is made anew as a whole
