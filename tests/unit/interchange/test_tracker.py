"""The row of the MAPF Tracker."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.unit.interchange.plans import OPEN, TWO_AGENTS, trace_of
from wend.errors import ParameterError
from wend.interchange.formats import write_plan
from wend.maps.grid import Grid


@pytest.mark.parametrize(
    ("problem", "names"),
    [
        ("mapf/den312d-random-1", ["den312d", "random", "1"]),
        ("somewhere/maze-32-32-4-even-12.scen", ["maze-32-32-4", "even", "12"]),
        ("cross-sides", ["hall", "", ""]),
    ],
)
def test_a_tracker_row_counts_rows_upwards(problem: str, names: list[str], tmp_path: Path) -> None:
    agents = [*TWO_AGENTS, ((0, 2), (0, 2), "- - - -"), ((1, 1), (0, 1), "W E W -")]
    trace = trace_of(Grid.from_text(OPEN), agents, map="own/hall", problem=problem)
    write_plan(trace, "tracker", tmp_path / "row.csv")
    header, row = csv.reader(io.StringIO((tmp_path / "row.csv").read_text()))
    assert header == ["map_name", "scen_type", "type_id", "agents", "lower_cost", "solution_cost", "solution_plan"]
    assert row == [*names, "4", "5", "9", "rwru\nwd\n\nlrl"]    # on an 8-connected map the bound would be 4


def test_runs_that_the_tracker_does_not_take(tmp_path: Path) -> None:
    grid = Grid.from_text(OPEN)
    diagonal = [((0, 0), (2, 0), "E E"), ((0, 1), (1, 2), "- SE")]
    with pytest.raises(ParameterError, match=r"agent 1 moves diagonally in tick 2: .* connectivity 4"):
        write_plan(trace_of(grid, diagonal), "tracker", tmp_path / "row.csv")
    with pytest.raises(ParameterError, match="every agent on its goal"):
        write_plan(trace_of(grid, [((0, 0), (3, 0), "E E")]), "tracker", tmp_path / "row.csv")
    assert not list(tmp_path.iterdir())
