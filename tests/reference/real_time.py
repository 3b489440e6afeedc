"""The bounded A* of BMAA* (Alg. 5) and its learning (Alg. 4) as printed: an open list that is a dict, the rest too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from tests.reference.astar import empty_map_cost
from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, DX, DY, Point

Neighbours = Callable[[Point], Iterable[tuple[int, Point]]]     # (direction, place) of every step, in their order


@dataclass
class Mind:
    """What one agent believes."""

    grid: Grid
    goal: Point
    learned: dict[Point, int] = field(default_factory=dict)

    def h(self, point: Point) -> int:
        free = empty_map_cost(self.grid, self.grid.cell(*point), self.grid.cell(*self.goal))
        return self.learned.get(point, free)


@dataclass
class Found:
    """What a search leaves behind."""

    closed: dict[Point, int]    # with g
    first: Point | None         # the node to expand next; None if the open list is empty
    f: int                      # of that node
    steps: list[int]            # directions that lead there
    expanded: int


def search(
    mind: Mind, start: Point, expansions: int, obstacles: Collection[Point] = (), neighbours: Neighbours | None = None
) -> Found:
    """Alg. 5. `obstacles` are the other agents within sight."""
    around = neighbours or (lambda point: legal_steps(mind.grid, point))
    g = {start: 0}
    queued = {start: 0}                                 # when a place first came into the open list
    parent: dict[Point, tuple[Point, int]] = {}
    opened, closed = {start}, {}
    while opened:
        first = min(opened, key=lambda n: (g[n] + mind.h(n), -g[n], queued[n]))
        if first == mind.goal or len(closed) >= expansions:
            steps, node = [], first
            while node != start:
                node, direction = parent[node]
                steps.append(direction)
            return Found(closed, first, g[first] + mind.h(first), steps[::-1], len(closed))
        opened.remove(first)
        closed[first] = g[first]
        for direction, beside in around(first):
            if (beside in obstacles and beside != mind.goal) or beside in closed:
                continue
            cost = g[first] + (CARDINAL_COST if direction < 4 else DIAGONAL_COST)
            if beside not in opened or cost < g[beside]:
                queued.setdefault(beside, len(queued))
                g[beside] = cost
                parent[beside] = first, direction
                opened.add(beside)
    return Found(closed, None, 0, [], len(closed))


def learn(mind: Mind, found: Found) -> None:
    """Alg. 4."""
    for point, g in found.closed.items():
        mind.learned[point] = found.f - g


def step(mind: Mind, start: Point, obstacles: Collection[Point]) -> int:
    """LRTA*: learn what the best place beside promises; the direction of the best free one that is nearer, or -1."""
    promises = {
        (d, beside): mind.h(beside) + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
        for d, beside in legal_steps(mind.grid, start)
    }
    if promises and min(promises.values()) > mind.h(start):
        mind.learned[start] = min(promises.values())
    nearer = {
        d: promise
        for (d, beside), promise in promises.items()
        if beside not in obstacles and mind.h(beside) < mind.h(start)
    }
    return min(nearer, key=lambda d: (nearer[d], d), default=-1)


def walk(grid: Grid, start: Point, goal: Point, expansions: int, moves: int) -> tuple[list[Point], int]:
    """RTAA*: where one agent goes, and how many nodes it expands."""
    mind, path, expanded = Mind(grid, goal), [start], 0
    while path[-1] != goal:
        found = search(mind, path[-1], expansions)
        learn(mind, found)
        expanded += found.expanded
        for d in found.steps[:moves]:
            path.append((path[-1][0] + DX[d], path[-1][1] + DY[d]))
    return path, expanded
