from __future__ import annotations

import numpy as np
import pytest

from tests.reference.preferences import next_places
from tests.unit.planners.mixed_crowd import STEP, MixedCrowd
from wend import Grid, World, create
from wend.kernel import NO_AGENT, scramble
from wend.maps.generators import random_map
from wend.planners.pibt.pibt import Pibt
from wend.problems.scenarios import make_problem


@pytest.mark.small
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("rules", [{"connectivity": 4}, {}, {"corner_cutting": True}], ids=str)
def test_agrees_with_the_reference_tick_by_tick(rules: dict[str, int], swap: bool) -> None:
    """Among agents of the program and pinned ones, with new orders now and then."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        grid = random_map(seed=seed, width=9, height=8).with_rules(**rules)  # type: ignore[arg-type]
        cells = grid.largest_component()
        crowd = MixedCrowd(grid, create("pibt", swap=swap), seed, int(rng.integers(4, cells.size * 2 // 3)), rng)
        for tick in range(25):
            if tick % 6 == 5:
                crowd.order(int(rng.integers(crowd.count)), grid.xy(int(rng.choice(cells))))
            crowd.look(tick)
            goes = next_places(
                grid, crowd.at, crowd.far, STEP, crowd.turns, swaps=swap, lot=int(scramble(seed ^ int(scramble(tick)))),
                firm=crowd.firm, fixed={a: crowd.at[a] for a in crowd.firm}, homes=crowd.to,
            )  # fmt: skip
            crowd.world.tick()
            assert [crowd.world.position(a) for a in range(crowd.count)] == [goes[a] for a in range(crowd.count)]


@pytest.mark.small
def test_with_a_budget_agents_move_at_once_and_come_home() -> None:
    """The walls between start and goal are found out on the way; the budget is kept."""
    grid = Grid.from_text("\n".join(["." * 24, "@" * 20 + "....", "." * 24, "." * 24]), connectivity=4)
    world = World(grid, create("pibt"))
    for x in range(8):
        world.add((x, 0), goal=(x, 3))
    world.tick(budget=2)
    assert world.intent(7).reason == "the distances to its goal are not known yet, only roughly"
    assert world.run(max_ticks=400, budget=20) == "done"
    assert int(world.trace().expansions.max()) <= 20


def test_space_that_is_asked_for_after_the_last_expansion_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rough agents learn fills its pool in mid-tick: the agents after that are looked at all the same.

    They were not, and went by exact distances that nobody knew: the tick never ended.
    """
    run, calls = Pibt._run, 0

    def count_calls(planner: Pibt, *given: object) -> int:
        nonlocal calls
        calls += 1
        assert calls < 50, "the tick does not end"
        return run(planner, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Pibt, "_run", count_calls)
    problem = make_problem("random", random_map(seed=1, width=24, height=24), agents=200, seed=1)
    world = World.from_problem(problem, create("pibt"))
    for _ in range(120):
        calls = 0
        world.tick(budget=60)


@pytest.mark.parametrize("key", ["pibt", "weave"])
def test_who_goes_into_a_packed_crowd_pushes_few_off_their_goals(key: str) -> None:
    """Nine enter the middle of 391 that are home. Before, they pushed 553 to 940 off their goals, now 268 to 383."""
    world = World(Grid.from_text("\n".join(["." * 24] * 24)), key)
    crowd = [(x, y) for x in range(2, 22) for y in range(2, 22)]
    middle = [(x, y) for x, y in crowd if 10 <= x < 13 and 10 <= y < 13]
    for place in crowd:
        if place not in middle:
            world.add(place, goal=place)
    for k, place in enumerate(middle):
        world.add((0 if k % 2 else 23, k), goal=place)
    pushed_off, agents = 0, world.state.agents
    while not world.quiet() and world.ticks < 60:
        is_home = agents.cell == agents.goal
        world.tick()
        pushed_off += int((is_home & (agents.cell != agents.goal)).sum())
    assert world.quiet()
    assert pushed_off < 500


@pytest.mark.small
def test_an_order_does_not_make_an_agent_younger() -> None:
    """The one that has been away longer goes first, though its order is newer."""
    grid = Grid.from_text(".....\n@@.@@\n@@.@@", connectivity=4)
    world = World(grid, create("pibt", swap=False))
    old, young = world.add((0, 0), goal=(4, 0)), world.add((2, 2), goal=(2, 2))
    world.tick()
    world.order(young, (2, 0))
    world.order(old, (3, 0))
    world.run(max_ticks=3)
    assert world.position(old) == (3, 0)
    assert world.all_home()


@pytest.mark.small
def test_its_window_shows_the_way_ahead_and_who_is_in_it() -> None:
    grid = Grid.from_text("....", connectivity=4)
    world = World(grid, create("pibt"))
    agent, post = world.add((0, 0), goal=(3, 0)), world.add((2, 0))
    world.pin(post)
    assert world.intent(agent).path == ()
    world.tick()
    assert world.intent(agent).path == ((2, 0), (3, 0))
    world.tick()
    assert world.position(agent) == (1, 0)
    assert world.intent(agent).waits_for == post
    far = world.planner.overlay("distance", agent)
    assert far.tolist() == [3, 2, 1, 0]
    world.remove(post)
    assert world.intent(agent).waits_for is None
    world.run(max_ticks=5)
    assert world.all_home()


@pytest.mark.small
def test_agents_on_their_goals_make_way_and_come_back() -> None:
    grid = Grid.from_text(".....\n@.@.@", connectivity=4)
    world = World(grid, create("pibt"))
    walker, sitter = world.add((0, 0), goal=(4, 0)), world.add((2, 0))
    assert world.run(max_ticks=30) == "done"
    assert (world.position(walker), world.position(sitter)) == ((4, 0), (2, 0))
    assert world.state.occupant[grid.cell(0, 0)] == NO_AGENT


@pytest.mark.small
@pytest.mark.parametrize("key", ["pibt", "weave"])
@pytest.mark.parametrize("seed", range(4))
def test_an_agent_at_home_is_not_pushed_into_the_dead_end_that_its_pusher_is_headed_for(key: str, seed: int) -> None:
    """The last one of a packed crowd gets in; before, the two changed places in the dead end's mouth for ever."""
    grid = Grid.from_text("@@@.@@@\n.......\n.......\n.......\n.......")
    world = World(grid, create(key), seed=seed)
    for place in map(grid.xy, grid.free_cells().tolist()):
        if place not in ((3, 0), (0, 4), (1, 4), (6, 4)):
            world.add(place, goal=place)
    world.add((0, 4), goal=(3, 0))
    assert world.run(max_ticks=50) == "done"
