from __future__ import annotations

import pytest

from wend.kernel.threads import Threads


@pytest.mark.small
@pytest.mark.parametrize("count", [1, 3])
def test_each_worker_has_its_share_and_its_own_workspace(count: int) -> None:
    numbers = list(range(10))
    workspaces: list[list[int]] = [[] for _ in range(count)]

    def job(shared: list[int], own: list[int], worker: int, workers: int) -> None:
        own.extend(shared[worker::workers])

    Threads(count).run(job, numbers, own=workspaces)
    assert workspaces == [numbers[worker::count] for worker in range(count)]


@pytest.mark.small
def test_an_error_in_another_thread_is_raised() -> None:
    def job(own: str, worker: int, count: int) -> None:
        if worker == 1:
            raise ValueError(f"{own} of {count}")

    with pytest.raises(ValueError, match="second of 2"):
        Threads(2).run(job, own=["first", "second"])
