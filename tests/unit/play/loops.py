"""Coroutines in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_to_its_end(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a thread of its own: in a test session's own thread, the browser's loop may be running."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()
