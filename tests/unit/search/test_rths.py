from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.reference import rths as reference
from tests.reference.grid import legal_steps
from wend import Grid, rths
from wend.errors import MapError, NoPathError, ParameterError, UnknownNameError
from wend.kernel import FOUND, OUT_OF_BUDGET
from wend.maps.terrain import Point
from wend.search import rths as kernels
from wend.search.rths import Configuration, Walker, random_configurations

LRTA = Configuration()


class Stepper:
    """A walk that is made one move at a time."""

    def __init__(self, grid: Grid, start: Point, goal: Point, configuration: Configuration) -> None:
        self.grid = grid
        self.land = kernels.make_landscape(grid)
        self.mind = kernels.make_mind(self.land, trail=1)
        self.land = kernels.with_goal(grid, self.land, self.mind, goal)
        self.settings = kernels.make_settings([configuration])
        kernels.begin(self.mind, kernels.rimmed(grid, start))
        self.cell = start

    def step(self) -> bool:
        """Make a move, and say whether one was made."""
        answer = kernels.walk(self.land, self.mind, self.settings, 0, 10**6, np.inf)
        y, x = divmod(int(self.mind.job[0].cell), self.grid.width + 2)
        self.cell = x - 1, y - 1
        return bool(answer == OUT_OF_BUDGET)

    def h(self, cell: Point) -> float:
        return float(self.mind.h[kernels.rimmed(self.grid, cell)])

    def removed(self) -> set[Point]:
        cells = self.mind.removed[: int(self.mind.job[0].removed)].tolist()
        return {(x - 1, y - 1) for y, x in (divmod(cell, self.grid.width + 2) for cell in cells)}


def problems(count: int, *, share: float = 0.68, **rules: object) -> list[tuple[Grid, Point, Point]]:
    """Small random maps, with a start and a goal that differ."""
    made = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        grid = Grid(rng.random(rng.integers(8, 22, 2)) < share, **rules)  # type: ignore[arg-type]
        if grid.largest_component().size > 1:
            start, goal = rng.choice(grid.largest_component(), 2, replace=False).tolist()
            made.append((grid, grid.xy(start), grid.xy(goal)))
    return made


@pytest.mark.small
@pytest.mark.parametrize("rules", [{}, {"connectivity": 4}, {"corner_cutting": True}])
def test_walks_agree_with_the_reference_move_by_move(rules: dict[str, object]) -> None:
    configurations = [LRTA, *random_configurations(30, seed=1)]
    moves = removed = 0
    for k, (grid, start, goal) in enumerate(problems(31, **rules)):
        configuration = configurations[k % len(configurations)]
        agent = reference.Agent(grid, start, goal, configuration)
        ours = Stepper(grid, start, goal, configuration)
        for cell in reference.walk(agent, 400):
            assert ours.step()
            assert ours.cell == cell
            assert ours.removed() == agent.removed
            moves += 1
        for cell, value in agent.learned.items():
            assert ours.h(cell) == pytest.approx(value, rel=1e-12)
        assert ours.mind.job[0].learned == len(agent.learned)
        assert ours.mind.job[0].stranded == 0
        removed += len(agent.removed)
    assert moves > 300
    assert removed > 20


@pytest.mark.small
def test_a_mind_is_empty_again_after_a_walk() -> None:
    for grid, start, goal in problems(10):
        land = kernels.make_landscape(grid)
        mind = kernels.make_mind(land)
        land = kernels.with_goal(grid, land, mind, goal)
        configurations = [Configuration(w=2, expendable=True), Configuration(da=True, expendable=True, b=1, lop="max")]
        answers = kernels.allocate(kernels.Answers, configurations=2)
        kernels.walk_all(
            land, mind, kernels.make_settings(configurations), kernels.rimmed(grid, start), 10**6, np.inf, answers
        )
        assert (mind.h == land.h0).all()
        assert (mind.left == land.moves).all()


@pytest.mark.small
def test_many_configurations_walk_as_each_does_alone() -> None:
    configurations = random_configurations(12, seed=2)
    for grid, start, goal in problems(6):
        walker = Walker(grid, configurations)
        for _ in range(2):      # the second time finds nothing that the first has left
            optimal, answers = walker.walks(start, goal)
            for k, configuration in enumerate(configurations):
                alone = rths(grid, start, goal, **dataclasses.asdict(configuration))
                assert alone.optimal == optimal
                assert alone.moves == answers.moves[k]
                assert alone.travelled == pytest.approx(answers.travelled[k])
                assert alone.pruned == answers.removed[k]
                assert alone.reached == (answers.answer[k] == FOUND)


@pytest.mark.small
def test_the_heuristic_of_lrta_stays_below_the_true_cost() -> None:
    for grid, start, goal in problems(12):
        ours = Stepper(grid, start, goal, LRTA)
        true = true_costs(grid, goal)
        before = {cell: ours.h(cell) for cell in true}
        while ours.step():
            for cell, value in before.items():
                assert value <= ours.h(cell) <= true[cell] + 1e-9
                before[cell] = ours.h(cell)


def true_costs(grid: Grid, goal: Point) -> dict[Point, float]:
    """By Bellman and Ford."""
    costs = {goal: 0.0}
    changed = True
    while changed:
        changed = False
        for cell in list(costs):
            for _, beside in legal_steps(grid, cell):
                if costs[cell] + reference.cost(cell, beside) < costs.get(beside, np.inf):
                    costs[beside] = costs[cell] + reference.cost(cell, beside)
                    changed = True
    return costs


@pytest.mark.small
def test_h_never_falls_the_goals_stays_zero_and_no_walk_is_shorter_than_the_shortest() -> None:
    for k, (grid, start, goal) in enumerate(problems(16)):
        configuration = random_configurations(16, seed=3)[k]
        ours = Stepper(grid, start, goal, configuration)
        while True:
            cell, before = ours.cell, ours.h(ours.cell)
            if not ours.step():
                break
            assert ours.h(cell) >= before
            assert ours.h(goal) == 0
        assert rths(grid, start, goal, **dataclasses.asdict(configuration)).suboptimality >= 1


@pytest.mark.small
def test_lrta_is_optimal_where_nothing_is_in_the_way() -> None:
    grid = Grid(np.ones((9, 11)))
    rng = np.random.default_rng(0)
    for _ in range(20):
        start, goal = ((int(rng.integers(11)), int(rng.integers(9))) for _ in range(2))
        assert rths(grid, start, goal).suboptimality == 1


@pytest.mark.small
def test_b_changes_nothing_where_the_minimum_is_learned() -> None:
    for k, (grid, start, goal) in enumerate(problems(8)):
        given = {"w": 1 + k / 2, "wc": 1 + k / 3, "da": bool(k % 2), "expendable": bool(k & 2)}
        paths = {rths(grid, start, goal, b=b, **given).path for b in (0, 0.3, 0.5, 1)}
        assert len(paths) == 1
        assert rths(grid, start, goal, b=1).path == rths(grid, start, goal).path


@pytest.mark.small
def test_the_first_step_is_not_restricted_by_da() -> None:
    for k, (grid, start, goal) in enumerate(problems(20)):
        given = dataclasses.asdict(random_configurations(20, seed=5)[k])
        first = {rths(grid, start, goal, **{**given, "da": da}).path[1] for da in (False, True)}
        assert len(first) == 1


@pytest.mark.small
def test_removals_never_cut_the_agent_off_from_its_goal() -> None:
    removals = 0
    for k, (grid, start, goal) in enumerate(problems(30, share=0.65)):
        configuration = dataclasses.replace(random_configurations(30, seed=7)[k], expendable=True)
        ours = Stepper(grid, start, goal, configuration)
        before: set[Point] = set()
        while ours.step():
            if ours.removed() != before:
                before = ours.removed()
                removals += 1
                seen, queue = {ours.cell}, [ours.cell]
                while queue:
                    for _, beside in legal_steps(grid, queue.pop()):
                        if beside not in seen | before:
                            seen.add(beside)
                            queue.append(beside)
                assert goal in seen
        assert ours.mind.job[0].stranded == 0
    assert removals > 50


def test_a_walk_that_leads_nowhere_ends() -> None:
    trap = Grid.from_text("""
        ........
        .######.
        ......#.
        .######.
        ........
    """)
    mind_of = Stepper(trap, (0, 2), (7, 2), LRTA)
    answer = kernels.walk(mind_of.land, mind_of.mind, mind_of.settings, 0, 0, np.inf)
    assert kernels.STOPPED_BY[answer] == "moves"
    answer = kernels.walk(mind_of.land, mind_of.mind, mind_of.settings, 0, 10, -1.0)
    assert kernels.STOPPED_BY[answer] == "cost"
    ours = Stepper(trap, (0, 2), (7, 2), Configuration(w=10, wc=10))
    ours.mind.h[:] = 1e308
    answer = kernels.walk(ours.land, ours.mind, ours.settings, 0, 10, np.inf)
    assert kernels.STOPPED_BY[answer] == "overflow"


def test_names_say_what_was_added_to_lrta() -> None:
    assert LRTA.name == "LRTA*"
    assert Configuration(w=2).name == "weighted LRTA*"
    assert Configuration(b=0.5, lop="avg").name == "lateral LRTA*"
    assert Configuration(b=0.5).name == "LRTA*"
    assert Configuration(da=True).name == "depression-avoiding LRTA*"
    assert Configuration(wc=2, expendable=True).name == "weighted pruning LRTA*"


def test_random_configurations_fill_the_space_and_follow_the_seed() -> None:
    drawn = random_configurations(400, seed=0)
    assert drawn == random_configurations(400, seed=0) != random_configurations(400, seed=1)
    assert drawn[:7] == random_configurations(7, seed=0)
    assert {c.lop for c in drawn} == set(kernels.LOPS)
    assert {(c.da, c.expendable) for c in drawn} == {(a, b) for a in (False, True) for b in (False, True)}
    for name, low, high in (("w", 1, 10), ("wc", 1, 10), ("b", 0, 1)):
        values = [getattr(c, name) for c in drawn]
        assert low <= min(values) < low + 0.1 * (high - low)
        assert high >= max(values) > high - 0.1 * (high - low)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"w": 0.5}, ParameterError),
        ({"wc": float("inf")}, ParameterError),
        ({"b": 1.5}, ParameterError),
        ({"b": -0.1}, ParameterError),
        ({"lop": "mean"}, UnknownNameError),
        ({"da": "yes"}, ParameterError),
        ({"weight": 2}, UnknownNameError),
    ],
)
def test_bad_parameters_are_refused(given: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        rths(Grid(np.ones((3, 3))), (0, 0), (2, 2), **given)


def test_bad_places_are_refused() -> None:
    grid = Grid.from_text("..@.")
    with pytest.raises(NoPathError):
        rths(grid, (0, 0), (3, 0))
    with pytest.raises(MapError):
        rths(grid, (0, 0), (2, 0))
    with pytest.raises(MapError):
        rths(grid, (0, 0), (9, 0))
    stays = rths(grid, (1, 0), (1, 0))
    assert (stays.moves, stays.reached, stays.suboptimality) == (0, True, 1.0)
