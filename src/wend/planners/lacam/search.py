# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""LaCAM and LaCAM*: depth-first over configurations; PIBT proposes the next one, constraints make it propose others.

Okumura: LaCAM: Search-Based Algorithm for Quick Multi-Agent Pathfinding (AAAI 2023). Improving LaCAM for Scalable
Eventually Optimal Multi-Agent Pathfinding (IJCAI 2023).

    paper                                               here
    low-level search: constraints, breadth first        steps.py
    configuration generator: PIBT under constraints     steps.py
    high-level search, LaCAM*'s rewriting and pruning   explore; tree.py
    (whom PIBT prefers to be where)                     search/preferences.py; guides.py

Each step takes the node on top of OPEN and its next constraint, and asks PIBT where all units go if some of them go
where the constraint says. A new configuration goes on top of OPEN, a known one is put there again. When every unit is
on its goal there is a plan. LaCAM* goes on: edges that it finds between known nodes shorten the paths to them, and
nodes that cannot be part of a better plan are dropped. OPEN empty without a plan: there is none. With one: it is best.

The cost of a plan is its sum of loss: the ticks in which a unit is not on its goal both before and after, summed over
all units. It is what LaCAM* minimises; the sum of costs is the same but for units that leave their goals again.

Deviations
- Chance is a hash of the seed and the number of the step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit, scramble
from wend.kernel.arrays import allocate
from wend.maps.terrain import GridTables
from wend.planners.base import Agents
from wend.planners.lacam.guides import Guides, next_on_guide, no_guides
from wend.planners.lacam.instance import LacamInstance, moves_from
from wend.planners.lacam.steps import continue_constraint, fix_units, propose, take_up
from wend.planners.lacam.tree import (
    NONE,
    ROOT,
    Tree,
    add_node,
    find_node,
    has_space,
    is_hopeless,
    link,
    loss,
    make_tree,
    open_node,
    relax,
    take_constraint,
    with_space,
)
from wend.search.pibt import Decisions
from wend.search.preferences import list_cells

EXHAUSTED = UNREACHABLE     # OPEN is empty: the best plan is optimal, or there is none

_STEP = np.array([*[1] * 8, 0], np.int64)       # a wait comes before a move that leads as near; see `_far`
_RESTART = 1000             # one in so many known configurations is not opened again, but the root


class TreeState(NamedTuple):
    """The search for a plan."""

    tables: GridTables
    tree: Tree
    decisions: Decisions
    agents: Agents          # the units, in the configuration at hand
    occupant: np.ndarray    # int32[cells]  the unit that stands there, or NO_AGENT
    units: int
    instance: LacamInstance
    guides: Guides
    swaps: bool
    seed: int


class LacamScene(NamedTuple):
    """What units look at to decide."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray
    instance: LacamInstance
    guides: Guides
    step: np.ndarray        # int64[9]  what a move in each direction costs, and a wait
    swaps: bool
    lot: int                # decides among equals


@jit
def _far(scene, unit, cell):
    """Twice the number of moves from a cell to a unit's goal."""
    return moves_from(scene.instance, unit, cell) << 1


@jit
def _guided_far(scene, unit, cell):
    """The same; but nothing comes before the next cell on its guide path."""
    return 0 if cell == scene.guides.following[unit] else _far(scene, unit, cell)


@jit
def _rank(scene, decisions, depth):
    """List a unit's next cells. Mutates: decisions, scene.guides.following."""
    unit = decisions.chain[depth]
    scene.guides.following[unit] = next_on_guide(scene.instance, scene.guides, unit, scene.agents.cell[unit])
    return list_cells(scene, decisions, depth, _guided_far, _far)


@jit
def _arrive(search, node, lot):
    """Enter the configuration that was decided, and what it has shown, into the tree. Mutates: search.tree."""
    instance, tree, after = search.instance, search.tree, search.decisions.target[: search.agents.cell.size]
    known = find_node(tree, after)
    if known == node:
        return
    cost = loss(instance, search.agents.cell, after)
    if known == NONE:
        added = add_node(instance, tree, after, tree.order[node], tree.order[ROOT], node, cost)
        link(tree, node, added, cost)
        return
    if tree.parent[known] != node and tree.parent[node] != known:
        link(tree, node, known, cost)
        relax(tree, node)
        relax(tree, known)
    open_node(tree, ROOT if lot % _RESTART == 0 else known)


@jit
def explore(search, steps):
    """Go on with the search for so many steps; the answer says why it stopped. Mutates: search.

    FOUND when the first plan was found, EXHAUSTED when OPEN is empty, else OUT_OF_BUDGET or OUT_OF_SPACE.
    """
    tree = search.tree
    counts = tree.counts[0]
    last = counts.steps + steps
    while counts.opened > 0:
        if counts.steps >= last:
            return OUT_OF_BUDGET
        if not has_space(tree):
            return OUT_OF_SPACE
        node = np.int64(tree.open[counts.opened - 1])
        if is_hopeless(tree, node):
            counts.opened -= 1
            continue
        constraint = take_constraint(tree, node)
        if constraint == NONE:
            counts.opened -= 1
            continue
        lot = scramble(search.seed ^ scramble(counts.steps))
        counts.steps += 1
        take_up(search, node)
        depth = fix_units(search, constraint)
        continue_constraint(search, node, constraint, depth, lot)
        had_plan = counts.goal != NONE
        scene = LacamScene(
            search.tables, search.agents, search.occupant, search.instance, search.guides, _STEP, search.swaps, lot
        )
        if propose(search, scene, node, constraint, _rank) == 1:
            _arrive(search, node, lot)
            if counts.goal != NONE and not had_plan:
                return FOUND
    return EXHAUSTED


class TreeSearch:
    """LaCAM for one instance: `run` it until there is a plan, then on for a better one (LaCAM*)."""

    def __init__(self, instance: LacamInstance, *, swaps: bool, seed: int, guides: Guides | None = None) -> None:
        cells, units = instance.place.size, instance.start.size
        occupant = np.full(cells, NO_AGENT, np.int32)
        agents = Agents(instance.start.copy(), instance.goal, np.ones(units, np.bool_), np.zeros(units, np.bool_))
        guides = no_guides(instance) if guides is None else guides
        decisions = allocate(Decisions, agents=units, cells=cells)
        tree = make_tree(instance)
        self._search = TreeState(
            instance.tables, tree, decisions, agents, occupant, units, instance, guides, swaps, seed
        )

    @property
    def steps(self) -> int:
        """Configurations that PIBT was asked for so far."""
        return int(self._search.tree.counts[0].steps)

    @property
    def nodes(self) -> int:
        """Different configurations so far."""
        return int(self._search.tree.counts[0].nodes)

    @property
    def is_solved(self) -> bool:
        """Whether there is a plan that brings all units home."""
        return bool(self._search.tree.counts[0].goal != NONE)

    @property
    def cost(self) -> int:
        """What the best plan costs, or the one that comes nearest."""
        return int(self._search.tree.g[self._last])

    @property
    def moves_left(self) -> int:
        """How many moves away from their goals the units are after that plan, all together."""
        return int(self._search.tree.h[self._last])

    @property
    def _last(self) -> int:
        """The node in which the best plan ends."""
        counts = self._search.tree.counts[0]
        return int(counts.goal if counts.goal != NONE else counts.nearest)

    def run(self, steps: int) -> int:
        """Go on for so many steps; FOUND when there is a first plan, EXHAUSTED, or OUT_OF_BUDGET."""
        if self.steps == 0 and self.is_solved:
            return EXHAUSTED
        last = self.steps + steps
        while (answer := int(explore(self._search, last - self.steps))) == OUT_OF_SPACE:
            self._search = self._search._replace(tree=with_space(self._search.tree))
        return answer

    def plan(self) -> NDArray[np.int32]:
        """The best plan, or the one that comes nearest: int32[ticks + 1, units], the cell of each unit at each tick."""
        tree, node = self._search.tree, self._last
        nodes = [node]
        while (node := int(tree.parent[node])) != NONE:
            nodes.append(node)
        return np.asarray(tree.cell[nodes[::-1]])
