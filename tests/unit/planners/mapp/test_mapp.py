from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.reference.mapp import ReferenceMapp, replay, solve
from wend import Grid, Problem, World, create, provable
from wend.cli import app
from wend.errors import UnknownNameError
from wend.kernel import NO_AGENT, OUT_OF_SPACE
from wend.kernel.arrays import allocate
from wend.planners.base import Intent, Promise
from wend.planners.mapp import rounds, sliding
from wend.planners.mapp.crowd import Stage, make_crowd, make_log
from wend.planners.mapp.known_alternates import AlternatePaths
from wend.planners.mapp.making_room import make_room
from wend.planners.mapp.mapp import Mapp, slidable_units
from wend.planners.mapp.repositioning import Undoing
from wend.planners.mapp.slidable import Instance, Pathfinder

BRIDGE = """
    ....###....
    ...........
    ....###....
    ....###....
"""


def grid_of(drawing: str) -> Grid:
    return Grid.from_text(drawing, connectivity=4)


def open_map(width: int, height: int) -> Grid:
    return Grid(np.ones((height, width)), connectivity=4)


def verdicts(grid: Grid, starts, goals, **parameters) -> list[Promise]:
    return provable(Problem.from_points(grid, starts, goals), **parameters)


def moves(grid: Grid, starts, goals, **parameters):
    """The solution, after checking every move of it."""
    cells = [[grid.cell(*point) for point in points] for points in (starts, goals)]
    solution = solve(grid, *cells, [], **parameters)
    end = replay(grid, cells[0], solution.unit.tolist(), solution.to.tolist())
    return solution, [grid.xy(cell) for cell in end]


def plan(grid: Grid, starts, goals, **flags):
    cells = (np.array([grid.cell(*point) for point in points], np.int32) for points in (starts, goals))
    flags = {"target_isolation": True, "alternate_connectivity": True, **flags}
    return Pathfinder(AlternatePaths(grid)).find_paths(Instance(*cells, np.empty(0, np.int32)), **flags)


BASIC = {"target_isolation": False, "alternate_connectivity": False}


# --- the conditions ---------------------------------------------------------------------------------------------------


@pytest.mark.small
def test_open_ground_is_slidable() -> None:
    found = plan(open_map(3, 3), [(0, 0)], [(2, 2)], **BASIC).paths
    assert found.cell.size == 5
    assert (found.around != -1).tolist() == [False, True, True, False, False]
    assert verdicts(open_map(3, 3), [(0, 0)], [(2, 2)], **BASIC) == [Promise(0, True, "", None)]


@pytest.mark.small
def test_a_corridor_is_slidable_up_to_two_moves() -> None:
    (long,) = verdicts(grid_of("....."), [(0, 0)], [(4, 0)], **BASIC)
    assert not long.provable
    assert (long.condition.split(":")[0], long.at) == ("alternate connectivity", (1, 0))
    assert str(long) == "agent 0: not provable, alternate connectivity: there is no way around this cell at (1, 0)"
    assert verdicts(grid_of("..."), [(0, 0)], [(2, 0)], **BASIC)[0].provable


@pytest.mark.small
def test_the_first_cell_must_be_blank() -> None:
    corner = grid_of("..\n..\n..")
    starts, goals = [(0, 0), (1, 0), (0, 1)], [(1, 2), (1, 0), (0, 1)]
    for parameters in ({}, {"initial_blank": True}):            # those in front are home and do not leave
        shut_in = verdicts(corner, starts, goals, **parameters)[0]
        assert (shut_in.provable, shut_in.condition.split(":")[0], shut_in.at) == (False, "initial blank", (1, 0))


@pytest.mark.small
def test_with_initial_blank_relaxed_a_unit_waits_for_the_one_in_front() -> None:
    grid, starts, goals = open_map(2, 4), [(0, 0), (1, 0), (0, 1)], [(1, 2), (0, 3), (1, 3)]
    assert [v.provable for v in verdicts(grid, starts, goals)] == [False, True, True]
    assert all(v.provable for v in verdicts(grid, starts, goals, initial_blank=True))
    found = plan(grid, starts, goals, initial_blank=True).paths
    assert found.usher.tolist() == [2, -1, -1]
    assert 0 in found.follower[found.after[2] : found.after[3]]
    assert moves(grid, starts, goals, initial_blank=True, rounds=1, attempt_all=False)[1] == goals


@pytest.mark.small
def test_a_goal_under_a_unit_that_may_stay_promises_nothing() -> None:
    grid, starts, goals = open_map(5, 5), [(0, 0), (4, 4), (2, 0)], [(4, 4), (2, 0), (0, 0)]
    found = verdicts(grid, starts, goals)
    assert [v.provable for v in found] == [False, False, False]
    assert slidable_units(Problem.from_points(grid, starts, goals)).tolist() == [False, True, True]
    assert found[0].condition.endswith("in a circle")           # dropped; who is to stand there may not arrive, ...
    assert found[2].condition == "target isolation: an agent that is not provable stands on its goal"
    assert found[1].condition == found[2].condition             # ... and neither may the one after that
    assert [v.at for v in found] == goals


@pytest.mark.small
def test_every_tunnel_counts_in_what_a_buffer_needs() -> None:
    """If the longest one alone counted, as in the paper, one unit would be promised to arrive here and would not."""
    grid = grid_of("...#...\n...##..\n.......\n#...#..\n..##.#.\n##..#..")
    starts = [(5, 5), (1, 2), (4, 4), (5, 2), (3, 2), (4, 2), (2, 0), (6, 4), (3, 5)]
    goals = [(1, 0), (6, 0), (1, 3), (2, 1), (4, 4), (6, 2), (0, 4), (3, 2), (5, 3)]
    paths = plan(grid, starts, goals).paths
    inner = [paths.around[a + 1 : b - 2] for a, b in itertools.pairwise(paths.begin.tolist())]
    assert paths.tau.tolist() == [(around == -1).sum() for around in inner]
    runs = ["".join("x" if k == -1 else " " for k in around.tolist()).split() for around in inner]
    assert any(len(tunnels) > 1 for tunnels in runs)
    solution, end = moves(grid, starts, goals, attempt_all=False)
    arrived = np.array([at == goal for at, goal in zip(end, goals, strict=True)])
    assert arrived[solution.first.provable].all()


@pytest.mark.small
def test_units_that_become_provable_go_before_the_others_if_so_wished() -> None:
    grid, starts, goals = open_map(3, 2), [(2, 1), (1, 0), (2, 0)], [(2, 1), (2, 0), (0, 1)]
    assert [v.provable for v in verdicts(grid, starts, goals)] == [True, False, False]
    assert moves(grid, starts, goals, rounds=1)[0].home == 1
    assert moves(grid, starts, goals, rounds=1, later_provable=True)[0].home == 2
    assert moves(grid, starts, goals, rounds=1, turn="until-stopped")[0].home == 2      # it needs no promotion


@pytest.mark.small
def test_the_promise_is_kept_where_another_would_take_the_goal_for_good() -> None:
    grid, starts, goals = open_map(2, 2), [(0, 1), (0, 0)], [(0, 0), (1, 1)]
    reference = ReferenceMapp(grid, *([grid.cell(*point) for point in points] for points in (starts, goals)))
    assert [unit.provable for unit in reference.units] == [False, True]
    reference.play()
    assert not reference.units[1].home                                      # attempting both at once breaks it
    solution, end = moves(grid, starts, goals, rounds=1)
    assert end == goals
    assert solution.counters["rounds"] == 2


@pytest.mark.small
def test_who_swaps_targets_is_not_slidable_and_one_of_two_is_dropped_with_ti() -> None:
    starts, goals = [(0, 0), (3, 3)], [(3, 3), (0, 0)]
    basic = verdicts(open_map(4, 4), starts, goals, **BASIC)
    assert [v.provable for v in basic] == [False, False]
    assert {v.condition.split(":")[0] for v in basic} == {"target isolation"}
    assert slidable_units(Problem.from_points(open_map(4, 4), starts, goals)).tolist() == [True, False]
    relaxed = verdicts(open_map(4, 4), starts, goals)
    assert [v.provable for v in relaxed] == [False, False]      # in the world, who is dropped stands on a goal
    assert [v.at for v in relaxed] == goals
    assert moves(open_map(4, 4), starts, goals)[1] == goals


@pytest.mark.small
def test_who_stands_on_a_target_goes_first() -> None:
    starts, goals = [(0, 0), (3, 3)], [(0, 3), (0, 0)]
    found = plan(open_map(4, 4), starts, goals)
    assert found.paths.follower.tolist() == [1]
    assert found.paths.after.tolist() == [0, 1, 1]
    assert found.provable.all()
    solution, end = moves(open_map(4, 4), starts, goals)
    assert end == goals
    assert solution.unit[0] == 0


@pytest.mark.small
def test_other_targets_wall_a_unit_in_without_ti() -> None:
    walled = grid_of("...\n...")
    verdict = verdicts(walled, [(0, 0), (2, 0), (2, 1)], [(2, 0), (1, 0), (1, 1)], target_isolation=False)[0]
    assert (verdict.condition.split(":")[0], verdict.at) == ("target isolation", (1, 0))


@pytest.mark.small
def test_an_instance_without_crossed_targets_has_the_same_paths_with_and_without_ti() -> None:
    draw = np.random.default_rng(2)
    empty = 0
    for _ in range(30):
        grid = Grid(draw.random((7, 7)) < 0.9, connectivity=4)
        places = [grid.xy(cell) for cell in draw.permutation(grid.free_cells())[:8].tolist()]
        basic = plan(grid, places[:4], places[4:], **BASIC)
        if basic.provable.all():
            relaxed = plan(grid, places[:4], places[4:], alternate_connectivity=False)
            assert relaxed.paths.cell.tolist() == basic.paths.cell.tolist()
            assert relaxed.paths.follower.size == 0
            empty += 1
    assert empty > 5


@pytest.mark.small
def test_a_tunnel_needs_as_many_blanks_behind_it_as_it_is_long() -> None:
    grid = grid_of(BRIDGE)
    found = plan(grid, [(0, 0)], [(10, 3)])
    assert found.paths.tau.tolist() == [5]
    assert found.paths.last_gap[0] == found.paths.cell.tolist().index(grid.cell(7, 1))
    assert found.provable.all()
    room = [(x, y) for x in range(7, 11) for y in range(4) if (x, y) not in {(7, 1), (10, 3)}]
    buffer = [grid.xy(cell) for cell in np.flatnonzero(np.diff(found.paths.zone)).tolist()]
    assert set(buffer) <= set(room)
    for blanks in (4, 5):
        crowd = buffer[blanks:]
        away = [(x, y) for x in range(3) for y in (2, 3)][: len(crowd)]
        full = plan(grid, [(0, 0), *crowd], [(10, 3), *away])
        assert full.kappa[0] == blanks
        assert full.provable[0] == (blanks >= 5)
    for deep in ((5, 1), (6, 1)):
        verdict = verdicts(grid, [(0, 0)], [deep])[0]
        assert (verdict.provable, verdict.condition.split(":")[0]) == (False, "buffer zone")
    assert verdicts(grid, [(0, 0)], [(4, 1)])[0].provable


@pytest.mark.small
@pytest.mark.parametrize("turn", ["one-move", "until-stopped"])
def test_crowds_cross_the_bridge_in_both_directions(turn: str) -> None:
    grid = grid_of(BRIDGE)
    starts, goals = [(0, 0), (0, 1), (10, 0)], [(10, 2), (10, 3), (0, 3)]
    solution, end = moves(grid, starts, goals, turn=turn)
    assert solution.first.provable.all()
    assert solution.counters["push_moves"] > 0
    assert end == goals


@pytest.mark.small
def test_diagonals_are_not_used_and_gaps_between_corners_not_passed() -> None:
    eight = Grid.from_text(".@\n@.", corner_cutting=True)
    (verdict,) = provable(Problem.from_points(eight, [(0, 0)], [(1, 1)]))
    assert (verdict.provable, verdict.condition) == (False, "no path along rows and columns leads there")
    world = World(Grid(np.ones((5, 5))), "mapp")
    world.add((0, 0), (4, 4))
    assert world.run(max_ticks=20) == "done"
    assert world.ticks == 8


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="parameter of mapp 'isolation'"):
        verdicts(open_map(2, 2), [(0, 0)], [(1, 1)], isolation=True)


# --- the moves --------------------------------------------------------------------------------------------------------


@pytest.mark.small
@pytest.mark.parametrize("turn", ["one-move", "until-stopped"])
def test_the_papers_example_takes_five_moves(turn: str) -> None:
    solution, end = moves(open_map(4, 3), [(0, 1), (1, 0)], [(3, 1), (1, 2)], turn=turn, **BASIC)
    assert solution.first.provable.all()
    assert end == [(3, 1), (1, 2)]
    assert solution.counters["total_moves"] == solution.counters["path_moves"] == 5


@pytest.mark.small
def test_disjoint_paths_need_no_other_moves() -> None:
    starts, goals = [(0, y) for y in range(0, 9, 2)], [(8, y) for y in range(0, 9, 2)]
    solution, end = moves(open_map(9, 9), starts, goals)
    assert end == goals
    counters = solution.counters
    assert (counters["push_moves"], counters["undo_moves"], counters["progressions"]) == (0, 0, 1)
    assert counters["total_moves"] == counters["path_moves"] == 40


@pytest.mark.small
def test_who_is_in_the_way_is_pushed_around_and_comes_home() -> None:
    """The second unit is home, across the only row to the first one's target; target isolation is relaxed."""
    grid = grid_of(".......\n@.....@")
    starts, goals = [(0, 0), (3, 0), (3, 1)], [(6, 0), (3, 0), (3, 1)]
    solution, end = moves(grid, starts, goals)
    assert end == goals
    assert solution.counters["push_moves"] > 0


@pytest.mark.small
@pytest.mark.parametrize("counting", [True, False])
@pytest.mark.parametrize("until_stopped", [True, False])
def test_counters_of_blanks_are_right_after_every_step(until_stopped: bool, counting: bool) -> None:
    """kappa kept up to date is kappa counted anew, and so are the tight buffers and the private zones."""
    grid = grid_of(BRIDGE)
    starts = [(0, 0), (0, 1), (10, 0), (10, 1), (2, 2), (8, 2)]
    goals = [(10, 2), (10, 3), (0, 2), (0, 3), (9, 0), (1, 0)]
    cells, targets = (np.array([grid.cell(*p) for p in points], np.int32) for points in (starts, goals))
    finder, instance = Pathfinder(AlternatePaths(grid)), Instance(cells, targets, np.empty(0, np.int32))
    found = finder.find_paths(instance, target_isolation=True, alternate_connectivity=True)
    paths, crowd, planner = found.paths, make_crowd(found, instance, grid.size), Mapp(counting=counting)
    stage = Stage(grid.tables, finder.alternates.alternates, paths, crowd, make_log(grid.size, 6))
    undoing = allocate(Undoing, units=6, cells=grid.size)

    def check() -> None:
        blank = np.repeat(crowd.occupant == -1, np.diff(paths.zone))
        assert crowd.kappa.tolist() == np.bincount(paths.owner[blank], minlength=6).tolist()
        tight = (paths.tau > 0) & (crowd.kappa <= paths.tau) & ~crowd.solved
        assert crowd.counts[0].tight == tight.sum()
        for u in range(6):
            i, path = crowd.along[u], paths.cell[paths.begin[u] : paths.begin[u + 1]].tolist()
            assert i == (path.index(crowd.cell[u]) if crowd.cell[u] in path else -1)
            interior = 0 < i < len(path) - 1 and not crowd.solved[u]
            assert crowd.behind[u] == (path[i - 1] if interior else -1)

    steps = 0
    while not crowd.solved.all():
        sliding.begin_step(stage, until_stopped)
        check()
        while sliding.progress(stage, until_stopped, True) == OUT_OF_SPACE:
            stage = rounds.with_longer_log(stage, 2 * stage.log.unit.size, 2 * stage.log.guest.size)
            check()
        check()
        stage = rounds.reposition(planner, stage, undoing)
        check()
        steps += 1
        assert steps < 20
    assert crowd.cell.tolist() == targets.tolist()


@pytest.mark.small
def test_a_unit_that_goes_on_until_it_is_stopped_is_home_before_others_set_out() -> None:
    """The farthest goes first, and there is nothing to undo; with one move to a turn the nearest goes first."""
    starts, goals = [(0, 2), (2, 0), (4, 4)], [(5, 2), (2, 5), (4, 1)]
    solution, end = moves(open_map(6, 6), starts, goals, turn="until-stopped")
    assert end == goals
    assert solution.unit.tolist() == [0] * 5 + [1] * 5 + [2] * 3
    assert solution.counters["undo_moves"] == 0
    assert moves(open_map(6, 6), starts, goals)[0].unit[:3].tolist() == [2, 0, 1]


def test_more_rounds_bring_home_at_least_as_many() -> None:
    draw = np.random.default_rng(5)
    once = again = 0
    for _ in range(15):
        grid = Grid(draw.random((8, 8)) < 0.85, connectivity=4)
        free = [grid.xy(cell) for cell in draw.permutation(grid.free_cells()).tolist()]
        goals = [free[k] for k in draw.permutation(len(free))[:14]]
        few, end_few = moves(grid, free[:14], goals, rounds=1)
        more, end_more = moves(grid, free[:14], goals, rounds=10)
        assert few.home == sum(a == b for a, b in zip(end_few, goals, strict=True))
        assert more.home == sum(a == b for a, b in zip(end_more, goals, strict=True)) >= few.home
        once, again = once + few.home, again + more.home
    assert again > once


@pytest.mark.small
@pytest.mark.parametrize("turn", ["one-move", "until-stopped"])
@pytest.mark.parametrize(
    ("drawing", "starts", "goals"),
    [
        ("#......\n#......\n.......\n.######", [(3, 0), (0, 2)], [(0, 3), (0, 2)]),
        ("....######\n..........\n....######", [(0, 0), (7, 1), (6, 1)], [(9, 1), (7, 1), (6, 1)]),
    ],
)
def test_who_is_home_in_a_dead_end_makes_room_for_the_one_behind(drawing, starts, goals, turn) -> None:
    grid = grid_of(drawing)
    assert moves(grid, starts, goals, turn=turn, rounds=1)[1] != goals
    solution, end = moves(grid, starts, goals, turn=turn)
    assert end == goals
    assert solution.counters["rounds"] >= 4         # in vain; then aside, through, and back


@pytest.mark.small
def test_room_is_made_where_nobody_stands_or_goes() -> None:
    grid = grid_of("#......\n#......\n.......\n.######")
    places = [(1, 2), (0, 2)], [(0, 3), (0, 2)], [(2, 1)]
    cells, goals, post = (np.array([grid.cell(*point) for point in points], np.int32) for points in places)
    paths = plan(grid, *places[:2]).paths
    for obstacles in (post[:0], post):
        aside, through, back = make_room(grid, paths, Instance(cells, goals, obstacles))
        assert not {*aside.tolist()} & {*cells.tolist(), *goals.tolist(), *paths.cell.tolist(), *obstacles.tolist()}
        assert through.tolist() == [goals[0], aside[1]]
        assert back.tolist() == goals.tolist()
    assert make_room(grid, paths, Instance(goals, goals, post)) == []


def test_units_that_are_not_provable_stay_if_so_wished() -> None:
    grid = grid_of("......\n......\n@@.@@@\n@@.@@@")
    starts, goals = [(0, 0), (4, 0)], [(2, 3), (5, 1)]
    assert [v.provable for v in verdicts(grid, starts, goals)] == [False, True]
    solution, end = moves(grid, starts, goals, attempt_all=False)
    assert end == [(0, 0), (5, 1)]
    assert (solution.counters["rounds"], solution.counters["provable"], solution.home) == (1, 1, 1)
    assert moves(grid, starts, goals)[1] == goals


def test_known_alternate_paths_change_no_move(tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    grid = Grid(draw.random((14, 14)) < 0.85, connectivity=4)
    free = [grid.xy(cell) for cell in draw.permutation(grid.free_cells()).tolist()]
    folder = str(tmp_path)
    scratch, _ = moves(grid, free[:20], free[20:40], alternates_folder=folder)
    for k in range(3):
        moves(grid, free[k : k + 10], free[k + 30 : k + 40])
    again, _ = moves(grid, free[:20], free[20:40])
    assert again.counters["alternates_searched"] < scratch.counters["alternates_searched"]
    assert (again.unit.tolist(), again.to.tolist()) == (scratch.unit.tolist(), scratch.to.tolist())
    loaded = AlternatePaths.load(grid, next(tmp_path.iterdir()))
    assert (loaded.alternates.bare != -1).sum() > 100


# --- in the world -----------------------------------------------------------------------------------------------------


@pytest.mark.small
def test_the_world_takes_the_ticks_that_the_plan_said() -> None:
    draw = np.random.default_rng(1)
    for needless in ("keep", "trim", "shorten"):
        grid = Grid(draw.random((9, 9)) < 0.9)
        world = World(grid, create("mapp", needless=needless))
        free = [grid.xy(cell) for cell in draw.permutation(grid.free_cells()).tolist()]
        for start, goal in zip(free[:12], free[-12:], strict=True):
            if grid.reachable(start, goal):
                world.add(start, goal)
        world.tick()
        counters = world.planner.counters()
        world.run(max_ticks=counters["makespan_ticks"] - 1)
        assert world.ticks == counters["makespan_ticks"]
        assert (world.trace().moves != 0).sum() == counters["executed_moves"]
        assert counters["executed_moves"] <= counters["total_moves"]
        assert needless != "keep" or counters["executed_moves"] == counters["total_moves"]
        assert world.all_home()
        assert counters["repaths"] == 0


@pytest.mark.small
def test_an_order_renews_the_plan_and_the_promise() -> None:
    world = World(grid_of(BRIDGE), "mapp")
    world.add((0, 0), (10, 3))
    world.add((1, 3), (5, 1))
    world.tick()
    assert [(v.agent, v.provable) for v in world.planner.promises()] == [(0, True), (1, False)]
    world.order(1, (3, 3))
    world.tick()
    assert (world.planner.counters()["provable"], world.planner.counters()["repaths"]) == (2, 1)
    assert world.planner.promises() == [Promise(agent, True, "", None) for agent in (0, 1)]
    assert world.run(max_ticks=60) == "done"


@pytest.mark.small
def test_promises_are_there_before_the_first_tick_and_move_nobody() -> None:
    grid, starts, goals = grid_of(BRIDGE), [(0, 0), (1, 3)], [(10, 3), (5, 1)]
    world, silent = World(grid, "mapp"), World(grid, "mapp")
    for start, goal in zip(starts, goals, strict=True):
        world.add(start, goal)
        silent.add(start, goal)
    asked = world.planner.promises()
    assert asked == verdicts(grid, starts, goals)
    assert [world.position(agent) for agent in range(2)] == starts
    assert world.planner.counters() == {}
    for _ in range(20):
        world.tick()
        silent.tick()
        assert world.planner.promises() == asked            # those of the plan, wherever the agents are by now
        assert world.state_hash() == silent.state_hash()
    world.order(1, (0, 3))
    stands = [world.position(agent) for agent in range(2)]
    assert world.planner.promises() == verdicts(grid, stands, [goals[0], (0, 3)])
    assert world.planner.promises() != asked


@pytest.mark.small
def test_the_intent_of_an_agent_is_its_moves_ahead() -> None:
    draw = np.random.default_rng(3)
    grid = open_map(6, 6)
    world = World(grid, create("mapp", needless="keep"))
    places, goals = (draw.permutation(grid.size)[:14].tolist() for _ in range(2))
    for start, goal in zip(places, goals, strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    assert world.planner.intent(0) == Intent()
    waited = 0
    world.tick()
    assert world.planner.overlay("traffic").sum() == sum(len(world.planner.intent(agent).path) for agent in range(14))
    while not world.all_home():
        before = [world.planner.intent(agent) for agent in range(14)]
        cells = world.state.agents.cell.copy()
        world.tick()
        for agent, intent in enumerate(before):
            here, told = int(world.state.agents.cell[agent]), world.planner.intent(agent)
            assert intent.path[-1:] in ((), (goals[agent],))
            if here != cells[agent]:
                assert (here, *told.path) == intent.path
                assert (told.reason, told.waits_for) == ("", -1)
            elif intent.path:
                assert (told.path, told.reason) == (intent.path, "another agent is to pass there first")
                assert told.waits_for not in (agent, NO_AGENT)
                assert world.state.occupant[told.path[0]] in (told.waits_for, NO_AGENT)
                if here != goals[agent]:
                    assert world.agent_state(agent).waits_for == told.waits_for
                waited += 1
    assert waited > 10
    assert all(world.planner.intent(agent) == Intent() for agent in range(14))
    assert not world.planner.overlay("traffic").any()


@pytest.mark.small
def test_the_intent_says_why_an_agent_stays() -> None:
    world = World(open_map(6, 3), create("mapp", patience_ticks=9))
    world.add((0, 1), (5, 1))
    world.tick()
    squatter = world.add((2, 1), controlled=False)
    world.tick()
    path = tuple(world.grid.cell(x, 1) for x in range(2, 6))
    assert world.planner.intent(0) == Intent(path, squatter, "an agent outside the plan is in the way")
    assert world.planner.intent(squatter) == Intent()
    shut_in = World(open_map(6, 3), "mapp")
    agent = shut_in.add((0, 1), (5, 1))
    shut_in.add((5, 1), controlled=False)       # after the order, which would lead beside it otherwise
    shut_in.tick()
    assert shut_in.planner.intent(agent) == Intent(reason="the plan does not bring it home")


@pytest.mark.small
def test_only_edits_that_matter_renew_the_plan() -> None:
    world = World(open_map(9, 5), "mapp")
    world.add((0, 2), (8, 2))
    world.tick()
    world.block([(4, 0)])
    world.tick()
    assert world.planner.counters()["repaths"] == 0
    world.block([(5, 2)])
    assert world.run(max_ticks=30) == "done"
    assert world.planner.counters()["repaths"] == 1


@pytest.mark.small
def test_an_agent_of_the_program_holds_up_those_behind_it_and_then_is_walked_around() -> None:
    world = World(open_map(8, 3), create("mapp", patience_ticks=4))
    world.add((0, 1), (7, 1))
    world.tick()
    blocker = world.add((3, 1), controlled=False)
    world.tick()
    world.tick()
    assert world.position(0) == (2, 1)
    assert world.agent_state(0).waits_for == blocker
    assert world.run(max_ticks=30) == "done"
    assert world.planner.counters()["repaths"] == 1


@pytest.mark.small
def test_a_goal_that_was_occupied_is_reached_when_it_is_free() -> None:
    world = World(open_map(6, 3), create("mapp", patience_ticks=3))
    agent = world.add((0, 1), (5, 1))
    squatter = world.add((5, 1), controlled=False)      # after the order, which would lead beside it otherwise
    for _ in range(5):
        world.tick()
    assert world.position(agent) == (0, 1)
    world.move(squatter, (5, 0))
    assert world.run(max_ticks=30) == "done"


@pytest.mark.small
def test_agents_that_are_pinned_at_home_are_walls() -> None:
    world = World(open_map(7, 3), create("mapp", needless="keep"))
    world.add((0, 1), (6, 1))
    post = world.add((3, 1), pinned=True)
    late = world.add((5, 1))
    world.tick()
    assert world.position(late) != (5, 1)
    world.pin(late)
    for _ in range(20):
        world.tick()
        assert world.position(post) == (3, 1)
    assert world.all_home()


@pytest.mark.small
def test_an_agent_that_leaves_holds_nobody_up() -> None:
    world = World(open_map(7, 2), "mapp")
    gone = world.add((0, 0), (6, 0))
    world.add((6, 0), (0, 0))
    world.tick()
    world.tick()
    world.remove(gone)
    assert world.run(max_ticks=40) == "done"
    assert world.planner.counters()["repaths"] == 0


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_whoever_leaves_in_a_crowd_the_others_keep_to_the_order_of_their_moves(seed: int) -> None:
    draw = np.random.default_rng(seed)
    world = World(open_map(7, 5), "mapp")
    places = [world.grid.xy(cell) for cell in draw.permutation(world.grid.free_cells()).tolist()]
    goals = [places[k] for k in draw.permutation(len(places))[:14]]
    for start, goal in zip(places[:14], goals, strict=True):
        world.add(start, goal)
    for gone in range(6):
        world.tick()
        world.tick()
        world.remove(gone)
    world.run(max_ticks=300)
    assert world.planner.counters()["repaths"] == 0
    assert world.home_count() >= 6


@pytest.mark.small
def test_a_post_that_is_given_up_renews_the_plan_of_those_left_over() -> None:
    world = World(grid_of("@@......\n........\n@@......"), create("mapp", patience_ticks=3))
    post = world.add((1, 1), pinned=True)
    agent = world.add((0, 1), (7, 1))
    for _ in range(5):
        world.tick()
    assert world.position(agent) == (0, 1)
    world.pin(post, False)
    for _ in range(5):
        world.tick()
    assert world.planner.counters()["repaths"] == 1


@pytest.mark.small
def test_of_two_sent_to_one_place_one_gets_there_and_one_beside_it() -> None:
    world = World(open_map(5, 5), "mapp")
    world.add((0, 0), (4, 4))
    world.add((4, 0), (4, 4))
    world.add((2, 2), (0, 4))
    for _ in range(12):
        world.tick()
    assert [world.position(agent) for agent in range(3)] == [(4, 4), world.goal(1), (0, 4)]
    assert world.order_of(1).shared


def test_explain_says_who_will_arrive_and_moves_nobody(tmp_path: Path) -> None:
    file = tmp_path / "bridge.map"
    grid_of(BRIDGE).save(file)
    (tmp_path / "bridge.scen").write_text(
        "version 1\n0\tbridge.map\t11\t4\t0\t0\t10\t3\t0\n0\tbridge.map\t11\t4\t1\t3\t5\t1\t0\n"
    )
    words = ["solve", str(file), "--scen", str(tmp_path / "bridge.scen"), "--agents", "2", "--explain"]
    said = CliRunner().invoke(app, [*words, "--algorithm", "mapp"])
    assert said.exit_code == 0
    assert said.stdout.splitlines() == [
        "agent 1: not provable, buffer zone: too few blanks behind the last tunnel, which ends here at (3, 1)",
        "1 of 2 agents are provable",
    ]
    told = json.loads(CliRunner().invoke(app, [*words, "--algorithm", "mapp", "--json"]).stdout)
    assert (told["agents"], told["provable"]) == (2, 1)
    assert told["verdicts"][0] == {"agent": 0, "provable": True, "condition": "", "at": None}
    assert told["verdicts"][1]["at"] == [3, 1]
    basic = CliRunner().invoke(app, [*words, "--algorithm", "mapp", "--no-alternate-connectivity"])
    assert basic.stdout.splitlines()[-1] == "0 of 2 agents are provable"
    other = CliRunner().invoke(app, [*words, "--algorithm", "lra"])
    assert "lra promises nothing beforehand" in str(other.exception)
