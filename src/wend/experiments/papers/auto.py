"""What `auto` learns from: the experiment `selection/auto`, made into its model."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from wend.errors import FormatError
from wend.experiments.jobs import load_grid
from wend.experiments.provenance import recorded_spec
from wend.experiments.spec import Job
from wend.experiments.store import Store
from wend.planners.auto.model import CROWDINGS, LOADS, PORTFOLIO, Model, Regime

MEASURE = "completion_ticks"


def train_auto(folder: Path, scale: str | None = None) -> Model:
    """The model of all problems in a results folder that every planner of the portfolio has run on.

    Without a scale these are the problems of all scales.
    """
    store = Store(folder)
    store.check()
    spec, rows = recorded_spec(folder), store.rows()
    ticks: dict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
    regimes: dict[tuple[Any, ...], Regime] = {}
    for job in [job for name in ([scale] if scale else spec.scales) for job in spec.jobs(name)]:
        row = rows.get(job["id"])
        if job["algorithm"] in PORTFOLIO and not job["parameters"] and row is not None and row["error"] is None:
            problem = job["map"], job["agents"], job["instance"], job["view"]
            ticks[problem][job["algorithm"]] = max(float(row[MEASURE]), 1.0)
            regimes[problem] = _regime(job)
    known = [problem for problem, found in ticks.items() if len(found) == len(PORTFOLIO)]
    if not known:
        raise FormatError(folder, f"of no problem the runs of {' and '.join(PORTFOLIO)} are there")
    counts = np.zeros((1 + len(LOADS), len(CROWDINGS)), int)
    sums = {name: np.zeros(counts.shape) for name in PORTFOLIO}
    for problem in known:
        place = regimes[problem].place()
        counts[place] += 1
        for name in PORTFOLIO:
            sums[name][place] += ticks[problem][name] / min(ticks[problem].values())
    means = {name: np.round(sums[name] / np.maximum(counts, 1), 4).tolist() for name in PORTFOLIO}
    maps = sorted({str(problem[0]) for problem in known})
    return Model(means, counts.tolist(), {"problems": len(known), "maps": maps})


def _regime(job: Job) -> Regime:
    grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
    return Regime(job["agents"], int(np.count_nonzero(grid.free)), job.get("budget"))
