"""Keeping: what snapshots share is what each of them was, however many come and go."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.interrupts import Interrupt
from wend.kernel.keeping import Keeper, Kept, clear_marks
from wend.kernel.storing import Marked


def users_of(held: list[Kept]) -> tuple[dict[int, int], dict[int, int]]:
    """How many of some snapshots have each strip, and how many of these strips list each piece."""
    strips = Counter(np.concatenate([kept.strips for kept in held]).tolist())
    listed = held[0].shelf.stock.strip[list(strips)]
    return dict(strips), dict(Counter(listed[listed >= 0].tolist()))


@pytest.mark.small
@pytest.mark.parametrize("parts", [1, 3])
def test_whatever_comes_and_goes_each_snapshot_is_as_it_was(parts: int) -> None:
    """Rows come into use and go out of it; with three parts to a row, each has its own mark."""
    draw = np.random.default_rng(parts)
    array = np.zeros((150, 6), np.int32)
    marks = np.ones((150, parts), np.bool_) if parts > 1 else np.ones(150, np.bool_)
    one, keeper, held = Marked(array, marks, 1, 40), Keeper(), list[tuple[Kept, Any]]()
    for k in range(120):
        for row in draw.integers(one.rows, size=3):
            part = int(draw.integers(parts))
            array[row, part * 6 // parts] = k
            marks.reshape(150, parts)[row, part] = True
        if draw.random() < 0.3:
            rows = int(np.clip(one.rows + draw.integers(-20, 21), 1, 150))
            array[rows : one.rows], marks[rows : one.rows] = 0, True
            one.rows = rows
        if draw.random() < 0.4 and held:
            kept, then = held[int(draw.integers(len(held)))]
            array[kept.rows : one.rows] = 0
            keeper.bring_back([(one, kept)])
            one.rows = kept.rows
            clear_marks([one])
            assert array[: one.rows].tolist() == then
        else:
            held += [(kept, array[: one.rows].tolist()) for kept in keeper.keep([one])]
        if len(held) > 6:
            del held[int(draw.integers(len(held)))]
        for kept, then in held:
            assert kept.content().tolist() == then
    del kept
    last = keeper.keep([one])[0]
    shelf, alive = last.shelf, {id(kept): kept for kept, _ in held} | {id(last): last}
    marks[0], held = True, []
    newest = keeper.keep([one])[0]              # takes note of one that is gone
    alive[id(newest)] = newest
    stock = shelf.stock
    strips, pieces = users_of(list(alive.values()))
    assert {k: n for k, n in enumerate(stock.strip_users.tolist()) if n > 0 and k in strips} == strips
    free, free_strips = stock.counts["free"].item(), stock.counts["free_strips"].item()
    assert set(stock.free[:free].tolist()).isdisjoint(pieces)
    assert set(stock.free_strip[:free_strips].tolist()).isdisjoint(strips)
    assert len(set(stock.free[:free].tolist())) == free
    assert free + len(pieces) == len(stock.content)
    assert free_strips + len(strips) == len(stock.strip)


@pytest.mark.small
def test_no_interrupt_is_lost_where_a_snapshot_goes() -> None:
    """Python ignores what is raised while an object is taken down, a Ctrl-C as well: no line of Wend may run there."""
    one, keeper = Marked(np.zeros((4, 2), np.int32), np.ones(4, np.bool_), 1, 4), Keeper()
    held = keeper.keep([one])
    one.written[0] = True
    keeper.keep([one])
    shelf = held[0].shelf
    assert not shelf.gone
    assert not Interrupt(1).during(held.clear)
    assert len(shelf.gone) == 1
