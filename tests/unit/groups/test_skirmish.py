from __future__ import annotations

import numpy as np
import pytest

from wend import Grid
from wend.groups.skirmish import (
    ARRIVES,
    COOLDOWN_TICKS,
    DAMAGE,
    HIT_POINTS,
    RADIUS,
    SPEED,
    TICKS_PER_SECOND,
    Skirmish,
)
from wend.maps import generators as mapgen

FIELD = mapgen.open_map(width=30, height=12)


def straight(y: int, *, begin: int = 1, end: int = 28) -> list[tuple[int, int]]:
    return [(x, y) for x in range(begin, end + 1)]


@pytest.mark.small
def test_a_lone_unit_takes_as_long_as_its_path_is_at_its_speed() -> None:
    outcome = Skirmish(FIELD, [straight(5)]).run()
    assert outcome.seconds == pytest.approx((27 - ARRIVES) / SPEED / TICKS_PER_SECOND, abs=1 / TICKS_PER_SECOND)
    assert (outcome.casualties, outcome.enemies_left) == (0, 0)


@pytest.mark.small
def test_two_beat_one_and_lose_nobody() -> None:
    outcome = Skirmish(FIELD, [straight(5), straight(6)], [(15, 5)]).run()
    assert (outcome.casualties, outcome.enemies_left) == (0, 0)


@pytest.mark.small
def test_a_fight_takes_as_many_bites_as_there_are_hit_points() -> None:
    skirmish = Skirmish(FIELD, [[(5, 5)]], [(6, 5)])
    first = skirmish.tick
    while (skirmish.hit_points > 0).all():
        skirmish.step()
    bites = HIT_POINTS // DAMAGE
    assert sorted(skirmish.hit_points.tolist()) in ([0, 0], [0, DAMAGE])    # who was there first bites first
    assert skirmish.tick - first >= (bites - 1) * COOLDOWN_TICKS


@pytest.mark.small
def test_numbers_count_more_when_they_come_at_once() -> None:
    """Six against four in one line abreast lose fewer than when three come first and three later."""
    enemies = [(20, y) for y in range(4, 8)]
    together = Skirmish(FIELD, [straight(y) for y in range(3, 9)], enemies).run()
    apart = [straight(y, begin=10) for y in range(3, 6)] + [straight(y, begin=1)[:1] * 40 for y in range(6, 9)]
    parted = Skirmish(FIELD, apart, enemies).run()
    assert together.casualties < parted.casualties


@pytest.mark.small
def test_what_a_wall_hides_is_not_attacked() -> None:
    grid = Grid.from_text("\n".join(["." * 30] * 5 + ["@" * 30] + ["." * 30] * 5))
    outcome = Skirmish(grid, [straight(4)], [(15, 6)]).run()
    assert (outcome.casualties, outcome.enemies_left) == (0, 1)


@pytest.mark.small
def test_nobody_walks_into_walls_or_into_each_other() -> None:
    grid = Grid.from_text("\n".join(["." * 24] * 4 + ["." * 10 + "@@@@" + "." * 10] * 4 + ["." * 24] * 4))
    paths = [[(x, y) for x in range(2 - y % 2, 22)] for y in (1, 2, 9, 10)]
    skirmish = Skirmish(grid, paths, [(17, 2), (17, 9), (18, 5)], seed=4)
    for _ in range(120):
        skirmish.step()
        there = (skirmish.hit_points > 0) & ~skirmish.arrived
        at = skirmish.at[there]
        apart = np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=2)) + 9 * np.eye(len(at))
        assert apart.min(initial=9) >= 2 * RADIUS - 1e-9
        assert all(grid.is_free((round(x), round(y))) for x, y in at.tolist())
    assert (skirmish.hit_points <= 0).any()


@pytest.mark.small
def test_after_a_fight_a_unit_goes_on_where_it_is_or_goes_back_to_where_it_left_its_path() -> None:
    """The enemy stands to the side and ahead, so that chasing it leads past points of the path."""
    seconds = []
    for goes_back in (False, True):
        skirmish = Skirmish(FIELD, [straight(3), straight(4), straight(5)], [(14, 10)], goes_back=goes_back)
        seconds.append(skirmish.run().seconds)
    assert seconds[0] < seconds[1]


@pytest.mark.small
def test_the_same_seed_gives_the_same_fight_and_another_one_another() -> None:
    paths, enemies = [straight(y) for y in range(2, 10)], [(18, y) for y in range(3, 9)]
    ends = [Skirmish(FIELD, paths, enemies, seed=seed) for seed in (1, 1, 2, 3, 4)]
    for skirmish in ends:
        skirmish.run()
    assert np.array_equal(ends[0].at, ends[1].at)
    assert any(not np.array_equal(ends[0].at, other.at) for other in ends[2:])


@pytest.mark.small
def test_a_skirmish_ends_when_its_time_is_up() -> None:
    path = [(1, 5), (1, 5), (28, 5)]
    assert Skirmish(FIELD, [path]).run(limit_seconds=1.0).seconds == 1.0
