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
- With a budget, searches take turns by index and are suspended in mid-search; agents without a path wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit, scramble
from wend.kernel.allowance import allow, spent
from wend.kernel.arrays import ahead, allocate, grown, int32, record
from wend.kernel.compiling import prepared
from wend.planners.base import Budget, Intent, Planner, Proposal, State, moment_of, parameter
from wend.planners.waiting import agent_ahead, is_away
from wend.search.astar import NO_LIMIT, forbid
from wend.search.paths import Paths, cells_ahead, direction, drop_cut_paths, make_paths, take_move, with_space
from wend.search.turns import (
    Turns,
    abandon_search,
    begin_search,
    end_turn,
    is_begun,
    is_spent,
    keep_path,
    make_turns,
    search_on,
    whose_turn,
)

_PATH = 1           # what all searches are for
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
    agitation: Annotated[np.ndarray, int32("agents")]               # forced searches, less those forgiven
    calm: Annotated[np.ndarray, int32("agents")]                    # free moves since its agitation last changed
    searches: Annotated[np.ndarray, int32("agents")]                # searches begun, which the noise is a function of
    seen: Annotated[np.ndarray, int32("agents", fill=_LOOK_FIRST)]  # bit d: in its last turn an agent was beside it in
                                                                    # direction d; or one of the two above
    entered: Annotated[np.ndarray, int32("cells", fill=NO_AGENT)]   # the agent that last moved there, or NO_AGENT
    turns: Turns
    temper: Temper
    counts: Annotated[np.ndarray, record("repaths")]                # forced searches begun so far


@jit
def _wants_path(agents, paths, agent):
    """Whether an agent has somewhere to go and no path to follow."""
    return (
        agents.controlled[agent]
        and agents.cell[agent] != NO_CELL
        and agents.cell[agent] != agents.goal[agent]
        and paths.left[agent] == 0
    )


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
def search_phase(moment, repairs, expansions):
    """Give every agent that needs one a new path, in turn, while the allowance lasts. Mutates: repairs.

    Answers OUT_OF_BUDGET, OUT_OF_SPACE, or FOUND when every agent has had its turn.
    """
    tables, agents, paths, turns = moment.tables, moment.agents, repairs.paths, repairs.turns
    allow(turns.allowance, expansions)
    for _ in range(agents.cell.size):
        agent = whose_turn(turns)
        if _wants_path(agents, paths, agent):
            if not is_begun(turns, _PATH, agents.cell[agent], agents.goal[agent]):
                if is_spent(turns):
                    return OUT_OF_BUDGET
                _begin_search(moment, repairs, agent)
            answer = search_on(tables, turns, NO_LIMIT)
            if answer == OUT_OF_BUDGET:
                return OUT_OF_BUDGET
            if answer == UNREACHABLE:
                repairs.agitation[agent] += 1
            elif not keep_path(tables, turns, paths, agent, 0):
                return OUT_OF_SPACE                     # the search is kept, to be read off when there is space
            else:
                repairs.seen[agent] = _LOOK_AGAIN
        end_turn(turns, agents.cell.size)
    return FOUND


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
            repairs.agitation[agent] = 0
        if paths.left[agent] == 0:
            if _wants_path(agents, paths, agent):
                repairs.seen[agent] = look_around(moment, entered, agent)
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
        self._waits_for = np.empty(0, np.int32)
        self._is_prepared = False       # the phases were called with the types of this planner
        self._have_searched = False     # all agents had their turn to search in the last tick
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        moment, allowance = moment_of(self.state, proposal), self._repairs.turns.allowance
        lead, search, move = map(prepared, PHASES) if self._is_prepared else PHASES
        lead(moment, self._repairs)
        answer = OUT_OF_BUDGET
        while answer != FOUND and (limit := budget.slice()):
            before = spent(allowance)
            answer = search(moment, self._repairs, limit)
            budget.spend(spent(allowance) - before)
            if answer == OUT_OF_SPACE:
                self._repairs = self._repairs._replace(paths=with_space(self._repairs.paths))
        move(moment, self._repairs)
        self._is_prepared, self._have_searched = True, answer == FOUND
        self._waits_for = proposal.waits_for

    def counters(self) -> dict[str, int]:
        return {"repaths": int(self._repairs.counts[0].repaths)}

    def intent(self, agent: int) -> Intent:
        if not is_away(self.state, agent):
            return Intent()
        cell = int(self.state.agents.cell[agent])
        path = cells_ahead(self.state.grid.tables, self._repairs.paths, agent, cell)
        if agent < self._waits_for.size and self._waits_for[agent] != NO_AGENT:
            return Intent(path, int(self._waits_for[agent]), "another was on its next cell, so it searches again")
        if path:
            return Intent(path)
        if self._have_searched and self._repairs.seen[agent] >= 0:
            return Intent((), agent_ahead(self.state, agent), "the agents beside it leave it no path")
        return Intent(reason="it has no path yet")

    def agent_added(self, agent: int) -> None:
        self._repairs = grown(self._repairs, agents=ahead(self._repairs.seen.size, agent + 1))

    def agent_removed(self, agent: int) -> None:
        self.agent_retasked(agent)

    def agent_retasked(self, agent: int) -> None:
        repairs = self._repairs
        repairs.paths.left[agent] = repairs.agitation[agent] = 0
        repairs.seen[agent] = _LOOK_FIRST
        if repairs.turns.counts[0].agent == agent:
            abandon_search(repairs.turns)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        drop_cut_paths(self.state.grid.tables, self.state.agents.cell, self._repairs.paths)
        abandon_search(self._repairs.turns)
