"""All plans of a few agents: Dijkstra's algorithm over joint configurations."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import product

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import Point

Configuration = tuple[Point, ...]


def joint_moves(grid: Grid, at: Configuration) -> Iterator[Configuration]:
    """Every legal joint move: no two in one place, no two that exchange places."""
    choices = [[point, *(there for _, there in legal_steps(grid, point))] for point in at]
    for goes in product(*choices):
        if len(set(goes)) < len(goes):
            continue
        standing = {place: agent for agent, place in enumerate(at)}
        others = [standing.get(place) for place in goes]
        if not any(o is not None and o != a and goes[o] == at[a] for a, o in enumerate(others)):
            yield goes


def loss(at: Configuration, goes: Configuration, goals: Configuration) -> int:
    """Agents that are not on their goals both before and after."""
    return sum(not here == there == goal for here, there, goal in zip(at, goes, goals, strict=True))


def least(grid: Grid, starts: Configuration, goals: Configuration, *, ticks: bool = False) -> int | None:
    """The least sum of loss of a plan, or its least number of ticks; None where there is no plan."""
    done: set[Configuration] = set()
    queue = [(0, starts)]
    while queue:
        cost, at = heapq.heappop(queue)
        if at == goals:
            return cost
        if at in done:
            continue
        done.add(at)
        for goes in joint_moves(grid, at):
            if goes not in done:
                heapq.heappush(queue, (cost + (1 if ticks else loss(at, goes, goals)), goes))
    return None
