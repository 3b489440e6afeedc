"""What is found wrong with a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.interchange.plans import MARCH, READ_BACK, ROOM, TEXTS, eecbs, lacam, plan_from
from wend import metrics
from wend.errors import ParameterError
from wend.interchange.plan import check_plan, judge_plan, to_trace
from wend.maps.grid import Grid
from wend.maps.terrain import Point


@pytest.mark.parametrize("name", READ_BACK)
@pytest.mark.parametrize(
    ("paths", "kind", "tick", "agents", "at"),
    [
        ([[(0, 0), (0, 0)], [(3, 0), (4, 0)]], "off-map", 1, (1,), None),
        ([[(0, 0), (0, -1)], [(3, 0), (3, 0)]], "off-map", 1, (0,), None),
        ([[(0, 1), (1, 1)], [(3, 0), (3, 0)]], "wall", 1, (0,), (1, 1)),
        ([[(0, 0), (1, 0), (3, 0)], [(3, 2), (3, 2), (3, 2)]], "jump", 2, (0,), (3, 0)),
        ([[(3, 2), (3, 2), (3, 2)], [(1, 0), (0, 0), (0, 1)], [(0, 2), (1, 2), (2, 1)]], "corner", 2, (2,), (2, 1)),
        ([[(0, 0), (1, 0)], [(2, 0), (1, 0)]], "collision", 1, (0, 1), (1, 0)),
        ([[(2, 0), (2, 0)], [(0, 0), (1, 0)], [(3, 1), (3, 0)], [(1, 0), (0, 0)]], "swap", 1, (1, 3), (0, 0)),
    ],
)
def test_each_kind_of_violation_is_found(
    name: str, paths: list[list[Point]], kind: str, tick: int, agents: tuple[int, ...], at: Point | None, tmp_path: Path
) -> None:
    (violation,) = judge_plan(plan_from(tmp_path, TEXTS[name](paths)), Grid.from_text(ROOM))
    assert (violation.kind, violation.tick, violation.agents, violation.at) == (kind, tick, agents, at)


@pytest.mark.parametrize(
    ("places", "line"),
    [
        ([(0, 0), (1, 1)], "tick 0: wall of agent 1 at (1, 1)"),
        ([(2, 0), (2, 0)], "tick 0: collision of agent 0 and 1 at (2, 0)"),
        ([(0, 0), (4, 2)], "tick 0: off-map of agent 1 off the map"),
    ],
)
def test_the_first_places_are_judged_too(places: list[Point], line: str, tmp_path: Path) -> None:
    plan = plan_from(tmp_path, lacam([[place] for place in places]))
    assert check_plan(plan, Grid.from_text(ROOM)) == [line]


def test_a_diagonal_is_a_jump_on_a_4_connected_map(tmp_path: Path) -> None:
    plan = plan_from(tmp_path, eecbs([[(2, 0), (3, 1)]]))
    assert check_plan(plan, Grid.from_text(ROOM)) == []
    assert check_plan(plan, Grid.from_text(ROOM, connectivity=4)) == ["tick 1: jump of agent 0 at (3, 1)"]


@pytest.mark.parametrize("name", READ_BACK)
def test_a_planted_swap_is_found_in_a_legal_plan(name: str, tmp_path: Path) -> None:
    grid = Grid.from_text(ROOM)
    assert check_plan(plan_from(tmp_path, TEXTS[name](MARCH)), grid) == []
    planted = [list(path) for path in MARCH]
    planted[4][3:], planted[5][3:] = [(2, 2), (2, 2)], [(3, 2), (3, 2)]
    lines = check_plan(plan_from(tmp_path, TEXTS[name](planted)), grid)
    assert lines == ["tick 3: swap of agent 4 and 5 at (3, 2)"]


@pytest.mark.parametrize("name", ["eecbs", "yaml"])
def test_an_agent_whose_path_ends_early_stays_in_the_way(name: str, tmp_path: Path) -> None:
    plan = plan_from(tmp_path, TEXTS[name]([[(1, 0)], [(3, 0), (2, 0), (1, 0), (0, 0)]]))
    assert plan.positions[:, 0].tolist() == [[1, 0]] * 4
    assert check_plan(plan, Grid.from_text(ROOM)) == ["tick 2: collision of agent 0 and 1 at (1, 0)"]


def test_a_plan_is_held_against_the_problem(tmp_path: Path) -> None:
    grid = Grid.from_text(ROOM)
    plan = plan_from(tmp_path, eecbs([[(0, 0), (1, 0)], [(3, 0), (3, 1)]]))
    more = [(0, 2), (1, 2)]
    assert check_plan(plan, grid, [(0, 0), (3, 0), *more], [(1, 0), (3, 1), *more]) == []
    assert check_plan(plan, grid, [(0, 0), (2, 0)], [(0, 0), (3, 1)]) == [
        "tick 0: agent 1 is at (3, 0), its start is (2, 0)",
        "tick 1: agent 0 is at (1, 0), its goal is (0, 0)",
    ]
    assert check_plan(plan, grid, goals=[(1, 0)]) == ["tick 1: agent 1 is one too many, the problem has 1"]


def test_a_lacam_log_is_held_against_its_own_header_without_a_problem(tmp_path: Path) -> None:
    plan = plan_from(tmp_path, "starts=(0,0),\ngoals=(2,0),\n" + lacam([[(0, 0), (1, 0)]]))
    assert check_plan(plan, Grid.from_text(ROOM)) == ["tick 1: agent 0 is at (1, 0), its goal is (2, 0)"]
    assert check_plan(plan, Grid.from_text(ROOM), [(0, 0)], [(1, 0)]) == []


def test_the_list_of_violations_can_be_cut(tmp_path: Path) -> None:
    plan = plan_from(tmp_path, lacam([[(9, 9)] * 50] * 3))
    assert len(judge_plan(plan, Grid.from_text(ROOM))) == 150
    assert [violation.tick for violation in judge_plan(plan, Grid.from_text(ROOM), at_most=5)] == [0, 0, 0, 1, 1]
    assert len(check_plan(plan, Grid.from_text(ROOM), [(0, 0)] * 3, at_most=5)) == 5


def test_a_plan_becomes_a_trace(tmp_path: Path) -> None:
    grid = Grid.from_text(ROOM)
    plan = plan_from(tmp_path, eecbs(MARCH))
    trace = to_trace(plan, grid, meta={"solver": "EECBS"})
    places = [[grid.xy(cell) for cell in cells] for cells in trace.positions().T.tolist()]
    assert places == [[*path, *[path[-1]] * (plan.ticks + 1 - len(path))] for path in MARCH]
    assert (trace.meta, trace.starts()) == ({"solver": "EECBS"}, [path[0] for path in MARCH])
    assert metrics.makespan(trace) == plan.ticks
    assert metrics.completed(to_trace(plan, grid, [(0, 0)] * 9)) == 0
    with pytest.raises(ParameterError, match="moves 6 agents, and the problem has goals for 1"):
        to_trace(plan, grid, [(0, 0)])


@pytest.mark.parametrize("jump", [(3, 0), (1, -1)])
def test_a_trace_ends_before_what_no_trace_can_show(jump: Point, tmp_path: Path) -> None:
    plan = plan_from(tmp_path, lacam([[(0, 0), (1, 0), jump, jump]]))
    assert to_trace(plan, Grid.from_text(ROOM), [(3, 0)]).ticks == 1
    with pytest.raises(ParameterError, match="off the map, which is 4 x 3"):
        to_trace(plan_from(tmp_path, lacam([[(9, 0), (1, 0)]])), Grid.from_text(ROOM), [(3, 0)])
