"""Pictures show what the thesis says, and resizing keeps what is on them."""

from __future__ import annotations

import numpy as np
import pytest

from wend import Grid, Problem
from wend.selection.pictures import GOAL, LINE, START, map_picture, pair_picture, problem_picture, resized


def count(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((picture == colour).all(axis=2).sum())


@pytest.mark.small
def test_a_problem_has_a_pixel_for_each_start_and_goal_and_the_goal_is_drawn_last() -> None:
    mask = np.ones((10, 10), bool)
    mask[4, 2:7] = False
    picture = problem_picture(Problem.from_points(Grid(mask), [(1, 1)], [(8, 9)]))
    assert picture.shape == (10, 10, 3)
    assert (count(picture, START), count(picture, GOAL)) == (1, 1)
    assert (picture[1, 1].tolist(), picture[9, 8].tolist()) == (list(START), list(GOAL))
    assert (count(picture, (255, 255, 255)), count(picture, (0, 0, 0))) == (5, 93)
    assert resized(picture).shape == (227, 227, 3)
    both = problem_picture(Problem.from_points(Grid(mask), [(1, 1), (2, 1)], [(2, 1), (1, 1)]))
    assert (count(both, START), count(both, GOAL)) == (0, 2)


@pytest.mark.small
def test_one_agent_has_two_squares_and_a_line() -> None:
    picture = pair_picture(Grid(np.ones((12, 30))), (0, 5), (20, 5))
    assert (count(picture, START), count(picture, GOAL)) == (6, 9)      # the start's square is cut by the edge
    assert picture[5, 2:19].tolist() == [list(LINE)] * 17
    assert count(picture, LINE) == 17
    aslant = pair_picture(Grid(np.ones((12, 30))), (3, 2), (9, 8))
    assert all(aslant[k, k + 1].tolist() == list(LINE) for k in range(4, 7))


@pytest.mark.small
@pytest.mark.parametrize(("rows", "columns"), [(10, 10), (227, 227), (300, 512), (40, 300)])
def test_resizing_keeps_plain_pictures_and_means(rows: int, columns: int) -> None:
    plain = np.full((rows, columns, 3), 77, np.uint8)
    assert (resized(plain) == 77).all()
    left = np.zeros((rows, columns, 3), np.uint8)
    left[:, : columns // 2] = 255
    found = resized(left)
    assert found.mean() == pytest.approx(255 * (columns // 2) / columns, rel=0.02)
    assert (found[:, :80] > 250).all()
    assert (found[:, -80:] < 5).all()


@pytest.mark.small
def test_a_picture_of_the_right_size_stays_as_it_is() -> None:
    picture = map_picture(Grid(np.random.default_rng(0).random((227, 227)) < 0.6))
    assert (resized(picture) == picture).all()


@pytest.mark.small
def test_cubic_convolution_of_a_line_is_what_keys_says() -> None:
    """Twice as large: new pixels lie at a quarter of the way between old ones."""
    line = np.array([0, 0, 0, 80, 160, 240, 240, 240], np.uint8)
    found = resized(np.repeat(np.tile(line, (8, 1))[:, :, None], 3, axis=2), 16)[8, :, 0].astype(float)

    def weight(far: float) -> float:
        far = abs(far)
        if far <= 1:
            return 1.5 * far**3 - 2.5 * far**2 + 1
        return -0.5 * far**3 + 2.5 * far**2 - 4 * far + 2 if far < 2 else 0.0

    for k in range(4, 12):
        centre = (k + 0.5) / 2 - 0.5
        wanted = sum(weight(centre - j) * line[j] for j in range(8)) / sum(weight(centre - j) for j in range(8))
        assert found[k] == pytest.approx(min(max(wanted, 0), 255), abs=0.51)
