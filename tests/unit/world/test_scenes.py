"""Scenes of games that no algorithm was made for, played by every online planner, and judged again afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, World
from wend.kernel import NO_AGENT
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
    for tick in range(80):
        (x, y), (dx, dy) = world.position(leader), ((1, 0), (0, 1), (-1, 0), (0, -1))[tick // 5 % 4]
        if is_vacant(world, (x + dx, y + dy)):
            world.move(leader, (x + dx, y + dy))
        world.tick(budget=400)
    x, y = world.position(column[0])
    assert max(abs(x - world.position(leader)[0]), abs(y - world.position(leader)[1])) <= 4
    world.remove(leader)
    if not ALGORITHMS[key].restless:
        assert world.run(max_ticks=200) == "done"
    for unit, ahead in zip(column, column[1:] + column[:1], strict=True):
        world.follow(unit, ahead)
    world.run(max_ticks=200)
    assert judge_trace(world.trace()) == []
