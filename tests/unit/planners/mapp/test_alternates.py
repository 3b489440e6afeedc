from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.reference.mapp import Map
from wend import World, create
from wend.errors import FormatError
from wend.kernel import OUT_OF_SPACE, UNREACHABLE
from wend.kernel.arrays import allocate
from wend.maps.grid import Grid
from wend.planners.mapp.alternates import Ground, alternate
from wend.planners.mapp.biconnected import (
    NO_BICOMPONENT,
    count_changes,
    label_bicomponents,
    make_bicomponent_tree,
    make_bicomponents,
)
from wend.planners.mapp.known_alternates import AlternatePaths, alternates_after, alternates_of, forget_maps
from wend.planners.mapp.ladder import Ladder, clear, pop, push

NONE = np.empty(0, np.int32)


def ask(paths: AlternatePaths, setting, b: int, one: int, other: int, goal: int = -1) -> list[int] | None:
    k = OUT_OF_SPACE
    while k == OUT_OF_SPACE:
        k = alternate(Ground(paths.grid.tables, paths.alternates, setting, paths.detour), b, one, other, goal)
        if k == OUT_OF_SPACE:
            paths.grow()
    if k == UNREACHABLE:
        return None
    begin = paths.alternates.begin
    return paths.alternates.cells[begin[k] : begin[k + 1]].tolist()


def triples(grid: Grid) -> list[tuple[int, int, int]]:
    bits = {cell: [d for d in range(4) if grid.tables.moves[cell] >> d & 1] for cell in grid.free_cells().tolist()}
    return [(b, one, other) for b, around in bits.items() for one, other in combinations(around, 2)]


def all_of(paths: AlternatePaths, setting) -> dict[tuple[int, int, int], list[int] | None]:
    return {triple: ask(paths, setting, *triple) for triple in triples(paths.grid)}


def random_grid(seed: int, size: int = 7) -> Grid:
    return Grid(np.random.default_rng(seed).random((size, size)) < 0.78, connectivity=4)


@pytest.mark.small
def test_a_corner_has_three_cells_and_a_straight_line_five() -> None:
    grid = Grid(np.ones((3, 3)), connectivity=4)
    paths = AlternatePaths(grid)
    setting = paths.begin_problem(NONE, NONE, through_targets=True)
    assert ask(paths, setting, 4, 0, 1) == [1, 2, 5]
    assert ask(paths, setting, 4, 0, 2) == [1, 2, 5, 8, 7]
    assert ask(paths, setting, 4, 3, 1) == [5, 8, 7, 6, 3]


@pytest.mark.small
def test_a_corridor_has_none() -> None:
    paths = AlternatePaths(Grid.from_text(".....", connectivity=4))
    setting = paths.begin_problem(NONE, NONE, through_targets=True)
    assert all_of(paths, setting) == {(1, 1, 3): None, (2, 1, 3): None, (3, 1, 3): None}


@pytest.mark.small
@pytest.mark.parametrize("through_targets", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_all_triples_agree_with_the_reference(seed: int, through_targets: bool) -> None:
    grid = random_grid(seed)
    places = np.random.default_rng(seed).permutation(grid.free_cells()).astype(np.int32)
    targets, obstacles = places[:6], places[6 : 6 + seed % 3]
    paths = AlternatePaths(grid)
    setting = paths.begin_problem(targets, obstacles, through_targets=through_targets)
    ref = Map(grid, set(targets.tolist()), set(obstacles.tolist()), through_targets=through_targets)
    for b, one, other in triples(grid):
        ends = {ref.steps[b][one], ref.steps[b][other], b}
        if (not through_targets and b in ref.targets) or ends & ref.obstacles:
            continue                        # no path leads over these
        for goal in (-1, int(targets[0])):
            if goal in ends:
                continue
            expected = ref.omega(b, one, other, goal)
            assert ask(paths, setting, b, one, other, goal) == expected
            if expected is not None:
                assert paths.alternates.counts[0].toll == ref.toll(expected)
                assert b not in expected
                assert goal not in expected


@pytest.mark.small
def test_known_paths_are_those_found_from_scratch() -> None:
    """Other problems in between change nothing, and only what a target touches is searched again."""
    grid = random_grid(3)
    places = np.random.default_rng(3).permutation(grid.free_cells()).astype(np.int32)
    used = AlternatePaths(grid)
    for k in range(4):
        all_of(used, used.begin_problem(places[k : k + 5], NONE, through_targets=k % 2 == 0))
    fresh = AlternatePaths(grid)
    setting = used.begin_problem(places[9:14], NONE, through_targets=True)
    assert all_of(used, setting) == all_of(fresh, fresh.begin_problem(places[9:14], NONE, through_targets=True))
    assert used.alternates.counts[0].reused > 0
    assert 0 < used.alternates.counts[0].searched < fresh.alternates.counts[0].searched


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_an_edit_throws_away_only_what_it_touches(seed: int) -> None:
    grid = random_grid(seed, 12)
    before = AlternatePaths(grid)
    all_of(before, before.begin_problem(NONE, NONE, through_targets=True))
    edited = grid.copy()
    for point in ((2, 2), (9, 9)):
        (edited.block if edited.is_free(point) else edited.unblock)([point])
    cells = np.array([edited.cell(2, 2), edited.cell(9, 9)], np.int32)
    after = before.edited(edited, cells)
    fresh = AlternatePaths(edited)
    found = all_of(after, after.begin_problem(NONE, NONE, through_targets=True))
    assert found == all_of(fresh, fresh.begin_problem(NONE, NONE, through_targets=True))
    assert after.alternates.counts[0].reused > after.alternates.counts[0].searched > 0


@pytest.mark.small
def test_space_is_found_when_there_is_none() -> None:
    paths = AlternatePaths(Grid(np.ones((4, 4)), connectivity=4))
    setting = paths.begin_problem(NONE, NONE, through_targets=True)
    small = paths.alternates
    expected = all_of(paths, setting)
    again = AlternatePaths(paths.grid)
    again.alternates = again.alternates._replace(
        begin=small.begin[:5].copy() * 0, seen=small.seen[:5].copy(), cells=small.cells[:60].copy()
    )
    assert all_of(again, again.begin_problem(NONE, NONE, through_targets=True)) == expected
    assert again.alternates.begin.size == len(again.alternates.seen) > 5
    assert again.alternates.cells.size > 60


def test_paths_are_kept_in_a_folder_by_map(tmp_path: Path) -> None:
    grid = random_grid(5)
    paths = AlternatePaths(grid)
    found = all_of(paths, paths.begin_problem(NONE, NONE, through_targets=True))
    paths.keep_in(tmp_path)
    (file,) = tmp_path.iterdir()
    assert file.name == f"{grid.digest()}.alternates.npz"
    loaded = AlternatePaths.load(grid, file)
    assert all_of(loaded, loaded.begin_problem(NONE, NONE, through_targets=True)) == found
    assert loaded.alternates.counts[0].searched == 0
    written = file.stat().st_mtime_ns
    loaded.keep_in(tmp_path)
    assert file.stat().st_mtime_ns == written


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    grid, file = random_grid(5), tmp_path / "paths.npz"
    file.write_bytes(b"PK nothing of the kind")
    with pytest.raises(FormatError, match=r"paths\.npz: .*delete it"):
        AlternatePaths.load(grid, file)
    AlternatePaths(random_grid(6)).save(file)
    with pytest.raises(FormatError, match="of another map"):
        AlternatePaths.load(grid, file)
    np.savez(file, format=1, digest=grid.digest(), bare=NONE, begin=np.zeros(1), cells=NONE, seen=np.zeros((0, 4)))
    with pytest.raises(FormatError, match=r"begin: .*delete it"):
        AlternatePaths.load(grid, file)


@pytest.mark.parametrize(
    ("part", "value"), [("cells", 2**31 - 1), ("cells", -1), ("begin", 2**40), ("begin", -1), ("bare", 10**6)]
)
def test_values_that_lead_off_the_map_or_the_arrays_are_refused(tmp_path: Path, part: str, value: int) -> None:
    """Kernels follow them without looking."""
    forget_maps()
    grid, file = random_grid(5), tmp_path / "paths.npz"
    world = World(grid, create("mapp", alternates_folder=str(tmp_path)))
    cells = grid.largest_component().tolist()
    for start, goal in zip(cells[:4], reversed(cells), strict=False):
        world.add(grid.xy(start), grid.xy(goal))
    world.tick()
    (kept,) = tmp_path.glob("*.npz")
    parts = dict(np.load(kept))
    assert AlternatePaths.load(grid, kept)
    parts[part][parts[part].size // 2] = value
    np.savez(file, **parts)
    with pytest.raises(FormatError, match="no alternate paths of this map"):
        AlternatePaths.load(grid, file)


def test_maps_share_their_paths_and_edits_start_from_them() -> None:
    grid = random_grid(7)
    paths = alternates_of(grid)
    assert alternates_of(grid.copy()) is paths
    edited = grid.copy()
    cell = int(edited.free_cells()[0])
    edited.block([edited.xy(cell)])
    after = alternates_after(paths, edited, np.array([cell], np.int32))
    assert after is not paths
    assert alternates_of(edited) is after
    for seed in range(100, 110):
        alternates_of(random_grid(seed, 4))
    assert alternates_of(grid) is not paths


@pytest.mark.small
@pytest.mark.parametrize("seed", range(8))
def test_blocks_say_what_is_joined_without_a_cell(seed: int) -> None:
    grid = random_grid(seed)
    closed = np.zeros(grid.size, np.uint8)
    closed[grid.free_cells()[:: 9 - seed]] = 1
    blocks = make_bicomponents(grid.size)
    ref = Map(grid, set(), set(), through_targets=True)
    for shut in (np.zeros(grid.size, np.uint8), closed):
        label_bicomponents(grid.tables, shut, blocks)
        without = set(np.flatnonzero(shut).tolist())
        for b, one, other in triples(grid):
            a, c = ref.steps[b][one], ref.steps[b][other]
            labels = blocks.label[b * 4 + one], blocks.label[b * 4 + other]
            assert (labels[0] == NO_BICOMPONENT) == (b in without or a in without)
            if NO_BICOMPONENT not in labels:
                assert (labels[0] == labels[1]) == ref.joined(b, a, c, without)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(4))
def test_changes_of_block_are_counted_on_the_tree(seed: int) -> None:
    grid = random_grid(seed)
    blocks = make_bicomponents(grid.size)
    label_bicomponents(grid.tables, np.zeros(grid.size, np.uint8), blocks)
    tree = make_bicomponent_tree(blocks.label)
    ref = Map(grid, set(), set(), through_targets=True)
    for goal in grid.free_cells()[::5].tolist():
        count_changes(grid.tables, blocks.label, tree, goal)
        changes = ref.changes(goal)
        for cell, steps in ref.steps.items():
            for d, beside in steps.items():
                expected = changes.get(ref.blocks[frozenset((cell, beside))], -1)
                assert tree.changes[blocks.label[cell * 4 + d]] == expected


@pytest.mark.small
def test_the_ladder_pops_by_penalty_then_f_then_last_in_first_out() -> None:
    draw = np.random.default_rng(1)
    ladder = allocate(Ladder, entries=500, rungs=200)
    for _ in range(3):
        clear(ladder, 10)
        waiting: list[tuple[int, int, int]] = []
        floor, popped = 0, 0
        for k in range(400):
            if draw.random() < 0.6 or not waiting:
                penalty, f = floor + int(draw.integers(0, 3)), 10 + 2 * int(draw.integers(0, 90))
                push(ladder, np.int64(penalty), f, k)
                waiting.append((penalty, f, -k))
            else:
                expected = min(waiting)
                waiting.remove(expected)
                floor = expected[0]
                assert pop(ladder) == -expected[2]
                popped += 1
        assert popped > 50
        for expected in sorted(waiting):
            assert pop(ladder) == -expected[2]
        assert pop(ladder) == -1
