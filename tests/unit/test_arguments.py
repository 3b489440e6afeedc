from __future__ import annotations

import math

import numpy as np
import pytest

from wend import arguments
from wend.errors import ParameterError


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.small
@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.uint64(3), np.float32(3), np.array(3), np.array(3.0)])
def test_a_whole_number_is_a_plain_int(value) -> None:
    assert arguments.whole(value, "it") == 3
    assert type(arguments.whole(value, "it")) is int


@pytest.mark.small
@pytest.mark.parametrize(
    "value", [None, True, np.bool_(True), 3.5, np.float64(3.5), math.nan, math.inf, "3", b"3", [3], (3,), {}, 3j, 2**63,
              -(2**70), np.array([3]), np.array("3"), np.datetime64("2020"), Odd(), int]
)  # fmt: skip
def test_what_is_no_whole_number_is_refused_by_name(value) -> None:
    with pytest.raises(ParameterError, match=r"^ticks is a whole number.*, not "):
        arguments.whole(value, "ticks")


@pytest.mark.small
def test_bounds_are_kept_and_told() -> None:
    assert arguments.whole(5, "n", low=5, high=5) == 5
    with pytest.raises(ParameterError, match="n is a whole number from 1 up to 8, not 9"):
        arguments.whole(9, "n", low=1, high=8)
    with pytest.raises(ParameterError, match="n is a whole number from 0, not -1"):
        arguments.whole(-1, "n", low=0)
    with pytest.raises(ParameterError, match="s is a number above 0, not 0"):
        arguments.number(0, "s", above=0)
    with pytest.raises(ParameterError, match=r"s is a number from 0, not -0\.5"):
        arguments.number(np.float32(-0.5), "s", low=0)


@pytest.mark.small
def test_numbers_and_flags() -> None:
    assert arguments.number(np.float32(0.5), "s") == 0.5
    assert arguments.number(math.inf, "s") == math.inf
    for value in (math.nan, "1", True, None, 2**5000, [1.0]):
        with pytest.raises(ParameterError, match="s is a number"):
            arguments.number(value, "s")
    for value in (True, np.bool_(True), 1, np.int64(1), np.array(True)):
        assert arguments.flag(value, "f") is True
    for value in (2, "yes", None, 0.5, [], np.array([True])):
        with pytest.raises(ParameterError, match="f is True or False"):
            arguments.flag(value, "f")


@pytest.mark.small
def test_points_are_pairs_of_whole_numbers() -> None:
    for value in ((1, 2), [1, 2], np.array([1, 2]), (np.int8(1), 2.0), iter((1, 2))):
        point = arguments.point(value, "p")
        assert point == (1, 2)
        assert [type(coordinate) for coordinate in point] == [int, int]
    for value in (None, 5, "12", b"12", (1,), (1, 2, 3), (0.5, 3), (math.nan, 0), (True, 0), {1: 2, 3: 4}, {1, 2},
                  np.zeros((2, 2)), Odd()):  # fmt: skip
        with pytest.raises(ParameterError, match=r"p is a point \(x, y\) of whole numbers, not "):
            arguments.point(value, "p")
    assert arguments.points(np.array([[3, 0], [3, 1]]), "ps") == [(3, 0), (3, 1)]
    with pytest.raises(ParameterError, match=r"ps\[1\] is a point"):
        arguments.points([(0, 0), 7], "ps")
    for value in (5, None, "ab", np.array(3)):
        with pytest.raises(ParameterError, match=r"ps is a series of points"):
            arguments.points(value, "ps")
