# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A tick of WHCA*, phase by phase. whca.py says what it is for.

    begin_tick      the table of reservations shows where all agents are
    set_courses     who is rough (rough.py)
    progress_phase  who is home, and who came nearer to its goal
    line_up         who plans in this tick, and in which order
    replan_phase    they plan
    extend_phase    those that were pushed plan on from where they will stand
    refine_phase, learn_phase, step_phase       what rough agents do (rough.py)
    settle_phase    where all agents want to be next
    grant           the guard stops those that would collide (search/execution.py)
"""

from __future__ import annotations

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.allowance import allow
from wend.planners.courses import learn_phase
from wend.planners.windowed.plans import (
    BOXED_IN,
    PUSHED,
    TOO_FAR,
    UNSERVED,
    call_back,
    drop_plan,
    sort_by_age,
    stand,
    take_plan,
)
from wend.planners.windowed.pushing import STABLE_TICKS, is_stuck, push_from
from wend.planners.windowed.rough import refine_phase, set_courses, step_phase
from wend.search import space_time
from wend.search.execution import grant
from wend.search.pibt import fix, forget_decisions
from wend.search.reservations import expire, other_at
from wend.search.reverse_resumable import carry_on, known_distance
from wend.search.space_time import make_trip

DONE = 0
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
def progress_phase(setting):
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
                plans.nearest[agent] = TOO_FAR
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
    """Give all agents in line a new plan; answer DONE, or why it stopped.

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
            return DONE
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
    """Plan on for the agents that were pushed, from where they will stand; answer DONE, or why it stopped.

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
    return DONE


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
def _begin(setting, tick, steps, next_cell):
    """Begin a tick, unless it was begun in an earlier call. Mutates: setting."""
    counts = setting.lineup.counts[0]
    if counts.stage == _BEGIN:
        begin_tick(setting, tick, steps, next_cell)
        carry_on(setting.scene.reverse)
        set_courses(setting)
        progress_phase(setting)
        line_up(setting)
        counts.stage = _REPLAN


@jit
def _plan(setting, limit):
    """Let agents plan within `limit` expansions: DONE, or why it stopped. Mutates: setting."""
    counts = setting.lineup.counts[0]
    allow(setting.scene.reverse.allowance, limit)
    if counts.stage == _REPLAN:
        answer = replan_phase(setting)
        if answer != DONE:
            return answer
        counts.stage = _EXTEND
    if counts.stage == _EXTEND and setting.habits.pushes:
        answer = extend_phase(setting)
        if answer != DONE:
            return answer
    counts.stage = _REFINE
    return DONE


@jit
def _finish(setting, next_cell, waits_for):
    """Say where all agents go. Mutates: setting, next_cell, waits_for."""
    settle_phase(setting)
    counts, wanted = setting.lineup.counts[0], setting.lineup.wanted
    counts.stopped_by_guard += grant(setting.agents, setting.occupant, wanted, setting.guard, next_cell, waits_for)
    counts.stage = _BEGIN


@jit
def make_tick(setting, tick, steps, limit, next_cell, waits_for):
    """All of one tick within `limit` expansions, planning so many steps ahead: DONE, or why to call again.

    Called again with another limit, it goes on where it stopped; with none, it makes do with what there is.
    Mutates: setting, next_cell, waits_for.
    """
    _begin(setting, tick, steps, next_cell)
    if limit > 0:
        answer = _plan(setting, limit)
        if answer != DONE:
            return answer
    _finish(setting, next_cell, waits_for)
    return DONE


@jit
def make_tick_with_rough_steps(setting, tick, steps, limit, next_cell, waits_for):
    """As `make_tick`; agents whose distances or plans the limit does not allow for make rough steps.

    It is a kernel of its own, since without a budget there is no need to compile all that. Mutates: as `make_tick`.
    """
    _begin(setting, tick, steps, next_cell)
    if limit > 0:
        answer = _plan(setting, limit)
        if answer == DONE:
            answer = refine_phase(setting, False)
        if answer != DONE:
            return answer
    if learn_phase(setting.tables, setting.agents, setting.courses, setting.learned) == OUT_OF_SPACE:
        return OUT_OF_SPACE
    step_phase(setting)
    _finish(setting, next_cell, waits_for)
    return DONE


@jit
def think_ahead(setting, limit):
    """Find distances within `limit` expansions: DONE, or why it stopped. Mutates: setting.scene.reverse, courses."""
    allow(setting.scene.reverse.allowance, limit)
    return refine_phase(setting, True)


TICKS = (make_tick, make_tick_with_rough_steps)     # by whether agents make rough steps
