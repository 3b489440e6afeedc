from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from wend import Grid, shortest_path
from wend.errors import ParameterError
from wend.groups.cohesion import Split, is_separated, places_over_time, splits, spread
from wend.groups.map_marker import mark_paths
from wend.maps.terrain import Point
from wend.problems.scenarios import marker_scenario

ISLAND = Grid.from_text("""
    ..........
    ..........
    ...@@@@...
    ..........
    ..........
""")


def via(*places: Point) -> list[Point]:
    """A path over these places, each joined to the next by a shortest one in the open."""
    points = [places[0]]
    for place in places[1:]:
        points += shortest_path(ISLAND, points[-1], place)[1:]
    return points


def test_an_obstacle_with_units_on_both_sides_parts_them() -> None:
    above = via((0, 2), (4, 1), (9, 2))
    below = via((0, 3), (4, 4), (9, 2))
    assert splits(ISLAND, [above, below, below]) == [Split((6, 2), 4, 1, 3)]
    assert splits(ISLAND, [above, above]) == []
    assert splits(ISLAND, [below, below, below]) == []


def test_a_whole_turn_around_an_obstacle_is_a_side_of_its_own() -> None:
    straight = via((0, 2), (4, 1), (9, 2))
    around = via((0, 2), (4, 1), (8, 2), (4, 3), (1, 2), (4, 1), (9, 2))
    there_and_back = via((0, 2), (4, 1), (8, 2), (4, 1), (9, 2))
    assert [split.minority for split in splits(ISLAND, [straight, around])] == [1]
    assert splits(ISLAND, [straight, there_and_back]) == []


def test_it_does_not_matter_which_cell_of_it_the_ray_begins_in() -> None:
    above, below = via((0, 2), (4, 1), (9, 2)), via((0, 3), (4, 4), (9, 2))
    for turn in range(4):
        grid = Grid(np.rot90(ISLAND.passable, turn))
        turned = [[_turned(point, turn) for point in path] for path in (above, below, above)]
        (split,) = splits(grid, turned)
        assert (split.extent, split.minority) == (4, 1)


def _turned(point: Point, turn: int) -> Point:
    width, height = ISLAND.width, ISLAND.height
    x, y = point
    for _ in range(turn):       # np.rot90 turns the rows anticlockwise
        x, y, width, height = y, width - 1 - x, height, width
    return x, y


def test_starts_and_ends_that_differ_are_joined_by_the_way_between_them() -> None:
    above, below = via((0, 1), (9, 1)), via((0, 3), (9, 3))
    assert [split.minority for split in splits(ISLAND, [above, below])] == [1]
    along_the_front = via((0, 0), (9, 0))
    assert splits(ISLAND, [above, along_the_front]) == []
    # Side by side, left of the obstacle and right of it, and nobody goes around it
    assert splits(ISLAND, [via((0, 0), (1, 4)), via((2, 2), (1, 0)), via((0, 4), (0, 0))]) == []


def test_what_touches_the_edge_has_no_two_sides() -> None:
    pier = Grid.from_text("""
        ...@...
        ...@...
        .......
        .@...@.
        .......
    """)
    low = [(x, 2) for x in range(7)]
    under = [(0, 2), (0, 3), (0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (6, 3), (6, 2)]
    assert [split.place for split in splits(pier, [low, under])] == [(1, 3), (5, 3)]


def test_walls_that_touch_at_a_corner_are_one_unless_corners_may_be_cut() -> None:
    drawing = """
        .....
        .@...
        ..@..
        .....
    """
    cutting = Grid.from_text(drawing, corner_cutting=True)
    above = [(0, 1), (0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (4, 1)]
    below = [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (3, 3), (4, 3), (4, 2), (4, 1)]
    assert [split.extent for split in splits(Grid.from_text(drawing), [above, below])] == [2]
    assert [split.extent for split in splits(cutting, [above, below])] == [1, 1]


def winding(loop: list[Point], centre: Point) -> int:
    """How often a closed walk goes around a place, from the angles under which its steps are seen."""
    angles = [math.atan2(y - centre[1], x - centre[0]) for x, y in loop]
    turns = [(b - a + math.pi) % (2 * math.pi) - math.pi for a, b in itertools.pairwise([*angles, angles[0]])]
    return round(sum(turns) / (2 * math.pi))


def enclosed(grid: Grid) -> list[set[Point]]:
    """The blocked parts of a map that does not cut corners, without those that touch its edge."""
    left = {(x, y) for x in range(grid.width) for y in range(grid.height) if not grid.is_free((x, y))}
    parts = []
    while left:
        part, queue = set(), [left.pop()]
        while queue:
            x, y = queue.pop()
            part.add((x, y))
            beside = {(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)} & left
            left -= beside
            queue += beside
        if all(0 < x < grid.width - 1 and 0 < y < grid.height - 1 for x, y in part):
            parts.append(part)
    return parts


def test_sides_agree_with_the_winding_of_the_loop_between_two_units() -> None:
    parted = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        grid = Grid(rng.random((12, 14)) < 0.8)
        places = [grid.xy(int(cell)) for cell in rng.choice(grid.largest_component(), 13)]
        starts, ends = places[:6], [places[6]] * 3 + places[7:10]
        between = [shortest_path(grid, a, b) for a, b in itertools.pairwise(starts)]
        after = [shortest_path(grid, a, b) for a, b in itertools.pairwise(ends)]
        paths = [[*shortest_path(grid, a, places[10 + k % 3]), *shortest_path(grid, places[10 + k % 3], b)[1:]]
                 for k, (a, b) in enumerate(zip(starts, ends, strict=True))]  # fmt: skip
        found = splits(grid, paths)
        for part in enclosed(grid):
            centre = min(part)
            sides = []
            for unit, path in enumerate(paths):
                there = [point for way in between[:unit] for point in way]
                back = [point for way in reversed(after[:unit]) for point in reversed(way)]
                sides.append(winding([*there, *path, *back, *reversed(paths[0])], centre))
            minority = len(sides) - max(Counter(sides).values())
            assert [split.minority for split in found if split.place in part] == ([minority] if minority else [])
            parted += minority > 0
    assert parted > 50


def test_separated_is_a_matter_of_size_and_number() -> None:
    wide, lonely = Split((1, 1), 18, 2, 50), Split((1, 1), 40, 1, 50)
    assert is_separated([wide])
    assert not is_separated([Split((1, 1), 17, 25, 50)])        # 2.5 sqrt(50) is 17.7
    assert is_separated([Split((1, 1), 17, 25, 50)], extent=12)
    assert not is_separated([lonely])
    assert not is_separated([])
    assert wide.severity == pytest.approx(18 * 2 / 50)


def test_the_most_severe_split_comes_first() -> None:
    grid = Grid.from_text("""
        ...........
        .@...@@@@..
        ...........
    """)
    above, below = [(x, 0) for x in range(11)], [(x, 2) for x in range(11)]
    assert [split.extent for split in splits(grid, [above, below])] == [4, 1]


def test_a_group_needs_units_with_paths() -> None:
    with pytest.raises(ParameterError, match="at least one unit"):
        splits(ISLAND, [])
    with pytest.raises(ParameterError, match="every unit a path"):
        splits(ISLAND, [[(0, 0)], []])
    assert splits(ISLAND, [[(0, 0)], [(9, 4)]]) == []


@pytest.mark.parametrize(
    ("name", "factor", "cap", "separated"),
    [
        ("lonely-tree", 1.0, 1.0, False),
        ("lonely-tree", 0.9, 0.75, False),
        ("chinese-wall", 1.0, 1.0, True),
        ("chinese-wall", 0.9, 0.75, False),
        ("boulder", 1.0, 1.0, True),
        ("boulder", 0.9, 0.75, False),
        ("boulder", 0.95, 0.75, True),
    ],
)
def test_the_papers_scenarios(name: str, factor: float, cap: float, separated: bool) -> None:
    group = marker_scenario(name)
    paths = mark_paths(group.grid, group.starts, group.target, factor=factor, cap=cap)
    assert is_separated(splits(group.grid, paths)) is separated


def test_spread_is_the_mean_distance_from_the_centre() -> None:
    places = places_over_time([[(0, 0), (1, 0), (2, 0)], [(4, 0)]])
    assert places.tolist() == [[[0, 0], [4, 0]], [[1, 0], [4, 0]], [[2, 0], [4, 0]]]
    assert spread(places).tolist() == [2.0, 1.5, 1.0]


def test_map_marker_walks_closer_together_than_astar() -> None:
    for name in ("chinese-wall", "boulder"):
        group = marker_scenario(name)
        apart = [
            spread(places_over_time(mark_paths(group.grid, group.starts, group.target, factor=f, cap=c))).mean()
            for f, c in ((1.0, 1.0), (0.9, 0.75))
        ]
        assert apart[1] < 0.6 * apart[0]
