"""How well learners choose on problems that they have not seen: splits, scores and learning curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError, UnknownNameError
from wend.selection.learners import LEARNERS, choose
from wend.selection.networks import SHAPES
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
CURVE = (0.1, 0.25, 0.5)         # of the training part, for the learning curve
BOTH, BOTH_SEE, SURENESS = "both", "small", 0.1  # trees, and a little of what this network says for each algorithm
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
    answers: Mapping[str, Mapping[str, NDArray[np.float32]]] = field(default_factory=dict)  # by network and lesson


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


def parts_of(data: Portfolio, kind: str, trial: int, training: float = 1.0) -> tuple[Rows, Rows]:
    """A split of which only a share of the training part is seen."""
    train, test = split(data, kind, trial)
    return np.random.default_rng(trial).permutation(train)[: max(round(training * train.size), 2)], test


def lesson_name(kind: str, trial: int, training: float = 1.0) -> str:
    """What the lesson of a network is called that learns on such a split."""
    return f"{kind} {trial} {training:g}"


def choices_of(data: Portfolio, selector: str, train: Rows, test: Rows, seed: int, lesson: str = "") -> Choices:
    """What a selector, trained on some rows, chooses for others; a network was trained before, in its lesson."""
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
    if selector in data.answers:
        return np.asarray(_answers(data, selector, lesson, test).argmax(axis=1))
    if selector == BOTH and BOTH_SEE in data.answers:
        expected = LEARNERS["trees"](data.features[train], data.quality[train], seed)(data.features[test])
        return np.asarray((expected + SURENESS * _answers(data, BOTH_SEE, lesson, test)).argmax(axis=1))
    if selector in (*SHAPES, BOTH):
        raise ParameterError(f"{selector} has not been trained on this data: run `wend train networks` first")
    if selector not in LEARNERS:
        raise UnknownNameError("selector", selector, (*SELECTORS, *data.algorithms, *LEARNERS, *SHAPES, BOTH))
    return choose(LEARNERS[selector](data.features[train], data.quality[train], seed), data.features[test])


def _answers(data: Portfolio, network: str, lesson: str, test: Rows) -> NDArray[np.float32]:
    """[test, algorithms] how sure a network is that each algorithm is the best."""
    told = data.answers[network].get(lesson)
    if told is None or len(told) != len(data.names) or np.isnan(told[test]).any():
        raise ParameterError(f"{network} has not been trained for {lesson!r} of this data: run `wend train networks`")
    return told[test]


def judge(data: Portfolio, selector: str, kind: str, trial: int, training: float = 1.0) -> tuple[Score, int]:
    """How good a selector is on one split if it sees a share of the training part; and how many problems that is."""
    single = single_best(data.quality[split(data, kind, trial)[0]])     # a learning curve has one baseline
    train, test = parts_of(data, kind, trial, training)
    chosen = choices_of(data, selector, train, test, trial, lesson_name(kind, trial, training))
    return score(data.quality[test], chosen, [data.names[row] for row in test], single), train.size


@dataclass(frozen=True)
class SelectorScores:
    """How a selector did on several splits."""

    selector: str
    split: str
    training: float                 # the share of the training part that it saw
    completion: float               # mean, ...
    completion_deviation: float     # ... and standard deviation between the splits
    accuracy: float
    gap_closed: float | None        # mean over the splits that have a gap
    gap_closed_deviation: float | None


def standings(data: Portfolio, trials: int) -> Iterator[SelectorScores]:
    """All selectors on so many splits of each kind, and then the learning curve of the trees."""
    networks = (*data.answers, *((BOTH,) if BOTH_SEE in data.answers else ()))
    selectors = ("worst", *data.algorithms, "single-best", "best-per-type", *LEARNERS, *networks, "perfect")
    for kind in SPLITS if len(set(data.maps)) > 1 else SPLITS[:1]:
        for selector, training in (*((each, 1.0) for each in selectors), *(("trees", share) for share in CURVE)):
            scores = [judge(data, selector, kind, trial, training)[0] for trial in range(trials)]
            gaps = [each.gap_closed for each in scores if each.gap_closed is not None]
            completion = np.array([each.completion for each in scores])
            yield SelectorScores(
                selector, kind, training, float(completion.mean()), float(completion.std()),
                float(np.mean([each.accuracy for each in scores])),
                float(np.mean(gaps)) if gaps else None, float(np.std(gaps)) if gaps else None,
            )  # fmt: skip
