"""`wend solve`: what it prints where, its exit codes, and what an interrupt does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from wend import Trace, World

SOLVE_KEYS = {
    "algorithm", "parameters", "map", "agents", "seed", "ticks", "completed", "completion_rate",
    "completion_ticks_mean", "completion_seconds_mean", "distance_mean", "path_length_mean", "makespan", "sum_of_costs",
    "expansions", "plan_seconds", "tick_ms", "first_move_ticks_max", "spread_mean", "spread_peak", "separated",
    "stopped_by", "state_hash", "violations", "peak_rss_mb",
}  # fmt: skip


def test_solve_prints_every_key_and_nothing_else(wend, tmp_path) -> None:
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


def test_solve_saves_why_agents_waited_if_asked(wend, tmp_path) -> None:
    words = ("solve", "door:", "--problem", "door", "--agents", 8, "--algorithm", "lra", "--max-ticks", 30)
    plain = wend(*words, "--out", "plain.wend", "--json")
    answer = wend(*words, "--out", "run.wend", "--reasons", "--json")
    assert answer.code == 0
    assert answer.json["state_hash"] == plain.json["state_hash"]
    assert Trace.load(tmp_path / "run.wend").reasons
    assert not Trace.load(tmp_path / "plain.wend").reasons
    refused = wend(*words, "--reasons")
    assert (refused.code, "--out" in refused.err) == (2, True)


def test_solve_orders_a_group_to_one_place(wend, tmp_path) -> None:
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


def test_solve_repeats_itself_and_heeds_the_seed(wend) -> None:
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


def test_parameters_are_flags_in_any_place(wend) -> None:
    for words in (("--noise", "3", "open:"), ("open:", "--noise=3"), ("open:", "--noise", "3")):
        answer = wend("solve", *words, "--algorithm", "lra", "--agents", 2, "--json")
        assert answer.json["parameters"]["noise"] == 3


def test_the_table_for_people(wend) -> None:
    answer = wend("solve", "open:", "--agents", 3)
    assert answer.code == 0
    assert "completion rate" in answer.out
    assert "stopped by" in answer.out
    assert "done" in answer.out


def test_a_full_disk_is_told_and_the_result_is_not_lost(wend, monkeypatch, tmp_path) -> None:
    (tmp_path / "run.wend").write_bytes(b"old")

    def full(_: Trace, path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Trace, "save", full)
    answer = wend("solve", "open:", "--agents", 2, "--out", "run.wend", "--json")
    assert answer.code == 2
    assert answer.json["completed"] == 2
    assert "run.wend: No space left on device" in answer.err
    assert (tmp_path / "run.wend").read_bytes() == b"old"


COUNTERFLOW = ("solve", "counterflow:", "--problem", "counterflow", "--agents", 16, "--algorithm", "lra", "--json")


@pytest.fixture
def interruptible():
    """Ctrl-C is handled as in a terminal, even if this process was started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def interrupt_in_tick_31(monkeypatch) -> Callable[..., None]:
    """Arrange for this many interrupts at the beginning of tick 31."""
    tick = World.tick

    def arrange(times: int = 1) -> None:
        def interrupted(world: World, **budgets) -> None:
            for _ in range(times if world.ticks == 30 else 0):
                os.kill(os.getpid(), signal.SIGINT)
            tick(world, **budgets)

        monkeypatch.setattr(World, "tick", interrupted)

    return arrange


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_keeps_what_was_computed(wend, interrupt_in_tick_31, tmp_path) -> None:
    interrupt_in_tick_31()
    answer = wend(*COUNTERFLOW, "--out", "run.wend")
    assert answer.code == 130
    assert (answer.json["stopped_by"], answer.json["ticks"]) == ("interrupted", 31)     # the tick is finished first
    assert "interrupted after 31 ticks" in answer.err
    trace = Trace.load(tmp_path / "run.wend")
    assert (trace.ticks, trace.meta["stopped_by"]) == (31, "interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_a_second_interrupt_does_not_wait_for_the_tick(wend, interrupt_in_tick_31) -> None:
    interrupt_in_tick_31(times=2)
    answer = wend(*COUNTERFLOW)
    assert (answer.code, answer.json["stopped_by"], answer.json["ticks"]) == (130, "interrupted", 30)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_kernels_are_loaded_ends_the_command(wend, monkeypatch) -> None:
    monkeypatch.setattr("wend.run._load_kernels", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    answer = wend(*COUNTERFLOW)
    assert (answer.code != 0, answer.out) == (True, "")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_a_command_that_was_started_with_interrupts_ignored_ignores_them(wend, interrupt_in_tick_31) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupt_in_tick_31()
    answer = wend(*COUNTERFLOW)
    assert answer.code == 0
    assert answer.json["stopped_by"] != "interrupted"
    assert answer.json["ticks"] > 31
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


IMPROVED = ("solve", "random:seed=3,width=20,height=20", "--agents", 60, "--algorithm", "lacam", "--json")


def test_the_sum_of_costs_is_seen_to_fall_while_a_plan_is_improved(wend) -> None:
    first, better = wend(*IMPROVED), wend(*IMPROVED, "--anytime-expansions", 60)
    assert first.err == ""
    told = [int(line.split()[3]) for line in better.err.splitlines() if line.startswith("sum of costs ")]
    assert told == sorted(told, reverse=True)
    assert told[-1] == better.json["sum_of_costs"] < first.json["sum_of_costs"] == told[0]


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_improving_of_a_plan_and_not_the_run(wend, monkeypatch) -> None:
    from wend.planners.lacam.refining import Refiner

    monkeypatch.setattr(Refiner, "run", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    answer = wend(*IMPROVED, "--anytime-ms", 1e9)
    assert (answer.code, answer.json["stopped_by"], answer.json["completion_rate"]) == (0, "done", 1.0)
    assert "interrupted; the best plan so far is kept" in answer.err
