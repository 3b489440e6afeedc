"""`wend check`: legal runs and plans pass, and a violation is told."""

from __future__ import annotations

import base64
import re

from wend import Trace, World, mapgen


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


SWAP = "Agent 0: (0,1)->(0,2)->(0,3)->\nAgent 1: (0,2)->(0,1)->(0,0)->\n"


def test_a_foreign_plan_is_replayed_with_what_is_wrong(wend, tmp_path) -> None:
    (tmp_path / "a.map").write_text("type octile\nheight 1\nwidth 4\nmap\n....\n")
    (tmp_path / "plan.txt").write_text(SWAP)
    answer = wend("replay", "plan.txt", "--map", "a.map", "--html", "page.html")
    assert (answer.code, "1 violations, marked on the page" in answer.err) == (0, True)
    carried = re.search(r'id="data">([^<]*)<', (tmp_path / "page.html").read_text())[1]
    (tmp_path / "carried.wend").write_bytes(base64.b64decode(carried))
    trace = Trace.load(tmp_path / "carried.wend")
    assert (trace.ticks, trace.meta["violations"]) == (2, ["tick 1: swap of agent 0 and 1 at (1, 0)"])
    assert "name it with --map" in wend("replay", "plan.txt", "--html", "page.html").err
    (tmp_path / "plan.txt").write_text("Agent 0: (0,0)->(0,1)->(0,3)->\n")
    answer = wend("replay", "plan.txt", "--map", "a.map", "--html", "page.html")
    assert "in tick 2 an agent jumps, or leaves the map: the page shows the 1 ticks before" in answer.err
    (tmp_path / "plan.txt").write_text("no plan")
    assert wend("replay", "plan.txt", "--map", "a.map", "--html", "page.html").code == 2


def test_the_agents_of_a_mapf_scenario_move_in_four_directions(wend, tmp_path) -> None:
    (tmp_path / "a.map").write_text("type octile\nheight 2\nwidth 2\nmap\n..\n..\n")
    scen = "version 1\n0\ta.map\t2\t2\t0\t0\t1\t1\t1.41\n"
    for name in ("a.scen", "a-random-1.scen"):
        (tmp_path / name).write_text(scen)
    (tmp_path / "plan.txt").write_text("Agent 0: (0,0)->(1,1)->\n")
    assert wend("check", "plan.txt", "--map", "a.map", "--scen", "a.scen").code == 0
    refused = wend("check", "plan.txt", "--map", "a.map", "--scen", "a-random-1.scen")
    assert (refused.code, refused.out) == (1, "tick 1: jump of agent 0 at (1, 1)\n")
    forced = wend("check", "plan.txt", "--map", "a.map", "--scen", "a-random-1.scen", "--connectivity", 8)
    assert forced.code == 0
    assert "move in 4 directions elsewhere, and here in 8" in forced.err
    assert "connectivity is 4 or 8, not 0" in wend("check", "plan.txt", "--map", "a.map", "--connectivity", 0).err
    words = ("--agents", 1, "--json", "--algorithm", "lra")
    assert wend("solve", "a.map", "--scen", "a-random-1.scen", *words).json["makespan"] == 2
    assert wend("solve", "a.map", "--scen", "a.scen", *words).json["makespan"] == 1


def test_two_runs_are_compared_up_to_the_first_tick_and_agent_that_differ(wend, tmp_path) -> None:
    def run(name: str, *, order_at: int | None = None, stay_at: int | None = None, ticks: int = 12) -> None:
        world = World(mapgen.open_map(width=12, height=9), "lra")
        for x in range(3):
            world.add((x, 0), (x, 8))
        for tick in range(ticks):
            if tick == order_at:
                world.order(1, (9, 4))
            world.tick()
        trace = world.trace()
        if stay_at is not None:
            trace.moves[stay_at - 1, 2] = 0
        trace.save(tmp_path / name)

    run("a.wend")
    run("same.wend")
    same = wend("check", "a.wend", "same.wend")
    assert (same.code, same.out) == (0, "")
    assert "the same, 3 agents, 12 ticks" in same.err
    assert wend("check", "a.wend", "same.wend", "--json").json["same"] is True

    run("ordered.wend", order_at=5)
    found = wend("check", "a.wend", "ordered.wend")
    assert found.code == 1
    assert found.out.startswith("tick 5: after it, nothing more in the one, agent 1 ordered")
    run("stays.wend", stay_at=4)
    stays = wend("check", "a.wend", "stays.wend").out
    assert stays == "tick 4: agent 2 at (2, 3) goes S in the one, waits in the other\n"
    answer = wend("check", "ordered.wend", "stays.wend", "--json").json["first_difference"]
    assert (answer["tick"], answer["agent"]) == (4, 2)
    run("shorter.wend", ticks=9)
    assert "one run has 12 ticks, the other 9" in wend("check", "a.wend", "shorter.wend").out
    World(mapgen.open_map(width=5, height=5), "lra").trace().save(tmp_path / "elsewhere.wend")
    assert wend("check", "a.wend", "elsewhere.wend").out == "tick 0: the maps, or their rules, differ from the start\n"
    (tmp_path / "junk.wend").write_text("junk")
    assert wend("check", "a.wend", "junk.wend").code == 2
