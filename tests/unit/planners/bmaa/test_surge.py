from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.reference.bmaa import ReferenceBmaa
from tests.unit.planners.bmaa.test_bmaa import run_both
from wend import Grid, World, create
from wend.kernel import NO_AGENT
from wend.maps.generators import random_map
from wend.problems.scenarios import make_problem
from wend.search.real_time import knows_distance

OPTIONS = {
    "blocks": {"heuristic": "blocks", "block": 4},
    "make way": {"make_way": True},
    "both": {"heuristic": "blocks", "block": 4, "make_way": True, "vision": 0.0, "patience": 3},
    "both, and replan": {"heuristic": "blocks", "make_way": True, "replan_when_blocked": True, "spread": 3},
    "replan": {"replan_when_blocked": True, "push": True},
}
NOT_NEARER = "it believes that no cell beside it is nearer to its goal"
PUSHED = "it was pushed off its path and goes by the distances that it believes in"


@pytest.mark.small
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_the_reference_tick_by_tick(name: str, seed: int) -> None:
    rules = [{}, {"connectivity": 4}, {"corner_cutting": True}][seed]
    grid = random_map(seed=seed, width=13, height=11).with_rules(**rules)  # type: ignore[arg-type]
    options = {"expansions": [16, 5, 8][seed], "moves": [12, 5, 6][seed], **OPTIONS[name]}
    reference = ReferenceBmaa(grid, **options, seed=seed)  # type: ignore[arg-type]
    run_both(grid, World(grid, create("bmaa", **options), seed=seed), reference, seed, agents=28, ticks=40)
    assert (reference.pushes > 0) == ("make_way" in options or "push" in options)


def crowd(agents: int, seed: int = 0, **parameters: object) -> World:
    grid = Grid.load("caves:width=40,height=40,seed=3")
    return World.from_problem(make_problem("random", grid, agents=agents, seed=seed), create(**parameters))  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["bmaa", "surge"])
@pytest.mark.parametrize("budget", [None, 3_000])
def test_threads_do_not_change_the_run(key: str, budget: int | None) -> None:
    """With 300 agents a batch is more than full; with the budget it takes several ticks until all have searched."""
    hashes = set()
    for threads in (1, 2, 4):
        world = crowd(300, key=key, threads=threads)
        for _ in range(25):
            world.tick(budget=budget)
        hashes.add((world.state_hash(), world.expansions))
    assert len(hashes) == 1


def test_all_agents_get_home_in_a_crowd_where_those_of_bmaa_do_not() -> None:
    surge, bmaa = crowd(250, key="surge"), crowd(250, key="bmaa-c")
    assert surge.run(max_ticks=400) == "done"
    bmaa.run(max_ticks=surge.ticks)
    assert bmaa.home_count() < 250


@pytest.mark.small
def test_the_path_is_short_where_an_empty_map_misleads() -> None:
    """A pocket of 9 x 9 cells opens to the west; the goal lies east of it."""
    rows = ["." * 24] * 6 + ["....##########.........."] + [".............#.........."] * 9
    rows += ["....##########.........."] + ["." * 24] * 6
    travelled = {}
    for key in ("bmaa", "surge"):
        world = World(Grid.from_text("\n".join(rows)), create(key))
        world.add((8, 11), (20, 11))
        assert world.run(max_ticks=300) == "done"
        travelled[key] = world.ticks
    assert travelled["surge"] <= 32 < travelled["bmaa"]


@pytest.mark.small
def test_distances_are_searched_within_the_budget_and_until_then_the_agent_goes_by_those_of_the_empty_map() -> None:
    world = World(Grid(np.ones((8, 400))), "surge")
    agent = world.add((0, 0), (399, 0))
    while not knows_distance(world.planner._beliefs.learned, agent, 0):  # type: ignore[attr-defined]
        world.tick(budget=20)
        assert world.position(agent)[0] == world.ticks
    assert world.planner.overlay("blocks", agent)[[0, -1]].tolist() == [392, 0]     # between the middles of groups
    assert world.ticks == 3         # for 50 groups
    assert int(world.trace().expansions.max()) == 20
    assert world.run(max_ticks=500, budget=20) == "done"


@pytest.mark.small
def test_what_an_agent_is_about_to_do_and_why() -> None:
    """The budget is enough for 3 of the 5 groups: the agent makes a step, and then it knows its path."""
    world = World(Grid(np.ones((8, 40))), create("surge", moves=60))
    agent = world.add((0, 4), (39, 4))
    world.tick(budget=3)
    assert world.planner.intent(agent) == ((), NO_AGENT, "the distances to its goal are not known yet")
    world.tick()
    path = world.planner.intent(agent).path
    assert world.position(agent) == (2, 4)
    assert len(path) == 31
    world.tick()
    assert world.planner.intent(agent) == (path[1:], NO_AGENT, "")


@pytest.mark.small
@pytest.mark.parametrize(
    ("key", "reasons"),
    [
        ("bmaa-fc", {"", "another agent is in its way", "other agents wall it in", "its next search is due"}),
        ("surge", {"", "another agent is in its way", "its next search is due", PUSHED, NOT_NEARER}),
    ],
)
def test_paths_ahead_are_walkable_and_every_agent_has_its_reason(key: str, reasons: set[str]) -> None:
    grid = Grid(np.random.default_rng(5).random((12, 12)) < 0.85)
    draw = np.random.default_rng(6)
    starts, goals = draw.permutation(grid.largest_component()), draw.permutation(grid.largest_component())
    world = World(grid, create(key, expansions=9), seed=1)
    for start, goal in zip(starts[:60].tolist(), goals[:60].tolist(), strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    given = set()
    for _ in range(40):
        world.tick()
        for agent in range(60):
            intent = world.planner.intent(agent)
            given.add(intent.reason)
            cells = [world.position(agent), *map(grid.xy, intent.path)]
            assert all(after in grid.neighbours(before) for before, after in pairwise(cells))
            if intent.waits_for != NO_AGENT:
                assert intent.waits_for == world.agent_state(agent).waits_for
    assert given == reasons


@pytest.mark.small
def test_the_agent_inside_a_dead_end_is_let_out_first() -> None:
    """The one outside came first and wants in; the one inside wants out."""
    world = World(Grid.from_text("...\n...\n@.@\n@.@"), "surge")
    world.add((1, 1), (1, 3))
    world.add((1, 3), (0, 0))
    assert world.run(max_ticks=100) == "done"


@pytest.mark.small
def test_an_agent_at_home_makes_way_and_comes_back() -> None:
    world = World(Grid.from_text(".....\n@@.@@"), "surge")
    walker, host = world.add((0, 0), (4, 0)), world.add((2, 0))
    assert world.run(max_ticks=20) == "done"
    world.tick()
    assert world.position(walker) == (4, 0)
    world.pin(host)
    world.order(walker, (0, 0))
    for _ in range(20):
        world.tick()
        assert world.position(host) == (2, 0)
    assert world.agent_state(walker).waits_for == host


@pytest.mark.small
def test_an_edit_is_heeded_where_it_parts_blocks_and_goals_find_their_new_groups() -> None:
    world = World(Grid(np.ones((9, 24))), "surge")
    agents = [world.add((0, y), (23, 8 - y)) for y in range(9)]
    for _ in range(4):
        world.tick()
    world.block([(12, y) for y in range(8)])
    world.block([(21, y) for y in range(9) if y != 4])
    assert world.run(max_ticks=150) == "done"
    world.order(agents[0], (0, 0))
    world.unblock([(12, 0), (21, 0)])
    assert world.run(max_ticks=40) == "done"


@pytest.mark.small
def test_rows_of_agents_that_left_or_got_other_orders_are_given_back() -> None:
    world = World(Grid(np.ones((16, 64))), "surge")
    agents = [world.add((x, 0), (x, 15)) for x in range(0, 64, 8)]
    distances = world.planner._beliefs._distances  # type: ignore[attr-defined]
    assert np.count_nonzero(distances._users) == 8
    for agent in agents:
        world.order(agent, (60, 15))
    assert np.count_nonzero(distances._users) == 1
    for agent in agents:
        world.remove(agent)
    assert np.count_nonzero(distances._users) == 0


def test_orders_walls_and_departures_leave_rows_only_for_the_goals_that_there_are() -> None:
    world = crowd(60, key="surge", threads=2)
    distances, rng = world.planner._beliefs._distances, np.random.default_rng(1)  # type: ignore[attr-defined]
    for tick in range(200):
        cells = world.state.agents.cell
        here = np.flatnonzero(cells >= 0)
        vacant = world.grid.free_cells()[world.state.occupant[world.grid.free_cells()] < 0]
        world.order(int(rng.choice(here)), world.grid.xy(int(rng.choice(vacant))))
        if tick % 4 == 0:
            world.block([world.grid.xy(int(cell)) for cell in rng.choice(vacant, 3, replace=False)])
        if tick % 4 == 2:
            world.unblock([world.grid.xy(int(cell)) for cell in rng.integers(world.grid.size, size=6)])
        if tick % 20 == 0:
            world.remove(int(here[0]))
        world.tick(budget=2_000)
        here = np.flatnonzero(world.state.agents.cell >= 0)
        groups = distances.blocks.group[world.state.agents.goal[here]]
        rows = world.planner._beliefs.learned.row[here]  # type: ignore[attr-defined]
        assert (distances.rows.goal[rows] == groups).all()
        assert sorted(distances.rows.goal[distances._users > 0].tolist()) == np.unique(groups).tolist()
        assert distances._users.sum() == here.size


@pytest.mark.small
def test_searches_are_spread_over_ticks() -> None:
    """Every agent has a straight path of 32 moves or more ahead."""
    worst = {}
    for spread in (0, 16):
        world = World(Grid(np.ones((32, 200))), create("surge", spread=spread))
        for y in range(32):
            world.add((0, y), (199, y))
        for _ in range(70):
            world.tick()
        worst[spread] = int(world.trace().expansions[1:].max())
    assert worst[0] == 32 * 32
    assert worst[16] <= worst[0] // 4
