"""A claim holds, fails, or is undecided: the bootstrap against what is known of the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.unit.experiments.sample_results import MAPS, METRICS, a_row, a_spec, fill, printed
from wend.errors import FormatError
from wend.experiments.findings import Report
from wend.experiments.report import make_report
from wend.experiments.spec import Claim, ProblemSpec, Scale, Spec
from wend.experiments.store import Store

ABOVE = Claim("Above nought.", "SELECT avg(cycles) > 0 FROM results WHERE label = 'plain'")
SEEDS = {"quick": Scale(["random:seed={0..9}"], [10, 20], 1)}
NAMED = {"quick": Scale(["open:", "maze:"], [10, 20], 5)}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store.create(tmp_path / "results", "a/b")


def report_of(store: Store, claims: list[Claim], cycles, **more) -> Report:
    spec = a_spec(claims=claims, **{"scales": NAMED, **more})
    fill(store, spec, lambda job: {"cycles": float(cycles(job))})
    return make_report(spec, store)


def verdict(report: Report) -> str | None:
    (ruling,) = report.claims
    return ruling.verdict


def test_noise_leaves_a_claim_undecided_and_a_clear_one_decided(store) -> None:
    """The mean is 0 and its deviation 5."""
    claims = [Claim(f"Above {least}.", ABOVE.sql.replace("> 0", f"> {least}")) for least in (-20, -3, 3, 20)]
    report = report_of(store, claims, lambda job: (job["instance"] - 2) * 10)
    assert [ruling.verdict for ruling in report.claims] == ["holds", "undecided", "undecided", "fails"]
    assert [ruling.answer for ruling in report.claims] == [True, True, False, False]
    assert "a verdict needs 95 % that agree" in printed(report)


def test_the_share_of_resamples_is_that_of_a_normal_mean(store, monkeypatch) -> None:
    """Resamples of 40 draws, against the normal distribution of their mean."""
    values = np.random.default_rng(7).normal(size=40)
    values += 0.6 * values.std(ddof=1) / math.sqrt(40) - values.mean()
    spec = {"scales": {"quick": Scale(["open:"], [10], 40)}}
    expected = (1 + math.erf(0.6 / math.sqrt(2))) / 2
    monkeypatch.setattr("wend.experiments.verdicts.CERTAIN", expected)      # so that it goes on
    (ruling,) = report_of(store, [ABOVE], lambda job: values[job["instance"]], **spec).claims
    assert ruling.resamples == 200
    assert ruling.borne_out == pytest.approx(expected, abs=3 * math.sqrt(expected * (1 - expected) / 200))


def test_resampling_ends_once_the_verdict_is_settled(store) -> None:
    """73 of 73 is the least that Wilson's interval puts above 95 %."""
    report = report_of(store, [Claim("Yes.", "SELECT true"), ABOVE], lambda job: 7 * (job["instance"] - 2))
    assert report.claims[0].resamples == 73
    assert (report.claims[1].resamples, report.claims[1].verdict) == (40, "undecided")


def test_algorithms_stay_compared_on_the_same_problems(store) -> None:
    """The problems differ by far more than the algorithms, which differ the same way on each."""
    claim = Claim("Noisy is more.", """
        SELECT avg(cycles) FILTER (label = 'noisy') > avg(cycles) FILTER (label = 'plain') FROM results
    """)
    report = report_of(store, [claim], lambda job: 1000.0 * job["instance"] + (job["label"] == "noisy"))
    assert verdict(report) == "holds"
    assert report.claims[0].borne_out == 1


def test_a_problem_that_is_drawn_twice_counts_as_two(store) -> None:
    """A resample takes four of five instances on each of two maps, in both sizes and with both algorithms."""
    groups = "SELECT count(*) = 16 FROM (SELECT map, agents, instance FROM results GROUP BY ALL HAVING count(*) = 2)"
    report = report_of(store, [Claim("As many groups.", groups)], lambda _: 1)
    assert (report.claims[0].answer, report.claims[0].borne_out) == (False, 1)
    assert verdict(report) == "undecided"


def test_each_named_map_keeps_its_share_and_seeds_are_draws(store, tmp_path) -> None:
    sql = "SELECT count(*) = 2 FROM (SELECT map FROM results GROUP BY map HAVING count(DISTINCT instance) = 4)"
    assert report_of(store, [Claim("Of each map.", sql)], lambda _: 1).claims[0].borne_out == 1
    other = Store.create(tmp_path / "seeds", "a/b")
    report = report_of(other, [ABOVE], lambda job: int(job["map"][-1]) - 3, scales=SEEDS)
    assert 0.8 < report.claims[0].borne_out < 1     # mean 1.5, deviation of the mean 0.96


def test_sizes_are_drawn_where_a_map_has_one_instance_unless_they_are_parts_of_a_scenario(store, tmp_path) -> None:
    scales = {"quick": Scale(["open:"], [10, 20, 30, 40], 1)}
    report = report_of(store, [ABOVE], lambda job: job["agents"] - 19, scales=scales)
    assert 0.5 < report.claims[0].borne_out < 1
    parts = Store.create(tmp_path / "parts", "a/b")
    problem = ProblemSpec(scen="a-{instance}.scen")
    report = report_of(parts, [ABOVE], lambda job: job["agents"] - 19, scales=scales, problem=problem)
    assert (verdict(report), report.claims[0].borne_out) == ("undecided", None)


def test_a_single_draw_decides_nothing_but_an_exact_claim(store) -> None:
    claims = [ABOVE, Claim(ABOVE.sentence, ABOVE.sql, exact=True)]
    report = report_of(store, claims, lambda _: 5, scales={"quick": Scale(["open:"], [10], 1)})
    assert [ruling.verdict for ruling in report.claims] == ["undecided", "holds"]
    text = printed(report)
    assert "exact" in text
    assert "too few problems were drawn to tell" in text


def test_a_claim_that_most_resamples_cannot_answer_is_undecided(store) -> None:
    only_first = Claim("Once.", "SELECT CASE WHEN count(*) = 40 THEN true END FROM results")
    report = report_of(store, [only_first], lambda _: 1)
    assert (verdict(report), report.claims[0].answer, report.claims[0].borne_out) == ("undecided", True, None)


def test_the_results_are_as_before_afterwards_and_verdicts_are_the_same_each_time(store) -> None:
    def noise(job: dict) -> float:
        return math.sin(17.0 * job["instance"] + job["agents"])

    claims = [ABOVE, Claim("Ten.", "SELECT count(*) = 40 FROM results", exact=True)]
    first = report_of(store, claims, noise)
    assert first.claims == report_of(store, claims, noise).claims
    assert first.claims[1].answer is True


def test_resamples_have_their_time_too(store, monkeypatch) -> None:
    monkeypatch.setattr("wend.experiments.verdicts.RESAMPLING_SECONDS", 0.0)
    with pytest.raises(FormatError, match=r"a/b: claim 'Above nought.': its SQL takes more than 0 s on 1 resamples"):
        report_of(store, [ABOVE], lambda _: 1)


def test_a_failed_job_does_not_count(store) -> None:
    spec: Spec = a_spec(claims=[ABOVE], scales={"quick": Scale(MAPS, [10], 3)})
    for job in spec.jobs("quick"):
        failed = job["instance"] == 0
        store.put(a_row(job, **dict.fromkeys(METRICS, None if failed else 1.0), error="no" if failed else None))
    assert verdict(make_report(spec, store)) == "holds"
