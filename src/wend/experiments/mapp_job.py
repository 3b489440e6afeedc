"""The job of MAPP's experiments: where MAPP moves only the units that it promises, the others are taken off the map.

So do Wang and Botea (JAIR 2011), section 9.1. Nothing is known of a map beforehand, unless the spec says `rehearse`.
"""

from __future__ import annotations

import numpy as np

from wend.experiments.jobs import load_grid, load_problem, run_problem
from wend.experiments.spec import Job
from wend.experiments.store import Row
from wend.planners.mapp import provable
from wend.problem import Problem
from wend.search.alternates import forget_maps


def run(job: Job) -> Row:
    """A run in a world; with `attempt_all = false` of the provable units, and shares are those of all units."""
    forget_maps()
    problem = load_problem(load_grid(job["map"], job["connectivity"], job["corner_cutting"]), job)
    if job["algorithm"] != "mapp" or job["parameters"].get("attempt_all", True):
        return run_problem(job, problem)
    kept = np.array([verdict.provable for verdict in provable(problem, **job["parameters"])], dtype=np.bool_)
    row = run_problem(job, Problem(problem.grid, problem.starts[kept], problem.goals[kept]))
    whole = bool(kept.all()) and row["completion_rate"] == 1
    share = float(kept.mean())
    return row | {
        "provable_rate": share,
        "completion_rate": share * row["completion_rate"],
        "all_home": float(whole),
    }
