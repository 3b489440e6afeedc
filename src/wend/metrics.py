"""What a run was worth: pure functions from a Trace to numbers.

The planner's agents that are on the map at the end are counted, against the goal that each had last. Per-agent results
are float arrays over those agents, NaN where a number does not exist. Conventions of the papers:

- completion rate (Sigurdson et al. 2018): share of agents on their goals at the end.
- completion time (same): when an agent arrived for good. They give agents that are not home the time limit; pass it as
  `unfinished` to do so, otherwise such agents have none.
- travel distance (same): cardinal moves plus sqrt(2) times diagonal ones, unfinished agents included.
- path length (Silver 2005): ticks until an agent first stands on its goal.
- cycles (Silver 2005): how often an agent enters a cell where it has been before.
- makespan and sum of costs (multi-agent path finding): ticks until everybody is home for good, in all and added up;
  they do not exist while somebody is not home.
- cohesion (Wicks Rivas and Souza, "Map Marker"): how far a group that was ordered as one is spread, and whether an
  obstacle parts it; see wend.groups.cohesion. It exists where there was a group order.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.groups.cohesion import is_separated, splits, spread
from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.search.astar import shortest_path
from wend.world.trace import ABSENT, WAIT, Event, Trace

Floats = NDArray[np.float64]

_FIRST_DIAGONAL_CODE = 5    # codes 5..8 of the trace


def counted(trace: Trace) -> NDArray[np.int64]:
    """The agents that the metrics are about: moved by the planner, and on the map at the end."""
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
    """[agents] nodes that were expanded for everybody until each was home for good."""
    return _until_home(trace, trace.expansions, unfinished)


def _until_home(trace: Trace, spent: NDArray[Any], unfinished: float) -> Floats:
    """[agents] what was spent in the ticks until each was home for good."""
    ticks = completion_ticks(trace)
    home = ~np.isnan(ticks)
    sums = np.concatenate(([0.0], np.cumsum(spent)))
    until = np.full(ticks.size, float(unfinished))
    until[home] = sums[ticks[home].astype(np.int64)]
    return until


def travel_distance(trace: Trace) -> Floats:
    """[agents] what each travelled in all."""
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
    """[agents] distance travelled since the last order over the shortest there is; NaN if not home or never away.

    The shortest path is that on the map at the start of the run.
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


def makespan(trace: Trace) -> int | None:
    """Ticks until everybody was home for good; None while somebody is not."""
    ticks = completion_ticks(trace)
    return None if np.isnan(ticks).any() else int(ticks.max(initial=0))


def sum_of_costs(trace: Trace) -> int | None:
    """Ticks until each was home for good, added up; None while somebody is not."""
    ticks = completion_ticks(trace)
    return None if np.isnan(ticks).any() else int(ticks.sum())


def tick_ms(trace: Trace) -> dict[str, float]:
    """Milliseconds of planning per tick: median, 99th percentile and largest."""
    if trace.ticks == 0:
        return {"p50": 0.0, "p99": 0.0, "max": 0.0}
    p50, p99 = np.percentile(trace.plan_ms, [50, 99])
    return {"p50": float(p50), "p99": float(p99), "max": float(trace.plan_ms.max())}


def first_move_ticks(trace: Trace) -> Floats:
    """[agents] ticks from the last order until the agent first moved, the moving tick included; NaN if it never did or
    was there already."""
    cells = trace.positions()[:, counted(trace)]
    goal = _goal_cells(trace)
    latency = np.full(goal.size, math.nan)
    for column, (agent, order) in enumerate(zip(counted(trace), _last_orders(trace), strict=True)):
        moved = np.flatnonzero(trace.moves[order.tick :, agent] != WAIT)
        if moved.size and cells[order.tick, column] != goal[column]:
            latency[column] = moved[0] + 1
    return latency


def ticks_until_moved(trace: Trace, *, share: float = 0.95) -> int | None:
    """The first tick after which so large a share of the agents that had to move had moved; None if that never came."""
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


def counter(trace: Trace, name: str) -> float | None:
    """What the planner counted under a name (`repaths`, `provable`, ...), per agent; None if the trace does not say."""
    agents = counted(trace).size
    found = trace.meta.get("counters", {}).get(name)
    return None if found is None or agents == 0 else found / agents


def expansions(trace: Trace) -> int:
    """Nodes that the planner expanded in all."""
    return int(trace.expansions.sum())


def group_spread(trace: Trace) -> Floats:
    """[ticks + 1] the mean distance of the units from their common centre, in the group that was ordered last by then.

    Those count that are on the map; NaN where there are none, and before the first group order.
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

    `members` (who was ordered), `spread_mean` and `spread_peak` (over the ticks since the order, in cells) and
    `separated` (whether obstacles that stood all that time parted those who are still on the map, or keep them apart).
    """
    orders = _group_orders(trace)
    if not orders:
        return None
    order = orders[-1]
    spreads = group_spread(trace)[order.tick :]
    return {
        "members": list(order.data["agents"]),
        "spread_mean": _mean(spreads),
        "spread_peak": None if np.isnan(spreads).all() else float(np.nanmax(spreads)),
        "separated": _is_parted(trace, order),
    }


def _group_orders(trace: Trace) -> list[Event]:
    return sorted(trace.events_of("group"), key=lambda event: event.tick)


def _is_parted(trace: Trace, order: Event) -> bool:
    walks = trace.positions()[order.tick :, order.data["agents"]].T
    walks = walks[(walks >= 0).all(axis=1)]
    if len(walks) == 0:
        return False
    ground = _ground(trace, order.tick)
    if len(set(ground.component[walks[:, [0, -1]]].ravel().tolist())) > 1:
        return True
    paths = [[(x, y) for x, y in _places(trace, walk).tolist()] for walk in walks]
    return is_separated(splits(ground, paths))


def _ground(trace: Trace, since: int) -> Grid:
    """The map with those walls alone that have stood all the time since a tick."""
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


def summary(trace: Trace) -> dict[str, Any]:
    """The numbers that `wend solve` prints, by name. Means are over the agents for which the number exists."""
    latency = first_move_ticks(trace)
    together = cohesion(trace) or {}
    return {
        "agents": int(counted(trace).size),
        "ticks": trace.ticks,
        "completed": completed(trace),
        "completion_rate": completion_rate(trace),
        "completion_ticks_mean": _mean(completion_ticks(trace)),
        "completion_seconds_mean": _mean(completion_seconds(trace)),
        "distance_mean": _mean(travel_distance(trace)),
        "path_length_mean": _mean(path_length(trace)),
        "makespan": makespan(trace),
        "sum_of_costs": sum_of_costs(trace),
        "expansions": expansions(trace),
        "plan_seconds": float(trace.plan_ms.sum()) / 1000,
        "tick_ms": tick_ms(trace),
        "first_move_ticks_max": None if np.isnan(latency).all() else int(np.nanmax(latency)),
        **{key: together.get(key) for key in ("spread_mean", "spread_peak", "separated")},
    }
