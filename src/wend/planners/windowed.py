# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""WHCA*: cooperative planning in a window that moves along with time. And Weave, which adds what jams need.

David Silver: Cooperative Pathfinding. AIIDE 2005, section "Windowed Hierarchical Cooperative A*".

Every agent plans `window` steps ahead around the reservations of the others, follows half of them, and plans again; the
distance beyond the window is RRA*'s, which ignores agents. Agents go on planning on their goals, so that they can step
aside, and take turns to plan first.

    paper                                              here
    "partial route", terminal edge, edge costs         search/space_time.py, a window search
    "window is shifted forwards" half-way, staggered   due_agents
    "dynamically vary the agent order"                 due_agents, `order`
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
- An agent that is boxed in, or has not come nearer to its goal for `patience` ticks, takes one step of PIBT (Okumura et
  al., Priority Inheritance with Backtracking, AIJ 2022): it pushes younger agents out of its way, and they push others.
  Where two agents in a corridor can only go on if they change places, the one that pushes goes back and takes the other
  along until the corridor branches (after Okumura, Improving LaCAM, IJCAI 2023).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.planners.base import Budget, Planner, Proposal, State, parameter
from wend.search import reservations, space_time
from wend.search.abstraction import AbstractDistances, abstract
from wend.search.execution import grant, make_guard
from wend.search.kernel import NO_AGENT, NO_CELL, jit, scramble
from wend.search.reservations import expire, other_at, release_way, reserve_way
from wend.search.reverse_resumable import (
    NEEDS_ROOM,
    OUT_OF_BUDGET,
    SharedSearches,
    allow,
    distance,
    expansions_of,
)

_DONE = 0
_STABLE_TICKS = 8           # an agent that stayed on its goal for so long has arrived for good
_FAR = 2**62


class Plans(NamedTuple):
    """What every agent is about to do."""

    way: np.ndarray         # int32[agents, window + 1]  cells, one per tick
    steps: np.ndarray       # int32[agents]     moves in the way
    since: np.ndarray       # int32[agents]     tick after which the agent stood on the first cell
    end: np.ndarray         # int32[agents]     tick after which it stands on the last
    tail: np.ndarray        # int32[cells]      agent whose way ends there, or NO_AGENT
    due: np.ndarray         # bool[agents]      must plan anew as soon as can be
    home_ticks: np.ndarray  # int32[agents]     ticks that it has stood on its goal without a break
    left_home: np.ndarray   # int32[agents]     tick when it last stood there for good, or was ordered
    nearest: np.ndarray     # int64[agents]     smallest distance to the goal since then
    nearer_at: np.ndarray   # int32[agents]     tick when that got smaller


class Turn(NamedTuple):
    """The work of one tick."""

    line: np.ndarray        # int32[agents]     who plans, in order
    urgent: np.ndarray      # int32[agents]     a stack: who must plan first, because others took its way
    is_urgent: np.ndarray   # bool[agents]      is on that stack
    fixed: np.ndarray       # bool[agents]      has been given its next step in this tick, and keeps it
    taken: np.ndarray       # int32[cells]      agent that a push moves there in this tick, or NO_AGENT
    pushed: np.ndarray      # int32[agents]     who was decided by the push at hand,
    target: np.ndarray      # int32[agents]     ... and where it goes
    claimed: np.ndarray     # int32[agents]     the cells that are in `taken`
    follower: np.ndarray    # int32[1]          agent that changes places with the one that pushes, or NO_AGENT
    option: np.ndarray      # int32[depth, 9]   the push's choices, best first
    option_key: np.ndarray  # int64[depth, 9]   ... and by what they are ordered
    options: np.ndarray     # int32[depth]      how many there are,
    tried: np.ndarray       # int32[depth]      ... and how many were tried; -1 when they are not listed yet
    tally: np.ndarray       # int64[8]          see below


# Turn.tally holds
_LINE, _PLACE, _URGENT, _PUSHED, _CLAIMED, _BOXED, _PUSHES, _REPATHS = range(8)


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
def call_back(table, plans, turn, agents, agent, tick):
    """Take an agent's way from it; it plans anew before anybody else does. Mutates: table, plans, turn."""
    if not agents.controlled[agent] or turn.fixed[agent] or turn.is_urgent[agent]:
        return
    stand(table, plans, agent, agents.cell[agent], tick, 0)
    plans.due[agent] = True
    turn.is_urgent[agent] = True
    turn.urgent[turn.tally[_URGENT]] = agent
    turn.tally[_URGENT] += 1


@jit
def call_back_from(table, plans, turn, agents, cell, time, agent, tick):
    """Call back whoever else has a cell at a time. Mutates: table, plans, turn."""
    other = other_at(table, cell, time, agent)
    if other != NO_AGENT:
        call_back(table, plans, turn, agents, other, tick)


@jit
def list_options(tables, agents, occupant, turn, reverse, search, tick, seed, agent, depth):
    """Sort an agent's next cells by their distance to its goal; return 0, or as `distance` does.

    Mutates: turn, reverse.
    """
    here = agents.cell[agent]
    count = 0
    for d in range(9):                                          # the ninth is to stay
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d < 8 else here
        far = distance(tables, reverse, search, there)
        if far < 0:
            return far
        busy = occupant[there] != NO_AGENT and occupant[there] != agent
        key = (far << 1 | busy) << 8 | (scramble(seed ^ scramble(tick * 9 + d) ^ agent) & 255)
        k = count
        while k > 0 and turn.option_key[depth, k - 1] > key:
            turn.option_key[depth, k], turn.option[depth, k] = turn.option_key[depth, k - 1], turn.option[depth, k - 1]
            k -= 1
        turn.option_key[depth, k], turn.option[depth, k] = key, there
        count += 1
    turn.options[depth] = count
    return 0


@jit
def way_on(tables, occupant, pusher, cell, back):
    """The one cell that leads on from a cell when `back` is behind: NO_CELL in a dead end, -2 where there is a choice.

    A dead end of one cell leads nowhere if there is an agent in it, other than the one that pushes and so leaves it.
    """
    onward = NO_CELL
    for d in range(8):
        if not tables.moves[cell] >> d & 1:
            continue
        beside = cell + tables.offset[d]
        if beside == back:
            continue
        exits = tables.moves[beside]
        if exits & (exits - 1) == 0 and occupant[beside] != NO_AGENT and occupant[beside] != pusher:
            continue
        if onward != NO_CELL:
            return -2
        onward = beside
    return onward


@jit
def must_swap(tables, occupant, reverse, search_of, pusher, behind, other, ahead):
    """Whether two agents in a corridor can only go on if they change places: 1, 0, or as `distance` answers.

    `pusher` stands on `behind` and wants past `other` on `ahead`. Follow the corridor until it ends or branches, and
    see who wants to be where. Mutates: reverse.
    """
    while True:
        far_behind = distance(tables, reverse, search_of[pusher], behind)
        far_ahead = distance(tables, reverse, search_of[pusher], ahead)
        if far_behind < 0 or far_ahead < 0:
            return min(far_behind, far_ahead)
        if far_ahead >= far_behind:
            break
        onward = way_on(tables, occupant, pusher, ahead, behind)
        if onward == -2:
            return 0
        if onward == NO_CELL:
            break
        behind, ahead = ahead, onward
    others_behind = distance(tables, reverse, search_of[other], behind)
    others_ahead = distance(tables, reverse, search_of[other], ahead)
    if others_behind < 0 or others_ahead < 0:
        return min(others_behind, others_ahead)
    return 1 if others_behind < others_ahead and (far_behind == 0 or far_ahead < far_behind) else 0


@jit
def can_swap(tables, occupant, pusher, behind, ahead):
    """Whether the corridor branches somewhere behind, so that two agents can change places there."""
    first = behind
    while True:
        onward = way_on(tables, occupant, pusher, behind, ahead)
        if onward == -2:
            return True
        if onward == NO_CELL or onward == first:
            return False
        ahead, behind = behind, onward


@jit
def turn_round(tables, agents, occupant, turn, reverse, search_of, agent, depth):
    """Let an agent prefer to go back, if it must change places with the one ahead, or would block its pusher.

    Returns 1 if it does because of the one ahead, which is then to follow it; 0 if not, or as `distance` does.
    Mutates: turn, reverse.
    """
    here, ahead = agents.cell[agent], turn.option[depth, 0]
    other = occupant[ahead]
    answer = 0
    follows = False
    if depth == 0 and ahead != here and other != NO_AGENT and agents.controlled[other]:
        answer = must_swap(tables, occupant, reverse, search_of, agent, here, other, ahead)
        follows = answer == 1 and can_swap(tables, occupant, agent, here, ahead)
    elif depth > 0 and ahead != here:
        pusher = turn.pushed[depth - 1]
        answer = must_swap(tables, occupant, reverse, search_of, pusher, here, agent, ahead)
        if answer == 1:
            answer = int(can_swap(tables, occupant, pusher, here, ahead))
    if answer < 0:
        return answer
    if follows or (depth > 0 and answer == 1):
        count = turn.options[depth]
        for k in range(count // 2):
            last = count - 1 - k
            turn.option[depth, k], turn.option[depth, last] = turn.option[depth, last], turn.option[depth, k]
    return int(follows)


@jit
def in_the_way(agents, occupant, plans, turn, next_cell, agent, there, root):
    """The agent that must be pushed if `agent` is to go there, NO_AGENT if none, or -2 if it cannot go there."""
    here, other = agents.cell[agent], occupant[there]
    if turn.taken[there] != NO_AGENT:
        return -2
    if other == NO_AGENT or other == agent:
        return NO_AGENT
    if turn.fixed[other]:                                       # it leaves, or the cell would be taken
        return -2 if turn.taken[here] == other else NO_AGENT
    if not agents.controlled[other]:
        return -2 if next_cell[other] == there or next_cell[other] == here else NO_AGENT
    if agents.pinned[other] and agents.cell[other] == agents.goal[other]:
        return -2
    is_older = plans.left_home[other] < plans.left_home[root] and plans.home_ticks[other] < _STABLE_TICKS
    return -2 if is_older else other


@jit
def follow(agents, turn, root):
    """Let the one that the root changes places with follow it into the cell that it leaves. Mutates: turn."""
    other, left = turn.follower[0], agents.cell[root]
    if other != NO_AGENT and not turn.fixed[other] and turn.taken[left] == NO_AGENT and turn.target[0] != left:
        last = turn.tally[_PUSHED]
        turn.pushed[last], turn.target[last] = other, left
        turn.taken[left] = other
        turn.fixed[other] = True
        turn.tally[_PUSHED] += 1


@jit
def push(tables, agents, occupant, plans, turn, reverse, search_of, tick, seed, next_cell, root):
    """One step of PIBT for `root`, depth first: whoever is pushed takes its best free cell, or pushes the next one.

    Answers 1 if everybody found a place (turn.pushed and turn.target tell who goes where), 0 if not, or as `distance`
    does. Mutates: turn, reverse.
    """
    depth = 0
    turn.pushed[0] = root
    turn.tried[0] = -1                                          # its options are not listed yet
    while depth >= 0:
        agent = turn.pushed[depth]
        if turn.tried[depth] == -1:
            answer = list_options(tables, agents, occupant, turn, reverse, search_of[agent], tick, seed, agent, depth)
            if answer >= 0:
                best = turn.option[depth, 0]
                answer = turn_round(tables, agents, occupant, turn, reverse, search_of, agent, depth)
                if depth == 0:
                    turn.follower[0] = occupant[best] if answer == 1 else NO_AGENT
            if answer < 0:
                while depth > 0:                                # undo, to be asked again
                    depth -= 1
                    turn.taken[turn.target[depth]] = NO_AGENT
                    turn.fixed[turn.pushed[depth]] = False
                return answer
            turn.tried[depth] = 0
        pushing = -2
        while pushing == -2 and turn.tried[depth] < turn.options[depth]:
            there = turn.option[depth, turn.tried[depth]]
            turn.tried[depth] += 1
            pushing = in_the_way(agents, occupant, plans, turn, next_cell, agent, there, root)
        if pushing == -2:                                       # no place for it: the one before tries its next cell
            depth -= 1
            if depth >= 0:
                turn.taken[turn.target[depth]] = NO_AGENT
                turn.fixed[turn.pushed[depth]] = False
            continue
        if depth == 0 and there == agents.cell[agent]:          # nothing better than to stay: that is no push
            return 0
        turn.target[depth] = there
        turn.taken[there] = agent
        turn.fixed[agent] = True
        if pushing == NO_AGENT:
            turn.tally[_PUSHED] = depth + 1
            follow(agents, turn, root)
            return 1
        depth += 1
        turn.pushed[depth] = pushing
        turn.tried[depth] = -1
    return 0


@jit
def claim(turn, agent, cell):
    """Give a cell to an agent for this tick. Mutates: turn."""
    turn.taken[cell] = agent
    turn.claimed[turn.tally[_CLAIMED]] = cell
    turn.tally[_CLAIMED] += 1


@jit
def push_from(tables, agents, occupant, table, plans, turn, reverse, search_of, tick, seed, next_cell, agent):
    """Let an agent push its way one step ahead, and enter who goes where. Mutates: table, plans, turn, reverse."""
    answer = push(tables, agents, occupant, plans, turn, reverse, search_of, tick, seed, next_cell, agent)
    if answer != 1:
        return answer
    turn.tally[_PUSHES] += 1
    for k in range(turn.tally[_PUSHED]):
        drop_way(table, plans, turn.pushed[k], tick)
    for k in range(turn.tally[_PUSHED]):
        moved = turn.pushed[k]
        plans.way[moved, 0], plans.way[moved, 1] = agents.cell[moved], turn.target[k]
        claim(turn, moved, turn.target[k])
        call_back_from(table, plans, turn, agents, turn.target[k], tick + 1, moved, tick)
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
def is_stuck(plans, agent, tick, patience, seed):
    """Whether an agent pushes: when it has not come nearer to its goal for a while, then by fits and starts.

    Two agents that push each other to and fro would do so for ever; so each spell of `patience` ticks is one of pushing
    or of planning, drawn by lot for each agent.
    """
    spells = (tick - plans.nearer_at[agent]) // patience
    if plans.home_ticks[agent] > 0 or spells == 0:
        return False
    return spells == 1 or scramble(seed ^ scramble(agent) ^ scramble(spells)) & 1 == 0


@jit
def replan_phase(
    tables, agents, occupant, table, plans, turn, reverse, search_of, aim_of, work, manners, window, steps, tick, seed,
    patience, pushes, next_cell,
):  # fmt: skip
    """Give everybody in line a new way; answer _DONE, or why it stopped. Mutates: table, plans, turn, reverse, work."""
    tally = turn.tally
    while True:
        if tally[_URGENT] > 0:
            agent = turn.urgent[tally[_URGENT] - 1]
        elif tally[_PLACE] < tally[_LINE]:
            agent = turn.line[tally[_PLACE]]
        else:
            return _DONE
        answer = 1
        if not turn.fixed[agent]:
            answer = 0
            is_pinned = agents.pinned[agent] and agents.cell[agent] == agents.goal[agent]
            if pushes and is_stuck(plans, agent, tick, patience, seed):
                answer = push_from(tables, agents, occupant, table, plans, turn, reverse, search_of, tick, seed,
                                   next_cell, agent)  # fmt: skip
            if answer == 0 and not is_pinned and can_stay_home(agents, table, plans, manners, agent, tick, steps):
                stand(table, plans, agent, agents.cell[agent], tick, steps)
                plans.due[agent] = False
                answer = 1
            if answer == 0 and not is_pinned:
                answer = space_time.search(
                    tables, table, (plans.tail, plans.end), reverse, aim_of[agent], work, manners,
                    agent, agents.cell[agent], tick, agents.goal[agent], steps,
                )  # fmt: skip
                if answer == space_time.FOUND:
                    drop_way(table, plans, agent, tick)
                    space_time.write_cells(work, plans.way[agent])
                    take_way(table, plans, agent, steps, tick)
                    plans.due[agent] = False
                    tally[_REPATHS] += 1
                elif answer == space_time.NO_PATH or answer == space_time.TOO_LARGE:
                    tally[_BOXED] += 1
                    answer = 0
                    if pushes:
                        answer = push_from(tables, agents, occupant, table, plans, turn, reverse, search_of, tick, seed,
                                           next_cell, agent)  # fmt: skip
            if answer == 0:                                 # it cannot or must not go: everybody else makes way for it
                for k in range(1, window + 1):
                    call_back_from(table, plans, turn, agents, agents.cell[agent], tick + k, agent, tick)
                stand(table, plans, agent, agents.cell[agent], tick, window)
                claim(turn, agent, agents.cell[agent])
                turn.fixed[agent] = True
                plans.due[agent] = True
        if answer == NEEDS_ROOM or answer == OUT_OF_BUDGET:
            return answer
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
def extend_phase(tables, agents, table, plans, turn, reverse, aim_of, work, manners, steps, tick):
    """Plan on for whoever was pushed, from where it will stand. Mutates: table, plans, turn, reverse, work."""
    for agent in range(agents.cell.size):
        if turn.fixed[agent] and plans.steps[agent] == 1 and plans.since[agent] == tick and steps > 1:
            there = plans.way[agent, 1]
            answer = space_time.search(
                tables, table, (plans.tail, plans.end), reverse, aim_of[agent], work, manners,
                agent, there, tick + 1, agents.goal[agent], steps - 1,
            )  # fmt: skip
            if answer == NEEDS_ROOM or answer == OUT_OF_BUDGET:
                return answer
            if answer == space_time.FOUND:
                here = agents.cell[agent]
                drop_way(table, plans, agent, tick)
                space_time.write_cells(work, plans.way[agent, 1:])
                plans.way[agent, 0] = here
                take_way(table, plans, agent, steps, tick)
                plans.due[agent] = False
    return _DONE


@jit
def begin_tick(agents, table, plans, turn, tick, window, next_cell):
    """Clear the last tick's decisions, and let the table show where everybody is. Mutates: table, plans, turn."""
    for k in range(turn.tally[_URGENT]):
        turn.is_urgent[turn.urgent[k]] = False
    turn.tally[_URGENT] = 0
    for k in range(turn.tally[_CLAIMED]):
        turn.taken[turn.claimed[k]] = NO_AGENT
    turn.tally[_CLAIMED] = 0
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        turn.fixed[agent] = False
        if cell == NO_CELL:
            continue
        expire(table, plans.way[agent], plans.since[agent], plans.steps[agent], agent, tick)
        if not agents.controlled[agent]:                    # it goes where the program says, and is taken to stay there
            drop_way(table, plans, agent, tick)
            plans.way[agent, 0] = cell
            for k in range(1, window + 1):
                plans.way[agent, k] = next_cell[agent]
            take_way(table, plans, agent, window, tick)
        elif plans.steps[agent] < 0 or plans.end[agent] < tick or plans.way[agent, tick - plans.since[agent]] != cell:
            stand(table, plans, agent, cell, tick, 0)       # it is new, or was stopped
            plans.due[agent] = True
        elif agents.pinned[agent] and cell == agents.goal[agent]:
            for k in range(tick - plans.since[agent], plans.steps[agent] + 1):
                if plans.way[agent, k] != cell:             # it has come home on a way that leads on
                    plans.due[agent] = True


@jit
def look_phase(tables, agents, plans, reverse, search_of, tick):
    """Note who is home, and who came nearer to its goal. Mutates: plans, reverse."""
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if cell == NO_CELL or not agents.controlled[agent]:
            continue
        if cell == agents.goal[agent]:
            plans.home_ticks[agent] += 1
            if plans.home_ticks[agent] >= _STABLE_TICKS:
                plans.left_home[agent] = tick
                plans.nearest[agent] = _FAR
                plans.nearer_at[agent] = tick
            continue
        plans.home_ticks[agent] = 0
        far = distance(tables, reverse, search_of[agent], cell)
        if 0 <= far < plans.nearest[agent]:
            plans.nearest[agent] = far
            plans.nearer_at[agent] = tick


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
        self._abstract: AbstractDistances | None = None
        self._rows = np.empty(0, np.int32)
        self._stops = 0
        self._turn_tally = np.zeros(8, np.int64)
        none = np.zeros(0, np.int32)
        self._plans = Plans(
            np.zeros((0, self.window + 1), np.int32), none, none, none, np.full(cells, NO_AGENT, np.int32),
            np.zeros(0, np.bool_), none, none, np.zeros(0, np.int64), none,
        )  # fmt: skip
        self._make_room(1)
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def _make_room(self, agents: int) -> None:
        """Arrays for so many agents and more."""
        have = len(self._plans.way)
        if agents <= have:
            return
        more = max(agents - have, have)
        grown = [np.pad(array, [(0, more)] + [(0, 0)] * (array.ndim - 1)) for array in self._plans]
        self._plans = Plans(*grown)._replace(tail=self._plans.tail)
        room = have + more
        self._rows = np.pad(self._rows, (0, room - self._rows.size), constant_values=-1)
        ints, claims = np.zeros((7, room + 1), np.int32), np.full(self.state.grid.size, NO_AGENT, np.int32)
        flags = np.zeros((2, room + 1), np.bool_)
        self._turn = Turn(
            ints[0], ints[1], flags[0], flags[1], claims, ints[2], ints[3], ints[4], np.full(1, NO_AGENT, np.int32),
            np.zeros((room + 1, 9), np.int32), np.zeros((room + 1, 9), np.int64), ints[5], ints[6], self._turn_tally,
        )  # fmt: skip
        self._guard = make_guard(room, self.state.grid.size)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, agents, plans, turn = self.state, self.state.agents, self._plans, self._turn
        tables, occupant, tick, of = state.grid.tables, state.occupant, state.tick, self._distances.of
        begin_tick(agents, self._table, plans, turn, tick, self.window, proposal.next_cell)
        allow(self._distances.reverse, 0)
        look_phase(tables, agents, plans, self._distances.reverse, of, tick)
        aim = self._look_up_abstract(budget) if self.abstraction else of
        self._line_up()
        limit = budget.slice()
        steps = self.window if limit >= 4 * self.window else max(1, limit // 4)
        pushes = self.boxed_in == "push"
        done = self._serve(budget, lambda: replan_phase(
            tables, agents, occupant, self._table, plans, turn, self._distances.reverse, of, aim, self._work,
            self._manners, self.window, steps, tick, self.seed, self.patience, pushes, proposal.next_cell,
        ))  # fmt: skip
        if done and pushes:
            self._serve(budget, lambda: extend_phase(
                tables, agents, self._table, plans, turn, self._distances.reverse, aim, self._work, self._manners,
                steps, tick,
            ))  # fmt: skip
        wanted = np.empty(agents.cell.size, np.int32)
        settle_phase(agents, self._table, plans, tick, self.window, wanted)
        if grant(agents, occupant, wanted, self._guard, proposal.next_cell, proposal.waits_for):
            self._stops += int(((proposal.next_cell != wanted) & agents.controlled & (agents.cell != NO_CELL)).sum())

    def _look_up_abstract(self, budget: Budget) -> NDArray[np.int32]:
        """Fill in the abstract distances that are wanted; agents whose distances are not ready do not plan yet."""
        if self._abstract is None:
            self._abstraction = abstract(self.state.grid, self.abstraction)
            self._abstract = AbstractDistances(self._abstraction)
            self._rows = np.full(len(self._plans.way), -1, np.int32)
        agents = self.state.agents
        for agent in np.flatnonzero((self._rows[: agents.cell.size] < 0) & (agents.cell != NO_CELL)).tolist():
            self._rows[agent] = self._abstract.acquire(int(agents.goal[agent]))
        budget.spend(self._abstract.run(budget.slice()))
        self._manners = self._manners._replace(far=self._abstract.table, group=self._abstraction.group)
        self._is_ready = self._abstract.is_ready[self._rows[: agents.cell.size]]
        return self._rows

    def _line_up(self) -> None:
        """Who plans in this tick, and in which order: whoever is due, and by turns half a window's share of all."""
        agents, plans, tick = self.state.agents, self._plans, self.state.tick
        count = agents.cell.size
        index = np.arange(count)
        half = max(1, self.window // 2)
        due = plans.due[:count] | ((tick + index) % half == 0)
        if self.boxed_in == "push":
            due |= (tick - plans.nearer_at[:count] >= self.patience) & (plans.home_ticks[:count] == 0)
        if self.abstraction:
            due &= self._is_ready
        line = np.flatnonzero(due & agents.controlled & (agents.cell != NO_CELL))
        if self.order == "age":
            line = line[np.argsort(plans.left_home[line], kind="stable")]
        elif count:
            line = line[np.argsort((line - tick) % count, kind="stable")]
        self._turn.line[: line.size] = line
        self._turn.tally[_LINE], self._turn.tally[_PLACE] = line.size, 0

    def _serve(self, budget: Budget, phase: Callable[[], int]) -> bool:
        """Run a phase to its end, making room where it asks for it; False if the budget did not reach that far."""
        while limit := budget.slice():
            reverse = self._distances.reverse
            before = expansions_of(reverse)
            allow(reverse, limit)
            answer = phase()
            budget.spend(expansions_of(reverse) - before)
            if answer == NEEDS_ROOM:
                self._distances.grow()
            elif answer != OUT_OF_BUDGET:
                return True
        return False

    def counters(self) -> dict[str, int]:
        tally = self._turn.tally
        return {
            "repaths": int(tally[_REPATHS]),
            "boxed_in": int(tally[_BOXED]),
            "pushes": int(tally[_PUSHES]),
            "stopped_by_guard": self._stops,
        }

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
        plans.due[agent] = True
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
