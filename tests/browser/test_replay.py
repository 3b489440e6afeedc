"""The replay page in a browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser.conftest import LONGEST_MS
from tests.browser.fingers import Fingers
from wend.maps.grid import Grid
from wend.viewer.replay import write_replay
from wend.world.trace import Event, Trace

E, W = 2, 4         # codes of moves
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


def passing(agents: int = 2) -> Trace:
    """Agents that walk east and west on a map of 20 x 10 cells, in 10 ticks."""
    events = [
        Event(0, "added", k, {"at": [2 + 10 * (k % 2), 4 + k % 6], "goal": [12 - 10 * (k % 2), 4 + k % 6]})
        for k in range(agents)
    ]
    events += [
        Event(3, "ordered", 1, {"goal": [0, 0]}),
        Event(4, "blocked", None, {"cells": [[0, 9]]}),
        Event(6, "pinned", 0, {"pinned": True}),
        Event(7, "planner", None, {"algorithm": "surge", "parameters": {}, "reason": "asked for"}),
    ]
    moves = np.array([[E, W] * (agents // 2)] * 10, np.uint8)
    meta = {"algorithm": "none", "violations": ["tick 5: swap of agent 0 and 1 at (7, 4)"]}
    return Trace(Grid(np.ones((10, 20))), moves, events, np.arange(10) + 0.5, np.full(10, 1234), meta)


@pytest.fixture
def open_run(open_page: Any, tmp_path: Path) -> Any:
    """A function that opens the page of a run, and waits until the run is there."""

    def open_trace(trace: Trace, **context: Any) -> Any:
        write_replay(trace, tmp_path / "run.html")
        page = open_page((tmp_path / "run.html").as_uri(), **context)
        page.locator("footer").wait_for()
        return page

    return open_trace


def shows(page: Any, selector: str, text: str) -> bool:
    """Wait until an element has this text: what is done shows in the next frame."""
    page.locator(selector).filter(has_text=re.compile(f"^{re.escape(text)}$")).wait_for()
    return True


def lists(page: Any, selector: str, texts: Sequence[str]) -> bool:
    """Wait until there are these elements, with these texts, and no others."""
    return becomes(lambda: page.locator(selector).all_text_contents(), list(texts))


def becomes(look: Callable[[], Any], wanted: Any) -> bool:
    """Wait until something is as it is wanted; pytest shows the difference if that takes too long."""
    end = time.monotonic() + LONGEST_MS / 1000
    while look() != wanted and time.monotonic() < end:
        time.sleep(0.03)
    assert look() == wanted
    return True


def is_at(page: Any, tick: int) -> bool:
    return shows(page, "#tick", str(tick))


def drop(page: Any, name: str, data: bytes) -> None:
    """Drop a file on the page."""
    page.evaluate(
        """([name, data]) => {
          const files = new DataTransfer();
          files.items.add(new File([Uint8Array.from(data)], name));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
        }""",
        [name, list(data)],
    )


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


def has_cells_of(page: Any, pixels: float) -> bool:
    """Wait until cells appear so large, or nearly so."""
    return becomes(lambda: pixels_per_cell(page), pytest.approx(pixels, rel=0.1))


def drawn_cells(page: Any) -> float:
    """How large a cell appears, once the map is drawn."""
    becomes(lambda: pixels_per_cell(page) > 0, True)
    return pixels_per_cell(page)


def test_a_run_is_played_and_stepped_by_keys_alone(open_run: Any) -> None:
    page = open_run(passing())
    press = page.keyboard.press
    press("ArrowRight")
    assert is_at(page, 1)
    assert shows(page, "#planning", "0.500 ms")
    assert shows(page, "#expansions", "1,234")
    press("End")
    assert is_at(page, 10)
    press("ArrowLeft")
    assert is_at(page, 9)
    press("Home")
    for _ in range(4):
        press("+")
    assert shows(page, "#speed", "16\u00d7")
    press("Space")
    page.locator("body[data-state=ended]").wait_for()
    press("/")
    page.keyboard.type("1")         # an id, and not a command
    press("Enter")
    assert shows(page, "#card h2", "Agent 1")
    press("Escape")
    page.locator("#card").wait_for(state="hidden")
    press("?")
    page.locator("#help").wait_for()


def test_the_slider_and_the_graph_lead_to_any_tick(open_run: Any) -> None:
    page = open_run(passing())
    page.locator("#slider").fill("7")
    assert is_at(page, 7)
    box = page.locator("#graph-frame").bounding_box()
    page.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 5)
    assert is_at(page, 2)
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] - 3)
    assert is_at(page, 5)


def test_events_are_filtered_and_lead_to_their_tick(open_run: Any) -> None:
    page = open_run(passing())
    rows = page.locator("#event-list li")
    page.keyboard.press("e")
    assert becomes(rows.count, 7)
    assert page.locator("#event-kind option").all_text_contents() == [
        "all kinds (7)", "added (2)", "ordered (1)", "blocked (1)", "violation (1)", "pinned (1)", "planner (1)",
    ]  # fmt: skip
    page.locator("#event-agent").fill("1")
    assert lists(page, "#event-list li b", ["0", "3", "5"])
    page.locator("#event-kind").select_option("ordered")
    assert becomes(rows.count, 1)
    rows.locator("button").click()
    assert is_at(page, 3)
    assert shows(page, "#card h2", "Agent 1")
    page.locator("#event-list li.now").wait_for()
    page.locator(".facts button").click()       # the number of violations
    assert lists(page, "#event-list li", ["5violationswap of agent 0 and 1 at (7, 4)"])
    rows.locator("button").click()
    assert is_at(page, 5)


def test_a_long_list_is_shown_in_parts(open_run: Any) -> None:
    page = open_run(passing(agents=240))
    page.get_by_role("button", name="Events").click()
    assert shows(page, "#event-range", "1\u2013100 of 245")
    assert page.locator("#event-list li").count() == 100
    page.get_by_role("button", name="Later").click()
    page.get_by_role("button", name="Later").click()
    assert shows(page, "#event-range", "201\u2013245 of 245")
    assert page.locator("#event-list li").count() == 45
    assert page.get_by_role("button", name="Later").is_disabled()


def test_an_agent_is_found_and_the_camera_follows_it(open_run: Any) -> None:
    page = open_run(passing(), **PHONE)
    assert drawn_cells(page) < 20
    page.locator("#find-id").fill("1")
    page.keyboard.press("Enter")
    assert shows(page, "#card .note", "Following. Drag to stop, Esc to let go.")
    assert becomes(lambda: pixels_per_cell(page) > 18, True)    # as many as fit: the map is wider than the stage now
    page.locator("#find-id").fill("2")
    page.keyboard.press("Enter")
    assert becomes(page.locator("#find-id:invalid").count, 1)
    assert shows(page, "#card h2", "Agent 1")


def test_files_are_dropped_on_the_page(open_page: Any, tmp_path: Path) -> None:
    write_replay(None, tmp_path / "empty.html")
    page = open_page((tmp_path / "empty.html").as_uri())
    page.get_by_role("button", name="Choose a file").wait_for()
    problem = page.locator("#problem")
    drop(page, "plan.txt", b"agents=2")
    problem.wait_for()
    assert "it is no zip file" in problem.text_content()
    drop(page, "run.wend", passing().to_bytes())
    page.locator("footer").wait_for()
    problem.wait_for(state="hidden")
    assert shows(page, "#ticks", "10")
    page.locator("#slider").fill("7")
    drop(page, "half.wend", passing().to_bytes()[:500])     # what is shown stays
    problem.wait_for()
    assert is_at(page, 7)
    drop(page, "other.wend", passing(agents=4).to_bytes())
    page.locator("#find-id[max='3']").wait_for()
    assert is_at(page, 0)
    page.locator("#file").set_input_files(
        {"name": "run.wend", "mimeType": "application/zip", "buffer": passing().to_bytes()}
    )
    page.locator("#find-id[max='1']").wait_for()


def test_the_frame_in_a_notebook_plays_the_run(open_page: Any, tmp_path: Path) -> None:
    (tmp_path / "notebook.html").write_text(f"<!doctype html><p>Out[1]:</p>{passing()._repr_html_()}")
    page = open_page((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("footer").wait_for()
    frame.locator("[data-command=end]").click()
    frame.locator("#tick").filter(has_text="10").wait_for()


def test_two_fingers_zoom_and_select_nothing(open_run: Any) -> None:
    page = open_run(passing(), **PHONE)
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = drawn_cells(page)
    assert before < 20
    fingers = Fingers(page)
    fingers.move([(x - 60, y), (x + 60, y)], [(x - 45, y), (x + 45, y)], [(x - 30, y), (x + 30, y)])
    assert has_cells_of(page, before / 2)
    fingers.move([(x - 30, y), (x + 30, y)], [(x - 50, y), (x + 50, y)])
    assert has_cells_of(page, before / 2 * 5 / 3)
    assert page.locator("#card").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(390, 780), (844, 390), (1400, 900)])
def test_the_page_fits_the_screen(open_run: Any, width: int, height: int, scheme: str) -> None:
    """Nothing is cut off, and the map keeps at least two fifths of a phone's screen."""
    page = open_run(passing(), viewport={"width": width, "height": height}, color_scheme=scheme)
    size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert size == [width, height]
    for name in ("Play", "One tick forward", "Faster", "Events", "Help: keys and mouse"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert page.locator("#map").bounding_box()["height"] >= 0.4 * height
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(12, 16, 20)"
    assert dark == (scheme == "dark")
