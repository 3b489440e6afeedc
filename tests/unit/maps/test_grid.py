from __future__ import annotations

import numpy as np
import pytest

from tests.reference.grid import component, legal_steps
from wend import Grid
from wend.errors import MapError, ParameterError

RULES = [{}, {"connectivity": 4}, {"corner_cutting": True}]


def partition(grid: Grid) -> set[frozenset[tuple[int, int]]]:
    parts: dict[int, set[tuple[int, int]]] = {}
    for cell in grid.free_cells().tolist():
        parts.setdefault(int(grid.component[cell]), set()).add(grid.xy(cell))
    assert {label: len(part) for label, part in parts.items()} == grid.component_sizes()
    return {frozenset(part) for part in parts.values()}


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
def test_tables_and_components_agree_with_the_reference_under_edits(rules) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        height, width = (int(n) for n in rng.integers(1, 9, 2))
        grid = Grid(rng.random((height, width)) < 0.6, **rules)
        for _ in range(25):
            point = int(rng.integers(width)), int(rng.integers(height))
            (grid.block if rng.random() < 0.5 else grid.unblock)([point])
            for cell in range(grid.size):
                here = grid.xy(cell)
                assert grid.neighbours(here) == [beside for _, beside in legal_steps(grid, here)]
            assert partition(grid) == {component(grid, grid.xy(c)) for c in grid.free_cells().tolist()}


@pytest.mark.small
def test_octile_rule_forbids_corners_and_corner_cutting_does_not() -> None:
    drawing = ".@\n.."
    assert Grid.from_text(drawing).neighbours((0, 0)) == [(0, 1)]
    assert Grid.from_text(drawing, corner_cutting=True).neighbours((0, 0)) == [(0, 1), (1, 1)]
    assert Grid.from_text("..\n..", connectivity=4).neighbours((0, 0)) == [(1, 0), (0, 1)]
    assert Grid.from_text("..\n..").neighbours((0, 0)) == [(1, 0), (0, 1), (1, 1)]


@pytest.mark.small
def test_places() -> None:
    grid = Grid.from_text("...@\n....")
    assert (grid.width, grid.height, grid.size) == (4, 2, 8)
    assert grid.cell(3, 1) == 7
    assert grid.xy(7) == (3, 1)
    assert not grid.is_free((3, 0))
    assert not grid.is_free((-1, 0))
    assert grid.free_cell((2, 0)) == 2
    for bad in ((4, 0), (0, 2), (-1, 0)):
        with pytest.raises(MapError, match="off the map, which is 4 x 2"):
            grid.cell(*bad)
    with pytest.raises(MapError, match="off the map"):
        grid.xy(8)


@pytest.mark.small
def test_reachability_follows_walls_that_rise_and_fall() -> None:
    grid = Grid(np.ones((5, 5)))
    grid.block([(2, y) for y in range(5)])
    assert not grid.reachable((0, 0), (4, 4))
    assert not grid.reachable((2, 2), (2, 2))       # a wall reaches nothing, not even itself
    assert grid.nearest_reachable((0, 0), (4, 2)) == (1, 2)
    assert grid.nearest_reachable((0, 0), (1, 4)) == (1, 4)
    grid.unblock([(2, 3)])
    assert grid.reachable((0, 0), (4, 4))
    assert grid.largest_component().size == 21


@pytest.mark.small
def test_copies_and_the_callers_array_are_independent() -> None:
    terrain = np.ones((3, 3), dtype=bool)
    grid = Grid(terrain)
    twin = grid.copy()
    twin.block([(1, 1)])
    terrain[0, 0] = False
    assert grid.is_free((1, 1))
    assert grid.is_free((0, 0))
    assert not twin.is_free((1, 1))
    assert (grid == twin, grid == Grid(np.ones((3, 3)))) == (False, True)
    assert grid != grid.with_rules(connectivity=4)
    with pytest.raises(ValueError, match="read-only"):
        grid.passable[0, 0] = False


@pytest.mark.small
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Grid(np.ones(3)), "2-D"),
        (lambda: Grid(np.ones((0, 3))), "non-empty"),
        (lambda: Grid(np.ones((2, 2)), connectivity=6), "4 or 8"),
        (lambda: Grid(np.ones((2, 2)), connectivity=4, corner_cutting=True), "needs diagonals"),
        (lambda: Grid.from_text("..\n..."), "row 1 of the drawing has 3 cells"),
        (lambda: Grid.from_text("..\n.x"), r"\(1, 1\) of the drawing holds unknown terrain 'x'"),
        (lambda: Grid.from_text("@@").largest_component(), "no passable cell"),
        (lambda: Grid.from_text(".@").nearest_reachable((1, 0), (0, 0)), "in a wall"),
    ],
)
def test_bad_maps_are_refused(make, reason) -> None:
    with pytest.raises(MapError, match=reason):
        make()


def test_text_round_trip(tmp_path) -> None:
    grid = Grid(np.random.default_rng(1).random((7, 9)) < 0.5)
    assert Grid.from_text(grid.to_text()) == grid
    grid.save(tmp_path / "a.map")
    assert Grid.load(tmp_path / "a.map") == grid
    assert repr(Grid.from_text("..@.")) == "<Grid 4x1, 3 passable cells in 2 components, 8 directions>"


@pytest.mark.small
def test_the_places_of_many_cells_at_once() -> None:
    grid = Grid(np.ones((3, 5)))
    cells = np.arange(15).reshape(3, 5)
    assert grid.xy(cells).shape == (3, 5, 2)
    assert grid.xy(cells).reshape(-1, 2).tolist() == [list(grid.xy(cell)) for cell in range(15)]
    assert grid.xy(np.array([], np.int32)).shape == (0, 2)
    assert grid.xy(np.array(7)) == (2, 1)
    with pytest.raises(MapError, match="cell 15 is off the map, which has 15 cells"):
        grid.xy(np.array([0, 15]))
    with pytest.raises(MapError, match="cell -1 is off the map"):
        grid.xy(np.array([-1]))
    with pytest.raises(ParameterError, match="an array of float64"):
        grid.xy(np.array([0.0]))


@pytest.mark.small
def test_the_nearest_cells_of_a_component_are_the_same_for_many_places_at_once() -> None:
    draw = np.random.default_rng(2)
    for shape in ((9, 13), (1, 20), (20, 1), (1, 1)):
        grid = Grid(draw.random(shape) < 0.6, connectivity=4)
        cells = np.arange(grid.size, dtype=np.int32)
        for start in grid.free_cells().tolist():
            found = grid.nearest_in(int(grid.component[start]), cells)
            assert found.tolist() == [
                grid.cell(*grid.nearest_reachable(grid.xy(start), grid.xy(cell))) for cell in cells.tolist()
            ]
