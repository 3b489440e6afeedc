"""Portfolios and selectors on data small enough to count by hand, and what must hold on any data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from wend.errors import ParameterError
from wend.selection import portfolios
from wend.selection.portfolios import (
    best_choices,
    best_configuration,
    chosen_quality,
    gap_closed,
    greedy_portfolio,
    perfect_mean,
    score,
    single_best,
    utility,
    worst_choices,
)  # fmt: skip


def drawn_suboptimality(seed: int, algorithms: int = 7, problems: int = 30) -> np.ndarray:
    return 1 + np.random.default_rng(seed).exponential(5, (algorithms, problems))


def drawn_quality(seed: int, problems: int = 40) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(seed)
    quality = np.stack([rng.integers(0, 4, (problems, 3)) * 25.0, *rng.random((2, problems, 3))], axis=-1)
    return quality, [f"problem {k}" for k in range(problems)]


# --- greedy portfolios -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_greedy_portfolio_begins_with_the_single_best_and_never_gets_worse(seed: int) -> None:
    alpha = drawn_suboptimality(seed)
    portfolio = greedy_portfolio(alpha, 5)
    assert portfolio[0] == best_configuration(alpha)
    means = [perfect_mean(alpha, portfolio[: k + 1]) for k in range(len(portfolio))]
    assert all(after < before for before, after in itertools.pairwise(means))


@pytest.mark.parametrize("seed", range(6))
def test_no_greedy_pair_is_better_than_the_best_pair(seed: int) -> None:
    alpha = drawn_suboptimality(seed)
    best = min(perfect_mean(alpha, pair) for pair in itertools.combinations(range(len(alpha)), 2))
    assert perfect_mean(alpha, greedy_portfolio(alpha, 2)) >= best


def test_a_portfolio_stops_growing_where_nothing_helps() -> None:
    assert greedy_portfolio(np.array([[1.0, 1.0], [1.0, 2.0], [5.0, 1.0]]), 3) == [0]
    assert greedy_portfolio(np.array([[2.0, 2.0], [2.0, 2.0]]), 2) == [0]


def test_finer_choices_are_better() -> None:
    alpha = drawn_suboptimality(3, problems=60)
    portfolio = greedy_portfolio(alpha, 2)
    by_map = alpha[portfolio].reshape(2, 6, 10).mean(axis=2).min(axis=0).mean()
    assert perfect_mean(alpha, portfolio) <= by_map <= perfect_mean(alpha, portfolio[:1])


def test_bad_data_is_refused() -> None:
    with pytest.raises(ParameterError):
        greedy_portfolio(np.ones((3, 0)), 2)
    with pytest.raises(ParameterError):
        greedy_portfolio(np.ones((3, 2)), 0)


# --- choosing among planners -----------------------------------------------------------------------------------------


def test_labels_go_by_completion_then_distance_then_time() -> None:
    names = ["a"]
    assert best_choices(np.array([[(100.0, 50, 9), (100, 40, 9), (90, 1, 1)]]), names) == [1]
    assert best_choices(np.array([[(100.0, 40, 9), (100, 40, 8), (90, 1, 1)]]), names) == [1]
    assert worst_choices(np.array([[(90.0, 50, 9), (90, 60, 9), (100, 99, 99)]]), names) == [1]


def test_equals_are_chosen_by_the_problems_name_and_all_of_them_are() -> None:
    quality = np.ones((60, 3, 3))
    names = [f"problem {k}" for k in range(60)]
    chosen = best_choices(quality, names)
    assert (chosen == best_choices(quality, names)).all()
    assert set(chosen.tolist()) == {0, 1, 2}
    assert (chosen[:7] == best_choices(quality[:7], names[:7])).all()


@pytest.mark.parametrize("seed", range(5))
def test_every_selector_is_between_the_worst_and_the_perfect_one(seed: int) -> None:
    quality, names = drawn_quality(seed)
    perfect, worst = best_choices(quality, names), worst_choices(quality, names)
    low = chosen_quality(quality, worst)[:, 0].mean()
    high = chosen_quality(quality, perfect)[:, 0].mean()
    for single in range(3):
        assert low <= quality[:, single, 0].mean() <= high
    choices = np.random.default_rng(seed).integers(0, 3, len(quality))
    assert low <= chosen_quality(quality, choices)[:, 0].mean() <= high
    ideal = score(quality, perfect, names, single_best(quality))
    assert (ideal.regret, ideal.accuracy, ideal.gap_closed) == (0, 1, 1)


def test_where_all_are_equal_there_is_no_gap() -> None:
    quality = np.repeat(drawn_quality(1)[0][:, :1], 3, axis=1)
    names = [str(k) for k in range(len(quality))]
    scores = [score(quality, np.full(len(quality), k), names, 0) for k in range(3)]
    assert len({each.completion for each in scores}) == 1
    assert [each.gap_closed for each in scores] == [None] * 3
    assert gap_closed(0.5, 0.5, 0.5) is None
    assert gap_closed(76.6, 66.1, 80.8) == pytest.approx(0.714, abs=1e-3)


def test_utility_keeps_the_order_of_completion_and_grades_ties() -> None:
    quality, _ = drawn_quality(2)
    graded = utility(quality)
    for row, wanted in zip(graded, quality, strict=True):
        for a, b in itertools.permutations(range(3), 2):
            if tuple(wanted[a] * (1, -1, -1)) > tuple(wanted[b] * (1, -1, -1)):
                assert row[a] > row[b] or wanted[a, 0] == wanted[b, 0]


def test_the_single_best_has_the_best_mean() -> None:
    quality = np.array([[(50.0, 9, 9), (40, 1, 1)], [(50.0, 9, 9), (70, 1, 1)]])
    assert single_best(quality) == 1
    quality[:, 1, portfolios.COMPLETION] = 50
    quality[:, 1, portfolios.DISTANCE] = 10
    assert single_best(quality) == 0
