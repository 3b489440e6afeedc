from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.reference.astar import astar
from tests.reference.waypoints import is_cut, next_waypoint, sees
from wend import Grid, shortest_path
from wend.errors import UnknownNameError
from wend.groups.map_marker import mark_paths
from wend.groups.orders import (
    SPACING,
    GroupOrder,
    advance,
    cut_ways,
    in_sight,
    make_routes,
    shortened,
    should_exchange,
    waypoints,
    ways_to,
    with_agents,
    with_way,
)
from wend.maps import generators as mapgen


def random_grid(seed: int, *, side: int = 24, free: float = 0.75) -> Grid:
    draw = np.random.default_rng(seed)
    rules = {"connectivity": 4} if seed % 3 == 0 else {"corner_cutting": seed % 3 == 1}
    return Grid(draw.random((side, side)) < free, **rules)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_ways_of_a_move_are_shortest_paths(seed: int) -> None:
    grid = random_grid(seed)
    units = np.random.default_rng(seed).permutation(grid.largest_component())[:12].tolist()
    target = units.pop()
    for unit, way in zip(units, ways_to(grid, units, target, "move"), strict=True):
        assert (way[0], way[-1]) == (unit, target)
        points = [grid.xy(int(cell)) for cell in way]
        assert all(b in grid.neighbours(a) for a, b in pairwise(points))
        steps = astar(grid, unit, target)[0]
        diagonals = sum(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(points))
        assert (len(points) - 1, diagonals) == (len(steps), sum(d >= 4 for d in steps))


@pytest.mark.small
def test_one_search_is_enough_for_a_whole_group_however_large_the_map() -> None:
    grid = mapgen.open_map(width=60, height=60)
    units = [grid.cell(x, y) for x in range(0, 60, 19) for y in range(0, 60, 19)]
    for unit, way in zip(units, ways_to(grid, units, grid.cell(41, 3), "move"), strict=True):
        assert way.size - 1 == len(shortest_path(grid, grid.xy(unit), (41, 3))) - 1


@pytest.mark.small
def test_ways_of_an_attack_move_are_map_markers() -> None:
    grid = random_grid(1)
    units = grid.largest_component()[:5].tolist()
    target = int(grid.largest_component()[-1])
    paths = mark_paths(grid, [grid.xy(unit) for unit in units], grid.xy(target))
    ways = ways_to(grid, units, target, "attack_move")
    assert [[grid.xy(int(cell)) for cell in way] for way in ways] == [list(path) for path in paths]


@pytest.mark.small
def test_a_way_is_shortened_by_as_much_as_its_slot_is_off_the_target() -> None:
    grid = mapgen.open_map(width=40, height=3)
    way = ways_to(grid, [grid.cell(0, 1)], grid.cell(30, 1), "move")[0]
    assert grid.xy(int(shortened(grid, way, grid.cell(24, 2))[-1])) == (21, 1)
    assert shortened(grid, way[-2:], grid.cell(24, 2)).size == 0


def test_a_mode_that_there_is_not_is_an_error_that_lists_the_others() -> None:
    with pytest.raises(UnknownNameError, match="attack_move"):
        GroupOrder(frozenset(), (0, 0), "charge")


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_sight_agrees_with_the_reference(seed: int) -> None:
    grid = random_grid(seed, side=9)
    cells = grid.free_cells().tolist()
    for here in cells[::3]:
        for there in cells:
            assert in_sight(grid.tables, here, there) == sees(grid, grid.xy(here), grid.xy(there))


@pytest.mark.small
@pytest.mark.parametrize("seed", range(12))
def test_waypoints_and_cuts_agree_with_the_reference(seed: int) -> None:
    """Agents that stumble about near their ways, and walls that are built on them."""
    grid = random_grid(seed, free=0.9)
    draw = np.random.default_rng(seed)
    cells = draw.permutation(grid.largest_component())
    units, target = cells[:8].tolist(), int(cells[8])
    ways = ways_to(grid, units, target, "move")
    routes = with_agents(make_routes(), 3)
    for agent, way in enumerate(ways):
        routes = with_way(with_agents(routes, agent + 1), agent, way)
        routes.goal[agent] = target
    places = [[grid.xy(int(cell)) for cell in way] for way in ways]
    ahead = {agent: SPACING for agent in range(8) if len(places[agent]) > SPACING}
    cell = np.array(units, dtype=np.int32)
    heading = np.array([waypoints(routes, k)[0] if k in ahead else target for k in range(8)], dtype=np.int32)
    for _ in range(25):
        for agent in range(8):
            here = int(cell[agent])
            beside = [grid.cell(*place) for place in grid.neighbours(grid.xy(here))]
            cell[agent] = draw.choice([here, *beside, *(int(c) for c in ways[agent] if abs(int(c) - here) < 40)])
        cell[draw.integers(8)] = draw.choice(cells)
        expected = {k: next_waypoint(grid, places[k], at, grid.xy(int(cell[k]))) for k, at in ahead.items()}
        changed = routes.found[: advance(grid.tables, cell, heading, routes)].tolist()
        assert changed == [k for k, at in expected.items() if at != ahead[k]]
        ahead = {k: at for k, at in expected.items() if at < len(places[k])}
        for k in range(8):
            assert grid.xy(int(heading[k])) == (places[k][ahead[k]] if k in ahead else grid.xy(target))
            assert waypoints(routes, k).tolist() == (ways[k][ahead[k] :: SPACING].tolist() if k in ahead else [])
        grid.block([grid.xy(int(draw.choice(np.setdiff1d(cells, cell))))])
        cut = routes.found[: cut_ways(grid.tables, cell, routes)].tolist()
        assert cut == [k for k in range(8) if k in ahead and is_cut(grid, places[k], ahead[k])]


@pytest.mark.small
def test_a_short_way_has_no_waypoint() -> None:
    routes = with_way(with_agents(make_routes(), 1), 0, np.arange(SPACING, dtype=np.int32))
    assert waypoints(routes, 0).size == 0


@pytest.mark.small
def test_places_are_exchanged_when_that_helps_and_not_back_again() -> None:
    assert should_exchange((3, 3), (4, 4), (4, 4), (3, 3))          # each stands where the other wants to be
    assert should_exchange((3, 3), (6, 3), (4, 3), (4, 3))          # who is home moves on, farther in
    assert not should_exchange((3, 3), (4, 3), (4, 3), (6, 3))      # ... and does not get its old place back
    assert not should_exchange((3, 3), (2, 3), (4, 3), (4, 3))      # it is not on the way
