# mypy: disallow-untyped-calls=False
"""Outlook: what can be seen of a world between two calls, one agent at a time or all of them as arrays."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend import arguments
from wend.errors import ParameterError, WendError
from wend.groups.orders import Order
from wend.kernel import NO_AGENT, NO_CELL
from wend.kernel.compiling import prepared
from wend.maps.grid import GridView
from wend.maps.terrain import Point, places_of
from wend.planners.base import Handover, Planner, State
from wend.world.calls import Calls
from wend.world.conduct import (
    STATES,
    AgentEvent,
    AgentIntent,
    AgentState,
    Conduct,
    all_states,
    explain,
    is_any_away,
    state_of,
)
from wend.world.dispatch import Dispatch
from wend.world.events import Listener, Listeners, News, events_of
from wend.world.liaison import Liaison
from wend.world.recorder import Recorder
from wend.world.roster import Roster
from wend.world.trace import Trace

_STATE_NAMES = np.array(STATES)


class Outlook:
    """What a world shows. The world itself changes it."""

    grid: GridView                      # the map as it is now; the world's `block` and `unblock` edit it
    state: State                        # what the planner sees, too
    planner: Planner                    # the one that moves the agents now
    _handovers: list[Handover]          # who moved the agents, one after the other
    _calls: Calls
    _roster: Roster
    _liaison: Liaison
    _dispatch: Dispatch
    _conduct: Conduct
    _waits_for: NDArray[np.int32]       # the agent in the way of each, as the planner last said
    _idle_ticks: int                    # ticks in a row in which no agent moved
    _news: News                         # of the last tick
    _listeners: Listeners
    _recorder: Recorder

    # --- the agents ------------------------------------------------------------------------------------------------

    @property
    def ticks(self) -> int:
        """Ticks made so far."""
        return self.state.tick

    @property
    def agents(self) -> int:
        """Agents that there ever were; the next one gets this handle."""
        return self._roster.added

    def living(self) -> NDArray[np.int32]:
        """The handles of the agents that are on the map, in the order in which they were added."""
        handles = self._roster.handles
        return np.sort(handles[handles != NO_AGENT])

    def index_of(self, agent: int) -> int:
        """The index of an agent in `state.agents` and for `planner`; another may have it once this one has left."""
        return self._present(agent)

    def position(self, agent: int) -> Point:
        """Where an agent stands."""
        return self.grid.xy(int(self.state.agents.cell[self._present(agent)]))

    def goal(self, agent: int) -> Point:
        """Where an agent wants to be in the end; `state.agents.goal` may be a waypoint on its route there."""
        return self.grid.xy(int(self._dispatch.routes.goal[self._present(agent)]))

    def order_of(self, agent: int) -> Order:
        """What the last order to an agent has come to by now; places that become free are given back."""
        return self._dispatch.answer(self._present(agent))

    def waypoints(self, agent: int) -> list[Point]:
        """The places that an agent under a group order has still to pass before it heads for its slot."""
        return self._dispatch.waypoints(self._present(agent))

    def positions(self) -> NDArray[np.int32]:
        """int32[agents, 2] where every agent stands, as (x, y); (-1, -1) for one that has left the map."""
        return self._places(self.state.agents.cell)

    def previous_positions(self) -> NDArray[np.int32]:
        """int32[agents, 2] where every agent stood before the last tick; where it was put, if that was later.

        (-1, -1) for one that has left the map.
        """
        return self._places(self._conduct.previous[: self._roster.size])

    def goals(self) -> NDArray[np.int32]:
        """int32[agents, 2] where every agent wants to be in the end; (-1, -1) for one that has left the map."""
        return self._places(self._dispatch.routes.goal)

    def states(self) -> NDArray[np.str_]:
        """str[agents] what every agent is doing: the names of `agent_state`, or `absent`."""
        return _STATE_NAMES[self.state_codes()]

    def state_codes(self) -> NDArray[np.uint8]:
        """uint8[agents] the same as indices into `wend.world.conduct.STATES`, for those who look at every tick."""
        codes = np.empty(self._roster.size, dtype=np.uint8)
        all_states(self.ticks, self.state.agents, self._dispatch.routes.errands, self._conduct, codes)
        return self._roster.by_handle(codes, STATES.index("absent"))

    def pinned(self) -> NDArray[np.bool_]:
        """bool[agents] whether no other agent may push it off its goal."""
        return self._roster.by_handle(self.state.agents.pinned, absent=False)

    def controlled(self) -> NDArray[np.bool_]:
        """bool[agents] whether the planner moves it; otherwise the program does, or it has left the map."""
        return self._roster.by_handle(self.state.agents.controlled, absent=False)

    def followed(self) -> NDArray[np.int32]:
        """int32[agents] the agent that every agent follows; -1 for one that follows none."""
        followed = np.full(self.agents, NO_AGENT, np.int32)
        for agent, other in self._dispatch.followed().items():
            followed[self._handle(agent)] = self._handle(other)
        return followed

    def home_count(self) -> int:
        """How many of the planner's agents stand on their goals."""
        agents = self.state.agents
        return int(((agents.cell == self._dispatch.routes.goal) & agents.controlled).sum())

    def all_home(self) -> bool:
        """Whether all of the planner's agents stand on their goals."""
        return not prepared(is_any_away)(self.state.agents, self._dispatch.routes.goal)

    def quiet(self) -> bool:
        """Whether all of the planner's agents are on their goals, and no agent at all moved in the last tick.

        Then ticks change nothing until the program does.
        """
        return self._idle_ticks > 0 and self.all_home()

    def agent_state(self, agent: int) -> AgentState:
        """What an agent is doing, and whom it waits for."""
        agent = self._present(agent)
        name = STATES[state_of(self.ticks, self.state.agents, self._dispatch.routes.errands, self._conduct, agent)]
        waited = self.ticks - int(self._conduct.moved_at[agent])
        waits_for = self._named(agent)
        if waits_for == NO_AGENT:
            asks = waited > 0 and name in ("waiting", "yielding", "stuck")
            return AgentState(name, self.intent(self._handle(agent)).waits_for if asks else None, waited)
        return AgentState(name, self._handle(waits_for), waited)

    def intent(self, agent: int) -> AgentIntent:
        """What an agent is about to do, as far as the planner knows: its path ahead, whom it waits for, and why."""
        with self._calls, self._calls.journal:
            agent = self._present(agent)
            self._liaison.rejoin()
            stayed = self.ticks > self._conduct.moved_at[agent]
            return explain(self.planner, self.state, self._roster, agent, self._named(agent), stayed=bool(stayed))

    # --- what happened ---------------------------------------------------------------------------------------------

    def events(self) -> list[AgentEvent]:
        """What happened to agents in the last tick, and in the calls before it; see docs/world.md for the kinds."""
        return events_of(self._news, self.grid)

    def on(self, kind: str, listener: Listener) -> None:
        """Have a function called with every event of a kind, after the tick in which it happens.

        It may call the world. If it raises, the tick was made all the same. Copies of the world do not call it.
        """
        arguments.instance(kind, "kind", str, "the name of a kind of event")
        if not callable(listener):
            raise ParameterError(f"listener is a function, not {listener!r}")
        self._listeners.of(kind).append(listener)

    def off(self, kind: str, listener: Listener) -> None:
        """Have a function no longer called that was given to `on`."""
        arguments.instance(kind, "kind", str, "the name of a kind of event")
        if listener not in self._listeners.of(kind):
            raise ParameterError(f"listener is a function that was given to on({kind!r}, ...), not {listener!r}")
        self._listeners.of(kind).remove(listener)

    def reasons(self) -> list[str]:
        """Which planners have moved the agents, from which tick on, and why, one sentence for each."""
        return [f"tick {made.tick}: {made.algorithm}, because {made.reason}" for made in self._handovers]

    def state_hash(self) -> str:
        """A hash of everything that happened so far: map, orders, edits and every position of every tick."""
        with self._calls:
            return self._recorder.state_hash()

    def trace(self, **meta: Any) -> Trace:
        """What happened so far, with whatever is to be remembered about it."""
        with self._calls:
            if not self._recorder.keeps_trace:
                raise ParameterError("this world keeps no trace: make it without record=False")
            if not self._recorder.has_trace:
                raise ParameterError("this world was restored from a snapshot that came without its trace")
            return self._recorder.trace(self.agents, {"counters": self.planner.counters(), **meta})

    def __repr__(self) -> str:
        there = int(((self.state.agents.cell != NO_CELL) & self.state.agents.controlled).sum())
        home = f"{self.home_count()} of {there} agents home"
        by = self._handovers[-1].algorithm.rpartition(":")[2]       # a name, or the class of one that was given
        return f"<World at tick {self.ticks}: {home}, moved by {by}, on {self.grid}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the replay page of what happened so far, or why there is none."""
        try:
            return self.trace()._repr_html_()
        except WendError as error:
            return f"<p>{escape(repr(self))}<br>There is nothing to play: {escape(str(error))}.</p>"

    # --- behind the scenes -----------------------------------------------------------------------------------------

    def _present(self, agent: int, name: str = "agent") -> int:
        """The index of the agent with this handle."""
        if type(agent) is not int:
            agent = arguments.whole(agent, name)
        index = self._roster.index_of(agent)
        if index == NO_AGENT:
            raise ParameterError(f"there is no agent {agent} on the map")
        return index

    def _handle(self, agent: int) -> int:
        """The handle of the agent with this index."""
        return int(self._roster.handles[agent])

    def _places(self, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """Cells by index as places by handle."""
        return places_of(self.grid.width, self._roster.by_handle(cells, NO_CELL))

    def _named(self, agent: int) -> int:
        """The agent in the way of another, as the last proposal had it, or NO_AGENT."""
        named = int(self._waits_for[agent]) if self._roster.was_there(agent, self.ticks) else NO_AGENT
        return named if self._roster.was_there(named, self.ticks) else NO_AGENT
