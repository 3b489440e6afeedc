# mypy: disallow-untyped-calls=False
"""The commander: the life of a group order, from the order to the arrival of its last agent.

A world calls it when
- a group is ordered somewhere: `order` gives every agent a slot, and a path there that becomes its route;
- a tick begins: `search` finds paths for groups that have set out without, `advance` leads agents from waypoint to
  waypoint, `settle` helps those that cannot get to their slots;
- the map was edited: `edit` replaces the slots that the edit has cut off, and drops the paths that it has cut;
- an agent leaves its group, or the map: `drop`.

It decides where agents go, one `Errand` after the other, or one list of them. The world sends them there, tells the
planner and writes it down; it does so before it asks for the next, which may depend on the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wend.groups.claims import CUT_OFF, Claims
from wend.groups.orders import Errand, GroupOrder, PathSearch, paths_to, search_for, shortened
from wend.groups.routes import NO_PATH, SPACING, Cells, Routes
from wend.groups.slots import slots_around, slots_for
from wend.groups.standstill import LOOK_EVERY, STANDSTILL_TICKS, Standstill
from wend.groups.surroundings import FOR_CUT_OFF
from wend.journal import Journal
from wend.kernel import NO_AGENT, NO_CELL
from wend.maps.terrain import Point, moves_between
from wend.planners.base import State
from wend.search.paths import is_walkable

EXCHANGE_AFTER_TICKS = LOOK_EVERY   # an agent that has waited this long may exchange slots with an agent beside it,
AHEAD_AFTER_TICKS = 24      # ... and this long, with the one that it waits for, which need not be beside it
SETTLE_AFTER_TICKS = 48     # so may one that moves but has not come nearer for so long; one that has waited so long ...
SETTLE_WITHIN = 2           # ... at most this many moves from its slot stays where it is
ROUTES_AT_ONCE = 16         # agents that get a path that was searched in pieces, in one tick at the most
LATE_TICKS = 512            # one that has not come nearer to its slot for so long need not wait for that


@dataclass(eq=False)
class Unplanned:
    """Agents of a group that have set out before their paths were searched."""

    order: GroupOrder
    members: list[int]
    target: int                 # the cell where they go, or as near as they can get a slot
    search: PathSearch | None = None        # None: it has not begun yet, or has to begin anew
    served: int = 0             # so many of them have got their paths


class Commander:
    """The group orders of one world."""

    def __init__(self, state: State, routes: Routes, claims: Claims, journal: Journal) -> None:
        self._journal = journal
        self._state = state
        self._routes = routes
        self._claims = claims
        self._standstill = Standstill(journal)
        self._orders: dict[int, GroupOrder] = {}        # the group order that an agent is under
        self._unplanned: tuple[Unplanned, ...] = ()     # groups whose paths are still to be searched, in this order

    def order(self, members: list[int], target: Point, mode: str, *, at_once: bool) -> list[Errand]:
        """Put a group under an order: the errands of all its agents, or none if it is under this very order already.

        If not at once, agents set out without paths, which `search` finds.
        """
        order = GroupOrder(frozenset(members), target, mode)
        known = self._orders.get(members[0]) if members else None
        if known == order and all(self._orders.get(agent) is known for agent in members):
            return []
        return list((self._plan if at_once else self._set_out)(order, sorted(members)))

    @property
    def is_searching(self) -> bool:
        """Whether there are paths to be searched."""
        return bool(self._unplanned)

    def search(self, limit: int) -> tuple[int, list[Errand]]:
        """Search for the paths of groups that have set out without, for so many expansions: the oldest order first.

        Returns how many were made, and the errands of agents that have a path now, up to ROUTES_AT_ONCE of them.
        """
        self._journal.on_failure(self._forget_searches)
        self._journal.keep_attribute(self, "_unplanned")
        made, errands, grid = 0, list[Errand](), self._state.grid
        while self._unplanned and len(errands) < ROUTES_AT_ONCE:
            group = self._unplanned[0]
            is_left = [self._is_left(group, agent) for agent in group.members]
            if not any(is_left[group.served :]):            # they have all got other orders, or their paths
                if group.search is not None:
                    group.search.end()
                self._unplanned = self._unplanned[1:]
                continue
            for name in ("members", "search", "served"):
                self._journal.keep_attribute(group, name)
            if group.search is None:
                group.members = [agent for agent, is_so in zip(group.members, is_left, strict=True) if is_so]
                is_left, group.served = [True] * len(group.members), 0
            here = self._state.agents.cell[group.members]
            cells: list[int] = np.where(is_left, here, group.target).tolist()
            if group.search is None:
                group.search = search_for(grid, cells, group.target, group.order.mode)
            made += group.search.run(cells, limit - made)
            if not group.search.is_done:
                break
            paths = group.search.paths(cells)
            while group.served < len(paths) and len(errands) < ROUTES_AT_ONCE:
                agent, path = group.members[group.served], paths[group.served]
                if is_left[group.served] and path.size and is_walkable(grid.tables, path):
                    way = shortened(grid, path, int(self._routes.goal[agent]))
                    if way.size > SPACING:
                        errands.append(self._errand(agent, int(self._routes.goal[agent]))._replace(path=way))
                group.served += 1
        return made, errands

    def _is_left(self, group: Unplanned, agent: int) -> bool:
        """Whether an agent still waits for a path with its group: it has no other order, and is still sent there."""
        return self._orders.get(agent) is group.order and int(self._routes.nearest[agent]) == group.target

    def _forget_searches(self) -> None:
        """A call has failed that went on with a search: it begins anew. To forget it twice changes nothing."""
        for group in self._unplanned:
            group.search = None

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

    def settle(self, waited: Cells, held_up: Cells, named: Callable[[int], int]) -> Iterator[Errand]:
        """Let agents that wait near their slots exchange them with those of their crowd that are in the way.

        `waited` (int32[agents]) has the ticks since each agent last moved, `held_up` those since it last came nearer to
        its goal; `named` answers with the agent in an agent's way, as the planner last said, or NO_AGENT. A crowd are
        the agents that were sent to one place, as a group or one by one. Two of them are as good as each other, and the
        first to arrive may have walled in a slot: it moves on to that one, farther in, and leaves its own to the agent
        that waits. If that does not help, near is near enough, unless it is in line behind one of its crowd that is not
        home either; so it is for an agent on whose goal an agent of the program stands. When none of a crowd has come
        nearer to its slot for long, or for an agent that has been held up very long, it is enough to be beside one that
        has arrived. A crowd that is cut off from its places and stands still (standstill.py) exchanges no more slots
        but gives them up.
        """
        state, routes = self._state, self._routes
        agents, goals = state.agents, routes.goal
        blocker = state.occupant[goals]
        is_blocked = (blocker != NO_AGENT) & ~agents.controlled[blocker]
        is_ours = agents.controlled & (agents.cell != NO_CELL)
        is_away = is_ours & (agents.cell != goals) & (agents.goal == goals)
        is_in_a_crowd = is_away & self._claims.is_in_a_crowd()
        is_away &= is_in_a_crowd | is_blocked
        if not is_away.any():
            self._standstill.forget()
            return
        crowds = self._claims.crowds()
        is_held_up = (held_up >= SETTLE_AFTER_TICKS) & (held_up % EXCHANGE_AFTER_TICKS == 0)
        is_waiting = ((waited > 0) & (waited % EXCHANGE_AFTER_TICKS == 0)) | is_held_up
        is_late = is_away & is_held_up & (held_up >= STANDSTILL_TICKS)
        if is_late.any():
            is_on_the_move = np.isin(crowds, crowds[is_away & (held_up < STANDSTILL_TICKS)])
            is_late &= ~is_on_the_move | (held_up >= LATE_TICKS)
        is_cut_off = is_in_a_crowd & (crowds <= CUT_OFF)
        gives_up = is_cut_off & self._standstill.reached_by(state.tick, crowds, is_ours, is_cut_off)
        for agent in np.flatnonzero(is_away & is_waiting & ~gives_up).tolist():
            ahead = named(agent) if waited[agent] >= AHEAD_AFTER_TICKS else NO_AGENT
            other = self._partner(agent, ahead, crowds)
            if other != NO_AGENT:
                yield from self._exchange(agent, other)
                continue
            is_in_line = ahead != NO_AGENT and is_away[ahead] and crowds[ahead] == crowds[agent]
            has_waited = waited[agent] >= SETTLE_AFTER_TICKS and not is_in_line
            is_near = has_waited and self._moves_left(agent) <= SETTLE_WITHIN
            if is_near or (is_late[agent] and self._is_beside_home(agent, crowds)):
                yield from self._stay(agent)
        gives_up &= (held_up > 0) & (held_up % EXCHANGE_AFTER_TICKS == 0)
        for agent in np.flatnonzero(gives_up).tolist():
            yield from self._give_up(agent, int(held_up[agent]), crowds)

    def _give_up(self, agent: int, held_up: int, crowds: Cells) -> Iterator[Errand]:
        """Let an agent take the slot that it stands on, from one of its crowd that is not there.

        Where it stands on no slot it stays, if it is beside one of its crowd that has arrived. It has nowhere better to
        be: so it does anywhere when it has been held up for long.
        """
        agents, routes = self._state.agents, self._routes
        owner = self._claims.holder_of(int(agents.cell[agent]))
        if owner == NO_AGENT:
            if held_up >= STANDSTILL_TICKS or self._is_beside_home(agent, crowds):
                yield from self._stay(agent)
        elif crowds[owner] == crowds[agent] and not agents.pinned[owner] and agents.goal[owner] == routes.goal[owner]:
            yield from self._exchange(agent, owner)

    def _exchange(self, agent: int, other: int) -> Iterator[Errand]:
        """Two agents of a crowd exchange their slots."""
        mine, theirs = int(self._routes.goal[agent]), int(self._routes.goal[other])
        yield self._errand(agent, theirs)
        yield self._errand(other, mine)

    def _stay(self, agent: int) -> Iterator[Errand]:
        """An agent stays where it is, if that is nobody's."""
        here = self._state.agents.cell[agent : agent + 1]
        if self._claims.is_free_for(here, agent)[0]:
            yield self._errand(agent, int(here[0]))

    def _partner(self, agent: int, ahead: int, crowds: Cells) -> int:
        """The agent of its crowd with which one that waits should exchange slots: beside it, or `ahead`; or NO_AGENT.

        A planner may keep agents apart, so that the one that it waits for is not beside it.
        """
        grid, agents, routes = self._state.grid, self._state.agents, self._routes
        here, slot = (grid.xy(int(cells[agent])) for cells in (agents.cell, routes.goal))
        beside = [int(self._state.occupant[grid.cell(*place)]) for place in grid.neighbours(here)]
        for other in (*beside, ahead):
            if other == NO_AGENT or not agents.controlled[other] or agents.pinned[other]:
                continue                    # there is none, or it is not to be moved
            if crowds[other] != crowds[agent] or agents.goal[other] != routes.goal[other]:
                continue                    # not of this crowd, or still on its route
            there, other_slot = (grid.xy(int(cells[other])) for cells in (agents.cell, routes.goal))
            if should_exchange(here, slot, there, other_slot):
                return other
        return NO_AGENT

    def _is_beside_home(self, agent: int, crowds: Cells) -> bool:
        """Whether an agent of the same crowd that is at home is one move away."""
        grid, cell, routes = self._state.grid, self._state.agents.cell, self._routes
        beside = [grid.cell(*place) for place in grid.neighbours(grid.xy(int(cell[agent])))]
        others = self._state.occupant[beside]
        is_home = (others != NO_AGENT) & (routes.goal[others] == cell[others])
        return bool((is_home & (crowds[others] == crowds[agent])).any())

    def _moves_left(self, agent: int) -> int:
        """How many moves an agent is from its slot if nothing is in the way."""
        xy = self._state.grid.xy
        return moves_between(xy(int(self._state.agents.cell[agent])), xy(int(self._routes.goal[agent])))

    def _errand(self, agent: int, goal: int) -> Errand:
        """Another slot for the place that an agent was sent to."""
        return Errand(agent, int(self._routes.asked[agent]), int(self._routes.nearest[agent]), goal)

    def edit(self, misled: list[int]) -> Iterator[list[Errand]]:
        """Mend the orders after an edit of the map.

        `misled` lists the agents whose goals the edit has put out of reach, or whose unreachable goals it has opened:
        they get new slots. Agents whose paths are cut keep their slots. All set out at once; `search` finds new paths.
        The errands come order by order.
        """
        for order, members in self._by_order(misled).items():
            yield list(self._set_out(order, members))
        cut = self._routes.cut(self._state.grid.tables, self._state.agents) if self.has_orders else []
        for order, members in self._by_order(cut).items():
            yield list(self._set_out(order, members, keep_slots=True))

    def _by_order(self, agents: list[int]) -> dict[GroupOrder, list[int]]:
        """Those of these agents that are under group orders, by order."""
        members: dict[GroupOrder, list[int]] = {}
        for agent in agents:
            if self.leads(agent):
                members.setdefault(self._orders[agent], []).append(agent)
        return members

    def _plan(self, order: GroupOrder, members: list[int]) -> Iterator[Errand]:
        """Lead these agents of a group to slots around its target."""
        grid, taken = self._state.grid, self._claims.taken_by_others(members)
        for part, nearest, origin in self._parts(order, members):
            paths = paths_to(grid, self._state.agents.cell[part].tolist(), nearest, order.mode)
            for agent, slot, path in zip(part, slots_for(grid, paths, taken, origin).tolist(), paths, strict=True):
                yield self._enlist(agent, order, nearest, slot, shortened(grid, path, slot))

    def _set_out(self, order: GroupOrder, members: list[int], *, keep_slots: bool = False) -> Iterator[Errand]:
        """Send agents of a group to slots around its target, or to those that they have; paths are searched later."""
        taken = self._claims.taken_by_others(members)
        self._journal.on_failure(self._forget_searches)
        self._journal.keep_attribute(self, "_unplanned")
        for part, nearest, origin in self._parts(order, members):
            here, had = self._state.agents.cell[part], self._routes.goal[part]
            slots = had if keep_slots else slots_around(self._state.grid, here, nearest, taken, origin)
            self._unplanned += (Unplanned(order, part, nearest),)
            for agent, slot in zip(part, slots.tolist(), strict=True):
                yield self._enlist(agent, order, nearest, slot, NO_PATH)

    def _parts(self, order: GroupOrder, members: list[int]) -> Iterator[tuple[list[int], int, int]]:
        """Agents that cannot meet are planned for apart: each part of a group, the place where it goes, and where the
        chessboard of its slots begins.
        """
        component = self._state.grid.component[self._state.agents.cell]
        asked = self._state.grid.cell(*order.target)
        for label in sorted(set(component[members].tolist())):
            part = [agent for agent in members if component[agent] == label]
            nearest = self._claims.within_reach(part[0], asked)
            yield part, nearest, nearest if nearest == asked else FOR_CUT_OFF

    def _enlist(self, agent: int, order: GroupOrder, nearest: int, slot: int, path: Cells) -> Errand:
        """Put an agent under an order."""
        self._journal.keep_item(self._orders, agent)
        self._orders[agent] = order
        return Errand(agent, self._state.grid.cell(*order.target), nearest, slot, path)


def should_exchange(here: Point, slot: Point, there: Point, other_slot: Point) -> bool:
    """Whether an agent that waits, and another one of the same group, which stands `there`, should exchange slots.

    Yes if that brings the two nearer to their slots. If it makes no difference, yes if the other agent is at home and
    nearer to the slot of the one that waits: it goes on to that slot. Then it is not at home, so they do not exchange
    back.
    """
    mine, theirs = moves_between(here, slot), moves_between(there, other_slot)
    before, after = mine + theirs, moves_between(here, other_slot) + moves_between(there, slot)
    return after < before or (after == before and theirs == 0 and moves_between(there, slot) < mine)
