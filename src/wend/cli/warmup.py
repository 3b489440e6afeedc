"""`wend warmup`: compile kernels before they are needed."""

from __future__ import annotations

from typing import Annotated

import typer

from wend.cli.shared import Json, compiling_said, print_json, print_table, print_text, progress_bar
from wend.files import printable


def warmup(
    algorithms: Annotated[
        list[str] | None, typer.Argument(metavar="ALGORITHM", help="Which ones; all of Wend's without any.")
    ] = None,
    json: Json = False,
) -> None:
    """Compile all that a game can call, so that its first frame need not wait; say where it is kept."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    from wend.kernel.folders import FOLDER
    from wend.planners import registry
    from wend.world.warming import warm_up

    chosen = [registry.find(key) for key in dict.fromkeys(algorithms or registry.ALGORITHMS)]
    found = []
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with progress_bar(*columns, transient=True) as bar:
        shown = bar.add_task("", total=len(chosen))
        for entry in chosen:
            bar.update(shown, description=entry.title)
            with compiling_said(entry.title) as compiled:
                seconds = warm_up(entry.create())
            found.append({"key": entry.key, "compiled": compiled(), "seconds": round(seconds, 2)})
            bar.advance(shown)
    if json:
        print_json({"cache": str(FOLDER), "algorithms": found})
        return
    rows = [(str(each["key"]), str(each["compiled"]), str(each["seconds"])) for each in found]
    print_table("Ready", ("algorithm", "kernels compiled now", "seconds"), rows)
    print_text(f"kept in {printable(FOLDER)}\n")
