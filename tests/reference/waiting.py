"""Who is in whose way, by brute force: agents are looked at one at a time, and tables are dicts."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import groupby, pairwise

from tests.reference.grid import legal_steps
from tests.reference.space_time import Table
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST


def costs_to(grid: Grid, goal: int) -> dict[int, int]:
    """The cost of the shortest path from each cell to a goal, by Dijkstra."""
    costs: dict[int, int] = {}
    heap = [(0, goal)]
    while heap:
        cost, cell = heapq.heappop(heap)
        if cell in costs:
            continue
        costs[cell] = cost
        for d, place in legal_steps(grid, grid.xy(cell)):
            heapq.heappush(heap, (cost + (CARDINAL_COST if d < 4 else DIAGONAL_COST), grid.cell(*place)))
    return costs


def steps_on_shortest_paths(grid: Grid, here: int, goal: int) -> list[int]:
    """The cells beside a cell with which a shortest path to the goal begins."""
    costs = costs_to(grid, goal)
    steps = [
        (grid.cell(*place), CARDINAL_COST if d < 4 else DIAGONAL_COST) for d, place in legal_steps(grid, grid.xy(here))
    ]
    return [there for there, cost in steps if costs[there] + cost == costs[here]]


def shut_in_by(grid: Grid, here: int, goal: int, standing: dict[int, int]) -> set[int]:
    """The agents on all cells with which a shortest path begins; nobody if one of these cells is empty.

    `standing` maps cells to agents.
    """
    steps = steps_on_shortest_paths(grid, here, goal)
    return {standing[cell] for cell in steps} if all(cell in standing for cell in steps) else set()


def table_of(courses: dict[int, Sequence[int]], time: int, *, hold: bool) -> Table | None:
    """The reservations of agents that go these ways, a cell per tick, from a tick on; with `hold` they stay at the end.

    None if two of them are to be on one cell at the same time.
    """
    table = Table()
    ticks = max(map(len, courses.values()))
    for agent, course in courses.items():
        stay = [course[-1]] * (ticks - len(course)) if hold else []
        for k, cell in enumerate([*course, *stay]):
            if table.owner(cell, time + k) is not None:
                return None
            table.reserve(cell, time + k, agent)
    if hold:
        for agent, course in courses.items():
            table.hold(course[-1], time + ticks, agent)
    return table


def without_waits(course: Sequence[int]) -> list[int]:
    """The cells of a course, each once for as long as the agent stays there."""
    return [cell for cell, _ in groupby(course)]


def first_met(
    grid: Grid, table: Table, way: Sequence[int], time: int, until: int, agent: int,
    *, no_follow: bool = False, forbid_cross: bool = False,
) -> set[int]:  # fmt: skip
    """The agents each of which alone would stop an agent that goes this way, a move per tick, and then stays; the first
    that it meets. Nobody if it gets there and can stay up to tick `until`."""
    others = set(table.slots.values()) | {owner for owner, _ in table.holds.values()}
    alone = {
        other: Table(
            {slot: owner for slot, owner in table.slots.items() if owner == other},
            {cell: held for cell, held in table.holds.items() if held[0] == other},
        )
        for other in others - {agent}
    }
    steps = list(pairwise(way)) + [(way[-1], way[-1])] * max(until - time - len(way) + 1, 0)
    for k, (here, there) in enumerate(steps):
        met = {
            other for other, only in alone.items()
            if not only.may_move(
                grid, here, there, time + k, agent, no_follow=no_follow, forbid_cross=forbid_cross
            )
        }  # fmt: skip
        if met:
            return met
    return set()
