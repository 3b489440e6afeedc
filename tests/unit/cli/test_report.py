"""`wend report`: figures as files."""

from __future__ import annotations

import pytest

from tests.unit.experiments.sample_results import constant, fill
from wend.experiments.spec import load_spec
from wend.experiments.store import Store

SPEC = """
title = "A test"
metrics = ["reached_rate", "cycles"]
[scales.quick]
maps = ["open:"]
agents = [10, 20]
instances = 2
[[algorithms]]
name = "lra"
label = "plain"
[[figures]]
id = "../climbs"
title = "Cycles"
y = "cycles"
"""


@pytest.fixture
def results(tmp_path) -> None:
    """A spec a.toml with its results."""
    (tmp_path / "a.toml").write_text(SPEC)
    spec = load_spec(str(tmp_path / "a.toml"))
    fill(Store.create(tmp_path / "results" / spec.store, spec.name), spec, constant)


@pytest.mark.usefixtures("results")
def test_figures_are_written_as_three_files_each(wend, tmp_path) -> None:
    answer = wend("report", "a.toml", "--figures", "new/folder")
    assert answer.code == 0
    assert "figures written to new/folder: 1, each as svg, pdf, png" in answer.err
    files = sorted((tmp_path / "new" / "folder").iterdir())
    assert [file.name for file in files] == ["climbs.pdf", "climbs.png", "climbs.svg"]
    before = [file.read_bytes() for file in files]
    assert wend("report", "a.toml", "--figures", "new/folder").code == 0
    assert [file.read_bytes() for file in files] == before


@pytest.mark.usefixtures("results")
def test_a_folder_that_cannot_be_one_is_an_error_in_one_line(wend) -> None:
    answer = wend("report", "a.toml", "--figures", "a.toml")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "--figures a.toml: a folder is needed" in answer.err
