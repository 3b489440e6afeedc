"""Groups of cells in blocks, and distances between them, with dicts and sets; after blocks.py's docstring."""

from __future__ import annotations

from collections.abc import Iterator

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point

CELL = 256
MINOR = (DIAGONAL_COST - CARDINAL_COST) * CELL // CARDINAL_COST


class ReferenceBlocks:
    """The graph. Groups are numbered in the order of their first cells, block by block."""

    def __init__(self, grid: Grid, side: int) -> None:
        self.grid, self.side = grid, side
        self.group: dict[Point, int] = {}
        self.middle: list[Point] = []
        for top in range(0, grid.height, side):
            for left in range(0, grid.width, side):
                for y in range(top, min(top + side, grid.height)):
                    for x in range(left, min(left + side, grid.width)):
                        if grid.is_free((x, y)) and (x, y) not in self.group:
                            self._add_group((x, y))
        self.beside: list[set[int]] = [set() for _ in self.middle]
        for point, group in self.group.items():
            self.beside[group] |= {self.group[to] for _, to in legal_steps(grid, point)} - {group}

    def _block(self, point: Point) -> Point:
        return point[0] // self.side, point[1] // self.side

    def _add_group(self, first: Point) -> None:
        members = [first]
        for point in members:
            for _, to in legal_steps(self.grid, point):
                if self._block(to) == self._block(first) and to not in members:
                    members.append(to)
        for point in members:
            self.group[point] = len(self.middle)
        size, sums = len(members), [sum(axis) for axis in zip(*members, strict=True)]
        self.middle.append(min(members, key=lambda p: abs(p[0] * size - sums[0]) + abs(p[1] * size - sums[1])))

    def between(self, a: Point, b: Point) -> int:
        dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
        return max(dx, dy) * CELL + min(dx, dy) * (MINOR if self.grid.connectivity == 8 else CELL)

    def distances(self, goal: int) -> dict[int, int]:
        """From every group that reaches it."""
        far, open_ = {}, {goal: 0}
        while open_:
            group = min(open_, key=lambda g: open_[g])
            far[group] = open_.pop(group)
            for beside in self.beside[group] - far.keys():
                cost = far[group] + self.between(self.middle[group], self.middle[beside])
                open_[beside] = min(cost, open_.get(beside, cost))
        return far


class ReferenceRow:
    """What is known of the distances to one group; it grows as it is asked."""

    def __init__(self, blocks: ReferenceBlocks, goal: int) -> None:
        self.blocks, self.goal = blocks, goal
        self.known: dict[int, int] = {}         # final
        self.reached = {goal: 0}                # not final
        self.least: dict[int, int] = {}         # of the others, as far as anything was proven

    def _promises(self, target: int) -> Iterator[tuple[int, int]]:
        middle = self.blocks.middle
        return ((g + self.blocks.between(middle[k], middle[target]), k) for k, g in self.reached.items())

    def reach(self, target: int) -> int:
        """Find the distance from a group; the number of groups expanded."""
        before, middle = len(self.known), self.blocks.middle
        while target not in self.known and self.reached:
            _, group = min(self._promises(target))
            self.known[group] = g = self.reached.pop(group)
            for beside in self.blocks.beside[group] - self.known.keys():
                cost = g + self.blocks.between(middle[group], middle[beside])
                self.reached[beside] = min(cost, self.reached.get(beside, cost))
        bound = min(self._promises(target), default=(2**29, 0))[0]
        for group in set(range(len(middle))) - self.known.keys() - self.reached.keys():
            proven = bound - self.blocks.between(middle[group], middle[target])
            self.least[group] = max(self.least.get(group, 0), proven)
        return len(self.known) - before

    def believed(self, group: int) -> int:
        return self.known.get(group, self.reached.get(group, self.least.get(group, 0)))

    def estimate(self, point: Point) -> int:
        """From a cell; 0 if the goal's group is this one, or known to be beside it."""
        blocks, here = self.blocks, self.blocks.group[point]
        if here not in self.known and here != self.goal:
            return self.believed(here) + blocks.between(point, blocks.middle[here])
        onward = [(self.believed(k), blocks.middle[k]) for k in blocks.beside[here]]
        if here == self.goal or any(far == 0 for far, _ in onward):
            return 0
        return min((far + blocks.between(point, middle) for far, middle in onward), default=2**29)
