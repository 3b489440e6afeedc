"""The jobs of the Map Marker experiments: a group, its paths, and whether they keep it together.

A job's parameters are those of `mark_paths`, and for a drawn group the `chain` by which it is placed. With a factor and
a cap of 1 it is A*.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

import numpy as np

from wend.experiments.jobs import load_grid
from wend.experiments.spec import Job
from wend.experiments.store import Row
from wend.groups.cohesion import is_separated, places_over_time, splits, spread
from wend.groups.map_marker import mark_paths
from wend.problems.scenarios import Group, make_group, marker_scenario
from wend.search.astar import Path


def paper_scenario(job: Job) -> Row:
    """Map Marker on one of the paper's three scenarios, whose name stands in for the map's."""
    group = marker_scenario(job["map"])
    row, paths = _marked(group, job["parameters"])
    obstacle = np.argwhere(~group.grid.passable)
    top, centre = int(obstacle[0, 0]), group.target[0]
    left = sum(any(y == top and x < centre for x, y in path) for path in paths)
    whole = left in (0, len(paths))
    tree = len(obstacle) == 1       # small enough to pass on both sides, and then that is what is wanted
    return {**row, "left": float(left), "passed": float(whole != tree)}


def drawn_group(job: Job) -> Row:
    """Map Marker for a group at a random place of a map."""
    parameters = dict(job["parameters"])
    chain = str(parameters.pop("chain", "line"))
    grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
    group = make_group(grid, agents=job["agents"], seed=job["instance"], chain=chain)
    row, _ = _marked(group, parameters)
    return {**row, "problem": f"group, {chain}"}


def _marked(group: Group, parameters: dict[str, Any]) -> tuple[Row, list[Path]]:
    """What both jobs measure, and the paths."""
    mark_paths(group.grid, group.starts[:1], group.target, **parameters)       # loads the kernels
    began = time.perf_counter()
    paths = mark_paths(group.grid, group.starts, group.target, **parameters)
    seconds = time.perf_counter() - began
    found = splits(group.grid, paths)
    over_time = spread(places_over_time(paths))
    row = {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(repr([path.points for path in paths]).encode(), digest_size=16).hexdigest(),
        "violations": 0,
        "length": float(np.mean([path.cost for path in paths])),
        "expansions": float(sum(path.expansions for path in paths)),
        "plan_seconds": seconds,
        "separated": float(is_separated(found)),
        **{f"separated_{extent}": float(is_separated(found, extent=extent)) for extent in (6, 8, 12)},
        "spread": float(over_time.mean()),
        "spread_peak": float(over_time.max()),
    }
    return row, paths
