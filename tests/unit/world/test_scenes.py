"""Scenes of games that no algorithm was made for, played by every online planner, and judged again afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, Snapshot, World, mapgen
from wend.kernel import NO_AGENT
from wend.problems.scenarios import make_problem
from wend.world.referee import judge_trace

ONLINE = [key for key, algorithm in ALGORITHMS.items() if algorithm.online]
SOLVERS = ("whca", "weave", "surge", "pibt")        # they get out of places where the others wait for one another
OPEN = ((".........\n") * 9).strip()


def is_vacant(world: World, place: tuple[int, int]) -> bool:
    return world.grid.is_free(place) and bool(world.state.occupant[world.grid.cell(*place)] == NO_AGENT)


@pytest.mark.parametrize("budget", [None, 200])
@pytest.mark.parametrize("key", ONLINE)
def test_a_gate_that_opens_and_closes_under_a_crowd(key: str, budget: int | None) -> None:
    wall, gate = "...........#...........", (11, 5)
    world = World(Grid.from_text("\n".join([wall] * 5 + [wall.replace("#", ".")] + [wall] * 5)), key, seed=3)
    for x in range(4):
        for y in range(1, 11, 2):
            world.add((x, y), (22 - x, 10 - y))
    for tick in range(400):
        if tick % 9 == 4 and is_vacant(world, gate):
            world.block([gate])
        if tick % 9 == 7:
            world.unblock([gate])
        world.tick(budget=budget)
    world.unblock([gate])
    ended = world.run(max_ticks=400, budget=budget)
    assert judge_trace(world.trace()) == []
    if key != "bmaa-f":     # its one-way streets lead units that came too far past the gate, and back
        assert (ended, world.home_count()) == ("done", 20)


@pytest.mark.parametrize("key", ONLINE)
def test_after_a_mass_order_every_unit_moves_at_once(key: str) -> None:
    """Orders to 400 units at a time, and a budget that suffices for four expansions each in a tick."""
    grid = Grid.load("rooms:width=192,height=192,seed=0")
    problem = make_problem("random", grid, agents=400, seed=1)
    world = World(grid, key)
    for start in problem.start_points():
        world.add(start)
    world.tick(budget=1_600)
    for unit, goal in enumerate(problem.goal_points()):
        world.order(unit, goal)
    first = np.where(problem.starts == problem.goals, 0, 99)
    for tick in range(1, 17):
        world.tick(budget=1_600)
        first[(first == 99) & (world.state.agents.cell != problem.starts)] = tick
    assert np.median(first) <= 4
    assert first.max() <= 16
    assert int(world.trace().expansions.max()) <= 1_600


@pytest.mark.parametrize("key", ONLINE)
def test_a_flood_that_walls_in_every_unit_and_falls_again(key: str) -> None:
    world = World(Grid.from_text(OPEN), key, seed=1)
    units = [world.add((x, y), (8 - x, 8 - y)) for x in range(3) for y in range(3)]
    walls = []
    for cell in np.random.default_rng(0).permutation(81).tolist():
        place = world.grid.xy(cell)
        if is_vacant(world, place):
            world.block([place])
            walls.append(place)
        world.tick()
    assert int(world.grid.free.sum()) < 20
    for unit in units:
        assert world.grid.reachable(world.position(unit), world.goal(unit))
    for place in reversed(walls):
        world.unblock([place])
        world.tick()
    ended = world.run(max_ticks=300)
    assert judge_trace(world.trace()) == []
    assert [world.goal(unit) for unit in units] == [(8 - x, 8 - y) for x in range(3) for y in range(3)]
    if key in SOLVERS:
        assert ended == "done"


@pytest.mark.parametrize("key", SOLVERS)
def test_a_map_with_one_gap_is_a_sliding_puzzle(key: str) -> None:
    """While the map is full no unit can move, and none is promised another place than its own. Then one dies."""
    world = World(Grid.from_text("....\n....\n....\n...."), key, seed=1)
    places = [(x, y) for y in range(4) for x in range(4)]
    units = [world.add(place) for place in places]
    for unit, place in zip(units, places[1:] + places[:1], strict=True):
        world.order(unit, place)
    assert world.run(max_ticks=50) == "done"
    assert [world.position(unit) for unit in units] == places
    world.remove(units[5])
    assert world.run(max_ticks=300) == "done"
    assert judge_trace(world.trace()) == []


@pytest.mark.parametrize("key", ONLINE)
def test_a_column_of_followers_whose_leader_dies(key: str) -> None:
    """Each follows the one before it. Without a leader they come to rest, and as a ring of followers they do, too."""
    world = World(Grid.from_text(("................\n" * 16).strip()), key, seed=3)
    leader = world.add((8, 8), controlled=False)
    column = [world.add((x, 0)) for x in range(8)]
    for unit, ahead in zip(column, [leader, *column], strict=False):
        world.follow(unit, ahead)
    distances = []
    for tick in range(80):
        (x, y), (dx, dy) = world.position(leader), ((1, 0), (0, 1), (-1, 0), (0, -1))[tick // 5 % 4]
        if is_vacant(world, (x + dx, y + dy)):
            world.move(leader, (x + dx, y + dy))
        world.tick(budget=400)
        (x, y), (leader_x, leader_y) = world.position(column[0]), world.position(leader)
        distances.append(max(abs(x - leader_x), abs(y - leader_y)))
    assert min(distances[-20:]) <= 4        # it lags behind for a while when the column is in its way
    world.remove(leader)
    if not ALGORITHMS[key].restless:
        assert world.run(max_ticks=200) == "done"
    for unit, ahead in zip(column, column[1:] + column[:1], strict=True):
        world.follow(unit, ahead)
    world.run(max_ticks=200)
    assert judge_trace(world.trace()) == []


def play(world: World, tick: int, *, late_input: bool = True) -> None:
    """What both players do before a tick, and the tick. One order, of tick 12, may not have arrived yet."""
    draw, there = np.random.default_rng(tick), world.living().tolist()
    places = map(world.grid.xy, draw.permutation(world.grid.size).tolist())
    vacant = [place for place in places if is_vacant(world, place)]
    if tick == 12 and late_input:
        world.order_group(there[::3], vacant[0], "attack_move")
        world.order(there[1], vacant[1])
    if tick % 6 == 0:
        world.order_group(draw.choice(there, 8, replace=False), vacant[2])
    if tick % 4 == 1:
        world.remove(there[int(draw.integers(len(there)))])
        world.add(vacant[3], vacant[4])
    if tick % 5 == 2:
        world.block(vacant[5:8])
    if tick % 10 == 7:
        world.unblock(np.argwhere(~world.grid.passable)[:4, ::-1])
    if tick % 7 == 3:
        world.follow(*world.living()[:2])
    if tick % 2:
        world.think(budget=100)
    world.tick(budget=400)


@pytest.mark.parametrize("key", ONLINE)
def test_an_input_that_arrives_ten_ticks_late(key: str) -> None:
    """The client goes back, and plays again with the input in its place; the server had it in time."""
    grid = mapgen.generate("arena", seed=2, width=36, height=32)
    draw = np.random.default_rng(0)
    starts, goals = (map(grid.xy, draw.permutation(grid.largest_component())[:30].tolist()) for _ in range(2))
    server, client = World(grid, key, seed=5), World(grid, key, seed=5)
    for start, goal in zip(starts, goals, strict=True):
        for world in (server, client):
            world.add(start, goal)
    hashes = []
    for tick in range(30):
        play(server, tick)
        hashes.append(server.state_hash())
    before = {}
    for tick in range(22):
        before[tick] = client.snapshot()
        play(client, tick, late_input=False)
    assert client.state_hash() != hashes[21]
    spectator = World(grid, key, seed=5)                # it joins with what the client sends
    spectator.restore(Snapshot.from_bytes(bytes(before[12])))
    client.restore(before[12])
    for world in (client, spectator):
        for tick in range(12, 30):
            play(world, tick)
            assert world.state_hash() == hashes[tick]
        assert world.positions().tolist() == server.positions().tolist()
    assert client.trace().moves.tolist() == server.trace().moves.tolist()
    assert judge_trace(client.trace()) == []


@pytest.mark.parametrize("key", ONLINE)
@pytest.mark.parametrize(
    ("place", "orders"),
    [
        ("......", {(0, 0): (5, 0), (5, 0): (0, 0)}),                   # two that cannot pass each other
        ("...", {(0, 0): (2, 0), (1, 0): (1, 0), (2, 0): (0, 0)}),      # a full map
        ("...\n.#.\n...", {(0, 0): (2, 0), (1, 0): (0, 0), (2, 0): (1, 0), (2, 2): (2, 2)}),     # a loop
    ],
)
def test_a_run_that_cannot_end_says_so(key: str, place: str, orders: dict[tuple[int, int], tuple[int, int]]) -> None:
    world = World(Grid.from_text(place, connectivity=4), key, seed=1)
    for start, goal in orders.items():
        world.add(start, goal)
    ended = world.run(max_ticks=12_000)
    assert ended in ("stuck", "done")
    assert ended == "stuck" or "#" in place     # on the loop they may turn round all together
    assert judge_trace(world.trace()) == []
