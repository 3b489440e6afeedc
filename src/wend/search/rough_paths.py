# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Rough paths: where agents go while the paths to their goals are searched, so that no order freezes an agent.

The search of a path to the other end of the map may take all that a budget allows for many ticks. With a budget, agents
do not wait for it. A path is *rough* if it does not lead to its agent's goal, so that another one is to be searched:

- The old way. An agent that gets a new goal keeps its path if that ends at most half as far from the new goal as the
  agent is. So does the search that is under way. An agent that is sent after one that walks chases it.
- A lookahead. An agent without a path looks a few nodes ahead and learns (RTAA*, search/real_time.py); what it believes
  of the rest are distances over blocks (search/blocks.py), which take some dozens of expansions.
- A step. Before its turn to look ahead comes, an agent goes by the distances on the empty map, or over blocks where it
  knows them, one step in each tick, and learns (LRTA*, search/real_time.py). This expands nothing.

A path that is found at last begins where its agent stood when the search began. What lies behind the agent by then is
cut off, up to the place that is nearest to it (`skip_to_nearest`), and a short search joins the two.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.arrays import allocate, flags, int32, int64, record, uint8
from wend.maps.grid import Grid
from wend.maps.terrain import GridTables
from wend.search.beliefs import Beliefs
from wend.search.blocks import reach
from wend.search.paths import Paths, after, direction, has_space, put_move, shorten, take_move, with_space
from wend.search.real_time import (
    NO_NODE,
    NO_STEP,
    Lookahead,
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
from wend.search.turns import Turns, abandon_search_of

EXPANSIONS = 32     # nodes that a lookahead expands at most
BLOCK = 8           # the side of a block, in cells
MOST = 2_000        # expansions of lookaheads in a tick: each takes ten times as long as one of another search


class Ahead(NamedTuple):
    """What lookaheads work with."""

    lookahead: Lookahead
    cell: Annotated[np.ndarray, int32("expansions")]    # scratch: the nodes of which something is to be learned,
    value: Annotated[np.ndarray, int64("expansions")]   # ... and what
    step: Annotated[np.ndarray, uint8("expansions")]    # scratch: directions, first move first


def make_ahead(cells: int) -> Ahead:
    """What lookaheads need on a map of so many cells."""
    return allocate(Ahead, {"lookahead": make_lookahead(cells, EXPANSIONS)}, expansions=EXPANSIONS)


class Rough(NamedTuple):
    """Which paths are rough."""

    is_rough: Annotated[np.ndarray, flags("agents")]                # its path does not lead to its goal
    end: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]       # where its path leads, if it has one
    begin: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]     # scratch: where a path is to begin, or NO_CELL
    counts: Annotated[np.ndarray, record("turn")]                   # the agent that looks ahead next


@jit
def look(around, open_list, work, agent, cell, goal, expansions, left):
    """Look so many nodes ahead for an agent on a cell, and learn; distances over blocks are searched first.

    Returns how many expansions were made, of which there are `left`, and the node to head for, NO_NODE, or
    OUT_OF_BUDGET. Mutates: around.learned, open_list, work.
    """
    tables, learned, made = around.tables, around.learned, np.int64(0)
    if not knows_distance(learned, agent, cell):
        group = learned.blocks.group[cell]
        made = np.int64(reach(tables, learned.blocks, learned.rows, open_list, learned.row[agent], group, left))
        if left - made < expansions:
            return made, OUT_OF_BUDGET
    node = look_ahead(around, work.lookahead, agent, cell, goal, expansions)
    if node != NO_NODE:
        closed = note_closed(work.lookahead, node, work.cell, work.value)
        learn(tables, learned, agent, work.cell[:closed], work.value)
    return made + work.lookahead.counts[0].expanded, node


@jit
def look_phase(around, goals, paths, rough, open_list, work, limit):
    """Give a rough path to all agents that are to begin one, by turns, within so many expansions.

    Answers how many were made, or OUT_OF_SPACE before any. Mutates: around.learned, paths, rough, open_list, work.
    """
    counts, count, made = rough.counts[0], goals.size, np.int64(0)
    expansions, begun = min(work.cell.size, limit), counts.turn
    for k in range(count):
        agent = (begun + k) % count
        cell = rough.begin[agent]
        if cell == NO_CELL:
            continue
        counts.turn = agent
        if limit - made < expansions or limit == 0:
            return made
        if not can_learn(around.learned, expansions) or not has_space(paths, expansions):
            return made if made > 0 else np.int64(OUT_OF_SPACE)
        spent, node = look(around, open_list, work, agent, cell, goals[agent], expansions, limit - made)
        made += spent
        if node == OUT_OF_BUDGET:
            return made
        rough.begin[agent] = NO_CELL
        shorten(paths, agent, 0)
        if node != NO_NODE:
            for j in range(write_prefix(around.tables, work.lookahead, node, work.step) - 1, -1, -1):
                put_move(paths, agent, work.step[j])
            rough.is_rough[agent], rough.end[agent] = True, work.lookahead.cell[node]
    return made


@jit
def step_phase(around, goals, paths, rough):
    """Give a path of one step to all agents that are still to begin one, if there is a step that they can make.

    Answers 0, or OUT_OF_SPACE. Mutates: around.learned, paths, rough.
    """
    for agent in range(goals.size):
        cell = rough.begin[agent]
        if cell == NO_CELL:
            continue
        if not can_learn(around.learned, 1) or not has_space(paths, 1):
            return OUT_OF_SPACE
        d = step_beside(around, agent, cell, goals[agent])
        rough.begin[agent] = NO_CELL
        shorten(paths, agent, 0)
        if d != NO_STEP:
            put_move(paths, agent, d)
            rough.is_rough[agent], rough.end[agent] = True, cell + around.tables.offset[d]
    return 0


@jit
def helps(width, here, end, goal):
    """Whether a path from `here` that ends elsewhere than at the goal is worth following: it ends much nearer."""
    left = max(abs(end % width - goal % width), abs(end // width - goal // width))
    return 2 * left <= max(abs(here % width - goal % width), abs(here // width - goal // width))


def follow_old_way(width: int, here: int, goal: int, agent: int, paths: Paths, rough: Rough, turns: Turns) -> None:
    """An agent has a new goal: its path is rough now, and forgotten if that does not help; so is its search.

    `here` is where its path begins. Mutates: paths, rough, turns.
    """
    rough.is_rough[agent] = True
    if not helps(width, here, int(rough.end[agent]), goal):
        paths.left[agent] = 0
    if not helps(width, here, int(turns.search.job[0].goal), goal):
        abandon_search_of(turns, agent)


@jit
def skip_to_nearest(tables, paths, agent, start, here):
    """Cut off what a path from `start` has before the cell that is nearest to `here`, and return that cell.

    Of equally near ones it is the last. Mutates: paths.
    """
    width, cell, packet = tables.width, start, paths.top[agent]
    nearest, place, skipped = np.int64(2**62), start, 0
    for k in range(paths.left[agent] + 1):
        if k > 0:
            cell += tables.offset[direction(packet)]
            packet = after(paths, packet)
        apart = (cell % width - here % width) ** 2 + (cell // width - here // width) ** 2
        if apart <= nearest:
            nearest, place, skipped = apart, cell, k
    for _ in range(skipped):
        take_move(paths, agent)
    return place


class RoughPaths:
    """The lookaheads of a planner whose agents follow whole paths: the events of the world, and arrays that grow."""

    uncaptured = ("_work",)     # scratch

    def __init__(self, grid: Grid, *, vision_square: int) -> None:
        """Agents within this squared distance are walls to a lookahead."""
        self._beliefs = Beliefs(grid, BLOCK)
        self._work = make_ahead(grid.size)
        self._vision_square = vision_square

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self._beliefs.reserve(agents)

    def aim(self, agent: int, goal: int) -> None:
        """Say where an agent wants to go. If that is near its last goal, it keeps what it has learned."""
        if self._beliefs.moves_of_goal(agent, goal) > BLOCK:
            self._beliefs.forget(agent)
            self._beliefs.aim(agent, goal)

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        self._beliefs.drop(agent)

    def cells_changed(self, cells: NDArray[np.int32], agents: Any) -> None:
        """Follow an edit of the map."""
        self._beliefs.cells_changed(cells, agents.cell, agents.goal)

    def look_ahead(
        self, tables: GridTables, agents: Any, occupant: NDArray[np.int32], paths: Paths, rough: Rough, limit: int
    ) -> tuple[Paths, int]:
        """Give a rough path to all agents that are to begin one (`rough.begin`), within so many expansions.

        Those for which these do not suffice get a step. Returns the paths, which may have grown, and the number of
        expansions made.
        """
        made, answer = OUT_OF_SPACE, OUT_OF_SPACE
        while answer == OUT_OF_SPACE:
            around = Surroundings(tables, self._beliefs.learned, occupant, self._vision_square)
            if made == OUT_OF_SPACE:
                made = look_phase(around, agents.goal, paths, rough, self._beliefs.open_list, self._work, limit)
            if made != OUT_OF_SPACE:
                answer = step_phase(around, agents.goal, paths, rough)
            if answer == OUT_OF_SPACE and not has_space(paths, EXPANSIONS):
                paths = with_space(paths)
            if answer == OUT_OF_SPACE and not can_learn(self._beliefs.learned, EXPANSIONS):
                self._beliefs.make_space()
        return paths, made
