"""The roster: the handles by which a program knows the agents, and their indices in the arrays of world and planner.

An agent's handle is its place in the order in which agents were added. No other agent ever gets it, and traces number
agents by it. Its index is the first one that no agent on the map has: when it leaves the map, the next agent takes it.
So arrays over agents are as long as there ever were agents at the same time, however many came and went.
docs/decisions/013-handles-and-indices.md says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.journal import Journal
from wend.kernel import NO_AGENT
from wend.kernel.arrays import ahead, allocate, grown, int32, renew


class Entries(NamedTuple):
    """Who has which index, with space for agents to come."""

    handle: Annotated[np.ndarray, int32("agents", fill=NO_AGENT)]   # of the agent that has this index
    came_at: Annotated[np.ndarray, int32("agents")]                 # the tick after which it came


class Roster:
    """The agents of one world."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._entries = allocate(Entries, agents=0)
        self.size = 0           # indices that were ever used: the length of arrays over agents
        self.added = 0          # agents that there ever were
        self._gone = 0          # of these, the ones that have left the map

    @property
    def handles(self) -> NDArray[np.int32]:
        """int32[agents] the handle of the agent that has each index, or NO_AGENT."""
        handles: NDArray[np.int32] = self._entries.handle[: self.size]
        return handles

    def enter(self, tick: int) -> int:
        """An agent comes after this tick; return its index."""
        for name in ("size", "added"):
            self._journal.keep_attribute(self, name)
        is_full = self.size == self.added - self._gone
        index = self.size if is_full else int((self.handles == NO_AGENT).argmax())
        if index == self._entries.handle.size:
            self._journal.keep_attribute(self, "_entries")
            self._entries = grown(self._entries, agents=ahead(index, index + 1))
        renew(self._entries, index, self._journal, is_spare=is_full)
        self._entries.handle[index], self._entries.came_at[index] = self.added, tick
        self.size = max(self.size, index + 1)
        self.added += 1
        return index

    def enter_all(self, count: int) -> None:
        """So many agents come before the first tick, and none has come before them."""
        for name in ("size", "added", "_entries"):
            self._journal.keep_attribute(self, name)
        self._entries = grown(self._entries, agents=ahead(0, count))
        self._entries.handle[:count] = np.arange(count)
        self.size = self.added = count

    def leave(self, index: int) -> None:
        """An agent leaves the map. The next one to come may have its index."""
        self._journal.keep(self._entries.handle, index)
        self._journal.keep_attribute(self, "_gone")
        self._entries.handle[index] = NO_AGENT
        self._gone += 1

    def index_of(self, handle: int) -> int:
        """The index of an agent, or NO_AGENT if it is not on the map."""
        if not 0 <= handle < self.added:
            return NO_AGENT
        if handle < self.size and self.handles[handle] == handle:
            return handle
        found = np.flatnonzero(self.handles == handle)
        return int(found[0]) if found.size else NO_AGENT

    def handles_of(self, indices: Iterable[int]) -> list[int]:
        """The handles of the agents that have these indices."""
        return [int(self.handles[index]) for index in indices]

    def was_there(self, index: int, tick: int) -> bool:
        """Whether an index is that of an agent that came before this tick was made, and has not left since."""
        return 0 <= index < self.size and self.handles[index] != NO_AGENT and bool(self._entries.came_at[index] < tick)

    def in_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """What an array has for the agents on the map, in the order in which they were added; not always a copy."""
        if self._gone == 0:
            return values
        handles = self.handles
        living = np.flatnonzero(handles != NO_AGENT)
        return values[living[np.argsort(handles[living])]]

    def by_handle(self, values: NDArray[Any], absent: int) -> NDArray[Any]:
        """What an array has for each index, by handle; `absent` for agents that have left the map."""
        found = np.full((self.added, *values.shape[1:]), absent, values.dtype)
        is_there = self.handles != NO_AGENT
        found[self.handles[is_there]] = values[is_there]
        return found
