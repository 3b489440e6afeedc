from __future__ import annotations

import copy
import pickle
import threading
import time

import pytest

from wend.kernel.threads import Threads


@pytest.mark.small
@pytest.mark.parametrize("count", [1, 3])
def test_each_worker_has_its_share_and_its_own_workspace(count: int) -> None:
    numbers = list(range(10))
    workspaces: list[list[int]] = [[] for _ in range(count)]

    def job(shared: list[int], own: list[int], worker: int, workers: int) -> None:
        own.extend(shared[worker::workers])

    for threads in (Threads(count), copy.deepcopy(Threads(count)), pickle.loads(pickle.dumps(Threads(count)))):
        for own in workspaces:
            own.clear()
        threads.run(job, numbers, own=workspaces)
        assert workspaces == [numbers[worker::count] for worker in range(count)]


@pytest.mark.small
def test_an_error_in_another_thread_is_raised() -> None:
    def job(own: str, worker: int, count: int) -> None:
        if worker == 1:
            raise ValueError(f"{own} of {count}")

    with pytest.raises(ValueError, match="second of 2"):
        Threads(2).run(job, own=["first", "second"])


def test_none_works_on_after_the_caller_was_interrupted() -> None:
    """The others may write into what the caller goes on to use."""
    may_end, ended = threading.Event(), []

    def job(_own: None, worker: int, _count: int) -> None:
        if worker == 0:
            may_end.set()
            raise KeyboardInterrupt
        assert may_end.wait(60)
        time.sleep(0.05)
        ended.append(worker)

    with pytest.raises(KeyboardInterrupt):
        Threads(3).run(job, own=[None] * 3)
    assert sorted(ended) == [1, 2]
