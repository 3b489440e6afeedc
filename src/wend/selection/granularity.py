"""Choosing a configuration of real-time heuristic search per genre, per game, per map and per problem.

D. Sigurdson, "Automatic Algorithm Selection in Videogame Pathfinding" (MSc thesis, University of Alberta, 2018),
sections 4.4 and 4.5. A label per genre or game has the configuration that is best on the training maps of that label;
per map and per problem, the labels are the members of a greedy portfolio. Who predicts the labels is another matter: a
forest that looks at numbers, here, or a network that looks at pictures (`networks.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
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
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Task:
    """Labels to be predicted on one split of maps or problems, and the configuration that each label stands for."""

    train: Rows
    test: Rows
    labels: Rows            # by map or problem; -1 where no map of the training part has the label
    costs: Numbers          # [maps or problems, labels] what a label costs; what is least fits best
    configurations: Rows    # by label
    prior: int              # the configuration that is best on the training part


@dataclass(frozen=True)
class SplitOutcome:
    """One split of the thesis's Tables 4.2 to 4.5; all but the accuracy are suboptimalities on the test part."""

    accuracy: float     # share of the test part whose label was predicted
    prior: float        # the configuration that is best on the training part, for all
    selected: float     # the configuration of the predicted label
    perfect: float      # the configuration of the true label


def split(owners: Sequence[Hashable], trial: int) -> tuple[Rows, Rows]:
    """Which maps or problems to train and to test with: those of a quarter of their owners are for testing.

    What has one owner stays together; where everything has its own, it is a random split.
    """
    number = {owner: k for k, owner in enumerate(dict.fromkeys(owners))}
    if len(number) < 2:
        raise ParameterError(f"{len(owners)} maps or problems of {len(number)} owners cannot be split into two parts")
    order = np.random.default_rng(trial).permutation(len(number))
    tested = order[: min(max(round(TEST_SHARE * len(number)), 1), len(number) - 1)]
    is_test = np.isin([number[owner] for owner in owners], tested)
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def label_task(suboptimality: Numbers, labels: list[str], trial: int) -> Task:
    """Per genre or per game: suboptimality is [configurations, maps], the mean over the problems of each map."""
    train, test = split(range(len(labels)), trial)
    known = sorted({labels[k] for k in train})
    number = np.array([known.index(label) if label in known else -1 for label in labels])
    best = np.array([best_configuration(suboptimality[:, train[number[train] == k]]) for k in range(len(known))])
    costs = (number[:, None] != np.arange(len(known))).astype(np.float64)
    return Task(train, test, number, costs, best, best_configuration(suboptimality[:, train]))


def portfolio_task(suboptimality: Numbers, owners: Sequence[Hashable], trial: int) -> Task:
    """Per map or per problem: suboptimality is [configurations, maps or problems]."""
    train, test = split(owners, trial)
    portfolio = np.array(greedy_portfolio(suboptimality[:, train], PORTFOLIO))
    costs = np.log(suboptimality[portfolio]).T
    return Task(train, test, costs.argmin(axis=1), costs, portfolio, int(portfolio[0]))


def forest_labels(task: Task, features: Numbers, seed: int) -> Rows:
    """What a forest that looks at features [maps or problems, features] predicts for the test part."""
    forest = grow_forest(features[task.train], task.costs[task.train], seed=seed)
    return np.asarray(predict(forest, features[task.test]).argmin(axis=1))


def outcome(task: Task, suboptimality: Numbers, predicted: Rows) -> SplitOutcome:
    """How good it is to trust these labels of the test part."""
    tested, true = suboptimality[:, task.test], task.labels[task.test]
    columns = np.arange(task.test.size)
    perfect = np.where(true >= 0, task.configurations[true], task.prior)
    return SplitOutcome(
        float((predicted == true).mean()), float(tested[task.prior].mean()),
        float(tested[task.configurations[predicted], columns].mean()), float(tested[perfect, columns].mean()),
    )  # fmt: skip
