from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.maps import random_points
from benchmarks.measure import COLUMNS, Row, best_seconds
from wend import Grid


def test_a_row_knows_its_ratio_and_whether_its_target_is_met() -> None:
    faster = Row("A*", "ms", 0.2, "networkx", 20.0, "some map", at_least=40)
    assert faster.ratio == pytest.approx(100)
    assert (faster.target, faster.met) == ("at least 40x", True)
    assert Row("A*", "ms", 0.2, "networkx", 4.0, at_least=40).met is False
    absolute = Row("tick", "ms", 0.5, at_most=0.3)
    assert (absolute.ratio, absolute.target, absolute.met) == (None, "at most 0.3 ms", False)
    assert Row("tick", "ms", 0.1, at_most=0.3).met is True
    assert (Row("edit", "ms", 0.5).target, Row("edit", "ms", 0.5).met) == ("", None)


def test_a_row_is_shown_as_cells_and_as_json() -> None:
    row = Row("A*", "ms", 0.2, "networkx", 20.0, "some map", at_least=40)
    assert row.cells() == ("A*", "some map", "0.2 ms", "20 ms (networkx)", "100x", "at least 40x", "yes")
    assert Row("edit", "ms", 1 / 3).cells() == ("edit", "", "0.333 ms", "", "", "", "")
    assert len(row.cells()) == len(COLUMNS)
    told = json.loads(json.dumps(row.as_json()))
    assert (told["theirs"], told["met"], told["where"]) == (20.0, True, "some map")


def test_contenders_take_turns_after_a_round_that_does_not_count() -> None:
    turns: list[str] = []
    best = best_seconds({"a": lambda: turns.append("a"), "b": lambda: turns.append("b")}, rounds=2)
    assert turns == ["a", "b"] * 3
    assert list(best) == ["a", "b"]
    assert np.isfinite(list(best.values())).all()


def test_random_points_differ_reach_each_other_and_follow_the_seed() -> None:
    grid = Grid.from_text("""
        ....@.
        ....@.
    """)
    points = random_points(grid, 8, seed=3)
    assert sorted(points) == [(x, y) for x in range(4) for y in range(2)]
    assert points == random_points(grid, 8, seed=3) != random_points(grid, 8, seed=4)
