"""The runner under everything that can go wrong: errors, deaths, hangs, kill -9, a worker of a cluster shot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from wend.errors import MapError, ParameterError, ProblemError, UnknownNameError
from wend.experiments.runner import run_experiment
from wend.experiments.spec import Spec, load_spec
from wend.experiments.store import Store
from wend.metrics import MEASURES

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 600        # a busy machine may take that long for anything

SPEC = """
title = "A test of the runner"
job = "tests.unit.experiments.own_jobs:{job}"
metrics = ["ticks"]
[limits]
hard_seconds = {hard_seconds}
[scales.quick]
maps = ["open:"]
agents = {agents}
instances = {instances}
[[algorithms]]
name = "lra"
"""

WORLD = """
title = "Small runs in a world"
metrics = ["completion_rate", "ticks", "expansions", "cycles", "peak_density", "repaths", "plan_seconds"]
[problem]
connectivity = 4
[limits]
max_ticks = 60
expansions = 20000
[scales.quick]
maps = ["random:seed={0..2}"]
agents = [20, 60]
instances = 2
[[algorithms]]
name = "lra"
"""


def spec_of(
    folder: Path, job: str, *, agents: Sequence[int] = (1, 2, 3), instances: int = 2, hard_s: float = 60
) -> Spec:
    path = folder / "test.toml"
    path.write_text(SPEC.format(job=job, agents=list(agents), instances=instances, hard_seconds=float(hard_s)))
    return load_spec(str(path))


def rows(out: Path, spec: Spec, columns: str) -> list[tuple]:
    ids = [job["id"] for job in spec.jobs("quick")]
    return Store(out).results(ids).execute(f"SELECT {columns} FROM results ORDER BY id").fetchall()


def test_everything_is_run_once(tmp_path) -> None:
    spec = spec_of(tmp_path, "fine")
    seen: list[int] = []
    tally = run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r", progress=lambda t: seen.append(t.ran))
    assert (tally.total, tally.kept, tally.ran, tally.failed) == (6, 0, 6, 0)
    assert seen == [0, 1, 2, 3, 4, 5, 6]
    again = run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r")
    assert (again.kept, again.ran) == (6, 0)
    found = rows(tmp_path / "r", spec, "ticks, experiment, wend_version, cpu, threads, schema, spec_hash, seed")
    assert sorted(value[0] for value in found) == [10, 11, 20, 21, 30, 31]
    for row in found:
        assert all(value not in (None, "") for value in row)


def test_a_result_made_with_other_defaults_is_made_again(tmp_path) -> None:
    path = tmp_path / "world.toml"
    path.write_text(WORLD.replace("{0..2}", "0").replace("[20, 60]", "[5]"))
    spec, out = load_spec(str(path)), tmp_path / "r"
    assert run_experiment(spec, "quick", out=out).ran == 2
    assert run_experiment(spec, "quick", out=out).ran == 0
    columns = "id, experiment, map, problem, agents, instance, seed, algorithm, label, limits, parameters, ticks"
    old = dict(zip(columns.split(", "), rows(out, spec, columns)[0], strict=True))
    Store(out).put({**old, "parameters": '{"noise": 7}', "ticks": -1.0})
    again = run_experiment(spec, "quick", out=out)
    assert (again.kept, again.ran) == (1, 1)
    assert rows(out, spec, columns)[0] == tuple(old.values())


OWN_MEASURES = """
def longest(trace):
    return trace.ticks * 2

def none(trace):
    return None

def wrong(trace):
    return "much"
"""


def test_measures_of_ones_own_are_functions_of_the_trace(tmp_path, monkeypatch) -> None:
    (tmp_path / "my_measures.py").write_text(OWN_MEASURES)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "world.toml"
    small = WORLD.replace("{0..2}", "0").replace("[20, 60]", "[5]").replace('"ticks",', '"ticks", "longest", "none",')
    declared = "".join(f'[measures.{name}]\nhelp = "h"\nof = "my_measures:{name}"\n' for name in ("longest", "none"))
    path.write_text(small + declared)
    spec = load_spec(str(path))
    with pytest.raises(ParameterError, match=r"the measure 'my_measures:longest'.*--allow-code"):
        run_experiment(spec, "quick", out=tmp_path / "r")
    assert not (tmp_path / "r").exists()
    assert run_experiment(spec, "quick", out=tmp_path / "r", allow_code=True).failed == 0
    assert all(longest == 2 * ticks and none is None for longest, ticks, none in rows(
        tmp_path / "r", spec, "longest, ticks, none"
    ))  # fmt: skip
    path.write_text(small + declared.replace("my_measures:longest", "my_measures:wrong"))
    spec = load_spec(str(path))
    assert run_experiment(spec, "quick", out=tmp_path / "w", allow_code=True).failed == 2
    ((error,),) = set(rows(tmp_path / "w", spec, "error"))
    assert error == "ParameterError: the measure 'my_measures:wrong' returned 'much', and not a number or None"


def test_maps_that_are_not_at_hand_are_left_out_if_the_spec_says_so(tmp_path) -> None:
    path = tmp_path / "world.toml"
    text = WORLD.replace("{0..2}", "0").replace('["random', '["atlantis/one", "random').replace("[20, 60]", "[5]")
    path.write_text(text.replace("[problem]", "[problem]\nat_hand = true"))
    tally = run_experiment(load_spec(str(path)), "quick", out=tmp_path / "r")
    assert (tally.total, tally.ran, tally.absent) == (2, 2, ("atlantis/one",))
    for wrong in (text, text.replace("[problem]", "[problem]\nat_hand = true").replace(', "random:seed=0"', "")):
        path.write_text(wrong)
        with pytest.raises(UnknownNameError, match="'atlantis'"):
            run_experiment(load_spec(str(path)), "quick", out=tmp_path / "none")


def test_all_results_are_in_one_file_when_they_are_done(tmp_path) -> None:
    spec = spec_of(tmp_path, "fine")
    run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r")
    table = pq.read_table(tmp_path / "r" / "results.parquet")
    assert sorted(table["id"].to_pylist()) == sorted(job["id"] for job in spec.jobs("quick"))
    assert sorted(table["ticks"].to_pylist()) == [10, 11, 20, 21, 30, 31]


def test_a_worker_with_another_source_of_the_planner_is_found_out(tmp_path, monkeypatch) -> None:
    path = tmp_path / "world.toml"
    planner = "tests.planners.test_conformance:StandsStill"
    path.write_text(WORLD.replace("{0..2}", "0").replace("[20, 60]", "[5]").replace('"lra"', f'"{planner}"'))
    spec, out = load_spec(str(path)), tmp_path / "r"
    monkeypatch.setattr("wend.experiments.runner.source_of", lambda _: "mine")
    assert run_experiment(spec, "quick", out=out, allow_code=True).failed == 2
    told = "the worker has another source of the planner: start it again"
    assert rows(out, spec, "error, stopped_by") == [(told, "error")] * 2
    monkeypatch.undo()
    again = run_experiment(spec, "quick", out=out, allow_code=True)
    assert (again.ran, again.failed) == (2, 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_raises_is_recorded_and_the_others_run(tmp_path, workers) -> None:
    spec = spec_of(tmp_path, "raises")
    tally = run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r", workers=workers)
    assert (tally.ran, tally.failed) == (6, 2)
    errors = {(a, e, s) for a, e, s in rows(tmp_path / "r", spec, "agents, error, stopped_by")}
    assert errors == {(1, None, "done"), (2, "ValueError: two is too many", "error"), (3, None, "done")}
    assert run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r").ran == 0
    assert run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r", retry_failed=True).ran == 2


def test_a_job_that_kills_its_worker_is_recorded_and_the_others_run(tmp_path) -> None:
    spec = spec_of(tmp_path, "dies", agents=(1, 2, 3, 4, 5), instances=2)
    tally = run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r", workers=2)
    assert (tally.ran, tally.failed) == (10, 2)
    errors = {(a, e) for a, e in rows(tmp_path / "r", spec, "agents, error")}
    assert errors == {(2, "the worker process died")} | {(a, None) for a in (1, 3, 4, 5)}


def test_a_job_past_its_hard_limit_is_ended_and_recorded(tmp_path) -> None:
    spec = spec_of(tmp_path, "hangs", instances=1, hard_s=0.5)
    tally = run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r", workers=2)
    assert (tally.ran, tally.failed) == (3, 1)
    ended = {(a, s) for a, s in rows(tmp_path / "r", spec, "agents, stopped_by")}
    assert ended == {(1, "done"), (2, "hard-limit"), (3, "done")}


def test_a_run_past_its_hard_limit_ends_between_two_ticks(tmp_path) -> None:
    path = tmp_path / "world.toml"
    path.write_text(WORLD.replace("max_ticks = 60\nexpansions = 20000", "max_ticks = 100000000\nhard_seconds = 0.3"))
    spec = load_spec(str(path))
    run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r")
    ended = rows(tmp_path / "r", spec, "stopped_by, error, ticks")
    assert {(s, e) for s, e, _ in ended} <= {("hard-limit", None), ("done", None)}
    assert "hard-limit" in {s for s, _, _ in ended}
    assert all(ticks > 0 for _, _, ticks in ended)


def start(folder: Path, log: Path, last: int = 10**6) -> subprocess.Popen[bytes]:
    """Start the runner; it writes its jobs into a log, and after so many of them they hang."""
    words = ["bench", str(folder / "test.toml"), "--jobs", "2", "--allow-code", "--out", str(folder / "r")]
    paths = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    env = {**os.environ, "PYTHONPATH": paths, "WEND_TEST_LOG": str(log), "WEND_TEST_LAST": str(last)}
    return subprocess.Popen(
        [sys.executable, "-m", "wend", *words], env=env, cwd=ROOT, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def test_kill_9_loses_no_finished_job_and_runs_none_twice(tmp_path) -> None:
    spec = spec_of(tmp_path, "slow", agents=range(1, 61), instances=2, hard_s=PATIENCE_S)
    wanted = {job["id"] for job in spec.jobs("quick")}
    first, second = tmp_path / "first.log", tmp_path / "second.log"
    process = start(tmp_path, first, last=40)       # however late it is killed, it is not done
    store = Store(tmp_path / "r")
    patience = time.monotonic() + PATIENCE_S
    while len(store.done()) < 20 and time.monotonic() < patience:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = store.done()
    assert 20 <= len(finished) < len(wanted)
    assert start(tmp_path, second).wait(timeout=PATIENCE_S) == 0
    assert store.done() == wanted
    rerun = second.read_text().split()
    assert len(rerun) == len(set(rerun))
    assert set(rerun) == wanted - finished      # exactly what was missing, nothing twice


def metric_rows(out: Path, spec: Spec) -> list[tuple]:
    steady = [name for name in spec.metrics if not MEASURES[name].clock]
    columns = "id, map, agents, instance, label, parameters, stopped_by, state_hash, violations, " + ", ".join(steady)
    return rows(out, spec, columns)


@pytest.fixture(scope="module")
def cluster():
    """Two Dask workers on this machine, in processes of their own."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, env={"PYTHONPATH": str(ROOT)}
        ) as local,
    ):
        yield local


@pytest.mark.filterwarnings("default")      # those of the cluster are not ours
def test_results_are_the_same_with_one_job_with_two_and_on_dask(tmp_path, cluster) -> None:
    path = tmp_path / "world.toml"
    path.write_text(WORLD)
    spec = load_spec(str(path))
    run_experiment(spec, "quick", out=tmp_path / "one", workers=1)
    run_experiment(spec, "quick", out=tmp_path / "two", workers=2)
    run_experiment(spec, "quick", out=tmp_path / "dask", cluster=cluster.scheduler_address)
    one = metric_rows(tmp_path / "one", spec)
    assert len(one) == 12
    assert {row[6] for row in one} >= {"expansions"}
    assert metric_rows(tmp_path / "two", spec) == one
    assert metric_rows(tmp_path / "dask", spec) == one


@pytest.mark.filterwarnings("default")
def test_a_dask_worker_that_is_killed_loses_nothing(tmp_path, cluster) -> None:
    spec = spec_of(tmp_path, "slow", agents=range(1, 41), instances=2)
    shot: list[int] = []

    def shoot_one(tally) -> None:
        if tally.ran == 10:
            victim = next(iter(cluster.workers.values())).pid
            os.kill(victim, signal.SIGKILL)
            shot.append(victim)

    tally = run_experiment(
        spec, "quick", out=tmp_path / "r", cluster=cluster.scheduler_address, allow_code=True, progress=shoot_one
    )
    assert len(shot) == 1
    assert (tally.ran, tally.failed) == (80, 0)
    assert Store(tmp_path / "r").done() == {job["id"] for job in spec.jobs("quick")}


def test_what_cannot_work_is_said_before_anything_runs(tmp_path) -> None:
    spec = spec_of(tmp_path, "fine")
    with pytest.raises(ParameterError, match="--jobs is at least 1"):
        run_experiment(spec, "quick", allow_code=True, out=tmp_path / "r", workers=0)
    with pytest.raises(ParameterError, match="no Dask scheduler answers at tcp://127"):
        run_experiment(spec, "quick", allow_code=True, out=tmp_path / "never", cluster="tcp://127.0.0.1:9")
    with pytest.raises(UnknownNameError, match="unknown job"):
        run_experiment(spec_of(tmp_path, "nothing"), "quick", allow_code=True, out=tmp_path / "r")
    path = tmp_path / "world.toml"
    for old, new, error in (
        ("random:seed={0..2}", "atlantis/map", UnknownNameError),
        ("agents = [20, 60]", "agents = [20, 6000]", ProblemError),
        ("connectivity = 4", "connectivity = 5", MapError),
    ):
        path.write_text(WORLD.replace(old, new))
        with pytest.raises(error):
            run_experiment(load_spec(str(path)), "quick", out=tmp_path / "r")
    assert not (tmp_path / "r").exists()
