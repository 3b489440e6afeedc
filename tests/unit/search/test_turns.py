from __future__ import annotations

import numpy as np
import pytest

from wend import Grid, shortest_path
from wend.kernel import FOUND, OUT_OF_BUDGET, UNREACHABLE
from wend.kernel.allowance import allow, spent
from wend.kernel.arrays import grown
from wend.maps.generators import random_map
from wend.maps.terrain import Point
from wend.search import paths as stacks
from wend.search import turns
from wend.search.astar import NO_LIMIT

WHOLE, JOIN = 1, 2


def points_of(grid: Grid, paths: stacks.Paths, start: Point) -> list[Point]:
    return [grid.xy(cell) for cell in stacks.cells_ahead(grid.tables, paths, 0, grid.cell(*start))]


@pytest.mark.small
def test_a_search_goes_on_where_the_allowance_ended() -> None:
    grid = random_map(seed=1, width=16, height=16)
    cells = grid.largest_component()
    start, goal = int(cells[0]), int(cells[-1])
    shortest = shortest_path(grid, grid.xy(start), grid.xy(goal))
    its, paths = turns.make_turns(grid.size), grown(stacks.make_paths(grid.size), agents=1)
    turns.begin_search(grid.tables, its, WHOLE, start, goal, 0, 0)
    ticks = 0
    answer = OUT_OF_BUDGET
    while answer == OUT_OF_BUDGET:
        assert turns.is_begun(its, WHOLE, start, goal)
        allow(its.allowance, 5)
        answer = turns.search_on(grid.tables, its, NO_LIMIT)
        ticks += 1
        assert turns.is_spent(its) or answer == FOUND
    assert (answer, ticks) == (FOUND, -(-shortest.expansions // 5))
    assert spent(its.allowance) == shortest.expansions
    assert turns.keep_path(grid.tables, its, paths, 0, 0)
    assert points_of(grid, paths, grid.xy(start)) == list(shortest)[1:]
    turns.end_turn(its, 3)
    assert turns.whose_turn(its) == 1
    assert not turns.is_begun(its, WHOLE, start, goal)


@pytest.mark.small
def test_a_search_with_a_limit_of_its_own_is_given_up_there() -> None:
    grid = Grid(np.ones((1, 20)))
    its = turns.make_turns(grid.size)
    turns.begin_search(grid.tables, its, JOIN, 0, 19, 0, 0)
    answers = []
    for _ in range(3):
        allow(its.allowance, 4)
        answers.append(turns.search_on(grid.tables, its, 10))
    assert answers == [OUT_OF_BUDGET, OUT_OF_BUDGET, UNREACHABLE]
    assert spent(its.allowance) == 10


@pytest.mark.small
def test_a_path_is_put_in_front_of_what_is_kept_when_there_is_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "_FIRST_PACKETS", 1)
    grid = Grid(np.ones((2, 120)))
    its, paths = turns.make_turns(grid.size), grown(stacks.make_paths(2), agents=2)
    for agent, moves in ((0, 60), (1, 500)):
        for _ in range(moves):
            stacks.put_move(paths, agent, 1)
    assert not stacks.has_space(paths, 91)
    turns.begin_search(grid.tables, its, JOIN, grid.cell(0, 1), grid.cell(90, 0), 0, 0)
    allow(its.allowance, NO_LIMIT)
    assert turns.search_on(grid.tables, its, NO_LIMIT) == FOUND
    while not turns.keep_path(grid.tables, its, paths, 0, 29):
        assert points_of(grid, paths, (0, 0)) == [(x, 0) for x in range(1, 61)]     # as it was
        paths = stacks.with_space(paths)
        assert turns.search_on(grid.tables, its, NO_LIMIT) == FOUND                 # and again
    joined = points_of(grid, paths, (0, 1))
    assert joined == list(shortest_path(grid, (0, 1), (90, 0)))[1:] + [(x, 0) for x in range(91, 120)]
