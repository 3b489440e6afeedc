# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The tree of Real-Time LaCAM: how it grows from tick to tick, is walked, and is cut back.

The root is the node where the units stand, and every other node has a way there, along moves that can be made in either
direction. To walk a step of the tree is to turn that edge round.

An order changes no configuration and no move between two of them: what it changes is where to search. So all nodes are
kept, and nothing counts as tried (`restart`): OPEN has the root alone, every node has all of its constraints again, and
one that is reached again is in the order that a new one would have. Whatever can be reached from the root is found
again that way, so the search is as complete as that of a new tree. If all had been tried before, then all
configurations that there are are known: nothing is left to be searched, for whatever goals.

A wall also makes moves illegal. What hangs on the root by moves that still are legal is kept (`prune`).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit, scramble
from wend.kernel.allowance import allow, spend
from wend.kernel.arrays import allocate, flags, int32
from wend.maps.terrain import GridTables
from wend.planners.base import Agents
from wend.planners.lacam.steps import continue_constraint, fix_units, propose, take_up
from wend.planners.lacam.tree import (
    CHOICES,
    NONE,
    ROOT,
    Tree,
    enter_node,
    find_node,
    hash_again,
    open_node,
    sort_units,
    take_constraint,
)
from wend.planners.pibt.distances import STEP, KnownDistances, search_blocks, search_cells
from wend.planners.pibt.pibt import PibtScene, in_the_way, rank
from wend.search.pibt import Decisions, fix, forget_decisions

EXHAUSTED = UNREACHABLE     # OPEN is empty: there is no plan
FULL = OUT_OF_SPACE - 1     # the tree is

_MOST_NODES = 8192          # of a tree, but not more than
_MOST_BYTES = 1 << 26       # ... this allows for, and at least
_LEAST_NODES = 1024
_KEPT, _CUT = 1, 2          # of a node, while the tree is pruned


class Party(NamedTuple):
    """The agents that a tree is about, and the others, as they were when the search began."""

    units: int
    is_unit: Annotated[np.ndarray, flags("agents")]     # the tree is about it
    goal: Annotated[np.ndarray, int32("agents")]
    order: Annotated[np.ndarray, int32("units")]        # the units, the one that decides first first
    outside: Annotated[np.ndarray, int32("others")]     # the agents on the map that are no units,
    goes: Annotated[np.ndarray, int32("others")]        # ... and where each of them is next

    def has_goals_of(self, agents: Agents) -> bool:
        """Whether the units have the goals that they had."""
        return np.array_equal(agents.goal[self.is_unit], self.goal[self.is_unit])

    def knows(self, agents: Agents, agent: int) -> bool:
        """Whether an agent is a unit that has the goal that it had."""
        return agent < self.goal.size and bool(self.is_unit[agent] and self.goal[agent] == agents.goal[agent])


def gather(
    agents: Agents, is_unit: NDArray[np.bool_], order: NDArray[np.int32], next_cell: NDArray[np.int32]
) -> Party:
    """These units, in this order, and all others; `next_cell` says where those that the program moves are next."""
    outside = np.flatnonzero(~is_unit & (agents.cell != NO_CELL)).astype(np.int32)
    return Party(order.size, is_unit, agents.goal.copy(), order, outside, next_cell[outside])


class LiveSearch(NamedTuple):
    """The search, as it goes on from tick to tick."""

    tables: GridTables
    tree: Tree
    decisions: Decisions
    agents: Agents          # in the configuration at hand; only units are controlled
    occupant: np.ndarray    # int32[cells]  the agent that stands there, or NO_AGENT
    units: int
    order: np.ndarray       # as in Party
    outside: np.ndarray
    goes: np.ndarray
    distances: KnownDistances
    swaps: bool
    seed: int


@jit
def _fix_outside(search):
    """Let the agents that are no units go where they do anyway. Mutates: search.decisions."""
    for k in range(search.outside.size):
        fix(search.decisions, search.outside[k], search.goes[k])


@jit
def _has_space(tree):
    """Whether one more step fits into the tree."""
    counts = tree.counts[0]
    return (
        counts.nodes < tree.cell.shape[0]
        and counts.constraints + CHOICES <= tree.fixed_unit.size
        and counts.opened < tree.open.size
    )


@jit
def _depth(tree, node):
    """How many steps it is from the root to a node."""
    depth = 0
    while tree.parent[node] != NONE:
        node = tree.parent[node]
        depth += 1
    return depth


@jit
def _shorten(tree, node, known):
    """Let the way to a known node lead over another one, from which there is a move, if that is shorter. Mutates: tree.

    It is never shorter if the known node lies before the other one, so that no circle is closed.
    """
    if _depth(tree, node) + 1 < _depth(tree, known):
        tree.parent[known] = node


@jit
def plant(search, cells, steps):
    """Begin a tree with the configuration in which the units stand; count steps from here on. Mutates: search.tree."""
    counts = search.tree.counts[0]
    search.tree.slot[:] = NONE
    counts.nodes, counts.constraints, counts.opened, counts.goal, counts.nearest = 0, 1, 0, NONE, ROOT
    counts.steps = steps
    _add(search, cells, search.order, NONE)


@jit
def restart(search, root, steps, is_explored):
    """Begin the search again at the root, and keep all nodes; count steps from here on. Mutates: search.tree.

    If it `is_explored`, there are no other configurations, and nothing is left to be searched.
    """
    tree, counts = search.tree, search.tree.counts[0]
    for node in range(counts.nodes):
        tree.first[node] = tree.last[node] = ROOT
    counts.constraints, counts.opened, counts.goal, counts.nearest, counts.steps = 1, 0, NONE, root, steps
    _look_again(search, root, search.order)
    if not is_explored:
        open_node(tree, root)
        return
    for node in range(counts.nodes):
        _look_again(search, node, search.order)


@jit
def prune(tree, tables, root):
    """Cut off all nodes to which no legal way leads from the root; return the number that this now has. Mutates: tree.

    What was to be searched is forgotten: `restart` comes next.
    """
    counts, mark, chain = tree.counts[0], tree.mark, tree.queue
    mark[: counts.nodes] = 0
    mark[root] = _KEPT
    for node in range(counts.nodes):
        at, length = np.int64(node), 0
        while mark[at] == 0:
            chain[length] = at
            length += 1
            at = np.int64(tree.parent[at])
        verdict = mark[at]
        for k in range(length - 1, -1, -1):
            after = chain[k]
            if verdict == _KEPT and not _can_walk(tables, tree.cell[at], tree.cell[after]):
                verdict = _CUT
            mark[after], at = verdict, np.int64(after)
    number, kept = tree.queue, 0                        # the number that a node has among those that are kept
    for node in range(counts.nodes):
        number[node] = kept
        kept += int(mark[node] == _KEPT)
    for node in range(counts.nodes):
        if mark[node] == _KEPT:
            to, parent = number[node], tree.parent[node]
            tree.written[to] = True
            for agent in range(tree.cell.shape[1]):
                tree.cell[to, agent] = tree.cell[node, agent]
            tree.key[to], tree.parent[to] = tree.key[node], NONE if parent == NONE else number[parent]
    counts.nodes = kept
    tree.slot[:] = NONE
    hash_again(tree)
    return np.int64(number[root])


@jit
def _can_walk(tables, before, after):
    """Whether each agent has a move from one cell to the other, or stays."""
    for agent in range(before.size):
        here, there = before[agent], after[agent]
        if here == there:
            continue
        d = 0
        while d < 8 and (there - here != tables.offset[d] or not tables.moves[here] >> d & 1):
            d += 1
        if d == 8:
            return False
    return True


@jit
def _add(search, cells, order, parent):
    """Add a new configuration. Mutates: search.tree."""
    _count_away(search, enter_node(search.tree, search.agents.goal, cells, order, search.order, parent))


@jit
def _look_again(search, node, order):
    """Let a node in which nothing has been tried yet be as if it were new. Mutates: search.tree."""
    sort_units(search.tree, search.agents.goal, node, order, search.order)
    _count_away(search, node)


@jit
def _count_away(search, node):
    """Count who is not home in a node. Mutates: search.tree."""
    tree, goal = search.tree, search.agents.goal
    away = 0
    for unit in search.order:
        away += int(tree.cell[node, unit] != goal[unit])
    tree.h[node] = away
    if away < tree.h[tree.counts[0].nearest]:
        tree.counts[0].nearest = node


@jit
def _arrive(search, node):
    """Enter the configuration that was decided into the tree, or open the one that is known. Mutates: search.tree."""
    tree, after = search.tree, search.decisions.target[: search.agents.cell.size]
    known = find_node(tree, after)
    if known == NONE:
        _add(search, after, tree.order[node, : search.units], node)
    elif known != node:
        _shorten(tree, node, known)
        if tree.first[known] == ROOT:
            _look_again(search, known, tree.order[node, : search.units])
        open_node(tree, known)


@jit
def enter(search, root, cells):
    """The node of a configuration to which there is a move from the root; NONE if there is no space for it.

    Mutates: search.tree.
    """
    tree, node = search.tree, find_node(search.tree, cells)
    if node != NONE or not _has_space(tree):
        return node
    _add(search, cells, tree.order[root, : search.units], root)
    return np.int64(tree.counts[0].nodes - 1)


@jit
def plan_length(tree):
    """How many steps it is to the configuration in which all are home, 0 if it is not known."""
    return 0 if tree.counts[0].goal == NONE else _depth(tree, tree.counts[0].goal)


@jit
def write_plan(tree, units, plan):
    """Write where these units are to be at each tick until they are home. Mutates: plan."""
    node = tree.counts[0].goal
    for tick in range(plan.shape[1] - 1, -1, -1):
        for k in range(units.size):
            plan[k, tick] = tree.cell[node, units[k]]
        node = np.int64(tree.parent[node])


@jit
def search_ahead(search, steps, is_free, expansions, is_limited):
    """Go on with the search for so many steps, within so many expansions; say why it stopped. Mutates: search.

    If it `is_free`, the first step counts no expansions but those for distances. The answer is FOUND, EXHAUSTED,
    OUT_OF_BUDGET, FULL, or OUT_OF_SPACE if distances need more of it.
    """
    tree, allowance, units = search.tree, search.distances.reverse.allowance, search.units
    counts = tree.counts[0]
    allow(allowance, expansions)
    last = counts.steps + steps
    while counts.goal == NONE:
        if counts.opened == 0:
            return EXHAUSTED
        node = np.int64(tree.open[counts.opened - 1])
        if tree.first[node] == NONE:
            counts.opened -= 1
            continue
        if counts.steps >= last:
            return OUT_OF_BUDGET
        if not _has_space(tree):
            return FULL
        cost = 0 if is_free else units
        if not spend(allowance, cost):
            return OUT_OF_BUDGET
        lot = scramble(search.seed ^ scramble(counts.steps))
        answer = _step(search, node, lot, is_limited)
        if answer == OUT_OF_SPACE:
            allowance.counts[0].spent -= cost
            return OUT_OF_SPACE
        is_free = False
        counts.steps += 1
    return FOUND


@jit
def _step(search, node, lot, is_limited):
    """Ask PIBT for the next configuration after a node: 1 if there is one, 0 if not, or OUT_OF_SPACE. Mutates: search.

    In the last case nothing has happened.
    """
    tree, order = search.tree, search.tree.order[node, : search.units]
    scene = PibtScene(search.tables, search.agents, search.occupant, search.distances, STEP, search.swaps, lot)
    take_up(search, node)
    if is_limited:
        search_blocks(scene, order)
    if search_cells(scene, order) == OUT_OF_SPACE:
        return OUT_OF_SPACE
    constraint = take_constraint(tree, node)
    _fix_outside(search)
    fix_units(search, constraint)
    answer = propose(search, scene, node, constraint, rank)
    if answer == OUT_OF_SPACE:
        tree.first[node] = constraint
        return OUT_OF_SPACE
    if answer == 1:
        _arrive(search, node)
    forget_decisions(search.decisions)
    _fix_outside(search)
    continue_constraint(search, node, constraint, fix_units(search, constraint), lot)
    return answer


@jit
def next_node(tree):
    """The node after the root on the way to where the units head; the root itself if they are there.

    They head for their goals as soon as these are found, until then for the top of OPEN, and for the nearest
    configuration when all has been tried.
    """
    counts = tree.counts[0]
    node = counts.goal
    if node == NONE:
        node = np.int64(tree.open[counts.opened - 1]) if counts.opened > 0 else counts.nearest
    while tree.parent[node] != NONE and tree.parent[tree.parent[node]] != NONE:
        node = tree.parent[node]
    return np.int64(node)


@jit
def explain(search, root, cells, waits_for):
    """Say whom those wait for that stay away from home when the units go to these cells. Mutates: search, waits_for.

    Distances are read as far as they are known.
    """
    tree, agents, decisions = search.tree, search.agents, search.decisions
    scene = PibtScene(search.tables, agents, search.occupant, search.distances, STEP, search.swaps, 0)
    allow(search.distances.reverse.allowance, 0)
    take_up(search, root)
    _fix_outside(search)
    for unit in tree.order[root, : search.units]:
        fix(decisions, unit, cells[unit])
    for unit in tree.order[root, : search.units]:
        if decisions.target[unit] == agents.cell[unit] != agents.goal[unit]:
            waits_for[unit] = in_the_way(scene, decisions, unit)


def make_tree(agents: int) -> Tree:
    """A tree without nodes over so many agents; memory that is never touched costs nothing."""
    nodes = min(_MOST_NODES, max(_LEAST_NODES, 1 << (_MOST_BYTES // (8 * agents)).bit_length() - 1))
    return allocate(
        Tree, nodes=nodes, units=agents, slots=2 * nodes, opened=4 * nodes, constraints=CHOICES * nodes, edges=0
    )
