from __future__ import annotations

import numpy as np
import pytest

from tests.reference import forest as reference
from wend.selection.trees import LEAF, grow_forest, predict


def drawn(seed: int, rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.random((rows, 5))
    outputs = np.stack([np.where(features[:, 2] > 0.5, 3.0, 1.0), features[:, 0] + features[:, 4]], axis=1)
    return features, outputs


def test_predictions_agree_with_the_reference() -> None:
    features, outputs = drawn(0)
    forest = grow_forest(features, outputs, trees=7, seed=3)
    fresh = drawn(1, rows=20)[0]
    expected = [reference.predict(forest, row) for row in fresh.tolist()]
    assert predict(forest, fresh) == pytest.approx(np.array(expected))


def test_a_forest_learns_what_decides_and_ignores_what_does_not() -> None:
    features, outputs = drawn(0)
    fresh, wanted = drawn(1)
    error = np.abs(predict(grow_forest(features, outputs), fresh) - wanted).mean(axis=0)
    assert (error < 0.3 * np.abs(outputs.mean(axis=0) - wanted).mean(axis=0)).all()


def test_a_forest_follows_its_seed_and_keeps_its_leaves_large() -> None:
    features, outputs = drawn(0)
    one, same, other = (grow_forest(features, outputs, trees=3, leaf=9, seed=seed) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert one.feature.size != other.feature.size or (one.threshold != other.threshold).any()
    whole = grow_forest(features, outputs, trees=1, leaf=200)
    assert whole.feature.tolist() == [LEAF]
    assert predict(whole, features[:1])[0] == pytest.approx(outputs.mean(axis=0))


def test_constant_features_and_outputs_make_a_single_leaf() -> None:
    flat = grow_forest(np.ones((20, 3)), np.arange(20.0)[:, None], trees=2)
    assert flat.feature.tolist() == [LEAF, LEAF]
    same = grow_forest(np.arange(20.0)[:, None], np.ones((20, 1)), trees=2)
    assert same.feature.tolist() == [LEAF, LEAF]
