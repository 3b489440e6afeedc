"""`wend data`: fill the data folder with benchmark maps, and list what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wend.cli.shared import Json, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from wend.maps.data import DataSet

app = typer.Typer(help="The data folder with benchmark maps.", no_args_is_help=True)


@app.command()
def add(
    source: Annotated[Path, typer.Argument(help="A zip of the MovingAI site, or a folder with .map and .scen files.")],
    json: Json = False,
) -> None:
    """Copy maps and scenarios into the data folder."""
    from wend.maps import data

    _print_sets([data.add(source)], json)


@app.command("list")
def list_(json: Json = False) -> None:
    """List what the data folder holds."""
    from wend.maps import data

    _print_sets(data.list_sets(), json)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="SET", help="A set of the MovingAI site, such as bg512.")],
    url: Annotated[str | None, typer.Option(help="A mirror to download from.")] = None,
    json: Json = False,
) -> None:
    """Download a set of maps from the MovingAI site into the data folder."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    from wend.maps import data

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with progress_bar(*columns, transient=True) as bar:
        shown = bar.add_task(name, total=None)
        fetched = data.fetch(
            name, base_url=url, progress=lambda have, total: bar.update(shown, completed=have, total=total)
        )
    _print_sets([fetched], json)


def _print_sets(sets: Sequence[DataSet], json: bool) -> None:
    from wend.maps import data

    if json:
        listed = [{"name": s.name, "maps": s.maps, "scens": s.scens, "files": [str(f) for f in s.files]} for s in sets]
        print_json({"folder": str(data.data_folder()), "sets": listed})
        return
    rows = [(s.name, str(s.maps), str(s.scens)) for s in sets]
    print_table(f"Data folder {data.data_folder()}", ("set", "maps", "scenarios"), rows)
