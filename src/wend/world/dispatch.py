"""Dispatch: sends the agents of a world to places, tells the planner, and writes it down.

Where an agent goes is decided in `groups/`: claims.py (goals of their own, slots), commander.py (orders to groups),
pursuit.py (following). Each decision is an `Errand`. It is carried out before the next one is asked for, which may
depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.groups.claims import Claims
from wend.groups.commander import Commander
from wend.groups.orders import Errand, Order
from wend.groups.pursuit import Pursuits
from wend.groups.routes import NO_PATH, Cells, Routes
from wend.journal import Journal
from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.planners.base import Budget, State
from wend.world.conduct import Conduct
from wend.world.liaison import Liaison
from wend.world.recorder import Notes
from wend.world.roster import Roster


class Dispatch:
    """Where the agents of one world were sent."""

    def __init__(
        self, state: State, roster: Roster, liaison: Liaison, note: Notes, journal: Journal
    ) -> None:
        """Begin with no agents."""
        self._state = state
        self._roster = roster
        self._liaison = liaison
        self._note = note
        self._journal = journal
        self.routes = Routes(journal)
        self._claims = Claims(state, self.routes, journal)
        self._commander = Commander(state, self.routes, self._claims, journal)
        self._pursuits = Pursuits(state, self.routes, self._claims, journal)

    def answer(self, agent: int) -> Order:
        """What the last order to an agent came to."""
        asked, nearest, goal = map(self._state.grid.xy, self.routes.errand_of(agent))
        return Order(int(self._roster.handles[agent]), asked, nearest, goal)

    def waypoints(self, agent: int) -> list[Point]:
        """The places that an agent has still to pass before it heads for its goal."""
        return [self._state.grid.xy(cell) for cell in self.routes.waypoints(agent)]

    def followed(self) -> Mapping[int, int]:
        """The agent that each follower follows."""
        return self._pursuits.followed

    # --- orders ----------------------------------------------------------------------------------------------------

    def introduce(self, agent: int, asked: int) -> Errand:
        """An agent has entered the map, and is to go to a cell, which may be the one where it stands."""
        self.routes.add_agent(agent)
        errand = self._claims.errand(agent, asked)
        self._aim(errand)
        self.routes.been_home[agent] = errand.goal == self._state.agents.cell[agent]
        return errand

    def introduce_all(self, goals: Cells) -> None:
        """The agents of a problem have entered an empty map: each can reach its goal, which is no other's."""
        self.routes.add_all(self._state.agents.cell, goals)
        self._claims.enter_all(goals)

    def order(self, agent: int, asked: int) -> Order:
        """Send an agent to a cell, or as near to it as it can have a place of its own."""
        self._stop_following(agent)
        self._commander.drop(agent)
        self._send(self._claims.errand(agent, asked))
        self._give_back()
        return self.answer(agent)

    def order_group(self, members: list[int], target: Point, mode: str, budget: Budget) -> list[Order]:
        """Send a group to a place. Agents for whose paths a limited budget does not suffice get them in later ticks."""
        handles = self._roster.handles_of(members)
        if len(set(members)) < len(members):
            raise ParameterError("an agent is in the group twice; name each of them once")
        for agent, handle in zip(members, handles, strict=True):
            if not self._state.agents.controlled[agent]:
                raise ParameterError(f"agent {handle} is moved by the program, which cannot be in an ordered group")
        if errands := self._commander.order(members, target, mode, at_once=not budget.is_limited):
            self._note("group", agents=sorted(handles), target=target, mode=mode)
            for errand in errands:
                self._stop_following(errand.agent)
            self._send_all(errands)
            if budget.is_limited and self._commander.is_searching:
                self._search_paths(budget, budget.slice())
            self._give_back()
        return [self.answer(agent) for agent in members]

    def follow(self, agent: int, other: int) -> Order:
        """Let an agent follow another."""
        if self._pursuits.followed_by(agent) != other:
            self._commander.drop(agent)
            self._pursuits.begin(agent, other)
            self._note("followed", agent, other=int(self._roster.handles[other]))
        self._send(self._pursuits.errand(agent))
        self._give_back()
        return self.answer(agent)

    def dismiss(self, agent: int, cell: int) -> None:
        """An agent has left a cell, and the map: its place is free, and its followers keep their goals."""
        self._commander.drop(agent)
        self._pursuits.end(agent)
        for follower in [k for k in self._pursuits.followers if self._pursuits.followed_by(k) == agent]:
            self._stop_following(follower)
        self._claims.leave(agent)
        self._vacate(agent, cell)
        self._give_back()

    # --- what happens around them ----------------------------------------------------------------------------------

    def after_restore(self) -> None:
        """The world was led back to a snapshot."""
        self._claims.after_restore()

    def before_edit(self) -> None:
        """The map is about to be edited."""
        self._claims.forget_surroundings()

    def after_edit(self) -> None:
        """The map was edited: agents go where they can get now, and to the places that have come within reach."""
        grid, agents, routes = self._state.grid, self._state.agents, self.routes
        here, component = grid.component[agents.cell], grid.component
        is_opened = (routes.asked != routes.nearest) & (component[routes.asked] == here)
        is_ours = (agents.cell != NO_CELL) & agents.controlled
        misled = np.flatnonzero(((component[routes.goal] != here) | is_opened) & is_ours).astype(np.int32)
        elsewhere = np.flatnonzero((component[routes.nearest] != here) & is_ours).astype(np.int32)
        elsewhere = elsewhere[~np.isin(elsewhere, misled)]      # they keep their slots, near another place now
        self._send_all(self._claims.errands_with_slots(elsewhere))
        self._claims.release_all(misled)
        alone = [agent for agent in self._nearest_first(misled) if not self._commander.leads(agent)]
        followers = self._pursuits.followers
        errands = self._claims.errands(np.array([agent for agent in alone if agent not in followers], np.int32))
        for agent in alone:             # those that stand near get the near slots
            if agent in followers:
                errands.append(self._pursuits.errand(agent))
                self._claims.hold(agent, errands[-1].goal)
        self._send_all(sorted(errands, key=lambda errand: errand.agent))
        for errands in self._commander.edit(misled.tolist()):
            self._send_all(errands)
        self._give_back()

    def after_teleport(self, agent: int, cell: int) -> None:
        """An agent was taken off a cell, and goes from elsewhere to where it was sent, without its group and route."""
        self._commander.drop(agent)
        grid, routes = self._state.grid, self.routes
        if grid.component[routes.goal[agent]] != grid.component[self._state.agents.cell[agent]]:
            self._claims.release(agent)
        self._send(self._errand(agent))
        self._vacate(agent, cell)
        self._give_back()

    def settled_at(self, after: Cells) -> dict[int, list[int]]:
        """By shared place: the agents that were sent there, if after this tick all are on their goals, at last."""
        return self._claims.settled_at(after)

    def forget_settled(self, after: Cells) -> None:
        """Those who have settled after this tick have been told of. To forget them again changes nothing."""
        for place in self._claims.settled_at(after):
            del self._claims.unsettled[place]

    def before_tick(self, conduct: Conduct, named: Callable[[int], int], budget: Budget) -> None:
        """A tick begins: agents head for their next waypoints, follow others, exchange slots, and get places back.

        `named` answers with the agent in an agent's way, as the planner last said, or NO_AGENT. Groups that set out
        without paths get up to half of the budget.
        """
        agents, tick = self._state.agents, self._state.tick
        if self._commander.is_searching:
            self._search_paths(budget, (budget.slice() + 1) // 2)
        if self._pursuits.followers:
            for errand in self._pursuits.errands():
                self._send(errand)
        if self._commander.has_orders:
            for agent in self._commander.advance():
                self._liaison.tell(self._liaison.planner.agent_retasked, agent)
        has_others = b"\0" in agents.controlled.tobytes()       # the program's agents: the fastest way to find one
        if self._claims.has_crowds or has_others:
            waited, held_up = (tick - since[: agents.cell.size] for since in (conduct.moved_at, conduct.nearer_at))
            left_before = len(self._claims.left)
            for errand in self._commander.settle(waited, held_up, named):
                self._send(errand)
            self._claims.withhold(left_before)
        if has_others:
            previous = conduct.previous[: agents.cell.size]
            has_left = ~agents.controlled & (previous != agents.cell) & (agents.cell != NO_CELL)
            for cell in previous[has_left].tolist():
                self._claims.vacate(cell)
        self._give_back()

    # --- behind the scenes -----------------------------------------------------------------------------------------

    def _search_paths(self, budget: Budget, limit: int) -> None:
        """Go on with the paths of groups that set out without, for so many expansions."""
        made, errands = self._commander.search(limit)
        budget.spend(made)
        for errand in errands:
            self._send(errand)

    def _errand(self, agent: int) -> Errand:
        """Where an agent is to be sent as things are now, by the order that it has."""
        if agent in self._pursuits.followers:
            return self._pursuits.errand(agent)
        return self._claims.errand(agent, int(self.routes.asked[agent]))

    def _give_back(self) -> None:
        if not self._claims.left:
            return
        for errand in self._claims.give_back(self._pursuits.followers):
            self._send(errand)

    def _vacate(self, agent: int, cell: int) -> None:
        """An agent has left a cell, which was in the way of others if it is the program's."""
        if not self._state.agents.controlled[agent]:
            self._claims.vacate(cell)

    def _stop_following(self, agent: int) -> None:
        if agent in self._pursuits.followers:
            self._pursuits.end(agent)
            self._note("followed", agent, other=None)

    def _nearest_first(self, agents: NDArray[Any]) -> list[int]:
        """These agents, those first that stand nearest to the places that they were sent to."""
        width = self._state.grid.width
        here, there = self._state.agents.cell[agents], self.routes.asked[agents]
        far = (here % width - there % width) ** 2 + (here // width - there // width) ** 2
        return [int(agent) for agent in agents[np.lexsort((agents, far))]]

    def _aim(self, errand: Errand) -> None:
        """Let an agent head for a goal, by the waypoints of a path if it has any."""
        agent = errand.agent
        self._claims.enter(*errand[:4])
        self._journal.keep(self._state.agents.goal, agent)
        self._state.agents.goal[agent] = self.routes.aim(*errand)

    def _send(self, errand: Errand) -> None:
        """Give an agent another goal or another route to it; write down what is new, and tell the planner."""
        agent, routes, heading = errand.agent, self.routes, self._state.agents.goal.item(errand.agent)
        before, route = routes.errand_of(agent), routes.waypoints(agent)
        is_as_sent = errand[1:4] == before
        if is_as_sent and not route and errand.path is NO_PATH and self._claims.holds(agent):
            return
        self._claims.leave(agent)
        self._aim(errand)
        if not is_as_sent:
            self._note("ordered", agent, **destination(self._state.grid, errand))
        if routes.waypoints(agent) != route:
            self._note("routed", agent, waypoints=self.waypoints(agent))
        if self._state.agents.goal[agent] != heading:
            self._liaison.tell(self._liaison.planner.agent_retasked, agent)

    def _send_all(self, errands: Sequence[Errand]) -> None:
        """Do with many errands what `_send` does with one. The planner is told once, if no agent gets a path."""
        if not errands:
            return
        path = errands[0].path
        if (path is not None and path is not NO_PATH) or any(errand.path is not path for errand in errands):
            for errand in errands:
                self._send(errand)
            return
        agents, asked, nearest, goals = np.array([errand[:4] for errand in errands], np.int32).T
        routes = self.routes
        before = routes.asked[agents], routes.nearest[agents], routes.goal[agents]
        is_new = (before[0] != asked) | (before[1] != nearest) | (before[2] != goals)
        loses_route = routes.have_waypoints(agents) & (path is NO_PATH)
        is_sent = is_new | loses_route | ~self._claims.all_hold(agents)
        if not is_sent.all():
            agents, asked, nearest, goals, is_new, loses_route = (
                part[is_sent] for part in (agents, asked, nearest, goals, is_new, loses_route)
            )
        heading = self._state.agents.goal[agents]
        self._claims.exchange_all(agents, asked, nearest, goals)
        self._journal.keep(self._state.agents.goal, agents)
        self._state.agents.goal[agents] = routes.aim_all(agents, asked, nearest, goals, keeps_waypoints=path is None)
        self._note.each(self._told(agents, is_new, loses_route))
        retasked = agents[self._state.agents.goal[agents] != heading]
        if retasked.size:
            self._liaison.tell(self._liaison.planner.agents_retasked, retasked)

    def _told(self, agents: Cells, is_new: NDArray[np.bool_], loses_route: NDArray[np.bool_]) -> Iterator[Any]:
        """What is written down of agents that have been sent to places."""
        grid, errands = self._state.grid, (self.routes.asked, self.routes.nearest, self.routes.goal)
        parts = agents, is_new, loses_route, *(part[agents] for part in errands)
        for agent, is_told, is_without, asked, nearest, goal in zip(*(part.tolist() for part in parts), strict=True):
            if is_told:
                yield "ordered", agent, destination(grid, Errand(agent, asked, nearest, goal))
            if is_without:
                yield "routed", agent, {"waypoints": []}


def destination(grid: Grid, errand: Errand) -> dict[str, Point]:
    """How a trace says where an agent goes: `nearest` only where its goal is a slot."""
    where = {"goal": grid.xy(errand.goal), "asked": grid.xy(errand.asked)}
    if errand.nearest != errand.goal:
        where["nearest"] = grid.xy(errand.nearest)
    return where
