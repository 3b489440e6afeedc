"""A spec says what one table or figure of a paper measures, and what the paper printed. Its keys: docs/experiments.md.

A spec is a TOML file, `experiments/<paper>/<name>.toml`, found by the name `<paper>/<name>`. `load_spec` checks every
key and value; `Spec.jobs(scale)` expands it into jobs. A job is a plain dict of JSON values that says everything about
one run; its id is a hash of it, so that the same run has the same id in every scale, on every machine, for ever.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import re
import tomllib
import types
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wend.errors import FormatError, UnknownNameError, WendError
from wend.files import MAX_DEPTH, read_bytes
from wend.metrics import MEASURES, Measure
from wend.planners import registry
from wend.run import Limits

SCALES = ("quick", "standard", "full")
EVERY_PLANNER = "every"         # as an algorithm's name: all that are registered

Job = dict[str, Any]

# What a spec says about its runs; one that looks at the `runs` of another does not say it
_OF_RUNS = ("metrics", "measures", "scales", "algorithms", "job", "problem", "limits", "views")

MAX_JOBS = 200_000              # of one scale; the largest table of a paper has a few thousand
_MAX_BYTES = 2**18              # of a spec's file
_MAX_NAMES = 10_000             # that one pattern may stand for
_MAX_INTEGER = 2**63 - 1

_RANGE = re.compile(r"\{(\d{1,18})\.\.(\d{1,18})\}")
_SCEN_FIELD = re.compile(r"\{(map|instance)\}")


@dataclass(frozen=True)
class ProblemSpec:
    """Which problems are drawn."""

    kind: str = "random"            # a kind of problem, or "own": the one named like the map's generator
    scen: str = ""                  # instead: a scenario, with {map} for the map's last name and {instance} from 1
    connectivity: int = 8
    corner_cutting: bool = False


@dataclass(frozen=True)
class JobLimits(Limits):
    """What ends a job. Unlike other runs, a job always has a hard limit, so that none holds up an experiment."""

    hard_seconds: float | None = 600.0


@dataclass(frozen=True)
class Scale:
    """How much of it is run."""

    maps: list[str]                 # names, paths or generators; {0..9} stands for ten of them
    agents: list[int]
    instances: int


@dataclass(frozen=True)
class AlgorithmSpec:
    """One contender."""

    name: str                                                   # in the registry, or "every"
    label: str = ""                                             # in the report; the registry's title by default
    parameters: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)        # where its limits differ
    connectivity: int | None = None                             # where its map differs: 4 or 8
    rehearse: bool = False                                      # plan once beforehand, to fill what it keeps of a map


@dataclass(frozen=True)
class View:
    """One of several ways to limit the same runs."""

    title: str
    agents: list[int] = field(default_factory=list)             # of the scale's sizes only these; [] = all
    limits: dict[str, Any] = field(default_factory=dict)        # where they differ from the spec's
    limits_of: dict[str, dict[str, Any]] = field(default_factory=dict)  # ... for one algorithm, by its name


@dataclass(frozen=True)
class Figure:
    """A curve for each series."""

    id: str
    title: str
    y: str                          # a metric
    x: str = "agents"               # a column of the results, a metric, or "free_cells": those of the map
    series: str = "label"           # a column of the results
    log: bool = False               # both axes are logarithmic, and each series has the slope of its line
    cactus: bool = False            # how many problems have y (yes or no) within x (a metric), over x
    facets: str = ""                # a column of the results: a panel for each of its values
    where: str = ""                 # an SQL condition on the results
    paper: str = ""                 # what the paper's figure shows, in words
    printed: dict[str, list[list[float]]] = field(default_factory=dict)     # the paper's curves: [x, y] by series


@dataclass(frozen=True)
class Table:
    """Means of one metric, by two columns of the results; or all metrics by one column."""

    id: str
    title: str
    rows: str
    columns: str = ""               # a column of the results; "" = one column for each of `values`
    values: list[str] = field(default_factory=list)     # metrics
    where: str = ""                 # an SQL condition on the results
    paper: str = ""                 # what the paper's table shows, in words
    printed_columns: list[str] = field(default_factory=list)        # columns of which the paper prints numbers, ...
    printed: dict[str, list[float]] = field(default_factory=dict)   # ... and these, by row


@dataclass(frozen=True)
class PaperNumber:
    """A number that the paper prints, and where ours is found."""

    place: str                      # "Table I, row 3"
    value: float
    metric: str
    where: str                      # an SQL condition on the results; ours is the mean of the metric over these rows


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that our results bear out or do not."""

    sentence: str
    sql: str                        # a query on `results` with one boolean answer; NULL = not measured
    exact: bool = False             # speaks of the runs as they are, not of others that might be drawn: no noise


@dataclass(frozen=True)
class Spec:
    """One experiment."""

    name: str
    title: str
    metrics: list[str]
    scales: dict[str, Scale]
    algorithms: list[AlgorithmSpec]
    runs: str = ""                  # another spec, whose runs this one only looks at
    paper: str = ""
    about: str = ""
    job: str = "run"                # which function of wend.experiments.jobs makes a row
    baseline: str = ""              # a label: tables show differences to it
    measures: dict[str, Measure] = field(default_factory=dict)      # that a job function of the spec's own computes
    problem: ProblemSpec = field(default_factory=ProblemSpec)
    limits: JobLimits = field(default_factory=JobLimits)
    views: dict[str, View] = field(default_factory=dict)            # none: the runs are limited in one way
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    numbers: list[PaperNumber] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    hash: str = ""                  # of the file that says what is run

    @property
    def store(self) -> str:
        """The experiment that the results belong to: this one, or the one whose runs it looks at."""
        return self.runs or self.name

    def measure(self, metric: str) -> Measure:
        """What is known about a metric."""
        return self.measures[metric] if metric in self.measures else MEASURES[metric]

    def contenders(self) -> list[AlgorithmSpec]:
        """The algorithms that are registered, labelled; the others appear once they are.

        A `job` that is a function of the spec's own gets all of them, since it may know others.
        """
        chosen: list[AlgorithmSpec] = []
        for algorithm in self.algorithms:
            names = registry.ALGORITHMS if algorithm.name == EVERY_PLANNER else [algorithm.name]
            for name in names:
                if name in registry.ALGORITHMS or self.job != "run":
                    title = registry.ALGORITHMS[name].title if name in registry.ALGORITHMS else name
                    chosen.append(dataclasses.replace(algorithm, name=name, label=algorithm.label or title))
        return chosen

    def missing(self) -> list[str]:
        """The algorithms that the spec names and that are not registered yet."""
        chosen = {algorithm.name for algorithm in self.contenders()}
        return [a.name for a in self.algorithms if a.name not in chosen and a.name != EVERY_PLANNER]

    def jobs(self, scale: str) -> list[Job]:
        """Everything there is to run, in a fixed order."""
        if scale not in self.scales:
            raise UnknownNameError(f"scale of {self.name}", scale, self.scales)
        size = self.scales[scale]
        maps = [name for pattern in size.maps for name in expand(pattern)]
        views = self.views or {"": View("")}
        count = math.prod(map(len, (maps, views, size.agents, self.contenders()))) * size.instances
        if count > MAX_JOBS:
            raise FormatError(self.name, f"the scale {scale} has {count:,} jobs, and {MAX_JOBS:,} are the most")
        jobs = itertools.product(maps, views, size.agents, range(size.instances), self.contenders())
        return [
            self._job(map, view, agents, instance, algorithm)
            for map, view, agents, instance, algorithm in jobs
            if not views[view].agents or agents in views[view].agents
        ]

    def _job(self, map: str, view: str, agents: int, instance: int, algorithm: AlgorithmSpec) -> Job:
        short = map.split(":")[0].split("/")[-1]
        limits = {**dataclasses.asdict(self.limits), **algorithm.limits}
        if view:
            limits |= {**self.views[view].limits, **self.views[view].limits_of.get(algorithm.name, {})}
        job = {
            "job": self.job,
            "map": map,
            "connectivity": algorithm.connectivity or self.problem.connectivity,
            "corner_cutting": self.problem.corner_cutting,
            "problem": short if self.problem.kind == "own" else self.problem.kind,
            "scen": self.problem.scen.replace("{map}", short).replace("{instance}", str(instance + 1)),
            "agents": agents,
            "instance": instance,
            "algorithm": algorithm.name,
            "parameters": algorithm.parameters,
            "limits": limits,
            "metrics": sorted(self.metrics),
            **({"rehearse": True} if algorithm.rehearse else {}),
        }
        return {"id": job_id(job), "label": algorithm.label, "view": view, **job}


def job_id(job: Job) -> str:
    """A name for a job that depends on nothing but what it does."""
    return hashlib.blake2b(json.dumps(job, sort_keys=True).encode(), digest_size=10).hexdigest()


def expand(pattern: str) -> list[str]:
    """All names that a pattern stands for.

    >>> expand("random:seed={0..2}")
    ['random:seed=0', 'random:seed=1', 'random:seed=2']
    """
    ranges = [(int(low), int(high)) for low, high in _RANGE.findall(pattern)]
    if math.prod(max(high - low + 1, 0) for low, high in ranges) not in range(1, _MAX_NAMES + 1):
        raise FormatError(pattern, f"a pattern stands for 1 to {_MAX_NAMES:,} names")
    texts = _RANGE.split(pattern)[::3]      # what stands before, between and after the ranges
    numbers = itertools.product(*(range(low, high + 1) for low, high in ranges))
    return ["".join(itertools.chain(*zip(texts, (*map(str, each), ""), strict=True))) for each in numbers]


# --- finding and reading ---------------------------------------------------------------------------------------------


def spec_folders() -> list[Path]:
    """Where specs are looked for: here, in the installed package, and in the checkout that the package runs from."""
    package = Path(__file__).resolve().parent
    folders = [Path("experiments"), package / "specs", package.parents[2] / "experiments"]
    return [folder for folder in folders if folder.is_dir()]


def list_specs() -> dict[str, Path]:
    """All specs by name."""
    found: dict[str, Path] = {}
    for folder in spec_folders():
        for path in sorted(folder.rglob("*.toml")):
            found.setdefault(path.relative_to(folder).with_suffix("").as_posix(), path)
    return dict(sorted(found.items()))


def load_spec(name: str) -> Spec:
    """A spec by name, such as `silver/figures`, or by the path of its file."""
    path, data = _read(name)
    try:
        if "runs" in data:
            _, runs = _read(str(data["runs"]))
            for key in _OF_RUNS:
                if key in data:
                    raise FormatError(key, f"that is for {data['runs']} to say, whose runs these are")
            data |= {key: runs[key] for key in (*_OF_RUNS, "hash") if key in runs} | {"runs": runs["name"]}
        spec: Spec = _build(Spec, data, "")
        _check(spec)
    except WendError as error:
        raise FormatError(path, str(error)) from None
    return spec


def _read(name: str) -> tuple[Path, dict[str, Any]]:
    """A spec's file, and what it says."""
    path = Path(name)
    if path.suffix != ".toml":
        known = list_specs()
        if name not in known:
            raise UnknownNameError("experiment", name, known)
        path = known[name]
    text = read_bytes(path, at_most=_MAX_BYTES)
    try:
        data = tomllib.loads(text.decode())
    except ValueError as error:         # not TOML, not UTF-8, or a number of thousands of digits
        raise FormatError(path, f"not TOML: {error}") from None
    except RecursionError:
        raise FormatError(path, f"nested more than {MAX_DEPTH} deep") from None
    called = path.stem if path.suffix == name[-5:] else name
    return path, data | {"name": called, "hash": hashlib.sha256(text).hexdigest()[:16]}


def _check(spec: Spec) -> None:
    """Check what the types cannot say."""
    if spec.measures and spec.job == "run":
        raise FormatError("measures", "a run in a world has its own; these are for a `job` function of yours")
    if set("{}") & set(_SCEN_FIELD.sub("", spec.problem.scen)):
        raise FormatError("problem.scen", "only {map} and {instance} may stand in braces")
    for name, scale in spec.scales.items():
        if name not in SCALES:
            raise UnknownNameError("scale", name, SCALES)
        for key, numbers in (("agents", scale.agents), ("instances", [scale.instances])):
            if not numbers or min(numbers) < 1:
                raise FormatError(f"scales.{name}.{key}", f"numbers of at least 1 are needed, not {numbers}")
        if not scale.maps:
            raise FormatError(f"scales.{name}.maps", "at least one map is needed")
        for pattern in scale.maps:
            expand(pattern)
    used = [*spec.metrics, *(f.y for f in spec.figures), *(v for t in spec.tables for v in t.values)]
    used += [figure.x for figure in spec.figures if figure.x in MEASURES or figure.x in spec.measures]
    for metric in [*used, *(number.metric for number in spec.numbers)]:
        if metric not in MEASURES and metric not in spec.measures:
            raise UnknownNameError("metric", metric, [*MEASURES, *spec.measures])
        if metric not in spec.metrics:
            raise FormatError("metrics", f"{metric} is shown but not measured: add it to the list")
    for algorithm in spec.contenders():
        if algorithm.name in registry.ALGORITHMS:
            registry.create(algorithm.name, **algorithm.parameters)
        _build(JobLimits, algorithm.limits, f"limits of {algorithm.name}")
    for figure in spec.figures:
        _check_figure(spec, figure)
    for table in spec.tables:
        for row, printed in table.printed.items():
            if len(printed) != len(table.printed_columns):
                raise FormatError(f"table {table.id}", f"{row} has not one printed number for each printed column")
    named = [algorithm.name for algorithm in spec.algorithms]
    for name, view in spec.views.items():
        _build(JobLimits, view.limits, f"views.{name}.limits")
        for algorithm_name, limits in view.limits_of.items():
            if algorithm_name not in named:
                raise UnknownNameError(f"algorithm in views.{name}.limits_of", algorithm_name, named)
            _build(JobLimits, limits, f"views.{name}.limits_of.{algorithm_name}")


def _check_figure(spec: Spec, figure: Figure) -> None:
    place = f"figure {figure.id}"
    if any(len(point) != 2 for points in figure.printed.values() for point in points):
        raise FormatError(place, "a point of a printed curve is [x, y]")
    if figure.cactus and (figure.x not in spec.metrics or not spec.measure(figure.y).yes_no):
        raise FormatError(place, "a cactus plot shows a metric that is yes or no (y) over another metric (x)")
    if figure.cactus and (figure.log or figure.printed):
        raise FormatError(place, "a cactus plot has neither `log` nor `printed`")
    if figure.facets and figure.printed:
        raise FormatError(place, "a figure with `facets` has no `printed` curves: which panel do they belong to?")


def _build(cls: Any, data: Any, where: str) -> Any:
    """Make an object of a dataclass from a TOML table; keys and types are checked at every level."""
    if not isinstance(data, dict):
        raise FormatError(where or "the file", f"a table is needed, not {data!r}")
    hints = typing.get_type_hints(cls)
    for key in data:
        if key not in hints:
            raise UnknownNameError(f"key in {where}" if where else "key", key, hints)
    for each in dataclasses.fields(cls):
        required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        if required and each.name not in data:
            raise FormatError(where or "the file", f"the key {each.name!r} is missing")
    return cls(**{key: _value(hints[key], value, f"{where}.{key}" if where else key) for key, value in data.items()})


def _value(kind: Any, value: Any, where: str) -> Any:
    """A TOML value as the type that a field has."""
    if dataclasses.is_dataclass(kind):
        return _build(kind, value, where)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is list and isinstance(value, list):
        return [_value(parts[0], each, f"{where}[{k}]") for k, each in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {key: _value(parts[1], each, f"{where}.{key}") for key, each in value.items()}
    if origin is types.UnionType:
        return _value(parts[0], value, where)
    if kind is Any:
        return _plain(value, where)
    is_of_kind = type(value) is kind or (kind is float and type(value) is int)
    if origin is None and is_of_kind and not (isinstance(value, float) and math.isnan(value)):
        return _plain(value, where)
    raise FormatError(where, f"{getattr(kind, '__name__', kind)} is needed, not {value!r}")


def _plain(value: Any, where: str, depth: int = 0) -> Any:
    """A value of any kind that JSON has too: no dates, no integers of more than 64 bits, no deep nesting."""
    if depth > MAX_DEPTH:
        raise FormatError(where, f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            _plain(each, where, depth + 1)
    elif type(value) not in (str, int, float, bool) or (type(value) is int and abs(value) > _MAX_INTEGER):
        raise FormatError(where, f"texts, numbers and truth values are needed, not {value!r}")
    return value
