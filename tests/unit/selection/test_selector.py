"""The selector chooses what pays, tells why, and reads nothing from files but numbers."""

from __future__ import annotations

import dataclasses
import io
import pickle
import zipfile

import numpy as np
import pytest

from wend import Grid, make_problem
from wend.errors import FormatError, ParameterError, UnknownNameError, VersionError
from wend.selection.evaluation import Portfolio, choices_of, judge, split, standings
from wend.selection.features import FEATURES, problem_features
from wend.selection.learners import LEARNERS, choose
from wend.selection.portfolios import best_choices
from wend.selection.selector import Selector, train_selector

KINDS = ("random", "cross-sides", "swap-sides", "tight-to-tight")


def drawn(problems: int = 60, maps: int = 6) -> Portfolio:
    """Made-up features; the first algorithm suits problems with a large third feature, the second the others."""
    rng = np.random.default_rng(0)
    features = rng.random((problems, len(FEATURES)))
    suits = features[:, 2] > 0.5
    completion = np.stack([np.where(suits, 1.0, 0.2), np.where(suits, 0.3, 0.9), np.full(problems, 0.5)], axis=1)
    quality = np.stack([completion, rng.random((problems, 3)), rng.random((problems, 3))], axis=2)
    names = tuple(f"problem {k}" for k in range(problems))
    kinds = tuple(KINDS[k % 4] for k in range(problems))
    where = tuple(f"map {k % maps}" for k in range(problems))
    return Portfolio(("a", "b", "c"), names, where, kinds, features, quality)


# --- splits and scores -----------------------------------------------------------------------------------------------


def test_splits_by_map_share_no_map_and_random_ones_are_the_thesis_s_size() -> None:
    data = drawn(2800, 20)
    train, test = split(data, "random", 0)
    assert (train.size, test.size) == (1960, 840)
    train, test = split(data, "by-map", 0)
    assert {data.maps[k] for k in train}.isdisjoint(data.maps[k] for k in test)
    assert len({data.maps[k] for k in test}) == 6
    with pytest.raises(UnknownNameError):
        split(data, "by-day", 0)
    with pytest.raises(ParameterError):
        split(drawn(8, 1), "by-map", 0)


@pytest.mark.parametrize("learner", ["ridge", "trees"])
def test_learners_find_what_decides(learner: str) -> None:
    found, trained = judge(drawn(300), learner, "by-map", 0)
    assert found.gap_closed is not None
    assert found.gap_closed > 0.5
    assert trained == 200


def test_the_table_knows_three_numbers_and_what_it_has_not_seen_it_takes_from_the_mean() -> None:
    data = drawn()
    features = np.zeros_like(data.features)
    features[:, list(FEATURES).index("per_side")] = np.where(data.features[:, 2] > 0.5, 3.0, 8.0)
    predictor = LEARNERS["table"](features, data.quality, 0)
    assert (choose(predictor, features) == np.where(data.features[:, 2] > 0.5, 0, 1)).all()
    unseen = predictor(np.full((1, len(FEATURES)), 99.0))[0]
    assert unseen == pytest.approx(data.quality[..., 0].mean(axis=0), abs=0.01)


def test_a_learner_minds_how_much_is_lost_and_not_how_often() -> None:
    """One algorithm is best on 60 % of the problems by 1 %, and worst on 40 % by 50 %; no feature tells which."""
    often = np.arange(100) % 5 < 3
    completion = np.stack([np.where(often, 0.91, 0.40), np.full(100, 0.90)], axis=1)
    quality = np.stack([completion, np.ones((100, 2)), np.ones((100, 2))], axis=2)
    features = np.ones((100, len(FEATURES)))
    labels = best_choices(quality, [str(k) for k in range(100)])
    assert (labels == 0).mean() == 0.6          # a classifier of labels would take it
    for learner in LEARNERS.values():
        assert (choose(learner(features, quality, 0), features) == 1).all()


def test_standings_have_every_selector_and_a_learning_curve() -> None:
    found = list(standings(drawn(), 2))
    whole = {each.selector: each for each in found if each.split == "random" and each.training == 1}
    assert set(whole) == {"worst", "a", "b", "c", "single-best", "best-per-type", "table", "ridge", "trees", "perfect"}
    assert whole["worst"].completion <= whole["trees"].completion <= whole["perfect"].completion
    assert whole["perfect"].gap_closed == pytest.approx(1)
    little, all_of_it = (judge(drawn(), "a", "random", 1, share)[0] for share in (0.05, 1.0))
    assert little == all_of_it      # the baseline is the same, whatever a selector sees
    curve = [each.training for each in found if each.selector == "trees" and each.split == "by-map"]
    assert curve == [1, 0.1, 0.25, 0.5]
    with pytest.raises(UnknownNameError):
        choices_of(drawn(), "oracle", np.arange(10), np.arange(10, 20), 0)


# --- features --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_numbers_and_follow_from_the_problem(kind: str) -> None:
    grid = Grid.load("arena:seed=1")
    problem = make_problem(kind, grid, agents=60, seed=1)
    features = problem_features(problem)
    assert features.shape == (len(FEATURES),)
    assert np.isfinite(features).all()
    assert (features == problem_features(make_problem(kind, Grid.load("arena:seed=1"), agents=60, seed=1))).all()


def test_features_tell_types_apart() -> None:
    grid = Grid(np.ones((40, 60)))
    names = list(FEATURES)
    told = {
        kind: dict(zip(names, problem_features(make_problem(kind, grid, agents=40, seed=3)), strict=True))
        for kind in KINDS
    }
    assert told["cross-sides"]["same_way"] > 0.9 > 0.3 > told["swap-sides"]["same_way"]
    assert told["swap-sides"]["one_axis"] > 0.8 > told["random"]["one_axis"]
    assert told["tight-to-tight"]["start_crowd"] > 2 * told["random"]["start_crowd"]
    assert told["random"]["density"] == 40 / 2400
    assert told["random"]["detour"] == 1
    assert told["cross-sides"]["head_on"] < 0.5 * told["swap-sides"]["head_on"]
    assert told["random"]["free"] == 1


def test_agents_that_stand_on_their_goals_have_features_too() -> None:
    problem = make_problem("random", Grid(np.ones((5, 5))), agents=4, seed=0)
    still = dataclasses.replace(problem, goals=problem.starts)
    assert np.isfinite(problem_features(still)).all()


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def selector() -> Selector:
    return train_selector(drawn(), trees=8, note="a test")


def test_a_selector_chooses_and_says_why(selector: Selector) -> None:
    features = np.full(len(FEATURES), 0.5)
    features[2] = 0.95
    choice = selector.choose_by(features)
    assert choice.algorithm == "a"
    assert choice.expected["a"] > 0.9 > 0.4 > choice.expected["b"]
    assert choice.reasons[0].startswith("0.95 of the cells have at most two ways out; typical is 0.")
    features[2] = 0.05
    assert selector.choose_by(features).algorithm == "b"


def test_a_selector_is_the_same_after_saving(selector: Selector, tmp_path) -> None:
    selector.save(tmp_path / "s.npz")
    again = Selector.load(tmp_path / "s.npz")
    problem = make_problem("random", Grid.load("arena:seed=1"), agents=50, seed=1)
    assert again.choose(problem) == selector.choose(problem)
    assert again.about["note"] == "a test"


def rewritten(path, **entries: bytes | None):
    """Change or remove entries of a selector's file."""
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (kept | {name.replace("__", "."): data for name, data in entries.items()}).items():
            if data is not None:
                archive.writestr(name, data)


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


class Trap:
    """What a pickle would run."""

    def __reduce__(self):
        return exec, ("raise SystemExit('code was run')",)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"selector__json": None}, "not a selector"),
        ({"selector__json": b"{}"}, "not a selector"),
        ({"selector__json": b"[1"}, "not valid JSON"),
        ({"left__npy": None}, "left.npy is missing"),
        ({"left__npy": b"nonsense"}, "left.npy is an array that cannot be read"),
        ({"left__npy": npy(np.zeros(3, np.int32))}, "lead nowhere"),
        ({"value__npy": npy(np.array([Trap()], object))}, "value.npy is an array that cannot be read"),
        ({"value__npy": pickle.dumps(Trap())}, "value.npy is an array that cannot be read"),
        ({"threshold__npy": npy(np.array([np.nan]))}, "does not hold the numbers"),
        ({"root__npy": npy(np.array([10**6], np.int32))}, "lead nowhere"),
        ({"feature__npy": npy(np.zeros(5, np.int64))}, "int64 where int32 belongs"),
    ],
)
def test_damaged_and_foreign_files_are_refused_by_name(selector: Selector, tmp_path, entries, reason) -> None:
    path = tmp_path / "s.npz"
    selector.save(path)
    rewritten(path, **entries)
    with pytest.raises(FormatError, match=reason) as caught:
        Selector.load(path)
    assert "s.npz" in str(caught.value)


def test_a_loop_in_a_tree_is_refused(selector: Selector, tmp_path) -> None:
    loop = selector.forest.left.copy()
    loop[selector.forest.feature >= 0] = 0
    dataclasses.replace(selector, forest=selector.forest._replace(left=loop)).save(tmp_path / "s.npz")
    with pytest.raises(FormatError, match="lead nowhere"):
        Selector.load(tmp_path / "s.npz")


def test_what_is_no_file_of_ours_is_refused(tmp_path, selector: Selector) -> None:
    with pytest.raises(FormatError, match="no such file"):
        Selector.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(FormatError, match=r"text\.npz"):
        Selector.load(tmp_path / "text.npz")
    np.savez(tmp_path / "foreign.npz", weights=np.ones(3))
    with pytest.raises(FormatError, match=r"foreign\.npz.*not a selector"):
        Selector.load(tmp_path / "foreign.npz")
    selector.save(tmp_path / "s.npz")
    whole = (tmp_path / "s.npz").read_bytes()
    (tmp_path / "s.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"s\.npz"):
        Selector.load(tmp_path / "s.npz")
    selector.save(tmp_path / "s.npz")
    rewritten(tmp_path / "s.npz", selector__json=b'{"format": "wend-selector", "version": 2}')
    with pytest.raises(VersionError):
        Selector.load(tmp_path / "s.npz")
