from __future__ import annotations

import numpy as np
import pytest

from tests.reference.reverse_resumable import distances
from wend import Grid
from wend.kernel import OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE
from wend.kernel.allowance import allow, spent
from wend.kernel.pages import PAGE, SIDE
from wend.kernel.pools import get
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST
from wend.search.reverse_resumable import (
    SharedSearches,
    distance,
    make_reverse,
)

RULES: list[dict[str, object]] = [{}, {"connectivity": 4}, {"corner_cutting": True}]


def random_grid(seed: int, **rules: object) -> Grid:
    height, width = np.random.default_rng(seed).integers(3, 15, 2)
    return Grid(np.random.default_rng(seed).random((height, width)) < 0.75, **rules)  # type: ignore[arg-type]


def ask(grid: Grid, shared: SharedSearches, agent: int, cell: int) -> int:
    """The distance from a cell to the agent's goal, however much room or budget it takes."""
    while True:
        answer = int(distance(grid.tables, shared.reverse, shared.of[agent], cell))
        if answer == OUT_OF_SPACE:
            shared.grow()
        elif answer != OUT_OF_BUDGET:
            return answer
        allow(shared.reverse.allowance, 1_000)


def closed(shared: SharedSearches, agent: int) -> dict[int, int]:
    """The cells that a search has closed, with their distances."""
    reverse = shared.reverse
    found: dict[int, int] = {}
    for k, page in enumerate(reverse.page_of[shared.of[agent]].tolist()):
        corner = k // reverse.across * SIDE * reverse.width + k % reverse.across * SIDE
        values = enumerate(int(get(reverse.known.pool, page + j)) for j in range(PAGE))
        cells = {corner + j // SIDE * reverse.width + j % SIDE: known for j, known in values}
        found |= {cell: (known + 2**62) >> 1 for cell, known in cells.items() if known & 1}
    return found


@pytest.mark.small
def test_an_open_room() -> None:
    grid = Grid(np.ones((5, 5)), connectivity=4)
    shared = SharedSearches(grid)
    shared.aim(0, grid.cell(0, 0), grid.cell(4, 4))
    assert ask(grid, shared, 0, grid.cell(4, 4)) == 8 * CARDINAL_COST
    assert ask(grid, shared, 0, grid.cell(0, 4)) == 4 * CARDINAL_COST


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
def test_distances_are_exact_after_any_sequence_of_questions(rules: dict[str, object]) -> None:
    for seed in range(15):
        grid = random_grid(seed, **rules)
        draw = np.random.default_rng(seed)
        cells = grid.free_cells()
        goal, origin = (int(cell) for cell in draw.choice(cells, 2))
        exact = distances(grid, goal)
        shared = SharedSearches(grid)
        shared.aim(0, goal, origin)
        known: dict[int, int] = {}
        for cell in draw.permutation(cells).tolist():
            assert ask(grid, shared, 0, cell) == exact.get(cell, UNREACHABLE)
            now = closed(shared, 0)
            assert known.items() <= now.items() <= exact.items()
            known = now
        assert known == exact


@pytest.mark.small
def test_it_heads_for_the_origin_and_expands_no_more_than_asked_for() -> None:
    grid = Grid(np.ones((9, 30)), connectivity=4)
    shared = SharedSearches(grid)
    shared.aim(0, grid.cell(0, 4), grid.cell(29, 4))
    ask(grid, shared, 0, grid.cell(29, 4))
    assert set(closed(shared, 0)) == {grid.cell(x, 4) for x in range(30)}
    before = spent(shared.reverse.allowance)
    ask(grid, shared, 0, grid.cell(10, 4))
    assert spent(shared.reverse.allowance) == before


@pytest.mark.small
def test_a_budget_stops_the_search_and_it_goes_on_where_it_stopped() -> None:
    grid = random_grid(3)
    cells = grid.largest_component()
    goal, far = int(cells[0]), int(cells[-1])
    whole, split = SharedSearches(grid), SharedSearches(grid)
    for shared in (whole, split):
        shared.aim(0, goal, far)
        shared.grow()
    allow(whole.reverse.allowance, 10_000)
    wanted = int(distance(grid.tables, whole.reverse, whole.of[0], far))
    needed = int(spent(whole.reverse.allowance))
    answers = []
    for allowed in range(0, 3 * needed, 3):
        allow(split.reverse.allowance, 3)
        answers.append(int(distance(grid.tables, split.reverse, split.of[0], far)))
        assert spent(split.reverse.allowance) <= allowed + 3
        if answers[-1] >= 0:
            break
    assert needed > 6
    assert answers == [OUT_OF_BUDGET] * (-(-needed // 3) - 1) + [wanted]
    assert spent(split.reverse.allowance) == needed


@pytest.mark.small
def test_without_a_budget_only_what_is_known_is_answered() -> None:
    grid = Grid(np.ones((1, 9)))
    shared = SharedSearches(grid)
    shared.aim(0, 0, 8)
    shared.grow()
    ask(grid, shared, 0, 4)
    allow(shared.reverse.allowance, 0)
    assert distance(grid.tables, shared.reverse, shared.of[0], 3) == 3 * CARDINAL_COST
    assert distance(grid.tables, shared.reverse, shared.of[0], 5) == OUT_OF_BUDGET
    assert spent(shared.reverse.allowance) == 5


@pytest.mark.parametrize("connectivity", [4, 8])
def test_pools_and_open_lists_grow_when_they_are_full(connectivity: int) -> None:
    """More searches over a larger map than the first room holds; the answers stay the same."""
    grid = Grid(np.random.default_rng(1).random((150, 150)) < 0.9, connectivity=connectivity)
    cells = grid.largest_component()
    draw = np.random.default_rng(2)
    goals = draw.choice(cells, 6, replace=False).tolist()
    shared = SharedSearches(grid)
    shared.reverse = make_reverse(grid, pages=16, entries=64, levels=16)
    for agent, goal in enumerate(goals):
        shared.aim(agent, goal, int(cells[0]))
    answers = []
    for far in (int(cells[-1]), int(cells[cells.size // 2]), int(cells[0])):
        answers += [ask(grid, shared, agent, far) for agent in range(6)]
    assert shared.reverse.known.pool.items.size > 16 * PAGE
    assert shared.reverse.entry.items.size > 64
    assert (shared.reverse.level_f.shape[1] > 16) == (connectivity == 8)    # otherwise there are two values at a time
    exact = [distances(grid, goal) for goal in goals]
    wanted = [exact[a][far] for far in (int(cells[-1]), int(cells[cells.size // 2]), int(cells[0])) for a in range(6)]
    assert answers == wanted


@pytest.mark.small
def test_agents_with_one_goal_share_a_search_until_the_last_of_them_leaves() -> None:
    grid = Grid(np.ones((4, 40)))
    shared = SharedSearches(grid)
    shared.aim(0, 5, 30)
    shared.aim(1, 5, 20)
    shared.aim(2, 7, 20)
    assert shared.of[0] == shared.of[1] != shared.of[2]
    ask(grid, shared, 0, 30)
    before = spent(shared.reverse.allowance)
    assert ask(grid, shared, 1, 30) == 25 * CARDINAL_COST
    assert spent(shared.reverse.allowance) == before
    shared.drop(0)
    assert closed(shared, 1)
    shared.aim(1, 6, 20)
    assert not closed(shared, 1)
    assert ask(grid, shared, 1, 30) == 24 * CARDINAL_COST
    assert ask(grid, shared, 2, 30) == 23 * CARDINAL_COST


@pytest.mark.small
def test_aiming_and_dropping_again_and_again_needs_no_more_room() -> None:
    grid = random_grid(7)
    cells = grid.largest_component()
    draw = np.random.default_rng(7)
    shared = SharedSearches(grid)
    aim: dict[int, int] = {}
    for _ in range(80):
        agent, goal, cell = int(draw.integers(5)), int(draw.choice(cells)), int(draw.choice(cells))
        if agent in aim and draw.random() < 0.3:
            shared.drop(agent)
            del aim[agent]
        else:
            shared.aim(agent, goal, cell)
            aim[agent] = goal
        for known, at in aim.items():
            assert ask(grid, shared, known, cell) == distances(grid, at)[cell]
    assert shared.reverse.known.counts[0].used <= 1 + 5 * shared.reverse.page_of.shape[1]
    assert shared.reverse.counts[0].entries <= 5 * grid.size


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
def test_distances_are_right_after_edits(rules: dict[str, object]) -> None:
    for seed in range(8):
        grid = random_grid(seed + 20, **rules)
        draw = np.random.default_rng(seed)
        free = grid.free_cells()
        goals = [int(cell) for cell in draw.choice(free, 2, replace=False)]
        shared = SharedSearches(grid)
        for agent, goal in enumerate(goals):
            shared.aim(agent, goal, int(draw.choice(free)))
        for _ in range(10):
            for cell in draw.choice(grid.free_cells(), 3).tolist():
                for agent, goal in enumerate(goals):
                    assert ask(grid, shared, agent, cell) == distances(grid, goal).get(cell, UNREACHABLE)
            edited = sorted({int(cell) for cell in draw.integers(0, grid.size, 2)} - set(goals))
            for cell in edited:
                (grid.block if grid.is_free(grid.xy(cell)) else grid.unblock)([grid.xy(cell)])
            shared.cells_changed(np.array(edited, np.int32))


@pytest.mark.small
@pytest.mark.parametrize("drawing", ["...\n@@@\n...", ".@.\n.@.\n.@.", ".@@\n@@@\n@@."])
def test_a_gap_in_a_wall_is_seen_from_all_sides(drawing: str) -> None:
    grid = Grid.from_text(drawing, corner_cutting=True)
    shared = SharedSearches(grid)
    shared.aim(0, grid.cell(0, 0), grid.cell(2, 2))
    assert ask(grid, shared, 0, grid.cell(2, 2)) == UNREACHABLE
    grid.unblock([(1, 1)])
    shared.cells_changed(np.array([grid.cell(1, 1)], np.int32))
    assert ask(grid, shared, 0, grid.cell(2, 2)) == 2 * DIAGONAL_COST


@pytest.mark.small
def test_an_edit_far_away_keeps_what_was_found() -> None:
    grid = Grid(np.ones((3, 100)))
    shared = SharedSearches(grid)
    shared.aim(0, grid.cell(0, 1), grid.cell(20, 1))
    shared.aim(1, grid.cell(99, 1), grid.cell(80, 1))
    ask(grid, shared, 0, grid.cell(20, 1))
    ask(grid, shared, 1, grid.cell(80, 1))
    kept = closed(shared, 0)
    grid.block([(90, 1)])
    shared.cells_changed(np.array([grid.cell(90, 1)], np.int32))
    assert closed(shared, 0) == kept
    assert not closed(shared, 1)
    assert ask(grid, shared, 1, grid.cell(80, 1)) == distances(grid, grid.cell(99, 1))[grid.cell(80, 1)]


def test_the_rows_of_a_very_tall_map_are_told_apart() -> None:
    """Beyond 2**19 rows the product that gives the row of a cell left 64 bits once."""
    rows = 2**19 + 64
    grid = Grid(np.ones((rows, 2), np.bool_))
    shared = SharedSearches(grid)
    shared.reserve(1)
    shared.aim(0, 2 * rows - 1, 2 * rows - 79)
    allow(shared.reverse.allowance, 1_000)
    assert ask(grid, shared, 0, 2 * rows - 79) == 39 * CARDINAL_COST
