from __future__ import annotations

import numpy as np
import pytest

from tests.reference import packing as reference
from wend.kernel.packing import LINE, pack, packed_size, unpack


@pytest.mark.small
@pytest.mark.parametrize("lines", [0, 1, 63, 64, 65, 150])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("empty", [0, 2**64 - 1, 7])
def test_what_is_packed_is_what_the_reference_keeps_and_comes_back(lines: int, share: float, empty: int) -> None:
    draw = np.random.default_rng(lines)
    words = np.full(lines * LINE, empty, np.uint64)
    words[draw.random(words.size) < share / 4] = 5
    out = np.zeros(3 + packed_size(words.size), np.uint64)
    end = pack(words, np.uint64(empty), out, 3)
    assert out[3:end].tolist() == reference.pack(words.tolist(), empty)
    back = np.ones_like(words)
    assert unpack(out, 3, np.uint64(empty), back) == end
    assert back.tolist() == words.tolist()
