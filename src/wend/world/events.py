"""Events: what happened to agents in a tick, as a list and as calls of the functions that asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from wend.errors import UnknownNameError
from wend.kernel.arrays import allocate, int32
from wend.maps.grid import Grid
from wend.world.conduct import KINDS, AgentEvent

SETTLED = "settled"
EVENT_KINDS = (*KINDS, SETTLED)
_ARRIVED = 1 << KINDS.index("arrived")

Listener = Callable[[AgentEvent], Any]


class News(NamedTuple):
    """What happened to agents in a tick, not yet put into words: few programs ask for it in every tick."""

    tick: int
    told: Annotated[np.ndarray, int32("told", 4)]       # what `conduct.look` saw, with handles
    settled: dict[int, list[int]]                       # by shared place: the agents that have all settled there

    @property
    def has_arrivals(self) -> bool:
        """Whether an agent has come home."""
        return len(self.told) > 0 and bool((self.told[:, 1] & _ARRIVED).any())


NO_NEWS = allocate(News, {"tick": 0, "settled": {}}, told=0)


class Listeners:
    """Who wants to know of what. A copy of a world has none: they belong to the program that asked."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = {kind: [] for kind in EVENT_KINDS}

    def __bool__(self) -> bool:
        """Whether anyone wants to know of anything."""
        return any(self._listeners.values())

    def of(self, kind: str) -> list[Listener]:
        """Those who want to know of a kind of event."""
        if kind not in self._listeners:
            raise UnknownNameError("kind of event", kind, EVENT_KINDS)
        return self._listeners[kind]

    def tell(self, events: list[AgentEvent]) -> None:
        """Call all who want to know of these events, one after the other."""
        for event in events:
            for listener in list(self._listeners[event.kind]):
                listener(event)

    def __reduce__(self) -> tuple[type[Listeners], tuple[()]]:
        return Listeners, ()


def events_of(news: News, grid: Grid) -> list[AgentEvent]:
    """The news of a tick, one event for each agent and kind, then one for each place where all have settled."""
    tick, told, settled = news
    found = []
    for agent, kinds, cell, asked in told.tolist():
        for k, kind in enumerate(KINDS):
            if kinds >> k & 1:
                where = asked if kind in ("unreachable", "reachable") else cell
                found.append(AgentEvent(tick, kind, (agent,), grid.xy(where)))
    for place, members in settled.items():
        found.append(AgentEvent(tick, SETTLED, tuple(members), grid.xy(place)))
    return found
