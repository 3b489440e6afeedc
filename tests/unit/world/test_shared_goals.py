"""Goals that are shared or taken: every agent gets a place of its own, the crowd settles, and then nobody moves."""

from __future__ import annotations

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, World
from wend.maps import generators as mapgen
from wend.search.flood import move_distances
from wend.world.referee import judge_trace
from wend.world.trace import Trace

ONLINE = [key for key, entry in ALGORITHMS.items() if entry.online]
RESTFUL = [key for key in ONLINE if not ALGORITHMS[key].restless]       # the registry says why the others are not
OPEN = mapgen.open_map(width=40, height=30)
TWO_ROOMS = Grid.from_text("\n".join(["." * 14 + "@" + "." * 14] * 5 + ["." * 29] + ["." * 14 + "@" + "." * 14] * 5))
DOOR = (14, 5)


def scattered(world: World, count: int, *, seed: int = 0, within: int | None = None) -> list[int]:
    """Agents on random free cells, or on those of the first columns."""
    cells = np.random.default_rng(seed).permutation(world.grid.free_cells())
    if within is not None:
        cells = cells[cells % world.grid.width < within]
    return [world.add(world.grid.xy(cell)) for cell in cells[:count].tolist()]


def goals(world: World) -> list[tuple[int, int]]:
    """The goals of the planner's agents that are on the map."""
    is_ours = world.controlled()
    return [world.goal(agent) for agent in world.living().tolist() if is_ours[agent]]


def moves_in(world: World, ticks: int) -> int:
    moves = 0
    for _ in range(ticks):
        world.tick()
        moves += int((world.positions() != world.previous_positions()).any(axis=1).sum())
    return moves


def check_settled(world: World, *, says: str = "done", max_ticks: int = 2500) -> None:
    assert world.run(max_ticks=max_ticks) == says
    assert len(set(goals(world))) == len(goals(world))
    for _ in range(32):         # an agent that had planned to step aside still does so, and comes back
        world.tick()
        if world.quiet():
            break
    assert moves_in(world, 60) == 0
    assert world.quiet()


# --- every planner comes to rest -------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ONLINE)
def test_sixty_units_ordered_one_by_one_to_one_cell_settle_and_are_quiet(key: str) -> None:
    world = World(OPEN, key, seed=1)
    units = scattered(world, 60, within=12)
    orders = [world.order(unit, (20, 15)) for unit in units]
    assert [order.shared for order in orders] == [False] + [True] * 59
    assert all(order.reachable and order.asked == order.nearest == (20, 15) for order in orders)
    far = [max(abs(x - 20), abs(y - 15)) for x, y in (order.goal for order in orders)]
    assert far == sorted(far)           # nearest first
    assert max(far) <= 6
    check_settled(world)
    assert set(world.states().tolist()) == {"arrived"}
    assert world.agent_state(units[0]).name == "arrived"
    assert (20, 15) in goals(world)
    assert judge_trace(world.trace()) == []


@pytest.mark.parametrize("click", [20, 30])
@pytest.mark.parametrize("key", ONLINE)
def test_ten_units_in_a_corridor_ordered_to_one_cell_settle_around_it(key: str, click: int) -> None:
    """None can pass another, so they exchange slots, also where a planner keeps them apart."""
    world = World(Grid.from_text("." * 40), key)
    units = [world.add((x, 0)) for x in range(10)]
    slots = sorted(world.order(unit, (click, 0)).goal for unit in units)
    check_settled(world)
    assert sorted(goals(world)) == slots


@pytest.mark.parametrize("key", RESTFUL)
def test_a_door_closed_under_a_crowd_and_opened_again(key: str) -> None:
    world = World(TWO_ROOMS, key, seed=1)
    units = scattered(world, 24, within=12)
    for unit in units:
        world.order(unit, (26, 5))
    for _ in range(2):
        world.tick()
    world.block([DOOR])
    assert len(set(goals(world))) == 24
    check_settled(world, says="quiet")
    assert set(world.states().tolist()) == {"unreachable"}
    world.unblock([DOOR])
    assert len(set(goals(world))) == 24
    check_settled(world)
    assert all(world.position(unit)[0] > 14 for unit in units)


@pytest.mark.parametrize("key", RESTFUL)
def test_units_ordered_into_a_walled_in_place_gather_near_it(key: str) -> None:
    rows = [list("." * 20) for _ in range(12)]
    for x in range(14, 19):
        for y in range(3, 8):
            rows[y][x] = "." if (x, y) == (16, 5) else "@"
    world = World(Grid.from_text("\n".join("".join(row) for row in rows)), key, seed=1)
    units = scattered(world, 20, within=12)
    orders = [world.order(unit, (16, 5)) for unit in units]
    assert {order.asked for order in orders} == {(16, 5)}
    assert len({order.nearest for order in orders}) == 1
    assert not any(order.reachable for order in orders)
    assert len({order.goal for order in orders}) == 20
    check_settled(world, says="quiet")
    assert set(world.states().tolist()) == {"unreachable"}


@pytest.mark.parametrize("key", ["lra", "weave", "surge", "far"])
def test_three_hundred_units_one_click(key: str) -> None:
    world = World(mapgen.open_map(width=64, height=64), key, seed=1, record=False)
    for unit in scattered(world, 300):
        world.order(unit, (40, 30))
    check_settled(world)


# --- what orders answer ----------------------------------------------------------------------------------------------


@pytest.mark.small
def test_the_same_order_in_every_tick_changes_nothing() -> None:
    world = World(OPEN, "lra")
    units = scattered(world, 12)
    first = [world.order(unit, (20, 15)) for unit in units]
    events = len(world.trace().events)
    for _ in range(6):
        assert [world.order(unit, (20, 15)) for unit in reversed(units)] == first[::-1]
        world.tick()
    assert len(world.trace().events) == events


@pytest.mark.small
def test_orders_over_many_ticks_and_by_any_call_share_a_place() -> None:
    world = World(OPEN, "lra")
    units = scattered(world, 20)
    world.order(units[0], (20, 15))
    world.tick()
    world.order_group(units[1:8], (20, 15))
    world.tick()
    for unit in units[8:]:
        world.order(unit, (20, 15))
    late = world.add((0, 0), (20, 15))
    assert world.goal(late) != (20, 15) == world.goal(units[0])
    assert len(set(goals(world))) == 21
    check_settled(world)


@pytest.mark.small
@pytest.mark.parametrize("controlled", [True, False])
def test_a_place_where_a_unit_stands_is_taken(controlled: bool) -> None:
    """Also by an agent of the program, which nobody can push; when it goes, the place is given back."""
    world = World(OPEN, "lra")
    idle = world.add((20, 15), controlled=controlled)
    unit = world.add((3, 3))
    order = world.order(unit, (20, 15))
    assert (order.asked, order.shared) == ((20, 15), True)
    assert max(abs(order.goal[0] - 20), abs(order.goal[1] - 15)) == 1
    check_settled(world)
    if controlled:
        world.order(idle, (30, 15))
    else:
        world.move(idle, (20, 16))
        world.tick()
        assert not world.quiet()            # ... before the next tick
        world.tick()
    assert world.goal(unit) == (20, 15)
    check_settled(world)
    assert world.position(unit) == (20, 15)


@pytest.mark.small
def test_a_death_on_the_place_gives_it_to_the_one_that_stands_nearest() -> None:
    world = World(OPEN, "lra")
    units = scattered(world, 15)
    for unit in units:
        world.order(unit, (20, 15))
    check_settled(world)
    holder = next(unit for unit in units if world.position(unit) == (20, 15))
    before = {unit: world.goal(unit) for unit in units if unit != holder}
    world.remove(holder)
    heirs = [unit for unit in before if world.goal(unit) == (20, 15)]
    assert len(heirs) == 1
    x, y = before.pop(heirs[0])
    assert max(abs(x - 20), abs(y - 15)) == 1
    assert before == {unit: world.goal(unit) for unit in before}        # the others keep their slots
    check_settled(world)
    world.remove(next(iter(before)))                                    # a death on a slot moves nobody
    assert moves_in(world, 10) == 0


@pytest.mark.small
def test_places_are_given_back_along_a_chain() -> None:
    """Agent 1 wants the place of agent 0, and agent 2 the slot that agent 1 got for it."""
    world = World(OPEN, "lra")
    a, b, c = (world.add((x, 0)) for x in (0, 2, 4))
    world.order(a, (20, 15))
    slot = world.order(b, (20, 15)).goal
    assert world.order(c, slot).shared
    world.order(a, (1, 1))
    assert (world.goal(b), world.goal(c)) == ((20, 15), slot)
    pinned = world.add((30, 20), (20, 15), pinned=True)
    there = world.goal(pinned)
    world.order(b, (2, 2))
    assert world.goal(pinned) == there          # a pinned agent is left alone


@pytest.mark.small
def test_a_spawn_on_the_goal_of_another_steps_aside() -> None:
    world = World(OPEN, "lra")
    unit = world.add((0, 0), (10, 10))
    spawned = world.add((10, 10))
    assert world.goal(unit) == (10, 10) != world.goal(spawned)
    check_settled(world)


@pytest.mark.small
@pytest.mark.parametrize("key", ["lra", "weave", "surge"])
def test_a_map_that_is_one_cell_wide(key: str) -> None:
    world = World(Grid.from_text("." * 24), key)
    units = [world.add((x, 0)) for x in range(6)]
    places = [world.order(unit, (20, 0)).goal for unit in reversed(units)]
    assert [x for x, _ in places] == [20, 22, 18, 16, 14, 12]       # every other cell, the nearest first
    check_settled(world)


@pytest.mark.small
@pytest.mark.parametrize("key", ["lra", "weave", "surge", "far", "bmaa"])
def test_a_map_full_of_units(key: str) -> None:
    world = World(Grid(np.ones((4, 5))), key)
    units = [world.add((x, y)) for y in range(4) for x in range(5)]
    for unit in units:
        world.order(unit, (2, 2))
    assert sorted(goals(world)) == sorted((x, y) for y in range(4) for x in range(5))
    for _ in range(40):
        world.tick()
    world.remove(7)
    assert len(set(goals(world))) == 19
    for unit in units:
        if unit != 7:
            world.order(unit, (0, 0))
    assert len(set(goals(world))) == 19


@pytest.mark.small
def test_units_that_come_and_die_while_a_crowd_gathers() -> None:
    world = World(TWO_ROOMS, "weave", seed=3)
    draw = np.random.default_rng(3)
    units = scattered(world, 20, within=12)
    for tick in range(60):
        for unit in units:
            world.order(unit, (26, 5))
        if tick % 5 == 2:
            world.remove(units.pop(int(draw.integers(len(units)))))
        if tick % 4 == 1:
            free = [c for c in world.grid.free_cells().tolist() if world.state.occupant[c] < 0]
            units.append(world.add(world.grid.xy(int(draw.choice(free))), (26, 5)))
        world.tick()
        assert len(set(goals(world))) == len(units)
    check_settled(world)
    assert (26, 5) in {world.position(unit) for unit in units}


@pytest.mark.small
def test_a_place_that_is_walled_up_leaves_the_crowd_around_it_alone() -> None:
    world = World(OPEN, "lra")
    units = scattered(world, 12)
    for unit in units:
        world.order(unit, (20, 15))
    check_settled(world)
    holder = next(unit for unit in units if world.position(unit) == (20, 15))
    world.remove(holder)
    heir = next(unit for unit in units if unit != holder and world.goal(unit) == (20, 15))
    before = {unit: world.goal(unit) for unit in units if unit not in (holder, heir)}
    world.block([(20, 15)])
    assert before == {unit: world.goal(unit) for unit in before}
    assert {world.agent_state(unit).name for unit in before} == {"unreachable"}
    world.unblock([(20, 15)])
    assert sum(before[unit] != world.goal(unit) for unit in before) <= 1
    assert (20, 15) in goals(world)
    check_settled(world)


# --- cost, trace -----------------------------------------------------------------------------------------------------


@pytest.mark.small
def test_three_hundred_orders_to_one_cell_cost_a_few_floods(monkeypatch) -> None:
    """Also where the place is out of reach, and when a door closes."""
    scans: list[int] = []
    scan = Grid.nearest_reachable

    def counted_scan(self, start, target):
        scans.append(1)
        return scan(self, start, target)

    monkeypatch.setattr(Grid, "nearest_reachable", counted_scan)
    world = World(mapgen.open_map(width=64, height=64), "lra")

    def flooded() -> int:
        return int(world._dispatch._claims._around.counts["flooded"].item())

    world.block([(x, y) for x in range(39, 42) for y in range(29, 32) if (x, y) != (40, 30)])
    units = scattered(world, 300, within=30)
    for unit in units:
        world.order(unit, (50, 50))
    before = flooded()
    assert 300 <= before <= 8 * 4 * 300         # cells, for all orders together
    for unit in units:
        world.order(unit, (40, 30))
    assert (flooded() - before <= 8 * 4 * 300, len(scans)) == (True, 1)
    before = flooded()
    world.unblock([(39, 30)])
    assert flooded() - before <= 8 * 4 * 300
    assert len(set(goals(world))) == 300


@pytest.mark.small
def test_a_trace_with_shared_goals_is_saved_read_and_judged(tmp_path) -> None:
    world = World(OPEN, "lra")
    units = scattered(world, 8)
    for unit in units:
        world.order(unit, (20, 15))
    world.run(max_ticks=200)
    world.remove(units[0])
    world.run(max_ticks=200)
    world.trace().save(tmp_path / "run.wend")
    trace = Trace.load(tmp_path / "run.wend")
    assert judge_trace(trace) == []
    assert [trace.goals()[unit] for unit in units[1:]] == [world.goal(unit) for unit in units[1:]]
    ordered = [event.data for event in trace.events_of("ordered")]
    assert all(("nearest" in data) == (data["goal"] != data["asked"]) for data in ordered)
    assert {tuple(data["asked"]) for data in ordered} == {(20, 15)}
    assert trace.positions()[-1][units[1:]].tolist() == world.state.agents.cell[units[1:]].tolist()


@pytest.mark.small
def test_slots_are_the_nearest_cells_of_their_colour_that_are_no_others() -> None:
    world = World(OPEN, "lra")
    units, place = scattered(world, 60, within=12), (20, 15)
    far = move_distances(OPEN, OPEN.cell(*place))[0]
    wanted = sorted(far[OPEN.cell(x, y)] for x in range(40) for y in range(30) if (x + y) % 2 == 1)
    assert [far[OPEN.cell(*world.order(unit, place).goal)] for unit in units] == wanted[:60]


# --- how runs end ----------------------------------------------------------------------------------------------------


@pytest.mark.small
def test_runs_say_done_quiet_or_stuck() -> None:
    world = World(Grid.from_text("......"), "lra")
    world.add((0, 0), (5, 0))
    world.add((5, 0), (0, 0))
    assert world.run(max_ticks=5000) == "stuck"
    assert world.ticks < 1000
    assert not world.quiet()
    assert world.run(max_ticks=400, stuck_ticks=None) == "max-ticks"
    cut = World(Grid.from_text("..@.."), "lra")
    cut.add((0, 0), (4, 0))
    assert cut.run(max_ticks=50) == "quiet"
    assert World(Grid.from_text("."), "lra").run(max_ticks=5) == "done"


@pytest.mark.small
def test_a_run_that_searches_within_a_small_budget_is_not_stuck() -> None:
    world = World(mapgen.open_map(width=40, height=40), "lra")
    world.add((0, 0), (39, 39))
    assert world.run(max_ticks=1500, budget=1) in ("done", "max-ticks")


@pytest.mark.small
def test_quiet_means_that_nothing_will_move() -> None:
    world = World(OPEN, "lra")
    unit = world.add((0, 0), (2, 0))
    seen = []
    for _ in range(4):
        world.tick()
        seen.append(world.quiet())
    assert seen == [False, False, True, True]
    world.order(unit, (3, 0))
    assert not world.quiet()
