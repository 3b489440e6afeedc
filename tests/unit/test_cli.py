"""The command line: what it prints where, its exit codes, and what it says to silly arguments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from wend import Trace, World
from wend.cli.app import main

SOLVE_KEYS = {
    "algorithm", "parameters", "map", "agents", "seed", "ticks", "completed", "completion_rate",
    "completion_ticks_mean", "completion_seconds_mean", "distance_mean", "path_length_mean", "makespan", "sum_of_costs",
    "expansions", "plan_seconds", "tick_ms", "first_move_ticks_max", "spread_mean", "spread_peak", "separated",
    "stopped_by", "state_hash", "violations", "peak_rss_mb",
}  # fmt: skip


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Wend = Callable[..., Answer]


@pytest.fixture
def wend(capsys, monkeypatch, tmp_path) -> Wend:
    """The command in this process, in an empty folder, with an empty data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))

    def call(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["wend", *(str(word) for word in words)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return call


def test_solve_prints_every_key_and_nothing_else(wend: Wend, tmp_path) -> None:
    answer = wend("solve", "rooms:seed=1", "--agents", 12, "--algorithm", "lra", "--out", "run.wend", "--json")
    assert answer.code == 0
    assert set(answer.json) == SOLVE_KEYS
    assert answer.json["agents"] == 12
    assert [answer.json[key] for key in ("spread_mean", "spread_peak", "separated")] == [None, None, None]
    assert answer.json["parameters"] == {"noise": 1, "calm_moves": 5}
    assert set(answer.json["tick_ms"]) == {"p50", "p99", "max"}
    trace = Trace.load(tmp_path / "run.wend")
    assert (trace.agents, trace.ticks) == (12, answer.json["ticks"])
    assert trace.meta["state_hash"] == answer.json["state_hash"]


def test_solve_orders_a_group_to_one_place(wend: Wend, tmp_path) -> None:
    words = ("--problem", "group", "--agents", 12, "--algorithm", "lra", "--json")
    answer = wend("solve", "open:width=40", "--mode", "attack_move", *words, "--out", "run.wend")
    assert (answer.code, answer.json["completed"]) == (0, 12)
    assert 1 < answer.json["spread_mean"] <= answer.json["spread_peak"] < 8
    assert answer.json["separated"] is False
    goals = Trace.load(tmp_path / "run.wend").goals()
    assert len(set(goals)) == 12
    assert max(x for x, _ in goals) - min(x for x, _ in goals) < 8
    assert "attack_move" in wend("solve", "open:width=40", "--mode", "charge", *words).err
    assert "--problem group" in wend("solve", "open:width=40", "--mode", "attack_move").err
    assert "--explain" in wend("solve", "open:width=40", "--explain", *words).err



def test_solve_repeats_itself_and_heeds_the_seed(wend: Wend) -> None:
    def hashed(*words: object) -> str:
        answer = wend("solve", "random:seed=2", "--agents", 40, "--max-ticks", 60, *words, "--json")
        return str(answer.json["state_hash"])

    assert hashed("--seed", 1) == hashed("--seed", 1)
    assert hashed("--seed", 1) != hashed("--seed", 2)
    assert hashed("--seed", 1, "--budget", 50) == hashed("--budget", 50, "--seed", 1)


def test_the_hash_is_the_same_in_another_process_and_without_the_compiler() -> None:
    words = ["solve", "random:seed=3,width=12,height=12", "--agents", "20", "--max-ticks", "50", "--json"]
    hashes = []
    for disable in ("0", "0", "1"):
        env = {**os.environ, "NUMBA_DISABLE_JIT": disable}
        said = subprocess.run([sys.executable, "-m", "wend", *words], env=env, check=True, capture_output=True)
        hashes.append(json.loads(said.stdout)["state_hash"])
    assert hashes[0] == hashes[1] == hashes[2]


def test_parameters_are_flags_in_any_place(wend: Wend) -> None:
    for words in (("--noise", "3", "open:"), ("open:", "--noise=3"), ("open:", "--noise", "3")):
        answer = wend("solve", *words, "--algorithm", "lra", "--agents", 2, "--json")
        assert answer.json["parameters"]["noise"] == 3


def test_the_table_for_people(wend: Wend) -> None:
    answer = wend("solve", "open:", "--agents", 3)
    assert answer.code == 0
    assert "completion rate" in answer.out
    assert "stopped by" in answer.out
    assert "done" in answer.out


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
        (["check", "nowhere.wend"], "nowhere.wend: there is no such file"),
        (["export", "nowhere.wend", "--format", "lacam", "--out", "x"], "no such file"),
        (["replay", "nowhere.wend", "--html", "x.html"], "no such file"),
        (["algorithms", "larry"], "unknown algorithm 'larry'"),
        (["maps", "generate", "castle"], "unknown map generator 'castle'"),
        (["maps", "generate", "rooms", "--doors", "3"], "unknown parameter of rooms 'doors'"),
        (["maps", "generate", "rooms", "3"], "Parameters are written --name value"),
        (["data", "fetch", "atlantis"], "unknown data set 'atlantis'"),
        (["data", "add", "nowhere.zip"], "nowhere.zip"),
    ],
)
def test_bad_use_is_answered_clearly(wend: Wend, words, reason) -> None:
    answer = wend(*words)
    assert answer.code == 2
    assert reason in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""


def test_no_command_and_an_unknown_one(wend: Wend) -> None:
    assert "solve" in wend("--help").out
    assert wend("dance").code == 2
    assert wend("solve").code == 2


def test_check_judges_runs_and_foreign_plans(wend: Wend, tmp_path) -> None:
    wend("maps", "generate", "random", "--seed", 4, "--out", "a.map")
    wend("solve", "a.map", "--connectivity", 4, "--agents", 10, "--out", "run.wend", "--json")
    assert wend("check", "run.wend").code == 0
    assert wend("export", "run.wend", "--format", "lacam", "--out", "run.txt").code == 0
    judged = wend("check", "run.txt", "--map", "a.map", "--json")
    assert (judged.code, judged.json["legal"], judged.json["agents"]) == (0, True, 10)
    assert "name it with --map" in wend("check", "run.txt").err

    trace = Trace.load(tmp_path / "run.wend")
    trace.moves[0, :] = 1       # everybody north
    trace.save(tmp_path / "bad.wend")
    bad = wend("check", "bad.wend")
    assert bad.code == 1
    assert all(line.startswith("tick ") for line in bad.out.splitlines())
    assert bad.out


def test_a_swap_planted_in_a_foreign_plan_is_caught(wend: Wend, tmp_path) -> None:
    (tmp_path / "a.map").write_text("type octile\nheight 1\nwidth 4\nmap\n....\n")
    (tmp_path / "plan.txt").write_text("Agent 0: (0,1)->(0,2)->(0,3)->\nAgent 1: (0,2)->(0,1)->(0,0)->\n")
    answer = wend("check", "plan.txt", "--map", "a.map")
    assert answer.code == 1
    assert answer.out == "tick 1: swap of agent 0 and 1 at (1, 0)\n"


def test_replay_and_exports_are_written(wend: Wend, tmp_path) -> None:
    wend("solve", "open:", "--connectivity", 4, "--agents", 5, "--out", "run.wend", "--json")
    assert wend("replay", "run.wend", "--html", "page.html").out.strip().endswith("page.html")
    assert "<html" in (tmp_path / "page.html").read_text()
    for format in ("lacam", "eecbs", "yaml", "tracker"):
        answer = wend("export", "run.wend", "--format", format, "--out", f"run.{format}", "--json")
        assert answer.json["bytes"] == (tmp_path / f"run.{format}").stat().st_size > 0
    assert "Known: lacam, eecbs, yaml, tracker" in wend("export", "run.wend", "--format", "pdf", "--out", "x").err


def test_maps_and_data(wend: Wend) -> None:
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


def test_algorithms_show_their_parameters(wend: Wend) -> None:
    assert "LRA*" in wend("algorithms").out
    assert "--calm-moves" in wend("algorithms", "lra").out
    listed = wend("algorithms", "--json").json["algorithms"]
    assert {"key": "lra", "online": True}.items() <= next(a for a in listed if a["key"] == "lra").items()


def test_a_full_disk_is_told_and_the_result_is_not_lost(wend: Wend, monkeypatch, tmp_path) -> None:
    (tmp_path / "run.wend").write_bytes(b"old")

    def full(_: Trace, path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Trace, "save", full)
    answer = wend("solve", "open:", "--agents", 2, "--out", "run.wend", "--json")
    assert answer.code == 2
    assert answer.json["completed"] == 2
    assert "run.wend: No space left on device" in answer.err
    assert (tmp_path / "run.wend").read_bytes() == b"old"


def test_an_interrupt_keeps_what_was_computed(wend: Wend, monkeypatch, tmp_path) -> None:
    tick = World.tick

    def interrupted_in_tick_31(world: World, **budgets) -> None:
        if world.ticks == 30:
            os.kill(os.getpid(), signal.SIGINT)
        tick(world, **budgets)

    monkeypatch.setattr(World, "tick", interrupted_in_tick_31)
    answer = wend(
        "solve", "counterflow:", "--problem", "counterflow", "--agents", 16, "--algorithm", "lra",
        "--out", "run.wend", "--json",
    )
    assert answer.code == 130
    assert (answer.json["stopped_by"], answer.json["ticks"]) == ("interrupted", 31)     # the tick is finished first
    assert "interrupted after 31 ticks" in answer.err
    trace = Trace.load(tmp_path / "run.wend")
    assert (trace.ticks, trace.meta["stopped_by"]) == (31, "interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_version(wend: Wend) -> None:
    assert wend("version").out.strip() == wend("version", "--json").json["wend"]
