from __future__ import annotations

import numpy as np
import pytest

from tests.reference.depths import depths
from tests.reference.guidance import ReferenceGuidance
from tests.reference.preferences import next_places
from tests.unit.planners.mixed_crowd import STEP, MixedCrowd
from wend import Grid, World, create
from wend.kernel import NO_AGENT, scramble
from wend.maps.generators import open_map, random_map
from wend.planners.weave.weave import LETS_OTHERS_PASS

small = pytest.mark.small
CORRIDOR = Grid.from_text("\n".join(["." * 24, "@" * 20 + "....", "." * 24, "." * 24]), connectivity=4)


@pytest.mark.parametrize("window", [pytest.param(1, marks=small), pytest.param(4, marks=small), 16])
@pytest.mark.parametrize("rules", [{"connectivity": 4}, {}, {"corner_cutting": True}], ids=str)
def test_agrees_with_the_reference_tick_by_tick(rules: dict[str, int], window: int) -> None:
    """Among agents of the program and pinned ones, with new orders and deaths now and then."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        grid = random_map(seed=seed, width=9, height=8).with_rules(**rules)  # type: ignore[arg-type]
        cells = grid.largest_component()
        crowd = MixedCrowd(grid, create("weave", window=window), seed, int(rng.integers(6, cells.size // 2)), rng)
        guidance, agents = ReferenceGuidance(grid, window), range(crowd.count)
        sent = {a: crowd.at[a] for a in agents if a not in crowd.firm and crowd.at[a] != crowd.to[a]}
        for agent, depth in depths(grid, sent, dict(enumerate(crowd.to))).items():
            crowd.first[agent] = depth
        for tick in range(20):
            if tick % 6 == 5:
                agent = int(rng.integers(crowd.count))
                unclaimed = [cell for cell in cells.tolist() if grid.xy(cell) not in crowd.to]
                crowd.order(agent, grid.xy(int(rng.choice(unclaimed))))
                guidance.paths.pop(agent, None)
            crowd.look(tick)
            guidance.tick(
                tick, [grid.cell(*place) for place in crowd.at], [grid.cell(*place) for place in crowd.to],
                lambda a, cell, crowd=crowd, xy=grid.xy: crowd.far(a, xy(cell)),
                [a for a in crowd.turns if a not in crowd.firm], crowd.firm,
            )  # fmt: skip
            wishes = {a: None if (cell := guidance.wish(a)) is None else grid.xy(cell) for a in agents}
            goes = next_places(
                grid, crowd.at, crowd.far, STEP, crowd.turns, lot=int(scramble(seed ^ int(scramble(tick)))),
                firm=crowd.firm, fixed={a: crowd.at[a] for a in crowd.firm}, homes=crowd.to, wishes=wishes,
            )  # fmt: skip
            crowd.world.tick()
            assert [crowd.world.position(a) for a in agents] == [goes[a] for a in agents], (seed, tick)


@small
def test_traffic_is_empty_when_all_guide_paths_are_gone() -> None:
    """What was counted is taken out again, whether agents follow their paths, are pushed off them, die or turn back."""
    grid = random_map(seed=2, width=14, height=12)
    cells, rng = grid.largest_component(), np.random.default_rng(3)
    world = World(grid, "weave", seed=1)
    for start, goal in zip(rng.permutation(cells)[:40].tolist(), rng.permutation(cells)[:40].tolist(), strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    for tick in range(30):
        world.tick(budget=None if tick % 3 else 150)
        world.order(int(rng.choice(world.living())), grid.xy(int(rng.choice(cells))))
        if tick % 7 == 6:
            world.remove(int(rng.choice(world.living())))
        if tick == 15:
            free = [cell for cell in cells.tolist() if world.state.occupant[cell] == NO_AGENT]
            world.block([grid.xy(cell) for cell in free[::9]])
    assert world.planner.overlay("traffic").sum() > 0
    for agent in world.living().tolist():
        world.remove(agent)
    assert world.planner.overlay("traffic").sum() == 0
    assert not world.planner._guidance.traffic.any()  # type: ignore[attr-defined]


@small
def test_agents_see_each_other_coming() -> None:
    """Each of two that change sides in a street of two lanes takes a lane; with PIBT they meet, and step aside."""
    ticks = {}
    for key in ("weave", "pibt"):
        world = World(Grid.from_text("." * 16 + "\n" + "." * 16, connectivity=4), key)
        for x in range(4):
            world.add((x, 0), goal=(12 + x, 0))
            world.add((15 - x, 0), goal=(3 - x, 0))
        assert world.run(max_ticks=60) == "done"
        ticks[key] = world.ticks
    assert ticks["weave"] < ticks["pibt"]


@small
def test_with_a_budget_agents_move_at_once_and_come_home() -> None:
    """The walls between start and goal are found out on the way; the budget is kept."""
    world = World(CORRIDOR, "weave")
    for x in range(8):
        world.add((x, 0), goal=(x, 3))
    world.tick(budget=2)
    assert (world.positions() != world.previous_positions()).any(axis=1).sum() > 0
    assert world.run(max_ticks=400, budget=20) == "done"
    assert int(world.trace().expansions.max()) <= 20


@small
def test_an_agent_that_leaves_while_it_is_rough_learns_no_more() -> None:
    """It would learn of cell -1, which bounds checks find."""
    world = World(CORRIDOR, "weave")
    for x in range(8):
        world.add((x, 0), goal=(x, 3))
    world.tick(budget=2)
    rough = world.planner._rough.courses.is_rough  # type: ignore[attr-defined]
    assert rough[3]
    world.remove(3)
    world.tick(budget=2)
    assert not rough[3]


def test_an_agent_that_knows_its_distance_looks_beside_its_path_while_another_still_searches() -> None:
    """The other one's search could use up every tick's budget."""
    grid = open_map(width=400, height=400).with_rules(connectivity=4)
    grid.block([(380, y) for y in range(1, 400)])
    world = World(grid, "weave")
    first = world.add((1, 60), goal=(60, 60))
    for _ in range(20):
        world.tick(budget=80)
    known = np.isfinite(world.planner.overlay("distance", first)).sum()
    second = world.add((1, 390), goal=(399, 399))
    for _ in range(2):
        world.tick(budget=5_000)
    assert "only roughly" in world.intent(second).reason
    assert np.isfinite(world.planner.overlay("distance", first)).sum() > known


@small
def test_its_window_shows_the_guide_path_and_why_it_waits() -> None:
    grid = Grid.from_text("@@.@@\n.....\n@@.@@", connectivity=4)
    world = World(grid, "weave")
    first, second = world.add((0, 1), goal=(4, 1)), world.add((2, 0), goal=(2, 2))
    reasons = set()
    for _ in range(3):
        world.tick()
        reasons |= {world.intent(agent).reason for agent in (first, second)}
    assert world.intent(first).path == ((4, 1),)
    assert reasons <= {"", LETS_OTHERS_PASS, "another agent is in its way"}
    assert world.planner.overlay("distance", first).reshape(3, 5)[1].tolist() == [4, 3, 2, 1, 0]
    assert world.planner.counters()["guide_paths"] > 0


@small
def test_agents_on_their_goals_make_way_and_come_back() -> None:
    grid = Grid.from_text(".....\n@.@.@", connectivity=4)
    world = World(grid, "weave")
    walker, sitter = world.add((0, 0), goal=(4, 0)), world.add((2, 0))
    assert world.run(max_ticks=30) == "done"
    assert (world.position(walker), world.position(sitter)) == ((4, 0), (2, 0))
