# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""A tick of Weave, phase by phase. weave.py says what it is for.

    guide_phase     guide paths, for agents whose distances are known (guidance.py)
    find_distances  the distances of the others; those who stay without them learn (planners/courses.py)
    decide_all      PIBT: who goes where (pibt/pibt.py)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, jit
from wend.kernel.allowance import allow
from wend.maps.terrain import CARDINAL_COST, GridTables, place_of
from wend.planners.base import Agents
from wend.planners.courses import Courses, learn_phase
from wend.planners.pibt.distances import EIGHTHS, KnownDistances, known
from wend.planners.pibt.giving_way import give_way
from wend.planners.pibt.pibt import settle_all
from wend.planners.weave.guidance import Guidance, Trial, guide_all, next_on_path
from wend.search.preferences import list_cells, list_wish_first
from wend.search.real_time import believed, believed_beside
from wend.search.reverse_resumable import distance, known_distance


class WeaveScene(NamedTuple):
    """What agents look at: that of PIBT, and what they wish."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]  the agent that stands there, or NO_AGENT
    distances: KnownDistances
    step: np.ndarray        # int64[9]      what a move in each direction costs, and a wait
    swaps: bool
    lot: int                # decides among equals
    courses: Courses
    guidance: Guidance
    trial: Trial            # scratch of a search for a guide path


@jit
def _tell_apart(scene, order):
    """Say who is rough: away from home, and without the distance from where it stands. Mutates: scene."""
    distances = scene.distances
    for agent in order:
        here = scene.agents.cell[agent]
        _note(scene, agent, known_distance(distances.reverse, distances.search_of[agent], here) >= 0)


@jit
def _note(scene, agent, is_exact):
    """Note whether an agent has the distance from where it stands. Mutates: scene."""
    courses, agents = scene.courses, scene.agents
    courses.is_exact[agent] = scene.distances.is_exact[agent] = is_exact
    courses.is_rough[agent] = not is_exact and agents.cell[agent] != agents.goal[agent]


@jit
def guide_phase(scene, order, expansions, tick):
    """Find guide paths within so many expansions: 0, or why some are missing. Mutates: scene."""
    allow(scene.distances.reverse.allowance, expansions)
    if scene.courses.counts[0].with_budget:
        _tell_apart(scene, order)                       # without one, find_distances has done so in this tick
    return guide_all(scene, order, tick)


@jit
def find_distances(scene, order, expansions):
    """Find the distances of all agents within so many expansions: 0 if all are known, else why not.

    Agents that stay without them wish to go on along their courses, or learn. Mutates: scene.
    """
    tables, agents, courses, distances = scene.tables, scene.agents, scene.courses, scene.distances
    allow(distances.reverse.allowance, expansions)
    counts, result = distances.reverse.allowance.counts[0], 0
    for agent in order:
        search, here = distances.search_of[agent], agents.cell[agent]
        if counts.spent < counts.limit:
            answer = distance(tables, distances.reverse, search, here)
        else:                                           # the same, without a look at a search that cannot go on
            answer = known_distance(distances.reverse, search, here)
        if answer == OUT_OF_SPACE:
            return OUT_OF_SPACE
        if answer == OUT_OF_BUDGET:
            result = OUT_OF_BUDGET
        _note(scene, agent, answer >= 0)
    for agent in order:
        here, done = agents.cell[agent], courses.done[agent]
        courses.stood[agent] = here
        if courses.is_rough[agent] and done < courses.length[agent]:
            courses.wish[agent] = here + tables.offset[courses.step[agent, done]]
    if learn_phase(tables, agents, courses, distances.learned) == OUT_OF_SPACE:
        return OUT_OF_SPACE
    return result


@jit
def far(scene, agent, cell):
    """The distance from a cell to an agent's goal, exact or believed, or a negative answer. Mutates: scene.distances.

    Where an exact one is not known in time, the cell is a step in the wrong direction. What is believed is compared
    without the step to the cell, so that of two cells a rough agent prefers the one that is nearer, a diagonal.
    """
    tables, courses, distances, here = scene.tables, scene.courses, scene.distances, scene.agents.cell[agent]
    if courses.is_rough[agent]:
        if courses.done[agent] < courses.length[agent]:
            cost = believed(tables, distances.learned, agent, here, cell, scene.agents.goal[agent])
        else:                                               # it has learned in this tick
            cost = believed_beside(tables, distances.learned, agent, here, cell)
        return (cost >> EIGHTHS) + scene.step[4] - _step_to(scene, here, cell)
    search = distances.search_of[agent]
    cost = distance(tables, distances.reverse, search, cell)
    if cost == OUT_OF_BUDGET:
        cost = max(known_distance(distances.reverse, search, here), 0) + CARDINAL_COST
    return cost >> EIGHTHS if cost >= 0 else cost


@jit
def _step_to(scene, here, there):
    """What a move between two cells side by side costs, or a wait."""
    (x, y), (there_x, there_y) = place_of(scene.tables, here), place_of(scene.tables, there)
    return scene.step[4] if x != there_x and y != there_y else scene.step[0]


@jit
def _wish(scene, agent):
    """The cell that an agent wishes to go to, or NO_CELL."""
    if scene.courses.is_rough[agent]:
        return np.int64(scene.courses.wish[agent])
    return next_on_path(scene.tables, scene.guidance, agent)


@jit
def _wished_far(scene, agent, cell):
    """The same, but nothing is nearer than the cell that an agent wishes to go to. Mutates: scene.distances."""
    return np.int64(0) if cell == _wish(scene, agent) else far(scene, agent, cell)


@jit
def _is_best(scene, agent, wish):
    """Whether a wish is sure to be the best next cell: there is one, it is no wall by now, and the goal is not beside.

    While a budget lasts the answer is no: then all cells are looked at, since what is found out of them is what guide
    paths know in the ticks to come.
    """
    tables, counts = scene.tables, scene.distances.reverse.allowance.counts[0]
    if wish == NO_CELL or (scene.courses.counts[0].with_budget and counts.spent < counts.limit):
        return False
    here = scene.agents.cell[agent]
    (x, y), (goal_x, goal_y) = place_of(tables, here), place_of(tables, scene.agents.goal[agent])
    if abs(x - goal_x) <= 1 and abs(y - goal_y) <= 1:
        return False
    bits = tables.moves[here]
    for d in range(8):
        if bits >> d & 1 and here + tables.offset[d] == wish:
            return True
    return wish == here


@jit
def _rank(scene, decisions, depth):
    """List an agent's next cells. Mutates: decisions, scene.distances."""
    agent = decisions.chain[depth]
    wish = _wish(scene, agent)
    if _is_best(scene, agent, wish):
        return list_wish_first(scene, decisions, depth, wish, _wished_far, known)
    answer = list_cells(scene, decisions, depth, _wished_far, known)
    if answer >= 0:
        give_way(scene, decisions, depth)
    return answer


@jit
def decide_all(scene, decisions, order, expansions, next_cell, waits_for):
    """Decide where all agents go, as PIBT does. Mutates: scene.distances, decisions, next_cell, waits_for."""
    return settle_all(scene, decisions, order, expansions, next_cell, waits_for, _rank, _wished_far)
