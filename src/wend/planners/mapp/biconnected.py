# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Biconnected components: whether two neighbours of a cell are joined without it, for all cells of the map at once.

Hopcroft, Tarjan: Algorithm 447: Efficient Algorithms for Graph Manipulation (1973). The edges of a graph fall into
bicomponents; two neighbours of a cell are joined by a path that leaves the cell out iff their edges to it are of one
bicomponent. Bicomponents and the cells where they meet form a tree, on which one can count how often a path must change
from one to another.

Edges are the cardinal moves. The edge that leaves `cell` in direction d is number `cell * 4 + d`; each has two numbers.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import UNREACHABLE, jit
from wend.kernel.arrays import allocate, int32, int64, uint8

NO_BICOMPONENT = -1
_ROOT = 4       # instead of a direction


class Bicomponents(NamedTuple):
    """The bicomponent of every edge, and the scratch that finds them."""

    label: Annotated[np.ndarray, int32("edges", fill=NO_BICOMPONENT)]   # bicomponent of each edge, if there is one
    seen: Annotated[np.ndarray, int32("cells")]     # when the search came there, counted from 1; 0 = not yet
    low: Annotated[np.ndarray, int32("cells")]      # earliest `seen` that can be reached from below
    came: Annotated[np.ndarray, uint8("cells")]     # direction in which the search came there, or _ROOT
    tried: Annotated[np.ndarray, uint8("cells")]    # directions tried so far
    stack: Annotated[np.ndarray, int32("stack")]    # edges of bicomponents that are not finished


def make_bicomponents(cells: int) -> Bicomponents:
    """Bicomponents of a map of so many cells."""
    return allocate(Bicomponents, cells=cells, edges=4 * cells, stack=2 * cells + 1)


@jit
def label_bicomponents(tables, closed, bicomponents):
    """Find the bicomponents of the map without the cells where `closed` is not 0. Mutates: bicomponents."""
    label, seen, low = bicomponents.label, bicomponents.seen, bicomponents.low
    came, tried, stack = bicomponents.came, bicomponents.tried, bicomponents.stack
    label[:] = NO_BICOMPONENT
    seen[:] = 0
    time = 0
    count = 0
    height = 0
    for root in range(seen.size):
        if seen[root] != 0 or closed[root] != 0 or tables.moves[root] & 15 == 0:
            continue
        time += 1
        seen[root] = time
        low[root] = time
        came[root] = _ROOT
        tried[root] = 0
        cell = root
        while True:
            d = int(tried[cell])
            if d < 4:
                tried[cell] = d + 1
                if not tables.moves[cell] >> d & 1:
                    continue
                beside = cell + tables.offset[d]
                if closed[beside] != 0 or d == came[cell] ^ 2:
                    continue
                if seen[beside] == 0:
                    stack[height] = cell * 4 + d
                    height += 1
                    time += 1
                    seen[beside] = time
                    low[beside] = time
                    came[beside] = d
                    tried[beside] = 0
                    cell = beside
                elif seen[beside] < seen[cell]:             # an edge back to where the search came through
                    stack[height] = cell * 4 + d
                    height += 1
                    low[cell] = min(low[cell], seen[beside])
                continue
            if came[cell] == _ROOT:
                break
            d = int(came[cell])
            above = cell - tables.offset[d]
            low[above] = min(low[above], low[cell])
            if low[cell] >= seen[above]:                    # nothing below leads past `above`: a bicomponent ends here
                edge = -1
                while edge != above * 4 + d:
                    height -= 1
                    edge = stack[height]
                    label[edge] = count
                    label[(edge // 4 + tables.offset[edge % 4]) * 4 + (edge % 4 ^ 2)] = count
                count += 1
            cell = above


class BicomponentTree(NamedTuple):
    """Where bicomponents meet."""

    begin: Annotated[np.ndarray, int64("bounds")]           # number k shares cell[begin[k] : begin[k + 1]] with others
    cell: Annotated[np.ndarray, int32("pairs")]
    changes: Annotated[np.ndarray, int32("bicomponents")]   # changes of bicomponent on a path to the goal, at the least
    queue: Annotated[np.ndarray, int32("bicomponents")]


def make_bicomponent_tree(label: NDArray[np.int32]) -> BicomponentTree:
    """The tree of the bicomponents that `label_bicomponents` found."""
    bicomponents = int(label.max(initial=-1)) + 1
    of_cell = label.reshape(-1, 4)
    lowest = np.where(of_cell == NO_BICOMPONENT, bicomponents, of_cell).min(axis=1)
    shared = np.flatnonzero(of_cell.max(axis=1) > lowest)
    pairs = np.stack([of_cell[shared].ravel(), np.repeat(shared, 4)])
    bicomponent, cell = np.unique(pairs[:, pairs[0] != NO_BICOMPONENT], axis=1)
    begin = np.searchsorted(bicomponent, np.arange(bicomponents + 1)).astype(np.int64)
    return allocate(BicomponentTree, {"begin": begin, "cell": cell.astype(np.int32)}, bicomponents=bicomponents)


@jit
def count_changes(tables, label, tree, goal):
    """Count the changes between each bicomponent and a goal; one right before the goal does not count. Mutates: tree.

    Where no path leads to the goal, there are UNREACHABLE changes.
    """
    changes, queue = tree.changes, tree.queue
    changes[:] = UNREACHABLE
    tail = 0
    for d in range(-1, 4):                                  # the bicomponents of the goal and of its neighbours
        if d >= 0 and label[goal * 4 + d] == NO_BICOMPONENT:
            continue
        cell = goal if d < 0 else goal + tables.offset[d]
        for e in range(4):
            bicomponent = label[cell * 4 + e]
            if bicomponent != NO_BICOMPONENT and changes[bicomponent] == UNREACHABLE:
                changes[bicomponent] = 0
                queue[tail] = bicomponent
                tail += 1
    head = 0
    while head < tail:
        bicomponent = queue[head]
        head += 1
        for k in range(tree.begin[bicomponent], tree.begin[bicomponent + 1]):
            for e in range(4):
                beyond = label[tree.cell[k] * 4 + e]
                if beyond != NO_BICOMPONENT and changes[beyond] == UNREACHABLE:
                    changes[beyond] = changes[bicomponent] + 1
                    queue[tail] = beyond
                    tail += 1
