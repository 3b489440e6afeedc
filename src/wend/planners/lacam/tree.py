# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The tree of configurations that LaCAM searches: its nodes, and how they are found, linked and opened.

A node is a configuration: a cell for each unit. It has a queue of constraints that are still to be tried there. A
constraint fixes the next cell of one unit and continues another constraint, its parent; constraint 0 fixes nothing.

All lists are chains of numbers in arrays that grow together. Before every step `has_space` says whether the step fits;
if not, Python lets the tree grow (`with_space`) between two calls.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit, scramble
from wend.kernel.arrays import allocate, grown, int32, int64, marks, record, uint8
from wend.planners.lacam.instance import LacamInstance, moves_from

NONE = -1           # no node, constraint or edge
ROOT = 0            # the first node, and the constraint that fixes nothing
CHOICES = 9         # constraints that continue another one, at most

_QUEUED, _IMPROVED = 1, 2       # bits of Tree.mark


class Tree(NamedTuple):
    """All configurations so far, and which of them are still to be tried."""

    cell: Annotated[np.ndarray, int32("nodes", "units", marked_by="written")]   # the configuration
    order: Annotated[np.ndarray, int32("nodes", "units", marked_by="written")]  # who decides first there
    written: Annotated[np.ndarray, marks("nodes")]              # nodes of which one of the two was written
    key: Annotated[np.ndarray, int64("nodes")]                  # the hash of the configuration
    parent: Annotated[np.ndarray, int32("nodes")]               # the node before it on the best path known, or NONE
    g: Annotated[np.ndarray, int64("nodes")]                    # the cost of that path
    h: Annotated[np.ndarray, int64("nodes")]                    # what the rest costs at least
    first: Annotated[np.ndarray, int32("nodes")]                # its constraints that are still to be tried, a chain:
    last: Annotated[np.ndarray, int32("nodes")]                 # ... the first and the last one, or NONE
    edge: Annotated[np.ndarray, int32("nodes")]                 # the first of its edges, or NONE
    mark: Annotated[np.ndarray, uint8("nodes")]                 # scratch of `relax`: _QUEUED, _IMPROVED
    queue: Annotated[np.ndarray, int32("nodes")]                # ... the nodes whose neighbours may be improved
    improved: Annotated[np.ndarray, int32("nodes")]             # ... the nodes that were
    slot: Annotated[np.ndarray, int32("slots", fill=NONE)]      # hash table: a node, or NONE
    open: Annotated[np.ndarray, int32("opened")]                # OPEN: a stack of nodes, some of them more than once
    fixed_after: Annotated[np.ndarray, int32("constraints")]    # the constraint that it continues
    fixed_unit: Annotated[np.ndarray, int32("constraints")]     # the unit that it fixes,
    fixed_cell: Annotated[np.ndarray, int32("constraints")]     # ... and where
    next_fixed: Annotated[np.ndarray, int32("constraints")]     # the one behind it in its node's queue, or NONE
    edge_to: Annotated[np.ndarray, int32("edges")]              # the node that an edge leads to,
    edge_cost: Annotated[np.ndarray, int32("edges")]            # ... at this cost
    next_edge: Annotated[np.ndarray, int32("edges")]            # the next edge of the same node, or NONE
    counts: Annotated[
        np.ndarray,
        record(
            "nodes",
            "constraints",
            "edges",
            "opened",       # height of OPEN
            "steps",        # configurations that were asked for so far
            "goal",         # the node in which all units are on their goals, or NONE
            "nearest",      # the node of least h
        ),
    ]

    def lengths_in_use(self) -> dict[str, int]:
        """How much of the tree a snapshot has to hold."""
        return {name: self.counts[name].item() for name in ("nodes", "constraints", "edges", "opened")}


def make_tree(instance: LacamInstance) -> Tree:
    """A tree with one node, in which all units are on their starts; the one with the longest way decides first."""
    units = instance.start.size
    tree = allocate(Tree, nodes=1024, units=units, slots=2048, opened=4096, constraints=16_384, edges=4096)
    counts = tree.counts[0]
    counts.constraints, counts.goal = 1, NONE
    first_moves = np.array([moves_from(instance, unit, instance.start[unit]) for unit in range(units)], np.int64)
    rank = np.argsort(-first_moves, kind="stable").astype(np.int32)
    add_node(instance, tree, instance.start, rank, rank, NONE, 0)
    return tree


def with_space(tree: Tree) -> Tree:
    """The same tree with twice the space where that is short."""
    counts = tree.counts[0]
    nodes, opened = tree.cell.shape[0], tree.open.size
    constraints, edges = tree.fixed_unit.size, tree.edge_to.size
    nodes *= 1 + (counts.nodes == nodes)
    constraints *= 1 + (counts.constraints + CHOICES > constraints)
    edges *= 1 + (counts.edges + 2 > edges)
    opened *= 1 + (counts.opened + counts.nodes + 2 > opened)
    larger = grown(tree, nodes=nodes, constraints=constraints, edges=edges, opened=opened)
    if 2 * nodes > tree.slot.size:
        larger = larger._replace(slot=np.full(2 * nodes, NONE, np.int32))
        hash_again(larger)
    return larger


@jit
def has_space(tree):
    """Whether one more step fits: a node, its edges, its constraints, and all nodes on OPEN once more."""
    counts = tree.counts[0]
    return (
        counts.nodes < tree.cell.shape[0]
        and counts.constraints + CHOICES <= tree.fixed_unit.size
        and counts.edges + 2 <= tree.edge_to.size
        and counts.opened + counts.nodes + 2 <= tree.open.size
    )


@jit
def hash_again(tree):
    """Enter all nodes into an empty hash table. Mutates: tree.slot."""
    for node in range(tree.counts[0].nodes):
        tree.slot[_slot_of(tree, tree.cell[node], tree.key[node])] = node


@jit
def _key_of(cells):
    """The hash of a configuration."""
    key = np.int64(0)
    for unit in range(cells.size):
        key ^= scramble(scramble(unit) + cells[unit])
    return key


@jit
def _slot_of(tree, cells, key):
    """Where a configuration is in the hash table, or would be."""
    last = tree.slot.size - 1       # the size is a power of two
    at = key & last
    while tree.slot[at] != NONE:
        node = tree.slot[at]
        if tree.key[node] == key:
            unit = 0
            while unit < cells.size and tree.cell[node, unit] == cells[unit]:
                unit += 1
            if unit == cells.size:
                break
        at = (at + 1) & last
    return at


@jit
def find_node(tree, cells):
    """The node with that configuration, or NONE."""
    return np.int64(tree.slot[_slot_of(tree, cells, _key_of(cells))])


@jit
def add_node(instance, tree, cells, order, rank, parent, cost):
    """Add a new configuration, and what it costs, whose parent has this `order`; return its number. Mutates: tree."""
    counts = tree.counts[0]
    node = enter_node(tree, instance.goal, cells, order, rank, parent)
    h = np.int64(0)
    for unit in range(cells.size):
        h += moves_from(instance, unit, cells[unit])
    tree.h[node] = h
    tree.g[node] = cost + (tree.g[parent] if parent != NONE else 0)
    tree.edge[node] = NONE
    if h < tree.h[counts.nearest]:
        counts.nearest = node
    return node


@jit
def enter_node(tree, goal, cells, order, rank, parent):
    """Enter a new configuration, whose parent has this `order`, and open it; return its number. Mutates: tree."""
    counts = tree.counts[0]
    node = counts.nodes
    counts.nodes += 1
    tree.written[node] = True
    for unit in range(cells.size):
        tree.cell[node, unit] = cells[unit]
    tree.key[node] = _key_of(cells)
    tree.slot[_slot_of(tree, cells, tree.key[node])] = node
    sort_units(tree, goal, node, order, rank)
    tree.parent[node] = parent
    tree.first[node] = tree.last[node] = ROOT
    open_node(tree, node)
    return node


@jit
def sort_units(tree, goal, node, order, rank):
    """Say who decides first in a node that is reached from one with this `order`; note if all are home. Mutates: tree.

    A unit's priority grows while it is off its goal and is lost there. So those off their goals keep their order, and
    those on their goals come behind them, in the order of `rank`, the same for all nodes.
    """
    cells, place = tree.cell[node], 0
    tree.written[node] = True
    for unit in order:
        if cells[unit] != goal[unit]:
            tree.order[node, place] = unit
            place += 1
    if place == 0:
        tree.counts[0].goal = node
    for unit in rank:
        if cells[unit] == goal[unit]:
            tree.order[node, place] = unit
            place += 1


@jit
def open_node(tree, node):
    """Put a node on top of OPEN. Mutates: tree."""
    tree.open[tree.counts[0].opened] = node
    tree.counts[0].opened += 1


@jit
def take_constraint(tree, node):
    """Take the first constraint out of a node's queue, NONE if there is none left. Mutates: tree."""
    taken = np.int64(tree.first[node])
    if taken != NONE:
        tree.first[node] = NONE if taken == tree.last[node] else tree.next_fixed[taken]
    return taken


@jit
def add_constraint(tree, node, after, unit, cell):
    """Put a constraint that continues another one into a node's queue. Mutates: tree."""
    counts = tree.counts[0]
    added = counts.constraints
    counts.constraints += 1
    tree.fixed_after[added], tree.fixed_unit[added], tree.fixed_cell[added] = after, unit, cell
    if tree.first[node] == NONE:
        tree.first[node] = added
    else:
        tree.next_fixed[tree.last[node]] = added
    tree.last[node] = added


@jit
def loss(instance, cells, after):
    """What it costs to go from one configuration to the next: units that are not on their goals in both."""
    cost = 0
    for unit in range(cells.size):
        cost += int(cells[unit] != instance.goal[unit] or after[unit] != instance.goal[unit])
    return cost


@jit
def _add_edge(tree, begin, end, cost):
    """Note that there is a joint move from a node to another. Mutates: tree."""
    counts = tree.counts[0]
    edge = counts.edges
    counts.edges += 1
    tree.edge_to[edge], tree.edge_cost[edge] = end, cost
    tree.next_edge[edge] = tree.edge[begin]
    tree.edge[begin] = edge


@jit
def link(tree, node, other, cost):
    """Note that there is a joint move between two nodes, either way. Mutates: tree."""
    _add_edge(tree, node, other, cost)
    _add_edge(tree, other, node, cost)


@jit
def is_hopeless(tree, node):
    """Whether no plan through a node is better than the best one."""
    goal = tree.counts[0].goal
    return goal != NONE and tree.g[node] + tree.h[node] >= tree.g[goal]


@jit
def relax(tree, begin):
    """Let all nodes have their best paths, after edges of `begin` were added; open those that improve. Mutates: tree.

    Only nodes that may lead to a better plan are opened, so none before there is a plan.
    """
    size = tree.queue.size
    tree.queue[0] = begin
    head, waiting, improved = 0, 1, 0
    while waiting > 0:
        node = np.int64(tree.queue[head])
        head = (head + 1) % size
        waiting -= 1
        tree.mark[node] &= _IMPROVED
        edge = tree.edge[node]
        while edge != NONE:
            other, g = np.int64(tree.edge_to[edge]), tree.g[node] + tree.edge_cost[edge]
            if g < tree.g[other]:
                tree.g[other], tree.parent[other] = g, node
                if not tree.mark[other] & _QUEUED:
                    tree.queue[(head + waiting) % size] = other
                    waiting += 1
                if not tree.mark[other] & _IMPROVED:
                    tree.improved[improved] = other
                    improved += 1
                tree.mark[other] = _QUEUED | _IMPROVED
            edge = tree.next_edge[edge]
    for k in range(improved):
        node = np.int64(tree.improved[k])
        tree.mark[node] = 0
        if tree.counts[0].goal != NONE and not is_hopeless(tree, node):
            open_node(tree, node)
