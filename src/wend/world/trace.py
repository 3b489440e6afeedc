"""Trace: what happened in a world, and the only hand-off to metrics, reports and viewers.

A trace holds the map at the start, one byte per agent and tick, what planning cost in each tick, and the events: agents
added, removed and ordered, cells blocked and unblocked, planners changed. On request it also holds why agents waited.
On disk it is a zip file whose entries are described field by field in docs/formats/trace.md.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend import arguments
from wend.errors import FormatError, MapError, ParameterError, VersionError
from wend.files import opened_zip, parse_json, read_entry, replacing, to_json, unpacked_limit
from wend.kernel import NO_AGENT, NO_CELL
from wend.maps.grid import Grid
from wend.maps.memory import require_memory
from wend.maps.terrain import DX, DY, Point
from wend.rules import OFF_MAP

FORMAT = "wend-trace"
MAJOR, MINOR = 1, 3

WAIT = 0        # codes 1..8 are moves in direction code - 1
ABSENT = 9      # the agent is not on the map in this tick

_OF_AGENTS = ("added", "removed", "teleported", "ordered", "followed", "routed", "pinned")     # events of one agent

LIMIT_BYTES = 4 * 2**30            # of the file
_LIMIT_TEXT_BYTES = 256 * 2**20     # of the header and of the events, unpacked
_MOST = 2**31 - 1                   # ticks, agents, columns, rows
_DATE = (1980, 1, 1, 0, 0, 0)


# Every kind of event: the fields that it has beside `tick`, `kind` and `agent`, and what happened.
EVENTS = {
    "added": (
        "`at` [x, y], `goal` [x, y], `asked` [x, y], `nearest` [x, y], `controlled` bool, `pinned` bool",
        "an agent enters the map; goals as in `ordered`; `controlled`: the planner moves it",
    ),
    "removed": ("", "it leaves"),
    "teleported": ("`at` [x, y], `to` [x, y]", "it was taken from one cell and put on another (since 1.2)"),
    "ordered": (
        "`goal` [x, y], `asked` [x, y], `nearest` [x, y]",
        "it has a new goal. `asked` is what the order named. `nearest` is there where the goal is a slot: the place "
        "near which it is. It is `asked`, or the nearest place to it that can be reached; without it, that is the "
        "goal itself (since 1.2)",
    ),
    "followed": (
        "`other` int or null",
        "it follows another agent from now on, or none; `ordered` events say where that leads it (since 1.2)",
    ),
    "group": (
        "`agents` list of int, `target` [x, y], `mode` string",
        "these agents were ordered to one place as a group; the `ordered` and `routed` events of each follow "
        "(since 1.1)",
    ),
    "routed": (
        "`waypoints` list of [x, y]",
        "its route: the places that it passes before it heads for its goal; empty if it has no route any more "
        "(since 1.1)",
    ),
    "pinned": ("`pinned` bool", "other agents may no longer push it off its goal, or may again"),
    "blocked": ("`cells` list of [x, y]", "these cells became walls"),
    "unblocked": ("`cells` list of [x, y]", "these cells became free"),
    "planner": (
        "`algorithm` string, `parameters` object, `reason` string",
        "another planner moves the agents from now on, and why (since 1.3)",
    ),
    "thought": ("`expansions` int", "the planner searched ahead, and expanded so many nodes (since 1.2)"),
}


@dataclass(frozen=True)
class Event:
    """Something that was done to the world between two ticks."""

    tick: int                       # how many ticks had been made when it happened
    kind: str                       # one of EVENTS
    agent: int | None = None        # the agent concerned, None where it is no single one
    data: dict[str, Any] = field(default_factory=dict)  # by kind, see docs/formats/trace.md


class Wait(NamedTuple):
    """Why an agent waited."""

    waits_for: int | None       # the agent that kept it where it was
    reason: str                 # in a few words


def _no_waits() -> NDArray[np.int32]:
    return np.empty((0, 4), np.int32)


@dataclass
class Trace:
    """The record of one run."""

    grid: Grid                          # the map at the start
    moves: NDArray[np.uint8]            # [ticks, agents] WAIT, 1 + direction, or ABSENT
    events: list[Event]
    plan_ms: NDArray[np.float64]        # [ticks] milliseconds that the planner took
    expansions: NDArray[np.int64]       # [ticks] nodes that the planner expanded
    meta: dict[str, Any] = field(default_factory=dict)  # algorithm, parameters, map, seed, stopped_by, ...
    waits: NDArray[np.int32] = field(default_factory=_no_waits)     # [n, 4] tick, agent, waits_for, reason; see wait()
    reasons: list[str] = field(default_factory=list)    # what the last column of `waits` points to
    _cells: NDArray[np.int32] | None = field(default=None, init=False, repr=False, compare=False)   # see positions()

    def events_by_tick(self) -> dict[int, list[Event]]:
        """The events, by how many ticks had been made when they happened."""
        found: dict[int, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.tick, []).append(event)
        return found

    @property
    def ticks(self) -> int:
        """How many ticks were made."""
        return int(self.moves.shape[0])

    @property
    def agents(self) -> int:
        """How many agents there ever were."""
        return int(self.moves.shape[1])

    def __repr__(self) -> str:
        how = "".join(f", {self.meta[key]}" for key in ("algorithm", "stopped_by") if key in self.meta)
        return f"<Trace of {self.agents} agents over {self.ticks} ticks{how}, on {self.grid}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the replay page. The viewer is a later room, so it is named and not imported."""
        shown: str = import_module("wend.viewer.notebook").framed(self)
        return shown

    def wait(self, agent: int, tick: int) -> Wait | None:
        """Why an agent waited in the tick that followed so many ticks; None if it did not wait, or no reason is known.

        A row of `waits` holds from its tick on until the agent moves or has another one.
        """
        agent, tick = arguments.whole(agent, "agent"), arguments.whole(tick, "tick")
        if not (0 <= agent < self.agents and 0 <= tick < self.ticks):
            raise ParameterError(f"the run has {self.agents} agents and {self.ticks} ticks, counted from 0")
        rows = self.waits[(self.waits[:, 1] == agent) & (self.waits[:, 0] <= tick)]
        if not rows.size or (self.moves[rows[-1, 0] : tick + 1, agent] != WAIT).any():
            return None
        _, _, waits_for, reason = rows[-1].tolist()
        return Wait(None if waits_for == NO_AGENT else waits_for, self.reasons[reason])

    def events_of(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds, in order."""
        return (event for event in self.events if event.kind in kinds)

    def positions(self) -> NDArray[np.int32]:
        """[ticks + 1, agents] the cell of every agent after every tick.

        NO_CELL where it is not on the map, OFF_MAP where a trace that Wend did not make leads it off the map. An agent
        that leaves after a tick still counts as there after it, and so does one that comes, or is put there.
        """
        if self._cells is None:
            offset = np.zeros(ABSENT + 1, dtype=np.int32)
            offset[1:ABSENT] = [dy * self.grid.width + dx for dx, dy in zip(DX, DY, strict=True)]
            cells = np.full((self.ticks + 1, self.agents), NO_CELL, dtype=np.int32)
            for event in self.events_of("added", "teleported"):
                put = event.data["at" if event.kind == "added" else "to"]
                gone = np.flatnonzero(self.moves[event.tick :, event.agent] == ABSENT)
                end = event.tick + int(gone[0]) if gone.size else self.ticks
                steps = offset[self.moves[event.tick : end, event.agent]]
                walk = np.cumsum(np.append(self.grid.cell(*put), steps))
                is_on_map = (walk >= 0) & (walk < self.grid.size)
                cells[event.tick : end + 1, event.agent] = np.where(is_on_map, walk, OFF_MAP)
            self._cells = cells
        return self._cells

    def starts(self) -> list[Point]:
        """Where each agent entered the map."""
        return [_point(event.data["at"]) for event in self.events_of("added")]

    def goals(self) -> list[Point]:
        """The last goal of each agent."""
        last = {event.agent: event.data["goal"] for event in self.events_of("added", "ordered")}
        return [_point(last[agent]) for agent in range(self.agents)]

    def save(self, path: str | Path) -> None:
        """Write the trace; an older file of that name is replaced only when the new one is whole."""
        with replacing(path) as file:
            self._write(file)

    def to_bytes(self) -> bytes:
        """What `save` writes, as bytes."""
        buffer = io.BytesIO()
        self._write(buffer)
        return buffer.getvalue()

    def _write(self, file: BinaryIO) -> None:
        header = {
            "format": FORMAT,
            "version": f"{MAJOR}.{MINOR}",
            "ticks": self.ticks,
            "agents": self.agents,
            "width": self.grid.width,
            "height": self.grid.height,
            "connectivity": self.grid.connectivity,
            "corner_cutting": self.grid.corner_cutting,
            "waits": len(self.waits),
            "meta": self.meta,
        }
        lines = (
            to_json({"tick": e.tick, "kind": e.kind, **({} if e.agent is None else {"agent": e.agent}), **e.data})
            for e in self.events
        )
        entries = {
            "header.json": to_json(header, indent=1, default=str).encode(),
            "map.txt": self.grid.to_text().encode("ascii"),
            "moves.bin": np.ascontiguousarray(self.moves, dtype=np.uint8).tobytes(),
            "events.jsonl": "".join(line + "\n" for line in lines).encode(),
            "plan_ms.bin": self.plan_ms.astype("<f8").tobytes(),
            "expansions.bin": self.expansions.astype("<i8").tobytes(),
        }
        if len(self.waits):
            entries["waits.bin"] = self.waits.astype("<i4").tobytes()
            entries["reasons.json"] = to_json(self.reasons).encode()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in entries.items():      # a fixed date: equal runs, equal bytes
                archive.writestr(zipfile.ZipInfo(name, _DATE), data, _method(name, data))

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a trace; FormatError if the file is not one, is damaged, or comes from a newer major version."""
        with opened_zip(path, at_most=LIMIT_BYTES) as archive:
            return _read(archive, path)


def _is_json(name: str) -> bool:
    return name.endswith((".json", ".jsonl"))


def _method(name: str, data: bytes) -> int:
    """How an entry is packed. What deflates so well that a reader would take it for a bomb is stored."""
    is_large = len(data) > unpacked_limit(0, is_json=_is_json(name))
    if is_large and len(data) > unpacked_limit(len(zlib.compress(data)) // 2, is_json=_is_json(name)):
        return zipfile.ZIP_STORED
    return zipfile.ZIP_DEFLATED


def _read(archive: zipfile.ZipFile, path: str | Path) -> Trace:
    from wend.maps.movingai import parse_rows  # not before: a world without files starts sooner

    def entry(name: str, at_most: int = _LIMIT_TEXT_BYTES) -> bytes:
        try:
            return read_entry(archive, archive.getinfo(name), at_most=at_most, is_json=_is_json(name))
        except KeyError:
            raise FormatError(path, f"not a Wend trace: entry {name} is missing") from None

    def array(name: str, dtype: str, *shape: int) -> NDArray[Any]:
        wanted = int(np.dtype(dtype).itemsize) * int(np.prod(shape, dtype=object))
        data = entry(name, wanted)
        if len(data) != wanted:
            raise FormatError(path, f"entry {name} holds {len(data)} bytes where {wanted} belong")
        return np.frombuffer(data, dtype=dtype).reshape(shape).astype(np.dtype(dtype).newbyteorder("="))

    header = parse_json(entry("header.json"), f"{path}/header.json")
    try:
        _check_version(header, path)
        ticks, agents, width, height = (_count(header[name]) for name in ("ticks", "agents", "width", "height"))
        require_memory(width, height, source=path)
        rows = parse_rows(entry("map.txt", 2 * _MOST), width, height, f"{path}/map.txt")
        grid = Grid(rows, connectivity=header["connectivity"], corner_cutting=header["corner_cutting"])
        moves = array("moves.bin", "|u1", ticks, agents)
        if moves.size and int(moves.max()) > ABSENT:
            raise FormatError(path, f"moves.bin holds the unknown code {int(moves.max())}")
        plan_ms, expansions = array("plan_ms.bin", "<f8", ticks), array("expansions.bin", "<i8", ticks)
        if not np.isfinite(plan_ms).all():
            raise FormatError(path, "plan_ms.bin holds what is not a number")
        events = _events(entry("events.jsonl"), grid, ticks, agents, path)
        waits, reasons = _no_waits(), []
        if count := _count(header.get("waits", 0)):
            waits = array("waits.bin", "<i4", count, 4)
            reasons = _reasons(parse_json(entry("reasons.json"), f"{path}/reasons.json"))
            most = np.array([ticks, agents, agents, len(reasons)])
            if (waits < [0, 0, NO_AGENT, 0]).any() or (waits >= most).any() or (np.diff(waits[:, 0]) < 0).any():
                raise FormatError(path, "waits.bin tells of a tick, an agent or a reason that there is not")
        return Trace(grid, moves, events, plan_ms, expansions, _meta(header["meta"]), waits, reasons)
    except (KeyError, TypeError, ValueError, MapError) as error:
        raise FormatError(path, f"not a valid Wend trace: {type(error).__name__}: {error}") from None


def _check_version(header: Any, path: str | Path) -> None:
    if header["format"] != FORMAT:
        raise FormatError(path, f"the header says {header['format']!r}, not {FORMAT!r}")
    if int(str(header["version"]).split(".")[0]) > MAJOR:
        raise VersionError(
            path, f"written as version {header['version']}; this Wend reads up to {MAJOR}.x: please update it"
        )


def _meta(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"meta is an object, not {value!r}")
    return value


def _reasons(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(reason, str) for reason in value):
        raise TypeError("reasons are a list of texts")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError(f"a whole number from 0 to {_MOST} is needed, not {value!r}")
    return value


def _events(data: bytes, grid: Grid, ticks: int, agents: int, path: str | Path) -> list[Event]:
    """The events. The agents are added in order, and no others are told of."""
    events: list[Event] = []
    added = 0
    for line, text in enumerate(io.BytesIO(data), 1):
        source = f"{path}/events.jsonl"
        try:
            event = _event(parse_json(text, source, line=line), grid, ticks)
        except (KeyError, TypeError, ValueError, MapError, AttributeError) as error:
            raise FormatError(source, f"{type(error).__name__}: {error}", line=line) from None
        added += event.kind == "added"
        concerned = event.data["agents"] if event.kind == "group" else [event.agent, event.data.get("other")]
        if event.kind == "added" and event.agent != added - 1:
            raise FormatError(source, f"agent {added - 1} is to be added here", line=line)
        if not all(agent is None or (type(agent) is int and 0 <= agent < agents) for agent in concerned):
            raise FormatError(source, "tells of an agent that is never added", line=line)
        events.append(event)
    if added != agents:
        raise FormatError(path, f"events.jsonl does not add the {agents} agents in order")
    return events


def _event(data: Any, grid: Grid, ticks: int) -> Event:
    """One line of events.jsonl; its places are checked here, so that metrics can rely on them."""
    event = Event(_count(data.pop("tick")), str(data.pop("kind")), data.pop("agent", None), data)
    if event.tick > ticks:
        raise ValueError(f"an event in tick {event.tick} of {ticks}")
    places = [data[key] for key in ("at", "to", "goal", "asked", "nearest", "target") if key in data]
    places += data.get("cells", []) + data.get("waypoints", [])
    for x, y in places:
        grid.cell(_count(x), _count(y))
    needed = {
        "added": {"at", "goal"}, "ordered": {"goal"}, "group": {"agents", "target", "mode"},
        "teleported": {"at", "to"}, "followed": {"other"},
        "routed": {"waypoints"}, "pinned": {"pinned"}, "planner": {"algorithm", "parameters", "reason"},
        "blocked": {"cells"}, "unblocked": {"cells"},
    }  # fmt: skip
    if missing := needed.get(event.kind, set()) - data.keys():
        raise ValueError(f"a {event.kind!r} event without {', '.join(sorted(missing))}")
    if event.kind in _OF_AGENTS and event.agent is None:
        raise ValueError(f"a {event.kind!r} event without agent")
    if event.kind == "group" and not (isinstance(data["agents"], list) and isinstance(data["mode"], str)):
        raise TypeError("a group has a list of agents and a mode")
    return event


def _point(value: Any) -> Point:
    x, y = value
    return int(x), int(y)
