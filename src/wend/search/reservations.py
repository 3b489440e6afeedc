# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The reservation table: who will stand where, and when.

A ring over time for every cell: the slot of tick t is t modulo the ring's size, so that the near future of a cell lies
together in memory, and a question is one look. The ring slides: what lies behind is released tick by tick (`expire`),
and nothing is reserved farther ahead than the ring is long. Pages of the table that nobody ever reserves are never
backed by memory.

A swap needs no table of edges: an agent swaps with my move u -> v at time t iff it owns (v, t) and (u, t + 1).
A hold is a reservation without an end, for agents that stay for good (CA*, HCA*). One agent has a slot at a time: who
reserves last has it.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, jit
from wend.kernel.arrays import allocate, flags, int32

NEVER = 2**31 - 1       # a time that does not come


class Reservations(NamedTuple):
    """Who will stand where, and when."""

    ring: Annotated[np.ndarray, int32("cells", "slots", used_by="is_used")]     # agent + 1, 0 if nobody; slots is a
    is_used: Annotated[np.ndarray, flags("cells")]          # ... power of two. Where this is False, nobody is
    until: Annotated[np.ndarray, int32(1)]                  # the last tick for which anything was ever reserved
    hold_agent: Annotated[np.ndarray, int32("holds")]       # [cells] agent + 1 that stays there for good, 0 if nobody
    hold_from: Annotated[np.ndarray, int32("holds")]        # [cells] ... from this time on
    has_holds: Annotated[np.ndarray, flags(1)]              # whether there was ever one

    def lengths_in_use(self) -> dict[str, int]:
        """A snapshot has to hold the holds if there are any."""
        return {} if self.has_holds[0] else {"holds": 0}


def make_reservations(cells: int, ticks: int) -> Reservations:
    """An empty table in which so many ticks from now on, the present included, can be reserved."""
    return allocate(Reservations, cells=cells, holds=cells, slots=1 << (ticks - 1).bit_length())


@jit
def reserve(table, cell, time, agent):
    """Enter that the agent stands there after that tick. Mutates: table."""
    table.is_used[cell] = True
    table.ring[cell, time & (table.ring.shape[1] - 1)] = agent + 1
    table.until[0] = max(table.until[0], time)


@jit
def release(table, cell, time, agent):
    """Take that entry out, if it is there. Mutates: table."""
    slot = time & (table.ring.shape[1] - 1)
    if table.ring[cell, slot] == agent + 1:
        table.ring[cell, slot] = 0


@jit
def reserve_way(table, way, since, steps, agent):
    """Enter way[0..steps] for the times from `since` on. Mutates: table."""
    for k in range(steps + 1):
        reserve(table, way[k], since + k, agent)


@jit
def release_way(table, way, since, steps, agent, now):
    """Take out what `reserve_way` entered, as far as it is not expired. Mutates: table."""
    for k in range(max(now - 1 - since, 0), steps + 1):
        release(table, way[k], since + k, agent)


@jit
def expire(table, way, since, steps, agent, now):
    """Take out what the way has for the tick before `now`; to be called in every tick. Mutates: table."""
    k = now - 1 - since
    if 0 <= k <= steps:
        release(table, way[k], now - 1, agent)


@jit
def hold(table, cell, time, agent):
    """Enter that the agent stays there for good, from that time on. Mutates: table."""
    table.hold_agent[cell] = agent + 1
    table.hold_from[cell] = time
    table.has_holds[0] = True


@jit
def release_hold(table, cell, agent):
    """Take the agent's hold out, if it is there. Mutates: table."""
    if table.hold_agent[cell] == agent + 1:
        table.hold_agent[cell] = 0


@jit
def owner_at(table, cell, time):
    """The agent that has the cell at that time, or NO_AGENT."""
    if time <= table.until[0]:
        agent = table.ring[cell, time & (table.ring.shape[1] - 1)]
        if agent != 0:
            return agent - 1
    if table.hold_agent[cell] != 0 and table.hold_from[cell] <= time:
        return table.hold_agent[cell] - 1
    return NO_AGENT


@jit
def other_at(table, cell, time, agent):
    """Another agent that has the cell at that time, or NO_AGENT."""
    owner = owner_at(table, cell, time)
    return NO_AGENT if owner == agent else owner


@jit
def free_from(table, cell, time, agent):
    """The first time, `time` or later, from which on nobody else has the cell; NEVER if somebody stays there."""
    if table.hold_agent[cell] != 0 and table.hold_agent[cell] != agent + 1:
        return NEVER
    for last in range(table.until[0], time - 1, -1):
        if other_at(table, cell, last, agent) != NO_AGENT:
            return last + 1
    return time


@jit
def may_move(tables, table, here, there, time, agent, no_follow, forbid_cross):
    """Whether an agent may go from `here` after tick `time` to `there` in the next; both may be the same cell.

    `no_follow`: a reserved cell stays so while its agent leaves it. Who reserved first may still be close behind.
    `forbid_cross`: not across the diagonal move of another.
    """
    if other_at(table, there, time + 1, agent) != NO_AGENT:
        return False
    if here == there:
        return True
    leaving = other_at(table, there, time, agent)
    if leaving != NO_AGENT and (no_follow or owner_at(table, here, time + 1) == leaving):
        return False
    if forbid_cross:
        column = there % tables.width - here % tables.width
        row = there // tables.width - here // tables.width
        if column != 0 and row != 0:
            for corner, opposite in ((here + column, there - column), (there - column, here + column)):
                crossing = other_at(table, corner, time, agent)
                if crossing != NO_AGENT and owner_at(table, opposite, time + 1) == crossing:
                    return False
    return True


@jit
def first_met(tables, table, path, time, until, agent, no_follow, forbid_cross):
    """The first agent to stop another one that leaves path[0] after tick `time`, makes a move of the path in every tick
    and stays at its end up to tick `until`; NO_AGENT if none does."""
    for k in range(path.size - 1):
        here, there = path[k], path[k + 1]
        if not may_move(tables, table, here, there, time, agent, no_follow, forbid_cross):
            other = other_at(table, there, time + 1, agent)
            leaving = other_at(table, there, time, agent)
            if other == NO_AGENT and (no_follow or owner_at(table, here, time + 1) == leaving):
                other = leaving
            if other == NO_AGENT:                               # another crosses, from one of the two corners
                column = there % tables.width - here % tables.width
                other = other_at(table, here + column, time, agent)
                if other == NO_AGENT or owner_at(table, there - column, time + 1) != other:
                    other = other_at(table, there - column, time, agent)
            return other
        time += 1
    for later in range(time + 1, min(until, table.until[0]) + 1):
        other = other_at(table, path[path.size - 1], later, agent)
        if other != NO_AGENT:
            return other
    return NO_AGENT


def owners_at(table: Reservations, time: int) -> NDArray[np.int32]:
    """Of each cell the agent that has reserved it for a time, or NO_AGENT; agents that stay for good do not count."""
    return np.asarray(table.ring[:, time & (table.ring.shape[1] - 1)] - 1)


def reserved_ticks(table: Reservations, now: int) -> NDArray[np.int64]:
    """Of each cell for how many ticks from now on it is reserved; what lies behind is released up to the tick before.
    """
    behind = (now - 1) & (table.ring.shape[1] - 1)
    return np.asarray(np.count_nonzero(np.delete(table.ring, behind, axis=1), axis=1))


def next_owners(table: Reservations, now: int) -> NDArray[np.int32]:
    """Of each cell the agent that has it next, now or later, or NO_AGENT."""
    owners = table.hold_agent - 1
    slots = table.ring.shape[1]
    for time in range(min(int(table.until[0]), now + slots - 1), now - 1, -1):
        reserved = table.ring[:, time & (slots - 1)]
        owners = np.where(reserved != 0, reserved - 1, owners)
    return owners
