"""Run benchmarks and print a table: `python -m benchmarks [NAME ...] [--json]`."""

from __future__ import annotations

import importlib
import json as json_module
import os
import platform
import sys
from pathlib import Path
from typing import Annotated

import numba
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.measure import COLUMNS, Row
from wend import __version__
from wend.errors import UnknownNameError

NAMES = (
    "astar", "kernel_flag", "startup", "idle_world", "load_map", "edits", "runner", "cooperative", "growth",
    "first_step", "real_time", "marker", "mapp", "rths", "select", "auto", "snapshot", "deaths", "play",
)  # fmt: skip
ON_REQUEST = ("cold", "completion", "peers", "soak", "game", "flagship", "crowd", "play_soak")     # they take minutes
HELP = f"Benchmarks to run: {', '.join(NAMES + ON_REQUEST)}. Default: all but {', '.join(ON_REQUEST)}."


def main(
    names: Annotated[list[str] | None, typer.Argument(help=HELP)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    ticks: Annotated[int | None, typer.Option(help="Ticks to run `soak`, `game` and `play_soak` for.", min=1)] = None,
    peers: Annotated[Path | None, typer.Option(help="Results of other solvers, for `peers`.", exists=True)] = None,
    sections: Annotated[str, typer.Option(help="Sections of `flagship` to run.")] = "abcd",
    full: Annotated[bool, typer.Option("--full", help="All of `flagship`, which takes hours.")] = False,
) -> None:
    """Measure speed, compared with baselines in the same run."""
    for name in names or ():
        if name not in NAMES + ON_REQUEST:
            print(f"benchmarks: {UnknownNameError('benchmark', name, NAMES + ON_REQUEST)}", file=sys.stderr)
            raise typer.Exit(2)
    length = {"ticks": ticks}
    given: dict[str, dict[str, object]] = {
        **dict.fromkeys(("soak", "game", "play_soak"), length),
        "peers": {"peers": peers},
        "flagship": {"sections": sections, "full": full},
    }
    results: dict[str, list[Row]] = {}
    for name in names or NAMES:
        print(f"{name} ...", file=sys.stderr)
        options = {key: value for key, value in given.get(name, {}).items() if value is not None}
        results[name] = importlib.import_module(f"benchmarks.{name}").run(**options)
    about = {
        "wend": __version__,
        "python": platform.python_version(),
        "numba": numba.__version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    if json:
        rows = [{"benchmark": name, **row.as_json()} for name, found in results.items() for row in found]
        print(json_module.dumps({**about, "rows": rows}))
        return
    table = Table("benchmark", *COLUMNS, title=", ".join(f"{key} {value}" for key, value in about.items()))
    for name, found in results.items():
        for row in found:
            table.add_row(name, *row.cells())
    Console(highlight=False, width=None if sys.stdout.isatty() else 180).print(table)


if __name__ == "__main__":
    typer.run(main)
