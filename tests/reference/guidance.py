"""Guide paths by plain A* over (cell, ticks ahead), among the guide paths of all other agents, as lists of cells."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Sequence

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST

TURN, MOST, CROWD = 4, 48, 7
MEETING, PARKED = CARDINAL_COST, CARDINAL_COST


class ReferenceGuidance:
    """The guide paths of a crowd; `far(agent, cell)` is the distance to an agent's goal."""

    def __init__(self, grid: Grid, window: int) -> None:
        self.grid, self.window = grid, window
        self.paths: dict[int, list[int]] = {}           # where the agent is, then a cell per tick
        self.at: Sequence[int] = ()
        self.goal: Sequence[int] = ()
        self.fixed: Collection[int] = ()                # agents that are walls to the others
        self.far: Callable[[int, int], int] = lambda *_: 0

    def wish(self, agent: int) -> int | None:
        return self.paths[agent][1] if agent in self.paths else None

    def tick(
        self, tick: int, at: Sequence[int], goal: Sequence[int], far: Callable[[int, int], int],
        order: Sequence[int], fixed: Collection[int],
    ) -> None:  # fmt: skip
        """Follow the paths to where the agents are now, and search for those that are missing or whose turn it is."""
        self.at, self.goal, self.far, self.fixed = at, goal, far, fixed
        self.paths = {a: path[1:] for a, path in self.paths.items() if path[1] == at[a] and len(path) > 2}
        for agent in order:
            if agent in self.paths and at[agent] != goal[agent] and (tick + agent) % TURN != 0:
                continue
            self.paths.pop(agent, None)
            if at[agent] != goal[agent]:
                path = self.straight_path(agent) or self.path(agent)
                if len(path) > 1:
                    self.paths[agent] = path

    def steps(self, cell: int) -> list[tuple[int, int]]:
        return [(d, self.grid.cell(*place)) for d, place in legal_steps(self.grid, self.grid.xy(cell))]

    def meetings(self, here: int, there: int, ticks: int) -> int:
        others = [path for path in self.paths.values() if len(path) > ticks]
        coming = sum(path[ticks] == there for path in others)
        return coming + sum(here != there and path[ticks - 1 : ticks + 1] == [there, here] for path in others)

    def stands_on(self, cell: int, but: int) -> int | None:
        return next((a for a, place in enumerate(self.at) if place == cell and a != but), None)

    def is_parked(self, cell: int, but: int) -> bool:
        other = self.stands_on(cell, but)
        return other is not None and self.goal[other] == cell

    def is_wall(self, cell: int, but: int) -> bool:
        return self.stands_on(cell, but) in self.fixed

    def straight_path(self, agent: int) -> list[int]:
        """One step nearer in each tick, diagonals first, if it meets nobody; otherwise none."""
        path = [self.at[agent]]
        while len(path) <= self.window and path[-1] != self.goal[agent]:
            here = path[-1]
            for d, there in sorted(self.steps(here), key=lambda step: step[0] ^ 4):
                cost = CARDINAL_COST if d < 4 else DIAGONAL_COST
                is_nearer = self.far(agent, there) == self.far(agent, here) - cost
                is_free = not self.is_parked(there, agent) and not self.is_wall(there, agent)
                if is_nearer and is_free and self.meetings(here, there, len(path)) == 0:
                    path.append(there)
                    break
            else:
                return []
        return path

    def path(self, agent: int) -> list[int]:
        """The path that costs least; after MOST expansions, the longest that was seen."""
        start = self.at[agent], 0
        cost, before, number = {start: 0}, {start: start}, {start: 0}
        heap, closed, longest = [(self.far(agent, start[0]), self.far(agent, start[0]), 0, start)], set(), start
        while heap:
            *_, state = heapq.heappop(heap)
            if state in closed:
                continue
            here, ticks = state
            longest = state if ticks > longest[1] else longest
            if here == self.goal[agent] or ticks == self.window or (len(closed) >= MOST and longest[1] > 0):
                last = state if here == self.goal[agent] else longest
                path = [last]
                while path[0] != start:
                    path.insert(0, before[path[0]])
                return [cell for cell, _ in path]
            closed.add(state)
            for d, there in [*self.steps(here), (8, here)]:
                met, then = self.meetings(here, there, ticks + 1), (there, ticks + 1)
                if met >= CROWD or self.is_wall(there, agent) or then in closed:
                    continue
                total = cost[state] + (DIAGONAL_COST if 4 <= d < 8 else CARDINAL_COST)
                total += (MEETING + met if met else 0) + PARKED * self.is_parked(there, agent)
                if then not in cost or total < cost[then]:
                    cost[then], before[then] = total, state
                    left = self.far(agent, there)
                    heapq.heappush(heap, (total + left, left, number.setdefault(then, len(number)), then))
        return []
