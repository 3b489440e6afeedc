# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Strongly connected components: which nodes of a directed graph can reach each other both ways.

Tarjan: Depth-First Search and Linear Graph Algorithms (SIAM Journal on Computing 1, 1972), with a stack of its own
instead of recursion.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import int32, int64

_NONE = -1


class StrongComponents(NamedTuple):
    """The component of every node, and the scratch that finds it."""

    component: Annotated[np.ndarray, int32("nodes")]    # number of the node's component, _NONE while it has none
    number: Annotated[np.ndarray, int32("nodes")]       # when the node was reached, counted from 1; 0 = not yet
    low: Annotated[np.ndarray, int32("nodes")]          # smallest number known to be reachable inside its component
    upcoming: Annotated[np.ndarray, int64("nodes")]     # the node's next edge to look at
    waiting: Annotated[np.ndarray, int32("nodes")]      # a stack of nodes that were reached and have no component yet
    path: Annotated[np.ndarray, int32("nodes")]         # a stack of nodes that lead to the one at hand


@jit
def label_strong_components(begin, target, found):
    """Number the components of a graph from 0 on; return how many there are. Mutates: found.

    The edges of node u lead to target[begin[u] : begin[u + 1]]. A node without edges is a component of its own.
    """
    component, number, low, upcoming = found.component, found.number, found.low, found.upcoming
    nodes = begin.size - 1
    for u in range(nodes):
        component[u] = _NONE
        number[u] = 0
    count, reached, held = 0, 0, 0
    for root in range(nodes):
        if number[root] != 0:
            continue
        depth = 0
        u = root
        while depth >= 0:
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
                u = target[edge]
                continue
            if low[u] == number[u]:                         # it reaches no node before itself: its component is whole
                while component[u] == _NONE:
                    held -= 1
                    component[found.waiting[held]] = count
                count += 1
            depth -= 1
            if depth >= 0:
                above = found.path[depth]
                low[above] = min(low[above], low[u])
                u = above
    return count
