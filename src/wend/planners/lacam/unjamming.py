# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The way out of a jam: where no more units get home, Push and Swap (push_and_swap.py) makes a plan for all of them.

Real-Time LaCAM is complete, but to be complete may take it for ever: in a narrow place that is full of units at home it
looks at thousands of configurations around the jam. Push and Swap looks at none. Its plan is long, and is made in
milliseconds. Units stand still until it is made, then carry it out, and it is refined on the way like any other
(ahead.py).

A jam is when no more units were home than ever before in this search, for `_PATIENCE_TICKS` or for as many ticks as a
walk across a quarter of the map takes, and no plan is known. Before half of them are home they may just have far to go:
then it takes four times as long.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wend.kernel import FOUND, OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.maps.grid import Grid
from wend.planners.base import Budget, State
from wend.planners.lacam.ahead import MOST_CELLS, PlanAhead, make_live
from wend.planners.lacam.live import Party
from wend.planners.lacam.push_and_swap import Pushing, make_pushing, plan_of, push_home
from wend.planners.pibt.distances import Distances
from wend.search.reverse_resumable import distance

_PATIENCE_TICKS = 100
_WALK = 4               # ... but at least width and height of the map together over this
_FEW_HOME = 4           # so many times as long before half are home


@jit
def _cost(instance, unit, cell):
    """What it costs to go from a cell to a unit's goal, or a negative answer. Mutates: instance.reverse."""
    return distance(instance.tables, instance.reverse, instance.search[unit], cell)


@jit
def push_live(pushing, instance, expansions):
    """`push_home` for units under way. Mutates: pushing, instance.reverse."""
    return push_home(pushing, instance, _cost, expansions)


class Unjamming:
    """Watches a search for jams, and makes a plan where there is one."""

    def __init__(self) -> None:
        self._most = -1                             # units that were home at a time since the search began,
        self._since = 0                             # ... and the tick since when it is so many
        self._pushing: Pushing | None = None        # the plan in the making

    @property
    def is_at_work(self) -> bool:
        """Whether units are to stand still until there is a plan."""
        return self._pushing is not None

    def begin(self, tick: int) -> None:
        """Begin with a new search."""
        self._most, self._since, self._pushing = -1, tick, None

    def watch(self, state: State, party: Party, distances: Distances) -> None:
        """See who is home, and begin a plan if there is a jam."""
        cells, goals = state.agents.cell[party.is_unit], state.agents.goal[party.is_unit]
        home = int(np.count_nonzero(cells == goals))
        if home > self._most:
            self._most, self._since = home, state.tick
        patience = max(_PATIENCE_TICKS, (state.grid.width + state.grid.height) // _WALK)
        if 2 * home < cells.size:
            patience *= _FEW_HOME
        if self._pushing is None and home < cells.size and state.tick - self._since >= patience:
            allowance = distances.known.reverse.allowance
            self._pushing = make_pushing(state.grid.tables, cells, goals, party.goes, allowance)

    def work(
        self, state: State, party: Party, distances: Distances, run: Callable[..., int], budget: Budget
    ) -> PlanAhead | None:
        """Go on with the plan in the making, if there is one, as far as the budget allows; return it once it is made.

        `run(budget, kernel, ...)` calls a kernel, and makes space if it asks for some.
        """
        agents, units = state.agents, np.flatnonzero(party.is_unit).astype(np.int32)
        pushing, answer = self._pushing, OUT_OF_SPACE
        if pushing is None:
            return None
        while answer == OUT_OF_SPACE or (answer == OUT_OF_BUDGET and budget.slice() > 0):
            instance = make_live(state.grid.tables, units, agents.goal, distances.known)
            answer = run(budget, push_live, pushing, instance, budget.slice())
        if answer == OUT_OF_BUDGET:
            return None
        self.begin(state.tick)
        if answer != FOUND:
            return None
        plan = plan_of(pushing, agents.cell[units])
        return None if plan.size > MOST_CELLS else PlanAhead(plan, units, party.goes, state.grid.size)


def rehearse(grid: Grid) -> None:
    """Call the kernels once, for a unit that is home: a small game has no jam."""
    cell, distances = grid.free_cells()[:1], Distances(grid)
    distances.reserve(1)
    distances.aim(0, int(cell[0]), int(cell[0]))
    pushing = make_pushing(grid.tables, cell, cell, cell[:0], distances.known.reverse.allowance)
    push_live(pushing, make_live(grid.tables, np.zeros(1, np.int32), cell, distances.known), 1)
    plan_of(pushing, cell)
