"""The replay page in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser.fingers import Fingers
from wend.maps.grid import Grid
from wend.viewer.replay import write_replay
from wend.world.trace import Event, Trace

E, W = 2, 4         # codes of moves


@pytest.fixture
def run(tmp_path: Path) -> str:
    """The address of a page: two agents that pass each other on a map of 20 x 10 cells, in 10 ticks."""
    events = [
        Event(0, "added", 0, {"at": [2, 4], "goal": [12, 4]}),
        Event(0, "added", 1, {"at": [12, 6], "goal": [2, 6]}),
    ]
    moves = np.array([[E, W]] * 10, np.uint8)
    trace = Trace(Grid(np.ones((10, 20))), moves, events, np.ones(10), np.full(10, 5), {"algorithm": "none"})
    write_replay(trace, tmp_path / "run.html")
    return (tmp_path / "run.html").as_uri()


def pixels_per_cell(page: Any) -> float:
    """How large a cell appears: the map has 20 columns, and around it the canvas is transparent."""
    return float(
        page.evaluate(
            """() => {
              const canvas = document.getElementById("map");
              const { width, height } = canvas;
              const row = canvas.getContext("2d").getImageData(0, Math.floor(height / 2), width, 1).data;
              let inside = 0;
              for (let i = 3; i < row.length; i += 4) inside += row[i] > 0;
              return inside / devicePixelRatio / 20;
            }"""
        )
    )


def test_two_fingers_zoom_and_one_moves_the_map(open_page: Any, run: str) -> None:
    page = open_page(run, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page.wait_for_function("document.getElementById('message').textContent === ''")
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = pixels_per_cell(page)
    assert before < 20
    fingers = Fingers(page)
    fingers.move([(x - 60, y), (x + 60, y)], [(x - 45, y), (x + 45, y)], [(x - 30, y), (x + 30, y)])
    page.wait_for_timeout(100)
    assert pixels_per_cell(page) == pytest.approx(before / 2, rel=0.1)
    fingers.move([(x - 30, y), (x + 30, y)], [(x - 50, y), (x + 50, y)])
    page.wait_for_timeout(100)
    assert pixels_per_cell(page) == pytest.approx(before / 2 * 5 / 3, rel=0.1)
    assert page.locator("#card").is_hidden()        # two fingers select nothing
