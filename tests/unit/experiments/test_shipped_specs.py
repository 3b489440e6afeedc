"""The specs in `experiments/` can be run and reported, and their claims say what their sentences say."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from wend.experiments.jobs import load_grid, load_problem
from wend.experiments.report import make_report
from wend.experiments.spec import SCALES, Spec, load_spec
from wend.experiments.store import COLUMNS, Store

FOLDER = Path(__file__).resolve().parents[3] / "experiments"
NAMES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.toml"))


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch) -> None:
    monkeypatch.chdir(FOLDER.parent)


@pytest.mark.parametrize("name", NAMES)
def test_a_spec_asks_nothing_that_cannot_be_answered(tmp_path, name) -> None:
    spec = load_spec(name)
    report = make_report(spec, Store.create(tmp_path / "results", spec.store), scale="quick")
    assert report.done == 0
    assert [ruling.verdict for ruling in report.claims] == [None] * len(spec.claims)
    assert [comparison.ours for comparison in report.numbers] == [None] * len(spec.numbers)


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_scale_contains_the_smaller_ones(name) -> None:
    spec = load_spec(name)
    ids = [{job["id"] for job in spec.jobs(scale)} for scale in SCALES if scale in spec.scales]
    assert ids[0]
    for smaller, larger in itertools.pairwise(ids):
        assert smaller < larger


@pytest.mark.parametrize("name", NAMES)
def test_all_agents_fit_on_maps_of_our_own(name) -> None:
    spec = load_spec(name)
    largest = {}
    for scale in spec.scales:
        for job in spec.jobs(scale):
            if ":" in job["map"] and job["agents"] > largest.get(job["map"], job | {"agents": 0})["agents"]:
                largest[job["map"]] = job
    for job in largest.values():
        grid = load_grid(job["map"], job["connectivity"], job["corner_cutting"])
        assert load_problem(grid, job).agents == job["agents"]


# --- Silver's claims -------------------------------------------------------------------------------------------------

SILVER_METRICS = ("reached_rate", "path_length", "cycles", "initial_ms", "worst_turn_ms")
AS_PRINTED = {      # with 100 agents; the shortest path is 20
    "LRA*": (0.80, 44, 16.0, 10, 20),
    "CA*": (0.97, 24, 0.3, 1100, 20),
    "HCA*": (0.97, 24, 0.3, 1000, 20),
    "WHCA*(8)": (0.95, 28, 1.5, 60, 50),
    "WHCA*(16)": (0.985, 26, 1.2, 90, 50),
    "WHCA*(32)": (0.99, 25, 1.0, 150, 50),
}
OTHERWISE = {
    "LRA*": (0.99, 22, 1.0, 2000, 20),
    "CA*": (0.97, 20, 1.3, 10, 20),
    "HCA*": (0.97, 28, 1.3, 1000, 20),
    "WHCA*(8)": (0.98, 21, 1.6, 300, 50),
    "WHCA*(16)": (0.97, 26, 1.2, 200, 70),
    "WHCA*(32)": (0.99, 25, 1.0, 150, 50),
}


@pytest.fixture
def silver() -> Spec:
    return load_spec("silver/figures")


def report_of(spec: Spec, folder: Path, crowded: dict, few: tuple) -> dict[str, bool | None]:
    store = Store.create(folder, spec.name)
    for job in spec.jobs("quick"):
        if job["map"] == "random:seed=3" and job["label"] in crowded:       # the paper's, not ours
            values = crowded[job["label"]] if job["agents"] == 100 else few
            of_job = {name: job[name] for name in ("id", "map", "agents", "algorithm", "label")}
            measured = dict(zip(SILVER_METRICS, values, strict=True))
            store.put({**dict.fromkeys(COLUMNS), **of_job, **measured, "shortest_length": 20})
    report = make_report(spec, store, scale="quick")
    return {ruling.claim.sentence: ruling.answer for ruling in report.claims}


def test_silvers_claims_hold_for_what_he_printed(silver, tmp_path) -> None:
    answers = report_of(silver, tmp_path / "results", AS_PRINTED, few=(1.0, 21, 0.1, 1, 1))
    assert [sentence for sentence, holds in answers.items() if holds is not True] == []


def test_silvers_claims_fail_for_the_opposite(silver, tmp_path) -> None:
    answers = report_of(silver, tmp_path / "results", OTHERWISE, few=(0.9, 40, 5, 1, 1))
    assert [sentence for sentence, holds in answers.items() if holds is not False] == []


# --- MAPP's growth ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steepest", "sizes", "holds"),
    [(1.9, (100, 500, 1000), True), (2.1, (100, 500, 1000), False), (2.1, (100, 500), None)],
)
def test_mapps_bounds_are_about_the_steepest_map(tmp_path, steepest, sizes, holds) -> None:
    spec = load_spec("mapp/runtime")
    store = Store.create(tmp_path / "results", spec.store)
    for job in spec.jobs("standard"):
        if job["label"] == "MAPP" and job["agents"] in sizes:
            grown = job["agents"] ** (steepest if job["map"].endswith("AR0204SR") else 1.2)
            of_job = {name: job[name] for name in ("id", "map", "agents", "algorithm", "label")}
            measured = {"plan_seconds": grown / 1000, "listed_moves": grown / job["agents"]}
            store.put({**dict.fromkeys(COLUMNS), **of_job, **measured})
    report = make_report(spec, store, scale="standard")
    answers = [ruling.answer for ruling in report.claims if "slope at most 2" in ruling.claim.sentence]
    assert answers == [holds, holds]
    by_units = {each.id: each.sheets[0].lines for each in report.figures if each.sheets[0].column_column == "map"}
    if holds is None:
        assert by_units == {"time-units": [None] * 10, "moves-units": [None] * 10}
    else:
        assert max(line.slope for line in by_units["time-units"]) == pytest.approx(steepest)
        assert max(line.slope for line in by_units["moves-units"]) == pytest.approx(steepest - 1)
