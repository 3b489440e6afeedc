"""BMAA* and Surge, one agent at a time, after the paper's Algorithms 2 and 3 and bmaa.py's docstring."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.reference.blocks import CELL, ReferenceBlocks, ReferenceRow
from tests.reference.flow import annotate, annotate_locally
from tests.reference.grid import legal_steps
from tests.reference.pibt import ReferencePibt
from tests.reference.real_time import Mind, learn, search
from wend.kernel import scramble
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DX, DY, Point


@dataclass
class BlockMind(Mind):
    """What an agent believes if it knows the blocks."""

    row: ReferenceRow | None = None

    def h(self, point: Point) -> int:
        blocks = 0 if self.row is None else self.row.estimate(point) * (CARDINAL_COST // CELL)
        free = Mind(self.grid, self.goal).h(point)
        return super().h(point) if self.row is None else max(free, blocks, self.learned.get(point, 0))


@dataclass
class Walker:
    """One agent."""

    at: Point
    mind: BlockMind
    prefix: dict[Point, Point] = field(default_factory=dict)       # P
    limit: int = 0
    has_moved: bool = False
    is_lost: bool = False       # it was pushed off its path
    away: int = 0               # when it was last at home, or gave up
    moved: int = 0              # when it last moved, or was at home, or gave up


class ReferenceBmaa:
    """BMAA* without a budget."""

    def __init__(
        self, grid: Grid, *, expansions: int = 32, vision: float = math.sqrt(2), moves: int = 32,
        push: bool = False, flow: str = "none", heuristic: str = "octile", block: int = 8, make_way: bool = False,
        patience: int = 8, replan_when_blocked: bool = False, spread: int = 0, seed: int = 0,
    ) -> None:  # fmt: skip
        self.make_way, self.patience, self.replan, self.spread, self.seed = (
            make_way, patience, replan_when_blocked, spread, seed
        )  # fmt: skip
        self.blocks = ReferenceBlocks(grid, block) if heuristic == "blocks" else None
        self.rows: dict[int, ReferenceRow] = {}
        self.grid, self.expansions, self.vision, self.moves, self.push = grid, expansions, vision, moves, push
        self.edges = None if flow == "none" else {"global": annotate, "local": annotate_locally}[flow](grid)
        self.walkers: list[Walker] = []
        self.time = self.expanded = self.pushes = 0

    def add(self, at: Point, goal: Point) -> None:
        mind = BlockMind(self.grid, goal)
        if self.blocks is not None:
            group = self.blocks.group[goal]
            mind.row = self.rows.setdefault(group, ReferenceRow(self.blocks, group))
        self.walkers.append(Walker(at, mind))

    def neighbours(self, point: Point) -> Iterable[tuple[int, Point]]:
        steps = legal_steps(self.grid, point)
        return [(d, to) for d, to in steps if self.edges is None or (point, to) in self.edges]

    def wants_search(self, walker: Walker) -> bool:
        if walker.at == walker.mind.goal:
            walker.prefix = {}
            return False
        does_without = self.make_way and walker.is_lost and self.knows(walker)
        return self.time >= walker.limit or (walker.at not in walker.prefix and not does_without)

    def knows(self, walker: Walker) -> bool:
        row = walker.mind.row
        return row is None or row.blocks.group[walker.at] in row.known

    def search_phase(self) -> None:
        searchers = [walker for walker in self.walkers if self.wants_search(walker)]
        for walker in searchers:
            if walker.mind.row is not None and not self.knows(walker):
                self.expanded += walker.mind.row.reach(walker.mind.row.blocks.group[walker.at])
        for walker in searchers:
            self.search(walker)

    def search(self, walker: Walker) -> None:
        others = {other.at for other in self.walkers if other is not walker}
        seen = {point for point in others if math.dist(point, walker.at) <= self.vision + 1e-9}
        found = search(walker.mind, walker.at, self.expansions, seen, self.neighbours)
        self.expanded += found.expanded
        walker.prefix, walker.limit, walker.is_lost = {}, 0, found.first is None
        at = walker.at
        for d in found.steps:
            walker.prefix[at] = at = at[0] + DX[d], at[1] + DY[d]
        if found.first is not None:
            learn(walker.mind, found)
            walker.limit = self.time + max(1, self.moves - self.walkers.index(walker) % (self.spread + 1))

    def push_aside(self, pusher: Walker, pushed: Walker) -> None:
        taken = {walker.at for walker in self.walkers}
        refuges = [point for _, point in legal_steps(self.grid, pushed.at) if point not in taken]
        ahead, at = set(), pushed.at
        while at in pusher.prefix:
            at = pusher.prefix[at]
            ahead.add(at)
        best = [point for point in refuges if point not in ahead] or refuges
        if best:
            pushed.at = best[0]
            pushed.has_moved = True
            self.pushes += 1

    def tick(self) -> None:
        self.search_phase()
        if self.make_way:
            self.settle_phase()
        else:
            self.execution_phase()
        self.time += 1

    def execution_phase(self) -> None:
        for walker in self.walkers:
            walker.has_moved = False
        for walker in self.walkers:
            if walker.at not in walker.prefix or walker.has_moved:
                continue
            target = walker.prefix[walker.at]
            there = [other for other in self.walkers if other.at == target]
            if self.push and there and there[0].at == there[0].mind.goal and not there[0].has_moved:
                self.push_aside(walker, there[0])
            if not any(other.at == target for other in self.walkers):
                walker.at = target
                walker.has_moved = True
            elif self.replan:
                walker.limit = 0

    def settle_phase(self) -> None:
        lot = int(scramble(self.seed ^ int(scramble(self.time))))
        for agent, walker in enumerate(self.walkers):
            impatient = self.time - walker.moved >= self.patience and scramble(lot ^ scramble(agent)) & 7 == 0
            if walker.at == walker.mind.goal or impatient:
                walker.away = walker.moved = self.time
        at = [walker.at for walker in self.walkers]
        order = sorted(range(len(at)), key=lambda agent: (self.walkers[agent].away, agent))
        wishes = [self.wish(walker) for walker in self.walkers]
        goes = self.settle(at, order, wishes, lot)
        for walker, wish, there in zip(self.walkers, wishes, goes, strict=True):
            has_prefix = walker.at in walker.prefix
            if there != walker.at:
                walker.moved = self.time
            if there != wish and there != walker.at:
                walker.prefix = {}
                walker.is_lost |= has_prefix
                self.pushes += 1
            elif there != wish and has_prefix and self.replan:
                walker.limit = 0
            walker.at = there

    def settle(
        self, at: list[Point], order: list[int], wishes: list[Point | None], lot: int,
        fixed: dict[int, Point] | None = None,
    ) -> list[Point]:  # fmt: skip
        """Where all agents go: each to the place that it wishes, or the best that it can have."""

        def options(agent: int, pusher: int | None) -> tuple[list[Point], None]:
            wish = wishes[agent]
            return ([] if wish is None else [wish]) + self.options(agent, pusher, lot), None

        pibt = ReferencePibt(at, options, fixed=fixed)
        for agent in order:
            if agent not in pibt.goes:
                pibt.decide(agent)
        return [pibt.goes[agent] for agent in range(len(at))]

    def wish(self, walker: Walker) -> Point | None:
        if walker.at == walker.mind.goal:
            return walker.at
        if walker.at in walker.prefix:
            return walker.prefix[walker.at]
        return None if self.knows(walker) else walker.at

    def options(self, agent: int, pusher: int | None, lot: int) -> list[Point]:
        walker, taken = self.walkers[agent], {walker.at for walker in self.walkers}
        keys = {}
        for d, there in [*legal_steps(self.grid, walker.at), (8, walker.at)]:
            cost = walker.mind.h(there)
            if pusher is not None and walker.at == walker.mind.goal:
                mind = self.walkers[pusher].mind
                cost += 2 * CARDINAL_COST * (mind.h(there) < mind.h(walker.at))
            is_busy = there in taken and there != walker.at
            keys[there] = cost >> 12, is_busy, scramble(lot ^ scramble(agent * 9 + d)) & 255, d
        return sorted(keys, key=lambda there: keys[there])
