"""What a run was worth: pure functions of a Trace, and MEASURES, the one table of numbers that a run is judged by.

The agents that count are those that the planner moves and that are on the map at the end, each with the goal that it
had last. Per-agent results are float arrays over those agents, NaN where a number does not exist. Conventions of the
papers:

- completion rate (Sigurdson et al. 2018): share of agents on their goals at the end.
- completion time (same): when an agent arrived for good. The paper counts the time limit for agents that are not home;
  pass it as `unfinished` to do the same, otherwise such agents have none.
- travel distance (same): cardinal moves plus sqrt(2) times diagonal ones, unfinished agents included.
- path length (Silver 2005): ticks until an agent first stands on its goal.
- cycles (Silver 2005): how often an agent enters a cell where it has been before.
- makespan and sum of costs (multi-agent path finding): the last agent's completion time, and the sum over all agents;
  they do not exist unless all agents are home.
- cohesion (Wicks Rivas and Souza, "Map Marker"): how far a group that was ordered as one is spread, and whether an
  obstacle splits it; see wend.groups.cohesion. It exists where there was a group order.

A measure is one number per run. The summary that `wend solve` prints and the metrics that an experiment may name are
both taken from MEASURES.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import UnknownNameError
from wend.groups.cohesion import is_separated, splits, spread
from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.search.astar import shortest_path
from wend.search.flood import move_distances
from wend.world.trace import ABSENT, WAIT, Event, Trace

Floats = NDArray[np.float64]

_FIRST_DIAGONAL_CODE = 5    # codes 5..8 of the trace


def counted(trace: Trace) -> NDArray[np.int64]:
    """The agents that count: moved by the planner, and on the map at the end."""
    removed = {event.agent for event in trace.events_of("removed")}
    mine = (event.agent for event in trace.events_of("added") if event.data.get("controlled", True))
    return np.array([agent for agent in mine if agent not in removed], dtype=np.int64)


def _goal_cells(trace: Trace) -> NDArray[np.int32]:
    goals = trace.goals()
    return np.array([trace.grid.cell(*goals[agent]) for agent in counted(trace)], dtype=np.int32)


def _mean(values: Floats) -> float | None:
    """The mean of the numbers that exist; None if there are none."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else None


def _largest(values: Floats) -> float | None:
    """The largest of the numbers that exist; None if there are none."""
    there = values[~np.isnan(values)]
    return float(there.max()) if there.size else None


# --- completion ------------------------------------------------------------------------------------------------------


def completed(trace: Trace, *, tick: int | None = None) -> int:
    """How many agents stand on their goals at the end, or after a tick if the run was longer."""
    at = trace.ticks if tick is None else min(tick, trace.ticks)
    return int((trace.positions()[at, counted(trace)] == _goal_cells(trace)).sum())


def completion_rate(trace: Trace, *, tick: int | None = None) -> float:
    """The share of agents on their goals at the end, or after a tick, 0 to 1; 1 if there are no agents."""
    agents = counted(trace).size
    return completed(trace, tick=tick) / agents if agents else 1.0


def completion_ticks(trace: Trace, *, unfinished: float = math.nan) -> Floats:
    """[agents] the tick after which each stayed on its goal."""
    away = trace.positions()[:, counted(trace)] != _goal_cells(trace)
    last_away = np.where(away.any(axis=0), trace.ticks - np.argmax(away[::-1], axis=0), -1)
    return np.where(away[-1], unfinished, last_away + 1.0)


def completion_seconds(trace: Trace, *, unfinished: float = math.nan) -> Floats:
    """[agents] seconds of planning until each was home for good."""
    return _until_home(trace, trace.plan_ms / 1000, unfinished)


def completion_expansions(trace: Trace, *, unfinished: float = math.nan) -> Floats:
    """[agents] nodes that were expanded, for all agents together, until each was home for good."""
    return _until_home(trace, trace.expansions, unfinished)


def _until_home(trace: Trace, spent: NDArray[Any], unfinished: float) -> Floats:
    """[agents] what was spent in the ticks until each was home for good."""
    ticks = completion_ticks(trace)
    home = ~np.isnan(ticks)
    sums = np.concatenate(([0.0], np.cumsum(spent)))
    until = np.full(ticks.size, float(unfinished))
    until[home] = sums[ticks[home].astype(np.int64)]
    return until


def makespan(trace: Trace) -> int | None:
    """Ticks until all agents were home for good; None if one is not."""
    ticks = completion_ticks(trace)
    return None if np.isnan(ticks).any() else int(ticks.max(initial=0))


def sum_of_costs(trace: Trace) -> int | None:
    """Ticks until each agent was home for good, added up; None if one is not."""
    ticks = completion_ticks(trace)
    return None if np.isnan(ticks).any() else int(ticks.sum())


# --- distance and movement -------------------------------------------------------------------------------------------


def travel_distance(trace: Trace) -> Floats:
    """[agents] how far each travelled in all."""
    moves = trace.moves[:, counted(trace)]
    diagonals = ((moves >= _FIRST_DIAGONAL_CODE) & (moves != ABSENT)).sum(axis=0)
    cardinals = ((moves != WAIT) & (moves < _FIRST_DIAGONAL_CODE)).sum(axis=0)
    return np.asarray(cardinals + math.sqrt(2) * diagonals)


def path_length(trace: Trace) -> Floats:
    """[agents] ticks from the last order until each first stood on its goal."""
    at_goal = trace.positions()[:, counted(trace)] == _goal_cells(trace)
    lengths = np.full(at_goal.shape[1], math.nan)
    for column, order in enumerate(_last_orders(trace)):
        when = np.flatnonzero(at_goal[order.tick :, column])
        if when.size:
            lengths[column] = when[0]
    return lengths


def cycles(trace: Trace) -> Floats:
    """[agents] how often each entered a cell where it had been before."""
    cells = trace.positions()[:, counted(trace)]
    counts = np.zeros(cells.shape[1])
    for column in range(cells.shape[1]):
        visited = cells[cells[:, column] != NO_CELL, column]
        entered = visited[np.concatenate(([True], visited[1:] != visited[:-1]))]
        counts[column] = entered.size - np.unique(entered).size
    return counts


def detour_ratio(trace: Trace) -> Floats:
    """[agents] distance travelled since the last order, divided by the length of the shortest path.

    NaN if an agent is not home or never was away. The shortest path is that on the map at the start of the run.
    """
    cells = trace.positions()[:, counted(trace)]
    home = cells[-1] == _goal_cells(trace)
    step = np.array([0, 1, 1, 1, 1, *[math.sqrt(2)] * 4, 0])[trace.moves[:, counted(trace)]]
    ratios = np.full(home.size, math.nan)
    for column, order in enumerate(_last_orders(trace)):
        start, goal = int(cells[order.tick, column]), int(cells[-1, column])
        if home[column] and start != goal:
            shortest = shortest_path(trace.grid, trace.grid.xy(start), trace.grid.xy(goal)).cost
            ratios[column] = step[order.tick :, column].sum() / shortest
    return ratios


def first_move_ticks(trace: Trace) -> Floats:
    """[agents] ticks from the last order to the agent's first move, that tick included; NaN if it never moved or was
    there already."""
    cells = trace.positions()[:, counted(trace)]
    goal = _goal_cells(trace)
    latency = np.full(goal.size, math.nan)
    for column, (agent, order) in enumerate(zip(counted(trace), _last_orders(trace), strict=True)):
        moved = np.flatnonzero(trace.moves[order.tick :, agent] != WAIT)
        if moved.size and cells[order.tick, column] != goal[column]:
            latency[column] = moved[0] + 1
    return latency


def ticks_until_moved(trace: Trace, *, share: float = 0.95) -> int | None:
    """The first tick after which this share of the agents that had to move had moved; None if there is none."""
    goal, starts = _goal_cells(trace), trace.positions()[0, counted(trace)]
    had_to = counted(trace)[starts != goal]
    if had_to.size == 0:
        return 0
    moves = trace.moves[:, had_to]
    moved = np.logical_or.accumulate((moves != WAIT) & (moves != ABSENT), axis=0).sum(axis=1)
    when = np.flatnonzero(moved >= share * had_to.size)
    return int(when[0]) + 1 if when.size else None


def hard_stops(trace: Trace) -> Floats:
    """[agents] how often each stopped dead: moved in one tick and stood still, off its goal, in the next."""
    agents = counted(trace)
    moved = (trace.moves[:, agents] != WAIT) & (trace.moves[:, agents] != ABSENT)
    stands = trace.moves[:, agents] == WAIT
    off_goal = trace.positions()[1:-1, agents] != _goal_cells(trace) if trace.ticks else moved
    return np.asarray((moved[:-1] & stands[1:] & off_goal).sum(axis=0), dtype=np.float64)


def peak_density(trace: Trace) -> float:
    """The largest share of the passable cells in a 5x5 neighbourhood of an agent that was ever occupied, 0 to 1."""
    height, width = trace.grid.height, trace.grid.width

    def neighbourhoods(mask: NDArray[np.int64]) -> NDArray[np.int64]:
        sums = np.pad(mask, 3).cumsum(axis=0).cumsum(axis=1)
        return np.asarray(sums[5:, 5:] - sums[:-5, 5:] - sums[5:, :-5] + sums[:-5, :-5])

    room = neighbourhoods(trace.grid.passable.astype(np.int64))[:height, :width].ravel()
    peak = 0.0
    for cells in trace.positions():
        there = cells[cells >= 0]
        occupied = np.zeros(height * width, dtype=np.int64)
        occupied[there] = 1
        crowd = neighbourhoods(occupied.reshape(height, width))[:height, :width].ravel()
        peak = max(peak, float((crowd[there] / np.maximum(room[there], 1)).max(initial=0.0)))
    return peak


def shortest_ticks(trace: Trace) -> Floats:
    """[agents] the fewest ticks in which each could be home if it were alone."""
    starts, goals = trace.starts(), trace.goals()
    return np.array(
        [
            move_distances(trace.grid, trace.grid.cell(*goals[agent]))[0][trace.grid.cell(*starts[agent])]
            for agent in counted(trace)
        ],
        dtype=np.float64,
    )


# --- what planning cost ----------------------------------------------------------------------------------------------


def counter(trace: Trace, name: str) -> float | None:
    """What the planner counted under a name (`repaths`, `provable`, ...), per agent; None if the trace does not say."""
    agents = counted(trace).size
    found = trace.meta.get("counters", {}).get(name)
    return None if found is None or agents == 0 else found / agents


def expansions(trace: Trace) -> int:
    """Nodes that the planner expanded in all."""
    return int(trace.expansions.sum())


def tick_ms(trace: Trace) -> dict[str, float]:
    """Milliseconds of planning per tick: median, 99th percentile and largest."""
    if trace.ticks == 0:
        return {"p50": 0.0, "p99": 0.0, "max": 0.0}
    p50, p99 = np.percentile(trace.plan_ms, [50, 99])
    return {"p50": float(p50), "p99": float(p99), "max": float(trace.plan_ms.max())}


# --- groups ----------------------------------------------------------------------------------------------------------


def group_spread(trace: Trace) -> Floats:
    """[ticks + 1] the mean distance of the units from their common centre, in the group that was last ordered.

    Only units on the map count; NaN where there are none, and before the first group order.
    """
    cells = trace.positions()
    spreads = np.full(trace.ticks + 1, math.nan)
    orders = _group_orders(trace)
    changes = [*(order.tick for order in orders), trace.ticks + 1]
    for order, (begin, end) in zip(orders, itertools.pairwise(changes), strict=True):
        for tick in range(begin, end):
            at = cells[tick, order.data["agents"]]
            there = at[at >= 0]
            if there.size:
                spreads[tick] = spread(_places(trace, there)[np.newaxis])[0]
    return spreads


def cohesion(trace: Trace) -> dict[str, Any] | None:
    """How well the group of the last group order kept together since then; None if there was no such order.

    `members` (the agents that were ordered), `spread_mean` and `spread_peak` (over the ticks since the order, in cells)
    and `separated` (whether obstacles that stood all that time split the units that are still on the map).
    """
    orders = _group_orders(trace)
    if not orders:
        return None
    spreads = _spreads_since_order(trace)
    return {
        "members": list(orders[-1].data["agents"]),
        "spread_mean": _mean(spreads),
        "spread_peak": _largest(spreads),
        "separated": separated(trace),
    }


def _spreads_since_order(trace: Trace) -> Floats:
    """The spread of the last group, from its order on; empty if there was no group order."""
    orders = _group_orders(trace)
    return group_spread(trace)[orders[-1].tick :] if orders else np.empty(0)


def separated(trace: Trace) -> bool | None:
    """Whether obstacles split the last group on its way, or keep it apart; None if there was no group order."""
    orders = _group_orders(trace)
    if not orders:
        return None
    since = orders[-1].tick
    walks = trace.positions()[since:, orders[-1].data["agents"]].T
    walks = walks[(walks >= 0).all(axis=1)]
    if len(walks) == 0:
        return False
    ground = _ground(trace, since)
    if len(set(ground.component[walks[:, [0, -1]]].ravel().tolist())) > 1:
        return True
    paths = [[(x, y) for x, y in _places(trace, walk).tolist()] for walk in walks]
    return is_separated(splits(ground, paths))


def _group_orders(trace: Trace) -> list[Event]:
    return sorted(trace.events_of("group"), key=lambda event: event.tick)


def _ground(trace: Trace, since: int) -> Grid:
    """The map with only those walls that have stood all the time since a tick."""
    passable = trace.grid.passable.copy()
    for event in trace.events_of("blocked", "unblocked"):
        if event.kind == "unblocked" or event.tick <= since:
            for x, y in event.data["cells"]:
                passable[y, x] = event.kind == "unblocked"
    return Grid(passable, connectivity=trace.grid.connectivity, corner_cutting=trace.grid.corner_cutting)


def _places(trace: Trace, cells: NDArray[np.int32]) -> NDArray[np.int32]:
    """[cells, 2] column and row of each."""
    return np.stack([cells % trace.grid.width, cells // trace.grid.width], axis=-1)


def _last_orders(trace: Trace) -> list[Event]:
    """The event that gave each agent its last goal."""
    last = {event.agent: event for event in trace.events_of("added", "ordered")}
    return [last[int(agent)] for agent in counted(trace)]


# --- the table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """One number of a run. An experiment whose jobs are functions of its own may declare further ones."""

    help: str
    of: Callable[[Trace], float | None] | None = None   # None: the experiment's function computes it
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
    return _mean(np.where(np.isnan(lengths), trace.ticks, lengths))


def _completion_seconds(trace: Trace) -> float | None:
    limit = trace.meta.get("time_limit")
    return _mean(completion_seconds(trace, unfinished=_plan_seconds(trace) if limit is None else float(limit)))


def _completion_work(trace: Trace) -> float | None:
    limit = trace.meta.get("max_expansions")
    if limit is None:
        return None
    return _mean(np.minimum(completion_expansions(trace, unfinished=limit) / limit, 1.0))


def _arrival_p95(trace: Trace) -> float | None:
    ticks = completion_ticks(trace, unfinished=trace.ticks)
    return float(np.percentile(ticks, 95)) if ticks.size else None


def _first_move_ticks(trace: Trace) -> int | None:
    slowest = _largest(first_move_ticks(trace))
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
        lambda t: _mean(completion_ticks(t, unfinished=t.ticks)), "ticks",
    ),
    "completion_ticks_mean": Measure(
        "tick of the last arrival, of the agents that are home", lambda t: _mean(completion_ticks(t)), "ticks",
        of_solved=True,
    ),
    "completion_seconds": Measure(
        "seconds until the last arrival, the time limit where an agent is not home", _completion_seconds, "s",
        clock=True,
    ),
    "completion_seconds_mean": Measure(
        "seconds until the last arrival, of the agents that are home", lambda t: _mean(completion_seconds(t)), "s",
        clock=True, of_solved=True,
    ),
    "completion_work": Measure(
        "share of the limit in expansions that was spent until the last arrival, 1 where an agent is not home",
        _completion_work,
    ),
    "arrival_p95": Measure(
        "tick by which 95 % of the agents are home for good, the run's length where they are not", _arrival_p95, "ticks"
    ),
    "distance": Measure("distance travelled per agent", lambda t: _mean(travel_distance(t)), "cells"),
    "path_length": Measure(
        "ticks until an agent first stood on its goal, the run's length if never", _path_length, "ticks"
    ),
    "path_length_mean": Measure(
        "ticks until an agent first stood on its goal, of those that ever did", lambda t: _mean(path_length(t)),
        "ticks", of_solved=True,
    ),
    "shortest_length": Measure("ticks of the shortest path, all alone", lambda t: _mean(shortest_ticks(t)), "ticks"),
    "cycles": Measure("cells entered again, per agent", lambda t: _mean(cycles(t)), "cells"),
    "detour_ratio": Measure(
        "distance over the shortest, of the agents at home", lambda t: _mean(detour_ratio(t)), of_solved=True
    ),
    "hard_stops": Measure("sudden stops off the goal, per agent", lambda t: _mean(hard_stops(t))),
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
    "ticks": Measure("ticks made", lambda t: t.ticks, "ticks"),
    "expansions": Measure("nodes expanded", expansions, "nodes"),
    "first_move_ticks": Measure("ticks from order to first move, the slowest agent", _first_move_ticks, "ticks"),
    "plan_seconds": Measure("seconds of planning", _plan_seconds, "s", clock=True),
    "initial_ms": Measure(
        "milliseconds of planning in the first tick", lambda t: _largest(t.plan_ms[:1]), "ms", clock=True
    ),
    "worst_turn_ms": Measure(
        "milliseconds of the slowest later tick", lambda t: _largest(t.plan_ms[1:]), "ms", clock=True
    ),
    "tick_ms_p50": Measure("planning per tick in ms, median", lambda t: tick_ms(t)["p50"], "ms", clock=True),
    "tick_ms_p99": Measure("planning per tick in ms, 99th percentile", lambda t: tick_ms(t)["p99"], "ms", clock=True),
    "tick_ms_max": Measure("planning in the slowest tick in ms", lambda t: tick_ms(t)["max"], "ms", clock=True),
    "spread_mean": Measure("distance from the centre of the group", lambda t: _mean(_spreads_since_order(t)), "cells"),
    "spread_peak": Measure(
        "the same in the tick in which it was largest", lambda t: _largest(_spreads_since_order(t)), "cells"
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
    assert compute is not None
    return compute(trace)


def summary(trace: Trace) -> dict[str, Any]:
    """The numbers that `wend solve` prints, by name. Means are over the agents for which the number exists."""

    def shown(what: str | dict[str, str]) -> Any:
        return measure(trace, what) if isinstance(what, str) else {key: shown(name) for key, name in what.items()}

    return {"agents": int(counted(trace).size), **{key: shown(what) for key, what in SUMMARY.items()}}
