"""Liaison: a world's line to its planner, which can be told of changes but cannot take them back.

If a call fails after the planner was told of it, or while it planned, the planner's state fits nothing that ever was.
Then it is told nothing more, and before the next tick it is bound again and meets the agents one by one, as they stand.
What it does from then on depends on the world alone and not on where it was interrupted. A planner that takes over from
another one meets the agents in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.journal import Journal
from wend.kernel import NO_AGENT, NO_CELL
from wend.planners.base import Agents, Planner, State


class Liaison:
    """What keeps the planner of one world in step with it."""

    def __init__(self, planner: Planner, state: State, seed: int, journal: Journal) -> None:
        self.planner = planner      # the one that moves the agents now
        self._state = state
        self._seed = seed
        self._journal = journal
        self._is_lost = False       # the planner is out of step, and to be bound again
        self.told_at = 0            # ticks that were made when it was last told of anything
        try:
            planner.bind(state, seed)
        except BaseException:
            _let_go(planner, state)
            raise

    def tell(self, event: Callable[..., None], *arguments: Any) -> None:
        """Tell the planner of an event."""
        if self.told_at != self._state.tick:
            self._journal.keep_attribute(self, "told_at")
            self.told_at = self._state.tick
        if not self._is_lost:
            self.ask(event, *arguments)

    def ask(self, question: Callable[..., None], *arguments: Any) -> None:
        """Call a method of the planner that changes what it knows, and that it is in step for."""
        self._journal.on_failure(self._lose)
        question(*arguments)

    def introduce_all(self) -> None:
        """The agents of the state have come to a map that was empty."""
        self._journal.on_failure(self._state.occupant.fill, NO_AGENT)
        self.ask(self._meet, self.planner, self._state.agents)

    def rejoin(self) -> None:
        """Bind the planner again if it is out of step."""
        if self._is_lost:
            self.planner.unbind()
            self._introduce(self.planner)
            self._is_lost = False

    def hand_over(self, planner: Planner) -> None:
        """Let another planner take over. The one so far knows the world until it is let go."""
        self._take_in(planner)
        self._introduce(planner)
        self._is_lost = False

    def stand_in(self, planner: Planner) -> None:
        """Put a planner that knows no agent yet in the place of the one so far: a snapshot says all that it knows."""
        self._take_in(planner)
        state, agents = self._state, self._state.agents
        occupants = self._empty()
        planner.bind(state, self._seed)
        state.agents, state.occupant[...] = agents, occupants

    def _take_in(self, planner: Planner) -> None:
        """Let this planner be the world's. If the call fails it is free again, and the one so far goes on."""
        planner.require_free()
        self._journal.on_failure(_let_go, planner, self._state)
        for name in ("planner", "_is_lost"):
            self._journal.keep_attribute(self, name)
        self.planner = planner

    def _empty(self) -> NDArray[np.int32]:
        """Take all agents off the map, as far as a planner sees; return who stands where."""
        state, agents = self._state, self._state.agents
        self._journal.keep_attribute(state, "agents")
        for array in (state.occupant, agents.cell, agents.goal):
            self._journal.keep(array)
        occupants = state.occupant.copy()
        state.agents = _first(agents, 0)
        state.occupant.fill(NO_AGENT)
        return occupants

    def _introduce(self, planner: Planner) -> None:
        """Bind a planner, and let it meet the agents one by one."""
        agents = self._state.agents
        self._empty()
        planner.bind(self._state, self._seed)
        self._meet(planner, agents)

    def _meet(self, planner: Planner, agents: Agents) -> None:
        """Let a planner that knows none of these agents meet them, as they come to the empty map one by one."""
        state, cells, goals = self._state, agents.cell.tolist(), agents.goal.tolist()
        is_vacant = state.grid.free.copy()
        is_vacant[agents.cell[agents.cell != NO_CELL]] = False
        spare = int(is_vacant.argmax())         # where an agent that has left stands while it is introduced
        planner.make_room(len(cells))
        for agent, cell in enumerate(cells):
            state.agents = _first(agents, agent + 1)
            if cell != NO_CELL:
                state.occupant[cell] = agent
                planner.agent_added(agent)
                continue
            other = state.occupant[spare]
            agents.cell[agent] = agents.goal[agent] = spare
            state.occupant[spare] = agent
            planner.agent_added(agent)
            agents.cell[agent], agents.goal[agent] = NO_CELL, goals[agent]
            state.occupant[spare] = other
            planner.agent_removed(agent)
        state.agents = agents

    def _lose(self) -> None:
        self._is_lost = True


def _let_go(planner: Planner, state: State) -> None:
    """Let a planner be bound again, if it is bound to this world."""
    if getattr(planner, "state", None) is state:
        planner.unbind()


def _first(agents: Agents, count: int) -> Agents:
    """The first so many agents."""
    return Agents(*(array[:count] for array in agents))
