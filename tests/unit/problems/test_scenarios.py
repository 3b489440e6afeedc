"""The drawn problems: where starts and goals must lie, kind by kind."""

from __future__ import annotations

import itertools
from collections import deque
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wend.errors import ParameterError, ProblemError, UnknownNameError
from wend.maps.generators import generate
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.problems.problem import Problem
from wend.problems.scenarios import (
    CHAINS,
    JAMS,
    MARKER_SCENARIOS,
    PROBLEMS,
    SEVEN_TYPES,
    _two_clusters,
    make_group,
    make_problem,
    marker_scenario,
)

MAPS = {
    "arena": generate("arena", seed=2),
    "caves": generate("caves", seed=1),
    "rooms": generate("rooms", seed=1),
    "islands": Grid.from_text("\n".join(["@" * 40] * 3 + ["." * 9 + "@" + "." * 30] * 20)),    # C is not the whole map
}


def moves_from(grid: Grid, start: Point) -> dict[Point, int]:
    """Breadth-first search, the obvious way."""
    distance = {start: 0}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for there in grid.neighbours(here):
            if there not in distance:
                distance[there] = distance[here] + 1
                queue.append(there)
    return distance


def is_ball(grid: Grid, centre: Point, places: list[Point]) -> bool:
    """Whether no cell outside the places is nearer to the centre than one inside."""
    distance = moves_from(grid, centre)
    radius = sorted(distance.values())[len(places) - 1]
    return max(distance[place] for place in places) <= radius


def across_box(grid: Grid, places: list[Point]) -> NDArray[np.float64]:
    """The places as (u, v), from 0 to 1 across the bounding box of the largest component."""
    component = np.array([grid.xy(cell) for cell in grid.largest_component().tolist()])
    low, high = component.min(axis=0), component.max(axis=0)
    return np.asarray((np.array(places) - low) / (high - low))


def goes_across(starts: NDArray[np.float64], goals: NDArray[np.float64], share: float) -> list[tuple[int, bool]]:
    """The (axis, towards the high side) in which all of them go from side to side."""
    ways = []
    for axis in (0, 1):
        for upwards in (True, False):
            a, b = (starts[:, axis], goals[:, axis]) if upwards else (goals[:, axis], starts[:, axis])
            if a.max() <= share + 1e-9 and b.min() >= 1 - share - 1e-9:
                ways.append((axis, upwards))
    return ways


# --- what holds for all --------------------------------------------------------------------------------------------


def assert_sound(problem: Problem, agents: int) -> None:
    """Distinct starts, distinct goals, all in the largest component, nobody at home."""
    assert problem.agents == agents
    assert len(set(problem.starts.tolist())) == agents
    assert len(set(problem.goals.tolist())) == agents
    assert not np.any(problem.starts == problem.goals)
    inside = problem.grid.largest_component()
    assert np.isin(problem.starts, inside).all()
    assert np.isin(problem.goals, inside).all()


@pytest.mark.parametrize("kind", SEVEN_TYPES)
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("agents", [1, 2, 47, 300])
def test_every_type_on_every_map(kind: str, name: str, agents: int) -> None:
    problem = make_problem(kind, MAPS[name], agents=agents, seed=agents)
    assert_sound(problem, agents)
    assert (problem.name, problem.seed) == (kind, agents)


@pytest.mark.parametrize("kind", SEVEN_TYPES)
@pytest.mark.parametrize("rules", [{"connectivity": 4}, {"corner_cutting": True}])
def test_every_type_under_other_rules(kind: str, rules: dict[str, int]) -> None:
    grid = generate("random", seed=3, blocked=0.35).with_rules(**rules)  # type: ignore[arg-type]
    assert_sound(make_problem(kind, grid, agents=40, seed=1), 40)


@pytest.mark.parametrize("kind", SEVEN_TYPES)
def test_300_agents_on_the_smallest_map_of_the_thesis(kind: str) -> None:
    """It has 564 cells, so that starts and goals overlap."""
    grid = generate("open", width=47, height=12)
    for seed in range(5):
        assert_sound(make_problem(kind, grid, agents=300, seed=seed), 300)


@pytest.mark.parametrize("kind", SEVEN_TYPES)
@settings(max_examples=25, deadline=None)
@given(width=st.integers(1, 7), height=st.integers(1, 7), seed=st.integers(0, 99), data=st.data())
def test_tiny_and_crowded_maps(kind: str, width: int, height: int, seed: int, data: st.DataObject) -> None:
    grid = Grid(np.ones((height, width)))
    if grid.size == 1:
        with pytest.raises(ProblemError, match="need more space"):
            make_problem(kind, grid, agents=1, seed=seed)
        return
    agents = data.draw(st.integers(1, grid.size))
    assert_sound(make_problem(kind, grid, agents=agents, seed=seed), agents)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_seed_is_all_the_randomness(kind: str) -> None:
    grid = generate(kind) if kind in JAMS else MAPS["caves"]
    first = make_problem(kind, grid, agents=20, seed=4)
    assert first == make_problem(kind, grid.copy(), agents=20, seed=4)
    others = [make_problem(kind, grid, agents=20, seed=seed) for seed in range(4)]
    assert len({(tuple(p.starts.tolist()), tuple(p.goals.tolist())) for p in [first, *others]}) == 5


def test_the_sizes_of_a_seed_are_drawn_independently() -> None:
    """The first agents of a larger problem are not those of a smaller one."""
    sizes = range(25, 201, 25)
    problems = [make_problem("random", MAPS["caves"], agents=agents, seed=4) for agents in sizes]
    for ends in ("starts", "goals"):
        first = {tuple(getattr(problem, ends)[:25].tolist()) for problem in problems}
        assert len(first) == len(problems)
        for smaller, larger in itertools.pairwise(problems):        # what they share, they share by chance
            shared = np.intersect1d(getattr(smaller, ends), getattr(larger, ends)).size
            assert shared < smaller.agents / 2


@pytest.mark.parametrize("kind", PROBLEMS)
def test_another_size_is_another_draw(kind: str) -> None:
    grid = generate(kind) if kind in JAMS else MAPS["caves"]
    first = {tuple(make_problem(kind, grid, agents=agents, seed=4).starts[:4].tolist()) for agents in range(20, 28)}
    assert len(first) > 1


def test_refused() -> None:
    grid = MAPS["rooms"]
    with pytest.raises(UnknownNameError, match=r"unknown kind of problem 'swap'.* Known: random, cross-sides"):
        make_problem("swap", grid, agents=1, seed=1)
    with pytest.raises(ParameterError, match="agents is 0, but must be from 1"):
        make_problem("random", grid, agents=0, seed=1)
    with pytest.raises(ParameterError, match="seed is -1"):
        make_problem("random", grid, agents=1, seed=-1)
    with pytest.raises(ParameterError, match=r"agents must be a whole number, not 2\.5"):
        make_problem("random", grid, agents=2.5, seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", SEVEN_TYPES)
def test_too_many_agents(kind: str) -> None:
    """The smaller island does not count."""
    with pytest.raises(ProblemError, match="601 agents need more space: the map's largest component has 600 cells"):
        make_problem(kind, MAPS["islands"], agents=601, seed=1)
    assert_sound(make_problem(kind, MAPS["islands"], agents=600, seed=1), 600)


# --- the seven types -----------------------------------------------------------------------------------------------


def test_random_goes_everywhere() -> None:
    """Over many seeds every cell is somebody's start and somebody's goal."""
    grid = generate("open", width=6, height=5)
    problems = [make_problem("random", grid, agents=8, seed=seed) for seed in range(40)]
    for ends in ("starts", "goals"):
        assert len({cell for problem in problems for cell in getattr(problem, ends).tolist()}) == 30


@pytest.mark.parametrize("name", MAPS)
def test_cross_sides_goes_from_strip_to_strip(name: str) -> None:
    grid = MAPS[name]
    seen = set()
    for seed in range(24):
        problem = make_problem("cross-sides", grid, agents=20, seed=seed)
        ways = goes_across(across_box(grid, problem.start_points()), across_box(grid, problem.goal_points()), 0.2)
        assert len(ways) == 1
        seen.add(ways[0])
    assert len(seen) == 4       # both axes, both directions


def test_a_strip_that_is_too_small_grows_just_enough() -> None:
    """A strip of 0.2 of 21 by 10 cells is 5 columns or 2 rows."""
    grid = generate("open", width=21, height=10)
    for agents in (50, 51, 100, 210):
        for seed in range(8):
            problem = make_problem("cross-sides", grid, agents=agents, seed=seed)
            starts, goals = across_box(grid, problem.start_points()), across_box(grid, problem.goal_points())
            enough = []
            for axis, cells in ((0, 21), (1, 10)):
                share = 0.2
                while np.count_nonzero(np.arange(cells) / (cells - 1) <= share) * (210 // cells) < agents:
                    share *= 1.1
                enough += [way for way in goes_across(starts, goals, share) if way[0] == axis]
            assert enough


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("agents", [20, 21])
def test_swap_sides_sends_exactly_half_each_way(name: str, agents: int) -> None:
    grid = MAPS[name]
    for seed in range(8):
        problem = make_problem("swap-sides", grid, agents=agents, seed=seed)
        starts, goals = across_box(grid, problem.start_points()), across_box(grid, problem.goal_points())
        going = (agents + 1) // 2
        (axis, upwards), = goes_across(starts[:going], goals[:going], 0.2)
        assert goes_across(starts[going:], goals[going:], 0.2) == [(axis, not upwards)]


def test_swap_sides_of_300_agents_is_150_each_way() -> None:
    problem = make_problem("swap-sides", generate("arena"), agents=300, seed=1)
    starts, goals = across_box(problem.grid, problem.start_points()), across_box(problem.grid, problem.goal_points())
    upwards = [np.count_nonzero(starts[:, axis] < goals[:, axis]) for axis in (0, 1)]
    assert 150 in upwards


@pytest.mark.parametrize("name", MAPS)
def test_inside_out_starts_in_the_middle_and_ends_in_the_ring(name: str) -> None:
    grid = MAPS[name]
    problem = make_problem("inside-out", grid, agents=20, seed=3)
    component = np.array([grid.xy(cell) for cell in grid.largest_component().tolist()])
    twice_off_centre = 2 * component - component.min(axis=0) - component.max(axis=0)
    x, y = component[np.argmin((twice_off_centre**2).sum(axis=1))].tolist()
    distance = moves_from(grid, (x, y))
    radius = sorted(distance.values())[3 * 20 - 1]
    assert max(distance[place] for place in problem.start_points()) <= radius
    goals = across_box(grid, problem.goal_points())
    assert np.minimum(goals, 1 - goals).min(axis=1).max() <= 0.15


def test_outside_in_is_inside_out_backwards() -> None:
    inside_out = make_problem("inside-out", MAPS["arena"], agents=50, seed=3)
    outside_in = make_problem("outside-in", MAPS["arena"], agents=50, seed=3)
    assert inside_out.start_points() == outside_in.goal_points()
    assert inside_out.goal_points() == outside_in.start_points()


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("seed", range(4))
def test_tight_clusters_are_balls_far_apart(name: str, seed: int) -> None:
    grid = MAPS[name]
    here, there = (grid.xy(cell) for cell in _two_clusters(grid, 40, np.random.default_rng((seed, 40))))
    problem = make_problem("tight-to-tight", grid, agents=40, seed=seed)
    assert is_ball(grid, here, problem.start_points())
    assert is_ball(grid, there, problem.goal_points())
    assert not set(problem.start_points()) & set(problem.goal_points())
    distance = moves_from(grid, here)
    assert 2 * distance[there] >= max(distance.values())


def test_tight_clusters_do_not_overlap_where_that_can_be() -> None:
    grid = generate("open", width=40, height=4)
    for seed in range(30):
        problem = make_problem("tight-to-tight", grid, agents=45, seed=seed)
        assert not set(problem.start_points()) & set(problem.goal_points())


@pytest.mark.parametrize("name", MAPS)
def test_tight_to_wide_ends_in_an_area_six_times_as_large(name: str) -> None:
    grid = MAPS[name]
    _, there = _two_clusters(grid, 40, np.random.default_rng((5, 40)))
    problem = make_problem("tight-to-wide", grid, agents=40, seed=5)
    tight = make_problem("tight-to-tight", grid, agents=40, seed=5)
    assert set(problem.start_points()) == set(tight.start_points())
    distance = moves_from(grid, grid.xy(there))
    nearest = sorted(distance.values())
    farthest = max(distance[place] for place in problem.goal_points())
    assert nearest[40 - 1] < farthest <= nearest[6 * 40 - 1]


def test_the_seven_types_on_a_benchmark_map(movingai: Path) -> None:
    grid = Grid.load(movingai / "bg512-map.zip" / "AR0411SR.map")
    for kind in SEVEN_TYPES:
        assert_sound(make_problem(kind, grid, agents=300, seed=1), 300)


# --- the jams ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("agents", [2, 7, 24, 64])
def test_counterflow_sends_half_each_way(width: int, agents: int) -> None:
    """The rooms are 8 columns each, from 1 and from 18."""
    problem = make_problem("counterflow", generate("counterflow", width=width, length=9), agents=agents, seed=1)
    assert_sound(problem, agents)
    starts, goals = problem.start_points(), problem.goal_points()
    assert all(x <= 8 for x, _ in starts[::2] + goals[1::2])
    assert all(x >= 18 for x, _ in starts[1::2] + goals[::2])


@pytest.mark.parametrize("width", [1, 2, 3])
def test_counterflow_keeps_to_the_far_half_of_the_rooms(width: int) -> None:
    """The corridor reaches from column 9 to column 17."""
    grid = generate("counterflow", width=width, length=9)
    problem = make_problem("counterflow", grid, agents=64, seed=1)
    for first, last, mouth in ((1, 8, 9), (18, 25, 17)):
        room = [(x, y) for x in range(first, last + 1) for y in range(1, 9)]
        from_mouth = [moves_from(grid, (mouth, y)) for y in range(1, 9) if grid.is_free((mouth, y))]
        distance = {place: min(moves[place] for moves in from_mouth) for place in room}
        half_way = sorted(distance.values())[32]
        for places in (problem.start_points(), problem.goal_points()):
            inside = set(places) & set(room)
            assert len(inside) == 32
            assert min(distance[place] for place in inside) >= half_way


@pytest.mark.parametrize("width", [1, 2, 3])
def test_corner_joins_the_two_rooms(width: int) -> None:
    problem = make_problem("corner", generate("corner", width=width), agents=30, seed=2)
    assert_sound(problem, 30)
    first = [x + y < 17 for x, y in problem.start_points()]
    assert first == [True, False] * 15
    assert [x + y < 17 for x, y in problem.goal_points()] == [False, True] * 15


@pytest.mark.parametrize("width", [1, 2, 3])
def test_crossing_goes_straight_on(width: int) -> None:
    grid = generate("crossing", width=width)
    problem = make_problem("crossing", grid, agents=40, seed=2)
    assert_sound(problem, 40)

    def side(point: Point) -> str:
        (x, y), far = point, grid.width - 1
        return min((x, "west"), (y, "north"), (far - x, "east"), (far - y, "south"))[1]

    sides = [(side(a), side(b)) for a, b in zip(problem.start_points(), problem.goal_points(), strict=True)]
    assert sides == [("west", "east"), ("north", "south"), ("east", "west"), ("south", "north")] * 10


@pytest.mark.parametrize("width", [1, 2, 3])
def test_door_empties_a_full_room(width: int) -> None:
    grid = generate("door", width=width, room=6)
    problem = make_problem("door", grid, agents=36, seed=1)
    assert_sound(problem, 36)
    assert set(problem.start_points()) == {(x, y) for x in range(1, 7) for y in range(1, 7)}
    assert min(x for x, _ in problem.goal_points()) > 7 + 3
    turned = Grid(grid.passable[:, ::-1])
    assert min(x for x, _ in make_problem("door", turned, agents=36, seed=1).start_points()) > 12


@pytest.mark.parametrize("kind", JAMS)
def test_jams_under_four_connectivity(kind: str) -> None:
    grid = generate(kind).with_rules(connectivity=4)
    assert_sound(make_problem(kind, grid, agents=16, seed=0), 16)


@pytest.mark.parametrize(("kind", "places"), [("counterflow", 64), ("corner", 64), ("crossing", 72), ("door", 100)])
def test_jams_leave_space_to_give_way(kind: str, places: int) -> None:
    grid = generate(kind)
    assert make_problem(kind, grid, agents=places, seed=0).agents == places
    with pytest.raises(ProblemError, match=f"{places + 1} agents are too many .* have places for {places}"):
        make_problem(kind, grid, agents=places + 1, seed=0)


@pytest.mark.parametrize("kind", JAMS)
def test_jams_need_rooms(kind: str) -> None:
    rooms = 4 if kind == "crossing" else 2
    with pytest.raises(ProblemError, match=f"needs a map of {rooms} rooms joined by something narrower"):
        make_problem(kind, generate("open"), agents=2, seed=0)


def test_a_jam_of_your_own() -> None:
    grid = Grid.from_text("""
        @@@@@@@@@@@@@
        @...@@@@@@@@@
        @...@....@@@@
        @......@.@@@@
        @@@@@@@@....@
        @@@@@@@@....@
        @@@@@@@@....@
        @@@@@@@@@@@@@
    """)
    problem = make_problem("corner", grid, agents=6, seed=0)
    assert_sound(problem, 6)
    assert [x <= 3 for x, _ in problem.start_points()] == [True, False] * 3


# --- groups --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("name", MAPS)
def test_groups_stand_in_one_component_with_their_target(name: str, chain: str) -> None:
    grid = MAPS[name]
    inside = set(grid.largest_component().tolist())
    drawn = set()
    for seed in range(10):
        group = make_group(grid, agents=50, seed=seed, chain=chain)
        cells = [grid.cell(*start) for start in group.starts]
        assert len(set(cells)) == 50
        assert inside.issuperset([*cells, grid.cell(*group.target)])
        assert group.starts[0] != group.target
        drawn.add((group.starts, group.target))
        again = make_group(grid, agents=50, seed=seed, chain=chain)
        assert (again.starts, again.target) == (group.starts, group.target)
    assert len(drawn) == 10


def test_a_line_takes_the_first_free_place_and_goes_on_from_the_nearest_unit_when_stuck() -> None:
    grid = Grid.from_text("""
        ....
        ....
        @@..
    """)
    starts = [(2, 1), (1, 0), (0, 0), (0, 1), (1, 1), (2, 0), (3, 0), (3, 1), (2, 2), (3, 2)]
    found = [make_group(grid, agents=10, seed=seed).starts for seed in range(40)]
    assert tuple(starts) in found
    corner = next(group for group in found if group[0] == (0, 0))
    assert corner == ((0, 0), (1, 0), (2, 0), (3, 0), (2, 1), (1, 1), (0, 1), (3, 1), (2, 2), (3, 2))


def test_a_random_chain_steps_from_unit_to_unit_in_the_open() -> None:
    grid = generate("open", width=200, height=200)
    group = make_group(grid, agents=20, seed=3, chain="random")
    beside = [b in grid.neighbours(a) for a, b in zip(group.starts, group.starts[1:], strict=False)]
    assert sum(beside) >= 17
    assert group.starts != make_group(grid, agents=20, seed=3).starts


def test_a_compact_group_is_a_ball() -> None:
    for name in ("arena", "caves"):
        group = make_group(MAPS[name], agents=30, seed=5, chain="compact")
        assert is_ball(MAPS[name], group.starts[0], list(group.starts))


def test_groups_that_cannot_be() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown chain 'lines'\. Did you mean 'line'"):
        make_group(MAPS["arena"], agents=5, seed=0, chain="lines")
    with pytest.raises(ProblemError, match="7 agents need more space"):
        make_group(Grid.from_text("......"), agents=7, seed=0)
    with pytest.raises(UnknownNameError, match="unknown Map Marker scenario 'rock'"):
        marker_scenario("rock")


@pytest.mark.parametrize(
    ("name", "blocked", "rows"), [("lonely-tree", 1, 18), ("chinese-wall", 12, 24), ("boulder", 110, 18)]
)
def test_marker_scenarios(name: str, blocked: int, rows: int) -> None:
    assert name in MARKER_SCENARIOS
    group = marker_scenario(name)
    assert np.count_nonzero(~group.grid.passable) == blocked
    x, y = group.target
    assert group.starts == tuple((x + dx, y + rows + row) for row in (0, 1) for dx in range(4, -5, -1))
    assert group.grid.corner_cutting
    walls = np.argwhere(~group.grid.passable)[:, 1]
    assert walls.min() + walls.max() == 2 * x       # symmetric about the target's column
