"""`wend bench`: exit codes, which job functions run, interrupts, and workers whose runner is gone."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from wend.experiments.store import Store

ROOT = Path(__file__).resolve().parents[3]

SPEC = """
title = "A test \\u001b[31m of the command"
job = "tests.unit.experiments.own_jobs:{job}"
metrics = ["ticks"]
[scales.quick]
maps = ["open:"]
agents = {agents}
instances = 1
[[algorithms]]
name = "lra"
"""


@pytest.fixture(autouse=True)
def _importable(monkeypatch) -> None:
    """Jobs of the tests can be imported, by this process and by its workers."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def write_spec(folder: Path, job: str, agents: list[int]) -> None:
    (folder / "a.toml").write_text(SPEC.format(job=job, agents=agents))


def test_a_job_that_no_package_registered_needs_permission(wend, tmp_path) -> None:
    write_spec(tmp_path, "fine", [1])
    refused = wend("bench", "a.toml")
    assert (refused.code, refused.out) == (2, "")
    assert "no installed package has registered it under 'wend.jobs'" in refused.err
    assert "--allow-code" in refused.err
    assert not (tmp_path / "results").exists()
    assert wend("bench", "a.toml", "--allow-code").code == 0
    for job in ("..:x", "os.path", "", "a b:c", "wend.experiments:", "/etc/passwd:x"):
        (tmp_path / "a.toml").write_text(SPEC.replace("tests.unit.experiments.own_jobs:{job}", job).format(agents=[1]))
        answer = wend("bench", "a.toml", "--allow-code")
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "unknown job" in answer.err
    (tmp_path / "a.toml").write_text(SPEC.replace("tests.unit.experiments.own_jobs:{job}", "rum").format(agents=[1]))
    assert "unknown job 'rum'. Did you mean 'run'?" in wend("bench", "a.toml", "--allow-code").err


def test_failed_jobs_are_an_exit_code(wend, tmp_path) -> None:
    write_spec(tmp_path, "raises", [2])
    answer = wend("bench", "a.toml", "--allow-code")
    assert answer.code == 1
    assert "1 jobs run, 1 of them failed" in answer.err
    assert wend("bench", "a.toml", "--allow-code").code == 1        # kept, and still failed
    write_spec(tmp_path, "raises", [1, 3])
    answer = wend("bench", "a.toml", "--allow-code")
    assert answer.code == 0
    assert "\x1b[31m" not in answer.out


def test_it_says_how_many_jobs_there_are_and_how_many_failed(wend, tmp_path) -> None:
    write_spec(tmp_path, "raises", [2])
    answer = wend("bench", "a.toml", "--allow-code")
    assert "a: 1 jobs to run, 0 done before" in answer.err
    assert "every job failed; the first: ValueError: two is too many" in answer.err
    write_spec(tmp_path, "raises", [1, 2, 3, 4, 5, 6, 7])
    answer = wend("bench", "a.toml", "--allow-code", "--out", "more")
    assert (answer.code, "1 of 7 jobs failed; the first: ValueError" in answer.err) == (1, True)
    assert "6 jobs run, 1 to go: about 1 s at this pace" in answer.err
    assert "a: 0 jobs to run, 7 done before" in wend("bench", "a.toml", "--allow-code", "--out", "more").err


def test_without_a_terminal_a_line_comes_now_and_then(wend, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("wend.cli.bench._SECONDS_BETWEEN_LINES", -1)
    write_spec(tmp_path, "fine", list(range(1, 10)))
    said = wend("bench", "a.toml", "--allow-code").err
    assert [f"{n} jobs run, {9 - n} to go" in said for n in range(1, 10)] == [True] * 8 + [False]


SCEN_SPEC = """
title = "Beside others"
metrics = ["all_home", "sum_of_costs"]
problem = { scen = "duel/{map}-random-{instance}" }
algorithms = [{ name = "lra" }]
tables = [{ id = "t", title = "T", rows = "label" }]
[scales.quick]
maps = ["duel/lane"]
agents = [1]
"""


def test_results_of_others_are_added_shown_and_written_as_csv(wend, tmp_path) -> None:
    (tmp_path / "data" / "duel").mkdir(parents=True)
    (tmp_path / "data" / "duel" / "lane.map").write_text("type octile\nheight 1\nwidth 4\nmap\n....\n")
    (tmp_path / "data" / "duel" / "lane-random-1.scen").write_text("version 1\n0\tlane.map\t4\t1\t0\t0\t3\t0\t3\n")
    (tmp_path / "a.toml").write_text(SCEN_SPEC)
    head = "map,scen,agents,solver,solved,sum_of_costs\n"
    (tmp_path / "theirs.csv").write_text(f"{head}lane,lane-random-1,1,LaCAM,1,5\nlane,lane-random-2,1,LaCAM,1,5\n")
    assert wend("bench", "a.toml").code == 0
    answer = wend("bench", "add-results", "theirs.csv", "--to", "a.toml")
    assert answer.code == 0
    assert "1 rows of LaCAM added to results/a" in answer.err
    assert "1 rows are about problems that a.toml does not have" in answer.err
    shown = wend("report", "a.toml", "--csv", "rows.csv")
    assert "results of other solvers" in shown.out
    assert "LaCAM (1)" in shown.out
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["label"], row["sum_of_costs"], row["is_foreign"]) for row in rows] == [
        ("LRA*", "3.0", "False"), ("LaCAM", "5.0", "True")
    ]  # fmt: skip
    assert (rows[0]["error"], rows[1]["state_hash"]) == ("", "")
    for words in (("none.csv", "--to", "a.toml"), ("theirs.csv", "--to", "no/such"), ("theirs.csv",)):
        assert wend("bench", "add-results", *words).code == 2


def test_a_folder_is_verified(wend, tmp_path) -> None:
    write_spec(tmp_path, "fine", [1, 2, 3])
    assert wend("bench", "a.toml", "--allow-code").code == 0
    assert "--allow-code" in wend("verify", "results/a").err
    fine = wend("verify", "results/a", "--allow-code", "--sample", 2)
    assert (fine.code, fine.out) == (0, "")
    assert "2 of 3 rows run again, 2 compared: all as the folder says" in fine.err
    store = Store(tmp_path / "results" / "a")
    (row,) = (row for row in store.rows().values() if row["agents"] == 2)
    store.put({**row, "ticks": 99.0})
    wrong = wend("verify", "results/a", "--allow-code")
    assert (wrong.code, wrong.out) == (1, "LRA* on open:, 2 agents, instance 0: ticks was 99, is 20\n")
    told = wend("verify", "results/a", "--allow-code", "--json").json
    assert (told["holds"], told["ran"], len(told["differences"]), len(told["environments"])) == (False, 3, 1, 2)
    assert wend("verify", "nowhere").code == 2


def test_more_processes_than_cores_are_told(wend, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    write_spec(tmp_path, "fine", [1])
    assert "2 processes share 1 cores" in wend("bench", "a.toml", "--allow-code", "--jobs", 2).err
    assert "share" not in wend("bench", "a.toml", "--allow-code", "--jobs", 1).err


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "wend", "bench", "a.toml", "--allow-code", "--out", "r", *words],
        cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),       # even if it is ignored here
    )  # fmt: skip


def wait_for(condition, seconds: float = 60) -> None:
    patience = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < patience
        time.sleep(0.02)


def test_an_interrupt_says_what_is_kept(tmp_path) -> None:
    write_spec(tmp_path, "slow", list(range(1, 2001)))
    process = start(tmp_path)
    store = Store(tmp_path / "r")
    wait_for(lambda: len(store.done()) > 5)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    with process.stderr as stream:
        said = stream.read()
    assert process.wait(timeout=60) == 130
    assert f"interrupted; {len(store.done())} jobs were run and are kept in r" in said
    assert "Traceback" not in said


def test_a_second_runner_is_refused(wend, tmp_path) -> None:
    write_spec(tmp_path, "slow", list(range(1, 2001)))
    process = start(tmp_path)
    wait_for(lambda: Store(tmp_path / "r").done())
    answer = wend("bench", "a.toml", "--allow-code", "--out", "r")
    process.kill()
    process.communicate()
    assert answer.code == 2
    assert "another `wend bench` is at work in this folder" in answer.err


def children_of(pid: int) -> set[int]:
    """The processes of a session, without its leader."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            except (OSError, ValueError):
                continue
            if session == pid and int(folder.name) != pid:
                found.add(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_workers_do_not_outlive_a_killed_runner(tmp_path) -> None:
    write_spec(tmp_path, "hangs", [1, 2])
    process = start(tmp_path, "--jobs", "2")
    wait_for(lambda: Store(tmp_path / "r").done())
    assert children_of(process.pid)
    process.kill()
    process.communicate()
    wait_for(lambda: not children_of(process.pid), seconds=20)
