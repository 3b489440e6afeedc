"""Every recorded run comes out as it was recorded."""

from __future__ import annotations

import json

import pytest

from tests.golden.runs import RECORDED, all_runs, name_of, state_hash

HASHES = json.loads(RECORDED.read_text())


def test_the_record_lists_exactly_the_runs() -> None:
    assert sorted(HASHES) == sorted(name_of(*run) for run in all_runs())


@pytest.mark.parametrize("run", all_runs(), ids=lambda run: name_of(*run))
def test_a_run_ends_in_the_recorded_state(run) -> None:
    assert state_hash(*run) == HASHES[name_of(*run)]
