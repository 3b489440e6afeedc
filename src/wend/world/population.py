"""Population: agents come to a world's map, leave it, and are put elsewhere."""

from __future__ import annotations

from wend import arguments
from wend.errors import MapError
from wend.kernel import NO_AGENT, NO_CELL
from wend.kernel.arrays import ahead, grown, renew
from wend.maps.terrain import Point
from wend.problems.problem import Problem
from wend.world.dispatch import destination
from wend.world.handovers import Handovers


class Populated(Handovers):
    """A world, and who is on its map."""

    _announced: dict[int, int]          # where the program moves its own agents in this tick

    def add(self, at: Point, goal: Point | None = None, *, controlled: bool = True, pinned: bool = False) -> int:
        """Put a new agent on a free cell; return its handle: how many were added before it.

        Without a goal it stays where it stands.
        """
        with self._calls, self._calls.journal as journal:
            is_controlled, is_pinned = arguments.flag(controlled, "controlled"), arguments.flag(pinned, "pinned")
            cell = self._vacant_cell(at, "at")
            asked = cell if goal is None else self.grid.cell_at(goal, "goal")
            handle, agent = self.agents, self._roster.enter(self.ticks)
            self._make_rows(agent + 1)
            journal.keep_attribute(self.state, "agents")
            for rows_of in (self._agent_rows, self._conduct):
                renew(rows_of, agent, journal, is_spare=agent == self.state.agents.cell.size)
            journal.keep(self.state.occupant, cell)
            self.state.agents = agents = self._first_agents(self._roster.size)
            agents.cell[agent], agents.controlled[agent], agents.pinned[agent] = cell, is_controlled, is_pinned
            self.state.occupant[cell] = agent
            self._conduct.moved_at[agent] = self._conduct.nearer_at[agent] = self.ticks
            self._conduct.previous[agent] = cell
            where = destination(self.grid, self._dispatch.introduce(agent, asked))
            self._note("added", agent, at=self.grid.xy(cell), **where, controlled=is_controlled, pinned=is_pinned)
            self._liaison.tell(self.planner.agent_added, agent)
        return handle

    def remove(self, agent: int) -> None:
        """Take an agent off the map. No other agent is ever given its handle."""
        with self._calls, self._calls.journal as journal:
            agent = self._present(agent)
            cell = int(self.state.agents.cell[agent])
            journal.keep(self.state.occupant, cell)
            journal.keep(self.state.agents.cell, agent)
            journal.keep_item(self._announced, agent)
            self.state.occupant[cell] = NO_AGENT
            self.state.agents.cell[agent] = NO_CELL
            self._announced.pop(agent, None)
            self._note("removed", agent)
            self._liaison.tell(self.planner.agent_removed, agent)
            self._dispatch.dismiss(agent, cell)
            self._roster.leave(agent)

    def teleport(self, agent: int, to: Point) -> None:
        """Put an agent on another free cell, from which it goes on to its goal. An announced move of it is cancelled.

        If it was sent there with a group, it goes on alone.
        """
        with self._calls, self._calls.journal as journal:
            agent = self._present(agent)
            here = int(self.state.agents.cell[agent])
            if self.grid.cell_at(to, "to") == here:
                return
            cell = self._vacant_cell(to, "to")
            for array, where in (
                (self.state.occupant, here), (self.state.occupant, cell), (self.state.agents.cell, agent),
                (self._conduct.moved_at, agent), (self._conduct.previous, agent),
            ):  # fmt: skip
                journal.keep(array, where)
            journal.keep_item(self._announced, agent)
            self._announced.pop(agent, None)
            self.state.occupant[here], self.state.occupant[cell] = NO_AGENT, agent
            self.state.agents.cell[agent] = self._conduct.previous[agent] = cell
            self._conduct.moved_at[agent] = self.ticks
            self._note("teleported", agent, at=self.grid.xy(here), to=self.grid.xy(cell))
            self._liaison.tell(self.planner.agent_teleported, agent)
            self._dispatch.after_teleport(agent, here)

    # --- behind the scenes -----------------------------------------------------------------------------------------

    def _add_all(self, problem: Problem) -> None:
        """Let the agents of a problem come to an empty map: as `add` does it one by one, but in a third of the time."""
        grid, starts, goals = self.grid, problem.starts, problem.goals
        if not (grid.free[starts].all() and (grid.component[starts] == grid.component[goals]).all()):
            for start, goal in zip(problem.start_points(), problem.goal_points(), strict=True):
                self.add(start, goal)           # the map was edited since: they go as far as they can get
            return
        with self._calls, self._calls.journal as journal:
            self._roster.enter_all(problem.agents)
            self._make_rows(problem.agents)
            journal.keep_attribute(self.state, "agents")
            self.state.agents = agents = self._first_agents(problem.agents)
            agents.cell[:], agents.goal[:], agents.controlled[:] = starts, goals, True
            self._conduct.previous[: problem.agents] = starts
            self._dispatch.introduce_all(goals)
            for agent, (at, goal) in enumerate(zip(problem.start_points(), problem.goal_points(), strict=True)):
                self._note("added", agent, at=at, goal=goal, asked=goal, controlled=True, pinned=False)
            self._liaison.introduce_all()

    def _make_rows(self, agents: int) -> None:
        """Make space for so many agents."""
        if agents > self._agent_rows.cell.size:
            for name in ("_agent_rows", "_conduct"):
                self._calls.journal.keep_attribute(self, name)
            rows = ahead(self._agent_rows.cell.size, agents)
            self._agent_rows, self._conduct = grown(self._agent_rows, agents=rows), grown(self._conduct, agents=rows)

    def _vacant_cell(self, point: Point, name: str) -> int:
        cell = self.grid.free_cell(point, name)
        if self.state.occupant[cell] != NO_AGENT:
            raise MapError(f"agent {self._handle(self.state.occupant[cell])} stands at {self.grid.xy(cell)}")
        if cell in self._announced.values():
            raise MapError(f"an agent was announced to move to {self.grid.xy(cell)}")
        return cell
