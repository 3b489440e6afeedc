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

from wend.errors import FormatError
from wend.experiments.jobs import load_grid, run_problem
from wend.experiments.provenance import recorded_spec
from wend.experiments.spec import Job
from wend.experiments.store import Row, Store
from wend.problems.problem import Problem
from wend.problems.scenarios import SEVEN_TYPES, make_problem
from wend.selection.evaluation import Portfolio, judge
from wend.selection.features import problem_features

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


@lru_cache(maxsize=4)
def load_portfolio(folder: Path, scale: str | None, view: str) -> Portfolio:
    """The quality matrix in a results folder and the features of its problems, for one way to limit the runs.

    Without a scale it is the largest that is complete.
    """
    store = Store(folder)
    store.check()
    spec, rows = recorded_spec(folder), store.rows()
    scales = [scale] if scale is not None else list(reversed(spec.scales))
    complete = [name for name in scales if all(job["id"] in rows for job in spec.jobs(name))]
    if not complete:
        raise FormatError(folder, f"of no scale all results are there ({', '.join(scales)}): `wend bench` makes them")
    if spec.job != JOB:
        raise FormatError(folder, "these are results of another kind than those of selection/portfolio")
    jobs = [job for job in spec.jobs(complete[0]) if job["view"] == view]
    if not jobs:
        raise FormatError(folder, f"there are no runs of the view {view!r}; the views are {', '.join(spec.views)}")
    failed = [rows[job["id"]]["error"] for job in jobs if rows[job["id"]]["error"] is not None]
    if failed:
        raise FormatError(folder, f"{len(failed)} runs failed: run them again with --retry-failed ({failed[0]})")
    labels = list(dict.fromkeys(job["label"] for job in jobs))
    problems = list(dict.fromkeys((job["map"], job["agents"], job["instance"]) for job in jobs))
    quality = np.full((len(problems), len(labels), len(QUALITY)), np.nan)
    place = {problem: k for k, problem in enumerate(problems)}
    by_problem: dict[int, Job] = {}
    for job in jobs:
        k = place[job["map"], job["agents"], job["instance"]]
        by_problem[k] = job
        quality[k, labels.index(job["label"])] = [rows[job["id"]][metric] for metric in QUALITY]
    drawn = [_problem(by_problem[k]) for k in range(len(problems))]
    return Portfolio(
        algorithms=tuple(labels),
        names=tuple(f"{name} {agents} {instance}" for name, agents, instance in problems),
        maps=tuple(name for name, _, _ in problems),
        types=tuple(problem.name for problem in drawn),
        features=np.stack([problem_features(problem) for problem in drawn]),
        quality=quality,
    )
