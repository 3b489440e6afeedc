"""`wend algorithms`: which algorithms there are, and what can be set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from wend.cli.shared import Json, print_json, print_table, readable

if TYPE_CHECKING:
    from wend.planners.registry import Algorithm

_ONLINE = {True: "yes", False: "no", None: "-"}


def algorithms(
    name: Annotated[str | None, typer.Argument(help="One of them, or your own module:Class: its parameters.")] = None,
    json: Json = False,
) -> None:
    """List the algorithms, or one with its parameters."""
    from wend.planners import registry

    chosen = [registry.find(name)] if name is not None else [registry.find(key) for key in registry.names()]
    if json:
        print_json({"algorithms": [_as_json(entry) for entry in chosen]})
    elif name is not None:
        (entry,) = chosen
        flags = [(f"--{p.name.replace('_', '-')}", readable(p.default), p.help) for p in entry.parameters()]
        print_table(f"{entry.title} ({entry.paper})", ("flag", "default", "what it sets"), flags)
    else:
        rows = [(e.key, e.title, _ONLINE[e.online], e.summary, e.suits or "-", e.paper) for e in chosen]
        print_table("Algorithms", ("name", "algorithm", "online", "what it does", "take it for", "paper"), rows)


def _as_json(entry: Algorithm) -> dict[str, Any]:
    parameters = [
        {"name": p.name, "type": p.type.__name__, "default": p.default, "help": p.help,
         "minimum": p.minimum, "maximum": p.maximum, "choices": p.choices}
        for p in entry.parameters()
    ]  # fmt: skip
    keys = ("key", "title", "summary", "suits", "paper", "online", "restless", "loses_track")
    about = {key: getattr(entry, key) for key in keys}
    return {**about, "preset": dict(entry.preset), "parameters": parameters}
