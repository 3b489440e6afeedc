"""What a job can measure: one number per run and name, over wend.metrics. A spec's `metrics` are names of this table.

A spec whose jobs are functions of its own says itself what they measure (`[measures.NAME]`).

Those that depend on a clock are marked; all others are the same on every machine if the limits are in expansions or
ticks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wend import metrics
from wend.search.flood import move_distances
from wend.world.trace import Trace


@dataclass(frozen=True)
class Measure:
    """One number of a run."""

    help: str
    of: Callable[[Trace], float | None] | None = None   # None: the job's function says it
    clock: bool = False         # depends on the machine
    percent: bool = False       # a share, shown as a percentage
    digits: int = 3             # that any other number is shown with


def _mean(values: metrics.Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else None


def _shortest_ticks(trace: Trace) -> metrics.Floats:
    """[agents] the fewest ticks in which each could be home if it were alone."""
    starts, goals = trace.starts(), trace.goals()
    return np.array(
        [
            move_distances(trace.grid, trace.grid.cell(*goals[agent]))[0][trace.grid.cell(*starts[agent])]
            for agent in metrics.counted(trace)
        ],
        dtype=np.float64,
    )


def _path_length(trace: Trace) -> float | None:
    lengths = metrics.path_length(trace)
    return _mean(np.where(np.isnan(lengths), trace.ticks, lengths))


def _reached(trace: Trace) -> float:
    lengths = metrics.path_length(trace)
    return float((~np.isnan(lengths)).mean()) if lengths.size else 1.0


def _everybody(trace: Trace) -> bool:
    return metrics.completion_rate(trace) == 1


def _limit_seconds(trace: Trace) -> float:
    """What an agent that is not home is given as its completion time: the time limit, or the length of the run."""
    limit = trace.meta.get("time_limit")
    return float(trace.plan_ms.sum()) / 1000 if limit is None else float(limit)


def _completion_work(trace: Trace) -> float | None:
    limit = trace.meta.get("max_expansions")
    if limit is None:
        return None
    return _mean(np.minimum(metrics.completion_expansions(trace, unfinished=limit) / limit, 1.0))


def _percentile(values: metrics.Floats, share: float) -> float | None:
    return float(np.percentile(values, share)) if values.size else None


MEASURES: dict[str, Measure] = {
    "completion_rate": Measure("share of agents on their goals at the end", metrics.completion_rate, percent=True),
    "completion_3000": Measure(
        "share of agents on their goals after 3,000 ticks",
        lambda t: metrics.completion_rate(t, tick=3000),
        percent=True,
    ),
    "reached_rate": Measure("share of agents that ever stood on their goals", _reached, percent=True),
    "all_home": Measure("share of runs that brought everybody home", lambda t: float(_everybody(t)), percent=True),
    "completion_ticks": Measure(
        "tick of the last arrival, the run's length where an agent is not home",
        lambda t: _mean(metrics.completion_ticks(t, unfinished=t.ticks)),
    ),
    "completion_seconds": Measure(
        "seconds until the last arrival, the time limit where an agent is not home",
        lambda t: _mean(metrics.completion_seconds(t, unfinished=_limit_seconds(t))),
        clock=True,
    ),
    "completion_work": Measure(
        "share of the limit in expansions that was spent until the last arrival, 1 where an agent is not home",
        _completion_work,
    ),
    "arrival_p95": Measure(
        "tick by which 95 % of the agents are home for good, the run's length where they are not",
        lambda t: _percentile(metrics.completion_ticks(t, unfinished=t.ticks), 95),
    ),
    "distance": Measure("distance travelled per agent", lambda t: _mean(metrics.travel_distance(t))),
    "path_length": Measure("ticks until an agent first stood on its goal, the run's length if never", _path_length),
    "shortest_length": Measure("ticks of the shortest path, all alone", lambda t: _mean(_shortest_ticks(t))),
    "cycles": Measure("cells entered again, per agent", lambda t: _mean(metrics.cycles(t))),
    "detour_ratio": Measure("distance over the shortest, of those at home", lambda t: _mean(metrics.detour_ratio(t))),
    "hard_stops": Measure("sudden stops off the goal, per agent", lambda t: _mean(metrics.hard_stops(t))),
    "repaths": Measure("searches made anew, per agent", lambda t: metrics.counter(t, "repaths")),
    "provable_rate": Measure(
        "share of agents that are promised beforehand to arrive", lambda t: metrics.counter(t, "provable"), percent=True
    ),
    "planned_rate": Measure(
        "share of agents that the plan brings home", lambda t: metrics.counter(t, "home"), percent=True
    ),
    "planned_moves": Measure("moves of the plan as made, per agent", lambda t: metrics.counter(t, "executed_moves")),
    "listed_moves": Measure("moves of the plan as listed, per agent", lambda t: metrics.counter(t, "total_moves")),
    "undo_moves": Measure("moves of the plan that undo others, per agent", lambda t: metrics.counter(t, "undo_moves")),
    "path_moves": Measure("moves of the paths alone, per agent", lambda t: metrics.counter(t, "path_moves")),
    "peak_density": Measure("largest share of a 5x5 block ever occupied", metrics.peak_density, percent=True),
    "makespan": Measure("ticks until everybody is home", metrics.makespan),
    "sum_of_costs": Measure("ticks until each is home, added up", metrics.sum_of_costs),
    "ticks": Measure("ticks made", lambda t: float(t.ticks)),
    "expansions": Measure("nodes expanded", lambda t: float(metrics.expansions(t))),
    "first_move_ticks": Measure(
        "ticks from the order to the first move, the slowest agent", lambda t: _largest(metrics.first_move_ticks(t))
    ),
    "plan_seconds": Measure("seconds of planning", lambda t: float(t.plan_ms.sum()) / 1000, clock=True),
    "initial_ms": Measure("milliseconds of planning in the first tick", lambda t: _first(t.plan_ms), clock=True),
    "worst_turn_ms": Measure("milliseconds of the slowest later tick", lambda t: _largest(t.plan_ms[1:]), clock=True),
    "tick_ms_p50": Measure("planning per tick in ms, median", lambda t: metrics.tick_ms(t)["p50"], clock=True),
    "tick_ms_p99": Measure("planning per tick in ms, 99th percentile", lambda t: metrics.tick_ms(t)["p99"], clock=True),
    "tick_ms_max": Measure("planning in the slowest tick in ms", lambda t: metrics.tick_ms(t)["max"], clock=True),
}


def _first(values: metrics.Floats) -> float | None:
    return float(values[0]) if values.size else None


def _largest(values: metrics.Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.max()) if there.size else None
