"""The results of an experiment as the table that a spec's SQL is about."""

from __future__ import annotations

import csv
import io
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from wend.errors import FormatError, WendError
from wend.experiments.spec import Job, Spec
from wend.experiments.store import Store
from wend.maps.grid import Grid

Key = str | int | float | None              # a value of a column of the results
Keys = tuple[Key, ...]

QUERY_SECONDS = 10.0            # that one question of a spec may take

FREE_CELLS = "free_cells"       # the x of a figure that no run has to measure: the map says it


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
        """All rows as CSV, with a header; what a row does not have is empty. Arrays are left out."""
        table = self.database.sql("SELECT * EXCLUDE (data) FROM results")
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


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
