"""How a group that was ordered as one keeps together: pure functions of a Trace. See wend.groups.cohesion."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.groups.cohesion import is_separated, splits, spread
from wend.maps.grid import Grid
from wend.metrics.agents import Floats, largest, mean
from wend.world.trace import Event, Trace


def group_spread(trace: Trace) -> Floats:
    """[ticks + 1] the mean distance of the units from their common centre, in the group that was last ordered.

    Only units on the map count; NaN where there are none, and before the first group order.
    """
    cells = trace.positions()
    spreads = np.full(trace.ticks + 1, math.nan)
    orders = _group_orders(trace)
    changes = [*(order.tick for order in orders), trace.ticks + 1]
    for order, (begin, end) in zip(orders, itertools.pairwise(changes), strict=True):
        for tick in range(begin, end):
            at = cells[tick, order.data["agents"]]
            there = at[at >= 0]
            if there.size:
                spreads[tick] = spread(_places(trace, there)[np.newaxis])[0]
    return spreads


def cohesion(trace: Trace) -> dict[str, Any] | None:
    """How well the group of the last group order kept together since then; None if there was no such order.

    `members` (the agents that were ordered), `spread_mean` and `spread_peak` (over the ticks since the order, in cells)
    and `separated` (whether obstacles that stood all that time split the units that are still on the map).
    """
    orders = _group_orders(trace)
    if not orders:
        return None
    spreads = spreads_since_order(trace)
    return {
        "members": list(orders[-1].data["agents"]),
        "spread_mean": mean(spreads),
        "spread_peak": largest(spreads),
        "separated": separated(trace),
    }


def spreads_since_order(trace: Trace) -> Floats:
    """The spread of the last group, from its order on; empty if there was no group order."""
    orders = _group_orders(trace)
    return group_spread(trace)[orders[-1].tick :] if orders else np.empty(0)


def separated(trace: Trace) -> bool | None:
    """Whether obstacles split the last group on its way, or keep it apart; None if there was no group order."""
    orders = _group_orders(trace)
    if not orders:
        return None
    since = orders[-1].tick
    walks = trace.positions()[since:, orders[-1].data["agents"]].T
    walks = walks[(walks >= 0).all(axis=1)]
    if len(walks) == 0:
        return False
    ground = _ground(trace, since)
    if len(set(ground.component[walks[:, [0, -1]]].ravel().tolist())) > 1:
        return True
    paths = [[(x, y) for x, y in _places(trace, walk).tolist()] for walk in walks]
    return is_separated(splits(ground, paths))


def _group_orders(trace: Trace) -> list[Event]:
    return sorted(trace.events_of("group"), key=lambda event: event.tick)


def _ground(trace: Trace, since: int) -> Grid:
    """The map with only those walls that have stood all the time since a tick."""
    passable = trace.grid.passable.copy()
    for event in trace.events_of("blocked", "unblocked"):
        if event.kind == "unblocked" or event.tick <= since:
            for x, y in event.data["cells"]:
                passable[y, x] = event.kind == "unblocked"
    return Grid(passable, connectivity=trace.grid.connectivity, corner_cutting=trace.grid.corner_cutting)


def _places(trace: Trace, cells: NDArray[np.int32]) -> NDArray[np.int32]:
    """[cells, 2] column and row of each."""
    return np.stack([cells % trace.grid.width, cells // trace.grid.width], axis=-1)
