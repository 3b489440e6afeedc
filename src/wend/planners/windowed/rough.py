# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Rough steps: how agents move while the distances to their goals are not known yet.

Until its distances are known, an agent is *rough* and has a course (planners/courses.py). It moves

- one step at a time, by PIBT (search/pibt.py), after all others have planned. In WHCA* a rough agent walks around
  agents that follow their plans. With pushes all agents decide together, oldest first: one with a plan wants to make
  the next step of it, and pushes whoever stands there, rough or not. If it cannot, it goes elsewhere or waits, and
  replans.

The same steps are made by agents that know their distances and whose turn to plan does not come in time, down these
distances.

What plans leave of a tick's budget goes into the backward searches, by turns; an agent that one of them has reached
plans in windows from then on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit, scramble
from wend.maps.terrain import CARDINAL_COST, GridTables
from wend.planners.base import Agents
from wend.planners.courses import Courses
from wend.planners.windowed.plans import (
    TOO_FAR,
    UNSERVED,
    Habits,
    WindowPlans,
    drop_plan,
    sort_by_age,
    stand,
    take_plan,
)
from wend.search.pibt import decide, fix, offer
from wend.search.real_time import Learned, believed
from wend.search.reservations import Reservations, may_move, other_at
from wend.search.reverse_resumable import Reverse, distance, known_distance, reaches
from wend.search.space_time import Manners

# --- who is rough -------------------------------------------------------------------------------


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
    """Whether no plan is in the way of a move. With pushes, only those of agents that the program moves are."""
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
    """Whether an agent may be pushed: where agents push at all, unless it is pinned to its goal."""
    agents = scene.agents
    return scene.habits.pushes and not (agents.pinned[other] and agents.cell[other] == agents.goal[other])


@jit
def _line_up(setting):
    """List the agents that make a step, oldest first or by turns; answer how many.

    Without pushes, those with plans keep to them. With pushes, those that rest on their goals are not listed.

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
    """Let agents whose plans have ended make one step each, and with pushes all others, too.

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
