"""Shorter paths with lists and tuples: the stays of the others are gathered anew for every unit."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque

import numpy as np
from numpy.typing import NDArray

from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY
from wend.planners.mapp import compaction
from wend.planners.mapp.shortening import EXPANSIONS, EXPANSIONS_PER_MOVE, MOST_EXPANSIONS, NEVER, PASSES, TICK

TimedPath = list[tuple[int, int]]     # cells, and the time when the unit comes there
Gap = tuple[int, int]           # from when until when a cell is free


def shorten(
    grid: Grid, starts: NDArray[np.int32], unit: NDArray[np.int32], to: NDArray[np.int32],
    obstacles: NDArray[np.int32], expansions: int = EXPANSIONS,
) -> list[tuple[int, int]]:  # fmt: skip
    """The moves, as pairs of a unit and a cell."""
    unit, to = compaction.trim(starts, unit, to, grid.size)
    for _ in range(PASSES):
        moves = list(zip(unit.tolist(), to.tolist(), strict=True))
        moves = one_pass(grid, starts.tolist(), moves, obstacles.tolist(), expansions)
        pairs = np.array(moves, np.int32).reshape(-1, 2)
        unit, to = compaction.trim(starts, pairs[:, 0].copy(), pairs[:, 1].copy(), grid.size)
    return list(zip(unit.tolist(), to.tolist(), strict=True))


def one_pass(
    grid: Grid, starts: list[int], moves: list[tuple[int, int]], obstacles: list[int], expansions: int
) -> list[tuple[int, int]]:
    """Each unit once, those that arrive first before the others."""
    paths: list[TimedPath] = [[(cell, 0)] for cell in starts]
    by_tick: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for move, tick in zip(moves, ticks(starts, moves), strict=True):
        by_tick[tick].append(move)
    for tick in sorted(by_tick):
        for rank, (unit, cell) in enumerate(by_tick[tick], start=1):
            paths[unit].append((cell, tick * TICK + rank * (TICK // (len(starts) + 1))))
    for unit in sorted(range(len(starts)), key=lambda unit: paths[unit][-1][1]):
        old = paths[unit]
        others = [path for other, path in enumerate(paths) if other != unit] + [[(cell, 0)] for cell in obstacles]
        new = find_path(grid, gaps_between(grid, others), old[0][0], old[-1][0], len(old) - 1, expansions)
        if new and (len(new), new[-1][1]) < (len(old), old[-1][1]):
            paths[unit] = new
    timed = [(time, unit, cell) for unit, path in enumerate(paths) for cell, time in path[1:]]
    return [(unit, cell) for _, unit, cell in sorted(timed)]


def ticks(starts: list[int], moves: list[tuple[int, int]]) -> list[int]:
    """When each move can be made at the earliest, if those before it are."""
    at, ready, left = list(starts), [1] * len(starts), dict[int, int]()
    found = []
    for unit, cell in moves:
        tick = max(ready[unit], left.get(cell, 0))
        ready[unit], left[at[unit]], at[unit] = tick + 1, tick, cell
        found.append(tick)
    return found


def gaps_between(grid: Grid, paths: list[TimedPath]) -> dict[int, list[Gap]]:
    """When each cell is free."""
    stays: dict[int, list[Gap]] = defaultdict(list)
    for path in paths:
        for (cell, entered), (_, left) in zip(path, [*path[1:], (-1, NEVER)], strict=True):
            stays[cell].append((entered, left))
    gaps = {}
    for cell in grid.free_cells().tolist():
        entered, left = [e for e, _ in sorted(stays[cell])], [e for _, e in sorted(stays[cell])]
        gaps[cell] = list(zip([0, *left], [*entered, NEVER], strict=True))
    return gaps


def beside(grid: Grid, cell: int) -> list[int]:
    x, y = grid.xy(cell)
    points = [(x + DX[d], y + DY[d]) for d in range(4)]
    return [grid.cell(*point) for point in points if grid.is_free(point)]


def find_path(
    grid: Grid, gaps: dict[int, list[Gap]], start: int, goal: int, most: int, expansions: int
) -> TimedPath | None:
    """A short path through the gaps with at most so many moves."""
    far, queue = {goal: 0}, deque([goal])
    while queue:
        cell = queue.popleft()
        for there in beside(grid, cell):
            if there not in far:
                far[there] = far[cell] + 1
                queue.append(there)
    limit = min(expansions + EXPANSIONS_PER_MOVE * (most - far[start]), MOST_EXPANSIONS)
    heap: list[tuple[int, int, int, int, TimedPath]] = [(0, 0, 0, 0, [(start, 0)])]
    pushed, expanded = 1, 0
    earliest: dict[tuple[int, int], int] = {}
    while heap:
        _, time, _, gap, path = heapq.heappop(heap)
        cell = path[-1][0]
        if earliest.get((cell, gap), NEVER) <= time:
            continue
        earliest[cell, gap] = time
        until = gaps[cell][gap][1]
        if cell == goal and until == NEVER:
            return path
        if expanded >= limit:
            return None
        expanded += 1
        for there in beside(grid, cell):
            if len(path) + far[there] > most:
                continue
            for number, (begins, ends) in enumerate(gaps[there]):
                after, before = max(time, begins), min(until, ends)
                if ends <= time or begins >= until:
                    continue
                comes = min(max(time + TICK, begins + 1), after + (before - after) // 2)
                if comes > after and comes < earliest.get((there, number), NEVER):
                    cost = 4 * len(path) + 5 * far[there]
                    heapq.heappush(heap, (cost, comes, pushed, number, [*path, (there, comes)]))
                    pushed += 1
    return None
