# mypy: disallow-untyped-calls=False
"""MAPP: units that slide past each other, with a promise beforehand which of them will arrive.

Ko-Hsin Cindy Wang, Adi Botea: MAPP: a Scalable Multi-Agent Path Planning Algorithm with Tractability and Completeness
Guarantees. JAIR 42 (2011), pp. 55-90.

Every unit gets one path, along which a blank can always be fetched to where it is needed next. Units advance in turn;
those in the way are pushed along the alternate path around the unit that wants to pass. When no unit can advance, moves
are undone until all units have a blank ahead, and the next step begins. Each step brings at least one unit home.

    paper                                            here
    alternate paths (5.2), kept between problems     alternates.py, known_alternates.py
    path computation (5.2)                           path_search.py
    SLIDABLE, TI, AC (4, 7)                          slidable.py
    private and buffer zones, positions (5.3, 7.2)   crowd.py
    progression (5.3)                                sliding.py
    repositioning, RC (5.4, 8)                       repositioning.py
    overview (Alg. 1), attempt-all                   rounds.py
    (ours: fewer moves, at the same time)            shortening.py, compaction.py, march.py

Work: all of it in the first tick, and after an order or an edit that concerns the plan; O(units) in every other tick.

Deviations and open points
- MAPP moves along rows and columns, also on maps with diagonals.
- Rounds: where the paper stops, every unit gets a new path from where it stands, those at home included, as long as
  that brings more units home every now and then; then those in the way of a unit that is left over step aside for it
  (making_room.py). `rounds=1` is the paper's.
- What the paper prints is a sequence of single moves. Here they are made at the same time where the order of each
  unit's moves and of the visits to each cell allows. Before that, moves that no unit needs are taken out: excursions
  (`needless="trim"`), or all that a unit can do without, given the moves of the others (`"shorten"`).
- Without `attempt_all`, units that are not provable stay where they are; they are pushed, and come back. The paper
  takes them off the map.
- Attempting all units, one that is not provable can come to stand on the target of one that is. Then all is played
  again with the provable units alone in the first round, and the others after them: the promise is kept in any case,
  and breaking it is an internal error. A unit whose target is taken from the beginning is not provable (slidable.py).
- Later provability, on request: after each step, units that meet the conditions from where they stand now go before
  those that do not. The paper names this, and the initial blank, as future work.
- Of units with the same goal, the one that stands there has it, else the first; the others have no path.
- Pinned agents at home and agents of the program are walls of the plan. Where one stands in the way of a planned move,
  the units behind it wait; after `patience_ticks` everything is planned anew from where it is, as after an order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.planners import registry
from wend.planners.base import Agents, Budget, Intent, Overlay, Promise, Proposal, State
from wend.planners.mapp.compaction import NONE, schedule, trim
from wend.planners.mapp.known_alternates import alternates_after, alternates_of
from wend.planners.mapp.march import advance, begin_march, intent_of, is_over, targets_ahead, without_agent
from wend.planners.mapp.parameters import MappParameters
from wend.planners.mapp.rounds import Solution, look_ahead, own_goals, solve
from wend.planners.mapp.shortening import shorten
from wend.planners.mapp.slidable import Instance, Pathfinder, Prospects, promises_on
from wend.planners.overlays import TRAFFIC, draw_traffic
from wend.planners.units import are_posted, find_units
from wend.problems.problem import Problem

_NO_UNITS = np.empty(0, np.int32)


def _units(agents: Agents) -> tuple[NDArray[np.int32], Instance]:
    """The agents to plan for, from where they stand; all others are obstacles."""
    units, obstacles = find_units(agents)
    starts = agents.cell[units]
    return units, Instance(starts, own_goals(starts, agents.goal[units]), obstacles)


def _needed_moves(
    needless: str, grid: Grid, instance: Instance, solution: Solution
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The moves of a solution, unit and cell, without those that are to be taken out."""
    moves = solution.unit, solution.to
    if needless == "trim":
        return trim(instance.starts, *moves, grid.size)
    if needless == "shorten":
        return shorten(grid, instance.starts, *moves, instance.obstacles)
    return moves


@dataclass
class Mapp(MappParameters):
    """MAPP in a world: plans for all units at once, and carries the plan out."""

    overlays: ClassVar[Mapping[str, Overlay]] = {"traffic": TRAFFIC}
    uncaptured: ClassVar[Sequence[str]] = ("_pathfinder",)      # what it knows of the map is shared by all worlds

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        self._pathfinder: Pathfinder | None = None
        self._prospects: Prospects | None = None    # the paths and promises of the plan
        self._changed: list[int] = []               # cells edited since the alternate paths were last looked at
        self._stale = True                          # a new plan is needed
        self._held_up_ticks = 0                     # for which agents outside the plan have been in the way
        self._left_over = 0                         # units that the plan does not bring home
        self._made_at = 0                           # tick of the last plan
        self._plans_made = 0
        self._counters: dict[str, int] = {}
        self._posts_then = np.empty(0, np.bool_)    # bool[agents]  pinned at home when the plan was made
        self._march = begin_march(_NO_UNITS, _NO_UNITS, _NO_UNITS, _NO_UNITS, state.grid.size)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        if self._is_overtaken():
            self._make_plan(budget)
        if self._march.agent.size:
            self._held_up_ticks = self._held_up_ticks + 1 if advance(self._march, self.state, proposal) else 0

    def _is_overtaken(self) -> bool:
        """Whether the plan no longer holds, or a new one may do better."""
        agents, march = self.state.agents, self._march
        here = agents.cell[march.agent]
        if self._stale or ((here != NO_CELL) & (here != march.at)).any():
            return True
        posts = are_posted(agents)
        if (posts[march.agent] & (march.upcoming != NONE)).any() or self._held_up_ticks >= self.patience_ticks:
            return True
        if self._left_over == 0 or self.state.tick - self._made_at < self.patience_ticks or not is_over(march):
            return False
        outside = (~agents.controlled & (agents.cell != NO_CELL)).any()
        return bool(outside or not np.array_equal(posts, self._posts_then))

    def _make_plan(self, budget: Budget) -> None:
        """Plan for all units from where they stand."""
        grid, (agent, instance) = self.state.grid, _units(self.state.agents)
        solution = solve(self, self._find_alternates(), instance, budget)
        unit, to = _needed_moves(self.needless, grid, instance, solution)
        self._march = begin_march(agent, instance.starts, unit, to, grid.size)
        self._prospects, self._posts_then = solution.first, are_posted(self.state.agents)
        self._stale, self._held_up_ticks, self._made_at = False, 0, self.state.tick
        self._left_over = agent.size - solution.home
        self._plans_made += 1
        self._counters = {
            **solution.counters,
            "home": solution.home,
            "executed_moves": int(unit.size),
            "makespan_ticks": int(schedule(self._march.moves).max(initial=0)),
            "repaths": self._plans_made - 1,
        }

    def _find_alternates(self) -> Pathfinder:
        """The alternate paths of the map as it is now, and a workspace for the searches."""
        grid = self.state.grid
        if self._pathfinder is None:
            self._pathfinder = Pathfinder(alternates_of(grid, self.alternates_folder or None))
        elif self._changed:
            edited = np.array(self._changed, np.int32)
            self._pathfinder.alternates = alternates_after(self._pathfinder.alternates, grid, edited)
        self._changed = []
        return self._pathfinder

    def counters(self) -> dict[str, int]:
        return dict(self._counters)

    def intent(self, agent: int) -> Intent:
        return intent_of(self._march, self.state, agent)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        return draw_traffic(targets_ahead(self._march), self.state.grid.size)

    def promises(self) -> list[Promise]:
        """Which of the agents that move are promised to arrive, and why others are not; no agent is moved.

        The promises are those of the plan. Where there is none, or it no longer holds, they are worked out for the
        agents as they stand now.
        """
        if self._prospects is not None and not self._is_overtaken():
            return promises_on(self.state.grid, self._march.agent, self._prospects)
        agent, instance = _units(self.state.agents)
        return promises_on(self.state.grid, agent, look_ahead(self, self._find_alternates(), instance))

    def agent_added(self, agent: int) -> None:
        self._stale = self._stale or bool(self.state.agents.controlled[agent])

    def agent_removed(self, agent: int) -> None:
        """The moves of the others remain what they are, without those of this one."""
        self._march = without_agent(self._march, agent, self.state.grid.size)

    def agent_retasked(self, agent: int) -> None:
        self._stale = self._stale or bool(self.state.agents.controlled[agent])

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._changed += cells.tolist()
        is_cut = not self.state.grid.passable.ravel()[targets_ahead(self._march)].all()
        self._stale = self._stale or is_cut or self._left_over > 0

    def world_restored(self) -> None:
        self._pathfinder = None


def provable(problem: Problem, **parameters: Any) -> list[Promise]:
    """Say of each agent of a problem whether MAPP promises to bring it home, and if not, why; nothing is moved.

    `parameters` are those of the planner, such as `target_isolation=False`.
    """
    return promises_on(problem.grid, np.arange(problem.starts.size), _prospects_of(problem, parameters))


def slidable_units(problem: Problem, **parameters: Any) -> NDArray[np.bool_]:
    """Which agents of a problem would be provable if the others were taken off the map, as Wang and Botea do."""
    return _prospects_of(problem, parameters).slidable


def _prospects_of(problem: Problem, parameters: dict[str, Any]) -> Prospects:
    """The paths and promises of all agents, if the planner had these parameters."""
    planner = registry.create("mapp", **parameters)
    assert isinstance(planner, Mapp)
    pathfinder = Pathfinder(alternates_of(problem.grid, planner.alternates_folder or None))
    goals = own_goals(problem.starts, problem.goals)
    return look_ahead(planner, pathfinder, Instance(problem.starts, goals, _NO_UNITS))
