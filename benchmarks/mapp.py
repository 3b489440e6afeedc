"""MAPP with 2,000 units on the largest map of its paper, from scratch and with alternate paths that are known."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.maps import large_map
from benchmarks.measure import Row
from wend.errors import DataError, UnknownNameError
from wend.grid import Grid

MAP = "bgmaps/AR0700SR"
AGENTS = 2000


def run() -> list[Row]:
    """Seconds of a whole `wend solve`, start-up included, and its memory."""
    try:
        Grid.load(MAP)
        name = MAP
    except (UnknownNameError, DataError):
        name, _ = large_map()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        _solve(name, "--agents", "100")                                     # compiles, and fills no folder
        for what, at_most in (("from scratch", 20.0), ("with known alternate paths", 10.0)):
            seconds, found = _solve(name, "--agents", str(AGENTS), "--alternates-folder", folder)
            rows += [
                Row(f"{AGENTS} units {what}, {found['completed']} home", "s", seconds, where=name, at_most=at_most),
                Row(f"peak memory {what}", "MB", found["peak_rss_mb"], where=name, at_most=1500.0),
            ]
    return rows


def _solve(name: str, *options: str) -> tuple[float, dict[str, Any]]:
    command = [sys.executable, "-m", "wend", "solve", name, "--algorithm", "mapp", "--seed", "1", "--json", *options]
    began = time.perf_counter()
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return time.perf_counter() - began, found
