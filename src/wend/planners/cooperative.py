# mypy: disallow-untyped-calls=False
"""CA* and HCA*: every agent plans once, in space and time, around the plans of those before it.

David Silver: Cooperative Pathfinding. AIIDE 2005, sections "Cooperative A*" and "Hierarchical Cooperative A*".

Agents plan one after the other. Each searches space-time for a plan that avoids what is reserved, reserves it, and
stays on its goal for good. CA* estimates distances as on an empty map, HCA* by RRA*, which knows walls and not agents.

    paper                            here
    reservation table                search/reservations.py, kept by Timetable
    space-time A*                    PlanSearches, with search/space_time.py
    RRA* (Alg. 1)                    search/reverse_resumable.py
    "agents ... in turn"             Cooperative.plan

Work: all of it in the first tick, and after an order or an edit for the agents that it concerns.

Deviations and open points
- A search ends on the goal at a time from which on no other agent has it, so that staying there is free of collisions.
- A search looks 4 * (width + height) + agents ticks ahead, and at `max_states` states. An agent that finds no plan
  stays where it is and does not try again until it is ordered, cut off, or stopped. An agent that planned before it may
  have reserved that very place: the guard then stops that agent, which plans again from there.
- Agents that the program moves are taken to stay where they go for `program_ticks` ticks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_SPACE
from wend.kernel.allowance import allow
from wend.kernel.arrays import ahead, allocate, grown
from wend.maps.grid import Grid
from wend.planners.base import Agents, Budget, Intent, Overlay, Planner, Proposal, State, parameter
from wend.planners.waiting import (
    KEEPS_TO_ITS_PLAN,
    LETS_PASS,
    WAS_STOPPED,
    in_the_way_of,
    is_away,
    met_without_waiting,
)
from wend.search import reservations, space_time
from wend.search.execution import grant, make_guard
from wend.search.paths import is_walkable
from wend.search.reservations import NEVER, Reservations
from wend.search.reverse_resumable import SharedSearches
from wend.search.space_time import Manners, Scene, Tails, Trip

_NO_LIMIT = 2**60
_FIRST_STATES = 1 << 14     # states that the workspace has space for before it grows
_FIRST_TICKS = 64           # ticks that can be reserved before the table grows


class Timetable:
    """The plan of each agent, and the reservations that it makes."""

    def __init__(self, cells: int) -> None:
        self.table = reservations.make_reservations(cells, _FIRST_TICKS)
        self._plans: list[NDArray[np.int32]] = []   # of each agent: its cells, one per tick; it stays on the last
        self._since: list[int] = []                 # of each agent: the tick after which it stood on the first of them

    def add_agent(self, agent: int) -> None:
        """An agent has come, without a plan; its index is the next one, or that of an agent that has left."""
        self._plans[agent : agent + 1] = [np.empty(0, np.int32)]
        self._since[agent : agent + 1] = [0]

    def remove_agent(self, agent: int, tick: int) -> None:
        """Withdraw the plan of an agent that left the map."""
        self.withdraw(agent, tick)
        self._plans[agent] = np.full(1, NO_CELL, np.int32)

    def ahead_of(self, agent: int, tick: int) -> NDArray[np.int32]:
        """The cells of an agent's plan from now on, where it stands included."""
        return self._plans[agent][tick - self._since[agent] :]

    def has_moved(self, agent: int, tick: int) -> bool:
        """Whether an agent's plan has it move in the tick before `tick`, or begins no earlier."""
        k = tick - self._since[agent]
        return k < 1 or bool(self._plans[agent][k] != self._plans[agent][k - 1])

    def next_cells(self, tick: int) -> NDArray[np.int32]:
        """Where each agent is to stand after the next tick."""
        plans = zip(self._plans, self._since, strict=True)
        return np.array([plan[min(tick + 1 - since, plan.size - 1)] for plan, since in plans], dtype=np.int32)

    def expire(self, tick: int) -> None:
        """Release what lies behind; to be called in every tick."""
        for agent, (plan, since) in enumerate(zip(self._plans, self._since, strict=True)):
            if 0 < tick - since <= plan.size and plan[0] != NO_CELL:
                reservations.release(self.table, plan[tick - since - 1], tick - 1, agent)

    def enter(self, agent: int, plan: NDArray[np.int32], tick: int, *, stays: bool) -> None:
        """Reserve a new plan in place of the old one, and its end for good if the agent stays there."""
        self.withdraw(agent, tick)
        self._plans[agent], self._since[agent] = plan, tick
        if plan.size > self.table.ring.shape[1]:
            self._lengthen(plan.size, tick)
        reservations.reserve_way(self.table, plan, tick, plan.size - 1, agent)
        if stays:
            reservations.hold(self.table, plan[-1], tick + plan.size - 1, agent)

    def withdraw(self, agent: int, tick: int) -> None:
        """Release the plan of an agent."""
        plan = self._plans[agent]
        if plan.size:
            reservations.release_way(self.table, plan, self._since[agent], plan.size - 1, agent, tick)
            reservations.release_hold(self.table, plan[-1], agent)
            self._plans[agent] = plan[:0]

    def _lengthen(self, ticks: int, tick: int) -> None:
        """Make a longer table, and enter all plans again."""
        old, self.table = self.table, reservations.make_reservations(self.table.hold_agent.size, ticks)
        self.table.hold_agent[:], self.table.hold_from[:] = old.hold_agent, old.hold_from
        self.table.has_holds[:] = old.has_holds
        for agent in range(len(self._plans)):
            left = self._plans[agent][max(tick - self._since[agent], 0) :]
            if left.size and left[0] != NO_CELL:
                reservations.reserve_way(self.table, left, tick, left.size - 1, agent)


class PlanSearches:
    """The agents' searches in space and time, and what they work with."""

    def __init__(self, grid: Grid, manners: Manners, max_states: int) -> None:
        self.distances = SharedSearches(grid)
        self.manners = manners
        self._grid, self._max_states = grid, max_states
        self._work = space_time.make_space_time(min(_FIRST_STATES, max_states))
        self._tails = allocate(Tails, cells=grid.size, agents=1)    # no plan ends: agents stay on their goals

    def find(
        self, agent: int, agents: Agents, tick: int, table: Reservations, budget: Budget
    ) -> NDArray[np.int32] | None:
        """The best plan of an agent from where it stands around all that is reserved, or None."""
        grid, distances = self._grid, self.distances
        steps = 4 * (grid.width + grid.height) + agents.cell.size
        aim = int(distances.of[agent])
        trip = Trip(agent, int(agents.cell[agent]), tick, int(agents.goal[agent]), aim, steps)
        while True:
            allow(distances.reverse.allowance, _NO_LIMIT)
            scene = Scene(grid.tables, table, self._tails, distances.reverse, self._work, self.manners)
            answer = budget.call(distances.reverse.allowance, space_time.search, scene, trip)
            if answer != OUT_OF_SPACE:
                break
            distances.grow()
            if space_time.is_full(self._work):
                if self._work.cell.size >= self._max_states:
                    break
                self._work = space_time.make_space_time(min(4 * self._work.cell.size, self._max_states))
        if answer != FOUND:
            return None
        plan = np.empty(space_time.length_of(self._work) + 1, np.int32)
        space_time.write_cells(self._work, plan)
        return plan


def describe(state: State, timetable: Timetable, manners: Manners, stopped_by: int, agent: int) -> Intent:
    """What an agent is about to do, and why it stayed in the last tick. The path is its plan, a cell per tick.

    `stopped_by` is the agent for which the guard stopped it, or NO_AGENT.
    """
    agents, tick = state.agents, state.tick
    if agents.cell[agent] == NO_CELL or not agents.controlled[agent]:
        return Intent()
    if stopped_by != NO_AGENT:
        return Intent((), stopped_by, WAS_STOPPED)
    plan = timetable.ahead_of(agent, tick)
    path = tuple(plan[1:].tolist())
    if not is_away(state, agent) or (path and timetable.has_moved(agent, tick)):
        return Intent(path)
    other = met_without_waiting(state, timetable.table, manners, agent, plan, NEVER)
    if not path:
        return Intent(path, other, "it has no plan that avoids those of the others")
    return Intent(path, other, KEEPS_TO_ITS_PLAN if other == NO_AGENT else LETS_PASS)


@dataclass
class Cooperative(Planner):
    """CA*, or HCA* if it is hierarchical."""

    hierarchical: bool = parameter(True, "distances by RRA* (HCA*), not as on an empty map (CA*)")
    order: str = parameter("id", "who plans first", choices=("id", "far_first"))
    no_follow: bool = parameter(False, "a reserved cell stays so while it is being left, as in Silver's table")
    forbid_cross: bool = parameter(False, "no two diagonal moves cross")
    max_states: int = parameter(1_000_000, "states of space and time that one search may reach", minimum=100)
    program_ticks: int = parameter(16, "ticks that agents of the program are taken to stay", minimum=1, maximum=10_000)

    overlays: ClassVar[Mapping[str, Overlay]] = {
        "owner": Overlay("the agent that has reserved each cell and will be there first, -1 where there is none"),
    }

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._timetable = Timetable(cells)
        manners = Manners(False, self.hierarchical, self.no_follow, self.forbid_cross, 0)
        self._searches = PlanSearches(state.grid, manners, self.max_states)
        self._guard = make_guard(0, cells)
        self._waits_for = np.empty(0, np.int32)
        self._planless: set[int] = set()            # agents that are to plan
        self._counters = {"repaths": 0, "stopped_by_guard": 0, "without_a_way": 0}
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, agents, timetable = self.state, self.state.agents, self._timetable
        timetable.expire(state.tick)
        for agent in np.flatnonzero(~agents.controlled & (agents.cell != NO_CELL)).tolist():
            stay = np.full(self.program_ticks + 1, proposal.next_cell[agent], np.int32)
            timetable.enter(agent, stay, state.tick, stays=False)
        for agent in np.flatnonzero(agents.pinned & agents.controlled & (agents.cell == agents.goal)).tolist():
            if (timetable.ahead_of(agent, state.tick) != agents.cell[agent]).any():
                self._planless.add(agent)           # it was pinned while its plan leads on
        for agent in sorted(self._planless, key=self._rank):
            timetable.enter(agent, self._find_plan(agent, budget), state.tick, stays=True)
        self._planless.clear()
        wanted = timetable.next_cells(state.tick)
        if grant(agents, state.occupant, wanted, self._guard, proposal.next_cell, proposal.waits_for):
            stopped = np.flatnonzero((proposal.next_cell != wanted) & agents.controlled & (agents.cell != NO_CELL))
            self._counters["stopped_by_guard"] += stopped.size
            self._counters["repaths"] += stopped.size
            self._planless.update(stopped.tolist())
        self._waits_for = proposal.waits_for

    def _is_at_its_post(self, agent: int) -> bool:
        agents = self.state.agents
        return bool(agents.pinned[agent] and agents.cell[agent] == agents.goal[agent])

    def _rank(self, agent: int) -> tuple[bool, int, int]:
        """Who plans first: pinned agents on their goals, so that all others plan around them."""
        (x, y), (goal_x, goal_y) = (self.state.grid.xy(int(cells[agent])) for cells in self.state.agents[:2])
        far = max(abs(x - goal_x), abs(y - goal_y))
        return not self._is_at_its_post(agent), (-far if self.order == "far_first" else 0), agent

    def _find_plan(self, agent: int, budget: Budget) -> NDArray[np.int32]:
        """A plan for an agent from where it stands; if it finds none, to stay there."""
        agents, tick = self.state.agents, self.state.tick
        if not self._is_at_its_post(agent):
            self._timetable.withdraw(agent, tick)
            plan = self._searches.find(agent, agents, tick, self._timetable.table, budget)
            if plan is not None:
                return plan
            self._counters["without_a_way"] += 1
        return agents.cell[agent : agent + 1].copy()

    def counters(self) -> dict[str, int]:
        return dict(self._counters)

    def intent(self, agent: int) -> Intent:
        """Its plan, a cell per tick."""
        stopped_by = in_the_way_of(agent, self._waits_for)
        return describe(self.state, self._timetable, self._searches.manners, stopped_by, agent)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        return reservations.next_owners(self._timetable.table, self.state.tick)

    def agent_added(self, agent: int) -> None:
        self._timetable.add_agent(agent)
        self._guard = grown(self._guard, agents=ahead(self._guard.state.size, agent + 1))
        self.agent_teleported(agent)

    def agent_removed(self, agent: int) -> None:
        self._timetable.remove_agent(agent, self.state.tick)
        self._planless.discard(agent)
        self._searches.distances.drop(agent)

    def agent_teleported(self, agent: int) -> None:
        self._timetable.enter(agent, self.state.agents.cell[agent : agent + 1].copy(), self.state.tick, stays=False)
        self.agent_retasked(agent)

    def agent_retasked(self, agent: int) -> None:
        agents = self.state.agents
        self._searches.distances.aim(agent, int(agents.goal[agent]), int(agents.cell[agent]))
        if agents.controlled[agent]:
            self._planless.add(agent)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._searches.distances.cells_changed(cells)
        for agent in np.flatnonzero(self.state.agents.controlled & (self.state.agents.cell != NO_CELL)).tolist():
            if not is_walkable(self.state.grid.tables, self._timetable.ahead_of(agent, self.state.tick)):
                self._planless.add(agent)
