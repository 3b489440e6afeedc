"""Masks: boolean arrays of rows, True where something is; what drawings are put together from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.maps.components import Components
from wend.maps.terrain import make_tables

Mask = NDArray[np.bool_]


def solid(width: int, height: int) -> Mask:
    """Nothing but rock."""
    return np.zeros((height, width), dtype=np.bool_)


def carve(free: Mask, x: int, y: int, width: int, height: int) -> None:
    """Open a rectangle. Mutates: free."""
    free[y : y + height, x : x + width] = True


def carve_way(free: Mask, a: tuple[float, float], b: tuple[float, float], width: int) -> None:
    """Open a straight way between two spots, at least `width` wide at any angle. Mutates: free.

    A square of that width goes from spot to spot one cell at a time, across or down; a diagonal step would let the way
    narrow.
    """
    x, y, end_x, end_y = (int(at) - width // 2 for at in (*a, *b))
    across, down = end_x - x, end_y - y
    steps = max(abs(across) + abs(down), 1)
    for step in range(steps + 1):
        aside = (2 * step * abs(across) + steps) // (2 * steps)
        at_x = x + (aside if across > 0 else -aside)
        at_y = y + (step - aside if down > 0 else aside - step)
        carve(free, at_x, at_y, width, width)


def window_sum(values: NDArray[np.generic], side: int) -> NDArray[np.int64]:
    """The sum of every square window of that side; the result is smaller by side - 1. Integers, so exact."""
    total = np.zeros((values.shape[0] + 1, values.shape[1] + 1), dtype=np.int64)
    total[1:, 1:] = values.astype(np.int64).cumsum(axis=0).cumsum(axis=1)
    return total[side:, side:] - total[:-side, side:] - total[side:, :-side] + total[:-side, :-side]


def grown(mask: Mask, radius: int) -> Mask:
    """The mask and all cells within that many king's moves of it."""
    return window_sum(np.pad(mask, radius), 2 * radius + 1) > 0


def opened(mask: Mask, side: int) -> Mask:
    """The part of the mask that full squares of that side cover; none where the mask is narrower than that."""
    if min(mask.shape) < side:
        return np.zeros_like(mask)
    fits = window_sum(mask, side) == side * side
    return window_sum(np.pad(fits, side - 1), side) > 0


def largest_part(free: Mask) -> Mask:
    """The largest component under the octile rule, which is the largest 4-connected one; empty if there is none."""
    kept = np.zeros(free.size, dtype=np.bool_)
    kept[Components(make_tables(free, connectivity=4), free.ravel()).largest()] = True
    return kept.reshape(free.shape)
