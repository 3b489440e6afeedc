"""What walks on three small maps must cost, counted by an independent program."""

from __future__ import annotations

import pytest

from wend import Grid, rths

LINE = "S...G"
POCKET = """
    ......
    .####.
    S...#G
    .####.
    ......
"""
WIDE_POCKET = """
    ........
    ..####..
    .S...#.G
    ..####..
    ........
"""
SETTINGS = {
    "LRTA*": {},
    "w=2": {"w": 2},
    "da": {"da": True},
    "expendable": {"expendable": True},
    "w=4, da, expendable": {"w": 4, "da": True, "expendable": True},
    "b=1, max": {"b": 1, "lop": "max"},
    "b=0.5, avg, w=2": {"b": 0.5, "lop": "avg", "w": 2},
}


def walk(drawing: str, setting: str):
    rows = [line.strip() for line in drawing.strip().splitlines()]
    places = {letter: (x, y) for y, row in enumerate(rows) for x, letter in enumerate(row) if letter in "SG"}
    grid = Grid.from_text("\n".join(rows).replace("S", ".").replace("G", "."))
    return rths(grid, places["S"], places["G"], **SETTINGS[setting])


@pytest.mark.small
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_line_is_walked_straight(setting: str) -> None:
    found = walk(LINE, setting)
    assert (found.travelled, found.optimal, found.suboptimality, found.moves) == (4.0, 4.0, 1.0, 4)


@pytest.mark.small
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_pocket(setting: str) -> None:
    found = walk(POCKET, setting)
    travelled, ratio, moves = (21.0, 2.33333, 21) if setting == "LRTA*" else (15.0, 1.66667, 15)
    assert (found.travelled, found.optimal, found.moves, found.reached) == (travelled, 9.0, moves, True)
    assert found.suboptimality == pytest.approx(ratio, abs=5e-6)
    assert found.pruned == (3 if "expendable" in setting else 0)


@pytest.mark.small
@pytest.mark.parametrize("setting", ["LRTA*", "w=2", "da", "expendable", "b=1, max"])
def test_a_pocket_with_room_around_it(setting: str) -> None:
    found = walk(WIDE_POCKET, setting)
    travelled, ratio, moves = (21.41421, 2.27467, 21) if setting == "LRTA*" else (15.41421, 1.63733, 15)
    assert (found.travelled, found.optimal) == pytest.approx((travelled, 9.41421), abs=5e-6)
    assert found.suboptimality == pytest.approx(ratio, abs=5e-6)
    assert found.moves == moves
    assert found.pruned == (5 if setting == "expendable" else 0)
