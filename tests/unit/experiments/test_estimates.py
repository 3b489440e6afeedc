"""Intervals against published tables, against integrals, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wend.experiments.estimates import (
    Mean,
    estimate,
    estimate_difference,
    line_through,
    mean_of,
    rate_difference,
    rate_of,
    student_quantile,
)
from wend.metrics import Measure


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 15, 29, 30, 31, 45, 99, 1000])
def test_the_quantile_leaves_five_percent_outside(degrees) -> None:
    # With t = sqrt(degrees) tan(angle) the density is a power of the cosine.
    def mass(angle: float) -> float:
        angles = np.linspace(0, angle, 200_001)
        density = np.cos(angles) ** (degrees - 1)
        return float(((density[1:] + density[:-1]) / 2 * np.diff(angles)).sum())

    inside = mass(math.atan(student_quantile(degrees) / math.sqrt(degrees))) / mass(math.pi / 2)
    assert inside == pytest.approx(0.95, abs=1e-4)


def test_a_mean_has_an_interval_if_it_is_of_more_than_one_problem() -> None:
    assert mean_of([]) is None
    assert mean_of([4.0]) == Mean(4.0, None, None, 1)
    mean = mean_of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (mean.value, mean.problems) == (3.0, 5)
    assert mean.half_width == pytest.approx(2.776 * math.sqrt(2.5 / 5))


def test_a_line_needs_three_points_that_logarithmic_axes_can_show() -> None:
    cubes = [(x, 7.0 * x**3) for x in (1, 2, 5, 10)]
    line = line_through(cubes)
    assert (line.slope, line.r2, line.points) == (pytest.approx(3), pytest.approx(1), 4)
    assert math.exp(line.intercept) == pytest.approx(7)
    shown = line_through([(0, 5.0), *cubes, (20, 0.0), (30, -1.0)])
    assert (shown.slope, shown.points) == (pytest.approx(3), 4)
    assert line_through([*cubes[:2], (3, 0.0)]) is None
    assert line_through([]) is None


def test_a_line_says_how_well_it_fits() -> None:
    xs, ys = np.arange(1, 30), np.random.default_rng(1).uniform(1, 9, 29)
    line = line_through(list(zip(xs.tolist(), ys.tolist(), strict=True)))
    slope, intercept = np.polyfit(np.log(xs), np.log(ys), 1)
    assert (line.slope, line.intercept) == (pytest.approx(slope), pytest.approx(intercept))
    assert line.r2 == pytest.approx(np.corrcoef(np.log(xs), np.log(ys))[0, 1] ** 2)
    flat = line_through([(1, 4.0), (2, 4.0), (3, 4.0)])
    assert (flat.slope, flat.r2) == (0, 1)




# --- rates -----------------------------------------------------------------------------------------------------------

# Newcombe: Two-sided confidence intervals for the single proportion (Statistics in Medicine, 1998), Table I, method 3.
PUBLISHED = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("yes", "problems", "low", "high"), PUBLISHED)
def test_wilsons_interval_is_the_published_one(yes, problems, low, high) -> None:
    rate = rate_of(yes, problems)
    assert (rate.value, rate.yes, rate.problems) == (yes / problems, yes, problems)
    assert (rate.low, rate.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    other = rate_of(problems - yes, problems)       # of the opposite
    assert (other.low, other.high) == (pytest.approx(1 - rate.high), pytest.approx(1 - rate.low))


@pytest.mark.parametrize("problems", [1, 2, 5, 30, 1000])
def test_wilsons_interval_ends_where_the_rate_is_1_96_deviations_away(problems) -> None:
    for yes in range(problems + 1):
        rate = rate_of(yes, problems)
        assert 0 <= rate.low <= rate.value <= rate.high <= 1
        for end in {rate.low, rate.high} - {0.0, 1.0}:
            deviation = math.sqrt(end * (1 - end) / problems)
            assert abs(rate.value - end) == pytest.approx(1.959964 * deviation, rel=1e-6)


def test_a_rate_of_a_single_problem_or_of_agreeing_ones_is_not_certain() -> None:
    assert rate_of(1, 1).low == pytest.approx(0.2065, abs=5e-5)
    assert rate_of(5, 5).low == pytest.approx(0.5655, abs=5e-5)
    assert rate_of(0, 5).high == pytest.approx(0.4345, abs=5e-5)


def test_a_difference_of_rates_is_paired_by_problem() -> None:
    """By hand: both 2, first only 2, second only 0, neither 1; rates 4/5 and 2/5."""
    pairs = [(True, True)] * 2 + [(True, False)] * 2 + [(False, False)]
    difference = rate_difference(pairs)
    first, second = rate_of(4, 5), rate_of(2, 5)
    phi = 0.0                                   # 2 * 1 - 2 * 0 = 2, less half of 5: below 0
    assert (difference.value, difference.problems) == (pytest.approx(0.4), 5)
    low = 0.4 - math.sqrt((0.8 - first.low) ** 2 - 2 * phi + (second.high - 0.4) ** 2)
    high = 0.4 + math.sqrt((first.high - 0.8) ** 2 - 2 * phi + (0.4 - second.low) ** 2)
    assert (difference.low, difference.high) == (pytest.approx(low), pytest.approx(high))
    assert difference.contains(0)
    opposite = rate_difference([(b, a) for a, b in pairs])
    assert (opposite.low, opposite.high) == (pytest.approx(-high), pytest.approx(-low))


def test_agreement_makes_a_difference_of_rates_narrower() -> None:
    """By hand: 10, 2, 0 and 8 of 20; phi = (80 - 10) / sqrt(12 * 8 * 10 * 10)."""
    pairs = [(True, True)] * 10 + [(True, False)] * 2 + [(False, False)] * 8
    difference, phi = rate_difference(pairs), 70 / math.sqrt(9600)
    below, above = 0.6 - rate_of(12, 20).low, rate_of(10, 20).high - 0.5
    assert difference.value - difference.low == pytest.approx(math.sqrt(below**2 - 2 * phi * below * above + above**2))
    assert rate_difference([(True, True)] * 5).contains(0)
    assert not rate_difference([(True, False)] * 5).contains(0)
    assert rate_difference([(False, False)] * 5).value == 0


def test_a_measure_says_whether_it_is_a_rate() -> None:
    is_so, share, length = Measure("so", yes_no=True), Measure("a share", percent=True), Measure("a length")
    assert estimate(is_so, [1.0, 0.0, 1.0, 1.0, 1.0]) == rate_of(4, 5)
    assert estimate(is_so, [0.5, 1.0]).yes is None      # means of several runs on a problem are no longer yes or no
    assert estimate(is_so, []) is None
    clipped = estimate(share, [1.0, 1.0, 1.0, 0.5])
    assert (clipped.value, clipped.high, clipped.yes) == (0.875, 1.0, None)
    assert clipped.half_width == pytest.approx(3.182 * 0.125)
    assert estimate(length, [1.0, 0.0]).yes is None
    assert estimate_difference(is_so, [(1.0, 0.0), (1.0, 1.0)]) == rate_difference([(True, False), (True, True)])
    assert estimate_difference(length, [(3.0, 1.0), (5.0, 4.0)]) == mean_of([2.0, 1.0])
    assert estimate_difference(is_so, []) is None
