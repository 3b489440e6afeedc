"""The jobs of the thesis's chapter 4: walks of many configurations, and choosing between them.

`walks` makes the data: all configurations on some problems of one map. Its row keeps the suboptimalities as an array
[configurations, problems]. `selection` looks at the data of another experiment, whose name and scale stand in for its
map, on one random split, whose number is the instance.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError, ParameterError
from wend.experiments.jobs import load_grid
from wend.experiments.spec import Job, load_spec
from wend.experiments.store import Row, Store
from wend.files import array_bytes, parse_array
from wend.kernel import FOUND
from wend.maps.grid import Grid
from wend.maps.sources import load_scenario
from wend.maps.terrain import Point, moves_between
from wend.search.astar import shortest_path
from wend.search.rths import Walker, random_configurations
from wend.selection.features import map_features
from wend.selection.granularity import GENRES, SplitOutcome, by_label, by_portfolio

GRANULARITIES = ("genre", "game", "map", "problem")


# --- data ------------------------------------------------------------------------------------------------------------


def walks(job: Job) -> Row:
    """Walk with every configuration on each of the job's problems."""
    wanted = job["parameters"]
    configurations = random_configurations(wanted["configurations"], wanted["seed"])
    grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
    walker = Walker(grid, configurations)
    ratios, moves, cut_off, stranded = [], 0, 0, 0
    for start, goal in problems_of(grid, job):
        optimal, answers = walker.walks(start, goal)
        ratios.append(answers.travelled / optimal if optimal else np.ones(len(configurations)))
        moves += int(answers.moves.sum())
        cut_off += int((answers.answer != FOUND).sum())
        stranded += int(answers.stranded.sum())
    suboptimality = np.stack(ratios, axis=1).astype(np.float32)
    means = suboptimality.mean(axis=1, dtype=np.float64)
    data = array_bytes(suboptimality)
    return {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(data, digest_size=16).hexdigest(),
        "violations": 0,
        "problem": job["scen"] or f"pairs, {job['map'].partition('/')[0]}",
        "data": data,
        "moves": float(moves),
        "cut_off": float(cut_off),
        "stranded": float(stranded),
        "best": float(means.min()),
        "median": float(np.median(means)),
    }


def problems_of(grid: Grid, job: Job) -> list[tuple[Point, Point]]:
    """The job's starts and goals: its part of a scenario, or random pairs of the largest component that differ."""
    count = job["parameters"]["problems"]
    if job["scen"]:
        rows = load_scenario(job["scen"]).rows
        rows = rows[job["instance"] :: -(-len(rows) // count)]      # every so many-th: short and long ones in each part
        if not rows:
            raise ParameterError(f"{job['scen']} has no problems for the instance {job['instance']}")
        return [(row.start, row.goal) for row in rows]
    rng = np.random.default_rng((job["parameters"]["seed"], job["instance"]))
    cells = grid.largest_component()
    pairs = [rng.choice(cells, 2, replace=False).tolist() for _ in range(count)]
    return [(grid.xy(start), grid.xy(goal)) for start, goal in pairs]


# --- choosing --------------------------------------------------------------------------------------------------------


def selection(job: Job) -> Row:
    """Choose per genre, game, map or problem, which is the job's algorithm, on one split."""
    experiment, _, scale = job["map"].rpartition("/")
    outcome = judge(experiment, scale, job["algorithm"], job["instance"])
    told = repr(outcome)
    return {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(told.encode(), digest_size=16).hexdigest(),
        "violations": 0,
        **asdict(outcome),
        "wins": float(outcome.selected < outcome.prior),
        "gain": outcome.prior - outcome.selected,
        "ideal_gain": outcome.prior - outcome.perfect,
    }


def judge(experiment: str, scale: str, granularity: str, trial: int) -> SplitOutcome:
    """One split at one granularity, from the results of an experiment in `results/`."""
    if granularity not in GRANULARITIES:
        raise ParameterError(f"granularities are {', '.join(GRANULARITIES)}, and not {granularity!r}")
    if granularity == "problem":
        walked, features = _by_problem(experiment, scale)
        return by_portfolio(walked, features, trial)
    maps, walked, features = _by_map(experiment, scale)
    if granularity == "map":
        return by_portfolio(walked, features, trial)
    games = [name.partition("/")[0] for name in maps]
    labels = games if granularity == "game" else [GENRES.get(game, game) for game in games]
    return by_label(walked, features, labels, trial)


def _rows(experiment: str, scale: str) -> list[tuple[Job, NDArray[np.float64]]]:
    """Every job of a scale with its suboptimalities [configurations, problems]."""
    folder = Path("results") / experiment
    jobs = load_spec(experiment).jobs(scale)
    rows = Store(folder).rows()
    missing = [job for job in jobs if job["id"] not in rows or rows[job["id"]]["error"] is not None]
    if missing:
        todo = f"{len(missing)} of {len(jobs)} results are missing: run `wend bench {experiment} --scale {scale}` first"
        raise FormatError(folder, todo)
    walked = [parse_array(rows[job["id"]]["data"] or b"", "float32", folder).astype(np.float64) for job in jobs]
    return list(zip(jobs, walked, strict=True))


@lru_cache(maxsize=1)
def _by_map(experiment: str, scale: str) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Maps, mean suboptimality [configurations, maps], features [maps, features]."""
    by_map: dict[str, list[NDArray[np.float64]]] = {}
    for job, ratios in _rows(experiment, scale):
        by_map.setdefault(job["map"], []).append(ratios)
    means = [np.concatenate(parts, axis=1).mean(axis=1) for parts in by_map.values()]
    features = [map_features(Grid.load(name)) for name in by_map]
    return list(by_map), np.stack(means, axis=1), np.stack(features)


@lru_cache(maxsize=1)
def _by_problem(experiment: str, scale: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Suboptimality [configurations, problems] and features [problems, features] of a single map's problems."""
    ratios, features = [], []
    for job, part in _rows(experiment, scale):
        grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
        ratios.append(part)
        features += [_pair_features(grid, start, goal) for start, goal in problems_of(grid, job)]
    return np.concatenate(ratios, axis=1), np.array(features)


def _pair_features(grid: Grid, start: Point, goal: Point) -> list[float]:
    """Where start and goal lie, how far apart, and how much A* is misled between them."""
    path, straight = shortest_path(grid, start, goal), moves_between(start, goal)
    turns = sum(
        (b[0] - a[0], b[1] - a[1]) != (c[0] - b[0], c[1] - b[1])
        for a, b, c in zip(path, path[1:], path[2:], strict=False)
    )
    away = shortest_path(grid, goal, start).expansions      # the same search from the goal: how deep its pocket is
    return [
        *start, *goal, goal[0] - start[0], goal[1] - start[1], straight, path.cost, path.cost / max(straight, 1),
        math.log(path.expansions + 1), path.expansions / len(path), math.log(away + 1), turns / len(path),
    ]  # fmt: skip
