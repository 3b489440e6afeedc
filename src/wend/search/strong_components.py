# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Strongly connected components: which nodes of a directed graph can reach each other both ways.

Tarjan: Depth-First Search and Linear Graph Algorithms (SIAM Journal on Computing 1, 1972), with a stack of its own
instead of recursion. It can be made in pieces: `begin_labelling` once, then `label_on` until all is done.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import int32, int64, record

_NONE = -1


class StrongComponents(NamedTuple):
    """The component of every node, and the scratch that finds it."""

    component: Annotated[np.ndarray, int32("nodes")]    # number of the node's component, _NONE while it has none
    number: Annotated[np.ndarray, int32("nodes")]       # when the node was reached, counted from 1; 0 = not yet
    low: Annotated[np.ndarray, int32("nodes")]          # smallest number known to be reachable inside its component
    upcoming: Annotated[np.ndarray, int64("nodes")]     # the node's next edge to look at
    waiting: Annotated[np.ndarray, int32("nodes")]      # a stack of nodes that were reached and have no component yet
    path: Annotated[np.ndarray, int32("nodes")]         # a stack of nodes that lead to the one at hand
    counts: Annotated[
        np.ndarray,
        record(
            "components",   # found so far
            "reached",      # nodes reached so far
            "held",         # the height of `waiting`,
            "depth",        # ... and of `path`, less one
            "root",         # the node from which the search at hand began
            "node",         # the one at hand
        ),
    ]


@jit
def begin_labelling(begin, found):
    """Set out to number the components of a graph; see `label_strong_components`. Mutates: found."""
    counts = found.counts[0]
    for u in range(begin.size - 1):
        found.component[u] = _NONE
        found.number[u] = 0
    counts.components = counts.reached = counts.held = counts.root = counts.node = 0
    counts.depth = -1


@jit
def label_on(begin, target, found, steps):
    """Go on for so many steps; return how many are left, negative if there is more to do. Mutates: found."""
    component, number, low, upcoming, counts = found.component, found.number, found.low, found.upcoming, found.counts[0]
    nodes = begin.size - 1
    count, reached, held = counts.components, counts.reached, counts.held
    depth, root, u = counts.depth, counts.root, counts.node
    while True:
        if depth < 0:
            while root < nodes and number[root] != 0:
                root += 1
            if root == nodes:
                break
            depth, u = 0, root
        steps -= 1
        if steps < 0:
            break
        if number[u] == 0:
            reached += 1
            number[u] = low[u] = reached
            upcoming[u] = begin[u]
            found.path[depth] = u
            found.waiting[held] = u
            held += 1
        edge, end = upcoming[u], begin[u + 1]
        while edge < end and number[target[edge]] != 0:
            v = target[edge]
            if component[v] == _NONE:
                low[u] = min(low[u], number[v])
            edge += 1
        upcoming[u] = edge + 1
        if edge < end:
            depth += 1
            u = np.int64(target[edge])
            continue
        if low[u] == number[u]:                         # it reaches no node before itself: its component is whole
            while component[u] == _NONE:
                held -= 1
                component[found.waiting[held]] = count
            count += 1
        depth -= 1
        if depth >= 0:
            above = np.int64(found.path[depth])
            low[above] = min(low[above], low[u])
            u = above
    counts.components, counts.reached, counts.held = count, reached, held
    counts.depth, counts.root, counts.node = depth, root, u
    return steps


@jit
def label_strong_components(begin, target, found):
    """Number the components of a graph from 0 on; return how many there are. Mutates: found.

    The edges of node u lead to target[begin[u] : begin[u + 1]]. A node without edges is a component of its own.
    """
    begin_labelling(begin, found)
    label_on(begin, target, found, np.int64(2**62))
    return found.counts[0].components
