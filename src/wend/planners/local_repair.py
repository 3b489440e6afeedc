# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""LRA*: A* with local repair, the practice that the cooperative algorithms set out to replace.

David Silver: Cooperative Pathfinding. AIIDE 2005, pp. 117-122, section "Local Repair A*".

Every agent searches a path of its own and ignores all other agents but those on the cells beside it. It follows the
path until the next cell is occupied; then it searches the rest anew. Each forced search raises the agent's agitation,
and random noise in proportion to it is added to the heuristic, in the hope that an agitated agent finds another way.

    paper                                        here
    "searches for a route", neighbours known     search_phase
    "follow their routes, until a collision
    is imminent", agitation                      move_phase

Work per tick: O(agents), plus the searches of the agents that have no path.

Deviations and open points
- The noise is agitation * r(cell), r uniform in [0, 1) cells, drawn per search and cell by a hash. The paper gives the
  proportion and no distribution.
- Agitation returns to 0 on the goal and drops by one after `calm_moves` unobstructed moves. The paper never lowers it.
- A forced search costs the agent its turn. It is made at the start of the next tick, so that a budget can spread the
  searches, but "its current neighbours" are those that it saw in its turn. (With those of the next tick LRA* would be
  better than Silver's: 90 % instead of 85 % of 100 agents get home on his maps.)
- Agents move one after the other by index; those the program moves go first.
- No path: wait, become more agitated, try again next tick. An agent on its goal stays there for good.
- With a budget, searches take turns by index and are suspended in mid-search; who has no path yet waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, jit, scramble
from wend.planners.base import Budget, Planner, Proposal, State, parameter
from wend.search.astar import (
    begin,
    expansions_of,
    forbid,
    make_search,
    path_length,
    run,
    write_steps,
)
from wend.search.paths import drop_cut_routes

# What `search_phase` answers
_DONE = 0
_BUDGET_SPENT = 1
_ROUTE_TOO_LONG = 2

_LOOK_FIRST = -1
_FIRST_ROOM = 256       # moves that a route can hold before the arrays grow


class Routes(NamedTuple):
    """The path of each agent, and its mood."""

    step: np.ndarray        # uint8[agents, room]  directions, first move first
    length: np.ndarray      # int32[agents]        moves in the route; 0 = none
    done: np.ndarray        # int32[agents]        moves made
    agitation: np.ndarray   # int32[agents]        forced searches, less those forgiven
    calm: np.ndarray        # int32[agents]        unobstructed moves since the last change of agitation
    searches: np.ndarray    # int32[agents]        searches begun, which the noise is a function of
    seen: np.ndarray        # int32[agents]        bit d set: in its last turn somebody was beside it in direction d;
                            #                      _LOOK_FIRST when it has had no turn since its order


class Turn(NamedTuple):
    """Whose search it is, and who has moved."""

    agent: np.ndarray   # int32[1]      the agent to look at next
    within: np.ndarray  # bool[1]       whether its search was begun
    spent: np.ndarray   # int64[1]      expansions made by the last call
    repaths: np.ndarray # int64[1]      forced searches begun so far
    entered: np.ndarray # int32[cells]  the agent that last moved there, or NO_AGENT


@jit
def _wants_route(agents, routes, agent):
    """Whether an agent has somewhere to go and no path to follow."""
    return (
        agents.controlled[agent]
        and agents.cell[agent] != NO_CELL
        and agents.cell[agent] != agents.goal[agent]
        and routes.done[agent] == routes.length[agent]
    )


@jit
def in_the_way(agents, occupant, entered, next_cell, target):
    """The agent that stands or will stand on `target` as far as is decided in this tick, or NO_AGENT."""
    there = occupant[target]
    if there != NO_AGENT and next_cell[there] == target:        # it stays, or its turn has not come yet
        return there
    arriving = entered[target]
    if arriving != NO_AGENT and next_cell[arriving] == target and agents.cell[arriving] != target:
        return arriving
    return NO_AGENT


@jit
def let_the_program_go_first(agents, entered, next_cell):
    """Note where the agents go that the program moves. Mutates: entered."""
    for agent in range(agents.cell.size):
        if not agents.controlled[agent] and agents.cell[agent] != NO_CELL:
            entered[next_cell[agent]] = agent


@jit
def look_around(tables, agents, occupant, entered, next_cell, agent):
    """Which directions from an agent are taken, one bit each, as far as is decided in this tick."""
    seen = 0
    for d in range(8):
        if tables.moves[agents.cell[agent]] >> d & 1:
            target = agents.cell[agent] + tables.offset[d]
            if in_the_way(agents, occupant, entered, next_cell, target) != NO_AGENT:
                seen |= 1 << d
    return seen


@jit
def search_phase(tables, agents, occupant, routes, turn, search, next_cell, seed, noise, max_expansions):
    """Give every agent that needs one a new path, in turn, while the budget lasts. Mutates: routes, turn, search."""
    turn.spent[0] = 0
    for _ in range(agents.cell.size):
        agent = turn.agent[0]
        if turn.within[0] or _wants_route(agents, routes, agent):
            cell = agents.cell[agent]
            if not turn.within[0]:
                if turn.spent[0] >= max_expansions:
                    return _BUDGET_SPENT
                routes.searches[agent] += 1
                draw = scramble(scramble(seed) ^ scramble(agent) ^ routes.searches[agent])
                begin(tables, search, cell, agents.goal[agent], noise * routes.agitation[agent], draw)
                seen = routes.seen[agent]
                turn.repaths[0] += seen != _LOOK_FIRST
                if seen == _LOOK_FIRST:
                    seen = look_around(tables, agents, occupant, turn.entered, next_cell, agent)
                for d in range(8):
                    if seen >> d & 1:
                        forbid(search, cell + tables.offset[d])
            before = expansions_of(search)
            answer = run(tables, search, max_expansions - turn.spent[0])
            turn.spent[0] += expansions_of(search) - before
            turn.within[0] = answer == OUT_OF_BUDGET
            if answer == OUT_OF_BUDGET:
                return _BUDGET_SPENT
            if answer == FOUND:
                length = path_length(tables, search)
                if length > routes.step.shape[1]:
                    turn.within[0] = True                   # kept as it is, to be read off when there is room
                    return _ROUTE_TOO_LONG
                write_steps(tables, search, length, routes.step[agent])
                routes.length[agent] = length
                routes.done[agent] = 0
            else:
                routes.agitation[agent] += 1
        turn.agent[0] = (agent + 1) % agents.cell.size
    return _DONE


@jit
def move_phase(tables, agents, occupant, routes, entered, calm_moves, next_cell, waits_for):
    """Let everybody take the next step of its path, one after the other. Mutates: all but tables, agents, occupant."""
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if not agents.controlled[agent] or cell == NO_CELL:
            continue
        if cell == agents.goal[agent]:
            routes.agitation[agent] = 0
        if _wants_route(agents, routes, agent):
            routes.seen[agent] = look_around(tables, agents, occupant, entered, next_cell, agent)
        if routes.done[agent] == routes.length[agent]:
            continue
        target = cell + tables.offset[routes.step[agent, routes.done[agent]]]
        blocker = in_the_way(agents, occupant, entered, next_cell, target)
        if blocker == NO_AGENT:
            next_cell[agent] = target
            entered[target] = agent
            routes.done[agent] += 1
            routes.calm[agent] += 1
            if routes.calm[agent] >= calm_moves:
                routes.calm[agent] = 0
                routes.agitation[agent] = max(routes.agitation[agent] - 1, 0)
        else:
            waits_for[agent] = blocker
            routes.length[agent] = 0                            # "recalculates the remainder of its route"
            routes.done[agent] = 0
            routes.seen[agent] = look_around(tables, agents, occupant, entered, next_cell, agent)
            routes.calm[agent] = 0
            routes.agitation[agent] += 1


@dataclass
class LocalRepair(Planner):
    """LRA*, with agitation."""

    noise: int = parameter(1, "cells of noise in the heuristic per level of agitation", minimum=0, maximum=1000)
    calm_moves: int = parameter(5, "unobstructed moves after which agitation drops by one", minimum=1)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._search = make_search(cells)
        self._turn = Turn(
            np.zeros(1, np.int32), np.zeros(1, np.bool_), np.zeros(1, np.int64), np.zeros(1, np.int64),
            np.full(cells, NO_AGENT, np.int32),
        )  # fmt: skip
        self._routes = Routes(np.zeros((0, _FIRST_ROOM), np.uint8), *(np.zeros(0, np.int32) for _ in range(6)))
        self._make_room(state.agents.cell.size, _FIRST_ROOM)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, turn = self.state, self._turn
        tables, agents, occupant = state.grid.tables, state.agents, state.occupant
        let_the_program_go_first(agents, turn.entered, proposal.next_cell)
        answer = _BUDGET_SPENT
        while answer != _DONE and (limit := budget.slice()):
            answer = search_phase(
                tables, agents, occupant, self._routes, turn, self._search, proposal.next_cell,
                self.seed, self.noise, limit,
            )  # fmt: skip
            budget.spend(turn.spent[0])
            if answer == _ROUTE_TOO_LONG:
                self._make_room(agents.cell.size, path_length(tables, self._search))
        move_phase(
            tables, agents, occupant, self._routes, turn.entered, self.calm_moves,
            proposal.next_cell, proposal.waits_for,
        )  # fmt: skip

    def _make_room(self, agents: int, moves: int) -> None:
        """Grow the arrays for so many agents with routes of so many moves, doubling as they grow."""
        rows, columns = self._routes.step.shape
        if agents <= rows and moves <= columns:
            return
        more_rows = max(agents - rows, rows) if agents > rows else 0
        more_columns = max(moves - columns, columns) if moves > columns else 0
        step = np.pad(self._routes.step, ((0, more_rows), (0, more_columns)))
        self._routes = Routes(step, *(np.pad(array, (0, more_rows)) for array in self._routes[1:]))

    def counters(self) -> dict[str, int]:
        return {"repaths": int(self._turn.repaths[0])}

    def agent_added(self, agent: int) -> None:
        self._make_room(agent + 1, 0)
        self._forget(agent)

    def agent_removed(self, agent: int) -> None:
        self._forget(agent)

    def agent_retasked(self, agent: int) -> None:
        self._forget(agent)

    def _forget(self, agent: int) -> None:
        self._routes.length[agent] = self._routes.done[agent] = self._routes.agitation[agent] = 0
        self._routes.seen[agent] = _LOOK_FIRST
        if self._turn.agent[0] == agent:
            self._turn.within[0] = False

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        drop_cut_routes(self.state.grid.tables, self.state.agents, self._routes)
        self._turn.within[0] = False
