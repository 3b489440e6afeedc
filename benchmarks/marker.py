"""A group order: paths for 50 agents to one target, by Map Marker and by a separate A* for each agent.

The maps are every fifth of the StarCraft maps, in alphabetical order, with two groups each. If one of them is
missing, generated maps of a similar size take their place.
"""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.measure import Row, best_seconds
from wend.errors import DataError, UnknownNameError
from wend.groups.map_marker import mark_paths
from wend.maps.grid import Grid
from wend.problems.scenarios import Group, make_group

MAPS = [
    "AcrosstheCape", "Backwoods", "Brushfire", "CrescentMoon", "Elderlands", "FireWalker", "Hellfire", "Isolation",
    "Medusa", "Predators", "Rosewood", "Sirocco", "TaleofTwoCities", "Tribes", "WarpGates",
]  # fmt: skip
GENERATED_MAPS = [f"arena:width=640,height=512,seed={seed}" for seed in range(5)]
AGENTS = 50


def run() -> list[Row]:
    """Milliseconds and thousands of expansions per order, against A*; nanoseconds per expansion."""
    where, groups = drawn_groups()
    orders = {"ours": partial(ordered, groups), "A*": partial(ordered, groups, factor=1.0, cap=1.0)}
    best = best_seconds(orders, rounds=3)
    expansions = {name: order() for name, order in orders.items()}
    per_order = {name: seconds / len(groups) * 1e3 for name, seconds in best.items()}
    nodes = {name: count / len(groups) / 1e3 for name, count in expansions.items()}
    per_node = best["ours"] / expansions["ours"] * 1e9
    what = f"Map Marker, order to {AGENTS}"
    return [
        Row(f"{what} (aim: 50 ms)", "ms", per_order["ours"], where=where, at_most=150),
        Row(what, "ms", per_order["ours"], "A*", per_order["A*"], where, at_least=3),
        Row(f"{what}, nodes", "thousands", nodes["ours"], "A*", nodes["A*"], where, at_least=3),
        Row("Map Marker, per expansion", "ns", per_node, where=where),
    ]


def drawn_groups() -> tuple[str, list[Group]]:
    """A name for the maps, and two groups on each map."""
    try:
        where, grids = f"{len(MAPS)} of sc1", [Grid.load(f"sc1/{name}") for name in MAPS]
    except (UnknownNameError, DataError) as error:
        print(f"StarCraft maps are missing, generated ones take their place. {error}", file=sys.stderr)
        where, grids = f"{len(GENERATED_MAPS)} arenas", [Grid.load(name) for name in GENERATED_MAPS]
    return where, [make_group(grid, agents=AGENTS, seed=seed) for grid in grids for seed in range(2)]


def ordered(groups: list[Group], *, factor: float = 0.9, cap: float = 0.75) -> int:
    """Plan for all groups; return the number of nodes expanded."""
    orders = (mark_paths(group.grid, group.starts, group.target, factor=factor, cap=cap) for group in groups)
    return sum(path.expansions for paths in orders for path in paths)
