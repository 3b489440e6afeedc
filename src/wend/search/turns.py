# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Agents that search their paths by A*, one after the other, within an allowance of expansions.

All searches share one workspace. Where the allowance ends, the search at hand is suspended, and goes on in the next
tick where it stopped; so no agent starves, however little may be searched in a tick. A planner's loop over its agents
begins with the agent whose turn it is:

    for _ in range(agents):
        agent = whose_turn(turns)
        if it has something to search:
            if not is_begun(turns, purpose, start, goal):
                if is_spent(turns):
                    return OUT_OF_BUDGET
                begin_search(tables, turns, purpose, start, goal, 0, 0)
            answer = search_on(tables, turns, NO_LIMIT)
            if answer == FOUND and not keep_path(tables, turns, paths, agent, 0):
                return OUT_OF_SPACE             # the search is kept, to be read off when there is space
            if answer == OUT_OF_BUDGET:
                return OUT_OF_BUDGET
        end_turn(turns, agents)
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import OUT_OF_BUDGET, UNREACHABLE, jit
from wend.kernel.allowance import Allowance
from wend.kernel.arrays import allocate, record
from wend.search.astar import Search, begin, expansions_of, make_search, path_length, run
from wend.search.paths import has_space, put_move, shorten

NOTHING = 0     # the purpose of no search


class Turns(NamedTuple):
    """Whose turn it is, and the search that it is in."""

    search: Search
    allowance: Allowance
    counts: Annotated[np.ndarray, record("agent", "purpose")]   # what its search is for, NOTHING if none is begun

    def lengths_in_use(self) -> dict[str, int]:
        """A snapshot has to hold nodes only of a search that goes on, and marks in any case."""
        return {"nodes": 0} if self.counts[0].purpose == NOTHING else {}


def make_turns(cells: int) -> Turns:
    """Turns on a map of so many cells; agent 0 begins."""
    return allocate(Turns, {"search": make_search(cells)})


@jit
def whose_turn(turns):
    """The agent that may search now."""
    return turns.counts[0].agent


@jit
def is_spent(turns):
    """Whether the allowance is used up."""
    counts = turns.allowance.counts[0]
    return counts.spent >= counts.limit


@jit
def is_begun(turns, purpose, start, goal):
    """Whether the search at hand is this one."""
    job = turns.search.job[0]
    return turns.counts[0].purpose == purpose and job.start == start and job.goal == goal


@jit
def is_searching(turns, purpose):
    """Whether the search at hand is for this, wherever its agent was when it began."""
    return turns.counts[0].purpose == purpose


@jit
def begin_search(tables, turns, purpose, start, goal, noise, noise_seed):
    """Begin a search for the agent whose turn it is, with `noise` as in `astar.begin`. Mutates: turns."""
    turns.counts[0].purpose = purpose
    begin(tables, turns.search, start, goal, noise, noise_seed)


@jit
def search_on(tables, turns, most):
    """Go on with the search at hand; answer FOUND, OUT_OF_BUDGET, or UNREACHABLE, also after `most` expansions of it.

    Mutates: turns.
    """
    search, allowance = turns.search, turns.allowance.counts[0]
    before = expansions_of(search)
    answer = run(tables, search, min(allowance.limit - allowance.spent, most - before))
    allowance.spent += expansions_of(search) - before
    return UNREACHABLE if answer == OUT_OF_BUDGET and expansions_of(search) >= most else answer


@jit
def keep_path(tables, turns, paths, agent, kept):
    """Put the path found in front of the last `kept` moves of an agent's old one; False if there is no space.

    Mutates: paths.
    """
    search = turns.search
    length = path_length(tables, search)
    if not has_space(paths, length):
        return False
    shorten(paths, agent, kept)
    cell = search.job[0].goal
    for _ in range(length):
        d = search.parent[cell]
        put_move(paths, agent, d)
        cell -= tables.offset[d]
    return True


@jit
def end_turn(turns, agents):
    """It is the next of so many agents' turn. Mutates: turns."""
    following = turns.counts[0].agent + 1
    turns.counts[0].purpose, turns.counts[0].agent = NOTHING, following if following < agents else 0


@jit
def abandon_search(turns):
    """Forget the search at hand; the agent whose turn it is begins anew. Mutates: turns."""
    turns.counts[0].purpose = NOTHING


def abandon_search_of(turns: Turns, agent: int) -> None:
    """The same if it is this agent's turn. Mutates: turns."""
    if turns.counts[0].agent == agent:
        abandon_search(turns)
