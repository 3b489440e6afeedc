"""`wend bench`: run an experiment, or what is missing of it, and report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from wend.cli.report import Baseline, Out, print_report, require_experiments, results_folder
from wend.cli.shared import EXIT_INTERRUPTED, Json, print_json, print_table, progress_bar, say

if TYPE_CHECKING:
    from wend.experiments.runner import Tally


def bench(
    name: Annotated[str | None, typer.Argument(help="An experiment; without it they are listed.")] = None,
    scale: Annotated[str, typer.Option(help="quick (minutes), standard (an hour), full (the paper's size).")] = "quick",
    jobs: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    cluster: Annotated[str | None, typer.Option(help="The address of a running Dask scheduler, instead.")] = None,
    out: Out = None,
    baseline: Baseline = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed jobs again.")] = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run planners, measures and jobs that the spec names as module:name.")
    ] = False,
    json: Json = False,
) -> None:
    """Run an experiment, or what is missing of it, and report: exit code 1 if a job failed."""
    require_experiments()
    from wend.experiments.runner import Tally, run_experiment
    from wend.experiments.spec import list_specs, load_spec

    if name is None:
        return _print_specs({known: load_spec(known).title for known in list_specs()}, json)
    spec = load_spec(name)
    folder = results_folder(spec, out)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or jobs
    if cluster is None and jobs > cores:
        say(f"{jobs} processes share {cores} cores: times that are measured will be longer than those of a run alone")
    done = Tally(0, 0)
    try:
        with _progress(spec.name) as show:

            def progress(tally: Tally) -> None:
                nonlocal done
                done = tally
                if tally.ran == 0:
                    _tell_remade(tally)
                show(tally)

            done = run_experiment(
                spec, scale, out=folder, workers=jobs, cluster=cluster,
                retry_failed=retry_failed, allow_code=allow_code, progress=progress,
            )  # fmt: skip
    except KeyboardInterrupt:
        say(f"wend: interrupted; {done.ran} jobs were run and are kept in {folder}: start again to do the others")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    say(f"{done.ran} jobs run, {done.failed} of them failed, {done.kept} were done before; results in {folder}")
    if print_report(spec, folder, scale, baseline, json).failed:
        raise typer.Exit(1)
    return None


def _tell_remade(tally: Tally) -> None:
    """Say which results count as missing because their planner's code is another one now."""
    for name, count in tally.remade.items():
        say(f"{count} results were made with another source of {name}: they count as missing, and are made again")


def _print_specs(titles: dict[str, str], json: bool) -> None:
    if json:
        print_json({"experiments": titles})
    else:
        print_table("Experiments", ("name", "what it measures"), list(titles.items()))


@contextmanager
def _progress(name: str) -> Iterator[Callable[[Tally], None]]:
    """A progress bar with an estimate of what is left."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    with progress_bar(*columns) as bar:
        shown = bar.add_task(name, total=None)
        yield lambda tally: bar.update(shown, total=tally.total - tally.kept, completed=tally.ran)
