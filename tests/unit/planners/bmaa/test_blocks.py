from __future__ import annotations

import numpy as np
import pytest

from tests.reference.blocks import ReferenceBlocks, ReferenceRow
from wend import Grid
from wend.errors import ParameterError
from wend.planners.bmaa.blocks import NO_GROUP, NO_ROW, BlockDistances, block_cost, is_known, reach

RULES = ({}, {"connectivity": 4}, {"corner_cutting": True})
EVERYTHING = 10**6


def random_grid(seed: int, density: float = 0.7) -> Grid:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(3, 24, 2)
    return Grid(rng.random((height, width)) < density, **RULES[seed % 3])  # type: ignore[arg-type]


def ask(distances: BlockDistances, row: int, cell: int, limit: int = EVERYTHING) -> int:
    group = int(distances.blocks.group[cell])
    return reach(distances.grid.tables, distances.blocks, distances.ways, distances.open_list, row, group, limit)


def graph(distances: BlockDistances) -> tuple[dict[int, frozenset[int]], dict[int, frozenset[int]], dict[int, int]]:
    """Groups by their first cells, so that names do not matter: the members, the neighbours, the middle of each."""
    group, about = distances.blocks.group, distances.blocks.about
    members = {int(name): np.flatnonzero(group == name) for name in np.unique(group[group != NO_GROUP])}
    first = {name: int(cells[0]) for name, cells in members.items()}
    return (
        {first[name]: frozenset(cells.tolist()) for name, cells in members.items()},
        {first[name]: frozenset(first[int(k)] for k in about[name, 3 : 3 + about[name, 2]]) for name in members},
        {first[name]: int(about[name, 1]) * distances.grid.width + int(about[name, 0]) for name in members},
    )


@pytest.mark.small
@pytest.mark.parametrize("side", [2, 4, 8])
def test_groups_agree_with_the_reference(side: int) -> None:
    for seed in range(9):
        grid = random_grid(seed, 0.5 + seed % 5 / 10)
        distances, reference = BlockDistances(grid, side), ReferenceBlocks(grid, side)
        about = distances.blocks.about
        for cell in range(grid.size):
            assert distances.blocks.group[cell] == reference.group.get(grid.xy(cell), NO_GROUP)
        for name, middle in enumerate(reference.middle):
            assert tuple(about[name, :2].tolist()) == middle
            beside = about[name, 3 : 3 + about[name, 2]].tolist()
            assert len(beside) == len(set(beside))
            assert set(beside) == reference.beside[name]


@pytest.mark.small
def test_distances_and_bounds_agree_with_the_reference_however_they_are_asked_for() -> None:
    expanded = 0
    for seed in range(15):
        grid = random_grid(seed)
        side = (2, 4, 8)[seed % 3]
        distances, reference = BlockDistances(grid, side), ReferenceBlocks(grid, side)
        rng = np.random.default_rng(seed)
        cells = grid.largest_component()
        goal = int(rng.choice(cells))
        row, twin = distances.acquire(goal), ReferenceRow(reference, reference.group[grid.xy(goal)])
        true = reference.distances(twin.goal)
        for cell in rng.choice(cells, 4).tolist():
            made = ask(distances, row, cell)
            assert made == twin.reach(reference.group[grid.xy(cell)])
            expanded += made
            far = distances.ways.far[row]
            for group in range(len(reference.middle)):
                assert is_known(far, group) == (group in twin.known)
                believed = far[group] >> 1 if far[group] >= 0 else ~far[group]
                assert believed == twin.believed(group)
                if is_known(far, group):
                    assert believed == true[group]
                elif far[group] < 0 and group in true:
                    assert believed <= true[group]
            for x, y in map(grid.xy, cells.tolist()):
                here = reference.group[x, y]
                if here != twin.goal:
                    about, minor = distances.blocks.about, grid.tables.minor >> 24
                    assert block_cost(minor, about, far, here, x, y) == twin.estimate((x, y))
    assert expanded > 100


@pytest.mark.small
def test_a_search_in_slices_finds_the_same() -> None:
    for seed in range(6):
        grid = random_grid(seed)
        whole, sliced = BlockDistances(grid, 4), BlockDistances(grid, 4)
        goal, start = (int(grid.largest_component()[k]) for k in (0, -1))
        rows = whole.acquire(goal), sliced.acquire(goal)
        total, made = ask(whole, rows[0], start), 0
        while not is_known(sliced.ways.far[rows[1]], sliced.blocks.group[start]):
            slice_ = ask(sliced, rows[1], start, 2)
            assert slice_ <= 2
            made += slice_
        assert made == total
        assert (sliced.ways.far[rows[1]] == whole.ways.far[rows[0]]).all()


@pytest.mark.small
def test_a_search_stops_where_it_was_asked_to() -> None:
    distances = BlockDistances(Grid(np.ones((8, 800))), 8)
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
        distances = BlockDistances(grid, side)
        for _ in range(12):
            cells = grid.largest_component()
            goal, start = rng.choice(cells, 2).tolist()
            row = distances.acquire(goal)
            ask(distances, row, start)
            edited = rng.integers(grid.size, size=rng.integers(1, 4)).tolist()
            edited = [cell for cell in dict.fromkeys(edited) if cell not in (goal, start)]
            for cell in edited:
                (grid.block if grid.is_free(grid.xy(cell)) else grid.unblock)([grid.xy(cell)])
            before = distances.ways.far[row].copy()
            distances.cells_changed(np.array(edited, np.int32))
            fresh = BlockDistances(grid, side)
            assert graph(distances) == graph(fresh)
            if distances.are_rows_of(np.array([row], np.int32), np.array([goal], np.int32)).all():
                known = before[: distances.ways.far.shape[1]]
                is_kept = (distances.ways.far[row, : known.size] == known).all()
                kept, restarted = kept + is_kept, restarted + (not is_kept)
                reference = ReferenceBlocks(grid, side)
                true = reference.distances(reference.group[grid.xy(goal)])
                if not is_kept:
                    ask(distances, row, start)
                    for cell in grid.free_cells().tolist():
                        group = int(distances.blocks.group[cell])
                        if is_known(distances.ways.far[row], group):
                            assert distances.ways.far[row, group] >> 1 == true[reference.group[grid.xy(cell)]]
            distances.release(row)
    assert kept > 10
    assert restarted > 10


@pytest.mark.small
def test_an_edit_that_joins_and_parts_nothing_keeps_the_rows() -> None:
    grid = Grid(np.ones((24, 24)))
    distances = BlockDistances(grid, 8)
    row = distances.acquire(0)
    ask(distances, row, grid.size - 1)
    known = distances.ways.far[row].copy()
    grid.block([(12, 12)])
    distances.cells_changed(np.array([grid.cell(12, 12)], np.int32))
    assert (distances.ways.far[row, : known.size] == known).all()
    wall = [(x, 11) for x in range(8, 16)]
    grid.block(wall)
    distances.cells_changed(np.array([grid.cell(*point) for point in wall], np.int32))
    assert (distances.ways.far[row] == -1).all()


@pytest.mark.small
def test_goals_in_one_group_share_a_row_until_nobody_needs_it() -> None:
    distances = BlockDistances(Grid(np.ones((8, 1600))), 8)
    row = distances.acquire(3)
    assert distances.acquire(1600 + 5) == row
    assert distances.acquire(20) != row
    ask(distances, row, 100)
    distances.release(row)
    assert is_known(distances.ways.far[row], distances.blocks.group[100])
    distances.release(row)
    rows = [distances.acquire(cell) for cell in range(100, 1600, 8)]        # more than there is room for at first
    assert len({*rows}) == len(rows) > 128
    assert row in rows
    assert not any(is_known(distances.ways.far[k], 0) for k in rows)


@pytest.mark.small
def test_a_wall_has_no_row_and_a_map_of_walls_no_groups() -> None:
    distances = BlockDistances(Grid.from_text("@@\n@@"), 8)
    assert distances.acquire(0) == NO_ROW
    distances.release(NO_ROW)


@pytest.mark.parametrize("side", [0, 1, 65])
def test_blocks_of_no_sensible_size_are_refused(side: int) -> None:
    with pytest.raises(ParameterError, match="2 to 64"):
        BlockDistances(Grid.from_text(".."), side)
