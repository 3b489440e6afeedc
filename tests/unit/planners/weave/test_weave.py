from __future__ import annotations

import numpy as np
import pytest

from tests.reference.guidance import ReferenceGuidance
from tests.reference.preferences import next_places
from tests.reference.reverse_resumable import distances
from wend import Grid, World, create
from wend.kernel import NO_AGENT, scramble
from wend.maps.generators import random_map
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.planners.weave.weave import LETS_OTHERS_PASS

small = pytest.mark.small
STEP = [*[CARDINAL_COST] * 4, *[DIAGONAL_COST] * 4, CARDINAL_COST]
CORRIDOR = Grid.from_text("\n".join(["." * 24, "@" * 20 + "....", "." * 24, "." * 24]), connectivity=4)


def empty_map_cost(grid: Grid, a: Point, b: Point) -> int:
    dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
    diagonal = DIAGONAL_COST if grid.connectivity == 8 else 2 * CARDINAL_COST
    return (max(dx, dy) - min(dx, dy)) * CARDINAL_COST + min(dx, dy) * diagonal


@pytest.mark.parametrize("window", [pytest.param(1, marks=small), pytest.param(4, marks=small), 16])
@pytest.mark.parametrize("rules", [{"connectivity": 4}, {}, {"corner_cutting": True}], ids=str)
def test_agrees_with_the_reference_tick_by_tick(rules: dict[str, int], window: int) -> None:
    """Among agents of the program and pinned ones, with new orders and deaths now and then."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        grid = random_map(seed=seed, width=9, height=8).with_rules(**rules)  # type: ignore[arg-type]
        cells = grid.largest_component()
        count = int(rng.integers(6, cells.size // 2))
        world, guidance = World(grid, create("weave", window=window), seed=seed), ReferenceGuidance(grid, window)
        starts, goals = (rng.permutation(cells)[:count] for _ in range(2))
        for agent, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
            world.add(grid.xy(start), grid.xy(goal), controlled=agent % 8 != 7)
        for agent in range(3, count, 5):
            world.pin(agent)
        away, first = [0] * count, [empty_map_cost(grid, world.position(a), world.goal(a)) for a in range(count)]
        for tick in range(20):
            if tick % 6 == 5:
                agent = int(rng.integers(count))
                unclaimed = [cell for cell in cells.tolist() if grid.xy(cell) not in map(world.goal, range(count))]
                world.order(agent, grid.xy(int(rng.choice(unclaimed))))
                first[agent] = empty_map_cost(grid, world.position(agent), world.goal(agent))
                guidance.paths.pop(agent, None)
            at, to = [world.position(a) for a in range(count)], [world.goal(a) for a in range(count)]
            away = [tick if at[a] == to[a] else away[a] for a in range(count)]
            firm = [a for a in range(count) if a % 8 == 7 or (a in range(3, count, 5) and at[a] == to[a])]
            known = {goal: distances(grid, grid.cell(*goal)) for goal in to}
            order = sorted(range(count), key=lambda a: (away[a], -first[a], a))
            guidance.tick(
                tick, [grid.cell(*place) for place in at], [grid.cell(*place) for place in to],
                lambda a, c, known=known, to=to: known[to[a]][c], [a for a in order if a not in firm], firm,
            )  # fmt: skip
            wishes = {a: None if (cell := guidance.wish(a)) is None else grid.xy(cell) for a in range(count)}
            goes = next_places(
                grid, at, lambda a, p, known=known, to=to, cell=grid.cell: known[to[a]][cell(*p)], STEP, order,
                lot=int(scramble(seed ^ int(scramble(tick)))), firm=firm, fixed={a: at[a] for a in firm},
                wishes=wishes,
            )  # fmt: skip
            world.tick()
            assert [world.position(a) for a in range(count)] == [goes[a] for a in range(count)], (seed, tick)


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
