from __future__ import annotations

import numpy as np
import pytest

from wend.search.sharing import number_of


@pytest.mark.small
def test_the_number_in_use_that_has_the_key_or_else_the_first_that_nobody_uses() -> None:
    draw = np.random.default_rng(3)
    for _ in range(200):
        keys = draw.permutation(9).astype(np.int32)
        users = draw.integers(0, 3, 9).astype(np.int32)
        key = int(draw.integers(9))
        in_use = [number for number in range(9) if users[number] > 0 and keys[number] == key]
        unused = [number for number in range(9) if users[number] == 0]
        assert number_of(keys, users, key) == [*in_use, *unused, -1][0]
