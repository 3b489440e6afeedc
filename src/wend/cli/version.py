"""`wend version`: print the version."""

from __future__ import annotations

from wend import __version__
from wend.cli.shared import Json, print_json, print_text


def version(json: Json = False) -> None:
    """Print the version."""
    if json:
        print_json({"wend": __version__})
    else:
        print_text(f"{__version__}\n")
