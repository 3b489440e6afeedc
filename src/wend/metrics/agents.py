"""Numbers of a run's agents, and of what planning cost: pure functions of a Trace.

The agents that count are those that the planner moves and that are on the map at the end, each with the goal that it
had last. Per-agent results are float arrays over those agents, NaN where a number does not exist.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL
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


def mean(values: Floats) -> float | None:
    """The mean of the numbers that exist; None if there are none."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else None


def largest(values: Floats) -> float | None:
    """The largest of the numbers that exist; None if there are none."""
    there = values[~np.isnan(values)]
    return float(there.max()) if there.size else None


# --- completion -------------------------------------------------------------------------------------------------------


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


# --- distance and movement --------------------------------------------------------------------------------------------


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


def sum_of_costs_bound(trace: Trace) -> int:
    """A lower bound of the sum of costs: the shortest ticks of all agents, each alone on the map at the start."""
    return int(np.maximum(shortest_ticks(trace), 0).sum())


def makespan_bound(trace: Trace) -> int:
    """A lower bound of the makespan: the shortest ticks of the agent that has the longest way, alone."""
    return int(shortest_ticks(trace).max(initial=0))


def soc_ratio(trace: Trace) -> float | None:
    """The sum of costs over its lower bound; None if there is no sum of costs, or if no agent had to move."""
    cost = sum_of_costs(trace)
    return None if cost is None else over_bound(cost, sum_of_costs_bound(trace))


def makespan_ratio(trace: Trace) -> float | None:
    """The makespan over its lower bound; None if there is no makespan, or if no agent had to move."""
    cost = makespan(trace)
    return None if cost is None else over_bound(cost, makespan_bound(trace))


def over_bound(cost: float, bound: int) -> float | None:
    """A cost over its lower bound; None if the bound is 0."""
    return cost / bound if bound else None


def first_solution_seconds(trace: Trace) -> float | None:
    """Seconds of planning until there was a plan that brings all agents home; None if one is not home for good.

    A planner that decides tick by tick has none before the last agent is home.
    """
    seconds, found = completion_seconds(trace), trace.meta.get("solutions")
    if np.isnan(seconds).any():
        return None
    return float(found[0][0] if found else seconds.max(initial=0.0))


def _last_orders(trace: Trace) -> list[Event]:
    """The event that gave each agent its last goal."""
    last = {event.agent: event for event in trace.events_of("added", "ordered")}
    return [last[int(agent)] for agent in counted(trace)]


# --- what planning cost -----------------------------------------------------------------------------------------------


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
