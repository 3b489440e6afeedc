from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.reference.abstraction import abstract as reference_abstract
from tests.reference.grid import legal_steps
from wend import Grid
from wend.errors import MapError, ParameterError
from wend.kernel import UNREACHABLE
from wend.maps.movingai import read_map
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.planners.windowed.abstraction import NO_GROUP, AbstractDistances, Abstraction, abstract

RULES = [{}, {"connectivity": 4}, {"corner_cutting": True}]


def random_grid(seed: int, **rules: object) -> Grid:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(1, 12, 2)
    return Grid(rng.random((height, width)) < rng.uniform(0.5, 1.0), **rules)  # type: ignore[arg-type]


def edges(abstraction: Abstraction) -> list[set[int]]:
    return [set(part.tolist()) for part in np.split(abstraction.neighbour, abstraction.begin[1:-1])]


def members(grid: Grid, abstraction: Abstraction) -> list[list[Point]]:
    found: list[list[Point]] = [[] for _ in abstraction.position]
    for cell in grid.free_cells().tolist():
        found[abstraction.group[cell]].append(grid.xy(cell))
    return found


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("uniform", [True, False])
def test_every_level_and_distance_agrees_with_the_reference(rules: dict[str, object], uniform: bool) -> None:
    joined = 0
    for seed in range(24):
        grid = random_grid(seed, **rules)
        cells = grid.free_cells()
        if cells.size == 0:
            continue
        for level in range(4):
            graph, abstraction = (make(grid, level, uniform=uniform) for make in (reference_abstract, abstract))
            joined += cells.size - len(graph.beside)
            assert {grid.xy(cell): int(abstraction.group[cell]) for cell in cells.tolist()} == graph.group
            assert (np.delete(abstraction.group, cells) == NO_GROUP).all()
            assert edges(abstraction) == graph.beside
            assert abstraction.position.tolist() == [list(place) for place in graph.position]
            costs = [graph.cost(a, b) for a, others in enumerate(graph.beside) for b in sorted(others)]
            assert abstraction.cost.tolist() == costs
            distances = AbstractDistances(abstraction)
            for goal in np.random.default_rng(seed).choice(cells, 2).tolist():
                row = distances.acquire(goal)
                distances.run()
                reached = graph.distances(graph.group[grid.xy(goal)])
                wanted = [reached.get(group, UNREACHABLE) for group in range(len(graph.beside))]
                assert distances.table[row].tolist() == wanted
    assert joined > 500


@pytest.mark.small
@pytest.mark.parametrize("level", [1, 2])
def test_open_ground_is_cut_into_squares(level: int) -> None:
    side = 2**level
    for k in (1, 2, 5):
        abstraction = abstract(Grid(np.ones((side * k, side * k))), level)
        y, x = np.divmod(np.arange((side * k) ** 2), side * k)
        assert abstraction.group.tolist() == (y // side * k + x // side).tolist()
        assert abstraction.position[-1].tolist() == [side * k - (side + 1) / 2] * 2


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
def test_moves_stay_in_a_group_or_follow_an_edge_and_every_edge_has_a_move(rules: dict[str, object]) -> None:
    for seed in range(12):
        grid = random_grid(seed, **rules)
        eight = grid.with_rules(corner_cutting=grid.corner_cutting)
        for level in (1, 2, 3):
            abstraction = abstract(grid, level)
            crossed: list[set[int]] = [set() for _ in abstraction.position]
            for cell in grid.free_cells().tolist():
                here = int(abstraction.group[cell])
                crossed[here] |= {int(abstraction.group[grid.cell(*p)]) for _, p in legal_steps(eight, grid.xy(cell))}
            assert [around - {k} for k, around in enumerate(crossed)] == edges(abstraction)


@pytest.mark.small
@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("rules", RULES)
def test_groups_of_level_one_are_cliques_that_dead_ends_have_joined(rules: dict[str, object], uniform: bool) -> None:
    sizes = set()
    for seed in range(40):
        grid = random_grid(seed, **rules)
        eight = grid.with_rules(corner_cutting=grid.corner_cutting)
        for places in members(grid, abstract(grid, 1, uniform=uniform)):
            around = {place: {other for _, other in legal_steps(eight, place)} for place in places}
            core = [place for place in places if len(around[place]) > 1]
            assert len(core) <= 4
            assert all(b in around[a] for a, b in combinations(core, 2))
            assert len(places) == 1 or all(around[place] & set(places) for place in places)
            sizes.add(len(core))
    assert sizes >= {1, 2, 3, 4}


@pytest.mark.small
@pytest.mark.parametrize(
    ("drawing", "groups"),
    [
        ("... ... ...", "002 001 311"),     # a four, then a three; the corners that are left have no one to pair with
        ("..@.. .....", "00@11 00211"),     # a bridge between two fours stays alone
        ("... ..@", "000 00@"),             # a dead end joins what it hangs on
        (".....", "00011"),                 # last in, first out: pairs form from the far end, and the near end joins
        (".@. @@@", "0@1 @@@"),
    ],
)
def test_worked_examples(drawing: str, groups: str) -> None:
    grid = Grid.from_text(drawing.replace(" ", "\n"))
    wanted = groups.replace(" ", "").replace("@", "")
    found = abstract(grid, 1, uniform=False).group[grid.free_cells()].tolist()
    pairs = set(zip(found, wanted, strict=True))
    assert len(pairs) == len(set(found)) == len(set(wanted))      # the same partition, whatever the numbers


@pytest.mark.small
def test_above_level_one_too_each_part_of_a_group_is_beside_each() -> None:
    grid = Grid.from_text("""
        ...@..
        .....@
        @@....
        .....@
        ......
        @.@..@
        ......
        ......
        ......
        .@@@..
        ......
    """)
    below, above = abstract(grid, 1), abstract(grid, 2)
    beside = edges(below)
    sizes = set()
    for places in members(grid, above):
        parts = {int(below.group[grid.cell(*place)]) for place in places}
        core = [part for part in parts if len(beside[part]) > 1]
        sizes.add(len(core))
        assert all(b in beside[a] for a, b in combinations(core, 2))
    assert 3 in sizes


@pytest.mark.small
@pytest.mark.parametrize("rules", RULES)
def test_level_zero_is_the_map(rules: dict[str, object]) -> None:
    grid = Grid(np.random.default_rng(3).random((9, 7)) < 0.8, **rules)  # type: ignore[arg-type]
    cells, abstraction = grid.free_cells(), abstract(grid, 0)
    assert abstraction.group[cells].tolist() == list(range(cells.size))
    assert abstraction.position.tolist() == [list(grid.xy(cell)) for cell in cells.tolist()]
    assert set(abstraction.cost.tolist()) == {CARDINAL_COST, DIAGONAL_COST}
    eight = grid.with_rules(corner_cutting=grid.corner_cutting)
    for cell, beside in zip(cells.tolist(), edges(abstraction), strict=True):
        assert {grid.xy(int(cells[k])) for k in beside} == set(eight.neighbours(grid.xy(cell)))


@pytest.mark.small
def test_the_last_level_has_a_group_for_each_component_and_stays() -> None:
    grid = Grid(np.random.default_rng(8).random((12, 12)) < 0.7)
    last, beyond = abstract(grid, 12), abstract(grid, 100)
    assert last.neighbour.size == 0
    assert len(last.position) == len(grid.component_sizes()) > 1
    assert last.group.tolist() == beyond.group.tolist()


@pytest.mark.small
def test_a_map_without_passable_cells_has_no_groups() -> None:
    abstraction = abstract(Grid.from_text("@@\n@@"), 1)
    assert abstraction.group.tolist() == [NO_GROUP] * 4
    assert abstraction.position.shape == (0, 2)
    assert AbstractDistances(abstraction).run() == 0


@pytest.mark.parametrize("level", [-1, 1.0, "1"])
def test_a_level_that_there_is_not_is_refused(level: object) -> None:
    with pytest.raises(ParameterError, match="level of an abstraction is 0"):
        abstract(Grid.from_text(".."), level)  # type: ignore[arg-type]


# --- the table of distances ------------------------------------------------------------------------------------------


@pytest.fixture
def abstraction() -> Abstraction:
    return abstract(Grid(np.random.default_rng(4).random((20, 20)) < 0.85), 1)


def whole(abstraction: Abstraction, goal: int) -> list[int]:
    distances = AbstractDistances(abstraction)
    row = distances.acquire(goal)
    distances.run()
    return distances.table[row].tolist()


def goals_in_different_groups(abstraction: Abstraction, count: int) -> list[int]:
    _, cells = np.unique(abstraction.group, return_index=True)
    return cells[1 : count + 1].tolist()        # the first is that of NO_GROUP


@pytest.mark.small
def test_a_search_cut_into_slices_is_the_same_search(abstraction: Abstraction) -> None:
    distances = AbstractDistances(abstraction)
    goals = goals_in_different_groups(abstraction, 3)
    rows = [distances.acquire(goal) for goal in goals]
    spent = []
    while not distances.is_ready[rows].all():
        ready = distances.is_ready[rows].tolist()
        assert ready == sorted(ready, reverse=True)         # first come, first served
        spent.append(distances.run(7))
    assert all(part == 7 for part in spent[:-1])
    assert [distances.table[row].tolist() for row in rows] == [whole(abstraction, goal) for goal in goals]
    assert sum(spent) == sum((distances.table[row] != UNREACHABLE).sum() for row in rows)
    assert distances.run() == 0


@pytest.mark.small
def test_goals_in_one_group_share_a_row_until_the_last_lets_go(abstraction: Abstraction) -> None:
    distances = AbstractDistances(abstraction)
    first, second = np.flatnonzero(abstraction.group == abstraction.group.max())[:2].tolist()
    row = distances.acquire(first)
    assert distances.acquire(second) == row
    distances.run()
    distances.release(row)
    assert distances.is_ready[row]
    distances.release(row)
    assert not distances.is_ready[row]
    with pytest.raises(ParameterError, match=f"row {row} is not in use"):
        distances.release(row)


@pytest.mark.small
def test_a_row_let_go_in_the_middle_of_its_search_serves_another_goal(abstraction: Abstraction) -> None:
    distances = AbstractDistances(abstraction)
    dropped, also_dropped, kept, late = goals_in_different_groups(abstraction, 4)
    rows = [distances.acquire(goal) for goal in (dropped, also_dropped, kept)]
    distances.run(5)
    distances.release(rows[1])      # waiting
    distances.release(rows[0])      # being searched
    reused = distances.acquire(late)
    assert reused in rows[:2]
    in_use = whole(abstraction, kept), whole(abstraction, late)
    assert distances.run() == sum(distance != UNREACHABLE for row in in_use for distance in row)
    assert (distances.table[rows[2]].tolist(), distances.table[reused].tolist()) == in_use


@pytest.mark.small
def test_the_table_grows_without_losing_what_it_holds(abstraction: Abstraction) -> None:
    distances = AbstractDistances(abstraction)
    goals = goals_in_different_groups(abstraction, 20)
    rows = []
    for goal in goals:
        rows.append(distances.acquire(goal))
        distances.run(30)           # growth finds rows complete, begun and waiting
    distances.run()
    assert len(set(rows)) == 20
    assert [distances.table[row].tolist() for row in rows] == [whole(abstraction, goal) for goal in goals]


@pytest.mark.small
@pytest.mark.parametrize("goal", [1, -1, 3])
def test_a_goal_in_a_wall_or_off_the_map_is_refused(goal: int) -> None:
    with pytest.raises(MapError, match=f"cell {goal} cannot be a goal"):
        AbstractDistances(abstract(Grid.from_text(".@."), 1)).acquire(goal)


def test_a_game_map(movingai) -> None:
    grid = Grid(read_map(movingai / "bg512-map.zip" / "AR0414SR.map"))
    sizes = [len(abstract(grid, level).position) for level in (0, 1, 2)]
    assert sizes == [66830, 17358, 4870]
    fine, coarse = (AbstractDistances(abstract(grid, level)) for level in (0, 1))
    cells = grid.free_cells()
    goal = int(cells[0])
    rows = fine.acquire(goal), coarse.acquire(goal)
    assert (fine.run(), coarse.run()) == (66830, 17358)
    true = fine.table[rows[0]][fine.abstraction.group[cells]]
    estimate = coarse.table[rows[1]][coarse.abstraction.group[cells]]
    far = true > 20 * CARDINAL_COST
    ratio = estimate[far] / true[far]
    assert 0.9 < ratio.min() < ratio.max() < 1.15
