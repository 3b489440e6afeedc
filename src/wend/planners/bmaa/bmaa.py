# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""BMAA*: every agent runs a real-time search of its own and treats the others as moving obstacles.

Devon Sigurdson, Vadim Bulitko, William Yeoh, Carlos Hernández, Sven Koenig: Multi-Agent Pathfinding with Real-Time
Heuristic Search. IEEE Conference on Computational Intelligence and Games (CIG) 2018.

An agent looks a few nodes ahead (RTAA*), learns from what it saw, and follows the path that it found for some ticks. It
sees only agents that are very near. Agents share neither plans nor knowledge, so a tick costs little, an order costs
nothing, and congestion spreads out by itself; the price is long paths. Two extensions: an agent may push another off
its goal for a moment (-c), and searches may keep to one-way streets (-f). Surge (surge.py) is ours.

    paper                                        here
    Alg. 2, NPC-Controller, search phase         search_phase.py, Searches.run
    Alg. 2, NPC-Controller, execution phase      execution_phase
    PushAgent                                    push_aside
    Alg. 3, Search-Phase                         search_phase.py: pick_searches (line 2), search_phase, learn_phase
    Alg. 4, Update-Heuristic-Values              real_time.py, note_closed and learn
    Alg. 5, Search                               real_time.py, look_ahead
    GetNeighbors(flow)                           search/flow.py, used as another neighbour table

Work per tick: O(agents), plus `expansions` nodes for every agent whose path has come to its end.

Deviations and open points
- Only an agent on its own goal is pushed (the text), not any agent in the way (line 8); and none that is pinned, that
  the program moves, or that has moved in this tick: otherwise two agents could exchange cells.
- "To any neighbouring node" is: a free neighbour by the grid's rules, one-way streets or not; preferably one that is
  not on the rest of the pusher's path; then in the order N, E, S, W, NE, SE, SW, NW. Without one, the pusher waits.
- A path expires by time (Alg. 3, line 2), not by moves made (the text): a blocked agent keeps its path and waits.
- Open list empty (walled in by agents): no path, nothing learned, a new search in the next tick.
- An agent on its goal would search for nothing in every tick; here it does not search.
- Agents that the program moves have moved when the searches look at them.
- A budget: searches take turns by index, over ticks. One is made if all of its expansions fit into what is left; a
  budget below `expansions` cuts the lookahead to what it allows. (So does one in milliseconds above 2,000.) An agent
  whose turn has not come follows its old path, or takes a step by what it believes, and learns from it (LRTA*).
- A new order drops what the agent has learned and its path. An edit of the map drops the paths that it cuts. What was
  learned before a wall was built is still a lower bound and stays. Where a wall falls, values are too high and would
  keep agents away from the new door: all agents forget those around it. Farther away they stay, and come down when
  they are searched again, because they are assigned (Alg. 4) and not only raised.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import ahead, allocate, grown, refill
from wend.kernel.compiling import prepared
from wend.planners.base import Budget, Intent, Overlay, Planner, Proposal, State, all_stay, parameter
from wend.planners.bmaa.describing import describe
from wend.planners.bmaa.search_phase import Pace, Prefixes, Searches, Standing
from wend.planners.bmaa.surge import MakingWay
from wend.planners.waiting import in_the_way_of
from wend.search.beliefs import Beliefs
from wend.search.flow import GLOBAL, LOCAL, NO_FLOW, make_flow
from wend.search.paths import drop_cut_prefixes


@jit
def begin_tick(agents, standing, next_cell):
    """Put all agents where they stand; the program has moved its own. Mutates: standing."""
    standing.counts[0].left = agents.cell.size
    for agent in range(standing.stands.size):
        if standing.stands[agent] != NO_CELL:
            standing.taken[standing.stands[agent]] = NO_AGENT
    for agent in range(agents.cell.size):
        standing.stands[agent] = next_cell[agent]
        if next_cell[agent] != NO_CELL:
            standing.taken[next_cell[agent]] = agent


@jit
def _move_to(standing, agent, target, next_cell):
    """Let an agent stand somewhere else. Mutates: standing, next_cell."""
    standing.taken[standing.stands[agent]] = NO_AGENT
    standing.taken[target] = agent
    standing.stands[agent] = target
    next_cell[agent] = target


@jit
def _is_ahead(tables, prefixes, agent, target, cell):
    """Whether an agent whose next cell is `target` passes a cell after that."""
    for k in range(prefixes.done[agent] + 1, prefixes.length[agent]):
        target += tables.offset[prefixes.step[agent, k]]
        if target == cell:
            return True
    return False


@jit
def push_aside(tables, prefixes, standing, agent, pushed, next_cell):
    """Move the agent that is on another one's next cell to a free neighbour, if any. Mutates: standing, next_cell."""
    here = standing.stands[pushed]
    refuge = NO_CELL
    for d in range(8):
        if tables.moves[here] >> d & 1:
            beside = here + tables.offset[d]
            if standing.taken[beside] == NO_AGENT:
                if not _is_ahead(tables, prefixes, agent, here, beside):
                    refuge = beside
                    break
                if refuge == NO_CELL:
                    refuge = beside
    if refuge != NO_CELL:
        _move_to(standing, pushed, refuge, next_cell)


@jit
def execution_phase(tables, agents, prefixes, standing, push, replans, next_cell, waits_for):
    """Alg. 2, l. 5-15: let agents take a step, one after the other. Mutates: prefixes, standing, next_cell, waits_for.

    `tables` are the grid's own: prefixes keep to the streets already, and an agent that is pushed need not.
    """
    for agent in range(agents.cell.size):
        if prefixes.done[agent] == prefixes.length[agent]:                      # l. 6
            continue
        target = agents.cell[agent] + tables.offset[prefixes.step[agent, prefixes.done[agent]]]
        other = standing.taken[target]
        if (
            push
            and other != NO_AGENT
            and agents.cell[other] == agents.goal[other] == next_cell[other]    # it is home and has not moved
            and agents.controlled[other]
            and not agents.pinned[other]
        ):
            push_aside(tables, prefixes, standing, agent, other, next_cell)      # l. 8-10
        if standing.taken[target] == NO_AGENT:                                   # l. 11-13
            _move_to(standing, agent, target, next_cell)
            prefixes.done[agent] += 1
        else:
            waits_for[agent] = other
            if replans:
                prefixes.limit[agent] = 0


@dataclass
class Bmaa(Planner):
    """BMAA*, with `push` and `flow` its variants -c, -f and -f-c, and Surge."""

    expansions: int = parameter(32, "nodes that a search expands at most (lookahead)", minimum=1, maximum=10_000)
    vision: float = parameter(math.sqrt(2), "distance up to which agents see each other", minimum=0)
    moves: int = parameter(32, "ticks for which a path is followed before the next search", minimum=1, maximum=2**31)
    push: bool = parameter(False, "whether agents push others off their goals for a moment")
    flow: str = parameter(NO_FLOW, "one-way streets: none, the paper's, or ours", choices=(NO_FLOW, GLOBAL, LOCAL))
    heuristic: str = parameter("octile", "distances: of an empty map, or over blocks", choices=("octile", "blocks"))
    block: int = parameter(8, "side of a block, in cells", minimum=2, maximum=64)
    make_way: bool = parameter(False, "whether agents in the way make way, in a chain; then `push` is of no use")
    patience: int = parameter(8, "ticks of standing still after which an agent lets others go first", minimum=1)
    replan_when_blocked: bool = parameter(False, "whether an agent that is stopped searches anew in the next tick")
    spread: int = parameter(0, "ticks by which some paths expire early, so that not all search at once", minimum=0)
    threads: int = parameter(1, "threads that search; the result does not depend on it", minimum=1, maximum=64)

    overlays: ClassVar[Mapping[str, Overlay]] = {
        "learned": Overlay("how far an agent believes it is to its goal, in cells; -1 in walls", of_agent=True),
        "flow": Overlay("the moves that searches may make, one-way streets included, bit d for direction d"),
        "blocks": Overlay("distances over blocks to an agent's goal, in cells; -1 where there are none", of_agent=True),
    }

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._flow = make_flow(state.grid, self.flow)
        self._beliefs = Beliefs(state.grid, None if self.heuristic == "octile" else self.block)
        self._searches = Searches(
            cells, expansions=self.expansions, vision=self.vision, threads=self.threads,
            pace=Pace(self.moves, self.spread, self.make_way),
        )  # fmt: skip
        self._is_edited = False
        self._is_prepared = False                   # the kernels were called with the types of this planner
        self._standing = allocate(Standing, cells=cells, agents=0)
        self._prefixes = allocate(Prefixes, agents=0, expansions=self.expansions)
        self._making_way = MakingWay(state, seed, patience=self.patience, replans=self.replan_when_blocked)
        self._waits_for = np.zeros(0, np.int32)     # as the last call of `plan` left it
        self.make_room(1)
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        tables, agents, prefixes = self.state.grid.tables, self.state.agents, self._prefixes
        self._waits_for = proposal.waits_for
        self._is_edited |= self._flow.advance()
        self._search(proposal, budget)
        if self.make_way:
            self._making_way.run(prefixes, self._beliefs.learned, proposal)
        else:
            execute = prepared(execution_phase) if self._is_prepared else execution_phase
            execute(tables, agents, prefixes, self._standing, self.push, self.replan_when_blocked, *proposal)
        self._is_prepared = True

    def think(self, budget: Budget) -> None:
        self._search(all_stay(self.state), budget)

    def _search(self, proposal: Proposal, budget: Budget) -> None:
        """Let agents that need a path search, as far as the budget goes."""
        state, tables = self.state, self._flow.tables()
        if self._is_edited:
            self._is_edited = False
            drop_cut_prefixes(tables, state.agents, self._prefixes)
        begin = prepared(begin_tick) if self._is_prepared else begin_tick
        begin(state.agents, self._standing, proposal.next_cell)
        self._searches.run(tables, state, self._prefixes, self._standing, self._beliefs, proposal, budget)

    def counters(self) -> dict[str, int]:
        return {"repaths": int(self._standing.counts[0].repaths)}

    def intent(self, agent: int) -> Intent:
        waits_for = in_the_way_of(agent, self._waits_for)
        learned, roams = self._beliefs.learned, self.make_way
        return describe(self.state, self._prefixes, self._standing, learned, waits_for, agent, roams=roams)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        if name == "flow":
            return self._flow.tables().moves.copy()
        if name == "blocks":
            return self._beliefs.draw_distances(agent)
        return self._beliefs.draw_costs(agent, int(self.state.agents.goal[agent]))

    def make_room(self, agents: int) -> None:
        have = self._standing.stands.size
        if agents > have:
            are_many = agents > 2 * have                # added at once, and not one after the other in a game
            agents = ahead(have, agents)
            self._beliefs.reserve(agents)
            if are_many:
                self._beliefs.make_ready()
            self._prefixes = grown(self._prefixes, agents=agents)
            self._standing = grown(self._standing, agents=agents)
            self._making_way.reserve(agents)

    def agent_added(self, agent: int) -> None:
        self.make_room(agent + 1)
        self.agent_retasked(agent)

    def agent_removed(self, agent: int) -> None:
        refill(self._prefixes, agent)
        self._beliefs.drop(agent)

    def agent_retasked(self, agent: int) -> None:
        refill(self._prefixes, agent)
        self._beliefs.forget(agent)
        self._beliefs.aim(agent, int(self.state.agents.goal[agent]))
        self._making_way.aim(agent)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._is_edited = True
        self._flow.cells_changed(cells)
        self._beliefs.cells_changed(cells, self.state.agents.cell, self.state.agents.goal)
