"""LaCAM and LaCAM* with dicts and lists, as printed; the same chance as the kernel's, so that each step is the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.reference.grid import legal_steps
from tests.reference.guides import guide_paths
from tests.reference.joint import Configuration, loss
from tests.reference.preferences import next_places
from wend.kernel import scramble
from wend.maps.grid import Grid
from wend.maps.terrain import Point

STEP = [*[1] * 8, 0]
Constraint = tuple[tuple[int, Point], ...]      # the agents that are fixed, and where


@dataclass
class Node:
    at: Configuration
    order: list[int]
    parent: Node | None
    g: int
    h: int
    constraints: deque[Constraint] = field(default_factory=lambda: deque([()]))
    beside: list[tuple[Node, int]] = field(default_factory=list)


def count_moves(grid: Grid, goal: Point) -> dict[Point, int]:
    """Moves to a goal from all places."""
    moves, queue = {goal: 0}, deque([goal])
    while queue:
        place = queue.popleft()
        for _, beside in legal_steps(grid, place):
            if beside not in moves:
                moves[beside] = moves[place] + 1
                queue.append(beside)
    return moves


class ReferenceLacam:
    def __init__(
        self, grid: Grid, starts: Sequence[Point], goals: Sequence[Point], *,
        swaps: bool = True, seed: int = 0, guided: bool = False,
    ) -> None:  # fmt: skip
        self.grid, self.goals, self.swaps, self.seed = grid, tuple(goals), swaps, seed
        self.moves = [count_moves(grid, goal) for goal in goals]
        paths = guide_paths(grid, self.moves, starts, goals) if guided else [[] for _ in starts]
        self.guides = [dict(pairwise(path)) for path in paths]
        self.rank = sorted(range(len(starts)), key=lambda agent: -self.moves[agent][starts[agent]])
        self.explored: dict[Configuration, Node] = {}
        self.open: list[Node] = []
        self.goal: Node | None = None
        self.steps = 0
        self.root = self.add(tuple(starts), self.rank, None, 0)

    def add(self, at: Configuration, order: Sequence[int], parent: Node | None, cost: int) -> Node:
        away = [agent for agent in order if at[agent] != self.goals[agent]]
        home = [agent for agent in self.rank if at[agent] == self.goals[agent]]
        h = sum(self.moves[agent][place] for agent, place in enumerate(at))
        node = Node(at, away + home, parent, cost + (parent.g if parent else 0), h)
        self.explored[at] = node
        self.open.append(node)
        if h == 0:
            self.goal = node
        return node

    def run(self, steps: int) -> str:
        """Go on for so many steps: "found" at the first plan, "exhausted", or "out of steps"."""
        last = self.steps + steps
        while self.open:
            if self.steps >= last:
                return "out of steps"
            node = self.open[-1]
            if self.is_hopeless(node) or not node.constraints:
                self.open.pop()
                continue
            constraint = node.constraints.popleft()
            lot = int(scramble(self.seed ^ int(scramble(self.steps))))
            self.steps += 1
            self.continue_constraint(node, constraint, lot)
            goes = self.propose(node, constraint, lot)
            had_plan = self.goal is not None
            if goes is not None:
                self.arrive(node, goes, lot)
            if self.goal is not None and not had_plan:
                return "found"
        return "exhausted"

    def is_hopeless(self, node: Node) -> bool:
        return self.goal is not None and node.g + node.h >= self.goal.g

    def continue_constraint(self, node: Node, constraint: Constraint, lot: int) -> None:
        if len(constraint) == len(node.at):
            return
        agent = node.order[len(constraint)]
        here = node.at[agent]
        steps = dict([*legal_steps(self.grid, here), (8, here)])
        for k in range(9):
            there = steps.get((lot + k * (1 if lot & 1 else 2)) % 9)
            collides = any(there == taken for _, taken in constraint)
            exchanges = any(there == node.at[other] and taken == here for other, taken in constraint)
            if there is not None and not collides and not exchanges:
                node.constraints.append((*constraint, (agent, there)))

    def propose(self, node: Node, constraint: Constraint, lot: int) -> Configuration | None:
        standing = {place: agent for agent, place in enumerate(node.at)}
        first = [standing[place] for _, place in reversed(constraint) if place in standing]
        wishes = {agent: self.guides[agent].get(place) for agent, place in enumerate(node.at)}
        goes = next_places(
            self.grid, node.at, lambda agent, place: 2 * self.moves[agent][place], STEP, [*first, *node.order],
            swaps=self.swaps, lot=lot, fixed=dict(reversed(constraint)), wishes=wishes,
        )  # fmt: skip
        return tuple(goes[agent] for agent in range(len(node.at))) if len(goes) == len(node.at) else None

    def arrive(self, node: Node, goes: Configuration, lot: int) -> None:
        known = self.explored.get(goes)
        if known is node:
            return
        cost = loss(node.at, goes, self.goals)
        if known is None:
            self.link(node, self.add(goes, node.order, node, cost), cost)
            return
        if known.parent is not node and node.parent is not known:
            self.link(node, known, cost)
            self.relax(node)
            self.relax(known)
        self.open.append(self.root if lot % 1000 == 0 else known)

    @staticmethod
    def link(node: Node, other: Node, cost: int) -> None:
        node.beside.insert(0, (other, cost))
        other.beside.insert(0, (node, cost))

    def relax(self, begin: Node) -> None:
        queue, improved = deque([begin]), []
        while queue:
            node = queue.popleft()
            for other, cost in node.beside:
                if node.g + cost < other.g:
                    other.g, other.parent = node.g + cost, node
                    if not any(waiting is other for waiting in queue):
                        queue.append(other)
                    if not any(known is other for known in improved):
                        improved.append(other)
        self.open += [node for node in improved if self.goal is not None and not self.is_hopeless(node)]

    def plan(self) -> list[Configuration]:
        assert self.goal is not None
        plan, node = [], self.goal
        while node is not None:
            plan.append(node.at)
            node = node.parent      # type: ignore[assignment]
        return plan[::-1]
