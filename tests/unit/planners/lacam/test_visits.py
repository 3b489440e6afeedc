"""SIPP against a search in space and time, and refinement that keeps every plan legal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.space_time_path import earliest_arrival
from tests.unit.planners.lacam.instances import NOBODY, check_plan
from wend import Grid
from wend.planners.lacam.instance import LacamInstance, make_instance, moves_from
from wend.planners.lacam.refining import Refiner
from wend.planners.lacam.search import FOUND, TreeSearch
from wend.planners.lacam.visits import Visits, add_path, find_path, give_back, make_visits, put_back, take_out


def visits_of(grid: Grid, plan: NDArray[np.int32]) -> Visits:
    visits = make_visits(grid.size, *plan.shape)
    for unit, path in enumerate(plan):
        add_path(visits, unit, path)
    return visits


def find(visits: Visits, instance: LacamInstance, unit: int, weight: int, path: NDArray[np.int32]) -> bool:
    return bool(find_path(visits, instance, moves_from, unit, 0, path.size - 1, weight, 10_000, path))


@pytest.mark.small
@pytest.mark.parametrize("weight", [2, 3])
@pytest.mark.parametrize("connectivity", [4, 8])
def test_sipp_finds_a_path_where_there_is_one_and_the_quickest_without_weight(connectivity: int, weight: int) -> None:
    delays: list[int] = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        grid = Grid(rng.random((5, 6)) < 0.85, connectivity=connectivity)
        cells = grid.largest_component()
        count = int(rng.integers(2, max(3, cells.size // 2)))
        if count > cells.size:
            continue
        starts, goals = (rng.permutation(cells)[:count].astype(np.int32) for _ in range(2))
        search = TreeSearch(make_instance(grid, starts, goals, NOBODY), swaps=True, seed=seed)
        if search.run(2_000) != FOUND:
            continue
        plan = np.ascontiguousarray(search.plan().T)
        instance, visits = make_instance(grid, starts, goals, NOBODY), visits_of(grid, plan)
        for unit in range(count):
            give_back(visits, take_out(visits, unit))
            others = [[grid.xy(int(cell)) for cell in plan[other]] for other in range(count) if other != unit]
            start, goal = grid.xy(int(starts[unit])), grid.xy(int(goals[unit]))
            earliest = earliest_arrival(grid, start, goal, others, plan.shape[1] - 1)
            path = np.empty(plan.shape[1], np.int32)
            path[0] = starts[unit]
            assert find(visits, instance, unit, weight, path)       # the path that it had is one
            assert earliest is not None
            away = np.flatnonzero(path != goals[unit])
            arrival = int(away[-1]) + 1 if away.size else 0
            assert arrival >= earliest
            delays.append(arrival - earliest)
            add_path(visits, unit, path)
            plan[unit] = path
            check_plan(grid, plan.T)
    assert len(delays) > 100
    assert max(delays) <= (0 if weight == 2 else 4)


@pytest.mark.small
def test_a_path_waits_for_the_way_to_be_free_and_exchanges_cells_with_no_other() -> None:
    grid = Grid.from_text("...\n@.@", connectivity=4)
    starts, goals = np.array([0, 2], np.int32), np.array([2, 0], np.int32)
    straight, aside = np.array([2, 1, 0, 0, 0, 0, 0], np.int32), np.array([2, 1, 4, 4, 4, 1, 0], np.int32)
    path = np.empty(7, np.int32)
    instance = make_instance(grid, starts, goals, NOBODY)
    visits = visits_of(grid, np.array([starts[[0] * 7], straight]))
    path[0] = starts[0]
    give_back(visits, take_out(visits, 0))
    assert not find(visits, instance, 0, 3, path)
    way = take_out(visits, 1)
    add_path(visits, 1, aside)
    assert find(visits, instance, 0, 3, path)
    assert path.tolist() == [0, 0, 1, 2, 2, 2, 2]
    give_back(visits, take_out(visits, 1))
    assert find(visits, instance, 0, 3, path)
    assert path.tolist() == [0, 1, 2, 2, 2, 2, 2]
    put_back(visits, 1, way)
    assert not find(visits, instance, 0, 3, path)


@pytest.mark.small
@pytest.mark.parametrize("connectivity", [4, 8])
def test_refinement_keeps_plans_legal_and_their_cost_never_rises(connectivity: int) -> None:
    gained = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        grid = Grid(rng.random((7, 8)) < 0.85, connectivity=connectivity)
        cells = grid.largest_component()
        count = cells.size // 2
        starts, goals = (rng.permutation(cells)[:count].astype(np.int32) for _ in range(2))
        instance = make_instance(grid, starts, goals, NOBODY)
        search = TreeSearch(instance, swaps=True, seed=seed)
        if search.run(2_000) != FOUND:
            continue
        refiner = Refiner(instance, search.plan(), seed=seed)
        cost = refiner.cost
        for _ in range(20):
            refiner.run(2)
            plan = refiner.plan()
            check_plan(grid, plan)
            assert (plan[0] == starts).all()
            assert (plan[-1] == goals).all()
            arrivals = [max((tick + 1 for tick in range(len(plan)) if plan[tick, unit] != goals[unit]), default=0)
                        for unit in range(count)]  # fmt: skip
            assert sum(arrivals) == refiner.cost <= cost
            gained += cost - refiner.cost
            cost = refiner.cost
    assert gained > 20
