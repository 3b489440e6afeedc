"""The jobs of the thesis's chapter 5: what three planners achieve on the seven types of problems, and choosing one.

`portfolio` makes the data: one planner on one problem. The instances go through the seven types in turn. `selectors`
looks at the data of `selection/portfolio`, whose name, scale and view stand in for its map, on one split.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError, UnknownNameError
from wend.experiments.jobs import load_grid, run_problem
from wend.experiments.provenance import recorded_spec
from wend.experiments.spec import Job
from wend.experiments.store import Row, Store
from wend.problems.problem import Problem
from wend.problems.scenarios import SEVEN_TYPES, make_problem
from wend.selection.evaluation import CURVE, SPLITS, Portfolio, choices_of, judge, lesson_name, parts_of
from wend.selection.features import problem_features
from wend.selection.lessons import portfolio_lessons, read_answers
from wend.selection.networks import SHAPES, Lessons
from wend.selection.pictures import problem_picture, resized
from wend.selection.portfolios import Choices, best_choices

QUALITY = ("completion_rate", "distance", "completion_ticks")
JOB = "wend.experiments.papers.selection:portfolio"

_TYPES = tuple(SEVEN_TYPES)


def portfolio(job: Job) -> Row:
    """Run a planner on the problem of the job's instance."""
    problem = _problem(job)
    return {**run_problem(job, problem), "problem": problem.name}


def _problem(job: Job) -> Problem:
    """The seven types in turn, with the seeds 0, 0, 0, 0, 0, 0, 0, 1, ..."""
    seed, kind = divmod(job["instance"], len(_TYPES))
    grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
    return make_problem(_TYPES[kind], grid, agents=job["agents"], seed=seed)


def selectors(job: Job) -> Row:
    """Judge the selector that is the job's algorithm on one split, trained with a share of the training part."""
    source, _, view = job["map"].rpartition("/")
    experiment, _, scale = source.rpartition("/")
    data = load_portfolio(Path("results") / experiment, scale, view)
    wanted: dict[str, Any] = job["parameters"]
    found, count = judge(data, job["algorithm"], wanted["split"], job["instance"], wanted.get("training", 1.0))
    return {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(repr(found).encode(), digest_size=16).hexdigest(),
        "violations": 0,
        "problem": wanted["split"],
        **asdict(found),
        "trained": float(count),
    }


def confusion(job: Job) -> Row:
    """Of the problems of a split whose `best` planner is known, the share for which the job's algorithm was chosen."""
    source, _, view = job["map"].rpartition("/")
    experiment, _, scale = source.rpartition("/")
    folder, wanted = Path("results") / experiment, job["parameters"]
    known = load_portfolio(folder, scale, view).algorithms
    for name in (job["algorithm"], wanted["best"]):
        if name not in known:
            raise UnknownNameError("algorithm", name, known)
    best, chosen = _chosen(folder, scale, view, wanted["selector"], wanted["split"], job["instance"])
    is_best, is_chosen = best == known.index(wanted["best"]), chosen == known.index(job["algorithm"])
    share = float(is_chosen[is_best].mean()) if is_best.any() else None
    return {
        "stopped_by": "done",
        "state_hash": hashlib.blake2b(repr(share).encode(), digest_size=16).hexdigest(),
        "violations": 0,
        "problem": wanted["best"],
        "share": share,
        "of_all": float((is_chosen & is_best).mean()),
    }


@lru_cache(maxsize=8)
def _chosen(folder: Path, scale: str, view: str, selector: str, kind: str, trial: int) -> tuple[Choices, Choices]:
    """The best planners of the test part of a split, and those that a selector chooses."""
    data = load_portfolio(folder, scale, view)
    train, test = parts_of(data, kind, trial)
    best = best_choices(data.quality[test], [data.names[row] for row in test])
    return best, choices_of(data, selector, train, test, trial, lesson_name(kind, trial))


@lru_cache(maxsize=4)
def load_portfolio(folder: Path, scale: str | None, view: str) -> Portfolio:
    """The quality matrix in a results folder and the features of its problems, for one way to limit the runs.

    Without a scale it is the largest that is complete. What networks have answered in `networks/` comes with it.
    """
    scale = complete_scale(folder, scale)
    jobs = _jobs(folder, scale, view)
    rows = Store(folder).rows()
    failed = [rows[job["id"]]["error"] for job in jobs if rows[job["id"]]["error"] is not None]
    if failed:
        raise FormatError(folder, f"{len(failed)} runs failed: run them again with --retry-failed ({failed[0]})")
    labels = list(dict.fromkeys(job["label"] for job in jobs))
    problems = _by_problem(jobs)
    place = {name: k for k, name in enumerate(problems)}
    quality = np.full((len(problems), len(labels), len(QUALITY)), np.nan)
    for job in jobs:
        quality[place[_name(job)], labels.index(job["label"])] = [rows[job["id"]][metric] for metric in QUALITY]
    drawn = [_problem(job) for job in problems.values()]
    networks = {shape: networks_file(folder, scale, view, shape) for shape in SHAPES}
    return Portfolio(
        algorithms=tuple(labels),
        names=tuple(problems),
        maps=tuple(job["map"] for job in problems.values()),
        types=tuple(problem.name for problem in drawn),
        features=np.stack([problem_features(problem) for problem in drawn]),
        quality=quality,
        answers={shape: read_answers(path) for shape, path in networks.items() if path.exists()},
    )


def complete_scale(folder: Path, scale: str | None = None) -> str:
    """The scale, or else the largest, of which a results folder of `portfolio` holds everything."""
    store = Store(folder)
    store.check()
    spec, done = recorded_spec(folder), store.done()
    scales = [scale] if scale is not None else list(reversed(spec.scales))
    complete = [name for name in scales if all(job["id"] in done for job in spec.jobs(name))]
    if not complete:
        raise FormatError(folder, f"of no scale all results are there ({', '.join(scales)}): `wend bench` makes them")
    if spec.job != JOB:
        raise FormatError(folder, "these are results of another kind than those of selection/portfolio")
    return complete[0]


def networks_file(folder: Path, scale: str, view: str, shape: str) -> Path:
    """Where the answers of a network to the problems of a results folder are kept."""
    return folder / "networks" / f"{scale}-{view}-{shape}.npz"


def problem_pictures(folder: Path, scale: str, view: str) -> NDArray[np.uint8]:
    """[problems, side, side, 3] the problems of `load_portfolio` as a network sees them."""
    problems = _by_problem(_jobs(folder, scale, view))
    return np.stack([resized(problem_picture(_problem(job))) for job in problems.values()])


def network_lessons(folder: Path, scale: str, view: str, splits: int, *, curve: bool) -> Lessons:
    """What networks learn so that they can be judged on splits; with a curve, from parts of the training part too."""
    data = load_portfolio(folder, scale, view)
    kinds = dict.fromkeys(SPLITS if len(set(data.maps)) > 1 else SPLITS[:1], splits)
    shares = (1.0, *CURVE) if curve else (1.0,)
    return portfolio_lessons(data, problem_pictures(folder, scale, view), kinds, shares)


def _jobs(folder: Path, scale: str, view: str) -> list[Job]:
    spec = recorded_spec(folder)
    jobs = [job for job in spec.jobs(scale) if job["view"] == view]
    if not jobs:
        raise FormatError(folder, f"there are no runs of the view {view!r}; the views are {', '.join(spec.views)}")
    return jobs


def _name(job: Job) -> str:
    return f"{job['map']} {job['agents']} {job['instance']}"


def _by_problem(jobs: list[Job]) -> dict[str, Job]:
    """One of the jobs of each problem, by the problem's name."""
    return {_name(job): job for job in jobs}
