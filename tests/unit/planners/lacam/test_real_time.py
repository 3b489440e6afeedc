"""Real-Time LaCAM against the reference tick by tick, on the cases that must hold, and as events come between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.real_time_lacam import ReferenceRealTimeLacam
from tests.reference.reverse_resumable import distances
from tests.unit.planners.lacam.instances import CASES
from wend import Grid, World, create
from wend.kernel import NO_AGENT
from wend.maps.generators import random_map
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.metrics import completion_ticks
from wend.planners.lacam import ahead, live
from wend.planners.lacam.tree import NONE
from wend.rules import Judge

STEP = [*[CARDINAL_COST] * 4, *[DIAGONAL_COST] * 4, CARDINAL_COST]
BOTH = pytest.mark.parametrize("connectivity", [4, 8])


def world_of(name: str, connectivity: int = 4, seed: int = 0, **parameters: Any) -> World:
    case = CASES[name]
    world = World(case.grid(connectivity), create("lacam-rt", **parameters), seed=seed)
    for start, goal in case.ways:
        world.add(start, goal)
    return world


def empty_map_cost(grid: Grid, a: Point, b: Point) -> int:
    dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
    diagonal = DIAGONAL_COST if grid.connectivity == 8 else 2 * CARDINAL_COST
    return (max(dx, dy) - min(dx, dy)) * CARDINAL_COST + min(dx, dy) * diagonal


def goals_seen_by(world: World) -> list[list[Point]]:
    """The goals as the planner sees them, tick by tick: some change after an agent of the program has walked."""
    seen: list[list[Point]] = []
    plan = world.planner.plan

    def plan_and_look(*given: Any) -> None:
        seen.append([world.grid.xy(int(goal)) for goal in world.state.agents.goal])
        plan(*given)

    world.planner.plan = plan_and_look      # type: ignore[method-assign]
    return seen


def edit(world: World, vacant: list[Point]) -> bool:
    """Take a wall down, or build one that parts nothing; whether there was a place for it."""
    for place in vacant[len(vacant) // 2 :]:
        trial = Grid(world.grid.passable).with_rules(connectivity=world.grid.connectivity)
        if not trial.is_free(place):
            world.unblock([place])
            return True
        trial.block([place])
        if len(trial.component_sizes()) == len(world.grid.component_sizes()):
            world.block([place])
            return True
    return False


@pytest.mark.small
@pytest.mark.parametrize("rules", [{"connectivity": 4}, {}, {"corner_cutting": True}], ids=str)
def test_agrees_with_the_reference_tick_by_tick(rules: dict[str, int]) -> None:
    """Among agents of the program, some of which walk, and pinned ones, with new orders and walls now and then."""
    kept = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        grid = random_map(seed=seed, width=5 + seed % 2 * 3, height=5).with_rules(**rules)  # type: ignore[arg-type]
        cells = grid.largest_component()
        count, configurations, swap = int(rng.integers(4, cells.size * 4 // 5)), (1, 3)[seed // 2 % 2], seed != 5
        planner = create("lacam-rt", swap=swap, configurations=configurations, refinement=0)
        world = World(grid, planner, seed=seed)
        starts, goals = (rng.permutation(cells)[:count] for _ in range(2))
        for agent, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
            world.add(grid.xy(start), grid.xy(goal), controlled=agent % 8 != 7)
        for agent in range(3, count, 5):
            world.pin(agent)
        reference, heading = ReferenceRealTimeLacam(grid, STEP, swaps=swap, seed=seed), goals_seen_by(world)
        away, first, before = [0] * count, [0] * count, [(-1, -1)] * count
        for tick in range(60):
            at = tuple(map(world.position, range(count)))
            if tick % 13 == 8:
                world.order(int(rng.integers(count)), grid.xy(int(rng.choice(cells))))
            if tick % 10 == 5:
                reference.is_edited = edit(world, [p for p in map(grid.xy, cells) if p not in at])
            reference.grid = world.grid
            vacant = [p for p in world.grid.neighbours(at[7]) if p not in at] if count > 7 else []
            steps = {7: vacant[0]} if tick % 17 == 3 and vacant else {}
            for agent, place in steps.items():
                world.move(agent, place)
            world.tick()
            to = heading[-1]
            first = [first[a] if to[a] == before[a] else empty_map_cost(grid, at[a], to[a]) for a in range(count)]
            away, before = [tick if at[a] == to[a] else away[a] for a in range(count)], to
            posts = [a for a in range(3, count, 5) if at[a] == to[a]]
            firm = {a: at[a] for a in (*range(7, count, 8), *posts)} | steps
            known = {goal: distances(world.grid, grid.cell(*goal)) for goal in to}
            goes = reference.tick(
                tick, at, tuple(to), sorted(set(range(count)) - firm.keys(), key=lambda a: (away[a], -first[a], a)),
                firm, lambda a, p, known=known, to=to, cell=grid.cell: known[to[a]][cell(*p)], configurations,
            )  # fmt: skip
            assert tuple(map(world.position, range(count))) == goes, (seed, tick)
            assert world.planner.counters()["configurations"] == reference.tried
            kept += reference.steps >> 20 == tick and planner._rooted.tree.counts[0].nodes > 2      # type: ignore[attr-defined]
    assert kept > 6


@pytest.mark.small
@BOTH
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("configurations", [1, 10])
def test_all_is_solved_that_can_be(name: str, connectivity: int, configurations: int) -> None:
    for seed in (0, 2):
        world = world_of(name, connectivity, seed, configurations=configurations)
        best = CASES[name].optimum[connectivity]
        assert (world.run(max_ticks=300) == "done") == (best is not None)
        assert best is None or world.ticks >= best[0]
        told = {world.intent(agent).reason for agent in range(len(CASES[name].ways))}
        assert ("there is no plan that brings all agents home" in told) == (best is None)


@pytest.mark.small
def test_with_more_configurations_per_tick_less_is_walked_in_vain() -> None:
    one, ten = (world_of("loop", configurations=configurations, refinement=0) for configurations in (1, 10))
    assert one.run(max_ticks=300) == ten.run(max_ticks=300) == "done"
    assert ten.ticks < one.ticks / 4
    assert one.planner.counters() == ten.planner.counters()


@pytest.mark.small
@BOTH
def test_every_edge_of_the_tree_can_be_walked_and_all_lead_to_where_the_units_stand(connectivity: int) -> None:
    for name in ("loop", "tunnel", "full square"):
        world = world_of(name, connectivity, configurations=2)
        judge, planner = Judge(world.grid), world.planner
        for _ in range(25):
            world.tick()
            tree, count = planner._rooted.tree, len(CASES[name].ways)      # type: ignore[attr-defined]
            for node in range(tree.counts[0].nodes):
                before, at = tree.cell[node, :count].copy(), node
                while (parent := int(tree.parent[at])) != NONE:
                    after = tree.cell[parent, :count].copy()
                    assert not judge.judge(1, before, after)
                    before, at = after, parent
                assert before.tolist() == world.state.agents.cell.tolist()


@pytest.mark.small
def test_the_budget_is_kept_and_units_move_with_the_smallest() -> None:
    grid = Grid.from_text("\n".join(["." * 24, "@" * 20 + "....", "." * 24, "." * 24]), connectivity=4)
    world = World(grid, create("lacam-rt", configurations=5, refinement=1000))
    for x in range(8):
        world.add((x, 0), goal=(x, 3))
    world.tick(budget=1)
    assert world.planner.counters()["configurations"] == 1
    assert world.position(7) == (7, 0) or world.position(7) == (8, 0)
    assert world.positions().tolist() != [[x, 0] for x in range(8)]
    assert world.run(max_ticks=400, budget=20) == "done"
    assert 8 <= int(world.trace().expansions.max()) <= 20


@pytest.mark.small
def test_between_ticks_it_searches_ahead_within_a_budget() -> None:
    world = world_of("loop", configurations=10)
    for made in (1, 11):                # in its first tick, a tree tries but one
        world.tick()
        assert world.planner.counters()["configurations"] == made
    world.think(budget=3 * 4)           # three units
    assert world.planner.counters()["configurations"] == 15


def nodes(world: World) -> int:
    return int(world.planner._rooted.tree.counts[0].nodes)      # type: ignore[attr-defined]


@pytest.mark.small
def test_of_the_tree_is_kept_what_an_event_leaves_of_it() -> None:
    grid = Grid.from_text("\n".join(["." * 20] * 3), connectivity=4)
    world = World(grid, create("lacam-rt", configurations=1))
    agent, other = world.add((0, 0), goal=(19, 0)), world.add((0, 2), goal=(19, 2))
    walker = world.add((3, 1), controlled=False)
    for tick in range(4):
        world.tick()
        assert nodes(world) == 2 + tick
    for event, kept in (
        (lambda: world.order(agent, (19, 0)), 5),       # where it goes anyway
        (lambda: world.order(agent, (19, 1)), 6), (lambda: world.block([(0, 1)]), 7), (lambda: world.pin(agent), 8),
        (lambda: world.block([(3, 0)]), 5),             # of nine, it was there in the fourth one from the first
        (lambda: world.unblock([(3, 0)]), 6), (lambda: world.add((0, 0), goal=(16, 0)), 1),
        (lambda: world.remove(other), 1), (lambda: world.move(walker, (3, 2)), 1),
    ):  # fmt: skip
        event()
        world.tick()
        assert nodes(world) == kept + 1
    world.tick()                        # the walker is elsewhere by now
    assert nodes(world) == 2
    assert world.run(max_ticks=30) == "done"


@pytest.mark.small
def test_where_all_was_tried_an_order_needs_no_search() -> None:
    """Two agents in a corridor that cannot pass each other."""
    grid = Grid.from_text("....", connectivity=4)
    world = World(grid, create("lacam-rt"))
    left, right = world.add((0, 0), goal=(3, 0)), world.add((1, 0), goal=(0, 0))
    world.run(max_ticks=40)
    tried, known = world.planner.counters(), nodes(world)
    assert world.intent(left).reason == "there is no plan that brings all agents home"
    for goals, can_be in (((1, 3), True), ((2, 1), False), ((0, 2), True)):
        world.order(left, (goals[0], 0))
        world.order(right, (goals[1], 0))
        assert (world.run(max_ticks=10) == "done") == can_be
        assert (world.planner.counters(), nodes(world)) == (tried, known)
    world.block([(3, 0)])               # some of it can still be walked, but is not all that there is
    world.order(right, (1, 0))
    assert world.run(max_ticks=10) == "done"
    assert nodes(world) <= known


def crowd(seed: int, connectivity: int, **parameters: Any) -> World:
    """Agents on half of a small map with few walls, and a pinned one."""
    rng = np.random.default_rng(seed)
    grid = Grid(rng.random((7, 8)) < 0.93, connectivity=connectivity)
    cells = grid.largest_component()
    world = World(grid, create("lacam-rt", **parameters), seed=seed)
    starts, goals = (rng.permutation(cells)[: cells.size // 2] for _ in range(2))
    for start, goal in zip(starts.tolist(), goals.tolist(), strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    world.pin(world.add(grid.xy(int(np.setdiff1d(cells, [*starts, *goals])[0]))))
    return world


def plan_of(world: World) -> NDArray[np.int32] | None:
    """Where the units are to be from now on: int32[units, ticks]."""
    plan = world.planner._ahead                                             # type: ignore[attr-defined]
    return None if plan is None else plan._refinement.plan[:, plan._done :].copy()


@pytest.mark.small
@BOTH
def test_the_plan_is_refined_on_the_way_but_for_the_next_ticks(connectivity: int) -> None:
    gained = 0
    for seed in range(4):
        lead = (0, 3)[seed % 2]
        world, plain = (crowd(seed, connectivity, refinement=most, lead=lead) for most in (600, 0))
        before = None
        while not world.all_home() and world.ticks < 200:
            before = plan_of(world)
            world.tick()
            after = plan_of(world)
            if before is None or after is None:
                continue
            assert (after[:, :lead] == before[:, 1 : lead + 1]).all()
            assert arrivals(after).sum() <= arrivals(before[:, 1:]).sum()
            judge = Judge(world.grid)
            cells = world.state.agents.cell.copy()
            for step in after.T:
                there = cells.copy()
                there[: step.size] = step
                assert not judge.judge(1, cells, there)
                cells = there
        assert world.run(max_ticks=300) == plain.run(max_ticks=300) == "done"
        gained += sum_of_costs(plain) - sum_of_costs(world)
    assert gained > 0


def arrivals(plan: NDArray[np.int32]) -> NDArray[np.int64]:
    """The ticks until each unit is for good where its plan ends."""
    away = plan != plan[:, -1:]
    return np.where(away.any(axis=1), plan.shape[1] - away[:, ::-1].argmax(axis=1), 0)


def sum_of_costs(world: World) -> int:
    return int(completion_ticks(world.trace(), unfinished=1_000).sum())


@pytest.mark.small
def test_to_refine_the_plan_takes_no_more_than_the_budget_and_goes_on_after_a_snapshot() -> None:
    world, other = (crowd(3, 4, configurations=200, refinement=100_000) for _ in range(2))
    for w in (world, other):
        for budget in (None, 20_000):
            w.tick(budget=budget)
    begun = plan_of(world)
    assert begun is not None
    for _ in range(3):
        world.tick(budget=700)
        assert 0 < world.trace().expansions[-1] <= 700
    assert arrivals(begun).sum() > arrivals(plan_of(world)).sum()       # type: ignore[arg-type]
    other.restore(world.snapshot())
    assert world.run(max_ticks=100, budget=300) == other.run(max_ticks=100, budget=300) == "done"
    assert world.state_hash() == other.state_hash()


@pytest.mark.small
def test_a_plan_that_is_too_large_to_be_refined_is_walked_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MOST_CELLS", 20)
    world, plain = (crowd(1, 4, refinement=most) for most in (600, 0))
    assert world.run(max_ticks=300) == plain.run(max_ticks=300) == "done"
    assert (world.trace().moves == plain.trace().moves).all()


@pytest.mark.small
def test_an_agent_knows_its_plan_and_an_order_ends_it() -> None:
    grid = Grid.from_text("..........\n..........", connectivity=4)
    world = World(grid, create("lacam-rt"))
    agent = world.add((0, 0), goal=(9, 0))
    for _ in range(2):
        world.tick()
    assert world.intent(agent).path == tuple((x, 0) for x in range(3, 10))
    world.order(agent, (2, 1))
    other = world.add((0, 1), goal=(2, 1))
    assert world.intent(agent).path == world.intent(other).path == ()
    world.tick()
    assert world.position(agent) == (2, 1)
    assert plan_of(world) is None


@pytest.mark.small
def test_an_order_does_not_make_an_agent_younger() -> None:
    """The one that has been away longer goes first, though its order is newer."""
    grid = Grid.from_text(".....\n@@.@@\n@@.@@", connectivity=4)
    world = World(grid, create("lacam-rt", swap=False))
    old, young = world.add((0, 0), goal=(4, 0)), world.add((2, 2), goal=(2, 2))
    world.tick()
    world.order(young, (2, 0))
    world.order(old, (3, 0))
    world.run(max_ticks=3)
    assert world.position(old) == (3, 0)
    assert world.all_home()


@pytest.mark.small
def test_a_tree_that_is_full_is_planted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_MOST_NODES", 16)
    world = world_of("tunnel", seed=1, configurations=1)
    assert world.run(max_ticks=400) == "done"
    assert world.planner.counters()["configurations"] > 16
    assert world.planner._rooted.tree.counts[0].nodes <= 16      # type: ignore[attr-defined]


@pytest.mark.small
def test_its_window_shows_whom_an_agent_waits_for() -> None:
    grid = Grid.from_text("....", connectivity=4)
    world = World(grid, create("lacam-rt", configurations=1))
    agent, post = world.add((0, 0), goal=(3, 0)), world.add((2, 0))
    world.pin(post)
    world.tick()
    assert world.intent(agent).path == ((2, 0), (3, 0))
    world.tick()
    assert world.position(agent) == (1, 0)
    assert world.intent(agent).waits_for == post
    world.remove(post)
    assert world.intent(agent).waits_for is None
    assert world.run(max_ticks=5) == "done"
    assert world.state.occupant[grid.cell(0, 0)] == NO_AGENT
