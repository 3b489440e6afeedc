# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Courses: how agents move while the distances to their goals are not known yet.

The backward search of an order to the other end of the map may take all that a budget allows for many ticks. With a
budget, agents do not wait for it. Until it has come to them they are *rough*, and go as Surge's agents do:

- By what they believe. Distances over blocks (search/blocks.py) take some dozens of expansions; a lookahead of
  a few nodes then finds a path around the walls nearby, and learns (RTAA*, search/real_time.py). An agent that
  is pushed off its path goes by what it believes until that path would have expired.
- At once. Before the distances over blocks are known, an agent goes by those on the empty map. In each tick without a
  path it learns what the best cell beside it promises (LRTA*), which costs no expansion and leads it out of dead ends.

Up to 7/8 of a tick's budget, and `_MOST` at the most, goes into lookaheads, by turns. What the planner leaves of the
rest goes into the backward searches. Without a budget nothing of all this happens: all distances are known at once.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.arrays import allocate, flags, grown, int32, int64, record, uint8
from wend.maps.grid import Grid
from wend.planners.base import Agents, Budget, State
from wend.search.beliefs import Beliefs
from wend.search.real_time import (
    NO_NODE,
    Learned,
    Surroundings,
    can_learn,
    knows_distance,
    learn_beside,
    write_prefix,
)
from wend.search.rough_paths import BLOCK, EXPANSIONS, look, make_ahead

_MOST = 6_000       # expansions of lookaheads in a tick, about 1 ms: with 2,000, the distances over blocks to 1,000
                    # ... goals took up to 200 ticks on large maps, in which agents ran into dead ends
_MOVES = 32         # ticks after which a path expires,
_SPREAD = 16        # ... up to so many ticks earlier for some agents, so that they do not search all at once


class Courses(NamedTuple):
    """How agents move while the distances to their goals are not known."""

    is_exact: Annotated[np.ndarray, flags("agents")]                # the distances to its goal are known
    is_rough: Annotated[np.ndarray, flags("agents")]                # they are not, in the tick at hand; it has no plan
    step: Annotated[np.ndarray, uint8("agents", "expansions")]      # its path: directions, first move first
    length: Annotated[np.ndarray, int32("agents")]                  # moves in it,
    done: Annotated[np.ndarray, int32("agents")]                    # ... those that were made,
    until: Annotated[np.ndarray, int64("agents")]                   # ... and the tick from which on it has expired
    stood: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]     # where it stands on that path,
    wish: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]      # ... and its next cell there, if it goes by it
    counts: Annotated[
        np.ndarray,
        record(
            "with_budget",  # whether the tick at hand has a budget
            "turn",         # the agent whose turn it is to look ahead,
            "unasked",      # ... how many, from it on, have not had their turn in the tick at hand,
            "refined",      # ... and to have its distance searched
        ),
    ]


@jit
def follow_paths(agents, courses):
    """Note which rough agents have made the next step of their paths, and which have lost them. Mutates: courses."""
    for agent in range(agents.cell.size):
        cell, wish = agents.cell[agent], courses.wish[agent]
        courses.wish[agent] = NO_CELL
        if cell == wish:
            courses.done[agent] += 1
            courses.stood[agent] = cell
        elif cell != courses.stood[agent] or cell == agents.goal[agent]:
            courses.done[agent] = courses.length[agent] = 0


@jit
def _wants_path(agents, courses, learned, agent, tick):
    """Whether an agent has to look ahead, as in Surge."""
    cell = agents.cell[agent]
    if cell == NO_CELL or not agents.controlled[agent] or cell == agents.goal[agent] or courses.is_exact[agent]:
        return False
    if tick >= courses.until[agent]:
        return True
    can_do_without = courses.length[agent] == 0 and knows_distance(learned, agent, cell)
    return courses.done[agent] == courses.length[agent] and not can_do_without


@jit
def look_phase(around, agents, courses, open_list, work, tick, limit):
    """Give a path to all rough agents that need one, by turns, within so many expansions.

    Answers how many were made, or OUT_OF_SPACE before any. Called again in the same tick, it goes on with those whose
    turn has not come. Mutates: around.learned, courses, open_list, work.
    """
    tables, learned, counts, count = around.tables, around.learned, courses.counts[0], agents.cell.size
    expansions, made, begun, unasked = min(work.cell.size, limit), np.int64(0), counts.turn, counts.unasked
    for k in range(unasked):
        agent = (begun + k) % count
        if not _wants_path(agents, courses, learned, agent, tick):
            continue
        counts.turn, counts.unasked = agent, unasked - k
        if limit - made < expansions or limit == 0:
            return made
        if not can_learn(learned, expansions):
            return made if made > 0 else np.int64(OUT_OF_SPACE)
        cell = agents.cell[agent]
        spent, node = look(around, open_list, work, agent, cell, agents.goal[agent], expansions, limit - made)
        made += spent
        if node == OUT_OF_BUDGET:
            return made
        courses.stood[agent], courses.done[agent], courses.length[agent] = cell, 0, 0
        if node != NO_NODE:
            courses.length[agent] = write_prefix(tables, work.lookahead, node, courses.step[agent])
            courses.until[agent] = tick + _MOVES - agent % (_SPREAD + 1)
    counts.unasked = 0
    return made


@jit
def learn_phase(tables, agents, courses, learned):
    """Let rough agents without a path learn what the best cell beside them promises; answer 0, or OUT_OF_SPACE.

    Mutates: learned.
    """
    for agent in range(agents.cell.size):
        if not courses.is_rough[agent] or courses.done[agent] < courses.length[agent]:
            continue
        if not can_learn(learned, 1):
            return OUT_OF_SPACE
        learn_beside(tables, learned, agent, agents.cell[agent], agents.goal[agent])
    return 0


class RoughCourses:
    """What rough agents believe, and the paths that they follow: the events of the world, and arrays that grow."""

    uncaptured = ("_work",)     # scratch

    def __init__(self, grid: Grid, beliefs: Beliefs) -> None:
        """No courses yet, on a grid; agents have these beliefs, which others may share."""
        self.courses = allocate(Courses, agents=0, expansions=EXPANSIONS)
        self._beliefs = beliefs
        self._work = make_ahead(grid.size)
        self._has_budget = False                # the same as courses.counts.with_budget

    @property
    def learned(self) -> Learned:
        """What all agents have learned."""
        return self._beliefs.learned

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self.courses = grown(self.courses, agents=agents)
        self._beliefs.reserve(agents)

    def aim(self, agent: int, goal: int, tick: int) -> bool:
        """Say where an agent wants to go. If that is near its last goal it keeps what it knows, to chase what moves.

        Returns whether it is elsewhere.
        """
        courses, moves = self.courses, self._beliefs.moves_of_goal(agent, goal)
        courses.is_exact[agent] = False
        if moves <= BLOCK:                      # its distances and its path are about right
            courses.until[agent] = min(courses.until[agent], tick + BLOCK)
            return False
        self._beliefs.forget(agent)
        self._beliefs.aim(agent, goal)
        courses.until[agent] = 0
        if moves > 4 * BLOCK:                   # otherwise it follows its path until there is another one
            courses.done[agent] = courses.length[agent] = 0
            courses.wish[agent] = NO_CELL
        return True

    def aim_all(self, agents: NDArray[np.int32], goals: NDArray[np.int32], tick: int) -> NDArray[np.int32]:
        """The same for many agents, for which there is space. Returns those that are sent elsewhere."""
        courses, moves = self.courses, self._beliefs.moves_of_goals(agents, goals)
        courses.is_exact[agents] = False
        is_far = moves > BLOCK
        near, far = agents[~is_far], agents[is_far]
        courses.until[near] = np.minimum(courses.until[near], tick + BLOCK)
        self._beliefs.aim_anew(far, goals[is_far])
        courses.until[far] = 0
        very_far = agents[moves > 4 * BLOCK]
        courses.done[very_far] = courses.length[very_far] = 0
        courses.wish[very_far] = NO_CELL
        return far

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        self._beliefs.drop(agent)

    def look_ahead(self, state: State, budget: Budget) -> None:
        """Begin a tick with a budget: let rough agents that need a path look ahead, for most of it."""
        self._tell(has_budget=True)
        follow_paths(state.agents, self.courses)
        self.courses.counts[0].unasked = state.agents.cell.size
        assert budget.size is not None
        left, made = min((budget.size - budget.spent) * 7 // 8, _MOST), OUT_OF_SPACE
        while made == OUT_OF_SPACE or (made > 0 and left >= EXPANSIONS):
            around = Surroundings(state.grid.tables, self.learned, state.occupant, 0)
            made = look_phase(
                around, state.agents, self.courses, self._beliefs.open_list, self._work, state.tick,
                min(left, budget.slice()),
            )  # fmt: skip
            if made == OUT_OF_SPACE:
                self._beliefs.make_space()
            else:
                budget.spend(made)
                left -= made

    def do_without(self) -> None:
        """Begin a tick in which all distances will be known."""
        self._tell(has_budget=False)

    def _tell(self, *, has_budget: bool) -> None:
        """Tell kernels whether the tick at hand has a budget."""
        if has_budget != self._has_budget:
            self._has_budget = has_budget
            self.courses.counts["with_budget"] = has_budget

    def grow(self) -> None:
        """Make the space that agents need to learn."""
        if not can_learn(self.learned, EXPANSIONS):
            self._beliefs.make_space()

    def cells_changed(self, cells: NDArray[np.int32], agents: Agents) -> None:
        """Follow an edit of the map; paths are searched anew."""
        self._beliefs.cells_changed(cells, agents.cell, agents.goal)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget all paths; beliefs stay as they are."""
        self.courses.done[:] = self.courses.length[:] = self.courses.until[:] = 0
        self.courses.wish[:] = NO_CELL
