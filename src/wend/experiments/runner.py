"""The runner: does the jobs of a spec that are not done yet, on this machine's cores or on a Dask cluster.

Workers turn jobs into rows; only the runner writes to the store, one file per row. So a runner that is killed loses the
jobs in flight and nothing else, workers need no common disk, and starting again does what is missing.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from wend.errors import ParameterError, UnknownNameError
from wend.experiments.jobs import check_code, failed_row, is_outdated, load_grid, load_problem, run_job, source_of
from wend.experiments.provenance import commit, record
from wend.experiments.spec import Job, Spec
from wend.experiments.store import Row, Store
from wend.maps.sources import place_of_map, place_of_scenario

Progress = Callable[["Tally"], None]


@dataclass
class Tally:
    """How far an experiment is."""

    total: int
    kept: int           # done before, and not done again
    ran: int = 0
    failed: int = 0     # of those that ran
    remade: Counter[str] = field(default_factory=Counter)   # results of another source of a planner, by its name
    absent: tuple[str, ...] = ()    # maps and scenarios that are not on this machine, and were left out


def run_experiment(
    spec: Spec,
    scale: str,
    *,
    out: str | Path,
    workers: int = 1,
    cluster: str | None = None,
    retry_failed: bool = False,
    allow_code: bool = False,
    progress: Progress | None = None,
) -> Tally:
    """Run what is not done yet. Mistakes in the spec are found before the first job.

    `progress` is called before the first job and after each one.

    Code that the spec names must be registered (see `wend.plugins`), unless `allow_code` is set. Results that were made
    with another source of a planner that is no part of Wend count as missing. A results folder has one runner at a
    time; a second one is refused.
    """
    if workers < 1:
        raise ParameterError(f"--jobs is at least 1, not {workers}")
    jobs = spec.jobs(scale)
    check_code(spec, allow_code=allow_code)
    in_script = {job["algorithm"] for job in jobs if job.get("where", "").startswith("__main__:")}
    if in_script and (workers > 1 or cluster):
        named = ", ".join(sorted(in_script))
        raise ParameterError(f"workers do not find the planner {named} in the script itself: put it into a module")
    absent = _absent(jobs) if spec.problem.at_hand else set()
    jobs = [job for job in jobs if not absent & {job["map"], job["scen"]}]
    _check_problems(jobs)
    store = Store.create(out, spec.store)
    with store.locked():
        if retry_failed:
            store.forget(store.failed())
        recorded = store.made_with()
        sources = {name: source_of(name) for name in {job["algorithm"] for job in jobs}}
        remade: Counter[str] = Counter()
        for job in jobs:
            if job["id"] in recorded and recorded[job["id"]].source != sources[job["algorithm"]]:
                del recorded[job["id"]]
                remade[job["algorithm"]] += 1
        pending = [job for job in jobs if job["id"] not in recorded or is_outdated(job, recorded[job["id"]].parameters)]
        pending = list({job["id"]: job for job in pending}.values())    # two views may share a run
        total = len({job["id"] for job in jobs})
        tally = Tally(total, total - len(pending), remade=remade, absent=tuple(sorted(absent)))
        if pending:
            record(store.folder, spec, jobs, scale=scale, workers=workers, cluster=cluster is not None)
        if progress is not None:
            progress(tally)
        about = {"experiment": spec.store, "spec_hash": spec.hash, "commit": commit()}
        for row in on_cluster(pending, about, cluster) if cluster else on_cores(pending, about, workers):
            if row.get("error") is None and row["source"] != sources[row["algorithm"]]:
                told = "the worker has another source of the planner: start it again"
                row |= {"source": None, "stopped_by": "error", "error": told}
            store.put(row)
            tally.ran += 1
            tally.failed += row.get("error") is not None
            if progress is not None:
                progress(tally)
        if tally.ran:
            store.join(job["id"] for job in jobs)
    return tally


def _absent(jobs: list[Job]) -> set[str]:
    """The maps and scenarios of the jobs that are not on this machine; an error if no job is left without them."""
    absent: set[str] = set()
    for find, key in ((place_of_map, "map"), (place_of_scenario, "scen")):
        for name in {job[key]: None for job in jobs if job[key]}:
            try:
                find(name)
            except UnknownNameError:
                absent.add(name)
                if all(absent & {job["map"], job["scen"]} for job in jobs):
                    raise
    return absent


def _check_problems(jobs: list[Job]) -> None:
    """Load every map, and draw the largest problem on it: a bad name is an error now and not in an hour."""
    largest: dict[tuple[str, str], Job] = {}
    for job in jobs:
        key = job["map"], job["scen"]
        if key not in largest or job["agents"] > largest[key]["agents"]:
            largest[key] = job
    for job in largest.values():
        if job["job"] == "run":
            load_problem(load_grid(job["map"], job["connectivity"], job["corner_cutting"]), job)


def on_cores(jobs: list[Job], about: Row, workers: int) -> Iterator[Row]:
    """Rows from processes on this machine, as they come; with one worker, from this process."""
    while jobs:
        finished: set[str] = set()
        try:
            for row in _in_processes(jobs, about, workers):
                finished.add(row["id"])
                yield row
            return
        except BrokenProcessPool:
            # A job killed its process. Those in flight are run one at a time, to find out which.
            jobs = [job for job in jobs if job["id"] not in finished]
            for job in jobs[: 3 * workers]:
                yield _alone(job, about)
            jobs = jobs[3 * workers :]


def _in_processes(jobs: list[Job], about: Row, workers: int) -> Iterator[Row]:
    with parallel_config("loky", inner_max_num_threads=1) if workers > 1 else parallel_config("sequential"):
        parallel = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        yield from parallel(delayed(_run_in)(os.getcwd(), job, about) for job in jobs)


def _run_in(folder: str, job: Job, about: Row) -> Row:
    """Run a job in the folder of the process that asks: a worker may have been started from another one."""
    os.chdir(folder)
    return run_job(job, about)


def _alone(job: Job, about: Row) -> Row:
    """The row of one job in a process of its own, even if that process dies."""
    began = time.perf_counter()
    try:
        return next(_in_processes([job], about, workers=2))
    except BrokenProcessPool:
        limit = float(job["limits"]["hard_seconds"])
        if time.perf_counter() - began >= limit:
            return failed_row(job, about, "hard-limit", f"ended after its hard limit of {limit:g} s")
        return failed_row(job, about, "error", "the worker process died")


def on_cluster(jobs: list[Job], about: Row, address: str) -> Iterator[Row]:
    """Rows from the workers of a Dask cluster, as they come. If a worker dies, another one gets its job."""
    try:
        import distributed
    except ImportError:
        raise ParameterError("a cluster needs the package `distributed`: pip install 'wend[cluster]'") from None
    dask: Any = distributed         # it is not typed
    try:
        client = dask.Client(address, timeout="20s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ParameterError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        sent = {client.submit(run_job, job, about, key=f"wend-{job['id']}", pure=False): job for job in jobs}
        for future in dask.as_completed(list(sent), loop=client.loop):
            job = sent.pop(future)
            failure = future.exception()    # waits: a row that was lost with its worker is computed again
            yield failed_row(job, about, "error", f"on the cluster: {failure!r}") if failure else future.result()
            future.release()
