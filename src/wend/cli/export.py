"""`wend export`: write a run in the format of another tool, or as a film."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wend.cli.shared import Json, print_written
from wend.errors import ParameterError, UnknownNameError


def export(
    run: Annotated[Path, typer.Argument(help="A run of Wend.")],
    format: Annotated[str, typer.Option(help="lacam, eecbs, yaml or tracker; gif or webm for a film.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    size: Annotated[int | None, typer.Option(help="Of a film: pixels of its longer side; 720 by default.")] = None,
    speed: Annotated[int | None, typer.Option(help="Of a film: ticks per second; 10 by default.")] = None,
    first: Annotated[int | None, typer.Option(help="Of a film: the tick with which it begins.")] = None,
    last: Annotated[int | None, typer.Option(help="Of a film: the tick with which it ends.")] = None,
    json: Json = False,
) -> None:
    """Write a run in the format of another tool, or as a film."""
    from wend.files import check_writable
    from wend.interchange.formats import WRITERS, write_plan
    from wend.viewer.film import CODECS, write_film
    from wend.world.trace import Trace

    if format not in (*WRITERS, *CODECS):
        raise UnknownNameError("format", format, [*WRITERS, *CODECS])
    of_film = {"size": size, "speed": speed, "first": first, "last": last}
    given = {name: value for name, value in of_film.items() if value is not None}
    if given and format not in CODECS:
        raise ParameterError(f"--{next(iter(given))} is for films (gif, webm), and {format} is a plan")
    trace = Trace.load(run)
    replaced = check_writable(out, inputs=[run])
    if format in CODECS:
        write_film(trace, format, out, **given)
    else:
        write_plan(trace, format, out)
    print_written(out, json, replaced=replaced)
