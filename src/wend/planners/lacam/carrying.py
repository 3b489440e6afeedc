"""A plan of LaCAM being carried out, tick by tick.

All units make their next move together, or none does: a plan says where every unit is at each tick. Where an agent
outside the plan is in the way of one of them, all wait.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL
from wend.planners.base import Agents, Intent, Proposal, State
from wend.planners.lacam.solving import FoundPlan
from wend.planners.units import are_posted


class CarriedPlan:
    """A plan, the agents that it moves, and how far they have come."""

    def __init__(self, found: FoundPlan, units: NDArray[np.int32]) -> None:
        self.found = found
        self.held_up_ticks = 0      # for which agents outside the plan have been in the way
        self._units = units         # int32[units]  the agent that each unit is
        self._done = 0              # ticks of the plan that were carried out

    @property
    def is_over(self) -> bool:
        """Whether all of it was carried out."""
        return self._done == len(self.found.plan) - 1

    @property
    def _ahead(self) -> NDArray[np.int32]:
        """Where each unit is to be from now on: int32[ticks, units]."""
        return self.found.plan[self._done :]

    def is_left(self, agents: Agents) -> bool:
        """Whether a unit is elsewhere than the plan has it, or is pinned where the plan leads on."""
        here = agents.cell[self._units]
        is_there = here != NO_CELL
        is_off = here != self._ahead[0]
        leads_on = are_posted(agents)[self._units] & (self._ahead != here).any(axis=0)
        return bool((is_there & (is_off | leads_on)).any())

    def advance(self, state: State, proposal: Proposal) -> None:
        """Enter this tick's moves into the proposal, unless an agent outside the plan is in the way of one."""
        if self.is_over:
            return
        agents, units = state.agents, self._units
        there = agents.cell[units] != NO_CELL
        goes = self._ahead[1]
        outside = np.ones(agents.cell.size, np.bool_)
        outside[units] = False
        in_the_way = there & np.isin(goes, proposal.next_cell[outside & (agents.cell != NO_CELL)])
        if in_the_way.any():
            self.held_up_ticks += 1
            proposal.waits_for[units[in_the_way]] = state.occupant[goes[in_the_way]]
            return
        proposal.next_cell[units[there]] = goes[there]
        self._done += 1
        self.held_up_ticks = 0

    def intent_of(self, agent: int, state: State) -> Intent:
        """The plan of an agent, a cell per tick, without the waiting at the end; and why it does not move on."""
        unit = np.flatnonzero(self._units == agent)
        if unit.size == 0 or state.agents.cell[agent] == NO_CELL:
            return Intent()
        cells = self._ahead[:, unit[0]]
        moves = np.flatnonzero(cells[1:] != cells[:-1])
        path = tuple(cells[1 : moves[-1] + 2].tolist()) if moves.size else ()
        if self.held_up_ticks:
            blocker = int(state.occupant[path[0]]) if path else NO_AGENT
            return Intent(path, NO_AGENT if blocker == agent else blocker, "an agent outside the plan is in the way")
        is_home = state.agents.cell[agent] == state.agents.goal[agent]
        return Intent(path, reason="" if path or is_home else self.found.verdict)

    def targets_ahead(self) -> NDArray[np.int32]:
        """The cells that the moves still to be made lead to."""
        return np.asarray(self._ahead[1:][self._ahead[1:] != self._ahead[:-1]])
