"""Claims: which place belongs to which agent, and who waits for a place that is another's.

The agents that the planner moves have goals of their own: no two of them the same. An order to a place that is an
agent's goal, or where an agent of the program stands, leads to a slot: the nearest place to it that is no other's, with
the preferences of groups/slots.py. The agent then waits for the place itself, and is sent there when it becomes free.
docs/decisions/011-shared-goals.md says what this means for programs.

What is known of a place's surroundings is kept until the map is edited. So a thousand orders to one place cost a few
floods over the thousands of cells around it, and for each a look at these cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.groups.orders import Errand
from wend.groups.routes import Cells, Routes
from wend.groups.slots import SPARE, is_gap, is_in_a_doorway
from wend.journal import Journal
from wend.kernel import NO_AGENT, NO_CELL, UNREACHABLE
from wend.kernel.arrays import ALL_ROWS, allocate, int32, marks
from wend.planners.base import State
from wend.search.flood import nearest_cells

_PLACES_KEPT = 256      # whose surroundings are kept


class _Around(NamedTuple):
    """The cells around a place, the best slots first."""

    cells: Cells
    worth: NDArray[np.int64]    # the lower the better: is it left free rather, then how many moves away
    are_all: bool               # these are all that can be reached


class _Claimed(NamedTuple):
    """Which cells belong to agents, and which they were sent to."""

    holder: Annotated[                  # the agent whose goal a cell is
        np.ndarray, int32("cells", fill=NO_AGENT, marked_by="edited", rows_per_mark=ALL_ROWS)
    ]
    sent: Annotated[np.ndarray, int32("cells", marked_by="edited", rows_per_mark=ALL_ROWS)]     # agents sent there
    edited: Annotated[np.ndarray, marks("edits")]


class Claims:
    """The places of one world, and the agents that they belong to."""

    uncaptured = ("_scratch", "_around", "_within_reach")

    def __init__(self, state: State, routes: Routes, journal: Journal) -> None:
        self._state = state
        self._routes = routes
        self._journal = journal
        self._claimed = allocate(_Claimed, cells=state.grid.size, edits=1)
        self._holder, self._sent = self._claimed.holder, self._claimed.sent
        self._shared = 0                                # places to which more than one agent was sent
        self.unsettled: dict[int, bool] = {}            # those where not all have arrived since they were sent
        self.left: list[int] = []                       # cells that belong to no agent since this call began
        self._looked: dict[int, int] = {}               # by place: how many cells around it are known,
        self._around: dict[int, _Around] = {}           # ... and these; found again when a snapshot was restored
        self._within_reach: dict[tuple[int, int], int] = {}     # by component and place: the nearest cell to it
        self._scratch = np.full(state.grid.size, UNREACHABLE, dtype=np.int32)

    @property
    def are_shared(self) -> bool:
        """Whether any place is shared by agents that were sent there."""
        return self._shared > 0

    def is_in_a_crowd(self) -> NDArray[np.bool_]:
        """bool[agents] whether another agent was sent to the same place."""
        return np.asarray(self._sent[self._routes.nearest] > 1)

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
            return Errand(agent, asked, nearest, self.slot_near(agent, nearest))
        is_opened = nearest == asked != routes.nearest[agent]
        if self._holder[goal] == agent and not is_opened and component[goal] == component[nearest]:
            return Errand(agent, asked, nearest, goal)
        return Errand(agent, asked, nearest, self.slot_near(agent, nearest, rather=goal))

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

    def slot_near(self, agent: int, place: int, *, but: int = NO_CELL, rather: int = NO_CELL) -> int:
        """The best slot for an agent near a place within its reach, `but` one; its own goal if there is no other.

        Of equally good ones it gets the one that it would `rather` have.
        """
        count = SPARE
        while True:
            cells, worth, are_all = self._cells_around(place, count)
            is_free = self.is_free_for(cells, agent) & (cells != but)
            needed = 4 * int(cells.size - is_free.sum()) + SPARE        # of four cells, one is a slot at the least
            if are_all or needed <= cells.size:
                break
            count = 2 * needed
        if not is_free.any():
            return int(self._routes.goal[agent])
        best = int(is_free.argmax())
        is_as_good = is_free & (cells == rather) & (worth == worth[best])
        return rather if is_as_good.any() else int(cells[best])

    def _cells_around(self, place: int, count: int) -> _Around:
        """At least so many of the cells nearest to a place, or all within reach, the best slots first."""
        if place in self._looked and place not in self._around:
            self._around[place] = self._look_around(place, self._looked[place])
        known = self._around.get(place)
        if known is None or not (known.are_all or known.cells.size >= count):
            if len(self._looked) >= _PLACES_KEPT:
                self._forget_cells()
            known = self._around[place] = self._look_around(place, count)
            self._looked[place] = count
        return known

    def _look_around(self, place: int, count: int) -> _Around:
        """So many of the cells nearest to a place, or all within reach, the best slots first."""
        grid = self._state.grid
        self._journal.on_failure(self._scratch.fill, UNREACHABLE)
        cells, moves = nearest_cells(grid, place, count, self._scratch)
        is_in_a_passage = is_in_a_doorway(grid, cells)
        if is_in_a_passage[0]:          # whoever is sent into a doorway is not to keep it free
            is_in_a_passage[:] = False
        worth = (2 * is_gap(grid, cells, place) + is_in_a_passage) * grid.size + moves
        best_first = np.argsort(worth, kind="stable")
        return _Around(cells[best_first], worth[best_first], cells.size < count)

    def _forget_cells(self) -> None:
        self._looked.clear()
        self._around.clear()

    # --- whose a place is ------------------------------------------------------------------------------------------

    def enter(self, agent: int, nearest: int, goal: int) -> None:
        """An agent is sent to a place, and has this goal."""
        if self._state.agents.controlled[agent]:
            self.hold(agent, goal)
            self._count(nearest, 1)

    def holds(self, agent: int) -> bool:
        """Whether an agent's goal is its own, as long as the planner moves it."""
        return bool(self._holder[self._routes.goal[agent]] == agent or not self._state.agents.controlled[agent])

    def hold(self, agent: int, goal: int) -> None:
        """A cell is an agent's."""
        self._journal.keep(self._holder, goal)
        self._claimed.edited[0] = True
        self._holder[goal] = agent

    def leave(self, agent: int) -> None:
        """An agent no longer has the goal that it has."""
        if self._state.agents.controlled[agent]:
            self._count(int(self._routes.nearest[agent]), -1)
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

    def withhold(self, cell: int) -> None:
        """A cell that has become free in this call is not given back: agents cannot get there at the moment."""
        if cell in self.left:
            self.left.remove(cell)

    def forget_surroundings(self) -> None:
        """The map is about to be edited."""
        for forget in (self._forget_cells, self._within_reach.clear):
            forget()
            self._journal.on_failure(forget)

    def after_restore(self) -> None:
        """A snapshot was restored: what is not in it is found again."""
        self._around.clear()
        self._within_reach.clear()

    def _count(self, place: int, change: int) -> None:
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
