"""Kernels on several threads: independent work is shared out by number, so that the result is always the same.

Numba's own `prange` cannot be given NamedTuples of NamedTuples, which is what state is here. So the threads are
Python's; kernels let go of the interpreter's lock (`nogil`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any


class Threads:
    """So many threads, the caller's own among them. Copies, unpickled ones and forked processes start their own."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._others: ThreadPoolExecutor | None = None
        self._process = 0       # the one that the others run in; a fork does not inherit them

    def run(self, job: Callable[..., Any], *shared: Any, own: Sequence[Any]) -> None:
        """Call job(*shared, own[worker], worker, count) for every worker 0..count - 1; return when all are done.

        `own` is what each worker works with alone.
        """
        running: list[Future[Any]] = []
        try:
            if self.count > 1:
                others = self._start()
                for worker in range(1, self.count):
                    running.append(others.submit(job, *shared, own[worker], worker, self.count))
            job(*shared, own[0], 0, self.count)
        finally:
            _wait_for_all(running)
        for other in running:
            other.result()

    def _start(self) -> ThreadPoolExecutor:
        if self._others is None or self._process != os.getpid():
            self._others, self._process = ThreadPoolExecutor(self.count - 1), os.getpid()
        return self._others

    def __reduce__(self) -> tuple[type[Threads], tuple[int]]:
        return Threads, (self.count,)


def _wait_for_all(running: list[Future[Any]]) -> None:
    """Return when all are done, also if an interrupt comes meanwhile: none may go on writing after the caller left."""
    interrupt: BaseException | None = None
    while not all(other.done() for other in running):
        try:
            wait(running)
        except BaseException as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
