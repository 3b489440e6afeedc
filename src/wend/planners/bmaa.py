# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""BMAA*: every agent runs a real-time search of its own and takes the others for moving obstacles.

Devon Sigurdson, Vadim Bulitko, William Yeoh, Carlos Hernández, Sven Koenig: Multi-Agent Pathfinding with Real-Time
Heuristic Search. IEEE Conference on Computational Intelligence and Games (CIG) 2018.

An agent looks a few nodes ahead (RTAA*), learns from what it saw, and follows the way that it found for some ticks. It
sees only agents that are very near. Nobody shares plans or knowledge, so a tick costs little, an order costs nothing,
and congestion spreads by itself; the price is long ways. Two extensions: an agent may push another off its goal for a
moment (-c), and searches may keep to one-way streets (-f).

    paper                                        here
    Alg. 2, NPC-Controller, search phase         search_phase
    Alg. 2, NPC-Controller, execution phase      execution_phase
    PushAgent                                    push_aside
    Alg. 3, Search-Phase                         the body of search_phase
    Alg. 4, Update-Heuristic-Values              search/real_time.py, learn
    Alg. 5, Search                               search/real_time.py, look_ahead
    GetNeighbors(flow)                           search/flow.py, used as another neighbour table

Work per tick: O(agents), plus `expansions` nodes for every agent whose way has come to its end.

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

from wend.planners.base import Budget, Planner, Proposal, State, parameter
from wend.search.flow import GLOBAL, LOCAL, Flow
from wend.search.kernel import NO_AGENT, NO_CELL, jit
from wend.search.real_time import (
    NO_NODE,
    forget,
    forget_around,
    learn,
    look_ahead,
    make_learned,
    make_lookahead,
    pages_left,
    pages_needed,
    with_agents,
    with_more_pages,
    write_prefix,
)
from wend.search.routes import drop_cut_routes

# What `search_phase` answers
_DONE = 0
_BUDGET_SPENT = 1
_PAGES_SPENT = 2

_FAR_AWAY = 2**40       # a squared distance that no two cells of a map have


class Plans(NamedTuple):
    """The prefix P of each agent's path; P(current cell) is undefined when done == length."""

    step: np.ndarray    # uint8[agents, expansions]  directions, first move first
    length: np.ndarray  # int32[agents]              moves in P
    done: np.ndarray    # int32[agents]              moves made
    limit: np.ndarray   # int64[agents]              tick from which P has expired


class Turn(NamedTuple):
    """Whose search it is, and who stands where while the tick goes on."""

    agent: np.ndarray       # int32[1]       the agent to look at next
    left: np.ndarray        # int32[1]       agents to look at in this tick
    spent: np.ndarray       # int64[1]       expansions made by the last call
    repaths: np.ndarray     # int64[1]       searches so far by agents with moves left in their ways
    taken: np.ndarray       # int32[cells]   the agent that stands there, or NO_AGENT
    stands: np.ndarray      # int32[agents]  the cell where `taken` has the agent, or NO_CELL


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
def _wants_search(agents, plans, agent, time):
    """Whether an agent has somewhere to go, and P(current cell) is undefined or has expired (Alg. 3, l. 2)."""
    return (
        agents.controlled[agent]
        and agents.cell[agent] != NO_CELL
        and agents.cell[agent] != agents.goal[agent]
        and (plans.done[agent] == plans.length[agent] or time >= plans.limit[agent])
    )


@jit
def search_phase(
    tables, agents, plans, learned, lookahead, turn, waits_for, time, moves, vision_square, expansions, max_expansions
):
    """Alg. 2, l. 2-4: let everybody who needs one search a way, in turn. Mutates: all but tables, agents."""
    turn.spent[0] = 0
    while turn.left[0] > 0:
        agent = turn.agent[0]
        if _wants_search(agents, plans, agent, time):
            if turn.spent[0] + expansions > max_expansions:
                return _BUDGET_SPENT
            if pages_left(learned) < pages_needed(learned, expansions):
                return _PAGES_SPENT
            turn.repaths[0] += plans.done[agent] < plans.length[agent]
            node = look_ahead(                                                  # Alg. 3, l. 3
                tables, learned, agent, lookahead, turn.taken, agents.cell[agent], agents.goal[agent],
                vision_square, expansions,
            )  # fmt: skip
            turn.spent[0] += lookahead.expanded[0]
            plans.done[agent] = 0
            if node != NO_NODE:                                                 # Alg. 3, l. 4-9
                learn(learned, agent, lookahead, node)
                plans.length[agent] = write_prefix(tables, lookahead, node, plans.step[agent])
                plans.limit[agent] = time + moves
            else:
                plans.length[agent] = 0
                waits_for[agent] = lookahead.seen[0]
        turn.left[0] -= 1
        turn.agent[0] = (agent + 1) % agents.cell.size
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
def execution_phase(tables, agents, plans, turn, push, next_cell, waits_for):
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


@dataclass
class Bmaa(Planner):
    """BMAA*, and with `push` and `flow` its variants -c, -f and -f-c."""

    expansions: int = parameter(32, "nodes that a search expands at most (lookahead)", minimum=1, maximum=10_000)
    vision: float = parameter(math.sqrt(2), "distance up to which agents see each other", minimum=0)
    moves: int = parameter(32, "ticks for which a way is followed before the next search", minimum=1, maximum=2**31)
    push: bool = parameter(False, "whether agents push others off their goals for a moment")
    flow: str = parameter("none", "one-way streets: none, the paper's, or ours", choices=("none", GLOBAL, LOCAL))

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        cells = state.grid.size
        self._flow = None if self.flow == "none" else Flow(state.grid, self.flow)
        if self._flow is not None:
            self._flow.tables()         # now: the first tick has enough to do
        self._learned = make_learned(state.grid)
        self._lookahead = make_lookahead(cells, self.expansions)
        self._vision_square = _FAR_AWAY if self.vision > 2**20 else int((self.vision + 1e-9) ** 2)
        self._is_edited = False
        nobody = np.zeros(0, np.int32)
        self._turn = Turn(
            np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int64),
            np.full(cells, NO_AGENT, np.int32), nobody,
        )  # fmt: skip
        self._plans = Plans(np.zeros((0, self.expansions), np.uint8), nobody, nobody, nobody.astype(np.int64))
        self._make_room(state.agents.cell.size)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        state, turn, plans = self.state, self._turn, self._plans
        tables = state.grid.tables if self._flow is None else self._flow.tables()
        if self._is_edited:
            self._is_edited = False
            drop_cut_routes(tables, state.agents, plans)
        begin_tick(state.agents, turn, proposal.next_cell)
        limit = budget.slice()
        expansions = min(self.expansions, limit)
        answer = _BUDGET_SPENT
        while answer != _DONE and limit >= expansions > 0:
            answer = search_phase(
                tables, state.agents, plans, self._learned, self._lookahead, turn, proposal.waits_for,
                state.tick, self.moves, self._vision_square, expansions, limit,
            )  # fmt: skip
            budget.spend(turn.spent[0])
            if answer == _PAGES_SPENT:
                self._learned = with_more_pages(self._learned, pages_needed(self._learned, expansions))
            limit = budget.slice()
        execution_phase(
            state.grid.tables, state.agents, plans, turn, self.push, proposal.next_cell, proposal.waits_for
        )

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

    def counters(self) -> dict[str, int]:
        return {"repaths": int(self._turn.repaths[0])}

    def agent_added(self, agent: int) -> None:
        self._make_room(agent + 1)

    def agent_removed(self, agent: int) -> None:
        self._forget(agent)

    def agent_retasked(self, agent: int) -> None:
        self._forget(agent)

    def _forget(self, agent: int) -> None:
        self._plans.length[agent] = self._plans.done[agent] = 0
        forget(self._learned, agent)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._is_edited = True
        grid = self.state.grid
        forget_around(self._learned, filter(grid.is_free, map(grid.xy, cells.tolist())))
        if self._flow is not None:
            self._flow.cells_changed(cells)
