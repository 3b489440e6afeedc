# mypy: disallow-untyped-calls=False
"""MAPP: units that slide past each other, with a promise beforehand who will arrive.

Ko-Hsin Cindy Wang, Adi Botea: MAPP: a Scalable Multi-Agent Path Planning Algorithm with Tractability and Completeness
Guarantees. JAIR 42 (2011), pp. 55-90.

Every unit gets one path, along which a blank can always be fetched to where it is needed next. Units advance in turn;
who is in the way is pushed along the alternate path around the unit that wants to pass. When nobody can advance, moves
are undone until everybody has a blank ahead, and the next step begins. Each step brings at least one unit home.

    paper                                            here
    alternate paths (5.2)                            planners/mapp/alternates.py
    paths, SLIDABLE, TI, AC (4, 5.2, 7)              planners/mapp/slidable.py
    progression (5.3)                                planners/mapp/sliding.py
    repositioning, RC (5.4, 8)                       planners/mapp/repositioning.py
    overview (Alg. 1), attempt-all                   Mapp._play
    (ours: fewer moves, at the same time)            planners/mapp/shortening.py, planners/mapp/compaction.py

Work: all of it in the first tick, and after an order or an edit that concerns the plan; O(units) in every other tick.

Deviations and open points
- MAPP moves along rows and columns, also on maps with diagonals.
- Rounds: where the paper stops, everybody gets a new path from where it stands, those at home included, as long as
  that brings more units home every now and then; then those in the way of a unit that is left over step aside for it
  (planners/mapp/making_room.py). `rounds=1` is the paper's.
- What the paper prints is a sequence of single moves. Here they are made at the same time where the order of each
  unit's moves and of the visits to each cell allows. Before that, moves that nobody needs are taken out: excursions
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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.planners import registry
from wend.planners.base import Budget, Planner, Promise, Proposal, State, parameter
from wend.planners.mapp import compaction, repositioning, shortening, slidable, sliding
from wend.planners.mapp.alternates import REUSED, SEARCHED, AlternatePaths, alternates_after, alternates_of
from wend.planners.mapp.making_room import make_room
from wend.planners.mapp.slidable import Pathfinder, Paths, Plans
from wend.problems.problem import Problem

_NO_MOVE = -1
_FRUITLESS_ROUNDS = 3       # rounds that bring nobody more home, after which nothing more is tried

_CONDITIONS = {
    slidable.SHARED_TARGET: "its goal is also another agent's",
    slidable.INITIAL_BLANK: "initial blank: the first cell of every path it could take is occupied",
    slidable.ALTERNATES: "alternate connectivity: there is no way around this cell",
    slidable.ISOLATION: "target isolation: this target is in the way of another path",
    slidable.WALLED_IN: "an agent that does not move stands in the way",
    slidable.CYCLE: "target isolation: its path and those of others cross each other's targets in a circle",
    slidable.OCCUPIED: "target isolation: an agent that is not provable stands on its goal",
    slidable.BUFFER: "buffer zone: too few blanks behind the last tunnel, which ends here",
    slidable.NO_WAY: "no path along rows and columns leads there",
}


@dataclass
class _Solution:
    """The moves of a plan, one after the other, and what there is to know about them."""

    unit: NDArray[np.int32]
    to: NDArray[np.int32]
    first: Plans                # the paths and verdicts of the first round
    home: int                   # units at their goals in the end
    broken: int                 # units that are not, though they were provable
    counters: dict[str, int]


@dataclass
class Mapp(Planner):
    """MAPP, with all of its extensions or any of them."""

    target_isolation: bool = parameter(True, "relax target isolation (TI): paths may cross the targets of others")
    alternate_connectivity: bool = parameter(True, "relax alternate connectivity (AC): paths may lead through tunnels")
    initial_blank: bool = parameter(False, "relax the initial blank: units may wait for the one in front (ours)")
    later_provable: bool = parameter(False, "units that become provable on the way go before the others (ours)")
    counting: bool = parameter(True, "undo each unit's moves only as far as it must (RC), not all in reverse order")
    minimal_rollback: bool = parameter(False, "undo even fewer moves: choose beforehand which ones (ours)")
    inline_return: bool = parameter(False, "units that were pushed walk back as soon as they can (ours)")
    attempt_all: bool = parameter(True, "move the units that are not provable too, after the others")
    rounds: int = parameter(20, "times that everybody may be planned anew when nobody gets on; 1: the paper", minimum=1)
    needless: str = parameter(
        "shorten", "moves that nobody needs: keep them, trim excursions, or shorten everybody's way (ours)",
        choices=("keep", "trim", "shorten"),
    )  # fmt: skip
    alternates_folder: str = parameter("", "keep the alternate paths of maps in this folder; empty: in memory only")
    patience_ticks: int = parameter(16, "ticks that an agent outside the plan may hold it up", minimum=1)

    def bind(self, state: State, seed: int) -> None:
        super().bind(state, seed)
        self._alternates: AlternatePaths | None = None
        self._pathfinder: Pathfinder | None = None
        self._changed: list[int] = []               # cells edited since the alternate paths were last looked at
        self._stale = True                          # a new plan is needed
        self._held_up = 0                           # ticks for which somebody outside the plan has been in the way
        self._left_over = 0                         # units that the plan does not bring home
        self._made_at = 0                           # tick of the last plan
        self._counters: dict[str, int] = {}
        self._verdicts: list[Promise] = []
        self._plans_made = 0
        self._posts = np.empty(0, np.bool_)         # bool[agents]  who was pinned at home when the plan was made
        self._agent = np.empty(0, np.int32)         # int32[units]  the agent that each unit of the plan is
        self._at = np.empty(0, np.int32)            # int32[units]  where the plan has it
        self._follow(self._agent, self._at)         # sets _moves, _upcoming (int32[units]) and _done (bool[moves])

    # --- the plan in the world ---------------------------------------------------------------------------------------

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        agents = self.state.agents
        if self._is_overtaken():
            self._make_plan(budget)
        if self._upcoming.size == 0:
            return
        taken = np.zeros(self.state.grid.size, np.uint8)
        outside = np.flatnonzero(~agents.controlled & (agents.cell != NO_CELL))
        taken[agents.cell[outside]] = taken[proposal.next_cell[outside]] = 1
        turns = np.sort(self._upcoming[self._upcoming != _NO_MOVE])
        held_up = compaction.advance(
            self._moves, self._upcoming, turns, self._done, self._agent, self.state.occupant, taken,
            proposal.next_cell, proposal.waits_for,
        )  # fmt: skip
        self._held_up = self._held_up + 1 if held_up else 0
        self._at = proposal.next_cell[self._agent]

    def _is_overtaken(self) -> bool:
        """Whether the plan no longer holds, or a new one may do better."""
        agents = self.state.agents
        here = agents.cell[self._agent]
        if self._stale or (here[here != NO_CELL] != self._at[here != NO_CELL]).any():
            return True
        pinned = agents.pinned[self._agent] & (here == agents.goal[self._agent])
        if (pinned & (self._upcoming != _NO_MOVE)).any():
            return True
        if self._held_up >= self.patience_ticks:
            return True
        if self._left_over == 0 or self.state.tick - self._made_at < self.patience_ticks:
            return False
        outside = (~agents.controlled & (agents.cell != NO_CELL)).any()
        posts = agents.pinned & (agents.cell == agents.goal)
        idle = not (self._upcoming != _NO_MOVE).any()
        return bool(idle and (outside or not np.array_equal(posts, self._posts)))

    def _make_plan(self, budget: Budget) -> None:
        """Plan for everybody from where they stand."""
        agents, grid = self.state.agents, self.state.grid
        there = agents.cell != NO_CELL
        post = agents.pinned & (agents.cell == agents.goal)
        self._agent = np.flatnonzero(there & agents.controlled & ~post).astype(np.int32)
        starts = self._at = agents.cell[self._agent]
        obstacles = agents.cell[there & (post | ~agents.controlled)]
        solution = self.solve(starts, agents.goal[self._agent], obstacles, budget)
        unit, to = solution.unit, solution.to
        if self.needless == "trim":
            unit, to = compaction.trim(starts, unit, to, grid.size)
        elif self.needless == "shorten":
            unit, to = shortening.shorten(grid, starts, unit, to, obstacles)
        self._follow(unit, to)
        self._posts = post
        self._stale, self._held_up, self._made_at = False, 0, self.state.tick
        self._left_over = starts.size - solution.home
        self._verdicts = _promises_on(grid, self._agent, solution.first)
        self._plans_made += 1
        self._counters = {
            **solution.counters,
            "home": solution.home,
            "executed_moves": int(unit.size),
            "makespan_ticks": int(compaction.schedule(self._moves).max(initial=0)),
            "repaths": self._plans_made - 1,
        }

    def _follow(self, unit: NDArray[np.int32], to: NDArray[np.int32]) -> None:
        """Make these moves from now on."""
        self._moves = compaction.link(self._at, unit, to, self.state.grid.size)
        self._upcoming, self._done = self._moves.following_first.copy(), np.zeros(unit.size, np.bool_)

    # --- the algorithm -----------------------------------------------------------------------------------------------

    def solve(
        self, starts: NDArray[np.int32], goals: NDArray[np.int32], obstacles: NDArray[np.int32], budget: Budget
    ) -> _Solution:
        """Find the moves, one after the other, that bring the units from their starts to their goals."""
        pathfinder = self._find_alternates()
        with pathfinder.alternates.lock:
            goals = _without_twins(starts, goals)
            solution = self._play_rounds(pathfinder, starts, goals, obstacles, budget)
            if solution.broken:
                path_moves = solution.counters["path_moves"]        # of everybody
                solution = self._play_rounds(pathfinder, starts, goals, obstacles, budget, provable_first=True)
                solution.counters["path_moves"] = path_moves
            if solution.broken:
                raise AssertionError(f"{solution.broken} units were promised to arrive and did not: please report this")
            if self.alternates_folder:
                pathfinder.alternates.keep_in(self.alternates_folder)
        return solution

    def _play_rounds(
        self,
        pathfinder: Pathfinder,
        starts: NDArray[np.int32],
        goals: NDArray[np.int32],
        obstacles: NDArray[np.int32],
        budget: Budget,
        *,
        provable_first: bool = False,
    ) -> _Solution:
        """Rounds as long as they bring more units home; with `provable_first`, only the provable move in the first."""
        counters = dict.fromkeys(("alternates_searched", "alternates_reused"), 0)
        cells, best, kept, first = starts, (0, 0), 0, None
        moves: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        tallies: list[dict[str, int]] = []
        seen = {cells.tobytes()}
        upcoming, room_made = [goals], 0        # what is aimed at in the next rounds; `kept` when room was last made
        while upcoming and len(moves) < self.rounds + provable_first:
            aims = upcoming.pop(0)
            alone = not self.attempt_all or (provable_first and not moves)
            before = pathfinder.expansions
            plans = self._find_paths(pathfinder, cells, aims, obstacles, only_provable=alone)
            budget.spend(pathfinder.expansions - before)
            first = first or plans
            crowd, log, tally = self._play(pathfinder, plans, cells, aims)
            searched = pathfinder.alternates.alternates.tally
            counters["alternates_searched"] += int(searched[SEARCHED])
            counters["alternates_reused"] += int(searched[REUSED])
            cells = crowd.cell
            moves.append((log.unit[: tally["total_moves"]].copy(), log.to[: tally["total_moves"]].copy()))
            tallies.append(tally)
            home = cells == goals
            reached = -int((first.provable & ~home).sum()), int(home.sum())
            if kept == 0 or reached > best:
                best, kept = reached, len(moves)
            if home.all() or not self.attempt_all:
                break
            if not upcoming:
                if cells.tobytes() not in seen and len(moves) < kept + _FRUITLESS_ROUNDS:
                    upcoming = [goals]
                elif room_made != kept:
                    room_made = kept
                    ahead = self._find_paths(pathfinder, cells, goals, obstacles, only_provable=False)
                    upcoming = make_room(pathfinder.alternates.grid, ahead.paths, cells, goals, obstacles)
            seen.add(cells.tobytes())
        assert first is not None
        counters |= {name: sum(tally[name] for tally in tallies[:kept]) for name in tallies[0]} | {"rounds": kept}
        counters["path_moves"] = int(np.maximum(np.diff(first.paths.begin) - 1, 0).sum())
        counters["provable"] = int(first.provable.sum())
        unit, to = (np.concatenate([part[k] for part in moves[:kept]]) for k in (0, 1))
        return _Solution(unit, to, first, best[1], -best[0], counters)

    def _find_alternates(self) -> Pathfinder:
        """The alternate paths of the map as it is now, and a workspace for the searches."""
        grid = self.state.grid
        if self._alternates is None:
            self._alternates = alternates_of(grid, self.alternates_folder or None)
        elif self._changed:
            self._alternates = alternates_after(self._alternates, grid, np.array(self._changed, np.int32))
        self._changed = []
        if self._pathfinder is None:
            self._pathfinder = Pathfinder(self._alternates)
        self._pathfinder.alternates = self._alternates
        return self._pathfinder

    def _find_paths(
        self,
        pathfinder: Pathfinder,
        starts: NDArray[np.int32],
        goals: NDArray[np.int32],
        obstacles: NDArray[np.int32],
        *,
        only_provable: bool,
    ) -> Plans:
        return pathfinder.plan(
            starts, goals, obstacles,
            target_isolation=self.target_isolation, alternate_connectivity=self.alternate_connectivity,
            initial_blank=self.initial_blank, only_provable=only_provable,
        )  # fmt: skip

    def _play(
        self, pathfinder: Pathfinder, plans: Plans, starts: NDArray[np.int32], goals: NDArray[np.int32]
    ) -> tuple[sliding.Crowd, sliding.Log, dict[str, int]]:
        """Algorithm 1, l. 5-8: progression and repositioning in turn, while somebody gets home."""
        tables, known = pathfinder.alternates.grid.tables, pathfinder.alternates.alternates
        paths = plans.paths
        crowd = sliding.make_crowd(plans, pathfinder.alternates.grid.size, starts, goals)
        log = sliding.make_log(crowd.occupant.size, starts.size)
        scratch = repositioning.make_scratch(crowd.occupant.size, starts.size)
        tally, undone = crowd.tally, 0
        seen: set[bytes] = set()
        while True:
            solved = int(tally[sliding.SOLVED])
            sliding.begin_step(paths, crowd, log)
            if not (~crowd.solved & (crowd.cell != goals)).any():
                break
            step = tables, paths, known.begin, known.cells, crowd
            while sliding.progress(*step, log, self.inline_return) == sliding.ROOM_NEEDED:
                room = crowd.occupant.size
                moves, guests = int(tally[sliding.MOVES]) + room, int(tally[sliding.GUESTS]) + room
                log = sliding.longer(log, moves + moves // 2, guests + guests // 2)
            active = ~crowd.solved
            if not (active & (crowd.cell != goals)).any():
                break
            got_on = int(tally[sliding.SOLVED]) > solved
            if not got_on and not (active & crowd.slidable).any():
                break
            if got_on:
                seen.clear()
            log, moves = self._reposition(paths, crowd, log, scratch)
            undone += moves
            if self.later_provable:
                sliding.promote(paths, crowd)
            state = crowd.cell.tobytes()
            if state in seen:
                break
            seen.add(state)
        return crowd, log, {
            "total_moves": int(tally[sliding.MOVES]), "undo_moves": undone,
            "push_moves": int(tally[sliding.PUSHES]), "progressions": int(tally[sliding.STEP]),
        }  # fmt: skip

    def _reposition(
        self, paths: Paths, crowd: sliding.Crowd, log: sliding.Log, scratch: repositioning.Scratch
    ) -> tuple[sliding.Log, int]:
        """Undo moves until everybody is well positioned; the number of moves that this took."""
        ended = int(crowd.tally[sliding.STEP_ENDED])
        log = sliding.longer(log, 2 * ended - int(crowd.tally[sliding.STEP_BEGAN]) + 1)
        step = paths, crowd, log, scratch
        done = self.minimal_rollback and repositioning.minimally(*step)
        done = done or (self.counting and repositioning.by_counting(*step))
        if not done and not repositioning.by_reversing(paths, crowd, log):
            raise AssertionError("a repositioning step did not end well positioned: please report this")
        return log, int(crowd.tally[sliding.MOVES]) - ended

    def counters(self) -> dict[str, int]:
        return dict(self._counters)

    def promises(self) -> list[Promise]:
        """Which of the agents that move were promised to arrive when the last plan was made, and if not, why.

        Before the first plan the answer is for the agents as they stand now.
        """
        if self._plans_made == 0:
            agents = self.state.agents
            fixed = (agents.cell != NO_CELL) & (~agents.controlled | agents.pinned & (agents.cell == agents.goal))
            units = np.flatnonzero((agents.cell != NO_CELL) & ~fixed)
            starts, obstacles = agents.cell[units], agents.cell[fixed]
            pathfinder = self._find_alternates()
            with pathfinder.alternates.lock:
                goals = _without_twins(starts, agents.goal[units])
                plans = self._find_paths(pathfinder, starts, goals, obstacles, only_provable=False)
            return _promises_on(self.state.grid, units, plans)
        return list(self._verdicts)

    # --- events ------------------------------------------------------------------------------------------------------

    def agent_added(self, agent: int) -> None:
        self._stale = self._stale or bool(self.state.agents.controlled[agent])

    def agent_removed(self, agent: int) -> None:
        """The moves of the others remain what they are, without those of this one."""
        gone = np.flatnonzero(self._agent == agent)
        if gone.size:
            left = ~self._done & (self._moves.unit != gone[0])
            self._follow(self._moves.unit[left], self._moves.to[left])

    def agent_retasked(self, agent: int) -> None:
        self._stale = self._stale or bool(self.state.agents.controlled[agent])

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        self._changed += cells.tolist()
        blocked = np.zeros(self.state.grid.size, np.bool_)
        blocked[cells] = ~self.state.grid.passable.ravel()[cells]
        cut = blocked[self._moves.to[~self._done]].any()
        self._stale = self._stale or bool(cut) or self._left_over > 0


def _without_twins(starts: NDArray[np.int32], goals: NDArray[np.int32]) -> NDArray[np.int32]:
    """The goals, with NO_CELL for units whose goal is another's: who stands there has it, else the first."""
    order = np.lexsort((np.arange(goals.size), starts != goals))
    _, first = np.unique(goals[order], return_index=True)
    own = np.full(goals.size, NO_CELL, np.int32)
    own[order[first]] = goals[order[first]]
    return own


def provable(problem: Problem, **parameters: Any) -> list[Promise]:
    """Say of each agent of a problem whether MAPP promises to bring it home, and if not, why; nothing is moved.

    `parameters` are those of the planner, such as `target_isolation=False`.
    """
    plans = _plans_of(problem, parameters)
    return _promises_on(problem.grid, np.arange(problem.starts.size), plans)


def slidable_units(problem: Problem, **parameters: Any) -> NDArray[np.bool_]:
    """Which agents of a problem would be provable if the others were taken off the map, as Wang and Botea do."""
    return _plans_of(problem, parameters).slidable


def _plans_of(problem: Problem, parameters: dict[str, Any]) -> Plans:
    """Everybody's path, if the planner had these parameters."""
    planner = registry.create("mapp", **parameters)
    assert isinstance(planner, Mapp)
    pathfinder = Pathfinder(alternates_of(problem.grid, planner.alternates_folder or None))
    with pathfinder.alternates.lock:
        goals = _without_twins(problem.starts, problem.goals)
        return planner._find_paths(pathfinder, problem.starts, goals, np.empty(0, np.int32), only_provable=False)


def _promises_on(grid: Grid, agents: NDArray[Any], plans: Plans) -> list[Promise]:
    """The verdicts on these agents, which are the units of the plans."""
    verdicts = []
    for agent, reason, at in zip(agents.tolist(), plans.reason.tolist(), plans.at.tolist(), strict=True):
        place = None if at == NO_CELL else grid.xy(at)
        verdicts.append(Promise(agent, reason == slidable.PROVABLE, _CONDITIONS.get(reason, ""), place))
    return verdicts
