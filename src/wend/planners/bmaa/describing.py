# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""What an agent of BMAA* or Surge is about to do, and why it stays."""

from __future__ import annotations

import numpy as np

from wend.kernel import NO_AGENT, jit
from wend.maps.terrain import GridTables
from wend.planners.base import Intent, State
from wend.planners.bmaa.search_phase import Prefixes, Standing
from wend.planners.waiting import IN_ITS_WAY, is_away
from wend.search.real_time import Learned, heuristic, knows_distance

_ROAMS = "it was pushed off its path and goes by the distances that it believes in"


def describe(
    state: State, prefixes: Prefixes, standing: Standing, learned: Learned, waits_for: int, agent: int, *, roams: bool
) -> Intent:
    """What an agent is about to do, and why it stayed in the last tick.

    `waits_for` is the agent that was in its way then, or NO_AGENT. Where agents roam, one that was pushed off its path
    does without until that would have expired.
    """
    if not is_away(state, agent):
        return Intent()
    cell = int(state.agents.cell[agent])
    path = _cells_ahead(state.grid.tables, prefixes, agent, cell)
    if waits_for != NO_AGENT:
        return Intent(path, waits_for, IN_ITS_WAY if path else "other agents wall it in")
    if path:
        return Intent(path)
    if not knows_distance(learned, agent, cell):
        return Intent(reason="the distances to its goal are not known yet")
    if roams and state.tick <= prefixes.limit[agent]:
        return _describe_roaming(state, learned, agent, came_from=int(standing.stands[agent]))
    return Intent(reason="its next search is due")


def _cells_ahead(tables: GridTables, prefixes: Prefixes, agent: int, cell: int) -> tuple[int, ...]:
    """The cells of the rest of an agent's prefix, which begins beside `cell`."""
    steps = prefixes.step[agent, prefixes.done[agent] : prefixes.length[agent]]
    return tuple((cell + np.cumsum(tables.offset[steps])).tolist())


def _describe_roaming(state: State, learned: Learned, agent: int, *, came_from: int) -> Intent:
    """What an agent does that was pushed off its path, and why it stayed in the last tick if it comes from here."""
    cell, goal = int(state.agents.cell[agent]), int(state.agents.goal[agent])
    if came_from != cell:
        return Intent(reason=_ROAMS)
    best = int(_nearest_beside(state.grid.tables, learned, agent, cell, goal))
    if best == cell:
        return Intent(reason="it believes that no cell beside it is nearer to its goal")
    other = int(state.occupant[best])
    return Intent((best,), other, _ROAMS if other == NO_AGENT else IN_ITS_WAY)


@jit
def _nearest_beside(tables, learned, agent, here, goal):
    """The cell beside an agent that it believes to be nearest to its goal; its own cell if none is nearer."""
    width = tables.width
    best, least = here, heuristic(tables, learned, agent, here % width, here // width, goal % width, goal // width)
    for d in range(8):
        if tables.moves[here] >> d & 1:
            there = here + tables.offset[d]
            cost = heuristic(tables, learned, agent, there % width, there // width, goal % width, goal // width)
            if cost < least:
                best, least = there, cost
    return best
