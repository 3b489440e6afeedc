"""The store: one Parquet file per job, in a folder per experiment, read with DuckDB.

    <folder>/store.json         what the folder is: experiment and schema version
    <folder>/jobs/<id>.parquet  one row: the job, what it measured, and everything needed to repeat it
    <folder>/results.parquet    all these rows in one file, written whenever all jobs of a scale are done
    <folder>/foreign.parquet    results of other solvers, if any were added: rows with the same columns
    <folder>/lock               held by the runner that works on it

A file is written aside and renamed, so that it is there whole or not at all: what is in `jobs/` is what is done.
`wend.experiments.provenance` tells of the other files.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from wend.errors import FormatError, ParameterError, VersionError
from wend.files import UNPACKED_RATIO, parse_json, read_bytes, replacing, to_json

SCHEMA = 2      # 1: the problems of one seed were the first agents of one draw, whatever their size

_LABEL_BYTES = 2**16            # of store.json, at most
_ROW_BYTES = 2**20              # of one result, at most
_FOREIGN_BYTES = 2**26          # of the results of others, at most, ...
_FOREIGN_ROWS = 2**20           # ... and their rows
_MEMORY_BYTES = 400 * 2**20     # that a query may take; more if the files are large
_REMEDY = "remove it and run again"
_SQL_TYPES = {pa.string(): "VARCHAR", pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.binary(): "BLOB"}

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
    "source": pa.string(),          # a hash of the planner's source, null if the planner is Wend's own
    "data": pa.binary(),            # an array, as .npy, or null: of a run its solutions, seconds and sum of costs of
                                    # each; else what a job function of the spec's own keeps
}
_LATER = ("source", "data")                # columns that older rows of the same schema lack


class MadeWith(NamedTuple):
    """What may have changed since a result was made."""

    parameters: str
    source: str | None


class Store:
    """The results of one experiment."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._put: dict[str, Row] = {}      # what was kept by this process, by id: `join` need not read it again

    @classmethod
    def create(cls, folder: str | Path, experiment: str) -> Store:
        """Open the folder for writing, and make it if need be."""
        store = cls(folder)
        if not store._label.exists():
            if store.folder.exists() and any(store.folder.iterdir()):
                raise FormatError(store.folder, "not a results folder (no store.json), and not empty")
            with replacing(store._label) as file:
                file.write(to_json({"experiment": experiment, "schema": SCHEMA}).encode())
        store.check(experiment)
        return store

    def check(self, experiment: str | None = None) -> None:
        """Refuse a folder of another schema, or of another experiment than the one named; nothing in it is touched."""
        if not self._label.exists():
            raise FormatError(self.folder, "there are no results here; run `wend bench` first")
        try:
            label = parse_json(read_bytes(self._label, at_most=_LABEL_BYTES), self._label)
            schema, named = int(label["schema"]), str(label["experiment"])
        except (FormatError, ValueError, KeyError, TypeError) as error:
            raise FormatError(self._label, f"damaged ({error})") from None
        if schema != SCHEMA:
            found = f"results of schema {schema}, and this Wend writes {SCHEMA}"
            raise VersionError(self.folder, f"{found}: name another folder with --out")
        if experiment is not None and named != experiment:
            found = f"results of {named!r}, not of {experiment!r}"
            raise FormatError(self.folder, f"{found}: name another folder with --out")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Work on the folder alone: a ParameterError if another process does. The lock goes with the process."""
        with (self.folder / "lock").open("w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                another = "another `wend bench` is at work in this folder"
                raise ParameterError(f"{self.folder}: {another}; wait for it, or name another one with --out") from None
            except (ImportError, OSError):      # no locks on this system, or on this disk
                pass
            for half in self._jobs.glob(".*.part"):     # that a runner left which was killed while it wrote
                half.unlink(missing_ok=True)
            yield

    @property
    def _label(self) -> Path:
        return self.folder / "store.json"

    @property
    def _jobs(self) -> Path:
        return self.folder / "jobs"

    @property
    def _foreign(self) -> Path:
        return self.folder / "foreign.parquet"

    def done(self) -> set[str]:
        """The ids of all jobs that have a result."""
        return {path.stem for path in self._jobs.glob("*.parquet") if path.is_file()}

    def put(self, row: Row) -> None:
        """Keep the result of a job."""
        _write(_table([row]), self._jobs / f"{row['id']}.parquet")
        self._put[row["id"]] = row

    def join(self, ids: Iterable[str]) -> None:
        """Write all results into one file, if all jobs of these ids are done."""
        done = self.done()
        if set(ids) <= done:
            rows = _by_id(self.results(done - self._put.keys()).table("results")) | self._put
            _write(_table([rows[name] for name in sorted(done)]), self.folder / "results.parquet")

    def put_foreign(self, rows: Iterable[Row]) -> None:
        """Keep results of other solvers; those of the same ids are replaced."""
        kept = _by_id(self.results([]).table("foreign_results"))
        _write(_table(list((kept | {row["id"]: row for row in rows}).values())), self._foreign)

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

    def made_with(self) -> dict[str, MadeWith]:
        """What each result was made with, by the id of its job."""
        rows = self.results(self.done()).execute("SELECT id, parameters, source FROM results").fetchall()
        return {str(name): MadeWith(str(parameters), source) for name, parameters, source in rows}

    def rows(self) -> dict[str, Row]:
        """All results, by the id of their job."""
        return _by_id(self.results(self.done()).table("results"))

    def results(self, ids: Iterable[str]) -> duckdb.DuckDBPyConnection:
        """A database with two tables: `results`, of the jobs of these ids that are done, and `foreign_results`."""
        files = [self._jobs / f"{name}.parquet" for name in sorted(self.done() & set(ids))]
        sizes = [file.stat().st_size for file in files]
        for file, size in zip(files, sizes, strict=True):
            if size > _ROW_BYTES:
                raise FormatError(file, f"a result has one row, and this file {size:,} bytes: {_REMEDY}")
        database = duckdb.connect()
        database.execute(f"SET memory_limit = '{max(_MEMORY_BYTES, UNPACKED_RATIO * sum(sizes)) // 2**20}MiB'")
        database.execute("SET temp_directory = ''")
        columns = ", ".join(f'"{name}" {_SQL_TYPES[kind]}' for name, kind in COLUMNS.items())
        database.execute(f"CREATE TABLE results ({columns})")
        self._load_foreign(database, columns)
        if not files:
            return database
        most = len(files) + 1       # one row each; if there are more, one too many is enough to see it
        try:
            database.execute(
                "CREATE OR REPLACE TABLE results AS SELECT * FROM read_parquet(?, union_by_name=true) LIMIT ?",
                [[str(file) for file in files], most],
            )
            _add_later(database, "results")
            found = database.execute("SELECT column_name, column_type FROM (DESCRIBE results)").fetchall()
            ids = [name for (name,) in database.execute("SELECT id FROM results").fetchall()]
        except duckdb.Error as error:
            told = " ".join(str(error).split())
            raise FormatError(self._jobs, f"a result is damaged: {_REMEDY} ({told})") from None
        if sorted(map(str, ids)) != [file.stem for file in files] or not _is_of_results(dict(found)):
            raise FormatError(next(filter(_is_damaged, files), self._jobs), f"not the result of a job: {_REMEDY}")
        return database

    def _load_foreign(self, database: duckdb.DuckDBPyConnection, columns: str) -> None:
        database.execute(f"CREATE TABLE foreign_results ({columns})")
        if not self._foreign.is_file():
            return
        found: list[tuple[str, str]] = []
        if self._foreign.stat().st_size <= _FOREIGN_BYTES:
            with contextlib.suppress(duckdb.Error):
                database.execute(
                    "CREATE OR REPLACE TABLE foreign_results AS SELECT * FROM read_parquet(?) LIMIT ?",
                    [str(self._foreign), _FOREIGN_ROWS],
                )
                _add_later(database, "foreign_results")
                found = database.execute("SELECT column_name, column_type FROM (DESCRIBE foreign_results)").fetchall()
        if not _is_of_results(dict(found)):
            raise FormatError(self._foreign, "damaged: remove it, and add the results of others again")


def _add_later(database: duckdb.DuckDBPyConnection, table: str) -> None:
    """Give a table the columns that older files of the same schema lack."""
    for name in _LATER:
        database.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {name} {_SQL_TYPES[COLUMNS[name]]}")


def _by_id(table: duckdb.DuckDBPyRelation) -> dict[str, Row]:
    """The rows of a table, by their ids."""
    rows = (dict(zip(table.columns, values, strict=True)) for values in table.fetchall())
    return {row["id"]: row for row in rows}


def _table(rows: list[Row]) -> pa.Table:
    """Rows as a table: the columns of every row, and numbers besides."""
    extra = {name: pa.float64() for row in rows for name in row if name not in COLUMNS}
    return pa.Table.from_pylist(rows, schema=pa.schema(list((COLUMNS | extra).items())))


def _write(table: pa.Table, path: Path) -> None:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    with replacing(path) as file:
        file.write(buffer.getvalue())


def _is_of_results(types: dict[str, str]) -> bool:
    """Whether a table has the columns of every row, and only numbers besides."""
    wanted = dict.fromkeys(types, "DOUBLE") | {name: _SQL_TYPES[kind] for name, kind in COLUMNS.items()}
    return types == wanted


def _is_damaged(file: Path) -> bool:
    about = pq.ParquetFile(file)
    types = {name: _SQL_TYPES[COLUMNS[name]] for name in _LATER}
    types |= {field.name: _SQL_TYPES.get(field.type, "") for field in about.schema_arrow}
    return about.metadata.num_rows != 1 or not _is_of_results(types) or about.read(["id"])["id"][0].as_py() != file.stem
