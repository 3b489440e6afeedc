# mypy: disallow-untyped-calls=False
"""World: agents, orders and map edits on one grid, moved by one planner, judged by one referee. The only clock.

    world = World(grid, "lra", seed=1)
    scout = world.add((3, 4), goal=(60, 10))
    while not world.all_home():
        world.tick(budget=5_000)

Between two ticks the program may add and remove agents, order them about, pin them, move those that it controls itself,
and edit the map. Everything that happens is in `world.trace()`; `world.state_hash()` is the same on every machine that
did the same things with the same seed and the same budgets in expansions.

The world keeps the clock and sends agents to their goals. Orders to groups are the commander's (groups/commander.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import MapError, ParameterError, ViolationError
from wend.groups.commander import Commander
from wend.groups.orders import MOVE, Order
from wend.groups.routes import NO_PATH, Cells, Routes
from wend.kernel import NO_AGENT, NO_CELL
from wend.kernel.arrays import ahead, allocate, grown
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.planners import registry
from wend.planners.base import Agents, Budget, Planner, Proposal, State
from wend.problems.problem import Problem
from wend.rules import Violation
from wend.world.conduct import STUCK_AFTER_TICKS, AgentIntent, AgentState, Conduct, carry_out, is_any_away
from wend.world.recorder import Recorder
from wend.world.referee import Referee
from wend.world.trace import Event, Trace


class World:
    """Many agents on one map, and the clock that they move by."""

    def __init__(
        self,
        grid: Grid,
        planner: Planner | str,
        *,
        seed: int = 0,
        on_violation: str = "raise",
        record: bool = True,
    ) -> None:
        """Set up an empty world on a copy of the grid.

        `planner` is a planner or the name of one. `on_violation="record"` keeps the agents of an illegal move where
        they are and goes on, instead of raising; `world.violations` lists what happened. `record=False` keeps no trace.
        """
        if on_violation not in ("raise", "record"):
            raise ParameterError(f"on_violation is 'raise' or 'record', not {on_violation!r}")
        self.grid = grid.copy()
        self.planner = registry.create(planner) if isinstance(planner, str) else planner
        self.seed = int(seed)
        self.violations: list[Violation] = []
        self.expansions = 0                                     # nodes that the planner expanded so far
        self._on_violation = on_violation
        self._agent_rows = allocate(Agents, agents=0)           # those of the state, and spare rows for agents to come
        self._conduct = allocate(Conduct, agents=0)
        self._routes = Routes()                                 # where each agent was sent, and its waypoints
        self._announced: dict[int, int] = {}                    # where the program moves its own agents in this tick
        self._recorder = Recorder(self.grid, keeps_trace=record)
        self._referee = Referee(self.grid)
        occupant = np.full(self.grid.size, NO_AGENT, dtype=np.int32)
        self.state = State(self.grid, self._agent_rows, occupant)
        self._commander = Commander(self.state, self._routes)
        self.planner.bind(self.state, self.seed)

    @classmethod
    def from_problem(cls, problem: Problem, planner: Planner | str, **options: Any) -> World:
        """A world in which the agents of a problem stand on their starts and head for their goals."""
        world = cls(problem.grid, planner, **options)
        for start, goal in zip(problem.start_points(), problem.goal_points(), strict=True):
            world.add(start, goal)
        return world

    # --- what the program may do between two ticks -----------------------------------------------------------------

    def add(self, at: Point, goal: Point | None = None, *, controlled: bool = True, pinned: bool = False) -> int:
        """Put a new agent on a free cell; return its index. Without a goal it stays where it stands."""
        cell, agent = self._vacant_cell(at), self.agents
        if agent == self._agent_rows.cell.size:
            rows = ahead(agent, agent + 1)
            self._agent_rows, self._conduct = grown(self._agent_rows, agents=rows), grown(self._conduct, agents=rows)
        self._routes.add_agent()
        self.state.agents = agents = Agents(*(array[: agent + 1] for array in self._agent_rows))
        agents.cell[agent] = agents.goal[agent] = cell
        agents.controlled[agent], agents.pinned[agent] = controlled, pinned
        self.state.occupant[cell] = agent
        asked, goal = self._within_reach(agent, at if goal is None else goal)
        self._aim(agent, asked, goal, NO_PATH)
        self._note(
            "added", agent,
            at=self.grid.xy(cell), goal=goal, asked=asked, controlled=bool(controlled), pinned=bool(pinned),
        )  # fmt: skip
        self.planner.agent_added(agent)
        return agent

    def remove(self, agent: int) -> None:
        """Take an agent off the map. No other agent is ever given its index."""
        agent = self._present(agent)
        self.state.occupant[self.state.agents.cell[agent]] = NO_AGENT
        self.state.agents.cell[agent] = NO_CELL
        self._announced.pop(agent, None)
        self._commander.drop(agent)
        self._note("removed", agent)
        self.planner.agent_removed(agent)

    def order(self, agent: int, goal: Point) -> Order:
        """Send an agent to a place, or to the nearest place it can reach; the answer says which.

        Giving the same order again changes nothing and costs nothing.
        """
        agent = self._present(agent)
        self._commander.drop(agent)
        return self._send(agent, *self._within_reach(agent, goal))

    def order_group(self, agents: Iterable[int], target: Point, mode: str = MOVE) -> list[Order]:
        """Send a group to a place: each agent gets a slot of its own near it, and a path there, planned at once.

        With `mode="move"` every agent takes a shortest path, with `mode="attack_move"` the group keeps together around
        obstacles (Map Marker). The answers say where each agent will be. Giving the same order again changes nothing
        and costs nothing; an order to a single agent takes it out of the group.
        """
        members = [self._present(agent) for agent in agents]
        target = self.grid.xy(self.grid.cell(*target))
        if errands := self._commander.order(members, target, mode):
            self._note("group", agents=sorted(members), target=target, mode=mode)
        for errand in errands:
            self._send(*errand)
        return [self._commander.answer(agent) for agent in members]

    def pin(self, agent: int, pinned: bool = True) -> None:
        """Say that no other agent may push this one off its goal, or that they may again."""
        agent = self._present(agent)
        if bool(self.state.agents.pinned[agent]) != pinned:
            self.state.agents.pinned[agent] = pinned
            self._note("pinned", agent, pinned=pinned)

    def move(self, agent: int, to: Point) -> None:
        """Announce where an agent that the program controls goes in the next tick: one legal step to an empty cell."""
        agent = self._present(agent)
        if self.state.agents.controlled[agent]:
            raise ParameterError(f"agent {agent} is moved by the planner; order it, or add it with controlled=False")
        here = self.grid.xy(int(self.state.agents.cell[agent]))
        target = self._vacant_cell(to) if to != here else self.grid.cell(*to)
        if to != here and to not in self.grid.neighbours(here):
            raise MapError(f"agent {agent} cannot step from {here} to {to}")
        if any(target == cell for other, cell in self._announced.items() if other != agent):
            raise MapError(f"another agent was already announced to move to {to}")
        self._announced[agent] = target

    def block(self, points: Iterable[Point]) -> None:
        """Build walls. Goals that are cut off move to the nearest place that can be reached."""
        points = list(points)
        for point in points:
            occupant = int(self.state.occupant[self.grid.cell(*point)])
            if occupant != NO_AGENT:
                raise MapError(f"cannot build a wall on ({point[0]}, {point[1]}): agent {occupant} stands there")
            if self.grid.cell(*point) in self._announced.values():
                raise MapError(f"cannot build a wall on ({point[0]}, {point[1]}): an agent was announced to move there")
        self._edit("blocked", [point for point in points if self.grid.is_free(point)])

    def unblock(self, points: Iterable[Point]) -> None:
        """Tear walls down. Agents that were sent to a place out of reach go there once it can be reached."""
        cells = [(point, self.grid.cell(*point)) for point in points]
        self._edit("unblocked", [point for point, _ in cells if not self.grid.is_free(point)])

    # --- the clock -------------------------------------------------------------------------------------------------

    def tick(self, *, budget: int | None = None, budget_ms: float | None = None) -> None:
        """Let all agents make one move at once.

        The planner searches within `budget` node expansions, `budget_ms` milliseconds, both, or without limit.
        """
        state, agents, conduct = self.state, self.state.agents, self._conduct

        # 1. Agents that have come to a waypoint head for the next; those that cannot get to their slots exchange them.
        for agent in self._commander.advance():
            self.planner.agent_retasked(agent)
        for errand in self._commander.settle(conduct.waited[: self.agents]):
            self._send(*errand)

        # 2. All agents stay, except those that the program moves.
        announced = agents.cell.copy()
        for agent, cell in self._announced.items():
            announced[agent] = cell
        self._announced.clear()
        proposal = Proposal(announced.copy(), conduct.waits_for[: self.agents])
        proposal.waits_for.fill(NO_AGENT)

        # 3. The planner says where its agents go.
        allowance = Budget(expansions=budget, milliseconds=budget_ms)
        began = time.perf_counter()
        self.planner.plan(proposal, allowance)
        plan_ms = (time.perf_counter() - began) * 1000

        # 4. The referee judges.
        next_cell = self._judged(announced, proposal.next_cell)

        # 5. The agents move, and the clock with them.
        codes = np.empty(self.agents, dtype=np.uint8)
        carry_out(self.grid.width, agents, self._routes.goal, next_cell, state.occupant, conduct, codes)
        state.tick += 1
        self.expansions += allowance.spent

        # 6. What happened is written down.
        self._recorder.note_tick(agents.cell, codes, plan_ms=plan_ms, expansions=allowance.spent)

    def run(
        self,
        *,
        max_ticks: int | None = None,
        time_limit_s: float | None = None,
        max_expansions: int | None = None,
        budget: int | None = None,
        budget_ms: float | None = None,
        progress: Callable[[World], None] | None = None,
    ) -> str:
        """Tick until all agents are home or a limit is hit; return `done`, `max-ticks`, `time-limit` or `expansions`.

        `time_limit_s` counts the time spent in ticks, `max_expansions` the nodes expanded, both in this run; the
        budgets are per tick. `progress` is called after each tick.
        """
        if max_ticks is None and time_limit_s is None and max_expansions is None:
            raise ParameterError("a run needs a limit, such as max_ticks: some problems are never solved")
        first_tick, first_expansions, spent_s = self.ticks, self.expansions, 0.0
        while not self.all_home():
            if max_ticks is not None and self.ticks - first_tick >= max_ticks:
                return "max-ticks"
            if time_limit_s is not None and spent_s >= time_limit_s:
                return "time-limit"
            if max_expansions is not None and self.expansions - first_expansions >= max_expansions:
                return "expansions"
            began = time.perf_counter()
            self.tick(budget=budget, budget_ms=budget_ms)
            spent_s += time.perf_counter() - began
            if progress is not None:
                progress(self)
        return "done"

    # --- what can be seen ------------------------------------------------------------------------------------------

    @property
    def ticks(self) -> int:
        """Ticks made so far."""
        return self.state.tick

    @property
    def agents(self) -> int:
        """Agents that there ever were; the next one gets this index."""
        return int(self.state.agents.cell.size)

    def position(self, agent: int) -> Point:
        """Where an agent stands."""
        return self.grid.xy(int(self.state.agents.cell[self._present(agent)]))

    def goal(self, agent: int) -> Point:
        """Where an agent wants to be in the end; `state.agents.goal` may be a waypoint on its route there."""
        return self.grid.xy(int(self._routes.goal[self._present(agent)]))

    def waypoints(self, agent: int) -> list[Point]:
        """The places that an agent under a group order has still to pass before it heads for its slot."""
        return [self.grid.xy(cell) for cell in self._routes.waypoints(self._present(agent)).tolist()]

    def home_count(self) -> int:
        """How many of the planner's agents stand on their goals."""
        agents = self.state.agents
        return int(((agents.cell == self._routes.goal) & agents.controlled).sum())

    def all_home(self) -> bool:
        """Whether all of the planner's agents stand on their goals."""
        return not is_any_away(self.state.agents, self._routes.goal)

    def agent_state(self, agent: int) -> AgentState:
        """What an agent is doing, and whom it waits for."""
        agent = self._present(agent)
        is_controlled = bool(self.state.agents.controlled[agent])
        cell, asked, goal = self.state.agents.cell[agent], self._routes.asked[agent], self._routes.goal[agent]
        waited = int(self._conduct.waited[agent])
        if is_controlled and cell == goal:
            name = "arrived" if asked == goal else "unreachable"
        elif is_controlled and self._conduct.been_home[agent]:
            name = "yielding"
        elif waited >= STUCK_AFTER_TICKS:
            name = "stuck"
        else:
            name = "waiting" if waited or self.ticks == 0 else "moving"
        return AgentState(name, _agent_or_none(self._conduct.waits_for[agent]), waited)

    def intent(self, agent: int) -> AgentIntent:
        """What an agent is about to do, as far as the planner knows: its path ahead, whom it waits for, and why."""
        intent = self.planner.intent(self._present(agent))
        path = tuple(self.grid.xy(cell) for cell in intent.path)
        return AgentIntent(path, _agent_or_none(intent.waits_for), intent.reason)

    def state_hash(self) -> str:
        """A hash of everything that happened so far: map, orders, edits and every position of every tick."""
        return self._recorder.state_hash()

    def trace(self, **meta: Any) -> Trace:
        """What happened so far, with whatever is to be remembered about it."""
        return self._recorder.trace(self.agents, {"counters": self.planner.counters(), **meta})

    # --- behind the scenes -----------------------------------------------------------------------------------------

    def _present(self, agent: int) -> int:
        if not 0 <= agent < self.agents or self.state.agents.cell[agent] == NO_CELL:
            raise ParameterError(f"there is no agent {agent} on the map")
        return int(agent)

    def _vacant_cell(self, point: Point) -> int:
        cell = self.grid.free_cell(point)
        if self.state.occupant[cell] != NO_AGENT:
            raise MapError(f"agent {int(self.state.occupant[cell])} stands at ({point[0]}, {point[1]})")
        if cell in self._announced.values():
            raise MapError(f"an agent was announced to move to ({point[0]}, {point[1]})")
        return cell

    def _within_reach(self, agent: int, asked: Point) -> tuple[Point, Point]:
        """A place that an order named, and the nearest one to it that the agent can reach."""
        asked = self.grid.xy(self.grid.cell(*asked))
        return asked, self.grid.nearest_reachable(self.position(agent), asked)

    def _aim(self, agent: int, asked: Point, goal: Point, path: Cells) -> None:
        """Let an agent head for a goal, by the waypoints of a path if it has any."""
        asked_cell, goal_cell = self.grid.cell(*asked), self.grid.cell(*goal)
        self.state.agents.goal[agent] = self._routes.aim(agent, asked_cell, goal_cell, path)

    def _send(self, agent: int, asked: Point, goal: Point, path: Cells = NO_PATH) -> Order:
        """Give an agent another goal or another route to it; write down what is new, and tell the planner."""
        before, route, heading = self._commander.answer(agent), self.waypoints(agent), self.state.agents.goal[agent]
        self._aim(agent, asked, goal, path)
        order, new_route = Order(agent, asked, goal), self.waypoints(agent)
        if order != before:
            self._note("ordered", agent, goal=goal, asked=asked)
        if goal != before.goal:
            self._conduct.been_home[agent] = False
        if new_route != route:
            self._note("routed", agent, waypoints=new_route)
        if self.state.agents.goal[agent] != heading:
            self.planner.agent_retasked(agent)
        return order

    def _edit(self, kind: str, points: list[Point]) -> None:
        """Change the map, tell the planner, and send the agents whom the change concerns to where they can get now."""
        if not points:
            return
        (self.grid.block if kind == "blocked" else self.grid.unblock)(points)
        self._note(kind, cells=points)
        self.planner.cells_changed(np.array([self.grid.cell(*point) for point in points], dtype=np.int32))
        agents, asked, goal = self.state.agents, self._routes.asked, self._routes.goal
        here, component = self.grid.component[agents.cell], self.grid.component
        is_cut_off = component[goal] != here
        is_opened = (asked != goal) & (component[asked] == here)
        misled = np.flatnonzero((is_cut_off | is_opened) & (agents.cell != NO_CELL) & agents.controlled).tolist()
        for agent in misled:
            if not self._commander.leads(agent):
                self._send(agent, *self._within_reach(agent, self.grid.xy(int(asked[agent]))))
        for errand in self._commander.edit(misled):
            self._send(*errand)

    def _judged(self, announced: NDArray[np.int32], proposed: NDArray[np.int32]) -> NDArray[np.int32]:
        """The proposal if it is legal; else an error, or what is left of it when the offenders stay where they are."""
        agents = self.state.agents
        while found := self._referee.judge(self.ticks + 1, agents, announced, proposed):
            if self._on_violation == "raise":
                raise ViolationError(found)
            self.violations += found
            offenders = np.unique([agent for violation in found for agent in violation.agents])
            proposed[offenders] = np.where(agents.controlled[offenders], agents.cell[offenders], announced[offenders])
        return proposed

    def _note(self, kind: str, agent: int | None = None, **data: Any) -> None:
        self._recorder.note(Event(self.ticks, kind, agent, data))


def _agent_or_none(agent: int) -> int | None:
    return None if agent == NO_AGENT else int(agent)


def warm_up(planner: Planner | str) -> float:
    """Load or compile every kernel that a run with this kind of planner needs; return the seconds that it took.

    Compiling takes seconds, once per machine and version; it belongs in no measurement.
    """
    began = time.perf_counter()
    twin = registry.create(planner) if isinstance(planner, str) else replace(planner)
    world = World(Grid(np.ones((6, 6))), twin)
    world.add((0, 0), (5, 5))
    world.add((5, 5), (0, 0))
    world.tick()
    world.block([(3, 0)])
    world.unblock([(3, 0)])
    world.order(0, (5, 0))
    world.run(max_ticks=20)
    return time.perf_counter() - began
