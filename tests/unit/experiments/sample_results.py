"""Specs and results for the tests of reports, without a run."""

from __future__ import annotations

import io
import json

from rich.console import Console

from wend.experiments.findings import Entry, Exhibit, Report
from wend.experiments.render import to_console
from wend.experiments.spec import AlgorithmSpec, Scale, Spec
from wend.experiments.store import COLUMNS, SCHEMA, Store

METRICS = ["reached_rate", "cycles"]
PLAIN = AlgorithmSpec("lra", label="plain")
NOISY = AlgorithmSpec("lra", label="noisy", parameters={"noise": 2})
MAPS = ["random:seed={0..1}"]
SCALES = {"quick": Scale(MAPS, [20, 10], 2), "standard": Scale(MAPS, [20, 10], 3)}


def a_spec(**more) -> Spec:
    return Spec(**{"name": "a/b", "title": "A title", "metrics": METRICS, "scales": SCALES,
                   "algorithms": [PLAIN, NOISY], **more})  # fmt: skip


def a_row(job: dict, **more) -> dict:
    """The result of a job, as a runner would write it."""
    of_job = {name: job[name] for name in ("id", "map", "problem", "agents", "instance", "algorithm", "label")}
    about = {"experiment": "a/b", "seed": job["instance"], "parameters": json.dumps(job["parameters"]), "limits": "{}"}
    run = {"stopped_by": "done", "state_hash": "00", "violations": 0, "job_seconds": 0.1, "spec_hash": "", "threads": 1}
    machine = {"wend_version": "0.1.0", "commit": "abc", "cpu": "a CPU", "python": "3.11", "schema": SCHEMA}
    return {**dict.fromkeys(COLUMNS), **of_job, **about, **run, **machine, **dict.fromkeys(METRICS), **more}


def fill(store: Store, spec: Spec, result, scale: str = "quick") -> None:
    """Put a row for each job of which `result` says what it measured."""
    for job in spec.jobs(scale):
        measured = result(job)
        if measured is not None:
            store.put(a_row(job, **measured))


def constant(job: dict) -> dict:
    """Three of ten fail with plain, one with noisy; ten agents make half as many cycles as twenty."""
    plain = job["label"] == "plain"
    return {"reached_rate": 0.7 if plain else 0.9, "cycles": job["agents"] / (2 if plain else 4)}


def cell(exhibit: Exhibit, row, column) -> Entry:
    """An entry of an exhibit that has one sheet."""
    (sheet,) = exhibit.sheets
    return sheet.entries[sheet.rows.index(row)][sheet.columns.index(column)]


def printed(report: Report) -> str:
    file = io.StringIO()
    to_console(report, Console(file=file, width=160))
    return file.getvalue()
