"""`wend export`: write a run in the format of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wend.cli.shared import Json, print_written


def export(
    run: Annotated[Path, typer.Argument(help="A run of Wend.")],
    format: Annotated[str, typer.Option(help="lacam, eecbs, yaml or tracker.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    json: Json = False,
) -> None:
    """Write a run in the format of another tool."""
    from wend.files import check_writable
    from wend.interchange.formats import write_plan
    from wend.world.trace import Trace

    trace = Trace.load(run)
    replaced = check_writable(out, inputs=[run])
    write_plan(trace, format, out)
    print_written(out, json, replaced=replaced)
