from __future__ import annotations

import numpy as np
import pytest

from tests.reference import slots as slow
from wend import Grid
from wend.groups.surroundings import Nearby, Taken, best_slot, deal, empty, floor_of, kinds_of
from wend.kernel import NO_AGENT, NO_CELL
from wend.kernel.arrays import allocate
from wend.maps import generators as mapgen


def grids() -> list[Grid]:
    draw = np.random.default_rng(3)
    return [
        Grid(draw.random((9, 12)) < 0.8),
        Grid(draw.random((8, 10)) < 0.85, connectivity=4),
        Grid(draw.random((3, 20)) < 0.95, corner_cutting=True),
        Grid.from_text("." * 30),
        Grid(np.ones((1, 1))),
        mapgen.generate("rooms", seed=1, width=24, height=20),
    ]


@pytest.mark.small
@pytest.mark.parametrize("grid", grids(), ids=str)
def test_gaps_and_doorways_are_those_of_the_slow_twin(grid: Grid) -> None:
    cells, is_doorway = grid.free_cells(), slow.doorways(grid)
    kinds = np.empty(cells.size, np.int32)
    for origin in (0, int(cells[-1])):
        kinds_of(floor_of(grid), cells, origin, kinds)
        wanted = [2 * slow.is_gap(grid, cell, origin) + bool(is_doorway[cell]) for cell in cells.tolist()]
        assert kinds.tolist() == wanted


@pytest.mark.small
@pytest.mark.parametrize("grid", grids(), ids=str)
def test_the_best_slot_is_that_of_the_slow_twin(grid: Grid) -> None:
    """Also when the flood around a place goes on where it ended."""
    draw, cells, is_doorway = np.random.default_rng(1), grid.free_cells(), slow.doorways(grid)
    around = allocate(Nearby, cells=grid.size)
    taken = Taken(
        np.full(grid.size, NO_AGENT, np.int32), np.full(grid.size, NO_AGENT, np.int32), np.array([True, True, False])
    )
    for share in (0.0, 0.3, 0.7, 0.95, 1.0):
        is_held, stands = draw.random(grid.size) < share, draw.random(grid.size) < share / 4
        taken.holder[:] = np.where(is_held, draw.integers(0, 2, grid.size), NO_AGENT)
        taken.occupant[:] = np.where(stands, draw.integers(0, 3, grid.size), NO_AGENT)

        def is_vacant(cell: int) -> bool:
            return taken.holder[cell] in (NO_AGENT, 1) and taken.occupant[cell] != 2

        for _ in range(4):
            place, but, rather = (int(draw.choice(cells)) for _ in range(3))
            nearby = slow.nearest_first(grid, place)
            for origin in (place, 0):
                for given in ((NO_CELL, NO_CELL), (but, NO_CELL), (NO_CELL, rather), (place, rather)):
                    found = best_slot(floor_of(grid), taken, around, 1, place, origin, *given)
                    wanted = slow.best_slot(grid, is_doorway, nearby, origin, is_vacant, *given)
                    assert found == (NO_CELL if wanted is None else wanted)
    empty(around)
    assert (around.moves == -1).all()


@pytest.mark.small
def test_slots_are_dealt_one_by_one() -> None:
    """Each agent gets what it would get alone after those before it; those that find nothing keep what they have."""
    grid = Grid.from_text("......\n......\n......")
    around = allocate(Nearby, cells=grid.size)
    taken = Taken(*(np.full(grid.size, NO_AGENT, np.int32) for _ in range(2)), np.ones(20, np.bool_))
    agents = np.arange(20, dtype=np.int32)[::-1].copy()
    asked, goals = np.full(20, 8, np.int32), np.zeros(20, np.int32)
    deal(floor_of(grid), taken, around, agents, asked, asked, goals)
    assert goals[0] == 8
    assert sorted(goals[:18].tolist()) == list(range(18))
    assert goals[18:].tolist() == [0, 0]
    for k in range(18):
        others = np.full(grid.size, NO_AGENT, np.int32)
        others[goals[:k]] = agents[:k]
        nearby, is_vacant = slow.nearest_first(grid, 8), (others == NO_AGENT).__getitem__
        wanted = slow.best_slot(grid, slow.doorways(grid), nearby, 8, is_vacant, rather=0)
        assert goals[k] == (8 if k == 0 else wanted)
