# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""WHCA*: cooperative planning in a window that moves along with time. And Weave, which adds what jams need.

David Silver: Cooperative Pathfinding. AIIDE 2005, section "Windowed Hierarchical Cooperative A*".

Every agent plans `window` steps ahead around the reservations of the others, follows half of them, and replans; the
distance beyond the window is RRA*'s, which ignores agents. Agents go on planning on their goals, so that they can step
aside, and take turns to plan first.

    paper                                              here
    "partial route", terminal edge, edge costs         search/space_time.py, a window search
    "window is shifted forwards" half-way, staggered   line_up
    "dynamically vary the agent order"                 line_up, `order`
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

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.allowance import allow, spent
from wend.kernel.arrays import ahead, allocate, grown
from wend.kernel.compiling import prepared
from wend.maps.terrain import CARDINAL_COST
from wend.planners.base import Budget, Intent, Overlay, Planner, Proposal, State, parameter
from wend.planners.windowed.abstraction import AbstractAims
from wend.planners.windowed.plans import (
    BOXED_IN,
    PUSHED,
    UNSERVED,
    Habits,
    Lineup,
    Setting,
    WindowPlans,
    call_back,
    describe,
    drop_plan,
    recall_cut_plans,
    sort_by_age,
    stand,
    take_plan,
)
from wend.planners.windowed.pushing import STABLE_TICKS, is_stuck, push_from
from wend.planners.windowed.rough import RoughSteps, learn_phase, refine_phase, set_courses, step_phase
from wend.search import reservations, space_time
from wend.search.execution import grant, make_guard
from wend.search.pibt import Decisions, fix, forget_decisions
from wend.search.reservations import expire, other_at
from wend.search.reverse_resumable import SharedSearches, carry_on, known_distance, write_known
from wend.search.space_time import Scene, make_trip

_DONE = 0
_FAR = 2**62

_BEGIN, _REPLAN, _EXTEND, _REFINE = 0, 1, 2, 3      # Lineup.counts.stage


@jit
def begin_tick(setting, tick, steps, next_cell):
    """Forget the last tick's decisions, and let the table show where all agents are.

    Mutates: setting.scene.table, plans, lineup, decisions.
    """
    agents, plans, lineup, table = setting.agents, setting.plans, setting.lineup, setting.scene.table
    counts, window = lineup.counts[0], setting.habits.window
    for k in range(counts.urgent):
        lineup.is_urgent[lineup.urgent[k]] = False
    counts.urgent = 0
    counts.tick, counts.steps = tick, steps
    forget_decisions(setting.decisions)
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if cell == NO_CELL:
            continue
        planned, since, end = plans.cell[agent], plans.since[agent], plans.tails.end[agent]
        expire(table, planned, since, plans.steps[agent], agent, tick)
        if not agents.controlled[agent]:                    # it goes where the program says, and is taken to stay there
            drop_plan(table, plans, agent, tick)
            planned[0] = cell
            planned[1:] = next_cell[agent]
            take_plan(table, plans, agent, window, tick)
            fix(setting.decisions, agent, next_cell[agent])
            if next_cell[agent] != cell:                    # pushes do not look where it goes; the guard stops them
                setting.decisions.taken[next_cell[agent]] = NO_AGENT
        elif plans.steps[agent] < 0 or end < tick or planned[tick - since] != cell:
            stand(table, plans, agent, cell, 0, tick)       # it is new, or was stopped
            plans.due[agent] = True
        elif agents.pinned[agent] and cell == agents.goal[agent]:
            for k in range(tick - since, plans.steps[agent] + 1):
                if planned[k] != cell:                      # it has come home on a plan that leads on
                    plans.due[agent] = True


@jit
def look_phase(setting):
    """Note which agents are home, and which came nearer to their goals. Mutates: setting.plans."""
    agents, plans, tick = setting.agents, setting.plans, setting.lineup.counts[0].tick
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if cell == NO_CELL or not agents.controlled[agent]:
            continue
        if cell == agents.goal[agent]:
            plans.home_ticks[agent] += 1
            if plans.home_ticks[agent] >= STABLE_TICKS:
                plans.left_home[agent] = tick
                plans.nearest[agent] = _FAR
                plans.nearer_at[agent] = tick
            continue
        plans.home_ticks[agent] = 0
        if setting.habits.pushes:                           # only pushes ask for it
            far = known_distance(setting.scene.reverse, setting.search_of[agent], cell)
            if 0 <= far < plans.nearest[agent]:
                plans.nearest[agent] = far
                plans.nearer_at[agent] = tick


@jit
def line_up(setting):
    """Say who plans in this tick, and in which order: all who are due, and by turns half a window's share of all.

    Mutates: setting.lineup.
    """
    agents, plans, habits, line = setting.agents, setting.plans, setting.habits, setting.lineup.line
    counts, count, size = setting.lineup.counts[0], agents.cell.size, 0
    tick, half = counts.tick, max(1, habits.window // 2)
    for k in range(count):
        agent = k if habits.by_age else (tick + k) % count
        if agents.cell[agent] == NO_CELL or not agents.controlled[agent]:
            continue
        if not plans.ready[agent] or setting.courses.is_rough[agent]:
            continue
        waits = habits.pushes and plans.home_ticks[agent] == 0 and tick - plans.nearer_at[agent] >= habits.patience
        if plans.due[agent] or waits or (tick + agent) % half == 0:
            line[size] = agent
            size += 1
    if habits.by_age:
        sort_by_age(plans, line, size)
    counts.in_line, counts.place = size, 0


@jit
def can_stay_home(setting, agent):
    """Whether an agent is on its goal and none plans to pass there: then to stay is what the search would find."""
    plans, counts, cell = setting.plans, setting.lineup.counts[0], setting.agents.cell[agent]
    if cell != setting.agents.goal[agent]:
        return False
    owner = plans.tails.owner[cell]
    if setting.scene.manners.soft_tail > 0 and owner != NO_AGENT and owner != agent:
        return False
    for k in range(1, counts.steps + 1):
        if other_at(setting.scene.table, cell, counts.tick + k, agent) != NO_AGENT:
            return False
    return True


@jit
def replan(setting, agent):
    """Give an agent a new plan: 1 if it has one, 0 if it stays where it is, or why that is not known yet.

    Mutates: setting.scene, plans, lineup, decisions.
    """
    agents, plans, scene, counts = setting.agents, setting.plans, setting.scene, setting.lineup.counts[0]
    cell, goal, steps, tick = agents.cell[agent], agents.goal[agent], counts.steps, counts.tick
    if setting.habits.pushes and is_stuck(plans, setting.habits, agent, tick):
        answer = push_from(setting, agent)
        if answer != 0:
            return answer
    if agents.pinned[agent] and cell == goal:
        return 0
    if can_stay_home(setting, agent):
        stand(scene.table, plans, agent, cell, steps, tick)
        plans.due[agent] = False
        return 1
    answer = space_time.search(scene, make_trip(agent, cell, tick, goal, setting.aim_of[agent], steps))
    if answer == OUT_OF_SPACE or answer == OUT_OF_BUDGET:
        return answer
    if answer == FOUND:
        drop_plan(scene.table, plans, agent, tick)
        space_time.write_cells(scene.work, plans.cell[agent])
        take_plan(scene.table, plans, agent, steps, tick)
        counts.searches += 1
        counts.repaths += plans.due[agent] and plans.under_way[agent]
        plans.due[agent], plans.under_way[agent] = False, True
        return 1
    counts.boxed_in += 1
    return push_from(setting, agent) if setting.habits.pushes else 0


@jit
def stand_firm(setting, agent):
    """Let an agent that cannot or must not move stay for the whole window: all others make way for it.

    Mutates: setting.scene.table, plans, lineup, decisions.
    """
    cell, plans = setting.agents.cell[agent], setting.plans
    window, tick = setting.habits.window, setting.lineup.counts[0].tick
    for k in range(1, window + 1):
        call_back(setting, agent, cell, tick + k)
    stand(setting.scene.table, plans, agent, cell, window, tick)
    fix(setting.decisions, agent, cell)
    plans.due[agent] = True
    plans.why[agent] = BOXED_IN


@jit
def replan_phase(setting):
    """Give all agents in line a new plan; answer _DONE, or why it stopped.

    Mutates: setting.scene, plans, lineup, decisions.
    """
    lineup = setting.lineup
    counts, urgent = lineup.counts[0], lineup.urgent
    while True:
        if counts.urgent > 0:
            agent = urgent[counts.urgent - 1]
        elif counts.place < counts.in_line:
            agent = lineup.line[counts.place]
        else:
            return _DONE
        if not setting.decisions.decided[agent] and not setting.courses.is_rough[agent]:
            answer = replan(setting, agent)
            if answer < 0:
                return answer
            if answer == 0:
                stand_firm(setting, agent)
        # Done with this one; it may be anywhere in the stack by now, if others were called back.
        if lineup.is_urgent[agent]:
            lineup.is_urgent[agent] = False
            k = 0
            while urgent[k] != agent:
                k += 1
            for j in range(k, counts.urgent - 1):
                urgent[j] = urgent[j + 1]
            counts.urgent -= 1
        else:
            counts.place += 1


@jit
def extend_phase(setting):
    """Plan on for the agents that were pushed, from where they will stand; answer _DONE, or why it stopped.

    Mutates: setting.scene, plans.
    """
    agents, plans, scene, counts = setting.agents, setting.plans, setting.scene, setting.lineup.counts[0]
    tick, steps = counts.tick, counts.steps
    for agent in range(agents.cell.size):
        is_pushed = plans.why[agent] == PUSHED and plans.since[agent] == tick and plans.steps[agent] == 1
        if not is_pushed or steps == 1 or setting.courses.is_rough[agent]:
            continue
        there = plans.cell[agent, 1]
        answer = space_time.search(
            scene, make_trip(agent, there, tick + 1, agents.goal[agent], setting.aim_of[agent], steps - 1)
        )
        if answer == OUT_OF_SPACE or answer == OUT_OF_BUDGET:
            return answer
        if answer == FOUND:
            drop_plan(scene.table, plans, agent, tick)
            space_time.write_cells(scene.work, plans.cell[agent, 1:])
            plans.cell[agent, 0] = agents.cell[agent]
            take_plan(scene.table, plans, agent, steps, tick)
            plans.why[agent] = PUSHED
            plans.due[agent] = False
    return _DONE


@jit
def settle_phase(setting):
    """Say where all agents want to be next; those without a plan for that stand. Mutates: scene.table, plans, lineup.
    """
    agents, plans, wanted = setting.agents, setting.plans, setting.lineup.wanted
    tick = setting.lineup.counts[0].tick
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        wanted[agent] = cell
        if cell == NO_CELL or not agents.controlled[agent]:
            continue
        if plans.tails.end[agent] <= tick:
            stand(setting.scene.table, plans, agent, cell, setting.habits.window, tick)
            plans.due[agent] = True
            plans.why[agent] = UNSERVED
        if not (agents.pinned[agent] and cell == agents.goal[agent]):
            wanted[agent] = plans.cell[agent, tick + 1 - plans.since[agent]]


@jit
def make_tick(setting, tick, steps, limit, next_cell, waits_for):
    """All of one tick within `limit` expansions, planning so many steps ahead: _DONE, or why to call again.

    Called again with another limit, it goes on where it stopped; with none, it makes do with what there is.
    Mutates: setting, next_cell, waits_for.
    """
    counts, allowance = setting.lineup.counts[0], setting.scene.reverse.allowance
    with_budget = setting.courses.counts[0].with_budget
    if counts.stage == _BEGIN:
        begin_tick(setting, tick, steps, next_cell)
        carry_on(setting.scene.reverse)
        set_courses(setting)
        look_phase(setting)
        line_up(setting)
        counts.stage = _REPLAN
    if limit > 0:
        allow(allowance, limit)
        if counts.stage == _REPLAN:
            answer = replan_phase(setting)
            if answer != _DONE:
                return answer
            counts.stage = _EXTEND
        if counts.stage == _EXTEND and setting.habits.pushes:
            answer = extend_phase(setting)
            if answer != _DONE:
                return answer
        counts.stage = _REFINE
        if with_budget:
            answer = refine_phase(setting)
            if answer != _DONE:
                return answer
    if with_budget:
        if learn_phase(setting) == OUT_OF_SPACE:
            return OUT_OF_SPACE
        step_phase(setting)
    settle_phase(setting)
    wanted = setting.lineup.wanted
    counts.stopped += grant(setting.agents, setting.occupant, wanted, setting.guard, next_cell, waits_for)
    counts.stage = _BEGIN
    return _DONE


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
        self._is_prepared = False                           # `make_tick` was called with the types of this planner
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
        limit = budget.slice()
        steps = self.window if limit >= 4 * self.window else max(1, limit // 4)
        allowance = self._distances.reverse.allowance
        while True:
            before = spent(allowance)
            run = prepared(make_tick) if self._is_prepared else make_tick
            answer = run(self._setting(), self.state.tick, steps, limit, *proposal)
            budget.spend(spent(allowance) - before)
            self._is_prepared = True
            if answer == _DONE:
                return
            if answer == OUT_OF_SPACE:
                self._distances.grow()
                self._rough.grow()
            limit = budget.slice()

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

    def agent_added(self, agent: int) -> None:
        have = self._plans.steps.size
        room = ahead(have, agent + 1)
        if room > have:
            self._plans = grown(self._plans, agents=room)
            self._lineup = grown(self._lineup, agents=room)
            self._decisions = grown(self._decisions, agents=room)
            self._guard = make_guard(room, self.state.grid.size)
            self._rough.reserve(room)
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
        plans.nearest[agent] = _FAR

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._distances.cells_changed(cells)
        self._rough.cells_changed(cells, self.state.agents)
        self._abstract.forget(self._plans.row)              # an abstraction is made anew as a whole
        recall_cut_plans(self.state.grid.tables, self.state.agents, self._table, self._plans, self.state.tick)


def _states(window: int, cells: int) -> int:
    """States of space and time within a window, at the most."""
    return sum(min((2 * k + 1) ** 2, cells) for k in range(window + 1)) + 16
