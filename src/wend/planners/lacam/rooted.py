# mypy: disallow-untyped-calls=False
"""The tree of Real-Time LaCAM in the world: it stands where the units stand, is walked with them, and begun anew.

The Python side of live.py: which tree there is, at which node the units are, and who they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel.arrays import allocate
from wend.kernel.compiling import prepared
from wend.planners.base import Agents, State
from wend.planners.lacam.live import (
    LiveSearch,
    Party,
    enter,
    explain,
    make_tree,
    next_node,
    plant,
    prune,
    restart,
)
from wend.planners.lacam.tree import NONE, ROOT, Tree
from wend.planners.pibt.distances import KnownDistances
from wend.search.pibt import Decisions, forget_decisions

_MOST_CHECKED = 1 << 20     # cells of agents in nodes that are looked at after an edit; a larger tree is planted anew


class Means(NamedTuple):
    """What a planner searches with; some of it is replaced when there are more agents."""

    decisions: Decisions
    distances: KnownDistances
    swaps: bool
    seed: int


class RootedTree:
    """A tree, the node where the units stand, and who they are."""

    uncaptured: ClassVar[Sequence[str]] = ("is_prepared",)

    def __init__(self, state: State) -> None:
        self.tree = allocate(Tree, nodes=0, units=0, slots=1, opened=0, constraints=0, edges=0)
        self.root = NONE                            # the node where the units stand
        self.party = allocate(Party, {"units": 0, "order": np.empty(0, np.int32)}, agents=0, others=0)
        self.is_prepared = False                    # kernels were called with these types
        self._state = state
        self._cell = np.empty(0, np.int32)          # scratch of the search: where agents stand,
        self._occupant = state.occupant.copy()      # ... and who stands where

    def search(self, means: Means) -> LiveSearch:
        """What kernels search in."""
        party, state = self.party, self._state
        agents = Agents(self._cell, state.agents.goal, party.is_unit, np.zeros(party.is_unit.size, np.bool_))
        return LiveSearch(
            state.grid.tables, self.tree, means.decisions, agents, self._occupant, party.units, party.order,
            party.outside, party.goes, means.distances, means.swaps, means.seed,
        )  # fmt: skip

    def has_units_of(self, is_unit: NDArray[np.bool_]) -> bool:
        """Whether the units are these, and all agents are where its root has them."""
        cell = self._state.agents.cell
        are_there = np.array_equal(cell, self.tree.cell[self.root, : cell.size])
        return are_there and np.array_equal(is_unit, self.party.is_unit)

    def is_too_large(self) -> bool:
        """Whether it would take too long to see what an edit leaves of it."""
        return bool(self.tree.counts[0].nodes * self._state.agents.cell.size > _MOST_CHECKED)

    def restart(self, means: Means, steps: int, *, is_edited: bool) -> None:
        """Begin the search where the units stand, and keep what holds of the tree."""
        is_explored = not is_edited and self.tree.counts[0].opened == 0
        if is_edited:
            self.root = int(self._call(prune, self.tree, self._state.grid.tables, self.root))
        self._call(restart, self.search(means), self.root, steps, is_explored)

    def plant(self, means: Means, steps: int) -> None:
        """Begin a tree where the units stand."""
        agents, decisions = self._state.agents, means.decisions
        space = max(1, decisions.target.size)
        if self.tree.cell.shape[1] < space:
            self.tree = make_tree(space)
        self._cell, self.root = agents.cell.copy(), ROOT
        self._occupant[:] = self._state.occupant
        forget_decisions(decisions)
        decisions.target[: agents.cell.size] = agents.cell
        self._call(plant, self.search(means), agents.cell, steps)

    def plant_again(self, means: Means, steps: int) -> None:
        """The tree is full: begin another one, with the units in the order in which they are."""
        order = self.tree.order[self.root, : self.party.units].copy()
        self.party = self.party._replace(order=order)
        self.plant(means, steps)

    def step(self) -> tuple[int, NDArray[np.int32]]:
        """The node after the root on the way to where the units head, and the cells of all agents there."""
        node = int(self._call(next_node, self.tree))
        return node, self.tree.cell[node, : self.party.is_unit.size]

    def step_to(self, means: Means, goes: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
        """The node in which the units are on these cells, and the cells of all; in another tree if this one is full."""
        cells = self.tree.cell[self.root, : self.party.is_unit.size].copy()
        cells[self.party.is_unit] = goes
        node = int(self._call(enter, self.search(means), self.root, cells))
        if node == NONE:
            self.plant_again(means, int(self.tree.counts[0].steps))
            node = int(self._call(enter, self.search(means), self.root, cells))
        return node, cells

    def walk(self, means: Means, node: int, cells: NDArray[np.int32], waits_for: NDArray[np.int32]) -> None:
        """The units go to a node beside the root, which is the root then; say whom those wait for that stay.

        Mutates: waits_for.
        """
        self._call(explain, self.search(means), self.root, cells, waits_for)
        if node != self.root:
            self.tree.parent[self.root], self.tree.parent[node] = node, NONE
            self.root = node

    def _call(self, kernel: Callable[..., Any], *given: Any) -> Any:
        """Call a kernel that expands nothing."""
        return (prepared(kernel) if self.is_prepared else kernel)(*given)
