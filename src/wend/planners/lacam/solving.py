# mypy: disallow-untyped-calls=False
"""From an instance to a plan: a first one by LaCAM, and better ones while there is time.

The search goes for the first plan that it finds, which depends on chance. In a dense scene it may wander for a long
time: then it starts again. Every third search goes without guide paths, which help in most places, and most on large
maps, but may do harm in narrow mazes.

Then LaCAM* and the refinement take turns. LaCAM* gains little on large instances, but it is what proves a plan optimal;
refinement gains much. LaCAM* minimises the sum of loss, refinement the sum of costs; the best plan is the one whose sum
of costs is least.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.planners.base import TimedPlan
from wend.planners.lacam.guides import make_guides
from wend.planners.lacam.instance import LacamInstance, longest_path
from wend.planners.lacam.refining import Refiner, sum_of_costs
from wend.planners.lacam.search import EXHAUSTED, TreeSearch

_SLICE_DECISIONS = 10_000       # of units, between two looks at the clock: about 3 ms; but not more than
_SLICE_STEPS = 25               # configurations
_RESTART_STEPS = 600            # and twice the longest path: after so many, the search starts again with other chances
_UNGUIDED = 3                   # every third search goes without guide paths
_GROUPS_PER_STEP = 4            # that are planned anew for each configuration that LaCAM* tries meanwhile
_TELL_MS = 500                  # between two reports

_log = logging.getLogger("wend.lacam")


@dataclass(frozen=True)
class Effort:
    """How long to search."""

    max_expansions: int         # configurations for a first plan
    anytime_expansions: int     # ... and to improve it, or
    anytime_ms: float           # milliseconds, whichever lasts longer


@dataclass(frozen=True)
class FoundPlan:
    """What was found."""

    plan: NDArray[np.int32]     # int32[ticks + 1, units]  where each unit is to be
    loss: int                   # the least sum of loss that LaCAM* has found
    moves_left: int             # from the end of the plan to the goals, all units together; 0 if all are home
    is_proven: bool             # no plan has less loss; or, if units are left over, there is none that brings all home
    gains: bool                 # the plan brings units home, or nearer
    steps: int                  # configurations that PIBT was asked for
    nodes: int                  # different ones among them

    @property
    def verdict(self) -> str:
        """Why the plan does not bring all units home; empty if it does."""
        if self.moves_left == 0:
            return ""
        if self.is_proven:
            return "there is no plan that brings all agents home"
        return f"no plan that brings all agents home was found in {self.steps} configurations"


def nothing_found() -> FoundPlan:
    """What was found before anything was searched: a plan for no units, which is over."""
    return FoundPlan(np.empty((1, 0), np.int32), 0, 0, is_proven=False, gains=False, steps=0, nodes=0)


class _First(NamedTuple):
    """The first plan, or the lack of one."""

    search: TreeSearch
    steps: int          # in all searches
    moves_before: int   # from the starts to the goals
    is_over: bool       # the last search has tried all configurations


class Solver:
    """Solves instances. While `is_improving`, it has a plan already, and an interrupt only ends the improving."""

    uncaptured: ClassVar[Sequence[str]] = ("solutions",)    # they tell of clocks

    def __init__(self, effort: Effort, *, swaps: bool, guides: bool) -> None:
        self.is_improving = False
        self.solutions: list[TimedPlan] = []    # of the last instance, each better than the one before it
        self._effort, self._swaps, self._guides = effort, swaps, guides

    def solve(self, instance: LacamInstance, seed: int) -> FoundPlan:
        """Find a plan, or as much of one as the effort allows."""
        began, self.solutions = time.perf_counter(), []
        first = self._find_first(instance, seed)
        search, plan, is_proven, begun = first.search, first.search.plan(), first.is_over, first.search.steps
        if search.is_solved:
            self._note(sum_of_costs(instance, plan), began)
        if search.is_solved and not is_proven:
            plan, is_proven = self._improve(instance, search, seed, began)
        steps, left = first.steps + search.steps - begun, search.moves_left
        found = FoundPlan(plan, search.cost, left, is_proven, left < first.moves_before, steps, search.nodes)
        if found.verdict:
            _log.info(found.verdict)
        return found

    def _find_first(self, instance: LacamInstance, seed: int) -> _First:
        """Search for a plan, and again with other chances if that takes long."""
        most, limit = self._effort.max_expansions, _RESTART_STEPS + 2 * longest_path(instance)
        guides, searches, steps = make_guides(instance) if self._guides else None, 1, 0
        best = search = TreeSearch(instance, swaps=self._swaps, seed=seed, guides=guides)
        moves_before = search.moves_left
        while True:
            is_over = search.run(min(limit, most - steps)) == EXHAUSTED
            steps += search.steps
            best = search if search.moves_left < best.moves_left else best
            if is_over or best.is_solved or steps >= most:
                return _First(best, steps, moves_before, is_over)
            limit = limit * 3 // 2
            searches += 1
            some = guides if searches % _UNGUIDED else None
            search = TreeSearch(instance, swaps=self._swaps, seed=seed + searches - 1, guides=some)

    def _note(self, cost: int, began: float) -> None:
        """Keep when there was a better plan."""
        if not self.solutions or cost < self.solutions[-1].sum_of_costs:
            self.solutions.append(TimedPlan(time.perf_counter() - began, int(cost)))

    def _improve(
        self, instance: LacamInstance, search: TreeSearch, seed: int, began: float
    ) -> tuple[NDArray[np.int32], bool]:
        """Look for better plans as long as the effort allows: the best one, and whether LaCAM* came to its end."""
        effort, report, begun, is_proven = self._effort, _Report(), search.steps, False
        if effort.anytime_ms == 0 and effort.anytime_expansions == 0:
            return search.plan(), False
        slice_steps = min(_SLICE_STEPS, max(1, _SLICE_DECISIONS // instance.start.size))
        refiner, loss = Refiner(instance, search.plan(), seed=seed), search.cost
        try:
            self.is_improving = True
            while not is_proven:
                report.tell(refiner.cost)
                self._note(refiner.cost, began)
                left = effort.anytime_expansions - (search.steps - begun)
                if left <= 0 and report.milliseconds >= effort.anytime_ms:
                    break
                steps = slice_steps if left <= 0 else min(slice_steps, left)
                refiner.run(_GROUPS_PER_STEP * steps)
                is_proven = search.run(steps) == EXHAUSTED
                if search.cost < loss:
                    loss, other = search.cost, Refiner(instance, search.plan(), seed=seed)
                    refiner = other if other.cost <= refiner.cost else refiner
        except KeyboardInterrupt:
            _log.info("interrupted; the best plan so far is kept")
        finally:
            self.is_improving = False
        report.end(refiner.cost)
        self._note(refiner.cost, began)
        return refiner.plan(), is_proven


class _Report:
    """What is said of the improvements: a line now and then, and one at the end."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._next_ms = 0.0
        self._told = -1

    @property
    def milliseconds(self) -> float:
        """Time since the first plan."""
        return (time.perf_counter() - self._began) * 1000

    def tell(self, cost: int) -> None:
        """Say what the best plan costs, if it is better than when that was last said and some time has gone by."""
        if cost != self._told and self.milliseconds >= self._next_ms:
            _log.info("sum of costs %d after %.1f s", cost, self.milliseconds / 1000)
            self._told, self._next_ms = cost, self.milliseconds + _TELL_MS

    def end(self, cost: int) -> None:
        """Say what was achieved."""
        self._next_ms = 0.0
        self.tell(cost)
