"""Auto: what it begins with, when it reconsiders, and its way out."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reference.way_out import News, diary
from wend import Grid, Planner, Problem, Snapshot, World, create, solve
from wend.planners.auto import auto, model
from wend.planners.auto.auto import Auto
from wend.planners.base import Budget, Handover, Situation, State, Successor
from wend.planners.bmaa.bmaa import Bmaa
from wend.planners.lacam.lacam import Lacam
from wend.planners.lacam.real_time import RealTimeLacam
from wend.planners.weave.weave import Weave
from wend.world.referee import judge_trace

PATIENT, SEARCHING, IMPATIENT = (auto.PATIENCE_TICKS[name] for name in ("weave", auto.WAY_OUT, "surge"))
ROOM = """
    ..........
    ..........
    ......###.
    ......#...
    ......###.
    ..........
"""
SHUT_IN, DOOR, INSIDE = (0, 0), (8, 3), (7, 3)


def jam(planner: Planner | str = "auto") -> World:
    """Three agents get home; the goal of the fourth is behind the first, which is pinned."""
    world = World(Grid.from_text(ROOM), planner, seed=1)
    world.add((9, 3), goal=DOOR, pinned=True)
    world.tick()
    world.tick()
    world.add((0, 5), goal=(4, 5))
    world.add((2, 0), goal=(5, 0))
    world.add(SHUT_IN, goal=INSIDE)
    return world


def planners_of(world: World) -> list[tuple[int, str]]:
    return [(event.tick, event.data["algorithm"]) for event in world.trace().events_of("planner")]


# --- what it begins with ---------------------------------------------------------------------------------------------


def test_it_is_what_wend_takes_where_none_is_named() -> None:
    problem = Problem.from_points(Grid.from_text("....."), [(0, 0)], [(4, 0)])
    for world in (World(Grid.from_text(".....")), World.from_problem(problem)):
        assert world._chooser == Auto()
        assert isinstance(world.planner, Weave)          # until it has chosen
    run = solve(problem)
    assert run.stopped_by == "done"
    assert run.trace.meta["parameters"]["offline"]


def test_before_the_first_tick_it_hands_over_and_says_why() -> None:
    world = World(Grid.from_text(ROOM))
    world.add((0, 0), goal=(5, 5))
    assert world.reasons() == ["tick 0: auto, because the world was set up with it"]
    assert world.intent(0).path == ()
    world.tick(budget=500)
    assert isinstance(world.planner, Weave)
    assert world.planner == create("weave")
    _, chosen = world.reasons()
    assert chosen.startswith("tick 0: weave, because 1 agents on 53 cells with 500 expansions per tick: ")
    (event,) = world.trace().events_of("planner")
    assert (event.tick, event.data["algorithm"]) == (0, "weave")
    assert event.data["reason"] in chosen
    assert world.run(max_ticks=20, budget=500) == "done"
    assert len(world.reasons()) == 2


def in_crowds(folder: Path) -> Planner:
    """Auto with a model that takes Surge from a crowding of 3 % on, if there is a budget."""
    loads, crowdings = 1 + len(model.LOADS), len(model.CROWDINGS)
    ticks = [[1.0, *[1.5 if load else 1.0] * (crowdings - 1)] for load in range(loads)]
    alike = [[1.1] * crowdings for _ in range(loads)]
    path = folder / "in_crowds.json"
    model.Model({"weave": ticks, "surge": alike}, [[9] * crowdings for _ in range(loads)], {}).save(path)
    return Auto(model=str(path))


def test_the_likeliest_one_thinks_until_the_first_tick_says_the_budget(tmp_path: Path) -> None:
    world = World(Grid.from_text(ROOM), in_crowds(tmp_path))
    world.add((0, 0), goal=(5, 5))
    world.add((0, 1), goal=(5, 4))
    assert world.think() > 0
    world.tick(budget=200)
    assert planners_of(world) == [(0, "surge")]


def test_from_then_on_the_world_does_what_it_does_with_the_chosen_one() -> None:
    draw = np.random.default_rng(5)
    grid = Grid(draw.random((24, 24)) < 0.9)
    places = draw.permutation(grid.largest_component())[:80]
    runs = []
    for planner in ("auto", "weave"):
        world = World(grid, planner, seed=2)
        for start, goal in zip(places[:40].tolist(), places[40:].tolist(), strict=True):
            world.add(grid.xy(start), grid.xy(goal))
        world.run(max_ticks=120, budget=400)
        runs.append((world.trace().moves.tolist(), world.expansions))
    assert runs[0] == runs[1]


def test_the_choice_follows_agents_map_and_budget(tmp_path: Path) -> None:
    grid, chooser = Grid(np.ones((40, 50))), in_crowds(tmp_path)
    for agents, budget, expected in ((300, None, Weave), (30, 500, Weave), (300, 500, Bmaa)):
        assert isinstance(chooser.first_mover(grid, agents, Budget(expansions=budget)), expected)
    assert isinstance(chooser.first_mover(grid, 300, Budget(milliseconds=0.1)), Bmaa)


# --- another number of agents ----------------------------------------------------------------------------------------


def test_it_reconsiders_when_there_are_many_more_agents(tmp_path: Path) -> None:
    world = World(Grid(np.ones((12, 12))), in_crowds(tmp_path))
    world.add((0, 0), goal=(11, 11))
    world.tick(budget=100)
    for x in range(11):
        world.add((x, 11), goal=(x, 1))
    for _ in range(auto.LOOK_TICKS - 1):
        world.tick(budget=100)
        assert isinstance(world.planner, Weave)
    world.tick(budget=100)
    assert isinstance(world.planner, Bmaa)
    assert world.reasons()[-1].startswith(
        "tick 16: surge, because weave no longer suits: it was chosen for 1 agents and 100 expansions per tick"
    )
    for _ in range(40):
        world.tick(budget=90)
    assert len(planners_of(world)) == 2         # a little less is no reason
    for _ in range(40):
        world.tick()
    assert [name for _, name in planners_of(world)] == ["weave", "surge", "weave"]


# --- the way out -----------------------------------------------------------------------------------------------------


def asked(situation: Situation, *names: str) -> str | None:
    """Who takes over, with these planners so far, each of which was in vain but for the last one."""
    made = [Handover(0, "auto", ""), *(Handover(0, name, "", 10, 500, k) for k, name in enumerate(names))]
    named = auto._way_out(Grid.from_text("....."), situation, made)
    return None if named is None else named.algorithm


def test_the_guards_of_the_way_out() -> None:
    assert asked(Situation(10, 5, IMPATIENT), "surge") == "lacam-rt"
    assert asked(Situation(10, 5, IMPATIENT - 1), "surge") is None
    assert asked(Situation(10, 10, IMPATIENT), "surge") is None         # all are home
    assert asked(Situation(0, 0, IMPATIENT), "surge") is None
    assert asked(Situation(10, 5, PATIENT - 1), "weave") is None
    assert asked(Situation(10, 5, PATIENT), "weave") == "lacam-rt"
    assert asked(Situation(10, 5, SEARCHING - 1), "weave", "lacam-rt") is None
    assert asked(Situation(10, 5, SEARCHING), "weave", "lacam-rt") == "surge"
    assert asked(Situation(10, 5, SEARCHING), "surge", "lacam-rt") == "weave"
    assert asked(Situation(10, 5, IMPATIENT), "weave", "lacam-rt", "surge") == "lacam-rt"
    assert asked(Situation(10, 5, 2 * SEARCHING - 1), "weave", "lacam-rt", "surge", "lacam-rt") is None
    assert asked(Situation(10, 5, 2 * SEARCHING), "weave", "lacam-rt", "surge", "lacam-rt") == "weave"


def test_before_half_are_home_it_waits_longer() -> None:
    for name, patience in (("weave", PATIENT), ("surge", IMPATIENT)):
        assert asked(Situation(10, 4, 4 * patience - 1), name) is None
        assert asked(Situation(10, 4, 4 * patience), name) == "lacam-rt"
        assert asked(Situation(10, 0, 4 * patience), name) == "lacam-rt"


def test_on_a_large_map_agents_have_time_to_walk() -> None:
    made = [Handover(0, "surge", "")]
    for side, patience in ((100, 100), (400, 200)):
        grid = Grid(np.ones((side, side)))
        assert auto._way_out(grid, Situation(10, 5, patience - 1), made) is None
        assert auto._way_out(grid, Situation(10, 5, patience), made) is not None


def made_up_news(draw: np.random.Generator, ticks: int) -> list[News]:
    """Long pauses, arrivals, orders, and now and then all are home."""
    agents, home, found = 10, 0, []
    while len(found) < ticks:
        found += [News(agents, home, False, False)] * int(draw.choice([0, 3, 80, 160, 400, 1300]))
        if home < agents and draw.random() < 0.8:
            home = agents if draw.random() < 0.1 else home + 1
            found.append(News(agents, home, True, False))
        else:
            home = int(draw.integers(0, 10))
            found.append(News(agents, home, False, True))
    return found[:ticks]


@pytest.mark.parametrize("seed", range(6))
def test_it_changes_planners_when_one_would_who_keeps_a_diary(seed: int) -> None:
    all_news = made_up_news(np.random.default_rng(seed), 20_000)
    grid = Grid(np.ones((8, 8 if seed % 2 else 500)))
    chooser, made = Auto(), [Handover(0, "auto", ""), Handover(0, "weave", "", 10, 500)]
    chooser.bind(State(grid, World(grid).state.agents, np.zeros(grid.size, np.int32)), 0)
    told_at = arrived_at = 0
    for tick, news in enumerate(all_news):
        told_at, arrived_at = tick if news.is_told else told_at, tick if news.has_arrived else arrived_at
        quiet = tick - max(told_at, arrived_at, made[-1].tick)
        chooser.state.tick = tick
        situation = Situation(news.agents, news.home, quiet, tick - told_at)
        if named := chooser.successor(situation, made, create("weave"), Budget(expansions=500)):
            made.append(Handover(tick, named.algorithm, named.reason, 10, 500, named.tried))
    entries = [(each.tick, each.algorithm) for each in made[2:]]
    assert len({name for _, name in entries}) == 3
    assert entries == diary(all_news, grid.width, grid.height)


def test_a_world_in_which_no_agent_arrives_any_more_changes_its_planner() -> None:
    world = jam()
    ticks = PATIENT + SEARCHING + IMPATIENT + 60
    assert world.run(max_ticks=ticks, budget=300, stuck_ticks=None) == "max-ticks"
    (_, first), (left_at, second), (third_at, third), (back_at, fourth) = planners_of(world)
    assert (first, second, third, fourth) == ("weave", "lacam-rt", "surge", "lacam-rt")
    arrived = max(int(np.flatnonzero(world.trace().positions()[:, agent] == world.grid.cell(*world.goal(agent)))[0])
                  for agent in (1, 2))  # fmt: skip
    assert (left_at, third_at, back_at) == (arrived + PATIENT, left_at + SEARCHING, third_at + IMPATIENT)
    assert "3 of 4 agents are home, and none has arrived for 200 ticks with weave" in world.reasons()[2]
    assert judge_trace(world.trace()) == []


def test_once_the_jam_is_over_the_first_choice_goes_on() -> None:
    world = jam()
    world.run(max_ticks=PATIENT + 30, budget=300, stuck_ticks=None)
    assert isinstance(world.planner, RealTimeLacam)
    world.pin(0, False)
    assert world.run(max_ticks=100, budget=300) == "done"
    world.tick(budget=300)
    assert world.planner == create("weave")
    assert "the jam that lacam-rt was taken for is over" in world.reasons()[-1]
    world.order(3, SHUT_IN)
    assert world.run(max_ticks=100, budget=300) == "done"
    assert [name for _, name in planners_of(world)] == ["weave", "lacam-rt", "weave"]


def test_other_orders_end_a_jam_too_but_not_at_once() -> None:
    world = jam()
    world.run(max_ticks=PATIENT + 30, budget=300, stuck_ticks=None)
    since = planners_of(world)[-1][0]
    world.order(1, (0, 4))
    while isinstance(world.planner, RealTimeLacam):
        world.tick(budget=300)
    assert planners_of(world)[-1] == (since + auto.STAY_TICKS, "weave")


def test_orders_and_walls_begin_the_wait_anew() -> None:
    for act in (
        lambda world: world.order(3, (9, 3)) and world.order(3, INSIDE),
        lambda world: world.block([(0, 1)]),
        lambda world: world.teleport(3, (0, 2)),
        lambda world: world.add((9, 0)),
    ):
        world = jam()
        world.run(max_ticks=40, budget=300)
        act(world)
        world.run(max_ticks=PATIENT - 1, budget=300, stuck_ticks=None)
        assert len(planners_of(world)) == 1
        world.run(max_ticks=PATIENT, budget=300, stuck_ticks=None)
        assert planners_of(world)[1][1] == "lacam-rt"


def test_without_switch_it_stays_with_its_choice() -> None:
    world = jam(Auto(switch=False))
    world.run(max_ticks=PATIENT + 100, stuck_ticks=None)
    assert len(planners_of(world)) == 1


@pytest.mark.parametrize("ticks", [40, PATIENT + 40, PATIENT + SEARCHING + 40])     # before and after each switch
def test_switches_are_in_snapshots_and_copies(ticks: int) -> None:
    world = jam()
    world.run(max_ticks=ticks, budget=300, stuck_ticks=None)
    before, twin, mover = world.snapshot(), copy.deepcopy(world), type(world.planner)
    elsewhere = World(Grid.from_text(ROOM), seed=1)
    world.run(max_ticks=SEARCHING, budget=300, stuck_ticks=None)
    assert type(world.planner) is not mover
    after, reasons = world.state_hash(), world.reasons()
    elsewhere.restore(Snapshot.from_bytes(bytes(before)))
    world.restore(before)
    assert type(world.planner) is mover
    for each in (world, twin, elsewhere):
        each.run(max_ticks=SEARCHING, budget=300, stuck_ticks=None)
        assert each.state_hash() == after
        assert each.reasons() == reasons


def test_a_program_that_names_a_planner_has_it_for_good() -> None:
    world = jam()
    chooser = world._chooser
    world.change_planner("surge")
    assert not hasattr(chooser, "state")
    world.run(max_ticks=PATIENT + 100, budget=300, stuck_ticks=None)
    assert [name for _, name in planners_of(world)] == ["weave", "surge"]
    world.change_planner("auto")
    world.run(max_ticks=PATIENT + 20, budget=300, stuck_ticks=None)
    assert [name for _, name in planners_of(world)] == ["weave", "surge", "auto", "weave", "lacam-rt"]


# --- all at once -----------------------------------------------------------------------------------------------------


def dense() -> Problem:
    grid = Grid.from_text("......\n......\n......")
    block = [(x, y) for x in range(2) for y in range(3)]
    return Problem.from_points(grid, block, [(5 - x, y) for x, y in block])


def test_a_dense_problem_without_a_budget_is_planned_at_once() -> None:
    run = solve(dense())
    assert run.stopped_by == "done"
    (event,) = run.trace.events_of("planner")
    assert event.data["algorithm"] == "lacam"
    assert "there is time, and it is dense" in run.trace.meta["reasons"][1]
    for budget in ({"budget": 500}, {"budget_ms": 5.0}):
        (event,) = solve(dense(), **budget).trace.events_of("planner")      # type: ignore[arg-type]
        assert event.data["algorithm"] == "weave"
    world = World.from_problem(dense())     # a world may get other orders
    world.tick()
    assert isinstance(world.planner, Weave)


def test_where_that_finds_no_plan_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "OFFLINE_CONFIGURATIONS", 1)
    run = solve(dense())
    assert [event.data["algorithm"] for event in run.trace.events_of("planner")] == ["lacam", "weave"]
    assert "lacam found no plan that brings all home within its share" in run.trace.meta["reasons"][2]
    assert run.stopped_by == "done"


def test_lacam_stays_for_as_long_as_its_plan_holds() -> None:
    world = World.from_problem(dense(), Auto(offline=True))
    world.tick()
    assert isinstance(world.planner, Lacam)
    assert world.run(max_ticks=50) == "done"
    assert isinstance(world.planner, Lacam)


# --- choosers of your own --------------------------------------------------------------------------------------------


@dataclass
class Impatient(Planner):
    """Takes another planner in every other tick."""

    def portfolio(self) -> tuple[str, ...]:
        return ("lra", "weave")

    def plan(self, proposal: Any, budget: Any) -> None:
        raise AssertionError("it never plans")

    def successor(self, situation: Any, made: Any, mover: Any, budget: Any) -> Successor | None:
        if self.state.tick % 2:
            return None
        return Successor("weave", {"window": 5}, "even") if self.state.tick % 4 else Successor("lra", {}, "odd")


def test_a_chooser_of_your_own() -> None:
    world = World(Grid.from_text(ROOM), Impatient())
    world.add((0, 0), goal=(5, 5))
    assert world.run(max_ticks=30) == "done"
    assert planners_of(world)[:3] == [(0, "lra"), (2, "weave"), (4, "lra")]
    assert world.trace().events[2].data["parameters"]["window"] == 5

