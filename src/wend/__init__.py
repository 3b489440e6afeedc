"""Wend moves many units through a game map in real time without jams.

The public names are loaded when they are first used, so that `wend --help` need not wait for the compiler.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wend import errors, metrics
    from wend.conformance import check_planner
    from wend.errors import WendError
    from wend.groups.orders import Order
    from wend.maps import generators as mapgen
    from wend.maps.grid import Grid
    from wend.planners.base import Budget, Planner, parameter
    from wend.planners.mapp.mapp import provable
    from wend.planners.registry import ALGORITHMS, create, register
    from wend.problems.problem import Problem
    from wend.problems.scenarios import make_problem
    from wend.run import Limits, Run, solve
    from wend.search.astar import Path, shortest_path
    from wend.search.rths import rths
    from wend.world.snapshot import Snapshot
    from wend.world.trace import Trace
    from wend.world.warming import warm_up
    from wend.world.world import World

_HOME = {
    "ALGORITHMS": "wend.planners.registry",
    "Budget": "wend.planners.base",
    "Grid": "wend.maps.grid",
    "Limits": "wend.run",
    "Order": "wend.groups.orders",
    "Path": "wend.search.astar",
    "Planner": "wend.planners.base",
    "Problem": "wend.problems.problem",
    "Run": "wend.run",
    "Snapshot": "wend.world.snapshot",
    "Trace": "wend.world.trace",
    "WendError": "wend.errors",
    "World": "wend.world.world",
    "check_planner": "wend.conformance",
    "create": "wend.planners.registry",
    "make_problem": "wend.problems.scenarios",
    "parameter": "wend.planners.base",
    "provable": "wend.planners.mapp.mapp",
    "register": "wend.planners.registry",
    "rths": "wend.search.rths",
    "shortest_path": "wend.search.astar",
    "solve": "wend.run",
    "warm_up": "wend.world.warming",
}
_MODULES = {"errors": "wend.errors", "mapgen": "wend.maps.generators", "metrics": "wend.metrics"}

__all__ = [
    "ALGORITHMS",
    "Budget",
    "Grid",
    "Limits",
    "Order",
    "Path",
    "Planner",
    "Problem",
    "Run",
    "Snapshot",
    "Trace",
    "WendError",
    "World",
    "check_planner",
    "create",
    "errors",
    "make_problem",
    "mapgen",
    "metrics",
    "parameter",
    "provable",
    "register",
    "rths",
    "shortest_path",
    "solve",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'wend' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
