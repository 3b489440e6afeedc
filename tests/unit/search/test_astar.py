from __future__ import annotations

import numpy as np
import pytest

from tests.reference.astar import astar as reference_astar
from wend import Grid, shortest_path
from wend.errors import MapError, NoPathError
from wend.kernel import scramble
from wend.maps.movingai import read_map, read_scen
from wend.search import astar


def directions(grid: Grid, search: astar.Search) -> list[int]:
    steps = np.empty(astar.path_length(grid.tables, search), dtype=np.uint8)
    astar.write_steps(grid.tables, search, steps.size, steps)
    return steps.tolist()


def random_grid(seed: int, **rules: object) -> Grid:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(2, 14, 2)
    return Grid(rng.random((height, width)) < 0.75, **rules)  # type: ignore[arg-type]


RULES = [{}, {"connectivity": 4}, {"corner_cutting": True}]


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
def test_kernel_agrees_with_the_reference_path_by_path(rules: dict[str, object]) -> None:
    compared = 0
    for seed in range(60):
        grid = random_grid(seed, **rules)
        cells = grid.free_cells()
        rng = np.random.default_rng(seed)
        search = astar.make_search(grid.size)
        for _ in range(4 if cells.size > 3 else 0):
            start, goal, forbidden = (int(c) for c in rng.choice(cells, 3, replace=False))
            noise, draw = int(rng.integers(0, 3)), int(rng.integers(0, 2**31))

            def heuristic(cell: int, grid: Grid = grid, goal: int = goal, noise: int = noise, draw: int = draw) -> int:
                from tests.reference.astar import empty_map_cost

                return empty_map_cost(grid, cell, goal) + noise * scramble(draw ^ scramble(cell))

            steps, expanded = reference_astar(grid, start, goal, forbidden=[forbidden], heuristic=heuristic)
            astar.begin(grid.tables, search, start, goal, noise, draw)
            astar.forbid(search, forbidden)
            answer = astar.run(grid.tables, search, astar.NO_LIMIT)
            assert answer == (astar.UNREACHABLE if steps is None else astar.FOUND)
            assert astar.expansions_of(search) == expanded
            if steps is not None:
                assert directions(grid, search) == steps
                compared += 1
    assert compared > 60


@pytest.mark.small
def test_a_search_cut_into_slices_is_the_same_search() -> None:
    grid = Grid(np.random.default_rng(5).random((20, 20)) < 0.8)
    cells = grid.largest_component()
    start, goal = int(cells[0]), int(cells[-1])
    whole, sliced = astar.make_search(grid.size), astar.make_search(grid.size)
    astar.begin(grid.tables, whole, start, goal, 0, 0)
    astar.run(grid.tables, whole, astar.NO_LIMIT)
    astar.begin(grid.tables, sliced, start, goal, 0, 0)
    slices = 1
    while astar.run(grid.tables, sliced, 7) == astar.OUT_OF_BUDGET:
        assert astar.expansions_of(sliced) == 7 * slices
        slices += 1
    assert slices > 3
    assert directions(grid, sliced) == directions(grid, whole)
    assert astar.expansions_of(sliced) == astar.expansions_of(whole)
    assert astar.run(grid.tables, sliced, 7) == astar.FOUND     # asking again finds it again


def test_far_detours_overflow_the_buckets_and_stay_right() -> None:
    street, gap_left, gap_right = "." * 700, "." + "@" * 699, "@" * 699 + "."
    serpentine = Grid.from_text("\n".join([street, gap_left, street, gap_right] * 3 + [street, gap_left, street]))
    path = shortest_path(serpentine, (699, 0), (699, 14))
    assert path.cost == len(path) - 1 == 8 * 699 + 14       # eight streets from end to end


def test_shortest_path_names_places_and_cost() -> None:
    path = shortest_path(Grid.from_text("...\n.@.\n..."), (0, 1), (2, 1))
    assert list(path) == [(0, 1), (0, 0), (1, 0), (2, 0), (2, 1)]
    assert (path.cost, path.cardinals, path.diagonals, len(path), path[-1]) == (4.0, 4, 0, 5, (2, 1))
    diagonal = shortest_path(Grid(np.ones((10, 10))), (0, 0), (9, 9))
    assert diagonal.cost == pytest.approx(9 * 2**0.5)
    assert diagonal.expansions == 9
    assert shortest_path(Grid(np.ones((10, 10)), connectivity=4), (0, 0), (9, 9)).cost == 18
    assert shortest_path(Grid.from_text(".@\n@."), (0, 0), (0, 0)).cost == 0


def test_shortest_path_says_why_there_is_none() -> None:
    grid = Grid.from_text(".@.")
    with pytest.raises(NoPathError, match=r"no path joins \(0, 0\) and \(2, 0\)"):
        shortest_path(grid, (0, 0), (2, 0))
    with pytest.raises(MapError, match=r"\(1, 0\) is in a wall"):
        shortest_path(grid, (0, 0), (1, 0))
    with pytest.raises(MapError, match=r"\(0, 5\) is off the map"):
        shortest_path(grid, (0, 5), (0, 0))


def test_lengths_agree_with_the_benchmarks_optimal_column(movingai) -> None:
    rng = np.random.default_rng(0)
    checked = 0
    for name in ("den312d", "lak303d", "maze-128-128-2", "ost003d", "Berlin_1_256", "room-64-64-8"):
        grid = Grid(read_map(movingai / "mapf-map.zip" / f"{name}.map"))
        rows = read_scen(movingai / "mapf-scen-random.zip" / "scen-random" / f"{name}-random-1.scen").rows
        for k in rng.choice(len(rows), min(170, len(rows)), replace=False).tolist():
            assert shortest_path(grid, rows[k].start, rows[k].goal).cost == pytest.approx(rows[k].optimal, abs=1e-6)
            checked += 1
    assert checked == 6 * 170
