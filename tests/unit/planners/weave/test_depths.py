"""Who goes first of a troop that is sent to one place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.astar import empty_map_cost
from tests.reference.depths import depths
from wend import Grid, World
from wend.kernel import NO_AGENT
from wend.maps.generators import open_map
from wend.maps.terrain import Point
from wend.metrics import completion_ticks
from wend.planners.weave.depths import Depths
from wend.planners.weave.weave import Weave

small = pytest.mark.small
CAVE = Grid.from_text("\n".join(["@" * 34, "@..." + "@" * 18 + "." * 12, *["@" + "." * 33] * 2, "@" * 34]))


def planner_of(world: World) -> Weave:
    assert isinstance(world.planner, Weave)
    return world.planner


def depths_of(world: World) -> Depths:
    return planner_of(world)._depths


def firsts(world: World) -> list[int]:
    """By which agents that are away equally long are ordered."""
    first: list[int] = planner_of(world)._priorities.first[: world.state.agents.cell.size].tolist()
    return first


def straight(world: World, agent: int) -> int:
    cell = world.grid.cell
    return empty_map_cost(world.grid, cell(*world.position(agent)), cell(*world.goal(agent)))


def vacant(world: World) -> list[Point]:
    return [world.grid.xy(cell) for cell in world.grid.free_cells().tolist() if world.state.occupant[cell] == NO_AGENT]


def troop(grid: Grid, count: int, seed: int = 0) -> World:
    """So many agents with other places to go to."""
    draw, world = np.random.default_rng(seed), World(grid, "weave", seed=1)
    cells = draw.permutation(grid.free_cells())[: 2 * count].tolist()
    for start, goal in zip(cells[:count], cells[count:], strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    return world


@small
@pytest.mark.parametrize("budget", [None, 6])
@pytest.mark.parametrize("rules", [{}, {"connectivity": 4}, {"corner_cutting": True}], ids=str)
def test_agrees_with_the_reference(rules: dict[str, int], budget: int | None) -> None:
    """Goals in other components have no depth, and agents at home are no part of the troop."""
    for seed in range(4):
        free = np.random.default_rng(seed).random((30, 37)) < 0.65
        grid = Grid(free, **rules)  # type: ignore[arg-type]
        world = troop(grid, 20, seed)
        world.add(next(place for place in vacant(world) if place not in map(world.goal, range(20))))
        expected = [straight(world, agent) for agent in range(21)]
        starts, goals = ({agent: of(agent) for agent in range(20)} for of in (world.position, world.goal))
        away = {agent: place for agent, place in starts.items() if place != goals[agent]}
        for agent, depth in depths(grid, away, goals).items():
            expected[agent] = depth
        for _ in range(1 if budget is None else 60):
            world.tick(budget=budget)
        assert firsts(world) == expected, seed


@small
def test_a_few_agents_go_by_how_far_they_have_to_go() -> None:
    """Seven here and seven there are no troop, and eight are."""
    for count, are_troops in ((7, False), (8, True)):
        world = World(open_map(width=80, height=80), "weave")
        for k in range(2 * count):
            world.add((k % count, 75 * (k // count)), goal=(79 - k, 40))
        expected = [straight(world, agent) for agent in range(2 * count)]
        world.tick()
        assert (firsts(world) != expected) == are_troops


@small
def test_agents_whose_goals_move_a_little_are_not_looked_at_anew() -> None:
    """Such as those that chase one enemy, and are sent on in every tick."""
    world = troop(open_map(width=60, height=60), 12)
    world.tick()
    for agent in range(12):
        x, y = world.goal(agent)
        world.order(agent, (max(x - 1, 0), y))
    assert not depths_of(world).troops.is_new.any()
    for agent in range(12):
        x, y = world.goal(agent)
        world.order(agent, ((x + 30) % 60, y))
    assert depths_of(world).troops.is_new.sum() == 12


def half_known() -> tuple[World, np.ndarray]:
    """A world in which the depths of a troop's goals are not all known yet, and the agents of which they are not."""
    world = World(open_map(width=120, height=90), "weave")
    for k in range(30):
        world.add((k % 6, k // 6), goal=(119 - k, 20 + 2 * k))
    left = np.arange(30)
    while left.size == 30:
        world.tick(budget=12)
        left = np.flatnonzero(depths_of(world).troops.troop)
    assert left.size > 0
    assert set(world.trace().expansions.tolist()) == {12}
    return world, left


@small
def test_after_an_edit_or_a_death_troops_that_are_not_done_are_looked_at_anew() -> None:
    world, left = half_known()
    depths, gone = depths_of(world), int(left[0])
    world.remove(gone)
    world.block([(x, y) for x, y in vacant(world) if x == 60 and y < 88])
    assert not depths.troops.troop.any()
    assert np.flatnonzero(depths.troops.is_new).tolist() == left[1:].tolist()
    before = firsts(world)
    for _ in range(80):
        world.tick(budget=12)
    assert not depths.troops.troop.any()
    assert all(before[agent] < firsts(world)[agent] for agent in left[1:].tolist())     # the wall is a detour


@small
def test_a_snapshot_knows_how_far_it_has_come() -> None:
    world, _ = half_known()
    snapshot, found = world.snapshot(), []
    for _ in range(2):
        for _ in range(12):
            world.tick(budget=12)
        found.append((world.state_hash(), firsts(world)))
        world.restore(snapshot)
    assert found[0] == found[1]


def test_a_crowd_fills_a_cave_from_its_end() -> None:
    """Its mouth is where they come from. If others went first, these would have to make way for those who come later.

    The mean agent is home after 29.4 ticks; it took 33.8 when the one went first that had farthest to go.
    """
    goals = [(x, y) for x in range(1, 13) for y in (2, 3)] + [(x, 1) for x in (1, 2, 3)]
    starts = [(x, y) for x in range(22, 34) for y in (1, 2, 3)][: len(goals)]
    means = []
    for seed in range(6):
        world = World(CAVE, "weave", seed=seed)
        for start, k in zip(starts, np.random.default_rng(seed).permutation(len(goals)).tolist(), strict=True):
            world.add(start, goals[k])
        assert world.run(max_ticks=200) == "done"
        means.append(completion_ticks(world.trace()).mean())
    assert np.mean(means) < 31
