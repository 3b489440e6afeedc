"""The budget audit: what every tick and every call expands, counted from outside.

A planner reports what it has spent. The audit does not believe it: it counts the nodes that are closed in what the
planner keeps of its searches (backward searches, and those over blocks), and compares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, World, create
from wend.groups import slots
from wend.planners.base import Budget, Planner
from wend.problems.scenarios import make_problem

ONLINE = [key for key, entry in ALGORITHMS.items() if entry.online]
GRID = Grid.load("rooms:width=96,height=96,seed=1")


class Audited:
    """A world whose planner's budget is watched from outside."""

    def __init__(self, key: str) -> None:
        problem = make_problem("random", GRID, agents=60, seed=2)
        self.world = World.from_problem(problem, create(key), seed=1)
        self.draw = np.random.default_rng(5)
        self.walls: list[tuple[int, int]] = []

    def call(self, what: Callable[..., Any], *given: Any) -> None:
        """A call between two ticks expands nothing at the planner's expense: searches are made in ticks."""
        before = closed_by(self.world.planner)
        what(*given)
        assert closed_by(self.world.planner) <= before      # a search may be forgotten

    def tick(self, budget: int) -> None:
        before, spent = closed_by(self.world.planner), self.world.expansions
        self.world.tick(budget=budget)
        reported = self.world.expansions - spent
        assert reported <= budget
        assert closed_by(self.world.planner) - before <= reported

    def play(self, tick: int) -> None:
        """Orders, walls, deaths, spawns, groups."""
        world, draw = self.world, self.draw
        present = world.living()
        for agent in draw.choice(present, 4, replace=False).tolist():
            self.call(world.order, agent, self.place())
        if tick % 7 == 3:
            self.call(world.order_group, draw.choice(present, 12, replace=False).tolist(), self.place())
        place = self.place()
        if world.state.occupant[world.grid.cell(*place)] < 0 and world.grid.is_free(place):
            self.call(world.block, [place])
            self.walls.append(place)
        if len(self.walls) > 10:
            self.call(world.unblock, [self.walls.pop(0)])
        if tick % 9 == 4:
            self.call(world.remove, int(draw.choice(present)))
            place = self.place()
            if world.state.occupant[world.grid.cell(*place)] < 0 and world.grid.is_free(place):
                self.call(world.add, place, self.place())

    def place(self) -> tuple[int, int]:
        return GRID.xy(int(self.draw.choice(GRID.largest_component())))


def closed_by(planner: Planner) -> int:
    """Nodes that are closed in what the planner keeps of searches: the backward ones, and the rows over blocks."""
    total = 0
    distances = getattr(planner, "_distances", None)
    searches = getattr(distances, "exact", getattr(distances, "_searches", None))
    if searches is not None:                    # RRA*: bit 0 of what is known of a cell says that it is closed
        known, page_of = searches.reverse.known.pool.items, searches.reverse.page_of
        pages = page_of[page_of > 0]
        total += sum(int((known[page : page + 64] & 1).sum()) for page in pages.tolist())
    for owner in (planner, getattr(planner, "_rough", None), distances, getattr(distances, "rough", None)):
        beliefs = getattr(owner, "_beliefs", None)
        if beliefs is not None and beliefs.learned.rows.far.size:
            far = beliefs.learned.rows.far      # final distances are even and positive
            total += int(((far > 0) & (far % 2 == 0)).sum())
    return total


@pytest.mark.parametrize("budget", [40, 700])
@pytest.mark.parametrize("key", ONLINE)
def test_no_tick_and_no_call_expands_more_than_its_budget(key: str, budget: int) -> None:
    audited = Audited(key)
    for tick in range(40):
        audited.play(tick)
        audited.tick(budget)
        if tick % 3 == 0:
            before, spent = closed_by(audited.world.planner), audited.world.expansions
            thought = audited.world.think(budget=budget)
            assert thought == audited.world.expansions - spent <= budget
            assert closed_by(audited.world.planner) - before <= thought


@pytest.mark.small
def test_the_audit_would_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "spend", lambda _budget, _expansions: None)
    audited = Audited("weave")
    with pytest.raises(AssertionError):
        audited.tick(700)


def cells_touched(size: int, floods: list[int]) -> dict[str, int]:
    """How many cells are touched for the slots of 60 units, by call, on a map of that size."""
    free, touched = np.ones((size, size), np.bool_), dict[str, int]()
    free[:, size - 10] = False
    free[5, size - 10] = True
    world = World(Grid(free), "lra", seed=1)
    units = [world.add((x, y)) for y in range(12, 18) for x in range(20, 30)]
    counts = world._dispatch._claims._around.counts

    def call(what: str, made: Callable[[], Any]) -> None:
        floods.clear()
        before = int(counts["flooded"].item())
        made()
        touched[what] = int(counts["flooded"].item()) - before + sum(floods)

    call("orders", lambda: [world.order(unit, (24, 25)) for unit in units])
    call("group", lambda: world.order_group(units, (24, 24), budget=1))
    for k, unit in enumerate(units):
        world.order(unit, (size - 9 + k % 8, 3 + k // 8))
    call("door", lambda: world.block([(size - 10, 5)]))
    call("opened", lambda: world.unblock([(size - 10, 5)]))
    return touched


@pytest.mark.small
def test_the_cells_that_calls_touch_for_slots_depend_on_the_units_and_not_on_the_map(monkeypatch) -> None:
    """Orders to one place, a group order, a door that closes under all of them, and opens again."""
    floods, flood = list[int](), slots.move_distances

    def counted(*given: Any, **options: Any) -> Any:
        found = flood(*given, **options)
        floods.append(int(found[1].size))
        return found

    monkeypatch.setattr(slots, "move_distances", counted)
    small, large = (cells_touched(size, floods) for size in (48, 120))
    for touched in (small, large):
        assert 60 <= touched["orders"] <= 8 * 4 * 60
        assert 60 <= touched["group"] <= 8 * 4 * 60
        assert 60 <= touched["door"] <= 60 * 8 * 60     # near many places: a flood each, over what the others have
        assert touched["opened"] == 0                   # their own places are free
    assert all(large[call] <= 2 * small[call] for call in small)
