"""The schedule of libMultiRobotPlanning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.unit.interchange.plans import MARCH, OPEN, TWO_AGENTS, assert_refused, plan_from, schedule, trace_of
from wend.errors import FormatError
from wend.interchange.formats import read_plan, write_plan
from wend.maps.grid import Grid


def test_a_schedule_is_yaml_with_statistics(tmp_path: Path) -> None:
    write_plan(trace_of(Grid.from_text(OPEN), TWO_AGENTS), "yaml", tmp_path / "schedule")
    assert yaml.safe_load((tmp_path / "schedule").read_text()) == {
        "statistics": {"cost": 6, "makespan": 4, "runtime": 0.01, "lowLevelExpanded": 28},
        "schedule": {
            "agent0": [{"x": x, "y": y, "t": t} for t, (x, y) in enumerate([(0, 0), (1, 0), (1, 0), (2, 0), (2, 1)])],
            "agent1": [{"x": 3, "y": y, "t": t} for t, y in enumerate([2, 2, 1])],
        },
    }
    plan = read_plan(tmp_path / "schedule")
    assert plan.meta == {"cost": "6", "makespan": "4", "runtime": "0.010000", "lowLevelExpanded": "28"}
    assert plan.positions[:, 1].tolist() == [[3, 2], [3, 2], [3, 1], [3, 1], [3, 1]]


def test_values_that_are_no_concern_of_ours_are_passed_over(tmp_path: Path) -> None:
    plan = plan_from(
        tmp_path,
        "# a comment\nextra: {deep: [1, [2, {3: 4}]]}\nschedule:\n"
        "  agent1:\n  - {x: 5, y: 6, v: [0, 1], t: 0}\n  agent0:\n  - {t: 0, y: 2, x: 1}\n",
    )
    assert plan.positions.tolist() == [[[1, 2], [5, 6]]]
    assert (plan.starts, plan.goals, plan.meta) == (None, None, {})


def test_schedules_read_the_same_without_the_c_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = plan_from(tmp_path, schedule(MARCH)).positions
    monkeypatch.setattr("wend.interchange.yaml._LOADER", yaml.SafeLoader)
    assert np.array_equal(plan_from(tmp_path, schedule(MARCH)).positions, expected)
    with pytest.raises(FormatError, match="line 3: not valid YAML"):
        plan_from(tmp_path, "schedule:\n  agent0:\n\t- {x: 0, y: 0, t: 0}\n")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("statistics:\n  cost: 1\n", None, "no `schedule:`"),
        ("schedule: {}\n", None, "no `schedule:`"),
        ("schedule:\n  agent0: []\n", 2, "agent0 has no place"),
        ("schedule:\n  agent0: 7\n", 2, "expected the places of agent0"),
        ("schedule:\n  robot:\n  - {x: 0, y: 0, t: 0}\n", 2, "'robot' is no `agent` with a number"),
        ("schedule:\n  agent0:\n  - {x: 0, y: 0, t: 0}\n  agent00:\n  - {x: 0, y: 0, t: 0}\n", 4, "was there before"),
        ("schedule:\n  agent1:\n  - {x: 0, y: 0, t: 0}\n", None, "agent0 is missing"),
        ("schedule:\n  agent0:\n  - x: 0\n    t: 0\n  - x: 0\n", 4, "lacks one of x, y and t"),
        ("schedule:\n  agent0:\n  - {x: 0, y: 0, t: 0}\n  - {x: 0, y: 0, t: 2}\n", 4, "has t 2 where t 1 belongs"),
        ("schedule:\n  agent0:\n  - {x: 0, y: 0, t: 1000000000000}\n", 3, "t is no whole number of at most 9 digits"),
        ("schedule:\n  agent0:\n  - {x: 0, y: 0, t: 999999999}\n", 3, "has t 999999999 where t 0 belongs"),
        ("schedule:\n  agent0:\n  - {x: 0.5, y: 0, t: 0}\n", 3, "x is no whole number"),
        ("schedule:\n  agent0:\n  - {x: " + "1" * 5000 + ", y: 0, t: 0}\n", 3, "x is no whole number"),
        ("schedule:\n  agent0: &a\n  - {x: 0, y: 0, t: 0}\n  agent1: *a\n", 4, "aliases"),
        ("other: " + "[" * 5000 + "]" * 5000 + "\n", 1, "nested more than 100 deep"),
        ("schedule:\n  agent0:\n  - {x: 0, y: 0, t: 0\n", 4, "not valid YAML"),
        ("schedule:\n  agent0:\n  - {x: 0, y: 0, t: 0}\n\x07\n", None, "not valid YAML"),
        ("schedule:\n  agent0:\n  - {x: 0, y: 0, t: 0}\n--- 1\n", 4, "expected the end"),
        ("statistics:\n  cost: [1]\n", 2, "expected a number"),
        ("schedule:\n  ? [1]\n  : 2\n", 2, "expected a key"),
    ],
)
def test_bad_files_are_told_where_and_why(text: str, line: int | None, reason: str, tmp_path: Path) -> None:
    assert_refused(text, line, reason, tmp_path)
