"""The colours of Wend's pages and figures. Each is named once, in `theme.css`.

A page pastes `stylesheet()` in front of its own rules and uses the colours as CSS variables, which follow the reader's
light or dark scheme. A figure is drawn once for both schemes and takes `curve_colours()`; a film is drawn in those of
light pages.
"""

from __future__ import annotations

import re
from importlib.resources import files


def stylesheet() -> str:
    """The colours, as CSS variables."""
    return files("wend").joinpath("theme.css").read_text(encoding="utf-8")


def light_colours() -> dict[str, str]:
    """The colours of light pages that are plain (`#rrggbb`), by name, for pictures that have one scheme only."""
    light, _ = stylesheet().split("@media")
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))


def curve_colours() -> list[str]:
    """The colours of a figure's curves, in the order in which they are used."""
    return re.findall(r"--curve-\d+: (#[0-9a-f]{6});", stylesheet())
