"""Real-Time LaCAM with dicts and lists, distances known to all; the same chance as the kernel's, tick by tick.

It walks the plans that it finds as they are.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.reference.grid import legal_steps
from tests.reference.joint import Configuration
from tests.reference.lacam import Constraint
from tests.reference.preferences import next_places
from wend.kernel import scramble
from wend.maps.grid import Grid
from wend.maps.terrain import Point


@dataclass(eq=False)
class Node:
    at: Configuration
    order: list[int]
    parent: Node | None
    constraints: deque[Constraint] = field(default_factory=lambda: deque([()]))

    def way(self) -> list[Node]:
        """The nodes from the root to this one."""
        return [*(self.parent.way() if self.parent else []), self]


class ReferenceRealTimeLacam:
    """`far(agent, place)` is the distance to an agent's goal; `step` is as PIBT has it.

    `is_edited` is to be set when walls have changed.
    """

    def __init__(self, grid: Grid, step: Sequence[int], *, swaps: bool, seed: int) -> None:
        self.grid, self.step, self.swaps, self.seed = grid, step, swaps, seed
        self.steps = self.tried = 0
        self.goals: Configuration = ()
        self.rank: list[int] = []
        self.is_stale = self.is_edited = True
        self.root = self.nearest = Node((), [], None)

    def tick(
        self, tick: int, at: Configuration, goals: Configuration, order: Sequence[int], firm: Mapping[int, Point],
        far: Callable[[int, Point], int], configurations: int,
    ) -> Configuration:  # fmt: skip
        """Where all agents go. `order` has the units; the others go where `firm` says."""
        is_moving = any(at[agent] != place for agent, place in firm.items())
        stands = not is_moving and not self.is_stale and sorted(order) == sorted(self.rank) and at == self.root.at
        is_new = not stands or self.is_edited or any(goals[agent] != self.goals[agent] for agent in order)
        if is_new:
            self.goals, self.firm, self.far, self.rank, self.steps = goals, dict(firm), far, list(order), tick << 20
            if stands:
                self.restart()
            else:
                self.plant(at)
            self.is_stale, self.is_edited = is_moving, False
        for _ in range(1 if is_new else configurations):
            self.search()
        target = self.goal or (self.open[-1] if self.open else self.nearest)
        _, *ahead = target.way()
        if ahead:
            self.root.parent, ahead[0].parent, self.root = ahead[0], None, ahead[0]
        return tuple(firm.get(agent, place) for agent, place in enumerate(self.root.at))

    def plant(self, at: Configuration) -> None:
        """Begin a tree."""
        self.explored, self.open, self.goal = dict[Configuration, Node](), list[Node](), None
        self.root = self.add(at, self.rank, None)

    def restart(self) -> None:
        """Keep what holds of the tree, and begin the search anew."""
        is_explored = not self.is_edited and not self.open
        self.explored = {at: node for at, node in self.explored.items() if self.can_walk(node.way())}
        for node in self.explored.values():
            node.constraints = deque([()])
        self.goal, self.nearest, self.open = None, self.root, [] if is_explored else [self.root]
        for node in self.explored.values() if is_explored else [self.root]:
            self.look_again(node, self.rank)

    def can_walk(self, way: list[Node]) -> bool:
        """Whether all moves of a way are legal."""
        return all(
            here == there or there in dict(legal_steps(self.grid, here)).values()
            for before, after in itertools.pairwise(way) for here, there in zip(before.at, after.at, strict=True)
        )  # fmt: skip

    def look_again(self, node: Node, order: Sequence[int]) -> None:
        """Let a node be as if it were new."""
        home = [agent for agent in self.rank if node.at[agent] == self.goals[agent]]
        node.order = [agent for agent in order if agent not in home] + home
        if self.away(node) == 0:
            self.goal = node
        self.nearest = min(self.nearest, node, key=self.away)

    def away(self, node: Node) -> int:
        return sum(node.at[agent] != self.goals[agent] for agent in self.rank)

    def add(self, at: Configuration, order: Sequence[int], parent: Node | None) -> Node:
        node = Node(at, [], parent)
        self.nearest = self.nearest if self.explored else node
        self.explored[at] = node
        self.open.append(node)
        self.look_again(node, order)
        return node

    def search(self) -> None:
        """One step; then those on top of OPEN that have nothing left to try are dropped."""
        if self.goal is not None or not self.open:
            return
        node = self.open[-1]
        constraint = node.constraints.popleft()
        lot = int(scramble(self.seed ^ int(scramble(self.steps))))
        self.steps += 1
        self.tried += 1
        goes = self.propose(node, constraint, lot)
        if goes is not None:
            self.arrive(node, goes)
        self.continue_constraint(node, constraint, lot)
        while self.goal is None and self.open and not self.open[-1].constraints:
            self.open.pop()

    def propose(self, node: Node, constraint: Constraint, lot: int) -> Configuration | None:
        standing = {place: agent for agent, place in enumerate(node.at)}
        first = [standing[place] for _, place in reversed(constraint) if place in standing]
        goes = next_places(
            self.grid, node.at, self.far, self.step, [*first, *node.order], swaps=self.swaps, lot=lot,
            fixed={**self.firm, **dict(constraint)}, firm=self.firm,
        )  # fmt: skip
        return tuple(goes[agent] for agent in range(len(node.at))) if len(goes) == len(node.at) else None

    def arrive(self, node: Node, goes: Configuration) -> None:
        known = self.explored.get(goes)
        if known is None:
            self.add(goes, node.order, node)
        elif known is not node:
            if len(node.way()) + 1 < len(known.way()):
                known.parent = node
            if known.constraints == deque([()]):
                self.look_again(known, node.order)
            self.open.append(known)

    def continue_constraint(self, node: Node, constraint: Constraint, lot: int) -> None:
        if len(constraint) == len(node.order):
            return
        agent = node.order[len(constraint)]
        here = node.at[agent]
        steps = dict([*legal_steps(self.grid, here), (8, here)])
        fixed = [*self.firm.items(), *constraint]
        for k in range(9):
            there = steps.get((lot + k * (1 if lot & 1 else 2)) % 9)
            collides = any(there == taken for _, taken in fixed)
            exchanges = any(there == node.at[other] and taken == here for other, taken in fixed)
            if there is not None and not collides and not exchanges:
                node.constraints.append((*constraint, (agent, there)))
