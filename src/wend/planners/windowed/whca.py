# mypy: disallow-untyped-calls=False
"""WHCA*: cooperative planning in a window that moves along with time. With options for jams.

David Silver: Cooperative Pathfinding. AIIDE 2005, section "Windowed Hierarchical Cooperative A*".

Every agent plans `window` steps ahead around the reservations of the others, follows half of them, and replans; the
distance beyond the window is RRA*'s, which ignores agents. Agents go on planning on their goals, so that they can step
aside, and take turns to plan first.

    paper                                              here
    "partial route", terminal edge, edge costs         search/space_time.py, a window search
    "window is shifted forwards" half-way, staggered   ticks.py, line_up
    "dynamically vary the agent order"                 ticks.py, line_up, `order`
    RRA* kept per agent                                search/reverse_resumable.py, in distances.py

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

What jams need, each an option of its own (`boxed_in = "push"`, `order = "age"`, `soft_tail = 1`):
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

from wend.kernel import OUT_OF_BUDGET, OUT_OF_SPACE
from wend.kernel.arrays import ahead, allocate, grown
from wend.kernel.compiling import Keeping, prepared
from wend.planners.base import Budget, Intent, Overlay, Planner, Proposal, State, parameter
from wend.planners.overlays import DISTANCE
from wend.planners.waiting import in_the_way_of
from wend.planners.windowed.distances import WindowDistances
from wend.planners.windowed.plans import Agenda, Habits, Setting, begin_anew, describe, drop_plan, recall_cut_plans
from wend.planners.windowed.ticks import DONE, TICKS
from wend.search import reservations, space_time
from wend.search.space_time import Manners, Scene


@dataclass
class Windowed(Planner):
    """WHCA*, with options for jams."""

    uncaptured: ClassVar[Sequence[str]] = ("_work", "_keeping")     # scratch

    overlays: ClassVar[Mapping[str, Overlay]] = {
        "reservations": Overlay("for how many ticks from now on each cell is reserved"),
        "next": Overlay("the agent that has reserved each cell for the next tick, -1 where there is none"),
        "distance": DISTANCE,
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
        cells = state.grid.size
        self._table = reservations.make_reservations(cells, self.window + 2)
        self._distances = WindowDistances(state.grid, self.abstraction)
        self._work = space_time.make_space_time(space_time.states_within(self.window, cells))
        self._manners = Manners(True, True, self.no_follow, self.forbid_cross, self.soft_tail)
        self._habits = Habits(self.window, seed, self.patience, self.boxed_in == "push", self.order == "age")
        self._agenda = allocate(Agenda, agents=0, cells=cells, ticks=self.window + 1)
        self._keeping = Keeping()
        self._is_prepared = [False, False]                  # whether TICKS were called with the types of this planner
        self._waits_for = np.empty(0, np.int32)             # for whom the guard stopped each agent in the last tick
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        self._waits_for = proposal.waits_for
        self._distances.begin_tick(self.state, self._agenda.plans.ready, budget)
        limit, rough_too = budget.slice(), budget.is_limited and not self.abstraction
        steps = self.window if limit >= 4 * self.window else max(1, limit // 4)
        answer = OUT_OF_BUDGET
        while answer != DONE:
            run, setting = TICKS[rough_too], self._setting
            if self._is_prepared[rough_too]:
                run, setting = prepared(run), self._kept_setting
            given = setting(), self.state.tick, steps, limit, *proposal
            answer = budget.call(self._distances.allowance, run, *given)
            self._is_prepared[rough_too] = True
            if answer == OUT_OF_SPACE:
                self._distances.grow()
            limit = budget.slice()

    def think(self, budget: Budget) -> None:
        """Find the distances to goals; plans depend on where the others are, and are made in their tick."""
        self._distances.think(self.state, self._setting, budget)

    def _kept_setting(self) -> Any:
        state = self.state
        parts = state.grid.tables, state.agents, state.occupant, self._agenda, *self._distances.parts()
        return self._keeping.of(parts, self._setting)

    def _setting(self) -> Setting:
        state, tables, exact, rough = self.state, self.state.grid.tables, self._distances.exact, self._distances.rough
        manners = self._distances.go_by(self._manners)
        scene = Scene(tables, self._table, self._agenda.plans.tails, exact.reverse, self._work, manners)
        return Setting(
            tables, state.agents, state.occupant, scene, *self._agenda, rough.courses, rough.learned, exact.of,
            self._distances.aim_of, self._habits,
        )  # fmt: skip

    def counters(self) -> dict[str, int]:
        counts = self._agenda.lineup.counts[0]
        return {name: int(counts[name]) for name in ("searches", "repaths", "boxed_in", "pushes", "stopped_by_guard")}

    def intent(self, agent: int) -> Intent:
        """Its plan, a cell per tick."""
        stopped_by = in_the_way_of(agent, self._waits_for)
        return describe(self.state, self._setting().scene, self._agenda.plans, stopped_by, agent)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        if name == "reservations":
            return reservations.reserved_ticks(self._table, self.state.tick)
        if name == "next":
            return reservations.owners_at(self._table, self.state.tick + 1)
        return self._distances.draw(agent)

    def make_room(self, agents: int) -> None:
        have = self._agenda.plans.steps.size
        room = ahead(have, agents)
        if room > have:
            self._agenda = grown(self._agenda, agents=room)
            self._distances.reserve(room)

    def agent_added(self, agent: int) -> None:
        self.make_room(agent + 1)
        self.agent_retasked(agent)

    def agent_removed(self, agent: int) -> None:
        drop_plan(self._table, self._agenda.plans, agent, self.state.tick)
        self._distances.drop(agent)

    def agent_retasked(self, agent: int) -> None:
        self._distances.aim(agent, self.state.agents, self.state.tick)
        begin_anew(self._agenda.plans, agent, self.state.tick)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._distances.cells_changed(cells, self.state.agents)
        recall_cut_plans(self.state.grid.tables, self.state.agents, self._table, self._agenda.plans, self.state.tick)
