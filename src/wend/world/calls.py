"""Calls to a world: one at a time, and each of them whole, by way of its journal (journal.py).

    with self._calls, self._calls.journal as journal:

The journal ends a call that changes the world. It may be interrupted itself; then what holds it makes the rest.
"""

from __future__ import annotations

import gc
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

from wend.errors import InUseError
from wend.journal import Journal


class Calls:
    """The calls to one world. Each is a `with` block.

    A second call while one is under way, in another thread or in this one, is an InUseError at once: it does not wait.
    """

    def __init__(self) -> None:
        self.journal = Journal()
        self._under_way: dict[str, tuple[int, FrameType]] = {}      # "call": its thread and its frame

    def __enter__(self) -> None:
        mine = threading.get_ident(), sys._getframe(1)
        while (other := self._under_way.setdefault("call", mine)) is not mine:
            if _is_running(*other):
                whose = "this thread" if other[0] == mine[0] else "another thread"
                raise InUseError(
                    f"{mine[1].f_code.co_name} was called while {whose} was in the middle of "
                    f"{other[1].f_code.co_name}: a world does one thing at a time"
                )
            self._under_way.pop("call", None)       # an interrupt kept it from saying that it has ended
        self.journal.settle()

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        if kind is not None:
            self.journal.settle()
        self._under_way.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {"journal": self.journal, "_under_way": {}}


def _is_running(thread: int, frame: FrameType) -> bool:
    """Whether a function call has not returned yet."""
    collects = gc.isenabled()
    gc.disable()        # Python up to 3.11 can hang for ever if it collects garbage while it lists the frames
    try:
        now = sys._current_frames().get(thread)
    finally:
        if collects:
            gc.enable()
    while now is not None and now is not frame:
        now = now.f_back
    return now is not None
