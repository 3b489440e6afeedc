# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A push: one step of PIBT (search/pibt.py) for a single agent, in the midst of others that follow their plans.

Cells are ranked by their distance to the agent's goal; among equals, cells where no agent stands come first, then
chance decides. An agent that has to exchange places with the one ahead of it goes back and takes that one along until
the corridor branches; an agent that is pushed goes back if it would only block its pusher further on.

Deviations from PIBT
- Only agents that are younger than the root are pushed: those that left home later, or have come home for good.
- The root does not stay: where that is its best cell, there is no push.
- A push moves either all agents of its chain or none. What was decided in failed tries does not stand.
- Swaps are only looked for between the root and the agent ahead of it, and between an agent and its pusher.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, jit, scramble
from wend.maps.terrain import GridTables
from wend.planners.base import Agents
from wend.planners.windowed.plans import PUSHED, call_back, drop_plan, take_plan
from wend.search.pibt import decide, offer, should_swap, turn_round, undo
from wend.search.real_time import Learned, heuristic
from wend.search.reverse_resumable import Reverse, distance

STABLE_TICKS = 8        # an agent that has stood on its goal for so many ticks has come home for good


class PushScene(NamedTuple):
    """What a push looks at: little, because it is passed from kernel to kernel."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]   the agent that stands there, or NO_AGENT
    reverse: Reverse
    search_of: np.ndarray   # int32[agents]  the agent's search in `reverse`
    is_rough: np.ndarray    # bool[agents]   as in Courses
    learned: Learned
    left_home: np.ndarray   # int32[agents]  as in WindowPlans
    home_ticks: np.ndarray  # int32[agents]  as in WindowPlans
    tick: int
    seed: int


@jit
def _far(crowd, agent, cell):
    """The distance from a cell to an agent's goal, or why it is not known. Mutates: crowd.reverse."""
    if crowd.is_rough[agent]:
        width, goal = crowd.tables.width, crowd.agents.goal[agent]
        x, y, goal_x, goal_y = cell % width, cell // width, goal % width, goal // width
        return heuristic(crowd.tables, crowd.learned, agent, x, y, goal_x, goal_y)
    return distance(crowd.tables, crowd.reverse, crowd.search_of[agent], cell)


@jit
def _rank(crowd, decisions, depth):
    """List an agent's next cells, nearest to its goal first. Mutates: decisions, crowd.reverse."""
    if decisions.asked[depth] > 0:
        return 0
    tables, occupant, seed, tick = crowd.tables, crowd.occupant, crowd.seed, crowd.tick
    agent = decisions.chain[depth]
    here = crowd.agents.cell[agent]
    for d in range(9):                                          # the ninth is to stay
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d < 8 else here
        far = _far(crowd, agent, there)
        if far < 0:
            return far
        is_busy = occupant[there] != NO_AGENT and occupant[there] != agent
        key = (far << 1 | is_busy) << 8 | (scramble(seed ^ scramble(tick * 9 + d) ^ agent) & 255)
        offer(decisions, depth, there, key)
    answer = _look_for_swap(crowd, decisions, depth)
    if answer == 1:
        turn_round(decisions, depth)
    if depth == 0:
        for k in range(decisions.options[0]):
            if decisions.option[0, k] == here:
                decisions.options[0] = k
                break
    return min(answer, 0)


@jit
def _look_for_swap(crowd, decisions, depth):
    """Whether an agent has to go back: 1, 0, or why that is not known. Mutates: decisions, crowd.reverse."""
    agents = crowd.agents
    agent, best = decisions.chain[depth], decisions.option[depth, 0]
    here, other = agents.cell[agent], crowd.occupant[best]
    if best == here:
        return 0
    if depth > 0:
        return should_swap(crowd, _far, decisions.chain[depth - 1], here, agent, best)
    if other == NO_AGENT or not agents.controlled[other]:
        return 0
    answer = should_swap(crowd, _far, agent, here, other, best)
    if answer == 1:
        decisions.partner[depth] = other
    return answer


@jit
def _may_push(crowd, root, other):
    """Whether an agent may be pushed for the sake of the root."""
    agents, left_home = crowd.agents, crowd.left_home
    if agents.pinned[other] and agents.cell[other] == agents.goal[other]:
        return False
    return left_home[other] >= left_home[root] or crowd.home_ticks[other] >= STABLE_TICKS


@jit
def is_stuck(plans, habits, agent, tick):
    """Whether an agent pushes: when it has not come nearer to its goal for a while, then by fits and starts.

    Two agents that push each other to and fro would do so for ever; so each spell of `patience` ticks is one of pushing
    or of planning, drawn by lot for each agent.
    """
    spells = (tick - plans.nearer_at[agent]) // habits.patience
    if plans.home_ticks[agent] > 0 or spells == 0:
        return False
    return spells == 1 or scramble(habits.seed ^ scramble(agent) ^ scramble(spells)) & 1 == 0


@jit
def push_from(setting, root):
    """Let an agent push its way one step ahead, and enter who goes where: 1, 0, or why that is not known yet.

    Mutates: setting.scene.table, scene.reverse, plans, lineup, decisions.
    """
    plans, table, decisions = setting.plans, setting.scene.table, setting.decisions
    counts, decided = setting.lineup.counts[0], decisions.counts[0]
    begun = decided.decided
    crowd = PushScene(
        setting.tables, setting.agents, setting.occupant, setting.scene.reverse, setting.search_of,
        setting.courses.is_rough, setting.learned, plans.left_home, plans.home_ticks, counts.tick, setting.habits.seed,
    )  # fmt: skip
    answer = decide(decisions, crowd, root, _rank, _may_push)
    if answer != 1:
        undo(decisions, begun, decided.decided)
        return answer
    undo(decisions, begun, decided.movers)
    counts.pushes += 1
    for k in range(begun, decided.decided):
        drop_plan(table, plans, decisions.trail[k], counts.tick)
    for k in range(begun, decided.decided):
        agent = decisions.trail[k]
        there = decisions.target[agent]
        plans.cell[agent, 0], plans.cell[agent, 1] = setting.agents.cell[agent], there
        call_back(setting, agent, there, counts.tick + 1)
        take_plan(table, plans, agent, 1, counts.tick)
        plans.why[agent], plans.pushed_by[agent] = PUSHED, root
        plans.due[agent] = True                             # its plan is one step long
    return 1
