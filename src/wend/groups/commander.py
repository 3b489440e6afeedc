"""The commander: the life of a group order, from the order to the arrival of its last agent.

A world calls it when
- a group is ordered somewhere: `order` gives every agent a slot, and a path there that becomes its route;
- a tick begins: `advance` leads agents from waypoint to waypoint, `settle` helps those that cannot get to their slots;
- the map was edited: `edit` replaces the slots and the paths that the edit has cut;
- an agent leaves its group, or the map: `drop`.

It decides where agents go, one `Errand` after the other. The world sends them there, tells the planner and writes it
down; it does so before it asks for the next errand, which may depend on the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wend.errors import ParameterError
from wend.groups.orders import GroupOrder, Order, paths_to, shortened
from wend.groups.routes import NO_PATH, Cells, Routes
from wend.groups.slots import slots_for
from wend.journal import Journal
from wend.kernel import NO_CELL
from wend.maps.terrain import Point
from wend.planners.base import State

EXCHANGE_AFTER_TICKS = 8    # an agent that has waited this long may exchange slots with an agent beside it
SETTLE_AFTER_TICKS = 48     # one that has waited this long, and is ...
SETTLE_WITHIN = 2           # ... at most this many moves from its slot, stays where it is


class Errand(NamedTuple):
    """Where an agent is to be sent."""

    agent: int
    asked: Point            # the place that the order named, or the slot that the agent got for it
    goal: Point             # the slot
    path: Cells = NO_PATH   # the path that its waypoints are on


class Commander:
    """The group orders of one world."""

    def __init__(self, state: State, routes: Routes, journal: Journal) -> None:
        self._journal = journal
        self._state = state
        self._routes = routes
        self._orders: dict[int, GroupOrder] = {}        # the group order that an agent is under

    def order(self, members: list[int], target: Point, mode: str) -> list[Errand]:
        """Put a group under an order: the errands of all its agents, or none if it is under this very order already."""
        order = GroupOrder(frozenset(members), target, mode)
        if len(order.agents) < len(members):
            raise ParameterError("an agent is in the group twice; name each of them once")
        for agent in members:
            if not self._state.agents.controlled[agent]:
                raise ParameterError(f"agent {agent} is moved by the program, which cannot be in an ordered group")
        known = self._orders.get(members[0]) if members else None
        if known == order and all(self._orders.get(agent) is known for agent in members):
            return []
        return list(self._plan(order, sorted(members)))

    def answer(self, agent: int) -> Order:
        """What the last order to an agent came to."""
        xy = self._state.grid.xy
        return Order(agent, xy(int(self._routes.asked[agent])), xy(int(self._routes.goal[agent])))

    @property
    def has_orders(self) -> bool:
        """Whether any agent is under a group order."""
        return bool(self._orders)

    def leads(self, agent: int) -> bool:
        """Whether an agent is under a group order."""
        return agent in self._orders

    def drop(self, agent: int) -> None:
        """An agent is under no group order any more."""
        if agent in self._orders:
            self._journal.keep_item(self._orders, agent)
            del self._orders[agent]

    def advance(self) -> list[int]:
        """Let agents that have come to a waypoint head for the next; return these agents."""
        return self._routes.advance(self._state.grid.tables, self._state.agents)

    def settle(self, waited: Cells) -> Iterator[Errand]:
        """Let agents that wait near their slots exchange them with those of their group that are in the way.

        `waited` (int32[agents]) has the ticks since each agent last moved. Two agents of a group are as good as each
        other, and the first to arrive may have walled in a slot: it moves on to that one, farther in, and leaves its
        own to the agent that waits. If that does not help, near is near enough.
        """
        grid, agents, goals = self._state.grid, self._state.agents, self._routes.goal
        is_due = (waited > 0) & (waited % EXCHANGE_AFTER_TICKS == 0)
        for agent in np.flatnonzero(is_due & (agents.cell != goals) & (agents.goal == goals)).tolist():
            if not self.leads(agent):       # as no agent that was removed
                continue
            here, mine = grid.xy(int(agents.cell[agent])), self.answer(agent)
            for beside in grid.neighbours(here):
                other = int(self._state.occupant[grid.cell(*beside)])
                is_of_group = self._orders.get(other) is self._orders[agent]
                if not is_of_group or agents.goal[other] != goals[other] or agents.pinned[other]:
                    continue                # not of this group, or still on its route, or not to be moved
                theirs = self.answer(other)
                if should_exchange(here, mine.goal, beside, theirs.goal):
                    yield Errand(agent, theirs.asked, theirs.goal)
                    yield Errand(other, mine.asked, mine.goal)
                    break
            else:
                is_near = _moves_between(here, mine.goal) <= SETTLE_WITHIN
                is_unclaimed = not (goals[agents.cell != NO_CELL] == agents.cell[agent]).any()
                if is_near and is_unclaimed and waited[agent] >= SETTLE_AFTER_TICKS:
                    yield Errand(agent, here if mine.reachable else mine.asked, here)

    def edit(self, misled: list[int]) -> Iterator[Errand]:
        """Mend the orders after an edit of the map.

        `misled` lists the agents whose goals the edit has put out of reach, or whose unreachable goals it has opened:
        they get new slots. Agents whose paths are cut keep their slots and get new paths.
        """
        for order, members in self._by_order(misled).items():
            yield from self._plan(order, members)
        cut = self._routes.cut(self._state.grid.tables, self._state.agents) if self.has_orders else []
        for order, members in self._by_order(cut).items():
            yield from self._plan(order, members, keep_slots=True)

    def _by_order(self, agents: list[int]) -> dict[GroupOrder, list[int]]:
        """Those of these agents that are under group orders, by order."""
        members: dict[GroupOrder, list[int]] = {}
        for agent in agents:
            if self.leads(agent):
                members.setdefault(self._orders[agent], []).append(agent)
        return members

    def _plan(self, order: GroupOrder, members: list[int], *, keep_slots: bool = False) -> Iterator[Errand]:
        """Lead these agents of a group to slots around its target, or by new paths to the slots that they have."""
        grid, agents = self._state.grid, self._state.agents
        others = agents.cell != NO_CELL
        others[members] = False
        taken = np.where(agents.controlled, self._routes.goal, agents.cell)[others]
        component = grid.component[agents.cell]
        for label in sorted(set(component[members].tolist())):      # agents that cannot meet are planned for apart
            part = [agent for agent in members if component[agent] == label]
            starts = agents.cell[part].tolist()
            target = grid.nearest_reachable(grid.xy(starts[0]), order.target)
            paths = paths_to(grid, starts, grid.cell(*target), order.mode)
            slots = self._routes.goal[part] if keep_slots else slots_for(grid, paths, taken)
            for agent, cell, path in zip(part, slots.tolist(), paths, strict=True):
                self._journal.keep_item(self._orders, agent)
                self._orders[agent] = order
                slot = grid.xy(cell)
                asked = slot if target == order.target else order.target
                yield Errand(agent, asked, slot, shortened(grid, path, cell))


def should_exchange(here: Point, slot: Point, beside: Point, other_slot: Point) -> bool:
    """Whether an agent that waits, and the one beside it, of the same group, should have each other's slots.

    Yes if that brings the two nearer to their slots. If it makes no difference, yes if the other agent is at home and
    nearer to the slot of the one that waits: it goes on to that slot. Then it is not at home, so they do not exchange
    back.
    """
    mine, theirs = _moves_between(here, slot), _moves_between(beside, other_slot)
    before, after = mine + theirs, _moves_between(here, other_slot) + _moves_between(beside, slot)
    return after < before or (after == before and theirs == 0 and _moves_between(beside, slot) < mine)


def _moves_between(a: Point, b: Point) -> int:
    """Moves between two places if nothing is in the way."""
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))
