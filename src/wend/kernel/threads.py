"""Kernels on several threads: independent work is shared out by number, so that the result is always the same.

Numba's own `prange` cannot be given NamedTuples of NamedTuples, which is what state is here. So the threads are
Python's; kernels let go of the interpreter's lock (`nogil`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Threads:
    """So many threads, the caller's own among them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._others = ThreadPoolExecutor(count - 1) if count > 1 else None

    def run(self, job: Callable[..., Any], *shared: Any, own: Sequence[Any]) -> None:
        """Call job(*shared, own[worker], worker, count) for every worker 0..count - 1; return when all are done.

        `own` is what each worker works with alone.
        """
        running = []
        if self._others is not None:
            others = range(1, self.count)
            running = [self._others.submit(job, *shared, own[worker], worker, self.count) for worker in others]
        job(*shared, own[0], 0, self.count)
        for other in running:
            other.result()
