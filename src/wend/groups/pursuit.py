"""Pursuit: agents that follow others. Their orders follow the other's cell, and end beside it.

When the agent that is followed has moved, its follower is sent to a slot near its new cell, once; not even that if the
follower stands beside it, or has a slot that is still as near. Who follows is a matter of orders alone: any planner
carries them out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from wend.groups.claims import Claims
from wend.groups.orders import Errand
from wend.groups.routes import Routes
from wend.journal import Journal
from wend.maps.terrain import moves_between
from wend.planners.base import State


class Pursuits:
    """Which agents of one world follow which."""

    def __init__(self, state: State, routes: Routes, claims: Claims, journal: Journal) -> None:
        self._state = state
        self._routes = routes
        self._claims = claims
        self._journal = journal
        self._followed: dict[int, int] = {}         # by follower

    @property
    def followed(self) -> Mapping[int, int]:
        """The agent that each follower follows."""
        return self._followed

    @property
    def followers(self) -> Collection[int]:
        """The agents that follow another."""
        return self._followed.keys()

    def followed_by(self, agent: int) -> int | None:
        """The agent that one follows, if any."""
        return self._followed.get(agent)

    def begin(self, agent: int, other: int) -> None:
        """An agent follows another from now on."""
        self._journal.keep_item(self._followed, agent)
        self._followed[agent] = other

    def end(self, agent: int) -> None:
        """An agent follows no other any more."""
        if agent in self._followed:
            self._journal.keep_item(self._followed, agent)
            del self._followed[agent]

    def errands(self) -> Iterator[Errand]:
        """Where the followers are sent whose other agents have moved since they were sent last."""
        cell, asked = self._state.agents.cell, self._routes.asked
        for agent in sorted(self._followed):
            if cell[self._followed[agent]] != asked[agent]:
                yield self.errand(agent)

    def errand(self, agent: int) -> Errand:
        """Where a follower is sent: it stays if it is beside the other, keeps a slot that is as near, or gets one."""
        grid, routes = self._state.grid, self._routes
        here, goal = int(self._state.agents.cell[agent]), int(routes.goal[agent])
        place = int(self._state.agents.cell[self._followed[agent]])
        nearest = self._claims.within_reach(agent, place)
        if grid.xy(place) in grid.neighbours(grid.xy(here)) and self._is_mine(agent, here):
            return Errand(agent, place, nearest, here)
        asked, is_within_reach = int(routes.asked[agent]), grid.component[goal] == grid.component[here]
        is_opened = nearest == place and routes.nearest[agent] != asked
        is_as_near = goal != place and self._moves(goal, place) <= max(self._moves(goal, asked), 1)
        if is_within_reach and is_as_near and not is_opened and self._is_mine(agent, goal):
            return Errand(agent, place, nearest, goal)
        return Errand(agent, place, nearest, self._claims.slot_near(agent, place, nearest, but=place))

    def _is_mine(self, agent: int, cell: int) -> bool:
        return bool(self._claims.is_free_for(np.array([cell]), agent)[0])

    def _moves(self, a: int, b: int) -> int:
        xy = self._state.grid.xy
        return moves_between(xy(a), xy(b))
