"""Means over the results of an experiment: Student's intervals, differences to a baseline, and how fast means grow.

`Results` is the table that a spec's SQL is about. A mean is one over runs, that is, over maps and instances. Its
interval is Student's, at 95 %: it says how far another draw of as many problems may move the mean, and nothing about
machines.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from wend.errors import FormatError, WendError
from wend.experiments.spec import Job, Spec
from wend.experiments.store import Store
from wend.maps.grid import Grid

Key = str | int | float | None              # a value of a column of the results
Keys = tuple[Key, ...]
Entries = dict[tuple[Key, Key], "Entry"]    # by row and column

QUERY_SECONDS = 10.0            # that one question of a spec may take

FREE_CELLS = "free_cells"       # the x of a figure that no run has to measure: the map says it
FEWEST_POINTS = 3               # that a line is put through

_ALGORITHM_COLUMNS = {"label", "algorithm", "parameters"}
_SAME_PROBLEM = ("map", "problem", "agents", "instance", "view")     # agreeing in these, two runs can be compared

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
    printed: float | None = None        # what the paper says


@dataclass(frozen=True)
class Line:
    """The least-squares line through points on logarithmic axes, that is, y = exp(intercept) * x ** slope."""

    slope: float
    intercept: float
    r2: float               # share of the variance of log y that the line explains
    points: int


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


def line_through(points: Sequence[tuple[float, float]]) -> Line | None:
    """The line through those points that logarithmic axes can show; None if they are fewer than three.

    >>> round(line_through([(1, 5), (2, 20), (4, 80), (8, 0)]).slope, 6)
    2.0
    """
    shown = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(shown) < FEWEST_POINTS:
        return None
    xs, ys = zip(*shown, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    unexplained = sum((y - intercept - slope * x) ** 2 for x, y in shown)
    variance = statistics.pvariance(ys) * len(ys)
    return Line(slope, intercept, 1 - unexplained / variance if variance else 1.0, len(shown))


class Results:
    """The results of some jobs as a table, `results`, in the order of the jobs, with the labels and views of the spec.

    Results of other solvers on the same problems come last; their `is_foreign` is true.

    A spec asks it in SQL; if that is wrong, the error names the spec and the place.
    """

    def __init__(self, spec: Spec, store: Store, jobs: list[Job]) -> None:
        self.spec = spec
        self.database = store.results(job["id"] for job in jobs)
        texts = {name: [job[name] for job in jobs] for name in ("id", "label", "view", "map")}
        texts["problem"] = [job["scen"] or job["problem"] for job in jobs]
        numbers = {name: [job[name] for job in jobs] for name in ("agents", "instance")} | {"place": range(len(jobs))}
        columns = {name: pa.array(values, type=pa.string()) for name, values in texts.items()}
        columns |= {name: pa.array(values, type=pa.int64()) for name, values in numbers.items()}
        self.database.register("jobs", pa.table(columns))
        self.database.execute(
            "CREATE OR REPLACE TABLE results AS SELECT * EXCLUDE (place) FROM ("
            "SELECT results.* REPLACE (jobs.label AS label), jobs.view, false AS is_foreign, place "
            "FROM results JOIN jobs USING (id) "
            "UNION ALL BY NAME "
            "SELECT theirs.*, problems.view, true AS is_foreign, place FROM foreign_results AS theirs JOIN ("
            "SELECT map, problem, agents, instance, view, max(place) AS place FROM jobs GROUP BY ALL"
            ") AS problems USING (map, problem, agents, instance)"
            ") ORDER BY is_foreign, place, label"
        )
        self.database.unregister("jobs")
        for metric in spec.metrics:     # where no job is done, or none that says, the metric has no column yet
            self.database.execute(f"ALTER TABLE results ADD COLUMN IF NOT EXISTS {quoted(metric)} DOUBLE")
        if FREE_CELLS not in spec.metrics and any(figure.x == FREE_CELLS for figure in spec.figures):
            self._add_free_cells()
        self.database.execute("SET enable_external_access = false")     # a spec's SQL is about results, not about files

    def _add_free_cells(self) -> None:
        """A column with the size of each row's map; NULL where the map is not on this machine."""
        self.database.execute(f"ALTER TABLE results ADD COLUMN {FREE_CELLS} BIGINT")
        for name in self.distinct("map"):
            try:
                cells = Grid.load(name).free_cells().size
            except WendError:
                continue
            self.database.execute(f"UPDATE results SET {FREE_CELLS} = ? WHERE map = ?", [cells, name])

    def ask(self, sql: str, place: str) -> list[tuple[Any, ...]]:
        """The rows that a query gives; `place` says where in the spec it comes from."""
        with self._told(place):
            statements = self.database.extract_statements(sql)
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                raise FormatError(self.spec.name, f"{place}: one SELECT is needed, not {sql[:60]!r}")
            return self.database.execute(statements[0]).fetchall()

    @contextmanager
    def _told(self, place: str) -> Iterator[None]:
        """End a query that takes too long, and say of every failure where in the spec it comes from."""
        clock = threading.Timer(QUERY_SECONDS, self.database.interrupt)
        clock.start()
        try:
            yield
        except duckdb.InterruptException:
            raise FormatError(self.spec.name, f"{place}: its SQL takes more than {QUERY_SECONDS:g} s") from None
        except duckdb.Error as error:
            raise FormatError(self.spec.name, f"{place}: {' '.join(str(error).split())}") from None
        finally:
            clock.cancel()

    def to_csv(self) -> str:
        """All rows as CSV, with a header; what a row does not have is empty."""
        table = self.database.table("results")
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.fetchall())
        return text.getvalue()

    def distinct(self, column: str) -> list[str]:
        """All values of a column in our own results, sorted, without empty ones."""
        where = f"{column} <> '' AND NOT is_foreign"
        found = self.ask(f"SELECT DISTINCT {column} FROM results WHERE {where} ORDER BY {column}", column)
        return [str(value) for (value,) in found]

    def values(self, columns: Sequence[str], metric: str, where: str, place: str) -> list[tuple[Keys, float | None]]:
        """The value of a metric in each run, None if the run has none, with the run's values of these columns."""
        names = ", ".join(quoted(column) for column in (*columns, metric))
        with self._told(place):     # a filter takes one expression, and nothing that closes a bracket and goes on
            rows = self.database.table("results").filter(where or "true").project(names).fetchall()
        return [(row[:-1], row[-1] if row[-1] is None or math.isfinite(row[-1]) else None) for row in rows]

    def measure(self, row: str, column: str, metric: str, where: str, place: str, baseline: str = "") -> Entries:
        """The mean of a metric by two columns of the results; if they tell algorithms apart, differences too."""
        there: dict[Keys, float | None] = {}
        if baseline and {row, column} & _ALGORITHM_COLUMNS:
            of_baseline = "label = '" + baseline.replace("'", "''") + "'"
            there = dict(self.values(_SAME_PROBLEM, metric, of_baseline, place))
        groups: defaultdict[tuple[Key, Key], list[tuple[Key, float | None, float | None]]] = defaultdict(list)
        for keys, value in self.values((row, column, "label", *_SAME_PROBLEM), metric, where, place):
            groups[keys[0], keys[1]].append((keys[2], value, there.get(keys[3:])))
        entries = {}
        for at, runs in groups.items():
            values = [value for _, value, _ in runs if value is not None]
            differences = [value - its for _, value, its in runs if value is not None and its is not None]
            is_baseline = all(label == baseline for label, _, _ in runs)
            entries[at] = Entry(mean_of(values), None if is_baseline else mean_of(differences))
        return entries


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
