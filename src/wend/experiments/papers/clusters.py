"""Two clusters of agents with a planner each, in one world: what the thesis leaves for others to try (chapter 6).

Wend's world has one planner, so there are two worlds in step. In each one the agents of the other cluster belong to the
program. First one world ticks, its agents are put to their new places in the other one, then that one ticks. The second
cluster sees where the first has gone, so a tick of both together is a legal joint move.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from wend.experiments.jobs import load_grid
from wend.experiments.spec import Job
from wend.experiments.store import Row
from wend.maps.terrain import places_of
from wend.planners import registry
from wend.problems.problem import Problem
from wend.problems.scenarios import SEVEN_TYPES, make_problem
from wend.rules import Judge
from wend.world.world import World

Cells = NDArray[np.int32]

_TYPES = tuple(SEVEN_TYPES)


def clusters(job: Job) -> Row:
    """Run the planners `first` and `second`, each for a cluster; or `first` alone for all agents, without a second."""
    seed, kind = divmod(job["instance"], len(_TYPES))
    grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
    problem = make_problem(_TYPES[kind], grid, agents=job["agents"], seed=seed)
    wanted = job["parameters"]
    is_first = two_clusters(problem) if "second" in wanted else np.ones(problem.agents, np.bool_)
    worlds = [
        _world(problem, name, is_ours)
        for name, is_ours in zip((wanted["first"], wanted.get("second")), (is_first, ~is_first), strict=True)
        if name is not None
    ]
    judge, violations = Judge(grid), 0
    cells, distance = problem.starts.copy(), 0
    for tick in range(1, job["limits"]["max_ticks"] + 1):
        before = cells.copy()
        for k, world in enumerate(worlds):
            world.tick()
            cells = world.state.agents.cell.astype(np.int32)
            for other in worlds[:k] + worlds[k + 1 :]:
                put(other, cells)
        violations += len(judge.judge(tick, before, cells))
        distance += int((cells != before).sum())
        if (cells == problem.goals).all():
            break
    return {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(cells.tobytes(), digest_size=16).hexdigest(),
        "violations": violations,
        "problem": problem.name,
        "completion": float((cells == problem.goals).mean()),
        "distance": distance / problem.agents,
        "expansions_of_all": float(sum(world.expansions for world in worlds)),
    }


def two_clusters(problem: Problem) -> NDArray[np.bool_]:
    """Which agents are in the first of two halves: cut where starts and goals, taken together, spread most."""
    width = problem.grid.width
    places = np.hstack([places_of(width, cells).astype(np.float64) for cells in (problem.starts, problem.goals)])
    off = places - places.mean(axis=0)
    along = off @ np.linalg.eigh(off.T @ off)[1][:, -1]
    is_first = np.zeros(problem.agents, np.bool_)
    is_first[np.argsort(along, kind="stable")[: problem.agents // 2]] = True
    return is_first


def _world(problem: Problem, planner: str, is_ours: NDArray[np.bool_]) -> World:
    """A world with all agents, of which some are the planner's."""
    world = World(problem.grid, registry.create(planner), record=False)
    for start, goal, ours in zip(problem.start_points(), problem.goal_points(), is_ours.tolist(), strict=True):
        world.add(start, goal if ours else None, controlled=ours)
    return world


def put(world: World, cells: Cells) -> None:
    """Put agents that have moved elsewhere to their new cells; where they go round in a circle, one makes room."""
    here = world.state.agents.cell
    left = dict.fromkeys(np.flatnonzero(here != cells).tolist())
    while left:
        free = [agent for agent in left if world.state.occupant[cells[agent]] < 0]
        for agent in free:
            world.teleport(agent, world.grid.xy(int(cells[agent])))
            del left[agent]
        if not free:
            room = np.flatnonzero((world.state.occupant < 0) & world.grid.passable.ravel())
            room = room[~np.isin(room, cells)]
            world.teleport(next(iter(left)), world.grid.xy(int(room[0])))
