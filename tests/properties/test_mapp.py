"""MAPP against its reference, move by move, on random small maps; the reference asserts the lemmas on its way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reference.mapp import ReferenceMapp, replay, solve
from wend.maps.grid import Grid
from wend.planners.mapp import compaction

SETTINGS = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)  # fmt: skip


@st.composite
def crowds(draw) -> tuple[Grid, list[int], list[int], list[int]]:
    """A map, starts, distinct goals and obstacles, all joined along rows and columns or not."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    width, height = draw(st.integers(2, 8)), draw(st.integers(2, 8))
    grid = Grid(random.random((height, width)) < draw(st.sampled_from([0.65, 0.8, 0.95, 1.0])), connectivity=4)
    free = grid.free_cells()
    units = min(int(free.size * draw(st.sampled_from([0.1, 0.2, 0.4, 0.7]))), 10)
    places = random.permutation(free)
    obstacles = places[units : units + draw(st.integers(0, 1))]
    goals = random.permutation(np.setdiff1d(free, obstacles))[:units]
    return grid, places[: goals.size].tolist(), goals.tolist(), obstacles.tolist()


@pytest.mark.small
@pytest.mark.parametrize("repositioning", ["counting", "minimal_rollback", "reversing", "inline_return"])
@pytest.mark.parametrize("alternate_connectivity", [True, False])
@pytest.mark.parametrize("target_isolation", [True, False])
@pytest.mark.parametrize("turn", ["until-stopped", "one-move"])
@SETTINGS
@given(crowd=crowds(), attempt_all=st.booleans(), initial_blank=st.booleans(), later_provable=st.booleans())
def test_kernels_and_reference_make_the_same_moves(
    crowd, turn, target_isolation, alternate_connectivity, repositioning, attempt_all, initial_blank, later_provable
) -> None:
    grid, starts, goals, obstacles = crowd
    flags = {
        "turn": turn, "target_isolation": target_isolation, "alternate_connectivity": alternate_connectivity,
        "initial_blank": initial_blank, "later_provable": later_provable, "attempt_all": attempt_all,
        "counting": repositioning == "counting",
        "minimal_rollback": repositioning in ("minimal_rollback", "inline_return"),
        "inline_return": repositioning == "inline_return",
    }  # fmt: skip
    reference = ReferenceMapp(grid, starts, goals, set(obstacles), **flags)
    comp = solve(grid, starts, goals, obstacles, rounds=1, **flags)
    begin = comp.first.paths.begin.tolist()
    assert comp.first.provable.tolist() == [unit.provable for unit in reference.units]
    end = replay(grid, starts, comp.unit.tolist(), comp.to.tolist())
    assert all(end[unit.name] == unit.goal for unit in reference.units if unit.provable)      # the promise
    blanks = [reference.kappa(unit) for unit in reference.units]
    moves = [(name, to) for name, _, to in reference.play()]
    if not all(unit.home for unit in reference.units if unit.provable):
        assert attempt_all                  # and the kernels have moved the provable units alone, to begin with
        return
    assert [comp.first.paths.cell[a:b].tolist() for a, b in itertools.pairwise(begin)] == [
        unit.path for unit in reference.units
    ]
    assert comp.first.kappa.tolist() == blanks
    assert list(zip(comp.unit.tolist(), comp.to.tolist(), strict=True)) == moves
    assert end == [unit.cell for unit in reference.units]


@pytest.mark.small
@SETTINGS
@given(crowd=crowds())
def test_moves_at_the_same_time_end_where_moves_one_by_one_do(crowd) -> None:
    grid, starts, goals, obstacles = crowd
    comp = solve(grid, starts, goals, obstacles)
    first = np.array(starts, np.int32)
    end = replay(grid, starts, comp.unit.tolist(), comp.to.tolist())
    unit, to = compaction.trim(first, comp.unit, comp.to, grid.size)
    assert unit.size <= comp.unit.size
    assert replay(grid, starts, unit.tolist(), to.tolist()) == end
    last_on_cell = dict(zip(starts, range(len(starts)), strict=True))
    for u, cell in zip(unit.tolist(), to.tolist(), strict=True):
        assert last_on_cell.get(cell) != u          # no excursion is left
        last_on_cell[cell] = u
    for units, cells in ((comp.unit, comp.to), (unit, to)):
        tick = compaction.schedule(compaction.link(first, units, cells, grid.size))
        at = list(starts)
        for now in range(1, int(tick.max(initial=0)) + 1):
            before = list(at)
            movers = np.flatnonzero(tick == now).tolist()
            assert movers
            assert len({int(units[m]) for m in movers}) == len(movers)
            for m in movers:
                at[units[m]] = int(cells[m])
            assert len(set(at)) == len(at)
            swaps = {(a, b) for a, b in zip(before, at, strict=True) if a != b}
            assert not any((b, a) in swaps for a, b in swaps)
        assert at == end
        own = dict.fromkeys(range(len(starts)), 0)  # the tick of each unit's last move, and of the last move off a cell
        left: dict[int, int] = {}
        at = list(starts)
        for u, cell, when in zip(units.tolist(), cells.tolist(), tick.tolist(), strict=True):
            assert when == max(own[u] + 1, left.get(cell, 0))       # as soon as it can be
            own[u] = left[at[u]] = when
            at[u] = cell
