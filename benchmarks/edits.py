"""What a map edit costs: blocking or unblocking one cell, compared with building a new grid."""

from __future__ import annotations

from benchmarks.maps import large_map, random_points
from benchmarks.measure import Row, best_seconds
from wend.maps.grid import Grid

CELLS = 500


def run() -> list[Row]:
    """Milliseconds per edit of a random cell; tables and component labels are up to date after each edit."""
    name, shared = large_map()
    grid = shared.copy()
    points = random_points(grid, CELLS, seed=0)
    terrain = grid.passable.copy()

    def edit() -> None:
        for point in points:
            grid.block([point])
            grid.unblock([point])

    best = best_seconds({"edit": edit, "rebuild": lambda: Grid(terrain)}, rounds=10)
    per_edit = best["edit"] / (2 * CELLS) * 1e3
    return [Row("block or unblock a cell", "ms", per_edit, "new Grid", best["rebuild"] * 1e3, name)]
