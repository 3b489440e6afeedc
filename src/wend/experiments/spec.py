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
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wend import plugins
from wend.errors import FormatError, ParameterError, UnknownNameError, WendError
from wend.files import MAX_DEPTH, read_bytes
from wend.maps.movingai import is_mapf
from wend.metrics import MEASURES, Measure
from wend.planners import registry
from wend.run import Limits

SCALES = ("quick", "standard", "full")
EVERY_PLANNER = "every"         # as an algorithm's name: all that are registered, but for the one that chooses

Job = dict[str, Any]

# What a spec says about its runs; one that looks at the `runs` of another does not say it
_OF_RUNS = ("metrics", "measures", "scales", "algorithms", "job", "problem", "limits", "views")

MAX_JOBS = 200_000              # of one scale; the largest table of a paper has a few thousand
_MAX_BYTES = 2**18              # of a spec's file
_MAX_NAMES = 10_000             # that one pattern may stand for
_MAX_INTEGER = 2**63 - 1

_COSTS = ("sum_of_costs", "soc_ratio")      # of which it is known how they fell from plan to plan
_RANGE = re.compile(r"\{(\d{1,18})\.\.(\d{1,18})\}")
_SCEN_FIELD = re.compile(r"\{(map|instance)\}")


@dataclass(frozen=True)
class ProblemSpec:
    """Which problems are drawn."""

    kind: str = "random"            # a kind of problem, or "own": the one named like the map's generator
    scen: str = ""                  # instead: a scenario, with {map} for the map's last name and {instance} from 1
    connectivity: int | None = None     # 4 for a scenario of the MAPF benchmark and 8 for all else, unless it is said
    corner_cutting: bool = False
    at_hand: bool = False           # leave out the maps and scenarios that are not on this machine, and say so


@dataclass(frozen=True)
class JobLimits(Limits):
    """What ends a job. Unlike other runs, a job always has a hard limit, so that none holds up an experiment."""

    hard_seconds: float | None = 600.0


@dataclass(frozen=True)
class Scale:
    """How much of it is run."""

    maps: list[str] = field(default_factory=list)       # names, paths or generators; {0..9} stands for ten of them
    agents: list[int] = field(default_factory=list)
    instances: int = 1
    agents_of: dict[str, list[int]] = field(default_factory=dict)       # further maps, each with its own numbers

    def sizes(self) -> dict[str, list[int]]:
        """Every map, with the numbers of agents on it."""
        pairs = [*((pattern, self.agents) for pattern in self.maps), *self.agents_of.items()]
        return {name: agents for pattern, agents in pairs for name in expand(pattern)}


@dataclass(frozen=True)
class AlgorithmSpec:
    """One contender."""

    name: str                                                   # in the registry, "every", or module:Class
    label: str = ""                                             # in the report; by default the algorithm's title
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
    budget: int = 0                                             # expansions that a tick may take; 0 = no limit


@dataclass(frozen=True)
class Figure:
    """A curve for each series."""

    id: str
    title: str
    y: str                          # a metric
    x: str = "agents"               # a column of the results, a metric, or "free_cells": those of the map
    series: str = "label"           # a column of the results
    log: bool = False               # both axes are logarithmic, and each series has the slope of its line
    anytime: bool = False           # y of the best plan found so far, over the seconds; x is those of the first
    cactus: bool = False            # how many problems have y (yes or no) within x (a metric), over x
    heat: bool = False              # no curves: a square for each x and series, with y as its colour
    facets: str = ""                # a column of the results: a panel for each of its values
    where: str = ""                 # an SQL condition on the results
    paper: str = ""                 # what the paper's figure shows, in words
    printed: dict[str, list[list[float]]] = field(default_factory=dict)     # the paper's curves: [x, y] by series


@dataclass(frozen=True)
class Picture:
    """A problem as networks see it, on the page of the report."""

    title: str
    map: str
    agents: int
    problem: str = "random"         # of wend.problems.scenarios
    seed: int = 0


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
    page: str = ""                  # a path in docs/: the page that explains where results and paper differ
    job: str = "run"                # which function of wend.experiments.jobs makes a row
    baseline: str = ""              # a label: tables show differences to it
    measures: dict[str, Measure] = field(default_factory=dict)      # that a job function of the spec's own computes
    problem: ProblemSpec = field(default_factory=ProblemSpec)
    limits: JobLimits = field(default_factory=JobLimits)
    views: dict[str, View] = field(default_factory=dict)            # none: the runs are limited in one way
    pictures: list[Picture] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    numbers: list[PaperNumber] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    hash: str = ""                  # of the file that says what is run
    file: str = ""                  # ... and its path

    @property
    def store(self) -> str:
        """The experiment that the results belong to: this one, or the one whose runs it looks at."""
        return self.runs or self.name

    def measure(self, metric: str) -> Measure:
        """What is known about a metric."""
        return self.measures[metric] if metric in self.measures else MEASURES[metric]

    def diagonal_mapf(self) -> bool:
        """Whether agents of MAPF scenarios may move diagonally here, which they do nowhere else."""
        return is_mapf(_SCEN_FIELD.sub("1", self.problem.scen)) and self.problem.connectivity == 8

    def own_measures(self) -> dict[str, str]:
        """The functions of the trace that the spec names, by metric."""
        measures = ((name, self.measures[name].of) for name in sorted(self.metrics) if name in self.measures)
        return {name: of for name, of in measures if isinstance(of, str)}

    def code(self) -> list[tuple[str, plugins.Kind]]:
        """The code outside of Wend that the spec names as `module:name`."""
        named = [(self.job, plugins.JOB), *((algorithm.name, plugins.PLANNER) for algorithm in self.algorithms)]
        named += [(of, plugins.MEASURE) for of in self.own_measures().values()]
        return [(name, kind) for name, kind in named if plugins.is_code(name)]

    def contenders(self) -> list[AlgorithmSpec]:
        """The algorithms, each with a label of its own. None of the code that the spec names is imported for it."""
        chosen: list[AlgorithmSpec] = []
        for algorithm in self.algorithms:
            planners = [name for name in registry.names() if name != registry.AUTO]
            names = planners if algorithm.name == EVERY_PLANNER else [algorithm.name]
            chosen += [dataclasses.replace(algorithm, name=name) for name in names]
        return _labelled(chosen, [algorithm.label or self._title(algorithm.name) for algorithm in chosen])

    def _title(self, name: str) -> str:
        """What an algorithm is called. A `job` function of the spec's own may know others than those registered."""
        if plugins.is_code(name):
            return name.partition(":")[2]
        return name if self.job != "run" and name not in registry.names() else registry.find(name).title

    def jobs(self, scale: str) -> list[Job]:
        """Everything there is to run, in a fixed order."""
        if scale not in self.scales:
            raise UnknownNameError(f"scale of {self.name}", scale, self.scales)
        size, instances = self.scales[scale].sizes(), self.scales[scale].instances
        views = self.views or {"": View("")}
        count = sum(map(len, size.values())) * len(views) * len(self.contenders()) * instances
        if count > MAX_JOBS:
            raise FormatError(self.name, f"the scale {scale} has {count:,} jobs, and {MAX_JOBS:,} are the most")
        return [
            self._job(map, view, agents, instance, algorithm)
            for map in size
            for view, agents, instance, algorithm in itertools.product(
                views, size[map], range(instances), self.contenders()
            )
            if not views[view].agents or agents in views[view].agents
        ]

    def _job(self, map: str, view: str, agents: int, instance: int, algorithm: AlgorithmSpec) -> Job:
        short = map.split(":")[0].split("/")[-1]
        limits = {**dataclasses.asdict(self.limits), **algorithm.limits}
        if view:
            limits |= {**self.views[view].limits, **self.views[view].limits_of.get(algorithm.name, {})}
        scen = self.problem.scen.replace("{map}", short).replace("{instance}", str(instance + 1))
        job = {
            "job": self.job,
            "map": map,
            "connectivity": algorithm.connectivity or self.problem.connectivity or (4 if is_mapf(scen) else 8),
            "corner_cutting": self.problem.corner_cutting,
            "problem": short if self.problem.kind == "own" else self.problem.kind,
            "scen": scen,
            "agents": agents,
            "instance": instance,
            "algorithm": algorithm.name,
            "parameters": algorithm.parameters,
            "limits": limits,
            "metrics": sorted(self.metrics),
            **({"budget": self.views[view].budget} if view and self.views[view].budget else {}),
            **({"rehearse": True} if algorithm.rehearse else {}),
            **({"measures": self.own_measures()} if self.own_measures() else {}),
        }
        known = registry.ALGORITHMS.get(algorithm.name)     # a worker does not know what this program has registered
        where = {"where": known.where} if known is not None and known.is_foreign else {}
        return {"id": job_id(job), "label": algorithm.label, "view": view, **where, **job}


def _labelled(chosen: list[AlgorithmSpec], labels: list[str]) -> list[AlgorithmSpec]:
    """The algorithms with these labels. Where the spec gives none and titles are the same, differences are added."""
    alike: dict[str, list[dict[str, str]]] = {}
    for algorithm, label in zip(chosen, labels, strict=True):
        if not algorithm.label:
            alike.setdefault(label, []).append(_settings(algorithm))
    told_apart = []
    for algorithm, label in zip(chosen, labels, strict=True):
        others = [] if algorithm.label else alike[label]
        own = [text for key, text in _settings(algorithm).items() if any(text != other.get(key) for other in others)]
        told_apart.append(dataclasses.replace(algorithm, label=f"{label} ({', '.join(own)})" if own else label))
    for label, count in Counter(algorithm.label for algorithm in told_apart).items():
        if count > 1:
            cure = "give each one a label of its own, or remove one"
            raise ParameterError(f"algorithms: {count} entries come out with the label {label!r}: {cure}")
    return told_apart


def _settings(algorithm: AlgorithmSpec) -> dict[str, str]:
    """Everything in which two entries may differ, as labels show it."""
    limits = {f"limits.{key}": value for key, value in algorithm.limits.items()}
    rest = {"connectivity": algorithm.connectivity, "rehearse": algorithm.rehearse or None}
    given = {key: value for key, value in {**algorithm.parameters, **limits, **rest}.items() if value is not None}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}
    return {"name": algorithm.name, **{key: f"{key} {text}" for key, text in texts.items()}}


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
            data |= {key: runs[key] for key in (*_OF_RUNS, "hash", "file") if key in runs} | {"runs": runs["name"]}
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
            raise UnknownNameError("experiment", name, known, hint="Your own go by their file, NAME.toml.")
        path = known[name]
    text = read_bytes(path, at_most=_MAX_BYTES)
    try:
        data = tomllib.loads(text.decode())
    except ValueError as error:         # not TOML, not UTF-8, or a number of thousands of digits
        raise FormatError(path, f"not TOML: {error}") from None
    except RecursionError:
        raise FormatError(path, f"nested more than {MAX_DEPTH} deep") from None
    called = path.stem if path.suffix == name[-5:] else name
    return path, data | {"name": called, "hash": spec_hash(text), "file": str(path)}


def spec_hash(text: bytes) -> str:
    """What rows say about the spec that they were made by."""
    return hashlib.sha256(text).hexdigest()[:16]


def _check(spec: Spec) -> None:
    """Check what the types cannot say."""
    for name, measure in spec.measures.items():
        if name in MEASURES and measure.of is not None:
            raise FormatError(f"measures.{name}", "Wend has a measure of that name: choose another")
        if (spec.job == "run") != isinstance(measure.of, str):
            how = 'a run needs `of = "module:function"`, and a `job` function of yours computes it without'
            raise FormatError(f"measures.{name}", how)
        if isinstance(measure.of, str) and not plugins.is_code(measure.of):
            raise FormatError(f"measures.{name}.of", f'"module:function" is needed, not {measure.of!r}')
    if set("{}") & set(_SCEN_FIELD.sub("", spec.problem.scen)):
        raise FormatError("problem.scen", "only {map} and {instance} may stand in braces")
    for name, scale in spec.scales.items():
        if name not in SCALES:
            raise UnknownNameError("scale", name, SCALES)
        sizes = scale.sizes()
        if not sizes:
            raise FormatError(f"scales.{name}.maps", "at least one map is needed")
        for key, numbers in (*(("agents", each) for each in sizes.values()), ("instances", [scale.instances])):
            if not numbers or min(numbers) < 1:
                raise FormatError(f"scales.{name}.{key}", f"numbers of at least 1 are needed, not {numbers}")
    used = [*spec.metrics, *(f.y for f in spec.figures), *(v for t in spec.tables for v in t.values)]
    used += [figure.x for figure in spec.figures if figure.x in MEASURES or figure.x in spec.measures]
    for metric in [*used, *(number.metric for number in spec.numbers)]:
        if metric not in MEASURES and metric not in spec.measures:
            raise UnknownNameError("metric", metric, [*MEASURES, *spec.measures])
        if metric not in spec.metrics:
            raise FormatError("metrics", f"{metric} is shown but not measured: add it to the list")
    for algorithm in spec.contenders():
        if not plugins.is_code(algorithm.name) and (spec.job == "run" or algorithm.name in registry.names()):
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
        if view.budget < 0:
            raise FormatError(spec.name, f"views.{name}.budget is a number of expansions, or 0 for no limit")
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
    if figure.anytime and (spec.job != "run" or figure.x not in spec.metrics or figure.y not in _COSTS):
        raise FormatError(place, f"`anytime` shows {' or '.join(_COSTS)} (y) of runs since a time that is a metric (x)")
    if figure.log + figure.cactus + figure.heat + figure.anytime > 1:
        raise FormatError(place, "a figure has at most one of `log`, `cactus`, `heat` and `anytime`")
    if figure.printed and (figure.cactus or figure.heat or figure.anytime):
        raise FormatError(place, "a figure with `cactus`, `heat` or `anytime` has no `printed` curves")
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
