"""`wend replay`: write a page that plays a run or another tool's plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wend.cli.foreign import PlanMap, PlanScen, trace_of
from wend.cli.shared import Connectivity, CornerCutting, Json, print_written


def replay(
    run: Annotated[Path, typer.Argument(help="A run of Wend, or a plan of another tool (see `wend check`).")],
    html: Annotated[Path, typer.Option(help="The page to write.")],
    map: PlanMap = None,
    scen: PlanScen = None,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Write one self-contained page that plays a run in any browser, to keep or to share; `wend view` only opens it.

    The page of a plan shows all that is wrong with it.
    """
    from wend.files import check_writable
    from wend.viewer.replay import write_replay

    trace = trace_of(run, map, scen, connectivity, corner_cutting)
    replaced = check_writable(html, inputs=[run])
    write_replay(trace, html)
    print_written(html, json, replaced=replaced)
