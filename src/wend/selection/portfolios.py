"""Portfolios of algorithms, and how good it is to choose from them.

D. Sigurdson, "Automatic Algorithm Selection in Videogame Pathfinding" (MSc thesis, University of Alberta, 2018),
sections 2.2 and 4.4.2 and Algorithm 2.

Two kinds of data. *Suboptimality* is an array [algorithms, problems], in which less is better: what real-time
heuristic search costs. *Quality* is an array [problems, algorithms, 3] of completion rate (more is better), distance
and time (less is better): what many agents achieve; the first that differs decides.

The *perfect* selector always takes the best of the portfolio, the *worst* selector the worst. The *single best* is the
algorithm with the best mean where it was trained; the thesis calls it the prior. A selector is as good as the share of
the gap between single best and perfect that it closes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError

Numbers = NDArray[np.float64]
Choices = NDArray[np.intp]      # by problem, the place of an algorithm

COMPLETION, DISTANCE, TIME = range(3)


# --- suboptimality ---------------------------------------------------------------------------------------------------


def perfect_mean(suboptimality: Numbers, portfolio: Sequence[int]) -> float:
    """The mean suboptimality if the best of the portfolio is taken for each problem."""
    return float(suboptimality[list(portfolio)].min(axis=0).mean())


def best_configuration(suboptimality: Numbers) -> int:
    """The algorithm with the least mean; of equal ones the first."""
    return int(suboptimality.mean(axis=1).argmin())


def greedy_portfolio(suboptimality: Numbers, size: int) -> list[int]:
    """Add the algorithm that helps the perfect selector most, until there are so many or none helps (Alg. 2).

    >>> greedy_portfolio(np.array([[1.0, 9.0, 5.0], [9.0, 1.0, 5.5], [3.0, 3.0, 3.0]]), 2)
    [2, 0]
    """
    if suboptimality.ndim != 2 or 0 in suboptimality.shape:
        raise ParameterError("suboptimality is an array of algorithms x problems, with one of each at least")
    if size < 1:
        raise ParameterError(f"a portfolio has one algorithm at least, not {size}")
    portfolio: list[int] = []
    best = np.full(suboptimality.shape[1], np.inf)
    while len(portfolio) < size:
        means = np.minimum(suboptimality, best).mean(axis=1)
        added = int(means.argmin())
        if portfolio and not means[added] < best.mean():
            break
        portfolio.append(added)
        best = np.minimum(best, suboptimality[added])
    return portfolio


# --- quality ---------------------------------------------------------------------------------------------------------


def best_choices(quality: Numbers, names: Sequence[str]) -> Choices:
    """The best algorithm of each problem; `names` of the problems decide between equals, always in the same way."""
    return _first(quality, names, best=True)


def worst_choices(quality: Numbers, names: Sequence[str]) -> Choices:
    """The worst algorithm of each problem."""
    return _first(quality, names, best=False)


def _first(quality: Numbers, names: Sequence[str], *, best: bool) -> Choices:
    better = np.array([1.0, -1.0, -1.0]) * (1.0 if best else -1.0)
    chosen = np.empty(len(quality), np.intp)
    for problem, name in enumerate(names):
        scores = [tuple(row) for row in (quality[problem] * better).tolist()]
        equals = [k for k, score in enumerate(scores) if score == max(scores)]
        chosen[problem] = equals[zlib.crc32(name.encode()) % len(equals)]
    return chosen


def single_best(quality: Numbers) -> int:
    """The algorithm with the best mean completion, then distance, then time."""
    means = quality.mean(axis=0)
    return int(np.lexsort((means[:, TIME], means[:, DISTANCE], -means[:, COMPLETION]))[0])


def utility(quality: Numbers) -> Numbers:
    """[problems, algorithms] completion, with a little of distance and time taken off so that ties are graded."""
    most = quality.max(axis=(0, 1))
    scale = np.where(most > 0, most, 1.0)
    graded = quality / scale
    return np.asarray(quality[..., COMPLETION] - 1e-3 * graded[..., DISTANCE] - 1e-6 * graded[..., TIME])


def chosen_quality(quality: Numbers, choices: Choices) -> Numbers:
    """[problems, 3] what these choices achieve."""
    return np.asarray(quality[np.arange(len(quality)), choices])


@dataclass(frozen=True)
class Score:
    """How good some choices are."""

    completion: float
    distance: float
    time: float
    accuracy: float             # share of problems in which the choice is the perfect selector's
    regret: float               # completion that the perfect selector has more
    gap_closed: float | None    # between single best and perfect; None where there is no gap


def score(quality: Numbers, choices: Choices, names: Sequence[str], single: int) -> Score:
    """Judge choices on the problems of a test; `single` is the algorithm that was best where it was trained."""
    perfect = best_choices(quality, names)
    completion, distance, time = chosen_quality(quality, choices).mean(axis=0).tolist()
    most = float(chosen_quality(quality, perfect)[:, COMPLETION].mean())
    least = float(quality[:, single, COMPLETION].mean())
    accuracy = float((choices == perfect).mean())
    return Score(completion, distance, time, accuracy, most - completion, gap_closed(completion, least, most))


def gap_closed(selector: float, single: float, perfect: float) -> float | None:
    """The share of the way from single best to perfect that a selector makes; None where these two are the same."""
    return None if perfect == single else (selector - single) / (perfect - single)
