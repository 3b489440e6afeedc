# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Depths: which of the agents that are sent somewhere together has to be there first.

A crowd that packs itself into one place fills it from the side from which it comes, unless those go first whose goals
lie deepest: the others would have to make way for each of them, and come back. So of agents that have been away from
home equally long, the one decides first whose goal lies farthest from where they come from.

That is not the one that has farthest to go. Of a packed crowd the hindmost have, and they would push their way through
all others while these had better leave; and how far it is as the crow flies says nothing of which end of a cave its
mouth is at. So a *troop* has one *origin*, the cell of the agent nearest to the mean of theirs, and a goal's
*depth* is how far it is from there: over blocks (search/blocks.py), with the walls.

A troop are agents that get their orders in the same tick and stand in groups of cells that are beside each other,
`_TROOP` of them or more in each in the mean. A crowd that closes in on one place from two sides is two troops: with an
origin between them, in the middle of that place, they would fill it from its rims. Agents that are scattered are no
troop, as nothing would be gained, nor are those whose goals have just moved a little. They go by how far they have to
go, as on an empty map, and so do others until the depths of their goals are known: with a budget that may take some
ticks, and half of each of them.

Work: for each troop one search over blocks, which expands a group of cells once.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL, jit
from wend.kernel.arrays import allocate, flags, grown, int32
from wend.maps.terrain import empty_map_cost, place_of
from wend.planners.base import Budget, State
from wend.planners.units import are_units
from wend.search.beliefs import Beliefs
from wend.search.blocks import DistanceRows, cost_over_blocks, is_known, reach

_TROOP = 8                          # agents in a group of cells, which has 64 at the most
_NO_TROOP, _NO_LABEL, _HAS_AGENTS = 0, 0, -1


class Troops(NamedTuple):
    """Agents that were sent somewhere, and the troops in which they were."""

    is_new: Annotated[np.ndarray, flags("agents")]      # it was sent since the last troops were looked at
    troop: Annotated[np.ndarray, int32("agents")]       # in which it was, from 1, if its goal's depth is to be found


class TroopLabels(NamedTuple):
    """Workspace to tell troops apart: by group of cells, and later by troop."""

    label: Annotated[np.ndarray, int32("names", is_scratch=True)]
    queue: Annotated[np.ndarray, int32("names", is_scratch=True)]
    groups: Annotated[np.ndarray, int32("names", is_scratch=True)]     # in which a troop stands


@jit
def find_troops(blocks, labels, cells, sent, troops):
    """Put the agents that were sent into troops; return how many there are. Mutates: labels, troops."""
    group, label, queue = blocks.group, labels.label, labels.queue
    for agent in sent:
        label[group[cells[agent]]] = _HAS_AGENTS
    count = 0
    for agent in sent:
        first = group[cells[agent]]
        if label[first] == _HAS_AGENTS:
            count += 1
            label[first], queue[0] = count, first
            head, tail = 0, 1
            while head < tail:
                here, head = queue[head], head + 1
                for k in range(blocks.degree[here]):
                    beside = blocks.beside[here, k]
                    if label[beside] == _HAS_AGENTS:
                        label[beside], queue[tail] = count, beside
                        tail += 1
            labels.groups[count - 1] = tail
        troops.troop[agent] = label[first]
    for agent in sent:
        label[group[cells[agent]]] = _NO_LABEL
    return _number_anew(labels, sent, count, troops)


@jit
def _number_anew(labels, sent, count, troops):
    """Leave out those that are no troops; return how many are left. Mutates: labels, troops."""
    size, number = labels.queue, labels.label
    size[:count] = 0
    for agent in sent:
        size[troops.troop[agent] - 1] += 1
    left = 0
    for k in range(count):
        if size[k] >= _TROOP * labels.groups[k]:
            left += 1
            number[k] = left
    for agent in sent:
        troops.troop[agent] = number[troops.troop[agent] - 1]
    number[:count] = _NO_LABEL
    return left


@jit
def find_depths(tables, blocks, rows, open_list, origin, goals, members, troops, depth, limit):
    """Find the depths of some agents' goals, in this order, within so many expansions; return how many it took.

    One that cannot be reached from the origin has none. Mutates: rows, troops, depth.
    """
    far, made = rows.far[0], np.int64(0)
    from_x, from_y = place_of(tables, origin)
    for agent in members:
        group = blocks.group[goals[agent]]
        if not is_known(far, group):
            made += reach(tables, blocks, rows, open_list, 0, group, limit - made)
            if made == limit:
                return made
        troops.troop[agent] = _NO_TROOP
        if is_known(far, group):
            x, y = place_of(tables, goals[agent])
            straight = empty_map_cost(tables, abs(x - from_x), abs(y - from_y))
            depth[agent] = cost_over_blocks(tables, blocks, rows, 0, x, y, straight)
    return made


class Depths:
    """The events of the world, and the search for the depths of goals, one troop after the other."""

    def __init__(self, beliefs: Beliefs) -> None:
        """No agents yet; what these know of blocks is used, too."""
        self._beliefs = beliefs
        self.troops = allocate(Troops, agents=0)
        self._has_new = False
        self._troop = self._count = 0       # the one that is being looked at, from 1, and how many there are
        self._origin = NO_CELL              # of that one, if its search has begun
        self._rows = allocate(DistanceRows, rows=1, columns=0)
        self._labels = allocate(TroopLabels, names=0)

    def reserve(self, agents: int) -> None:
        """Make space for so many agents, whose beliefs have it."""
        self.troops = grown(self.troops, agents=agents)
        self._make_space()

    def _make_space(self) -> None:
        """Make space for as many groups of cells as the table of distances has."""
        columns = self._beliefs.learned.rows.far.shape[1]
        if columns > self._labels.label.size:
            self._rows = grown(self._rows, columns=columns)
            self._labels = grown(self._labels, names=columns)

    def sent(self, agents: int | NDArray[np.int32]) -> None:
        """One agent was sent elsewhere, or some were."""
        self.troops.is_new[agents] = self._has_new = True
        self.troops.troop[agents] = _NO_TROOP

    def drop(self, agent: int) -> None:
        """An agent wants nowhere any more."""
        self.troops.is_new[agent] = False
        self.troops.troop[agent] = _NO_TROOP

    def cells_changed(self) -> None:
        """Follow an edit of the map: troops that are not done are looked at anew."""
        are_left = self.troops.troop != _NO_TROOP
        self.troops.is_new[are_left] = True
        self.troops.troop[are_left] = _NO_TROOP
        self._has_new |= self._count > 0
        self._troop, self._count, self._origin = 0, 0, NO_CELL
        self._make_space()

    def find(self, state: State, budget: Budget, depth: NDArray[np.int64]) -> None:
        """Write the depths of goals by agent, as far as the budget allows. Once per tick, before anything else."""
        if self._count == 0 and self._has_new:
            self._find_troops(state)
        if self._count > 0:
            self._go_on(state, budget, depth)

    def _find_troops(self, state: State) -> None:
        """See which troops were sent."""
        agents, is_new, blocks = state.agents, self.troops.is_new, self._beliefs.learned.blocks
        sent = np.flatnonzero(is_new[: agents.cell.size] & are_units(agents) & (agents.cell != agents.goal))
        is_new[:] = self._has_new = False
        if sent.size >= _TROOP:
            self._count = int(find_troops(blocks, self._labels, agents.cell, sent, self.troops))
            self._troop = 1

    def _go_on(self, state: State, budget: Budget, depth: NDArray[np.int64]) -> None:
        """Look at one troop after the other."""
        blocks, goals, limit = self._beliefs.learned.blocks, state.agents.goal, budget.slice()
        if budget.size is not None:
            limit = min(limit, (budget.size + 1) // 2)
        while self._troop <= self._count:
            members = np.flatnonzero(self.troops.troop == self._troop)
            if self._origin == NO_CELL and members.size > 0:
                self._begin(state.agents.cell[members], state.grid.width)
            made = find_depths(
                state.grid.tables, blocks, self._rows, self._beliefs.open_list, self._origin, goals,
                self._farthest_first(members, goals, state.grid.width), self.troops, depth, limit,
            )  # fmt: skip
            budget.spend(made)
            limit -= made
            if (self.troops.troop[members] != _NO_TROOP).any():
                return
            self._troop, self._origin = self._troop + 1, NO_CELL
        self._troop = self._count = 0

    def _begin(self, cells: NDArray[np.int32], width: int) -> None:
        """Begin to search from the origin of a troop that stands on these cells."""
        y, x = np.divmod(cells.astype(np.int64), width)
        off_x, off_y = cells.size * x - x.sum(), cells.size * y - y.sum()
        self._origin = int(cells[np.argmin(off_x * off_x + off_y * off_y)])
        blocks, rows = self._beliefs.learned.blocks, self._rows
        rows.goal[0] = blocks.group[self._origin]
        rows.far[0, : blocks.counts["names"].item()] = 0
        rows.written[0] = True

    def _farthest_first(self, members: NDArray[np.int64], goals: NDArray[np.int32], width: int) -> NDArray[np.int64]:
        """The farthest goals are asked for first: most others are known then, too."""
        y, x = np.divmod(goals[members], width)
        from_y, from_x = divmod(self._origin, width)
        return members[np.argsort(-np.maximum(abs(x - from_x), abs(y - from_y)), kind="stable")]
