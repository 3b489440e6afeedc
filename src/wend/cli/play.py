"""`wend play`: the sandbox, live in a browser."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Annotated

import typer

from wend.cli.shared import print_text, say
from wend.errors import ParameterError

_PORT = 8383


def play(
    map: Annotated[str | None, typer.Argument(help="A .map file, a name, or a generator (arena:seed=3).")] = None,
    algorithm: Annotated[str, typer.Option(help="Which one: see `wend algorithms`; or your module:Class.")] = "auto",
    versus: Annotated[str | None, typer.Option(help="A second algorithm, side by side with the first.")] = None,
    agents: Annotated[int, typer.Option(help="How many units.")] = 200,
    problem: Annotated[str, typer.Option(help="Where they go: see `wend solve`; or empty.")] = "cross-sides",
    seed: Annotated[int, typer.Option(help="What the problem and the planners draw from.")] = 0,
    budget: Annotated[int | None, typer.Option(help="Node expansions that a planner may make per tick.")] = None,
    port: Annotated[int, typer.Option(help="Where the server listens; 0 takes any port that is free.")] = _PORT,
    host: Annotated[str | None, typer.Option(help="Listen there, not on this machine only; with a token.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser; print the address only.")] = False,
) -> None:
    """Play with units on a map in a browser: order them about, build walls, compare two algorithms."""
    import webbrowser

    try:
        from wend.play import server
    except ModuleNotFoundError as error:
        raise ParameterError(f"`wend play` needs {error.name}: pip install 'wend[viewer]'") from None
    from wend.maps.grid import Grid
    from wend.maps.sources import place_of_map
    from wend.play.catalogue import GIVEN, Catalogue, Recipe, drawn
    from wend.play.messages import PlayLimits
    from wend.viewer.replay import has_browser

    is_drawn = map is None or place_of_map(map) is None
    given = None if map is None or is_drawn else Grid.load(map)
    limits = PlayLimits()
    catalogue = Catalogue(limits, given, map or "", [name for name in (algorithm, versus) if name is not None])
    recipe = Recipe(
        map=GIVEN if given is not None else map or Recipe.map, problem=problem, agents=agents, seed=seed,
        algorithm=algorithm, versus=versus, budget=budget,
    )  # fmt: skip
    catalogue.check(recipe)
    drawn(recipe, catalogue.grid(recipe))       # what cannot be drawn is said here, and not on the page
    address = server.Address.of(host, port)
    listening = server.listen(address.host, address.port)
    address = dataclasses.replace(address, port=listening.getsockname()[1])
    app = server.make_app(catalogue, recipe, address, limits)
    print_text(f"{address.url}\n")
    say("open this address in a browser; Ctrl-C ends the server")
    if not no_browser and has_browser():
        webbrowser.open(address.url)
    with contextlib.suppress(KeyboardInterrupt):        # that is how it ends
        server.make_server(app, limits).run(sockets=[listening])
