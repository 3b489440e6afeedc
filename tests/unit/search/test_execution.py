from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.reference.cooperative import granted
from wend import Grid
from wend.kernel import NO_AGENT, NO_CELL
from wend.maps.terrain import Point
from wend.planners.base import Agents
from wend.rules import Judge
from wend.search.execution import Guard, grant, make_guard


def decide(
    grid: Grid, at: list[int], wanted: list[int], *, announced: dict[int, int] | None = None, guard: Guard | None = None
) -> tuple[list[int], list[int], int]:
    """Next cells, whom everybody waits for, and how many were stopped. `announced`: agents that the program moves."""
    program = announced or {}
    cell = np.array(at, np.int32)
    controlled = np.array([agent not in program for agent in range(len(at))])
    agents = Agents(cell, cell, controlled, np.zeros(len(at), np.bool_))
    occupant = np.full(grid.size, NO_AGENT, np.int32)
    for agent, place in enumerate(at):
        if place != NO_CELL:
            occupant[place] = agent
    next_cell = np.array([program.get(agent, place) for agent, place in enumerate(at)], np.int32)
    waits_for = np.full(len(at), NO_AGENT, np.int32)
    stopped = grant(
        agents, occupant, np.array(wanted, np.int32), guard or make_guard(len(at), grid.size), next_cell, waits_for
    )
    return next_cell.tolist(), waits_for.tolist(), int(stopped)


def decide_points(drawing: str, trips: list[tuple[Point, Point]]) -> tuple[list[bool], list[int]]:
    """Who gets what it wants, and whom everybody waits for."""
    grid = Grid.from_text(drawing)
    wanted = [grid.cell(*there) for _, there in trips]
    cells, waits_for, stopped = decide(grid, [grid.cell(*here) for here, _ in trips], wanted)
    got = [cell == wish for cell, wish in zip(cells, wanted, strict=True)]
    assert stopped == got.count(False)
    return got, waits_for


@pytest.mark.small
@pytest.mark.parametrize("side", [3, 4])
def test_rings_turn(side: int) -> None:
    ring: list[Point] = [(0, 0), (1, 0), (1, 1), (0, 1)][:side]
    got, _ = decide_points("..\n..", [(ring[k], ring[(k + 1) % side]) for k in range(side)])
    assert all(got)


@pytest.mark.small
def test_a_train_moves_if_its_head_does() -> None:
    train: list[tuple[Point, Point]] = [((x, 0), (x + 1, 0)) for x in range(4)]
    for order in (1, -1):
        assert decide_points(".....", train[::order])[0] == [True] * 4
    head_stays: list[tuple[Point, Point]] = [*train, ((4, 0), (4, 0))]
    assert decide_points(".....", head_stays) == ([False] * 4 + [True], [1, 2, 3, 4, NO_AGENT])


@pytest.mark.small
def test_two_never_change_places() -> None:
    assert decide_points("..", [((0, 0), (1, 0)), ((1, 0), (0, 0))]) == ([False, False], [1, 0])


@pytest.mark.small
def test_one_of_two_gets_the_cell_that_both_want() -> None:
    got, waits_for = decide_points("...", [((0, 0), (1, 0)), ((2, 0), (1, 0))])
    assert got == [True, False]
    assert waits_for == [NO_AGENT, 0]


@pytest.mark.small
def test_nobody_enters_a_ring_that_turns() -> None:
    trips: list[tuple[Point, Point]] = [
        ((2, 0), (1, 0)), ((0, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (0, 0))
    ]  # fmt: skip
    assert decide_points("...\n..@", trips)[0] == [False, True, True, True]


def can_be_added(grid: Grid, at: list[int], wanted: list[int], got: list[int]) -> bool:
    """Whether more agents could have been let go, together with those that were."""
    judge, before = Judge(grid), np.array(at, np.int32)
    stopped = [agent for agent, cell in enumerate(got) if cell != wanted[agent]]
    for count in range(1, len(stopped) + 1):
        for more in combinations(stopped, count):
            after = np.array(got, np.int32)
            after[list(more)] = [wanted[agent] for agent in more]
            if not judge.judge(1, before, after):
                return True
    return False


@pytest.mark.small
def test_what_is_granted_is_legal_and_nothing_could_be_added() -> None:
    refused = unhindered = 0
    grid = Grid.from_text("...\n...\n..@")
    guard = make_guard(6, grid.size)        # scratch of earlier ticks must not matter
    for seed in range(150):
        draw = np.random.default_rng(seed)
        at, wanted = [NO_CELL] * 6, [NO_CELL] * 6
        for agent, here in enumerate(draw.permutation(grid.free_cells())[: int(draw.integers(2, 7))].tolist()):
            at[agent] = here
            wanted[agent] = int(draw.choice([here] + [grid.cell(*place) for place in grid.neighbours(grid.xy(here))]))
        got, waits_for, stopped = decide(grid, at, wanted, guard=guard)
        judge = Judge(grid)
        assert judge.judge(1, np.array(at, np.int32), np.array(got, np.int32)) == []
        assert all(cell in (here, wish) for cell, here, wish in zip(got, at, wanted, strict=True))
        assert got == granted(at, wanted)
        assert not can_be_added(grid, at, wanted, got)
        assert stopped == sum(cell != wish for cell, wish in zip(got, wanted, strict=True))
        for agent, cell in enumerate(got):
            assert (waits_for[agent] == NO_AGENT) == (cell == wanted[agent])
        if not judge.judge(1, np.array(at, np.int32), np.array(wanted, np.int32)):
            assert stopped == 0             # plans that agree are carried out as they are
            unhindered += 1
        refused += stopped > 0
    assert refused > 50
    assert unhindered > 10


@pytest.mark.small
def test_agents_of_the_program_go_first_and_those_that_left_do_not_count() -> None:
    grid = Grid.from_text("....")
    got, waits_for, stopped = decide(grid, [0, 2, NO_CELL], [1, 2, NO_CELL], announced={1: 1})
    assert (got, waits_for[0], stopped) == ([0, 1, NO_CELL], 1, 1)
    got, _, stopped = decide(grid, [0, 1, NO_CELL], [1, 1, NO_CELL], announced={1: 2})
    assert (got, stopped) == ([1, 2, NO_CELL], 0)
    got, _, stopped = decide(grid, [0, 1], [1, 1], announced={1: 1})
    assert (got, stopped) == ([0, 1], 1)
