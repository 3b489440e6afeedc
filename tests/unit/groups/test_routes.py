from __future__ import annotations

import numpy as np
import pytest

from tests.reference.waypoints import is_cut, next_waypoint, sees
from wend import Grid
from wend.groups.orders import paths_to
from wend.groups.routes import SPACING, Routes, in_sight
from wend.journal import Journal
from wend.kernel.arrays import allocate
from wend.planners.base import Agents


def random_grid(seed: int, *, side: int = 24, free: float = 0.75) -> Grid:
    draw = np.random.default_rng(seed)
    rules = {"connectivity": 4} if seed % 3 == 0 else {"corner_cutting": seed % 3 == 1}
    return Grid(draw.random((side, side)) < free, **rules)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(6))
def test_sight_agrees_with_the_reference(seed: int) -> None:
    grid = random_grid(seed, side=9)
    cells = grid.free_cells().tolist()
    for here in cells[::3]:
        for there in cells:
            assert in_sight(grid.tables, here, there) == sees(grid, grid.xy(here), grid.xy(there))


@pytest.mark.small
@pytest.mark.parametrize("seed", range(12))
def test_waypoints_and_cuts_agree_with_the_reference(seed: int) -> None:
    """Agents that stumble about near their paths, and walls that are built on them."""
    grid = random_grid(seed, free=0.9)
    draw = np.random.default_rng(seed)
    cells = draw.permutation(grid.largest_component())
    starts, target = cells[:8].tolist(), int(cells[8])
    paths = paths_to(grid, starts, target, "move")
    agents, routes = allocate(Agents, agents=8), Routes(Journal())
    agents.cell[:] = starts
    for agent, path in enumerate(paths):
        routes.add_agent(agent)
        agents.goal[agent] = routes.aim(agent, target, target, target, path)
    places = [[grid.xy(int(cell)) for cell in path] for path in paths]
    ahead = {agent: SPACING for agent in range(8) if len(places[agent]) > SPACING}
    assert agents.goal.tolist() == [routes.waypoints(k)[0] if k in ahead else target for k in range(8)]
    for _ in range(25):
        for agent in range(8):
            here = int(agents.cell[agent])
            beside = [grid.cell(*place) for place in grid.neighbours(grid.xy(here))]
            near = [int(cell) for cell in paths[agent] if abs(int(cell) - here) < 40]
            agents.cell[agent] = draw.choice([here, *beside, *near])
        agents.cell[draw.integers(8)] = draw.choice(cells)
        expected = {k: next_waypoint(grid, places[k], at, grid.xy(int(agents.cell[k]))) for k, at in ahead.items()}
        assert routes.advance(grid.tables, agents) == [k for k, at in expected.items() if at != ahead[k]]
        ahead = {k: at for k, at in expected.items() if at < len(places[k])}
        for k in range(8):
            assert grid.xy(int(agents.goal[k])) == (places[k][ahead[k]] if k in ahead else grid.xy(target))
            assert routes.waypoints(k) == (paths[k][ahead[k] :: SPACING].tolist() if k in ahead else [])
        grid.block([grid.xy(int(draw.choice(np.setdiff1d(cells, agents.cell))))])
        cut = [k for k in range(8) if k in ahead and is_cut(grid, places[k], ahead[k])]
        assert routes.cut(grid.tables, agents) == cut


@pytest.mark.small
def test_a_short_path_has_no_waypoint() -> None:
    routes = Routes(Journal())
    routes.add_agent(0)
    assert routes.aim(0, 7, 6, 5, np.arange(SPACING, dtype=np.int32)) == 5
    assert routes.waypoints(0) == []
    assert (routes.asked.tolist(), routes.nearest.tolist(), routes.goal.tolist()) == ([7], [6], [5])


@pytest.mark.small
def test_agents_and_longer_paths_leave_the_routes_of_others_alone() -> None:
    routes = Routes(Journal())
    for agent in range(200):
        routes.add_agent(agent)
        routes.aim(agent, agent, agent, 1000 + agent, np.arange(agent, 2 * agent + 1, dtype=np.int32))
    assert routes.goal.tolist() == list(range(1000, 1200))
    for agent in range(200):
        assert routes.waypoints(agent) == list(range(agent + SPACING, 2 * agent + 1, SPACING))
