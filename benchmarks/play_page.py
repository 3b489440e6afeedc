"""The live page: what a frame costs in a browser, with WebGL2 and without. Part of `python -m benchmarks play`.

Chromium draws in software where there is no graphics card; the rows say what it draws with.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Row
from wend.theme import stylesheet
from wend.viewer.assets import join, static

UNITS = (500, 2_000, 10_000)
MAP = "open:width=256,height=256"
FRAMES = 60
STAGE = {"width": 1280, "height": 800}
PATIENCE_MS = 300_000
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")

# Time frames as the page draws them, until the pixels are there; in every second one the units are those of a new tick.
# The best frame counts: other programs only make them slower. The script is quicker than the clock's step, so its mean.
_MEASURE = """async (frames) => {
  const { panes: [pane] } = wendPlay;
  const [script, frame] = [[], []];
  for (let i = 0; i < frames; i += 1) {
    const began = performance.now();
    if (i % 2) pane.units.version += 1;
    wendPlay.render(began);
    script.push(performance.now() - began);
    const { gl } = pane.painter;
    if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    else pane.context.getImageData(0, 0, 1, 1);
    frame.push(performance.now() - began);
  }
  return [script.reduce((sum, time) => sum + time) / frames, Math.min(...frame)];
}"""
_RENDERER = """() => {
  const { gl } = wendPlay.panes[0].painter;
  return gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL);
}"""


def page_rows() -> list[Row]:
    """What the page weighs, and milliseconds per frame; those are left out, with a line, where there is no browser."""
    weight = Row("the live page, all its files", "kB", _weight() / 1000, at_most=200)
    program = os.environ.get("WEND_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        program = None
    if program is None:
        print("play: the page is not measured; that needs playwright and Chromium", file=sys.stderr)
        return [weight]
    rows = [weight]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        for units in UNITS:
            with _served(units) as address:
                for painter in ("webgl", "plain"):
                    rows += _rows(browser, address, painter, units)
        browser.close()
    return rows


def _weight() -> int:
    """Bytes of all files that a browser loads."""
    styles = ("replay.css", "play.css")
    return sum(len(text.encode()) for text in (static("play.html"), stylesheet(), join("play"), *map(static, styles)))


@contextlib.contextmanager
def _served(units: int) -> Iterator[str]:
    """Where a server shows so many units."""
    command = [sys.executable, "-m", "wend", "play", MAP, "--algorithm", "lra", "--problem", "random"]
    command += ["--agents", str(units), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _rows(browser: Any, address: str, painter: str, units: int) -> list[Row]:
    page = browser.new_page(viewport=STAGE)
    page.goto(f"{address}?painter={painter}")
    for _ in range(PATIENCE_MS // 200):
        if page.evaluate(f"wendPlay.panes[0]?.units.count === {units}"):
            break
        page.wait_for_timeout(200)
    page.evaluate("wendPlay.orders.send('pause')")
    page.wait_for_timeout(500)
    with_what = page.evaluate(_RENDERER) if painter == "webgl" else "canvas 2D"
    script, frame = page.evaluate(_MEASURE, FRAMES)
    page.close()
    short = "software WebGL2" if "swiftshader" in with_what.lower() else with_what
    what = f"frame of the live page, {units} units, {short}"
    return [
        Row(what, "ms", frame, where=MAP),
        Row(f"{what}: its script alone", "ms", script, where=MAP, at_most=4 if painter == "webgl" else None),
    ]
