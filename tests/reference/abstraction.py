"""The clique abstraction as described: sets of neighbours, combinations, a stack; distances by a heap of tuples."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import combinations

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point


@dataclass
class Graph:
    group: dict[Point, int]                 # of each passable place
    beside: list[set[int]]                  # the groups next to each group
    position: list[tuple[float, float]]

    def cost(self, a: int, b: int) -> int:
        """Octile distance between the positions of two groups."""
        (ax, ay), (bx, by) = self.position[a], self.position[b]
        dx, dy = abs(ax - bx), abs(ay - by)
        return round(max(dx, dy) * CARDINAL_COST + min(dx, dy) * (DIAGONAL_COST - CARDINAL_COST))

    def distances(self, goal: int) -> dict[int, int]:
        """What the way from each group to the goal's costs, where there is one."""
        final: dict[int, int] = {}
        queue = [(0, goal)]
        while queue:
            distance, group = heapq.heappop(queue)
            if group not in final:
                final[group] = distance
                for other in self.beside[group]:
                    heapq.heappush(queue, (distance + self.cost(group, other), other))
        return final


def abstract(grid: Grid, level: int, *, uniform: bool) -> Graph:
    """A level of the abstraction of the 8-connected map."""
    eight = grid.with_rules(corner_cutting=grid.corner_cutting)
    places = [(x, y) for y in range(grid.height) for x in range(grid.width) if grid.is_free((x, y))]
    group = {place: k for k, place in enumerate(places)}
    beside = [{group[other] for _, other in legal_steps(eight, place)} for place in places]
    graph = Graph(group, beside, [(float(x), float(y)) for x, y in places])
    for k in range(1, level + 1):
        graph = _joined(graph, _squares(grid, graph, 2**k) if uniform else [])
    return graph


def _squares(grid: Grid, graph: Graph, side: int) -> list[list[int]]:
    """The quarters of each aligned square without a blocked cell."""
    found = []
    for y in range(0, grid.height, side):
        for x in range(0, grid.width, side):
            if all(grid.is_free((x + dx, y + dy)) for dx in range(side) for dy in range(side)):
                half = side // 2
                found.append([graph.group[x + dx, y + dy] for dy in (0, half) for dx in (0, half)])
    return found


def _joined(graph: Graph, squares: list[list[int]]) -> Graph:
    """The next level. Groups are numbered in the order of the nodes that formed them."""
    beside = graph.beside
    leader: dict[int, int] = {node: square[0] for square in squares for node in square}
    stack = []
    for node in range(len(beside)):
        if node in leader:
            continue
        untaken = sorted(other for other in beside[node] if other not in leader)
        cliques = [
            clique
            for size in (3, 2)
            for clique in combinations(untaken, size)
            if all(b in beside[a] for a, b in combinations(clique, 2))
        ]
        if cliques:
            leader.update(dict.fromkeys([node, *cliques[0]], node))
        else:
            stack.append(node)
    while stack:
        node = stack.pop()
        if node in leader:
            continue
        untaken = sorted(other for other in beside[node] if other not in leader)
        if untaken:
            leader[node] = leader[untaken[0]] = node
        elif len(beside[node]) == 1:
            leader[node] = leader[min(beside[node])]
        else:
            leader[node] = node
    number = {node: k for k, node in enumerate(sorted(set(leader.values())))}
    parent = [number[leader[node]] for node in range(len(beside))]
    members = [[node for node in range(len(beside)) if parent[node] == k] for k in range(len(number))]
    return Graph(
        {place: parent[node] for place, node in graph.group.items()},
        [{parent[other] for node in nodes for other in beside[node]} - {k} for k, nodes in enumerate(members)],
        [_mean([graph.position[node] for node in nodes]) for nodes in members],
    )


def _mean(points: list[tuple[float, float]]) -> tuple[float, float]:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
