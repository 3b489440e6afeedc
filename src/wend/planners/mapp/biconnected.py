# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Biconnected components: whether two neighbours of a cell are joined without it, for the whole map in one go.

Hopcroft, Tarjan: Algorithm 447: Efficient Algorithms for Graph Manipulation (1973). The edges of a graph fall into
bicomponents; two neighbours of a cell are joined by a path that leaves the cell out iff their edges to it are of one
bicomponent. Bicomponents and the cells where they meet form a tree, on which one can count how often a way must change
from one to another.

Edges are the cardinal moves. The edge that leaves `cell` in direction d is number `cell * 4 + d`; each has two numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import jit

NO_BICOMPONENT = -1


class Bicomponents(NamedTuple):
    """The bicomponent of every edge, and the scratch that finds them."""

    label: np.ndarray   # int32[4 * cells]  bicomponent of each edge, NO_BICOMPONENT where there is none
    seen: np.ndarray    # int32[cells]      when the search came there, counted from 1; 0 = not yet
    low: np.ndarray     # int32[cells]      earliest `seen` that can be reached from below
    way: np.ndarray     # int8[cells]       direction in which the search came there, -1 at a root
    tried: np.ndarray   # int8[cells]       directions tried so far
    stack: np.ndarray   # int32[2 * cells]  edges of bicomponents that are not finished


def make_bicomponents(cells: int) -> Bicomponents:
    """Bicomponents of a map of so many cells."""
    return Bicomponents(
        np.full(4 * cells, NO_BICOMPONENT, np.int32), np.zeros(cells, np.int32), np.zeros(cells, np.int32),
        np.zeros(cells, np.int8), np.zeros(cells, np.int8), np.empty(2 * cells + 1, np.int32),
    )  # fmt: skip


@jit
def label_bicomponents(tables, closed, bicomponents):
    """Find the bicomponents of the map without the cells where `closed` is not 0. Mutates: bicomponents."""
    label, seen, low, way, tried, stack = bicomponents
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
        way[root] = -1
        tried[root] = 0
        cell = root
        while True:
            d = int(tried[cell])
            if d < 4:
                tried[cell] = d + 1
                if not tables.moves[cell] >> d & 1:
                    continue
                beside = cell + tables.offset[d]
                if closed[beside] != 0 or (way[cell] >= 0 and d == way[cell] ^ 2):
                    continue
                if seen[beside] == 0:
                    stack[height] = cell * 4 + d
                    height += 1
                    time += 1
                    seen[beside] = time
                    low[beside] = time
                    way[beside] = d
                    tried[beside] = 0
                    cell = beside
                elif seen[beside] < seen[cell]:             # an edge back to where the search came through
                    stack[height] = cell * 4 + d
                    height += 1
                    low[cell] = min(low[cell], seen[beside])
                continue
            if way[cell] < 0:
                break
            d = int(way[cell])
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

    begin: np.ndarray   # int64[bicomponents + 1]  number k shares cell[begin[k] : begin[k + 1]] with others
    cell: np.ndarray    # int32[pairs]
    changes: np.ndarray # int32[bicomponents]      changes of bicomponent on the way to the goal, -1 if there is no way
    queue: np.ndarray   # int32[bicomponents]


def make_bicomponent_tree(label: NDArray[np.int32]) -> BicomponentTree:
    """The tree of the bicomponents that `label_bicomponents` found."""
    bicomponents = int(label.max(initial=-1)) + 1
    of_cell = label.reshape(-1, 4)
    lowest = np.where(of_cell == NO_BICOMPONENT, bicomponents, of_cell).min(axis=1)
    shared = np.flatnonzero(of_cell.max(axis=1) > lowest)
    pairs = np.stack([of_cell[shared].ravel(), np.repeat(shared, 4)])
    bicomponent, cell = np.unique(pairs[:, pairs[0] != NO_BICOMPONENT], axis=1)
    begin = np.searchsorted(bicomponent, np.arange(bicomponents + 1)).astype(np.int64)
    changes, queue = np.empty(bicomponents, np.int32), np.empty(bicomponents, np.int32)
    return BicomponentTree(begin, cell.astype(np.int32), changes, queue)


@jit
def count_changes(tables, label, tree, goal):
    """Count the changes on the way from everywhere to a goal; one right before it does not count. Mutates: tree."""
    changes, queue = tree.changes, tree.queue
    changes[:] = -1
    tail = 0
    for d in range(-1, 4):                                  # the bicomponents of the goal and of its neighbours
        if d >= 0 and label[goal * 4 + d] == NO_BICOMPONENT:
            continue
        cell = goal if d < 0 else goal + tables.offset[d]
        for e in range(4):
            bicomponent = label[cell * 4 + e]
            if bicomponent != NO_BICOMPONENT and changes[bicomponent] == -1:
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
                if beyond != NO_BICOMPONENT and changes[beyond] == -1:
                    changes[beyond] = changes[bicomponent] + 1
                    queue[tail] = beyond
                    tail += 1
