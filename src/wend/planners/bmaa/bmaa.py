# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""BMAA*: every agent runs a real-time search of its own and takes the others for moving obstacles.

Devon Sigurdson, Vadim Bulitko, William Yeoh, Carlos Hernández, Sven Koenig: Multi-Agent Pathfinding with Real-Time
Heuristic Search. IEEE Conference on Computational Intelligence and Games (CIG) 2018.

An agent looks a few nodes ahead (RTAA*), learns from what it saw, and follows the way that it found for some ticks. It
sees only agents that are very near. Nobody shares plans or knowledge, so a tick costs little, an order costs nothing,
and congestion spreads by itself; the price is long ways. Two extensions: an agent may push another off its goal for a
moment (-c), and searches may keep to one-way streets (-f).

    paper                                        here
    Alg. 2, NPC-Controller, search phase         Bmaa._search
    Alg. 2, NPC-Controller, execution phase      execution_phase
    PushAgent                                    push_aside
    Alg. 3, Search-Phase                         pick_searches (line 2), search_phase, learn_phase
    Alg. 4, Update-Heuristic-Values              planners/bmaa/real_time.py, note_closed and learn
    Alg. 5, Search                               planners/bmaa/real_time.py, look_ahead
    GetNeighbors(flow)                           search/flow.py, used as another neighbour table

Searches are made in batches. Within one nobody moves and nobody reads what others learn, so `threads` may share them;
what was found is learned afterwards, one search after the other. The result does not depend on the batches.

Work per tick: O(agents), plus `expansions` nodes for every agent whose way has come to its end.

Surge is ours: short ways, and nobody is left in a jam. Three options, each of which can be had alone:
- `heuristic = "blocks"`: what is believed before anything is learned are distances between blocks of the map
  (blocks.py), not those of an empty map. They are searched when an agent needs them, at the budget's expense;
  until they are known where it stands, the agent waits.
- `make_way`: in place of the execution phase, whoever is in the way makes way for who has been away from home longer
  (ranking.py, by PIBT). An agent that is pushed off its way goes by what it believes until that way would have expired,
  which saves most of the searches in a crowd. One that has stood still for `patience` ticks falls back, at random, to
  the end of the line: in a dead end only who stands inside can be let out first.
- `spread`: ways expire up to so many ticks early, some agents' more than others', so that searches do not come in
  waves.
And `vision = 0`: with `make_way` others are no obstacles to a search, which would only learn that streets are closed
which are not.

Deviations and open points
- Only an agent on its own goal is pushed (the text), not whoever is in the way (line 8); none that is pinned, that the
  program moves, or that has moved in this tick: otherwise two agents could exchange cells.
- "To any neighbouring node" is: a free neighbour by the grid's rules, one-way streets or not; rather one that is not on
  the rest of the pusher's way; then in the order N, E, S, W, NE, SE, SW, NW. If there is none, the pusher waits.
- A way expires by time (Alg. 3, line 2), not by moves made (the text): a blocked agent keeps its way and waits.
- Open list empty (walled in by agents): no way, nothing learned, a new search in the next tick.
- An agent on its goal would search for nothing in every tick; here it does not search.
- Agents that the program moves have moved when the searches look at them.
- A budget: searches take turns by index, over ticks. One is made if all of its expansions fit into what is left; a
  budget below `expansions` cuts the lookahead to what it allows. (So does one in milliseconds above 2,000.) An agent
  whose turn has not come follows its old way, if it has one.
- A new order drops what the agent has learned and its way. An edit of the map drops the ways that it cuts. What was
  learned before a wall was built is still a lower bound and stays. Where a wall falls, values are too high and would
  keep agents away from the new door: everybody forgets those around it. Farther away they stay, and come down when
  they are searched again, because they are assigned (Alg. 4) and not only raised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, jit, scramble
from wend.kernel.arrays import allocate
from wend.kernel.threads import Threads
from wend.maps.grid import GridTables
from wend.planners.base import Budget, Planner, Proposal, State, parameter
from wend.planners.bmaa.blocks import NO_ROW, BlockDistances, reach
from wend.planners.bmaa.ranking import Crowd, knows_its_way, settle
from wend.planners.bmaa.real_time import (
    NO_NODE,
    Lookahead,
    forget,
    forget_around,
    learn,
    look_ahead,
    make_learned,
    make_lookahead,
    note_closed,
    pages_left,
    pages_needed,
    with_agents,
    with_more_pages,
    write_prefix,
)
from wend.search.flow import GLOBAL, LOCAL, Flow
from wend.search.open_list import OpenList, make_open_list
from wend.search.paths import drop_cut_routes
from wend.search.pibt import Decisions

# What `pick_searches` and `learn_phase` answer
_DONE = 0
_BUDGET_SPENT = 1
_BATCH_FULL = 2
_PAGES_SPENT = 3

_FAR_AWAY = 2**40       # a squared distance that no two cells of a map have
_BATCH = 256            # searches that are made at a time
_NO_LIST = make_open_list(1)


class Plans(NamedTuple):
    """The prefix P of each agent's path; P(current cell) is undefined when done == length."""

    step: np.ndarray    # uint8[agents, expansions]  directions, first move first
    length: np.ndarray  # int32[agents]              moves in P
    done: np.ndarray    # int32[agents]              moves made
    limit: np.ndarray   # int64[agents]              tick from which P has expired
    away: np.ndarray    # int64[agents]              tick when the agent was last at home, or got its order, or gave up
    moved: np.ndarray   # int64[agents]              tick when it last moved, or was at home, or gave up


class Batch(NamedTuple):
    """Searches that are made at the same time, and what is to be learned from them."""

    searches: np.ndarray    # int32[1]                    how many
    learned: np.ndarray     # int32[1]                    those of them that have been learned from
    agent: np.ndarray       # int32[searches]             whose
    expanded: np.ndarray    # int32[searches]             nodes expanded
    closed: np.ndarray      # int32[searches]             of which something is to be learned
    cell: np.ndarray        # int32[searches, expansions] those nodes,
    value: np.ndarray       # int64[searches, expansions] ... and what is to be believed of them


class Turn(NamedTuple):
    """Whose search it is, and who stands where while the tick goes on."""

    agent: np.ndarray       # int32[1]       the agent to look at next
    left: np.ndarray        # int32[1]       agents to look at in this tick
    spent: np.ndarray       # int64[1]       expansions made by the last call
    repaths: np.ndarray     # int64[1]       searches so far by agents with moves left in their ways
    taken: np.ndarray       # int32[cells]   the agent that stands there, or NO_AGENT
    stands: np.ndarray      # int32[agents]  the cell where `taken` has the agent, or NO_CELL


def make_batch(expansions: int) -> Batch:
    """Room for searches that expand so many nodes at most."""
    count, learned, agent, expanded, closed = (np.zeros(size, np.int32) for size in (1, 1, _BATCH, _BATCH, _BATCH))
    nodes = (_BATCH, expansions)
    return Batch(count, learned, agent, expanded, closed, np.zeros(nodes, np.int32), np.zeros(nodes, np.int64))


@jit
def begin_tick(agents, turn, next_cell):
    """Put everybody where it stands; the program has moved its own. Mutates: turn."""
    turn.left[0] = agents.cell.size
    for agent in range(turn.stands.size):
        if turn.stands[agent] != NO_CELL:
            turn.taken[turn.stands[agent]] = NO_AGENT
    for agent in range(agents.cell.size):
        turn.stands[agent] = next_cell[agent]
        if next_cell[agent] != NO_CELL:
            turn.taken[next_cell[agent]] = agent


@jit
def _wants_search(agents, plans, learned, agent, time, roams):
    """Whether an agent has somewhere to go, and P(current cell) is undefined or has expired (Alg. 3, l. 2).

    If agents roam, one that lost its way, but knows its distances, does without until the way would have expired.
    """
    if not agents.controlled[agent] or agents.cell[agent] == NO_CELL or agents.cell[agent] == agents.goal[agent]:
        return False
    if time >= plans.limit[agent]:
        return True
    can_do_without = roams and plans.length[agent] == 0 and knows_its_way(agents, learned, agent)
    return plans.done[agent] == plans.length[agent] and not can_do_without


@jit
def pick_searches(tables, agents, plans, learned, block_list, batch, turn, time, roams, expansions, max_expansions):
    """Fill a batch with searches that are due (Alg. 3, l. 2) and affordable. Mutates: learned, batch, turn, block_list.

    Distances over blocks are looked up here, before anybody searches: those who share a goal's block share them.
    """
    turn.spent[0] = 0
    batch.searches[0] = batch.learned[0] = 0
    while turn.left[0] > 0:
        agent = turn.agent[0]
        if _wants_search(agents, plans, learned, agent, time, roams):
            left = max_expansions - turn.spent[0] - np.int64(batch.searches[0]) * expansions
            if left < expansions:
                return _BUDGET_SPENT
            if batch.searches[0] == batch.agent.size:
                return _BATCH_FULL
            if not knows_its_way(agents, learned, agent):
                group = learned.blocks.group[agents.cell[agent]]
                made = reach(tables, learned.blocks, learned.ways, block_list, learned.row[agent], group, left)
                turn.spent[0] += made
                if left - made < expansions:
                    return _BUDGET_SPENT
            batch.agent[batch.searches[0]] = agent
            batch.searches[0] += 1
            turn.repaths[0] += plans.done[agent] < plans.length[agent]
        turn.left[0] -= 1
        turn.agent[0] = (agent + 1) % agents.cell.size
    return _DONE


@jit
def search_phase(
    tables, agents, plans, learned, lookaheads, batch, taken, waits_for, time, moves, spread, vision_square, expansions,
    worker, workers,
):  # fmt: skip
    """Alg. 3, l. 3-9, for a worker's share of the batch. Mutates: plans, lookaheads, batch, waits_for."""
    lookahead = Lookahead(
        OpenList(
            lookaheads.open_list.heap[worker], lookaheads.open_list.pool[worker],
            lookaheads.open_list.bucket[worker], lookaheads.open_list.tally[worker],
        ),
        lookaheads.node_of[worker], lookaheads.cell[worker], lookaheads.x[worker], lookaheads.y[worker],
        lookaheads.g[worker], lookaheads.h[worker], lookaheads.came[worker], lookaheads.state[worker],
        lookaheads.reached[worker], lookaheads.expanded[worker], lookaheads.seen[worker],
    )  # fmt: skip
    for k in range(worker, batch.searches[0], workers):
        agent = batch.agent[k]
        node = look_ahead(
            tables, learned, agent, lookahead, taken, agents.cell[agent], agents.goal[agent], vision_square, expansions
        )
        batch.expanded[k] = lookahead.expanded[0]
        plans.done[agent] = plans.length[agent] = batch.closed[k] = 0
        if node != NO_NODE:
            batch.closed[k] = note_closed(lookahead, node, batch.cell[k], batch.value[k])
            plans.length[agent] = write_prefix(tables, lookahead, node, plans.step[agent])
            plans.limit[agent] = time + max(1, moves - agent % (spread + 1))
        else:
            plans.limit[agent] = 0
            waits_for[agent] = lookahead.seen[0]


@jit
def learn_phase(tables, learned, batch, turn, expansions):
    """Alg. 4 for the whole batch, one search after the other: they take pages from one pool. Mutates: all but tables.
    """
    while batch.learned[0] < batch.searches[0]:
        k = batch.learned[0]
        if pages_left(learned) < pages_needed(learned, expansions):
            return _PAGES_SPENT
        learn(tables, learned, batch.agent[k], batch.cell[k, : batch.closed[k]], batch.value[k])
        turn.spent[0] += batch.expanded[k]
        batch.learned[0] += 1
    return _DONE


@jit
def _move_to(turn, agent, target, next_cell):
    """Let an agent stand somewhere else. Mutates: turn, next_cell."""
    turn.taken[turn.stands[agent]] = NO_AGENT
    turn.taken[target] = agent
    turn.stands[agent] = target
    next_cell[agent] = target


@jit
def _is_ahead(tables, plans, agent, target, cell):
    """Whether an agent whose next cell is `target` passes a cell after that."""
    for k in range(plans.done[agent] + 1, plans.length[agent]):
        target += tables.offset[plans.step[agent, k]]
        if target == cell:
            return True
    return False


@jit
def push_aside(tables, plans, turn, agent, pushed, next_cell):
    """Make room for an agent: move the one on its next cell to a free neighbour, if any. Mutates: turn, next_cell."""
    here = turn.stands[pushed]
    refuge = NO_CELL
    for d in range(8):
        if tables.moves[here] >> d & 1:
            beside = here + tables.offset[d]
            if turn.taken[beside] == NO_AGENT:
                if not _is_ahead(tables, plans, agent, here, beside):
                    refuge = beside
                    break
                if refuge == NO_CELL:
                    refuge = beside
    if refuge != NO_CELL:
        _move_to(turn, pushed, refuge, next_cell)


@jit
def execution_phase(tables, agents, plans, turn, push, replan, next_cell, waits_for):
    """Alg. 2, l. 5-15: let everybody take a step, one after the other. Mutates: plans, turn, next_cell, waits_for.

    `tables` are the grid's own: the ways keep to the streets already, and who is pushed need not.
    """
    for agent in range(agents.cell.size):
        if plans.done[agent] == plans.length[agent]:                            # l. 6
            continue
        target = agents.cell[agent] + tables.offset[plans.step[agent, plans.done[agent]]]
        other = turn.taken[target]
        if (
            push
            and other != NO_AGENT
            and agents.cell[other] == agents.goal[other] == next_cell[other]    # it is home and has not moved
            and agents.controlled[other]
            and not agents.pinned[other]
        ):
            push_aside(tables, plans, turn, agent, other, next_cell)            # l. 8-10
        if turn.taken[target] == NO_AGENT:                                      # l. 11-13
            _move_to(turn, agent, target, next_cell)
            plans.done[agent] += 1
        else:
            waits_for[agent] = other
            if replan:
                plans.limit[agent] = 0


@jit
def wish_phase(tables, agents, plans, learned, time, patience, lot, wish):
    """Say where everybody wants to be next, NO_CELL if it has no way but can do without. Mutates: plans, wish."""
    for agent in range(agents.cell.size):
        wish[agent] = agents.cell[agent]
        if agents.cell[agent] == NO_CELL:
            continue
        is_home = agents.cell[agent] == agents.goal[agent]
        gives_up = time - plans.moved[agent] >= patience and scramble(lot ^ scramble(agent)) & 7 == 0
        if is_home or gives_up:
            plans.away[agent] = plans.moved[agent] = time
        if is_home:
            continue
        if plans.done[agent] < plans.length[agent]:
            wish[agent] += tables.offset[plans.step[agent, plans.done[agent]]]
        elif knows_its_way(agents, learned, agent):
            wish[agent] = NO_CELL


@jit
def follow_phase(agents, plans, wish, time, replan, next_cell):
    """Note who makes the next step of its way, and who loses its way because it has to leave it. Mutates: plans."""
    for agent in range(agents.cell.size):
        if next_cell[agent] != agents.cell[agent]:
            plans.moved[agent] = time
        if plans.done[agent] == plans.length[agent]:
            continue
        if next_cell[agent] == wish[agent]:
            plans.done[agent] += 1
        elif next_cell[agent] != agents.cell[agent]:
            plans.done[agent] = plans.length[agent] = 0
        elif replan:
            plans.limit[agent] = 0


@dataclass
class Bmaa(Planner):
    """BMAA*, with `push` and `flow` its variants -c, -f and -f-c, and Surge."""

    expansions: int = parameter(32, "nodes that a search expands at most (lookahead)", minimum=1, maximum=10_000)
    vision: float = parameter(math.sqrt(2), "distance up to which agents see each other", minimum=0)
    moves: int = parameter(32, "ticks for which a way is followed before the next search", minimum=1, maximum=2**31)
    push: bool = parameter(False, "whether agents push others off their goals for a moment")
    flow: str = parameter("none", "one-way streets: none, the paper's, or ours", choices=("none", GLOBAL, LOCAL))
    heuristic: str = parameter("octile", "distances: of an empty map, or over blocks", choices=("octile", "blocks"))
    block: int = parameter(8, "side of a block, in cells", minimum=2, maximum=64)
    make_way: bool = parameter(False, "whether whoever is in the way makes way, in a chain; then `push` is of no use")
    patience: int = parameter(8, "ticks of standing still after which an agent lets others go first", minimum=1)
    replan_when_blocked: bool = parameter(False, "whether an agent that is stopped searches anew in the next tick")
    spread: int = parameter(0, "ticks by which some ways expire early, so that not all search at once", minimum=0)
    threads: int = parameter(1, "threads that search; the result does not depend on it", minimum=1, maximum=64)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._flow = None if self.flow == "none" else Flow(state.grid, self.flow)
        if self._flow is not None:
            self._flow.tables()         # now: the first tick has enough to do
        self._distances = None if self.heuristic == "octile" else BlockDistances(state.grid, self.block)
        self._learned = make_learned(state.grid)
        self._threads = Threads(self.threads)
        self._lookaheads = make_lookahead(cells, self.expansions, workers=self.threads)
        self._batch = make_batch(self.expansions)
        self._vision_square = _FAR_AWAY if self.vision > 2**20 else int((self.vision + 1e-9) ** 2)
        self._is_edited = False
        nobody = np.zeros(0, np.int32)
        self._turn = Turn(
            np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int64),
            np.full(cells, NO_AGENT, np.int32), nobody,
        )  # fmt: skip
        self._plans = Plans(
            np.zeros((0, self.expansions), np.uint8), nobody, nobody, *(nobody.astype(np.int64) for _ in range(3))
        )
        self._make_room(1)
        for agent in range(state.agents.cell.size):
            self.agent_added(agent)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, plans = self.state, self._plans
        tables = state.grid.tables if self._flow is None else self._flow.tables()
        if self._is_edited:
            self._is_edited = False
            drop_cut_routes(tables, state.agents, plans)
        begin_tick(state.agents, self._turn, proposal.next_cell)
        self._search(tables, proposal, budget)
        if not self.make_way:
            execution_phase(
                state.grid.tables, state.agents, plans, self._turn, self.push, self.replan_when_blocked,
                proposal.next_cell, proposal.waits_for,
            )  # fmt: skip
            return
        lot = int(scramble(self.seed ^ int(scramble(state.tick))))
        wish = np.empty(state.agents.cell.size, np.int32)
        wish_phase(state.grid.tables, state.agents, plans, self._learned, state.tick, self.patience, lot, wish)
        order = np.argsort(plans.away[: wish.size], kind="stable").astype(np.int32)
        crowd = Crowd(state.grid.tables, state.agents, state.occupant, self._learned, wish, lot)
        settle(crowd, order, self._decisions, *proposal)
        follow_phase(state.agents, plans, wish, state.tick, self.replan_when_blocked, proposal.next_cell)

    def _search(self, tables: GridTables, proposal: Proposal, budget: Budget) -> None:
        """Alg. 2, l. 2-4: let everybody who needs one search a way, in turn, as far as the budget goes."""
        state, batch, turn = self.state, self._batch, self._turn
        limit = budget.slice()
        expansions = min(self.expansions, limit)
        answer = _BATCH_FULL
        while answer != _DONE and limit >= expansions > 0:
            answer = pick_searches(
                tables, state.agents, self._plans, self._learned, self._block_list(), batch, turn, state.tick,
                self.make_way, expansions, limit,
            )  # fmt: skip
            self._threads.run(
                search_phase, tables, state.agents, self._plans, self._learned, self._lookaheads, batch, turn.taken,
                proposal.waits_for, state.tick, self.moves, self.spread, self._vision_square, expansions,
            )  # fmt: skip
            while learn_phase(tables, self._learned, batch, turn, expansions) == _PAGES_SPENT:
                self._learned = with_more_pages(self._learned, pages_needed(self._learned, expansions))
            budget.spend(turn.spent[0])
            limit = budget.slice()

    def _block_list(self) -> OpenList:
        """What searches over blocks work with."""
        return _NO_LIST if self._distances is None else self._distances.open_list

    def _make_room(self, agents: int) -> None:
        """Grow the arrays for so many agents, doubling as they grow."""
        rows = self._turn.stands.size
        if agents <= rows:
            return
        room = max(agents, 2 * rows)
        self._learned = with_agents(self._learned, room)
        step = np.zeros((room, self.expansions), np.uint8)      # what is not in use takes no memory
        step[:rows] = self._plans.step
        self._plans = Plans(step, *(np.pad(array, (0, room - rows)) for array in self._plans[1:]))
        stands = np.pad(self._turn.stands, (0, room - rows), constant_values=NO_CELL)
        self._turn = self._turn._replace(stands=stands)
        self._decisions = allocate(Decisions, agents=room, cells=self.state.grid.size)

    def counters(self) -> dict[str, int]:
        return {"repaths": int(self._turn.repaths[0])}

    def agent_added(self, agent: int) -> None:
        self._make_room(agent + 1)
        self._aim(agent)

    def agent_removed(self, agent: int) -> None:
        self._forget(agent)
        if self._distances is not None:
            self._distances.release(int(self._learned.row[agent]))
            self._learned.row[agent] = NO_ROW

    def agent_retasked(self, agent: int) -> None:
        self._forget(agent)
        self._aim(agent)

    def _aim(self, agent: int) -> None:
        """Note when an agent got its order, and which distances are those to its goal."""
        self._plans.away[agent] = self._plans.moved[agent] = self.state.tick
        self._find_rows([agent])

    def _find_rows(self, agents: list[int]) -> None:
        """Find the distances to the goals of some agents, in place of those that they had."""
        if self._distances is None:
            return
        for agent in agents:
            self._distances.release(int(self._learned.row[agent]))
            self._learned.row[agent] = self._distances.acquire(int(self.state.agents.goal[agent]))
        self._learned = self._learned._replace(blocks=self._distances.blocks, ways=self._distances.ways)

    def _forget(self, agent: int) -> None:
        self._plans.length[agent] = self._plans.done[agent] = self._plans.limit[agent] = 0
        forget(self._learned, agent)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._is_edited = True
        grid = self.state.grid
        forget_around(self._learned, filter(grid.is_free, map(grid.xy, cells.tolist())))
        if self._flow is not None:
            self._flow.cells_changed(cells)
        if self._distances is not None:
            self._distances.cells_changed(cells)
            cell, goal = self.state.agents.cell, self.state.agents.goal
            is_right = self._distances.are_rows_of(self._learned.row[: cell.size], goal)
            self._find_rows(np.flatnonzero(~is_right & (cell != NO_CELL)).tolist())
