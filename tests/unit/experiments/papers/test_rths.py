"""The thesis's walks and choices, on a few small maps of our own."""

from __future__ import annotations

import numpy as np
import pytest

from wend import Grid, rths
from wend.errors import FormatError, UnknownNameError
from wend.experiments.jobs import run_job
from wend.experiments.papers import rths as papers
from wend.experiments.runner import run_experiment
from wend.experiments.spec import load_spec
from wend.files import parse_array
from wend.search.rths import random_configurations
from wend.selection.networks import TEST, save_answers

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
CONFIGURATIONS = """
title = "A test"
job = "wend.experiments.papers.rths:configurations"
metrics = ["suboptimality", "best", "count"]
[measures]
suboptimality = { help = "" }
best = { help = "" }
count = { help = "" }
[scales.quick]
maps = ["t/walks/quick"]
agents = [1]
instances = 1
[[algorithms]]
name = "a line"
label = "slow"
parameters = { seed = 1, column = "a column", having = { w = [1.0, 5.0], da = false } }
[[algorithms]]
name = "a line"
label = "none"
parameters = { seed = 1, column = "a column", having = { w = [11.0, 12.0] } }
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
    check_networks(folder)
    check_configurations(folder)
    next((folder / "results" / "t" / "walks" / "jobs").glob("*.parquet")).unlink()
    papers._by_map.cache_clear()
    assert "1 of 16 results are missing: run `wend bench` with --scale quick" in run_job(jobs[0], {})["error"]


def check_networks(folder) -> None:
    """Choices by a network follow from its answers, and only from those to the same data."""
    walks = folder / "results" / "t" / "walks"
    lessons = papers.network_lessons(walks, "quick", 1)
    assert lessons.names == ["genre random 0", "game random 0", "map random 0"]
    assert lessons.pictures.shape == (8, 227, 227, 3)
    task, _ = papers.task_of(walks, "quick", "map", "random", 0)
    assert np.flatnonzero(lessons.parts[2] == TEST).tolist() == task.test.tolist()
    answers = np.zeros((3, 8, 2), np.float32)
    answers[2, np.arange(8), task.labels] = 1
    (walks / "networks").mkdir()
    save_answers(papers.networks_file(walks, "quick", "small"), lessons, answers, [])
    found = papers.judge(walks, "quick", "map", "random", 0, "small")
    assert found.accuracy == 1
    assert found.selected == found.perfect
    with pytest.raises(FormatError, match="other data"):
        papers.judge(walks, "quick", "map", "random", 1, "small")
    with pytest.raises(FormatError, match="no such file"):
        papers.judge(walks, "quick", "map", "random", 0, "alexnet")
    with pytest.raises(UnknownNameError, match="by-goal"):
        papers.task_of(walks, "quick", "problem", "by-day", 0)
    pairs, _, _ = papers._by_problem(walks, "quick")
    apart = papers.task_of(walks, "quick", "problem", "by-goal", 0)[0]
    squares = [(goal[0] // 16, goal[1] // 16) for _, _, goal in pairs]
    assert {squares[k] for k in apart.train}.isdisjoint(squares[k] for k in apart.test)


def check_configurations(folder) -> None:
    """A square is the mean over its configurations and all problems."""
    (folder / "experiments" / "t" / "configurations.toml").write_text(CONFIGURATIONS)
    slow, none = (run_job(job, {}) for job in load_spec("t/configurations").jobs("quick"))
    drawn = random_configurations(12, seed=1)
    fits = [k for k, each in enumerate(drawn) if each.w < 5 and not each.da]
    walked = papers._walked(folder / "results" / "t" / "walks", "quick")[fits]
    assert slow.get("error") is None
    assert (slow["problem"], slow["count"]) == ("a column", len(fits))
    assert slow["suboptimality"] == pytest.approx(walked.mean())
    assert slow["best"] == pytest.approx(walked.mean(axis=1).min())
    assert (none["count"], none["suboptimality"]) == (0, None)
