"""The replay page: one HTML file that plays a trace in any browser, from disk, with nothing else beside it.

The page is `static/replay.html` with the theme, `replay.css` and the joined modules of `replay.js` pasted in, and the
trace, byte for byte as `Trace.save` writes it, in base64. So the page has one reader (`trace.js`) for the run that it
carries and for files that are dropped on it. A page without a run waits for one.

The script shows what a trace says as text and never as markup: no name can break the page.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from string import Template

from wend.files import replacing
from wend.theme import stylesheet
from wend.viewer.assets import join, static
from wend.world.trace import Trace


def replay_page(trace: Trace | None = None) -> str:
    """The page that plays a run; without one, the page that files can be dropped on."""
    data = "" if trace is None else base64.b64encode(trace.to_bytes()).decode("ascii")
    return Template(static("replay.html")).substitute(
        theme=stylesheet(), style=static("replay.css"), script=join("replay"), data=data
    )


def write_replay(trace: Trace | None, path: str | Path) -> None:
    """Write the page; an older file of that name is replaced only when the new one is whole."""
    page = replay_page(trace)
    with replacing(path) as file:
        file.write(page.encode())


def show_replay(trace: Trace | None, path: str | Path | None = None) -> tuple[Path, bool]:
    """Write the page and open it in the browser: where it is, and whether there was a browser to open it in.

    Without a path it is a new temporary file.
    """
    page = Path(tempfile.mkdtemp(prefix="wend-"), "replay.html") if path is None else Path(path)
    write_replay(trace, page)
    return page, has_browser() and webbrowser.open(page.resolve().as_uri())


def has_browser() -> bool:
    """Whether there may be a browser that can show a page; those in a terminal know no scripts."""
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return has_display or not sys.platform.startswith("linux")
