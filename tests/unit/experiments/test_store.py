from __future__ import annotations

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wend.errors import FormatError, ParameterError, VersionError
from wend.experiments.store import COLUMNS, Store


def row(name: str, **more) -> dict:
    return {**dict.fromkeys(COLUMNS), "id": name, "label": "LRA*", "agents": 3, **more}


def test_rows_come_back_by_id(tmp_path) -> None:
    store = Store.create(tmp_path / "r", "a/b")
    store.put(row("one", ticks=4))
    store.put(row("two", ticks=None, error="ValueError: no"))
    store.put(row("three", distance=2.5))
    assert store.done() == {"one", "two", "three"}
    results = store.results(["one", "two", "nowhere"])
    found = results.execute("SELECT id, ticks, agents FROM results ORDER BY id").fetchall()
    assert found == [("one", 4.0, 3), ("two", None, 3)]
    assert store.failed() == ["two"]
    store.forget(["two"])
    assert store.done() == {"one", "three"}
    assert Store(tmp_path / "r").results([]).execute("SELECT count(*) FROM results").fetchone() == (0,)


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path) -> None:
    store = Store.create(tmp_path / "r", "a/b")
    store.put(row("one", ticks=4))
    with pytest.raises(FormatError, match="results of 'a/b', not of 'c/d'"):
        Store.create(tmp_path / "r", "c/d")
    (tmp_path / "r" / "store.json").write_text(json.dumps({"experiment": "a/b", "schema": 1}))
    with pytest.raises(VersionError, match="results of schema 1, and this Wend writes 2"):
        Store.create(tmp_path / "r", "a/b")
    (tmp_path / "r" / "store.json").write_text("{")
    with pytest.raises(FormatError, match="damaged"):
        Store.create(tmp_path / "r", "a/b")
    assert store.done() == {"one"}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("precious")
    with pytest.raises(FormatError, match="not a results folder"):
        Store.create(tmp_path / "other", "a/b")
    with pytest.raises(FormatError, match="there are no results here"):
        Store(tmp_path / "none").check("a/b")


def test_a_damaged_result_is_named(tmp_path) -> None:
    store = Store.create(tmp_path / "r", "a/b")
    store.put(row("one", ticks=4))
    (tmp_path / "r" / "jobs" / "two.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FormatError, match=r"a result is damaged.*two\.parquet"):
        store.results(["one", "two"])


def test_rows_from_before_sources_were_kept_are_read(tmp_path) -> None:
    store = Store.create(tmp_path / "r", "a/b")
    store.put(row("new", ticks=4) | {"source": "abc"})
    store.put(row("old", ticks=4))
    old = tmp_path / "r" / "jobs" / "old.parquet"
    pq.write_table(pq.read_table(old).drop_columns(["source"]), old)
    assert {name: made.source for name, made in store.made_with().items()} == {"new": "abc", "old": None}
    store.forget(["new"])
    assert store.made_with()["old"].source is None


def test_files_that_are_no_results_are_named(tmp_path) -> None:
    store = Store.create(tmp_path / "r", "a/b")
    store.put(row("one", ticks=4))
    whole = pq.read_table(tmp_path / "r" / "jobs" / "one.parquet")
    bad = tmp_path / "r" / "jobs" / "bad.parquet"
    renamed = whole.set_column(0, "id", pa.array(["bad"]))
    pq.write_table(renamed, bad)
    assert store.made_with().keys() == {"one", "bad"}
    for table in (
        whole,
        renamed.drop_columns(["id"]),
        renamed.set_column(renamed.schema.get_field_index("ticks"), "ticks", pa.array(["four"])),
        renamed.set_column(renamed.schema.get_field_index("agents"), "agents", pa.array(["three"])),
        renamed.append_column("more", pa.array([[1.0]])),
        pa.concat_tables([renamed] * 100_000),
        renamed.slice(0, 0),
    ):
        pq.write_table(table, bad)
        for ask in (store.failed, store.made_with):
            with pytest.raises(FormatError, match=r"jobs/bad\.parquet: not the result of a job: remove it"):
                ask()
    bad.write_bytes(b"\0" * (2**20 + 1))
    with pytest.raises(FormatError, match=r"bad\.parquet: a result has one row"):
        store.made_with()
    bad.unlink()
    os.mkfifo(bad)
    assert store.done() == {"one"}


def test_one_runner_at_a_time(tmp_path) -> None:
    store = Store.create(tmp_path / "r", "a/b")
    refused = pytest.raises(ParameterError, match="another `wend bench` is at work in this folder")
    with store.locked(), refused, store.locked():
        pass
    store.put(row("one"))
    (tmp_path / "r" / "jobs" / ".abc.part").write_bytes(b"half of a r")     # a runner was killed while it wrote
    with store.locked():
        assert [path.name for path in (tmp_path / "r" / "jobs").iterdir()] == ["one.parquet"]


def test_a_disk_that_takes_no_more_leaves_the_old_results(tmp_path, monkeypatch) -> None:
    store = Store.create(tmp_path / "r", "a/b")
    store.put(row("one", ticks=4))

    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.put(row("two"))
    with pytest.raises(OSError, match="No space left"):
        store.put(row("one", ticks=5))
    assert [path.name for path in (tmp_path / "r" / "jobs").iterdir()] == ["one.parquet"]
    assert store.results(["one"]).execute("SELECT ticks FROM results").fetchone() == (4.0,)
