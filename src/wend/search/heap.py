# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A binary heap of entries of three numbers: the smallest first number comes first, then the second, then the third."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import int64, record


class Heap(NamedTuple):
    """Room for entries; the first `held` of them form the heap."""

    entry: Annotated[np.ndarray, int64("entries", 3)]       # the first of all is entry[0]
    counts: Annotated[np.ndarray, record("held")]


@jit
def empty(heap):
    """Take out all entries. Mutates: heap."""
    heap.counts[0].held = 0


@jit
def size_of(heap):
    """How many entries there are."""
    return heap.counts[0].held


@jit
def push(heap, first, second, third):
    """Add an entry. Mutates: heap."""
    entry, counts = heap.entry, heap.counts[0]
    k = counts.held
    counts.held = k + 1
    while k > 0:
        up = (k - 1) >> 1
        up_first = entry[up, 0]
        if first > up_first or (
            first == up_first and (second > entry[up, 1] or (second == entry[up, 1] and third > entry[up, 2]))
        ):
            break
        entry[k, 0], entry[k, 1], entry[k, 2] = up_first, entry[up, 1], entry[up, 2]
        k = up
    entry[k, 0], entry[k, 1], entry[k, 2] = first, second, third


@jit
def drop_first(heap):
    """Take out the first entry; there must be one. Mutates: heap."""
    entry, counts = heap.entry, heap.counts[0]
    size = counts.held - 1
    counts.held = size
    first, second, third = entry[size, 0], entry[size, 1], entry[size, 2]
    k = 0
    child = 1
    while child < size:
        if child + 1 < size:
            a, b = entry[child, 0], entry[child + 1, 0]
            if b < a or (
                a == b
                and (
                    entry[child + 1, 1] < entry[child, 1]
                    or (entry[child + 1, 1] == entry[child, 1] and entry[child + 1, 2] < entry[child, 2])
                )
            ):
                child += 1
        child_first = entry[child, 0]
        if child_first > first or (
            child_first == first
            and (entry[child, 1] > second or (entry[child, 1] == second and entry[child, 2] > third))
        ):
            break
        entry[k, 0], entry[k, 1], entry[k, 2] = child_first, entry[child, 1], entry[child, 2]
        k = child
        child = 2 * k + 1
    entry[k, 0], entry[k, 1], entry[k, 2] = first, second, third
