"""Parametrized real-time heuristic search as printed: dicts, sets and `sorted`. Costs are as in the kernel.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.search.rths import Configuration

CLOCKWISE = (0, 4, 1, 5, 2, 6, 3, 7)


def cost(a: Point, b: Point) -> float:
    """Of one move."""
    return DIAGONAL_COST / CARDINAL_COST if a[0] != b[0] and a[1] != b[1] else 1.0


@dataclass
class Agent:
    """An agent, what it has learned, and which cells it has removed."""

    grid: Grid
    cell: Point
    goal: Point
    configuration: Configuration
    learned: dict[Point, float] = field(default_factory=dict)
    removed: set[Point] = field(default_factory=set)

    def h0(self, cell: Point) -> float:
        dx, dy = abs(cell[0] - self.goal[0]), abs(cell[1] - self.goal[1])
        minor = (DIAGONAL_COST - CARDINAL_COST) / CARDINAL_COST if self.grid.connectivity == 8 else 1.0
        return max(dx, dy) + minor * min(dx, dy)

    def h(self, cell: Point) -> float:
        return self.learned.get(cell, self.h0(cell))

    def neighbours(self, cell: Point) -> list[Point]:
        """Those that are left, clockwise from north."""
        steps = dict(legal_steps(self.grid, cell))
        return [steps[d] for d in CLOCKWISE if d in steps and steps[d] not in self.removed]

    def is_expendable(self) -> bool:
        """Whether its neighbours reach each other without leaving their own number."""
        around = set(self.neighbours(self.cell))
        seen, queue = {min(around)}, [min(around)]
        while queue:
            for beside in self.neighbours(queue.pop()):
                if beside in around - seen:
                    seen.add(beside)
                    queue.append(beside)
        return seen == around

    def step(self) -> None:
        """Lines 4 to 10."""
        c = self.configuration
        near = self.neighbours(self.cell)
        if c.da:
            least = min(self.h(n) - self.h0(n) for n in near)
            near = [n for n in near if self.h(n) - self.h0(n) <= least + 1e-9]
        f = sorted(c.wc * cost(self.cell, n) + self.h(n) for n in near)
        kept = f[: max(1, math.floor(c.b * len(f)))]
        before = self.h(self.cell)
        learn = {"min": min, "max": max, "avg": lambda f: sum(f) / len(f), "median": statistics.median}[c.lop]
        after = max(before, c.w * learn(kept))
        target = min(near, key=lambda n: cost(self.cell, n) + self.h(n))
        if after > before:
            self.learned[self.cell] = after
            if c.expendable and self.is_expendable():
                self.removed.add(self.cell)
        self.cell = target


def walk(agent: Agent, max_moves: int) -> Iterator[Point]:
    """Where the agent goes, move by move, until it is at its goal."""
    for _ in range(max_moves):
        if agent.cell == agent.goal:
            return
        agent.step()
        yield agent.cell
