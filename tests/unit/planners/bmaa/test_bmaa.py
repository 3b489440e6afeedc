from __future__ import annotations

import numpy as np
import pytest

from tests.reference.bmaa import ReferenceBmaa
from wend import Grid, World, create
from wend.errors import ParameterError, UnknownNameError
from wend.maps.generators import random_map
from wend.maps.terrain import CARDINAL_COST, Point
from wend.planners.base import Intent
from wend.planners.bmaa.bmaa import Bmaa
from wend.search import real_time

VARIANTS = {
    "bmaa": {},
    "bmaa-c": {"push": True},
    "bmaa-f": {"flow": "global"},
    "bmaa-fc": {"push": True, "flow": "global"},
}


def believed(world: World, agent: int, point: Point) -> float:
    """What an agent believes the path from a place to its goal to cost, in cells."""
    return float(world.planner.overlay("learned", agent)[world.grid.cell(*point)])


def pages_in_use(world: World) -> int:
    """Pages of learned values that agents have."""
    counts = world.planner._beliefs.learned.values.counts[0]  # type: ignore[attr-defined]
    return int(counts.used - 1 - counts.free)


def run_both(grid: Grid, world: World, reference: ReferenceBmaa, seed: int, agents: int, ticks: int) -> None:
    rng = np.random.default_rng(seed)
    cells = grid.largest_component()
    starts, goals = rng.permutation(cells)[:agents].tolist(), rng.permutation(cells)[:agents].tolist()
    for start, goal in zip(starts, goals, strict=True):
        world.add(grid.xy(start), grid.xy(goal))
        reference.add(grid.xy(start), grid.xy(goal))
    for _ in range(ticks):
        world.tick()
        reference.tick()
        assert [world.position(a) for a in range(agents)] == [walker.at for walker in reference.walkers]
        assert world.expansions == reference.expanded
    assert sum(len(walker.mind.learned) for walker in reference.walkers) > 4 * agents
    for agent, walker in enumerate(reference.walkers):
        costs = world.planner.overlay("learned", agent)
        for point in walker.mind.learned:
            assert costs[grid.cell(*point)] * CARDINAL_COST == walker.mind.h(point)


@pytest.mark.small
@pytest.mark.parametrize("key", VARIANTS)
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_reference_tick_by_tick(key: str, seed: int) -> None:
    rules = [{}, {"connectivity": 4}, {"corner_cutting": True}][seed % 3]
    grid = random_map(seed=seed, width=12, height=11).with_rules(**rules)  # type: ignore[arg-type]
    options = {"expansions": [32, 5, 12, 3][seed], "moves": [32, 3, 6, 4][seed]}
    reference = ReferenceBmaa(grid, **options, **VARIANTS[key])  # type: ignore[arg-type]
    run_both(grid, World(grid, create(key, **options)), reference, seed, agents=22, ticks=45)
    assert (reference.pushes > 0) == ("c" in key.removeprefix("bmaa"))      # otherwise it was never put to the test


@pytest.mark.small
@pytest.mark.parametrize("vision", [0.0, 1.0, 2.5, float("inf")])
def test_agrees_with_the_reference_however_far_agents_see(vision: float) -> None:
    grid = random_map(seed=9, width=12, height=12)
    options = {"vision": vision, "push": True, "flow": "local", "expansions": 10, "moves": 4}
    run_both(grid, World(grid, create("bmaa", **options)), ReferenceBmaa(grid, **options), 9, agents=20, ticks=30)  # type: ignore[arg-type]


@pytest.mark.small
def test_vision_decides_what_is_planned_through() -> None:
    """With no sight a plan leads through a parked agent, with endless sight around it."""
    for vision, through in ((0.0, True), (float("inf"), False)):
        world = World(Grid(np.ones((5, 9))), create("bmaa", vision=vision))
        walker = world.add((0, 2), (8, 2))
        world.add((4, 2))
        world.tick()
        path = [world.grid.xy(cell) for cell in world.planner.intent(walker).path]
        assert ((4, 2) in path) == through
        assert path[-1] == (8, 2)


@pytest.mark.small
def test_a_budget_spreads_the_same_searches_over_ticks_and_no_agent_starves() -> None:
    grid = Grid.from_text("\n".join(["." * 30, "@" * 30] * 6))
    for budget in (None, 64):
        world = World(grid, "bmaa")
        for y in range(0, 12, 2):
            world.add((0, y), (29, y))
        assert world.run(max_ticks=100, budget=budget) == "done"
        trace = world.trace()
        assert trace.ticks == 29                    # those whose turn has not come make a step
        searched = [6 * 29, 0, 0] if budget is None else [2 * 29, 2 * 28, 2 * 27]
        assert trace.expansions[:3].tolist() == searched    # 32 are set aside for a search, twice per tick


@pytest.mark.small
def test_a_budget_below_the_lookahead_cuts_it() -> None:
    grid = Grid.from_text("......\n.####.\n....#.\n.####.\n......")
    traces = []
    for expansions, budget in ((2, None), (32, 2)):
        world = World(grid, create("bmaa", expansions=expansions))
        world.add((0, 2), (5, 2))
        assert world.run(max_ticks=50, budget=budget) == "done"
        traces.append(world.trace().positions().tolist())
        assert int(world.trace().expansions.max()) == 2
    assert traces[0] == traces[1]


@pytest.mark.small
def test_a_budget_in_milliseconds_is_handed_out_in_slices() -> None:
    world = World(Grid(np.ones((40, 40))), "bmaa")
    for k in range(40):
        world.add((0, k), (39, 39 - k))
        world.add((5, k), (34, 39 - k))
    world.tick(budget_ms=60_000)
    free = World(Grid(np.ones((40, 40))), "bmaa")
    for k in range(40):
        free.add((0, k), (39, 39 - k))
        free.add((5, k), (34, 39 - k))
    free.tick()
    assert world.expansions == free.expansions > 2_000      # more than a slice, and every agent once
    assert world.state_hash() == free.state_hash()


@pytest.mark.small
def test_an_order_drops_only_what_that_agent_has_learned() -> None:
    world = World(Grid.from_text(".......\n.#####.\n.....#.\n.#####.\n......."), create("bmaa", expansions=4))
    one, other = world.add((1, 2), (6, 2)), world.add((2, 2), (6, 4))
    for _ in range(4):
        world.tick()
    before, kept = pages_in_use(world), believed(world, other, (2, 2))
    learned = believed(world, one, (1, 2))
    world.order(one, (6, 2))                                # the order that it has: nothing happens
    assert believed(world, one, (1, 2)) == learned
    world.order(one, (0, 0))
    assert pages_in_use(world) == before - 1
    unlearned = World(world.grid, "bmaa")
    unlearned.add((1, 2), (0, 0))
    assert believed(world, one, (1, 2)) == believed(unlearned, 0, (1, 2))
    assert believed(world, other, (2, 2)) == kept
    world.remove(other)
    assert pages_in_use(world) == before - 2


@pytest.mark.small
def test_an_edit_drops_only_the_paths_it_cuts_and_keeps_what_was_learned() -> None:
    for flow in ("none", "global", "local"):
        world = World(Grid(np.ones((9, 20))), create("bmaa", flow=flow))
        cut = world.add((0, 4), (8, 4))
        kept = world.add((17, 8), (11, 8))
        world.tick()
        learned, path = believed(world, cut, (0, 4)), world.planner.intent(kept).path
        world.block([(4, y) for y in range(1, 8)])
        assert believed(world, cut, (0, 4)) == learned
        world.tick()
        assert world.planner.intent(kept).path == path[1:]
        assert world.run(max_ticks=100) == "done"


@pytest.mark.small
def test_where_a_wall_falls_agents_forget_what_kept_them_away() -> None:
    """The agent has learned that the street is a dead end and is on its way back when the end is opened."""
    world = World(Grid.from_text("......\n.####.\n....#.\n.####.\n......"), create("bmaa", expansions=2, moves=2))
    agent = world.add((0, 2), (5, 2))
    free = believed(world, agent, (2, 2))
    for _ in range(7):
        world.tick()
    assert world.position(agent) == (1, 2)
    assert believed(world, agent, (2, 2)) > free
    world.unblock([(4, 2)])
    assert believed(world, agent, (2, 2)) == free
    assert world.run(max_ticks=4) == "done"


@pytest.mark.small
def test_streets_follow_edits_and_are_kept_to() -> None:
    for flow in ("global", "local"):
        world = World(random_map(seed=3, width=14, height=14), create("bmaa", flow=flow), seed=3)
        rng = np.random.default_rng(3)
        cells = rng.permutation(world.grid.largest_component())
        for start, goal in zip(cells[:12].tolist(), cells[12:24].tolist(), strict=True):
            world.add(world.grid.xy(start), world.grid.xy(goal))
        for tick in range(60):
            if tick % 4 == 0:
                x, y = int(rng.integers(14)), int(rng.integers(14))
                if not world.grid.is_free((x, y)):
                    world.unblock([(x, y)])
                elif world.state.occupant[world.grid.cell(x, y)] < 0:
                    world.block([(x, y)])
            before = world.state.agents.cell.copy()
            world.tick()
            fresh = Bmaa(flow=flow)
            fresh.bind(world.state, 0)
            moves = fresh.overlay("flow")
            for here, there in zip(before.tolist(), world.state.agents.cell.tolist(), strict=True):
                steps = [here + int(world.grid.tables.offset[d]) for d in range(8) if moves[here] >> d & 1]
                assert there == here or there in steps


@pytest.mark.small
def test_pages_that_run_out_in_mid_tick_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two agents walk through 75 pages each; there are 64 at first, of which 32 must be left for a search."""
    monkeypatch.setattr(real_time, "_PAGES", 64)
    world = World(Grid(np.ones((8, 600))), "bmaa")
    world.add((0, 0), (599, 0))
    world.add((0, 7), (599, 7))
    assert world.run(max_ticks=700) == "done"
    assert world.ticks == 599
    page_of = world.planner._beliefs.learned.page_of  # type: ignore[attr-defined]
    assert np.unique(page_of[page_of != 0]).size == pages_in_use(world) == 150


@pytest.mark.small
def test_agents_of_the_program_are_seen_where_they_go() -> None:
    """In a corridor the walker follows right behind the program's agent, and waits when it stops."""
    world = World(Grid.from_text("......"), "bmaa")
    walker = world.add((0, 0), (5, 0))
    guard = world.add((2, 0), controlled=False)
    for x in (3, 4):
        world.move(guard, (x, 0))
        world.tick()
        assert world.position(walker) == (x - 2, 0)
    world.tick()
    world.tick()
    assert world.position(walker) == (3, 0)
    assert world.agent_state(walker).waits_for == guard


@pytest.mark.small
def test_walled_in_by_agents_it_says_whom_it_waits_for() -> None:
    world = World(Grid.from_text("..."), "bmaa")
    inner, outer = world.add((0, 0), (2, 0)), world.add((1, 0))
    world.tick()
    assert world.agent_state(inner).waits_for == outer
    assert world.planner.intent(inner) == ((), outer, "other agents wall it in")
    assert world.planner.intent(outer) == Intent()


@pytest.mark.small
def test_what_an_agent_is_about_to_do_and_why() -> None:
    world = World(Grid.from_text("......"), create("bmaa", moves=20))
    agent, parked = world.add((0, 0), (5, 0)), world.add((3, 0))
    assert world.planner.intent(agent) == Intent(reason="its next search is due")
    world.tick()
    assert world.planner.intent(agent) == Intent((2, 3, 4, 5))
    world.tick()
    world.tick()
    assert world.planner.intent(agent) == ((3, 4, 5), parked, "another agent is in its way")
    assert world.planner.intent(parked) == Intent()


@pytest.mark.small
def test_overlays_show_what_an_agent_believes_and_the_streets() -> None:
    grid = Grid.from_text("....\n.@@.\n....")
    world = World(grid, create("bmaa-f", expansions=2, moves=2))
    agent = world.add((0, 1), (3, 1))
    planner = world.planner
    assert planner.overlay("learned", agent).reshape(3, 4)[1].tolist() == [3, -1, -1, 0]
    world.tick()
    assert planner.overlay("learned", agent)[grid.cell(0, 1)] > 3
    assert (planner.overlay("blocks", agent) == -1).all()
    assert planner.overlay("flow").dtype == np.uint8
    assert not (planner.overlay("flow") & ~grid.tables.moves).any()
    with pytest.raises(ParameterError, match="'learned' shows what a single agent knows"):
        planner.overlay("learned")
    with pytest.raises(UnknownNameError):
        planner.overlay("dreams")


@pytest.mark.small
def test_a_repath_is_a_search_with_moves_left() -> None:
    """The path is planned while the parked agent is out of sight; it expires three ticks later in front of it."""
    world = World(Grid.from_text("......"), create("bmaa", moves=5))
    world.add((0, 0), (5, 0))
    world.add((3, 0))
    for repaths in (0, 0, 0, 0, 0, 1, 1):
        world.tick()
        assert world.planner.counters()["repaths"] == repaths


@pytest.mark.small
def test_parameters_that_cannot_be_are_refused() -> None:
    for wrong in ({"expansions": 0}, {"vision": -1}, {"moves": 0}, {"flow": "sideways"}):
        with pytest.raises(ParameterError):
            create("bmaa", **wrong)
    with pytest.raises(UnknownNameError):
        create("bmaa-c", push=False)
