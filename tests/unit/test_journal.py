from __future__ import annotations

import numpy as np
import pytest

from wend.journal import Journal


@pytest.mark.small
def test_what_was_kept_comes_back_whatever_is_done_to_it() -> None:
    journal, numbers, table = Journal(), np.arange(4), np.arange(6).reshape(3, 2)
    record = np.zeros(1, np.dtype((np.record, [("count", np.int64)])))
    before = [array.copy() for array in (numbers, table, record)]
    journal.keep(numbers)
    journal.keep(table, 0)
    journal.keep_row((numbers, table), 2)
    journal.keep(record, 0)
    numbers[:], table[0], table[2] = 9, 9, 9
    record[0].count = 9
    journal.settle()            # as when the call has failed
    for array, was in zip((numbers, table, record), before, strict=True):
        assert array.tolist() == was.tolist()
