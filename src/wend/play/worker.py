"""A worker: one thread in which worlds are built and ticked, so that no tick ever holds up the sockets."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")


class Worker:
    """Runs functions one after the other in a thread of its own, for one event loop.

    A tick cannot be interrupted. So a worker can be left to itself: `retire` has its thread end as soon as it can, and
    the process does not wait for it.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="wend-play", daemon=True)
        self._thread.start()

    async def call(self, function: Callable[..., _Answer], *args: Any) -> _Answer:
        """What the function returns or raises."""
        future: asyncio.Future[_Answer] = self._loop.create_future()
        self._tasks.put((future, lambda: function(*args)))
        return await future

    def retire(self) -> None:
        """Let the thread end after what it is doing."""
        self._tasks.put(None)

    @property
    def is_alive(self) -> bool:
        """Whether the thread has not ended yet."""
        return self._thread.is_alive()

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, function = task
            try:
                answer, error = function(), None
            except BaseException as raised:
                answer, error = None, raised
            try:
                self._loop.call_soon_threadsafe(_settle, future, answer, error)
            except RuntimeError:        # the loop has ended
                return


def _settle(future: asyncio.Future[Any], answer: Any, error: BaseException | None) -> None:
    if future.done():                   # nobody waits for it any more
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
