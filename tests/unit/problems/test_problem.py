"""Problem: what it accepts, and what it says of what it does not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wend.errors import ParameterError, ProblemError, UnknownNameError
from wend.maps.grid import Grid
from wend.maps.movingai import Scenario, ScenarioRow, parse_scen
from wend.maps.sources import load_scenario
from wend.problems.problem import Problem

# Two parts: columns 0 to 2, and column 4.
GRID = Grid.from_text("""
    ...@.
    .@.@.
    ...@.
""")


def test_points_and_cells_are_two_names_for_the_same() -> None:
    problem = Problem.from_points(GRID, starts=[(0, 0), (4, 1)], goals=[(2, 1), (4, 2)], name="two", seed=7)
    assert problem.starts.tolist() == [0, 9]
    assert problem.goals.tolist() == [7, 14]
    assert problem.start_points() == [(0, 0), (4, 1)]
    assert problem.goal_points() == [(2, 1), (4, 2)]
    assert all(type(n) is int for point in problem.goal_points() for n in point)
    assert (problem.agents, problem.name, problem.seed) == (2, "two", 7)
    assert problem == Problem(GRID, [0, 9], [7, 14], "two", 7)  # type: ignore[arg-type]


def test_it_cannot_be_changed_and_does_not_change_with_its_arguments() -> None:
    starts = np.array([0, 1], dtype=np.int32)
    problem = Problem(GRID, starts, np.array([2, 0], dtype=np.int32))
    starts[0] = 5
    assert problem.starts.tolist() == [0, 1]
    assert problem.starts.dtype == problem.goals.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        problem.starts[0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.seed = 1  # type: ignore[misc]


def test_equality() -> None:
    problem = Problem.from_points(GRID, [(0, 0)], [(2, 0)])
    assert problem == Problem.from_points(GRID.copy(), [(0, 0)], [(2, 0)])
    assert problem != Problem.from_points(GRID, [(0, 0)], [(2, 1)])
    assert problem != Problem.from_points(GRID, [(0, 1)], [(2, 0)])
    assert problem != Problem.from_points(GRID, [(0, 0)], [(2, 0)], name="other")
    assert problem != Problem.from_points(GRID.with_rules(connectivity=4), [(0, 0)], [(2, 0)])
    assert problem != "problem"


def test_repr() -> None:
    problem = Problem.from_points(GRID, [(0, 0)], [(2, 0)], name="one", seed=3)
    assert repr(problem).startswith("<Problem one (seed 3): 1 agents on <Grid 5x3")


@pytest.mark.parametrize(
    ("starts", "goals"),
    [
        ([], []),
        ([(0, 0)], [(0, 0)]),                           # at home already
        ([(0, 0), (1, 0)], [(1, 0), (0, 0)]),           # each other's place
        (iter([(0, 0)]), np.array([[2, 2]])),           # any iterable, any whole numbers
        ([(4, 0)], [(4, 2)]),                           # in the smaller part
    ],
)
def test_accepted(starts: Any, goals: Any) -> None:
    problem = Problem.from_points(GRID, starts, goals)
    assert problem.agents == problem.goals.size


@pytest.mark.parametrize(
    ("starts", "goals", "reason"),
    [
        ([(0, 0), (3, 1)], [(1, 0), (2, 0)], r"agent 1 starts at \(3, 1\), which is in a wall"),
        ([(0, 0)], [(1, 1)], r"agent 0 has its goal at \(1, 1\), which is in a wall"),
        ([(5, 0)], [(0, 0)], r"agent 0 starts at \(5, 0\), off the map, which is 5 x 3"),
        ([(0, 0)], [(0, -1)], r"agent 0 has its goal at \(0, -1\), off the map"),
        ([(0, 0), (2, 2), (0, 0)], [(0, 0), (1, 0), (2, 0)], r"agents 0 and 2 both start at \(0, 0\)"),
        ([(0, 0), (2, 2), (1, 0)], [(0, 0), (2, 0), (2, 0)], r"agents 1 and 2 both have their goal at \(2, 0\)"),
        ([(0, 0), (2, 2)], [(2, 0), (4, 0)], r"agent 1 cannot reach its goal: no path joins \(2, 2\) and \(4, 0\)"),
        ([(0, 0), (2, 2)], [(2, 0)], "2 starts and 1 goals"),
        ([(0, 0)] * 12, [(0, 0)] * 12, "12 agents do not fit on the map, which has 11 passable cells"),
        ([(0.5, 0)], [(0, 0)], r"agent 0 starts at \(0\.5, 0\), which is no \(x, y\) of whole numbers"),
        ([(0, 0, 0)], [(0, 0)], r"agent 0 starts at \(0, 0, 0\), which is no \(x, y\)"),
        ([7], [(0, 0)], r"agent 0 starts at 7, which is no \(x, y\)"),
    ],
)
def test_refused_points(starts: Any, goals: Any, reason: str) -> None:
    with pytest.raises(ProblemError, match=reason):
        Problem.from_points(GRID, starts, goals)


@pytest.mark.parametrize(
    ("starts", "goals", "reason"),
    [
        ([15], [0], "agent 0 starts at cell 15, off the map, which has 15 cells"),
        ([0], [-1], "agent 0 has its goal at cell -1, off the map"),
        ([0], [2**40], f"agent 0 has its goal at cell {2**40}, off the map"),
        ([[0, 0]], [[1, 0]], r"starts must be a flat array of cells; .* Problem\.from_points"),
        ([0], [1.0], "goals must be a flat array of cells"),
        ([3], [0], r"agent 0 starts at \(3, 0\), which is in a wall"),
    ],
)
def test_refused_cells(starts: Any, goals: Any, reason: str) -> None:
    with pytest.raises(ProblemError, match=reason):
        Problem(GRID, starts, goals)


def test_reachable_is_a_matter_of_the_rules() -> None:
    diagonal = Grid.from_text("""
        .@
        @.
    """)
    with pytest.raises(ProblemError, match="agent 0 cannot reach"):
        Problem.from_points(diagonal, [(0, 0)], [(1, 1)])
    assert Problem.from_points(diagonal.with_rules(corner_cutting=True), [(0, 0)], [(1, 1)]).agents == 1


# --- scenarios -----------------------------------------------------------------------------------------------------

SCEN = b"""version 1
0\tg.map\t5\t3\t0\t0\t2\t2\t4.0
0\tg.map\t5\t3\t4\t0\t4\t2\t2.0
1\tg.map\t5\t3\t0\t0\t1\t0\t1.0
"""


def test_from_scen_takes_the_first_rows() -> None:
    scenario = parse_scen(SCEN, "folder/g.map.scen")
    problem = Problem.from_scen(GRID, scenario, agents=2)
    assert problem.start_points() == [(0, 0), (4, 0)]
    assert problem.goal_points() == [(2, 2), (4, 2)]
    assert (problem.name, problem.seed) == ("g", None)


def test_from_scen_takes_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))
    for place in ("g.scen", "data/set/h.scen"):
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_bytes(SCEN)
    for source, name in (("g.scen", "g"), (Path("g.scen"), "g"), ("set/h", "h")):
        problem = Problem.from_scen(GRID, source, agents=2)
        assert (problem.name, problem.goal_points()) == (name, [(2, 2), (4, 2)])
    with pytest.raises(UnknownNameError, match="set/i"):
        Problem.from_scen(GRID, "set/i", agents=2)
    with pytest.raises(ParameterError, match="scenario is a Scenario or the name of one, not 5"):
        Problem.from_scen(GRID, 5, agents=2)


def test_from_scen_names_the_scenario_and_the_row() -> None:
    scenario = parse_scen(SCEN, "g.scen")
    with pytest.raises(ProblemError, match=r"scenario g \(agent 0 is row 1\): agents 0 and 2 both start at \(0, 0\)"):
        Problem.from_scen(GRID, scenario, agents=3)


def test_from_scen_with_too_few_rows_says_how_many_there_are() -> None:
    with pytest.raises(ProblemError, match="3 rows"):
        Problem.from_scen(GRID, parse_scen(SCEN, "g.scen"), agents=4)
    with pytest.raises(ParameterError, match="negative"):
        Problem.from_scen(GRID, parse_scen(SCEN, "g.scen"), agents=-1)


def test_from_scen_for_a_map_of_another_size() -> None:
    scenario = parse_scen(SCEN, "g.scen")
    with pytest.raises(ProblemError, match=r"scenario g, row 1: made for a map of 5 x 3, but this one is 9 x 9"):
        Problem.from_scen(Grid(np.ones((9, 9))), scenario, agents=1)
    late = Scenario("late", (*scenario.rows[:2], dataclasses.replace(scenario.rows[2], width=6)))
    assert Problem.from_scen(GRID, late, agents=2).agents == 2
    with pytest.raises(ProblemError, match="scenario late, row 3: made for a map of 6 x 3"):
        Problem.from_scen(GRID, late, agents=3)


def test_from_scen_without_sizes() -> None:
    """Old files do not say how large their map is; a place off the map is found anyway."""
    rows = (
        ScenarioRow(0, "g.map", None, None, (0, 0), (2, 2), 4.0),
        ScenarioRow(0, "g.map", None, None, (9, 0), (2, 0), 1.0),
    )
    assert Problem.from_scen(GRID, Scenario("old", rows), agents=1).goal_points() == [(2, 2)]
    with pytest.raises(ProblemError, match=r"scenario old .*agent 1 starts at \(9, 0\), off the map"):
        Problem.from_scen(GRID, Scenario("old", rows), agents=2)


def test_a_benchmark_scenario(movingai: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEND_DATA", str(movingai))
    grid = Grid.load("mapf/random-32-32-20")
    problem = Problem.from_scen(grid, load_scenario("mapf/random-32-32-20-random-1"), agents=100)
    assert problem.agents == 100
    assert all(grid.reachable(a, b) for a, b in zip(problem.start_points(), problem.goal_points(), strict=True))
