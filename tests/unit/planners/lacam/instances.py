"""The cases that every version of LaCAM must solve, with optima by exhaustive search, and how to set them up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend import Grid
from wend.maps.terrain import Point
from wend.planners.lacam.instance import LacamInstance, make_instance
from wend.rules import Judge

NOBODY = np.empty(0, np.int32)


class Case(NamedTuple):
    """A map, the ways of its agents, and the least ticks and loss for 4 and 8 neighbours; None where unsolvable."""

    rows: str
    ways: list[tuple[Point, Point]]
    optimum: dict[int, tuple[int, int] | None]

    def grid(self, connectivity: int) -> Grid:
        return Grid.from_text(self.rows, connectivity=connectivity)

    @property
    def starts(self) -> list[Point]:
        return [start for start, _ in self.ways]

    @property
    def goals(self) -> list[Point]:
        return [goal for _, goal in self.ways]

    def instance(self, connectivity: int) -> LacamInstance:
        grid = self.grid(connectivity)
        starts, goals = (np.array([grid.cell(*p) for p in points], np.int32) for points in (self.starts, self.goals))
        return make_instance(grid, starts, goals, NOBODY)


def _both(optimum: tuple[int, int] | None) -> dict[int, tuple[int, int] | None]:
    return {4: optimum, 8: optimum}


def _exchange(a: Point, b: Point) -> list[tuple[Point, Point]]:
    return [(a, b), (b, a)]


RING: list[Point] = [(0, 0), (1, 0), (1, 1), (0, 1)]

CASES = {
    "T": Case("#.#\n...\n###", _exchange((0, 1), (2, 1)), _both((4, 7))),
    "pocket": Case(".....\n##.##", _exchange((0, 0), (4, 0)), _both((6, 11))),
    "bent corridor": Case(".....\n.####", _exchange((0, 0), (4, 0)), _both(None)),
    "corridor": Case("...", _exchange((0, 0), (2, 0)), _both(None)),
    "2x1": Case("..", _exchange((0, 0), (1, 0)), _both(None)),
    "2x3": Case("...\n...", _exchange((0, 0), (2, 0)), {4: (4, 6), 8: (2, 4)}),
    "loop": Case(
        "....\n.##.\n.##.\n....", [((0, 0), (0, 2)), ((0, 2), (0, 1)), ((0, 1), (0, 3))], _both((10, 15))
    ),
    "tree": Case(
        "#.#\n#..\n#.#\n...", [((1, 0), (0, 3)), ((0, 3), (2, 3)), ((2, 3), (1, 0))], _both((7, 14))
    ),
    "tunnel": Case(
        ".###\n....\n.###\n.###\n.###\n.###",
        [((0, 5), (0, 2)), ((0, 4), (0, 3)), ((0, 3), (0, 4)), ((0, 1), (0, 5))],
        _both((15, 53)),
    ),
    "rotation": Case("..\n..", list(zip(RING, [*RING[1:], RING[0]], strict=True)), _both((1, 4))),
    "full square": Case(
        "..\n..", [*_exchange((0, 0), (1, 0)), ((0, 1), (0, 1)), ((1, 1), (1, 1))], {4: None, 8: (2, 7)}
    ),
    "crossing": Case("..\n..", [((0, 0), (1, 1)), ((1, 0), (0, 1))], {4: (2, 4), 8: (1, 2)}),
}


def check_plan(grid: Grid, plan: NDArray[np.int32]) -> None:
    """Every joint move of a plan, int32[ticks + 1, units], is legal."""
    judge = Judge(grid)
    for tick in range(1, len(plan)):
        before, after = (np.ascontiguousarray(row) for row in plan[tick - 1 : tick + 1])
        assert not judge.judge(tick, before, after)
