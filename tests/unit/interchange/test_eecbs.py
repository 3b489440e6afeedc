"""The path file of EECBS."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.interchange.plans import OPEN, TWO_AGENTS, assert_refused, trace_of
from wend.interchange.formats import write_plan
from wend.maps.grid import Grid


def test_an_eecbs_file_has_the_row_first_and_ends_paths_at_the_goal(tmp_path: Path) -> None:
    write_plan(trace_of(Grid.from_text(OPEN), TWO_AGENTS), "eecbs", tmp_path / "paths")
    assert (tmp_path / "paths").read_text() == (
        "Agent 0: (0,0)->(0,1)->(0,1)->(0,2)->(1,2)->\nAgent 1: (2,3)->(2,3)->(1,3)->\n"
    )


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("Agent 0: (0,0)->\nAgent 2: (0,0)->\n", 2, "agent 2 stands where agent 1 belongs"),
        ("Agent 0: (0,0)->\nagent 1: (0,0)->\n", 2, "expected `Agent 1:`"),
        ("Agent 0: (0,0)->(0,1", 1, r"expected \(row,col\)->"),
        ("Agent 0:\n", 1, r"expected \(row,col\)->"),
        ("Agent 0: (0," + "9" * 5000 + ")->\n", 1, "at most 9 digits"),
    ],
)
def test_bad_files_are_told_where_and_why(text: str, line: int | None, reason: str, tmp_path: Path) -> None:
    assert_refused(text, line, reason, tmp_path)
