"""A crowd that the planner moves, among agents of the program and some that are pinned, as PIBT looks at it."""

from __future__ import annotations

import numpy as np

from tests.reference.astar import empty_map_cost
from tests.reference.reverse_resumable import distances
from wend import Grid, World
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, Point
from wend.planners.base import Planner

STEP = [*[CARDINAL_COST] * 4, *[DIAGONAL_COST] * 4, CARDINAL_COST]


class MixedCrowd:
    """`look` says where agents are, where they want to be, who stays there anyway, and who decides first."""

    def __init__(self, grid: Grid, planner: Planner, seed: int, count: int, rng: np.random.Generator) -> None:
        self.grid, self.count = grid, count
        self.world = World(grid, planner, seed=seed)
        starts, goals = (rng.permutation(grid.largest_component())[:count] for _ in range(2))
        for agent, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
            self.world.add(grid.xy(start), grid.xy(goal), controlled=agent % 8 != 7)
        for agent in range(3, count, 5):
            self.world.pin(agent)
        self.away, self.first = [0] * count, [self._cost(agent) for agent in range(count)]
        self.look(0)

    def _cost(self, agent: int) -> int:
        """How far it is to an agent's goal, as on an empty map."""
        cell = self.grid.cell
        return empty_map_cost(self.grid, cell(*self.world.position(agent)), cell(*self.world.goal(agent)))

    def order(self, agent: int, place: Point) -> None:
        self.world.order(agent, place)
        self.first[agent] = self._cost(agent)

    def look(self, tick: int) -> None:
        agents, world = range(self.count), self.world
        self.at, self.to = [world.position(a) for a in agents], [world.goal(a) for a in agents]
        is_home = [here == goal for here, goal in zip(self.at, self.to, strict=True)]
        self.away = [tick if is_home[a] else self.away[a] for a in agents]
        self.firm = [a for a in agents if a % 8 == 7 or (a % 5 == 3 and is_home[a])]
        self.turns = sorted(agents, key=lambda a: (self.away[a], -self.first[a], a))
        self.known = {goal: distances(self.grid, self.grid.cell(*goal)) for goal in self.to}

    def far(self, agent: int, place: Point) -> int:
        return self.known[self.to[agent]][self.grid.cell(*place)]
