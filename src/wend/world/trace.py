"""Trace: what happened in a world, and the only hand-off to metrics, reports and viewers.

A trace holds the map at the start, one byte per agent and tick, what planning cost in each tick, and the events: agents
added, removed and ordered, cells blocked and unblocked. On disk it is a zip file whose entries are described field by
field in docs/formats/trace.md.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError, MapError, VersionError
from wend.files import ZIP_ERRORS, replacing
from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY, Point
from wend.rules import OFF_MAP

FORMAT = "wend-trace"
MAJOR, MINOR = 1, 1

WAIT = 0        # codes 1..8 are moves in direction code - 1
ABSENT = 9      # the agent is not on the map in this tick

_LIMIT_BYTES = 4 * 2**30    # an entry that unpacks to more than this is refused
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Event:
    """Something that was done to the world between two ticks."""

    tick: int                       # how many ticks had been made when it happened
    kind: str                       # added | removed | ordered | group | routed | pinned | blocked | unblocked
    agent: int | None = None        # the agent concerned, None for groups and edits of the map
    data: dict[str, Any] = field(default_factory=dict)  # by kind, see docs/formats/trace.md


@dataclass
class Trace:
    """The record of one run."""

    grid: Grid                          # the map at the start
    moves: NDArray[np.uint8]            # [ticks, agents] WAIT, 1 + direction, or ABSENT
    events: list[Event]
    plan_ms: NDArray[np.float64]        # [ticks] milliseconds that the planner took
    expansions: NDArray[np.int64]       # [ticks] nodes that the planner expanded
    meta: dict[str, Any] = field(default_factory=dict)  # algorithm, parameters, map, seed, stopped_by, ...
    _cells: NDArray[np.int32] | None = field(default=None, init=False, repr=False, compare=False)   # see positions()

    @property
    def ticks(self) -> int:
        """How many ticks were made."""
        return int(self.moves.shape[0])

    @property
    def agents(self) -> int:
        """How many agents there ever were."""
        return int(self.moves.shape[1])

    def events_of(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds, in order."""
        return (event for event in self.events if event.kind in kinds)

    def positions(self) -> NDArray[np.int32]:
        """[ticks + 1, agents] the cell of every agent after every tick.

        NO_CELL where it is not on the map, OFF_MAP where a trace that Wend did not make leads it off the map. An agent
        that leaves after a tick still counts as there after it, and so does one that comes.
        """
        if self._cells is None:
            offset = np.zeros(ABSENT + 1, dtype=np.int32)
            offset[1:ABSENT] = [dy * self.grid.width + dx for dx, dy in zip(DX, DY, strict=True)]
            cells = np.full((self.ticks + 1, self.agents), NO_CELL, dtype=np.int32)
            for agent, added in enumerate(self.events_of("added")):
                gone = np.flatnonzero(self.moves[added.tick :, agent] == ABSENT)
                end = added.tick + int(gone[0]) if gone.size else self.ticks
                steps = offset[self.moves[added.tick : end, agent]]
                walk = np.cumsum(np.append(self.grid.cell(*added.data["at"]), steps))
                cells[added.tick : end + 1, agent] = np.where((walk >= 0) & (walk < self.grid.size), walk, OFF_MAP)
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
        header = {
            "format": FORMAT,
            "version": f"{MAJOR}.{MINOR}",
            "ticks": self.ticks,
            "agents": self.agents,
            "width": self.grid.width,
            "height": self.grid.height,
            "connectivity": self.grid.connectivity,
            "corner_cutting": self.grid.corner_cutting,
            "meta": self.meta,
        }
        lines = (
            json.dumps({"tick": e.tick, "kind": e.kind, **({} if e.agent is None else {"agent": e.agent}), **e.data})
            for e in self.events
        )
        entries = {
            "header.json": json.dumps(header, indent=1).encode(),
            "map.txt": self.grid.to_text().encode("ascii"),
            "moves.bin": np.ascontiguousarray(self.moves, dtype=np.uint8).tobytes(),
            "events.jsonl": "".join(line + "\n" for line in lines).encode(),
            "plan_ms.bin": self.plan_ms.astype("<f8").tobytes(),
            "expansions.bin": self.expansions.astype("<i8").tobytes(),
        }
        with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in entries.items():      # a fixed date: equal runs, equal bytes
                archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a trace; FormatError if the file is not one, is damaged, or comes from a newer major version."""
        try:
            with zipfile.ZipFile(path) as archive:
                return _read(archive, path)
        except FileNotFoundError:
            raise FormatError(path, "there is no such file") from None
        except ZIP_ERRORS as error:
            raise FormatError(path, f"not a Wend trace ({error})") from None


def _read(archive: zipfile.ZipFile, path: str | Path) -> Trace:
    def entry(name: str) -> bytes:
        try:
            if archive.getinfo(name).file_size > _LIMIT_BYTES:
                raise FormatError(path, f"entry {name} is larger than {_LIMIT_BYTES} bytes")
            return archive.read(name)
        except KeyError:
            raise FormatError(path, f"not a Wend trace: entry {name} is missing") from None
        except ZIP_ERRORS as error:
            raise FormatError(path, f"entry {name} is damaged ({error})") from None

    def array(name: str, dtype: str, *shape: int) -> NDArray[Any]:
        data = entry(name)
        wanted = int(np.dtype(dtype).itemsize) * int(np.prod(shape, dtype=object))
        if len(data) != wanted:
            raise FormatError(path, f"entry {name} holds {len(data)} bytes where {wanted} belong")
        return np.frombuffer(data, dtype=dtype).reshape(shape).astype(np.dtype(dtype).newbyteorder("="))

    try:
        header = json.loads(entry("header.json"))
        if header["format"] != FORMAT:
            raise FormatError(path, f"the header says {header['format']!r}, not {FORMAT!r}")
        major = int(str(header["version"]).split(".")[0])
        if major > MAJOR:
            raise VersionError(
                path, f"written as version {header['version']}; this Wend reads up to {MAJOR}.x: please update it"
            )
        ticks, agents = int(header["ticks"]), int(header["agents"])
        rows = entry("map.txt").decode("ascii")
        grid = Grid.from_text(
            rows, connectivity=header["connectivity"], corner_cutting=header["corner_cutting"]
        )
        if (grid.width, grid.height) != (header["width"], header["height"]):
            raise FormatError(path, "map.txt is not of the size that the header says")
        moves = array("moves.bin", "|u1", ticks, agents)
        if moves.size and int(moves.max()) > ABSENT:
            raise FormatError(path, f"moves.bin holds the unknown code {int(moves.max())}")
        events = [_event(line, grid, ticks) for line in entry("events.jsonl").decode().splitlines()]
        if [e.agent for e in events if e.kind == "added"] != list(range(agents)):
            raise FormatError(path, f"events.jsonl does not add the {agents} agents in order")
        grouped = {agent for e in events if e.kind == "group" for agent in e.data["agents"]}
        if strangers := ({e.agent for e in events} | grouped) - {None, *range(agents)}:
            raise FormatError(path, f"events.jsonl tells of agents that were never added: {strangers}")
        plan_ms, expansions = array("plan_ms.bin", "<f8", ticks), array("expansions.bin", "<i8", ticks)
        return Trace(grid, moves, events, plan_ms, expansions, dict(header["meta"]))
    except (KeyError, TypeError, ValueError, MapError, AttributeError) as error:
        raise FormatError(path, f"not a valid Wend trace: {type(error).__name__}: {error}") from None


def _event(line: str, grid: Grid, ticks: int) -> Event:
    """One line of events.jsonl; its places are checked here, so that metrics can rely on them."""
    data = json.loads(line)
    event = Event(int(data.pop("tick")), str(data.pop("kind")), data.pop("agent", None), data)
    if not 0 <= event.tick <= ticks:
        raise ValueError(f"an event in tick {event.tick} of {ticks}")
    places = [data[key] for key in ("at", "goal", "asked", "target") if key in data]
    places += data.get("cells", []) + data.get("waypoints", [])
    for place in places:
        grid.cell(*_point(place))
    needed = {
        "added": {"at", "goal"}, "ordered": {"goal"}, "group": {"agents", "target", "mode"},
        "routed": {"waypoints"}, "blocked": {"cells"}, "unblocked": {"cells"},
    }  # fmt: skip
    if missing := needed.get(event.kind, set()) - data.keys():
        raise ValueError(f"a {event.kind!r} event without {', '.join(sorted(missing))}")
    if event.kind == "group":
        data["agents"] = [int(agent) for agent in data["agents"]]
    return event


def _point(value: Any) -> Point:
    x, y = value
    return int(x), int(y)
