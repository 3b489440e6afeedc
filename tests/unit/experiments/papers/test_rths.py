"""The thesis's walks and choices, on a few small maps of our own."""

from __future__ import annotations

import numpy as np
import pytest

from wend import Grid, rths
from wend.experiments.jobs import run_job
from wend.experiments.papers import rths as papers
from wend.experiments.runner import run_experiment
from wend.experiments.spec import load_spec
from wend.files import parse_array
from wend.search.rths import random_configurations

WALKS = """
title = "A test"
job = "wend.experiments.papers.rths:walks"
metrics = ["moves", "cut_off", "stranded", "best", "median"]
[measures]
moves = { help = "" }
cut_off = { help = "" }
stranded = { help = "" }
best = { help = "" }
median = { help = "" }
[scales.quick]
maps = ["rooms:width=24,height=24,seed={0..3}", "caves:width=24,height=24,seed={0..3}"]
agents = [1]
instances = 2
[[algorithms]]
name = "rths"
parameters = { configurations = 12, problems = 3, seed = 1 }
"""
SELECTION = """
title = "A test"
job = "wend.experiments.papers.rths:selection"
metrics = ["accuracy", "prior", "selected", "perfect", "gain", "ideal_gain", "wins"]
[measures]
accuracy = { help = "" }
prior = { help = "" }
selected = { help = "" }
perfect = { help = "" }
gain = { help = "" }
ideal_gain = { help = "" }
wins = { help = "" }
[scales.quick]
maps = ["t/walks/quick"]
agents = [1]
instances = 2
[[algorithms]]
name = "genre"
[[algorithms]]
name = "game"
[[algorithms]]
name = "map"
[[algorithms]]
name = "problem"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "experiments" / "t").mkdir(parents=True)
    (tmp_path / "experiments" / "t" / "walks.toml").write_text(WALKS)
    (tmp_path / "experiments" / "t" / "selection.toml").write_text(SELECTION)
    return tmp_path


def test_a_row_keeps_what_every_configuration_makes_of_every_problem() -> None:
    job = load_spec("t/walks").jobs("quick")[3]
    row = run_job(job, {})
    found = parse_array(row["data"], "float32", "here")
    grid = Grid.load(job["map"])
    for k, (start, goal) in enumerate(papers.problems_of(grid, job)):
        for c, configuration in enumerate(random_configurations(12, seed=1)):
            walk = rths(grid, start, goal, **vars(configuration))
            assert found[c, k] == np.float32(walk.suboptimality)
    assert row["best"] == pytest.approx(found.mean(axis=1).min())
    assert (row["stranded"], row["stopped_by"]) == (0, "done")


def test_choices_need_all_of_the_data_and_follow_from_it(folder) -> None:
    jobs = load_spec("t/selection").jobs("quick")
    missing = run_job(jobs[0], {})
    assert "results/t/walks: it holds no spec.toml: `wend bench` writes it" in missing["error"]
    run_experiment(load_spec("t/walks"), "quick", out=folder / "results" / "t" / "walks", allow_code=True)
    for row in (run_job(job, {}) for job in jobs):
        assert row.get("error") is None, row["error"]
        assert row["perfect"] >= 1
        assert row["gain"] == row["prior"] - row["selected"]
        assert row["wins"] == (row["selected"] < row["prior"])
        if row["algorithm"] in ("map", "problem"):
            assert row["perfect"] <= min(row["selected"], row["prior"])
    next((folder / "results" / "t" / "walks" / "jobs").glob("*.parquet")).unlink()
    papers._by_map.cache_clear()
    assert "1 of 16 results are missing: run `wend bench` with --scale quick" in run_job(jobs[0], {})["error"]
