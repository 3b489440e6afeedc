# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A plan that is known to the end, on which units are under way: what lies far enough ahead is refined meanwhile.

The plan is the way from the root of the tree to the configuration in which all are home. It is improved by
large-neighbourhood search (refining.py), but for the next ticks: units do not change their minds about these. An order
may come before the plan is carried out. So it does not count alone when units are home for good; for each tick less at
home before, a group has to arrive `_AWAY` ticks earlier.

Distances to goals are those that PIBT has found: it has asked for them around every cell that a unit was on in the
search. Where they are not known, units are not sent.

An expansion is a state that SIPP expands. To enter the paths takes a little time, too: `_TICKS_PER_EXPANSION` of it are
counted as one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, jit
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, GridTables
from wend.planners.base import Budget, Intent
from wend.planners.lacam.live import plan_length, write_plan
from wend.planners.lacam.refining import enter_paths, make_refinement, refine
from wend.planners.lacam.tree import Tree
from wend.planners.lacam.visits import stand
from wend.planners.pibt.distances import KnownDistances
from wend.planners.waiting import LETS_PASS
from wend.search.reverse_resumable import Reverse, known_distance

_UNLIMITED = 2**62
_AWAY = 2
MOST_CELLS = 1 << 21       # of a plan that is refined, all units and ticks together: about 100 MB
_TICKS_PER_EXPANSION = 8


class LiveInstance(NamedTuple):
    """Units under way, and what is known of the distances to their goals."""

    tables: GridTables
    goal: np.ndarray        # int32[units]  cells
    search: np.ndarray      # int32[units]  the search for its goal in `reverse`
    reverse: Reverse
    per_move: int           # what a move costs at most


@jit
def known_moves(instance, unit, cell):
    """The number of moves from a cell to a unit's goal at least, or a negative answer."""
    cost = known_distance(instance.reverse, instance.search[unit], cell)
    return -(-cost // instance.per_move) if cost >= 0 else cost


@jit
def _refine_known(refinement, instance, expansions, seed):
    """Refine with the distances that are known; return how many expansions it took. Mutates: refinement."""
    return refine(refinement, instance, known_moves, _AWAY, _UNLIMITED, expansions, seed)


class RefinementEffort(NamedTuple):
    """How to refine a plan."""

    lead: int           # what is so many ticks ahead, or nearer, stands
    expansions: int     # at most
    seed: int


def find_plan(tree: Tree, is_unit: NDArray[np.bool_], others: NDArray[np.int32], cells: int) -> PlanAhead | None:
    """The plan that a tree has for the units, on a map of so many cells; None if it has none, or that is too large.

    `others` are the cells on which agents stand that are no units.
    """
    units, length = np.flatnonzero(is_unit).astype(np.int32), plan_length(tree)
    if length == 0 or units.size * length > MOST_CELLS:
        return None
    plan = np.empty((units.size, length + 1), np.int32)
    write_plan(tree, units, plan)
    return PlanAhead(plan, units, others, cells)


def make_live(
    tables: GridTables, units: NDArray[np.int32], goal: NDArray[np.int32], known: KnownDistances
) -> LiveInstance:
    """These units under way; `goal` is by agent."""
    per_move = CARDINAL_COST if tables.minor == CARDINAL_COST else DIAGONAL_COST
    return LiveInstance(tables, goal[units], known.search_of[units], known.reverse, per_move)


class PlanAhead:
    """A plan, the agents that carry it out, and how far they have come."""

    def __init__(
        self, plan: NDArray[np.int32], units: NDArray[np.int32], others: NDArray[np.int32], cells: int
    ) -> None:
        """`plan` is int32[units, ticks + 1]; the rest as in `find_plan`."""
        self._units = units     # int32[units]  the agent that each unit is
        self._refinement = make_refinement(plan, cells, others.size)
        self._done = 0          # ticks of the plan that were carried out
        self._entered = 0       # units whose paths were entered
        for cell in others.tolist():
            stand(self._refinement.visits, cell)

    @property
    def is_over(self) -> bool:
        """Whether all are where the plan ends."""
        plan = self._refinement.plan
        return bool((plan[:, self._done] == plan[:, -1]).all())

    def step(self) -> NDArray[np.int32]:
        """Make the next step: the cells of the units after it."""
        self._done += 1
        return self._refinement.plan[:, self._done]

    def intent_of(self, agent: int, waits_for: int) -> Intent:
        """The plan of an agent, a cell per tick, without the waiting at the end; `waits_for` is who is in its way."""
        plan, done = self._refinement.plan[np.flatnonzero(self._units == agent)[0]], self._done
        moves = np.flatnonzero(plan[done + 1 :] != plan[done:-1])
        path = tuple(plan[done + 1 : done + moves[-1] + 2].tolist()) if moves.size else ()
        stayed = done > 0 and plan[done] == plan[done - 1]
        return Intent(path, waits_for, LETS_PASS if stayed and waits_for == NO_AGENT else "")

    def refine(
        self, tables: GridTables, goal: NDArray[np.int32], known: KnownDistances, effort: RefinementEffort,
        budget: Budget,
    ) -> None:  # fmt: skip
        """Improve what lies ahead, as far as the budget allows; `goal` is by agent."""
        plan, counts, units = self._refinement.plan, self._refinement.counts[0], self._units
        instance = make_live(tables, units, goal, known)
        counts.begin, left = self._done + effort.lead, effort.expansions
        while counts.begin < plan.shape[1] - 1 and (allowed := min(left, budget.slice())) > 0:
            spent = self._enter(allowed)
            if self._entered == units.size:
                spent += _refine_known(self._refinement, instance, allowed - spent, effort.seed)
            if spent == 0:
                break
            budget.spend(spent)
            left -= spent

    def _enter(self, expansions: int) -> int:
        """Enter the paths of units, as far as so many expansions allow; return how many it took."""
        each = -(-int(self._refinement.plan.shape[1]) // _TICKS_PER_EXPANSION)
        count = min(int(self._units.size) - self._entered, expansions // each)
        enter_paths(self._refinement, self._entered, self._entered + count)
        self._entered += count
        return count * each
