"""CA* and HCA* one agent at a time, in the words of cooperative.py's docstring; and the guard, by recursion."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.reference.astar import empty_map_cost
from tests.reference.reverse_resumable import distances
from tests.reference.space_time import Table, search
from wend.maps.grid import Grid


def granted(at: list[int], wanted: list[int]) -> list[int]:
    """Where everybody stands next, if the one in front decides first and rings of three or more turn."""
    occupant = {cell: agent for agent, cell in enumerate(at)}
    next_cell: dict[int, int] = {}
    asked: list[int] = []

    def decide(agent: int) -> None:
        asked.append(agent)
        ahead = occupant.get(wanted[agent], agent)
        if ahead in asked:
            ring = asked[asked.index(ahead) :]
            if len(ring) > 2:
                next_cell.update({one: wanted[one] for one in ring})
        elif ahead not in next_cell:
            decide(ahead)
        if agent not in next_cell:
            free = wanted[agent] not in next_cell.values() and (ahead == agent or ahead in next_cell)
            next_cell[agent] = wanted[agent] if free else at[agent]

    for agent in range(len(at)):
        if agent not in next_cell:
            asked.clear()
            decide(agent)
    return [next_cell[agent] for agent in range(len(at))]


@dataclass
class Walker:
    """One agent."""

    at: int
    goal: int
    plan: list[int] = field(default_factory=list)
    since: int = 0

    def place(self, time: int) -> int:
        return self.plan[min(time - self.since, len(self.plan) - 1)]


class ReferenceCooperative:
    """CA*, or HCA*."""

    def __init__(self, grid: Grid, *, hierarchical: bool, far_first: bool = False, no_follow: bool = False) -> None:
        self.grid, self.hierarchical, self.far_first, self.no_follow = grid, hierarchical, far_first, no_follow
        self.table = Table()
        self.walkers: list[Walker] = []
        self.waiting: set[int] = set()
        self.time = 0
        self.stops = 0

    def add(self, at: int, goal: int) -> None:
        self.walkers.append(Walker(at, goal, [at], self.time))
        self.table.reserve(at, self.time, len(self.walkers) - 1)
        self.waiting.add(len(self.walkers) - 1)

    def turn(self, agent: int) -> tuple[int, int]:
        (x, y), (goal_x, goal_y) = self.grid.xy(self.walkers[agent].at), self.grid.xy(self.walkers[agent].goal)
        return (-max(abs(x - goal_x), abs(y - goal_y)) if self.far_first else 0), agent

    def plan(self, agent: int) -> None:
        walker = self.walkers[agent]
        for k, cell in enumerate(walker.plan):
            self.table.release(cell, walker.since + k, agent)
        self.table.release_hold(walker.plan[-1], agent)
        if self.hierarchical:
            distance = distances(self.grid, walker.goal)
        else:
            cells = self.grid.free_cells().tolist()
            distance = {cell: empty_map_cost(self.grid, cell, walker.goal) for cell in cells}
        steps = 4 * (self.grid.width + self.grid.height) + len(self.walkers)
        found = search(
            self.grid, self.table, {}, distance, agent, walker.at, self.time, walker.goal, steps,
            window=False, no_follow=self.no_follow,
        )  # fmt: skip
        walker.plan, walker.since = found.way or [walker.at], self.time
        for k, cell in enumerate(walker.plan):
            self.table.reserve(cell, self.time + k, agent)
        self.table.hold(walker.plan[-1], self.time + len(walker.plan) - 1, agent)

    def tick(self) -> None:
        for agent in sorted(self.waiting, key=self.turn):
            self.plan(agent)
        wanted = [walker.place(self.time + 1) for walker in self.walkers]
        reached = granted([walker.at for walker in self.walkers], wanted)
        self.waiting = {agent for agent, walker in enumerate(self.walkers) if reached[agent] != wanted[agent]}
        self.stops += len(self.waiting)
        for walker, cell in zip(self.walkers, reached, strict=True):
            walker.at = cell
        self.time += 1
