from __future__ import annotations

import numpy as np
import pytest

from tests.reference import real_time as reference
from wend import Grid
from wend.errors import MapError, NoPathError, ParameterError
from wend.kernel import NO_AGENT
from wend.kernel.arrays import grown
from wend.search import real_time


def random_grid(seed: int, **rules: object) -> Grid:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(3, 22, 2)
    return Grid(rng.random((height, width)) < 0.75, **rules)  # type: ignore[arg-type]


def learn_from(grid: Grid, learned: real_time.Learned, agent: int, lookahead: real_time.Lookahead, node: int) -> None:
    """Let an agent learn from its search."""
    cells, values = np.zeros(grid.size, np.int32), np.zeros(grid.size, np.int64)
    count = real_time.note_closed(lookahead, node, cells, values)
    real_time.learn(grid.tables, learned, agent, cells[:count], values)


@pytest.mark.small
@pytest.mark.parametrize("rules", [{}, {"connectivity": 4}, {"corner_cutting": True}])
def test_searches_and_learned_values_agree_with_the_reference(rules: dict[str, object]) -> None:
    """One mind searches from place to place while agents come and go around it, so that its values get inconsistent."""
    searches = empty = 0
    for seed in range(12):
        grid = random_grid(seed, **rules)
        rng = np.random.default_rng(seed)
        cells = grid.largest_component()
        goal = int(rng.choice(cells))
        expansions, reach = int(rng.integers(1, 20)), int(rng.integers(0, 5))
        mind = reference.Mind(grid, grid.xy(goal))
        learned = real_time.make_learned(grid, agents=3)
        lookahead = real_time.make_lookahead(grid.size, expansions)
        steps = np.empty(expansions, np.uint8)
        for start in rng.choice(cells, 25).tolist():
            taken = np.full(grid.size, NO_AGENT, np.int32)
            others = rng.choice(cells, cells.size // 4, replace=False)
            taken[others] = np.arange(others.size)
            x, y = grid.xy(start)
            seen = {(a, b) for a, b in map(grid.xy, others.tolist()) if 0 < (a - x) ** 2 + (b - y) ** 2 <= reach}
            found = reference.search(mind, (x, y), expansions, seen)
            around = real_time.Surroundings(grid.tables, learned, taken, reach)
            node = real_time.look_ahead(around, lookahead, 1, start, goal, expansions)
            assert lookahead.counts[0].expanded == found.expanded
            searches += 1
            if found.first is None:
                assert node == real_time.NO_NODE
                assert lookahead.counts[0].seen in {taken[grid.cell(*place)] for place in seen}
                empty += 1
                continue
            assert grid.xy(lookahead.cell[node]) == found.first
            assert lookahead.g[node] + lookahead.h[node] == found.f
            length = real_time.write_prefix(grid.tables, lookahead, node, steps)
            assert steps[:length].tolist() == found.steps
            reference.learn(mind, found)
            learn_from(grid, learned, 1, lookahead, node)
        gx, gy = grid.xy(goal)
        for x, y in map(grid.xy, grid.free_cells().tolist()):
            assert real_time.heuristic(grid.tables, learned, 1, x, y, gx, gy) == mind.h((x, y))
            untouched = reference.Mind(grid, (gx, gy)).h((x, y))
            assert real_time.heuristic(grid.tables, learned, 0, x, y, gx, gy) == untouched
            assert real_time.heuristic(grid.tables, learned, 2, x, y, gx, gy) == untouched
    assert searches > 250
    assert empty > 2


@pytest.mark.small
@pytest.mark.parametrize("rules", [{}, {"connectivity": 4}, {"corner_cutting": True}])
def test_steps_and_what_is_learned_from_them_agree_with_the_reference(rules: dict[str, object]) -> None:
    """An agent steps on among others that come and go, and gets out of dead ends."""
    steps, blocked, arrived = 0, 0, 0
    for seed in range(12):
        grid = random_grid(seed, **rules)
        rng = np.random.default_rng(seed)
        cells = grid.largest_component()
        start, goal = rng.choice(cells, 2).tolist()
        mind, learned = reference.Mind(grid, grid.xy(goal)), real_time.make_learned(grid, agents=2)
        for _ in range(4 * cells.size):
            others = rng.choice(cells, cells.size // 6, replace=False)
            taken = np.full(grid.size, NO_AGENT, np.int32)
            taken[others], taken[start] = 0, 1
            seen = {grid.xy(cell) for cell in others.tolist() if cell != start}
            around = real_time.Surroundings(grid.tables, learned, taken, 0)
            d = real_time.step_beside(around, 1, start, goal)
            assert d == reference.step(mind, grid.xy(start), seen)
            for cell in (start, *(grid.cell(*place) for place in grid.neighbours(grid.xy(start)))):
                noted = real_time.believed_beside(grid.tables, learned, 1, start, cell)
                assert noted == real_time.believed(grid.tables, learned, 1, start, cell, goal)
            if d == real_time.NO_STEP:
                blocked += 1
                continue
            steps += 1
            start += int(grid.tables.offset[d])
            if start == goal:
                arrived += 1
                start = int(rng.choice(cells))
        for x, y in map(grid.xy, grid.free_cells().tolist()):
            assert real_time.heuristic(grid.tables, learned, 1, x, y, *grid.xy(goal)) == mind.h((x, y))
    assert min(steps, blocked, arrived) > 100


@pytest.mark.small
def test_one_agent_walks_as_the_reference_does() -> None:
    walked = 0
    for seed in range(10):
        grid = random_grid(seed)
        rng = np.random.default_rng(seed)
        start, goal = (grid.xy(int(c)) for c in rng.choice(grid.largest_component(), 2))
        for expansions, moves in ((1, 1), (4, 2), (9, 32)):
            path = real_time.rtaa_star(grid, start, goal, expansions=expansions, moves=moves)
            assert (list(path), path.expansions) == reference.walk(grid, start, goal, expansions, moves)
            walked += len(path) - 1
    assert walked > 100


@pytest.mark.small
def test_values_of_a_lone_agent_only_rise_and_never_too_high() -> None:
    """h(n) never falls, never exceeds the true cost, and is 0 on the goal."""
    from tests.reference.astar import astar
    from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST

    grid = Grid.from_text("........\n.######.\n......#.\n.######.\n........\n.######.")
    goal = (7, 2)
    true = {}
    for cell in grid.free_cells().tolist():
        steps, _ = astar(grid, cell, grid.cell(*goal))
        assert steps is not None
        true[grid.xy(cell)] = sum(CARDINAL_COST if d < 4 else DIAGONAL_COST for d in steps)
    for expansions in (1, 2, 5, 30):
        learned = real_time.make_learned(grid, agents=1)
        lookahead = real_time.make_lookahead(grid.size, expansions)
        nobody, steps = np.full(grid.size, NO_AGENT, np.int32), np.empty(expansions, np.uint8)
        around = real_time.Surroundings(grid.tables, learned, nobody, 0)
        at = grid.cell(5, 2)

        def values(learned: real_time.Learned = learned) -> dict[tuple[int, int], int]:
            return {p: int(real_time.heuristic(grid.tables, learned, 0, *p, *goal)) for p in true}

        before, raised = values(), 0
        while grid.xy(at) != goal:
            node = real_time.look_ahead(around, lookahead, 0, at, grid.cell(*goal), expansions)
            learn_from(grid, learned, 0, lookahead, node)
            for d in steps[: real_time.write_prefix(grid.tables, lookahead, node, steps)].tolist():
                at += int(grid.tables.offset[d])
            after = values()
            assert after[goal] == 0
            assert all(before[p] <= after[p] <= true[p] for p in true)
            raised += sum(before[p] < after[p] for p in true)
            before = after
        assert raised > 5


def pages_in_use(learned: real_time.Learned) -> int:
    """Pages that agents have, each of which only one agent has, at one place."""
    owned = learned.page_of[learned.page_of != 0]
    counts = learned.values.counts[0]
    assert np.unique(owned).size == owned.size == counts.used - 1 - counts.free
    return owned.size


@pytest.mark.small
def test_pages_are_taken_given_back_and_made() -> None:
    grid = Grid(np.ones((20, 33)))
    learned = real_time.make_learned(grid, agents=2)
    assert learned.page_of.shape == (2, 5 * 3)
    lookahead, nobody = real_time.make_lookahead(grid.size, 9), np.full(grid.size, NO_AGENT, np.int32)

    def search(learned: real_time.Learned, agent: int, start: int, goal: int) -> None:
        around = real_time.Surroundings(grid.tables, learned, nobody, 0)
        node = real_time.look_ahead(around, lookahead, agent, start, goal, 9)
        learn_from(grid, learned, agent, lookahead, node)

    search(learned, 0, grid.cell(3, 3), grid.cell(30, 3))       # (3, 3) to (11, 3): two pages
    assert pages_in_use(learned) == 2
    search(learned, 1, grid.cell(3, 3), grid.cell(3, 19))
    assert pages_in_use(learned) == 4
    value = real_time.heuristic(grid.tables, learned, 1, 3, 3, 3, 19)
    larger = grown(real_time.with_space(learned), agents=5)
    assert larger.values.pool.items.size == 2 * learned.values.pool.items.size
    assert real_time.heuristic(grid.tables, larger, 1, 3, 3, 3, 19) == value
    assert pages_in_use(larger) == 4
    real_time.forget(larger.values, larger.page_of, larger.has_paged, 0)
    assert pages_in_use(larger) == 2
    search(larger, 0, grid.cell(9, 9), grid.cell(9, 10))        # used pages come back clean
    assert real_time.heuristic(grid.tables, larger, 0, 10, 10, 9, 10) == 2**32
    assert real_time.heuristic(grid.tables, larger, 1, 3, 3, 3, 19) == value
    real_time.forget(larger.values, larger.page_of, larger.has_paged, 0)
    real_time.forget(larger.values, larger.page_of, larger.has_paged, 0)          # nothing left to give back
    assert pages_in_use(larger) == 2


@pytest.mark.small
def test_a_full_pool_says_so_and_keeps_all_values_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each agent learns a value in each of 20 pages; the pool has space for 8 pages at first."""
    monkeypatch.setattr(real_time, "_PAGES", 8)
    grid = Grid(np.ones((8, 160)))
    learned = real_time.make_learned(grid, agents=4)
    sizes = {learned.values.pool.items.size}
    for agent in range(4):
        for x in range(3, 160, 8):
            while not real_time.can_learn(learned, 1):
                learned = real_time.with_space(learned)
            sizes.add(learned.values.pool.items.size)
            real_time.set_heuristic(learned, agent, x, 3, agent * 1000 + x)
            for other in range(agent + 1):
                for before in range(3, 160 if other < agent else x + 1, 8):
                    value = real_time.heuristic(grid.tables, learned, other, before, 3, 0, 0)
                    assert value == other * 1000 + before
    assert pages_in_use(learned) == 80
    assert sizes == {pages * 64 for pages in (8, 16, 32, 64, 128)}


@pytest.mark.small
@pytest.mark.parametrize(
    ("place", "left"), [((3, 3), {9, 17, 25}), ((12, 3), {3, 25}), ((11, 9), {17, 25}), ((32, 3), {3, 9, 17})]
)
def test_all_agents_forget_what_lies_around_a_place(place: tuple[int, int], left: set[int]) -> None:
    """Both have learned one value in each of the pages that begin at x = 0, 8, 16 and 24."""
    grid = Grid(np.ones((16, 33)))
    learned = real_time.make_learned(grid, agents=2)
    columns = (3, 9, 17, 25)
    for agent in range(2):
        for x in columns:
            real_time.set_heuristic(learned, agent, x, 3, 7)
    real_time.forget_around(learned, [place, place])
    for agent in range(2):
        assert {x for x in columns if real_time.heuristic(grid.tables, learned, agent, x, 3, 0, 0) == 7} == left


def test_a_long_walk_makes_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_time, "_PAGES", 16)
    wall = "@" * 127 + "."
    grid = Grid.from_text("\n".join(["." * 128, wall] * 12 + ["." * 128]))
    path = real_time.rtaa_star(grid, (0, 24), (0, 0), expansions=4_000)
    assert path[-1] == (0, 0)
    assert path.cost >= 128 + 24


def test_it_says_why_it_cannot_walk() -> None:
    grid = Grid.from_text(".@.")
    with pytest.raises(NoPathError, match=r"no path joins \(0, 0\) and \(2, 0\)"):
        real_time.rtaa_star(grid, (0, 0), (2, 0))
    with pytest.raises(MapError, match=r"\(1, 0\) is in a wall"):
        real_time.rtaa_star(grid, (1, 0), (2, 0))
    with pytest.raises(ParameterError, match="0 expansions and 32 moves lead nowhere"):
        real_time.rtaa_star(grid, (0, 0), (0, 0), expansions=0)
