"""Other people's plan files: what is read, what is written, what is found wrong, and what bad files are told."""

from __future__ import annotations

import csv
import io
from collections import deque
from pathlib import Path

import numpy as np
import pytest
import yaml

from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.interchange import formats
from wend.interchange.formats import WRITERS, Plan, check_plan, judge_plan, read_plan, write_plan
from wend.maps.grid import Grid
from wend.maps.terrain import DIRECTION_NAMES, Point
from wend.world.trace import ABSENT, Event, Trace

READ_BACK = ("lacam", "eecbs", "yaml")
OPEN = "....\n" * 3


def trace_of(
    grid: Grid, agents: list[tuple[Point, Point, str]], *, events: list[Event] | None = None, **meta: object
) -> Trace:
    """A run of agents given as (start, goal, moves), moves being directions and `-` for a wait, parted by blanks."""
    codes = {"-": 0, "gone": ABSENT} | {name: 1 + d for d, name in enumerate(DIRECTION_NAMES)}
    moves = np.array([[codes[move] for move in moves.split()] for _, _, moves in agents], dtype=np.uint8).T
    added = [
        Event(0, "added", agent, {"at": list(start), "goal": list(goal), "asked": list(goal)})
        for agent, (start, goal, _) in enumerate(agents)
    ]
    ticks = len(moves)
    return Trace(grid, moves, added + (events or []), np.full(ticks, 2.5), np.full(ticks, 7, dtype=np.int64), meta)


def random_walk(seed: int, *, agents: int = 5, ticks: int = 12) -> Trace:
    """Agents that walk at random through each other, each with the place where it ends as its goal."""
    rng = np.random.default_rng(seed)
    grid = Grid(rng.random((7, 9)) < 0.8)
    free = grid.free_cells()
    walks = []
    for cell in rng.choice(free, agents).tolist():
        start, moves = grid.xy(cell), []
        for _ in range(ticks):
            legal = [d for d in range(8) if int(grid.tables.moves[cell]) >> d & 1]
            d = int(rng.choice([-1, *legal]))
            moves.append("-" if d < 0 else DIRECTION_NAMES[d])
            cell += 0 if d < 0 else int(grid.tables.offset[d])
        walks.append((start, grid.xy(cell), " ".join(moves)))
    return trace_of(grid, walks)


def lacam(paths: list[list[Point]]) -> str:
    rows = zip(*paths, strict=True)
    return "".join(f"{t}:" + "".join(f"({x},{y})," for x, y in row) + "\n" for t, row in enumerate(rows))


def eecbs(paths: list[list[Point]]) -> str:
    return "".join(f"Agent {i}: " + "".join(f"({y},{x})->" for x, y in path) + "\n" for i, path in enumerate(paths))


def schedule(paths: list[list[Point]]) -> str:
    agents = {
        f"agent{i}": [{"x": x, "y": y, "t": t} for t, (x, y) in enumerate(path)] for i, path in enumerate(paths)
    }
    return yaml.safe_dump({"statistics": {"cost": 1}, "schedule": agents}, sort_keys=False)


TEXTS = {"lacam": lacam, "eecbs": eecbs, "yaml": schedule}


def plan_from(folder: Path, text: str | bytes) -> Plan:
    file = folder / "plan"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_plan(file)


# --- reading and writing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READ_BACK)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_read_back(name: str, seed: int, tmp_path: Path) -> None:
    trace = random_walk(seed)
    cells = trace.positions().tolist()
    while len(cells) > 1 and cells[-1] == cells[-2]:    # everybody is home: the plan is over
        cells.pop()

    write_plan(trace, name, tmp_path / "plan")
    plan = read_plan(tmp_path / "plan")

    assert plan.format == name
    assert plan.positions.dtype == np.int64
    assert plan.positions.tolist() == [[list(trace.grid.xy(cell)) for cell in row] for row in cells]


TWO_AGENTS = [((0, 0), (2, 1), "E - E S"), ((3, 2), (3, 1), "- N - -")]


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


def test_an_eecbs_file_has_the_row_first_and_ends_paths_at_the_goal(tmp_path: Path) -> None:
    write_plan(trace_of(Grid.from_text(OPEN), TWO_AGENTS), "eecbs", tmp_path / "paths")
    assert (tmp_path / "paths").read_text() == (
        "Agent 0: (0,0)->(0,1)->(0,1)->(0,2)->(1,2)->\nAgent 1: (2,3)->(2,3)->(1,3)->\n"
    )


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


def test_a_plan_ends_when_the_last_agent_is_home(tmp_path: Path) -> None:
    for name in READ_BACK:
        write_plan(trace_of(Grid.from_text(OPEN), [((0, 0), (1, 0), "E - - -")]), name, tmp_path / "plan")
        assert read_plan(tmp_path / "plan").positions.tolist() == [[[0, 0]], [[1, 0]]]


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


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("events", "moves", "reason"),
    [
        ([Event(1, "removed", 1)], "E gone", "agent 1 is not on the map at tick 2"),
        ([Event(0, "blocked", None, {"cells": [[3, 0]]})], "E -", "the map was edited at tick 0"),
        ([], "W -", "agent 1 is not on the map at tick 1"),
    ],
)
def test_a_run_that_is_no_plan_is_refused_and_the_old_file_stays(
    name: str, events: list[Event], moves: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "plan").write_text("old")
    trace = trace_of(Grid.from_text(OPEN), [((0, 1), (0, 1), "- -"), ((0, 0), (1, 0), moves)], events=events)
    with pytest.raises(ParameterError, match=reason):
        write_plan(trace, name, tmp_path / "plan")
    assert [file.name for file in tmp_path.iterdir()] == ["plan"]
    assert (tmp_path / "plan").read_text() == "old"


def test_an_agent_that_comes_later_is_no_part_of_a_plan(tmp_path: Path) -> None:
    trace = trace_of(Grid.from_text(OPEN), [((0, 1), (0, 1), "- -"), ((0, 0), (1, 0), "gone E")])
    trace.events[1] = Event(1, "added", 1, trace.events[1].data)
    with pytest.raises(ParameterError, match=r"agent 1 is not on the map at tick 0: .* added later or removed"):
        write_plan(trace, "lacam", tmp_path / "plan")


def test_runs_that_the_tracker_does_not_take(tmp_path: Path) -> None:
    grid = Grid.from_text(OPEN)
    diagonal = [((0, 0), (2, 0), "E E"), ((0, 1), (1, 2), "- SE")]
    with pytest.raises(ParameterError, match=r"agent 1 moves diagonally in tick 2: .* connectivity 4"):
        write_plan(trace_of(grid, diagonal), "tracker", tmp_path / "row.csv")
    with pytest.raises(ParameterError, match="every agent on its goal"):
        write_plan(trace_of(grid, [((0, 0), (3, 0), "E E")]), "tracker", tmp_path / "row.csv")
    assert not list(tmp_path.iterdir())


def test_an_unknown_format_and_a_run_without_agents(tmp_path: Path) -> None:
    nobody = Trace(Grid.from_text(OPEN), np.empty((0, 0), np.uint8), [], np.empty(0), np.empty(0, np.int64))
    with pytest.raises(UnknownNameError, match=r"'lacan'\. Did you mean 'lacam'.*eecbs, yaml, tracker"):
        write_plan(nobody, "lacan", tmp_path / "plan")
    with pytest.raises(ParameterError, match="without agents"):
        write_plan(nobody, "lacam", tmp_path / "plan")


# --- judging -------------------------------------------------------------------------------------------------------

ROOM = """
    ....
    .@..
    ....
"""


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


CIRCLE: list[Point] = [(2, 0), (3, 0), (3, 1), (2, 1)]
MARCH: list[list[Point]] = [    # four in a circle, and two in a file, of whom the second steps where the first stood
    *([*CIRCLE[k:], *CIRCLE[: k + 1]] for k in range(4)),
    [(1, 2), (2, 2), (3, 2), (3, 2), (3, 2)],
    [(0, 2), (1, 2), (2, 2), (2, 2), (2, 2)],
]


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


# --- bad files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "not a plan in a known format"),
        ("\n\nversion 1\n", 3, "begins with `agents=`.*this file with 'version 1'"),
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
        ("agents=1\n" + "\n" * 2**20, 2**20 + 1, "more than 1048576 lines"),
        ("0:(٣,0),\n", 1, r"expected \(x,y\),"),
        ("Agent 0: (0,0)->\nAgent 2: (0,0)->\n", 2, "agent 2 stands where agent 1 belongs"),
        ("Agent 0: (0,0)->\nagent 1: (0,0)->\n", 2, "expected `Agent 1:`"),
        ("Agent 0: (0,0)->(0,1", 1, r"expected \(row,col\)->"),
        ("Agent 0:\n", 1, r"expected \(row,col\)->"),
        ("Agent 0: (0," + "9" * 5000 + ")->\n", 1, "at most 9 digits"),
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
        ("- 1\n", 1, "not a plan in a known format"),
    ],
)
def test_bad_files_are_told_where_and_why(text: str, line: int | None, reason: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        plan_from(tmp_path, text)
    assert str(tmp_path / "plan") in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(tmp_path))
    if line is not None:
        assert caught.value.line == line


def test_values_that_are_no_concern_of_ours_are_passed_over(tmp_path: Path) -> None:
    plan = plan_from(
        tmp_path,
        "# a comment\nextra: {deep: [1, [2, {3: 4}]]}\nschedule:\n"
        "  agent1:\n  - {x: 5, y: 6, v: [0, 1], t: 0}\n  agent0:\n  - {t: 0, y: 2, x: 1}\n",
    )
    assert plan.positions.tolist() == [[[1, 2], [5, 6]]]
    assert (plan.starts, plan.goals, plan.meta) == (None, None, {})


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        changed = b"\xef\xbb\xbf\r\n" + text(MARCH).replace("\n", "\r\n").encode() + b"\r\n"
        plan = plan_from(tmp_path, changed)
        assert (plan.format, plan.positions.transpose(1, 0, 2).tolist()) == (name, np.array(MARCH).tolist())


def test_schedules_read_the_same_without_the_c_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = plan_from(tmp_path, schedule(MARCH)).positions
    monkeypatch.setattr(formats, "_YAML_LOADER", yaml.SafeLoader)
    assert np.array_equal(plan_from(tmp_path, schedule(MARCH)).positions, expected)
    with pytest.raises(FormatError, match="line 3: not valid YAML"):
        plan_from(tmp_path, "schedule:\n  agent0:\n\t- {x: 0, y: 0, t: 0}\n")


def test_a_small_file_cannot_ask_for_much_memory(tmp_path: Path) -> None:
    long_and_many = "Agent 0: " + "(0,0)->" * 9000 + "\n" + "".join(f"Agent {i}: (0,1)->\n" for i in range(1, 9000))
    with pytest.raises(FormatError, match="9000 agents for 9000 ticks are more than"):
        plan_from(tmp_path, long_and_many)


def test_what_is_no_readable_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        read_plan(tmp_path / "none")
    with pytest.raises(FormatError, match="not a file"):
        read_plan(tmp_path)
    with pytest.raises(FormatError, match="not text in UTF-8"):
        plan_from(tmp_path, b"agents=1\n" + bytes(range(256)))
    with (tmp_path / "large").open("wb") as file:
        file.truncate(256 * 2**20 + 1)
    with pytest.raises(FormatError, match="larger than 268435456 bytes"):
        read_plan(tmp_path / "large")


@pytest.mark.parametrize("name", READ_BACK)
def test_damaged_files_end_in_a_plan_or_a_format_error(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    write_plan(random_walk(1, agents=3, ticks=6), name, tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    grid = Grid.from_text(ROOM)
    plans = errors = 0
    for _ in range(400):
        data = bytearray(good)
        for _ in range(int(rng.integers(1, 4))):
            at, length = int(rng.integers(len(data))), int(rng.integers(1, 9))
            kind = int(rng.integers(5))
            if kind == 0:
                data[at] = int(rng.integers(256))
            elif kind == 1:
                data[at : at + length] = b""
            elif kind == 2:
                data[at:at] = data[max(at - length, 0) : at]
            elif kind == 3:
                data[at:at] = bytes(rng.choice(np.frombuffer(b"0123456789-(),:=>\n *&[]{}", np.uint8), length))
            elif len(data) > 1:
                del data[max(at, 1) :]
        try:
            plan = plan_from(tmp_path, bytes(data))
        except FormatError:
            errors += 1
        else:
            plans += 1
            assert plan.positions.ndim == 3
            assert all(line.startswith("tick ") for line in check_plan(plan, grid))
    assert plans > 20
    assert errors > 100
