"""What the sandbox costs: a tick, the frames made of it, the bytes that a client gets, and a frame of the page.

The server is measured without a socket: a scene is ticked, and its picture taken, as the server does it.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measure import Row
from benchmarks.play_page import page_rows
from wend.play.catalogue import Catalogue, Recipe
from wend.play.messages import PlayLimits
from wend.play.scene import LiveScene
from wend.world.warming import warm_up

UNITS = (500, 2_000, 10_000)
MAP = "arena:width=512,height=384"
PLANNER = "surge"
TICKS = 200
SKIPPED = 20        # ticks at the start, in which all units begin to search


def run() -> list[Row]:
    """For each number of units: milliseconds of the world's tick, of the frames, bytes per tick; frames of the page."""
    warm_up(PLANNER)
    rows = []
    for units in UNITS:
        tick_ms, frames_ms, moves, full = measure(units)
        where = f"{units} units, {MAP}"
        rows += [
            Row("world.tick, median", "ms", float(np.median(tick_ms)), where=where),
            Row("world.tick, 99 of 100", "ms", float(np.quantile(tick_ms, 0.99)), where=where),
            Row("picture and frames, median", "ms", float(np.median(frames_ms)), where=where, at_most=5),
            Row("bytes per tick to each client", "kB", float(np.mean(moves)) / 1000, where=where),
            Row("bytes of a full frame", "kB", full / 1000, where=where),
        ]
    return [*rows, *page_rows()]


def measure(units: int) -> tuple[list[float], list[float], list[int], int]:
    """Milliseconds of each tick and of its frames, bytes of each tick, and bytes of a full frame."""
    recipe = Recipe(map=MAP, problem="swap-sides", agents=units, algorithm=PLANNER)
    limits = PlayLimits()
    catalogue = Catalogue(limits)
    scene = LiveScene(recipe, catalogue.grid(recipe), [catalogue.planner(PLANNER, {})], limits)
    scene.picture()
    tick_ms, frames_ms, sizes = [], [], []
    for tick in range(TICKS):
        scene.tick()
        began = time.perf_counter()
        picture = scene.picture()
        smallest = min((*picture.full, *picture.moves), key=lambda body: len(body.data))
        framed = smallest.framed(pane=0, scene=1, frame=tick, tick=tick)
        ended = time.perf_counter()
        if tick >= SKIPPED:
            tick_ms.append(scene.panes[0].tick_ms)
            frames_ms.append((ended - began) * 1000)
            sizes.append(len(framed))
    return tick_ms, frames_ms, sizes, len(picture.full[0].data)
