"""The schedule of libMultiRobotPlanning: YAML with a list of `x`, `y`, `t` per agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import yaml
from numpy.typing import NDArray
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from wend.errors import FormatError
from wend.interchange.plan import Plan
from wend.interchange.reading import EXCERPT, filled, parse_integer
from wend.interchange.writing import course_of
from wend.world.trace import Trace

SIGN = re.compile(r"---|#|%YAML|[\"'\w]+\s*:")     # how such a file begins
_AGENT_NAME = re.compile(r"agent([0-9]{1,9})")
_LIMIT_DEPTH = 100              # of nesting: parsing takes the square of it
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(file: TextIO, path: str | Path) -> Plan:
    """Read the plan; a file that holds none is a FormatError."""
    meta: dict[str, str] = {}
    paths: dict[int, NDArray[np.int32]] = {}
    source = _Events(file, path)
    source.take(StreamStartEvent, "a YAML file")
    source.take(DocumentStartEvent, "a YAML document")
    for key in source.mapping("`schedule:`"):
        if key == "statistics":
            meta.update((name, source.scalar("a number")) for name in source.mapping("the statistics"))
        elif key == "schedule":
            for name in source.mapping("agents with their places"):
                named = _AGENT_NAME.fullmatch(name)
                if not named or int(named[1]) in paths:
                    why = "was there before" if named else "is no `agent` with a number"
                    raise source.error(f"{name[:EXCERPT]!r} {why}")
                paths[int(named[1])] = _path_of(source, name)
        else:
            source.skip()
    source.take(DocumentEndEvent, "the end")
    source.take(StreamEndEvent, "the end")
    if not paths:
        raise FormatError(path, "there is no `schedule:` with agents in it")
    missing = next((agent for agent in range(len(paths)) if agent not in paths), None)
    if missing is not None:
        raise FormatError(path, f"agent{missing} is missing; the agents are numbered from 0 without gaps")
    return Plan("yaml", filled([paths[agent] for agent in range(len(paths))], path), None, None, meta)


def _path_of(source: _Events, name: str) -> NDArray[np.int32]:
    """Read the list of places of one agent."""
    numbers: list[int] = []
    for tick, _ in enumerate(source.sequence(f"the places of {name}")):
        place: dict[str, int] = {}
        for key in source.mapping("a place with x, y and t"):
            if key in ("x", "y", "t"):
                place[key] = source.integer(key)
            else:
                source.skip()
        if len(place) < 3:
            raise source.error(f"this place of {name} lacks one of x, y and t")
        if place["t"] != tick:
            raise source.error(f"this place of {name} has t {place['t']} where t {tick} belongs")
        numbers += (place["x"], place["y"])
    if not numbers:
        raise source.error(f"{name} has no place")
    return np.array(numbers, dtype=np.int32).reshape(-1, 2)


class _Events:
    """Walks through a YAML file event by event, and so holds one of them at a time.

    Loading the whole as objects would cost many times the file's size, and would lose the numbers of the lines.
    """

    def __init__(self, file: TextIO, path: str | Path) -> None:
        self._path = path
        self._events = yaml.parse(file, Loader=_LOADER)
        self.line = 1               # of the event that was taken last
        self._ahead: Any = None
        self._advance()

    def _advance(self) -> None:
        try:
            self._ahead = next(self._events, None)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            why = getattr(error, "problem", None) or "a character that YAML does not allow"
            self.line = mark.line + 1 if mark else self.line
            raise self.error(f"not valid YAML: {why}") from None
        if isinstance(self._ahead, AliasEvent):     # a few of them can stand for more than any memory holds
            self.line = self._line_ahead()
            raise self.error("aliases (`*name`) are not read; write the places out")

    def _line_ahead(self) -> int:
        return int(self._ahead.start_mark.line) + 1

    def error(self, reason: str) -> FormatError:
        """An error at the line that was reached."""
        return FormatError(self._path, reason, line=self.line)

    def take(self, kind: type[Any], what: str) -> Any:
        """The next event, which must be of that kind."""
        event = self._ahead
        self.line = self._line_ahead()
        if not isinstance(event, kind):
            raise self.error(f"expected {what}")
        self._advance()
        return event

    def mapping(self, what: str) -> Iterator[str]:
        """The keys of a mapping; the caller takes the value after each."""
        self.take(MappingStartEvent, what)
        while not isinstance(self._ahead, MappingEndEvent):
            yield self.scalar("a key")
        self._advance()

    def sequence(self, what: str) -> Iterator[None]:
        """One turn per item of a sequence; the caller takes the item in each."""
        self.take(SequenceStartEvent, what)
        while not isinstance(self._ahead, SequenceEndEvent):
            yield
        self._advance()

    def scalar(self, what: str) -> str:
        """A key or a simple value, as it is written."""
        return str(self.take(ScalarEvent, what).value)

    def integer(self, what: str) -> int:
        """A whole number."""
        return parse_integer(self.scalar(what), what, self._path, self.line)

    def skip(self) -> None:
        """Pass over a value of any kind."""
        depth = 0
        while True:
            event = self._ahead
            self._advance()
            depth += isinstance(event, (MappingStartEvent, SequenceStartEvent))
            depth -= isinstance(event, (MappingEndEvent, SequenceEndEvent))
            if depth == 0:
                return
            if depth > _LIMIT_DEPTH:
                raise self.error(f"nested more than {_LIMIT_DEPTH} deep after this line")


def write(trace: Trace) -> Iterator[str]:
    """The text of the file, piece by piece; a run that is no such plan is a ParameterError."""
    course = course_of(trace)
    statistics = {
        "cost": int(course.costs.sum()),
        "makespan": course.ticks,
        "runtime": f"{float(trace.plan_ms.sum()) / 1000:.6f}",
        "lowLevelExpanded": int(trace.expansions.sum()),
    }
    yield "statistics:\n" + "".join(f"  {key}: {value}\n" for key, value in statistics.items())
    yield "schedule:\n"
    for agent, path in enumerate(course.paths()):
        yield f"  agent{agent}:\n"
        yield "".join(f"    - x: {x}\n      y: {y}\n      t: {t}\n" for t, (x, y) in enumerate(path))
