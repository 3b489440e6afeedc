"""Waypoints in plain Python: where an agent heads next, and whether an edit has cut its path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import Point

SPACING, REACH, LOOK_AHEAD = 12, 3, 4


def moves_between(a: Point, b: Point) -> int:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


def sees(grid: Grid, here: Point, there: Point) -> bool:
    """Walk straight at it: both coordinates at once, or else the column, or else the row."""
    while here != there:
        x = here[0] + (there[0] > here[0]) - (there[0] < here[0])
        y = here[1] + (there[1] > here[1]) - (there[1] < here[1])
        steps = {place for _, place in legal_steps(grid, here)}
        tries = [place for place in ((x, y), (x, here[1]), (here[0], y)) if place != here and place in steps]
        if not tries:
            return False
        here = tries[0]
    return True


def next_waypoint(grid: Grid, path: Sequence[Point], ahead: int, here: Point) -> int:
    """The index on its path that an agent heads for; until now it headed for `ahead`."""
    chosen = ahead
    for index in range(ahead, min(len(path), ahead + LOOK_AHEAD * SPACING), SPACING):
        near = moves_between(here, path[index])
        if not sees(grid, here, path[index]):
            continue
        if near <= REACH:
            chosen = index + SPACING
        elif near < moves_between(here, path[ahead]):
            chosen = index
    return chosen


def is_cut(grid: Grid, path: Sequence[Point], ahead: int) -> bool:
    rest = path[ahead - SPACING :]
    return any(step not in {place for _, place in legal_steps(grid, here)} for here, step in pairwise(rest))
