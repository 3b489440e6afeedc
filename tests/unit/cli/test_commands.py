"""The other commands, the help, and what is said to arguments that make no sense."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["solve", "nowhere.map"], "unknown data set 'nowhere.map'"),
        (["solve", "open:", "--algorithm", "larry"], "unknown algorithm 'larry'. Known: "),
        (["solve", "open:", "--algorithm", "lra", "--nois", "2"], "unknown parameter of lra 'nois'. Did you mean"),
        (["solve", "open:", "--algorithm", "lra", "--noise", "-2"], "noise is a whole number from 0 up to 1000"),
        (["solve", "open:", "--algorithm", "lra", "--noise"], "--noise needs a value"),
        (["solve", "open:", "random:"], "one map is needed, and this is 2"),
        (["solve", "open:", "--agents", "0"], "agents is 0"),
        (["solve", "open:width=3,height=3", "--agents", "10"], "10 agents"),
        (["solve", "open:", "--problem", "sideways"], "unknown kind of problem 'sideways'"),
        (["solve", "open:", "--scen", "none.scen"], "unknown"),
        (["solve", "open:", "--connectivity", "6"], "connectivity is 4 or 8"),
        (["solve", "open:", "--budget", "0"], "allows no search"),
        (["solve", "open:", "--max-ticks", "-1"], "--max-ticks"),
        (["solve", "open:", "--out", "."], "directory"),
        (["rths", "open:", "--start", "1,1", "--goal", "1"], "--goal is X,Y, such as 3,14, and not '1'"),
        (["rths", "open:", "--start", "1,1", "--goal", "999,1"], "(999, 1) is off the map"),
        (["rths", "open:", "--start", "1,1", "--goal", "2,2", "--lop", "mean"], "unknown lop 'mean'"),
        (["rths", "open:", "--start", "1,1", "--goal", "2,2", "--b", "2"], "b is a number from 0 up to 1, not 2"),
        (["select", "open:", "--model", "nowhere.npz"], "nowhere.npz: there is no such file"),
        (["train", "selector", "nowhere"], "nowhere: there are no results here"),
        (["train", "selector", "nowhere", "--splits", "0"], "--splits is 1 or more"),
        (["check", "nowhere.wend"], "nowhere.wend: there is no such file"),
        (["export", "nowhere.wend", "--format", "lacam", "--out", "x"], "no such file"),
        (["replay", "nowhere.wend", "--html", "x.html"], "no such file"),
        (["algorithms", "larry"], "unknown algorithm 'larry'"),
        (["warmup", "larry"], "unknown algorithm 'larry'"),
        (["maps", "generate", "castle"], "unknown map generator 'castle'"),
        (["maps", "generate", "rooms", "--doors", "3"], "unknown parameter of rooms 'doors'"),
        (["maps", "generate", "rooms", "3"], "Parameters are written --name value"),
        (["data", "fetch", "atlantis"], "unknown data set 'atlantis'"),
        (["data", "add", "nowhere.zip"], "nowhere.zip"),
    ],
)
def test_bad_use_is_answered_clearly(wend, words, reason) -> None:
    answer = wend(*words)
    assert answer.code == 2
    assert reason in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""


def test_no_command_and_an_unknown_one(wend) -> None:
    assert "solve" in wend("--help").out
    assert wend("dance").code == 2
    assert wend("solve").code == 2


def test_replay_and_exports_are_written(wend, tmp_path) -> None:
    wend("solve", "open:", "--connectivity", 4, "--agents", 5, "--out", "run.wend", "--json")
    assert wend("replay", "run.wend", "--html", "page.html").out.strip().endswith("page.html")
    assert "<html" in (tmp_path / "page.html").read_text()
    for format in ("lacam", "eecbs", "yaml", "tracker"):
        answer = wend("export", "run.wend", "--format", format, "--out", f"run.{format}", "--json")
        assert answer.json["bytes"] == (tmp_path / f"run.{format}").stat().st_size > 0
    assert "--speed is for films" in wend("export", "run.wend", "--format", "yaml", "--out", "x", "--speed", 3).err
    unknown = wend("export", "run.wend", "--format", "pdf", "--out", "x")
    assert "Known: lacam, eecbs, yaml, tracker, gif, webm" in unknown.err


def test_view_opens_the_page_of_a_run_or_the_one_to_drop_runs_on(wend, tmp_path, monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    wend("solve", "open:", "--agents", 5, "--out", "run.wend", "--json")
    with_run, without = Path(wend("view", "run.wend").out.strip()), Path(wend("view", "--json").json["file"])
    assert opened == [with_run.as_uri(), without.as_uri()]
    assert tmp_path in with_run.parents
    assert with_run.stat().st_size > without.stat().st_size
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    answer = wend("view", "run.wend", "--json")
    assert not answer.json["opened"]
    assert "no browser" in answer.err
    assert wend("view", "nowhere.wend").code == 2


def test_maps_and_data(wend) -> None:
    assert "arena" in wend("maps").out
    assert wend("maps", "--json").json["generators"]["random"]["blocked"] == 0.2
    assert wend("maps", "generate", "open", "--width", 3, "--height", 2).out == "...\n...\n"
    assert wend("maps", "generate", "open", "--width", 3, "--height", 1, "--json").json["rows"] == ["..."]
    wend("maps", "generate", "rooms", "--seed", 1, "--out", "mine/one.map")
    added = wend("data", "add", "mine", "--json").json
    assert [(s["name"], s["maps"]) for s in added["sets"]] == [("mine", 1)]
    assert wend("data", "list", "--json").json["sets"] == added["sets"]
    assert "mine" in wend("data", "list").out
    assert wend("solve", "mine/one", "--agents", 4, "--json").json["map"] == "mine/one"


def test_algorithms_show_their_parameters(wend) -> None:
    assert "LRA*" in wend("algorithms").out
    assert "--calm-moves" in wend("algorithms", "lra").out
    listed = wend("algorithms", "--json").json["algorithms"]
    assert {"key": "lra", "online": True}.items() <= next(a for a in listed if a["key"] == "lra").items()


def test_version(wend) -> None:
    assert wend("version").out.strip() == wend("version", "--json").json["wend"]


def test_warming_up_says_where_kernels_are_kept(wend) -> None:
    answer = wend("warmup", "far", "far", "--json")
    assert answer.code == 0
    assert [each["key"] for each in answer.json["algorithms"]] == ["far"]
    assert "kernels-" in answer.json["cache"]
    assert "kernels-" in wend("warmup", "far").out


def test_what_is_compiled_is_said_and_a_warm_start_is_silent(tmp_path) -> None:
    """In processes of their own, on standard error, with JSON on standard output."""
    command = [sys.executable, "-m", "wend", "solve", "open:width=8,height=8", "--algorithm", "lra", "--agents", "4"]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    cold, warm = (subprocess.run([*command, "--json"], capture_output=True, text=True, env=env) for _ in range(2))
    assert cold.returncode == warm.returncode == 0, cold.stderr
    first, last = cold.stderr.splitlines()
    assert first.startswith("compiling kernels for LRA*, once for this version of Wend; ")
    assert re.fullmatch(rf"compiled in \d+ s, and kept in {tmp_path}/kernels-[\w-]+", last)
    assert warm.stderr == ""
    assert json.loads(cold.stdout)["state_hash"] == json.loads(warm.stdout)["state_hash"]
