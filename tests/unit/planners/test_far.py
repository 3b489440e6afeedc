from __future__ import annotations

from itertools import takewhile
from typing import Any

import numpy as np
import pytest

from tests.reference.far import ReferenceFar
from wend import Grid, World, create, shortest_path
from wend.errors import ParameterError, UnknownNameError
from wend.kernel import NO_AGENT
from wend.maps.generators import random_map
from wend.maps.terrain import Point
from wend.planners import path_searches
from wend.planners.base import Intent
from wend.search import paths
from wend.search.flow import Flow

# --- against the reference ------------------------------------------------------------------------------------------


def crowded(seed: int, agents: int, rules: dict[str, Any], options: dict[str, Any]) -> tuple[World, ReferenceFar]:
    """The same crowd for the kernels and for the reference."""
    grid = random_map(seed=seed, width=12, height=12).with_rules(**rules)
    rng = np.random.default_rng(seed)
    cells = grid.largest_component()
    starts, goals = rng.permutation(cells)[:agents].tolist(), rng.permutation(cells)[:agents].tolist()
    world, reference = World(grid, create("far", **options), seed=seed), ReferenceFar(grid, **options)
    for start, goal in zip(starts, goals, strict=True):
        world.add(grid.xy(start), grid.xy(goal))
        reference.add(grid.xy(start), grid.xy(goal))
    return world, reference


def assert_agreement(world: World, reference: ReferenceFar) -> None:
    agents = range(world.agents)
    assert [world.position(agent) for agent in agents] == [walker.at for walker in reference.walkers]
    waits_for = [walker.waits_for.index if walker.waits_for else None for walker in reference.walkers]
    assert [world.agent_state(agent).waits_for for agent in agents] == waits_for
    assert world.planner.counters() == reference.counters
    assert world.expansions == reference.expanded


@pytest.mark.small
@pytest.mark.parametrize("flow", ["global", "local", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_reference_tick_by_tick(flow: str, seed: int) -> None:
    rules = [{}, {"connectivity": 4}, {"corner_cutting": True}, {}][seed]
    options = {
        "flow": flow, "reservation": [3, 2, 1, 4][seed], "commit": ["batch", "slide"][seed % 2],
        "patience": [100, 6, 3, 10][seed], "proxy_expansions": [64, 6, 20, 3][seed],
    }  # fmt: skip
    world, reference = crowded(seed, 30, rules, options)
    for _ in range(60):
        world.tick()
        reference.tick()
        assert_agreement(world, reference)
    for name in ("proxies", "pushes", "wait_circles", "repaths"):
        assert reference.counters[name] > 0     # otherwise it was never put to the test


@pytest.mark.small
def test_agrees_with_the_reference_when_nobody_has_patience() -> None:
    world, reference = crowded(7, 60, {}, {"patience": 2, "reservation": 2})
    for _ in range(60):
        world.tick()
        reference.tick()
        assert_agreement(world, reference)
    assert reference.counters["reroutes"] > 10


@pytest.mark.small
def test_agrees_with_the_reference_on_orders_and_pinned_agents() -> None:
    world, reference = crowded(5, 24, {}, {})
    rng = np.random.default_rng(5)
    places = [world.grid.xy(cell) for cell in world.grid.largest_component().tolist()]
    for agent in range(0, 24, 5):
        world.pin(agent)
        reference.walkers[agent].pinned = True
    for _ in range(80):
        taken = {world.goal(agent) for agent in range(24)}      # a world gives no two agents the same goal
        free = [place for place in places if place not in taken]
        agent, goal = int(rng.integers(24)), free[int(rng.integers(len(free)))]
        world.order(agent, goal)
        reference.order(agent, goal)
        world.tick()
        reference.tick()
        assert_agreement(world, reference)


# --- maps that fit into a head --------------------------------------------------------------------------------------


def corridor(pocket: int | None = None, **options: Any) -> World:
    """Two agents that want to change places in a corridor, perhaps with room for one beside it."""
    above = "".join("." if x == pocket else "@" for x in range(6))
    world = World(Grid.from_text(f"{above}\n......"), create("far", **options))
    world.add((0, 1), (5, 1))
    world.add((5, 1), (0, 1))
    return world


def reserved(world: World, agent: int) -> list[Point]:
    """Where an agent has reserved to be, from now on."""
    owner = world.planner.overlay("owner")
    path = [world.grid.cell(*world.position(agent)), *world.planner.intent(agent).path]
    return [world.grid.xy(cell) for cell in takewhile(lambda cell: owner[cell] == agent, path)]


@pytest.mark.small
def test_two_head_on_in_a_corridor_never_pass_and_the_circle_is_seen() -> None:
    for reservation in (1, 2, 3):
        world = corridor(reservation=reservation)
        assert world.run(max_ticks=60) == "max-ticks"
        assert world.position(0) < world.position(1)
        assert world.home_count() < 2
        assert world.planner.counters()["wait_circles"] > 20


@pytest.mark.small
@pytest.mark.parametrize(
    ("pocket", "reservation", "passes"),
    [(2, 1, True), (2, 2, True), (2, 3, False), (3, 1, True), (3, 2, True), (3, 3, True)],
)
def test_room_for_one_lets_them_pass(pocket: int, reservation: int, passes: bool) -> None:
    """In batches of three the first agent stops right behind the pocket at x = 2, and the other at the far end."""
    world = corridor(pocket, reservation=reservation)
    assert (world.run(max_ticks=60) == "done") == passes
    positions = [world.grid.xy(int(cell)) for cell in world.trace().positions().ravel()]
    assert positions.count((pocket, 0)) >= passes
    assert world.planner.counters()["proxies"] == passes


@pytest.mark.small
@pytest.mark.parametrize("flow", ["global", "local", "none"])
@pytest.mark.parametrize("commit", ["batch", "slide"])
def test_one_agent_alone_walks_its_path(flow: str, commit: str) -> None:
    grid = random_map(seed=2, width=16, height=16)
    cells = grid.largest_component()
    start, goal = grid.xy(int(cells[0])), grid.xy(int(cells[-1]))
    reference = ReferenceFar(grid, flow=flow)
    path = reference.astar(start, goal, None, float("inf"))
    assert path is not None
    world = World(grid, create("far", flow=flow, commit=commit))
    world.add(start, goal)
    assert world.run(max_ticks=200) == "done"
    assert [grid.xy(int(cell)) for cell in world.trace().positions()[:, 0]] == [start, *path]
    assert world.expansions == reference.expanded
    if flow == "none":
        assert path == list(shortest_path(grid, start, goal))[1:]


@pytest.mark.small
@pytest.mark.parametrize("commit", ["batch", "slide"])
def test_every_move_was_reserved_by_the_mover(commit: str) -> None:
    world, _ = crowded(1, 40, {}, {"commit": commit})
    moved = 0
    for _ in range(60):
        before = world.state.agents.cell.copy()
        world.tick()
        owner = world.planner.overlay("owner")
        for agent in np.flatnonzero(world.state.agents.cell != before).tolist():
            assert owner[world.state.agents.cell[agent]] == agent
            moved += 1
    assert moved > 200


@pytest.mark.small
def test_a_batch_is_made_before_the_next_is_asked_for() -> None:
    for commit, left in (("batch", [2, 1, 0, 2, 1, 0]), ("slide", [2, 2, 2, 2, 2, 2])):
        world = World(Grid.from_text("." * 20), create("far", commit=commit))
        world.add((0, 0), (19, 0))
        seen = []
        for _ in range(6):
            world.tick()
            seen.append(len(reserved(world, 0)) - 1)
        assert seen == left


@pytest.mark.small
def test_a_parked_agent_steps_aside_and_comes_back_unless_it_is_pinned() -> None:
    for pinned in (False, True):
        world = World(Grid.from_text("@@.@@\n....."), "far")
        parked = world.add((2, 1), pinned=pinned)
        walker = world.add((0, 1), (4, 1))
        world.run(max_ticks=30)
        been = {world.grid.xy(int(cell)) for cell in world.trace().positions()[:, parked]}
        assert been == ({(2, 1)} if pinned else {(2, 1), (2, 0)})
        assert world.position(parked) == (2, 1)
        assert world.position(walker) == ((0, 1) if pinned else (4, 1))
        assert world.planner.counters()["pushes"] == (not pinned)
    assert world.agent_state(walker).waits_for == parked


@pytest.mark.small
def test_a_push_travels_down_a_row_of_parked_agents() -> None:
    """There is room behind the last of the row only; all of them come back."""
    world = World(Grid.from_text("@@.@@@\n......"), "far")
    first, second, third = world.add((2, 1)), world.add((3, 1)), world.add((4, 1))
    walker = world.add((0, 1), (2, 0))
    world.tick()
    assert [world.agent_state(agent).waits_for for agent in (walker, first, second)] == [first, second, third]
    assert world.position(third) == (5, 1)
    assert world.run(max_ticks=30) == "done"
    assert world.planner.counters()["pushes"] == 3


@pytest.mark.small
def test_who_cannot_pass_goes_around_when_its_patience_ends() -> None:
    world = World(Grid.from_text(".......\n.@@@@@.\n......."), create("far", flow="none", patience=5))
    walker = world.add((0, 1), (6, 1))
    world.tick()
    row = world.position(walker)[1]
    guard = world.add((4, row), pinned=True)
    for _ in range(4):
        world.tick()
    assert world.agent_state(walker).waits_for == guard
    assert world.run(max_ticks=40) == "done"
    rows = {world.grid.xy(int(cell))[1] for cell in world.trace().positions()[:, walker]}
    assert rows == {0, 1, 2}
    assert world.planner.counters() == {"repaths": 1, "proxies": 0, "pushes": 0, "reroutes": 1, "wait_circles": 0}


# --- what happens between two ticks ---------------------------------------------------------------------------------


@pytest.mark.small
def test_a_proxy_path_is_searched_within_the_budget_too() -> None:
    ticks = []
    for budget in (100, 1):
        world = corridor(3, reservation=2)
        world.tick()
        assert world.run(max_ticks=50, budget=budget) == "done"
        assert int(world.trace().expansions[1:].max()) <= budget
        assert world.planner.counters()["proxies"] == 1
        ticks.append(world.ticks)
    assert ticks[0] < ticks[1]


@pytest.mark.small
def test_paths_that_the_first_pool_has_no_space_for_make_it_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven agents follow each other through a serpentine, with 427 moves each."""
    growths = []
    monkeypatch.setattr(paths, "_FIRST_PACKETS", 1)
    monkeypatch.setattr(path_searches, "with_space", lambda full: growths.append(full) or paths.with_space(full))
    serpentine = "\n".join(["." * 60, "@" * 59 + ".", "." * 60, "." + "@" * 59] * 4)
    world = World(Grid.from_text(serpentine), "far")
    for x in range(0, 14, 2):
        world.add((12 - x, 0), (47 + x, 14))
    assert world.run(max_ticks=1_000) == "done"
    assert len(growths) == 1
    assert world.ticks == 7 * 59 + 14 + 6           # the last one waits a tick for each of those before it


@pytest.mark.small
def test_an_order_concerns_one_agent_and_keeps_what_is_reserved() -> None:
    world = World(Grid(np.ones((9, 9))), create("far", flow="none"))
    world.add((0, 0), (8, 0))
    world.add((0, 8), (8, 8))
    world.tick()
    searched = world.expansions
    ahead = reserved(world, 0)
    assert ahead == [(1, 0), (2, 0), (3, 0)]
    world.order(0, (3, 4))
    world.tick()
    assert world.expansions == searched + 4             # from (3, 0), where its reservation ends
    assert reserved(world, 0) == ahead[1:]
    world.run(max_ticks=20)
    assert [world.position(agent) for agent in range(2)] == [(3, 4), (8, 8)]
    assert world.planner.counters()["repaths"] == 0


@pytest.mark.small
@pytest.mark.parametrize("flow", ["global", "local", "none"])
def test_an_edit_drops_only_the_paths_it_cuts(flow: str) -> None:
    world = World(Grid(np.ones((9, 20))), create("far", flow=flow))
    cut = world.add((0, 4), (8, 4))
    kept = world.add((17, 8), (11, 8))
    world.tick()
    paths = [world.planner.intent(agent).path for agent in (cut, kept)]
    assert [world.grid.xy(path[-1]) for path in paths] == [(8, 4), (11, 8)]
    world.block([(4, y) for y in range(1, 9)])
    assert world.planner.intent(cut).path == paths[0][:2]       # what it has reserved
    assert world.planner.intent(kept).path == paths[1]
    assert world.run(max_ticks=100) == "done"
    assert world.planner.counters()["repaths"] == 1


@pytest.mark.small
def test_a_wall_on_reserved_cells_stops_the_agent() -> None:
    world = World(Grid(np.ones((3, 9))), create("far", flow="none"))
    agent = world.add((0, 1), (8, 1))
    world.tick()
    assert (2, 1) in reserved(world, agent)
    world.block([(2, 1)])
    assert reserved(world, agent) == [(1, 1)]
    assert world.run(max_ticks=20) == "done"


@pytest.mark.small
def test_streets_follow_edits() -> None:
    for flow in ("global", "local"):
        world = World(random_map(seed=3, width=14, height=14), create("far", flow=flow))
        world.block(map(world.grid.xy, world.grid.largest_component()[10:30:4].tolist()))
        fresh = Flow(world.grid, flow)
        world.tick()
        assert np.array_equal(world.planner.overlay("flow"), fresh.tables().moves)


@pytest.mark.small
def test_who_is_stopped_by_an_agent_of_the_program_joins_its_path_again() -> None:
    """The guard crosses the street; the walker had reserved that cell, stops, and needs no whole search."""
    world = World(Grid(np.ones((5, 30))), create("far", flow="none"))
    walker = world.add((0, 2), (29, 2))
    guard = world.add((2, 1), controlled=False)
    world.tick()
    searched = world.expansions
    world.move(guard, (2, 2))
    world.tick()
    assert world.position(walker) == (1, 2)
    assert world.agent_state(walker).waits_for == guard
    world.move(guard, (2, 3))
    assert world.run(max_ticks=40) == "done"
    assert world.ticks == 30
    assert world.expansions - searched < 12


@pytest.mark.small
def test_a_pinned_agent_that_is_ordered_to_where_it_stands_stays() -> None:
    world = World(Grid.from_text("." * 12), "far")
    agent = world.add((0, 0), (11, 0), pinned=True)
    world.tick()
    assert len(reserved(world, agent)) == 3
    world.order(agent, world.position(agent))
    world.tick()
    assert world.position(agent) == (1, 0)
    assert reserved(world, agent) == [(1, 0)]


@pytest.mark.small
def test_who_leaves_the_map_leaves_no_reservation() -> None:
    world = World(Grid.from_text("." * 8), "far")
    gone, follower = world.add((1, 0), (7, 0)), world.add((0, 0), (6, 0))
    world.tick()
    world.remove(gone)
    assert gone not in world.planner.overlay("owner")
    assert follower in world.planner.overlay("owner")
    assert world.run(max_ticks=10) == "done"
    assert world.position(follower) == (6, 0)


# --- the window -----------------------------------------------------------------------------------------------------


@pytest.mark.small
def test_intent_says_where_an_agent_goes_whom_it_waits_for_and_why() -> None:
    world = World(Grid.from_text("@@.@@@\n......"), "far")
    parked, walker = world.add((2, 1)), world.add((0, 1), (5, 1))
    assert world.planner.intent(walker) == Intent((), NO_AGENT, "it has no path yet")
    world.tick()
    row = [world.grid.cell(x, 1) for x in range(6)]
    assert world.planner.intent(walker) == Intent(tuple(row[1:]), parked, "another has reserved one of its next cells")
    assert world.planner.intent(parked) == Intent((), walker, "it stepped aside, to let another pass")
    world.tick()
    assert world.planner.intent(walker) == Intent(tuple(row[2:]), NO_AGENT, "")
    assert world.run(max_ticks=20) == "done"
    assert world.planner.intent(walker) == world.planner.intent(parked) == Intent()


@pytest.mark.small
def test_intents_come_true_unless_an_agent_has_to_wait() -> None:
    world, _ = crowded(2, 12, {}, {})
    kept = 0
    for _ in range(40):
        ahead = [world.planner.intent(agent).path for agent in range(12)]
        world.tick()
        for agent, path in enumerate(ahead):
            waits = world.agent_state(agent).waits_for is not None
            if path and not waits and world.planner.intent(agent).reason == "":
                assert world.grid.cell(*world.position(agent)) == path[0]
                kept += 1
    assert kept > 50


@pytest.mark.small
def test_a_map_without_one_way_streets_shows_the_moves_of_the_grid() -> None:
    world = World(random_map(seed=3, width=14, height=14), "astar-replan")
    assert np.array_equal(world.planner.overlay("flow"), world.grid.tables.moves)


@pytest.mark.small
def test_parameters_that_cannot_be_are_refused() -> None:
    for wrong in ({"reservation": 0}, {"flow": "sideways"}, {"commit": "never"}, {"patience": 0}):
        with pytest.raises(ParameterError):
            create("far", **wrong)
    with pytest.raises(UnknownNameError):
        create("astar-replan", flow="global")
    assert create("astar-replan").flow == "none"  # type: ignore[attr-defined]
