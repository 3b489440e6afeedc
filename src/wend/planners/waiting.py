# mypy: disallow-untyped-calls=False
"""Why agents wait: what planners share to say it. All of it is worked out when it is asked for, after the tick."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL
from wend.planners.base import State
from wend.search.astar import shortest_path

if TYPE_CHECKING:
    from wend.search.reservations import Reservations
    from wend.search.space_time import Manners

IN_ITS_WAY = "another agent is in its way"
LETS_PASS = "waits for another agent to pass"
WAS_STOPPED = "another is where its plan leads, so it plans again"
KEEPS_TO_ITS_PLAN = "keeps to its plan, although the others have changed theirs and its way is free by now"


def in_the_way_of(agent: int, waits_for: NDArray[np.int32]) -> int:
    """The agent that was in another one's way in the last tick, as `waits_for` then said, or NO_AGENT."""
    return int(waits_for[agent]) if agent < waits_for.size else NO_AGENT


def path_to_goal(state: State, agent: int) -> NDArray[np.int32]:
    """The cells of a shortest path from where an agent stands to its goal, around walls only; both ends included."""
    grid = state.grid
    here, goal = int(state.agents.cell[agent]), int(state.agents.goal[agent])
    if grid.component[here] != grid.component[goal]:
        return np.array([here], np.int32)
    return np.array([grid.cell(*point) for point in shortest_path(grid, grid.xy(here), grid.xy(goal))], np.int32)


def agent_ahead(state: State, agent: int) -> int:
    """The agent on the first cell of another one's shortest path, or NO_AGENT."""
    path = path_to_goal(state, agent)
    return int(state.occupant[path[1]]) if path.size > 1 else NO_AGENT


def met_without_waiting(
    state: State, table: Reservations, manners: Manners, agent: int, plan: NDArray[np.int32], until: int
) -> int:
    """The first agent that would have stopped another one, had that one not waited in the last tick.

    `plan` has its cells from now on, one per tick. It is taken to go where its plan leads, but without any wait, and to
    stay at the end up to tick `until`. If none stops it there, or its plan leads nowhere, it is taken to go by a
    shortest path. NO_AGENT if no reservation would have stopped it on that either.
    """
    from wend.search.reservations import first_met  # not before: most planners have none

    without_waits = np.array([cell for cell, _ in groupby(plan.tolist())], np.int32)
    other, rules = NO_AGENT, (manners.no_follow, manners.forbid_cross)
    if without_waits.size > 1:
        other = first_met(state.grid.tables, table, without_waits, state.tick - 1, until, agent, *rules)
    if other == NO_AGENT:
        path = path_to_goal(state, agent)
        other = first_met(state.grid.tables, table, path, state.tick - 1, until, agent, *rules)
    return int(other)


def is_away(state: State, agent: int) -> bool:
    """Whether an agent that the planner moves is on the map and away from its goal."""
    agents = state.agents
    return bool(agents.controlled[agent] and agents.cell[agent] not in (NO_CELL, agents.goal[agent]))
