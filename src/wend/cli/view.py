"""`wend view`: open the page of a run in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wend.cli.foreign import PlanMap, PlanScen, trace_of
from wend.cli.shared import Connectivity, CornerCutting, Json, print_json, print_text, say
from wend.files import printable


def view(
    run: Annotated[
        Path | None, typer.Argument(help="A run of Wend, or a plan of another tool. Without it, a page to drop one on.")
    ] = None,
    map: PlanMap = None,
    scen: PlanScen = None,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Open the page of a run in the browser; `wend replay` writes the same page to a file of your choice.

    Prints where the page is: a temporary file, which does not need Wend any more.
    """
    from wend.viewer.replay import show_replay

    page, is_open = show_replay(None if run is None else trace_of(run, map, scen, connectivity, corner_cutting))
    if json:
        print_json({"file": str(page.resolve()), "opened": is_open})
    else:
        print_text(f"{printable(page.resolve())}\n")
    if not is_open:
        say("there is no browser to open it in here: open this page in one")
