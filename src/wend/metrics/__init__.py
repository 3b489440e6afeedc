"""What a run was worth: pure functions of a Trace, and MEASURES, the one table of numbers that a run is judged by.

Conventions of the papers:

- completion rate (Sigurdson et al. 2018): share of agents on their goals at the end.
- completion time (same): when an agent arrived for good. The paper counts the time limit for agents that are not home;
  pass it as `unfinished` to do the same, otherwise such agents have none.
- travel distance (same): cardinal moves plus sqrt(2) times diagonal ones, unfinished agents included.
- path length (Silver 2005): ticks until an agent first stands on its goal.
- cycles (Silver 2005): how often an agent enters a cell where it has been before.
- makespan and sum of costs (multi-agent path finding): the last agent's completion time, and the sum over all agents;
  they do not exist unless all agents are home. Their lower bounds are the shortest paths of the agents, each alone.
- cohesion (Wicks Rivas and Souza, "Map Marker"): how far a group that was ordered as one is spread, and whether an
  obstacle splits it; see wend.groups.cohesion. It exists where there was a group order.
"""

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
    makespan,
    makespan_bound,
    makespan_ratio,
    path_length,
    peak_density,
    shortest_ticks,
    soc_ratio,
    sum_of_costs,
    sum_of_costs_bound,
    tick_ms,
    ticks_until_moved,
    travel_distance,
)
from wend.metrics.groups import cohesion, group_spread, separated
from wend.metrics.table import MEASURES, SUMMARY, Measure, measure, summary

__all__ = [
    "MEASURES",
    "SUMMARY",
    "Measure",
    "cohesion",
    "completed",
    "completion_expansions",
    "completion_rate",
    "completion_seconds",
    "completion_ticks",
    "counted",
    "counter",
    "cycles",
    "detour_ratio",
    "expansions",
    "first_move_ticks",
    "first_solution_seconds",
    "group_spread",
    "hard_stops",
    "makespan",
    "makespan_bound",
    "makespan_ratio",
    "measure",
    "path_length",
    "peak_density",
    "separated",
    "shortest_ticks",
    "soc_ratio",
    "sum_of_costs",
    "sum_of_costs_bound",
    "summary",
    "tick_ms",
    "ticks_until_moved",
    "travel_distance",
]
