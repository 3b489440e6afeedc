# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The reservation table: who will stand where, and when.

For every cell a short list of (time, agent), newest first, from one pool. Planned cells come and go by the window, so a
list holds about one entry per agent that passes the cell within its window, and memory is bounded by what is planned:
agents times steps, whatever the size of the map and however long the world lives (docs/decisions/003).

A swap needs no table of edges: an agent swaps with my move u -> v at time t iff it owns (v, t) and (u, t + 1).
A hold is a reservation without an end, for agents that stay for good (CA*, HCA*).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.search.kernel import NO_AGENT, jit

NEVER = 2**31 - 1       # a time that does not come

_END = -1               # of a list


class Reservations(NamedTuple):
    """Who will stand where, and when."""

    head: np.ndarray        # int32[cells]  the cell's newest entry, _END if none
    time: np.ndarray        # int32[pool]   tick after which the agent stands there
    agent: np.ndarray       # int32[pool]
    link: np.ndarray        # int32[pool]   the cell's next entry, or the next free one
    free: np.ndarray        # int32[2]      first free entry, number of free entries
    hold_agent: np.ndarray  # int32[cells]  who stays there for good, or NO_AGENT
    hold_from: np.ndarray   # int32[cells]  ... from this time on, or NEVER


def make_reservations(cells: int, pool: int) -> Reservations:
    """An empty table with room for so many entries."""
    link = np.arange(1, pool + 1, dtype=np.int32)
    link[-1:] = _END
    return Reservations(
        np.full(cells, _END, np.int32), np.zeros(pool, np.int32), np.zeros(pool, np.int32), link,
        np.array([0 if pool else _END, pool], np.int32), np.full(cells, NO_AGENT, np.int32), np.full(cells, NEVER, np.int32),
    )  # fmt: skip


def with_room(table: Reservations, entries: int) -> Reservations:
    """The same table with at least so many free entries; its arrays grow by doubling."""
    missing = entries - int(table.free[1])
    if missing <= 0:
        return table
    old = table.link.size
    more = max(missing, old)
    link = np.concatenate([table.link, np.arange(old + 1, old + more + 1, dtype=np.int32)])
    link[-1] = table.free[0]
    table.free[0] = old
    table.free[1] += more
    return table._replace(time=np.pad(table.time, (0, more)), agent=np.pad(table.agent, (0, more)), link=link)


@jit
def reserve(table, cell, time, agent):
    """Enter that the agent stands there after that tick; there must be a free entry. Mutates: table."""
    entry = table.free[0]
    table.free[0] = table.link[entry]
    table.free[1] -= 1
    table.time[entry] = time
    table.agent[entry] = agent
    table.link[entry] = table.head[cell]
    table.head[cell] = entry


@jit
def release(table, cell, time, agent):
    """Take that entry out, if it is there. Mutates: table."""
    before = _END
    entry = table.head[cell]
    while entry != _END:
        after = table.link[entry]
        if table.time[entry] == time and table.agent[entry] == agent:
            if before == _END:
                table.head[cell] = after
            else:
                table.link[before] = after
            table.link[entry] = table.free[0]
            table.free[0] = entry
            table.free[1] += 1
            return
        before = entry
        entry = after


@jit
def reserve_way(table, way, since, steps, agent):
    """Enter way[0..steps] for the times from `since` on; there must be as many free entries. Mutates: table."""
    for k in range(steps + 1):
        reserve(table, way[k], since + k, agent)


@jit
def release_way(table, way, since, steps, agent):
    """Take out what `reserve_way` entered. Mutates: table."""
    for k in range(steps + 1):
        release(table, way[k], since + k, agent)


@jit
def is_walkable(tables, way):
    """Whether every step of a way is legal on the map as it is now."""
    for k in range(way.size - 1):
        legal = way[k] == way[k + 1]
        for d in range(8):
            legal = legal or (tables.moves[way[k]] >> d & 1 and way[k] + tables.offset[d] == way[k + 1])
        if not legal:
            return False
    return True


@jit
def hold(table, cell, time, agent):
    """Enter that the agent stays there for good, from that time on. Mutates: table."""
    table.hold_agent[cell] = agent
    table.hold_from[cell] = time


@jit
def release_hold(table, cell, agent):
    """Take the agent's hold out, if it is there. Mutates: table."""
    if table.hold_agent[cell] == agent:
        table.hold_agent[cell] = NO_AGENT
        table.hold_from[cell] = NEVER


@jit
def other_at(table, cell, time, agent):
    """Another agent that has the cell at that time, or NO_AGENT."""
    entry = table.head[cell]
    while entry != _END:
        if table.time[entry] == time and table.agent[entry] != agent:
            return table.agent[entry]
        entry = table.link[entry]
    if table.hold_from[cell] <= time and table.hold_agent[cell] != agent:
        return table.hold_agent[cell]
    return NO_AGENT


@jit
def owns(table, cell, time, agent):
    """Whether this agent has the cell at that time."""
    entry = table.head[cell]
    while entry != _END:
        if table.time[entry] == time and table.agent[entry] == agent:
            return True
        entry = table.link[entry]
    return table.hold_from[cell] <= time and table.hold_agent[cell] == agent


@jit
def is_free_for_good(table, cell, time, agent):
    """Whether nobody else has the cell at that time or later."""
    entry = table.head[cell]
    while entry != _END:
        if table.time[entry] >= time and table.agent[entry] != agent:
            return False
        entry = table.link[entry]
    return table.hold_from[cell] == NEVER or table.hold_agent[cell] == agent


@jit
def may_move(tables, table, here, there, time, agent, no_follow, forbid_cross):
    """Whether an agent may go from `here` after tick `time` to `there` in the next; both may be the same cell.

    `no_follow`: not into a cell that is only just being left. `forbid_cross`: not across the diagonal move of another.
    """
    if other_at(table, there, time + 1, agent) != NO_AGENT:
        return False
    if here == there:
        return True
    leaving = other_at(table, there, time, agent)
    if leaving != NO_AGENT and (no_follow or owns(table, here, time + 1, leaving)):
        return False
    step = there - here
    if forbid_cross and abs(step) != 1 and abs(step) != tables.width:
        column = 1 if step == tables.width + 1 or step == 1 - tables.width else -1
        for corner, opposite in ((here + column, there - column), (there - column, here + column)):
            crossing = other_at(table, corner, time, agent)
            if crossing != NO_AGENT and owns(table, opposite, time + 1, crossing):
                return False
    return True
