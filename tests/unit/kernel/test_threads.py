from __future__ import annotations

import copy
import pickle
import threading
import time

import pytest

from wend.kernel.threads import Threads


def test_every_worker_works_once() -> None:
    done: list[tuple[str, int, int]] = []
    for threads in (Threads(3), copy.deepcopy(Threads(3)), pickle.loads(pickle.dumps(Threads(3)))):
        done.clear()
        threads.run(lambda *job: done.append(job), "a")
        assert sorted(done) == [("a", 0, 3), ("a", 1, 3), ("a", 2, 3)]


def test_none_works_on_after_the_caller_was_interrupted() -> None:
    """The others may write into what the caller goes on to use."""
    may_end, ended = threading.Event(), []

    def job(worker: int, _count: int) -> None:
        if worker == 0:
            may_end.set()
            raise KeyboardInterrupt
        assert may_end.wait(60)
        time.sleep(0.05)
        ended.append(worker)

    with pytest.raises(KeyboardInterrupt):
        Threads(3).run(job)
    assert sorted(ended) == [1, 2]


def test_errors_of_other_threads_are_raised() -> None:
    def job(worker: int, _count: int) -> None:
        if worker == 1:
            raise ValueError("the second")

    with pytest.raises(ValueError, match="the second"):
        Threads(2).run(job)
