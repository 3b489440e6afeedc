"""`wend check`: legal runs and plans pass, and a violation is told."""

from __future__ import annotations

from wend import Trace


def test_check_judges_runs_and_foreign_plans(wend, tmp_path) -> None:
    wend("maps", "generate", "random", "--seed", 4, "--out", "a.map")
    wend("solve", "a.map", "--connectivity", 4, "--agents", 10, "--out", "run.wend", "--json")
    assert wend("check", "run.wend").code == 0
    assert wend("export", "run.wend", "--format", "lacam", "--out", "run.txt").code == 0
    judged = wend("check", "run.txt", "--map", "a.map", "--json")
    assert (judged.code, judged.json["legal"], judged.json["agents"]) == (0, True, 10)
    assert "name it with --map" in wend("check", "run.txt").err

    trace = Trace.load(tmp_path / "run.wend")
    trace.moves[0, :] = 1       # all agents north
    trace.save(tmp_path / "bad.wend")
    bad = wend("check", "bad.wend")
    assert bad.code == 1
    assert all(line.startswith("tick ") for line in bad.out.splitlines())
    assert bad.out


def test_a_swap_planted_in_a_foreign_plan_is_caught(wend, tmp_path) -> None:
    (tmp_path / "a.map").write_text("type octile\nheight 1\nwidth 4\nmap\n....\n")
    (tmp_path / "plan.txt").write_text("Agent 0: (0,1)->(0,2)->(0,3)->\nAgent 1: (0,2)->(0,1)->(0,0)->\n")
    answer = wend("check", "plan.txt", "--map", "a.map")
    assert answer.code == 1
    assert answer.out == "tick 1: swap of agent 0 and 1 at (1, 0)\n"
