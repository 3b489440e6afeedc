"""`wend maps`: which generators of maps there are; `wend maps generate`: draw a map."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from wend.cli.shared import FREE_WORDS, Json, print_json, print_table, print_text, print_written, split_words
from wend.errors import ParameterError

app = typer.Typer(help="Maps of our own, drawn from a seed.", invoke_without_command=True)


@app.callback()
def maps(context: typer.Context, json: Json = False) -> None:
    """List the generators of maps."""
    if context.invoked_subcommand is not None:
        return
    from wend.maps import generators

    known = {kind: generators.parameters(kind) for kind in generators.GENERATORS}
    if json:
        print_json({"generators": known})
        return
    rows = [
        (kind, ", ".join(f"{name}={value}" for name, value in defaults.items()), _first_line(draw))
        for (kind, defaults), draw in zip(known.items(), generators.GENERATORS.values(), strict=True)
    ]
    print_table("Generators", ("kind", "parameters and defaults", "what it draws"), rows)


def _first_line(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().splitlines()[0]


@app.command(context_settings=FREE_WORDS, epilog="Parameters are flags: wend maps generate rooms --seed 3")
def generate(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="Which generator: see `wend maps`.")],
    out: Annotated[Path | None, typer.Option(help="The .map file to write; without it the map is printed.")] = None,
    json: Json = False,
) -> None:
    """Draw a map from a seed."""
    from wend.files import check_writable
    from wend.maps import generators
    from wend.planners.base import Parameter

    known = [Parameter(name, type(value), value, "") for name, value in generators.parameters(kind).items()]
    words, given = split_words(context.args, known, f"parameter of {kind}")
    if words:
        raise ParameterError(f"what is {' '.join(words)!r}? Parameters are written --name value")
    replaced = out is not None and check_writable(out)
    grid = generators.generate(kind, **given)
    if out is not None:
        grid.save(out)
    if json:
        about = {"kind": kind, "width": grid.width, "height": grid.height, "passable": int(grid.passable.sum())}
        print_json({**about, "rows": None if out else grid.to_text().splitlines()})
    elif out is not None:
        print_written(out, json, replaced=replaced)
    else:
        print_text(grid.to_text())
