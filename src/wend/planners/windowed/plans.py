# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The state of WHCA*: what agents plan for the window ahead, and who plans in the tick at hand."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import flags, int32, int64, record, uint8
from wend.maps.terrain import GridTables
from wend.planners.base import Agents, Intent, State
from wend.planners.courses import Courses
from wend.planners.waiting import KEEPS_TO_ITS_PLAN, LETS_PASS, WAS_STOPPED, is_away, met_without_waiting
from wend.search.execution import Guard
from wend.search.paths import is_walkable
from wend.search.pibt import Decisions
from wend.search.real_time import Learned
from wend.search.reservations import other_at, release_way, reserve_way
from wend.search.space_time import Scene, Tails

TOO_FAR = 2**62     # farther than any cell

# Why an agent has the plan that it has: WindowPlans.why
ON_ITS_WAY = 0      # it was found by a search
BOXED_IN = 1        # no search finds one, so it stands
PUSHED = 2          # the first step is one of a push
UNSERVED = 3        # the budget ended before its turn: a single step, see rough.py, or it stands


class Habits(NamedTuple):
    """A planner's parameters as kernels see them."""

    window: int
    seed: int
    patience: int
    pushes: bool            # boxed_in = "push"
    by_age: bool            # order = "age"


class WindowPlans(NamedTuple):
    """What every agent is about to do."""

    cell: Annotated[np.ndarray, int32("agents", "ticks")]           # where it will stand, by tick; window + 1 ticks
    steps: Annotated[np.ndarray, int32("agents", fill=-1)]          # moves in its plan; -1 when it has none
    since: Annotated[np.ndarray, int32("agents")]                   # the tick after which it stood on the first cell
    tails: Tails                                                    # where and when plans end
    why: Annotated[np.ndarray, uint8("agents")]                     # ON_ITS_WAY, BOXED_IN, PUSHED or UNSERVED
    pushed_by: Annotated[np.ndarray, int32("agents")]               # the agent that pushed it, if PUSHED
    due: Annotated[np.ndarray, flags("agents")]                     # must replan as soon as possible
    under_way: Annotated[np.ndarray, flags("agents")]               # has found a plan since its last order
    ready: Annotated[np.ndarray, flags("agents")]                   # the distances to its goal are available
    home_ticks: Annotated[np.ndarray, int32("agents")]              # ticks that it has stood on its goal so far
    left_home: Annotated[np.ndarray, int32("agents")]               # tick when it was last home for good, or ordered
    nearest: Annotated[np.ndarray, int64("agents")]                 # smallest distance to the goal since then
    nearer_at: Annotated[np.ndarray, int32("agents")]               # tick when that became smaller


class Lineup(NamedTuple):
    """Who plans in the tick at hand, and what has been counted so far."""

    line: Annotated[np.ndarray, int32("agents")]            # who plans, in order
    urgent: Annotated[np.ndarray, int32("agents")]          # a stack: who plans first, because its plan was taken away
    is_urgent: Annotated[np.ndarray, flags("agents")]       # is on that stack
    wanted: Annotated[np.ndarray, int32("agents")]          # where it wants to be next
    counts: Annotated[
        np.ndarray,
        record(
            "stage",        # what is to be done next in the tick
            "tick",         # the tick at hand,
            "steps",        # ... and how many steps ahead its budget lets agents plan
            "in_line",      # agents in line,
            "place",        # ... and how many of them are done
            "urgent",       # agents on the stack
            "searches",     # searches so far that found a plan,
            "repaths",      # ... those of agents that were under way and had to replan before their turn
            "boxed_in",     # searches so far that found none
            "pushes",       # pushes so far
            "stopped_by_guard",     # agents so far
        ),
    ]


class Agenda(NamedTuple):
    """All that is kept of agents from tick to tick, but for what they know of distances."""

    plans: WindowPlans
    lineup: Lineup
    decisions: Decisions    # whose next step is settled in this tick, and may not be changed any more
    guard: Guard


class Setting(NamedTuple):
    """All that a tick looks at and works with."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]   the agent that stands there, or NO_AGENT
    scene: Scene            # what searches look at and work with
    plans: WindowPlans      # these four are the Agenda
    lineup: Lineup
    decisions: Decisions
    guard: Guard
    courses: Courses
    learned: Learned        # what agents believe while they are rough
    search_of: np.ndarray   # int32[agents]  the agent's search in scene.reverse,
    aim_of: np.ndarray      # int32[agents]  ... the same, or its row of abstract distances if there are any
    habits: Habits


@jit
def is_before(plans, a, b):
    """Whether an agent has been away from home for longer than another."""
    return plans.left_home[a] < plans.left_home[b] or (plans.left_home[a] == plans.left_home[b] and a < b)


@jit
def sort_by_age(plans, line, size):
    """Put the first so many agents of a line in order, oldest first. Mutates: line."""
    gap = size
    while gap > 1:                                          # Shell sort
        gap = max(gap * 4 // 9, 1)
        for k in range(gap, size):
            agent, place = line[k], k
            while place >= gap and is_before(plans, agent, line[place - gap]):
                line[place] = line[place - gap]
                place -= gap
            line[place] = agent


@jit
def take_plan(table, plans, agent, steps, tick):
    """Enter plans.cell[agent], which begins now, into the table. Mutates: table, plans."""
    plans.steps[agent], plans.since[agent], plans.tails.end[agent] = steps, tick, tick + steps
    plans.tails.owner[plans.cell[agent, steps]] = agent
    plans.why[agent] = ON_ITS_WAY
    reserve_way(table, plans.cell[agent], tick, steps, agent)


@jit
def drop_plan(table, plans, agent, tick):
    """Take an agent's plan out of the table. Mutates: table, plans."""
    if plans.steps[agent] >= 0:
        last = plans.cell[agent, plans.steps[agent]]
        if plans.tails.owner[last] == agent:
            plans.tails.owner[last] = NO_AGENT
        release_way(table, plans.cell[agent], plans.since[agent], plans.steps[agent], agent, tick)
        plans.steps[agent] = -1


@jit
def stand(table, plans, agent, cell, steps, tick):
    """Let an agent stay where it is for so many ticks. Mutates: table, plans."""
    drop_plan(table, plans, agent, tick)
    for k in range(steps + 1):
        plans.cell[agent, k] = cell
    take_plan(table, plans, agent, steps, tick)


@jit
def call_back(setting, agent, cell, time):
    """Take the plan from any other agent that has a cell at a time; it replans before all others.

    Mutates: setting.scene.table, plans, lineup.
    """
    agents, plans, lineup, table = setting.agents, setting.plans, setting.lineup, setting.scene.table
    other = other_at(table, cell, time, agent)
    if (
        other == NO_AGENT
        or not agents.controlled[other]
        or setting.decisions.decided[other]
        or lineup.is_urgent[other]
    ):
        return
    counts = lineup.counts[0]
    stand(table, plans, other, agents.cell[other], 0, counts.tick)
    plans.due[other] = True
    lineup.is_urgent[other] = True
    lineup.urgent[counts.urgent] = other
    counts.urgent += 1


@jit
def recall_cut_plans(tables, agents, table, plans, tick):
    """Take the plans that an edit of the map made illegal from their agents. Mutates: table, plans."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] == NO_CELL or plans.steps[agent] < 0:
            continue
        if not is_walkable(tables, plans.cell[agent, : plans.steps[agent] + 1]):
            stand(table, plans, agent, agents.cell[agent], 0, tick)
            plans.due[agent] = True


def begin_anew(plans: WindowPlans, agent: int, tick: int) -> None:
    """Let an agent that has a new goal plan as soon as possible; until then it keeps the plan that it has.

    Mutates: plans.
    """
    plans.due[agent] = plans.ready[agent] = True
    plans.under_way[agent] = False
    plans.home_ticks[agent] = 0
    plans.left_home[agent] = plans.nearer_at[agent] = tick
    plans.nearest[agent] = TOO_FAR


def describe(state: State, scene: Scene, plans: WindowPlans, stopped_by: int, agent: int) -> Intent:
    """What an agent is about to do, and why it stayed in the last tick. The path is its plan, a cell per tick.

    `stopped_by` is the agent for which the guard stopped it, or NO_AGENT.
    """
    agents, tick, since = state.agents, state.tick, int(plans.since[agent])
    here, end = int(agents.cell[agent]), int(plans.steps[agent]) + 1
    if not agents.controlled[agent]:
        return Intent(reason="the program moves it")
    planned = plans.cell[agent, max(tick - since, 0) : end]
    path = tuple(planned[1:].tolist()) if planned.size and planned[0] == here else ()
    if not plans.ready[agent]:
        return Intent(path, reason="its distances are not known yet")
    if stopped_by != NO_AGENT:
        return Intent(path, stopped_by, WAS_STOPPED)
    if plans.why[agent] == PUSHED and since == tick - 1:
        pusher = int(plans.pushed_by[agent])
        return Intent(path, reason="pushes others aside" if pusher == agent else f"pushed aside by agent {pusher}")
    if not is_away(state, agent) or (path and since < tick and plans.cell[agent, tick - 1 - since] != here):
        return Intent(path)
    if plans.why[agent] == UNSERVED or planned.size == 0:
        return Intent(path, reason="its turn to plan has not come yet")
    other = met_without_waiting(state, scene.table, scene.manners, agent, planned, int(plans.tails.end[agent]))
    if plans.why[agent] == BOXED_IN:
        return Intent(path, other, "boxed in")
    return Intent(path, other, KEEPS_TO_ITS_PLAN if other == NO_AGENT else LETS_PASS)
