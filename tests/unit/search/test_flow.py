from __future__ import annotations

import numpy as np
import pytest

from tests.reference import flow as reference
from tests.reference.grid import legal_steps
from wend import Grid, shortest_path
from wend.errors import ParameterError
from wend.search import astar, flow

RULES = [{}, {"connectivity": 4}, {"corner_cutting": True}]


def random_grid(seed: int, side: int, **rules: object) -> Grid:
    rng = np.random.default_rng(seed)
    return Grid(rng.random((side, side)) >= (0.1, 0.2, 0.35)[seed % 3], **rules)  # type: ignore[arg-type]


def edges_of(grid: Grid, kind: str) -> set[reference.Edge]:
    moves, offset = flow.Flow(grid, kind).tables().moves, grid.tables.offset
    return {
        (grid.xy(cell), grid.xy(cell + int(offset[d])))
        for cell in range(grid.size) for d in range(8) if moves[cell] >> d & 1
    }  # fmt: skip


def strong_components(grid: Grid, kind: str) -> int:
    moves, work = flow.Flow(grid, kind).tables().moves, flow.make_annotation(grid.size)
    return int(flow.find_components(grid.tables.offset, moves, work)) - int((~grid.passable).sum())


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
def test_annotations_agree_with_the_reference(rules: dict[str, object]) -> None:
    one_way = 0
    for seed in range(9):
        grid = random_grid(seed, 9, **rules)
        assert edges_of(grid, flow.GLOBAL) == reference.annotate(grid)
        assert edges_of(grid, flow.LOCAL) == reference.annotate_locally(grid)
        edges = edges_of(grid, flow.GLOBAL)
        one_way += sum((b, a) not in edges for a, b in edges)
    assert one_way > 50


@pytest.mark.small
def test_strong_components_are_those_of_the_definition() -> None:
    for seed in range(6):
        grid = random_grid(seed, 8)
        rng = np.random.default_rng(seed)
        moves = grid.tables.moves & rng.integers(0, 256, grid.size, dtype=np.uint8)     # a random directed graph
        work = flow.make_annotation(grid.size)
        count = flow.find_components(grid.tables.offset, moves, work)
        edges = {
            (grid.xy(cell), grid.xy(cell + int(grid.tables.offset[d])))
            for cell in range(grid.size) for d in range(8) if moves[cell] >> d & 1
        }  # fmt: skip
        places = reference.places(grid)
        expected = reference.strong_components(edges, places)
        assert count - int((~grid.passable).sum()) == len(set(expected.values())) > 1
        number = {place: int(work.found.component[grid.cell(*place)]) for place in places}
        assert all((number[a] == number[b]) == (expected[a] == expected[b]) for a in places for b in places)


@pytest.mark.parametrize("kind", [flow.GLOBAL, flow.LOCAL])
@pytest.mark.parametrize("rules", RULES)
def test_everything_stays_connected(kind: str, rules: dict[str, object]) -> None:
    """200 random grids: as many strongly connected components as components."""
    for seed in range(200 if not rules else 60):
        grid = random_grid(seed, 32, **rules)
        assert strong_components(grid, kind) == len(grid.component_sizes())


@pytest.mark.small
@pytest.mark.parametrize("kind", [flow.GLOBAL, flow.LOCAL])
def test_an_annotated_path_is_a_legal_path_and_no_shorter(kind: str) -> None:
    longer = 0
    for seed in range(8):
        grid = random_grid(seed, 14)
        rng = np.random.default_rng(seed)
        tables, search = flow.Flow(grid, kind).tables(), astar.make_search(grid.size)
        for _ in range(6):
            start, goal = (int(c) for c in rng.choice(grid.largest_component(), 2))
            astar.begin(tables, search, start, goal, 0, 0)
            assert astar.run(tables, search, astar.NO_LIMIT) == astar.FOUND
            steps = np.empty(astar.path_length(tables, search), np.uint8)
            astar.write_steps(tables, search, steps.size, steps)
            at, cost = start, 0.0
            for d in steps.tolist():
                assert d in [direction for direction, _ in legal_steps(grid, grid.xy(at))]
                at += int(tables.offset[d])
                cost += 1 if d < 4 else 2**0.5
            assert at == goal
            shortest = shortest_path(grid, grid.xy(start), grid.xy(goal)).cost
            assert cost >= shortest - 1e-9
            longer += cost > shortest + 1e-9
    assert longer > 10


@pytest.mark.small
@pytest.mark.parametrize("kind", [flow.GLOBAL, flow.LOCAL])
@pytest.mark.parametrize("rules", RULES)
def test_edits_are_followed(kind: str, rules: dict[str, object]) -> None:
    """After every edit the table is the one that a new annotation of the map would give."""
    grid = random_grid(2, 12, **rules)
    kept = flow.Flow(grid, kind)
    rng = np.random.default_rng(2)
    changed = 0
    before = kept.tables().moves.copy()
    for _ in range(60):
        points = [(int(rng.integers(12)), int(rng.integers(12))) for _ in range(2)]
        (grid.block if rng.random() < 0.5 else grid.unblock)(points)
        kept.cells_changed(np.array([grid.cell(*point) for point in points], np.int32))
        kept.advance()
        moves = kept.tables().moves
        assert np.array_equal(moves, flow.Flow(grid, kind).tables().moves)
        changed += not np.array_equal(moves, before)
        before = moves.copy()
    assert changed > 20


@pytest.mark.small
@pytest.mark.parametrize("steps", [1, 7, 100])
@pytest.mark.parametrize("rules", RULES)
def test_in_pieces_it_becomes_the_same(rules: dict[str, object], steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the table is whole it has legal moves only; edits while it is made do not keep it from its end."""
    monkeypatch.setattr(flow, "_STEPS_PER_TICK", steps)
    grid = random_grid(3, 9, **rules)
    kept, rng, ends = flow.Flow(grid, flow.GLOBAL), np.random.default_rng(1), 0
    for tick in range(2_000 // steps):
        if tick % 5 == 0:
            points = [(int(rng.integers(9)), int(rng.integers(9)))]
            (grid.block if rng.random() < 0.5 else grid.unblock)(points)
            kept.cells_changed(np.array([grid.cell(*point) for point in points], np.int32))
        ends += kept.advance()
        assert not (kept.tables().moves & ~grid.tables.moves).any()
    assert ends > 1
    for _ in range(2_000 // steps):
        kept.advance()
    assert not kept.advance()
    assert np.array_equal(kept.tables().moves, flow.Flow(grid, flow.GLOBAL).tables().moves)


@pytest.mark.small
def test_a_local_annotation_that_was_never_used_follows_edits_too() -> None:
    grid = Grid(np.ones((6, 6)))
    kept = flow.Flow(grid, flow.LOCAL)
    grid.block([(2, 2)])
    kept.cells_changed(np.array([grid.cell(2, 2)], np.int32))
    assert np.array_equal(kept.tables().moves, flow.Flow(grid, flow.LOCAL).tables().moves)


def test_there_are_two_kinds() -> None:
    with pytest.raises(ParameterError, match="a flow is 'global' or 'local', not 'upstream'"):
        flow.Flow(Grid.from_text("."), "upstream")
