"""One shortest path at a time: `wend.shortest_path` against networkx, rustworkx and w9-pathfinding.

All search the same map by A* with the same move costs, on graphs that are built beforehand, and must find paths of the
same cost. The slow libraries answer only the first few queries; a ratio always compares the same queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import rustworkx as rx
from w9_pathfinding.envs import DiagonalMovement  # type: ignore[import-untyped]
from w9_pathfinding.envs import Grid as W9Grid
from w9_pathfinding.pf import AStar as W9AStar  # type: ignore[import-untyped]

from benchmarks.maps import large_map, random_points
from benchmarks.measure import Row, best_seconds
from wend import shortest_path
from wend.maps.grid import Grid
from wend.maps.terrain import Point

QUERIES = 200
FEW_QUERIES = 20

Query = tuple[Point, Point]
Finder = Callable[[Point, Point], Sequence[Point]]


def run() -> list[Row]:
    """Milliseconds per query against each library, and nanoseconds per expansion."""
    name, grid = large_map()
    places = random_points(grid, 2 * QUERIES, seed=0)
    queries = list(zip(places[:QUERIES], places[QUERIES:], strict=True))
    expansions = sum(shortest_path(grid, *query).expansions for query in queries)

    rows = []
    for library, finder, count, target in (
        ("networkx", networkx_finder(grid), FEW_QUERIES, 40),
        ("rustworkx", rustworkx_finder(grid), FEW_QUERIES, 20),
        ("w9-pathfinding", w9_finder(grid), QUERIES, 2),
    ):
        asked = queries[:count]
        check_costs(library, finder, grid, asked)
        best = best_seconds({"ours": partial(_answer, partial(shortest_path, grid), asked),
                             "theirs": partial(_answer, finder, asked)})  # fmt: skip
        rows.append(Row(f"A*, per query of {count}", "ms", best["ours"] / count * 1e3, library,
                        best["theirs"] / count * 1e3, name, at_least=target))  # fmt: skip
    seconds = best_seconds({"ours": partial(_answer, partial(shortest_path, grid), queries)})["ours"]
    rows.append(Row("A*, per expansion (aim: 80 ns)", "ns", seconds / expansions * 1e9, where=name, at_most=200))
    return rows


def _answer(finder: Finder, queries: Sequence[Query]) -> None:
    for start, goal in queries:
        finder(start, goal)


def check_costs(library: str, finder: Finder, grid: Grid, queries: Sequence[Query]) -> None:
    """Raise if the library's paths cost more or less than ours: then the two do not solve the same problem."""
    for start, goal in queries:
        ours, theirs = shortest_path(grid, start, goal).cost, path_cost(finder(start, goal))
        if abs(ours - theirs) > 1e-6:
            raise RuntimeError(f"from {start} to {goal} our path costs {ours}, the one of {library} {theirs}")


def path_cost(path: Sequence[Point]) -> float:
    """Sum of the lengths of the moves."""
    return sum(map(math.dist, path, path[1:]))


def octile(a: Point, b: Point) -> float:
    """The cost of the shortest path between two places on a map without walls."""
    dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
    return dx + dy + (math.sqrt(2) - 2) * min(dx, dy)


def _edges(grid: Grid) -> Iterator[tuple[Point, Point, float]]:
    for cell in grid.free_cells().tolist():
        point = grid.xy(cell)
        yield from ((point, beside, math.dist(point, beside)) for beside in grid.neighbours(point) if point < beside)


# --- the libraries, each at its fastest ------------------------------------------------------------------------------


def networkx_finder(grid: Grid) -> Finder:
    """networkx: nodes are places, costs are attributes of the edges."""
    graph = nx.Graph()
    graph.add_weighted_edges_from(_edges(grid))

    def find(start: Point, goal: Point) -> Sequence[Point]:
        path: list[Point] = nx.astar_path(graph, start, goal, heuristic=octile)
        return path

    return find


def rustworkx_finder(grid: Grid) -> Finder:
    """rustworkx: undirected is faster than directed here, and A* is faster than Dijkstra in spite of the callbacks."""
    points = [grid.xy(cell) for cell in grid.free_cells().tolist()]
    number = {point: k for k, point in enumerate(points)}
    graph: rx.PyGraph[Point, float] = rx.PyGraph()
    graph.add_nodes_from(points)
    graph.add_edges_from([(number[a], number[b], cost) for a, b, cost in _edges(grid)])

    def find(start: Point, goal: Point) -> Sequence[Point]:
        found = rx.astar_shortest_path(graph, number[start], goal.__eq__, float, partial(octile, goal))
        return [points[k] for k in found]

    return find


def w9_finder(grid: Grid) -> Finder:
    """w9-pathfinding: a grid in C++. Its fastest optimal finder here is AStar, ahead of BiAStar and Dijkstra."""
    weights = np.where(grid.passable, 1.0, -1.0).tolist()
    env = W9Grid(
        weights,
        diagonal_movement=DiagonalMovement.only_when_no_obstacle,
        diagonal_movement_cost_multiplier=math.sqrt(2),
    )
    finder: Finder = W9AStar(env).find_path
    return finder
