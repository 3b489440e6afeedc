# mypy: disallow-untyped-calls=False
"""LaCAM*: one plan for all agents, found quickly where there is one, and improved as long as there is time.

Okumura: LaCAM: Search-Based Algorithm for Quick Multi-Agent Pathfinding (AAAI 2023). Improving LaCAM for Scalable
Eventually Optimal Multi-Agent Pathfinding (IJCAI 2023). Engineering LaCAM* (AAMAS 2024), of which lacam3 is the code.

    paper                                       here
    units, goals, distances                     instance.py
    LaCAM, LaCAM*                               search.py, tree.py
    guide paths: SUO (lacam3)                   guides.py
    restarts, anytime                           solving.py
    refiners: LNS with SIPP (lacam3)            refining.py, visits.py
    (ours: carrying the plan out in a world)    carrying.py

The search is over configurations, which say where every unit stands, and it is complete: given time it finds a plan, or
has tried all configurations and so proves that there is none. Without `anytime_ms` and `anytime_expansions` the first
plan is taken (LaCAM). With them it is improved, by LaCAM* and by refinement, until they are used up or LaCAM* is done.

Work: all of it in the first tick, and after an order or an edit; O(units) in every other tick.

Deviations and open points
- If no plan is found within `max_expansions`, or there is none, the units go to the configuration nearest to their
  goals that was found: the one with the fewest moves left. From there another plan is tried, as long as that helps.
- Pinned agents at home and agents of the program are walls of the plan, and a proof holds among these walls. Where one
  is in the way of the next joint move, all units wait; after `_PATIENCE_TICKS` a new plan is made.
- An expansion is one configuration that PIBT was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.planners.base import Budget, Intent, Overlay, Planner, Proposal, State, TimedPlan, parameter
from wend.planners.lacam.carrying import CarriedPlan
from wend.planners.lacam.instance import make_instance
from wend.planners.lacam.solving import Effort, Solver, nothing_found
from wend.planners.overlays import TRAFFIC, draw_traffic
from wend.planners.units import find_units

_PATIENCE_TICKS = 4     # for which units wait for agents outside of the plan


@dataclass
class Lacam(Planner):
    """LaCAM and LaCAM* in a world: plans for all units at once, and carries the plan out."""

    overlays: ClassVar[Mapping[str, Overlay]] = {"traffic": TRAFFIC}

    swap: bool = parameter(True, "whether two units that meet in a corridor go back to where they can pass")
    guides: bool = parameter(True, "whether units look for paths around one another first, to prefer in the search")
    max_expansions: int = parameter(100_000, "configurations that are tried at most for a first plan", minimum=1)
    anytime_expansions: int = parameter(0, "configurations that are tried to improve the first plan", minimum=0)
    anytime_ms: float = parameter(0.0, "milliseconds in which the first plan is improved", minimum=0, clock=True)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        self._stale = True                          # a new plan is needed
        self._carried = CarriedPlan(nothing_found(), np.empty(0, np.int32))
        self._outside = np.empty(0, np.int32)       # cells of the agents outside of the plan when it was made
        self._made_at = 0                           # tick of the last plan
        self._plans_made = 0
        effort = Effort(self.max_expansions, self.anytime_expansions, self.anytime_ms)
        self._solver = Solver(effort, swaps=self.swap, guides=self.guides)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        if self._is_overtaken():
            self._make_plan(budget)
        self._carried.advance(self.state, proposal)

    def _is_overtaken(self) -> bool:
        """Whether the plan no longer holds, or a new one may do better."""
        agents, carried, found = self.state.agents, self._carried, self._carried.found
        if self._stale or carried.held_up_ticks >= _PATIENCE_TICKS or carried.is_left(agents):
            return True
        if not found.verdict or not carried.is_over or self.state.tick - self._made_at < _PATIENCE_TICKS:
            return False
        may_gain = found.gains and not found.is_proven
        return may_gain or not np.array_equal(self._outside, find_units(agents)[1])

    def _make_plan(self, budget: Budget) -> None:
        """Plan for all units from where they stand."""
        agents, (units, outside) = self.state.agents, find_units(self.state.agents)
        instance = make_instance(self.state.grid, agents.cell[units], agents.goal[units], outside)
        found = self._solver.solve(instance, self.seed + self._plans_made)
        budget.spend(found.steps)
        self._carried, self._outside = CarriedPlan(found, units), outside
        self._stale, self._made_at = False, self.state.tick
        self._plans_made += 1

    def counters(self) -> dict[str, int]:
        if self._plans_made == 0:
            return {}
        found = self._carried.found
        return {
            "configurations": found.nodes,
            "sum_of_loss": found.loss,
            "optimal": int(found.is_proven and found.moves_left == 0),
            "unsolvable": int(found.is_proven and found.moves_left > 0),
            "moves_left": found.moves_left,
            "repaths": self._plans_made - 1,
        }

    def solutions(self) -> Sequence[TimedPlan]:
        return self._solver.solutions if (self._plans_made, self._made_at) == (1, 0) else ()

    def is_improving(self) -> bool:
        return self._solver.is_improving

    def intent(self, agent: int) -> Intent:
        """Its plan, a cell per tick, without the waiting at the end."""
        return Intent() if self._stale else self._carried.intent_of(agent, self.state)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        return draw_traffic(self._carried.targets_ahead(), self.state.grid.size)

    def agent_added(self, agent: int) -> None:
        self._stale = True

    def agent_retasked(self, agent: int) -> None:
        self._stale = True

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._stale = True
