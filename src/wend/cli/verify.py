"""`wend verify`: run the jobs of a results folder again, and compare."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wend.cli.report import AllowCode, require_experiments
from wend.cli.shared import EXIT_INTERRUPTED, Json, print_json, print_text, progress_bar, say
from wend.files import printable

if TYPE_CHECKING:
    from wend.experiments.verify import Verification

_LISTED = 50        # differences


def verify(
    folder: Annotated[Path, typer.Argument(help="A results folder that `wend bench` wrote.")],
    sample: Annotated[int | None, typer.Option(help="Run only so many jobs again, drawn from --seed.")] = None,
    seed: Annotated[int, typer.Option(help="What the sample is drawn from.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Run the jobs of a results folder again, and compare: exit code 1 if anything differs."""
    require_experiments()
    from wend.experiments.verify import verify as run_again

    with progress_bar() as bar:
        shown = bar.add_task("verify", total=None)

        def progress(found: Verification) -> None:
            bar.update(shown, total=found.wanted, completed=found.ran)
            if found.ran == 0:
                say(f"{folder}: {found.wanted} of {found.rows} rows to run again")

        try:
            found = run_again(folder, sample=sample, seed=seed, workers=jobs, allow_code=allow_code, progress=progress)
        except KeyboardInterrupt:
            say("wend: interrupted; nothing is said about the results")
            raise typer.Exit(EXIT_INTERRUPTED) from None
    if json:
        print_json({"folder": str(folder), "holds": found.holds, **asdict(found)})
    else:
        listed = found.differences[:_LISTED]
        print_text("".join(f"{printable(difference)}\n" for difference in listed))
        if len(found.differences) > len(listed):
            say(f"and {len(found.differences) - len(listed)} more differences")
        _tell(folder, found)
    raise typer.Exit(0 if found.holds else 1)


def _tell(folder: Path, found: Verification) -> None:
    *before, now = found.environments
    for name in ("wend", "commit", "python", "numpy", "numba", "cpu"):
        then = sorted({str(each.get(name)) for each in before})
        if then and then != [str(now[name])]:
            say(f"{name}: made with {', '.join(then)}, run again with {now[name]}")
    if found.unknown:
        say(f"{found.unknown} rows are of jobs that the folder's spec no longer names: they were not run")
    if found.timed:
        say(f"{found.timed} rows are of runs that a time limit ended: they cannot be compared, and were not run")
    if found.by_clock:
        say(f"{found.by_clock} runs were ended by a time limit now, and not then: they were not compared")
    compared = found.ran - found.by_clock
    verdict = "all as the folder says" if found.holds else "nothing to go by"
    verdict = f"{len(found.differences)} differences" if found.differences else verdict
    say(f"{folder}: {found.ran} of {found.rows} rows run again, {compared} compared: {verdict}")
