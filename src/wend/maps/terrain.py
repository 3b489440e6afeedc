# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Terrain as kernels see it: letters, directions, costs, the neighbour table, and the step of every flood over it.

The neighbour table holds one byte per cell, in which bit `d` is set when the move in direction `d` is legal from there.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import jit
from wend.kernel.arrays import int32, uint8

Point = tuple[int, int]     # (x, y): column, row

PASSABLE_LETTERS = ".GS"
BLOCKED_LETTERS = "@OTW#"

# Directions 0..7. Cardinals come first; the opposite of direction d is d ^ 2.
DIRECTION_NAMES = ("N", "E", "S", "W", "NE", "SE", "SW", "NW")
DX = (0, 1, 0, -1, 1, 1, -1, -1)
DY = (-1, 0, 1, 0, -1, 1, 1, -1)

# What a move costs, in integers: sqrt(2) * 2**32 is 6074000999.95, so that sums of moves compare as the real numbers do
# while they differ by fewer than 170,000 diagonals. Floats are for printing.
CARDINAL_COST = 2**32
DIAGONAL_COST = 6074001000


class GridTables(NamedTuple):
    """A grid as kernels see it."""

    width: int                                          # columns; cell = y * width + x
    moves: Annotated[np.ndarray, uint8("cells")]        # bit d set: the move in direction d is legal
    offset: Annotated[np.ndarray, int32(8)]             # what direction d adds to a cell
    minor: int      # cost of a step along the shorter of two axes, when both are walked without obstacles
    row_factor: int     # what `place_of` needs
    row_shift: int


def places_of(width: int, cells: NDArray[Any]) -> NDArray[np.int32]:
    """int32[..., 2] column and row of each cell; (-1, -1) of what is on no cell."""
    places = np.stack((cells % width, cells // width), axis=-1).astype(np.int32)
    places[cells < 0] = -1
    return places


def moves_between(a: Point, b: Point) -> int:
    """Moves between two places if nothing is in the way."""
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


@jit
def update_moves(moves, free, width, eight, cutting, x0, y0, x1, y1):
    """Recompute the neighbour bytes of a rectangle (inclusive, clipped to the map). Mutates: moves."""
    height = free.size // width
    for y in range(max(y0, 0), min(y1, height - 1) + 1):
        for x in range(max(x0, 0), min(x1, width - 1) + 1):
            cell = y * width + x
            if not free[cell]:
                moves[cell] = 0
                continue
            north = y > 0 and free[cell - width]
            south = y < height - 1 and free[cell + width]
            west = x > 0 and free[cell - 1]
            east = x < width - 1 and free[cell + 1]
            bits = int(north) | int(east) << 1 | int(south) << 2 | int(west) << 3
            if eight:
                if y > 0 and x < width - 1 and free[cell - width + 1] and (cutting or (north and east)):
                    bits |= 16
                if y < height - 1 and x < width - 1 and free[cell + width + 1] and (cutting or (south and east)):
                    bits |= 32
                if y < height - 1 and x > 0 and free[cell + width - 1] and (cutting or (south and west)):
                    bits |= 64
                if y > 0 and x > 0 and free[cell - width - 1] and (cutting or (north and west)):
                    bits |= 128
            moves[cell] = bits


def make_tables(free: NDArray[np.bool_], *, connectivity: int, corner_cutting: bool = False) -> GridTables:
    """The tables of a terrain, given as rows, True where a unit may stand."""
    height, width = (int(n) for n in free.shape)
    moves = np.zeros(free.size, dtype=np.uint8)
    update_moves(moves, free.ravel(), width, connectivity == 8, corner_cutting, 0, 0, width - 1, height - 1)
    offset = np.array([dy * width + dx for dx, dy in zip(DX, DY, strict=True)], dtype=np.int32)
    minor = DIAGONAL_COST - CARDINAL_COST if connectivity == 8 else CARDINAL_COST
    return GridTables(width, moves, offset, minor, *row_factor(width, height))


def row_factor(width: int, height: int) -> tuple[int, int]:
    """A factor and a shift that give the row of a cell: to divide takes longer.

    They are exact for all maps with fewer than 2**31 cells, and no product leaves 64 bits.
    """
    shift = 63 - height.bit_length()
    return (1 << shift) // width + 1, shift


@jit
def place_of(tables, cell):
    """The column of a cell, and its row, by the tables of a map or another bundle with these fields."""
    y = (np.int64(cell) * tables.row_factor) >> tables.row_shift
    return cell - y * tables.width, y


@jit
def empty_map_cost(tables, dx, dy):
    """Cost of the shortest path over dx columns and dy rows (both >= 0) without obstacles: octile, or Manhattan."""
    return np.int64(max(dx, dy)) * CARDINAL_COST + np.int64(min(dx, dy)) * tables.minor


@jit
def spread(tables, directions, mark, blank, value, queue, head, tail):
    """One step of a flood: visit the cell at the queue's head; return the queue's new tail. Mutates: mark, queue.

    Each neighbour whose mark is `blank` gets `value` and joins the queue; with 4 directions, only those in the same row
    or column do. The flood ends when the queue is full.
    """
    cell = queue[head]
    bits = tables.moves[cell]
    for d in range(directions):
        if bits >> d & 1:
            beside = cell + tables.offset[d]
            if mark[beside] == blank:
                if tail == queue.size:
                    return tail
                mark[beside] = value
                queue[tail] = beside
                tail += 1
    return tail
