"""`wend select` once everything is loaded: from a problem with 1,000 agents to the choice and its reasons."""

from __future__ import annotations

import numpy as np

from benchmarks.maps import large_map
from benchmarks.measure import Row, best_seconds
from wend.problems.problem import Problem
from wend.problems.scenarios import SEVEN_TYPES, make_problem
from wend.selection.evaluation import Portfolio
from wend.selection.features import FEATURES
from wend.selection.selector import train_selector

AGENTS = 1000
TRAINED = 2000      # problems, as many as the thesis trains with


def run() -> list[Row]:
    """Every type of problem. The selector is trained on made-up numbers: its trees are as large as real ones."""
    name, grid = large_map()
    rng = np.random.default_rng(0)
    names = tuple(map(str, range(TRAINED)))
    made_up = rng.random((TRAINED, len(FEATURES))), rng.random((TRAINED, 3, 3))
    selector = train_selector(Portfolio(("whca", "far", "bmaa"), names, names, names, *made_up))
    problems = {kind: make_problem(kind, grid, agents=AGENTS, seed=1) for kind in SEVEN_TYPES}

    def choose(problem: Problem) -> object:
        return selector.choose(problem)

    seconds = best_seconds({kind: lambda problem=problem: choose(problem) for kind, problem in problems.items()})
    return [Row(f"select: {kind}", "ms", 1000 * seconds[kind], where=name, at_most=20.0) for kind in problems]
