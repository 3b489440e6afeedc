"""One bad joint move per kind of violation, and the legal ones that look bad."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.reference.grid import legal_steps
from wend import Grid, rules
from wend.kernel import NO_CELL
from wend.rules import KINDS, OFF_MAP, Judge, judge_step

ROOM = Grid.from_text(
    """
    ....
    .@..
    ....
    """
)


def judged(before, after, grid: Grid = ROOM) -> list[str]:
    def cells(points):
        return np.array([p if isinstance(p, int) else grid.cell(*p) for p in points], dtype=np.int32)

    return [str(violation) for violation in Judge(grid).judge(7, cells(before), cells(after))]


@pytest.mark.small
@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([(0, 0)], [OFF_MAP], ["tick 7: off-map of agent 0 off the map"]),
        ([(0, 1)], [(1, 1)], ["tick 7: wall of agent 0 at (1, 1)"]),
        ([(0, 0)], [(2, 0)], ["tick 7: jump of agent 0 at (2, 0)"]),
        ([(3, 0)], [(0, 1)], ["tick 7: jump of agent 0 at (0, 1)"]),     # the next cell, but across the map's edge
        ([(1, 0)], [(0, 1)], ["tick 7: corner of agent 0 at (0, 1)"]),
        ([(0, 0), (2, 0)], [(1, 0), (1, 0)], ["tick 7: collision of agent 0 and 1 at (1, 0)"]),
        ([(0, 0), (1, 0)], [(1, 0), (1, 0)], ["tick 7: collision of agent 0 and 1 at (1, 0)"]),
        ([(0, 0), (1, 0)], [(1, 0), (0, 0)], ["tick 7: swap of agent 0 and 1 at (0, 0)"]),
        ([NO_CELL, (1, 0)], [(1, 0), (1, 0)], ["tick 7: collision of agent 0 and 1 at (1, 0)"]),
    ],
)
def test_each_kind_of_violation_is_found(before, after, found) -> None:
    assert judged(before, after) == found


@pytest.mark.small
def test_diagonals_are_jumps_on_a_four_connected_map() -> None:
    grid = ROOM.with_rules(connectivity=4)
    assert judged([(2, 0)], [(3, 1)], grid) == ["tick 7: jump of agent 0 at (3, 1)"]
    assert judged([(2, 0)], [(3, 1)]) == []


@pytest.mark.small
def test_corner_cutting_is_legal_where_the_map_says_so() -> None:
    assert judged([(1, 0)], [(0, 1)], ROOM.with_rules(corner_cutting=True)) == []


@pytest.mark.small
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([(0, 0), (1, 0), (2, 0)], [(1, 0), (2, 0), (3, 0)]),               # a train
        ([(2, 0), (3, 0), (3, 1), (2, 1)], [(3, 0), (3, 1), (2, 1), (2, 0)]),   # a ring of four
        ([(2, 0), (3, 0)], [(3, 1), (2, 1)]),                               # two diagonals that cross
        ([(0, 0), NO_CELL], [(0, 0), NO_CELL]),
        ([(0, 0), (1, 0)], [NO_CELL, (0, 0)]),                              # into the place of one who left the map
        ([NO_CELL], [(2, 2)]),
    ],
)
def test_what_only_looks_bad_is_legal(before, after) -> None:
    assert judged(before, after) == []


@pytest.mark.small
def test_a_judge_sees_edits_and_starts_clean_each_time() -> None:
    grid = ROOM.copy()
    judge = Judge(grid)
    here, there = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    assert judge.judge(1, here, there) == []
    grid.block([(1, 0)])
    assert [v.kind for v in judge.judge(2, here, there)] == ["wall"]
    grid.unblock([(1, 0)])
    assert judge.judge(3, there, here) == judge.judge(4, here, there) == []


@pytest.mark.small
@pytest.mark.parametrize("rules", [{}, {"connectivity": 4}, {"corner_cutting": True}])
def test_steps_agree_with_the_planners_table_and_with_the_reference(rules) -> None:
    grid = Grid(np.random.default_rng(3).random((7, 8)) < 0.7, **rules)
    free = grid.passable.ravel()
    for start in grid.free_cells().tolist():
        legal = {
            end
            for end in range(grid.size)
            if KINDS[judge_step(free, grid.width, grid.connectivity == 8, grid.corner_cutting, start, end)] == "legal"
        }
        expected = {grid.cell(*p) for _, p in legal_steps(grid, grid.xy(start))} | {start}
        assert legal == expected == {grid.cell(*p) for p in grid.neighbours(grid.xy(start))} | {start}


def test_the_rules_do_not_look_at_the_planners_table() -> None:
    """A mistake in the table would be invisible to a judge who shares it."""
    assert "tables" not in Path(rules.__file__).read_text(encoding="utf-8")
