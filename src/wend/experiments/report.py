"""The report of an experiment: what its results say, beside what the paper says.

`make_report` reads the results of one scale and works out everything that is shown: means with confidence intervals for the
spec's figures and tables, our values of the paper's numbers, and whether its claims hold. How it looks on a terminal, in
Markdown and as a page is the business of `render`.

A mean is one over runs, that is, over maps and instances. Its interval is Student's, at 95 %: it says how far another draw of
as many problems may move the mean, and nothing about machines.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.experiments import render
from wend.experiments.spec import SCALES, Claim, Figure, Job, PaperNumber, Spec, Table
from wend.experiments.store import Store

if TYPE_CHECKING:
    from rich.console import Console

FAILURES_LISTED = 10

Key = str | int | float | None              # a value of a column of the results
Entries = dict[tuple[Key, Key], "Entry"]    # by row and column

_ALGORITHM_COLUMNS = ("label", "algorithm", "parameters")
_SAME_PROBLEM = ("map", "problem", "agents", "instance")    # two runs that agree in these can be compared one to one

# Two-sided 95 % quantiles of Student's distribution for 1, 2, ... 30 degrees of freedom.
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL = 1.959964


@dataclass(frozen=True)
class Mean:
    """A mean over runs."""

    value: float
    half_width: float | None    # of its 95 % confidence interval; None for a single run
    runs: int


@dataclass(frozen=True)
class Entry:
    """One place of a sheet."""

    mean: Mean | None                   # None: no run has this number
    difference: Mean | None = None      # to the baseline, over the problems that both have run on


@dataclass(frozen=True)
class Sheet:
    """Means by row and column: a table, or the points of a figure, with a row for each x and a column for each curve."""

    id: str
    title: str
    paper: str                  # what the paper shows here, in words
    row_column: str             # the column of the results whose values are the rows
    rows: list[Key]
    columns: list[Key]
    metrics: list[str]          # of each column
    entries: list[list[Entry]]  # [row][column]


@dataclass(frozen=True)
class Comparison:
    """A number of the paper and ours."""

    number: PaperNumber
    ours: Mean | None           # None: not measured


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper and what our results say to it."""

    claim: Claim
    holds: bool | None          # None: not measured


@dataclass(frozen=True)
class Failure:
    """A job that ended in an error."""

    job: str
    error: str


@dataclass(frozen=True)
class Report:
    """Everything that a report says. `make_report` makes one."""

    spec: Spec
    scale: str
    jobs: int
    done: int                   # jobs that have a result, the failed ones included
    failed: int
    versions: list[str]
    commits: list[str]
    cpus: list[str]
    stopped_by: dict[str, int]  # how many runs each limit ended
    baseline: str               # a label; "" if there is none
    figures: list[Sheet]
    tables: list[Sheet]
    numbers: list[Comparison]
    claims: list[Verdict]
    failures: list[Failure]     # the first few

    def print(self, console: Console) -> None:
        """Print tables and sentences."""
        render.to_console(self, console)

    def to_markdown(self) -> str:
        """Tables and sentences, to paste."""
        return render.to_markdown(self)

    def to_html(self) -> str:
        """One page with everything in it, figures included."""
        return render.to_html(self)

    def to_json(self) -> dict[str, Any]:
        """Everything, as one object that JSON can carry."""
        about = {name: getattr(self.spec, name) for name in ("title", "paper", "about")}
        plain = ("scale", "jobs", "done", "failed", "versions", "commits", "cpus", "stopped_by", "baseline")
        return {
            "experiment": self.spec.name,
            **about,
            **{name: getattr(self, name) for name in plain},
            "missing": missing(self.spec),
            "figures": [_sheet_as_json(sheet) for sheet in self.figures],
            "tables": [_sheet_as_json(sheet) for sheet in self.tables],
            "numbers": [{**dataclasses.asdict(each.number), "ours": _as_json(each.ours)} for each in self.numbers],
            "claims": [{"sentence": each.claim.sentence, "holds": each.holds} for each in self.claims],
            "failures": [dataclasses.asdict(failure) for failure in self.failures],
        }


def _sheet_as_json(sheet: Sheet) -> dict[str, Any]:
    """A sheet with its entries in one list: nothing to unfold."""
    entries = [
        {
            "row": row,
            "column": column,
            "metric": metric,
            **(_as_json(entry.mean) or {}),
            "difference": _as_json(entry.difference),
        }
        for row, line in zip(sheet.rows, sheet.entries, strict=True)
        for column, metric, entry in zip(sheet.columns, sheet.metrics, line, strict=True)
        if entry.mean is not None
    ]
    return {"id": sheet.id, "title": sheet.title, "paper": sheet.paper, "rows": sheet.row_column, "entries": entries}


def _as_json(mean: Mean | None) -> dict[str, Any] | None:
    return None if mean is None else {"mean": mean.value, "ci95": mean.half_width, "runs": mean.runs}


def missing(spec: Spec) -> list[str]:
    """The algorithms that the spec names and nobody has registered yet, each once."""
    return list(dict.fromkeys(spec.missing()))


# --- statistics ------------------------------------------------------------------------------------------------------


def student_quantile(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's distribution.

    >>> student_quantile(4)
    2.776
    """
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    # The first terms of its expansion around the normal distribution; from 30 degrees on, three decimals are right.
    z = _NORMAL
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def mean_of(values: Sequence[float]) -> Mean | None:
    """The mean of the values and its 95 % confidence interval; None if there are none."""
    runs = len(values)
    if runs == 0:
        return None
    half_width = None
    if runs > 1:
        half_width = student_quantile(runs - 1) * statistics.stdev(values) / math.sqrt(runs)
    return Mean(statistics.fmean(values), half_width, runs)


# --- the results of one scale ----------------------------------------------------------------------------------------


class _Results:
    """The results of some jobs as a table, `results`: in the order of the jobs, under the labels that the spec gives now.

    What a spec asks of it is SQL, and may be wrong; that is told with the spec's name and the place.
    """

    def __init__(self, spec: Spec, store: Store, jobs: list[Job]) -> None:
        self.spec = spec
        self.database = store.results(job["id"] for job in jobs)
        order = {"id": [job["id"] for job in jobs], "label": [job["label"] for job in jobs], "place": range(len(jobs))}
        types = {"id": pa.string(), "label": pa.string(), "place": pa.int64()}
        self.database.register("jobs", pa.table({name: pa.array(order[name], type=types[name]) for name in types}))
        self.database.execute(
            "CREATE OR REPLACE TABLE results AS SELECT results.* REPLACE (jobs.label AS label) "
            "FROM results JOIN jobs USING (id) ORDER BY place"
        )
        self.database.unregister("jobs")
        for metric in spec.metrics:     # where no job is done, or none that says, the metric has no column yet
            self.database.execute(f"ALTER TABLE results ADD COLUMN IF NOT EXISTS {_quoted(metric)} DOUBLE")
        self.database.execute("SET enable_external_access = false")     # a spec's SQL is about results, not about files

    def ask(self, sql: str, place: str) -> list[tuple[Any, ...]]:
        """The rows that a query gives; `place` says where in the spec it comes from."""
        try:
            return self.database.execute(sql).fetchall()
        except duckdb.Error as error:
            raise FormatError(self.spec.name, f"{place}: {' '.join(str(error).split())}") from None

    def distinct(self, column: str) -> list[str]:
        """All values of a column, sorted, without empty ones."""
        found = self.ask(f"SELECT DISTINCT {column} FROM results WHERE {column} <> '' ORDER BY {column}", column)
        return [str(value) for (value,) in found]

    def values(self, columns: Sequence[str], metric: str, where: str, place: str) -> list[tuple[tuple[Key, ...], float]]:
        """The values of a metric, each with its run's values of these columns, for the runs that have it."""
        names = ", ".join(_quoted(column) for column in (*columns, metric))
        rows = self.ask(f"SELECT {names} FROM results WHERE ({where or 'true'})", place)
        return [(row[:-1], float(row[-1])) for row in rows if row[-1] is not None and math.isfinite(row[-1])]

    def measure(
        self, row: str, column: str, metric: str, *, where: str = "", baseline: str = "", place: str
    ) -> dict[tuple[Key, Key], Entry]:
        """The mean of a metric by two columns of the results, and where they part the algorithms the difference to one."""
        there: dict[tuple[Key, ...], float] = {}
        if baseline and {row, column} & set(_ALGORITHM_COLUMNS):
            of_baseline = "label = '" + baseline.replace("'", "''") + "'"
            there = dict(self.values(_SAME_PROBLEM, metric, of_baseline, place))
        groups: defaultdict[tuple[Key, Key], list[tuple[tuple[Key, ...], float]]] = defaultdict(list)
        for keys, value in self.values((row, column, "label", *_SAME_PROBLEM), metric, where, place):
            groups[keys[0], keys[1]].append((keys[2:], value))
        entries = {}
        for at, runs in groups.items():
            is_baseline = all(keys[0] == baseline for keys, _ in runs)
            pairs = [] if is_baseline else [(value, there[keys[1:]]) for keys, value in runs if keys[1:] in there]
            entries[at] = Entry(mean_of([value for _, value in runs]), mean_of([ours - its for ours, its in pairs]))
        return entries


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- making it -------------------------------------------------------------------------------------------------------


def make_report(spec: Spec, store: Store, *, scale: str | None = None, baseline: str | None = None) -> Report:
    """Work out what the results of one scale say.

    Without a scale it is the largest that is complete, or else the one that is most complete. A baseline, by default the
    spec's, is a label or the name of an algorithm; tables then show differences to it.
    """
    store.check(spec.name)
    scale = _fullest_scale(spec, store) if scale is None else scale
    jobs = spec.jobs(scale)
    label = _baseline(spec, spec.baseline if baseline is None else baseline)
    results = _Results(spec, store, jobs)
    errors = results.ask(
        "SELECT concat(label, ' on ', map, ', ', agents, ' agents, instance ', instance), error "
        "FROM results WHERE error IS NOT NULL",
        "errors",
    )
    ended = results.ask("SELECT stopped_by, count(*) FROM results GROUP BY stopped_by ORDER BY count(*) DESC, 1", "ends")
    ids = {job["id"] for job in jobs}
    return Report(
        spec=spec,
        scale=scale,
        jobs=len(ids),
        done=len(ids & store.done()),
        failed=len(errors),
        versions=results.distinct("wend_version"),
        commits=results.distinct('"commit"'),
        cpus=results.distinct("cpu"),
        stopped_by={str(limit): int(count) for limit, count in ended},
        baseline=label,
        figures=[_figure(results, figure) for figure in spec.figures],
        tables=[sheet for table in spec.tables for sheet in _table(results, table, label)],
        numbers=[_comparison(results, number) for number in spec.numbers],
        claims=[_verdict(results, claim) for claim in spec.claims],
        failures=[Failure(str(job), str(error)) for job, error in errors[:FAILURES_LISTED]],
    )


def _fullest_scale(spec: Spec, store: Store) -> str:
    """The largest scale of which all jobs are done, or else the one with the largest share done."""
    if not spec.scales:
        raise FormatError(spec.name, "it has no scales, so there is nothing to report")
    done = store.done()
    shares = {}
    for name in sorted(spec.scales, key=SCALES.index):
        ids = {job["id"] for job in spec.jobs(name)}
        shares[name] = len(ids & done) / len(ids) if ids else 0.0
    complete = [name for name, share in shares.items() if share == 1]
    return complete[-1] if complete else max(shares, key=lambda name: shares[name])


def _baseline(spec: Spec, wanted: str) -> str:
    """The label that a baseline means; it may be one whose algorithm is not registered yet."""
    chosen = spec.contenders()
    labels = {algorithm.label for algorithm in (*chosen, *spec.algorithms) if algorithm.label}
    if not wanted or wanted in labels:
        return wanted
    of_name = [algorithm.label for algorithm in chosen if algorithm.name == wanted]
    if len(of_name) > 1:
        raise ParameterError(f"the baseline {wanted!r} may be any of {', '.join(of_name)}: name one of them")
    if of_name or wanted in missing(spec):
        return of_name[0] if of_name else wanted
    raise UnknownNameError("baseline", wanted, sorted(labels | {algorithm.name for algorithm in chosen}))


def _figure(results: _Results, figure: Figure) -> Sheet:
    """The points of a figure, by x."""
    has_x = f"{_quoted(figure.x)} IS NOT NULL"
    entries = results.measure(figure.x, figure.series, figure.y, where=has_x, place=f"figure {figure.id}")
    in_order = dict(sorted(entries.items(), key=lambda item: (isinstance(item[0][0], str), item[0][0])))
    columns = _once(column for _, column in entries)
    return _sheet(figure, figure.title, figure.x, in_order, dict.fromkeys(columns, figure.y))


def _table(results: _Results, table: Table, baseline: str) -> list[Sheet]:
    """One sheet with the values as columns, or a sheet for each value where the table has columns of its own."""
    values = table.values or results.spec.metrics
    place = f"table {table.id}"
    sheets: list[Sheet] = []
    together: Entries = {}
    for metric in values:
        column = table.columns or table.rows
        entries = results.measure(
            table.rows, column, metric, where=table.where, baseline=baseline, place=place
        )
        if table.columns:
            title = table.title if len(values) == 1 else f"{table.title}: {render.metric_name(metric)}"
            columns = _once(column for _, column in entries)
            sheets.append(_sheet(table, title, table.rows, entries, dict.fromkeys(columns, metric)))
        else:
            together |= {(row, metric): entry for (row, _), entry in entries.items()}
    return sheets or [_sheet(table, table.title, table.rows, together, {metric: metric for metric in values})]


def _sheet(
    head: Figure | Table, title: str, row_column: str, entries: Entries, columns: Mapping[Any, str]
) -> Sheet:
    """Entries, laid out; `columns` gives each column's metric."""
    rows = _once(row for row, _ in entries)
    empty = Entry(None)
    return Sheet(
        id=head.id,
        title=title,
        paper=head.paper,
        row_column=row_column,
        rows=rows,
        columns=list(columns),
        metrics=list(columns.values()),
        entries=[[entries.get((row, column), empty) for column in columns] for row in rows],
    )


def _once(keys: Iterable[Key]) -> list[Key]:
    """Each key once, in the order in which they come: that of the spec."""
    return list(dict.fromkeys(keys))


def _comparison(results: _Results, number: PaperNumber) -> Comparison:
    found = results.values((), number.metric, number.where, f"number {number.place!r}")
    return Comparison(number, mean_of([value for _, value in found]))


def _verdict(results: _Results, claim: Claim) -> Verdict:
    place = f"claim {claim.sentence!r}"
    answer = results.ask(claim.sql, place)
    if len(answer) != 1 or len(answer[0]) != 1 or type(answer[0][0]) not in (bool, type(None)):
        raise FormatError(results.spec.name, f"{place}: its SQL must answer with one boolean, not {answer[:3]}")
    return Verdict(claim, answer[0][0])
