# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Rough steps: how agents move while the distances to their goals are not known yet.

The backward search of an order to the other end of the map may take all that a budget allows for many ticks. With a
budget, agents do not wait for it. Until it has come to them they are *rough*, and go as Surge's agents do:

- By what they believe. Distances over blocks (search/blocks.py) take some dozens of expansions; a lookahead of
  a few nodes then finds a path around the walls nearby, and learns (RTAA*, search/real_time.py). An agent that
  is pushed off its path goes by what it believes until that path would have expired.
- At once. Before the distances over blocks are known, an agent goes by those on the empty map. In each tick without a
  path it learns what the best cell beside it promises (LRTA*), which costs no expansion and leads it out of dead ends.
- One step at a time, by PIBT (search/pibt.py), after all others have planned. In WHCA* a rough agent walks around
  agents that follow their plans. In Weave all agents decide together, oldest first: one with a plan wants to make the
  next step of it, and pushes whoever stands there, rough or not. If it cannot, it goes elsewhere or waits, and replans.

The same steps are made by agents that know their distances and whose turn to plan does not come in time, down these
distances.

Up to 7/8 of a tick's budget, and `MOST` at the most, goes into lookaheads, by turns. What plans leave of the rest
goes into the backward searches, by turns as well; an agent that one of them has reached plans in windows from then on.
Without a budget nothing of all this happens: all distances are known at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit, scramble
from wend.kernel.arrays import allocate, grown
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, GridTables
from wend.planners.base import Agents, Budget, State
from wend.planners.windowed.plans import (
    TOO_FAR,
    UNSERVED,
    Courses,
    Habits,
    WindowPlans,
    drop_plan,
    sort_by_age,
    stand,
    take_plan,
)
from wend.search.beliefs import Beliefs
from wend.search.pibt import decide, fix, offer
from wend.search.real_time import (
    NO_NODE,
    Learned,
    Surroundings,
    believed,
    can_learn,
    knows_distance,
    learn_beside,
    write_prefix,
)
from wend.search.reservations import Reservations, may_move, other_at
from wend.search.reverse_resumable import Reverse, distance, known_distance, reaches
from wend.search.rough_paths import BLOCK, EXPANSIONS, MOST, look, make_ahead
from wend.search.space_time import Manners

_MOVES = 32         # ticks after which a path expires,
_SPREAD = 16        # ... up to so many ticks earlier for some agents, so that they do not search all at once


# --- lookaheads -----------------------------------------------------------------------------------------------------


@jit
def follow_paths(agents, courses):
    """Note which rough agents have made the next step of their paths, and which have lost them. Mutates: courses."""
    for agent in range(agents.cell.size):
        cell, wish = agents.cell[agent], courses.wish[agent]
        courses.wish[agent] = NO_CELL
        if cell == wish:
            courses.done[agent] += 1
            courses.stood[agent] = cell
        elif cell != courses.stood[agent] or cell == agents.goal[agent]:
            courses.done[agent] = courses.length[agent] = 0


@jit
def _wants_path(agents, courses, learned, agent, tick):
    """Whether an agent has to look ahead, as in Surge."""
    cell = agents.cell[agent]
    if cell == NO_CELL or not agents.controlled[agent] or cell == agents.goal[agent] or courses.is_exact[agent]:
        return False
    if tick >= courses.until[agent]:
        return True
    can_do_without = courses.length[agent] == 0 and knows_distance(learned, agent, cell)
    return courses.done[agent] == courses.length[agent] and not can_do_without


@jit
def look_phase(around, agents, courses, open_list, work, tick, limit):
    """Give a path to all rough agents that need one, by turns, within so many expansions.

    Answers how many were made, or OUT_OF_SPACE before any. Mutates: around.learned, courses, open_list, work.
    """
    tables, learned, counts, count = around.tables, around.learned, courses.counts[0], agents.cell.size
    expansions, made, begun = min(work.cell.size, limit), np.int64(0), counts.turn
    for k in range(count):
        agent = (begun + k) % count
        if not _wants_path(agents, courses, learned, agent, tick):
            continue
        counts.turn = agent
        if limit - made < expansions or limit == 0:
            return made
        if not can_learn(learned, expansions):
            return made if made > 0 else np.int64(OUT_OF_SPACE)
        cell = agents.cell[agent]
        spent, node = look(around, open_list, work, agent, cell, agents.goal[agent], expansions, limit - made)
        made += spent
        if node == OUT_OF_BUDGET:
            return made
        courses.stood[agent], courses.done[agent], courses.length[agent] = cell, 0, 0
        if node != NO_NODE:
            courses.length[agent] = write_prefix(tables, work.lookahead, node, courses.step[agent])
            courses.until[agent] = tick + _MOVES - agent % (_SPREAD + 1)
    return made


# --- who is rough, and what it learns -------------------------------------------------------------------------------


@jit
def set_courses(setting):
    """Say which agents are rough in this tick; they have no plans. Mutates: setting.scene.table, plans, courses."""
    agents, plans, courses = setting.agents, setting.plans, setting.courses
    reverse, tick, with_budget = setting.scene.reverse, setting.lineup.counts[0].tick, courses.counts[0].with_budget
    for agent in range(agents.cell.size):
        cell, goal, search = agents.cell[agent], agents.goal[agent], setting.search_of[agent]
        courses.is_rough[agent] = False
        if not with_budget or cell == NO_CELL or not agents.controlled[agent] or cell == goal:
            continue
        was_exact = courses.is_exact[agent]
        is_exact = known_distance(reverse, search, cell) >= 0 or (was_exact and reaches(reverse, search, goal))
        courses.is_exact[agent], courses.is_rough[agent] = is_exact, not is_exact
        if is_exact and not was_exact:
            plans.nearest[agent], plans.nearer_at[agent] = TOO_FAR, tick
        if not is_exact and plans.tails.end[agent] > tick:
            stand(setting.scene.table, plans, agent, cell, 0, tick)


@jit
def learn_phase(setting):
    """Let rough agents without a path learn what the best cell beside them promises; answer 0, or OUT_OF_SPACE.

    Mutates: setting.learned.
    """
    tables, agents, courses, learned = setting.tables, setting.agents, setting.courses, setting.learned
    for agent in range(agents.cell.size):
        if not courses.is_rough[agent] or courses.done[agent] < courses.length[agent]:
            continue
        if not can_learn(learned, 1):
            return OUT_OF_SPACE
        learn_beside(tables, learned, agent, agents.cell[agent], agents.goal[agent])
    return 0


@jit
def refine_phase(setting, also_others):
    """Find the distances of rough agents to their goals, by turns; answer 0, or why it stopped.

    With `also_others`, those of all agents that are not home. Mutates: setting.scene.reverse, courses.
    """
    agents, courses = setting.agents, setting.courses
    counts, count = courses.counts[0], agents.cell.size
    begun = counts.refined
    for k in range(count):
        agent = (begun + k) % count
        cell = agents.cell[agent]
        is_away = cell != NO_CELL and cell != agents.goal[agent] and agents.controlled[agent]
        if not courses.is_rough[agent] and not (also_others and is_away):
            continue
        answer = distance(setting.tables, setting.scene.reverse, setting.search_of[agent], cell)
        if answer == OUT_OF_BUDGET or answer == OUT_OF_SPACE:
            counts.refined = agent
            return answer
    return 0


# --- steps ----------------------------------------------------------------------------------------------------------


class StepScene(NamedTuple):
    """What a step looks at."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]   the agent that stands there, or NO_AGENT
    table: Reservations
    plans: WindowPlans
    courses: Courses
    learned: Learned
    reverse: Reverse
    search_of: np.ndarray   # int32[agents]  the agent's search in `reverse`
    manners: Manners
    tick: int
    habits: Habits


@jit
def _planned(plans, agent, tick):
    """Where an agent plans to be after the tick at hand."""
    return plans.cell[agent, tick + 1 - plans.since[agent]]


@jit
def _is_parked(agents, plans, agent, tick):
    """Whether an agent is on its goal and plans to be there after the tick at hand."""
    here = agents.cell[agent]
    if here != agents.goal[agent] or not agents.controlled[agent] or agents.pinned[agent]:
        return False
    return plans.tails.end[agent] > tick and _planned(plans, agent, tick) == here


@jit
def _may_enter(scene, agent, here, there):
    """Whether no plan is in the way of a move. In Weave, only those of agents that the program moves are."""
    agents, tick, manners = scene.agents, scene.tick, scene.manners
    other = other_at(scene.table, there, tick + 1, agent)
    if other == NO_AGENT and there != here and not manners.no_follow:
        other = scene.occupant[there]
    if scene.habits.pushes and other != NO_AGENT and agents.controlled[other]:
        return True                                             # the two decide by PIBT
    return may_move(scene.tables, scene.table, here, there, tick, agent, manners.no_follow, manners.forbid_cross)


@jit
def _cost(scene, agent, here, there):
    """What an agent goes by: the distance if that is known, else what it believes.

    Where the distance from its own cell is known, a cell from which it is not known is a step in the wrong direction.
    """
    goal = scene.agents.goal[agent]
    if scene.courses.is_rough[agent]:
        return believed(scene.tables, scene.learned, agent, here, there, goal)
    far = np.int64(0) if there == goal else known_distance(scene.reverse, scene.search_of[agent], there)
    return far if far >= 0 else max(known_distance(scene.reverse, scene.search_of[agent], here), 0) + CARDINAL_COST


@jit
def _rank(scene, decisions, depth):
    """List the next step of an agent's plan or path, then all of its next cells, the one it believes nearest first.

    Mutates: decisions.
    """
    tables, occupant, courses, tick = scene.tables, scene.occupant, scene.courses, scene.tick
    agent, asked = decisions.chain[depth], decisions.asked[depth]
    here, wish = scene.agents.cell[agent], courses.wish[agent]
    if scene.plans.tails.end[agent] > tick:
        wish = _planned(scene.plans, agent, tick)
    if wish != NO_CELL and asked == 0 and _may_enter(scene, agent, here, wish):
        offer(decisions, depth, wish, 0)
        return 0
    if asked > (1 if wish != NO_CELL else 0):
        return 0
    for d in range(9):                                          # the ninth is to stay
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d < 8 else here
        if not _may_enter(scene, agent, here, there):
            continue
        is_busy = occupant[there] != NO_AGENT and occupant[there] != agent
        lot = scramble(scene.habits.seed ^ scramble(tick * 9 + d) ^ agent) & 255
        offer(decisions, depth, there, (_cost(scene, agent, here, there) << 1 | is_busy) << 8 | lot)
    return 0


@jit
def _may_push(scene, root, other):  # noqa: ARG001
    """Whether an agent may be pushed: in Weave, unless it is pinned to its goal."""
    agents = scene.agents
    return scene.habits.pushes and not (agents.pinned[other] and agents.cell[other] == agents.goal[other])


@jit
def _line_up(setting):
    """List the agents that make a step, oldest first or by turns; answer how many.

    In WHCA*, those with plans keep to them. In Weave, those that rest on their goals are not listed: they go last.

    Mutates: setting.lineup, courses, decisions.
    """
    tables, agents, plans, courses = setting.tables, setting.agents, setting.plans, setting.courses
    line = setting.lineup.line
    decisions, tick, count, size = setting.decisions, setting.lineup.counts[0].tick, agents.cell.size, 0
    for k in range(count):
        agent = k if setting.habits.by_age else (tick + k) % count
        here = agents.cell[agent]
        if here == NO_CELL or not agents.controlled[agent] or decisions.decided[agent]:
            continue
        if plans.tails.end[agent] <= tick:
            line[size] = agent
            size += 1
            if courses.is_rough[agent] and courses.done[agent] < courses.length[agent]:
                courses.wish[agent] = here + tables.offset[courses.step[agent, courses.done[agent]]]
            courses.stood[agent] = here
        elif not setting.habits.pushes:
            fix(decisions, agent, _planned(plans, agent, tick))
        elif not _is_parked(agents, plans, agent, tick):
            line[size] = agent
            size += 1
    if setting.habits.by_age:
        sort_by_age(plans, line, size)
    return size


@jit
def step_phase(setting):
    """Let agents whose plans have ended make one step each, and in Weave all others, too.

    Mutates: setting.scene.table, plans, lineup, courses, decisions.
    """
    agents, plans, lineup, decisions = setting.agents, setting.plans, setting.lineup, setting.decisions
    table, tick, counts = setting.scene.table, lineup.counts[0].tick, decisions.counts[0]
    size = _line_up(setting)
    begun = counts.decided
    scene = StepScene(
        setting.tables, agents, setting.occupant, table, plans, setting.courses, setting.learned, setting.scene.reverse,
        setting.search_of, setting.scene.manners, tick, setting.habits,
    )  # fmt: skip
    for k in range(size):
        agent = lineup.line[k]
        if decisions.decided[agent]:
            continue
        if agents.pinned[agent] and agents.cell[agent] == agents.goal[agent]:
            fix(decisions, agent, agents.cell[agent])
        elif decide(decisions, scene, agent, _rank, _may_push) == 0 and not decisions.decided[agent]:
            fix(decisions, agent, agents.cell[agent])           # another comes to its cell: the guard stops one of them
    for k in range(begun, counts.decided):
        agent = decisions.trail[k]
        here, there = agents.cell[agent], decisions.target[agent]
        if plans.tails.end[agent] > tick and there == _planned(plans, agent, tick):
            continue                                            # it keeps to its plan
        drop_plan(table, plans, agent, tick)
        plans.cell[agent, 0], plans.cell[agent, 1] = here, there
        take_plan(table, plans, agent, 1, tick)
        plans.due[agent], plans.why[agent] = True, UNSERVED


# --- the Python side ------------------------------------------------------------------------------------------------


class RoughSteps:
    """What rough agents believe, and the paths that they follow: the events of the world, and arrays that grow."""

    uncaptured = ("_work",)     # scratch

    def __init__(self, grid: Grid, agents: int) -> None:
        self.courses = allocate(Courses, agents=0, expansions=EXPANSIONS)
        self._beliefs = Beliefs(grid, BLOCK)
        self._work = make_ahead(grid.size)
        self.reserve(agents)

    @property
    def learned(self) -> Learned:
        """What all agents have learned."""
        return self._beliefs.learned

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self.courses = grown(self.courses, agents=agents)
        self._beliefs.reserve(agents)

    def aim(self, agent: int, goal: int, tick: int) -> None:
        """Say where an agent wants to go. If that is near its last goal it keeps what it knows, to chase what moves."""
        courses, moves = self.courses, self._beliefs.moves_of_goal(agent, goal)
        courses.is_exact[agent] = False
        if moves <= BLOCK:                      # its distances and its path are about right
            courses.until[agent] = min(courses.until[agent], tick + BLOCK)
            return
        self._beliefs.forget(agent)
        self._beliefs.aim(agent, goal)
        courses.until[agent] = 0
        if moves > 4 * BLOCK:                   # otherwise it follows its path until there is another one
            courses.done[agent] = courses.length[agent] = 0
            courses.wish[agent] = NO_CELL

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        self._beliefs.drop(agent)

    def look_ahead(self, state: State, budget: Budget) -> None:
        """Begin a tick with a budget: let rough agents that need a path look ahead, for most of it."""
        self.courses.counts["with_budget"] = True
        follow_paths(state.agents, self.courses)
        limit = min(budget.slice() * 7 // 8, MOST)
        made = OUT_OF_SPACE
        while made == OUT_OF_SPACE:
            around = Surroundings(state.grid.tables, self.learned, state.occupant, 0)
            made = look_phase(
                around, state.agents, self.courses, self._beliefs.open_list, self._work, state.tick, limit
            )
            if made == OUT_OF_SPACE:
                self._beliefs.make_space()
        budget.spend(made)

    def do_without(self) -> None:
        """Begin a tick in which all distances will be known."""
        self.courses.counts["with_budget"] = False

    def grow(self) -> None:
        """Make the space that agents need to learn."""
        if not can_learn(self.learned, EXPANSIONS):
            self._beliefs.make_space()

    def cells_changed(self, cells: NDArray[np.int32], agents: Agents) -> None:
        """Follow an edit of the map; paths are searched anew."""
        self._beliefs.cells_changed(cells, agents.cell, agents.goal)
        self.courses.done[:] = self.courses.length[:] = self.courses.until[:] = 0
        self.courses.wish[:] = NO_CELL
