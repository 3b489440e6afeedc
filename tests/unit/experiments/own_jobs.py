"""Jobs that do what jobs should not, for the runner's tests. Workers import them by name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

ENDED = {"stopped_by": "done", "state_hash": "", "violations": 0}


def fine(job: dict[str, Any]) -> dict[str, Any]:
    return {**ENDED, "ticks": 10.0 * job["agents"] + job["instance"]}


def slow(job: dict[str, Any]) -> dict[str, Any]:
    """WEND_TEST_LOG names a file in which jobs write themselves down, WEND_TEST_LAST after how many they hang."""
    time.sleep(0.05)
    if "WEND_TEST_LOG" in os.environ:
        log = Path(os.environ["WEND_TEST_LOG"])
        if log.exists() and len(log.read_text().split()) >= int(os.environ["WEND_TEST_LAST"]):
            time.sleep(3600)
        with log.open("a") as written:
            written.write(f"{job['id']}\n")
    return fine(job)


def raises(job: dict[str, Any]) -> dict[str, Any]:
    if job["agents"] == 2:
        raise ValueError("two is too many")
    return fine(job)


def dies(job: dict[str, Any]) -> dict[str, Any]:
    if job["agents"] == 2:
        os._exit(3)
    return fine(job)


def hangs(job: dict[str, Any]) -> dict[str, Any]:
    if job["agents"] == 2:
        time.sleep(3600)
    return fine(job)
