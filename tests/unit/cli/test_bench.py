"""`wend bench`: exit codes, which job functions run, interrupts, and workers whose runner is gone."""

from __future__ import annotations

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
