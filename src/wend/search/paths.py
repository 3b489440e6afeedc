# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Paths that agents follow move by move, however long they are.

A path is a stack of directions with the next move on top: moves are taken off it, and a detour is put in front of it.
Ten moves make a packet, one int64; the packet on top is kept with its agent, those that follow are in a pool that all
agents share. So a path takes a byte per move, a long one takes no space away from others, and no array is copied when
the pool grows. A planner asks `has_space` before it writes a path, and calls `with_space` if there is none.

`cell = start; packet = paths.top[agent]` and then, for every move that is left, `direction(packet)` and
`packet = after(paths, packet)` walk down a path without changing it.

Prefixes of a path whose length has a small bound need none of this: they are rows of directions.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import jit
from wend.kernel.arrays import allocate, int32, int64, record
from wend.kernel.pools import Pool, carry, enlarged, get, make_pool, put
from wend.maps.terrain import GridTables

_IN_A_PACKET = 10                # moves
_SHIFT = 31                      # above the moves of a packet: the number of the packet that follows, 0 if none does
_MOVES = (1 << _SHIFT) - 1       # the moves, three bits each, the next one lowest, under a leading 1
_EMPTY = 1                       # a packet without moves; so is packet 0
_FULL = 1 << 3 * _IN_A_PACKET    # the leading 1 of a packet with all its moves
_FIRST_PACKETS = 1 << 12         # packets that there is space for before the pool grows


class Paths(NamedTuple):
    """The path of each agent."""

    left: Annotated[np.ndarray, int32("agents")]                # moves to go; set to 0 to forget a path
    top: Annotated[np.ndarray, int64("agents", fill=_EMPTY)]    # the packet with the next moves
    packets: Pool                                               # those that follow
    counts: Annotated[
        np.ndarray,
        record(
            "used",     # packets of the pool that were ever used, packet 0 included
            "spares",   # how many of these were given back,
            "spare",    # ... and the first of them, which are chained as those of a path are
        ),
    ]

    def lengths_in_use(self) -> dict[str, int]:
        """How much of the pool a snapshot has to hold."""
        return {"items": self.counts["used"].item()}


def make_paths(cells: int) -> Paths:
    """No agents yet, and space for paths on a map of so many cells: for two of the longest at least."""
    packets = max(_FIRST_PACKETS, 2 * cells // _IN_A_PACKET + 8)
    paths = allocate(Paths, {"packets": make_pool(packets)}, agents=0)
    paths.packets.items[0] = _EMPTY
    paths.counts[0].used = 1
    return paths


def with_space(paths: Paths) -> Paths:
    """The same paths with space for twice as many moves."""
    return paths._replace(packets=enlarged(paths.packets))


@jit
def has_space(paths, moves):
    """Whether so many moves can be put in front of a path."""
    counts = paths.counts[0]
    return moves // _IN_A_PACKET + 2 <= counts.spares + paths.packets.items.size - counts.used


@jit
def direction(packet):
    """The next of a packet's moves."""
    return packet & 7


@jit
def after(paths, packet):
    """The packet at hand when the next move of `packet` is made."""
    moves = packet & _MOVES
    return packet - moves + (moves >> 3) if moves >> 3 != _EMPTY else get(paths.packets, packet >> _SHIFT)


@jit
def _give_back(paths, number):
    """Put a packet to those that may be used again. Mutates: paths."""
    counts = paths.counts[0]
    put(paths.packets, number, counts.spare << _SHIFT)
    counts.spare = number
    counts.spares += 1


@jit
def _new_packet(paths):
    """The number of a packet that no path uses. Mutates: paths."""
    counts = paths.counts[0]
    if counts.spares > 0:
        number = counts.spare
        counts.spare = get(paths.packets, number) >> _SHIFT
        counts.spares -= 1
        return number
    carry(paths.packets, 1)
    counts.used += 1
    return counts.used - 1


@jit
def take_move(paths, agent):
    """Take the next move off a path that has one. Mutates: paths."""
    packet = paths.top[agent]
    paths.top[agent] = after(paths, packet)
    if (packet & _MOVES) >> 3 == _EMPTY and packet >> _SHIFT != 0:
        _give_back(paths, packet >> _SHIFT)          # what it held is on top now
    paths.left[agent] -= 1
    return direction(packet)


@jit
def put_move(paths, agent, d):
    """Put a move in front of a path. Mutates: paths."""
    packet = paths.top[agent]
    moves = packet & _MOVES
    if moves >= _FULL:
        number = _new_packet(paths)
        put(paths.packets, number, packet)
        packet, moves = number << _SHIFT, _EMPTY
    else:
        packet -= moves
    paths.top[agent] = packet | moves << 3 | d
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
        following = get(paths.packets, number) >> _SHIFT
        _give_back(paths, number)
        number = following
    paths.top[agent] = _EMPTY
    paths.left[agent] = 0


@jit
def _write_cells(tables, paths, agent, cell, cells):
    """Write the cells that a path leads to from `cell`. Mutates: cells."""
    packet = paths.top[agent]
    for k in range(paths.left[agent]):
        cell += tables.offset[direction(packet)]
        packet = after(paths, packet)
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
        cell, packet = start[agent], paths.top[agent]
        for _ in range(paths.left[agent]):
            if not tables.moves[cell] >> direction(packet) & 1:
                paths.left[agent] = 0
                break
            cell += tables.offset[direction(packet)]
            packet = after(paths, packet)


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
