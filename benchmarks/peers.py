"""Sums of costs beside those of other solvers, which a file has: nothing of theirs is built or run here.

It takes a quarter of an hour, so it runs only when named, with `--peers FILE`. docs/benchmarks.md describes the file.
Costs compare exactly; the times in the file are another machine's, and are a guide.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Row
from wend import Grid, Limits, Problem, create, solve
from wend.maps.sources import load_scenario
from wend.metrics import first_solution_seconds

LIMITS = Limits(max_ticks=3_000)


@dataclass(frozen=True)
class Pair:
    """A planner of ours, and the solver that it stands beside."""

    title: str
    key: str
    parameters: dict[str, Any]
    solver: str                         # its key in the file
    at_most: float | None = None        # target for the mean of our costs over theirs


PAIRS = (
    Pair("LaCAM*, first plan", "lacam", {}, "lacam3 first plan", at_most=0.87),
    Pair("LaCAM*, 5 s", "lacam", {"anytime_ms": 5_000}, "lacam3 anytime 5 s", at_most=0.85),
    Pair("Weave", "weave", {}, "lacam3 first plan"),
    Pair("PIBT", "pibt", {}, "PIBT+"),
)


@dataclass(frozen=True)
class Outcome:
    """What became of one instance."""

    ours: int | None        # sum of costs, None if not all agents came home
    theirs: int | None
    our_ms: float
    their_ms: float


def run(peers: Path | None = None) -> list[Row]:
    """For each pair: our costs over theirs where both solve, mean and largest, the times, and what is not solved."""
    if peers is None:
        raise SystemExit("benchmarks: peers needs --peers FILE, the results of other solvers")
    instances = json.loads(peers.read_text())
    rows = []
    for pair in PAIRS:
        rows += _rows(pair, [_outcome(pair, instance) for instance in instances if pair.solver in instance])
    return rows


def _outcome(pair: Pair, instance: dict[str, Any]) -> Outcome:
    grid = Grid.load(instance["map"], connectivity=4)
    scenario = load_scenario(f"mapf/{instance['scenario']}")
    problem = Problem.from_scen(grid, scenario, agents=instance["agents"])
    done = solve(problem, create(pair.key, **pair.parameters), LIMITS)
    theirs, seconds = instance[pair.solver], first_solution_seconds(done.trace)
    return Outcome(
        done.sum_of_costs,
        theirs["sum_of_costs"] if theirs["solved"] else None,
        float("nan") if seconds is None else seconds * 1e3,
        theirs["ms"],
    )


def _rows(pair: Pair, outcomes: list[Outcome]) -> list[Row]:
    both = [(o.ours / o.theirs, o.our_ms, o.their_ms) for o in outcomes if o.ours is not None and o.theirs is not None]
    costs, ours, theirs = np.array(both).T

    def unsolved(which: Callable[[Outcome], int | None]) -> int:
        return sum(which(outcome) is None for outcome in outcomes)

    title, where = f"{pair.title} beside {pair.solver}", f"{len(both)} of {len(outcomes)} that both solve"
    return [
        Row(f"{title}: cost, mean", "of theirs", float(costs.mean()), where=where, at_most=pair.at_most),
        Row(f"{title}: cost, largest", "of theirs", float(costs.max()), where=where),
        Row(f"{title}: time, median", "ms", float(np.median(ours)), "elsewhere", float(np.median(theirs)), where),
        Row(f"{title}: not solved (they: {unsolved(lambda o: o.theirs)})", "instances", unsolved(lambda o: o.ours)),
    ]
