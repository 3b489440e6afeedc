"""Rough paths: the old way, lookaheads, and what is cut off a path that comes late."""

from __future__ import annotations

import numpy as np
import pytest

from wend import Grid, World, create
from wend.kernel.arrays import grown
from wend.problems.scenarios import make_problem
from wend.search.paths import cells_ahead, make_paths, put_move
from wend.search.rough_paths import helps, skip_to_nearest


@pytest.mark.small
def test_what_a_path_has_before_the_nearest_cell_is_cut_off() -> None:
    grid = Grid(np.ones((12, 12), bool))
    draw = np.random.default_rng(0)
    for _ in range(60):
        paths = grown(make_paths(grid.size), agents=1)
        start = cell = grid.cell(*draw.integers(3, 9, 2).tolist())
        steps: list[int] = []
        for _ in range(int(draw.integers(0, 30))):
            d = int(draw.choice([d for d in range(8) if grid.tables.moves[cell] >> d & 1]))
            steps.append(d)
            cell += int(grid.tables.offset[d])
        for d in reversed(steps):
            put_move(paths, 0, d)
        cells = [start, *cells_ahead(grid.tables, paths, 0, start)]
        here = grid.cell(*draw.integers(0, 12, 2).tolist())
        (x, y), places = grid.xy(here), [grid.xy(int(c)) for c in cells]
        apart = [(px - x) ** 2 + (py - y) ** 2 for px, py in places]
        last = max(k for k in range(len(cells)) if apart[k] == min(apart))
        assert skip_to_nearest(grid.tables, paths, 0, start, here) == cells[last]
        assert list(cells_ahead(grid.tables, paths, 0, cells[last])) == cells[last + 1 :]


@pytest.mark.small
def test_an_old_way_helps_if_it_ends_at_most_half_as_far_away() -> None:
    cells = [y * 20 + x for x, y in ((0, 0), (10, 3), (15, 3), (19, 0))]
    assert [bool(helps(20, cells[0], end, cells[3])) for end in cells] == [False, True, True, True]
    assert not helps(20, cells[3], cells[2], cells[3])      # it is there


@pytest.mark.parametrize(("kind", "budget"), [("caves", 600), ("rooms", 1_500)])
@pytest.mark.parametrize("key", ["lra", "astar-replan"])
def test_a_unit_alone_goes_as_surges_would_until_its_path_is_known(key: str, kind: str, budget: int) -> None:
    """Surge has a reference of its own. FAR's streets would lead elsewhere. The budget suffices for the blocks."""
    grid = Grid.load(f"{kind}:width=256,height=256,seed=0")
    draw, compared = np.random.default_rng(2), 0
    for start, goal in draw.choice(grid.largest_component(), (20, 2), replace=False).tolist():
        world, surge = (World(grid, create(name), seed=0) for name in (key, "surge"))
        for each in (world, surge):
            each.add(grid.xy(start), grid.xy(goal))
        while world.ticks < 60:
            before = world.position(0)
            world.tick(budget=budget)
            path = world.planner.intent(0).path
            if path and path[-1] == goal:
                break
            surge.tick()
            assert world.position(0) == surge.position(0)
            compared += world.position(0) != before
    assert compared > 30


@pytest.mark.parametrize("key", ["lra", "far", "astar-replan"])
def test_units_that_are_ordered_elsewhere_in_every_tick_keep_moving(key: str) -> None:
    grid = Grid.load("caves:width=128,height=128,seed=1")
    world = World.from_problem(make_problem("random", grid, agents=12, seed=2), key, seed=0)
    draw, steps = np.random.default_rng(0), np.zeros(12, np.int64)
    for _ in range(50):
        for agent, goal in enumerate(draw.choice(grid.largest_component(), 12, replace=False).tolist()):
            world.order(agent, grid.xy(goal))
        before = world.state.agents.cell.copy()
        world.tick(budget=2_000)
        steps += world.state.agents.cell != before
    assert steps.min() >= 25


@pytest.mark.parametrize("key", ["lra", "far", "astar-replan"])
def test_with_a_small_budget_units_come_home_through_walls_that_rise_and_fall(key: str) -> None:
    grid = Grid.load("rooms:width=64,height=64,seed=2")
    problem = make_problem("random", grid, agents=20, seed=5)
    world = World.from_problem(problem, key, seed=1)
    draw, goals, walls = np.random.default_rng(4), set(problem.goals.tolist()), []
    for _ in range(60):
        cell = int(draw.choice(world.grid.free_cells()))
        if world.state.occupant[cell] < 0 and cell not in goals:
            world.block([grid.xy(cell)])
            walls.append(grid.xy(cell))
        if len(walls) > 6:
            world.unblock([walls.pop(0)])
        world.tick(budget=200)
    world.unblock(walls)
    assert world.run(max_ticks=1_500, budget=200) == "done"
    assert int(world.trace().expansions.max()) <= 200


@pytest.mark.small
@pytest.mark.parametrize("key", ["lra", "far"])
def test_a_budget_spreads_the_same_searches_over_ticks(key: str) -> None:
    """Agents that cannot meet take the same paths, however little may be searched in a tick; none starves."""
    grid = Grid.from_text("\n".join(["." * 30, "@" * 30] * 6))
    first_move, whole = {}, {}
    for budget in (None, 10):
        world = World(grid, key)
        for y in range(0, 12, 2):
            world.add((0, y), (29, y))
        whole[budget] = np.full(6, -1)
        while not world.all_home():
            world.tick(budget=budget)
            has_one = [len(world.planner.intent(a).path) + world.position(a)[0] == 29 for a in range(6)]
            whole[budget][(whole[budget] < 0) & has_one] = world.ticks
        assert world.ticks <= 200
        trace = world.trace()
        assert budget is None or int(trace.expansions.max()) <= budget
        first_move[budget] = [int(np.flatnonzero(trace.moves[:, a])[0]) for a in range(6)]
    assert first_move[None] == [0] * 6
    assert whole[None].tolist() == [1] * 6
    assert first_move[10] == [0] * 6                    # those whose turn has not come make a step
    assert (np.diff(whole[10]) > 0).all()
