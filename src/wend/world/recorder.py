"""The recorder: writes down what happens in a world, for its trace and for its state hash."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.journal import Journal
from wend.kernel import NO_AGENT
from wend.maps.grid import Grid
from wend.planners.base import State
from wend.world.roster import Roster
from wend.world.trace import ABSENT, Event, Trace, Wait

_CELLS = np.dtype("<i4")            # in hashes, on every machine
_NO_HANDLES = np.zeros(0, np.int32)
_TO_JSON = json.JSONEncoder(sort_keys=True, check_circular=False)


class Tick(NamedTuple):
    """What was written down of a tick."""

    codes: NDArray[np.uint8]        # what each agent did, by index
    handles: NDArray[np.int32]      # which agents these are, NO_AGENT where there is none
    plan_ms: float
    expansions: int


class Record(NamedTuple):
    """What was written down up to some point. The lists are the recorder's own, which grow; the numbers are of then."""

    events: list[Event]
    events_then: int
    ticks: list[Tick]
    waits: list[list[tuple[int, int, int, int]]]
    ticks_then: int
    waiting: tuple[int, dict[int, Wait]]
    reasons: dict[str, int]
    reasons_then: int


class Recorder:
    """What happened in one world so far."""

    def __init__(self, grid: Grid, *, keeps_trace: bool, keeps_reasons: bool = False) -> None:
        """Begin with this map. Without a trace only the hash is kept; reasons say why agents wait."""
        self._grid = grid.copy()
        self.map_digest = grid.digest()
        self.keeps_trace = keeps_trace
        self._is_whole = True           # nothing is missing, as it is after a snapshot that came without a record
        self._hash = _joined(b"", self.map_digest.encode())
        self._events: list[Event] = []
        self._ticks: list[Tick] = []
        self.keeps_reasons = keeps_reasons
        self._waits: list[list[tuple[int, int, int, int]]] = []         # by tick: as in `Trace.waits`
        self._waiting: tuple[int, dict[int, Wait]] = (0, {})            # after so many ticks, who waits and why
        self._reasons: dict[str, int] = {}                              # each reason, and its place in `Trace.reasons`

    def note(self, event: Event) -> None:
        """Something was done to the world between two ticks."""
        self._hash = _joined(self._hash, _TO_JSON.encode([event.tick, event.kind, event.agent, event.data]).encode())
        if self.has_trace:
            self._events.append(event)

    @property
    def has_trace(self) -> bool:
        """Whether it can say all that happened."""
        return self.keeps_trace and self._is_whole

    def record(self) -> Record | None:
        """What was written down so far, for `go_back`. It costs nothing, however much that is."""
        if not self.has_trace:
            return None
        return Record(
            self._events, len(self._events), self._ticks, self._waits, len(self._ticks), self._waiting, self._reasons,
            len(self._reasons),
        )  # fmt: skip

    def go_back(self, hash_then: bytes, record: Record | None) -> None:
        """Go on from what was written down at some point, by this recorder or by another. The record is left alone."""
        self._hash = hash_then
        self._is_whole = record is not None
        self._events, self._ticks, self._waits, self._waiting, self._reasons = [], [], [], (0, {}), {}
        if record is not None and self.keeps_trace:
            self._events = record.events[: record.events_then]
            self._ticks, self._waits = record.ticks[: record.ticks_then], record.waits[: record.ticks_then]
            self._waiting = record.waiting
            self._reasons = dict(itertools.islice(record.reasons.items(), record.reasons_then))

    def mark(self) -> tuple[bytes, int]:
        """Where the record is now, for `rewind`."""
        return self._hash, len(self._events)

    def rewind(self, hash_then: bytes, events_then: int) -> None:
        """Forget the events since a mark."""
        self._hash = hash_then
        del self._events[events_then:]

    def hash_with(self, cells: NDArray[np.int32]) -> bytes:
        """What the hash will be after a tick that ends with the agents on these cells, in the order of handles."""
        return _joined(self._hash, cells.astype(_CELLS, copy=False).tobytes())

    def note_tick(
        self, tick: int, hash_after: bytes, codes: NDArray[np.uint8], handles: NDArray[np.int32], plan_ms: float,
        expansions: int,
    ) -> None:  # fmt: skip
        """A tick was made: what each agent did in it, and what planning took. To note it again changes nothing."""
        self._hash = hash_after
        if self.has_trace:
            known = self._ticks[-1].handles if self._ticks else _NO_HANDLES
            handles = known if known.tobytes() == handles.tobytes() else handles.copy()
            self._ticks[tick - 1 :] = [Tick(codes, handles, plan_ms, expansions)]

    def note_waits(self, tick: int, waits: dict[int, Wait]) -> None:
        """Why agents waited in a tick; only what is new is kept. To note it again changes nothing."""
        noted, before = self._waiting
        if noted == tick or not self._is_whole:
            return
        changes = []
        for agent, wait in waits.items():
            if before.get(agent) != wait:
                reason = self._reasons.setdefault(wait.reason, len(self._reasons))
                changes.append((tick - 1, agent, NO_AGENT if wait.waits_for is None else wait.waits_for, reason))
        self._waits[tick - 1 :] = [changes]
        self._waiting = tick, waits

    def state_hash(self) -> str:
        """A hash of all that was noted."""
        return self._hash.hex()

    def trace(self, agents: int, meta: dict[str, Any]) -> Trace:
        """The trace of all that was noted, with so many agents."""
        moves = np.full((len(self._ticks), agents), ABSENT, dtype=np.uint8)
        for tick, noted in enumerate(self._ticks):
            is_there = noted.handles != NO_AGENT
            moves[tick, noted.handles[is_there]] = noted.codes[is_there]
        plan_ms = np.array([noted.plan_ms for noted in self._ticks], np.float64)
        expansions = np.array([noted.expansions for noted in self._ticks], np.int64)
        waits = np.array([change for changes in self._waits for change in changes], np.int32).reshape(-1, 4)
        return Trace(self._grid, moves, list(self._events), plan_ms, expansions, meta, waits, list(self._reasons))


class Notes:
    """Writes down what is done to a world between two ticks; if the call fails, it was never done.

    It does not know the world itself: a world that nobody has any more is gone at once, and its memory with it.
    """

    uncaptured = ("_recorder",)

    def __init__(self, recorder: Recorder, state: State, roster: Roster, journal: Journal) -> None:
        self._recorder = recorder
        self._state = state
        self._roster = roster
        self._journal = journal

    def __call__(self, kind: str, agent: int | None = None, **data: Any) -> None:
        """Something of this kind was done, to the agent with this index if it was done to one."""
        self._journal.on_failure(self._recorder.rewind, *self._recorder.mark())
        self._write(kind, agent, data)

    def each(self, events: Iterable[tuple[str, int, dict[str, Any]]]) -> None:
        """Many things were done, each of a kind, to an agent, and with these data."""
        self._journal.on_failure(self._recorder.rewind, *self._recorder.mark())
        for event in events:
            self._write(*event)

    def _write(self, kind: str, agent: int | None, data: dict[str, Any]) -> None:
        handle = None if agent is None else self._roster.handles.item(agent)
        self._recorder.note(Event(self._state.tick, kind, handle, data))


def _joined(so_far: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(so_far + data, digest_size=16).digest()
