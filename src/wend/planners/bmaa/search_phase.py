# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The search phase of BMAA*: every agent whose path has come to its end or has expired gets a new one.

Sigurdson et al. (CIG 2018), Algorithm 3, and lines 2 to 4 of Algorithm 2. See bmaa.py.

Searches are made in batches. Within a batch no agent moves, and none reads what others learn, so threads may share
them; what was found is learned afterwards, one search after the other. The result does not depend on the batches.

With a budget, agents without a path whose turn has not come take a step by what they believe (`step_phase`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.arrays import allocate, int32, int64, record, uint8
from wend.kernel.compiling import prepared
from wend.kernel.threads import Threads
from wend.maps.terrain import GridTables
from wend.planners.base import Budget, Proposal, State
from wend.search.beliefs import Beliefs
from wend.search.blocks import reach
from wend.search.real_time import (
    NO_NODE,
    NO_STEP,
    Surroundings,
    can_learn,
    knows_distance,
    learn,
    look_ahead,
    make_lookahead,
    note_closed,
    step_beside,
    write_prefix,
)

_DONE = 0               # what `pick_searches` and `learn_phase` answer, or OUT_OF_BUDGET, or OUT_OF_SPACE
_FAR_AWAY = 2**40       # a squared distance that no two cells of a map have
_BATCH = 256            # searches that are made at a time


class Prefixes(NamedTuple):
    """The prefix P of each agent's path; P(current cell) is undefined when done == length."""

    step: Annotated[np.ndarray, uint8("agents", "expansions")]  # directions, first move first
    length: Annotated[np.ndarray, int32("agents")]              # moves in P
    done: Annotated[np.ndarray, int32("agents")]                # moves made
    limit: Annotated[np.ndarray, int64("agents")]               # tick from which P has expired


class Standing(NamedTuple):
    """Where agents stand while a tick goes on, and which of them is to search next."""

    taken: Annotated[np.ndarray, int32("cells", fill=NO_AGENT)]     # the agent that stands there, or NO_AGENT
    stands: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]    # the cell where `taken` has the agent, or NO_CELL
    counts: Annotated[
        np.ndarray,
        record(
            "agent",        # the agent to look at next
            "left",         # agents to look at in this tick
            "spent",        # expansions made by the last call
            "repaths",      # searches so far by agents with moves left in their prefixes
        ),
    ]


class Pace(NamedTuple):
    """How long agents follow a path."""

    moves: int      # ticks until it expires
    spread: int     # ticks by which those of some agents expire early
    roams: bool     # an agent that was pushed off its path does without until it would have expired


class Batch(NamedTuple):
    """Searches that are made at the same time, and what is to be learned from them."""

    agent: Annotated[np.ndarray, int32("searches")]                 # the agent that searches
    expanded: Annotated[np.ndarray, int32("searches")]              # nodes expanded
    closed: Annotated[np.ndarray, int32("searches")]                # nodes of which something is to be learned,
    cell: Annotated[np.ndarray, int32("searches", "expansions")]    # ... where they are,
    value: Annotated[np.ndarray, int64("searches", "expansions")]   # ... and what is to be believed of them
    counts: Annotated[
        np.ndarray,
        record(
            "searches",     # how many there are
            "learned",      # those of them that have been learned from
            "time",         # the tick in which they are made
            "expansions",   # nodes that each of them may expand
        ),
    ]


@jit
def _wants_search(agents, prefixes, learned, agent, time, roams):
    """Whether an agent has somewhere to go, and P(current cell) is undefined or has expired (Alg. 3, l. 2).

    If agents roam, one that lost its path, but knows its distances, does without until the path would have expired.
    """
    if not agents.controlled[agent] or agents.cell[agent] == NO_CELL or agents.cell[agent] == agents.goal[agent]:
        return False
    if time >= prefixes.limit[agent]:
        return True
    can_do_without = roams and prefixes.length[agent] == 0 and knows_distance(learned, agent, agents.cell[agent])
    return prefixes.done[agent] == prefixes.length[agent] and not can_do_without


@jit
def pick_searches(tables, agents, prefixes, learned, open_list, batch, standing, pace, max_expansions):
    """Fill a batch with searches that are due (Alg. 3, l. 2) and affordable. Mutates: all but agents, prefixes.

    Distances over blocks are searched here, before any lookahead: agents whose goals share a group share them.
    """
    counts, picked = standing.counts[0], batch.counts[0]
    counts.spent = 0
    picked.searches = picked.learned = 0
    while counts.left > 0:
        agent = counts.agent
        if _wants_search(agents, prefixes, learned, agent, picked.time, pace.roams):
            left = max_expansions - counts.spent - picked.searches * picked.expansions
            if left < picked.expansions:
                return OUT_OF_BUDGET
            if picked.searches == batch.agent.size:
                return OUT_OF_SPACE
            if not knows_distance(learned, agent, agents.cell[agent]):
                group = learned.blocks.group[agents.cell[agent]]
                made = reach(tables, learned.blocks, learned.rows, open_list, learned.row[agent], group, left)
                counts.spent += made
                if left - made < picked.expansions:
                    return OUT_OF_BUDGET
            batch.agent[picked.searches] = agent
            picked.searches += 1
            counts.repaths += prefixes.done[agent] < prefixes.length[agent]
        counts.left -= 1
        counts.agent = agent + 1 if agent + 1 < agents.cell.size else 0
    return _DONE


@jit
def search_phase(around, agents, prefixes, batch, pace, waits_for, lookahead, worker, workers):
    """Alg. 3, l. 3-9, for a worker's share of the batch. Mutates: prefixes, batch, waits_for, lookahead."""
    picked = batch.counts[0]
    for k in range(worker, picked.searches, workers):
        agent = batch.agent[k]
        node = look_ahead(around, lookahead, agent, agents.cell[agent], agents.goal[agent], picked.expansions)
        batch.expanded[k] = lookahead.counts[0].expanded
        prefixes.done[agent] = prefixes.length[agent] = batch.closed[k] = 0
        if node != NO_NODE:
            batch.closed[k] = note_closed(lookahead, node, batch.cell[k], batch.value[k])
            prefixes.length[agent] = write_prefix(around.tables, lookahead, node, prefixes.step[agent])
            prefixes.limit[agent] = picked.time + max(1, pace.moves - agent % (pace.spread + 1))
        else:
            prefixes.limit[agent] = 0
            waits_for[agent] = lookahead.counts[0].seen


@jit
def learn_phase(tables, learned, batch, standing):
    """Alg. 4 for the whole batch, one search after the other: they share a pool of pages. Mutates: all but tables."""
    picked = batch.counts[0]
    while picked.learned < picked.searches:
        k = picked.learned
        if not can_learn(learned, picked.expansions):
            return OUT_OF_SPACE
        learn(tables, learned, batch.agent[k], batch.cell[k, : batch.closed[k]], batch.value[k])
        standing.counts[0].spent += batch.expanded[k]
        picked.learned += 1
    return _DONE


@jit
def step_phase(around, agents, prefixes, standing, time, roams):
    """Give a prefix of one step to agents that want to search, have no path and were not looked at in this tick.

    Answers OUT_OF_SPACE if it has to be called again. Mutates: around.learned, prefixes, standing.
    """
    counts = standing.counts[0]
    while counts.left > 0:
        agent = (counts.agent + counts.left - 1) % agents.cell.size
        if prefixes.done[agent] == prefixes.length[agent] and _wants_search(
            agents, prefixes, around.learned, agent, time, roams
        ):
            if not can_learn(around.learned, 1):
                return OUT_OF_SPACE
            d = step_beside(around, agent, agents.cell[agent], agents.goal[agent])
            prefixes.done[agent] = prefixes.length[agent] = prefixes.limit[agent] = 0
            if d != NO_STEP:
                prefixes.step[agent, 0], prefixes.length[agent] = d, 1
        counts.left -= 1
    return _DONE


KERNELS: tuple[Callable[..., Any], ...] = (pick_searches, search_phase, learn_phase)


class Searches:
    """The searches of all agents, with what they need: a workspace for each thread."""

    uncaptured = ("_threads", "_lookaheads", "_batch", "_is_prepared")      # they hold nothing between two ticks

    def __init__(self, cells: int, *, expansions: int, vision: float, pace: Pace, threads: int) -> None:
        self._expansions = expansions
        self._vision_square = _FAR_AWAY if vision > 2**20 else int((vision + 1e-9) ** 2)
        self._pace = pace
        self._threads = Threads(threads)
        self._lookaheads = [make_lookahead(cells, expansions) for _ in range(threads)]
        self._batch = allocate(Batch, searches=_BATCH, expansions=expansions)
        self._is_prepared = False       # the kernels were called with the types of this planner

    def run(
        self, tables: GridTables, state: State, prefixes: Prefixes, standing: Standing, beliefs: Beliefs,
        proposal: Proposal, budget: Budget,
    ) -> None:  # fmt: skip
        """Alg. 2, l. 2-4: let agents that need a path search in turn, as far as the budget goes."""
        agents, batch, pace = state.agents, self._batch, self._pace
        pick, search, learn_from = map(prepared, KERNELS) if self._is_prepared else KERNELS
        limit = budget.slice()
        expansions = min(self._expansions, limit)
        batch.counts["time"], batch.counts["expansions"] = state.tick, expansions
        answer = OUT_OF_SPACE
        while answer != _DONE and limit >= expansions > 0:
            answer = pick(tables, agents, prefixes, beliefs.learned, beliefs.open_list, batch, standing, pace, limit)
            if batch.counts["searches"][0] > 0:
                around = Surroundings(tables, beliefs.learned, standing.taken, self._vision_square)
                self._threads.run(
                    search, around, agents, prefixes, batch, pace, proposal.waits_for, own=self._lookaheads
                )
                while learn_from(tables, beliefs.learned, batch, standing) == OUT_OF_SPACE:
                    beliefs.make_space()
                self._is_prepared = True
            budget.spend(standing.counts["spent"][0])
            limit = budget.slice()
        while answer != _DONE:
            around = Surroundings(tables, beliefs.learned, standing.taken, self._vision_square)
            answer = step_phase(around, agents, prefixes, standing, state.tick, pace.roams)
            if answer != _DONE:
                beliefs.make_space()
