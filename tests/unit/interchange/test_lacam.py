"""The log of lacam3."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import numpy as np
import pytest

from tests.unit.interchange.plans import OPEN, TWO_AGENTS, assert_refused, trace_of
from wend.interchange.formats import read_plan, write_plan
from wend.maps.grid import Grid
from wend.maps.terrain import Point


def test_a_lacam_log_is_written_as_mapf_visualizer_reads_it(tmp_path: Path) -> None:
    grid = Grid.from_text(OPEN, connectivity=4)
    trace = trace_of(grid, TWO_AGENTS, algorithm="bmaa", map="maps/hall.map", seed=5)
    write_plan(trace, "lacam", tmp_path / "log")
    assert (tmp_path / "log").read_text() == (
        "agents=2\nmap_file=hall.map\nsolver=bmaa\nsolved=1\nsoc=6\nsoc_lb=4\nmakespan=4\nmakespan_lb=3\n"
        "sum_of_loss=6\nsum_of_loss_lb=4\ncomp_time=10.000\nseed=5\n"
        "starts=(0,0),(3,2),\ngoals=(2,1),(3,1),\nsolution=\n"
        "0:(0,0),(3,2),\n1:(1,0),(3,2),\n2:(1,0),(3,1),\n3:(2,0),(3,1),\n4:(2,1),(3,1),\n"
    )


def test_the_header_of_a_lacam_log_is_read(tmp_path: Path) -> None:
    trace = trace_of(Grid.from_text(OPEN), TWO_AGENTS, algorithm="bmaa\nsolved=0", map="rooms:seed=3")
    write_plan(trace, "lacam", tmp_path / "log")
    plan = read_plan(tmp_path / "log")
    assert (plan.starts, plan.goals) == ([(0, 0), (3, 2)], [(2, 1), (3, 1)])
    assert (plan.ticks, plan.agents) == (4, 2)
    assert plan.meta["solver"] == "bmaa solved=0"       # a word of the run cannot forge a line
    assert (plan.meta["solved"], plan.meta["map_file"], plan.meta["seed"]) == ("1", "rooms:seed=3.map", "0")


def test_agents_that_are_not_home_cost_all_ticks(tmp_path: Path) -> None:
    agents = [((0, 0), (3, 0), "E E - -"), ((0, 2), (1, 2), "E - - -")]
    write_plan(trace_of(Grid.from_text(OPEN), agents), "lacam", tmp_path / "log")
    plan = read_plan(tmp_path / "log")
    assert [plan.meta[key] for key in ("solved", "soc", "makespan", "sum_of_loss")] == ["0", "5", "4", "5"]


def test_loss_counts_the_ticks_before_an_agent_leaves_its_goal_again(tmp_path: Path) -> None:
    agents = [((0, 0), (1, 0), "E - - E W"), ((3, 2), (3, 2), "- - - - -")]
    write_plan(trace_of(Grid.from_text(OPEN), agents), "lacam", tmp_path / "log")
    plan = read_plan(tmp_path / "log")
    assert [plan.meta[key] for key in ("soc", "makespan", "sum_of_loss")] == ["5", "5", "3"]


@pytest.mark.parametrize("connectivity", [4, 8])
def test_lower_bounds_are_lengths_of_shortest_paths(connectivity: int, tmp_path: Path) -> None:
    def moves(grid: Grid, start: Point, goal: Point) -> int:
        distance, queue = {start: 0}, deque([start])
        while queue:
            point = queue.popleft()
            for beside in grid.neighbours(point):
                if beside not in distance:
                    distance[beside] = distance[point] + 1
                    queue.append(beside)
        return distance.get(goal, 0)

    rng = np.random.default_rng(11)
    grid = Grid(rng.random((12, 17)) < 0.65, connectivity=connectivity)
    ends = [tuple(grid.xy(cell) for cell in rng.choice(grid.free_cells(), 2).tolist()) for _ in range(40)]
    write_plan(trace_of(grid, [(start, goal, "-") for start, goal in ends]), "lacam", tmp_path / "log")
    bounds = [moves(grid, start, goal) for start, goal in ends]
    assert 0 in bounds      # among them are places that no path joins, which bind nothing
    meta = read_plan(tmp_path / "log").meta
    written = [int(meta[key]) for key in ("soc_lb", "makespan_lb", "sum_of_loss_lb")]
    assert written == [sum(bounds), max(bounds), sum(bounds)]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("agents=1\nsolved=0\nstarts=(0,0),\ngoals=(1,1),\nsolution=\n", None, "without a solution"),
        ("agents=2\nstarts=(0,0),\n", 2, "1 agents here, 2 in the lines before"),
        ("agents=1\nsolution=\n0:(0,0),(1,1),\n", 3, "2 agents here, 1 in"),
        ("agents=many\n", 1, "agents is no whole number"),
        ("0:(0,0),\n1:(0,0),(1,1),\n", 2, "2 agents here, 1 in"),
        ("0:(0,0),\n2:(0,0),\n", 2, "tick 2 stands where tick 1 belongs"),
        ("0:(0,0),\n1:(0;0),\n", 2, r"expected \(x,y\), .* found '\(0;0\),'"),
        ("0:(0,0),\n1:\n", 2, r"expected \(x,y\),"),
        ("0:(0,0),\n1:(0,0)(1,1),\n", 2, r"found '\(0,0\)\(1,1\),'"),
        ("0:(0,0,Y_MINUS),\n", 1, "Y_MINUS"),
        ("0:(0,0),\nsoc=3\n", 2, "expected `key=value` or"),
        ("agents=1\nhello\n", 2, "expected `key=value` or .* found 'hello'"),
        ("0:(" + "1" * 5000 + ",0),\n", 1, "at most 9 digits"),
        ("0:(٣,0),\n", 1, r"expected \(x,y\),"),
    ],
)
def test_bad_files_are_told_where_and_why(text: str, line: int | None, reason: str, tmp_path: Path) -> None:
    assert_refused(text, line, reason, tmp_path)
