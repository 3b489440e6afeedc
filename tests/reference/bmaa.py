"""BMAA* one agent at a time, after the paper's Algorithms 2 and 3 and the open points in bmaa.py's docstring."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.reference.flow import annotate, annotate_locally
from tests.reference.grid import legal_steps
from tests.reference.real_time import Mind, learn, search
from wend.grid import DX, DY, Grid, Point


@dataclass
class Walker:
    """One agent."""

    at: Point
    mind: Mind
    way: dict[Point, Point] = field(default_factory=dict)       # P
    limit: int = 0
    has_moved: bool = False


class ReferenceBmaa:
    """BMAA* without a budget."""

    def __init__(
        self, grid: Grid, *, expansions: int = 32, vision: float = math.sqrt(2), moves: int = 32,
        push: bool = False, flow: str = "none",
    ) -> None:  # fmt: skip
        self.grid, self.expansions, self.vision, self.moves, self.push = grid, expansions, vision, moves, push
        self.edges = None if flow == "none" else {"global": annotate, "local": annotate_locally}[flow](grid)
        self.walkers: list[Walker] = []
        self.time = self.expanded = self.pushes = 0

    def add(self, at: Point, goal: Point) -> None:
        self.walkers.append(Walker(at, Mind(self.grid, goal)))

    def neighbours(self, point: Point) -> Iterable[tuple[int, Point]]:
        steps = legal_steps(self.grid, point)
        return [(d, to) for d, to in steps if self.edges is None or (point, to) in self.edges]

    def search_phase(self, walker: Walker) -> None:
        if walker.at in walker.way and self.time < walker.limit:
            return
        others = {other.at for other in self.walkers if other is not walker}
        seen = {point for point in others if math.dist(point, walker.at) <= self.vision + 1e-9}
        found = search(walker.mind, walker.at, self.expansions, seen, self.neighbours)
        self.expanded += found.expanded
        walker.way = {}
        at = walker.at
        for d in found.steps:
            walker.way[at] = at = at[0] + DX[d], at[1] + DY[d]
        if found.first is not None:
            learn(walker.mind, found)
            walker.limit = self.time + self.moves

    def push_aside(self, pusher: Walker, pushed: Walker) -> None:
        taken = {walker.at for walker in self.walkers}
        refuges = [point for _, point in legal_steps(self.grid, pushed.at) if point not in taken]
        ahead, at = set(), pushed.at
        while at in pusher.way:
            at = pusher.way[at]
            ahead.add(at)
        best = [point for point in refuges if point not in ahead] or refuges
        if best:
            pushed.at = best[0]
            pushed.has_moved = True
            self.pushes += 1

    def tick(self) -> None:
        for walker in self.walkers:
            walker.has_moved = False
            self.search_phase(walker)
        for walker in self.walkers:
            if walker.at not in walker.way or walker.has_moved:
                continue
            target = walker.way[walker.at]
            there = [other for other in self.walkers if other.at == target]
            if self.push and there and there[0].at == there[0].mind.goal and not there[0].has_moved:
                self.push_aside(walker, there[0])
            if not any(other.at == target for other in self.walkers):
                walker.at = target
                walker.has_moved = True
        self.time += 1
