"""Fingers on a touch screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Fingers:
    """Fingers on a phone's screen; the page must have been opened with `has_touch=True`."""

    def __init__(self, page: Any) -> None:
        self.session = page.context.new_cdp_session(page)

    def move(self, first: Sequence[tuple[float, float]], *others: Sequence[tuple[float, float]]) -> None:
        """Put fingers down at the first places, move them over the others, and lift them."""
        self._send("touchStart", first)
        for places in others:
            self._send("touchMove", places)
        self._send("touchEnd", [])

    def press(self, place: tuple[float, float]) -> None:
        """Put a finger down, and leave it there until `lift`."""
        self._send("touchStart", [place])

    def lift(self) -> None:
        """Take all fingers off the screen."""
        self._send("touchEnd", [])

    def _send(self, kind: str, places: Sequence[tuple[float, float]]) -> None:
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(places)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
