from __future__ import annotations

import numpy as np
import pytest

from wend import Grid
from wend.groups.orders import paths_to
from wend.groups.slots import slots_for
from wend.maps import generators as mapgen
from wend.search.flood import move_distances


def dealt(grid: Grid, starts, target, taken=()) -> list[tuple[int, int]]:
    cells = [grid.cell(*start) for start in starts]
    paths = paths_to(grid, cells, grid.cell(*target), "move")
    taken_cells = np.array([grid.cell(*place) for place in taken], dtype=np.int32)
    return [grid.xy(cell) for cell in slots_for(grid, paths, taken_cells).tolist()]


def block(x: int, y: int, width: int, height: int) -> list[tuple[int, int]]:
    return [(x + dx, y + dy) for dy in range(height) for dx in range(width)]


@pytest.mark.small
def test_one_unit_gets_the_target_itself() -> None:
    assert dealt(mapgen.open_map(), [(3, 3)], (20, 9)) == [(20, 9)]


@pytest.mark.small
def test_slots_are_distinct_and_near_and_leave_a_passage() -> None:
    grid = mapgen.open_map(width=40, height=40)
    slots = dealt(grid, block(2, 2, 5, 5), (25, 25))
    assert len(set(slots)) == 25
    assert max(max(abs(x - 25), abs(y - 25)) for x, y in slots) <= 4      # 25 cells of one colour fit into 7 x 7
    assert {(x + y) % 2 for x, y in slots} == {0}


@pytest.mark.small
def test_without_diagonals_the_gaps_are_wider() -> None:
    grid = mapgen.open_map(width=30, height=30).with_rules(connectivity=4)
    slots = dealt(grid, block(2, 2, 3, 3), (20, 20))
    others = [cell for cell in grid.free_cells().tolist() if grid.xy(cell) not in slots]
    passable = np.zeros((30, 30), dtype=bool)
    passable.ravel()[others] = True
    assert len(Grid(passable, connectivity=4).component_sizes()) == 1


@pytest.mark.small
@pytest.mark.parametrize(("dx", "dy"), [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_the_first_to_come_goes_farthest_in_and_sides_are_kept(dx: int, dy: int) -> None:
    grid = mapgen.open_map(width=60, height=60)
    units = block(28, 28, 4, 4)
    target = (29 + 24 * dx, 29 + 24 * dy)
    slots = dict(zip(units, dealt(grid, units, target), strict=True))

    def forward(place: tuple[int, int]) -> int:
        return place[0] * dx + place[1] * dy

    def aside(place: tuple[int, int]) -> int:
        return place[0] * dy - place[1] * dx

    front = [unit for unit in units if forward(unit) == max(map(forward, units))]
    rear = [unit for unit in units if forward(unit) == min(map(forward, units))]
    assert min(forward(slots[unit]) for unit in front) >= max(forward(slots[unit]) for unit in rear)
    for rank in (front, rear):
        across = [aside(slots[unit]) for unit in sorted(rank, key=aside)]
        assert across == sorted(across)


@pytest.mark.small
def test_a_group_around_its_target_closes_in_from_all_sides() -> None:
    grid = mapgen.open_map(width=41, height=41)
    ring = [(x, y) for x, y in block(5, 5, 31, 31) if max(abs(x - 20), abs(y - 20)) == 15][::5]
    for (x, y), (slot_x, slot_y) in zip(ring, dealt(grid, ring, (20, 20)), strict=True):
        assert (x - 20) * (slot_x - 20) + (y - 20) * (slot_y - 20) >= 0      # no agent crosses the middle


@pytest.mark.small
def test_taken_cells_are_left_to_their_owners() -> None:
    grid = mapgen.open_map(width=30, height=30)
    taken = block(18, 18, 5, 5)
    assert not set(dealt(grid, block(2, 2, 4, 4), (20, 20), taken)) & set(taken)


@pytest.mark.small
def test_where_space_is_short_gaps_are_filled_and_then_taken_cells_shared() -> None:
    corridor = Grid.from_text("......")
    units = [(x, 0) for x in range(5)]
    assert sorted(dealt(corridor, units, (5, 0))) == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]
    assert len(set(dealt(corridor, units, (5, 0), taken=[(4, 0), (5, 0)]))) == 5


@pytest.mark.small
def test_nearest_means_by_moves_not_through_walls() -> None:
    grid = Grid.from_text("""
        .....@.....
        .....@.....
        .....@.....
        ...........
    """)
    slots = dealt(grid, [(0, 0), (0, 1), (1, 0), (1, 1)], (4, 0))
    distance = move_distances(grid, grid.cell(4, 0))[0]
    assert max(int(distance[grid.cell(*slot)]) for slot in slots) <= 2


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_on_any_map_every_agent_gets_a_reachable_slot_of_its_own(seed: int) -> None:
    grid = mapgen.generate("caves", seed=seed, width=40, height=32)
    draw = np.random.default_rng(seed)
    cells = draw.permutation(grid.largest_component())
    units, target, taken = cells[:30].tolist(), int(cells[30]), cells[31:60]
    slots = slots_for(grid, paths_to(grid, units, target, "move"), taken)
    assert np.unique(slots).size == 30
    assert (grid.component[slots] == grid.component[target]).all()
    assert not np.isin(slots, taken).any()
    assert slots_for(grid, paths_to(grid, units, target, "move"), taken).tolist() == slots.tolist()
