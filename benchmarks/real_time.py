"""A game's frame: 2,000 agents that all get orders in the same tick. Each planner has its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.maps import large_map
from benchmarks.measure import Row

AGENTS = 2000
TICKS = 3000
BUDGET = 8000       # expansions per tick
PLANNERS = ("bmaa", "bmaa-fc", "surge", "far")


def run() -> list[Row]:
    """Speed, frame times and memory as `wend solve` measures them, without a budget and with one."""
    name, _ = large_map()
    rows: list[Row] = []
    for planner in PLANNERS:
        free, held = _solve(name, planner), _solve(name, planner, "--budget", str(BUDGET))
        per_expansion = free["plan_seconds"] / free["expansions"] * 1e9
        wanted = 250.0 if planner == "bmaa" else None       # 4 million a second
        measured = [
            ("planning per expansion", "ns", per_expansion, wanted),
            ("tick, p50", "ms", free["tick_ms"]["p50"], 1.0),
            ("tick, p99", "ms", free["tick_ms"]["p99"], 4.0),
            (f"slowest tick, {BUDGET} expansions each", "ms", held["tick_ms"]["max"], 8.0),
            (f"until the last agent moves, {BUDGET} expansions each", "ticks", held["first_move_ticks_max"], None),
            ("peak memory", "MB", free["peak_rss_mb"], 300.0),
        ]
        for what, unit, ours, at_most in measured:
            rows.append(Row(f"{planner}: {what}", unit, ours, where=name, at_most=at_most))
    return rows


def _solve(map_name: str, planner: str, *options: str) -> dict[str, Any]:
    command = [
        sys.executable, "-m", "wend", "solve", map_name, "--algorithm", planner, "--agents", str(AGENTS),
        "--max-ticks", str(TICKS), "--seed", "1", "--json", *options,
    ]  # fmt: skip
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found
