"""Choosing a configuration of real-time heuristic search per genre, per game, per map and per problem.

D. Sigurdson, "Automatic Algorithm Selection in Videogame Pathfinding" (MSc thesis, University of Alberta, 2018),
sections 4.4 and 4.5. The thesis trains an AlexNet on pictures; here a forest looks at numbers that are taken from the
map, or from start and goal. Everything else is the thesis's: a label per genre or game has the configuration that is
best on the training maps of that label; per map and per problem, the labels are the members of a greedy portfolio.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.selection.portfolios import best_configuration, greedy_portfolio
from wend.selection.trees import grow_forest, predict

GENRES = {"bg512": "RPG", "dao": "RPG", "sc1": "RTS", "wc3maps512": "RTS"}      # by the map's set, which is its game
TEST_SHARE = 0.25
PORTFOLIO = 2

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class SplitOutcome:
    """One split of the thesis's Tables 4.2 to 4.5; all but the accuracy are suboptimalities on the test part."""

    accuracy: float     # share of the test part whose label was predicted
    prior: float        # the configuration that is best on the training part, for all
    selected: float     # the configuration of the predicted label
    perfect: float      # the configuration of the true label


def split(count: int, trial: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of so many maps or problems to train and to test with; a quarter is for testing."""
    if count < 2:
        raise ParameterError(f"{count} maps or problems cannot be split into two parts")
    order = np.random.default_rng(trial).permutation(count)
    tested = min(max(round(TEST_SHARE * count), 1), count - 1)
    return np.sort(order[tested:]), np.sort(order[:tested])


def by_label(suboptimality: Numbers, features: Numbers, labels: list[str], trial: int) -> SplitOutcome:
    """Per genre or per game: suboptimality is [configurations, maps], the mean over the problems of each map."""
    train, test = split(len(labels), trial)
    known = sorted({labels[k] for k in train})
    number = np.array([known.index(label) if label in known else -1 for label in labels])
    best = np.array([best_configuration(suboptimality[:, train[number[train] == k]]) for k in range(len(known))])
    prior = best_configuration(suboptimality[:, train])
    predicted = _classify(features[train], number[train], features[test], trial)
    truly = np.where(number[test] >= 0, best[number[test]], prior)
    return _outcome(suboptimality[:, test], prior, best[predicted], truly, predicted == number[test])


def by_portfolio(suboptimality: Numbers, features: Numbers, trial: int) -> SplitOutcome:
    """Per map or per problem: suboptimality is [configurations, maps or problems]."""
    train, test = split(suboptimality.shape[1], trial)
    portfolio = np.array(greedy_portfolio(suboptimality[:, train], PORTFOLIO))
    members = suboptimality[portfolio]
    expected = predict(grow_forest(features[train], np.log(members[:, train]).T, seed=trial), features[test])
    predicted, true = expected.argmin(axis=1), members[:, test].argmin(axis=0)
    return _outcome(
        suboptimality[:, test], int(portfolio[0]), portfolio[predicted], portfolio[true], predicted == true
    )


def _classify(features: Numbers, labels: NDArray[np.intp], fresh: Numbers, seed: int) -> NDArray[np.intp]:
    """The label that most trees see in each fresh row."""
    one_hot = np.eye(int(labels.max()) + 1)[labels]
    return np.asarray(predict(grow_forest(features, one_hot, seed=seed, leaf=2), fresh).argmax(axis=1))


def _outcome(
    tested: Numbers, prior: int, chosen: NDArray[np.intp], true: NDArray[np.intp], right: NDArray[np.bool_]
) -> SplitOutcome:
    columns = np.arange(tested.shape[1])
    return SplitOutcome(
        float(right.mean()), float(tested[prior].mean()), float(tested[chosen, columns].mean()),
        float(tested[true, columns].mean()),
    )  # fmt: skip
