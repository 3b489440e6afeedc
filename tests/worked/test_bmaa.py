"""BMAA* on maps that fit into a head."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wend import Grid, World, create, metrics
from wend.maps.generators import random_map
from wend.maps.terrain import Point

DEAD_END = "......\n.####.\n....#.\n.####.\n......"
POCKET = "@@.@@\n....."


def travelled(world: World) -> list[float]:
    return [float(distance) for distance in metrics.travel_distance(world.trace())]


@pytest.mark.small
@pytest.mark.parametrize("key", ["bmaa", "bmaa-c"])
def test_one_agent_in_the_open(key: str) -> None:
    world = World(Grid(np.ones((10, 10))), key)
    world.add((0, 0), (9, 9))
    assert world.run(max_ticks=100) == "done"
    assert world.ticks == 9
    assert travelled(world) == [pytest.approx(9 * math.sqrt(2), abs=1e-5)]
    assert metrics.completion_rate(world.trace()) == 1


@pytest.mark.small
def test_a_corridor_teaches_nothing() -> None:
    world = World(Grid.from_text("....."), create("bmaa", expansions=1, moves=1))
    world.add((0, 0), (4, 0))
    world.run(max_ticks=100)
    assert (world.ticks, travelled(world)) == (4, [4.0])
    assert world.planner.overlay("learned", 0).tolist() == [4, 3, 2, 1, 0]


@pytest.mark.small
@pytest.mark.parametrize(
    ("expansions", "moves", "distance"), [(1, 1, 21.0), (2, 32, 17.0), (4, 32, 9.0), (8, 32, 9.0), (32, 32, 9.0)]
)
def test_the_way_out_of_a_dead_end(expansions: int, moves: int, distance: float) -> None:
    world = World(Grid.from_text(DEAD_END), create("bmaa", expansions=expansions, moves=moves))
    world.add((0, 2), (5, 2))
    assert world.run(max_ticks=100) == "done"
    assert travelled(world) == [distance]


@pytest.mark.small
def test_surrounded_it_waits_and_learns_nothing_until_another_leaves() -> None:
    world = World(Grid(np.ones((5, 5))), "bmaa")
    inner = world.add((2, 2), (4, 4))
    ring = [world.add((2 + dx, 2 + dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]
    unlearned = world.planner.overlay("learned", inner).tolist()
    for _ in range(5):
        world.tick()
        assert world.position(inner) == (2, 2)
        assert world.agent_state(inner).waits_for in ring
    assert world.trace().expansions.tolist() == [1] * 5
    assert world.planner.overlay("learned", inner).tolist() == unlearned
    world.remove(ring[-1])                                  # the one at (3, 3)
    world.tick()
    assert world.position(inner) == (3, 3)


@pytest.mark.small
@pytest.mark.parametrize("key", ["bmaa", "bmaa-c", "bmaa-f", "bmaa-fc"])
def test_two_head_on_in_a_corridor_never_swap(key: str) -> None:
    world = World(Grid.from_text("......"), key)
    world.add((0, 0), (5, 0))
    world.add((5, 0), (0, 0))
    assert world.run(max_ticks=120) == "max-ticks"
    assert world.home_count() == 0
    assert world.position(0) < world.position(1)
    before = world.position(0), world.position(1)
    world.run(max_ticks=40)
    assert (world.position(0), world.position(1)) == before


@pytest.mark.small
def test_an_agent_that_starts_beside_a_parked_one_never_pushes_it() -> None:
    """A push needs a path that was planned while the other was out of sight."""
    world = World(Grid.from_text(POCKET), "bmaa-c")
    parked, other = world.add((2, 1)), world.add((1, 1), (4, 1))
    world.run(max_ticks=100)
    assert (world.position(parked), world.position(other)) == ((2, 1), (1, 1))


@pytest.mark.small
def test_an_agent_whose_goal_is_occupied_walks_up_to_it_and_waits() -> None:
    world = World(Grid.from_text("....."), "bmaa")
    other = world.add((0, 0), (4, 0))
    sitter = world.add((4, 0), controlled=False)        # the program's: one of the planner would get another place
    world.run(max_ticks=40)
    assert world.position(other) == (3, 0)
    assert world.agent_state(other).waits_for == sitter


@pytest.mark.small
@pytest.mark.parametrize("first", ["pusher", "parked"])
def test_a_push_into_a_pocket(first: str) -> None:
    """The pusher passes without a stop; the other steps aside in tick 2 and is back in tick 3, or 4 if it is second."""
    world = World(Grid.from_text(POCKET), "bmaa-c")
    places: dict[str, tuple[Point, Point]] = {"pusher": ((0, 1), (4, 1)), "parked": ((2, 1), (2, 1))}
    order = [first, *(places.keys() - {first})]
    agents = {name: world.add(*places[name]) for name in order}
    assert world.run(max_ticks=50) == "done"
    trace = world.trace()
    where = {name: [world.grid.xy(int(c)) for c in trace.positions()[:, agents[name]]] for name in order}
    assert where["pusher"] == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]
    back = 3 if first == "pusher" else 4
    assert where["parked"] == [(2, 1), (2, 1)] + [(2, 0)] * (back - 2) + [(2, 1)] * (5 - back)
    distances = dict(zip(order, travelled(world), strict=True))
    assert distances == {"pusher": 4.0, "parked": 2.0}
    assert metrics.completion_rate(trace) == 1


@pytest.mark.small
def test_without_a_push_it_stops_before_the_parked_agent() -> None:
    world = World(Grid.from_text(POCKET), "bmaa")
    pusher = world.add((0, 1), (4, 1))
    world.add((2, 1))
    assert world.run(max_ticks=100) == "max-ticks"
    assert world.position(pusher) == (1, 1)
    assert metrics.completion_rate(world.trace()) == 0.5


@pytest.mark.small
def test_pinned_agents_are_not_pushed() -> None:
    world = World(Grid.from_text(POCKET), "bmaa-c")
    pusher, parked = world.add((0, 1), (4, 1)), world.add((2, 1), pinned=True)
    world.run(max_ticks=100)
    assert (world.position(pusher), world.position(parked)) == ((1, 1), (2, 1))
    assert world.home_count() == 1


@pytest.mark.small
def test_without_the_pocket_the_two_face_each_other() -> None:
    """Like the paper's Fig. 5: an agent that cannot be passed cannot be pushed aside either."""
    world = World(Grid.from_text("....."), "bmaa-c")
    pusher, parked = world.add((0, 0), (4, 0)), world.add((2, 0))
    world.tick()
    world.tick()
    assert (world.position(pusher), world.position(parked)) == ((2, 0), (3, 0))
    assert world.run(max_ticks=100) == "max-ticks"
    assert (world.position(pusher), world.position(parked)) == ((2, 0), (3, 0))
    assert metrics.completion_rate(world.trace()) == 0


@pytest.mark.small
def test_a_push_prefers_a_cell_off_the_pushers_path() -> None:
    """East is where the pusher goes next, so it is south although E comes before S."""
    world = World(Grid.from_text("......\n@@@.@@"), "bmaa-c")
    world.add((0, 0), (5, 0))
    parked = world.add((3, 0))
    for _ in range(3):
        world.tick()
    assert world.position(parked) == (3, 1)


@pytest.mark.small
@pytest.mark.parametrize("key", ["bmaa", "bmaa-c", "bmaa-f", "bmaa-fc"])
def test_a_crowd_is_legal_and_repeats(key: str) -> None:
    """Places are pairwise distinct, every move is one of the grid; the same seed and order give the same trace."""
    hashes = []
    for _ in range(2):
        grid = random_map(seed=7, width=16, height=16)
        rng = np.random.default_rng(7)
        cells = grid.largest_component()
        starts, goals = rng.permutation(cells)[:50].tolist(), rng.permutation(cells)[:50].tolist()
        world = World(grid, key, seed=7)
        for start, goal in zip(starts, goals, strict=True):
            world.add(grid.xy(start), grid.xy(goal))
        world.run(max_ticks=60)
        for before, after in zip(world.trace().positions(), world.trace().positions()[1:], strict=False):
            assert np.unique(after).size == 50
            for here, there in zip(before.tolist(), after.tolist(), strict=True):
                assert here == there or grid.xy(there) in grid.neighbours(grid.xy(here))
        hashes.append(world.state_hash())
    assert hashes[0] == hashes[1]
