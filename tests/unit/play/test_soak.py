# ruff: noqa: E402      # what is imported may be missing
"""A game with three clients that give orders and build walls; `python -m benchmarks play_soak` is the long one."""

from __future__ import annotations

import pytest

for _package in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(_package, reason="the sandbox needs the extra `viewer`")

from benchmarks.play_soak import run


def test_three_clients_play_and_nothing_is_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    found = {row.what: row.ours for row in run(60, units=200, algorithm="lra")}
    said = capsys.readouterr().err
    assert found["lines in the server's log"] == 0, said
    assert found["clients that failed"] == 0, said
    assert found["ticks made"] >= 60
    assert found["actions of all clients"] >= 3
