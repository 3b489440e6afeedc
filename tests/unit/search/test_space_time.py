from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.reference.astar import empty_map_cost
from tests.reference.reverse_resumable import distances
from tests.reference.space_time import Found, Table
from tests.reference.space_time import search as reference_search
from wend import Grid
from wend.kernel import FOUND, NO_AGENT, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE
from wend.kernel.allowance import allow, spent
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.search import reservations, space_time
from wend.search.reverse_resumable import SharedSearches
from wend.search.space_time import Manners, Scene, Tails, Trip

AGENT = 0
OTHERS = 6


@dataclass
class Case:
    """One agent, and the table that it searches, twice over."""

    grid: Grid
    start: int
    goal: int
    time: int

    def __post_init__(self) -> None:
        self.table = reservations.make_reservations(self.grid.size, 64)
        self.twin = Table()
        self.tail = np.full(self.grid.size, NO_AGENT, np.int32)
        self.end = np.zeros(OTHERS + 1, np.int32)
        self.shared = SharedSearches(self.grid)
        self.shared.aim(AGENT, self.goal, self.start)
        self.shared.grow()
        self.work = space_time.make_space_time(20_000)

    def reserve(self, way: list[int], agent: int) -> None:
        """Let another agent follow a way, one cell a tick, from the present on."""
        for k, cell in enumerate(way):
            reservations.reserve(self.table, cell, self.time + k, agent)
            self.twin.reserve(cell, self.time + k, agent)
        self.tail[way[-1]] = agent
        self.end[agent] = self.time + len(way) - 1

    def hold(self, cell: int, time: int, agent: int) -> None:
        reservations.hold(self.table, cell, time, agent)
        self.twin.hold(cell, time, agent)

    def search(self, manners: Manners, steps: int, *, budget: int = 1_000_000) -> int:
        while True:
            allow(self.shared.reverse.allowance, budget)
            tails = Tails(self.tail, self.end)
            scene = Scene(self.grid.tables, self.table, tails, self.shared.reverse, self.work, manners)
            aim = int(self.shared.of[AGENT])
            answer = space_time.search(scene, Trip(AGENT, self.start, self.time, self.goal, aim, steps))
            if answer != OUT_OF_SPACE or space_time.is_full(self.work):
                return int(answer)
            self.shared.grow()

    def found(self, manners: Manners, steps: int) -> Found:
        """What the kernel finds, as the reference says it."""
        if self.search(manners, steps) != FOUND:
            return Found(None, 0, int(space_time.expansions_of(self.work)))
        way = np.empty(space_time.length_of(self.work) + 1, np.int32)
        space_time.write_cells(self.work, way)
        last = self.work.counts[0].last
        cost = int(self.work.g[last] + self.work.h[last])
        return Found(way.tolist(), cost, int(space_time.expansions_of(self.work)))

    def wanted(self, manners: Manners, steps: int) -> Found:
        if manners.exact:
            distance = distances(self.grid, self.goal)
        else:
            cells = self.grid.free_cells().tolist()
            distance = {cell: empty_map_cost(self.grid, cell, self.goal) for cell in cells}
        tails = {cell: (int(a), int(self.end[a])) for cell, a in enumerate(self.tail) if a != NO_AGENT}
        return reference_search(
            self.grid, self.twin, tails, distance, AGENT, self.start, self.time, self.goal, steps,
            window=manners.window, no_follow=manners.no_follow, forbid_cross=manners.forbid_cross,
            soft_tail=manners.soft_tail,
        )  # fmt: skip


def open_case(width: int, height: int, start: Point, goal: Point, *, connectivity: int = 4) -> Case:
    grid = Grid(np.ones((height, width)), connectivity=connectivity)
    return Case(grid, grid.cell(*start), grid.cell(*goal), 0)


def random_case(seed: int, **rules: object) -> Case:
    """A small map on which others walk about at random; some of them stay where they end."""
    draw = np.random.default_rng(seed)
    width, height = (int(n) for n in draw.integers(3, 8, 2))
    grid = Grid(draw.random((height, width)) < 0.8, **rules)  # type: ignore[arg-type]
    cells = grid.largest_component() if draw.random() < 0.9 else grid.free_cells()
    case = Case(grid, int(draw.choice(cells)), int(draw.choice(cells)), int(draw.integers(0, 200)))
    for agent in range(1, OTHERS + 1):
        cell = int(draw.choice(cells))
        if cell == case.start:
            continue
        way = [cell]
        for _ in range(int(draw.integers(1, 9))):
            beside = [grid.cell(*place) for place in grid.neighbours(grid.xy(way[-1]))]
            way.append(int(draw.choice([way[-1], *beside])))
        case.reserve(way, agent)
        if draw.random() < 0.3:
            case.hold(way[-1], case.time + len(way) - 1, agent)
    return case


@pytest.mark.small
@pytest.mark.parametrize("rules", [{}, {"connectivity": 4}, {"corner_cutting": True}])
@pytest.mark.parametrize(
    ("no_follow", "forbid_cross"), [(False, False), (False, True), (True, False)]
)
@pytest.mark.parametrize("window", [True, False])
def test_ways_are_those_of_the_reference(
    rules: dict[str, object], no_follow: bool, forbid_cross: bool, window: bool
) -> None:
    found = straight = unlike_the_first = 0
    for seed in range(25):
        case = random_case(seed, **rules)
        for exact, soft_tail in ((True, 0), (True, 1)) if window else ((True, 0), (False, 0)):
            manners = Manners(window, exact, no_follow, forbid_cross, soft_tail)
            wanted = case.wanted(manners, 6 if window else 14)
            assert case.found(manners, 6 if window else 14) == wanted
            found += wanted.way is not None
            straight += wanted.expanded == 6
            unlike_the_first += wanted.way is not None and wanted.expanded > len(wanted.way)
    assert found > 20
    assert straight > 5 or not window       # otherwise somebody was always in the way
    assert unlike_the_first > 5    # otherwise the others were never in the way


# --- what a window costs --------------------------------------------------------------------------------------------

WINDOW = Manners(True, True, False, False, 0)
FULL = Manners(False, True, False, False, 0)


@pytest.mark.small
def test_on_its_goal_an_agent_waits_for_nothing() -> None:
    case = open_case(5, 5, (2, 2), (2, 2))
    assert case.found(WINDOW, 8) == Found([12] * 9, 0, 8)


@pytest.mark.small
def test_one_cell_away_it_takes_the_step_and_waits() -> None:
    case = open_case(5, 5, (1, 2), (2, 2))
    assert case.found(WINDOW, 8) == Found([11] + [12] * 8, CARDINAL_COST, 8)


@pytest.mark.small
@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("steps", [1, 3, 7])
def test_a_goal_beyond_the_window_costs_its_distance(connectivity: int, steps: int) -> None:
    case = open_case(12, 9, (0, 0), (11, 8), connectivity=connectivity)
    found = case.found(WINDOW, steps)
    assert found.cost == (19 * CARDINAL_COST if connectivity == 4 else 8 * DIAGONAL_COST + 3 * CARDINAL_COST)
    assert found.way is not None
    assert len(found.way) == steps + 1
    assert found.expanded == steps


@pytest.mark.small
def test_a_window_as_long_as_the_way_holds_the_shortest_way() -> None:
    case = open_case(6, 6, (0, 0), (5, 5))
    found = case.found(WINDOW, 10)
    full = case.found(FULL, 100)
    assert found.way == full.way
    assert found.cost == full.cost == 10 * CARDINAL_COST
    assert case.found(WINDOW, 13).cost == 10 * CARDINAL_COST


@pytest.mark.small
def test_it_steps_off_the_goal_for_another_and_comes_back() -> None:
    case = open_case(5, 2, (2, 1), (2, 1))
    case.reserve([case.grid.cell(x, 1) for x in range(5)], 1)
    found = case.found(WINDOW, 6)
    assert found.cost == 2 * CARDINAL_COST
    assert found.way == [7, 7, 2, 7, 7, 7, 7]


@pytest.mark.small
def test_a_tail_is_soft_only_after_its_plan_has_ended() -> None:
    """Another one ends its plan on the only way: to pass there later costs the tail once for every step onto it."""
    case = open_case(6, 1, (0, 0), (5, 0))
    case.reserve([4, 3], 1)
    assert case.found(WINDOW, 6).cost == 5 * CARDINAL_COST
    assert case.found(WINDOW._replace(soft_tail=2), 6).cost == 7 * CARDINAL_COST
    assert case.found(WINDOW._replace(soft_tail=2), 2).cost == 5 * CARDINAL_COST


@pytest.mark.small
def test_a_lone_agent_expands_exactly_the_nodes_of_its_way() -> None:
    case = open_case(10, 10, (0, 0), (9, 9))
    found = case.found(FULL, 200)
    assert found.expanded == 18
    assert found.cost == 18 * CARDINAL_COST


@pytest.mark.small
def test_a_full_search_ends_when_nobody_else_will_want_the_goal() -> None:
    case = open_case(6, 2, (0, 0), (3, 0))
    case.reserve([case.grid.cell(x, 0) for x in (5, 5, 5, 5, 5, 4, 3, 2, 1)], 1)
    found = case.found(FULL, 40)
    assert found.way is not None
    assert len(found.way) - 1 == 7          # the other one is on the goal after tick 6
    case.hold(case.grid.cell(3, 0), 30, 2)
    assert case.search(FULL, 40) == UNREACHABLE


@pytest.mark.small
def test_boxed_in_out_of_budget_or_out_of_room_it_says_so() -> None:
    case = open_case(3, 1, (1, 0), (2, 0))
    case.hold(0, 0, 1)
    case.hold(2, 0, 2)
    case.reserve([0, 1], 1)
    assert case.search(WINDOW, 4) == UNREACHABLE
    free = open_case(9, 9, (0, 0), (8, 8))
    assert free.search(WINDOW, 8, budget=5) == OUT_OF_BUDGET
    assert spent(free.shared.reverse.allowance) == 5
    free.work = space_time.make_space_time(40)
    free.reserve([8, 8], 1)
    free.hold(8 * 9 + 7, 0, 1)
    free.hold(7 * 9 + 8, 0, 2)
    assert free.search(WINDOW, 30) == OUT_OF_SPACE


@pytest.mark.small
def test_no_way_leads_to_another_part_of_the_map() -> None:
    grid = Grid.from_text("..@..", connectivity=4)
    assert Case(grid, 0, 4, 0).search(WINDOW, 4) == UNREACHABLE
    assert Case(grid, 0, 4, 0).search(FULL, 4) == UNREACHABLE
