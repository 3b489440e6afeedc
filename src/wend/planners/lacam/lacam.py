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
    (ours: carrying the plan out in a world)    this file

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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL
from wend.planners.base import Budget, Intent, Overlay, Planner, Proposal, State, parameter
from wend.planners.lacam.instance import make_instance
from wend.planners.lacam.solving import Effort, FoundPlan, Solver

_PATIENCE_TICKS = 4     # for which units wait for agents outside of the plan


@dataclass
class Lacam(Planner):
    """LaCAM and LaCAM* in a world: plans for all units at once, and carries the plan out."""

    overlays: ClassVar[Mapping[str, Overlay]] = {
        "traffic": Overlay("how many moves of the plan still lead to each cell"),
    }

    swap: bool = parameter(True, "whether two units that meet in a corridor go back to where they can pass")
    guides: bool = parameter(True, "whether units look for paths around one another first, to prefer in the search")
    max_expansions: int = parameter(100_000, "configurations that are tried at most for a first plan", minimum=1)
    anytime_expansions: int = parameter(0, "configurations that are tried to improve the first plan", minimum=0)
    anytime_ms: float = parameter(0.0, "milliseconds in which the first plan is improved", minimum=0)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        self._stale = True                          # a new plan is needed
        self._units = np.empty(0, np.int32)         # int32[units]  the agents that the plan moves
        self._solution: FoundPlan | None = None
        self._done = 0                              # ticks of the plan that were carried out
        self._outside = np.empty(0, np.int32)       # cells of the agents outside of the plan when it was made
        self._made_at = 0                           # tick of the last plan
        self._held_up_ticks = 0                     # for which agents outside of the plan have been in the way
        self._plans_made = 0
        effort = Effort(self.max_expansions, self.anytime_expansions, self.anytime_ms)
        self._solver = Solver(effort, swaps=self.swap, guides=self.guides)

    @property
    def _plan(self) -> NDArray[np.int32]:
        """Where each unit is to be: int32[ticks + 1, units]."""
        return np.empty((1, 0), np.int32) if self._solution is None else self._solution.plan

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        if self._is_overtaken():
            self._make_plan(budget)
        if self._done == len(self._plan) - 1:
            return
        agents, units = self.state.agents, self._units
        there = agents.cell[units] != NO_CELL
        goes = self._plan[self._done + 1]
        outside = np.ones(agents.cell.size, np.bool_)
        outside[units] = False
        in_the_way = there & np.isin(goes, proposal.next_cell[outside & (agents.cell != NO_CELL)])
        if in_the_way.any():
            self._held_up_ticks += 1
            proposal.waits_for[units[in_the_way]] = self.state.occupant[goes[in_the_way]]
            return
        proposal.next_cell[units[there]] = goes[there]
        self._done += 1
        self._held_up_ticks = 0

    def _is_overtaken(self) -> bool:
        """Whether the plan no longer holds, or a new one may do better."""
        agents, units = self.state.agents, self._units
        here = agents.cell[units]
        if self._stale or self._held_up_ticks >= _PATIENCE_TICKS:
            return True
        if ((here != NO_CELL) & (here != self._plan[self._done])).any():
            return True
        posts = agents.pinned[units] & (here == agents.goal[units]) & (here != NO_CELL)
        if (posts & (self._plan[self._done :] != here).any(axis=0)).any():
            return True
        found = self._solution
        is_over = self._done == len(self._plan) - 1
        if found is None or not found.verdict or not is_over or self.state.tick - self._made_at < _PATIENCE_TICKS:
            return False
        may_gain = found.gains and not found.is_proven
        return may_gain or not np.array_equal(self._outside, self._find_units()[1])

    def _find_units(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The agents to plan for, and the cells of all others."""
        agents = self.state.agents
        moves = agents.controlled & ~(agents.pinned & (agents.cell == agents.goal))
        is_there = agents.cell != NO_CELL
        return np.flatnonzero(is_there & moves).astype(np.int32), agents.cell[is_there & ~moves]

    def _make_plan(self, budget: Budget) -> None:
        """Plan for all units from where they stand."""
        agents, (units, outside) = self.state.agents, self._find_units()
        instance = make_instance(self.state.grid, agents.cell[units], agents.goal[units], outside)
        self._solution = self._solver.solve(instance, self.seed + self._plans_made)
        budget.spend(self._solution.steps)
        self._units, self._outside = units, outside
        self._stale, self._done, self._held_up_ticks, self._made_at = False, 0, 0, self.state.tick
        self._plans_made += 1

    def counters(self) -> dict[str, int]:
        found = self._solution
        if found is None:
            return {}
        return {
            "configurations": found.nodes,
            "sum_of_loss": found.loss,
            "optimal": int(found.is_proven and found.moves_left == 0),
            "unsolvable": int(found.is_proven and found.moves_left > 0),
            "moves_left": found.moves_left,
            "repaths": self._plans_made - 1,
        }

    def is_improving(self) -> bool:
        return self._solver.is_improving

    def intent(self, agent: int) -> Intent:
        """Its plan, a cell per tick, without the waiting at the end."""
        unit = np.flatnonzero(self._units == agent)
        if self._stale or unit.size == 0 or self.state.agents.cell[agent] == NO_CELL:
            return Intent()
        cells = self._plan[self._done + 1 :, unit[0]]
        moves = np.flatnonzero(np.append(self._plan[self._done, unit[0]], cells[:-1]) != cells)
        path = tuple(cells[: moves[-1] + 1].tolist()) if moves.size else ()
        if self._held_up_ticks:
            blocker = int(self.state.occupant[path[0]]) if path else NO_AGENT
            return Intent(path, NO_AGENT if blocker == agent else blocker, "an agent outside the plan is in the way")
        is_home = self.state.agents.cell[agent] == self.state.agents.goal[agent]
        return Intent(path, reason="" if path or is_home else self._solution.verdict if self._solution else "")

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        ahead = self._plan[self._done :]
        return np.bincount(ahead[1:][ahead[1:] != ahead[:-1]], minlength=self.state.grid.size)

    def agent_added(self, agent: int) -> None:
        self._stale = True

    def agent_retasked(self, agent: int) -> None:
        self._stale = True

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._stale = True
