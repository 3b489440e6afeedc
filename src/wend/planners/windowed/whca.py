# mypy: disallow-untyped-calls=False
"""WHCA*: cooperative planning in a window that moves along with time. And Weave, which adds what jams need.

David Silver: Cooperative Pathfinding. AIIDE 2005, section "Windowed Hierarchical Cooperative A*".

Every agent plans `window` steps ahead around the reservations of the others, follows half of them, and replans; the
distance beyond the window is RRA*'s, which ignores agents. Agents go on planning on their goals, so that they can step
aside, and take turns to plan first.

    paper                                              here
    "partial route", terminal edge, edge costs         search/space_time.py, a window search
    "window is shifted forwards" half-way, staggered   ticks.py, line_up
    "dynamically vary the agent order"                 ticks.py, line_up, `order`
    RRA* kept per agent                                search/reverse_resumable.py

WHCA*(w, a) of Sturtevant and Buro (Improving Collaborative Pathfinding Using Map Abstraction, AIIDE 2006), as Wang and
Botea (MAPP, JAIR 2011) compare with it, is `abstraction = a`: distances are those on the clique abstraction of level a.

Work per tick: about 2 * agents / window searches, each bounded by the window; backward searches go on where they
stopped.

Deviations and open points
- No reservation lasts beyond the window. With a hold on the last cell no agent ever plans through a parked one, and
  jams are permanent.
- With an abstraction, the distance is that between the groups, and as on an empty map only within the goal's own group.
  The larger of the two everywhere, which keeps the estimate admissible where the abstraction is coarse, leads agents
  that move in four directions into every dead end: Manhattan distance then outweighs what the abstraction knows.
- An agent that finds no plan of `window` steps is boxed in. It stays where it is and reserves that cell
  (`boxed_in = "stand"`), and all agents that planned to pass there replan at once. The paper does not say what happens.
- With a budget too small for a whole window, shorter windows are searched. An agent whose distances are not known yet,
  or whose plan ends before its turn comes, moves on all the same (rough.py).

Weave (`boxed_in = "push"`, `order = "age"`, `soft_tail = 1`) differs in three ways, each an option of its own:
- A step onto the last planned cell of another agent, after its plan ends, costs one more (`soft_tail`).
- The agent that has been away from home the longest plans first (`order = "age"`).
- An agent that is boxed in, or has not come nearer to its goal for `patience` ticks, pushes younger agents out of its
  way, and they push others (pushing.py). Where two agents in a corridor can only go on if they exchange places, the one
  that pushes goes back and takes the other along until the corridor branches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, OUT_OF_BUDGET, OUT_OF_SPACE
from wend.kernel.allowance import spent
from wend.kernel.arrays import ahead, allocate, grown
from wend.kernel.compiling import prepared
from wend.maps.terrain import CARDINAL_COST
from wend.planners.base import Budget, Intent, Overlay, Planner, Proposal, State, parameter
from wend.planners.windowed.abstraction import AbstractAims
from wend.planners.windowed.plans import (
    TOO_FAR,
    Habits,
    Lineup,
    Setting,
    WindowPlans,
    describe,
    drop_plan,
    recall_cut_plans,
)
from wend.planners.windowed.rough import RoughSteps
from wend.planners.windowed.ticks import DONE, TICKS, think_ahead
from wend.search import reservations, space_time
from wend.search.execution import make_guard
from wend.search.pibt import Decisions
from wend.search.reverse_resumable import SharedSearches, write_known
from wend.search.space_time import Scene


@dataclass
class Windowed(Planner):
    """WHCA*, and Weave."""

    uncaptured: ClassVar[Sequence[str]] = ("_work",)    # scratch

    overlays: ClassVar[Mapping[str, Overlay]] = {
        "reservations": Overlay("for how many ticks from now on each cell is reserved"),
        "next": Overlay("the agent that has reserved each cell for the next tick, -1 where there is none"),
        "distance": Overlay("how far it is to an agent's goal, in cells; NaN where not known yet", of_agent=True),
    }

    window: int = parameter(16, "steps that are planned ahead", minimum=1, maximum=256)
    abstraction: int = parameter(0, "level of the clique abstraction for distances; 0 = exact", minimum=0, maximum=8)
    order: str = parameter("rotate", "who plans first: by turns, or the one longest away", choices=("rotate", "age"))
    boxed_in: str = parameter("stand", "what an agent does that finds no plan", choices=("stand", "push"))
    soft_tail: int = parameter(0, "cost of a step onto the last planned cell of another", minimum=0, maximum=1000)
    patience: int = parameter(16, "ticks without coming nearer after which an agent pushes", minimum=1)
    no_follow: bool = parameter(False, "a reserved cell stays so while it is being left, as in Silver's table")
    forbid_cross: bool = parameter(False, "no two diagonal moves cross")

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells, agents = state.grid.size, 64
        self._table = reservations.make_reservations(cells, self.window + 2)
        self._distances = SharedSearches(state.grid)
        self._rough = RoughSteps(state.grid, agents)
        self._abstract = AbstractAims(self.abstraction)
        self._work = space_time.make_space_time(_states(self.window, cells))
        self._manners = space_time.Manners(True, True, self.no_follow, self.forbid_cross, self.soft_tail)
        self._habits = Habits(self.window, seed, self.patience, self.boxed_in == "push", self.order == "age")
        self._plans = allocate(WindowPlans, agents=agents, cells=cells, ticks=self.window + 1)
        self._lineup = allocate(Lineup, agents=agents)
        self._decisions = allocate(Decisions, agents=agents, cells=cells)
        self._guard = make_guard(agents, cells)
        self._is_prepared = [False, False]                  # whether TICKS were called with the types of this planner
        self._waits_for = np.empty(0, np.int32)             # for whom the guard stopped each agent in the last tick
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        if self.abstraction:
            ready = self._abstract.look_up(self.state, self._plans.row, budget)
            self._plans.ready[: ready.size] = ready
            self._manners = self._manners._replace(far=self._abstract.far, group=self._abstract.group)
        elif budget.is_limited:
            self._rough.look_ahead(self.state, budget)
        else:
            self._rough.do_without()
        self._waits_for = proposal.waits_for
        limit, rough_too = budget.slice(), budget.is_limited and not self.abstraction
        steps = self.window if limit >= 4 * self.window else max(1, limit // 4)
        allowance = self._distances.reverse.allowance
        while True:
            before = spent(allowance)
            run = prepared(TICKS[rough_too]) if self._is_prepared[rough_too] else TICKS[rough_too]
            answer = run(self._setting(), self.state.tick, steps, limit, *proposal)
            budget.spend(spent(allowance) - before)
            self._is_prepared[rough_too] = True
            if answer == DONE:
                return
            if answer == OUT_OF_SPACE:
                self._distances.grow()
                self._rough.grow()
            limit = budget.slice()

    def think(self, budget: Budget) -> None:
        """Find the distances to goals; plans depend on where the others are, and are made in their tick."""
        if self.abstraction:
            self._abstract.look_up(self.state, self._plans.row, budget)
            return
        allowance, answer = self._distances.reverse.allowance, OUT_OF_BUDGET
        while answer != DONE and (limit := budget.slice()):
            before = spent(allowance)
            answer = think_ahead(self._setting(), limit)
            budget.spend(spent(allowance) - before)
            if answer == OUT_OF_SPACE:
                self._distances.grow()

    def _setting(self) -> Setting:
        tables, distances, plans, rough = self.state.grid.tables, self._distances, self._plans, self._rough
        scene = Scene(tables, self._table, plans.tails, distances.reverse, self._work, self._manners)
        return Setting(
            tables, self.state.agents, self.state.occupant, scene, plans, self._lineup, self._decisions, self._guard,
            rough.courses, rough.learned, distances.of, plans.row if self.abstraction else distances.of, self._habits,
        )  # fmt: skip

    def counters(self) -> dict[str, int]:
        counts = self._lineup.counts[0]
        return {
            "searches": int(counts.searches),
            "repaths": int(counts.repaths),
            "boxed_in": int(counts.boxed_in),
            "pushes": int(counts.pushes),
            "stopped_by_guard": int(counts.stopped),
        }

    def intent(self, agent: int) -> Intent:
        """Its plan, a cell per tick."""
        stopped_by = int(self._waits_for[agent]) if agent < self._waits_for.size else NO_AGENT
        return describe(self.state, self._setting().scene, self._plans, stopped_by, agent)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        tick, ring = self.state.tick, self._table.ring
        if name == "reservations":                          # all but what the next tick clears away
            return np.asarray(np.count_nonzero(np.delete(ring, (tick - 1) % ring.shape[1], axis=1), axis=1))
        if name == "next":
            return np.asarray(ring[:, (tick + 1) % ring.shape[1]] - 1)
        far = np.empty(self.state.grid.size, np.int64)
        write_known(self._distances.reverse, self._distances.of[agent], far)
        return np.where(far >= 0, far / CARDINAL_COST, np.nan)

    def make_room(self, agents: int) -> None:
        have = self._plans.steps.size
        room = ahead(have, agents)
        if room > have:
            self._plans = grown(self._plans, agents=room)
            self._lineup = grown(self._lineup, agents=room)
            self._decisions = grown(self._decisions, agents=room)
            self._guard = make_guard(room, self.state.grid.size)
            self._rough.reserve(room)
            self._distances.reserve(room)

    def agent_added(self, agent: int) -> None:
        self.make_room(agent + 1)
        self._aim(agent)

    def agent_removed(self, agent: int) -> None:
        drop_plan(self._table, self._plans, agent, self.state.tick)
        self._rough.drop(agent)
        self._distances.drop(agent)
        self._abstract.drop(self._plans.row, agent)

    def agent_retasked(self, agent: int) -> None:
        self._aim(agent)

    def _aim(self, agent: int) -> None:
        """Begin anew towards the agent's goal; the plan that it has is kept until there is a better one."""
        agents, plans, tick = self.state.agents, self._plans, self.state.tick
        self._distances.aim(agent, int(agents.goal[agent]), int(agents.cell[agent]))
        self._rough.aim(agent, int(agents.goal[agent]), tick)
        self._abstract.drop(plans.row, agent)
        plans.due[agent] = plans.ready[agent] = True
        plans.under_way[agent] = False
        plans.home_ticks[agent] = 0
        plans.left_home[agent] = plans.nearer_at[agent] = tick
        plans.nearest[agent] = TOO_FAR

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._distances.cells_changed(cells)
        self._rough.cells_changed(cells, self.state.agents)
        self._abstract.forget(self._plans.row)              # an abstraction is made anew as a whole
        recall_cut_plans(self.state.grid.tables, self.state.agents, self._table, self._plans, self.state.tick)


def _states(window: int, cells: int) -> int:
    """States of space and time within a window, at the most."""
    return sum(min((2 * k + 1) ** 2, cells) for k in range(window + 1)) + 16
