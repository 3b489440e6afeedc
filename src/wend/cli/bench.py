"""`wend bench`: run an experiment, or what is missing of it, and report; put results of other solvers beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from wend.cli.report import AllowCode, Baseline, Out, print_report, require_experiments, results_folder
from wend.cli.shared import EXIT_INTERRUPTED, Json, print_json, print_table, progress_bar, say

if TYPE_CHECKING:
    from wend.experiments.runner import Tally
    from wend.experiments.spec import Spec

RUN = "run"                     # the command that `wend bench` stands for
_FIRST_FEW = 5                  # jobs after the first of each planner; then it is said how long the others will take
_ABSENT_LISTED = 4              # maps and scenarios that are not there
_SECONDS_BETWEEN_LINES = 60.0   # without a terminal


class _RunByDefault(TyperGroup):
    """A group of commands in which what is no command is for `run`: `wend bench NAME` runs an experiment."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read `wend bench WORDS`."""
        return super().parse_args(ctx, args if args and args[0] in self.commands else [RUN, *args])


app = typer.Typer(cls=_RunByDefault, add_completion=False, help="Run an experiment, or what is missing of it.")


@app.command(RUN, epilog="`wend bench add-results FILE` puts results of other solvers beside ours.")
def run(
    name: Annotated[str | None, typer.Argument(help="An experiment; without it they are listed.")] = None,
    scale: Annotated[str, typer.Option(help="quick (minutes), standard (an hour), full (the paper's size).")] = "quick",
    jobs: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    cluster: Annotated[str | None, typer.Option(help="The address of a running Dask scheduler, instead.")] = None,
    out: Out = None,
    baseline: Baseline = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed jobs again.")] = False,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Run an experiment, or what is missing of it, and report: exit code 1 if a job failed."""
    require_experiments()
    from wend.experiments.provenance import cores
    from wend.experiments.runner import Tally, run_experiment
    from wend.experiments.spec import list_specs, load_spec

    if name is None:
        return _print_specs({known: load_spec(known).title for known in list_specs()}, json)
    spec = load_spec(name)
    folder = results_folder(spec, out)
    if cluster is None and jobs > cores():
        say(f"{jobs} processes share {cores()} cores: times that are measured will be longer than those of a run alone")
    done = Tally(0, 0)
    try:
        with _progress(spec) as show:

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
    made = print_report(spec, folder, scale, baseline, json)
    if made.failed:
        all_of_them = "every job failed" if made.failed == made.done else f"{made.failed} of {made.done} jobs failed"
        say(f"wend: {all_of_them}; the first: {made.failures[0].error}. --retry-failed runs them again")
        raise typer.Exit(1)
    return None


@app.command("add-results")
def add_results(
    file: Annotated[Path, typer.Argument(help="CSV or JSON with the columns of docs/formats/results.md.")],
    to: Annotated[str, typer.Option(help="The experiment whose problems were solved.")] = "mapf/protocol",
    out: Out = None,
    json: Json = False,
) -> None:
    """Put results or plans of other solvers beside ours, as rows of an experiment."""
    require_experiments()
    from wend.experiments.foreign import rows_of
    from wend.experiments.spec import load_spec
    from wend.experiments.store import Store

    spec = load_spec(to)
    rows, others = rows_of(file, spec)
    store = Store.create(results_folder(spec, out), spec.store)
    with store.locked():
        store.put_foreign(rows)
    solvers = sorted({row["label"] for row in rows})
    if json:
        print_json({"folder": str(store.folder), "added": len(rows), "left_out": others, "solvers": solvers})
        return
    say(f"{len(rows)} rows of {', '.join(solvers)} added to {store.folder}: `wend report {to}` shows them")
    if others:
        say(f"{others} rows are about problems that {to} does not have, and were left out")


def _tell_remade(tally: Tally) -> None:
    """Say which results count as missing because their planner's code is another one now."""
    for name, count in tally.remade.items():
        say(f"{count} results were made with another source of {name}: they count as missing, and are made again")


def _print_specs(titles: dict[str, str], json: bool) -> None:
    if json:
        print_json({"experiments": titles})
    else:
        print_table("Experiments", ("name", "what it measures"), list(titles.items()))


# --- how far it is ---------------------------------------------------------------------------------------------------


@contextmanager
def _progress(spec: Spec) -> Iterator[Callable[[Tally], None]]:
    """What there is to do and about how long it takes, then a progress bar; without a terminal, a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    left_to_go = TimeRemainingColumn(elapsed_when_finished=True)
    few = len(spec.contenders()) + _FIRST_FEW       # each planner's first job loads its kernels, or compiles them
    last = time.monotonic()
    ends = [last]               # when each job was done; the first entry: when they were begun
    with progress_bar(TextColumn(spec.name), BarColumn(), MofNCompleteColumn(), left_to_go) as bar:
        shown = bar.add_task(spec.name, total=None)

        def show(tally: Tally) -> None:
            nonlocal last
            now, left = time.monotonic(), tally.total - tally.kept - tally.ran
            bar.update(shown, total=tally.total - tally.kept, completed=tally.ran)
            if tally.ran == 0:
                ends[:] = [now]
                return _announce(spec, tally)
            ends.append(now)
            if left and (tally.ran == few or (bar.disable and now - last > _SECONDS_BETWEEN_LINES)):
                last, half = now, tally.ran // 2
                pace = (now - ends[half]) / (tally.ran - half)      # of the later half of the jobs
                say(f"{tally.ran} jobs run, {left} to go: about {duration(pace * left)} at this pace")
            return None

        yield show


def _announce(spec: Spec, tally: Tally) -> None:
    say(f"{spec.name}: {tally.total - tally.kept} jobs to run, {tally.kept} done before")
    if tally.absent:
        named = ", ".join(tally.absent[:_ABSENT_LISTED]) + (", ..." if len(tally.absent) > _ABSENT_LISTED else "")
        say(f"{len(tally.absent)} maps and scenarios are not in the data folder, and are left out: {named}")
    if spec.diagonal_mapf():
        say("the agents of MAPF scenarios move in 4 directions, and here in 8: costs cannot be compared with others'")


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(8), duration(100), duration(9000)
    ('8 s', '2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
