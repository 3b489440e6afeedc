"""Rough agents that know nothing yet but where their goals are: LRTA* on the empty map's distances, and PIBT."""

from __future__ import annotations

from tests.reference.astar import empty_map_cost
from tests.reference.grid import legal_steps
from tests.reference.pibt import ReferencePibt
from wend.kernel import scramble
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST

STABLE_TICKS = 8


class ReferenceRough:
    """Weave (or, without `pushes`, WHCA*) in ticks whose budgets are too small to find anything out."""

    def __init__(self, grid: Grid, *, pushes: bool, seed: int) -> None:
        self.grid, self.pushes, self.seed = grid, pushes, seed
        self.at: list[int] = []
        self.goal: list[int] = []
        self.learned: list[dict[int, int]] = []     # by agent: cell -> cost
        self.home_ticks: list[int] = []
        self.left_home: list[int] = []
        self.pinned: set[int] = set()
        self.plans: dict[int, int] = {}             # agent -> the next cell of its plan: it is not rough
        self.time = 0

    def add(self, at: int, goal: int) -> None:
        self.at.append(at)
        self.goal.append(goal)
        self.learned.append({})
        self.home_ticks.append(0)
        self.left_home.append(0)

    def is_home(self, agent: int) -> bool:
        return self.at[agent] == self.goal[agent]

    def steps(self, agent: int) -> list[tuple[int, int]]:
        return [(d, self.grid.cell(*place)) for d, place in legal_steps(self.grid, self.grid.xy(self.at[agent]))]

    def believed(self, agent: int, cell: int) -> int:
        return max(empty_map_cost(self.grid, cell, self.goal[agent]), self.learned[agent].get(cell, 0))

    def cost(self, agent: int, cell: int) -> int:
        """What it goes by. Of one that is home or has a plan nothing is known but where its goal is."""
        if self.is_home(agent) or agent in self.plans:
            return 0 if cell == self.goal[agent] else CARDINAL_COST
        return self.believed(agent, cell)

    def options(self, agent: int) -> list[int]:
        def key(option: tuple[int, int]) -> tuple[int, bool, int]:
            d, cell = option
            lot = scramble(self.seed ^ scramble(self.time * 9 + d) ^ agent) & 255
            return self.cost(agent, cell), cell in self.at and cell != self.at[agent], lot

        first = [self.plans[agent]] if agent in self.plans else []
        return first + [cell for _, cell in sorted([*self.steps(agent), (8, self.at[agent])], key=key)]

    def learn(self, agent: int) -> None:
        """Believe of one's own cell what the best cell beside it promises."""
        promises = [
            (CARDINAL_COST if d < 4 else DIAGONAL_COST) + self.believed(agent, cell) for d, cell in self.steps(agent)
        ]
        if promises and min(promises) > self.believed(agent, self.at[agent]):
            self.learned[agent][self.at[agent]] = min(promises)

    def tick(self) -> None:
        agents = range(len(self.at))
        for agent in agents:
            self.home_ticks[agent] = self.home_ticks[agent] + 1 if self.is_home(agent) else 0
            if self.home_ticks[agent] >= STABLE_TICKS:
                self.left_home[agent] = self.time
        for agent in agents:
            if not self.is_home(agent) and agent not in self.plans:
                self.learn(agent)
        self.at = self.decide()
        self.time += 1

    def decide(self) -> list[int]:
        """Where all agents go: by PIBT, but those that rest on their goals only if they are pushed."""
        agents = range(len(self.at))
        fixed = {a: self.at[a] for a in agents if self.is_home(a) and (a in self.pinned or not self.pushes)}
        pibt = ReferencePibt(
            self.at, lambda agent, _: (self.options(agent), None), may_push=lambda *_: self.pushes, fixed=fixed
        )
        listed = [a for a in agents if not self.is_home(a) or self.plans.get(a, self.at[a]) != self.at[a]]
        for agent in sorted(listed, key=lambda agent: self.left_home[agent]):
            if agent not in pibt.goes:
                pibt.decide(agent)
        return [pibt.goes.get(agent, self.at[agent]) for agent in agents]
