# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""PIBT: in every tick each agent takes the best next cell that it can get, and whoever is in its way makes way.

Okumura, Machida, Défago, Tamura: Priority Inheritance with Backtracking for Iterative Multi-agent Path Finding.
Artificial Intelligence 310, 2022. With the swap of Okumura: Improving LaCAM for Scalable Eventually Optimal Multi-Agent
Pathfinding (IJCAI 2023), and hindrance as in Okumura, Nagai: Lightweight and Effective Preference Construction in PIBT
(SoCS 2025).

The agent that has been away from home longest decides first. Nothing is planned ahead, so an order, a wall or an agent
that comes or goes costs nothing but the distances to a goal. On a map on which every move is part of a cycle, every
agent visits its goal; that all are home together is not promised, and in dead ends and corridors nothing is.

    paper                                       here
    Algorithm 1, priority inheritance           search/pibt.py
    preferences, swap, hindrance                search/preferences.py
    distances                                   distances.py
    priorities: age, ties by first distance     Pibt.plan

Work per tick: O(agents), plus the searches for distances.

Deviations
- A new order does not make an agent younger: one that gets orders all the time would starve.
- A tie between two ages is decided by the distance as on an empty map when the agent got its order, then by index.
- Staying costs as much as a step along a row, and what is compared is the distance from a cell plus the step to it: so
  that "diagonally now" and "diagonally later" are equal, and the agents around decide between them.
- A budget counts what searches for distances expand; deciding is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_SPACE, jit, scramble
from wend.kernel.allowance import allow
from wend.kernel.arrays import ahead, allocate, grown, int64
from wend.kernel.compiling import prepared
from wend.maps.terrain import CARDINAL_COST, GridTables, empty_map_cost
from wend.planners.base import Agents, Budget, Intent, Overlay, Planner, Proposal, State, parameter
from wend.planners.overlays import DISTANCE, draw_distances
from wend.planners.pibt.distances import (
    STEP,
    Distances,
    KnownDistances,
    descend,
    far,
    known,
    search_blocks,
    search_cells,
)
from wend.planners.pibt.giving_way import give_way
from wend.planners.units import are_units
from wend.planners.waiting import IN_ITS_WAY, in_the_way_of, is_away
from wend.search.pibt import Decisions, fix, forget_decisions
from wend.search.preferences import is_fixed, list_cells, settle
from wend.search.reverse_resumable import carry_on

_CELLS_AHEAD = 64       # of an intent, at most
_SECONDS = 2e-6         # that an agent takes to decide, before there was a tick to measure it


class Priorities(NamedTuple):
    """Which agent decides first."""

    away: Annotated[np.ndarray, int64("agents")]    # tick when the agent was last at home, or was added
    first: Annotated[np.ndarray, int64("agents")]   # how far its goal was when it got its order, as on an empty map


class PibtScene(NamedTuple):
    """What agents look at to decide."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]  the agent that stands there, or NO_AGENT
    distances: KnownDistances
    step: np.ndarray        # int64[9]      what a move in each direction costs, and a wait
    swaps: bool
    lot: int                # decides among equals


@jit
def find_distances(scene, order, expansions, is_limited):
    """Search for distances within so many expansions: 0 if all are known, else why not. Mutates: scene.distances."""
    allow(scene.distances.reverse.allowance, expansions)
    if is_limited:
        search_blocks(scene, order)
    return search_cells(scene, order)


@jit
def rank(scene, decisions, depth):
    """List an agent's next cells. Mutates: decisions, scene.distances."""
    return list_cells(scene, decisions, depth, far, known)


@jit
def _rank_giving_way(scene, decisions, depth):
    """The same, but for agents that are pushed off their goals. Mutates: decisions, scene.distances."""
    answer = rank(scene, decisions, depth)
    if answer >= 0:
        give_way(scene, decisions, depth)
    return answer


@jit
def decide_all(scene, decisions, order, expansions, next_cell, waits_for):
    """Decide where all agents go; OUT_OF_SPACE if it has to be called again, with more space.

    `next_cell` comes with the cell of each agent, or the announced one of the agents that the program moves. Mutates:
    scene.distances, decisions, next_cell, waits_for.
    """
    return settle_all(scene, decisions, order, expansions, next_cell, waits_for, _rank_giving_way, far)


@jit
def settle_all(scene, decisions, order, expansions, next_cell, waits_for, rank, far):
    """The same for agents that list their next cells, and see how far these are, in a manner of their own."""
    agents = scene.agents
    allow(scene.distances.reverse.allowance, expansions)
    forget_decisions(decisions)
    for agent in range(agents.cell.size):
        if agents.cell[agent] != NO_CELL and is_fixed(agents, agent):
            fix(decisions, agent, next_cell[agent])
    answer = settle(scene, decisions, order, rank)
    if answer < 0:
        return answer
    for agent in order:
        here = agents.cell[agent]
        if decisions.decided[agent]:
            next_cell[agent] = decisions.target[agent]
        if next_cell[agent] == here != agents.goal[agent]:
            waits_for[agent] = _met_ahead(scene, decisions, agent, far)
    return 0


@jit
def in_the_way(scene, decisions, agent):
    """The agent that has the best next cell of one that stays, or that stands there. Mutates: scene.distances."""
    return _met_ahead(scene, decisions, agent, far)


@jit
def _met_ahead(scene, decisions, agent, far):
    """The same, by distances that the caller passes."""
    tables, here = scene.tables, scene.agents.cell[agent]
    best, least = here, np.int64(2**62)
    for d in range(8):
        if tables.moves[here] >> d & 1:
            cost = far(scene, agent, here + tables.offset[d])
            if 0 <= cost < least - scene.step[d]:
                best, least = here + tables.offset[d], cost + scene.step[d]
    other = decisions.taken[best] if decisions.taken[best] != NO_AGENT else scene.occupant[best]
    return NO_AGENT if other == agent else np.int64(other)


def order_of(state: State, priorities: Priorities) -> NDArray[np.int32]:
    """The agents that are to decide, the one that has been away from home longest first. Mutates: priorities."""
    agents, (away, first) = state.agents, priorities
    count, is_home = agents.cell.size, agents.cell == agents.goal
    away[:count][is_home] = state.tick
    order = np.lexsort((-first[:count], away[:count]))
    return np.asarray(order[are_units(agents)[order]], np.int32)


def describe(state: State, scene: PibtScene, waits_for: int, agent: int) -> Intent:
    """What an agent is about to do, if `waits_for` was in its way in the last tick, or NO_AGENT."""
    if not is_away(state, agent):
        return Intent()
    cells, distances = np.empty(_CELLS_AHEAD, np.int32), scene.distances
    allow(distances.reverse.allowance, 0)
    path = tuple(cells[: descend(scene, agent, cells)].tolist())
    if waits_for != NO_AGENT and state.agents.cell[waits_for] != NO_CELL:
        return Intent(path, waits_for, IN_ITS_WAY)
    is_rough = not distances.is_exact[agent]
    return Intent(path, reason="the distances to its goal are not known yet, only roughly" if is_rough else "")


@dataclass
class Pibt(Planner):
    """PIBT, with swaps."""

    uncaptured: ClassVar[Sequence[str]] = ("_deciding_s",)      # it tells of a clock

    overlays: ClassVar[Mapping[str, Overlay]] = {"distance": DISTANCE}

    swap: bool = parameter(True, "whether two agents that meet in a corridor go back to where they can pass")

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        self._waits_for = np.zeros(0, np.int32)     # as the last call of `plan` left it
        self._is_prepared = False                   # the kernels were called with the types of this planner
        self._deciding_s = 0.0                      # seconds that it took to decide in the last ticks
        self._allocate(state)
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def _allocate(self, state: State) -> None:
        """Make the bundles of the planner, without any agent."""
        self._distances = Distances(state.grid)
        self._priorities = allocate(Priorities, agents=0)
        self._decisions = allocate(Decisions, agents=0, cells=state.grid.size)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        self._waits_for = proposal.waits_for
        order = self._order()
        self._keep_time(order, budget)
        carry_on(self._distances.known.reverse)
        self._find_distances(order, budget)
        self._decide(decide_all, order, proposal, budget)

    def _keep_time(self, order: NDArray[np.int32], budget: Budget) -> None:
        """Of a budget in milliseconds, keep what deciding will take: it comes last, and cannot be left out."""
        if budget.is_timed:
            budget.keep_back(1.25 * (self._deciding_s or order.size * _SECONDS))

    def _decide(self, kernel: Callable[..., Any], order: NDArray[np.int32], proposal: Proposal, budget: Budget) -> None:
        """Let a kernel decide where all agents go."""
        began = time.perf_counter()
        scene = partial(self._scene, int(scramble(self.seed ^ int(scramble(self.state.tick)))))
        while self._run(budget, kernel, scene(), self._decisions, order, budget.slice(), *proposal) != 0:
            pass
        self._is_prepared = True
        self._deciding_s = max(time.perf_counter() - began, self._deciding_s / 2)
        budget.keep_back(0)

    def think(self, budget: Budget) -> None:
        self._find_distances(self._order(), budget)

    def _find_distances(self, order: NDArray[np.int32], budget: Budget) -> None:
        """Search for the distances around these agents, within the budget."""
        self._ask_for_all(budget, find_distances, order, budget.is_limited)

    def _ask_for_all(self, budget: Budget, kernel: Callable[..., Any], order: NDArray[np.int32], *given: Any) -> None:
        """Call a kernel until all distances around these agents are known, or the budget is used up.

        Where it asks for space it is called again even then: it has not yet looked at the agents after that.
        """
        answer = OUT_OF_SPACE
        while answer == OUT_OF_SPACE or (answer != 0 and budget.slice() > 0):
            answer = self._run(budget, kernel, self._scene(0), order, budget.slice(), *given)

    def _run(self, budget: Budget, kernel: Callable[..., Any], *given: Any) -> int:
        """Call a kernel, report what it expanded, and make space if it asks for some; return its answer."""
        run = prepared(kernel) if self._is_prepared else kernel
        answer = budget.call(self._distances.known.reverse.allowance, run, *given)
        if answer == OUT_OF_SPACE:
            self._distances.grow()
        return answer

    def _order(self) -> NDArray[np.int32]:
        return order_of(self.state, self._priorities)

    def _scene(self, lot: int) -> PibtScene:
        state = self.state
        return PibtScene(state.grid.tables, state.agents, state.occupant, self._distances.known, STEP, self.swap, lot)

    def intent(self, agent: int) -> Intent:
        """The shortest path that it would take if no other agent were in its way, as far as it is known."""
        return describe(self.state, self._scene(0), in_the_way_of(agent, self._waits_for), agent)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        found = self._distances.known
        return draw_distances(found.reverse, found.search_of[agent], self.state.grid.size)

    def make_room(self, agents: int) -> None:
        have = self._priorities.away.size
        space = ahead(have, agents)
        if space > have:
            self._priorities = grown(self._priorities, agents=space)
            self._decisions = grown(self._decisions, agents=space)
            self._distances.reserve(space)

    def agent_added(self, agent: int) -> None:
        self.make_room(agent + 1)
        self._priorities.away[agent] = self.state.tick
        if self.state.agents.cell[agent] != NO_CELL:
            self.agent_retasked(agent)

    def agent_removed(self, agent: int) -> None:
        self._distances.drop(agent)

    def agent_retasked(self, agent: int) -> None:
        grid, cell, goal = self.state.grid, int(self.state.agents.cell[agent]), int(self.state.agents.goal[agent])
        (x, y), (goal_x, goal_y) = grid.xy(cell), grid.xy(goal)
        self._priorities.first[agent] = empty_map_cost(grid.tables, abs(x - goal_x), abs(y - goal_y))
        self._distances.aim(agent, goal, cell)

    def agents_retasked(self, agents: NDArray[np.int32]) -> None:
        tables, cells, goals = self.state.grid.tables, self.state.agents.cell[agents], self.state.agents.goal[agents]
        dx, dy = abs(cells % tables.width - goals % tables.width), abs(cells // tables.width - goals // tables.width)
        costs = np.maximum(dx, dy).astype(np.int64) * CARDINAL_COST + np.minimum(dx, dy).astype(np.int64) * tables.minor
        self._priorities.first[agents] = costs
        self._distances.aim_all(agents, goals, cells)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._distances.cells_changed(cells, self.state.agents)
