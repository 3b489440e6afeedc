"""Run: one problem, solved by one planner within limits, and everything that is known about it afterwards.

    run = solve(problem, time_limit=30, seed=1)
    print(run, run.sum_of_costs, run.sum_of_costs_lower_bound)
    run.show()

The command line and the experiments run problems through `solve` and nothing else. It loads the kernels first, so that
no measured time contains them, sets up a world, ticks it until it is done or a limit is hit, and collects the trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend import arguments, metrics
from wend.errors import ParameterError
from wend.maps.terrain import places_of
from wend.planners import registry
from wend.planners.base import Budget, Planner, TimedPlan
from wend.problems.problem import Problem
from wend.problems.scenarios import Group
from wend.rules import Violation
from wend.viewer.replay import show_replay
from wend.world.trace import Trace
from wend.world.warming import load_kernels
from wend.world.world import World

INTERRUPTED, HARD_LIMIT = "interrupted", "hard-limit"


@dataclass(frozen=True)
class Limits:
    """What ends a run that does not bring all agents home."""

    max_ticks: int = 10_000
    expansions: int | None = None       # nodes in all ticks together; the same on every machine
    seconds: float | None = None        # spent in ticks
    hard_seconds: float | None = None   # of wall-clock time since `solve` was called, loading kernels included

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_ticks", arguments.whole(self.max_ticks, "max_ticks", low=0))
        if self.expansions is not None:
            object.__setattr__(self, "expansions", arguments.whole(self.expansions, "expansions", low=1))
        for name in ("seconds", "hard_seconds"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, arguments.number(value, name, low=0, finite=True))


DEFAULT_LIMITS = Limits()
AT_ONCE = {"offline": True}     # of `auto` in a run, which has no other orders to come

_VIOLATIONS_KEPT = 10_000       # of a run, in its trace


@dataclass(frozen=True)
class Run:
    """What became of a problem. `solve` makes one."""

    trace: Trace
    stopped_by: str                 # done | quiet | max-ticks | expansions | time-limit | hard-limit | interrupted
    state_hash: str                 # of everything that happened: equal runs, equal hashes
    counters: dict[str, int]        # what the planner counted
    violations: list[Violation]     # illegal moves that the referee stopped
    warm_up_seconds: float          # until the kernels were loaded and the rehearsal, if any, was over
    run_seconds: float              # of wall-clock time in the run itself

    def __repr__(self) -> str:
        made, agents = self.trace.ticks, metrics.counted(self.trace).size
        illegal = f", {len(self.violations)} violations" if self.violations else ""
        home = f"{metrics.completed(self.trace)} of {agents} agents home after {made} ticks"
        return f"<Run: {home}, stopped by {self.stopped_by}{illegal}>"

    @property
    def paths(self) -> NDArray[np.int32]:
        """[ticks + 1, agents, 2] where each agent was, as (x, y), at the start and after each tick; -1 off the map."""
        return places_of(self.trace.grid.width, self.trace.positions())

    @property
    def sum_of_costs(self) -> int | None:
        """Ticks until each agent was home for good, added up; None if one is not."""
        return metrics.sum_of_costs(self.trace)

    @property
    def sum_of_costs_lower_bound(self) -> int:
        """What the sum of costs would be if no agent were in another's way."""
        return metrics.sum_of_costs_bound(self.trace)

    @property
    def makespan(self) -> int | None:
        """Ticks until all agents were home for good; None if one is not."""
        return metrics.makespan(self.trace)

    @property
    def makespan_lower_bound(self) -> int:
        """What the makespan would be if no agent were in another's way."""
        return metrics.makespan_bound(self.trace)

    @property
    def solutions(self) -> list[TimedPlan]:
        """The whole plans that the planner found, each better than the one before it: when, and what it costs.

        Empty if it decides tick by tick.
        """
        return [TimedPlan(*solution) for solution in self.trace.meta.get("solutions", [])]

    def save(self, path: str | Path) -> None:
        """Write the trace to a file (.wend), which `wend replay`, `wend check` and `Trace.load` read."""
        self.trace.save(path)

    def show(self, path: str | Path | None = None) -> Path:
        """Write the page that plays the run, open it in a browser, and return where it is.

        Without a path it is a new temporary file. Where there is no browser, this prints where the page is.
        """
        page, is_open = show_replay(self.trace, path)
        if not is_open:
            print(f"the run is on the page {page.resolve()}: open it in a browser")
        return page

    def _repr_html_(self) -> str:
        """What a notebook shows: the replay page."""
        return self.trace._repr_html_()

    @property
    def first_tick_seconds(self) -> float:
        """Planning in the first tick, in which an offline planner does nearly all of its work."""
        return float(self.trace.plan_ms[:1].sum()) / 1000

    def measure(self, name: str) -> float | None:
        """One of `wend.metrics.MEASURES`; None where the number does not exist."""
        return metrics.measure(self.trace, name)

    def summary(self) -> dict[str, Any]:
        """The numbers that `wend solve` prints, by name."""
        return metrics.summary(self.trace)


class _Stopped(Exception):
    """The run ends after this tick."""

    def __init__(self, by: str) -> None:
        super().__init__(by)
        self.by = by


def solve(
    problem: Problem | Group,
    planner: Planner | str = registry.AUTO,
    limits: Limits = DEFAULT_LIMITS,
    *,
    time_limit: float | None = None,
    seed: int = 0,
    mode: str = "move",
    budget: int | None = None,
    budget_ms: float | None = None,
    rehearse: bool = False,
    reasons: bool = False,
    progress: Callable[[World], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Run:
    """Bring the agents of a problem to their goals, or those of a group to its target, within limits.

    `planner` is a new planner or the name of one; `auto` chooses one, and may plan everything beforehand if there is no
    budget. `time_limit` is short for the limit on the seconds spent in ticks;
    the tick at hand is finished, and an offline planner such as MAPP plans everything in the first one. A group is
    ordered as one, with `mode` (see `World.order_group`). The budgets are per tick (see `World.tick`). With `rehearse`,
    a twin of the planner plans the first tick before the clock starts, so that whatever the algorithm keeps about a map
    is there. Illegal moves are stopped and listed. With `reasons`, the trace says why agents waited.

    `progress` is called when everything is loaded, before the first tick, and then after every tick. `stop` is asked
    after every tick; once it says yes, the run ends, and what was computed so far is kept. A KeyboardInterrupt in the
    middle of a tick is an error, unless `stop` says yes by then.
    """
    began = time.perf_counter()
    arguments.instance(problem, "problem", (Problem, Group), "a Problem or a Group")
    arguments.instance(planner, "planner", (Planner, str), "a planner or the name of one")
    arguments.instance(limits, "limits", Limits, "a Limits")
    if time_limit is not None:
        if limits.seconds is not None:
            raise ParameterError("the limits have seconds of their own: give those or time_limit, not both")
        limits = replace(limits, seconds=arguments.number(time_limit, "time_limit", low=0, finite=True))
    arguments.function(progress, "progress")
    arguments.function(stop, "stop")
    seed, rehearse = arguments.whole(seed, "seed"), arguments.flag(rehearse, "rehearse")
    budget = None if budget is None else arguments.whole(budget, "budget")
    about = {"algorithm": planner} if isinstance(planner, str) else {}
    if isinstance(planner, str):
        planner = registry.create(planner, **AT_ONCE if planner == registry.AUTO else {})
    group_mode = mode if isinstance(problem, Group) else None
    allowance = Budget(expansions=budget, milliseconds=budget_ms)
    first = planner.first_mover(problem.grid, len(problem.starts), allowance)
    _load_kernels(type(first), tuple(asdict(first).items()), group_mode, allowance.is_limited)
    if rehearse:
        _set_up(problem, first, mode, seed=seed, record=False).tick()
    warm_up_seconds = time.perf_counter() - began

    world = _set_up(problem, planner, mode, seed=seed, on_violation="record", record_reasons=reasons)
    if progress is not None:
        progress(world)

    def after_tick(world: World) -> None:
        if stop is not None and stop():
            raise _Stopped(INTERRUPTED)
        if limits.hard_seconds is not None and time.perf_counter() - began > limits.hard_seconds:
            raise _Stopped(HARD_LIMIT)
        if progress is not None:
            progress(world)

    run_began = time.perf_counter()
    try:
        stopped_by = world.run(
            max_ticks=limits.max_ticks,
            time_limit_s=limits.seconds,
            max_expansions=limits.expansions,
            stuck_ticks=None,       # what papers measure counts to the limit
            budget=budget,
            budget_ms=budget_ms,
            progress=after_tick,
        )
    except _Stopped as stopped:
        stopped_by = stopped.by
    except KeyboardInterrupt:
        if stop is None or not stop():
            raise
        stopped_by = INTERRUPTED
    run_seconds = time.perf_counter() - run_began

    trace = world.trace(
        **about,
        parameters=asdict(planner),
        seed=seed,
        stopped_by=stopped_by,
        state_hash=world.state_hash(),
        **({"reasons": world.reasons()} if planner.portfolio() else {}),
        violations=[str(violation) for violation in world.violations[:_VIOLATIONS_KEPT]],
        time_limit=limits.seconds,
        budget=budget,
    )
    trace.meta["plan_seconds"] = float(trace.plan_ms.sum()) / 1000
    if found := world.planner.solutions():
        trace.meta["solutions"] = [list(solution) for solution in found]
    if limits.expansions is not None:
        trace.meta["max_expansions"] = limits.expansions
    return Run(
        trace, stopped_by, world.state_hash(), world.planner.counters(), world.violations, warm_up_seconds, run_seconds
    )


def _set_up(problem: Problem | Group, planner: Planner, mode: str, **options: Any) -> World:
    """A world in which the agents stand on their starts and have their orders."""
    if isinstance(problem, Problem):
        return World.from_problem(problem, planner, **options)
    world = World(problem.grid, planner, **options)
    world.order_group([world.add(start) for start in problem.starts], problem.target, mode)
    return world


@lru_cache(maxsize=256)
def _load_kernels(
    kind: type[Planner], parameters: tuple[tuple[str, Any], ...], group_mode: str | None, with_budget: bool
) -> None:
    """Load the kernels of a kind of planner, once per process."""
    load_kernels(kind(**dict(parameters)), group_mode, with_budget=with_budget)
