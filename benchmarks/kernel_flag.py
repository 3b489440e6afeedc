# mypy: disallow-untyped-calls=False
"""What the private flag `_nrt=False` of `wend.kernel.compiling.jit` is worth: A* with it and without it.

If the ratio falls to 1, Numba no longer honours the flag, and every kernel is as slow as without it.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher

from benchmarks.maps import large_map, random_points
from benchmarks.measure import Row, best_seconds
from wend.maps.grid import Grid
from wend.search import astar

QUERIES = 50


def run() -> list[Row]:
    """Nanoseconds per expansion of the A* kernel, against the same code compiled by plain `numba.njit`."""
    name, grid = large_map()
    cells = [grid.cell(*point) for point in random_points(grid, 2 * QUERIES, seed=0)]
    queries = list(zip(cells[:QUERIES], cells[QUERIES:], strict=True))
    search = astar.make_search(grid.size)
    expansions = _search_all(astar.run, grid, search, queries)
    plain = recompiled(astar.run, numba.njit(error_model="numpy"))
    best = best_seconds({"ours": partial(_search_all, astar.run, grid, search, queries),
                         "plain": partial(_search_all, plain, grid, search, queries)})  # fmt: skip
    ours, theirs = (best[key] / expansions * 1e9 for key in ("ours", "plain"))
    return [Row("A* kernel, per expansion", "ns", ours, "plain njit", theirs, name, at_least=1.2)]


def recompiled(kernel: Any, decorate: Callable[[Callable[..., Any]], Any]) -> Any:
    """The same kernel, and all kernels that it calls, under another decorator."""
    function = kernel.py_func
    read = {step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"}
    names = {name: function.__globals__.get(name) for name in read}
    called = {name: recompiled(held, decorate) for name, held in names.items() if isinstance(held, Dispatcher)}
    twin = types.FunctionType(
        function.__code__, {**function.__globals__, **called}, function.__name__, function.__defaults__
    )
    return decorate(twin)


def _search_all(run_kernel: Any, grid: Grid, search: astar.Search, queries: Sequence[tuple[int, int]]) -> int:
    expansions = 0
    for start, goal in queries:
        astar.begin(grid.tables, search, start, goal, 0, 0)
        run_kernel(grid.tables, search, astar.NO_LIMIT)
        expansions += int(astar.expansions_of(search))
    return expansions
