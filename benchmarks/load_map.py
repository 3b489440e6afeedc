"""How long it takes to load a grid: from the zip of a benchmark set, and from a plain `.map` file."""

from __future__ import annotations

import tempfile
import zipfile
from functools import partial
from pathlib import Path

from benchmarks.maps import BENCHMARK_MAP, large_map
from benchmarks.measure import Row, best_seconds
from wend.maps.grid import Grid


def run() -> list[Row]:
    """Milliseconds of `Grid.load`."""
    name, grid = large_map()
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "large.map"
        grid.save(plain)
        zipped = name if name == BENCHMARK_MAP else _zipped(plain)
        best = best_seconds({"zip": partial(Grid.load, zipped), "plain": partial(Grid.load, plain)}, rounds=20)
    return [
        Row("Grid.load from a zip", "ms", best["zip"] * 1e3, where=name, at_most=30),
        Row("Grid.load from a .map file", "ms", best["plain"] * 1e3, where=name, at_most=30),
    ]


def _zipped(plain: Path) -> Path:
    """The map inside a new zip, as a source to load from."""
    archive = plain.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(plain, plain.name)
    return archive / plain.name
