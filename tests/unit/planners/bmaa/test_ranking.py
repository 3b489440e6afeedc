from __future__ import annotations

import numpy as np
import pytest

from tests.reference.bmaa import BlockMind, ReferenceBmaa, Walker
from wend import Grid
from wend.kernel import NO_AGENT, NO_CELL
from wend.kernel.arrays import allocate
from wend.maps.terrain import Point
from wend.planners.base import Agents
from wend.planners.bmaa.ranking import Wishes, settle
from wend.rules import Judge
from wend.search.pibt import Decisions
from wend.search.real_time import make_learned

LOT = 7


def go(
    grid: Grid, at: list[Point], wish: list[Point | None], *,
    goals: list[Point] | None = None, order: list[int] | None = None,
    pinned: tuple[int, ...] = (), moves_itself: dict[int, Point] | None = None,
) -> tuple[list[Point], list[int]]:  # fmt: skip
    """Where all agents go, and whom they wait for."""
    count = len(at)
    itself = moves_itself or {}
    cells = np.array([grid.cell(*point) for point in at], np.int32)
    agents = Agents(
        cells, np.array([grid.cell(*point) for point in goals or at], np.int32),
        np.array([agent not in itself for agent in range(count)]), np.array([a in pinned for a in range(count)]),
    )  # fmt: skip
    occupant = np.full(grid.size, NO_AGENT, np.int32)
    occupant[cells] = np.arange(count)
    next_cell, waits_for = cells.copy(), np.full(count, NO_AGENT, np.int32)
    for agent, point in itself.items():
        next_cell[agent] = grid.cell(*point)
    wished = np.array([NO_CELL if point is None else grid.cell(*point) for point in wish], np.int32)
    wishes = Wishes(grid.tables, agents, occupant, make_learned(grid, agents=count), wished, LOT)
    line = np.array(range(count) if order is None else order, np.int32)
    settle(wishes, line, allocate(Decisions, agents=count, cells=grid.size), next_cell, waits_for)
    assert not Judge(grid).judge(1, cells, next_cell)
    return [grid.xy(int(cell)) for cell in next_cell], waits_for.tolist()


@pytest.mark.small
def test_a_push_goes_through_a_row_of_agents() -> None:
    grid = Grid.from_text("......")
    row: list[Point] = [(x, 0) for x in range(4)]
    assert go(grid, row, [(1, 0), *row[1:]])[0] == [(1, 0), (2, 0), (3, 0), (4, 0)]


@pytest.mark.small
def test_who_finds_no_place_stays_and_so_does_who_pushed_it() -> None:
    grid = Grid.from_text("....")
    row: list[Point] = [(x, 0) for x in range(4)]
    assert go(grid, row, [(1, 0), *row[1:]], goals=[(3, 0), *row[1:]]) == (row, [1, -1, -1, -1])


@pytest.mark.small
def test_three_turn_in_a_ring_and_two_do_not_change_places() -> None:
    grid = Grid.from_text("..\n..")
    ring: list[Point] = [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert go(grid, ring, [*ring[1:], ring[0]])[0] == [*ring[1:], ring[0]]
    corridor = Grid.from_text("..")
    assert go(corridor, [(0, 0), (1, 0)], [(1, 0), (0, 0)])[0] == [(0, 0), (1, 0)]


@pytest.mark.small
def test_pinned_agents_stay_and_those_of_the_program_go_where_it_says() -> None:
    grid = Grid.from_text("....")
    assert go(grid, [(0, 0), (1, 0)], [(1, 0), (1, 0)], pinned=(1,), goals=[(3, 0), (1, 0)])[0] == [(0, 0), (1, 0)]
    follows, _ = go(grid, [(0, 0), (1, 0)], [(1, 0), None], moves_itself={1: (2, 0)}, goals=[(3, 0), (1, 0)])
    assert follows == [(1, 0), (2, 0)]
    meets, _ = go(grid, [(0, 0), (2, 0)], [(1, 0), None], moves_itself={1: (1, 0)}, goals=[(3, 0), (2, 0)])
    assert meets == [(0, 0), (1, 0)]


@pytest.mark.small
def test_who_is_pushed_off_its_goal_steps_off_the_way_of_who_pushes() -> None:
    """The free cell ahead is as near to its goal as the one in the pocket, and comes first in the order of cells."""
    for pocket in ("@.@\n...", "...\n@.@"):
        grid = Grid.from_text(pocket)
        y = 1 if pocket[0] == "@" else 0
        goes, _ = go(grid, [(0, y), (1, y)], [(1, y), (1, y)], goals=[(2, y), (1, y)])
        assert goes == [(1, y), (1, 1 - y)]


@pytest.mark.small
def test_agrees_with_the_reference() -> None:
    """All agents are at home and wish to be somewhere beside it."""
    stayed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        grid = Grid(rng.random((5, 6)) < 0.85)
        cells = rng.permutation(grid.free_cells())[: int(rng.integers(2, 18))]
        at = [grid.xy(int(cell)) for cell in cells]
        wish: list[Point | None] = []
        for point in at:
            around = [point, *grid.neighbours(point)]
            wish.append(around[int(rng.integers(len(around)))])
        order = rng.permutation(len(at)).tolist()

        twin = ReferenceBmaa(grid)
        twin.walkers = [Walker(point, BlockMind(grid, point)) for point in at]
        expected = twin.settle(at, order, wish, LOT)
        goes, _ = go(grid, at, wish, order=order)
        assert goes == expected
        stayed += sum(there == here != wished for there, here, wished in zip(goes, at, wish, strict=True))
    assert stayed > 20

