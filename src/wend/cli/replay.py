"""`wend replay`: write a page that plays a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wend.cli.shared import Json, print_written


def replay(
    run: Annotated[Path, typer.Argument(help="A run of Wend.")],
    html: Annotated[Path, typer.Option(help="The page to write.")],
    json: Json = False,
) -> None:
    """Write one self-contained page that plays a run in any browser."""
    from wend.files import check_writable
    from wend.viewer.replay import write_replay
    from wend.world.trace import Trace

    trace = Trace.load(run)
    replaced = check_writable(html, inputs=[run])
    write_replay(trace, html)
    print_written(html, json, replaced=replaced)
