"""The command line: one file per command, which parses, calls and prints; what commands share is in `shared`.

Standard output carries results, standard error carries talk. With `--json` a command prints one JSON object on standard
output and nothing else there. What is to be saved is saved before anything is printed. Exit codes: 0 done, 1 the answer
is no, 2 bad use or bad input, 130 interrupted.

Nothing heavy is imported before a command needs it: `wend --help` must not wait for the compiler.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Collection
from typing import Any, NoReturn

import typer

from wend.cli import (
    algorithms,
    bench,
    check,
    data,
    export,
    maps,
    play,
    replay,
    report,
    rths,
    select,
    solve,
    train,
    verify,
    version,
    view,
    warmup,
)
from wend.cli.shared import FREE_WORDS, say, set_up_streams
from wend.errors import WendError

_MOST_LETTERS = 2000        # of an error message

app = typer.Typer(
    name="wend",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Move many units through a game map, in real time, without jams.",
)
app.command(context_settings=FREE_WORDS, epilog=solve.EPILOG)(solve.solve)
app.command()(select.select)
app.command()(rths.rths)
app.command()(check.check)
app.command()(export.export)
app.command()(view.view)
app.command()(replay.replay)
app.command()(play.play)
app.add_typer(bench.app, name="bench")
app.command()(report.report)
app.command()(verify.verify)
app.add_typer(train.app, name="train")
app.command()(algorithms.algorithms)
app.command()(warmup.warmup)
app.command()(version.version)
app.add_typer(maps.app, name="maps")
app.add_typer(data.app, name="data")


def main() -> None:
    """Entry point of the `wend` command."""
    set_up_streams()
    try:
        _app_for(sys.argv[1:])()
    except WendError as error:
        _fail(str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}")
    except MemoryError:
        _fail("this machine has too little memory for that")


def _app_for(words: Collection[str]) -> typer.Typer:
    """The app, as far as these words need it: of the commands that they do not name, it knows the name and the help.

    To make the flags of all commands takes longer than to print the help.
    """
    made = copy.copy(app)
    made.registered_commands = [one if _name_of(one) in words else _only_told(one) for one in app.registered_commands]
    made.registered_groups = [one if one.name in words else _without_commands(one) for one in app.registered_groups]
    return made


def _name_of(command: Any) -> str:
    return str(command.name or command.callback.__name__)


def _only_told(command: Any) -> Any:
    told = copy.copy(command)
    told.name, told.help, told.callback = _name_of(command), inspect.getdoc(command.callback), _nothing
    return told


def _without_commands(group: Any) -> Any:
    told = copy.copy(group)
    told.typer_instance = copy.copy(group.typer_instance)
    told.typer_instance.registered_commands = []
    return told


def _nothing() -> None:
    pass


def _fail(message: str) -> NoReturn:
    say(f"wend: {message if len(message) <= _MOST_LETTERS else message[:_MOST_LETTERS] + '...'}")
    sys.exit(2)
