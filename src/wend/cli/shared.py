"""What the commands share: common options, output, and flags that are derived from declared parameters."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wend.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from rich.console import Console

    from wend.planners.base import Parameter

# A command with these settings also accepts flags that are not declared; `split_words` reads them.
FREE_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else there.")]
Connectivity = Annotated[int, typer.Option(help="8 for diagonal moves as well, 4 for none.")]
CornerCutting = Annotated[bool, typer.Option("--corner-cutting", help="Diagonals may pass blocked cells.")]


# --- output ----------------------------------------------------------------------------------------------------------


def error_console() -> Console:
    """Where progress and remarks go."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def result_console() -> Console:
    """Where results for people go."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def print_json(value: Any) -> None:
    """Print one object for programs."""
    print(json_module.dumps(value, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; nothing in it is read as markup."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(*columns, title=escape(title), title_justify="left")
    for row in rows:
        table.add_row(*(escape(word) for word in row))
    result_console().print(table)


def print_written(path: Path, json: bool) -> None:
    """Say which file was written."""
    if json:
        print_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        print(path.resolve())


def readable(value: Any) -> str:
    """A number or a small object as people read it."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key} {readable(part)}" for key, part in value.items()) or "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# --- flags of algorithms and generators ------------------------------------------------------------------------------


def split_words(words: Sequence[str], known: Sequence[Parameter], kind: str) -> tuple[list[str], dict[str, Any]]:
    """Separate `--name value`, `--name=value`, `--flag` and `--no-flag` from the other words."""
    by_name = {p.name: p for p in known}
    rest: list[str] = []
    given: dict[str, Any] = {}
    queue = iter(words)
    for word in queue:
        if not word.startswith("--"):
            rest.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        off = name.startswith("no_") and name not in by_name and name[3:] in by_name and by_name[name[3:]].type is bool
        name = name[3:] if off else name
        if name not in by_name:
            raise UnknownNameError(kind, word[2:].partition("=")[0], [n.replace("_", "-") for n in by_name])
        if by_name[name].type is bool and not equals:
            value = "false" if off else "true"
        elif not equals:
            try:
                value = next(queue)
            except StopIteration:
                raise ParameterError(f"{word} needs a value") from None
        given[name] = by_name[name].parse(value)
    return rest, given
