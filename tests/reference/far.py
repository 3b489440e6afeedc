"""FAR one agent at a time, in the words of far.py's docstring. The reservations are those of the other agents."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.reference.astar import empty_map_cost
from tests.reference.flow import annotate, annotate_locally
from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point

REJOIN, LOOK_AHEAD, EVASIONS = 8, 24, 8


@dataclass(eq=False)
class Walker:
    """One agent."""

    index: int
    at: Point
    goal: Point
    pinned: bool = False
    reserved: list[Point] = field(default_factory=list) # where it stands now, after one tick, ...; it holds the last
    path: list[Point] = field(default_factory=list)     # places still to be reserved
    origin: Point = (-1, -1)                            # where the path begins
    avoid: Point | None = None
    known: bool = False
    waited: int = 0
    left: Point | None = None
    left_for: Walker | None = None
    left_until: int = 0
    evaded: list[Point] = field(default_factory=list)
    rerouted: float = float("-inf")
    waits_for: Walker | None = None

    def where(self, ticks: int) -> Point:
        return self.reserved[min(ticks, len(self.reserved) - 1)]

    @property
    def stands(self) -> bool:
        return len(self.reserved) == 1


class ReferenceFar:
    """FAR without a budget, and without agents of the program."""

    def __init__(
        self, grid: Grid, *, reservation: int = 3, flow: str = "global", commit: str = "batch",
        patience: int = 100, proxy_expansions: int = 64,
    ) -> None:  # fmt: skip
        self.grid, self.reservation, self.commit = grid, reservation, commit
        self.patience, self.proxy_expansions = patience, proxy_expansions
        streets = {"none": None, "global": annotate, "local": annotate_locally}[flow]
        self.edges = None if streets is None else streets(grid)
        self.walkers: list[Walker] = []
        self.now = self.expanded = 0
        self.counters = dict.fromkeys(("repaths", "proxies", "pushes", "reroutes", "wait_circles"), 0)

    def add(self, at: Point, goal: Point) -> None:
        self.walkers.append(Walker(len(self.walkers), at, goal, reserved=[at]))

    def order(self, index: int, goal: Point) -> None:
        walker = self.walkers[index]
        if goal != walker.goal:
            walker.goal, walker.path, walker.avoid, walker.known, walker.waited = goal, [], None, False, 0

    # --- searching -------------------------------------------------------------------------------------------------

    def astar(self, start: Point, goal: Point, avoid: Point | None, limit: float) -> list[Point] | None:
        def entry(cost: int, point: Point) -> tuple[int, int, int, Point]:
            h = empty_map_cost(self.grid, self.grid.cell(*point), self.grid.cell(*goal))
            return cost + h, h, order[point], point

        if avoid == goal:
            return None
        g, order, parent, closed = {start: 0}, {start: 0}, {start: start}, {avoid}
        queue, expanded = [entry(0, start)], 0
        while queue:
            point = heapq.heappop(queue)[3]
            if point == goal:
                path = []
                while point != start:
                    path.insert(0, point)
                    point = parent[point]
                return path
            if point in closed:
                continue
            if expanded == limit:
                return None
            closed.add(point)
            expanded += 1
            self.expanded += 1
            for d, beside in legal_steps(self.grid, point):
                cost = g[point] + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
                if beside in closed or (self.edges is not None and (point, beside) not in self.edges):
                    continue
                if beside not in g or cost < g[beside]:
                    order.setdefault(beside, len(order))
                    g[beside], parent[beside] = cost, point
                    heapq.heappush(queue, entry(cost, beside))
        return None

    def search(self, walker: Walker) -> None:
        def begin(name: str = "") -> None:
            self.counters["repaths"] += walker.known
            walker.known = True
            if name:
                self.counters[name] += 1

        start = walker.reserved[-1]
        if walker.path and start != walker.origin:
            begin()
            ahead = min(REJOIN, len(walker.path))
            proxy = self.astar(start, walker.path[ahead - 1], None, self.proxy_expansions)
            walker.path = [] if proxy is None else proxy + walker.path[ahead:]
            walker.origin, walker.avoid = start, None
        if not walker.path and start != walker.goal:
            begin()
            walker.path = self.astar(start, walker.goal, None, float("inf")) or []
            walker.origin, walker.avoid = start, None
        if walker.path and walker.avoid is not None:
            begin("reroutes")
            walker.path = self.astar(start, walker.goal, walker.avoid, float("inf")) or walker.path
            walker.avoid = None

    # --- reserving -------------------------------------------------------------------------------------------------

    def others_at(self, walker: Walker, point: Point, ticks: int) -> list[Walker]:
        return [other for other in self.walkers if other is not walker and other.where(ticks) == point]

    def in_the_way(self, walker: Walker, cells: list[Point]) -> Walker | None:
        """Who has a reservation that collides with one more cell per tick after those that are reserved."""
        time = len(walker.reserved) - 1
        for j, cell in enumerate(cells, start=1):
            before = [walker.reserved[-1], *cells][j - 1]
            if cell == walker.left:
                return walker.left_for
            if others := self.others_at(walker, cell, time + j):
                return others[0]
            for leaving in self.others_at(walker, cell, time + j - 1):
                if leaving.where(time + j) == before:
                    return leaving
        last = time + len(cells)
        if keepers := [other for other in self.walkers if other is not walker and other.reserved[-1] == cells[-1]]:
            return keepers[0]
        for ticks in range(self.reservation, last, -1):
            if others := self.others_at(walker, cells[-1], ticks):
                return others[0]
        return None

    def request(self, walker: Walker) -> None:
        if not walker.path or walker.reserved[-1] != walker.origin or not (walker.stands or self.commit == "slide"):
            return
        cells = walker.path[: self.reservation + 1 - len(walker.reserved)]
        other = self.in_the_way(walker, cells) if cells else None
        if other is None:
            walker.path = walker.path[len(cells) :]
            walker.reserved += cells
            walker.origin = walker.reserved[-1]
            walker.waited, walker.evaded, walker.avoid = 0, [], None
        elif walker.stands:
            walker.waited += 1
            walker.waits_for = other

    # --- stepping aside --------------------------------------------------------------------------------------------

    def refuges(self, walker: Walker, pusher: Walker) -> list[Point]:
        """Where it can go, the best first."""
        if not walker.stands or (walker.pinned and walker.at == walker.goal):
            return []
        free = [
            point
            for _, point in legal_steps(self.grid, walker.at)
            if not any(point in other.reserved for other in self.walkers)
            and point not in walker.evaded[-EVASIONS:]
            and point not in pusher.path[: self.reservation]
        ]
        return sorted(free, key=lambda point: (point in pusher.path[:LOOK_AHEAD], point in walker.path[:LOOK_AHEAD]))

    def step_aside(self, walker: Walker, other: Walker, point: Point, name: str) -> None:
        self.counters[name] += 1
        walker.left, walker.left_for, walker.left_until = walker.at, other, self.now + 2 * self.reservation
        walker.evaded.append(point)
        walker.reserved.append(point)
        walker.waited = 0

    def go_around(self, walker: Walker) -> None:
        assert walker.waits_for is not None
        walker.rerouted = self.now
        walker.avoid = walker.waits_for.at

    def break_circle(self, circle: list[Walker]) -> None:
        """The circle in the order of who waits for whom."""
        self.counters["wait_circles"] += 1
        pairs = [(walker, circle[k - 1]) for k, walker in enumerate(circle)]
        able = [(walker, other) for walker, other in pairs if self.refuges(walker, other)]
        if able:
            walker, other = min(able, key=lambda pair: (-len(self.refuges(*pair)), pair[0].index))
            self.step_aside(walker, other, self.refuges(walker, other)[0], "proxies")
            return
        eager = [walker for walker in circle if walker.path and self.now - walker.rerouted >= self.patience]
        if eager:
            self.go_around(min(eager, key=lambda walker: (-walker.waited, walker.index)))

    def next_in_row(self, walker: Walker, chain: list[Walker]) -> Walker | None:
        def rank(other: Walker) -> int:
            return 0 if other.at == other.goal and other.stands else 1 if other.waits_for is None else 2

        beside = [point for _, point in legal_steps(self.grid, walker.at)]
        others = [other for point in beside for other in self.walkers if other.at == point and other not in chain]
        return min(others, key=rank, default=None)

    def follow(self, root: Walker, seen: set[Walker]) -> None:
        chain: list[Walker] = []
        pusher, walker = root, root
        while walker not in seen:
            parked = walker.at == walker.goal and walker.stands
            if walker.waits_for is None and (not parked or pusher.left is not None):
                return
            seen.add(walker)
            chain.append(walker)
            if walker.waits_for is not None:
                pusher = walker
            elif refuges := self.refuges(walker, pusher):
                self.step_aside(walker, chain[-2], refuges[0], "pushes")
                return
            elif not walker.pinned:
                walker.waits_for = self.next_in_row(walker, chain)
            if walker.waits_for is None:
                return
            walker = walker.waits_for
        if walker in chain:
            self.break_circle(chain[chain.index(walker) :])

    def panic(self, walker: Walker) -> None:
        other = walker.waits_for
        if other is None or walker.waited < self.patience or not walker.stands:
            return
        if other.waits_for is not None and (refuges := self.refuges(other, walker)):
            self.step_aside(other, walker, refuges[0], "proxies")
        elif self.now - walker.rerouted >= self.patience:
            self.go_around(walker)

    # --- a tick ----------------------------------------------------------------------------------------------------

    def for_all(self, do: Callable[[Walker], None], first: int = 0) -> None:
        for walker in self.walkers[first:] + self.walkers[:first]:
            do(walker)

    def look(self, walker: Walker) -> None:
        walker.waits_for = None
        if walker.at == walker.goal and (walker.stands or walker.pinned):
            walker.reserved = [walker.at]
            walker.path = []
        been_there = walker.left_for is not None and walker.left_for.at == walker.left
        if been_there or self.now >= walker.left_until:
            walker.left = None

    def move(self, walker: Walker) -> None:
        walker.reserved = walker.reserved[1:] or walker.reserved
        walker.at = walker.reserved[0]

    def tick(self) -> None:
        self.for_all(self.look)
        self.for_all(self.search)
        self.for_all(self.request, first=self.now % len(self.walkers))
        seen: set[Walker] = set()
        for walker in self.walkers:
            if walker.waits_for is not None:
                self.follow(walker, seen)
        self.for_all(self.panic)
        self.for_all(self.move)
        self.now += 1
