"""The quickest path of one agent among others whose plans are known: breadth-first in space and time."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import Point


def earliest_arrival(
    grid: Grid, start: Point, goal: Point, others: Sequence[Sequence[Point]], last_tick: int
) -> int | None:
    """The first tick from which the agent can be on its goal for good, if that is not after the last one.

    `others` are the places of the other agents by tick, from 0 to the last one; from then on they stay.
    """
    taken = [{other[tick] for other in others} for tick in range(last_tick + 1)]
    if start in taken[0]:
        return None
    clear = max((tick + 1 for tick in range(last_tick + 1) if goal in taken[tick]), default=0)
    here = {start}
    for tick in range(last_tick + 1):
        if goal in here and tick >= clear:
            return tick
        if tick == last_tick:
            return None
        exchanged = {(other[tick + 1], other[tick]) for other in others}
        here = {
            there
            for place in here
            for there in (place, *(step for _, step in legal_steps(grid, place)))
            if there not in taken[tick + 1] and (place, there) not in exchanged
        }
    return None
