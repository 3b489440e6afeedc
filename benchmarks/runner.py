"""The overhead of the experiments' runner: 2,000 jobs that do nothing, compared with plain joblib in the same run."""

from __future__ import annotations

import tempfile
import timeit
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks.measure import Row
from wend.experiments.runner import run_experiment
from wend.experiments.spec import load_spec

JOBS = 2_000
WORKERS = 2

SPEC = f"""
title = "Nothing, many times"
job = "benchmarks.runner:empty_job"
metrics = ["ticks"]
[scales.quick]
maps = ["open:"]
agents = [1]
instances = {JOBS}
[[algorithms]]
name = "lra"
"""


def empty_job(_: dict[str, Any]) -> dict[str, Any]:
    """A job that does nothing."""
    return {"stopped_by": "done", "state_hash": "", "violations": 0, "ticks": 0.0}


def run() -> list[Row]:
    """Milliseconds per job, ours and joblib's, and the difference, which is the runner's overhead."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nothing.toml"
        path.write_text(SPEC)
        spec = load_spec(str(path))
        parallel = Parallel(n_jobs=WORKERS, batch_size=1)
        parallel(delayed(empty_job)({}) for _ in range(50))      # start the workers
        plain = timeit.timeit(lambda: parallel(delayed(empty_job)({}) for _ in range(JOBS)), number=1)
        out = Path(folder) / "r"
        ours = timeit.timeit(
            lambda: run_experiment(spec, "quick", out=out, workers=WORKERS, allow_code=True), number=1
        )
    per_job = [seconds / JOBS * 1e3 for seconds in (ours, plain, ours - plain)]
    return [
        Row(f"{JOBS} empty jobs", "ms a job", per_job[0], "joblib", per_job[1]),
        Row("the runner's own overhead", "ms a job", per_job[2], at_most=20),
    ]
