"""What the commands share: common options, output, and flags that are derived from declared parameters."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wend.errors import ParameterError, UnknownNameError
from wend.files import printable, to_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

    from wend.planners.base import Parameter

EXIT_INTERRUPTED = 130

# A command with these settings also accepts flags that are not declared; `split_words` reads them.
FREE_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else there.")]
Connectivity = Annotated[
    int | None, typer.Option(help="8 for diagonal moves as well, 4 for none; 8 by default, 4 with a MAPF scenario.")
]
CornerCutting = Annotated[bool, typer.Option("--corner-cutting", help="Diagonals may pass blocked cells.")]


def connectivity_of(given: int | None, scen: str | None) -> int:
    """In how many directions agents move: as given, or else 4 in a scenario of the MAPF benchmark and 8 in others."""
    from wend.maps.movingai import is_mapf

    of_mapf = scen is not None and is_mapf(scen)
    if given == 8 and of_mapf:
        say(f"the agents of {scen} move in 4 directions elsewhere, and here in 8: costs cannot be compared")
    if given is not None:
        return given
    return 4 if of_mapf else 8


# --- output ----------------------------------------------------------------------------------------------------------


def set_up_streams() -> None:
    """Give the process standard streams that can be written to, whatever it was started with.

    A stream that is closed (`>&-`) becomes the null device, so that no file that is opened later takes its number. A
    name that is not text is shown with escapes.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)      # the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def print_text(text: str) -> None:
    """Write a result to standard output. If nothing reads it any more (`| head`), that is a quiet end."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer goes to the null device when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(value: Any) -> None:
    """Print one object for programs."""
    print_text(to_json(value) + "\n")


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; nothing in it is read as markup, and nothing reaches the terminal that is not printable."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=Text(printable(title)), title_justify="left")
    for row in rows:
        table.add_row(*(Text(printable(word)) for word in row))
    console = result_console()
    with console.capture() as capture:
        console.print(table)
    print_text(capture.get())


def print_written(path: Path, json: bool, *, replaced: bool) -> None:
    """Say which file was written, and whether it took the place of another."""
    if json:
        print_json({"file": str(path), "bytes": path.stat().st_size, "replaced": replaced})
    else:
        print_text(f"{printable(path.resolve())}\n")
        if replaced:
            say(f"replaced {path}")


def say(remark: object) -> None:
    """Write one line of talk to standard error; if nothing reads it any more, it is not said."""
    with contextlib.suppress(OSError):
        print(printable(remark), file=sys.stderr)


@contextmanager
def progress_bar(*columns: ProgressColumn, transient: bool = False) -> Iterator[Progress]:
    """A progress bar on standard error, which shows nothing at all where that is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    talk = Console(stderr=True, highlight=False, soft_wrap=True)
    bar = Progress(*columns, console=talk, transient=transient, disable=not talk.is_terminal)
    with contextlib.nullcontext() if bar.disable else bar:
        yield bar


@contextmanager
def compiling_said(title: str) -> Iterator[Callable[[], int]]:
    """Say that kernels are compiled, if any are, and how long it took. What this yields tells how many have been."""
    from wend.kernel.compiling import compiling_told
    from wend.kernel.folders import FOLDER

    count, began = 0, 0.0

    def tell() -> None:
        nonlocal count, began
        if count == 0:
            began = time.perf_counter()
            say(f"compiling kernels for {title}, once for this version of Wend; 10 to 30 s for a first planner ...")
        count += 1

    with compiling_told(tell):
        yield lambda: count
    if count:
        say(f"compiled in {time.perf_counter() - began:.0f} s, and kept in {FOLDER}")


def result_console() -> Console:
    """How results for people are laid out; they are captured, and written by `print_text`."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


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
