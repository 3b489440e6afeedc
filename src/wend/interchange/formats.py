"""Other people's plan files: read, judged, and written.

A plan says where every agent stands at every tick, from the first to the last. Three of the field's formats are read
and written, a fourth is only written; docs/formats/foreign.md describes them field by field.

    name       what it is                                      places are
    lacam      the log of lacam3, which mapf-visualizer shows  (x,y)
    eecbs      the path file of EECBS                          (row,col)
    yaml       the schedule of libMultiRobotPlanning           x, y, t
    tracker    the CSV of the MAPF Tracker, written only       letters: u is row + 1

`read_plan` tells the formats apart by what stands in the file and not by its name. It takes files of strangers: how
much is read and how much it may unpack to are bounded, and whatever else it meets ends in a FormatError.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
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

from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.files import replacing
from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.rules import OFF_MAP, Judge, Violation
from wend.search.flood import move_distances
from wend.world.trace import Trace

_LIMIT_BYTES = 256 * 2**20      # a larger file is refused
_LIMIT_LINES = 2**20            # ticks of a log, agents of a path file: each is an array of its own while reading
_LIMIT_PLACES = 2**26           # agents times ticks; short paths are filled up, so a small file can ask for much
_LIMIT_DEPTH = 100              # of nesting in YAML: parsing takes the square of it
_EXCERPT = 24                   # letters of a stranger's file that an error repeats

_NUMBER = r"-?[0-9]{1,9}"       # more digits are no place on any map, and no work for int()
# Possessive: a match that cannot be completed is never tried another way, and remembers nothing on its way.
_PLACES = {separator: re.compile(rf"(?:\({_NUMBER},{_NUMBER}\){separator})*+") for separator in (",", "->")}
_TICK = re.compile(r"([0-9]{1,9}):")
_AGENT = re.compile(r"Agent ([0-9]{1,9}):\s*")
_AGENT_NAME = re.compile(r"agent([0-9]{1,9})")
_SCENARIO = re.compile(r"(.+?)-(even|random)-([0-9]+)\b")

_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRACKER_LETTERS = "wdrul"      # by code of the trace: wait, N, E, S, W; the tracker's rows count upwards


@dataclass(frozen=True, eq=False)
class Plan:
    """Where every agent is at every tick, as a file says."""

    format: str                         # lacam | eecbs | yaml
    positions: NDArray[np.int64]        # [ticks + 1, agents, 2] (x, y); may be off any map
    starts: list[Point] | None          # what the file's header says, None where the format has no such field
    goals: list[Point] | None
    meta: dict[str, str]                # what else the header says, word for word

    @property
    def ticks(self) -> int:
        """How many joint moves the plan makes."""
        return int(self.positions.shape[0]) - 1

    @property
    def agents(self) -> int:
        """How many agents it moves."""
        return int(self.positions.shape[1])


# --- judging -------------------------------------------------------------------------------------------------------


def judge_plan(plan: Plan, grid: Grid, *, at_most: int = 10_000) -> list[Violation]:
    """The illegal moves of a plan on this map, in order; places at which agents must not begin have tick 0.

    The search ends with the tick that brings the list to `at_most`: a plan held against the wrong map is wrong
    everywhere.
    """
    judge = Judge(grid)
    size = np.array([grid.width, grid.height])
    violations: list[Violation] = []
    before = np.full(plan.agents, NO_CELL, dtype=np.int32)
    for tick, places in enumerate(plan.positions):
        on_map = ((places >= 0) & (places < size)).all(axis=1)
        after = np.where(on_map, places[:, 1] * grid.width + places[:, 0], OFF_MAP).astype(np.int32)
        violations += judge.judge(tick, before, after)
        if len(violations) >= at_most:
            break
        before = after
    return violations[:at_most]


def check_plan(
    plan: Plan,
    grid: Grid,
    starts: Sequence[Point] | None = None,
    goals: Sequence[Point] | None = None,
    *,
    at_most: int = 10_000,
) -> list[str]:
    """All that is wrong with a plan, one line each, which names tick and agents; an empty list for a good plan.

    `starts` and `goals` are those of the problem, which may have more agents than the plan moves: the first ones count.
    Without them the plan is held against the starts and goals in its own header, if it has any.
    """
    lines = _misplaced(plan, 0, plan.starts if starts is None else starts, "start")
    lines += [str(violation) for violation in judge_plan(plan, grid, at_most=at_most)]
    lines += _misplaced(plan, plan.ticks, plan.goals if goals is None else goals, "goal")
    return lines[:at_most]


def _misplaced(plan: Plan, tick: int, wanted: Sequence[Point] | None, what: str) -> list[str]:
    """One line for each agent that is not at that tick where it should be."""
    if wanted is None:
        return []
    lines = []
    for agent, (x, y) in enumerate(plan.positions[tick].tolist()):
        should = (int(wanted[agent][0]), int(wanted[agent][1])) if agent < len(wanted) else None
        if should is None:
            lines.append(f"tick {tick}: agent {agent} is one too many, the problem has {len(wanted)}")
        elif (x, y) != should:
            lines.append(f"tick {tick}: agent {agent} is at ({x}, {y}), its {what} is ({should[0]}, {should[1]})")
    return lines


# --- reading -------------------------------------------------------------------------------------------------------


def read_plan(path: str | Path) -> Plan:
    """Read a plan in any of the formats; a file that holds none, or a damaged one, is a FormatError."""
    source = Path(path)
    try:
        if source.stat().st_size > _LIMIT_BYTES:
            raise FormatError(path, f"the file is larger than {_LIMIT_BYTES} bytes, the most that is read as a plan")
        if not source.is_file():        # a device would never end
            raise FormatError(path, "this is not a file")
        with source.open(encoding="utf-8-sig") as file:
            number, line = next(_lines(file, path), (1, ""))
            read = _reader_of(line, path, number)
            file.seek(0)
            return read(file, path)
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except UnicodeDecodeError:
        raise FormatError(path, "not a plan: it is not text in UTF-8") from None
    except OSError as error:
        raise FormatError(path, f"cannot be read ({error})") from None


_Reader = Callable[[TextIO, str | Path], Plan]


def _reader_of(line: str, path: str | Path, number: int) -> _Reader:
    """Tell the format by the first line that is not blank."""
    signs: dict[str, _Reader] = {
        r"Agent [0-9]": _read_eecbs,
        r"[A-Za-z_]+=|[0-9]+:\(": _read_lacam,
        r"---|#|%YAML|[\"'\w]+\s*:": _read_yaml,
    }
    for sign, reader in signs.items():
        if re.match(sign, line):
            return reader
    raise FormatError(
        path,
        f"not a plan in a known format: a lacam3 log begins with `agents=`, an EECBS path file with `Agent 0:`, a "
        f"schedule in YAML with `statistics:` or `schedule:`, and this file with {line[:_EXCERPT]!r}",
        line=number,
    )


def _lines(file: TextIO, path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    for number, line in enumerate(file, 1):
        if number > _LIMIT_LINES:
            raise FormatError(path, f"more than {_LIMIT_LINES} lines, the most that are read as a plan", line=number)
        if line.strip():
            yield number, line.strip()


def _places(text: str, separator: str, what: str, path: str | Path, line: int) -> NDArray[np.int64]:
    """Read pairs of numbers, each followed by the separator, which may be missing after the last."""
    if not text.endswith(separator):
        text += separator
    found = _PLACES[separator].match(text)
    end = found.end() if found else 0
    if end == 0 or end < len(text):
        raise FormatError(
            path,
            f"expected {what}{separator} with numbers of at most 9 digits, found {text[end : end + _EXCERPT]!r}",
            line=line,
        )
    numbers = text.replace(separator, ",").translate({ord("("): None, ord(")"): None})
    return np.fromstring(numbers.rstrip(","), dtype=np.int64, sep=",").reshape(-1, 2)


def _filled(paths: list[NDArray[np.int64]], path: str | Path) -> NDArray[np.int64]:
    """Put paths of several lengths into one array, in which an agent stays at its last place."""
    ticks = max(len(places) for places in paths)
    if ticks * len(paths) > _LIMIT_PLACES:
        raise FormatError(path, f"{len(paths)} agents for {ticks} ticks are more than {_LIMIT_PLACES} places")
    positions = np.empty((ticks, len(paths), 2), dtype=np.int64)
    for agent, places in enumerate(paths):
        positions[: len(places), agent] = places
        positions[len(places) :, agent] = places[-1]
    return positions


def _points(places: NDArray[np.int64] | None) -> list[Point] | None:
    return None if places is None else [(x, y) for x, y in places.tolist()]


def _read_lacam(file: TextIO, path: str | Path) -> Plan:
    meta: dict[str, str] = {}
    listed: dict[str, NDArray[np.int64]] = {}
    rows: list[NDArray[np.int64]] = []
    agents: int | None = None       # as the first line that tells says; the others must agree
    for number, line in _lines(file, path):
        key, equals, value = line.partition("=")
        tick = _TICK.match(line)
        if tick:
            if int(tick[1]) != len(rows):
                raise FormatError(path, f"tick {int(tick[1])} stands where tick {len(rows)} belongs", line=number)
            rows.append(_places(line[tick.end() :], ",", "(x,y)", path, number))
            count = len(rows[-1])
        elif not equals or rows:
            raise FormatError(path, f"expected `key=value` or `tick:(x,y),`, found {line[:_EXCERPT]!r}", line=number)
        elif key in ("starts", "goals"):
            listed[key] = _places(value, ",", "(x,y)", path, number)
            count = len(listed[key])
        elif key == "agents":
            meta[key] = value
            count = _integer(value, "agents", path, number)
        else:
            meta[key] = value
            continue
        if agents is None:
            agents = count
        elif count != agents:
            raise FormatError(path, f"{count} agents here, {agents} in the lines before", line=number)
    if not rows:
        raise FormatError(path, "the log ends without a solution: there is no plan in it to check")
    meta.pop("solution", None)      # the headline of the rows
    return Plan("lacam", np.stack(rows), _points(listed.get("starts")), _points(listed.get("goals")), meta)


def _read_eecbs(file: TextIO, path: str | Path) -> Plan:
    paths: list[NDArray[np.int64]] = []
    for number, line in _lines(file, path):
        agent = _AGENT.match(line)
        if not agent:
            raise FormatError(path, f"expected `Agent {len(paths)}:`, found {line[:_EXCERPT]!r}", line=number)
        if int(agent[1]) != len(paths):
            raise FormatError(path, f"agent {int(agent[1])} stands where agent {len(paths)} belongs", line=number)
        rows_and_columns = _places(line[agent.end() :], "->", "(row,col)", path, number)
        paths.append(rows_and_columns[:, ::-1])
    return Plan("eecbs", _filled(paths, path), None, None, {})


def _read_yaml(file: TextIO, path: str | Path) -> Plan:
    meta: dict[str, str] = {}
    paths: dict[int, NDArray[np.int64]] = {}
    source = _YamlEvents(file, path)
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
                    raise source.error(f"{name[:_EXCERPT]!r} {why}")
                paths[int(named[1])] = _yaml_path(source, name)
        else:
            source.skip()
    source.take(DocumentEndEvent, "the end")
    source.take(StreamEndEvent, "the end")
    if not paths:
        raise FormatError(path, "there is no `schedule:` with agents in it")
    missing = next((agent for agent in range(len(paths)) if agent not in paths), None)
    if missing is not None:
        raise FormatError(path, f"agent{missing} is missing; the agents are numbered from 0 without gaps")
    return Plan("yaml", _filled([paths[agent] for agent in range(len(paths))], path), None, None, meta)


def _yaml_path(source: _YamlEvents, name: str) -> NDArray[np.int64]:
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
    return np.array(numbers, dtype=np.int64).reshape(-1, 2)


def _integer(text: str, what: str, path: str | Path, line: int) -> int:
    if not re.fullmatch(_NUMBER, text):
        raise FormatError(path, f"{what} is no whole number of at most 9 digits: {text[:_EXCERPT]!r}", line=line)
    return int(text)


class _YamlEvents:
    """Walks through a YAML file event by event, and so holds one of them at a time.

    Loading the whole as objects would cost many times the file's size, and would lose the numbers of the lines.
    """

    def __init__(self, file: TextIO, path: str | Path) -> None:
        self._path = path
        self._events = yaml.parse(file, Loader=_YAML_LOADER)
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
        """The keys of a mapping; whoever iterates takes the value after each."""
        self.take(MappingStartEvent, what)
        while not isinstance(self._ahead, MappingEndEvent):
            yield self.scalar("a key")
        self._advance()

    def sequence(self, what: str) -> Iterator[None]:
        """One turn per item of a sequence; whoever iterates takes the item in each."""
        self.take(SequenceStartEvent, what)
        while not isinstance(self._ahead, SequenceEndEvent):
            yield
        self._advance()

    def scalar(self, what: str) -> str:
        """A key or a simple value, as it is written."""
        return str(self.take(ScalarEvent, what).value)

    def integer(self, what: str) -> int:
        """A whole number."""
        return _integer(self.scalar(what), what, self._path, self.line)

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


# --- writing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Course:
    """A run as plan files see it: it ends when the last agent has come to its goal for good."""

    trace: Trace
    positions: NDArray[np.int64]    # [ticks + 1, agents, 2] (x, y)
    goals: NDArray[np.int32]        # [agents] cells
    costs: NDArray[np.int64]        # [agents] ticks until it stays on its goal; all ticks if it is not on it at the end
    loss: int                       # ticks that agents did not spend waiting on their goals
    solved: bool

    @property
    def ticks(self) -> int:
        """How many joint moves the plan makes."""
        return len(self.positions) - 1

    def paths(self) -> Iterator[list[Point]]:
        """The places of each agent until it stays on its goal."""
        for agent, cost in enumerate(self.costs.tolist()):
            yield [(x, y) for x, y in self.positions[: cost + 1, agent].tolist()]

    def lower_bounds(self, grid: Grid) -> list[int]:
        """The fewest moves that would bring each agent to its goal if it were alone; 0 where none would."""
        starts = [grid.cell(*point) for point in self.trace.starts()]
        return [
            max(int(move_distances(grid, goal)[0][start]), 0)
            for start, goal in zip(starts, self.goals.tolist(), strict=True)
        ]


def _course(trace: Trace) -> _Course:
    """Look at a run as a plan; a ParameterError if it is none."""
    if trace.agents == 0:
        raise ParameterError("a run without agents cannot be written as a plan")
    edit = next(trace.events_of("blocked", "unblocked"), None)
    if edit is not None:
        raise ParameterError(f"the map was edited at tick {edit.tick}: plan files know one map for the whole run")
    cells = trace.positions()
    away = np.argwhere(cells < 0)       # NO_CELL or OFF_MAP
    if away.size:
        tick, agent = away[0].tolist()
        raise ParameterError(
            f"agent {agent} is not on the map at tick {tick}: plan files hold every agent from the first tick to the "
            "last, so a run in which agents are added later or removed cannot be written as one"
        )
    goals = np.array([trace.grid.cell(*goal) for goal in trace.goals()], dtype=np.int32)
    off_goal = cells != goals
    after_last_off = trace.ticks + 1 - np.argmax(off_goal[::-1], axis=0)
    costs = np.where(off_goal.any(axis=0), np.minimum(after_last_off, trace.ticks), 0)
    end = int(costs.max())
    kept = cells[: end + 1]
    return _Course(
        trace=trace,
        positions=np.stack([kept % trace.grid.width, kept // trace.grid.width], axis=-1).astype(np.int64),
        goals=goals,
        costs=costs,
        loss=int((off_goal[:end] | off_goal[1 : end + 1]).sum()),
        solved=not off_goal[-1].any(),
    )


def _meta(trace: Trace, key: str, default: object = "") -> str:
    """An entry of the trace's meta, on one line."""
    value = trace.meta.get(key)
    return " ".join(str(default if value is None else value).split())


def _last_part(name: str) -> str:
    """`mapf/den312d` and `maps/den312d.map` are both the map den312d."""
    return name.replace("\\", "/").rpartition("/")[2].removesuffix(".map")


def _in_brackets(points: Iterable[Iterable[int]], after_each: str) -> str:
    return "".join(f"({a},{b}){after_each}" for a, b in points)


def _lacam_text(trace: Trace) -> Iterator[str]:
    course = _course(trace)
    bounds = course.lower_bounds(trace.grid)
    name = _last_part(_meta(trace, "map"))
    header = {
        "agents": trace.agents,
        "map_file": name and f"{name}.map",
        "solver": _meta(trace, "algorithm"),
        "solved": int(course.solved),
        "soc": int(course.costs.sum()),
        "soc_lb": sum(bounds),
        "makespan": course.ticks,
        "makespan_lb": max(bounds),
        "sum_of_loss": course.loss,
        "sum_of_loss_lb": sum(bounds),
        "comp_time": f"{float(trace.plan_ms.sum()):.3f}",
        "seed": _meta(trace, "seed", 0),
        "starts": _in_brackets(trace.starts(), ","),
        "goals": _in_brackets(trace.goals(), ","),
        "solution": "",
    }
    yield "".join(f"{key}={value}\n" for key, value in header.items())
    for tick, places in enumerate(course.positions):
        yield f"{tick}:{_in_brackets(places.tolist(), ',')}\n"


def _eecbs_text(trace: Trace) -> Iterator[str]:
    for agent, path in enumerate(_course(trace).paths()):
        yield f"Agent {agent}: {_in_brackets(((y, x) for x, y in path), '->')}\n"


def _yaml_text(trace: Trace) -> Iterator[str]:
    course = _course(trace)
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


def _tracker_text(trace: Trace) -> Iterator[str]:
    course = _course(trace)
    if not course.solved:
        raise ParameterError("the run does not end with every agent on its goal: the MAPF Tracker takes solutions only")
    moves = trace.moves[: course.ticks]
    diagonal = np.argwhere(moves >= len(_TRACKER_LETTERS))
    if diagonal.size:
        tick, agent = diagonal[0].tolist()
        raise ParameterError(
            f"agent {agent} moves diagonally in tick {tick + 1}: the MAPF Tracker knows 4-connected moves only, "
            "so solve the problem with connectivity 4"
        )
    scenario = _SCENARIO.match(_last_part(_meta(trace, "problem")))
    map_name, scen_type, type_id = scenario.groups() if scenario else (_last_part(_meta(trace, "map")), "", "")
    lines = (
        "".join(_TRACKER_LETTERS[code] for code in moves[:cost, agent].tolist())
        for agent, cost in enumerate(course.costs.tolist())
    )
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["map_name", "scen_type", "type_id", "agents", "lower_cost", "solution_cost", "solution_plan"])
    lower_cost = sum(course.lower_bounds(trace.grid.with_rules(connectivity=4)))
    writer.writerow(
        [map_name, scen_type, type_id, trace.agents, lower_cost, int(course.costs.sum()), "\n".join(lines)]
    )
    yield table.getvalue()


WRITERS: dict[str, Callable[[Trace], Iterator[str]]] = {
    "lacam": _lacam_text,
    "eecbs": _eecbs_text,
    "yaml": _yaml_text,
    "tracker": _tracker_text,
}


def write_plan(trace: Trace, format: str, path: str | Path) -> None:
    """Write a run as a plan in one of the formats of WRITERS; a run that the format cannot hold is a ParameterError."""
    if format not in WRITERS:
        raise UnknownNameError("plan format", format, WRITERS)
    with replacing(path) as file:
        for text in WRITERS[format](trace):
            file.write(text.encode())
