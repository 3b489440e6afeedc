"""What a sample of problems says: means, rates and differences with their 95 % intervals, and how fast means grow.

An interval says how far another draw of as many problems may move the number, and nothing about machines. That of a
mean is Student's. That of a rate, which is either so or not on each problem, is Wilson's (1927): unlike Student's it
stays between 0 and 1, and is no point where all problems agree. A difference of rates on the same problems has
Newcombe's interval for paired data (1998, method 10), which is made of Wilson's.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from wend.metrics import Measure

FEWEST_POINTS = 3               # that a line is put through

# Two-sided 95 % quantiles of Student's distribution for 1, 2, ... 30 degrees of freedom.
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL = 1.959964


@dataclass(frozen=True)
class Mean:
    """A mean over problems, or a rate, which is the mean of zeros and ones."""

    value: float
    low: float | None           # the ends of its 95 % interval; None for the mean of a single problem
    high: float | None
    problems: int
    yes: int | None = None      # of a rate: the number of problems on which it is so

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, which may be cut off on one side."""
        return None if self.low is None or self.high is None else max(self.value - self.low, self.high - self.value)

    def contains(self, value: float) -> bool:
        """Whether a value may be the true one; any may if there is no interval."""
        return self.low is None or self.high is None or self.low <= value <= self.high


@dataclass(frozen=True)
class Line:
    """The least-squares line through points on logarithmic axes, that is, y = exp(intercept) * x ** slope."""

    slope: float
    intercept: float
    r2: float               # share of the variance of log y that the line explains
    points: int


def estimate(measure: Measure, values: Sequence[float]) -> Mean | None:
    """The mean of a measure, which has one value for each problem, or its rate; None if there are none."""
    if measure.yes_no and values and all(value in (0, 1) for value in values):
        return rate_of(sum(value == 1 for value in values), len(values))
    mean = mean_of(values)
    if mean is None or mean.low is None or mean.high is None or not (measure.percent or measure.yes_no):
        return mean
    return Mean(mean.value, max(mean.low, 0.0), min(mean.high, 1.0), mean.problems)


def estimate_difference(measure: Measure, pairs: Sequence[tuple[float, float]]) -> Mean | None:
    """The mean of first minus second, which are values on the same problem; None if there are none."""
    if measure.yes_no and pairs and all(value in (0, 1) for pair in pairs for value in pair):
        return rate_difference([(first == 1, second == 1) for first, second in pairs])
    return mean_of([first - second for first, second in pairs])


def student_quantile(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's distribution.

    >>> student_quantile(4)
    2.776
    """
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    # The first terms of its expansion around the normal distribution; from 30 degrees on, three decimals are right.
    z = _NORMAL
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def mean_of(values: Sequence[float]) -> Mean | None:
    """The mean of the values with Student's interval; None if there are none."""
    problems = len(values)
    if problems == 0:
        return None
    mean = statistics.fmean(values)
    if problems == 1:
        return Mean(mean, None, None, 1)
    half_width = student_quantile(problems - 1) * statistics.stdev(values) / math.sqrt(problems)
    return Mean(mean, mean - half_width, mean + half_width, problems)


def rate_of(yes: int, problems: int) -> Mean:
    """The share of problems on which something is so, with Wilson's interval.

    >>> rate = rate_of(4, 5)
    >>> rate.value, round(rate.low, 3), round(rate.high, 3)
    (0.8, 0.376, 0.964)
    """
    low, high = wilson(yes, problems)
    return Mean(yes / problems, low, high, problems, yes)


def wilson(yes: int, problems: int) -> tuple[float, float]:
    """The ends of Wilson's 95 % interval for a share."""
    share, z2 = yes / problems, _NORMAL**2
    middle = (share + z2 / (2 * problems)) / (1 + z2 / problems)
    half_width = _NORMAL * math.sqrt(share * (1 - share) / problems + z2 / (4 * problems**2)) / (1 + z2 / problems)
    low = 0.0 if yes == 0 else middle - half_width          # exactly: rounding must not lead past 0 and 1
    high = 1.0 if yes == problems else middle + half_width
    return low, high


def rate_difference(pairs: Sequence[tuple[bool, bool]]) -> Mean:
    """The first rate minus the second on the same problems, with Newcombe's interval."""
    problems = len(pairs)
    both, first_only, second_only, neither = (
        sum(pair == wanted for pair in pairs)
        for wanted in ((True, True), (True, False), (False, True), (False, False))
    )
    first, second = both + first_only, both + second_only
    agreement = float(both * neither - first_only * second_only)
    if agreement > 0:
        agreement = max(agreement - problems / 2, 0)
    marginals = first * (problems - first) * second * (problems - second)
    phi = agreement / math.sqrt(marginals) if marginals else 0.0
    (first_low, first_high), (second_low, second_high) = wilson(first, problems), wilson(second, problems)
    below = _combined(first / problems - first_low, second_high - second / problems, phi)
    above = _combined(first_high - first / problems, second / problems - second_low, phi)
    difference = (first_only - second_only) / problems
    return Mean(difference, difference - below, difference + above, problems)


def _combined(one: float, other: float, correlation: float) -> float:
    """The width to one side of a difference, from those of its two parts."""
    return math.sqrt(max(one**2 - 2 * correlation * one * other + other**2, 0.0))


def line_through(points: Sequence[tuple[float, float]]) -> Line | None:
    """The line through those points that logarithmic axes can show; None if they are fewer than three.

    >>> round(line_through([(1, 5), (2, 20), (4, 80), (8, 0)]).slope, 6)
    2.0
    """
    shown = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(shown) < FEWEST_POINTS:
        return None
    xs, ys = zip(*shown, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    unexplained = sum((y - intercept - slope * x) ** 2 for x, y in shown)
    variance = statistics.pvariance(ys) * len(ys)
    return Line(slope, intercept, 1 - unexplained / variance if variance else 1.0, len(shown))
