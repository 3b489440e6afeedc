# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""FAR: each agent follows its own path on one-way streets, and reserves a few moves before it makes them.

Ko-Hsin Cindy Wang, Adi Botea: Fast and Memory-Efficient Multi-Agent Pathfinding. ICAPS 2008, as told in Sigurdson et
al. (CIG 2018), section III.B, and in Wang, Botea (JAIR 2011), section 9. A*-Replan is FAR without one-way streets.

An agent searches one path, which knows nothing of the others. It must reserve its next k moves, all or none, before it
makes them; an agent that is refused waits, as at traffic lights, and does not search again. Agents that wait for each
other in a circle are found by following who waits for whom, and one of them steps aside: a detour of a few moves (proxy
path) leads it back to the rest of its path. Agents on their goals step aside for those that want to pass, and come
back.

    paper                                        here
    flow annotation                              search/flow.py, used as another neighbour table
    "a standard implementation of A*"            searching.search_phase; also the proxy paths
    "reserve its next moves"                     request, request_phase
    deadlocks, "pushing some agents off"         yielding.yield_phase

`traffic.py` holds the state, enters and withdraws reservations, and says why an agent waits.

Work per tick: O(agents), plus the searches of the agents that have no path, or left it.

Deviations and open points (the full text of the ICAPS paper was not at hand; these are our precise form of it)
- The last cell of a reservation is held until the agent goes on; so is the cell of an agent that waits. A batch of k
  moves is made before the next is asked for (`commit="batch"`), or one is asked for after each move (`"slide"`).
- Agents ask in the order of their index, which begins one further in every tick.
- Which agent of a circle steps aside: the one with the most free cells beside it, then the lowest index. Where to: any
  cell by the grid's rules (one-way streets do not count) that nobody has reserved and that is none of the next k of the
  agent that waits for it; if possible none of that agent's next 24 cells, then none of its own, then in the order N, E,
  S, W, NE, SE, SW, NW. It does not step aside to the same cell again until it has made a move of its path. It comes
  back to the cell that it left only when the other has been there, or 2k ticks later; until then it pushes nobody off
  a goal.
- The proxy path is an A* path of at most `proxy_expansions` expansions to the place on the old path that is 8 moves
  ahead. (With one straight back to the cell that was left, a fifth to a third fewer agents get home in a crowd.) If
  there is none, the whole path is searched anew. The same is done for an agent that was stopped on the way by
  something that its reservation did not know: an agent of the program, a new wall.
- If no agent of a circle can step aside, the one that has waited longest searches a path around the agent that it waits
  for. So does, after `patience` ticks of waiting, any agent that waits for one that waits as well and cannot step
  aside. An agent does so once in `patience` ticks at most.
- An agent on its goal with no free cell beside it waits in turn for a neighbour: one that is on its goal as well, or
  else one that moves. So a push travels down a row of parked agents.
- A new order keeps the moves that are reserved already. An edit of the map drops what it cuts; a path against a street
  that the edit turned around is kept.
- With a budget, searches take turns by index and are suspended in mid-search. Agents go on meanwhile: on their old
  paths where that helps, or on rough ones that keep to the one-way streets (search/rough_paths.py). Where half of
  a tick's budget is not enough for the searches, the other half goes into rough paths first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import ahead, grown, refill
from wend.kernel.compiling import prepared
from wend.maps.terrain import GridTables
from wend.planners.base import Budget, Intent, Overlay, Planner, Proposal, State, moment_of, parameter
from wend.planners.far.searching import begin_rough_paths, search_phase
from wend.planners.far.traffic import (
    TrafficRules,
    begin_tick,
    describe,
    extend,
    hold_last,
    is_standing,
    last_cell,
    make_traffic,
    stand_still,
    stop_cut_moves,
)
from wend.planners.far.yielding import yield_phase
from wend.planners.path_searches import search_paths
from wend.search.execution import grant
from wend.search.flow import GLOBAL, LOCAL, Flow
from wend.search.paths import after, direction, drop_cut_paths, take_move
from wend.search.reservations import free_from, next_owners, other_at, owner_at
from wend.search.rough_paths import RoughPaths, follow_old_way
from wend.search.turns import abandon_search, abandon_search_of


@jit
def request(moment, traffic, agent):
    """Reserve the next moves of an agent's path, all or none; return the agent in the way, or NO_AGENT.

    Mutates: traffic.
    """
    tables, now, table = moment.tables, moment.tick, traffic.table
    paths, reserved, waits = traffic.paths, traffic.reserved, traffic.waits
    time = max(reserved.since[agent] + reserved.steps[agent], now)      # when it has made what it has reserved
    moves = min(traffic.rules.reservation - (time - now), paths.left[agent])
    cell, packet = traffic.origin[agent], paths.top[agent]
    for j in range(1, moves + 1):
        before = cell
        cell += tables.offset[direction(packet)]
        packet = after(paths, packet)
        if cell == waits.left[agent]:
            return waits.left_for[agent]
        other = other_at(table, cell, time + j, agent)
        if other != NO_AGENT:
            return other
        leaving = other_at(table, cell, time + j - 1, agent)
        if leaving != NO_AGENT and owner_at(table, before, time + j) == leaving:
            return leaving                                      # they would swap
    free = free_from(table, cell, time + moves, agent)
    if free > time + moves:
        keeper = table.hold_agent[cell] - 1
        return keeper if keeper != NO_AGENT and keeper != agent else other_at(table, cell, free - 1, agent)
    for _ in range(moves):
        traffic.origin[agent] += tables.offset[take_move(paths, agent)]
        extend(traffic, agent, traffic.origin[agent], now)
    hold_last(traffic, agent)
    return NO_AGENT


@jit
def request_phase(moment, traffic):
    """Let each agent reserve its next moves. Mutates: traffic, moment.waits_for."""
    count, waits = moment.agents.cell.size, traffic.waits
    for k in range(count):
        agent = (moment.tick + k) % count
        standing = is_standing(traffic, agent, moment.tick)
        if (
            traffic.paths.left[agent] == 0                      # also if it is gone, or moved by the program
            or last_cell(traffic, agent) != traffic.origin[agent]
            or not (standing or traffic.rules.slide)
        ):
            continue
        other = request(moment, traffic, agent)
        if other == NO_AGENT:
            waits.waited[agent] = 0
            waits.evasions[agent] = 0
            traffic.avoid[agent] = NO_CELL
        elif standing:
            waits.waited[agent] += 1
            moment.waits_for[agent] = other


@jit
def move_phase(moment, traffic):
    """Let each agent make its next reserved move, and stop those that something else is in the way of.

    Mutates: traffic, moment.next_cell, moment.waits_for.
    """
    agents, now, reserved, wanted = moment.agents, moment.tick, traffic.reserved, traffic.waits.wanted
    for agent in range(agents.cell.size):
        wanted[agent] = reserved.cell[agent, min(now + 1 - reserved.since[agent], reserved.steps[agent])]
    if grant(agents, moment.occupant, wanted, traffic.guard, moment.next_cell, moment.waits_for) > 0:
        for agent in range(agents.cell.size):
            if moment.next_cell[agent] != wanted[agent] and agents.cell[agent] != NO_CELL:
                stand_still(traffic, agent, agents.cell[agent], now)


@jit
def make_moves(moment, traffic):
    """All that follows the searches of a tick. Mutates: traffic, moment.next_cell, moment.waits_for."""
    request_phase(moment, traffic)
    yield_phase(moment, traffic)
    move_phase(moment, traffic)


PHASES: tuple[Callable[..., Any], ...] = (begin_tick, search_phase, make_moves)


@dataclass
class Far(Planner):
    """FAR, and without one-way streets A*-Replan."""

    reservation: int = parameter(3, "moves that are reserved before they are made (k)", minimum=1, maximum=32)
    flow: str = parameter(GLOBAL, "one-way streets: none, the paper's, or ours", choices=("none", GLOBAL, LOCAL))
    commit: str = parameter("batch", "reserve anew after k moves, or after each", choices=("batch", "slide"))
    patience: int = parameter(100, "ticks of waiting before another path is searched", minimum=1, maximum=2**30)
    proxy_expansions: int = parameter(64, "nodes that a search back to a path expands at most", minimum=1)

    overlays: ClassVar[Mapping[str, Overlay]] = {
        "flow": Overlay("the moves that one-way streets allow, bit d for direction d"),
        "owner": Overlay("the agent that has reserved each cell and will be there first, -1 where there is none"),
    }

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        self._flow = None if self.flow == "none" else Flow(state.grid, self.flow)
        rules = TrafficRules(self.reservation, self.commit == "slide", self.patience, self.proxy_expansions)
        self._traffic = make_traffic(state.grid.size, rules)
        self._rough = RoughPaths(state.grid, vision_square=0)
        self._waits_for = np.empty(0, np.int32)
        self._is_prepared = False       # the phases were called with the types of this planner
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        moment = moment_of(self.state, proposal)
        if self._flow is not None and self._flow.advance():
            abandon_search(self._traffic.turns)
        begin, _, make = map(prepared, PHASES) if self._is_prepared else PHASES
        begin(moment, self._traffic)
        self._search(budget)
        make(moment, self._traffic)
        self._is_prepared = True
        self._waits_for = proposal.waits_for

    def think(self, budget: Budget) -> None:
        self._search(budget)

    def _search(self, budget: Budget) -> None:
        """Search what agents need, within the budget."""
        agents, streets = self.state.agents, self._streets()
        search = prepared(search_phase) if self._is_prepared else search_phase
        self._traffic, _ = search_paths(
            self._traffic, lambda traffic, limit: search(streets, agents, traffic, limit), begin_rough_paths,
            self._rough, streets, agents, self.state.occupant, budget,
        )  # fmt: skip

    def _streets(self) -> GridTables:
        """The moves that searches may make."""
        return self.state.grid.tables if self._flow is None else self._flow.tables()

    def counters(self) -> dict[str, int]:
        counts = self._traffic.counts[0]
        return {name: int(counts[name]) for name in ("repaths", "proxies", "pushes", "reroutes", "wait_circles")}

    def intent(self, agent: int) -> Intent:
        refused_by = int(self._waits_for[agent]) if agent < self._waits_for.size else NO_AGENT
        return describe(self.state, self._traffic, refused_by, agent)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        if name == "owner":
            return next_owners(self._traffic.table, self.state.tick)
        return self._streets().moves.copy()

    def agent_added(self, agent: int) -> None:
        have = self._traffic.origin.size
        if agent >= have:
            self._traffic = grown(self._traffic, agents=ahead(have, agent + 1))
            self._rough.reserve(self._traffic.origin.size)
        self._traffic.reserved.cell[agent, 0] = self.state.agents.cell[agent]
        self._rough.aim(agent, int(self.state.agents.goal[agent]))

    def agent_removed(self, agent: int) -> None:
        stand_still(self._traffic, agent, NO_CELL, self.state.tick)
        for bundle in (self._traffic, self._traffic.waits, self._traffic.rough):
            refill(bundle, agent)
        self._traffic.paths.left[agent] = 0
        abandon_search_of(self._traffic.turns, agent)
        self._rough.drop(agent)

    def agent_retasked(self, agent: int) -> None:
        self._begin_anew(agent)
        traffic, goal = self._traffic, int(self.state.agents.goal[agent])
        here = int(traffic.reserved.cell[agent, traffic.reserved.steps[agent]])
        follow_old_way(self.state.grid.width, here, goal, agent, traffic.paths, traffic.rough, traffic.turns)
        self._rough.aim(agent, goal)

    def _begin_anew(self, agent: int) -> None:
        """An agent forgets what it has been through on the way to its last goal."""
        self._traffic.avoid[agent] = NO_CELL
        self._traffic.known[agent] = False
        self._traffic.waits.waited[agent] = 0

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        tables, agents = self.state.grid.tables, self.state.agents
        stop_cut_moves(tables, agents, self._traffic, self.state.tick)
        drop_cut_paths(tables, self._traffic.origin[: agents.cell.size], self._traffic.paths)
        abandon_search(self._traffic.turns)
        self._rough.cells_changed(cells, agents)
        if self._flow is not None:
            self._flow.cells_changed(cells)
