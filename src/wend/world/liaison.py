"""Liaison: a world's line to its planner, which can be told of changes but cannot take them back.

If a call fails after the planner was told of it, or while it planned, the planner's state fits nothing that ever was.
Then it is told nothing more, and before the next tick it is bound again and meets the agents one by one, as they stand.
What it does from then on depends on the world alone and not on where it was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wend.journal import Journal
from wend.kernel import NO_AGENT, NO_CELL
from wend.planners.base import Agents, Planner, State


class Liaison:
    """What keeps one planner in step with one world."""

    def __init__(self, planner: Planner, state: State, seed: int, journal: Journal) -> None:
        self._planner = planner
        self._state = state
        self._seed = seed
        self._journal = journal
        self._is_lost = False       # the planner is out of step, and to be bound again
        try:
            planner.bind(state, seed)
        except BaseException:
            if getattr(planner, "state", None) is state:
                planner.unbind()
            raise

    def tell(self, event: Callable[..., None], *arguments: Any) -> None:
        """Call a method of the planner that changes what it knows."""
        if not self._is_lost:
            self._journal.on_failure(self._lose)
            event(*arguments)

    def rejoin(self) -> None:
        """Bind the planner again if it is out of step."""
        if not self._is_lost:
            return
        state, agents = self._state, self._state.agents
        self._journal.keep_attribute(state, "agents")
        for array in (state.occupant, agents.cell, agents.goal):
            self._journal.keep(array)
        cells, goals = agents.cell.tolist(), agents.goal.tolist()
        vacant = np.flatnonzero(state.grid.free & (state.occupant == NO_AGENT))
        spare = int(vacant[0]) if vacant.size else 0        # where an agent that has left stands while it is introduced
        state.agents = _first(agents, 0)
        state.occupant.fill(NO_AGENT)
        self._planner.unbind()
        self._planner.bind(state, self._seed)
        for agent, cell in enumerate(cells):
            state.agents = _first(agents, agent + 1)
            if cell != NO_CELL:
                state.occupant[cell] = agent
                self._planner.agent_added(agent)
                continue
            other = state.occupant[spare]
            agents.cell[agent] = agents.goal[agent] = spare
            state.occupant[spare] = agent
            self._planner.agent_added(agent)
            agents.cell[agent], agents.goal[agent] = NO_CELL, goals[agent]
            state.occupant[spare] = other
            self._planner.agent_removed(agent)
        state.agents = agents
        self._is_lost = False

    def _lose(self) -> None:
        self._is_lost = True


def _first(agents: Agents, count: int) -> Agents:
    """The first so many agents."""
    return Agents(*(array[:count] for array in agents))
