from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.reference.astar import astar
from wend import Grid, shortest_path
from wend.errors import UnknownNameError
from wend.groups.map_marker import mark_paths
from wend.groups.orders import GroupOrder, paths_to, search_for, shortened
from wend.maps import generators as mapgen


def random_grid(seed: int, *, side: int = 24, free: float = 0.75) -> Grid:
    draw = np.random.default_rng(seed)
    rules = {"connectivity": 4} if seed % 3 == 0 else {"corner_cutting": seed % 3 == 1}
    return Grid(draw.random((side, side)) < free, **rules)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_paths_of_a_move_are_shortest(seed: int) -> None:
    grid = random_grid(seed)
    starts = np.random.default_rng(seed).permutation(grid.largest_component())[:12].tolist()
    target = starts.pop()
    for start, path in zip(starts, paths_to(grid, starts, target, "move"), strict=True):
        assert (path[0], path[-1]) == (start, target)
        points = [grid.xy(int(cell)) for cell in path]
        assert all(b in grid.neighbours(a) for a, b in pairwise(points))
        steps = astar(grid, start, target)[0]
        diagonals = sum(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(points))
        assert (len(points) - 1, diagonals) == (len(steps), sum(d >= 4 for d in steps))


@pytest.mark.small
def test_one_search_is_enough_for_a_whole_group_however_large_the_map() -> None:
    grid = mapgen.open_map(width=60, height=60)
    starts = [grid.cell(x, y) for x in range(0, 60, 19) for y in range(0, 60, 19)]
    for start, path in zip(starts, paths_to(grid, starts, grid.cell(41, 3), "move"), strict=True):
        assert path.size == len(shortest_path(grid, grid.xy(start), (41, 3)))


@pytest.mark.small
def test_paths_of_an_attack_move_are_map_markers() -> None:
    grid = random_grid(1)
    starts = grid.largest_component()[:5].tolist()
    target = int(grid.largest_component()[-1])
    wanted = mark_paths(grid, [grid.xy(start) for start in starts], grid.xy(target))
    paths = paths_to(grid, starts, target, "attack_move")
    assert [[grid.xy(int(cell)) for cell in path] for path in paths] == [list(path) for path in wanted]


@pytest.mark.small
def test_a_path_is_shortened_by_as_much_as_its_slot_is_off_the_target() -> None:
    grid = mapgen.open_map(width=40, height=3)
    path = paths_to(grid, [grid.cell(0, 1)], grid.cell(30, 1), "move")[0]
    assert grid.xy(int(shortened(grid, path, grid.cell(24, 2))[-1])) == (21, 1)
    assert shortened(grid, path[-2:], grid.cell(24, 2)).size == 0


def test_a_mode_that_there_is_not_is_an_error_that_lists_the_others() -> None:
    with pytest.raises(UnknownNameError, match="attack_move"):
        GroupOrder(frozenset(), (0, 0), "charge")


@pytest.mark.small
@pytest.mark.parametrize("mode", ["move", "attack_move"])
def test_a_search_in_pieces_finds_what_it_finds_at_once(mode: str) -> None:
    for seed in range(4):
        grid, draw = random_grid(seed), np.random.default_rng(seed)
        *starts, target = draw.permutation(grid.largest_component())[:9].tolist()
        search, made = search_for(grid, starts, target, mode), 0
        while not search.is_done:
            limit = int(draw.integers(1, 20))
            expanded = search.run(starts, limit)
            assert expanded == limit or search.is_done
            made += expanded
        assert made > 50
        whole = paths_to(grid, starts, target, mode)
        assert [path.tolist() for path in search.paths(starts)] == [path.tolist() for path in whole]


@pytest.mark.small
@pytest.mark.parametrize("mode", ["move", "attack_move"])
def test_paths_are_those_from_where_agents_are_by_then(mode: str) -> None:
    grid = mapgen.open_map(width=30, height=5)
    search = search_for(grid, [grid.cell(0, 2)], grid.cell(29, 2), mode)
    assert search.run([grid.cell(0, 2)], 3) == 3
    assert not search.is_done
    search.run([grid.cell(10, 2)], 10_000)
    (path,) = search.paths([grid.cell(10, 2)])
    assert [grid.xy(int(cell)) for cell in path] == [(x, 2) for x in range(10, 30)]
