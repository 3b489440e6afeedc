"""Interrupts at a chosen line of Wend: what Ctrl-C does, where a test wants it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import wend

_SOURCE = str(Path(wend.__file__).parent)


class Interrupt:
    """Raises KeyboardInterrupt at the n-th line of Wend's own files that a call comes to."""

    def __init__(self, lines: int) -> None:
        self.lines_left = lines
        self.at: str | None = None      # where it came, None if the call ended before

    def during(self, call: Callable[[], Any]) -> bool:
        """Make the call; whether it was interrupted."""
        outer = sys.gettrace()
        sys.settrace(self._enter)
        try:
            call()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(outer)
        return self.at is not None

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(_SOURCE) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and self.at is None:
            self.lines_left -= 1
            if self.lines_left == 0:
                self.at = f"{frame.f_code.co_filename}, line {frame.f_lineno}"
                raise KeyboardInterrupt
        return self._line
