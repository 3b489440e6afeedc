# mypy: disallow-untyped-calls=False
"""World: agents, orders and map edits on one grid, moved by one planner, judged by one referee. The only clock.

    world = World(grid, "lra", seed=1)
    scout = world.add((3, 4), goal=(60, 10))
    while not world.all_home():
        world.tick(budget=5_000)

Between two ticks the program may add and remove agents, order them about, pin them, move those that it controls itself,
and edit the map. Everything that happens is in `world.trace()`; `world.state_hash()` is the same on every machine that
did the same things with the same seed and the same budgets in expansions.

A call that raises has changed nothing, whatever the error: each change is first written into a journal (journal.py),
which takes it back. Only the planner forgets what it had in mind (liaison.py). A Ctrl-C is no exception: a tick that it
interrupts was made as a whole, or not at all. A world belongs to one thread at a time: a call while another one is
under way is an error at once (calls.py).

The world keeps the clock and sends agents to their goals. Orders to groups are the commander's (groups/commander.py).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend import arguments
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
from wend.world.calls import Calls
from wend.world.conduct import (
    STUCK_AFTER_TICKS,
    AgentIntent,
    AgentState,
    Conduct,
    carry_out,
    explain,
    is_any_away,
    waits_of,
)
from wend.world.liaison import Liaison
from wend.world.recorder import Recorder
from wend.world.referee import Referee
from wend.world.trace import WAIT, Event, Trace


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
        record_reasons: bool = False,
    ) -> None:
        """Set up an empty world on a copy of the grid.

        `planner` is a planner or the name of one. `on_violation="record"` keeps the agents of an illegal move where
        they are and goes on, instead of raising; `world.violations` lists what happened. `record=False` keeps no trace.
        `record_reasons=True` asks the planner after every tick why agents waited in it, and keeps that in the trace.
        """
        arguments.instance(grid, "grid", Grid, "a Grid")
        arguments.instance(planner, "planner", (Planner, str), "a planner or the name of one")
        if not isinstance(on_violation, str) or on_violation not in ("raise", "record"):
            raise ParameterError(f"on_violation is 'raise' or 'record', not {on_violation!r}")
        self.seed = arguments.whole(seed, "seed")
        keeps_trace, keeps_reasons = arguments.flag(record, "record"), arguments.flag(record_reasons, "record_reasons")
        if keeps_reasons and not keeps_trace:
            raise ParameterError("record_reasons keeps reasons in the trace, and record=False keeps no trace")
        self.grid = grid.copy()
        self.planner = registry.create(planner) if isinstance(planner, str) else planner
        self.violations: list[Violation] = []
        self.expansions = 0                                     # nodes that the planner expanded so far
        self._on_violation = on_violation
        self._calls = Calls()
        journal = self._calls.journal
        self._agent_rows = allocate(Agents, agents=0)           # those of the state, and spare rows for agents to come
        self._conduct = allocate(Conduct, agents=0)
        self._waits_for = self._conduct.nobody                  # the agent in the way of each, as the planner last said
        self._routes = Routes(journal)                           # where each agent was sent, and its waypoints
        self._announced: dict[int, int] = {}                    # where the program moves its own agents in this tick
        self._recorder = Recorder(self.grid, keeps_trace=keeps_trace, keeps_reasons=keeps_reasons)
        self._referee = Referee(self.grid)
        occupant = np.full(self.grid.size, NO_AGENT, dtype=np.int32)
        self.state = State(self.grid, self._agent_rows, occupant)
        self._commander = Commander(self.state, self._routes, journal)
        self._liaison = Liaison(self.planner, self.state, self.seed, journal)

    @classmethod
    def from_problem(cls, problem: Problem, planner: Planner | str, **options: Any) -> World:
        """A world in which the agents of a problem stand on their starts and head for their goals."""
        arguments.instance(problem, "problem", Problem, "a Problem")
        world = cls(problem.grid, planner, **options)
        for start, goal in zip(problem.start_points(), problem.goal_points(), strict=True):
            world.add(start, goal)
        return world

    # --- what the program may do between two ticks -----------------------------------------------------------------

    def add(self, at: Point, goal: Point | None = None, *, controlled: bool = True, pinned: bool = False) -> int:
        """Put a new agent on a free cell; return its index. Without a goal it stays where it stands."""
        with self._calls as journal:
            is_controlled, is_pinned = arguments.flag(controlled, "controlled"), arguments.flag(pinned, "pinned")
            cell, agent = self._vacant_cell(at, "at"), self.agents
            here = self.grid.xy(cell)
            asked, aim = self._within_reach(here, here if goal is None else goal)
            for owner, name in ((self, "_agent_rows"), (self, "_conduct"), (self.state, "agents")):
                journal.keep_attribute(owner, name)
            if agent == self._agent_rows.cell.size:
                rows = ahead(agent, agent + 1)
                self._agent_rows = grown(self._agent_rows, agents=rows)
                self._conduct = grown(self._conduct, agents=rows)
            self._routes.add_agent()
            journal.keep(self.state.occupant, cell)
            self.state.agents = agents = self._first_agents(agent + 1)
            agents.cell[agent], agents.controlled[agent], agents.pinned[agent] = cell, is_controlled, is_pinned
            self.state.occupant[cell] = agent
            self._conduct.moved_at[agent] = self.ticks
            self._aim(agent, asked, aim, NO_PATH)
            self._note("added", agent, at=here, goal=aim, asked=asked, controlled=is_controlled, pinned=is_pinned)
            self._liaison.tell(self.planner.agent_added, agent)
        return agent

    def remove(self, agent: int) -> None:
        """Take an agent off the map. No other agent is ever given its index."""
        with self._calls as journal:
            agent = self._present(agent)
            cell = int(self.state.agents.cell[agent])
            journal.keep(self.state.occupant, cell)
            journal.keep(self.state.agents.cell, agent)
            journal.keep_item(self._announced, agent)
            self.state.occupant[cell] = NO_AGENT
            self.state.agents.cell[agent] = NO_CELL
            self._announced.pop(agent, None)
            self._commander.drop(agent)
            self._note("removed", agent)
            self._liaison.tell(self.planner.agent_removed, agent)

    def order(self, agent: int, goal: Point) -> Order:
        """Send an agent to a place, or to the nearest place it can reach; the answer says which.

        Giving the same order again changes nothing and costs nothing.
        """
        with self._calls:
            agent = self._present(agent)
            asked, aim = self._within_reach(self.position(agent), goal)
            self._commander.drop(agent)
            return self._send(agent, asked, aim)

    def order_group(self, agents: Iterable[int], target: Point, mode: str = MOVE) -> list[Order]:
        """Send a group to a place: each agent gets a slot of its own near it, and a path there, planned at once.

        With `mode="move"` every agent takes a shortest path, with `mode="attack_move"` the group keeps together around
        obstacles (Map Marker). The answers say where each agent will be. Giving the same order again changes nothing
        and costs nothing; an order to a single agent takes it out of the group.
        """
        given = arguments.series(agents, "agents", "agents")        # before the call: it may add them as it is read
        with self._calls:
            members = [self._present(agent, f"agents[{k}]") for k, agent in enumerate(given)]
            target = self.grid.xy(self.grid.cell_at(target, "target"))
            if errands := self._commander.order(members, target, mode):
                self._note("group", agents=sorted(members), target=target, mode=mode)
            for errand in errands:
                self._send(*errand)
            return [self._commander.answer(agent) for agent in members]

    def pin(self, agent: int, pinned: bool = True) -> None:
        """Say that no other agent may push this one off its goal, or that they may again."""
        with self._calls as journal:
            agent, is_pinned = self._present(agent), arguments.flag(pinned, "pinned")
            if bool(self.state.agents.pinned[agent]) != is_pinned:
                journal.keep(self.state.agents.pinned, agent)
                self.state.agents.pinned[agent] = is_pinned
                self._note("pinned", agent, pinned=is_pinned)

    def move(self, agent: int, to: Point) -> None:
        """Announce where an agent that the program controls goes in the next tick: one legal step to an empty cell."""
        with self._calls as journal:
            agent, there = self._present(agent), arguments.point(to, "to")
            here, cell = self.position(agent), self.grid.free_cell(there)
            if self.state.agents.controlled[agent]:
                raise ParameterError(f"agent {agent} is moved by the planner; order it, or add it as controlled=False")
            if cell in (announced for other, announced in self._announced.items() if other != agent):
                raise MapError(f"another agent was already announced to move to {there}")
            if self.state.occupant[cell] not in (NO_AGENT, agent):
                raise MapError(f"agent {int(self.state.occupant[cell])} stands at {there}")
            if there != here and there not in self.grid.neighbours(here):
                raise MapError(f"agent {agent} cannot step from {here} to {there}")
            journal.keep_item(self._announced, agent)
            self._announced[agent] = cell

    def block(self, points: Iterable[Point]) -> list[int]:
        """Build walls. Goals that are cut off move to the nearest place that can be reached.

        Moves that were announced and would cut the corner of a new wall are cancelled; the answer lists their agents.
        """
        given = arguments.points(points, "points")
        with self._calls as journal:
            cells = self.grid.cells_at(given)
            for point, cell in zip(given, cells, strict=True):
                occupant = int(self.state.occupant[cell])
                if occupant != NO_AGENT:
                    raise MapError(f"cannot build a wall on {point}: agent {occupant} stands there")
                if cell in self._announced.values():
                    raise MapError(f"cannot build a wall on {point}: an agent was announced to move there")
            self._edit("blocked", [cell for cell in cells if self.grid.free[cell]])
            cancelled = []
            for agent, cell in list(self._announced.items()):
                here = self.position(agent)
                if self.grid.xy(cell) not in (here, *self.grid.neighbours(here)):
                    journal.keep_item(self._announced, agent)
                    del self._announced[agent]
                    cancelled.append(agent)
            return cancelled

    def unblock(self, points: Iterable[Point]) -> None:
        """Tear walls down. Agents that were sent to a place out of reach go there once it can be reached."""
        given = arguments.points(points, "points")
        with self._calls:
            self._edit("unblocked", [cell for cell in self.grid.cells_at(given) if not self.grid.free[cell]])

    # --- the clock -------------------------------------------------------------------------------------------------

    def tick(self, *, budget: int | None = None, budget_ms: float | None = None) -> None:
        """Let all agents make one move at once.

        The planner searches within `budget` node expansions, `budget_ms` milliseconds, both, or without limit.
        """
        with self._calls as journal:
            allowance = Budget(expansions=budget, milliseconds=budget_ms)
            self._liaison.rejoin()
            agents, conduct, count = self.state.agents, self._conduct, self.agents

            # 1. Agents that have come to a waypoint head for the next; those that cannot get to their slots exchange
            # them.
            if self._commander.has_orders:
                for agent in self._commander.advance():
                    self._liaison.tell(self.planner.agent_retasked, agent)
                for errand in self._commander.settle(self.ticks - conduct.moved_at[:count]):
                    self._send(*errand)

            # 2. All agents stay, except those that the program moves.
            before = announced = agents.cell.copy()
            if self._announced:
                announced = before.copy()
                announced[list(self._announced)] = list(self._announced.values())
            proposal = Proposal(announced.copy(), conduct.nobody[:count].copy())

            # 3. The planner says where its agents go.
            began = time.perf_counter()
            self._liaison.tell(self.planner.plan, proposal, allowance)
            plan_ms = (time.perf_counter() - began) * 1000

            # 4. The referee judges.
            after, found = self._judged(announced, proposal.next_cell)

            # 5. The tick is decided: the agents move, and the clock with them; what happened is written down.
            spent = allowance.spent
            record = self.ticks + 1, self._recorder.hash_with(after), np.empty(count, np.uint8), plan_ms, spent
            journal.decide(self._make, before, after, proposal.waits_for, found, self.expansions + spent, record)
            journal.settle()

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
        if max_ticks is not None:
            max_ticks = arguments.whole(max_ticks, "max_ticks", low=0)
        if max_expansions is not None:
            max_expansions = arguments.whole(max_expansions, "max_expansions", low=0)
        if time_limit_s is not None:
            time_limit_s = arguments.number(time_limit_s, "time_limit_s", low=0)
        arguments.function(progress, "progress")
        Budget(expansions=budget, milliseconds=budget_ms)       # so that a bad one is refused even if all are home
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
        waited = self.ticks - int(self._conduct.moved_at[agent])
        if is_controlled and cell == goal:
            name = "arrived" if asked == goal else "unreachable"
        elif is_controlled and self._conduct.been_home[agent]:
            name = "yielding"
        elif waited >= STUCK_AFTER_TICKS:
            name = "stuck"
        else:
            name = "waiting" if waited or self.ticks == 0 else "moving"
        named = self._named(agent)
        if named == NO_AGENT and waited and name in ("waiting", "yielding", "stuck"):
            return AgentState(name, self.intent(agent).waits_for, waited)
        return AgentState(name, None if named == NO_AGENT else named, waited)

    def intent(self, agent: int) -> AgentIntent:
        """What an agent is about to do, as far as the planner knows: its path ahead, whom it waits for, and why."""
        with self._calls:
            agent = self._present(agent)
            self._liaison.rejoin()
            stayed = self.ticks > self._conduct.moved_at[agent]
            return explain(self.planner, self.state, agent, self._named(agent), stayed=bool(stayed))

    def state_hash(self) -> str:
        """A hash of everything that happened so far: map, orders, edits and every position of every tick."""
        with self._calls:
            return self._recorder.state_hash()

    def trace(self, **meta: Any) -> Trace:
        """What happened so far, with whatever is to be remembered about it."""
        with self._calls:
            return self._recorder.trace(self.agents, {"counters": self.planner.counters(), **meta})

    def __repr__(self) -> str:
        there = int(((self.state.agents.cell != NO_CELL) & self.state.agents.controlled).sum())
        by = type(self.planner).__name__
        home = f"{self.home_count()} of {there} agents home"
        return f"<World at tick {self.ticks}: {home}, moved by {by}, on {self.grid}>"

    def __getstate__(self) -> dict[str, Any]:
        with self._calls:
            return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.state.agents = self._first_agents(self.agents)     # a copy of a view is no view

    def __copy__(self) -> World:
        return copy.deepcopy(self)      # two worlds share nothing

    # --- behind the scenes -----------------------------------------------------------------------------------------

    def _present(self, agent: int, name: str = "agent") -> int:
        if type(agent) is not int:
            agent = arguments.whole(agent, name)
        if not 0 <= agent < self.agents or self.state.agents.cell[agent] == NO_CELL:
            raise ParameterError(f"there is no agent {agent} on the map")
        return agent

    def _named(self, agent: int) -> int:
        """The agent in the way of another, as the last proposal had it, or NO_AGENT."""
        return int(self._waits_for[agent]) if agent < self._waits_for.size else NO_AGENT

    def _vacant_cell(self, point: Point, name: str) -> int:
        cell = self.grid.free_cell(point, name)
        if self.state.occupant[cell] != NO_AGENT:
            raise MapError(f"agent {int(self.state.occupant[cell])} stands at {self.grid.xy(cell)}")
        if cell in self._announced.values():
            raise MapError(f"an agent was announced to move to {self.grid.xy(cell)}")
        return cell

    def _first_agents(self, count: int) -> Agents:
        """The rows of the first so many agents."""
        return Agents(*(array[:count] for array in self._agent_rows))

    def _within_reach(self, here: Point, goal: Point) -> tuple[Point, Point]:
        """A place that an order named, and the nearest one to it that an agent who stands here can reach."""
        asked = self.grid.xy(self.grid.cell_at(goal, "goal"))
        return asked, self.grid.nearest_reachable(here, asked)

    def _aim(self, agent: int, asked: Point, goal: Point, path: Cells) -> None:
        """Let an agent head for a goal, by the waypoints of a path if it has any."""
        asked_cell, goal_cell = self.grid.cell(*asked), self.grid.cell(*goal)
        self._calls.journal.keep(self.state.agents.goal, agent)
        self.state.agents.goal[agent] = self._routes.aim(agent, asked_cell, goal_cell, path)

    def _send(self, agent: int, asked: Point, goal: Point, path: Cells = NO_PATH) -> Order:
        """Give an agent another goal or another route to it; write down what is new, and tell the planner."""
        before, route, heading = self._commander.answer(agent), self.waypoints(agent), self.state.agents.goal[agent]
        self._aim(agent, asked, goal, path)
        order, new_route = Order(agent, asked, goal), self.waypoints(agent)
        if order != before:
            self._note("ordered", agent, goal=goal, asked=asked)
        if goal != before.goal:
            self._calls.journal.keep(self._conduct.been_home, agent)
            self._conduct.been_home[agent] = False
        if new_route != route:
            self._note("routed", agent, waypoints=new_route)
        if self.state.agents.goal[agent] != heading:
            self._liaison.tell(self.planner.agent_retasked, agent)
        return order

    def _edit(self, kind: str, cells: list[int]) -> None:
        """Change the map, tell the planner, and send the agents whom the change concerns to where they can get now."""
        if not cells:
            return
        points = [self.grid.xy(cell) for cell in cells]
        self._calls.journal.on_failure(self.grid.take_back, cells, self.grid.free[cells])
        (self.grid.block if kind == "blocked" else self.grid.unblock)(points)
        self._note(kind, cells=points)
        self._liaison.tell(self.planner.cells_changed, np.array(cells, dtype=np.int32))
        agents, asked, goal = self.state.agents, self._routes.asked, self._routes.goal
        here, component = self.grid.component[agents.cell], self.grid.component
        is_cut_off = component[goal] != here
        is_opened = (asked != goal) & (component[asked] == here)
        misled = np.flatnonzero((is_cut_off | is_opened) & (agents.cell != NO_CELL) & agents.controlled).tolist()
        for agent in misled:
            if not self._commander.leads(agent):
                self._send(agent, *self._within_reach(self.position(agent), self.grid.xy(int(asked[agent]))))
        for errand in self._commander.edit(misled):
            self._send(*errand)

    def _judged(
        self, announced: NDArray[np.int32], proposed: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], list[Violation]]:
        """The proposal if it is legal; else an error, or what is left of it when the offenders stay where they are.

        With it comes the list of all violations so far.

        An agent of the program that the planner moved elsewhere moves as announced. Should even that be illegal, it
        stays too: that all agents stay is always legal, so this comes to an end. Mutates: announced, proposed.
        """
        agents, all_found = self.state.agents, self.violations
        while found := self._referee.judge(self.ticks + 1, agents, announced, proposed):
            if self._on_violation == "raise":
                raise ViolationError(found)
            all_found = all_found + found
            offenders = np.unique([agent for violation in found for agent in violation.agents])
            stay = offenders[agents.controlled[offenders] | (proposed[offenders] == announced[offenders])]
            proposed[offenders] = announced[offenders]
            proposed[stay] = announced[stay] = agents.cell[stay]
        return proposed, all_found

    def _make(
        self,
        before: NDArray[np.int32],
        after: NDArray[np.int32],
        waits_for: NDArray[np.int32],
        violations: list[Violation],
        expansions: int,
        record: tuple[int, bytes, NDArray[np.uint8], float, int],
    ) -> None:
        """Make a tick that is decided, up to this state and with this record of it. To do so again changes nothing."""
        tick, _, codes, _, _ = record
        carry_out(
            self.grid.width, tick, before, after, self._routes.goal,
            self.state.agents.cell, self.state.occupant, self._conduct.moved_at, self._conduct.been_home, codes,
        )  # fmt: skip
        self._waits_for = waits_for
        self.expansions = expansions
        self.violations = violations
        self._announced.clear()
        self.state.tick = tick
        if self._recorder.keeps_reasons:
            self._recorder.note_waits(tick, waits_of(self.planner, self.state, waits_for, codes == WAIT))
        self._recorder.note_tick(*record)

    def _note(self, kind: str, agent: int | None = None, **data: Any) -> None:
        self._calls.journal.on_failure(self._recorder.rewind, *self._recorder.mark())
        self._recorder.note(Event(self.ticks, kind, agent, data))
