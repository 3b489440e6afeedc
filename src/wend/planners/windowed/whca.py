# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""WHCA*: cooperative planning in a window that moves along with time. And Weave, which adds what jams need.

David Silver: Cooperative Pathfinding. AIIDE 2005, section "Windowed Hierarchical Cooperative A*".

Every agent plans `window` steps ahead around the reservations of the others, follows half of them, and plans again; the
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
- No reservation lasts beyond the window. With a hold on the last cell nobody ever plans through a parked agent, and
  jams are permanent.
- With an abstraction, the distance is that between the groups, and as on an empty map only within the goal's own group.
  The larger of the two everywhere, which keeps the estimate admissible where the abstraction is coarse, leads agents
  that move in four directions into every dead end: Manhattan distance then outweighs what the abstraction knows.
- An agent without any way of `window` steps is boxed in. It stays where it is and reserves that (`boxed_in = "stand"`),
  and whoever planned to pass there plans again at once. The paper does not say what happens then.
- With a budget too small for a whole window, shorter windows are searched; who cannot be served keeps its old plan, or
  stands.

Weave (`boxed_in = "push"`, `order = "age"`, `soft_tail = 1`) differs in three ways, each an option of its own:
- A step onto the last planned cell of another agent, after its plan ends, costs one more (`soft_tail`).
- Who has been away from home the longest plans first (`order = "age"`).
- An agent that is boxed in, or has not come nearer to its goal for `patience` ticks, pushes younger agents out of its
  way, and they push others (planners/push.py). Where two agents in a corridor can only go on if they change places, the
  one that pushes goes back and takes the other along until the corridor branches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit, scramble
from wend.kernel.allowance import allow, spent
from wend.planners.base import Budget, Planner, Proposal, State, parameter
from wend.planners.push import STABLE_TICKS, begin_pushes, claim, find_push, make_push, pushed
from wend.planners.windowed.abstraction import NO_GROUP, AbstractDistances, abstract
from wend.search import reservations, space_time
from wend.search.execution import grant, make_guard
from wend.search.reservations import expire, other_at, release_way, reserve_way
from wend.search.reverse_resumable import SharedSearches, distance
from wend.search.space_time import Scene, Tails, make_trip

_DONE = 0
_FAR = 2**62


class Habits(NamedTuple):
    """A planner's parameters as kernels see them."""

    window: int
    seed: int
    patience: int
    pushes: bool            # boxed_in = "push"
    by_age: bool            # order = "age"


class Plans(NamedTuple):
    """What every agent is about to do."""

    way: np.ndarray         # int32[agents, window + 1]  cells, one per tick
    steps: np.ndarray       # int32[agents]     moves in the way; -1 when it has none
    since: np.ndarray       # int32[agents]     tick after which the agent stood on the first cell
    end: np.ndarray         # int32[agents]     tick after which it stands on the last
    tail: np.ndarray        # int32[cells]      agent whose way ends there, or NO_AGENT
    due: np.ndarray         # bool[agents]      must plan anew as soon as can be
    under_way: np.ndarray   # bool[agents]      has found a way since it was ordered
    ready: np.ndarray       # bool[agents]      the distances to its goal can be had
    home_ticks: np.ndarray  # int32[agents]     ticks that it has stood on its goal without a break
    left_home: np.ndarray   # int32[agents]     tick when it last stood there for good, or was ordered
    nearest: np.ndarray     # int64[agents]     smallest distance to the goal since then
    nearer_at: np.ndarray   # int32[agents]     tick when that got smaller


class Turn(NamedTuple):
    """The work of one tick."""

    line: np.ndarray        # int32[agents]     who plans, in order
    urgent: np.ndarray      # int32[agents]     a stack: who must plan first, because others took its way
    is_urgent: np.ndarray   # bool[agents]      is on that stack
    wanted: np.ndarray      # int32[agents]     where it wants to be next
    tally: np.ndarray       # int64[9]          see below


# Turn.tally holds
_STAGE = 0      # what is to be done next, see below
_LINE = 1       # agents in line
_PLACE = 2      # ... and how many of them are done with
_URGENT = 3     # agents on the stack
_SEARCHES = 4   # searches so far that found a way
_REPATHS = 5    # ... by agents that were under way and had to plan anew, not just in their turn
_BOXED = 6      # searches so far that found none
_PUSHES = 7     # pushes so far
_STOPPED = 8    # agents so far that the guard stopped

_BEGIN, _REPLAN, _EXTEND = 0, 1, 2


@jit
def take_way(table, plans, agent, steps, since):
    """Enter plans.way[agent] into the table. Mutates: table, plans."""
    plans.steps[agent], plans.since[agent], plans.end[agent] = steps, since, since + steps
    plans.tail[plans.way[agent, steps]] = agent
    reserve_way(table, plans.way[agent], since, steps, agent)


@jit
def drop_way(table, plans, agent, tick):
    """Take an agent's way out of the table. Mutates: table, plans."""
    if plans.steps[agent] >= 0:
        last = plans.way[agent, plans.steps[agent]]
        if plans.tail[last] == agent:
            plans.tail[last] = NO_AGENT
        release_way(table, plans.way[agent], plans.since[agent], plans.steps[agent], agent, tick)
        plans.steps[agent] = -1


@jit
def stand(table, plans, agent, cell, tick, steps):
    """Let an agent stay where it is for so many ticks. Mutates: table, plans."""
    drop_way(table, plans, agent, tick)
    for k in range(steps + 1):
        plans.way[agent, k] = cell
    take_way(table, plans, agent, steps, tick)


@jit
def call_back(table, plans, turn, push, agents, cell, time, agent, tick):
    """Take its way from whoever else has a cell at a time; it plans anew before anybody else does.

    Mutates: table, plans, turn.
    """
    other = other_at(table, cell, time, agent)
    if other == NO_AGENT or not agents.controlled[other] or push.fixed[other] or turn.is_urgent[other]:
        return
    stand(table, plans, other, agents.cell[other], tick, 0)
    plans.due[other] = True
    turn.is_urgent[other] = True
    turn.urgent[turn.tally[_URGENT]] = other
    turn.tally[_URGENT] += 1


@jit
def push_from(tables, agents, occupant, table, plans, turn, push, reverse, search_of, habits, tick, next_cell, agent):
    """Let an agent push its way a step ahead, and enter who goes where. Mutates: table, plans, turn, push, reverse."""
    answer = find_push(tables, agents, occupant, plans, push, reverse, search_of, tick, habits.seed, next_cell, agent)
    if answer != 1:
        return answer
    turn.tally[_PUSHES] += 1
    for k in range(pushed(push)):
        drop_way(table, plans, push.moved[k], tick)
    for k in range(pushed(push)):
        moved = push.moved[k]
        plans.way[moved, 0], plans.way[moved, 1] = agents.cell[moved], push.target[k]
        claim(push, moved, push.target[k])
        call_back(table, plans, turn, push, agents, push.target[k], tick + 1, moved, tick)
        take_way(table, plans, moved, 1, tick)
        plans.due[moved] = True                             # its way is one step long
    return 1


@jit
def can_stay_home(agents, table, plans, manners, agent, tick, steps):
    """Whether an agent is on its goal and nobody wants to pass there: then to stay is what the search would find."""
    cell = agents.cell[agent]
    if cell != agents.goal[agent]:
        return False
    if manners.soft_tail > 0 and plans.tail[cell] != NO_AGENT and plans.tail[cell] != agent:
        return False
    for k in range(1, steps + 1):
        if other_at(table, cell, tick + k, agent) != NO_AGENT:
            return False
    return True


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
def begin_tick(agents, table, plans, turn, push, habits, tick, next_cell):
    """Clear the last tick's decisions, and let the table show where everybody is. Mutates: table, plans, turn, push."""
    for k in range(turn.tally[_URGENT]):
        turn.is_urgent[turn.urgent[k]] = False
    turn.tally[_URGENT] = 0
    begin_pushes(push)
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if cell == NO_CELL:
            continue
        expire(table, plans.way[agent], plans.since[agent], plans.steps[agent], agent, tick)
        if not agents.controlled[agent]:                    # it goes where the program says, and is taken to stay there
            drop_way(table, plans, agent, tick)
            plans.way[agent, 0] = cell
            for k in range(1, habits.window + 1):
                plans.way[agent, k] = next_cell[agent]
            take_way(table, plans, agent, habits.window, tick)
        elif plans.steps[agent] < 0 or plans.end[agent] < tick or plans.way[agent, tick - plans.since[agent]] != cell:
            stand(table, plans, agent, cell, tick, 0)       # it is new, or was stopped
            plans.due[agent] = True
        elif agents.pinned[agent] and cell == agents.goal[agent]:
            for k in range(tick - plans.since[agent], plans.steps[agent] + 1):
                if plans.way[agent, k] != cell:             # it has come home on a way that leads on
                    plans.due[agent] = True


@jit
def look_phase(tables, agents, plans, reverse, search_of, habits, tick):
    """Note who is home, and who came nearer to its goal. Mutates: plans, reverse."""
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
        if habits.pushes:                                   # otherwise nobody asks
            far = distance(tables, reverse, search_of[agent], cell)
            if 0 <= far < plans.nearest[agent]:
                plans.nearest[agent] = far
                plans.nearer_at[agent] = tick


@jit
def is_before(plans, a, b):
    """Whether an agent has been away from home for longer than another."""
    return plans.left_home[a] < plans.left_home[b] or (plans.left_home[a] == plans.left_home[b] and a < b)


@jit
def line_up(agents, plans, turn, habits, tick):
    """Say who plans in this tick, and in which order: whoever is due, and by turns half a window's share of all.

    Mutates: turn.
    """
    line, count, size = turn.line, agents.cell.size, 0
    half = max(1, habits.window // 2)
    for k in range(count):
        agent = k if habits.by_age else (tick + k) % count
        if agents.cell[agent] == NO_CELL or not agents.controlled[agent] or not plans.ready[agent]:
            continue
        waits = habits.pushes and plans.home_ticks[agent] == 0 and tick - plans.nearer_at[agent] >= habits.patience
        if plans.due[agent] or waits or (tick + agent) % half == 0:
            line[size] = agent
            size += 1
    gap = size if habits.by_age else 1
    while gap > 1:                                          # Shell sort: oldest first
        gap = max(gap * 4 // 9, 1)
        for k in range(gap, size):
            agent, place = line[k], k
            while place >= gap and is_before(plans, agent, line[place - gap]):
                line[place] = line[place - gap]
                place -= gap
            line[place] = agent
    turn.tally[_LINE], turn.tally[_PLACE] = size, 0


@jit
def replan(
    tables, agents, occupant, table, plans, turn, push, reverse, search_of, aim_of, work, manners, habits, steps, tick,
    next_cell, agent,
):  # fmt: skip
    """Give an agent a new way: 1 if it has one, 0 if it stays where it is, or why that is not known yet.

    Mutates: table, plans, turn, push, reverse, work.
    """
    cell, goal = agents.cell[agent], agents.goal[agent]
    if habits.pushes and is_stuck(plans, habits, agent, tick):
        answer = push_from(
            tables, agents, occupant, table, plans, turn, push, reverse, search_of, habits, tick, next_cell, agent
        )
        if answer != 0:
            return answer
    if agents.pinned[agent] and cell == goal:
        return 0
    if can_stay_home(agents, table, plans, manners, agent, tick, steps):
        stand(table, plans, agent, cell, tick, steps)
        plans.due[agent] = False
        return 1
    scene = Scene(tables, table, Tails(plans.tail, plans.end), reverse, work, manners)
    answer = space_time.search(scene, make_trip(agent, cell, tick, goal, aim_of[agent], steps))
    if answer == OUT_OF_SPACE or answer == OUT_OF_BUDGET:
        return answer
    if answer == FOUND:
        drop_way(table, plans, agent, tick)
        space_time.write_cells(work, plans.way[agent])
        take_way(table, plans, agent, steps, tick)
        turn.tally[_SEARCHES] += 1
        turn.tally[_REPATHS] += plans.due[agent] and plans.under_way[agent]
        plans.due[agent], plans.under_way[agent] = False, True
        return 1
    turn.tally[_BOXED] += 1
    if not habits.pushes:
        return 0
    return push_from(
        tables, agents, occupant, table, plans, turn, push, reverse, search_of, habits, tick, next_cell, agent
    )


@jit
def replan_phase(
    tables, agents, occupant, table, plans, turn, push, reverse, search_of, aim_of, work, manners, habits, steps, tick,
    next_cell,
):  # fmt: skip
    """Give everybody in line a new way; answer _DONE, or why it stopped.

    Mutates: table, plans, turn, push, reverse, work.
    """
    tally, window = turn.tally, habits.window
    while True:
        if tally[_URGENT] > 0:
            agent = turn.urgent[tally[_URGENT] - 1]
        elif tally[_PLACE] < tally[_LINE]:
            agent = turn.line[tally[_PLACE]]
        else:
            return _DONE
        if not push.fixed[agent]:
            answer = replan(
                tables, agents, occupant, table, plans, turn, push, reverse, search_of, aim_of, work, manners, habits,
                steps, tick, next_cell, agent,
            )  # fmt: skip
            if answer < 0:
                return answer
            if answer == 0:                                 # it cannot or must not go: everybody else makes way for it
                cell = agents.cell[agent]
                for k in range(1, window + 1):
                    call_back(table, plans, turn, push, agents, cell, tick + k, agent, tick)
                stand(table, plans, agent, cell, tick, window)
                claim(push, agent, cell)
                push.fixed[agent] = True
                plans.due[agent] = True
        # Done with this one; it may stand anywhere in the stack by now, if others were called back.
        if turn.is_urgent[agent]:
            turn.is_urgent[agent] = False
            k = 0
            while turn.urgent[k] != agent:
                k += 1
            for j in range(k, tally[_URGENT] - 1):
                turn.urgent[j] = turn.urgent[j + 1]
            tally[_URGENT] -= 1
        else:
            tally[_PLACE] += 1


@jit
def extend_phase(tables, agents, table, plans, push, reverse, aim_of, work, manners, steps, tick):
    """Plan on for whoever was pushed, from where it will stand. Mutates: table, plans, reverse, work."""
    for agent in range(agents.cell.size):
        if push.fixed[agent] and plans.steps[agent] == 1 and plans.since[agent] == tick and steps > 1:
            there = plans.way[agent, 1]
            scene = Scene(tables, table, Tails(plans.tail, plans.end), reverse, work, manners)
            trip = make_trip(agent, there, tick + 1, agents.goal[agent], aim_of[agent], steps - 1)
            answer = space_time.search(scene, trip)
            if answer == OUT_OF_SPACE or answer == OUT_OF_BUDGET:
                return answer
            if answer == FOUND:
                here = agents.cell[agent]
                drop_way(table, plans, agent, tick)
                space_time.write_cells(work, plans.way[agent, 1:])
                plans.way[agent, 0] = here
                take_way(table, plans, agent, steps, tick)
                plans.due[agent] = False
    return _DONE


@jit
def settle_phase(agents, table, plans, tick, window, wanted):
    """Say where everybody wants to be next; who has no way that far stands. Mutates: table, plans, wanted."""
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        wanted[agent] = cell
        if cell == NO_CELL or not agents.controlled[agent]:
            continue
        if plans.end[agent] <= tick:
            stand(table, plans, agent, cell, tick, window)
            plans.due[agent] = True
        if not (agents.pinned[agent] and cell == agents.goal[agent]):
            wanted[agent] = plans.way[agent, tick + 1 - plans.since[agent]]


@jit
def make_tick(
    tables, agents, occupant, table, plans, turn, push, reverse, search_of, aim_of, work, manners, habits, guard, tick,
    steps, limit, next_cell, waits_for,
):  # fmt: skip
    """All of one tick within `limit` expansions: _DONE, or why to call again.

    Called again with another limit, it goes on where it stopped; with none, it makes do with what there is.
    Mutates: table, plans, turn, push, reverse, work, guard, next_cell, waits_for.
    """
    tally = turn.tally
    if tally[_STAGE] == _BEGIN:
        begin_tick(agents, table, plans, turn, push, habits, tick, next_cell)
        allow(reverse.allowance, 0)
        look_phase(tables, agents, plans, reverse, search_of, habits, tick)
        line_up(agents, plans, turn, habits, tick)
        tally[_STAGE] = _REPLAN
    if limit > 0:
        allow(reverse.allowance, limit)
        if tally[_STAGE] == _REPLAN:
            answer = replan_phase(
                tables, agents, occupant, table, plans, turn, push, reverse, search_of, aim_of, work, manners, habits,
                steps, tick, next_cell,
            )  # fmt: skip
            if answer != _DONE:
                return answer
            tally[_STAGE] = _EXTEND
        if habits.pushes:
            answer = extend_phase(tables, agents, table, plans, push, reverse, aim_of, work, manners, steps, tick)
            if answer != _DONE:
                return answer
    settle_phase(agents, table, plans, tick, habits.window, turn.wanted)
    tally[_STOPPED] += grant(agents, occupant, turn.wanted, guard, next_cell, waits_for)
    tally[_STAGE] = _BEGIN
    return _DONE


@jit
def recall_cut_ways(tables, agents, table, plans, tick):
    """Take the ways that an edit of the map made illegal from their agents. Mutates: table, plans."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] == NO_CELL or plans.steps[agent] < 0:
            continue
        if not reservations.is_walkable(tables, plans.way[agent, : plans.steps[agent] + 1]):
            stand(table, plans, agent, agents.cell[agent], tick, 0)
            plans.due[agent] = True


@dataclass
class Windowed(Planner):
    """WHCA*, and Weave."""

    window: int = parameter(16, "steps that are planned ahead", minimum=1, maximum=256)
    abstraction: int = parameter(0, "level of the clique abstraction for distances; 0 = exact", minimum=0, maximum=8)
    order: str = parameter("rotate", "who plans first: by turns, or who is longest away", choices=("rotate", "age"))
    boxed_in: str = parameter("stand", "what an agent without a way does", choices=("stand", "push"))
    soft_tail: int = parameter(0, "cost of a step onto the last planned cell of another", minimum=0, maximum=1000)
    patience: int = parameter(16, "ticks without coming nearer after which an agent pushes", minimum=1)
    no_follow: bool = parameter(False, "a reserved cell stays so while it is being left, as in Silver's table")
    forbid_cross: bool = parameter(False, "no two diagonal moves cross")

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._table = reservations.make_reservations(cells, self.window + 2)
        self._distances = SharedSearches(state.grid)
        self._work = space_time.make_space_time(_states(self.window, cells))
        self._manners = space_time.Manners(True, True, self.no_follow, self.forbid_cross, self.soft_tail)
        self._habits = Habits(self.window, seed, self.patience, self.boxed_in == "push", self.order == "age")
        self._abstract: AbstractDistances | None = None
        self._rows = np.empty(0, np.int32)
        self._tally = np.zeros(9, np.int64)
        none, no = np.zeros(0, np.int32), np.zeros(0, np.bool_)
        self._plans = Plans(
            np.zeros((0, self.window + 1), np.int32), none, none, none, np.full(cells, NO_AGENT, np.int32),
            no, no, no, none, none, np.zeros(0, np.int64), none,
        )  # fmt: skip
        self._make_room(64)
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def _make_room(self, agents: int) -> None:
        """Arrays for so many agents and more."""
        have, cells = len(self._plans.way), self.state.grid.size
        if agents <= have:
            return
        more = max(agents - have, have)
        grown = [np.pad(array, [(0, more)] + [(0, 0)] * (array.ndim - 1)) for array in self._plans]
        self._plans = Plans(*grown)._replace(tail=self._plans.tail)
        room = have + more
        self._rows = np.pad(self._rows, (0, more), constant_values=-1)
        ints = np.zeros((3, room), np.int32)
        self._turn = Turn(ints[0], ints[1], np.zeros(room, np.bool_), ints[2], self._tally)
        self._push = make_push(room, cells)
        self._guard = make_guard(room, cells)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, distances = self.state, self._distances
        aim = self._look_up_abstract(budget) if self.abstraction else distances.of
        limit = budget.slice()
        steps = self.window if limit >= 4 * self.window else max(1, limit // 4)
        while True:
            before = spent(distances.reverse.allowance)
            answer = make_tick(
                state.grid.tables, state.agents, state.occupant, self._table, self._plans, self._turn, self._push,
                distances.reverse, distances.of, aim, self._work, self._manners, self._habits, self._guard, state.tick,
                steps, limit, *proposal,
            )  # fmt: skip
            budget.spend(spent(distances.reverse.allowance) - before)
            if answer == _DONE:
                return
            if answer == OUT_OF_SPACE:
                distances.grow()
            limit = budget.slice()

    def _look_up_abstract(self, budget: Budget) -> NDArray[np.int32]:
        """Fill in the abstract distances that are wanted; agents whose distances are not ready do not plan yet."""
        if self._abstract is None:
            self._abstraction = abstract(self.state.grid, self.abstraction)
            self._abstract = AbstractDistances(self._abstraction)
            self._rows = np.full(len(self._plans.way), -1, np.int32)
        agents, rows = self.state.agents, self._rows[: self.state.agents.cell.size]
        has_goal = self._abstraction.group[agents.goal] != NO_GROUP     # an agent of the program may have it in a wall
        for agent in np.flatnonzero((rows < 0) & (agents.cell != NO_CELL) & has_goal).tolist():
            rows[agent] = self._abstract.acquire(int(agents.goal[agent]))
        budget.spend(self._abstract.run(budget.slice()))
        self._manners = self._manners._replace(far=self._abstract.table, group=self._abstraction.group)
        self._plans.ready[: rows.size] = False
        self._plans.ready[np.flatnonzero(rows >= 0)] = self._abstract.is_ready[rows[rows >= 0]]
        return self._rows

    def counters(self) -> dict[str, int]:
        names = ("searches", "repaths", "boxed_in", "pushes", "stopped_by_guard")
        return dict(zip(names, self._tally[_SEARCHES:].tolist(), strict=True))

    def agent_added(self, agent: int) -> None:
        self._make_room(agent + 1)
        self._plans.steps[agent] = -1
        self._aim(agent)

    def agent_removed(self, agent: int) -> None:
        drop_way(self._table, self._plans, agent, self.state.tick)
        self._distances.drop(agent)
        self._drop_row(agent)

    def _drop_row(self, agent: int) -> None:
        if self._abstract is not None and self._rows[agent] >= 0:
            self._abstract.release(int(self._rows[agent]))
        self._rows[agent] = -1

    def agent_retasked(self, agent: int) -> None:
        self._aim(agent)

    def _aim(self, agent: int) -> None:
        """Begin anew towards the agent's goal; the way it is on is kept until there is a better one."""
        agents, plans, tick = self.state.agents, self._plans, self.state.tick
        self._distances.aim(agent, int(agents.goal[agent]), int(agents.cell[agent]))
        self._drop_row(agent)
        plans.due[agent] = plans.ready[agent] = True
        plans.under_way[agent] = False
        plans.home_ticks[agent] = 0
        plans.left_home[agent] = plans.nearer_at[agent] = tick
        plans.nearest[agent] = _FAR

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._distances.cells_changed(cells)
        self._abstract = None                               # an abstraction is made anew as a whole
        self._rows[:] = -1
        recall_cut_ways(self.state.grid.tables, self.state.agents, self._table, self._plans, self.state.tick)


def _states(window: int, cells: int) -> int:
    """States of space and time within a window, at the most."""
    return sum(min((2 * k + 1) ** 2, cells) for k in range(window + 1)) + 16
