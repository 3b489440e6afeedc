"""How well learners choose on problems that they have not seen: splits, scores and learning curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError, UnknownNameError
from wend.selection.learners import LEARNERS, choose
from wend.selection.portfolios import (
    Choices,
    Score,
    best_choices,
    score,
    single_best,
    worst_choices,
)

SPLITS = ("random", "by-map")
TEST_SHARE = 0.3
SELECTORS = ("perfect", "worst", "single-best", "best-per-type")        # those that do not learn from features

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Portfolio:
    """What some algorithms achieved on some problems, and what could be seen of the problems before."""

    algorithms: tuple[str, ...]
    names: tuple[str, ...]          # of the problems
    maps: tuple[str, ...]           # by problem
    types: tuple[str, ...]          # by problem
    features: NDArray[np.float64]   # [problems, features]
    quality: NDArray[np.float64]    # [problems, algorithms, 3]


def split(data: Portfolio, kind: str, trial: int) -> tuple[Rows, Rows]:
    """Rows to train and to test with: `random` ones, or those of whole maps, so that no map is in both."""
    if kind not in SPLITS:
        raise UnknownNameError("kind of split", kind, SPLITS)
    rng = np.random.default_rng((trial, SPLITS.index(kind)))
    owners = np.arange(len(data.names)) if kind == "random" else np.unique(data.maps, return_inverse=True)[1]
    count = int(owners.max()) + 1
    if count < 2:
        raise ParameterError(f"{len(data.names)} problems on {len(set(data.maps))} maps cannot be split {kind}")
    tested = rng.permutation(count)[: min(max(round(TEST_SHARE * count), 1), count - 1)]
    is_test = np.isin(owners, tested)
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def choices_of(data: Portfolio, selector: str, train: Rows, test: Rows, seed: int) -> Choices:
    """What a selector, trained on some rows, chooses for others."""
    names = [data.names[row] for row in test]
    if selector == "perfect":
        return best_choices(data.quality[test], names)
    if selector == "worst":
        return worst_choices(data.quality[test], names)
    if selector == "best-per-type":     # which it is told
        types = np.array(data.types)
        best = {kind: single_best(data.quality[train[types[train] == kind]]) for kind in np.unique(types[train])}
        otherwise = single_best(data.quality[train])
        return np.array([best.get(kind, otherwise) for kind in types[test]], np.intp)
    if selector == "single-best":
        return np.full(test.size, single_best(data.quality[train]))
    if selector in data.algorithms:
        return np.full(test.size, data.algorithms.index(selector))
    if selector not in LEARNERS:
        raise UnknownNameError("selector", selector, (*SELECTORS, *data.algorithms, *LEARNERS))
    return choose(LEARNERS[selector](data.features[train], data.quality[train], seed), data.features[test])


def judge(data: Portfolio, selector: str, kind: str, trial: int, *, training: float = 1.0) -> tuple[Score, int]:
    """How good a selector is on one split if it sees a share of the training part; and how many problems that is."""
    train, test = split(data, kind, trial)
    count = max(round(training * train.size), 2)
    train = np.random.default_rng(trial).permutation(train)[:count]
    chosen = choices_of(data, selector, train, test, trial)
    names = [data.names[row] for row in test]
    return score(data.quality[test], chosen, names, single_best(data.quality[train])), count


def judged(data: Portfolio, trials: int) -> Iterator[tuple[str, str, list[Score]]]:
    """For each selector and kind of split, its scores on so many splits."""
    for kind in SPLITS:
        for selector in ("worst", *data.algorithms, "single-best", "best-per-type", *LEARNERS, "perfect"):
            yield selector, kind, [judge(data, selector, kind, trial)[0] for trial in range(trials)]
