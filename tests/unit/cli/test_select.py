"""From runs of two planners to a selector, and from a selector to a choice."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from wend.experiments.papers import selection
from wend.experiments.store import Store
from wend.selection.evaluation import Portfolio
from wend.selection.features import FEATURES
from wend.selection.networks import Lessons, save_answers
from wend.selection.selector import Selector, train_selector

SPEC = """
title = "A test"
job = "wend.experiments.papers.selection:portfolio"
metrics = ["completion_rate", "distance", "completion_ticks"]
[views.E]
title = "expansions"
[views.E.limits_of]
lra = { expansions = 4000 }
[views.T]
title = "ticks"
limits = { max_ticks = 30 }
[scales.quick]
maps = ["random:width=20,height=20,seed={0..1}"]
agents = [12]
instances = 7
[[algorithms]]
name = "lra"
label = "LRA*"
[[algorithms]]
name = "pibt"
label = "PIBT"
"""
SELECTORS = """
title = "A test"
job = "wend.experiments.papers.selection:selectors"
metrics = ["completion", "distance", "time", "accuracy", "regret", "gap_closed", "trained"]
[measures]
completion = { help = "" }
distance = { help = "" }
time = { help = "" }
accuracy = { help = "" }
regret = { help = "" }
gap_closed = { help = "" }
trained = { help = "" }
[scales.quick]
maps = ["t/portfolio/quick/E", "t/portfolio/quick/T"]
agents = [1]
instances = 2
[[algorithms]]
name = "trees"
label = "trees"
parameters = { split = "random" }
[[algorithms]]
name = "trees"
label = "trees, half"
parameters = { split = "by-map", training = 0.5 }
[[algorithms]]
name = "perfect"
label = "perfect"
parameters = { split = "random" }
"""

CONFUSION = """
title = "A test"
job = "wend.experiments.papers.selection:confusion"
metrics = ["share", "of_all"]
[measures]
share = { help = "" }
of_all = { help = "" }
[scales.quick]
maps = ["t/portfolio/quick/E"]
agents = [1]
instances = 1
[[algorithms]]
name = "LRA*"
label = "LRA* for LRA*"
parameters = { selector = "perfect", split = "random", best = "LRA*" }
[[algorithms]]
name = "PIBT"
label = "PIBT for LRA*"
parameters = { selector = "perfect", split = "random", best = "LRA*" }
[[algorithms]]
name = "PIBT"
label = "PIBT for PIBT"
parameters = { selector = "PIBT", split = "random", best = "PIBT" }
"""


@pytest.fixture
def model(tmp_path):
    """A selector that was trained on made-up numbers."""
    rng = np.random.default_rng(0)
    names = tuple(map(str, range(30)))
    data = Portfolio(("whca", "far"), names, names, names, rng.random((30, len(FEATURES))), rng.random((30, 2, 3)))
    train_selector(data, trees=3).save(tmp_path / "selector.npz")
    return tmp_path / "selector.npz"


def test_a_choice_in_words_and_as_json(wend, model) -> None:
    words = ["select", "arena:seed=1", "--problem", "swap-sides", "--agents", "40", "--model", model]
    told = wend(*words, "--json")
    assert told.code == 0
    assert told.json["algorithm"] == max(told.json["expected"], key=told.json["expected"].get)
    assert set(told.json["expected"]) == {"whca", "far"}
    said = wend(*words)
    assert f"run {told.json['algorithm']}\n" in said.out
    assert all(reason in said.out for reason in told.json["reasons"])


def test_without_a_selector_it_is_what_auto_begins_with(wend) -> None:
    told = wend("select", "open:width=60,height=60", "--agents", "20", "--budget", "500", "--json").json
    assert told["algorithm"] == "weave"
    said = wend("select", "open:width=60,height=60", "--agents", "20", "--budget", "500")
    assert said.code == 0
    assert told["jam"] == "lacam-rt takes over if no agent arrives for 200 ticks with weave, once half are home"
    assert said.out == f"run weave\nbecause:\n  {told['reasons'][0]}\nin a jam:\n  {told['jam']}\n"
    assert "20 agents on 3,600 cells with 500 expansions per tick" in said.out
    solved = wend("solve", "open:width=60,height=60", "--agents", "20", "--budget", "500", "--json").json
    assert (solved["algorithm"], solved["reasons"]) == ("auto", [f"tick 0: weave, because {told['reasons'][0]}"])


def test_a_dense_problem_with_time_is_planned_at_once(wend) -> None:
    words = ["open:width=12,height=12", "--agents", "30"]
    assert wend("select", *words, "--json").json["algorithm"] == "lacam"
    solved = wend("solve", *words)
    assert solved.code == 0
    assert "tick 0: lacam, because 30 agents on 144 cells with no budget: there is time" in solved.err
    assert "weave" in wend("solve", *words, "--no-offline").err


def test_a_selector_knows_no_budget(wend, model) -> None:
    assert "--budget is for `auto`" in wend("select", "open:", "--budget", "5", "--model", model).err
    assert wend("select", "open:", "--budget", "0").code == 2


def test_a_damaged_model_of_auto_is_a_warning_and_the_run_goes_on(wend, tmp_path) -> None:
    (tmp_path / "m.json").write_text("{")
    solved = wend("solve", "open:width=12,height=12", "--agents", "3", "--model", tmp_path / "m.json")
    assert solved.code == 0
    assert solved.err.count("auto goes by its rule, as its model cannot be used") == 1


AUTO = """
title = "A test"
job = "wend.experiments.papers.selection:portfolio"
metrics = ["completion_ticks"]
[limits]
max_ticks = 60
[views.none]
title = "no budget"
[views.b50]
title = "50 per tick"
budget = 50
[scales.quick]
maps = ["random:width=20,height=20,seed={0..1}"]
agents = [12]
instances = 2
[[algorithms]]
name = "weave"
[[algorithms]]
name = "surge"
"""


def test_runs_become_a_model_of_auto(wend, tmp_path) -> None:
    (tmp_path / "experiments" / "t").mkdir(parents=True)
    (tmp_path / "experiments" / "t" / "auto.toml").write_text(AUTO)
    assert wend("bench", "t/auto", "--allow-code").code == 0
    trained = wend("train", "auto", "results/t/auto", "--json").json
    assert trained["about"]["problems"] == 8
    assert sum(map(sum, trained["problems"])) == 8
    assert (sum(trained["problems"][0]), sum(trained["problems"][1])) == (4, 4)
    crowding = next(k for k, count in enumerate(trained["problems"][0]) if count)
    assert min(trained["ticks"][name][0][crowding] for name in ("weave", "surge")) >= 1
    assert "no budget" in wend("train", "auto", "results/t/auto", "--out", "other.json").out
    told = wend("solve", "random:width=20,height=20,seed=5", "--agents", "12", "--model", "auto.json", "--json").json
    assert "in 4 problems like this" in told["reasons"][0]
    slow = AUTO.replace('name = "surge"', 'name = "lra"')
    (tmp_path / "experiments" / "t" / "other.toml").write_text(slow)
    assert wend("bench", "t/other", "--allow-code").code == 0
    assert "of no problem the runs of weave and surge are there" in wend("train", "auto", "results/t/other").err


@pytest.mark.parametrize("damage", ["missing", "cut", "foreign", "folder"])
def test_a_file_that_is_no_selector_is_named(wend, model, damage, tmp_path) -> None:
    path = tmp_path / "m.npz"
    if damage == "cut":
        path.write_bytes(model.read_bytes()[:-40])
    elif damage == "foreign":
        np.savez(path, a=np.ones(3))
    elif damage == "folder":
        path.mkdir()
    answer = wend("select", "open:", "--model", path)
    assert answer.code == 2
    assert "m.npz" in answer.err
    assert "Traceback" not in answer.err


def test_runs_become_a_selector_and_a_report(wend, tmp_path) -> None:
    (tmp_path / "experiments" / "t").mkdir(parents=True)
    (tmp_path / "experiments" / "t" / "portfolio.toml").write_text(SPEC)
    (tmp_path / "experiments" / "t" / "selectors.toml").write_text(SELECTORS)
    assert wend("bench", "t/portfolio", "--allow-code").code == 0
    data = selection.load_portfolio(tmp_path / "results" / "t" / "portfolio", None, "E")
    assert data.algorithms == ("LRA*", "PIBT")
    assert (len(data.names), set(data.types)) == (14, set(selection._TYPES))
    assert np.isfinite(data.quality).all()
    answer = wend("train", "selector", "results/t/portfolio", "--splits", "2", "--trees", "5", "--json")
    assert answer.code == 0
    assert (answer.json["problems"], answer.json["maps"]) == (14, 2)
    best = {each["selector"]: each["completion"] for each in answer.json["scores"] if each["training"] == 1}
    assert best["worst"] <= best["trees"] <= best["perfect"]
    assert Selector.load("selector.npz").about["view"] == "E"
    assert "gap closed" in wend("train", "selector", "results/t/portfolio", "--splits", "1", "--view", "T").out
    assert "views are E, T" in wend("train", "selector", "results/t/portfolio", "--view", "X").err
    assert wend("bench", "t/selectors", "--allow-code").code == 0
    assert "another kind" in wend("train", "selector", "results/t/selectors").err
    check_confusion(wend, tmp_path)
    check_networks(wend, tmp_path)


def check_confusion(wend, folder) -> None:
    """The perfect selector chooses the best, and who always chooses the same chooses it where it is best too."""
    (folder / "experiments" / "t" / "confusion.toml").write_text(CONFUSION)
    assert wend("bench", "t/confusion", "--allow-code").code == 0
    shares = {row["label"]: row["share"] for row in Store(folder / "results" / "t" / "confusion").rows().values()}
    assert set(shares.values()) <= {None, 0.0, 1.0}
    assert shares["LRA* for LRA*"] in (None, 1.0)
    assert shares["PIBT for LRA*"] in (None, 0.0)
    assert shares["PIBT for PIBT"] in (None, 1.0)


def check_networks(wend, folder) -> None:
    """What networks are to learn is written; their answers are judged beside the other selectors."""
    words = ("train", "networks", "results/t/portfolio", "--splits", "2")
    answer = wend(*words, "--lessons", "lessons.npz")
    assert answer.code == 0
    lessons = Lessons.load("lessons.npz")
    assert lessons.pictures.shape == (14, 227, 227, 3)
    assert len(lessons.names) == 2 * 2 * 4       # splits, kinds, and parts of the training part
    answers = np.full((len(lessons.names), 14, 2), 0.5, np.float32)
    path = selection.networks_file(folder / "results" / "t" / "portfolio", "quick", "E", "small")
    path.parent.mkdir()
    save_answers(path, lessons, answers, [])
    selection.load_portfolio.cache_clear()
    told = wend("train", "selector", "results/t/portfolio", "--splits", "2", "--trees", "2", "--json").json["scores"]
    assert {"small", "both"} < {each["selector"] for each in told}
    assert "alexnet, small" in wend("train", "networks", "results/t/portfolio", "--shape", "huge").err
    assert wend("train", "selector", "results/t/portfolio", "--with", "huge").code == 2
    if find_spec("torch") is None:
        assert "pip install 'wend[train]'" in wend(*words).err
        assert "pip install 'wend[train]'" in wend("train", "selector", "results/t/portfolio", "--with", "small").err
