"""The store: one Parquet file per job, in a folder per experiment, read with DuckDB.

    <folder>/store.json         what the folder is: experiment and schema version
    <folder>/jobs/<id>.parquet  one row: the job, what it measured, and everything needed to repeat it

A file is written aside and renamed, so that it is there whole or not at all: what is there is what is done.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from wend.errors import FormatError, VersionError
from wend.files import replacing

SCHEMA = 1

Row = dict[str, Any]

# The columns of every row; the metrics of the spec come after them, as numbers.
COLUMNS = {
    "id": pa.string(),              # of the job, a hash of what it does
    "experiment": pa.string(),
    "map": pa.string(),
    "problem": pa.string(),         # the kind, or the scenario
    "agents": pa.int64(),
    "instance": pa.int64(),
    "seed": pa.int64(),             # what problem and planner were drawn from
    "algorithm": pa.string(),
    "label": pa.string(),           # what the report calls it
    "parameters": pa.string(),      # JSON, defaults included
    "limits": pa.string(),          # JSON
    "stopped_by": pa.string(),      # done | max-ticks | expansions | time-limit | hard-limit | error
    "error": pa.string(),           # what was raised, null if nothing was
    "state_hash": pa.string(),      # of the run: equal runs, equal hashes
    "violations": pa.int64(),
    "job_seconds": pa.float64(),    # wall time of the whole job
    "wend_version": pa.string(),
    "commit": pa.string(),          # of the checkout that ran it, "" if it was none
    "spec_hash": pa.string(),
    "cpu": pa.string(),
    "threads": pa.int64(),          # that the job was allowed
    "python": pa.string(),
    "schema": pa.int64(),
}


class Store:
    """The results of one experiment."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @classmethod
    def create(cls, folder: str | Path, experiment: str) -> Store:
        """Open the folder for writing, and make it if need be."""
        store = cls(folder)
        if not store._label.exists():
            if store.folder.exists() and any(store.folder.iterdir()):
                raise FormatError(store.folder, "not a results folder (no store.json), and not empty")
            with replacing(store._label) as file:
                file.write(json.dumps({"experiment": experiment, "schema": SCHEMA}).encode())
        store.check(experiment)
        return store

    def check(self, experiment: str) -> None:
        """Refuse a folder of another experiment or another schema; nothing in it is touched."""
        try:
            label = json.loads(self._label.read_text())
            schema, named = int(label["schema"]), str(label["experiment"])
        except FileNotFoundError:
            raise FormatError(self.folder, "there are no results here; run `wend bench` first") from None
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(self._label, f"damaged ({error})") from None
        if schema != SCHEMA:
            found = f"results of schema {schema}, and this Wend writes {SCHEMA}"
            raise VersionError(self.folder, f"{found}: name another folder with --out")
        if named != experiment:
            found = f"results of {named!r}, not of {experiment!r}"
            raise FormatError(self.folder, f"{found}: name another folder with --out")

    @property
    def _label(self) -> Path:
        return self.folder / "store.json"

    @property
    def _jobs(self) -> Path:
        return self.folder / "jobs"

    def done(self) -> set[str]:
        """The ids of all jobs that have a result."""
        return {path.stem for path in self._jobs.glob("*.parquet")}

    def put(self, row: Row) -> None:
        """Keep the result of a job."""
        extra = {name: pa.float64() for name in row if name not in COLUMNS}
        schema = pa.schema(list((COLUMNS | extra).items()))
        table = pa.Table.from_pylist([row], schema=schema)
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        with replacing(self._jobs / f"{row['id']}.parquet") as file:
            file.write(buffer.getvalue())

    def forget(self, ids: Iterable[str]) -> None:
        """Remove the results of these jobs, so that they are run again."""
        for name in ids:
            (self._jobs / f"{name}.parquet").unlink(missing_ok=True)

    def failed(self) -> list[str]:
        """The ids of the jobs that ended in an error."""
        if not self.done():
            return []
        rows = self.results(self.done()).execute("SELECT id FROM results WHERE error IS NOT NULL").fetchall()
        return [str(name) for (name,) in rows]

    def parameters(self) -> dict[str, str]:
        """The parameters with which each result was made, by the id of its job."""
        rows = self.results(self.done()).execute("SELECT id, parameters FROM results").fetchall()
        return {str(name): str(parameters) for name, parameters in rows}

    def results(self, ids: Iterable[str]) -> duckdb.DuckDBPyConnection:
        """A database with one table, `results`, of the jobs of these ids that are done."""
        files = [str(self._jobs / f"{name}.parquet") for name in sorted(self.done() & set(ids))]
        database = duckdb.connect()
        if files:
            try:
                database.execute("CREATE TABLE results AS SELECT * FROM read_parquet(?, union_by_name=true)", [files])
            except duckdb.Error as error:
                raise FormatError(self._jobs, f"a result is damaged; remove it and run again ({error})") from None
        else:
            columns = ", ".join(f'"{name}" {_sql_type(kind)}' for name, kind in COLUMNS.items())
            database.execute(f"CREATE TABLE results ({columns})")
        return database


def _sql_type(kind: pa.DataType) -> str:
    return {pa.string(): "VARCHAR", pa.int64(): "BIGINT", pa.float64(): "DOUBLE"}[kind]
