# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Paths that agents follow move by move, however long they are.

A path is a stack of directions with the next move on top: moves are taken off it, and a detour is put in front of it.
Ten moves make a chunk, one int64; the chunk on top is kept with its agent, those that follow are in a pool that all
agents share. So a path takes a byte per move, a long one takes no space away from others, and no array is copied when
the pool grows. A planner asks `has_space` before it writes a path, and calls `with_space` if there is none.

`cell = start; chunk = paths.top[agent]` and then, for every move that is left, `direction(chunk)` and
`chunk = after(paths, chunk)` walk down a path without changing it.

Prefixes of a path whose length has a small bound need none of this: they are rows of directions.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import allocate, int32, int64, record
from wend.kernel.pools import Pool, carry, enlarged, get, make_pool, put
from wend.maps.grid import GridTables

_IN_A_CHUNK = 10                # moves
_SHIFT = 31                     # above the moves of a chunk: the number of the chunk that follows, 0 if none does
_MOVES = (1 << _SHIFT) - 1      # the moves, three bits each, the next one lowest, under a leading 1
_EMPTY = 1                      # a chunk without moves; so is chunk 0
_FULL = 1 << 3 * _IN_A_CHUNK    # the leading 1 of a chunk with all its moves
_FIRST_CHUNKS = 1 << 12         # chunks that there is space for before the pool grows


class Paths(NamedTuple):
    """The path of each agent."""

    left: Annotated[np.ndarray, int32("agents")]                # moves to go; set to 0 to forget a path
    top: Annotated[np.ndarray, int64("agents", fill=_EMPTY)]    # the chunk with the next moves
    chunks: Pool                                                # those that follow
    counts: Annotated[
        np.ndarray,
        record(
            "used",     # chunks of the pool that were ever used, chunk 0 included
            "spares",   # how many of these were given back,
            "spare",    # ... and the first of them, which are chained as those of a path are
        ),
    ]


def make_paths(cells: int) -> Paths:
    """No agents yet, and space for paths on a map of so many cells: for two of the longest at least."""
    chunks = max(_FIRST_CHUNKS, 2 * cells // _IN_A_CHUNK + 8)
    paths = allocate(Paths, {"chunks": make_pool(chunks)}, agents=0)
    paths.chunks.items[0] = _EMPTY
    paths.counts[0].used = 1
    return paths


def with_space(paths: Paths) -> Paths:
    """The same paths with space for twice as many moves."""
    return paths._replace(chunks=enlarged(paths.chunks))


@jit
def has_space(paths, moves):
    """Whether so many moves can be put in front of a path."""
    counts = paths.counts[0]
    return moves // _IN_A_CHUNK + 2 <= counts.spares + paths.chunks.items.size - counts.used


@jit
def direction(chunk):
    """The next of a chunk's moves."""
    return chunk & 7


@jit
def after(paths, chunk):
    """The chunk at hand when the next move of `chunk` is made."""
    moves = chunk & _MOVES
    return chunk - moves + (moves >> 3) if moves >> 3 != _EMPTY else get(paths.chunks, chunk >> _SHIFT)


@jit
def _give_back(paths, number):
    """Put a chunk to those that may be used again. Mutates: paths."""
    counts = paths.counts[0]
    put(paths.chunks, number, counts.spare << _SHIFT)
    counts.spare = number
    counts.spares += 1


@jit
def _new_chunk(paths):
    """The number of a chunk that no path uses. Mutates: paths."""
    counts = paths.counts[0]
    if counts.spares > 0:
        number = counts.spare
        counts.spare = get(paths.chunks, number) >> _SHIFT
        counts.spares -= 1
        return number
    carry(paths.chunks, 2)
    counts.used += 1
    return counts.used - 1


@jit
def take_move(paths, agent):
    """Take the next move off a path that has one. Mutates: paths."""
    chunk = paths.top[agent]
    paths.top[agent] = after(paths, chunk)
    if (chunk & _MOVES) >> 3 == _EMPTY and chunk >> _SHIFT != 0:
        _give_back(paths, chunk >> _SHIFT)          # what it held is on top now
    paths.left[agent] -= 1
    return direction(chunk)


@jit
def put_move(paths, agent, d):
    """Put a move in front of a path. Mutates: paths."""
    chunk = paths.top[agent]
    moves = chunk & _MOVES
    if moves >= _FULL:
        number = _new_chunk(paths)
        put(paths.chunks, number, chunk)
        chunk, moves = number << _SHIFT, _EMPTY
    else:
        chunk -= moves
    paths.top[agent] = chunk | moves << 3 | d
    paths.left[agent] += 1


@jit
def shorten(paths, agent, moves):
    """Keep only the last `moves` moves of a path; 0 also gives back what a forgotten path held. Mutates: paths."""
    if moves > 0:
        for _ in range(paths.left[agent] - moves):
            take_move(paths, agent)
        return
    number = paths.top[agent] >> _SHIFT
    while number != 0:
        following = get(paths.chunks, number) >> _SHIFT
        _give_back(paths, number)
        number = following
    paths.top[agent] = _EMPTY
    paths.left[agent] = 0


@jit
def _write_cells(tables, paths, agent, cell, cells):
    """Write the cells that a path leads to from `cell`. Mutates: cells."""
    chunk = paths.top[agent]
    for k in range(paths.left[agent]):
        cell += tables.offset[direction(chunk)]
        chunk = after(paths, chunk)
        cells[k] = cell


def cells_ahead(tables: GridTables, paths: Paths, agent: int, cell: int) -> tuple[int, ...]:
    """The cells that an agent's path leads to from `cell`, the next one first."""
    cells = np.empty(int(paths.left[agent]), np.int32)
    _write_cells(tables, paths, agent, cell, cells)
    return tuple(cells.tolist())


# Did an edit of the map cut it?


@jit
def is_walkable(tables, cells):
    """Whether every step from one of these cells to the next, or to the same, is legal on the map as it is now."""
    for k in range(cells.size - 1):
        step = cells[k + 1] - cells[k]
        legal = step == 0
        for d in range(8):
            legal = legal or (tables.offset[d] == step and tables.moves[cells[k]] >> d & 1)
        if not legal:
            return False
    return True


@jit
def drop_cut_paths(tables, start, paths):
    """Forget the paths that an edit of the map made illegal; start[agent] is where each begins. Mutates: paths."""
    for agent in range(start.size):
        cell, chunk = start[agent], paths.top[agent]
        for _ in range(paths.left[agent]):
            if not tables.moves[cell] >> direction(chunk) & 1:
                paths.left[agent] = 0
                break
            cell += tables.offset[direction(chunk)]
            chunk = after(paths, chunk)


@jit
def drop_cut_prefixes(tables, agents, prefixes):
    """Forget the rows of directions that an edit of the map made illegal. Mutates: prefixes.

    `prefixes` has `step` (uint8[agents, moves] directions), `length` and `done` (int32[agents] moves in it, and made).
    """
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        for k in range(prefixes.done[agent], prefixes.length[agent]):
            if not tables.moves[cell] >> prefixes.step[agent, k] & 1:
                prefixes.length[agent] = 0
                prefixes.done[agent] = 0
                break
            cell += tables.offset[prefixes.step[agent, k]]
