"""A finished run is never lost: it is saved before anything is printed, and no Ctrl-C comes in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from wend import Trace, World

SOLVE = ("solve", "open:width=12,height=12", "--agents", "3", "--algorithm", "lra", "--out", "run.wend")


def shell(line: str, folder) -> subprocess.CompletedProcess[str]:
    """A line of bash in which $WEND is the command."""
    env = {**os.environ, "WEND": f"{sys.executable} -m wend", "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("end", ["| true", "--json | true", ">&-", "--json >&-", ">&- 2>&-", "2>&1 | true"])
def test_a_closed_standard_output_is_a_quiet_end(end, tmp_path) -> None:
    ran = shell(f"set -o pipefail; $WEND {' '.join(SOLVE)} {end}", tmp_path)
    assert Trace.load(tmp_path / "run.wend").agents == 3
    assert ran.returncode == 0
    assert ran.stderr in ("", "saved to run.wend\n")


def test_a_full_standard_output_is_told_after_saving(tmp_path) -> None:
    ran = shell(f"$WEND {' '.join(SOLVE)} > /dev/full", tmp_path)
    assert Trace.load(tmp_path / "run.wend").agents == 3
    assert (ran.returncode, ran.stderr) == (2, "wend: No space left on device\n")


def test_infinite_parameters_are_standard_json(wend, tmp_path) -> None:
    answer = wend(*SOLVE[:4], "--algorithm", "bmaa", "--vision", "inf", "--out", "run.wend", "--json")
    assert answer.code == 0
    assert answer.json["parameters"]["vision"] == "inf"
    assert Trace.load(tmp_path / "run.wend").meta["parameters"]["vision"] == "inf"


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("times", [1, 2, 5])
def test_interrupts_while_saving_lose_nothing(wend, monkeypatch, tmp_path, times) -> None:
    save = Trace.save

    def interrupted(trace: Trace, path) -> None:
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
        save(trace, path)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Trace, "save", interrupted)
    answer = wend(*SOLVE, "--json")
    assert answer.json["completed"] == 3
    assert Trace.load(tmp_path / "run.wend").agents == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_many_interrupts_end_the_run_once(wend, monkeypatch, tmp_path) -> None:
    """The second one ends the tick; those that come while the run is wound up change nothing."""
    tick, hash_of = World.tick, World.state_hash

    def interrupted(world: World, **budgets) -> None:
        for _ in range(2 if world.ticks == 2 else 0):
            os.kill(os.getpid(), signal.SIGINT)
        tick(world, **budgets)

    def hashed(world: World) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return hash_of(world)

    monkeypatch.setattr(World, "tick", interrupted)
    monkeypatch.setattr(World, "state_hash", hashed)
    answer = wend(*SOLVE, "--json")
    assert (answer.code, answer.json["stopped_by"], answer.json["ticks"]) == (130, "interrupted", 2)
    assert Trace.load(tmp_path / "run.wend").ticks == 2


def test_kill_9_while_saving_leaves_the_old_file_or_the_new_one(tmp_path) -> None:
    """Killed at some moment of many saves; by hand, KILLS=50."""
    code = (
        "import sys\nfrom wend import Trace\ntrace = Trace.load('old.wend')\n"
        "print(flush=True)\nwhile True: trace.save('run.wend')"
    )
    ran = shell(f"$WEND {' '.join(SOLVE)}; mv run.wend old.wend; cp old.wend run.wend", tmp_path)
    assert ran.returncode == 0
    for k in range(int(os.environ.get("KILLS", "3"))):
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE,
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        )  # fmt: skip
        assert process.stdout is not None
        with process.stdout as started:
            started.readline()
            time.sleep(0.003 * (k % 17))
            process.kill()
        process.wait()
        assert (tmp_path / "run.wend").read_bytes() == (tmp_path / "old.wend").read_bytes()


def test_outputs_that_cannot_be_are_refused_before_the_run(wend, tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.map").write_text("type octile\nheight 1\nwidth 4\nmap\n....\n")
    for out, reason in (("pipe", "only files are written"), ("x" * 256, "too long"), ("a.map", "made from")):
        answer = wend("solve", "a.map", "--agents", 1, "--algorithm", "lra", "--out", out)
        assert (answer.code, answer.out) == (2, "")
        assert reason in answer.err
    assert wend(*SOLVE[:-1], "y" * 250, "--json").code == 0


def test_an_export_does_not_overwrite_the_run_and_says_what_it_replaces(wend, tmp_path) -> None:
    said = [wend(*SOLVE).err for _ in range(2)]
    assert said == ["saved to run.wend\n", "replaced run.wend\n"]
    for words in (("export", "run.wend", "--format", "lacam", "--out"), ("replay", "run.wend", "--html")):
        assert "overwrite what it is made from" in wend(*words, "run.wend").err
        assert wend(*words, "new", "--json").json["replaced"] is False
        assert wend(*words, "new", "--json").json["replaced"] is True
        assert wend(*words, "new").err == "replaced new\n"
        (tmp_path / "new").unlink()
    assert Trace.load(tmp_path / "run.wend").agents == 3


def test_names_are_shown_with_escapes(wend, tmp_path) -> None:
    name = "evil\x1b[31m\udcff.map"
    (tmp_path / name).write_text("type octile\nheight 1\nwidth 4\nmap\n....\n")
    for words in ((), ("--json",)):
        answer = wend("solve", name, "--agents", 1, "--algorithm", "lra", "--out", "run.wend", *words)
        assert answer.code == 0
        assert "\x1b" not in answer.out + answer.err
    assert json.loads(answer.out)["map"] == name
    assert Trace.load(tmp_path / "run.wend").meta["map"] == "evil\x1b[31m\\udcff.map"
    assert wend("replay", "run.wend", "--html", "page.html").code == 0
    assert wend("export", "run.wend", "--format", "lacam", "--out", "plan").code == 0
    missing = wend("solve", "no\x1b[31m\ud800.map")
    assert missing.code == 2
    assert missing.err.count("\n") == 1
    assert "\x1b" not in missing.err
