"""Learners: from features and qualities of some problems to the quality that each algorithm is expected to have.

All of them regress the utility of each algorithm and leave the choice to the largest, so that they mind how much is
lost by a wrong choice and not how often one is made. `table` is the baseline that every other learner has to beat: it
knows three numbers of a problem and remembers the mean of what it saw there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wend.selection.features import FEATURES
from wend.selection.portfolios import Choices, utility
from wend.selection.trees import grow_forest, predict

Numbers = NDArray[np.float64]
Predictor = Callable[[Numbers], Numbers]                # of features [rows, features], to utility [rows, algorithms]
Learner = Callable[[Numbers, Numbers, int], Predictor]  # of features, quality [rows, algorithms, 3], and a seed

_RIDGE = 3.0
_NAMES = list(FEATURES)


def learn_trees(features: Numbers, quality: Numbers, seed: int) -> Predictor:
    """A forest of extremely randomized trees."""
    forest = grow_forest(features, utility(quality), seed=seed)
    return lambda rows: predict(forest, rows)


def learn_ridge(features: Numbers, quality: Numbers, _seed: int) -> Predictor:
    """Ridge regression on standardized features and their squares."""
    middle, scale = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-9)

    def prepared(rows: Numbers) -> Numbers:
        standard = np.clip((rows - middle) / scale, -4, 4)
        return np.hstack([standard, standard**2, np.ones((len(rows), 1))])

    known = prepared(features)
    penalty = _RIDGE * np.eye(known.shape[1])
    penalty[-1, -1] = 0
    weights = np.linalg.solve(known.T @ known + penalty, known.T @ utility(quality))
    return lambda rows: np.asarray(prepared(rows) @ weights)


def learn_table(features: Numbers, quality: Numbers, _seed: int) -> Predictor:
    """A table over the log of the area, agents per root of the area, and the share of obstacles, all rounded."""
    values = utility(quality)
    means: dict[tuple[float, ...], list[Numbers]] = {}
    for key, value in zip(_table_keys(features), values, strict=True):
        means.setdefault(key, []).append(value)
    known = {key: np.mean(each, axis=0) for key, each in means.items()}
    otherwise = values.mean(axis=0)
    return lambda rows: np.stack([known.get(key, otherwise) for key in _table_keys(rows)])


def _table_keys(features: Numbers) -> list[tuple[float, ...]]:
    area, per_side, free = (features[:, _NAMES.index(name)] for name in ("cells", "per_side", "free"))
    keys = np.stack([np.round(area / np.log(2)), np.round(per_side * 2), np.round((1 - free) * 10)], axis=1)
    return [tuple(key) for key in keys.tolist()]


LEARNERS: dict[str, Learner] = {"table": learn_table, "ridge": learn_ridge, "trees": learn_trees}


def choose(predictor: Predictor, features: Numbers) -> Choices:
    """The algorithm of which most is expected, for each row."""
    return np.asarray(predictor(features).argmax(axis=1))
