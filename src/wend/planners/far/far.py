# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""FAR: everybody walks an own path on one-way streets, and reserves a few moves before it makes them.

Ko-Hsin Cindy Wang, Adi Botea: Fast and Memory-Efficient Multi-Agent Pathfinding. ICAPS 2008, as told in Sigurdson et
al. (CIG 2018), section III.B, and in Wang, Botea (JAIR 2011), section 9. A*-Replan is FAR without one-way streets.

An agent searches one path, which knows nothing of the others. It must reserve its next k moves, all or none, before it
makes them; who is refused waits, as at traffic lights, and does not search again. Agents that wait for each other in a
circle are found by following who waits for whom, and one of them steps aside: a detour of a few moves (proxy path)
leads it back to the rest of its path. Agents on their goals step aside for who wants past, and come back.

    paper                                        here
    flow annotation                              search/flow.py, used as another neighbour table
    "a standard implementation of A*"            search_phase; also the proxy paths
    "reserve its next moves"                     request, request_phase
    deadlocks, "pushing some agents off"         yield_phase: break_circle, step_aside

Work per tick: O(agents), plus the searches of the agents that have no path, or left it.

Deviations and open points (the full text of the ICAPS paper was not at hand; these are our precise form of it)
- The last cell of a reservation is held until the agent goes on; so is the cell of an agent that waits. A batch of k
  moves is made before the next is asked for (`commit="batch"`), or one is asked for after each move (`"slide"`).
- Agents ask in the order of their index, which begins one further in every tick.
- Who steps aside in a circle: the one with the most free cells beside it, then the lowest index. Where to: any cell by
  the grid's rules (one-way streets do not count) that nobody has reserved, none of the next k of the agent that waits
  for it; rather off that one's next 24 cells, then off its own, then in the order N, E, S, W, NE, SE, SW, NW. Not
  where it stepped aside before, unless it made a move of its path since. It comes back to the cell that it left only
  when the other has been there, or 2k ticks later; until then it pushes nobody off a goal.
- The proxy path is an A* path of at most `proxy_expansions` expansions to the place on the old path that is 8 moves
  ahead. (With one straight back to the cell that was left, a fifth to a third fewer agents get home in a crowd.) If
  there is none, the whole path is searched anew. The same is done for an agent that was stopped on the way by
  something that its reservation did not know: an agent of the program, a new wall.
- If nobody in a circle can step aside, who has waited longest searches a path around the one that it waits for; so
  does, after `patience` ticks of waiting, any agent whose blocker waits as well and cannot step aside. An agent does so
  once in `patience` ticks at most.
- An agent on its goal with no free cell beside it waits in turn for a neighbour: rather one that is on its goal as
  well, then one that moves. So a push travels down a row of parked agents.
- A new order keeps the moves that are reserved already. An edit of the map drops what it cuts; paths against streets
  that were turned around by it stay.
- With a budget, searches take turns by index and are suspended in mid-search; who has no path yet waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, jit
from wend.planners.base import Budget, Planner, Proposal, State, parameter
from wend.search.astar import (
    begin,
    expansions_of,
    forbid,
    make_search,
    path_length,
    run,
    write_steps,
)
from wend.search.execution import grant, make_guard
from wend.search.flow import GLOBAL, LOCAL, Flow
from wend.search.paths import drop_cut_routes
from wend.search.reservations import (
    expire,
    free_from,
    hold,
    is_walkable,
    make_reservations,
    other_at,
    owner_at,
    release_hold,
    release_way,
    reserve,
)

# What an agent has to search
_NOTHING = 0
_WHOLE = 1      # a path to its goal
_JOIN = 2       # a proxy path, back to the path that it left
_AROUND = 3     # another path, around the agent in front

# What `search_phase` answers
_DONE = 0
_BUDGET_SPENT = 1
_ROUTE_TOO_LONG = 2

_FIRST_ROOM = 256       # moves that a route can hold before the arrays grow
_REJOIN = 8             # a proxy path leads to a place so many moves ahead on the old path
_LOOK_AHEAD = 24        # moves of a path that nobody should step aside to
_EVASIONS = 8           # cells that are remembered as having been stepped aside to
_LONG_AGO = -(2**30)    # a tick


class Routes(NamedTuple):
    """The path of each agent."""

    step: np.ndarray    # uint8[agents, room]  directions, first move first
    length: np.ndarray  # int32[agents]        moves in the route; 0 = none
    done: np.ndarray    # int32[agents]        moves made or reserved
    origin: np.ndarray  # int32[agents]        where the next move begins; who is elsewhere must join
    avoid: np.ndarray   # int32[agents]        another route is wanted, without this cell; NO_CELL = none is
    known: np.ndarray   # bool[agents]         has searched since its last order


class Ways(NamedTuple):
    """The moves that each agent has reserved. Where it stands when they are made, it holds until it goes on."""

    cell: np.ndarray    # int32[agents, k + 1]  where it stands after tick since, since + 1, ...
    since: np.ndarray   # int32[agents]         tick
    steps: np.ndarray   # int32[agents]         moves; cell[steps] is the last place reserved


class Waits(NamedTuple):
    """What agents remember of the jams that they are in."""

    waited: np.ndarray      # int32[agents]            ticks for which it was refused
    left: np.ndarray        # int32[agents]            cell that it left for another, and may not enter; NO_CELL = none
    left_for: np.ndarray    # int32[agents]            ... until this agent has been there
    left_until: np.ndarray  # int32[agents]            ... or this tick has come
    evaded: np.ndarray      # int32[agents, EVASIONS]  cells to which it stepped aside, a ring
    evasions: np.ndarray    # int32[agents]            how often it did since it last made a move of its route
    rerouted: np.ndarray    # int32[agents]            tick in which it last wanted a way around
    seen: np.ndarray        # int64[agents]            the last chain of waiting agents that it was part of
    wanted: np.ndarray      # int32[agents]            scratch: the next cell by its reservation


class Turn(NamedTuple):
    """Whose search it is, and what was counted."""

    agent: np.ndarray   # int32[1]  the agent to look at next
    job: np.ndarray     # int32[3]  the search that was begun: what for (_NOTHING = none), from where, to where
    spent: np.ndarray   # int64[1]  expansions made by the last call
    room: np.ndarray    # int64[1]  moves of the route for which there was no room
    chain: np.ndarray   # int64[1]  number of the last chain of waiting agents
    tally: np.ndarray   # int64[5]  see below


# Turn.tally holds
_REPATHS = 0    # searches by agents that had searched since their last order
_PROXIES = 1    # agents on their way that stepped aside
_PUSHES = 2     # agents on their goals that stepped aside
_REROUTES = 3   # searches around the agent in front
_CIRCLES = 4    # circles of agents that wait for each other, counted in every tick
_COUNTS = ("repaths", "proxies", "pushes", "reroutes", "wait_circles")


@jit
def _last(ways, agent):
    """The last cell that an agent has reserved: where it stands, unless it is moving."""
    return ways.cell[agent, ways.steps[agent]]


@jit
def _is_standing(ways, agent, now):
    """Whether an agent has no moves reserved."""
    return now - ways.since[agent] >= ways.steps[agent]


@jit
def stand_still(table, ways, agent, cell, now):
    """Drop the moves that an agent has reserved: it holds the cell where it is. Mutates: table, ways."""
    release_way(table, ways.cell[agent], ways.since[agent], ways.steps[agent], agent, now)
    release_hold(table, _last(ways, agent), agent)
    ways.cell[agent, 0] = cell
    ways.since[agent] = now
    ways.steps[agent] = 0
    if cell != NO_CELL:
        hold(table, cell, now, agent)


@jit
def extend(table, ways, agent, cell, now):
    """Reserve one more move, without asking; `keep_last` is to follow. Mutates: table, ways."""
    way = ways.cell[agent]
    made = min(now - ways.since[agent], ways.steps[agent])
    steps = ways.steps[agent] - made
    for k in range(steps + 1):
        way[k] = way[made + k]
    release_hold(table, way[steps], agent)
    reserve(table, way[steps], now + steps, agent)
    reserve(table, cell, now + steps + 1, agent)
    way[steps + 1] = cell
    ways.since[agent] = now
    ways.steps[agent] = steps + 1


@jit
def keep_last(table, ways, agent):
    """Hold the last cell that was reserved, from when on the agent is there. Mutates: table."""
    hold(table, _last(ways, agent), ways.since[agent] + ways.steps[agent], agent)


@jit
def begin_tick(agents, table, ways, routes, waits, next_cell, now):
    """Let the table follow what happened. Mutates: table, ways, routes, waits."""
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if cell == NO_CELL:
            continue
        expire(table, ways.cell[agent], ways.since[agent], ways.steps[agent], agent, now)
        is_home = cell == agents.goal[agent]
        if not agents.controlled[agent]:
            stand_still(table, ways, agent, cell, now)
            extend(table, ways, agent, next_cell[agent], now)
            keep_last(table, ways, agent)
        elif _is_standing(ways, agent, now) or (is_home and agents.pinned[agent]):
            stand_still(table, ways, agent, cell, now)
            if is_home:
                routes.length[agent] = routes.done[agent] = 0
        if waits.left[agent] != NO_CELL and (
            now >= waits.left_until[agent] or agents.cell[waits.left_for[agent]] == waits.left[agent]
        ):
            waits.left[agent] = NO_CELL


@jit
def cancel_cut_ways(tables, agents, table, ways, now):
    """Stop the agents whose reserved moves an edit of the map made illegal. Mutates: table, ways."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] != NO_CELL and not _is_standing(ways, agent, now):
            way = ways.cell[agent, now - ways.since[agent] : ways.steps[agent] + 1]
            if not is_walkable(tables, way):
                stand_still(table, ways, agent, agents.cell[agent], now)


@jit
def _need(agents, routes, ways, agent):
    """What an agent has to search."""
    if agents.cell[agent] == NO_CELL or not agents.controlled[agent]:
        return _NOTHING
    last = _last(ways, agent)
    if routes.done[agent] == routes.length[agent]:
        return _NOTHING if last == agents.goal[agent] else _WHOLE
    if last != routes.origin[agent]:
        return _JOIN
    return _NOTHING if routes.avoid[agent] == NO_CELL else _AROUND


@jit
def _put_route(tables, search, routes, agent, kept):
    """Write the path found, and the last `kept` moves of the old route behind it. Mutates: routes."""
    found = path_length(tables, search)
    step = routes.step[agent]
    old = routes.length[agent] - kept
    if found <= old:
        for k in range(kept):
            step[found + k] = step[old + k]
    else:
        for k in range(kept - 1, -1, -1):
            step[found + k] = step[old + k]
    write_steps(tables, search, found, step)
    routes.length[agent] = found + kept
    routes.done[agent] = 0


@jit
def _search(tables, agents, routes, ways, turn, search, agent, need, proxy_expansions, max_expansions):
    """Begin or carry on an agent's search. Mutates: routes, turn, search."""
    start, target, ahead = _last(ways, agent), agents.goal[agent], 0
    if need == _JOIN:
        ahead = min(_REJOIN, routes.length[agent] - routes.done[agent])
        target = routes.origin[agent]
        for k in range(routes.done[agent], routes.done[agent] + ahead):
            target += tables.offset[routes.step[agent, k]]
    job = turn.job
    if job[0] != need or job[1] != start or job[2] != target:
        if turn.spent[0] >= max_expansions:
            return _BUDGET_SPENT
        job[0], job[1], job[2] = need, start, target
        begin(tables, search, start, target, 0, 0)
        turn.tally[_REPATHS] += routes.known[agent]
        routes.known[agent] = True
        if need == _AROUND:
            turn.tally[_REROUTES] += 1
            forbid(search, routes.avoid[agent])
    before = expansions_of(search)
    left = max_expansions - turn.spent[0]
    answer = run(tables, search, left if need != _JOIN else min(left, proxy_expansions - before))
    turn.spent[0] += expansions_of(search) - before
    if answer == OUT_OF_BUDGET and (need != _JOIN or expansions_of(search) < proxy_expansions):
        return _BUDGET_SPENT
    if answer == FOUND:
        kept = routes.length[agent] - routes.done[agent] - ahead if need == _JOIN else 0
        turn.room[0] = path_length(tables, search) + kept
        if turn.room[0] > routes.step.shape[1]:
            return _ROUTE_TOO_LONG                      # the search is kept, to be read off when there is room
        _put_route(tables, search, routes, agent, kept)
        routes.origin[agent] = start
    elif need == _JOIN:
        routes.length[agent] = routes.done[agent] = 0   # too far away: the whole path is searched next
    routes.avoid[agent] = NO_CELL
    job[0] = _NOTHING
    return _DONE


@jit
def search_phase(tables, agents, routes, ways, turn, search, proxy_expansions, max_expansions):
    """Let everybody search what it has to, in turn, while the budget lasts. Mutates: routes, turn, search."""
    turn.spent[0] = 0
    for _ in range(agents.cell.size):
        agent = turn.agent[0]
        need = _need(agents, routes, ways, agent)
        while need != _NOTHING:
            answer = _search(
                tables, agents, routes, ways, turn, search, agent, need, proxy_expansions, max_expansions
            )
            if answer != _DONE:
                return answer
            last, need = need, _need(agents, routes, ways, agent)
            if last == need:                            # no path: perhaps in the next tick
                break
        turn.job[0] = _NOTHING
        turn.agent[0] = (agent + 1) % agents.cell.size
    return _DONE


@jit
def request(tables, table, routes, ways, waits, agent, now, reservation):
    """Reserve the next moves of an agent's route, all or none; return the agent in the way, or NO_AGENT.

    Mutates: table, routes, ways.
    """
    time = max(ways.since[agent] + ways.steps[agent], now)      # when it has made what it has reserved
    moves = min(reservation - (time - now), routes.length[agent] - routes.done[agent])
    cell = routes.origin[agent]
    for j in range(1, moves + 1):
        before = cell
        cell += tables.offset[routes.step[agent, routes.done[agent] + j - 1]]
        if cell == waits.left[agent]:
            return waits.left_for[agent]
        other = other_at(table, cell, time + j, agent)
        if other != NO_AGENT:
            return other
        leaving = other_at(table, cell, time + j - 1, agent)
        if leaving != NO_AGENT and owner_at(table, before, time + j) == leaving:
            return leaving                                      # they would swap
    free = free_from(table, cell, time + moves, agent)
    if free > time + moves:
        keeper = table.hold_agent[cell] - 1
        return keeper if keeper != NO_AGENT and keeper != agent else other_at(table, cell, free - 1, agent)
    for _ in range(moves):
        routes.origin[agent] += tables.offset[routes.step[agent, routes.done[agent]]]
        routes.done[agent] += 1
        extend(table, ways, agent, routes.origin[agent], now)
    keep_last(table, ways, agent)
    return NO_AGENT


@jit
def request_phase(tables, agents, table, routes, ways, waits, now, reservation, slide, waits_for):
    """Let everybody reserve its next moves. Mutates: table, routes, ways, waits, waits_for."""
    count = agents.cell.size
    for turn in range(count):
        agent = (now + turn) % count
        standing = _is_standing(ways, agent, now)
        if (
            routes.done[agent] == routes.length[agent]          # also who is gone, or moved by the program
            or _last(ways, agent) != routes.origin[agent]
            or not (standing or slide)
        ):
            continue
        other = request(tables, table, routes, ways, waits, agent, now, reservation)
        if other == NO_AGENT:
            waits.waited[agent] = 0
            waits.evasions[agent] = 0
            routes.avoid[agent] = NO_CELL
        elif standing:
            waits.waited[agent] += 1
            waits_for[agent] = other


@jit
def _moves_until(tables, routes, agent, cell, moves):
    """After how many moves of its route an agent is on a cell; more than `moves` if not within so many."""
    at = routes.origin[agent]
    for k in range(min(moves, routes.length[agent] - routes.done[agent])):
        at += tables.offset[routes.step[agent, routes.done[agent] + k]]
        if at == cell:
            return k + 1
    return moves + 1


@jit
def _refuge(tables, agents, table, routes, ways, waits, agent, pusher, now, reservation):
    """The best direction for an agent to step aside for another, -1 if none, and the number of cells to choose from."""
    best, best_value, choices = -1, -1, 0
    if (
        not agents.controlled[agent]
        or (agents.pinned[agent] and agents.cell[agent] == agents.goal[agent])
        or not _is_standing(ways, agent, now)
    ):
        return best, choices
    for d in range(8):
        if not tables.moves[agents.cell[agent]] >> d & 1:
            continue
        cell = agents.cell[agent] + tables.offset[d]
        if free_from(table, cell, now, agent) > now:
            continue
        evaded = False
        for k in range(min(waits.evasions[agent], _EVASIONS)):
            evaded = evaded or waits.evaded[agent, k] == cell
        met = _moves_until(tables, routes, pusher, cell, _LOOK_AHEAD)
        if evaded or met <= reservation:
            continue
        choices += 1
        value = 2 * (met > _LOOK_AHEAD) + (_moves_until(tables, routes, agent, cell, _LOOK_AHEAD) > _LOOK_AHEAD)
        if value > best_value:
            best, best_value = d, value
    return best, choices


@jit
def _step_to(tables, agents, table, ways, waits, agent, d, other, now, reservation):
    """Let an agent step aside for another. Mutates: table, ways, waits."""
    cell = agents.cell[agent] + tables.offset[d]
    extend(table, ways, agent, cell, now)
    keep_last(table, ways, agent)
    waits.evaded[agent, waits.evasions[agent] % _EVASIONS] = cell
    waits.evasions[agent] += 1
    waits.waited[agent] = 0
    waits.left[agent] = agents.cell[agent]
    waits.left_for[agent] = other
    waits.left_until[agent] = now + 2 * reservation


@jit
def _go_around(agents, routes, waits, agent, other, now):
    """Let an agent search another way in the next tick. Mutates: routes, waits."""
    waits.rerouted[agent] = now
    routes.avoid[agent] = agents.cell[other]


@jit
def break_circle(
    tables, agents, table, routes, ways, waits, turn, first, now, reservation, patience, waits_for
):
    """Let one of a circle of waiting agents step aside, or search a way around. Mutates: all but tables, agents."""
    turn.tally[_CIRCLES] += 1
    chosen, chosen_for, direction, most = NO_AGENT, NO_AGENT, -1, 0
    longest, eldest = -1, NO_AGENT
    other = first
    while True:
        agent = waits_for[other]
        d, choices = _refuge(tables, agents, table, routes, ways, waits, agent, other, now, reservation)
        if choices > most or (choices == most and choices > 0 and agent < chosen):
            chosen, chosen_for, direction, most = agent, other, d, choices
        if (
            routes.done[agent] < routes.length[agent]
            and now - waits.rerouted[agent] >= patience
            and (waits.waited[agent] > longest or (waits.waited[agent] == longest and agent < eldest))
        ):
            longest, eldest = waits.waited[agent], agent
        other = agent
        if other == first:
            break
    if chosen != NO_AGENT:
        turn.tally[_PROXIES] += 1
        _step_to(tables, agents, table, ways, waits, chosen, direction, chosen_for, now, reservation)
    elif eldest != NO_AGENT:
        _go_around(agents, routes, waits, eldest, waits_for[eldest], now)


@jit
def _next_in_row(tables, agents, ways, occupant, agent, chain, seen, waits_for, now):
    """The neighbour whom a parked agent with no room should wait for, or NO_AGENT."""
    best, best_value = NO_AGENT, -1
    for d in range(8):
        if tables.moves[agents.cell[agent]] >> d & 1:
            other = occupant[agents.cell[agent] + tables.offset[d]]
            if other == NO_AGENT or seen[other] == chain:
                continue
            if agents.cell[other] == agents.goal[other] and _is_standing(ways, other, now):
                value = 2
            else:
                value = 1 if waits_for[other] == NO_AGENT else 0
            if value > best_value:
                best, best_value = other, value
    return best


@jit
def yield_phase(
    tables, agents, occupant, table, routes, ways, waits, turn, now, reservation, patience, waits_for
):
    """Follow who waits for whom, and let somebody step aside where that helps. Mutates: all but the first three."""
    before_this_tick = turn.chain[0]
    for root in range(agents.cell.size):
        if waits_for[root] == NO_AGENT:
            continue
        turn.chain[0] += 1
        chain = turn.chain[0]
        agent, behind, pusher = root, NO_AGENT, root
        while waits.seen[agent] <= before_this_tick:
            waiting = waits_for[agent] != NO_AGENT
            parked = agents.cell[agent] == agents.goal[agent] and _is_standing(ways, agent, now)
            if not waiting and (not parked or waits.left[pusher] != NO_CELL):
                break                                           # it moves; or who makes room itself does not push
            waits.seen[agent] = chain
            if waiting:
                pusher = agent
            else:
                d, _ = _refuge(tables, agents, table, routes, ways, waits, agent, pusher, now, reservation)
                if d >= 0:
                    turn.tally[_PUSHES] += 1
                    _step_to(tables, agents, table, ways, waits, agent, d, behind, now, reservation)
                    break
                if agents.controlled[agent] and not agents.pinned[agent]:
                    waits_for[agent] = _next_in_row(
                        tables, agents, ways, occupant, agent, chain, waits.seen, waits_for, now
                    )
                if waits_for[agent] == NO_AGENT:
                    break
            behind, agent = agent, waits_for[agent]
            if waits.seen[agent] == chain:
                break_circle(
                    tables, agents, table, routes, ways, waits, turn, agent, now, reservation, patience, waits_for
                )
    for agent in range(agents.cell.size):                       # panic
        other = waits_for[agent]
        if other == NO_AGENT or waits.waited[agent] < patience or not _is_standing(ways, agent, now):
            continue
        d = -1
        if waits_for[other] != NO_AGENT:
            d, _ = _refuge(tables, agents, table, routes, ways, waits, other, agent, now, reservation)
        if d >= 0:
            turn.tally[_PROXIES] += 1
            _step_to(tables, agents, table, ways, waits, other, d, agent, now, reservation)
        elif now - waits.rerouted[agent] >= patience:
            _go_around(agents, routes, waits, agent, other, now)


@jit
def move_phase(agents, occupant, table, ways, waits, guard, now, next_cell, waits_for):
    """Let everybody make its next reserved move, and stop whom something else is in the way of.

    Mutates: table, ways, waits, guard, next_cell, waits_for.
    """
    for agent in range(agents.cell.size):
        waits.wanted[agent] = ways.cell[agent, min(now + 1 - ways.since[agent], ways.steps[agent])]
    if grant(agents, occupant, waits.wanted, guard, next_cell, waits_for) > 0:
        for agent in range(agents.cell.size):
            if next_cell[agent] != waits.wanted[agent] and agents.cell[agent] != NO_CELL:
                stand_still(table, ways, agent, agents.cell[agent], now)


@dataclass
class Far(Planner):
    """FAR, and without one-way streets A*-Replan."""

    reservation: int = parameter(3, "moves that are reserved before they are made (k)", minimum=1, maximum=32)
    flow: str = parameter(GLOBAL, "one-way streets: none, the paper's, or ours", choices=("none", GLOBAL, LOCAL))
    commit: str = parameter("batch", "reserve anew after k moves, or after each", choices=("batch", "slide"))
    patience: int = parameter(100, "ticks of waiting before another way is searched", minimum=1, maximum=2**30)
    proxy_expansions: int = parameter(64, "nodes that a search back to a path expands at most", minimum=1)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._flow = None if self.flow == "none" else Flow(state.grid, self.flow)
        if self._flow is not None:
            self._flow.tables()         # now: the first tick has enough to do
        self._search = make_search(cells)
        self._table = make_reservations(cells, self.reservation + 1)
        self._guard = make_guard(0, cells)
        number = np.zeros(0, np.int32)
        step = np.zeros((0, _FIRST_ROOM), np.uint8)
        self._routes = Routes(step, number, number, number, number, number.astype(np.bool_))
        self._ways = Ways(np.zeros((0, self.reservation + 1), np.int32), number, number)
        self._waits = Waits(
            number, number, number, number, np.zeros((0, _EVASIONS), np.int32), number, number,
            number.astype(np.int64), number,
        )  # fmt: skip
        self._turn = Turn(
            np.zeros(1, np.int32), np.zeros(3, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int64),
            np.zeros(1, np.int64), np.zeros(len(_COUNTS), np.int64),
        )  # fmt: skip

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, turn = self.state, self._turn
        grid, agents, now = state.grid, state.agents, state.tick
        table, ways, waits = self._table, self._ways, self._waits
        tables = grid.tables if self._flow is None else self._flow.tables()
        begin_tick(agents, table, ways, self._routes, waits, proposal.next_cell, now)
        answer = _BUDGET_SPENT
        while answer != _DONE and (limit := budget.slice()):
            answer = search_phase(
                tables, agents, self._routes, ways, turn, self._search, self.proxy_expansions, limit
            )
            budget.spend(turn.spent[0])
            if answer == _ROUTE_TOO_LONG:
                self._make_room(0, int(turn.room[0]))
        routes = self._routes
        request_phase(
            grid.tables, agents, table, routes, ways, waits, now, self.reservation, self.commit == "slide",
            proposal.waits_for,
        )  # fmt: skip
        yield_phase(
            grid.tables, agents, state.occupant, table, routes, ways, waits, turn, now, self.reservation,
            self.patience, proposal.waits_for,
        )  # fmt: skip
        move_phase(
            agents, state.occupant, table, ways, waits, self._guard, now, proposal.next_cell, proposal.waits_for
        )

    def _make_room(self, agents: int, moves: int) -> None:
        """Grow the arrays for so many agents with routes of so many moves, doubling as they grow."""
        rows, columns = self._routes.step.shape
        if agents > rows:
            more = max(agents - rows, rows)
            for name in ("_routes", "_ways", "_waits"):
                arrays = getattr(self, name)
                padded = (np.pad(array, [(0, more)] + [(0, 0)] * (array.ndim - 1)) for array in arrays)
                setattr(self, name, type(arrays)(*padded))
            self._guard = make_guard(rows + more, self.state.grid.size)
        if moves > columns:
            step = np.pad(self._routes.step, ((0, 0), (0, max(moves - columns, columns))))
            self._routes = self._routes._replace(step=step)

    def counters(self) -> dict[str, int]:
        return dict(zip(_COUNTS, self._turn.tally.tolist(), strict=True))

    def agent_added(self, agent: int) -> None:
        self._make_room(agent + 1, 0)
        self._waits.left[agent] = NO_CELL
        self._waits.rerouted[agent] = _LONG_AGO
        self._ways.cell[agent, 0] = self.state.agents.cell[agent]
        self.agent_retasked(agent)

    def agent_removed(self, agent: int) -> None:
        stand_still(self._table, self._ways, agent, NO_CELL, self.state.tick)
        self.agent_retasked(agent)

    def agent_retasked(self, agent: int) -> None:
        self._routes.length[agent] = self._routes.done[agent] = 0
        self._routes.avoid[agent] = NO_CELL
        self._routes.known[agent] = False
        self._waits.waited[agent] = 0

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        tables, agents = self.state.grid.tables, self.state.agents
        cancel_cut_ways(tables, agents, self._table, self._ways, self.state.tick)
        drop_cut_routes(tables, agents._replace(cell=self._routes.origin[: agents.cell.size]), self._routes)
        self._turn.job[0] = _NOTHING
        if self._flow is not None:
            self._flow.cells_changed(cells)
