# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""World: agents, orders and map edits on one grid, moved by one planner, judged by one referee. The only clock.

    world = World(grid, "lra", seed=1)
    scout = world.add((3, 4), goal=(60, 10))
    while not world.all_home():
        world.tick(budget=5_000)

Between two ticks the program may add and remove agents, order them about, pin them, move those that it controls itself,
and edit the map. Everything that happens is in `world.trace()`; `world.state_hash()` is the same on every machine that
did the same things with the same seed and the same budgets in expansions.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import MapError, ParameterError, ViolationError
from wend.groups.orders import (
    MOVE,
    GroupOrder,
    advance,
    cut_ways,
    make_routes,
    moves_between,
    shortened,
    should_exchange,
    waypoints,
    ways_to,
    with_agents,
    with_way,
)
from wend.groups.slots import Cells, slots_for
from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY, Point
from wend.planners import registry
from wend.planners.base import Agents, Budget, Planner, Proposal, State
from wend.problems.problem import Problem
from wend.rules import Violation
from wend.world.referee import Referee
from wend.world.trace import ABSENT, Event, Trace

STUCK_AFTER_TICKS = 16      # an agent that has waited so long on its way is called stuck
EXCHANGE_AFTER_TICKS = 8    # one that has waited so long near its place may change places with who is in its way
SETTLE_AFTER_TICKS = 48     # one that has waited so long ...
SETTLE_WITHIN = 2           # ... so few cells from its place stays where it is

MOVING, WAITING, YIELDING, STUCK, ARRIVED, UNREACHABLE = (
    "moving", "waiting", "yielding", "stuck", "arrived", "unreachable"
)  # fmt: skip

_TO_JSON = json.JSONEncoder(sort_keys=True)
_CODE = np.zeros((3, 3), dtype=np.uint8)        # [dy + 1, dx + 1] -> what the trace calls the move
for _direction, (_dx, _dy) in enumerate(zip(DX, DY, strict=True)):
    _CODE[_dy + 1, _dx + 1] = 1 + _direction

_NO_WAY = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Order:
    """The answer to an order: where the agent will go."""

    agent: int
    asked: Point        # the place that the order named
    goal: Point         # the place it goes to: `asked`, or the nearest that can be reached

    @property
    def reachable(self) -> bool:
        """Whether the agent can get to the very place that was asked for."""
        return self.asked == self.goal


@dataclass(frozen=True)
class AgentState:
    """What an agent is doing, for people to see."""

    name: str               # moving | waiting | yielding | stuck | arrived | unreachable
    waits_for: int | None   # the agent that is in its way, where the planner knows
    waited_ticks: int       # since it last moved


@jit
def _carry_out(width, cell, goal, next_cell, occupant, code_of, code, waited, been_home):
    """Move everybody, all at once, and note what they did. Mutates: cell, occupant, code, waited, been_home."""
    for agent in range(cell.size):
        if cell[agent] != NO_CELL:
            occupant[cell[agent]] = NO_AGENT
    for agent in range(cell.size):
        here, there = cell[agent], next_cell[agent]
        if here == NO_CELL:
            code[agent] = ABSENT
            continue
        occupant[there] = agent
        code[agent] = code_of[there // width - here // width + 1, there % width - here % width + 1]
        waited[agent] = waited[agent] + 1 if there == here else 0
        been_home[agent] = been_home[agent] or there == goal[agent]
        cell[agent] = there


@jit
def _is_anybody_away(cell, goal, controlled):
    """Whether one of the planner's agents is not on its goal."""
    for agent in range(cell.size):
        if cell[agent] != goal[agent] and cell[agent] != NO_CELL and controlled[agent]:
            return True
    return False


def _appended(array: NDArray[Any], value: Any) -> NDArray[Any]:
    """The array with one more value. Room for more is made ahead, so that agents can be added one by one."""
    size, room = array.size, array.base
    if room is None or room.size == size:
        room = np.empty(max(2 * size, 64), dtype=array.dtype)
        room[:size] = array
    room[size] = value
    larger: NDArray[Any] = room[: size + 1]
    return larger


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
        self._on_violation = on_violation
        self._record = record
        self._start_grid = grid.copy()
        self._asked = np.zeros(0, dtype=np.int32)           # int32[agents] the cell that the last order named
        self._waited = np.zeros(0, dtype=np.int32)          # int32[agents] ticks since it last moved
        self._been_home = np.zeros(0, dtype=np.bool_)       # bool[agents]  reached its goal since the last order
        self._waits_for = np.zeros(0, dtype=np.int32)       # int32[agents] as the planner last said
        self._routes = make_routes()                        # where each wants to be in the end, and its waypoints
        self._groups: dict[int, GroupOrder] = {}            # the group order that an agent is under
        self._announced: dict[int, int] = {}                # where the program moves its own agents in this tick
        self._events: list[Event] = []
        self._codes: list[NDArray[np.uint8]] = []
        self._plan_ms: list[float] = []
        self._expansions: list[int] = []
        self.expansions = 0                                 # nodes that the planner expanded so far
        self._hash = hashlib.blake2b(self.grid.digest().encode(), digest_size=16).digest()
        self._referee = Referee(self.grid)
        nobody = Agents(*(np.zeros(0, dtype=kind) for kind in (np.int32, np.int32, np.bool_, np.bool_)))
        self.state = State(self.grid, nobody, np.full(self.grid.size, NO_AGENT, dtype=np.int32))
        self.planner.bind(self.state, self.seed)

    @classmethod
    def from_problem(cls, problem: Problem, planner: Planner | str, **options: Any) -> World:
        """A world in which the agents of a problem stand on their starts and want to their goals."""
        world = cls(problem.grid, planner, **options)
        for start, goal in zip(problem.start_points(), problem.goal_points(), strict=True):
            world.add(start, goal)
        return world

    # --- what the program may do between two ticks -----------------------------------------------------------------

    def add(self, at: Point, goal: Point | None = None, *, controlled: bool = True, pinned: bool = False) -> int:
        """Put a new agent on a free cell; return its index. Without a goal it is content where it stands."""
        cell = self._vacant_cell(at)
        agent = self.agents
        self.state.agents = Agents(
            _appended(self.state.agents.cell, np.int32(cell)),
            _appended(self.state.agents.goal, np.int32(cell)),
            _appended(self.state.agents.controlled, bool(controlled)),
            _appended(self.state.agents.pinned, bool(pinned)),
        )
        self._asked = _appended(self._asked, np.int32(cell))
        self._waited = _appended(self._waited, np.int32(0))
        self._been_home = _appended(self._been_home, False)
        self._waits_for = _appended(self._waits_for, np.int32(NO_AGENT))
        self._routes = with_agents(self._routes, agent + 1)
        self.state.occupant[cell] = agent
        order = self._set_goal(agent, *self._within_reach(agent, at if goal is None else goal), _NO_WAY)
        self._note(
            "added", agent,
            at=self.grid.xy(cell), goal=order.goal, asked=order.asked, controlled=bool(controlled), pinned=bool(pinned),
        )  # fmt: skip
        self.planner.agent_added(agent)
        return agent

    def remove(self, agent: int) -> None:
        """Take an agent off the map. Its index is not given to anybody else."""
        agent = self._present(agent)
        self.state.occupant[self.state.agents.cell[agent]] = NO_AGENT
        self.state.agents.cell[agent] = NO_CELL
        self._announced.pop(agent, None)
        self._groups.pop(agent, None)
        self._note("removed", agent)
        self.planner.agent_removed(agent)

    def order(self, agent: int, goal: Point) -> Order:
        """Send an agent to a place, or to the nearest place it can reach; the answer says which.

        Giving the same order again changes nothing and costs nothing.
        """
        agent = self._present(agent)
        self._groups.pop(agent, None)
        return self._send(agent, *self._within_reach(agent, goal), _NO_WAY)

    def order_group(self, agents: Iterable[int], target: Point, mode: str = MOVE) -> list[Order]:
        """Send a group to a place: each agent gets a place of its own near it, and keeps to a way that was planned.

        With `mode="move"` everybody goes a shortest way, with `mode="attack_move"` the group keeps together around
        obstacles (Map Marker). The answers say where each agent will be. Giving the same order again changes nothing
        and costs nothing; an order to a single agent takes it out of the group.
        """
        members = [self._present(agent) for agent in agents]
        group = GroupOrder(frozenset(members), self.grid.xy(self.grid.cell(*target)), mode)
        if len(group.agents) < len(members):
            raise ParameterError("an agent is in the group twice; name each of them once")
        for agent in members:
            if not self.state.agents.controlled[agent]:
                raise ParameterError(f"agent {agent} is moved by the program, which cannot be in an ordered group")
        known = self._groups.get(members[0]) if members else None
        if known != group or any(self._groups.get(agent) is not known for agent in members):
            if members:
                self._note("group", agents=sorted(members), target=group.target, mode=mode)
            self._plan(group, sorted(members))
        return [self._answer(agent) for agent in members]

    def pin(self, agent: int, pinned: bool = True) -> None:
        """Say that nobody may push this agent off its goal, or that they may again."""
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
        """Tear walls down. Agents whose place was out of reach go there again if it no longer is."""
        cells = [(point, self.grid.cell(*point)) for point in points]
        self._edit("unblocked", [point for point, _ in cells if not self.grid.is_free(point)])

    # --- the clock -------------------------------------------------------------------------------------------------

    def tick(self, *, budget: int | None = None, budget_ms: float | None = None) -> None:
        """Let everybody make one move, all at once.

        The planner searches within `budget` node expansions, `budget_ms` milliseconds, both, or without limit.
        """
        state = self.state
        agents = state.agents

        # 1. Who has come to a waypoint heads for the next; who cannot get to its place takes another's.
        if self._groups:
            count = advance(self.grid.tables, agents.cell, agents.goal, self._routes)
            for agent in self._routes.found[:count].tolist():
                self.planner.agent_retasked(agent)
            self._settle()

        # 2. Everybody stays, but for the agents that the program moves.
        announced = agents.cell.copy()
        for agent, cell in self._announced.items():
            announced[agent] = cell
        self._announced.clear()
        proposal = Proposal(announced.copy(), self._waits_for)
        proposal.waits_for.fill(NO_AGENT)

        # 3. The planner says where its agents go.
        allowance = Budget(expansions=budget, milliseconds=budget_ms)
        began = time.perf_counter()
        self.planner.plan(proposal, allowance)
        plan_ms = (time.perf_counter() - began) * 1000

        # 4. The referee judges.
        next_cell = self._judged(announced, proposal.next_cell)

        # 5. They move.
        code = np.empty(agents.cell.size, dtype=np.uint8)
        _carry_out(
            self.grid.width, agents.cell, self._routes.goal, next_cell, state.occupant, _CODE,
            code, self._waited, self._been_home,
        )  # fmt: skip
        state.tick += 1
        self.expansions += allowance.spent

        # 6. What happened is written down.
        self._hash = hashlib.blake2b(self._hash + agents.cell.astype("<i4").tobytes(), digest_size=16).digest()
        if self._record:
            self._codes.append(code)
            self._plan_ms.append(plan_ms)
            self._expansions.append(allowance.spent)

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
        """Tick until everybody is home or a limit is hit; return `done`, `max-ticks`, `time-limit` or `expansions`.

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
        """Where an agent wants to be in the end; `state.agents.goal` may be a waypoint on the way there."""
        return self.grid.xy(int(self._routes.goal[self._present(agent)]))

    def waypoints(self, agent: int) -> list[Point]:
        """Where an agent that is under a group order is still to pass before it goes to its place."""
        y, x = np.divmod(waypoints(self._routes, self._present(agent)), self.grid.width)
        return list(zip(x.tolist(), y.tolist(), strict=True))

    def home_count(self) -> int:
        """How many of the planner's agents stand on their goals."""
        agents = self.state.agents
        return int(((agents.cell == self._goals()) & agents.controlled).sum())

    def all_home(self) -> bool:
        """Whether all of the planner's agents stand on their goals."""
        agents = self.state.agents
        return not _is_anybody_away(agents.cell, self._goals(), agents.controlled)

    def agent_state(self, agent: int) -> AgentState:
        """What an agent is doing, and whom it waits for."""
        agent = self._present(agent)
        waited = int(self._waited[agent])
        goal = self._routes.goal[agent]
        at_goal = self.state.agents.cell[agent] == goal
        if at_goal and self.state.agents.controlled[agent]:
            name = ARRIVED if self._asked[agent] == goal else UNREACHABLE
        elif self._been_home[agent] and self.state.agents.controlled[agent]:
            name = YIELDING
        elif waited >= STUCK_AFTER_TICKS:
            name = STUCK
        else:
            name = WAITING if waited or self.ticks == 0 else MOVING
        waits_for = int(self._waits_for[agent])
        return AgentState(name, None if waits_for == NO_AGENT else waits_for, waited)

    def state_hash(self) -> str:
        """A hash of everything that happened so far: map, orders, edits and every position of every tick."""
        return self._hash.hex()

    def trace(self, **meta: Any) -> Trace:
        """What happened so far, with whatever is to be remembered about it."""
        moves = np.full((len(self._codes), self.agents), ABSENT, dtype=np.uint8)
        for tick, code in enumerate(self._codes):
            moves[tick, : code.size] = code
        return Trace(
            self._start_grid, moves, list(self._events),
            np.array(self._plan_ms, dtype=np.float64), np.array(self._expansions, dtype=np.int64),
            {"counters": self.planner.counters(), **meta},
        )  # fmt: skip

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

    def _goals(self) -> NDArray[np.int32]:
        """int32[agents] where each wants to be in the end."""
        return self._routes.goal[: self.agents]

    def _within_reach(self, agent: int, asked: Point) -> tuple[Point, Point]:
        """A place that an order named, and the nearest one to it that the agent can reach."""
        asked = self.grid.xy(self.grid.cell(*asked))
        here = self.grid.xy(int(self.state.agents.cell[agent]))
        return asked, asked if self.grid.reachable(here, asked) else self.grid.nearest_reachable(here, asked)

    def _set_goal(self, agent: int, asked: Point, goal: Point, way: Cells) -> Order:
        """Aim an agent at a place, by the waypoints of a way if there are any."""
        self._asked[agent] = self.grid.cell(*asked)
        self._routes.goal[agent] = self.grid.cell(*goal)
        self._routes = with_way(self._routes, agent, way)
        self.state.agents.goal[agent] = [*waypoints(self._routes, agent), self._routes.goal[agent]][0]
        return Order(agent, asked, goal)

    def _answer(self, agent: int) -> Order:
        """What the last order to an agent came to."""
        return Order(agent, self.grid.xy(int(self._asked[agent])), self.grid.xy(int(self._routes.goal[agent])))

    def _send(self, agent: int, asked: Point, goal: Point, way: Cells) -> Order:
        """Give an agent that is on its way another goal or another way there; write down what is new about it."""
        before, heading = self._answer(agent), int(self.state.agents.goal[agent])
        passed = self.waypoints(agent)
        order = self._set_goal(agent, asked, goal, way)
        ahead = self.waypoints(agent)
        if order != before:
            self._note("ordered", agent, goal=order.goal, asked=order.asked)
        if order.goal != before.goal:
            self._been_home[agent] = False
        if ahead != passed:
            self._note("routed", agent, waypoints=ahead)
        if int(self.state.agents.goal[agent]) != heading:
            self.planner.agent_retasked(agent)
        return order

    def _plan(self, group: GroupOrder, members: list[int], *, keep_places: bool = False) -> None:
        """Give these agents of a group ways to its target and places around it, or ways to the places they have."""
        cells, component = self.state.agents.cell, self.grid.component
        others = cells != NO_CELL
        others[members] = False
        taken = np.where(self.state.agents.controlled, self._goals(), cells)[others]
        for label in sorted(set(component[cells[members]].tolist())):      # who cannot meet is planned for apart
            part = [agent for agent in members if component[cells[agent]] == label]
            asked, target = self._within_reach(part[0], group.target)
            ways = ways_to(self.grid, cells[part].tolist(), self.grid.cell(*target), group.mode)
            slots = self._routes.goal[part] if keep_places else slots_for(self.grid, ways, taken)
            for agent, slot, way in zip(part, slots.tolist(), ways, strict=True):
                self._groups[agent] = group
                place = self.grid.xy(slot)
                self._send(agent, place if asked == target else asked, place, shortened(self.grid, way, slot))

    def _settle(self) -> None:
        """Let agents that wait near their places change places with those of their group that are in the way.

        Two of a group are as good as each other, and who has arrived first may have walled in a place. It moves on to
        it, as the one farther in, and leaves its own to who waits. If that does not help, near is near enough.
        """
        agents, goals = self.state.agents, self._goals()
        is_due = (self._waited > 0) & (self._waited % EXCHANGE_AFTER_TICKS == 0)
        for agent in np.flatnonzero(is_due & (agents.cell != goals) & (agents.goal == goals)).tolist():
            group = self._groups.get(agent)
            if group is None:       # also those that were removed
                continue
            here, mine = self.position(agent), self._answer(agent)
            for beside in self.grid.neighbours(here):
                other = int(self.state.occupant[self.grid.cell(*beside)])
                is_theirs = self._groups.get(other) is group and agents.goal[other] == goals[other]
                if not is_theirs or agents.pinned[other]:       # of another group, or still on its way
                    continue
                theirs = self._answer(other)
                if should_exchange(here, mine.goal, beside, theirs.goal):
                    self._send(agent, theirs.asked, theirs.goal, _NO_WAY)
                    self._send(other, mine.asked, mine.goal, _NO_WAY)
                    break
            else:
                is_near = moves_between(here, mine.goal) <= SETTLE_WITHIN
                is_mine = not (goals[agents.cell != NO_CELL] == agents.cell[agent]).any()
                if is_near and is_mine and self._waited[agent] >= SETTLE_AFTER_TICKS:
                    self._send(agent, here if mine.reachable else mine.asked, here, _NO_WAY)

    def _edit(self, kind: str, points: list[Point]) -> None:
        """Change the map, tell the planner, and aim anew whom the change concerns."""
        if not points:
            return
        (self.grid.block if kind == "blocked" else self.grid.unblock)(points)
        self._note(kind, cells=points)
        self.planner.cells_changed(np.array([self.grid.cell(*point) for point in points], dtype=np.int32))
        agents, component = self.state.agents, self.grid.component
        here = component[agents.cell]
        cut_off = component[self._goals()] != here
        restored = (self._asked != self._goals()) & (component[self._asked] == here)
        concerned = np.flatnonzero((cut_off | restored) & (agents.cell != NO_CELL) & agents.controlled).tolist()
        for agent in concerned:
            if agent not in self._groups:
                self.order(agent, self.grid.xy(int(self._asked[agent])))
        for group, members in self._by_group(concerned).items():
            self._plan(group, members)
        count = cut_ways(self.grid.tables, agents.cell, self._routes) if self._groups else 0
        for group, members in self._by_group(self._routes.found[:count].tolist()).items():
            self._plan(group, members, keep_places=True)

    def _by_group(self, agents: list[int]) -> dict[GroupOrder, list[int]]:
        """Those of these agents that are under group orders, by order."""
        members: dict[GroupOrder, list[int]] = {}
        for agent in agents:
            if agent in self._groups:
                members.setdefault(self._groups[agent], []).append(agent)
        return members

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
        event = Event(self.ticks, kind, agent, data)
        if self._record:
            self._events.append(event)
        told = _TO_JSON.encode([event.tick, event.kind, event.agent, event.data])
        self._hash = hashlib.blake2b(self._hash + told.encode(), digest_size=16).digest()


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
