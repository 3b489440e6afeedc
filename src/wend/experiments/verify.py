"""Verifying a results folder: its jobs, or some of them, are run again and held against the rows that it holds.

What must be equal is the state hash of each run, how it ended, and every metric that does not depend on the machine. A
run that a clock ended, or whose planner looks at one, cannot be compared: it is not run again, or not compared if that
happens only now. Results of other solvers are not run.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wend.errors import DataError, FormatError, ParameterError
from wend.experiments import provenance
from wend.experiments.jobs import check_code
from wend.experiments.runner import on_cores
from wend.experiments.spec import Job, Spec
from wend.experiments.store import Row, Store
from wend.planners import registry

_COLUMNS = ("stopped_by", "error", "parameters", "source", "state_hash", "violations")      # and the metrics
_CLOCKS = ("time-limit", "hard-limit")      # what ends a run sooner on a slower machine
_NAMED = 5                                  # maps and scenarios that an error lists
_TOLERANCE = 1e-9                           # of means: other processors add floats in another order


@dataclass(frozen=True)
class Mismatch:
    """Something that is not as the folder says."""

    what: str           # a job, a map, a scenario or a measure
    column: str
    stored: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.what}: {self.column} was {_shown(self.stored)}, is {_shown(self.now)}"


@dataclass
class Verification:
    """What came of it."""

    rows: int                   # of the folder, without those of other solvers
    wanted: int                 # jobs to be run again
    timed: int                  # rows of runs that depend on a clock: not run
    unknown: int                # rows of jobs that the folder's spec does not name: not run
    ran: int = 0
    by_clock: int = 0           # of those, runs that a clock ended now: not compared
    differences: list[Mismatch] = field(default_factory=list)
    environments: list[dict[str, Any]] = field(default_factory=list)    # that the folder holds, and then this one

    @property
    def holds(self) -> bool:
        """Whether something was compared, and nothing differs."""
        return not self.differences and self.ran > self.by_clock


def verify(
    folder: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    workers: int = 1,
    allow_code: bool = False,
    progress: Callable[[Verification], None] | None = None,
) -> Verification:
    """Run the jobs of a results folder again, or a sample that is drawn from the seed, and compare.

    `progress` is called before the first job and after each one. Code that the folder's spec names must be registered,
    unless `allow_code` is set.
    """
    if sample is not None and sample < 1:
        raise ParameterError(f"--sample is at least 1, not {sample}")
    if workers < 1:
        raise ParameterError(f"--jobs is at least 1, not {workers}")
    store = Store(folder)
    store.check()
    spec = provenance.recorded_spec(folder)
    check_code(spec, allow_code=allow_code)
    stored = store.rows()
    named = {job["id"]: job for scale in spec.scales for job in spec.jobs(scale)}
    known = [job for name, job in named.items() if name in stored]
    if not known:
        raise FormatError(folder, "it holds no result of its spec: there is nothing to verify")
    jobs = [job for job in known if not _is_timed(job, stored[job["id"]])]
    found = Verification(
        rows=len(stored),
        wanted=len(jobs) if sample is None else min(sample, len(jobs)),
        timed=len(known) - len(jobs),
        unknown=len(stored.keys() - named.keys()),
        environments=[*provenance.environments(folder), provenance.environment()],
    )
    chosen = set(random.Random(seed).sample(range(len(jobs)), found.wanted))
    jobs = [job for place, job in enumerate(jobs) if place in chosen]
    found.differences += _other_inputs(folder, spec, jobs)
    if progress is not None:
        progress(found)
    for row in on_cores(jobs, {}, workers):
        found.ran += 1
        if row["stopped_by"] in _CLOCKS:
            found.by_clock += 1
        else:
            found.differences += _differences(spec, named[row["id"]], stored[row["id"]], row)
        if progress is not None:
            progress(found)
    return found


def _is_timed(job: Job, row: Row) -> bool:
    """Whether a clock ended the run, or its planner looks at one."""
    if row["stopped_by"] in _CLOCKS or job["job"] != "run":
        return row["stopped_by"] in _CLOCKS
    return registry.create(job["algorithm"], **job["parameters"]).depends_on_clock()


def _other_inputs(folder: Path, spec: Spec, jobs: list[Job]) -> list[Mismatch]:
    """The maps, scenarios and measures that are not those that the results were made with.

    A DataError if one that they were made with is not there at all.
    """
    then, now = provenance.recorded_digests(folder), provenance.digests(spec, jobs)
    used = {f"{kind} {job[key]}" for job in jobs for kind, key in (("map", "map"), ("scenario", "scen"))}
    if missing := sorted((used & then.keys()) - now.keys()):
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise DataError(
            f"{folder} cannot be verified without what it was made with: {', '.join(missing[:_NAMED])}{more} cannot be "
            f"found or read. 'wend data list' shows what is there"
        )
    return [
        Mismatch(name, "its digest", then[name][:16], digest[:16])
        for name, digest in now.items()
        if name in then and then[name] != digest
    ]


def _differences(spec: Spec, job: Job, before: Row, now: Row) -> list[Mismatch]:
    steady = [name for name in spec.metrics if not spec.measure(name).clock]
    what = f"{job['label']} on {job['scen'] or job['map']}, {job['agents']} agents, instance {job['instance']}"
    return [
        Mismatch(what, name, before.get(name), now.get(name))
        for name in (*_COLUMNS, *steady)
        if not _is_same(before.get(name), now.get(name))
    ]


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=_TOLERANCE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def _shown(value: Any) -> str:
    return "nothing" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)[:60]
