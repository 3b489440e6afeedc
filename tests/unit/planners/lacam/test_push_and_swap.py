"""Push and Swap against the reference move by move, what its plans are like, and the jams that it leads out of."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.push_and_swap import ReferencePushing
from wend import Grid, World, create
from wend.kernel import FOUND, UNREACHABLE
from wend.kernel.allowance import Allowance
from wend.kernel.arrays import allocate
from wend.maps.generators import random_map
from wend.planners.lacam.instance import LacamInstance, make_instance, moves_from
from wend.planners.lacam.push_and_swap import Pushing, make_pushing, plan_of, push_home
from wend.problems.scenarios import make_problem
from wend.rules import Judge

NOBODY = np.empty(0, np.int32)


def begin(
    grid: Grid, starts: NDArray[np.int32], goals: NDArray[np.int32], others: NDArray[np.int32] = NOBODY
) -> tuple[Pushing, LacamInstance]:
    instance = make_instance(grid, starts, goals, others)
    return make_pushing(grid.tables, starts, instance.goal, others, allocate(Allowance)), instance


def draw(seed: int, grid: Grid, share: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    cells, rng = grid.largest_component(), np.random.default_rng(seed)
    count = max(2, int(share * cells.size))
    return rng.permutation(cells)[:count].astype(np.int32), rng.permutation(cells)[:count].astype(np.int32)


@pytest.mark.small
@pytest.mark.parametrize("rules", [{"connectivity": 4}, {}, {"corner_cutting": True}], ids=str)
def test_agrees_with_the_reference_move_by_move(rules: dict[str, int]) -> None:
    """Among agents that do not move, with few units and with many; some maps cannot be solved so."""
    answers = []
    for seed in range(12):
        grid = random_map(seed=seed, width=7, height=6, blocked=0.3).with_rules(**rules)  # type: ignore[arg-type]
        starts, goals = draw(seed, grid, (0.15, 0.3, 0.45, 0.6)[seed % 4])
        free = np.setdiff1d(grid.largest_component(), np.union1d(starts, goals)).astype(np.int32)
        pushing, instance = begin(grid, starts, goals, free[: seed % 3])
        answer = push_home(pushing, instance, moves_from, 2**40)
        reference = ReferencePushing(
            grid, [grid.xy(int(cell)) for cell in starts], [grid.xy(int(cell)) for cell in instance.goal],
            [grid.xy(int(cell)) for cell in free[: seed % 3]],
            lambda unit, place, it=instance, on=grid: int(moves_from(it, unit, on.cell(*place))),  # type: ignore[misc]
        )  # fmt: skip
        assert reference.bring_all_home() == (answer == FOUND)
        count = pushing.counts[0].moves
        moves = zip(*(each[:count].tolist() for each in (pushing.mover, pushing.origin, pushing.target)), strict=True)
        assert [(unit, grid.xy(a), grid.xy(b)) for unit, a, b in moves] == reference.moves
        answers.append(int(answer))
    assert answers.count(FOUND) >= 8


@pytest.mark.small
@pytest.mark.parametrize("connectivity", [4, 8])
def test_plans_are_legal_and_end_at_home(connectivity: int) -> None:
    for seed in range(6):
        grid = random_map(seed=seed, width=16, height=12, blocked=0.25).with_rules(connectivity=connectivity)
        starts, goals = draw(seed, grid, 0.35)
        pushing, instance = begin(grid, starts, goals)
        assert push_home(pushing, instance, moves_from, 2**40) == FOUND
        plan = plan_of(pushing, starts)
        judge = Judge(grid)
        for tick in range(plan.shape[1] - 1):
            assert not judge.judge(tick + 1, plan[:, tick], plan[:, tick + 1])
        assert np.array_equal(plan[:, -1], goals)
        assert plan.shape[1] - 1 < pushing.counts[0].moves          # many move at a time


@pytest.mark.small
def test_a_budget_only_spreads_the_work() -> None:
    grid = random_map(seed=3, width=12, height=9, blocked=0.25)
    starts, goals = draw(3, grid, 0.4)
    (at_once, instance), (spread, _) = begin(grid, starts, goals), begin(grid, starts, goals)
    push_home(at_once, instance, moves_from, 2**40)
    most, calls, answer = 40, 0, 0
    while answer != FOUND:
        before = int(spread.allowance.counts[0].spent)
        answer = push_home(spread, instance, moves_from, most)
        assert spread.allowance.counts[0].spent - before <= most
        calls += 1
    assert calls > 1
    assert np.array_equal(plan_of(spread, starts), plan_of(at_once, starts))


@pytest.mark.small
def test_where_two_cannot_pass_it_says_so() -> None:
    grid = Grid.from_text("....")
    pushing, instance = begin(grid, np.array([0, 3], np.int32), np.array([3, 0], np.int32))
    assert push_home(pushing, instance, moves_from, 2**40) == UNREACHABLE


@pytest.mark.parametrize("budget", [None, 200])
def test_real_time_lacam_finds_a_way_out_of_a_jam(budget: int | None) -> None:
    """Units stand still while it is worked out, and say so; then all get home. A snapshot holds what there is of it."""
    grid = Grid.load("rooms:seed=1,width=24,height=24,room=3,door=1,loops=0")
    world = World.from_problem(make_problem("tight-to-tight", grid, agents=70, seed=1), create("weave"), seed=0)
    assert world.run(max_ticks=300) != "done"
    world.change_planner("lacam-rt")
    hashes, before = [], None
    while world.run(max_ticks=1, budget=budget) != "done":
        reasons = {world.intent(unit).reason for unit in range(70)}
        if before is None and "a plan out of the jam is in the making" in reasons:
            before = world.snapshot()
        if before is not None:
            hashes.append(world.state_hash())
        assert world.ticks < 2_500
    assert (before is not None) == (budget is not None)         # without a budget it takes a part of one tick
    if before is not None:
        world.restore(before)
        assert hashes[0] == world.state_hash()
        for known in hashes[1:]:
            world.tick(budget=budget)
            assert world.state_hash() == known
