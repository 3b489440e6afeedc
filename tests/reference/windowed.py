"""WHCA* and Weave one agent at a time: plans and reservations in dicts, exact distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.reference.abstraction import abstract
from tests.reference.astar import empty_map_cost
from tests.reference.grid import legal_steps
from tests.reference.pibt import ReferencePibt, ReferenceSwap
from tests.reference.reverse_resumable import distances
from tests.reference.space_time import Table, search
from wend.kernel import scramble
from wend.maps.grid import Grid

STABLE_TICKS = 8

PUSHING: dict[str, Any] = {"window": 8, "order": "age", "boxed_in": "push", "soft_tail": 1}     # all that jams need


@dataclass
class Walker:
    """One agent."""

    at: int
    goal: int
    distance: dict[int, int]                                # of every cell to the goal
    estimate: dict[int, int]                                # the same as its searches take it
    plan: dict[int, int] = field(default_factory=dict)      # time -> cell
    due: bool = True                                        # must plan anew
    under_way: bool = False                                 # has found a way since its last order
    aimed: int = 0                                          # tick of its last order
    home_ticks: int = 0
    left_home: int = 0
    nearest: int | None = None
    nearer_at: int = 0


class ReferenceWindowed:
    """WHCA*(window), and Weave with pushes=True."""

    def __init__(
        self,
        grid: Grid,
        *,
        window: int,
        abstraction: int = 0,
        order: str = "rotate",
        soft_tail: int = 0,
        no_follow: bool = False,
        forbid_cross: bool = False,
        pushes: bool = False,
        patience: int = 16,
        seed: int = 0,
    ) -> None:
        self.grid, self.window, self.order, self.seed = grid, window, order, seed
        self.pushes, self.patience = pushes, patience
        self.soft_tail, self.no_follow, self.forbid_cross = soft_tail, no_follow, forbid_cross
        self.graph = abstract(grid, abstraction, uniform=True) if abstraction else None
        self.table = Table()
        self.tails: dict[int, int] = {}     # cell -> the agent that last made a plan ending there, while it has it
        self.walkers: list[Walker] = []
        self.time = 0
        self.searches = self.repaths = self.boxed_in = self.pushed = 0
        self.urgent: list[int] = []         # who was called back, the last one first
        self.goes: dict[int, int] = {}      # who has been given its next step in this tick, and keeps it -> its cell

    def add(self, at: int, goal: int) -> None:
        self.walkers.append(Walker(at, goal, distances(self.grid, goal), self.estimates(goal)))
        self.give(len(self.walkers) - 1, [at])

    def retask(self, agent: int, goal: int) -> None:
        walker = self.walkers[agent]
        walker.goal, walker.distance, walker.estimate = goal, distances(self.grid, goal), self.estimates(goal)
        walker.due, walker.under_way, walker.nearest = True, False, None
        walker.home_ticks, walker.left_home, walker.nearer_at, walker.aimed = 0, self.time, self.time, self.time

    def estimates(self, goal: int) -> dict[int, int]:
        """Exact distances; or those between groups, and as on an empty map in the goal's own group."""
        if self.graph is None:
            return distances(self.grid, goal)
        group = {self.grid.cell(*place): number for place, number in self.graph.group.items()}
        far = self.graph.distances(group[goal])
        return {
            cell: far[own] if own != group[goal] else empty_map_cost(self.grid, cell, goal)
            for cell, own in group.items()
            if own in far
        }

    # --- plans -----------------------------------------------------------------------------------------------------

    def drop(self, agent: int) -> None:
        plan = self.walkers[agent].plan
        for time, cell in plan.items():
            self.table.release(cell, time, agent)
        if plan and self.tails.get(plan[max(plan)]) == agent:
            del self.tails[plan[max(plan)]]
        plan.clear()

    def give(self, agent: int, way: list[int]) -> None:
        """Let an agent follow a way from now on."""
        self.drop(agent)
        self.walkers[agent].plan = {self.time + k: cell for k, cell in enumerate(way)}
        for time, cell in self.walkers[agent].plan.items():
            self.table.reserve(cell, time, agent)
        self.tails[way[-1]] = agent

    def call_back(self, cell: int, time: int, agent: int) -> None:
        """Take the way from another agent that has a cell at a time; it replans before all others."""
        other = self.table.other(cell, time, agent)
        if other is not None and other not in self.goes and other not in self.urgent:
            self.give(other, [self.walkers[other].at])
            self.walkers[other].due = True
            self.urgent.append(other)

    def find(self, agent: int, start: int, time: int, steps: int) -> list[int] | None:
        walker = self.walkers[agent]
        return search(
            self.grid, self.table, {cell: (a, max(self.walkers[a].plan)) for cell, a in self.tails.items()},
            walker.estimate, agent, start, time, walker.goal, steps, window=True,
            no_follow=self.no_follow, forbid_cross=self.forbid_cross, soft_tail=self.soft_tail,
        ).way  # fmt: skip

    # --- a tick ----------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        for agent, walker in enumerate(self.walkers):
            if walker.plan.get(self.time) != walker.at:
                self.give(agent, [walker.at])
                walker.due = True
        self.goes.clear()
        self.look()
        line = self.line()
        while self.urgent or line:
            agent = self.urgent[-1] if self.urgent else line[0]
            if agent not in self.goes:
                self.replan(agent)
            (self.urgent if agent in self.urgent else line).remove(agent)
        for agent in sorted(self.goes):
            self.extend(agent)
        for agent, walker in enumerate(self.walkers):
            if self.time + 1 not in walker.plan:
                self.give(agent, [walker.at] * (self.window + 1))
                walker.due = True
            walker.at = walker.plan[self.time + 1]
        self.time += 1

    def look(self) -> None:
        for walker in self.walkers:
            walker.home_ticks = walker.home_ticks + 1 if walker.at == walker.goal else 0
            if walker.home_ticks >= STABLE_TICKS:
                walker.left_home = walker.nearer_at = self.time
                walker.nearest = None
            far = walker.distance[walker.at]
            # In the tick of an order nothing has been searched yet, so that the distance is not known.
            if not walker.home_ticks and self.time > walker.aimed and (walker.nearest is None or far < walker.nearest):
                walker.nearest = far
                walker.nearer_at = self.time

    def spells(self, agent: int) -> int:
        """For how many times its patience an agent that pushes has been away without coming nearer."""
        walker = self.walkers[agent]
        return (self.time - walker.nearer_at) // self.patience if self.pushes and not walker.home_ticks else 0

    def is_stuck(self, agent: int) -> bool:
        """Whether it pushes before it plans: in the first such spell, and in others by lot."""
        spells = self.spells(agent)
        return spells == 1 or (spells > 1 and scramble(self.seed ^ scramble(agent) ^ scramble(spells)) % 2 == 0)

    def line(self) -> list[int]:
        """Who plans in this tick, first to last."""
        half = max(1, self.window // 2)
        due = [
            agent
            for agent, walker in enumerate(self.walkers)
            if walker.due or (self.time + agent) % half == 0 or self.spells(agent)
        ]
        if self.order == "age":
            return sorted(due, key=lambda agent: self.walkers[agent].left_home)
        return sorted(due, key=lambda agent: (agent - self.time) % len(self.walkers))

    def replan(self, agent: int) -> None:
        walker = self.walkers[agent]
        if self.is_stuck(agent) and self.push(agent):
            return
        way = self.find(agent, walker.at, self.time, self.window)
        if way is not None:
            if not self.can_stay_home(agent):
                self.searches += 1
                self.repaths += walker.due and walker.under_way
                walker.under_way = True
            self.give(agent, way)
            walker.due = False
            return
        self.boxed_in += 1
        if self.pushes and self.push(agent):
            return
        for k in range(1, self.window + 1):
            self.call_back(walker.at, self.time + k, agent)
        self.give(agent, [walker.at] * (self.window + 1))
        self.goes[agent] = walker.at
        walker.due = True

    def can_stay_home(self, agent: int) -> bool:
        """Whether no search is needed to see that staying is best."""
        walker = self.walkers[agent]
        wanted = any(self.table.other(walker.at, self.time + k, agent) is not None for k in range(1, self.window + 1))
        is_tail = self.soft_tail > 0 and self.tails.get(walker.at, agent) != agent
        return walker.at == walker.goal and not wanted and not is_tail

    def extend(self, agent: int) -> None:
        """Plan on for an agent that was pushed."""
        plan = self.walkers[agent].plan
        if len(plan) == 2 and self.window > 1:
            way = self.find(agent, plan[self.time + 1], self.time + 1, self.window - 1)
            if way is not None:
                self.give(agent, [plan[self.time], *way])
                self.walkers[agent].due = False

    # --- the push --------------------------------------------------------------------------------------------------

    def beside(self, cell: int) -> list[int]:
        return [self.grid.cell(*place) for _, place in legal_steps(self.grid, self.grid.xy(cell))]

    def occupant(self, cell: int) -> int | None:
        return next((agent for agent, walker in enumerate(self.walkers) if walker.at == cell), None)

    def options(self, agent: int) -> list[int]:
        """Where an agent may go next, or stay: nearest to its goal first, then empty cells first, then by lot."""
        walker = self.walkers[agent]
        cells = [(d, self.grid.cell(*place)) for d, place in legal_steps(self.grid, self.grid.xy(walker.at))]

        def key(option: tuple[int, int]) -> tuple[int, bool, int]:
            d, cell = option
            lot = scramble(self.seed ^ scramble(self.time * 9 + d) ^ agent) & 255
            return walker.distance[cell], self.occupant(cell) not in (None, agent), lot

        return [cell for _, cell in sorted([*cells, (8, walker.at)], key=key)]

    def push(self, root: int) -> bool:
        """One step of PIBT; what was decided in failed tries does not stand."""
        at = [walker.at for walker in self.walkers]
        standing = {cell: agent for agent, cell in enumerate(at)}
        swap = ReferenceSwap(self.beside, standing, lambda agent, cell: self.walkers[agent].distance[cell])

        def options(agent: int, pusher: int | None) -> tuple[list[int], int | None]:
            cells = self.options(agent)
            best, here = cells[0], at[agent]
            ahead, partner = standing.get(best), None
            if pusher is not None:
                turns_round = best != here and swap.should(pusher, here, agent, best)
            else:
                turns_round = ahead not in (None, root) and swap.should(root, here, ahead, best)
                partner = ahead if turns_round else None
            if turns_round:
                cells.reverse()
            return cells if pusher is not None else cells[: cells.index(here)], partner

        def may_push(root: int, other: int) -> bool:
            walker = self.walkers[other]
            return walker.left_home >= self.walkers[root].left_home or walker.home_ticks >= STABLE_TICKS

        pibt = ReferencePibt(at, options, may_push=may_push, fixed=self.goes)
        if not pibt.decide(root):
            return False
        moved = {agent: cell for agent, cell in pibt.goes.items() if agent not in self.goes and cell != at[agent]}
        self.goes |= moved
        self.pushed += 1
        for agent in moved:
            self.drop(agent)
        for agent, cell in moved.items():
            self.call_back(cell, self.time + 1, agent)
            self.give(agent, [at[agent], cell])
            self.walkers[agent].due = True
        return True
