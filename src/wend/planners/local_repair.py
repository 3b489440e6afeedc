# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""LRA*: A* with local repair, the practice that the cooperative algorithms set out to replace.

David Silver: Cooperative Pathfinding. AIIDE 2005, pp. 117-122, section "Local Repair A*".

Every agent searches a path of its own and ignores all other agents but those on the cells beside it. It follows the
path until the next cell is occupied; then it searches the rest anew. Each forced search raises the agent's agitation,
and random noise in proportion to it is added to the heuristic, in the hope that an agitated agent finds another path.

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
- Agents move one after the other by index; those that the program moves go first.
- An agent without a path waits, becomes more agitated and tries again in the next tick. An agent on its goal stays
  there for good.
- With a budget, searches take turns by index and are suspended in mid-search. Agents go on meanwhile: on their old
  paths where that helps, or on rough ones (search/rough_paths.py), which keep clear of "its current neighbours" as
  well. Where half of a tick's budget is not enough for the searches, the other half goes into rough paths first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit, scramble
from wend.kernel.allowance import allow
from wend.kernel.arrays import ahead, allocate, grown, int32, record, refill
from wend.kernel.compiling import prepared
from wend.planners.base import Budget, Intent, Moment, Planner, Proposal, State, all_stay, moment_of, parameter
from wend.planners.path_searches import search_paths
from wend.planners.waiting import agent_ahead, is_away
from wend.search.astar import NO_LIMIT, forbid
from wend.search.paths import Paths, cells_ahead, direction, drop_cut_paths, make_paths, take_move
from wend.search.rough_paths import Rough, RoughPaths, follow_old_way, skip_to_nearest
from wend.search.turns import (
    NOTHING,
    Turns,
    abandon_search,
    abandon_search_of,
    begin_search,
    end_turn,
    is_begun,
    is_searching,
    is_spent,
    keep_path,
    make_turns,
    search_on,
    whose_turn,
)

# What an agent searches, if not NOTHING
_PATH = 1           # a path to its goal
_JOIN = 2           # a path to the path that was found for it while it went on

_JOIN_EXPANSIONS = 256  # nodes that such a search expands at most
_LOOK_FIRST = -1    # in Repairs.seen: no turn since its order
_LOOK_AGAIN = -2    # ...: what it saw was from another cell, before it had a path


class Temper(NamedTuple):
    """The parameters of LRA*."""

    noise: int          # cells of noise in the heuristic per level of agitation
    calm_moves: int     # unobstructed moves after which agitation drops by one
    seed: int


class Repairs(NamedTuple):
    """What LRA* keeps of its agents: their paths and their mood."""

    paths: Paths
    rough: Rough
    join: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]      # where its path begins, if it is to join it first
    agitation: Annotated[np.ndarray, int32("agents")]               # forced searches, less those forgiven
    calm: Annotated[np.ndarray, int32("agents")]                    # free moves since its agitation last changed
    searches: Annotated[np.ndarray, int32("agents")]                # searches begun, which the noise is a function of
    seen: Annotated[np.ndarray, int32("agents", fill=_LOOK_FIRST)]  # bit d: in its last turn an agent was beside it in
                                                                    # direction d; or one of the two above
    entered: Annotated[                                             # the agent that last moved there, or NO_AGENT;
        np.ndarray, int32("cells", fill=NO_AGENT, is_scratch=True)  # ... what is from ticks before counts for nothing
    ]
    turns: Turns
    temper: Temper
    counts: Annotated[np.ndarray, record("repaths")]                # forced searches begun so far


@jit
def _need(agents, repairs, agent):
    """What an agent has to search."""
    cell = agents.cell[agent]
    if not agents.controlled[agent] or cell == NO_CELL or cell == agents.goal[agent]:
        return NOTHING
    if repairs.paths.left[agent] == 0:
        return _PATH
    if repairs.join[agent] != NO_CELL:
        return _JOIN
    return _PATH if repairs.rough.is_rough[agent] else NOTHING


@jit
def in_the_way(moment, entered, target):
    """The agent that stands or will stand on `target` as far as is decided in this tick, or NO_AGENT."""
    there = moment.occupant[target]
    if there != NO_AGENT and moment.next_cell[there] == target:         # it stays, or its turn has not come yet
        return there
    arriving = entered[target]
    if arriving != NO_AGENT and moment.next_cell[arriving] == target and moment.agents.cell[arriving] != target:
        return arriving
    return NO_AGENT


@jit
def let_the_program_go_first(moment, repairs):
    """Note where the agents go that the program moves. Mutates: repairs."""
    agents = moment.agents
    for agent in range(agents.cell.size):
        if not agents.controlled[agent] and agents.cell[agent] != NO_CELL:
            repairs.entered[moment.next_cell[agent]] = agent


@jit
def look_around(moment, entered, agent):
    """Which directions from an agent are taken, one bit each, as far as is decided in this tick."""
    tables, cell = moment.tables, moment.agents.cell[agent]
    seen = 0
    for d in range(8):
        if tables.moves[cell] >> d & 1 and in_the_way(moment, entered, cell + tables.offset[d]) != NO_AGENT:
            seen |= 1 << d
    return seen


@jit
def _begin_search(moment, repairs, agent):
    """Begin an agent's search, which keeps out of the cells that it saw taken. Mutates: repairs."""
    tables, turns, temper = moment.tables, repairs.turns, repairs.temper
    cell, goal = moment.agents.cell[agent], moment.agents.goal[agent]
    repairs.searches[agent] += 1
    draw = scramble(scramble(temper.seed) ^ scramble(agent) ^ repairs.searches[agent])
    begin_search(tables, turns, _PATH, cell, goal, temper.noise * repairs.agitation[agent], draw)
    seen = np.int64(repairs.seen[agent])
    repairs.counts[0].repaths += seen != _LOOK_FIRST
    if seen < 0:
        seen = look_around(moment, repairs.entered, agent)
    for d in range(8):
        if seen >> d & 1:
            forbid(turns.search, cell + tables.offset[d])


@jit
def _search(moment, repairs, agent, need):
    """Begin an agent's search, or go on with it; answer as `search_phase` does. Mutates: repairs."""
    tables, agents, paths, turns = moment.tables, moment.agents, repairs.paths, repairs.turns
    cell, join, most, kept = agents.cell[agent], repairs.join[agent], NO_LIMIT, 0
    if need == _JOIN:
        most, kept = _JOIN_EXPANSIONS, paths.left[agent]
    if not (is_searching(turns, _PATH) if need == _PATH else is_begun(turns, _JOIN, cell, join)):
        if is_spent(turns):
            return OUT_OF_BUDGET
        if need == _PATH:
            _begin_search(moment, repairs, agent)
        else:
            begin_search(tables, turns, _JOIN, cell, join, 0, 0)
    answer = search_on(tables, turns, most)
    if answer == OUT_OF_BUDGET:
        return OUT_OF_BUDGET
    if answer == UNREACHABLE:
        repairs.agitation[agent] += 1
        paths.left[agent] = 0
    elif not keep_path(tables, turns, paths, agent, kept):
        return OUT_OF_SPACE                             # the search is kept, to be read off when there is space
    else:
        repairs.seen[agent] = _LOOK_AGAIN
    repairs.join[agent] = NO_CELL
    if answer == FOUND and need == _PATH:
        job = turns.search.job[0]
        repairs.rough.is_rough[agent], repairs.rough.end[agent] = job.goal != agents.goal[agent], job.goal
        if job.start != cell:                           # it went on meanwhile
            place = skip_to_nearest(tables, paths, agent, job.start, cell)
            repairs.join[agent] = NO_CELL if place == cell or paths.left[agent] == 0 else place
    return answer


@jit
def search_phase(moment, repairs, expansions):
    """Give every agent that needs one a new path, in turn, while the allowance lasts. Mutates: repairs.

    Answers OUT_OF_BUDGET, OUT_OF_SPACE, or FOUND when every agent has had its turn.
    """
    agents, turns = moment.agents, repairs.turns
    allow(turns.allowance, expansions)
    for _ in range(agents.cell.size):
        agent = whose_turn(turns)
        need = _need(agents, repairs, agent)
        while need != NOTHING:
            answer = _search(moment, repairs, agent, need)
            if answer != FOUND and answer != UNREACHABLE:
                return answer
            last, need = need, _need(agents, repairs, agent)
            if need <= last:                            # no path, or a rough one: again in the next tick
                break
        end_turn(turns, agents.cell.size)
    return FOUND


@jit
def begin_rough_paths(agents, repairs):
    """Note which agents have no path, and where one is to begin. Mutates: repairs."""
    for agent in range(agents.cell.size):
        needs_one = _need(agents, repairs, agent) == _PATH and repairs.paths.left[agent] == 0
        repairs.rough.begin[agent] = agents.cell[agent] if needs_one else NO_CELL
        if needs_one:
            repairs.join[agent] = NO_CELL               # the path that it was to join was cut, or is of no use
        if needs_one and repairs.seen[agent] != _LOOK_FIRST:
            repairs.seen[agent] = _LOOK_AGAIN


@jit
def move_phase(moment, repairs):
    """Let each agent take the next step of its path, one after the other.

    Mutates: repairs, moment.next_cell, moment.waits_for.
    """
    agents, paths, entered = moment.agents, repairs.paths, repairs.entered
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if not agents.controlled[agent] or cell == NO_CELL:
            continue
        if cell == agents.goal[agent]:
            repairs.agitation[agent] = paths.left[agent] = 0
        if paths.left[agent] == 0:
            if _need(agents, repairs, agent) == _PATH:
                repairs.seen[agent] = look_around(moment, entered, agent)
            continue
        if repairs.join[agent] != NO_CELL:
            continue
        target = cell + moment.tables.offset[direction(paths.top[agent])]
        blocker = in_the_way(moment, entered, target)
        if blocker == NO_AGENT:
            moment.next_cell[agent] = target
            entered[target] = agent
            take_move(paths, agent)
            repairs.calm[agent] += 1
            if repairs.calm[agent] >= repairs.temper.calm_moves:
                repairs.calm[agent] = 0
                repairs.agitation[agent] = max(repairs.agitation[agent] - 1, 0)
        else:
            moment.waits_for[agent] = blocker
            paths.left[agent] = 0                       # "recalculates the remainder of its route"
            repairs.seen[agent] = look_around(moment, entered, agent)
            repairs.calm[agent] = 0
            repairs.agitation[agent] += 1


PHASES: tuple[Callable[..., Any], ...] = (let_the_program_go_first, search_phase, move_phase)


@dataclass
class LocalRepair(Planner):
    """LRA*, with agitation."""

    noise: int = parameter(1, "cells of noise in the heuristic per level of agitation", minimum=0, maximum=1000)
    calm_moves: int = parameter(5, "unobstructed moves after which agitation drops by one", minimum=1)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        given = {
            "paths": make_paths(cells),
            "turns": make_turns(cells),
            "temper": Temper(self.noise, self.calm_moves, seed),
        }
        self._repairs = allocate(Repairs, given, agents=0, cells=cells)
        self._rough = RoughPaths(state.grid, vision_square=2)
        self._waits_for = np.empty(0, np.int32)
        self._is_prepared = False       # the phases were called with the types of this planner
        self._have_searched = False     # all agents had their turn to search in the last tick
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        moment = moment_of(self.state, proposal)
        lead, _, move = map(prepared, PHASES) if self._is_prepared else PHASES
        lead(moment, self._repairs)
        self._have_searched = self._search(moment, budget)
        move(moment, self._repairs)
        self._is_prepared = True
        self._waits_for = proposal.waits_for

    def think(self, budget: Budget) -> None:
        self._search(moment_of(self.state, all_stay(self.state)), budget)

    def _search(self, moment: Moment, budget: Budget) -> bool:
        """Search what agents need, within the budget; return whether all of them had their turn."""
        search = prepared(search_phase) if self._is_prepared else search_phase
        self._repairs, have_all = search_paths(
            self._repairs, lambda repairs, limit: search(moment, repairs, limit), begin_rough_paths, self._rough,
            moment.tables, moment.agents, moment.occupant, budget,
        )  # fmt: skip
        return have_all

    def counters(self) -> dict[str, int]:
        return {"repaths": int(self._repairs.counts[0].repaths)}

    def intent(self, agent: int) -> Intent:
        if not is_away(self.state, agent):
            return Intent()
        cell = int(self.state.agents.cell[agent])
        is_on_path = self._repairs.join[agent] == NO_CELL
        path = cells_ahead(self.state.grid.tables, self._repairs.paths, agent, cell) if is_on_path else ()
        if agent < self._waits_for.size and self._waits_for[agent] != NO_AGENT:
            return Intent(path, int(self._waits_for[agent]), "another was on its next cell, so it searches again")
        if path:
            return Intent(path)
        if self._have_searched and self._repairs.seen[agent] >= 0:
            return Intent((), agent_ahead(self.state, agent), "the agents beside it leave it no path")
        return Intent(reason="it has no path yet")

    def agent_added(self, agent: int) -> None:
        have = self._repairs.seen.size
        if agent >= have:
            self._repairs = grown(self._repairs, agents=ahead(have, agent + 1))
            self._rough.reserve(self._repairs.seen.size)
        self._rough.aim(agent, int(self.state.agents.goal[agent]))

    def agent_removed(self, agent: int) -> None:
        refill(self._repairs, agent)
        refill(self._repairs.rough, agent)
        self._repairs.paths.left[agent] = 0
        abandon_search_of(self._repairs.turns, agent)
        self._rough.drop(agent)

    def agent_retasked(self, agent: int) -> None:
        self._begin_anew(agent)
        repairs, here, goal = self._repairs, int(self.state.agents.cell[agent]), int(self.state.agents.goal[agent])
        follow_old_way(self.state.grid.width, here, goal, agent, repairs.paths, repairs.rough, repairs.turns)
        self._rough.aim(agent, goal)

    def _begin_anew(self, agent: int) -> None:
        """An agent forgets what it has been through on the way to its last goal."""
        self._repairs.agitation[agent] = 0
        self._repairs.seen[agent] = _LOOK_FIRST

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        cell, join = self.state.agents.cell, self._repairs.join[: self.state.agents.cell.size]
        begin = np.where(join == NO_CELL, cell, join).astype(np.int32)
        drop_cut_paths(self.state.grid.tables, begin, self._repairs.paths)
        abandon_search(self._repairs.turns)
        self._rough.cells_changed(cells, self.state.agents)
