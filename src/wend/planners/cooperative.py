# mypy: disallow-untyped-calls=False
"""CA* and HCA*: every agent plans once, in space and time, around the plans of those before it.

David Silver: Cooperative Pathfinding. AIIDE 2005, sections "Cooperative A*" and "Hierarchical Cooperative A*".

Agents plan one after the other. Each searches space-time for a way that avoids what is reserved, reserves it, and stays
on its goal for good. CA* estimates distances as on an empty map, HCA* by RRA*, which knows walls and not agents.

    paper                            here
    reservation table                search/reservations.py
    space-time A*                    search/space_time.py, a full search
    RRA* (Alg. 1)                    search/reverse_resumable.py
    "agents ... in turn"             Cooperative.plan

Work: all of it in the first tick, and after an order or an edit for the agents that it concerns.

Deviations and open points
- A search ends on the goal at a time from which on nobody else has it, so that staying there is free of collisions.
- A search looks 4 * (width + height) + agents ticks ahead, and at `max_states` states; an agent without a way stays
  where it is and does not try again until it is ordered, cut off, or stopped. An agent planned before may have reserved
  that very place: the guard then stops that one, and it plans again from there.
- Agents that the program moves are taken to stay where they go for `program_ticks` ticks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_CELL, OUT_OF_SPACE
from wend.kernel.allowance import allow, spent
from wend.kernel.arrays import allocate
from wend.planners.base import Budget, Planner, Proposal, State, parameter
from wend.search import reservations, space_time
from wend.search.execution import grant, make_guard
from wend.search.reverse_resumable import SharedSearches
from wend.search.space_time import Manners, Scene, Tails, Trip

_NO_LIMIT = 2**60
_FIRST_STATES = 1 << 14     # states that the workspace has room for before it grows


@dataclass
class Cooperative(Planner):
    """CA*, or HCA* if it is hierarchical."""

    hierarchical: bool = parameter(True, "distances by RRA* (HCA*), not as on an empty map (CA*)")
    order: str = parameter("id", "who plans first", choices=("id", "far_first"))
    no_follow: bool = parameter(False, "a reserved cell stays so while it is being left, as in Silver's table")
    forbid_cross: bool = parameter(False, "no two diagonal moves cross")
    max_states: int = parameter(1_000_000, "states of space and time that one search may reach", minimum=100)
    program_ticks: int = parameter(16, "ticks that agents of the program are taken to stay", minimum=1, maximum=10_000)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._table = reservations.make_reservations(cells, 64)
        self._distances = SharedSearches(state.grid)
        self._work = space_time.make_space_time(min(_FIRST_STATES, self.max_states))
        self._manners = Manners(False, self.hierarchical, self.no_follow, self.forbid_cross, 0)
        self._tails = allocate(Tails, cells=cells, agents=1)     # no plan ends: agents stay on their goals
        self._guard = make_guard(0, cells)
        self._way: list[NDArray[np.int32]] = []     # of each agent: its cells, one per tick
        self._since: list[int] = []                 # of each agent: the tick after which it stood on the first of them
        self._waiting: set[int] = set()             # agents that need a way
        self._counters = {"repaths": 0, "stopped_by_guard": 0, "without_a_way": 0}
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, agents = self.state, self.state.agents
        for agent, (way, since) in enumerate(zip(self._way, self._since, strict=True)):
            if 0 < state.tick - since <= way.size and agents.cell[agent] != NO_CELL:
                reservations.release(self._table, way[state.tick - since - 1], state.tick - 1, agent)
        for agent in np.flatnonzero(~agents.controlled & (agents.cell != NO_CELL)).tolist():
            self._take(agent, np.full(self.program_ticks + 1, proposal.next_cell[agent], np.int32), stays=False)
        for agent in np.flatnonzero(agents.pinned & agents.controlled & (agents.cell == agents.goal)).tolist():
            if (self._way[agent][state.tick - self._since[agent] :] != agents.cell[agent]).any():
                self._waiting.add(agent)            # it was pinned on a way that leads on
        for agent in sorted(self._waiting, key=self._turn):
            self._search(agent, budget)
        self._waiting.clear()
        wanted = np.array(
            [way[min(state.tick + 1 - since, way.size - 1)] for way, since in zip(self._way, self._since, strict=True)],
            dtype=np.int32,
        )
        if grant(agents, state.occupant, wanted, self._guard, proposal.next_cell, proposal.waits_for):
            stopped = np.flatnonzero((proposal.next_cell != wanted) & agents.controlled & (agents.cell != NO_CELL))
            self._counters["stopped_by_guard"] += stopped.size
            self._counters["repaths"] += stopped.size
            self._waiting.update(stopped.tolist())

    def _is_at_its_post(self, agent: int) -> bool:
        agents = self.state.agents
        return bool(agents.pinned[agent] and agents.cell[agent] == agents.goal[agent])

    def _turn(self, agent: int) -> tuple[bool, int, int]:
        """Who plans first: pinned agents on their goals, so that all others plan around them."""
        (x, y), (goal_x, goal_y) = (self.state.grid.xy(int(cells[agent])) for cells in self.state.agents[:2])
        far = max(abs(x - goal_x), abs(y - goal_y))
        return not self._is_at_its_post(agent), (-far if self.order == "far_first" else 0), agent

    def _search(self, agent: int, budget: Budget) -> None:
        """Find an agent a way from where it stands, and reserve it; without one it stays where it is."""
        state, distances = self.state, self._distances
        cell, goal = int(state.agents.cell[agent]), int(state.agents.goal[agent])
        if self._is_at_its_post(agent):
            return self._take(agent, np.array([cell], np.int32), stays=True)
        self._release(agent)
        steps = 4 * (state.grid.width + state.grid.height) + state.agents.cell.size
        before = spent(distances.reverse.allowance)
        while True:
            allow(distances.reverse.allowance, _NO_LIMIT)
            scene = Scene(
                state.grid.tables, self._table, self._tails, distances.reverse, self._work, self._manners
            )
            answer = space_time.search(scene, Trip(agent, cell, state.tick, goal, int(distances.of[agent]), steps))
            if answer != OUT_OF_SPACE:
                break
            distances.grow()
            if space_time.is_full(self._work):
                if self._work.cell.size >= self.max_states:
                    break
                self._work = space_time.make_space_time(min(4 * self._work.cell.size, self.max_states))
        budget.spend(spent(distances.reverse.allowance) - before)
        way = np.array([cell], np.int32)
        if answer == FOUND:
            way = np.empty(space_time.length_of(self._work) + 1, np.int32)
            space_time.write_cells(self._work, way)
        self._counters["without_a_way"] += answer != FOUND
        return self._take(agent, way, stays=True)

    def _take(self, agent: int, way: NDArray[np.int32], *, stays: bool) -> None:
        """Reserve a way, and its end for good."""
        self._release(agent)
        self._way[agent], self._since[agent] = way, self.state.tick
        if way.size > self._table.ring.shape[1]:
            self._lengthen(way.size)
        reservations.reserve_way(self._table, way, self.state.tick, way.size - 1, agent)
        if stays:
            reservations.hold(self._table, way[-1], self.state.tick + way.size - 1, agent)

    def _lengthen(self, ticks: int) -> None:
        """Make a longer table, and enter everybody's way again."""
        old, self._table = self._table, reservations.make_reservations(self.state.grid.size, ticks)
        self._table.hold_agent[:], self._table.hold_from[:] = old.hold_agent, old.hold_from
        for agent, (way, since) in enumerate(zip(self._way, self._since, strict=True)):
            ahead = way[max(self.state.tick - since, 0) :]
            if ahead.size and ahead[0] != NO_CELL:
                reservations.reserve_way(self._table, ahead, self.state.tick, ahead.size - 1, agent)

    def _release(self, agent: int) -> None:
        way = self._way[agent]
        if way.size:
            reservations.release_way(self._table, way, self._since[agent], way.size - 1, agent, self.state.tick)
            reservations.release_hold(self._table, way[-1], agent)
            self._way[agent] = way[:0]

    def counters(self) -> dict[str, int]:
        return dict(self._counters)

    def agent_added(self, agent: int) -> None:
        self._way.append(np.empty(0, np.int32))
        self._since.append(0)
        self._guard = make_guard(agent + 1, self.state.grid.size)
        self._aim(agent)
        self._take(agent, self.state.agents.cell[agent : agent + 1].copy(), stays=False)
        if self.state.agents.controlled[agent]:
            self._waiting.add(agent)

    def agent_removed(self, agent: int) -> None:
        self._release(agent)
        self._way[agent] = np.full(1, NO_CELL, np.int32)
        self._waiting.discard(agent)
        self._distances.drop(agent)

    def agent_retasked(self, agent: int) -> None:
        self._aim(agent)
        if self.state.agents.controlled[agent]:
            self._waiting.add(agent)

    def _aim(self, agent: int) -> None:
        agents = self.state.agents
        self._distances.aim(agent, int(agents.goal[agent]), int(agents.cell[agent]))

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._distances.cells_changed(cells)
        for agent in np.flatnonzero(self.state.agents.controlled & (self.state.agents.cell != NO_CELL)).tolist():
            ahead = self._way[agent][self.state.tick - self._since[agent] :]
            if not reservations.is_walkable(self.state.grid.tables, ahead):
                self._waiting.add(agent)
