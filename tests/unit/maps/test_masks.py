from __future__ import annotations

import numpy as np
import pytest

from wend import Grid
from wend.maps.masks import carve, grown, largest_part, opened, solid, window_sum


def mask(drawing: str) -> np.ndarray:
    return np.array([[letter == "." for letter in line] for line in drawing.split()])


def test_carving() -> None:
    free = solid(4, 3)
    carve(free, 1, 0, 2, 2)
    assert np.array_equal(free, mask("@..@ @..@ @@@@"))


def test_windows_growth_and_opening() -> None:
    free = mask("...@ ...@ @@.@")
    assert window_sum(free, 2).tolist() == [[4, 4, 2], [2, 3, 2]]
    assert np.array_equal(grown(mask("@@@@ @@@. @@@@"), 1), mask("@@.. @@.. @@.."))
    assert np.array_equal(opened(free, 2), mask("...@ ...@ @@@@"))


@pytest.mark.small
@pytest.mark.parametrize("seed", range(20))
def test_the_largest_part_is_that_of_a_grid_under_the_octile_rule(seed: int) -> None:
    free = np.random.default_rng(seed).random((9, 12)) < 0.55
    kept = largest_part(free)
    assert np.flatnonzero(kept.ravel()).tolist() == Grid(free).largest_component().tolist()


@pytest.mark.small
def test_of_rock_no_part_is_left() -> None:
    assert not largest_part(solid(3, 2)).any()
