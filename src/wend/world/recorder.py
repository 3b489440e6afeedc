"""The recorder: writes down what happens in a world, for its trace and for its state hash."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.maps.grid import Grid
from wend.world.trace import ABSENT, Event, Trace

_TO_JSON = json.JSONEncoder(sort_keys=True)


class Recorder:
    """What happened in one world so far."""

    def __init__(self, grid: Grid, *, keeps_trace: bool) -> None:
        """Begin with this map. Without a trace only the hash is kept."""
        self._grid = grid.copy()
        self._keeps_trace = keeps_trace
        self._hash = b""
        self._add_to_hash(grid.digest().encode())
        self._events: list[Event] = []
        self._codes: list[NDArray[np.uint8]] = []       # by tick: what each agent did, see Trace.moves
        self._plan_ms: list[float] = []                 # by tick
        self._expansions: list[int] = []                # by tick

    def note(self, event: Event) -> None:
        """Something was done to the world between two ticks."""
        self._add_to_hash(_TO_JSON.encode([event.tick, event.kind, event.agent, event.data]).encode())
        if self._keeps_trace:
            self._events.append(event)

    def note_tick(
        self, cells: NDArray[np.int32], codes: NDArray[np.uint8], *, plan_ms: float, expansions: int
    ) -> None:
        """A tick was made: where all agents stand now, what each of them did, and what planning took."""
        self._add_to_hash(cells.astype("<i4").tobytes())
        if self._keeps_trace:
            self._codes.append(codes)
            self._plan_ms.append(plan_ms)
            self._expansions.append(expansions)

    def state_hash(self) -> str:
        """A hash of all that was noted."""
        return self._hash.hex()

    def trace(self, agents: int, meta: dict[str, Any]) -> Trace:
        """The trace of all that was noted, with so many agents."""
        moves = np.full((len(self._codes), agents), ABSENT, dtype=np.uint8)
        for tick, codes in enumerate(self._codes):
            moves[tick, : codes.size] = codes
        plan_ms, expansions = np.array(self._plan_ms, np.float64), np.array(self._expansions, np.int64)
        return Trace(self._grid, moves, list(self._events), plan_ms, expansions, meta)

    def _add_to_hash(self, data: bytes) -> None:
        self._hash = hashlib.blake2b(self._hash + data, digest_size=16).digest()
