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

from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.experiments.jobs import load_grid
from wend.experiments.provenance import recorded_spec
from wend.experiments.spec import Job
from wend.experiments.store import Row, Store
from wend.files import array_bytes, parse_array
from wend.kernel import FOUND
from wend.maps.grid import Grid
from wend.maps.sources import load_scenario
from wend.maps.terrain import Point, moves_between
from wend.search.astar import shortest_path
from wend.search.rths import Walker, random_configurations
from wend.selection.features import map_features
from wend.selection.granularity import (
    GENRES,
    SplitOutcome,
    Task,
    forest_labels,
    label_task,
    outcome,
    portfolio_task,
)  # fmt: skip
from wend.selection.lessons import read_answers, task_lessons
from wend.selection.networks import Lessons
from wend.selection.pictures import map_picture, pair_picture, resized

GRANULARITIES = ("genre", "game", "map", "problem")
SPLITS = ("random", "by-goal")      # by-goal: no goal of the test part is in a square with one of the training part
GOAL_SQUARE = 16                    # cells, the side of such a square


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


def configurations(job: Job) -> Row:
    """What some of the configurations make of all problems: `having` tells which, by values, or numbers from and to.

    They are a square of a drawing: `column` is its place across, and the job's algorithm its place upwards.
    """
    experiment, _, scale = job["map"].rpartition("/")
    walked = _walked(Path("results") / experiment, scale)
    wanted = job["parameters"]
    drawn = random_configurations(len(walked), wanted["seed"])
    fits = [all(_is_within(getattr(each, name), wish) for name, wish in wanted["having"].items()) for each in drawn]
    means = walked[fits].mean(axis=1)
    return {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(means.tobytes(), digest_size=16).hexdigest(),
        "violations": 0,
        "problem": wanted["column"],
        "suboptimality": float(means.mean()) if means.size else None,
        "best": float(means.min()) if means.size else None,
        "count": float(means.size),
    }


def _is_within(value: float | str | bool, wish: list[float] | str | bool) -> bool:
    return wish[0] <= float(value) < wish[1] if isinstance(wish, list) else value == wish


@lru_cache(maxsize=1)
def _walked(folder: Path, scale: str) -> NDArray[np.float64]:
    """[configurations, problems] all suboptimalities of a results folder."""
    return np.concatenate([ratios for _, ratios in _rows(folder, scale)], axis=1)


# --- choosing --------------------------------------------------------------------------------------------------------


def selection(job: Job) -> Row:
    """Choose per genre, game, map or problem, which is the job's algorithm, on one split."""
    experiment, _, scale = job["map"].rpartition("/")
    wanted = {"split": "random", "by": "trees"} | job["parameters"]
    found = judge(Path("results") / experiment, scale, job["algorithm"], wanted["split"], job["instance"], wanted["by"])
    return {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(repr(found).encode(), digest_size=16).hexdigest(),
        "violations": 0,
        **asdict(found),
        "wins": float(found.selected < found.prior),
        "gain": found.prior - found.selected,
        "ideal_gain": found.prior - found.perfect,
    }


def judge(folder: Path, scale: str, granularity: str, kind: str, trial: int, by: str) -> SplitOutcome:
    """One split at one granularity, where labels are predicted `by` trees or by a network that was trained before."""
    task, walked = task_of(folder, scale, granularity, kind, trial)
    if by == "trees":
        features = _by_problem(folder, scale)[2] if granularity == "problem" else _by_map(folder, scale)[2]
        return outcome(task, walked, forest_labels(task, features, trial))
    path = networks_file(folder, scale, by)
    told = read_answers(path).get(f"{granularity} {kind} {trial}")
    if told is None or len(told) != walked.shape[1] or np.isnan(told[task.test]).any():
        raise FormatError(path, "the network was trained for other data: run `wend train networks` again")
    return outcome(task, walked, np.asarray(told[task.test].argmax(axis=1)))


def networks_file(folder: Path, scale: str, shape: str) -> Path:
    """Where the answers of a network to the pictures of a results folder are kept."""
    return folder / "networks" / f"{scale}-{shape}.npz"


def task_of(folder: Path, scale: str, granularity: str, kind: str, trial: int) -> tuple[Task, NDArray[np.float64]]:
    """What is to be predicted on a split, and the suboptimalities [configurations, maps or problems]."""
    if granularity not in GRANULARITIES:
        raise UnknownNameError("granularity", granularity, GRANULARITIES)
    if kind not in SPLITS:
        raise UnknownNameError("kind of split", kind, SPLITS)
    if granularity == "problem":
        pairs, walked, _ = _by_problem(folder, scale)
        near = [(goal[0] // GOAL_SQUARE, goal[1] // GOAL_SQUARE) for _, _, goal in pairs]
        return portfolio_task(walked, near if kind == "by-goal" else range(len(pairs)), trial), walked
    maps, walked, _ = _by_map(folder, scale)
    if granularity == "map":
        return portfolio_task(walked, maps, trial), walked
    games = [name.partition("/")[0] for name in maps]
    labels = games if granularity == "game" else [GENRES.get(game, game) for game in games]
    return label_task(walked, labels, trial), walked


def network_lessons(folder: Path, scale: str, splits: int) -> Lessons:
    """What networks learn so that choices can be made by them: from the walks of one map, or of many."""
    if recorded_spec(folder).problem.scen:
        wanted = [("problem", kind, trial) for kind in SPLITS for trial in range(splits)]
        pictures = [pair_picture(grid, start, goal) for grid, start, goal in _by_problem(folder, scale)[0]]
    else:
        wanted = [(granularity, "random", trial) for granularity in GRANULARITIES[:3] for trial in range(splits)]
        pictures = [map_picture(Grid.load(name)) for name in _by_map(folder, scale)[0]]
    tasks = {f"{level} {kind} {trial}": task_of(folder, scale, level, kind, trial)[0] for level, kind, trial in wanted}
    return task_lessons(tasks, np.stack([resized(picture) for picture in pictures]))


def _rows(folder: Path, scale: str) -> list[tuple[Job, NDArray[np.float64]]]:
    """Every job of a scale with its suboptimalities [configurations, problems]."""
    jobs, rows = recorded_spec(folder).jobs(scale), Store(folder).rows()
    missing = [job for job in jobs if job["id"] not in rows or rows[job["id"]]["error"] is not None]
    if missing:
        todo = f"run `wend bench` with --scale {scale} first"
        raise FormatError(folder, f"{len(missing)} of {len(jobs)} results are missing: {todo}")
    walked = [parse_array(rows[job["id"]]["data"] or b"", "float32", folder).astype(np.float64) for job in jobs]
    return list(zip(jobs, walked, strict=True))


@lru_cache(maxsize=1)
def _by_map(folder: Path, scale: str) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Maps, mean suboptimality [configurations, maps], features [maps, features]."""
    by_map: dict[str, list[NDArray[np.float64]]] = {}
    for job, ratios in _rows(folder, scale):
        by_map.setdefault(job["map"], []).append(ratios)
    means = [np.concatenate(parts, axis=1).mean(axis=1) for parts in by_map.values()]
    features = [map_features(Grid.load(name)) for name in by_map]
    return list(by_map), np.stack(means, axis=1), np.stack(features)


@lru_cache(maxsize=1)
def _by_problem(
    folder: Path, scale: str
) -> tuple[list[tuple[Grid, Point, Point]], NDArray[np.float64], NDArray[np.float64]]:
    """Problems, suboptimality [configurations, problems] and features [problems, features]."""
    ratios, pairs = [], []
    for job, part in _rows(folder, scale):
        grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
        ratios.append(part)
        pairs += [(grid, start, goal) for start, goal in problems_of(grid, job)]
    return pairs, np.concatenate(ratios, axis=1), np.array([_pair_features(*pair) for pair in pairs])


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
