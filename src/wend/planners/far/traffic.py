# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""What FAR keeps of its agents: their paths, the moves that they have reserved, and the jams that they are in."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import allocate, flags, int32, int64, record
from wend.planners.base import Intent, State
from wend.search.execution import Guard
from wend.search.paths import Paths, cells_ahead, is_walkable, make_paths
from wend.search.reservations import (
    Reservations,
    expire,
    hold,
    make_reservations,
    release_hold,
    release_way,
    reserve,
)
from wend.search.rough_paths import Rough
from wend.search.turns import Turns, make_turns

EVASIONS = 8            # cells that are remembered as having been stepped aside to
_LONG_AGO = -(2**30)    # a tick


class TrafficRules(NamedTuple):
    """The parameters of FAR."""

    reservation: int        # moves that are reserved at a time (k)
    slide: bool             # reserve again after each move, not after k of them
    patience: int           # ticks of waiting before another path is searched
    proxy_expansions: int   # nodes that the search for a proxy path expands at most


class Reserved(NamedTuple):
    """The moves that each agent has reserved. It holds the cell where they end until it goes on."""

    cell: Annotated[np.ndarray, int32("agents", "moves")]   # where it stands after tick since, since + 1, ...
    since: Annotated[np.ndarray, int32("agents")]           # tick
    steps: Annotated[np.ndarray, int32("agents")]           # moves; cell[steps] is the last cell reserved


class Waits(NamedTuple):
    """What agents remember of the jams that they are in."""

    waited: Annotated[np.ndarray, int32("agents")]                      # ticks for which it was refused
    left: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]          # a cell that it left and may not enter,
    left_for: Annotated[np.ndarray, int32("agents")]                    # ... until this agent has been there
    left_until: Annotated[np.ndarray, int32("agents")]                  # ... or this tick has come
    evaded: Annotated[np.ndarray, int32("agents", EVASIONS)]            # cells that it stepped aside to, a ring
    evasions: Annotated[np.ndarray, int32("agents")]                    # how often it did since its path's last move
    rerouted: Annotated[np.ndarray, int32("agents", fill=_LONG_AGO)]    # tick in which it last asked to go around
    seen: Annotated[np.ndarray, int64("agents")]                        # the last chain of waits that it was part of
    wanted: Annotated[np.ndarray, int32("agents")]                      # scratch: the next cell by its reservation


class Traffic(NamedTuple):
    """All that FAR keeps."""

    paths: Paths                                                # moves that are not reserved yet
    rough: Rough
    origin: Annotated[np.ndarray, int32("agents")]              # where the path begins; an agent elsewhere must join it
    avoid: Annotated[np.ndarray, int32("agents", fill=NO_CELL)] # a cell around which to search another path, or NO_CELL
    known: Annotated[np.ndarray, flags("agents")]               # has searched since its last order
    reserved: Reserved
    waits: Waits
    table: Reservations
    guard: Guard
    turns: Turns
    rules: TrafficRules
    counts: Annotated[
        np.ndarray,
        record(
            "repaths",      # searches by agents that had searched since their last order
            "proxies",      # agents on their way that stepped aside
            "pushes",       # agents on their goals that stepped aside
            "reroutes",     # searches around the agent in front
            "wait_circles", # circles of agents that wait for each other, counted in every tick
            "chain",        # number of the last chain of waiting agents
        ),
    ]


def make_traffic(cells: int, rules: TrafficRules) -> Traffic:
    """A map of so many cells without agents."""
    given = {
        "paths": make_paths(cells),
        "table": make_reservations(cells, rules.reservation + 1),
        "turns": make_turns(cells),
        "rules": rules,
    }
    return allocate(Traffic, given, agents=0, cells=cells, moves=rules.reservation + 1)


@jit
def last_cell(traffic, agent):
    """The last cell that an agent has reserved: where it stands, unless it is moving."""
    return traffic.reserved.cell[agent, traffic.reserved.steps[agent]]


@jit
def is_standing(traffic, agent, now):
    """Whether an agent has no moves reserved."""
    return now - traffic.reserved.since[agent] >= traffic.reserved.steps[agent]


@jit
def is_parked(agents, traffic, agent, now):
    """Whether an agent stands on its goal."""
    return agents.cell[agent] == agents.goal[agent] and is_standing(traffic, agent, now)


@jit
def stand_still(traffic, agent, cell, now):
    """Drop the moves that an agent has reserved: it holds the cell where it is. Mutates: traffic."""
    table, reserved = traffic.table, traffic.reserved
    release_way(table, reserved.cell[agent], reserved.since[agent], reserved.steps[agent], agent, now)
    release_hold(table, last_cell(traffic, agent), agent)
    reserved.cell[agent, 0] = cell
    reserved.since[agent] = now
    reserved.steps[agent] = 0
    if cell != NO_CELL:
        hold(table, cell, now, agent)


@jit
def extend(traffic, agent, cell, now):
    """Reserve one more move, without asking; `hold_last` is to follow. Mutates: traffic."""
    table, reserved = traffic.table, traffic.reserved
    cells = reserved.cell[agent]
    made = min(now - reserved.since[agent], reserved.steps[agent])
    steps = reserved.steps[agent] - made
    for k in range(steps + 1):
        cells[k] = cells[made + k]
    release_hold(table, cells[steps], agent)
    reserve(table, cells[steps], now + steps, agent)
    reserve(table, cell, now + steps + 1, agent)
    cells[steps + 1] = cell
    reserved.since[agent] = now
    reserved.steps[agent] = steps + 1


@jit
def hold_last(traffic, agent):
    """Hold the last cell that was reserved, from when the agent is there. Mutates: traffic."""
    reserved = traffic.reserved
    hold(traffic.table, last_cell(traffic, agent), reserved.since[agent] + reserved.steps[agent], agent)


@jit
def begin_tick(moment, traffic):
    """Let the reservations follow what happened. Mutates: traffic."""
    agents, now = moment.agents, moment.tick
    reserved, waits = traffic.reserved, traffic.waits
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        if cell == NO_CELL:
            continue
        expire(traffic.table, reserved.cell[agent], reserved.since[agent], reserved.steps[agent], agent, now)
        is_home = cell == agents.goal[agent]
        if not agents.controlled[agent]:
            stand_still(traffic, agent, cell, now)
            extend(traffic, agent, moment.next_cell[agent], now)
            hold_last(traffic, agent)
        elif is_standing(traffic, agent, now) or (is_home and agents.pinned[agent]):
            stand_still(traffic, agent, cell, now)
            if is_home:
                traffic.paths.left[agent] = 0
        if waits.left[agent] != NO_CELL and (
            now >= waits.left_until[agent] or agents.cell[waits.left_for[agent]] == waits.left[agent]
        ):
            waits.left[agent] = NO_CELL


@jit
def stop_cut_moves(tables, agents, traffic, now):
    """Stop the agents whose reserved moves an edit of the map made illegal. Mutates: traffic."""
    reserved = traffic.reserved
    for agent in range(agents.cell.size):
        if agents.cell[agent] == NO_CELL or is_standing(traffic, agent, now):
            continue
        if not is_walkable(tables, reserved.cell[agent, now - reserved.since[agent] : reserved.steps[agent] + 1]):
            stand_still(traffic, agent, agents.cell[agent], now)


def describe(state: State, traffic: Traffic, refused_by: int, agent: int) -> Intent:
    """What an agent is about to do and why, in words; `refused_by` is the agent that kept it from its moves, if any."""
    agents, reserved, waits = state.agents, traffic.reserved, traffic.waits
    if agents.cell[agent] == NO_CELL or not agents.controlled[agent]:
        return Intent()
    steps, is_home = int(reserved.steps[agent]), agents.cell[agent] == agents.goal[agent]
    path = tuple(reserved.cell[agent, state.tick - int(reserved.since[agent]) + 1 : steps + 1].tolist())
    if reserved.cell[agent, steps] == traffic.origin[agent]:
        path += cells_ahead(state.grid.tables, traffic.paths, agent, int(traffic.origin[agent]))
    let_past = int(waits.left_for[agent])
    if waits.left[agent] != NO_CELL and refused_by in (NO_AGENT, let_past):
        is_gone = let_past == NO_AGENT or agents.cell[let_past] == NO_CELL
        return Intent(path, NO_AGENT if is_gone else let_past, "it stepped aside, to let another pass")
    if refused_by != NO_AGENT:
        why = "it is to make way and has no room" if is_home else "another has reserved one of its next cells"
        return Intent(path, refused_by, why)
    return Intent(path, reason="" if path or is_home else "it has no path yet")
