"""MEASURES, the one table of numbers that a run is judged by.

A measure is one number per run. The summary that `wend solve` prints and the metrics that an experiment may name are
both taken from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wend.errors import UnknownNameError
from wend.metrics.agents import (
    completed,
    completion_expansions,
    completion_rate,
    completion_seconds,
    completion_ticks,
    counted,
    counter,
    cycles,
    detour_ratio,
    expansions,
    first_move_ticks,
    first_solution_seconds,
    hard_stops,
    largest,
    makespan,
    makespan_ratio,
    mean,
    path_length,
    peak_density,
    shortest_ticks,
    soc_ratio,
    sum_of_costs,
    tick_ms,
    travel_distance,
)
from wend.metrics.groups import separated, spreads_since_order
from wend.world.trace import Trace


@dataclass(frozen=True)
class Measure:
    """One number of a run. An experiment may declare further ones."""

    help: str
    # How it is computed: a function, or in a spec the name of one, `module:function`; None: the spec's `job` does it
    of: str | Callable[[Trace], float | None] | None = None
    unit: str = ""
    clock: bool = False         # depends on the machine; all others do not if the limits are in ticks or expansions
    percent: bool = False       # a share, shown as a percentage
    digits: int = 3             # that any other number is shown with
    yes_no: bool = False        # 1 or 0 in each run: the mean is a rate of runs
    of_solved: bool = False     # of runs or agents that got home: to be compared on commonly solved problems


def _reached(trace: Trace) -> float:
    lengths = path_length(trace)
    return float((~np.isnan(lengths)).mean()) if lengths.size else 1.0


def _path_length(trace: Trace) -> float | None:
    lengths = path_length(trace)
    return mean(np.where(np.isnan(lengths), trace.ticks, lengths))


def _completion_seconds(trace: Trace) -> float | None:
    limit = trace.meta.get("time_limit")
    return mean(completion_seconds(trace, unfinished=_plan_seconds(trace) if limit is None else float(limit)))


def _completion_work(trace: Trace) -> float | None:
    limit = trace.meta.get("max_expansions")
    if limit is None:
        return None
    return mean(np.minimum(completion_expansions(trace, unfinished=limit) / limit, 1.0))


def _arrival_p95(trace: Trace) -> float | None:
    ticks = completion_ticks(trace, unfinished=trace.ticks)
    return float(np.percentile(ticks, 95)) if ticks.size else None


def _first_move_ticks(trace: Trace) -> int | None:
    slowest = largest(first_move_ticks(trace))
    return None if slowest is None else int(slowest)


def _plan_seconds(trace: Trace) -> float:
    return float(trace.plan_ms.sum()) / 1000


MEASURES: dict[str, Measure] = {
    "completed": Measure("agents on their goals at the end", completed, "agents"),
    "completion_rate": Measure("share of agents on their goals at the end", completion_rate, percent=True),
    "completion_3000": Measure(
        "share of agents on their goals after 3,000 ticks", lambda t: completion_rate(t, tick=3000), percent=True
    ),
    "reached_rate": Measure("share of agents that ever stood on their goals", _reached, percent=True),
    "all_home": Measure(
        "share of runs that brought all agents home", lambda t: float(completion_rate(t) == 1), percent=True,
        yes_no=True,
    ),
    "completion_ticks": Measure(
        "tick of the last arrival, the run's length where an agent is not home",
        lambda t: mean(completion_ticks(t, unfinished=t.ticks)), "ticks",
    ),
    "completion_ticks_mean": Measure(
        "tick of the last arrival, of the agents that are home", lambda t: mean(completion_ticks(t)), "ticks",
        of_solved=True,
    ),
    "completion_seconds": Measure(
        "seconds until the last arrival, the time limit where an agent is not home", _completion_seconds, "s",
        clock=True,
    ),
    "completion_seconds_mean": Measure(
        "seconds until the last arrival, of the agents that are home", lambda t: mean(completion_seconds(t)), "s",
        clock=True, of_solved=True,
    ),
    "completion_work": Measure(
        "share of the limit in expansions that was spent until the last arrival, 1 where an agent is not home",
        _completion_work,
    ),
    "arrival_p95": Measure(
        "tick by which 95 % of the agents are home for good, the run's length where they are not", _arrival_p95, "ticks"
    ),
    "distance": Measure("distance travelled per agent", lambda t: mean(travel_distance(t)), "cells"),
    "path_length": Measure(
        "ticks until an agent first stood on its goal, the run's length if never", _path_length, "ticks"
    ),
    "path_length_mean": Measure(
        "ticks until an agent first stood on its goal, of those that ever did", lambda t: mean(path_length(t)), "ticks",
        of_solved=True,
    ),
    "shortest_length": Measure("ticks of the shortest path, all alone", lambda t: mean(shortest_ticks(t)), "ticks"),
    "cycles": Measure("cells entered again, per agent", lambda t: mean(cycles(t)), "cells"),
    "detour_ratio": Measure(
        "distance over the shortest, of the agents at home", lambda t: mean(detour_ratio(t)), of_solved=True
    ),
    "hard_stops": Measure("sudden stops off the goal, per agent", lambda t: mean(hard_stops(t))),
    "repaths": Measure("repeated searches per agent", lambda t: counter(t, "repaths")),
    "provable_rate": Measure(
        "share of agents that are promised beforehand to arrive", lambda t: counter(t, "provable"), percent=True
    ),
    "planned_rate": Measure("share of agents that the plan brings home", lambda t: counter(t, "home"), percent=True),
    "planned_moves": Measure("moves of the plan as made, per agent", lambda t: counter(t, "executed_moves"), "moves"),
    "listed_moves": Measure("moves of the plan as listed, per agent", lambda t: counter(t, "total_moves"), "moves"),
    "undo_moves": Measure("moves of the plan that undo others, per agent", lambda t: counter(t, "undo_moves"), "moves"),
    "path_moves": Measure("moves of the paths alone, per agent", lambda t: counter(t, "path_moves"), "moves"),
    "peak_density": Measure("largest share of a 5x5 block ever occupied", peak_density, percent=True),
    "makespan": Measure("ticks until all agents are home", makespan, "ticks", of_solved=True),
    "sum_of_costs": Measure("ticks until each agent is home, added up", sum_of_costs, "ticks", of_solved=True),
    "soc_ratio": Measure(
        "sum of costs over its lower bound, the shortest paths of all agents", soc_ratio, of_solved=True
    ),
    "makespan_ratio": Measure(
        "makespan over its lower bound, the longest of the shortest paths", makespan_ratio, of_solved=True
    ),
    "ticks": Measure("ticks made", lambda t: t.ticks, "ticks"),
    "expansions": Measure("nodes expanded", expansions, "nodes"),
    "first_move_ticks": Measure("ticks from order to first move, the slowest agent", _first_move_ticks, "ticks"),
    "first_solution_seconds": Measure(
        "seconds of planning until a whole plan is there", first_solution_seconds, "s", clock=True, of_solved=True
    ),
    "plan_seconds": Measure("seconds of planning", _plan_seconds, "s", clock=True),
    "initial_ms": Measure(
        "milliseconds of planning in the first tick", lambda t: largest(t.plan_ms[:1]), "ms", clock=True
    ),
    "worst_turn_ms": Measure(
        "milliseconds of the slowest later tick", lambda t: largest(t.plan_ms[1:]), "ms", clock=True
    ),
    "tick_ms_p50": Measure("planning per tick in ms, median", lambda t: tick_ms(t)["p50"], "ms", clock=True),
    "tick_ms_p99": Measure("planning per tick in ms, 99th percentile", lambda t: tick_ms(t)["p99"], "ms", clock=True),
    "tick_ms_max": Measure("planning in the slowest tick in ms", lambda t: tick_ms(t)["max"], "ms", clock=True),
    "spread_mean": Measure("distance from the centre of the group", lambda t: mean(spreads_since_order(t)), "cells"),
    "spread_peak": Measure(
        "the same in the tick in which it was largest", lambda t: largest(spreads_since_order(t)), "cells"
    ),
    "separated": Measure("share of groups that an obstacle split", separated, percent=True, yes_no=True),
}

# The keys of the summary, and the measures that they show.
SUMMARY: dict[str, str | dict[str, str]] = {
    "ticks": "ticks",
    "completed": "completed",
    "completion_rate": "completion_rate",
    "completion_ticks_mean": "completion_ticks_mean",
    "completion_seconds_mean": "completion_seconds_mean",
    "distance_mean": "distance",
    "path_length_mean": "path_length_mean",
    "makespan": "makespan",
    "sum_of_costs": "sum_of_costs",
    "expansions": "expansions",
    "plan_seconds": "plan_seconds",
    "tick_ms": {"p50": "tick_ms_p50", "p99": "tick_ms_p99", "max": "tick_ms_max"},
    "first_move_ticks_max": "first_move_ticks",
    "spread_mean": "spread_mean",
    "spread_peak": "spread_peak",
    "separated": "separated",
}


def measure(trace: Trace, name: str) -> float | None:
    """One of MEASURES; None where the number does not exist."""
    if name not in MEASURES:
        raise UnknownNameError("measure", name, MEASURES)
    compute = MEASURES[name].of
    assert callable(compute)
    return compute(trace)


def summary(trace: Trace) -> dict[str, Any]:
    """The numbers that `wend solve` prints, by name. Means are over the agents for which the number exists."""

    def shown(what: str | dict[str, str]) -> Any:
        return measure(trace, what) if isinstance(what, str) else {key: shown(name) for key, name in what.items()}

    return {"agents": int(counted(trace).size), **{key: shown(what) for key, what in SUMMARY.items()}}
