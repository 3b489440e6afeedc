"""What a worker does: a job in, a row out. It needs the installed package and the data folder, and nothing else.

A spec's `job` names the function that does the work: `run`, which is `wend.solve`, or `package.module:function`. Such a
function takes the job and returns columns of the row; whatever it raises becomes the row's error. Which functions and
planners of others a spec may run: see `wend.plugins`.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import platform
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from wend import __version__, plugins
from wend.errors import ParameterError, WendError
from wend.experiments.provenance import cpu_model
from wend.experiments.spec import Job, Spec
from wend.experiments.store import SCHEMA, Row
from wend.files import array_bytes, to_json
from wend.maps.grid import Grid
from wend.maps.sources import load_scenario
from wend.metrics import MEASURES
from wend.planners import registry
from wend.planners.base import Planner
from wend.problems.problem import Problem
from wend.problems.scenarios import make_problem
from wend.run import Limits, solve
from wend.world.trace import Trace

HARD_LIMIT_GRACE_S = 2.0    # for a tick that is under way; then the worker process is ended


def run_job(job: Job, about: Row) -> Row:
    """Do a job and return its row, even if it fails. `about` is what the runner knows: experiment, hash, commit."""
    began = time.perf_counter()
    numba.set_num_threads(1)        # the threads of a job that is timed must not compete
    row = {**_described(job), **about, **_machine()}
    try:
        parent = multiprocessing.parent_process()
        if parent is not None:      # a worker of ours: if a single tick never ends, the process does
            _end_with(parent.pid)
            deadline = float(job["limits"]["hard_seconds"]) + HARD_LIMIT_GRACE_S
            faulthandler.dump_traceback_later(deadline, exit=True, file=_nowhere())
        try:
            if job["algorithm"] not in registry.names() and "where" in job:
                registry.register(job["algorithm"], plugins.load(job["where"], plugins.PLANNER))
            row["source"] = source_of(job["algorithm"])
            row |= job_function(job["job"])(job)
        finally:
            if parent is not None:
                faulthandler.cancel_dump_traceback_later()
    except Exception as error:      # recorded, and no reason to stop the others
        row |= {"stopped_by": "error", "error": f"{type(error).__name__}: {error}"}
    return row | {"job_seconds": time.perf_counter() - began}


def failed_row(job: Job, about: Row, stopped_by: str, error: str) -> Row:
    """The row of a job whose worker did not live to write it."""
    source = source_of(job["algorithm"])
    return {**_described(job), **about, **_machine(), "source": source, "stopped_by": stopped_by, "error": error}


def check_code(spec: Spec, *, allow_code: bool) -> None:
    """Refuse code that the spec may not run, before any of it is imported; then load all of it, to find mistakes."""
    for name, kind in spec.code():
        plugins.require_permission(name, kind, allow_code=allow_code)
    job_function(spec.job)
    for name in spec.own_measures().values():
        plugins.load(name, plugins.MEASURE)
    for algorithm in spec.contenders():
        if plugins.is_code(algorithm.name):
            registry.create(algorithm.name, **algorithm.parameters)


def job_function(name: str) -> Callable[[Job], Row]:
    """The function that a spec's `job` names."""
    found: Callable[[Job], Row] = run_in_world if name == "run" else plugins.load(name, plugins.JOB)
    return found


def source_of(algorithm: str) -> str | None:
    """A hash of the source of a planner that is no part of Wend; None for Wend's own, and for what is no planner."""
    is_known = plugins.is_code(algorithm) or algorithm in registry.names()
    return registry.find(algorithm).source() if is_known else None


def run_in_world(job: Job) -> Row:
    """Bring the agents of a problem home, and measure how that went."""
    return run_problem(job, load_problem(load_grid(job["map"], job["connectivity"], job["corner_cutting"]), job))


def run_problem(job: Job, problem: Problem) -> Row:
    """The same for a problem that is not drawn from the job."""
    planner = registry.create(job["algorithm"], **job["parameters"])
    limits = Limits(**job["limits"])
    budget, rehearse = job.get("budget"), job.get("rehearse", False)
    run = solve(problem, planner, limits, seed=job["instance"], budget=budget, rehearse=rehearse)
    return {
        "parameters": _all_parameters(planner),
        "stopped_by": run.stopped_by,
        "state_hash": run.state_hash,
        "violations": len(run.violations),
        "data": array_bytes(np.array(run.solutions)) if run.solutions else None,
        **{name: run.measure(name) for name in job["metrics"] if name in MEASURES},
        **{name: _measured(of, run.trace) for name, of in job.get("measures", {}).items()},
    }


def _measured(name: str, trace: Trace) -> float | None:
    """What a measure that the spec names says about a run: a number, or None."""
    value = plugins.load(name, plugins.MEASURE)(trace)
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"the measure {name!r} returned {value!r:.60}, and not a number or None") from None


def is_outdated(job: Job, recorded: str) -> bool:
    """Whether a result was made with parameters that its job would not have today, because defaults have changed.

    `recorded` are the parameters of the result: all of the algorithm's, or those of the spec if the job is not a run.
    """
    if recorded == _as_given(job):
        return False
    try:
        return recorded != _all_parameters(registry.create(job["algorithm"], **job["parameters"]))
    except WendError:
        return True


def _as_given(job: Job) -> str:
    return to_json(job["parameters"], sort_keys=True)


def _all_parameters(planner: Planner) -> str:
    return to_json(asdict(planner), sort_keys=True)


@lru_cache(maxsize=4)
def load_grid(source: str, connectivity: int, corner_cutting: bool) -> Grid:
    """A map; the last few are kept, since the jobs of a map follow each other."""
    return Grid.load(source, connectivity=connectivity, corner_cutting=corner_cutting)


def load_problem(grid: Grid, job: Job) -> Problem:
    """The problem that a job is about."""
    if job["scen"]:
        return Problem.from_scen(grid, load_scenario(job["scen"]), agents=job["agents"])
    return make_problem(job["problem"], grid, agents=job["agents"], seed=job["instance"])


@lru_cache(maxsize=1)
def _end_with(parent: int | None) -> None:
    """Watch the process that started this worker from a thread, and end the worker when it is gone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@lru_cache(maxsize=1)
def _nowhere() -> Any:
    return open(os.devnull, "w")    # kept open: the watchdog writes to it when it fires


def _described(job: Job) -> Row:
    return {
        "id": job["id"],
        "map": job["map"],
        "problem": job["scen"] or job["problem"],
        "agents": job["agents"],
        "instance": job["instance"],
        "seed": job["instance"],
        "algorithm": job["algorithm"],
        "label": job["label"],
        "parameters": _as_given(job),
        "limits": to_json(job["limits"], sort_keys=True),
        **dict.fromkeys(job["metrics"]),
    }


@lru_cache(maxsize=1)
def _machine() -> Row:
    return {
        "wend_version": __version__,
        "cpu": cpu_model(),
        "threads": 1,
        "python": platform.python_version(),
        "schema": SCHEMA,
    }
