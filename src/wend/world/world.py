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

The world keeps the clock. How agents come and go is said in population.py; where they are sent, and that no two of them
have the same goal, is the dispatch's part (dispatch.py). docs/world.md describes every call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend import arguments
from wend.errors import MapError, ParameterError
from wend.groups.orders import MOVE, Order
from wend.kernel import NO_AGENT
from wend.kernel.arrays import allocate
from wend.kernel.compiling import Keeping, prepared
from wend.kernel.keeping import Keeper
from wend.maps.grid import Grid, GridView
from wend.maps.memory import require_memory
from wend.maps.terrain import Point
from wend.planners import registry
from wend.planners.base import Agents, Budget, Handover, Planner, Proposal, State
from wend.problems.problem import Problem
from wend.rules import Violation
from wend.world.calls import Calls
from wend.world.conduct import Cast, Conduct, carry_out, look, waits_of
from wend.world.dispatch import Dispatch
from wend.world.events import NO_NEWS, Listeners, News
from wend.world.handovers import name_of_given
from wend.world.liaison import Liaison
from wend.world.population import Populated
from wend.world.recorder import Notes, Recorder
from wend.world.referee import Referee
from wend.world.roster import Roster
from wend.world.situations import Situations
from wend.world.snapshot import identity
from wend.world.trace import WAIT


class World(Populated):
    """Many agents on one map, and the clock that they move by."""

    def __init__(
        self,
        grid: Grid,
        planner: Planner | str = registry.AUTO,
        *,
        seed: int = 0,
        on_violation: str = "raise",
        record: bool = True,
        record_reasons: bool = False,
    ) -> None:
        """Set up an empty world on a copy of the grid.

        `planner` is a planner or the name of one; `auto` chooses another one for what there is to do. With
        `on_violation="record"` the agents of an illegal move stay where they are and the world goes on, instead of
        raising; `world.violations` lists what happened. `record=False` keeps no trace. `record_reasons=True` asks the
        planner after every tick why agents waited in it, and keeps that in the trace.
        """
        arguments.instance(grid, "grid", Grid, "a Grid")
        arguments.instance(planner, "planner", (Planner, str), "a planner or the name of one")
        if not isinstance(on_violation, str) or on_violation not in ("raise", "record"):
            raise ParameterError(f"on_violation is 'raise' or 'record', not {on_violation!r}")
        self.seed = arguments.whole(seed, "seed")
        keeps_trace, keeps_reasons = arguments.flag(record, "record"), arguments.flag(record_reasons, "record_reasons")
        if keeps_reasons and not keeps_trace:
            raise ParameterError("record_reasons keeps reasons in the trace, and record=False keeps no trace")
        require_memory(grid.width, grid.height, source="World", in_world=True)
        self._grid = grid.copy()
        self.grid = GridView(self._grid)                        # the map as it is now; `block` and `unblock` edit it
        given = registry.create(planner) if isinstance(planner, str) else planner
        self._chooser = given if given.portfolio() else None
        self.planner = given.first_mover(grid, 0, Budget()) if given.portfolio() else given     # until it is chosen
        self.violations: list[Violation] = []
        self.expansions = 0                                     # nodes that the planner expanded so far
        self._on_violation = on_violation
        self._calls = Calls()
        self._keeper = Keeper()
        self._roster = Roster(self._calls.journal)
        self._agent_rows = allocate(Agents, agents=0)           # those of the state, and spare rows for agents to come
        self._conduct = allocate(Conduct, agents=0)
        self._keeping = Keeping()
        self._waits_for = self._conduct.nobody                  # the agent in the way of each, as the planner last said
        self._announced = {}                                    # where the program moves its own agents in this tick
        self._idle_ticks = 0                                    # ticks in a row in which no agent moved
        self._stalled_ticks = 0                                 # ... although the planner had budget to spare
        self._had_spare = True                                  # it had in the last tick
        self._news = NO_NEWS                                    # of the last tick
        self._listeners = Listeners()
        self._recorder = Recorder(self._grid, keeps_trace=keeps_trace, keeps_reasons=keeps_reasons)
        self._identity = identity(given, self.seed, self._recorder.map_digest)   # what snapshots of it belong to
        self._referee = Referee(self.grid)
        occupant = np.full(self.grid.size, NO_AGENT, dtype=np.int32)
        self.state = State(self.grid, self._agent_rows, occupant)
        journal = self._calls.journal
        self._handovers = [Handover(0, name_of_given(planner), "the world was set up with it")]
        self._arrived_at = 0                                    # the tick in which an agent last arrived
        self._liaison = Liaison(self.planner, self.state, self.seed, journal)
        self._note = Notes(self._recorder, self.state, self._roster, journal)
        self._dispatch = Dispatch(self.state, self._roster, self._liaison, self._note, journal)
        if self._chooser is not None:
            self._chooser.bind(self.state, self.seed)

    @classmethod
    def from_problem(cls, problem: Problem, planner: Planner | str = registry.AUTO, **options: Any) -> World:
        """A world in which the agents of a problem stand on their starts and head for their goals."""
        arguments.instance(problem, "problem", Problem, "a Problem")
        world = cls(problem.grid, planner, **options)
        world._add_all(problem)
        return world

    # --- what the program may do between two ticks -----------------------------------------------------------------

    def order(self, agent: int, goal: Point) -> Order:
        """Send an agent to a place; the answer says where it will be.

        That is the nearest place it can reach, or a slot near it if that is another agent's. Giving the same order
        again changes nothing and costs nothing.
        """
        with self._calls, self._calls.journal:
            return self._dispatch.order(self._present(agent), self.grid.cell_at(goal, "goal"))

    def follow(self, agent: int, other: int) -> Order:
        """Let an agent follow another, until it gets another order: its goal is a place beside the other.

        When the other one has moved, its follower gets another goal before the next tick. When the other one leaves the
        map, the follower keeps the goal that it has. The answer says where it goes now.
        """
        with self._calls, self._calls.journal:
            agent, other = self._present(agent), self._present(other, "other")
            if agent == other:
                raise ParameterError(f"agent {self._handle(agent)} cannot follow itself")
            if not self.state.agents.controlled[agent]:
                raise ParameterError(f"agent {self._handle(agent)} is moved by the program, and follows no other")
            return self._dispatch.follow(agent, other)

    def order_group(
        self, agents: Iterable[int], target: Point, mode: str = MOVE, *, budget: int | None = None,
        budget_ms: float | None = None,
    ) -> list[Order]:  # fmt: skip
        """Send a group to a place: each agent gets a slot of its own near it, and a path there.

        With `mode="move"` every agent takes a shortest path, with `mode="attack_move"` the group keeps together around
        obstacles (Map Marker). The answers say where each agent will be. Giving the same order again changes nothing
        and costs nothing; an order to a single agent takes it out of the group.

        Paths are searched at once, unless there is a budget, as in `tick`. Then all agents set out at once, and those
        whose paths it does not suffice for get them in the ticks to come.
        """
        given = arguments.series(agents, "agents", "agents")        # before the call: it may add them as it is read
        with self._calls, self._calls.journal as journal:
            allowance = Budget(expansions=budget, milliseconds=budget_ms)
            members = [self._present(agent, f"agents[{k}]") for k, agent in enumerate(given)]
            place = self.grid.xy(self.grid.cell_at(target, "target"))
            journal.keep_attribute(self, "expansions")
            orders = self._dispatch.order_group(members, place, mode, allowance)
            self.expansions += allowance.spent
            return orders

    def pin(self, agent: int, pinned: bool = True) -> None:
        """Say that no other agent may push this one off its goal, or that they may again."""
        with self._calls, self._calls.journal as journal:
            agent, is_pinned = self._present(agent), arguments.flag(pinned, "pinned")
            if bool(self.state.agents.pinned[agent]) != is_pinned:
                journal.keep(self.state.agents.pinned, agent)
                self.state.agents.pinned[agent] = is_pinned
                self._note("pinned", agent, pinned=is_pinned)

    def move(self, agent: int, to: Point) -> None:
        """Announce where an agent that the program controls goes in the next tick: one legal step to an empty cell."""
        with self._calls, self._calls.journal as journal:
            agent, there = self._present(agent), arguments.point(to, "to")
            here, cell = self.grid.xy(int(self.state.agents.cell[agent])), self.grid.free_cell(there)
            handle = self._handle(agent)
            if self.state.agents.controlled[agent]:
                raise ParameterError(f"agent {handle} is moved by the planner; order it, or add it as controlled=False")
            if cell in (announced for other, announced in self._announced.items() if other != agent):
                raise MapError(f"another agent was already announced to move to {there}")
            if self.state.occupant[cell] not in (NO_AGENT, agent):
                raise MapError(f"agent {self._handle(self.state.occupant[cell])} stands at {there}")
            if there != here and there not in self.grid.neighbours(here):
                raise MapError(f"agent {handle} cannot step from {here} to {there}")
            journal.keep_item(self._announced, agent)
            self._announced[agent] = cell

    def block(self, points: Iterable[Point]) -> list[int]:
        """Build walls. Goals that are cut off move to the nearest place that can be reached.

        Moves that were announced and would cut the corner of a new wall are cancelled; the answer lists their agents.
        """
        given = arguments.points(points, "points")
        with self._calls, self._calls.journal as journal:
            cells = self.grid.cells_at(given)
            for point, cell in zip(given, cells, strict=True):
                occupant = self.state.occupant[cell]
                if occupant != NO_AGENT:
                    raise MapError(f"cannot build a wall on {point}: agent {self._handle(occupant)} stands there")
                if cell in self._announced.values():
                    raise MapError(f"cannot build a wall on {point}: an agent was announced to move there")
            self._edit("blocked", [cell for cell in cells if self.grid.free[cell]])
            cancelled = []
            for agent, cell in list(self._announced.items()):
                here = self.grid.xy(int(self.state.agents.cell[agent]))
                if self.grid.xy(cell) not in (here, *self.grid.neighbours(here)):
                    journal.keep_item(self._announced, agent)
                    del self._announced[agent]
                    cancelled.append(self._handle(agent))
            return cancelled

    def unblock(self, points: Iterable[Point]) -> None:
        """Tear walls down. Agents that were sent to a place out of reach go there once it can be reached."""
        given = arguments.points(points, "points")
        with self._calls, self._calls.journal:
            self._edit("unblocked", [cell for cell in self.grid.cells_at(given) if not self.grid.free[cell]])

    # --- the clock -------------------------------------------------------------------------------------------------

    def tick(self, *, budget: int | None = None, budget_ms: float | None = None) -> None:
        """Let all agents make one move at once.

        The planner searches within `budget` node expansions, `budget_ms` milliseconds, both, or without limit.
        """
        with self._calls, self._calls.journal as journal:
            allowance = Budget(expansions=budget, milliseconds=budget_ms)
            if self._chooser is not None:
                self._consult(self._chooser, allowance)
            self._liaison.rejoin()
            agents, conduct, roster = self.state.agents, self._conduct, self._roster

            # 1. Agents whose orders depend on what the others do are sent on.
            self._dispatch.before_tick(conduct, self._named, allowance)

            # 2. All agents stay, except those that the program moves.
            before = announced = agents.cell.copy()
            if self._announced:
                announced = before.copy()
                announced[list(self._announced)] = list(self._announced.values())
            proposal = Proposal(announced.copy(), conduct.nobody[: roster.size].copy())

            # 3. The planner says where its agents go.
            began = time.perf_counter()
            self._liaison.ask(self.planner.plan, proposal, allowance)
            plan_ms = (time.perf_counter() - began) * 1000

            # 4. The referee judges.
            raises = self._on_violation == "raise"
            tick = self.ticks + 1
            after, found = self._referee.enforced(tick, agents, announced, proposal.next_cell, roster, raises=raises)

            # 5. The tick is decided: the agents move, and the clock with them; what happened is written down.
            spent, has_spare, cast = allowance.spent, allowance.slice() > 0, self._cast()
            codes = np.empty(roster.size, np.uint8)
            record = tick, self._recorder.hash_with(roster.in_order(after)), codes, roster.handles, plan_ms, spent
            is_idle = before.tobytes() == after.tobytes()       # the fastest way to compare them
            news = self._see(tick, after, cast)
            aftermath = {
                "_waits_for": proposal.waits_for,
                "expansions": self.expansions + spent,
                "violations": self.violations + found if found else self.violations,
                "_idle_ticks": self._idle_ticks + 1 if is_idle else 0,
                "_stalled_ticks": self._stalled_ticks + has_spare if is_idle else 0,
                "_had_spare": has_spare,
                "_news": news,
                "_arrived_at": tick if news.has_arrivals else self._arrived_at,
            }
            journal.decide(self._make, before, after, cast, aftermath, record)
            journal.settle()
        if self._listeners:
            self._listeners.tell(self.events())

    def think(self, *, budget: int | None = None, budget_ms: float | None = None) -> int:
        """Let the planner search ahead, and move nothing; return how many nodes it expanded.

        What it finds, later ticks need not search: a game that moves its units five times a second can search in every
        frame. Budgets are as in `tick`. 0 says that there is nothing to search now, or nothing that this planner could
        search before its tick.
        """
        with self._calls, self._calls.journal as journal:
            allowance = Budget(expansions=budget, milliseconds=budget_ms)
            if self._chooser is not None and self.planner is self._chooser:
                self._consult(self._chooser, allowance)         # there is a planner to think
            self._liaison.rejoin()
            self._liaison.ask(self.planner.think, allowance)
            if allowance.spent:
                journal.keep_attribute(self, "expansions")
                self.expansions += allowance.spent
                self._note("thought", expansions=allowance.spent)
            return allowance.spent

    def run(
        self,
        *,
        max_ticks: int | None = None,
        time_limit_s: float | None = None,
        max_expansions: int | None = None,
        stuck_ticks: int | None = 256,
        budget: int | None = None,
        budget_ms: float | None = None,
        progress: Callable[[World], None] | None = None,
    ) -> str:
        """Tick until the agents have come to rest or a limit is hit; return why.

        `done`: all agents are on their goals. `quiet`: they are, but some of these are only the nearest places that
        could be reached. `stuck`: an agent is not, and in `stuck_ticks` ticks none has moved, or all situations were
        ones that the run had seen before (see docs/world.md), although the planner had budget to spare; with None a run
        is never stuck. `max-ticks`, `time-limit`, `expansions`: a limit was hit.

        `time_limit_s` counts the time spent in ticks, `max_expansions` the nodes expanded, both in this run; the
        budgets are per tick. `progress` is called after each tick.
        """
        limits = (("max_ticks", max_ticks), ("max_expansions", max_expansions), ("stuck_ticks", stuck_ticks))
        max_ticks, max_expansions, stuck_ticks = (
            None if limit is None else arguments.whole(limit, name, low=0) for name, limit in limits
        )
        if time_limit_s is not None:
            time_limit_s = arguments.number(time_limit_s, "time_limit_s", low=0)
        arguments.function(progress, "progress")
        Budget(expansions=budget, milliseconds=budget_ms)       # so that a bad one is refused even if all are home
        if max_ticks is None and time_limit_s is None and max_expansions is None:
            raise ParameterError("a run needs a limit, such as max_ticks: some problems are never solved")
        first_tick, first_expansions, spent_s = self.ticks, self.expansions, 0.0
        situations, movers = Situations(), () if self._chooser is None else self._chooser.portfolio()
        while not self.all_home():
            if stuck_ticks is not None and (
                min(self._stalled_ticks, self.ticks - first_tick) >= stuck_ticks
                or situations.are_the_same(stuck_ticks, movers)
            ):
                return "stuck"
            if max_ticks is not None and self.ticks - first_tick >= max_ticks:
                return "max-ticks"
            if time_limit_s is not None and spent_s >= time_limit_s:
                return "time-limit"
            if max_expansions is not None and self.expansions - first_expansions >= max_expansions:
                return "expansions"
            began = time.perf_counter()
            self.tick(budget=budget, budget_ms=budget_ms)
            spent_s += time.perf_counter() - began
            if stuck_ticks is not None:
                mover = self._handovers[-1].algorithm
                situations.note(self.state, mover, self._arrived_at, had_spare=self._had_spare)
            if progress is not None:
                progress(self)
        return "quiet" if (self.states() == "unreachable").any() else "done"

    # --- behind the scenes -----------------------------------------------------------------------------------------

    def _edit(self, kind: str, cells: list[int]) -> None:
        """Change the map, tell the planner, and send the agents whom the change concerns to where they can get now."""
        if not cells:
            return
        points = [self.grid.xy(cell) for cell in cells]
        self._dispatch.before_edit()
        self._calls.journal.on_failure(self._grid.take_back, cells, self.grid.free[cells])
        (self._grid.block if kind == "blocked" else self._grid.unblock)(points)
        self._note(kind, cells=points)
        self._liaison.tell(self.planner.cells_changed, np.array(cells, dtype=np.int32))
        self._dispatch.after_edit()

    def _cast(self) -> Any:
        """All agents, for kernels that are called in every tick."""
        parts = self.state.agents, self._dispatch.routes.errands, self.state.occupant, self._conduct
        return self._keeping.of(parts, lambda: Cast(*parts))

    def _see(self, tick: int, after: NDArray[np.int32], cast: Any) -> News:
        """What will have happened to the agents after a tick that ends on these cells."""
        seen = np.empty((after.size, 4), dtype=np.int32)
        count = prepared(look)(tick, after, cast, seen)
        if settled := self._dispatch.settled_at(after):
            settled = {place: self._roster.handles_of(members) for place, members in settled.items() if members}
        if count == 0 and not settled:
            return NO_NEWS
        told = seen[:count].copy()
        told[:, 0] = self._roster.handles[told[:, 0]]
        return News(tick, told, settled)

    def _make(
        self,
        before: NDArray[np.int32],
        after: NDArray[np.int32],
        cast: Any,
        aftermath: dict[str, Any],
        record: tuple[int, bytes, NDArray[np.uint8], NDArray[np.int32], float, int],
    ) -> None:
        """Make a tick that is decided, with these attributes and this record. To do so again changes nothing."""
        tick, codes = record[0], record[2]
        prepared(carry_out)(self.grid.width, tick, before, after, cast, codes)
        self._dispatch.forget_settled(after)
        vars(self).update(aftermath)
        self._announced.clear()
        self.state.tick = tick
        if self._recorder.keeps_reasons:
            waits = waits_of(self.planner, self.state, self._roster, self._waits_for, codes == WAIT)
            self._recorder.note_waits(tick, waits)
        self._recorder.note_tick(*record)
