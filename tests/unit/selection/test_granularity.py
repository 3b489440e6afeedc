from __future__ import annotations

import numpy as np
import pytest

from wend.errors import ParameterError
from wend.selection.granularity import forest_labels, label_task, outcome, portfolio_task, split


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """40 maps of two genres that their first feature tells apart; configuration 0 suits one, 1 the other, 2 both."""
    rng = np.random.default_rng(seed)
    labels = ["RPG" if k % 2 else "RTS" for k in range(40)]
    is_rpg = np.array([label == "RPG" for label in labels])
    features = np.stack([is_rpg + rng.normal(0, 0.1, 40), rng.random(40)], axis=1)
    walked = np.stack([np.where(is_rpg, 2.0, 9.0), np.where(is_rpg, 9.0, 2.0), np.full(40, 4.0)])
    return walked + rng.random((3, 40)) / 10, features, labels


@pytest.mark.parametrize("trial", range(4))
def test_what_features_tell_apart_is_chosen_right(trial: int) -> None:
    walked, features, labels = drawn(trial)
    task = label_task(walked, labels, trial)
    found = outcome(task, walked, forest_labels(task, features, trial))
    assert found.accuracy == 1
    assert found.selected == found.perfect < 3 < found.prior


@pytest.mark.parametrize("trial", range(4))
def test_no_choice_is_better_than_the_perfect_one_and_that_is_no_worse_than_the_prior(trial: int) -> None:
    rng = np.random.default_rng(trial)
    walked, features = 1 + rng.exponential(4, (9, 50)), rng.random((50, 4))
    task = portfolio_task(walked, range(50), trial)
    found = outcome(task, walked, forest_labels(task, features, trial))
    assert found.perfect <= found.selected
    assert found.perfect <= found.prior


def test_splits_are_the_thesis_s_and_follow_their_number() -> None:
    train, test = split(range(342), 3)
    assert (train.size, test.size) == (256, 86)
    assert sorted([*train, *test]) == list(range(342))
    assert (split(range(342), 3)[1] == test).all()
    assert (split(range(342), 4)[1] != test).any()
    with pytest.raises(ParameterError):
        split([3, 3, 3], 0)


def test_what_has_one_owner_stays_together() -> None:
    owners = [f"goal {k % 12}" for k in range(100)]
    train, test = split(owners, 1)
    assert {owners[k] for k in train}.isdisjoint(owners[k] for k in test)
    assert len({owners[k] for k in test}) == 3


def test_a_label_that_was_never_seen_is_the_prior_s() -> None:
    walked = np.array([[1.0, 1, 1, 9, 1], [2.0, 2, 2, 1, 2]])
    for trial in range(20):
        task = label_task(walked, ["a", "a", "a", "b", "a"], trial)
        if 3 in task.test:
            assert task.labels[3] == -1
            found = outcome(task, walked, np.zeros(task.test.size, np.intp))
            assert found.perfect == found.prior == found.selected == 9
            return
    raise AssertionError("no split tests the only map of its label")
