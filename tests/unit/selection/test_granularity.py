from __future__ import annotations

import numpy as np
import pytest

from wend.errors import ParameterError
from wend.selection.granularity import by_label, by_portfolio, split


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
    found = by_label(walked, features, labels, trial)
    assert found.accuracy == 1
    assert found.selected == found.perfect < 3 < found.prior


@pytest.mark.parametrize("trial", range(4))
def test_no_choice_is_better_than_the_perfect_one_and_that_is_no_worse_than_the_prior(trial: int) -> None:
    rng = np.random.default_rng(trial)
    walked, features = 1 + rng.exponential(4, (9, 50)), rng.random((50, 4))
    found = by_portfolio(walked, features, trial)
    assert found.perfect <= found.selected
    assert found.perfect <= found.prior


def test_splits_are_the_thesis_s_and_follow_their_number() -> None:
    train, test = split(342, 3)
    assert (train.size, test.size) == (256, 86)
    assert sorted([*train, *test]) == list(range(342))
    assert (split(342, 3)[1] == test).all()
    assert (split(342, 4)[1] != test).any()
    with pytest.raises(ParameterError):
        split(1, 0)
