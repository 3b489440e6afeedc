# mypy: disallow-untyped-calls=False
"""Claims: which place belongs to which agent, and who waits for a place that is another's.

The agents that the planner moves have goals of their own: no two of them the same. An order to a place that is an
agent's goal, or where an agent of the program stands, leads to a slot: the nearest place to it that is no other's, with
the preferences of groups/slots.py. The agent then waits for the place itself, and is sent there when it becomes free.
docs/decisions/011-shared-goals.md says what this means for programs.

Where many agents are sent at once, as by a wall that cuts them off, their slots are dealt by one kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.groups.orders import Errand
from wend.groups.routes import Cells, Routes
from wend.groups.surroundings import FOR_CUT_OFF, Nearby, Taken, best_slot, deal, empty, floor_of
from wend.journal import Journal
from wend.kernel import NO_AGENT, NO_CELL, UNREACHABLE
from wend.kernel.arrays import ALL_ROWS, allocate, int32, marks
from wend.planners.base import State

CUT_OFF = -2            # the largest number of a crowd of agents that are cut off from their places


class _Claimed(NamedTuple):
    """Which cells belong to agents, and which they were sent to."""

    holder: Annotated[                  # the agent whose goal a cell is
        np.ndarray, int32("cells", fill=NO_AGENT, marked_by="edited", rows_per_mark=ALL_ROWS)
    ]
    sent: Annotated[np.ndarray, int32("cells", marked_by="edited", rows_per_mark=ALL_ROWS)]     # agents sent there
    edited: Annotated[np.ndarray, marks("edits")]


class Claims:
    """The places of one world, and the agents that they belong to."""

    uncaptured = ("_around", "_within_reach")

    def __init__(self, state: State, routes: Routes, journal: Journal) -> None:
        self._state = state
        self._routes = routes
        self._journal = journal
        self._claimed = allocate(_Claimed, cells=state.grid.size, edits=1)
        self._holder, self._sent = self._claimed.holder, self._claimed.sent
        self._shared = 0                                # places to which more than one agent was sent
        self._cut_off = 0                               # agents that are cut off from the places they were sent to
        self.unsettled: dict[int, bool] = {}            # those where not all have arrived since they were sent
        self.left: list[int] = []                       # cells that belong to no agent since this call began
        self._within_reach: dict[tuple[int, int], int] = {}     # by component and place: the nearest cell to it
        self._around = allocate(Nearby, cells=state.grid.size)

    @property
    def has_crowds(self) -> bool:
        """Whether any agents are a crowd."""
        return self._shared > 0 or self._cut_off > 1

    def crowds(self) -> Cells:
        """int32[agents] the crowd of each agent: the place, for those that were sent to one place within their reach.

        All agents of a component that are cut off from their places are one crowd, whose number is negative.
        """
        routes, agents, crowds = self._routes, self._state.agents, self._routes.nearest.copy()
        if self._cut_off:
            is_ours = agents.controlled & (agents.cell != NO_CELL)
            cut_off = np.flatnonzero(is_ours & (routes.asked != routes.nearest))
            component = self._state.grid.component[agents.cell[cut_off]]
            _, first, which = np.unique(component, return_index=True, return_inverse=True)
            crowds[cut_off] = CUT_OFF - cut_off[first][which]   # not the label, which an edit that fails may change
        return crowds

    def is_in_a_crowd(self) -> NDArray[np.bool_]:
        """bool[agents] whether another agent may be of the same crowd."""
        is_in_one = self._sent[self._routes.nearest] > 1
        if self._cut_off > 1:
            is_in_one |= self._routes.asked != self._routes.nearest
        return np.asarray(is_in_one)

    def is_free_for(self, cells: Cells, agent: int) -> NDArray[np.bool_]:
        """Whether each cell is no other agent's: not its goal, and no agent of the program stands there."""
        holder, occupant = self._holder[cells], self._state.occupant[cells]
        is_in_the_way = (occupant != NO_AGENT) & (occupant != agent) & ~self._state.agents.controlled[occupant]
        return np.asarray(((holder == NO_AGENT) | (holder == agent)) & ~is_in_the_way)

    def _is_free_for(self, cell: int, agent: int) -> bool:
        """The same for a single cell."""
        holder, occupant = self._holder.item(cell), self._state.occupant.item(cell)
        is_in_the_way = occupant not in (NO_AGENT, agent) and not self._state.agents.controlled[occupant]
        return holder in (NO_AGENT, agent) and not is_in_the_way

    def holder_of(self, cell: int) -> int:
        """The agent whose goal a cell is, or NO_AGENT."""
        return int(self._holder[cell])

    def taken_by_others(self, members: list[int]) -> Cells:
        """The goals of all agents but these, and where agents of the program stand."""
        agents, goal = self._state.agents, self._routes.goal
        is_other = agents.cell != NO_CELL
        is_other[members] = False
        has_goal = is_other & (self._holder[goal] == np.arange(goal.size))
        return np.concatenate((goal[has_goal], agents.cell[is_other & ~agents.controlled]))

    def settled_at(self, cells: Cells) -> dict[int, list[int]]:
        """By unsettled place: the agents that were sent there, if with agents on these cells all are on their goals."""
        if not self.unsettled:
            return {}
        nearest = self._routes.nearest
        is_ours = self._state.agents.controlled & (cells != NO_CELL)
        away = set(nearest[is_ours & (cells != self._routes.goal)].tolist())
        return {
            place: np.flatnonzero(is_ours & (nearest == place)).tolist()
            for place in self.unsettled
            if place not in away
        }

    # --- where to go -----------------------------------------------------------------------------------------------

    def errand(self, agent: int, asked: int) -> Errand:
        """Where an order leads: to the place, or as near to it as the agent can get, or to a slot near that.

        An agent that has a slot for this place already keeps it, unless the place itself is free now. If the place is
        within reach only now, it gets a slot near it, or keeps its own if that is as near.
        """
        nearest = self.within_reach(agent, asked)
        if not self._state.agents.controlled[agent] or self._is_free_for(nearest, agent):
            return Errand(agent, asked, nearest, nearest)
        routes, component = self._routes, self._state.grid.component
        goal = int(routes.goal[agent])
        if asked != routes.asked[agent]:
            return Errand(agent, asked, nearest, self.slot_near(agent, asked, nearest))
        is_opened = nearest == asked != routes.nearest[agent]
        if self._holder[goal] == agent and not is_opened and component[goal] == component[nearest]:
            return Errand(agent, asked, nearest, goal)
        return Errand(agent, asked, nearest, self.slot_near(agent, asked, nearest, rather=goal))

    def within_reach(self, agent: int, asked: int) -> int:
        """The nearest cell to a place that an agent can reach: the place itself, if it can."""
        grid, here = self._state.grid, int(self._state.agents.cell[agent])
        label = int(grid.component[here])
        if grid.component[asked] == label:
            return asked
        if (label, asked) not in self._within_reach:
            nearest = grid.nearest_reachable(grid.xy(here), grid.xy(asked))
            self._within_reach[label, asked] = grid.cell(*nearest)
        return self._within_reach[label, asked]

    def slot_near(
        self, agent: int, asked: int, nearest: int, *, but: int = NO_CELL, rather: int = NO_CELL
    ) -> int:
        """The best slot for an agent near a place within its reach, `but` one; its own goal if there is no other.

        Of equally good ones it gets the one that it would `rather` have. All that are cut off from their places leave
        the same gaps, so that they can pass one another wherever those are.
        """
        self._journal.on_failure(self._forget_cells)
        origin = nearest if asked == nearest else FOR_CUT_OFF
        slot = best_slot(floor_of(self._state.grid), self._taken, self._around, agent, nearest, origin, but, rather)
        return int(self._routes.goal[agent]) if slot == NO_CELL else int(slot)

    def errands_with_slots(self, agents: Cells) -> list[Errand]:
        """The orders that these agents have, which keep their slots and their waypoints, near what is within reach."""
        parts = agents, self._routes.asked[agents], self.all_within_reach(agents), self._routes.goal[agents]
        each = zip(*(part.tolist() for part in parts), strict=True)
        return [Errand(agent, asked, nearest, goal, None) for agent, asked, nearest, goal in each]

    def errands(self, agents: Cells) -> list[Errand]:
        """Where the orders lead that these agents have, whose goals have been released. They hold their new ones."""
        if not agents.size:
            return []
        asked, goals = self._routes.asked[agents], self._routes.goal[agents]
        nearest = self.all_within_reach(agents)
        self._journal.keep(self._holder)
        self._journal.on_failure(self._forget_cells)
        self._claimed.edited[0] = True
        deal(floor_of(self._state.grid), self._taken, self._around, agents, asked, nearest, goals)
        return list(map(Errand, *(cells.tolist() for cells in (agents, asked, nearest, goals))))

    def all_within_reach(self, agents: Cells) -> Cells:
        """For each of these agents, the nearest cell that it can reach to the place that it asked for."""
        component = self._state.grid.component
        nearest, here = self._routes.asked[agents], component[self._state.agents.cell[agents]]
        is_cut_off = component[nearest] != here
        for label in np.unique(here[is_cut_off]).tolist():
            these = is_cut_off & (here == label)
            nearest[these] = self._state.grid.nearest_in(label, nearest[these])
        return nearest

    @property
    def _taken(self) -> Taken:
        return Taken(self._holder, self._state.occupant, self._state.agents.controlled)

    def _forget_cells(self) -> None:
        """What is known of the surroundings of a place does not hold any more. To forget it twice changes nothing."""
        self._around.moves.fill(UNREACHABLE)
        self._around.counts["reached"] = self._around.counts["visited"] = 0

    # --- whose a place is ------------------------------------------------------------------------------------------

    def enter(self, agent: int, asked: int, nearest: int, goal: int) -> None:
        """An agent is sent to a place, or to the nearest to it within reach, and has this goal."""
        if self._state.agents.controlled[agent]:
            self.hold(agent, goal)
            self._count(asked, nearest, 1)

    def enter_all(self, goals: Cells) -> None:
        """The first agents of all are sent to these goals, each to another one."""
        for array in (self._holder, self._sent):
            self._journal.keep(array, goals)
        self._claimed.edited[0] = True
        self._holder[goals] = np.arange(goals.size)
        self._sent[goals] = 1

    def holds(self, agent: int) -> bool:
        """Whether an agent's goal is its own, as long as the planner moves it."""
        return bool(self._holder[self._routes.goal[agent]] == agent or not self._state.agents.controlled[agent])

    def all_hold(self, agents: Cells) -> NDArray[np.bool_]:
        """Whether the goal of each of these agents is its own; the planner moves them."""
        return np.asarray(self._holder[self._routes.goal[agents]] == agents)

    def hold(self, agent: int, goal: int) -> None:
        """A cell is an agent's."""
        self._journal.keep(self._holder, goal)
        self._claimed.edited[0] = True
        self._holder[goal] = agent

    def exchange_all(self, agents: Cells, asked: Cells, nearest: Cells, goals: Cells) -> None:
        """The planner's agents leave the goals that they have, and are sent to others."""
        routes, journal = self._routes, self._journal
        asked_before, before = routes.asked[agents], routes.nearest[agents]
        self.release_all(agents)
        journal.keep(self._holder, goals)
        self._holder[goals] = agents
        for name in ("_cut_off", "_shared"):
            journal.keep_attribute(self, name)
        self._cut_off += int(np.count_nonzero(asked != nearest)) - int(np.count_nonzero(asked_before != before))
        places = np.unique(np.concatenate((before, nearest)))
        journal.keep(self._sent, places)
        was_shared = int(np.count_nonzero(self._sent[places] > 1))
        np.subtract.at(self._sent, before, 1)
        np.add.at(self._sent, nearest, 1)
        is_shared = self._sent[places] > 1
        self._shared += int(np.count_nonzero(is_shared)) - was_shared
        for place in np.intersect1d(places[is_shared], nearest).tolist():
            journal.keep_item(self.unsettled, place)
            self.unsettled[place] = True

    def release_all(self, agents: Cells) -> None:
        """Agents are about to get other goals, and others may have those that they have."""
        goals = self._routes.goal[agents]
        released = goals[self._holder[goals] == agents]
        self._journal.keep(self._holder, released)
        self._claimed.edited[0] = True
        self._holder[released] = NO_AGENT
        self._journal.on_failure(self.left.clear)
        self.left += released.tolist()

    def leave(self, agent: int) -> None:
        """An agent no longer has the goal that it has."""
        if self._state.agents.controlled[agent]:
            asked, nearest, _ = self._routes.errand_of(agent)
            self._count(asked, nearest, -1)
            self.release(agent)

    def release(self, agent: int) -> None:
        """An agent is about to get another goal, and others may have the one that it has."""
        goal = int(self._routes.goal[agent])
        if self._holder[goal] == agent:
            self._journal.keep(self._holder, goal)
            self._claimed.edited[0] = True
            self._holder[goal] = NO_AGENT
            self.vacate(goal)

    def vacate(self, cell: int) -> None:
        """A cell is nobody's from now on, or an agent of the program has left it."""
        self._journal.on_failure(self.left.clear)
        self.left.append(cell)

    def give_back(self, followers: Collection[int] = ()) -> Iterator[Errand]:
        """Send agents to the places that they were sent to and could not have, where these have become free.

        Of several agents that wait for a place, the one that stands nearest gets it. A pinned agent is left alone, and
        so is one that follows another: it does not want to be where that one stands.
        """
        routes, agents, width = self._routes, self._state.agents, self._state.grid.width
        wanted = None                   # the places that agents wait for; they are found when they are asked for
        while self.left:
            cell = self.left.pop(0)
            if wanted is None:
                waits = (routes.nearest != routes.goal) & agents.controlled & ~agents.pinned & (agents.cell != NO_CELL)
                waits[list(followers)] = False
                wanted = set(routes.nearest[waits].tolist())
            if cell not in wanted or not self._is_free_for(cell, NO_AGENT):
                continue
            in_line = np.flatnonzero(waits & (routes.nearest == cell))
            here = agents.cell[in_line]
            far = (here % width - cell % width) ** 2 + (here // width - cell // width) ** 2
            agent = int(in_line[far.argmin()])
            yield Errand(agent, int(routes.asked[agent]), cell, cell, None)
            wanted = None               # it waits no longer

    def withhold(self, since: int) -> None:
        """Cells that have become free in this call are not given back, but for so many of them that were so before.

        Their agents have given them up because they cannot get there, and so cannot others that want to.
        """
        del self.left[since:]

    def forget_surroundings(self) -> None:
        """The map is about to be edited."""
        empty(self._around)
        self._within_reach.clear()
        for forget in (self._forget_cells, self._within_reach.clear):
            self._journal.on_failure(forget)

    def after_restore(self) -> None:
        """A snapshot was restored: what is not in it is found again."""
        self._forget_cells()
        self._within_reach.clear()

    def _count(self, asked: int, place: int, change: int) -> None:
        """So many agents more are sent to this place, because they were to go there or cannot go where they were to."""
        if asked != place:
            self._journal.keep_attribute(self, "_cut_off")
            self._cut_off += change
        sent = self._sent.item(place) + change
        self._journal.keep(self._sent, place)
        self._claimed.edited[0] = True
        self._sent[place] = sent
        if change > 0 and sent > 1:
            self._journal.keep_item(self.unsettled, place)
            self.unsettled[place] = True
        if sent == (2 if change > 0 else 1):
            self._journal.keep_attribute(self, "_shared")
            self._shared += change
