"""Doors that close under many units with places of their own: each gets another one, at once, and all come to rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, World, create
from wend.groups.orders import Errand
from wend.kernel import NO_AGENT
from wend.maps import generators as mapgen
from wend.planners.base import Planner
from wend.world.dispatch import Dispatch
from wend.world.referee import judge_trace

ONLINE = [key for key, entry in ALGORITHMS.items() if entry.online]
RESTFUL = [key for key in ONLINE if not ALGORITHMS[key].restless]

HALLS = "\n".join(
    ["@" * 41] + ["@" + "." * 15 + "@" * 9 + "." * 15 + "@"] * 7 + ["@" + "." * 39 + "@"]
    + ["@" + "." * 15 + "@" * 9 + "." * 15 + "@"] * 7 + ["@" * 41]
)  # fmt: skip


def walled(grid: Grid, doors: int, seed: int) -> tuple[Grid, list[tuple[int, int]]]:
    """The same map with a wall down the middle, and some doors in it."""
    free, x = grid.passable.copy(), grid.width // 2
    rows = np.flatnonzero(free[:, x - 1] & free[:, x] & free[:, x + 1])
    places = [(x, int(y)) for y in np.random.default_rng(seed).choice(rows, min(doors, rows.size), replace=False)]
    free[:, x] = False
    for _, y in places:
        free[y, x] = True
    return Grid(free, connectivity=grid.connectivity), places


def behind(grid: Grid, key: str, units: int, *, doors: int = 2, seed: int = 1) -> tuple[World, list[tuple[int, int]]]:
    """Units on the left of a wall, each on its way to a place of its own on the right; and the doors between."""
    grid, places = walled(grid, doors, seed)
    world, draw, middle = World(grid, key, seed=seed), np.random.default_rng(seed), grid.width // 2
    cells = draw.permutation(grid.largest_component())
    left, right = cells[cells % grid.width < middle - 5], cells[cells % grid.width > middle]
    for start, goal in zip(left[:units].tolist(), right[:units].tolist(), strict=False):
        world.add(grid.xy(start), grid.xy(goal))
    for _ in range(4):
        world.tick()
    return world, places


def check_rest(world: World, *, max_ticks: int = 1500) -> None:
    assert world.run(max_ticks=max_ticks) == "quiet"
    for _ in range(32):         # an agent that had planned to step aside still does so, and comes back
        world.tick()
        if world.quiet():
            break
    before = world.positions().tolist()
    for _ in range(40):
        world.tick()
    assert world.positions().tolist() == before
    assert set(world.states().tolist()) <= {"unreachable", "arrived"}
    assert len(set(map(tuple, world.goals().tolist()))) == world.agents
    assert judge_trace(world.trace()) == []


@pytest.mark.parametrize("key", ONLINE)
@pytest.mark.parametrize(
    ("place", "units"), [("rooms", 80), ("caves", 70), ("halls", 60)], ids=["rooms", "caves", "halls"]
)
def test_units_with_places_of_their_own_come_to_rest_behind_a_door_that_closes(
    key: str, place: str, units: int
) -> None:
    grid = Grid.from_text(HALLS) if place == "halls" else mapgen.generate(place, seed=3, width=44, height=40)
    world, doors = behind(grid, key, units)
    world.block(doors)
    orders = [world.order_of(unit) for unit in world.living().tolist()]
    assert sum(not order.reachable for order in orders) >= 46
    assert len({order.goal for order in orders}) == len(orders)
    if key in RESTFUL:
        check_rest(world)
    world.unblock(doors)                        # all go where they were sent in the first place
    assert [world.goal(order.agent) for order in orders] == [order.asked for order in orders]


@pytest.mark.parametrize("key", ["weave", "lra", "far", "surge", "bmaa-c", "whca"])
def test_four_neighbours_and_a_small_budget(key: str) -> None:
    grid = mapgen.generate("arena", seed=2, width=40, height=36).with_rules(connectivity=4)
    world, doors = behind(grid, key, 60)
    world.block(doors)
    for _ in range(60):
        world.tick(budget=300)
    check_rest(world)


# --- what it costs, and that it is the same as one by one ------------------------------------------------------------


def one_by_one(self: Dispatch, errands: list[Errand]) -> None:
    for errand in errands:
        self._send(errand)


def play(key: str, **options: Any) -> World:
    """Doors that close and open under units that were sent one by one, in groups, or after another unit."""
    grid, doors = walled(mapgen.generate("rooms", seed=5, width=40, height=36), 2, 4)
    world, draw = World(grid, create(key, **options), seed=2), np.random.default_rng(6)
    cells = draw.permutation(grid.largest_component()).tolist()
    units = [world.add(grid.xy(start), grid.xy(goal)) for start, goal in zip(cells[:40], cells[40:80], strict=True)]
    for tick in range(40):
        if tick % 12 == 4:
            world.order_group(units[tick % 3 : 30 : 3], grid.xy(cells[90 + tick]), budget=500)
        if tick == 3:
            world.follow(units[1], units[0])
        vacant = [door for door in doors if world.state.occupant[world.grid.cell(*door)] == NO_AGENT]
        if tick % 10 == 6:
            world.block([door for door in vacant if world.grid.is_free(door)])
        if tick % 10 == 9:
            world.unblock(doors)
        world.tick(budget=None if tick % 4 else 400)
    return world


@pytest.mark.parametrize("key", ONLINE)
def test_to_send_many_at_once_is_the_same_as_one_by_one(key: str, monkeypatch) -> None:
    together = play(key)
    monkeypatch.setattr(Dispatch, "_send_all", one_by_one)
    apart = play(key)
    assert together.trace().events == apart.trace().events
    assert together.state_hash() == apart.state_hash()
    assert together._dispatch._claims._sent.tolist() == apart._dispatch._claims._sent.tolist()
    assert sorted(together._dispatch._claims.unsettled) == sorted(apart._dispatch._claims.unsettled)
    for name in ("_shared", "_cut_off"):
        assert getattr(together._dispatch._claims, name) == getattr(apart._dispatch._claims, name)


@pytest.mark.small
def test_a_planner_is_told_once_of_all_that_a_wall_cuts_off(monkeypatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(Planner, "agents_retasked", lambda _, agents: told.append(agents.size))
    world, doors = behind(Grid.from_text(HALLS), "lra", 40, doors=1)
    world.block(doors)
    assert told == [40]
    world.unblock(doors)
    assert told == [40, 40]


@pytest.mark.small
@pytest.mark.parametrize("key", ["lra", "weave"])
def test_a_door_that_a_planner_cannot_take_in_was_never_closed(key: str, monkeypatch) -> None:
    world, doors = behind(Grid.from_text(HALLS), key, 40, doors=1)
    twin, _ = behind(Grid.from_text(HALLS), key, 40, doors=1)

    def seen(world: World) -> list[Any]:
        claims, routes = world._dispatch._claims, world._dispatch.routes
        return [
            world.state_hash(), world.trace().events, world.grid.to_text(), world.goals().tolist(),
            world.state.agents.goal.tolist(), claims._holder.tolist(), claims._sent.tolist(), claims._shared,
            claims._cut_off, dict(claims.unsettled), claims.left,
            [routes.errand_of(agent) for agent in range(40)], routes.been_home.tolist(),
        ]  # fmt: skip

    def fails(*_given):
        raise MemoryError

    monkeypatch.setattr(type(world.planner), "agents_retasked", fails)
    with pytest.raises(MemoryError):
        world.block(doors)
    monkeypatch.undo()
    assert seen(world) == seen(twin)
    for each in (world, twin):
        each.block(doors)
    assert seen(world) == seen(twin)


def test_a_snapshot_between_the_door_and_the_rest_goes_on_alike() -> None:
    """Also when the crowd has stood still for a while, and gives up its slots."""
    world, doors = behind(mapgen.generate("rooms", seed=3, width=44, height=40), "lra", 80)
    world.block(doors)
    for ticks in (3, 150, 60):
        for _ in range(ticks):
            world.tick()
        before = world.snapshot()
        for _ in range(40):
            world.tick()
        after = world.state_hash()
        world.restore(before)
        for _ in range(40):
            world.tick()
        assert world.state_hash() == after


# --- scenes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ONLINE)
def test_a_door_that_opens_and_shuts_every_thirty_ticks_while_half_of_the_crowd_dies(key: str) -> None:
    world, doors = behind(Grid.from_text(HALLS), key, 50, doors=1, seed=4)
    draw = np.random.default_rng(8)
    for tick in range(240):
        if tick % 60 == 0 and world.state.occupant[world.grid.cell(*doors[0])] == NO_AGENT:
            world.block(doors)
        if tick % 60 == 30:
            world.unblock(doors)
        if tick % 9 == 5 and world.living().size > 25:
            world.remove(int(draw.choice(world.living())))
        world.tick(budget=500)
        goals = [world.goal(unit) for unit in world.living().tolist()]
        assert len(set(goals)) == len(goals)
        assert all(world.grid.reachable(world.position(unit), world.goal(unit)) for unit in world.living().tolist())
    world.unblock(doors)
    ended = world.run(max_ticks=800)
    assert judge_trace(world.trace()) == []
    assert all(not world.order_of(unit).shared for unit in world.living().tolist())
    if key not in ("bmaa-f", "bmaa-fc"):        # their one-way streets lead units that came too far past the door
        assert ended == "done"


@pytest.mark.parametrize("key", ONLINE)
def test_units_that_are_walled_into_pockets_of_one_cell_each(key: str) -> None:
    """Each stays where it is, as near to its place as it can be; and goes on when it is let out."""
    grid = Grid(np.ones((12, 21)))
    world = World(grid, key, seed=2)
    units = [world.add((x, y), (20 - x, 11 - y)) for y in (2, 5, 8) for x in (2, 5, 8)]
    walls = [
        (x + dx, y + dy) for y in (2, 5, 8) for x in (2, 5, 8) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy
    ]
    world.block(walls)
    assert [world.goal(unit) for unit in units] == [world.position(unit) for unit in units]
    assert world.run(max_ticks=20) == "quiet"
    assert set(world.states().tolist()) == {"unreachable"}
    late = world.add((20, 0), world.position(units[0]))     # nobody gets in, either
    assert world.goal(late) == (0, 0) or not world.order_of(late).reachable
    world.remove(late)
    world.unblock(walls)
    assert world.run(max_ticks=400) == "done"
    assert [world.position(unit) for unit in units] == [(20 - x, 11 - y) for y in (2, 5, 8) for x in (2, 5, 8)]


@pytest.mark.parametrize("key", ONLINE)
def test_a_door_that_closes_under_a_room_full_of_units(key: str) -> None:
    """Each free cell on this side is the goal of some unit then, and nobody has two or none."""
    grid = Grid.from_text("\n".join(["....@...."] * 2 + ["........."] + ["....@...."] * 2))
    world = World(grid, key, seed=1)
    units = [world.add((x, y), (8 - x, y)) for y in range(5) for x in range(4)]
    world.block([(4, 2)])
    assert sorted(world.goal(unit) for unit in units) == sorted((x, y) for y in range(5) for x in range(4))
    for _ in range(60):
        world.tick()
    world.unblock([(4, 2)])
    assert [world.goal(unit) for unit in units] == [(8 - x, y) for y in range(5) for x in range(4)]
    world.run(max_ticks=300)
    assert judge_trace(world.trace()) == []
