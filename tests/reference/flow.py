"""Flow annotations as sets of directed edges between places, rule by rule."""

from __future__ import annotations

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY, Point

Edge = tuple[Point, Point]


def streets(grid: Grid, point: Point) -> set[Point]:
    """The cardinal neighbours."""
    return {beside for d, beside in legal_steps(grid, point) if d < 4}


def places(grid: Grid) -> list[Point]:
    return [grid.xy(cell) for cell in grid.free_cells().tolist()]


def runs_along(a: Point, b: Point) -> bool:
    """R1: row 0 runs west, row 1 east, column 0 north, column 1 south, and so on."""
    if a[1] == b[1]:
        return b[0] < a[0] if a[1] % 2 == 0 else b[0] > a[0]
    return b[1] < a[1] if a[0] % 2 == 0 else b[1] > a[1]


def is_corridor(grid: Grid, point: Point) -> bool:
    """R2."""
    beside = sorted(streets(grid, point))
    if len(beside) != 2:
        return len(beside) == 1
    (ax, ay), (bx, by) = beside
    if ax == bx or ay == by:
        return True
    x, y = point
    return not grid.is_free((ax + bx - x, ay + by - y))


def gaps(grid: Grid) -> set[Edge]:
    """Diagonals between two walls, where corners may be cut."""
    found = set()
    for x, y in places(grid):
        for d, beside in legal_steps(grid, (x, y)):
            if d >= 4 and not grid.is_free((x + DX[d], y)) and not grid.is_free((x, y + DY[d])):
                found.add(((x, y), beside))
    return found


def rules_1_and_2(grid: Grid) -> set[Edge]:
    edges = set()
    for a in places(grid):
        for b in streets(grid, a):
            if runs_along(a, b) or is_corridor(grid, a) or is_corridor(grid, b):
                edges.add((a, b))
    return edges


def rule_3(grid: Grid, edges: set[Edge]) -> tuple[set[Point], set[Point], set[Edge]]:
    """Sinks, sources, and the diagonals that they get."""
    some = [point for point in places(grid) if streets(grid, point)]
    sinks = {p for p in some if not any(a == p for a, _ in edges)}
    sources = {p for p in some if not any(b == p for _, b in edges)}
    diagonals = set()
    for x, y in sinks | sources:
        for d, beside in legal_steps(grid, (x, y)):
            if d >= 4 and grid.is_free((x + DX[d], y)) and grid.is_free((x, y + DY[d])):
                diagonals.add(((x, y), beside) if (x, y) in sinks else (beside, (x, y)))
    return sinks, sources, diagonals


def reach(edges: set[Edge], nodes: list[Point]) -> dict[Point, frozenset[Point]]:
    """Everything that can be reached from each place."""
    after: dict[Point, list[Point]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    reached = {}
    for root in nodes:
        seen, stack = {root}, [root]
        while stack:
            for beside in after.get(stack.pop(), ()):
                if beside not in seen:
                    seen.add(beside)
                    stack.append(beside)
        reached[root] = frozenset(seen)
    return reached


def strong_components(edges: set[Edge], nodes: list[Point]) -> dict[Point, frozenset[Point]]:
    """By definition: the places that reach each other."""
    reached = reach(edges, nodes)
    return {a: frozenset(b for b in reached[a] if a in reached[b]) for a in nodes}


def annotate(grid: Grid) -> set[Edge]:
    """Rules R1 to R4."""
    edges = rules_1_and_2(grid)
    edges |= rule_3(grid, edges)[2] | gaps(grid)
    component = strong_components(edges, places(grid))
    return edges | {(a, b) for a in places(grid) for b in streets(grid, a) if component[a] != component[b]}


def annotate_locally(grid: Grid) -> set[Edge]:
    """One-way where the 2 x 2 block with odd x + y beside the street is free."""
    edges = gaps(grid)
    for a in places(grid):
        for b in streets(grid, a):
            left, top = min(a[0], b[0]), min(a[1], b[1])
            blocks = [(left, top), (left, top - 1) if a[1] == b[1] else (left - 1, top)]
            ((x, y),) = [(x, y) for x, y in blocks if (x + y) % 2]
            one_way = all(grid.is_free((x + i, y + j)) for i in (0, 1) for j in (0, 1))
            if runs_along(a, b) or not one_way:
                edges.add((a, b))
    return edges
