"""`wend rths`: one agent walks by real-time heuristic search."""

from __future__ import annotations

from typing import Annotated

import typer

from wend.cli.shared import Connectivity, CornerCutting, Json, compiling_said, print_json, print_text
from wend.errors import ParameterError


def rths(
    map: Annotated[str, typer.Argument(help="A .map file, a name such as bg512/AR0414SR, or a generator.")],
    start: Annotated[str, typer.Option(help="Where the agent is: X,Y.")],
    goal: Annotated[str, typer.Option(help="Where it wants to be: X,Y.")],
    w: Annotated[float, typer.Option(help="Weight of what is learned, 1 or more.")] = 1.0,
    wc: Annotated[float, typer.Option(help="Weight of a move's cost in what is learned, 1 or more.")] = 1.0,
    b: Annotated[float, typer.Option(help="Share of the neighbours that is learned from, 0 to 1; 0: the best.")] = 0.0,
    lop: Annotated[str, typer.Option(help="What is learned from them: min, avg, median or max.")] = "min",
    da: Annotated[bool, typer.Option("--da", help="Avoid depressions: go where least was learned.")] = False,
    expendable: Annotated[bool, typer.Option("--expendable", help="Remove cells that no path needs.")] = False,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Let one agent find its way by real-time heuristic search, and tell how far it travelled."""
    from wend.maps.grid import Grid
    from wend.search.rths import rths as search

    begin, end = _point(start, "--start"), _point(goal, "--goal")
    grid = Grid.load(map, connectivity=connectivity or 8, corner_cutting=corner_cutting)
    with compiling_said("real-time heuristic search"):
        walk = search(grid, begin, end, w=w, wc=wc, b=b, lop=lop, da=da, expendable=expendable)
    keys = ("travelled", "optimal", "suboptimality", "moves", "pruned", "reached")
    if json:
        print_json({"name": walk.configuration.name, **{key: getattr(walk, key) for key in keys}})
    else:
        ended = "reached its goal" if walk.reached else f"gave up ({walk.stopped_by})"
        told = [
            f"{walk.configuration.name} {ended} after {walk.moves} moves",
            f"travelled {walk.travelled:.5f}, a shortest path costs {walk.optimal:.5f}: {walk.suboptimality:.5f} times",
            f"cells removed: {walk.pruned}",
        ]
        print_text("\n".join(told) + "\n")
    if not walk.reached:
        raise typer.Exit(1)


def _point(text: str, flag: str) -> tuple[int, int]:
    x, _, y = text.partition(",")
    try:
        return int(x), int(y)
    except ValueError:
        raise ParameterError(f"{flag} is X,Y, such as 3,14, and not {text[:40]!r}") from None
