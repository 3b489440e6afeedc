"""How deep the goals of troops lie, with dicts; after the docstring of planners/weave/depths.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.reference.astar import empty_map_cost
from tests.reference.blocks import CELL, ReferenceBlocks, ReferenceRow
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, Point

SIDE, TROOP = 8, 8


def troops(blocks: ReferenceBlocks, places: Mapping[int, Point]) -> Iterator[list[int]]:
    """Agents that stand in groups of cells beside each other, if there are enough of them in each in the mean."""
    left = {agent: blocks.group[place] for agent, place in places.items()}
    while left:
        groups = [left[min(left)]]
        for group in groups:
            groups += sorted((blocks.beside[group] & set(left.values())) - set(groups))
        members = [agent for agent in sorted(left) if left[agent] in groups]
        for agent in members:
            del left[agent]
        if len(members) >= TROOP * len(groups):
            yield members


def origin_of(places: Mapping[int, Point]) -> Point:
    """The place nearest to the mean of all; of these the first agent's."""
    count = len(places)
    x, y = (sum(axis) for axis in zip(*places.values(), strict=True))
    away = {agent: (count * to_x - x) ** 2 + (count * to_y - y) ** 2 for agent, (to_x, to_y) in places.items()}
    return places[min(sorted(away), key=lambda agent: away[agent])]


def depths(grid: Grid, places: Mapping[int, Point], goals: Mapping[int, Point]) -> dict[int, int]:
    """By agent, of those that are in troops and whose goals can be reached from the troop's origin.

    What is known of a goal's neighbours depends on who was asked before.
    """
    blocks, found = ReferenceBlocks(grid, SIDE), {}
    for members in troops(blocks, places):
        x, y = origin_of({agent: places[agent] for agent in members})
        row = ReferenceRow(blocks, blocks.group[x, y])
        away = {agent: max(abs(goals[agent][0] - x), abs(goals[agent][1] - y)) for agent in members}
        for agent in sorted(members, key=lambda agent, away=away: (-away[agent], agent)):  # type: ignore[misc]
            goal = goals[agent]
            if blocks.group[goal] not in row.known:
                row.reach(blocks.group[goal])
            if blocks.group[goal] in row.known:
                straight = empty_map_cost(grid, grid.cell(x, y), grid.cell(*goal))
                found[agent] = max(straight, row.estimate(goal) * CARDINAL_COST // CELL)
    return found
