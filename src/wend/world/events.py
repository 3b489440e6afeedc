"""Events: what happened to agents in a tick, as a list and as calls of the functions that asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import UnknownNameError
from wend.maps.grid import Grid
from wend.world.conduct import KINDS, AgentEvent, Sent

SETTLED = "settled"
EVENT_KINDS = (*KINDS, SETTLED)

Listener = Callable[[AgentEvent], Any]


class Listeners:
    """Who wants to know of what. A copy of a world has none: they belong to the program that asked."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = {kind: [] for kind in EVENT_KINDS}

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


def events_of(tick: int, grid: Grid, cells: NDArray[np.int32], sent: Sent, news: NDArray[np.uint8]) -> list[AgentEvent]:
    """What `conduct.look` has seen, one event for each agent and kind."""
    found = []
    for agent in np.flatnonzero(news).tolist():
        for k, kind in enumerate(KINDS):
            if news[agent] >> k & 1:
                where = sent.asked if kind in ("unreachable", "reachable") else cells
                found.append(AgentEvent(tick, kind, (agent,), grid.xy(int(where[agent]))))
    return found
