"""What can be seen of a map, and of a problem with many agents, before anything is planned.

All numbers are cheap: those of the map are a few passes over it, and a sample of the agents is routed, each alone.
Shares are of the cells of the largest component C, lengths are shares of the diagonal of its bounding box, and "blocks"
are squares of BLOCK x BLOCK cells, in which sampled routes meet even where they do not share cells.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from wend.maps.grid import Grid
from wend.maps.terrain import places_of
from wend.problems.problem import Problem
from wend.search.astar import shortest_steps

SAMPLE = 32         # agents that are routed, at most ...
EXPANSIONS = 100_000    # ... until so many nodes have been expanded for them
BLOCK = 4           # cells, the side of a block
_EROSIONS = (1, 2, 4, 8)

Numbers = NDArray[np.float64]

# Each feature, and how a sentence tells its value.
MAP_FEATURES = {
    "cells": "{:.2f} is the log of the number of cells",
    "free": "{:.2f} of the bounding box are passable",
    "narrow": "{:.2f} of the cells have at most two ways out",
    "open": "{:.2f} of the cells are free on all sides",
    "ways_out": "a cell has {:.1f} ways out",
    **{f"room_{radius}": f"{{:.2f}} of the cells have no wall within {radius}" for radius in _EROSIONS},
    "elongation": "the map is {:.2f} times as long as wide",
}
AGENT_FEATURES = {
    "agents": "{:.2f} is the log of the number of agents",
    "density": "{:.3f} agents per cell",
    "per_side": "{:.2f} agents per cell of the map's side",
    "start_spread": "starts lie {:.2f} of the map apart",
    "goal_spread": "goals lie {:.2f} of the map apart",
    "start_crowd": "a block with starts holds {:.1f} of them",
    "goal_crowd": "a block with goals holds {:.1f} of them",
    "mixed": "{:.2f} of the goals are in blocks with starts",
    "shift": "the crowd moves {:.2f} of the map as a whole",
    "same_way": "agents head the same way by {:.2f} (1 is all)",
    "one_axis": "agents head along one axis by {:.2f} (1 is all)",
    "straight": "goals are {:.2f} of the map away",
    "straight_spread": "distances to goals vary by {:.2f} of the map",
    "straight_max": "the farthest goal is {:.2f} of the map away",
    "tight_goals": "{:.2f} of the goals have at most four ways out",
}
ROUTE_FEATURES = {
    "length": "a route is {:.0f} moves long",
    "length_max": "the longest route has {:.0f} moves",
    "detour": "routes are {:.2f} times as long as straight lines",
    "detour_max": "the worst route is {:.2f} times as long as its straight line",
    "volume": "{:.2f} is the log of the nodes that A* looks at for a route",
    "volume_all": "{:.2f} is the log of the nodes that A* looks at for all routes",
    "volume_spread": "the work for a route varies by {:.2f}",
    "waste": "A* looks at {:.1f} nodes for each move of a route",
    "load": "a block on a route lies on {:.2f} of all routes",
    "load_max": "the busiest block lies on {:.2f} of all routes",
    "load_per_cell": "{:.2f} agents come through a cell of a route",
    "head_on": "{:.2f} of the traffic between blocks meets traffic the other way",
    "goals_on_routes": "{:.2f} of the cells of routes are goals of others",
    "starts_on_routes": "{:.2f} of the cells of routes are starts of others",
}
FEATURES = MAP_FEATURES | AGENT_FEATURES | ROUTE_FEATURES

_WAYS_OUT = np.array([value.bit_count() for value in range(256)], np.uint8)


def map_features(grid: Grid) -> Numbers:
    """The values of MAP_FEATURES."""
    cells = grid.largest_component()
    x, y = cells % grid.width, cells // grid.width
    sides = int(np.ptp(x)) + 1, int(np.ptp(y)) + 1
    ways = _WAYS_OUT[grid.tables.moves[cells]]
    rooms, inside, done = [], np.pad(grid.passable, 1), 0
    for radius in _EROSIONS:
        for _ in range(radius - done):
            inside[1:-1] &= inside[:-2] & inside[2:]
            inside[:, 1:-1] &= inside[:, :-2] & inside[:, 2:]
        done = radius
        rooms.append(np.count_nonzero(inside[1:-1, 1:-1]) / cells.size)
    return np.array([
        math.log(cells.size), cells.size / (sides[0] * sides[1]), (ways <= 2).mean(), (ways == 8).mean(), ways.mean(),
        *rooms, max(sides) / min(sides),
    ])  # fmt: skip


def problem_features(problem: Problem) -> Numbers:
    """The values of FEATURES."""
    return np.concatenate([map_features(problem.grid), _agent_features(problem), _route_features(problem)])


def _agent_features(problem: Problem) -> Numbers:
    grid, count = problem.grid, problem.agents
    cells = grid.largest_component()
    diagonal = math.hypot(np.ptp(cells % grid.width) + 1, np.ptp(cells // grid.width) + 1)
    starts, goals = (places_of(grid.width, each).astype(np.float64) for each in (problem.starts, problem.goals))
    way = goals - starts
    far = np.hypot(way[:, 0], way[:, 1])
    heading = way / np.maximum(far, 1e-9)[:, None]
    axes = np.linalg.eigvalsh(heading.T @ heading / count)
    start_blocks, start_counts = np.unique(_blocks(grid, problem.starts), return_counts=True)
    goal_blocks, goal_counts = np.unique(_blocks(grid, problem.goals), return_counts=True)
    shared = goal_counts[np.isin(goal_blocks, start_blocks)].sum() / count
    return np.array([
        math.log(count), count / cells.size, count / math.sqrt(cells.size),
        _spread(starts) / diagonal, _spread(goals) / diagonal,
        (start_counts**2).sum() / count, (goal_counts**2).sum() / count, shared,
        float(np.hypot(*way.mean(axis=0))) / diagonal, float(np.hypot(*heading.mean(axis=0))), float(axes[-1]),
        far.mean() / diagonal, far.std() / diagonal, far.max() / diagonal,
        (_WAYS_OUT[grid.tables.moves[problem.goals]] <= 4).mean(),
    ])  # fmt: skip


def _route_features(problem: Problem) -> Numbers:
    grid, count = problem.grid, problem.agents
    sample = np.random.default_rng(0).permutation(count)[:SAMPLE]
    is_start, is_goal = np.zeros(grid.size, np.bool_), np.zeros(grid.size, np.bool_)
    is_start[problem.starts], is_goal[problem.goals] = True, True
    lengths, volumes, straight, visited, crossings, met_starts, met_goals = [], [], [], [], [], 0, 0
    for agent in sample.tolist():
        start, goal = int(problem.starts[agent]), int(problem.goals[agent])
        steps, expanded = shortest_steps(grid, start, goal)
        route = start + np.cumsum(grid.tables.offset[steps], dtype=np.int64)[:-1]
        blocks = _blocks(grid, np.concatenate([[start], route, [goal]]))
        changes = np.flatnonzero(blocks[1:] != blocks[:-1])
        lengths.append(len(steps))
        volumes.append(expanded)
        dx, dy = abs(start % grid.width - goal % grid.width), abs(start // grid.width - goal // grid.width)
        straight.append(max(dx, dy))
        visited.append(np.unique(blocks))
        crossings.append(np.stack([blocks[changes], blocks[changes + 1]]))
        met_starts += int(is_start[route].sum())
        met_goals += int(is_goal[route].sum())
        if sum(volumes) > EXPANSIONS:
            break
    length, volume = np.array(lengths, np.float64), np.array(volumes, np.float64)
    detours = length / np.maximum(straight, 1)
    loads = np.unique(np.concatenate(visited), return_counts=True)[1] / length.size
    between = max(length.sum() - length.size, 1)
    work = max(volume.mean(), 1.0)
    return np.array([
        length.mean(), length.max(), detours.mean(), detours.max(),
        math.log(work), math.log(work * count), volume.std() / work,
        volume.sum() / max(length.sum(), 1), (loads**2).sum() / loads.sum(), loads.max(),
        length.mean() * count / (loads.size * BLOCK**2), _head_on(np.concatenate(crossings, axis=1), grid.size),
        met_goals / between, met_starts / between,
    ])  # fmt: skip


def _head_on(crossings: NDArray[np.int64], blocks: int) -> float:
    """The share of crossings from one block to another [2, crossings] that is met by as many the other way."""
    there, counts = np.unique(crossings[0] * blocks + crossings[1], return_counts=True)
    back = there % blocks * blocks + there // blocks
    place = np.minimum(np.searchsorted(there, back), max(there.size - 1, 0))
    opposite = np.where(there[place] == back, counts[place], 0) if there.size else counts
    return float(np.minimum(counts, opposite).sum() / max(counts.sum(), 1))


def _blocks(grid: Grid, cells: NDArray[np.integer]) -> NDArray[np.int64]:
    """The block of each cell."""
    cells = cells.astype(np.int64)
    return np.asarray(cells // grid.width // BLOCK * grid.width + cells % grid.width // BLOCK)


def _spread(places: Numbers) -> float:
    """The mean distance of places from their middle."""
    off = places - places.mean(axis=0)
    return float(np.hypot(off[:, 0], off[:, 1]).mean())
