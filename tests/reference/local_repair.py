"""LRA* one agent at a time, in the words of local_repair.py's docstring."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.reference.astar import astar, empty_map_cost
from wend.kernel import scramble
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY, Point


@dataclass
class Walker:
    """One agent."""

    at: Point
    goal: Point
    path: list[int] = field(default_factory=list)
    agitation: int = 0
    calm: int = 0
    searches: int = 0
    seen: set[Point] | None = None      # None: look around when the search begins


class ReferenceLocalRepair:
    """LRA* without a budget."""

    def __init__(self, grid: Grid, seed: int, noise: int = 1, calm_moves: int = 5) -> None:
        self.grid, self.seed, self.noise, self.calm_moves = grid, seed, noise, calm_moves
        self.walkers: list[Walker] = []

    def beside(self, point: Point) -> list[Point]:
        return [(point[0] + dx, point[1] + dy) for dx, dy in zip(DX, DY, strict=True)]

    def search(self, index: int, walker: Walker, taken: set[Point]) -> None:
        walker.searches += 1
        draw = scramble(scramble(self.seed) ^ scramble(index) ^ walker.searches)
        goal = self.grid.cell(*walker.goal)

        def heuristic(cell: int) -> int:
            raised = self.noise * walker.agitation * scramble(draw ^ scramble(cell))
            return empty_map_cost(self.grid, cell, goal) + raised

        seen = walker.seen if walker.seen is not None else {p for p in self.beside(walker.at) if p in taken}
        forbidden = [self.grid.cell(*p) for p in seen if p in self.grid.neighbours(walker.at)]
        steps, _ = astar(self.grid, self.grid.cell(*walker.at), goal, forbidden=forbidden, heuristic=heuristic)
        if steps is None:
            walker.agitation += 1
        else:
            walker.path = steps

    def tick(self) -> None:
        taken = {walker.at for walker in self.walkers}
        for index, walker in enumerate(self.walkers):
            if walker.at != walker.goal and not walker.path:
                self.search(index, walker, taken)
        for walker in self.walkers:
            taken = {other.at for other in self.walkers}
            if walker.at == walker.goal:
                walker.agitation = 0
            elif not walker.path:
                walker.seen = {p for p in self.beside(walker.at) if p in taken}
            else:
                target = self.beside(walker.at)[walker.path[0]]
                if target in taken:
                    walker.path = []
                    walker.seen = {p for p in self.beside(walker.at) if p in taken}
                    walker.calm = 0
                    walker.agitation += 1
                else:
                    walker.at = target
                    walker.path.pop(0)
                    walker.calm += 1
                    if walker.calm >= self.calm_moves:
                        walker.calm = 0
                        walker.agitation = max(walker.agitation - 1, 0)
