"""The replay page: one HTML file that plays a trace in any browser, from disk, with nothing else beside it.

The page is `static/replay.html` with the theme, `replay.css` and the joined modules of `replay.js` pasted in, and the
run as one JSON object. Small things are plain JSON; arrays are little-endian bytes, deflated, in base64:

    blocked   bits[height * width]          the map at the start, first cell in the highest bit
    moves     uint8[agents, ticks]          the trace's codes; one agent after the other deflates to less than by ticks
    added     int32[agents, 3]              tick, cell, goal
    jumps     int32[teleports, 3]           tick, agent, cell; by tick
    orders    int32[orders, 3]              tick, agent, goal; by tick
    routes    int32[waypoints, 3]           tick, agent, waypoint, or -1 if the route has none; by tick
    edits     int32[edits, 3]               tick, cell, 1 if blocked else 0; by tick
    waits     int32[waits, 4]               tick, agent, the agent that it waits for or -1, place in `reasons`; by tick
    spread    float32[ticks + 1]            how far the group that was ordered last by then is spread, NaN if there is
                                            none; empty if no group was ever ordered

The trace's meta travels as text only. The script shows it as text and never as markup: no name can break the page.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import webbrowser
import zlib
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wend import metrics
from wend.files import replacing, to_json
from wend.kernel import NO_CELL
from wend.theme import stylesheet
from wend.viewer.assets import join, static
from wend.world.trace import Trace


def write_replay(trace: Trace, path: str | Path) -> None:
    """Write the run as one HTML page; an older file of that name is replaced only when the new one is whole."""
    page = Template(static("replay.html")).substitute(
        theme=stylesheet(), style=static("replay.css"), script=join("replay"), data=_in_script(_content(trace))
    )
    with replacing(path) as file:
        file.write(page.encode())


def open_page(path: Path) -> bool:
    """Open a page in the browser; False if there is none to open it in."""
    return has_browser() and webbrowser.open(path.resolve().as_uri())


def has_browser() -> bool:
    """Whether there may be a browser that can show a page; those in a terminal know no scripts."""
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return has_display or not sys.platform.startswith("linux")


def _in_script(content: dict[str, Any]) -> str:
    """JSON that may stand inside a script element: without `<`, no text in it can end the element."""
    return to_json(content, separators=(",", ":")).replace("<", "\\u003c")


def _content(trace: Trace) -> dict[str, Any]:
    cell = trace.grid.cell
    events = sorted(trace.events, key=lambda event: event.tick)     # stable: those of one tick stay in order
    added = {e.agent: (e.tick, cell(*e.data["at"]), cell(*e.data["goal"])) for e in events if e.kind == "added"}
    jumps = [(e.tick, e.agent, cell(*e.data["to"])) for e in events if e.kind == "teleported" and e.agent is not None]
    orders = [(e.tick, e.agent, cell(*e.data["goal"])) for e in events if e.kind == "ordered" and e.agent is not None]
    routed = {      # only the last of a tick counts
        (e.tick, e.agent): e.data["waypoints"] for e in events if e.kind == "routed" and e.agent is not None
    }
    routes = [
        (tick, agent, waypoint)
        for (tick, agent), points in routed.items()
        for waypoint in [cell(*point) for point in points] or [NO_CELL]
    ]
    edits = [
        (e.tick, cell(*point), e.kind == "blocked")
        for e in events
        if e.kind in ("blocked", "unblocked")
        for point in e.data["cells"]
    ]
    spread = metrics.group_spread(trace) if any(trace.events_of("group")) else np.zeros(0)
    meta = {str(key): _text(value) for key, value in trace.meta.items() if value is not None}
    violations = trace.meta.get("violations")
    if isinstance(violations, list):    # shown as a list of their own
        del meta["violations"]
    return {
        "width": trace.grid.width,
        "height": trace.grid.height,
        "ticks": trace.ticks,
        "agents": trace.agents,
        "meta": meta,
        "violations": [str(v) for v in violations] if isinstance(violations, list) else [],
        "blocked": _packed(np.packbits(~trace.grid.passable), "u1"),
        "moves": _packed(trace.moves.T, "u1"),
        "added": _packed([added[agent] for agent in range(trace.agents)], "<i4"),
        "jumps": _packed(jumps, "<i4"),
        "orders": _packed(orders, "<i4"),
        "routes": _packed(routes, "<i4"),
        "edits": _packed(edits, "<i4"),
        "spread": _packed(spread, "<f4"),
        "waits": _packed(trace.waits, "<i4"),
        "reasons": trace.reasons,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _packed(values: ArrayLike, dtype: str) -> str:
    return base64.b64encode(zlib.compress(np.asarray(values, dtype=dtype).tobytes(), 9)).decode("ascii")
