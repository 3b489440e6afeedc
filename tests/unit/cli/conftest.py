"""The `wend` command, called in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from wend.cli import main


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture
def wend(capsys, monkeypatch, tmp_path) -> Callable[..., Answer]:
    """The command in this process, in an empty folder, with an empty data folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))

    def call(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["wend", *(str(word) for word in words)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return call
