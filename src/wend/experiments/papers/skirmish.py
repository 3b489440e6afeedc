"""The job of the skirmish experiment: a group and its paths, ten fights, and whether Map Marker differs from A*.

A job's parameters are those of `mark_paths`, and `runs`, how many skirmishes are fought. Nine enemies stand in three
rows: past the tree; or beside the last rows of wall and boulder, on the side that Map Marker's group takes. In every
second run A*'s paths are mirrored, so that its smaller part meets them as often as its larger one.

The test is Wilcoxon's rank sum test, exact even where there are ties.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from wend.experiments.spec import Job
from wend.experiments.store import Row
from wend.groups.map_marker import CAP, FACTOR, mark_paths
from wend.groups.skirmish import Outcome, Skirmish
from wend.maps.terrain import Point
from wend.problems.scenarios import Group, marker_scenario

PAST_TREE = 3       # rows from the tree to the nearest of the enemies

Measured = dict[str, list[float]]


def skirmish(job: Job) -> Row:
    """Fight on one of the paper's three scenarios, whose name stands in for the map's."""
    parameters = job["parameters"]
    runs = int(parameters["runs"])
    ours = fight(job["map"], float(parameters["factor"]), float(parameters["cap"]), runs)
    astar = fight(job["map"], 1.0, 1.0, runs)
    row = {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(repr(ours).encode(), digest_size=16).hexdigest(),
        "violations": 0,
    }
    for name, values in ours.items():
        row |= {name: float(np.mean(values)), f"{name}_deviation": float(np.std(values, ddof=1))}
        if parameters["factor"] < 1:
            test = rank_sum(values, astar[name])
            row |= {f"{name}_p": test.p, f"{name}_effect": test.effect}
    return row


@lru_cache(maxsize=32)
def fight(scenario: str, factor: float, cap: float, runs: int) -> Measured:
    """The outcome of every run, without enemies and with them."""
    group = marker_scenario(scenario)
    enemies = enemies_of(group)
    paths = [list(path) for path in mark_paths(group.grid, group.starts, group.target, factor=factor, cap=cap)]
    mirrored = [[(2 * group.target[0] - x, y) for x, y in path] for path in paths]
    free: list[Outcome] = []
    fought: list[Outcome] = []
    for seed in range(runs):
        taken = mirrored if factor == 1 and seed % 2 else paths
        free.append(Skirmish(group.grid, taken, seed=seed).run())
        fought.append(Skirmish(group.grid, taken, enemies, seed=seed).run())
    return {
        "free_seconds": [outcome.seconds for outcome in free],
        "combat_seconds": [outcome.seconds for outcome in fought],
        "casualties": [float(outcome.casualties) for outcome in fought],
        "enemies_left": [float(outcome.enemies_left) for outcome in fought],
    }


def enemies_of(group: Group) -> list[Point]:
    """Where the nine enemies of one of the paper's scenarios stand."""
    rows, columns = np.nonzero(~group.grid.passable)
    top, centre = int(rows.min()), group.target[0]
    if rows.size == 1:
        return [(centre + x, top - PAST_TREE - y) for y in range(3) for x in (-1, 0, 1)]
    marked = mark_paths(group.grid, group.starts, group.target, factor=FACTOR, cap=CAP)
    left = sum(any(y == top and x < centre for x, y in path) for path in marked)
    begin, away = (int(columns.min()) - 1, -1) if 2 * left >= len(marked) else (int(columns.max()) + 1, 1)
    return [(begin + away * x, top + y) for y in range(3) for x in range(3)]


@dataclass(frozen=True)
class RankSum:
    """What Wilcoxon's rank sum test says about two samples."""

    p: float        # two-sided, exact: how likely a difference of this size is by chance
    effect: float   # |Z| over the root of the number of values: 0.1 small, 0.3 medium, 0.5 large


def rank_sum(one: Sequence[float], other: Sequence[float]) -> RankSum:
    """Test whether two samples differ. All ways to distribute the ranks are counted, so samples should be small."""
    values = np.array([*one, *other], dtype=np.float64)
    twice = _doubled_ranks(values)
    total = len(values)
    expected = len(one) * (total + 1)                       # of the doubled sum
    off = abs(int(twice[: len(one)].sum()) - expected)
    ways = _ways(twice.tolist(), len(one))
    extreme = sum(count for doubled, count in ways.items() if abs(doubled - expected) >= off)
    spread = float(((twice - (total + 1)) ** 2).sum()) / total      # variance of the doubled ranks, ties and all
    deviation = math.sqrt(spread * len(one) * len(other) / (total - 1))
    return RankSum(extreme / math.comb(total, len(one)), off / deviation / math.sqrt(total) if deviation else 0.0)


def _doubled_ranks(values: np.ndarray) -> np.ndarray:
    """Twice the rank of each value, where equal values share their mean rank: whole numbers, so sums are exact."""
    return np.array([(values < value).sum() + (values <= value).sum() + 1 for value in values], dtype=np.int64)


def _ways(numbers: Sequence[int], choose: int) -> dict[int, int]:
    """For each sum, in how many ways `choose` of the numbers add up to it."""
    by_size: list[dict[int, int]] = [{0: 1}, *({} for _ in range(choose))]
    for number in numbers:
        for size in range(choose, 0, -1):
            for total, count in by_size[size - 1].items():
                by_size[size][total + number] = by_size[size].get(total + number, 0) + count
    return by_size[choose]
