from __future__ import annotations

import numpy as np
import pytest

from tests.reference.grid import legal_steps
from tests.reference.space_time import Table
from tests.reference.waiting import first_met
from wend import Grid
from wend.kernel import NO_AGENT
from wend.search import reservations

AGENTS = 5


def owner(twin: Table, cell: int, time: int) -> int:
    found = twin.owner(cell, time)
    return NO_AGENT if found is None else found


@pytest.mark.small
@pytest.mark.parametrize("ticks", [2, 3, 4, 7, 8])
def test_the_ring_agrees_with_a_dictionary_while_time_goes_round(ticks: int) -> None:
    """Agents follow, drop and renew ways while the clock runs; every question within the ring's span is asked."""
    cells = 9
    table = reservations.make_reservations(cells, ticks)
    twin = Table()
    draw = np.random.default_rng(ticks)
    slots = table.ring.shape[1]
    assert ticks <= slots < 2 * ticks
    ways: dict[int, tuple[np.ndarray, int]] = {}
    for now in range(8 * slots):
        for agent, (way, since) in ways.items():
            reservations.expire(table, way, since, way.size - 1, agent, now)
        for agent in range(AGENTS):
            chance = draw.random()
            if agent in ways and chance < 0.5:
                way, since = ways.pop(agent)
                reservations.release_way(table, way, since, way.size - 1, agent, now)
                for k, cell in enumerate(way.tolist()):
                    twin.release(cell, since + k, agent)
            if agent not in ways and chance < 0.7:
                way = draw.integers(0, cells, int(draw.integers(1, ticks + 1))).astype(np.int32)
                reservations.reserve_way(table, way, now, way.size - 1, agent)
                for k, cell in enumerate(way.tolist()):
                    twin.reserve(cell, now + k, agent)
                ways[agent] = way, now
            cell, later = int(draw.integers(cells)), now + int(draw.integers(ticks))
            if chance < 0.05:
                reservations.hold(table, cell, later, agent)
                twin.hold(cell, later, agent)
            elif chance > 0.8:
                reservations.release_hold(table, cell, agent)
                twin.release_hold(cell, agent)
            elif chance > 0.75:
                reservations.release(table, cell, later, agent)
                twin.release(cell, later, agent)
        for cell in range(cells):
            for time in range(now, now + ticks):
                assert reservations.owner_at(table, cell, time) == owner(twin, cell, time)
                other = reservations.other_at(table, cell, time, 0)
                assert other == (NO_AGENT if twin.owner(cell, time) == 0 else owner(twin, cell, time))
                free = twin.free_from(cell, time, 1)
                assert reservations.free_from(table, cell, time, 1) == (reservations.NEVER if free is None else free)


@pytest.mark.small
def test_a_table_that_is_left_empties_itself() -> None:
    """Once everybody's way has run out, nothing is left in the ring."""
    table = reservations.make_reservations(6, 4)
    ways = [(np.array([0, 1, 2, 3], np.int32), 0), (np.array([5, 4], np.int32), 1)]
    for agent, (way, since) in enumerate(ways):
        reservations.reserve_way(table, way, since, way.size - 1, agent)
    for now in range(6):
        for agent, (way, since) in enumerate(ways):
            reservations.expire(table, way, since, way.size - 1, agent, now)
    assert not table.ring.any()


@pytest.mark.small
def test_who_reserves_last_has_the_slot_and_only_the_owner_can_release_it() -> None:
    table = reservations.make_reservations(4, 4)
    reservations.reserve(table, 2, 3, 0)
    reservations.reserve(table, 2, 3, 1)
    reservations.release(table, 2, 3, 0)
    assert reservations.owner_at(table, 2, 3) == 1
    reservations.release(table, 2, 3, 1)
    assert reservations.owner_at(table, 2, 3) == NO_AGENT


@pytest.mark.small
def test_nobody_has_a_place_later_than_anything_was_reserved() -> None:
    """A full search asks far beyond the ring's span, where the same slots come round again."""
    table = reservations.make_reservations(4, 4)
    reservations.reserve(table, 2, 3, 0)
    assert [reservations.owner_at(table, 2, 3 + 4 * k) for k in range(3)] == [0, NO_AGENT, NO_AGENT]


@pytest.mark.small
def test_a_hold_lasts_for_good_from_its_time_on() -> None:
    table = reservations.make_reservations(4, 4)
    reservations.hold(table, 1, 3, 0)
    assert [reservations.owner_at(table, 1, time) for time in (0, 2, 3, 100, 10**9)] == [-1, -1, 0, 0, 0]
    assert reservations.free_from(table, 1, 0, 1) == reservations.NEVER
    assert reservations.free_from(table, 1, 0, 0) == 0
    assert reservations.may_move(Grid(np.ones((1, 4))).tables, table, 0, 1, 1, 1, False, False)
    assert not reservations.may_move(Grid(np.ones((1, 4))).tables, table, 0, 1, 2, 1, False, False)


@pytest.mark.small
@pytest.mark.parametrize(
    ("width", "no_follow", "forbid_cross"),
    [
        (4, False, False),
        (4, False, True),
        (2, False, False),
        (2, False, True),
        (4, True, False),
        (4, True, True),
    ],
)
def test_a_step_is_allowed_if_it_disturbs_nobody(width: int, no_follow: bool, forbid_cross: bool) -> None:
    grid = Grid(np.ones((3, width)))
    answers = []
    for seed in range(30):
        draw = np.random.default_rng(seed)
        table, twin = reservations.make_reservations(grid.size, 4), Table()
        for agent in range(3):
            here = int(draw.integers(grid.size))
            there = grid.cell(*draw.choice(grid.neighbours(grid.xy(here))).tolist())
            for time, cell in enumerate((here, there)):
                reservations.reserve(table, cell, time, agent)
                twin.reserve(cell, time, agent)
        for here in range(grid.size):
            for there in [here] + [grid.cell(*place) for _, place in legal_steps(grid, grid.xy(here))]:
                answers.append(reservations.may_move(grid.tables, table, here, there, 0, 0, no_follow, forbid_cross))
                wanted = twin.may_move(grid, here, there, 0, 0, no_follow=no_follow, forbid_cross=forbid_cross)
                assert answers[-1] == wanted, (grid.xy(here), grid.xy(there), twin.slots)
    assert 0.1 < np.mean(answers) < 0.9


@pytest.mark.small
def test_next_owners_are_those_of_the_first_time_at_which_a_cell_is_owned() -> None:
    table = reservations.make_reservations(6, 4)
    reservations.reserve_way(table, np.array([0, 1, 2, 2], np.int32), 5, 3, 7)
    reservations.reserve_way(table, np.array([3, 3, 1, 4], np.int32), 5, 3, 0)
    reservations.hold(table, 4, 8, 0)
    reservations.hold(table, 5, 5, 3)
    for now in (5, 6, 7):
        owners = reservations.next_owners(table, now).tolist()
        for cell, owner in enumerate(owners):
            known = [reservations.owner_at(table, cell, time) for time in range(now, 12)]
            assert owner == next((agent for agent in known if agent != NO_AGENT), NO_AGENT)
        for agent, here in ((7, [0, 1, 2][now - 5]), (0, [3, 3, 1][now - 5])):
            reservations.release(table, here, now, agent)


@pytest.mark.small
@pytest.mark.parametrize("no_follow", [False, True])
@pytest.mark.parametrize("forbid_cross", [False, True])
def test_the_first_agent_that_is_met_on_a_way(no_follow: bool, forbid_cross: bool) -> None:
    """It is one of those that would stop the walker even if they were alone with it; none is named if none would."""
    grid = Grid(np.ones((3, 4)))
    met = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        table, twin = reservations.make_reservations(grid.size, 8), Table()
        ways = []
        for agent in range(4):
            way = [int(draw.integers(grid.size))]
            for _ in range(4):
                way.append(grid.cell(*draw.choice(grid.neighbours(grid.xy(way[-1]))).tolist()))
            ways.append(np.array(way, np.int32))
            if agent > 0:
                reservations.reserve_way(table, ways[-1], 0, 4, agent)
                for time, cell in enumerate(way):
                    twin.reserve(cell, time, agent)
        if seed % 3 == 0:
            reservations.hold(table, ways[1][-1], 4, 1)
            twin.hold(int(ways[1][-1]), 4, 1)
        for until in (2, 4, 6):
            found = reservations.first_met(grid.tables, table, ways[0], 0, until, 0, no_follow, forbid_cross)
            rules = {"no_follow": no_follow, "forbid_cross": forbid_cross}
            expected = first_met(grid, twin, ways[0].tolist(), 0, min(until, 4), 0, **rules)
            assert found in (expected or {NO_AGENT}), (seed, until)
            met += bool(expected)
    assert 30 < met < 170
