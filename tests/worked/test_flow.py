"""What the annotations of small maps must be, counted by hand and by an independent program."""

from __future__ import annotations

import numpy as np
import pytest

from wend import Grid
from wend.search.flow import GLOBAL, LOCAL, Flow, annotate_on, make_annotation

DIAGONALS = {4: (1, -1), 5: (1, 1), 6: (-1, 1), 7: (-1, -1)}


def annotated(grid: Grid) -> tuple[np.ndarray, dict[str, int]]:
    """The moves of the global annotation, and how much each rule had to do."""
    work = make_annotation(grid.size)
    assert annotate_on(grid.tables, grid.passable.ravel(), work, 2**62)
    return work.moves, {name: int(work.counts[0][name]) for name in work.counts.dtype.names}


def two_way_streets(grid: Grid, moves: np.ndarray) -> tuple[int, int]:
    """How many streets run both ways, and how many there are."""
    both = streets = 0
    for cell in range(grid.size):
        for d in (1, 2):
            if grid.tables.moves[cell] >> d & 1:
                beside = cell + int(grid.tables.offset[d])
                streets += 1
                both += bool(moves[cell] >> d & 1 and moves[beside] >> (d ^ 2) & 1)
    return both, streets


def diagonals(grid: Grid, moves: np.ndarray) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    found = set()
    for cell in range(grid.size):
        x, y = grid.xy(cell)
        found |= {((x, y), (x + dx, y + dy)) for d, (dx, dy) in DIAGONALS.items() if moves[cell] >> d & 1}
    return found


@pytest.mark.small
@pytest.mark.parametrize(
    ("width", "height", "sinks", "sources", "diagonal", "components", "added", "two_way", "streets"),
    [
        (2, 2, 2, 2, 4, 2, 4, 4, 4),
        (3, 3, 1, 1, 2, 1, 0, 4, 12),
        (4, 4, 2, 2, 4, 1, 0, 8, 24),
        (5, 5, 1, 1, 2, 1, 0, 8, 40),
        (6, 4, 2, 2, 4, 1, 0, 10, 38),
        (8, 8, 2, 2, 4, 1, 0, 16, 112),
        (6, 1, 0, 0, 0, 1, 0, 5, 5),
    ],
)
def test_open_maps(
    width: int, height: int, sinks: int, sources: int, diagonal: int, components: int, added: int, two_way: int,
    streets: int,
) -> None:  # fmt: skip
    grid = Grid(np.ones((height, width)))
    moves, work = annotated(grid)
    assert work == {
        "sinks": sinks, "sources": sources, "components_before": components, "directions_added": added
    }  # fmt: skip
    assert np.array_equal(Flow(grid, GLOBAL).tables().moves, moves)
    assert len(diagonals(grid, moves)) == diagonal
    local = Flow(grid, LOCAL).tables().moves
    assert two_way_streets(grid, local) == (two_way, streets)
    assert not diagonals(grid, local)


@pytest.mark.small
def test_the_corners_of_a_four_by_four_map() -> None:
    """Sinks (0, 0) and (3, 3) are left, sources (3, 0) and (0, 3) entered by a diagonal each."""
    grid = Grid(np.ones((4, 4)))
    moves = Flow(grid, GLOBAL).tables().moves
    expected = {((0, 0), (1, 1)), ((3, 3), (2, 2)), ((2, 1), (3, 0)), ((1, 2), (0, 3))}
    assert diagonals(grid, moves) == expected


def test_every_sink_and_source_has_one_diagonal() -> None:
    for seed in range(100):
        grid = Grid(np.random.default_rng(seed).random((24, 24)) >= (0.1, 0.2, 0.35)[seed % 3])
        moves, work = annotated(grid)
        assert len(diagonals(grid, moves)) == work["sinks"] + work["sources"] > 0


@pytest.mark.small
def test_streets_run_west_east_north_south_and_corridors_both_ways() -> None:
    grid = Grid.from_text("""
        ......
        ......
        ......
        ...@@.
        ...@@.
        ......
    """)
    moves = Flow(grid, GLOBAL).tables().moves

    def leads(start: tuple[int, int], end: tuple[int, int]) -> bool:
        step = grid.cell(*end) - grid.cell(*start)
        return any(moves[grid.cell(*start)] >> d & 1 for d in range(8) if grid.tables.offset[d] == step)

    assert leads((2, 0), (1, 0))
    assert not leads((1, 0), (2, 0))
    assert leads((1, 1), (2, 1))
    assert not leads((2, 1), (1, 1))
    assert leads((2, 2), (2, 1))
    assert not leads((2, 1), (2, 2))
    assert leads((1, 1), (1, 2))
    assert not leads((1, 2), (1, 1))
    for corridor in ((5, 3), (5, 4), (5, 5), (4, 5)):
        x, y = corridor
        for beside in ((x, y - 1), (x - 1, y)):
            if grid.is_free(beside):
                assert leads(corridor, beside)
                assert leads(beside, corridor)
