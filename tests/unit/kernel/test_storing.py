"""Storing: what was put into a block comes out of it as it was, wherever the arrays lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wend.kernel.memory import MEMORY, begin_of
from wend.kernel.storing import Sparse, in_use, is_packable, layout_of, listing_of, looked_through, store, take_out


def arrays(draw: np.random.Generator) -> list[Any]:
    """Of all kinds and lengths: packed ones, too, and some that begin in the middle of a word."""
    made: list[Any] = [
        np.zeros(0, np.int32), np.arange(3, dtype=np.uint8), np.arange(700) % 3, np.full((90, 16), 7, np.int32),
        np.zeros(5003, np.int8), draw.random(1200) < 0.01, draw.random((40, 3)),
    ]  # fmt: skip
    made += [np.arange(2000, dtype=np.int32)[k:] for k in (1, 2)]
    made[4][[17, 4999]] = 5
    return made


@pytest.mark.small
def test_arrays_come_out_as_they_went_in() -> None:
    before = arrays(np.random.default_rng(2))
    layouts = [layout_of(array) for array in before]
    assert not all(is_packable(array) for array in before)
    rows = [max(len(array) - 1, 0) for array in before]
    block, where, _ = store(listing_of(layouts), in_use(rows))
    assert [line[2] > 0 for line in where.tolist()] == [False] * 2 + [True] * 3 + [False] * 2 + [False, True]
    after = [np.full_like(array, 1) for array in before]
    take_out(listing_of([layout_of(array) for array in after]), where, block)
    for one, other, used in zip(before, after, rows, strict=True):
        np.testing.assert_array_equal(other[:used], one[:used])
        assert (other[used:] == 1).all()


@pytest.mark.small
def test_of_a_sparse_array_only_rows_that_hold_something_are_stored() -> None:
    array = np.zeros((40, 3), np.int32)
    array[[7, 9, 30], 1] = 4
    flags = np.zeros(40, np.bool_)
    flags[[3, 7, 9, 30]] = True
    for sparse in (Sparse(array, flags), looked_through(array)):
        block, where, kinds = store(listing_of([]), in_use([]), [sparse])
        assert kinds == [("<i4", (3,)), ("<i4", (3, 3))]
        numbers, rows = (block.view(np.int32)[rest // 4 :] for rest in where[:, 4].tolist())
        assert numbers[:3].tolist() == [7, 9, 30]
        assert rows[:9].reshape(3, 3).tolist() == array[[7, 9, 30]].tolist()
    assert np.flatnonzero(flags).tolist() == [7, 9, 30]


@pytest.mark.small
def test_equal_arrays_make_equal_bytes_whatever_lay_in_memory_before(monkeypatch: pytest.MonkeyPatch) -> None:
    array, flags, blocks = np.zeros((9, 3), np.int32), np.ones(9, np.bool_), set()
    array[[1, 4, 6]] = 5
    layouts = [layout_of(one) for one in arrays(np.random.default_rng(2))]
    for left_over in (0, 0x1234567812345678):
        monkeypatch.setattr(np, "empty", lambda size, dtype, filled=left_over: np.full(size, filled, dtype))
        rows = [max(layout.array.shape[0] - 1, 0) for layout in layouts]
        blocks.add(store(listing_of(layouts), in_use(rows), [Sparse(array, flags.copy())])[0].tobytes())
        monkeypatch.undo()
    assert len(blocks) == 1


@pytest.mark.small
def test_memory_has_every_array() -> None:
    array = np.arange(9, dtype=np.uint8)
    place = begin_of(array)
    assert MEMORY[place : place + 9].tolist() == array.tolist()
    MEMORY[place + 4] = 77
    assert array[4] == 77
