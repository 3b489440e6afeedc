from __future__ import annotations

import numpy as np
import pytest

from tests.reference.blocks import ReferenceBlocks, ReferenceRow
from wend import Grid
from wend.errors import ParameterError
from wend.search.blocks import NO_GROUP, NO_ROW, BlockDistances, block_cost, distance_of, is_known, reach

RULES = ({}, {"connectivity": 4}, {"corner_cutting": True})
EVERYTHING = 10**6


def random_grid(seed: int, density: float = 0.7) -> Grid:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(3, 24, 2)
    return Grid(rng.random((height, width)) < density, **RULES[seed % 3])  # type: ignore[arg-type]


def make_distances(grid: Grid, side: int) -> BlockDistances:
    distances = BlockDistances(grid, side)
    distances.reserve(4)
    return distances


def ask(distances: BlockDistances, row: int, cell: int, limit: int = EVERYTHING) -> int:
    group = int(distances.blocks.group[cell])
    return reach(distances.grid.tables, distances.blocks, distances.rows, distances.open_list, row, group, limit)


def graph(distances: BlockDistances) -> tuple[dict[int, frozenset[int]], dict[int, frozenset[int]], dict[int, int]]:
    """Groups by their first cells, so that names do not matter: the members, the neighbours, the middle of each."""
    group, middle = distances.blocks.group, distances.blocks.middle
    members = {int(name): np.flatnonzero(group == name) for name in np.unique(group[group != NO_GROUP])}
    first = {name: int(cells[0]) for name, cells in members.items()}
    return (
        {first[name]: frozenset(cells.tolist()) for name, cells in members.items()},
        {first[name]: frozenset(first[k] for k in beside(distances, name)) for name in members},
        {first[name]: int(middle[name, 1]) * distances.grid.width + int(middle[name, 0]) for name in members},
    )


def beside(distances: BlockDistances, name: int) -> list[int]:
    neighbours: list[int] = distances.blocks.beside[name, : distances.blocks.degree[name]].tolist()
    return neighbours


@pytest.mark.small
@pytest.mark.parametrize("side", [2, 4, 8])
def test_groups_agree_with_the_reference(side: int) -> None:
    for seed in range(9):
        grid = random_grid(seed, 0.5 + seed % 5 / 10)
        distances, reference = make_distances(grid, side), ReferenceBlocks(grid, side)
        for cell in range(grid.size):
            assert distances.blocks.group[cell] == reference.group.get(grid.xy(cell), NO_GROUP)
        for name, middle in enumerate(reference.middle):
            assert tuple(distances.blocks.middle[name].tolist()) == middle
            assert sorted(beside(distances, name)) == sorted(reference.beside[name])


@pytest.mark.small
def test_distances_and_bounds_agree_with_the_reference_however_they_are_asked_for() -> None:
    expanded = 0
    for seed in range(15):
        grid = random_grid(seed)
        side = (2, 4, 8)[seed % 3]
        distances, reference = make_distances(grid, side), ReferenceBlocks(grid, side)
        rng = np.random.default_rng(seed)
        cells = grid.largest_component()
        goal = int(rng.choice(cells))
        row, twin = distances.acquire(goal), ReferenceRow(reference, reference.group[grid.xy(goal)])
        true = reference.distances(twin.goal)
        for cell in rng.choice(cells, 4).tolist():
            made = ask(distances, row, cell)
            assert made == twin.reach(reference.group[grid.xy(cell)])
            expanded += made
            far = distances.rows.far[row]
            for group in range(len(reference.middle)):
                assert is_known(far, group) == (group in twin.known)
                believed = distance_of(far, group)
                assert believed == twin.believed(group)
                if is_known(far, group):
                    assert believed == true[group]
                elif group not in twin.reached and group in true:
                    assert believed <= true[group]
            for x, y in map(grid.xy, cells.tolist()):
                here = reference.group[x, y]
                if here != twin.goal:
                    minor = grid.tables.minor >> 24
                    assert block_cost(minor, distances.blocks, far, here, x, y) == twin.estimate((x, y))
    assert expanded > 100


@pytest.mark.small
def test_a_search_in_slices_finds_the_same() -> None:
    for seed in range(6):
        grid = random_grid(seed)
        whole, sliced = make_distances(grid, 4), make_distances(grid, 4)
        goal, start = (int(grid.largest_component()[k]) for k in (0, -1))
        rows = whole.acquire(goal), sliced.acquire(goal)
        total, made = ask(whole, rows[0], start), 0
        while not is_known(sliced.rows.far[rows[1]], sliced.blocks.group[start]):
            slice_ = ask(sliced, rows[1], start, 2)
            assert slice_ <= 2
            made += slice_
        assert made == total
        assert (sliced.rows.far[rows[1]] == whole.rows.far[rows[0]]).all()


@pytest.mark.small
def test_a_search_stops_where_it_was_asked_to() -> None:
    distances = make_distances(Grid(np.ones((8, 800))), 8)
    row = distances.acquire(400)
    assert ask(distances, row, 440) == 6
    assert ask(distances, row, 440) == 0
    assert ask(distances, row, 480) == 5


@pytest.mark.small
def test_after_edits_everything_is_as_if_made_anew() -> None:
    """Also the rows: those that an edit did not concern are kept, and must still be right."""
    kept = restarted = 0
    for seed in range(12):
        grid = random_grid(seed, 0.8)
        rng = np.random.default_rng(seed)
        side = (2, 4, 8)[seed % 3]
        distances = make_distances(grid, side)
        for _ in range(12):
            cells = grid.largest_component()
            goal, start = rng.choice(cells, 2).tolist()
            row = distances.acquire(goal)
            ask(distances, row, start)
            edited = rng.integers(grid.size, size=rng.integers(1, 4)).tolist()
            edited = [cell for cell in dict.fromkeys(edited) if cell not in (goal, start)]
            for cell in edited:
                (grid.block if grid.is_free(grid.xy(cell)) else grid.unblock)([grid.xy(cell)])
            before = distances.rows.far[row].copy()
            distances.cells_changed(np.array(edited, np.int32))
            fresh = BlockDistances(grid, side)
            assert graph(distances) == graph(fresh)
            if distances.rows.goal[row] == distances.blocks.group[goal]:
                is_kept = (distances.rows.far[row, : before.size] == before).all()
                kept, restarted = kept + is_kept, restarted + (not is_kept)
                reference = ReferenceBlocks(grid, side)
                true = reference.distances(reference.group[grid.xy(goal)])
                if not is_kept:
                    ask(distances, row, start)
                    for cell in grid.free_cells().tolist():
                        group = int(distances.blocks.group[cell])
                        if is_known(distances.rows.far[row], group):
                            assert distance_of(distances.rows.far[row], group) == true[reference.group[grid.xy(cell)]]
            distances.release(row)
    assert kept > 10
    assert restarted > 10


@pytest.mark.small
def test_an_edit_that_joins_and_parts_nothing_keeps_the_rows() -> None:
    grid = Grid(np.ones((24, 24)))
    distances = make_distances(grid, 8)
    row = distances.acquire(0)
    ask(distances, row, grid.size - 1)
    known = distances.rows.far[row].copy()
    grid.block([(12, 12)])
    distances.cells_changed(np.array([grid.cell(12, 12)], np.int32))
    assert (distances.rows.far[row, : known.size] == known).all()
    wall = [(x, 11) for x in range(8, 16)]
    grid.block(wall)
    distances.cells_changed(np.array([grid.cell(*point) for point in wall], np.int32))
    assert not distances.rows.far[row].any()


@pytest.mark.small
def test_edits_that_make_more_groups_than_were_expected_keep_what_is_known() -> None:
    """Above a long hall, behind a wall, cells are opened in the pattern of a chessboard: each is a group."""
    grid = Grid.from_text("\n".join(["@" * 400] * 4 + ["." * 400]))
    distances = make_distances(grid, 2)
    row = distances.acquire(grid.cell(399, 4))
    ask(distances, row, grid.cell(0, 4))
    known = distances.rows.far[row].copy()
    opened = [(x, x % 2) for x in range(400)]
    for places in (opened[:10], opened[10:]):
        grid.unblock(places)
        distances.cells_changed(np.array([grid.cell(*place) for place in places], np.int32))
    assert distances.rows.far.shape[1] > known.size
    assert (distances.rows.far[row, : known.size] == known).all()
    assert not distances.rows.far[row, known.size :].any()
    assert is_known(distances.rows.far[row], distances.blocks.group[grid.cell(0, 4)])


@pytest.mark.small
def test_goals_in_one_group_share_a_row_until_no_agent_needs_it() -> None:
    distances = make_distances(Grid(np.ones((8, 1600))), 8)
    row = distances.acquire(3)
    assert distances.acquire(1600 + 5) == row
    assert distances.acquire(20) != row
    ask(distances, row, 100)
    distances.release(row)
    assert is_known(distances.rows.far[row], distances.blocks.group[100])
    distances.release(row)
    distances.reserve(189)                                                  # one is in use already
    rows = [distances.acquire(cell) for cell in range(100, 1600, 8)]
    assert len({*rows}) == len(rows) == 188
    assert row in rows
    assert not any(is_known(distances.rows.far[k], 0) for k in rows)


@pytest.mark.small
def test_a_wall_has_no_row_and_a_map_of_walls_no_groups() -> None:
    distances = make_distances(Grid.from_text("@@\n@@"), 8)
    assert distances.acquire(0) == NO_ROW
    distances.release(NO_ROW)


@pytest.mark.parametrize("side", [0, 1, 65])
def test_blocks_of_no_sensible_size_are_refused(side: int) -> None:
    with pytest.raises(ParameterError, match="2 to 64"):
        BlockDistances(Grid.from_text(".."), side)
