from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser

import pytest

from tests.unit.experiments.sample_results import (
    MAPS,
    METRICS,
    NOISY,
    PLAIN,
    a_row,
    a_spec,
    cell,
    constant,
    fill,
    printed,
)
from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.experiments.estimates import Mean
from wend.experiments.render import _value, to_html, to_markdown
from wend.experiments.report import make_report
from wend.experiments.spec import AlgorithmSpec, Claim, Figure, PaperNumber, Scale, Spec, Table, View
from wend.experiments.store import Store
from wend.maps.grid import Grid
from wend.metrics import Measure


@pytest.fixture
def store(tmp_path) -> Store:
    return Store.create(tmp_path / "results", "a/b")


# --- which rows ------------------------------------------------------------------------------------------------------


def test_the_largest_complete_scale_is_reported_or_else_the_fullest(store) -> None:
    spec = a_spec()
    assert make_report(spec, store).scale == "quick"
    fill(store, spec, lambda job: constant(job) if job["instance"] == 2 else None, "standard")
    assert make_report(spec, store).scale == "standard"     # a third of it, and nothing of the other
    fill(store, spec, constant)
    assert make_report(spec, store).scale == "standard"     # now both are complete
    store.forget([spec.jobs("standard")[-1]["id"]])
    assert make_report(spec, store).scale == "quick"
    assert make_report(spec, store, scale="standard").done == 23


def test_an_unknown_scale_or_no_scale_at_all_is_an_error(store) -> None:
    with pytest.raises(UnknownNameError, match="unknown scale of a/b 'huge'"):
        make_report(a_spec(), store, scale="huge")
    with pytest.raises(FormatError, match="a/b: it has no scales"):
        make_report(a_spec(scales={}), store)


def test_results_of_another_experiment_are_refused(store) -> None:
    with pytest.raises(FormatError, match="results of 'a/b', not of 'c/d'"):
        make_report(a_spec(name="c/d"), store)


def test_only_rows_of_the_scale_count(store) -> None:
    spec = a_spec(tables=[Table("t", "T", rows="label", values=["cycles"])])
    fill(store, spec, constant)
    before = make_report(spec, store, scale="quick")
    fill(store, spec, lambda job: {"cycles": 1000.0} if job["instance"] == 2 else None, "standard")
    assert make_report(spec, store, scale="quick") == before
    assert cell(before.tables[0], "plain", "cycles").mean.problems == 8


def test_the_header_says_what_was_run_and_where(store) -> None:
    spec = a_spec(algorithms=[PLAIN, NOISY])
    jobs = spec.jobs("quick")
    for job in jobs[:6]:
        store.put(a_row(job))
    store.put(a_row(jobs[6], stopped_by="max-ticks", violations=2, cpu="another CPU", wend_version="0.0.9"))
    store.put(a_row(jobs[7], stopped_by="error", error="ValueError: no", commit=""))
    report = make_report(spec, store)
    assert (report.jobs, report.done, report.failed, report.illegal) == (16, 8, 1, 1)
    assert report.stopped_by == {"done": 6, "error": 1, "max-ticks": 1}
    assert (report.versions, report.commits, report.cpus) == (["0.0.9", "0.1.0"], ["abc"], ["a CPU", "another CPU"])
    for text in (printed(report), to_markdown(report)):
        assert "8 of 16" in text
        assert "done 6, error 1, max-ticks 1" in text


def test_failed_jobs_are_listed_up_to_ten(store) -> None:
    spec = a_spec()
    fill(store, spec, lambda job: {"error": f"ValueError: {job['label']}\nat {job['map']}", "stopped_by": "error"})
    report = make_report(spec, store)
    assert (report.failed, len(report.failures)) == (16, 10)
    first = report.failures[0]
    assert first.job == "plain on random:seed=0, 20 agents, instance 0"
    assert first.error == "ValueError: plain\nat random:seed=0"
    for text in (printed(report), to_markdown(report), to_html(report)):
        assert "ValueError: plain at random:seed=0" in text
        assert "The first 10 of 16." in text


def test_rows_bear_the_labels_that_the_spec_gives_now(store) -> None:
    fill(store, a_spec(), constant)
    renamed = a_spec(
        algorithms=[PLAIN, AlgorithmSpec("lra", label="loud", parameters={"noise": 2})],
        tables=[Table("t", "T", rows="label", values=["cycles"])],
    )
    assert make_report(renamed, store).tables[0].sheets[0].rows == ["plain", "loud"]


# --- figures and tables ----------------------------------------------------------------------------------------------


def test_a_figure_has_a_mean_for_each_x_and_series(store) -> None:
    spec = a_spec(figures=[Figure("f1", "Cycles", y="cycles", paper="a straight line")])
    fill(store, spec, lambda job: {"cycles": job["agents"] + job["instance"] + 10.0 * (job["label"] == "noisy")})
    report = make_report(spec, store)
    (figure,) = report.figures
    (sheet,) = figure.sheets
    assert (sheet.rows, sheet.columns) == ([10, 20], ["plain", "noisy"])     # x ascending, series as in the spec
    point = cell(figure, 10, "noisy").mean
    assert (point.value, point.problems) == (20.5, 4)
    assert point.half_width == pytest.approx(3.182 * math.sqrt(1 / 3) / 2)
    (as_json,) = report.to_json()["figures"]
    assert as_json["entries"][1] == {
        "row": 10, "column": "noisy", "metric": "cycles", "common": False, "mean": 20.5, "low": point.low,
        "high": point.high, "problems": 4, "difference": None, "printed": None,
    }  # fmt: skip
    for text in (printed(report), to_markdown(report)):
        assert "In the paper: a straight line" in text
        assert "20.5 ±0.9" in text
    page = to_html(report)
    assert page.count("<svg") == 1
    assert ">a straight line</p>" in page
    assert "cells entered again, per agent" in page


GROWTH = {"quick": Scale(MAPS[:1], [10, 20, 40, 80], 2)}


def test_a_logarithmic_figure_says_the_slope_of_each_series(store) -> None:
    spec = a_spec(scales=GROWTH, figures=[Figure("f", "F", y="cycles", log=True)])

    def result(job: dict) -> dict:      # noisy has not run with more than 20
        plain = job["label"] == "plain"
        return {"cycles": 3.0 * job["agents"] ** 2 if plain else 1.0 if job["agents"] <= 20 else None}

    fill(store, spec, result)
    report = make_report(spec, store)
    plain, noisy = report.figures[0].sheets[0].lines
    assert (plain.slope, plain.r2, plain.points, noisy) == (pytest.approx(2), pytest.approx(1), 4, None)
    text = to_markdown(report)
    assert "| slope | 2.00 | - |\n| r² | 1.000 | - |\n| points | 4 | - |" in text
    assert "Slope: of the least-squares line" in text
    (slope,) = report.to_json()["figures"][0]["slopes"]
    assert slope == {"column": "plain", "slope": plain.slope, "r2": plain.r2, "points": 4}
    page = to_html(report)
    assert '<span>slope</span></td><td class="number"><span>2.00</span>' in page
    for label in ("plain, slope 2.00", "noisy", "10", "20", "50"):
        assert f">{label}</text>" in page
    Outline(page)


def test_a_figure_without_enough_points_or_logarithms_has_no_slopes(store) -> None:
    spec = a_spec(figures=[Figure("few", "F", y="cycles", log=True), Figure("linear", "F", y="cycles")])
    fill(store, spec, constant)         # with 10 and 20 agents
    report = make_report(spec, store)
    assert [figure.sheets[0].lines for figure in report.figures] == [[None, None], None]
    assert [sheet["slopes"] for sheet in report.to_json()["figures"]] == [[], []]
    assert "slope |" not in to_markdown(report)
    assert to_html(report).count("<svg") == 2


def test_words_have_no_logarithm(store) -> None:
    spec = a_spec(figures=[Figure("f", "F", y="cycles", x="map", log=True)])
    fill(store, spec, constant)
    with pytest.raises(FormatError, match=r"^a/b: figure f: map is no number, so `log` cannot show it"):
        make_report(spec, store)


def test_x_may_be_a_metric(store) -> None:
    spec = a_spec(figures=[Figure("f", "F", y="reached_rate", x="cycles")])
    fill(store, spec, lambda job: constant(job) | ({"cycles": math.inf} if job["instance"] else {}))
    (figure,) = make_report(spec, store).figures
    assert (figure.sheets[0].rows, figure.sheets[0].columns) == ([2.5, 5.0, 10.0], ["plain", "noisy"])
    assert cell(figure, 10.0, "plain").mean.value == pytest.approx(0.7)
    assert cell(figure, 10.0, "noisy").mean is None


def test_x_may_be_the_free_cells_of_the_map(store) -> None:
    sizes = {f"random:seed={k}": Grid.load(f"random:seed={k}").free_cells().size for k in range(3)}
    maps = [*sizes, "nowhere/to-be-found"]
    figure = Figure("f", "F", y="cycles", x="free_cells", series="agents", where="label = 'plain'", log=True)
    spec = a_spec(scales={"quick": Scale(maps, [20, 10], 1)}, figures=[figure])
    fill(store, spec, lambda job: {"cycles": job["agents"] * float(sizes.get(job["map"], 1))})
    report = make_report(spec, store)
    (figure,) = report.figures
    (sheet,) = figure.sheets
    assert (sheet.rows, sheet.columns) == (sorted(sizes.values()), [20, 10])
    assert [cell(figure, size, 10).mean.value for size in sheet.rows] == [10.0 * size for size in sheet.rows]
    assert [(line.slope, line.points) for line in sheet.lines] == [(pytest.approx(1), 3)] * 2
    page = to_html(report)
    for label in ("free cells", "agents", "20, slope 1.00"):
        assert f">{label}</text>" in page


def test_free_cells_of_maps_that_are_not_here_are_not_measured(store) -> None:
    figure = Figure("f", "F", y="cycles", x="free_cells", log=True)
    spec = a_spec(scales={"quick": Scale(["nowhere/to-be-found"], [10], 1)}, figures=[figure])
    fill(store, spec, constant)
    report = make_report(spec, store)
    assert report.done == 2
    assert "Not measured yet." in to_markdown(report)
    assert "<svg" not in to_html(report)


def test_a_table_has_the_values_as_columns_or_a_sheet_for_each_of_them(store) -> None:
    by_one, by_two = Table("one", "One", rows="agents"), Table("two", "Two", rows="label", columns="agents")
    spec = a_spec(tables=[by_one, by_two])
    fill(store, spec, constant)
    one, *two = make_report(spec, store).tables
    assert (one.sheets[0].rows, one.sheets[0].columns) == ([20, 10], METRICS)       # rows in the order of the spec
    assert cell(one, 20, "reached_rate").mean.value == pytest.approx(0.8)
    assert [table.title for table in two] == ["Two: reached rate", "Two: cycles"]
    assert (two[1].sheets[0].rows, two[1].sheets[0].columns) == (["plain", "noisy"], [20, 10])
    assert cell(two[1], "noisy", 20).mean == Mean(5.0, 5.0, 5.0, 4)


def test_a_table_keeps_to_its_condition_and_shows_what_is_not_there(store) -> None:
    spec = a_spec(tables=[Table("t", "T", rows="map", columns="label", values=["cycles"], where="agents = 10")])
    nowhere = ("random:seed=1", "noisy")
    fill(store, spec, lambda job: {} if (job["map"], job["label"]) == nowhere else {"cycles": float(job["agents"])})
    report = make_report(spec, store)
    (table,) = report.tables
    assert cell(table, "random:seed=0", "plain").mean == Mean(10.0, 10.0, 10.0, 2)
    assert cell(table, "random:seed=1", "noisy").mean is None
    assert "| random:seed=1 | 10.0 ±0.0 | - |" in to_markdown(report)


def test_differences_are_between_runs_on_the_same_problem(store) -> None:
    spec = a_spec(tables=[Table("t", "T", rows="label", values=["cycles"])])
    hardness = {0: 1.0, 1: 100.0}

    def result(job: dict) -> dict | None:
        if job["label"] == "plain" and job["instance"] == 1 and job["agents"] == 10:
            return None                 # the baseline has not run on two of the hard ones
        return {"cycles": hardness[job["instance"]] + (job["label"] == "noisy")}

    fill(store, spec, result)
    (table,) = make_report(spec, store, baseline="plain").tables
    assert cell(table, "plain", "cycles").difference is None
    entry = cell(table, "noisy", "cycles")
    assert entry.difference == Mean(1.0, 1.0, 1.0, 6)
    assert entry.mean.value == 51.5
    assert cell(make_report(spec, store).tables[0], "noisy", "cycles").difference is None


def test_a_difference_that_may_be_chance_is_marked(store) -> None:
    table = Table("t", "T", rows="label", values=METRICS)
    spec = a_spec(baseline="plain", tables=[table])

    def result(job: dict) -> dict:
        noisy = job["label"] == "noisy"
        return {"reached_rate": 0.5 + 0.25 * noisy, "cycles": 3.0 + (job["instance"] - 0.4 if noisy else 0)}

    fill(store, spec, result)
    report = make_report(spec, store)
    assert "| noisy | 75.0 % ±0.0 (+25.0) | 3.10 ±0.45 (\\~+0.10) |" in to_markdown(report)
    assert "the difference to plain on the same problems" in to_markdown(report)
    assert 'class="number faint"' in to_html(report)
    assert "(+25.0)" in printed(report)
    assert report.to_json()["tables"][0]["entries"][2]["difference"] == {
        "mean": 0.25, "low": 0.25, "high": 0.25, "problems": 8,
    }  # fmt: skip


def test_a_table_that_does_not_part_the_algorithms_has_no_differences(store) -> None:
    spec = a_spec(baseline="plain", tables=[Table("t", "T", rows="agents", values=["cycles"])])
    fill(store, spec, constant)
    assert cell(make_report(spec, store).tables[0], 10, "cycles").difference is None


def test_a_baseline_is_a_label_or_an_algorithm(store) -> None:
    fill(store, a_spec(), constant)
    assert make_report(a_spec(), store).baseline == ""
    assert make_report(a_spec(baseline="noisy"), store, baseline="plain").baseline == "plain"
    assert make_report(a_spec(algorithms=[NOISY]), store, baseline="lra").baseline == "noisy"
    with pytest.raises(ParameterError, match="may be any of plain, noisy"):
        make_report(a_spec(), store, baseline="lra")
    with pytest.raises(UnknownNameError, match=r"unknown baseline 'plane'. Did you mean 'plain'\? Known: lra, noisy"):
        make_report(a_spec(), store, baseline="plane")


@pytest.mark.parametrize(
    ("cycles", "shown"),
    [
        (0.0, "0.00"), (-0.0, "0.00"), (0.04567, "0.0457"), (0.5, "0.500"), (1.5, "1.50"), (23.45678, "23.5"),
        (123.4, "123"), (1234.5, "1,234"), (1e-9, "0.000000"), (math.nan, "-"), (math.inf, "-"),
    ],
)  # fmt: skip
def test_numbers_are_rounded_to_three_digits(store, cycles, shown) -> None:
    spec = a_spec(tables=[Table("t", "T", rows="label", values=["cycles"])], scales={"quick": Scale(MAPS[:1], [10], 1)})
    store.put(a_row(spec.jobs("quick")[0], cycles=cycles))
    report = make_report(spec, store)
    assert f"| plain | {shown} |" in to_markdown(report)
    json.dumps(report.to_json(), allow_nan=False)


def test_an_unknown_column_is_an_error_that_names_the_figure(store) -> None:
    with pytest.raises(FormatError, match=r'^a/b: figure f1: .*"colour" not found'):
        make_report(a_spec(figures=[Figure("f1", "F", y="cycles", series="colour")]), store)
    with pytest.raises(FormatError, match=r"^a/b: table t1: .*syntax error"):
        make_report(a_spec(tables=[Table("t1", "T", rows="map", where="agents = = 1")]), store)


# --- the paper -------------------------------------------------------------------------------------------------------


def test_the_papers_numbers_stand_beside_ours(store) -> None:
    share = PaperNumber("Table 1", 0.8, "reached_rate", "label = 'plain' AND agents = 20")
    spec = a_spec(numbers=[share, PaperNumber("Table 2", 50, "cycles", "label = 'nobody'")])
    fill(store, spec, constant)
    report = make_report(spec, store)
    ours = report.numbers[0].ours
    assert (ours.value, ours.problems) == (pytest.approx(0.7), 4)
    assert report.numbers[1].ours is None
    text = to_markdown(report)
    assert "| Table 1 | reached rate | 70.0 % ±0.0 | 4 | 80.0 % | -10.0 |" in text
    assert "| Table 2 | cycles | not measured | - | 50.0 | - |" in text
    assert report.to_json()["numbers"][1] == {
        "place": "Table 2", "value": 50, "metric": "cycles", "where": "label = 'nobody'", "ours": None
    }  # fmt: skip
    with pytest.raises(FormatError, match=r"^a/b: number 'Table 3': "):
        make_report(a_spec(numbers=[PaperNumber("Table 3", 1, "cycles", "nonsense")]), store)


def test_claims_hold_fail_or_are_not_measured(store) -> None:
    mean = "SELECT avg(cycles) {} FROM results WHERE label = '{}'"
    claims = [
        Claim("Plain goes round.", mean.format("> 5", "plain")),
        Claim("Noisy goes round more.", mean.format("> 50", "noisy")),
        Claim("Others too.", mean.format("> 5", "others")),
    ]
    spec = a_spec(claims=claims)
    fill(store, spec, constant)
    report = make_report(spec, store)
    assert [ruling.verdict for ruling in report.claims] == ["holds", "fails", None]
    assert [ruling.borne_out for ruling in report.claims] == [1.0, 0.0, None]
    assert report.to_json()["claims"][1:] == [
        {"sentence": "Noisy goes round more.", "exact": False, "verdict": "fails", "answer": False, "borne_out": 0.0,
         "resamples": 73},
        {"sentence": "Others too.", "exact": False, "verdict": None, "answer": None, "borne_out": None,
         "resamples": 0},
    ]  # fmt: skip
    for text in (printed(report), to_markdown(report), to_html(report)):
        assert "Of 3 claims of the paper 1 hold, 1 fail, 0 are undecided, 1 are not measured." in text
    rows = "| holds | Plain goes round. | 100 % of 73 |\n| fails | Noisy goes round more. | 0 % of 73 |\n| not measured"
    assert rows in to_markdown(report)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELEC true", "syntax error"),
        ("SELECT speed > 1 FROM results", "speed"),
        ("SELECT 1", r"one boolean, not \[\(1,\)\]"),
        ("SELECT true, true", "one boolean"),
        ("SELECT true WHERE false", r"one boolean, not \[\]"),
        ("COPY results TO 'stolen.csv'", "one SELECT is needed"),
        ("", "one SELECT is needed"),
        ("SELECT true; SELECT true", "one SELECT is needed"),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) > 0 FROM t", "more than 0.5 s"),
        ("SELECT count(*) > 0 FROM read_parquet('a.parquet')", "disabled (by|through) configuration"),
    ],
)
def test_a_mistake_in_a_claim_names_the_spec_and_the_claim(store, sql, reason, monkeypatch) -> None:
    monkeypatch.setattr("wend.experiments.results.QUERY_SECONDS", 0.5)
    with pytest.raises(FormatError, match=f"^a/b: claim 'It is so.': .*{reason}"):
        make_report(a_spec(claims=[Claim("It is so.", sql)]), store)


@pytest.mark.parametrize("where", ["true) UNION ALL SELECT 'a', 'b' --", "true; SELECT 1", "(true", "agents, agents"])
def test_a_condition_is_one_expression(store, where) -> None:
    with pytest.raises(FormatError, match=r"^a/b: table t: "):
        make_report(a_spec(tables=[Table("t", "T", "label", values=["ticks"], where=where)]), store)


# --- how it looks ----------------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    """Checks that all elements are closed in turn, and collects what a page would load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)
        assert self.opened == []

    def handle_starttag(self, tag, attrs) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in ("meta", "br"):
            self.opened.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href", "srcset")]

    def handle_endtag(self, tag) -> None:
        assert self.opened.pop() == tag


@pytest.fixture
def everything() -> Spec:
    """A spec with one of each."""
    return a_spec(
        paper="A paper",
        about="About it",
        baseline="plain",
        figures=[Figure("f1", "F1", y="cycles"), Figure("f2", "F2", y="reached_rate", x="map", series="agents")],
        tables=[Table("t", "T", rows="label")],
        numbers=[PaperNumber("here", 1, "cycles", "")],
        claims=[Claim("It is so.", "SELECT avg(cycles) > 0 FROM results")],
    )


def test_a_report_without_results_says_so_everywhere(store, everything) -> None:
    report = make_report(everything, store)
    assert (report.done, report.claims[0].verdict, report.numbers[0].ours) == (0, None, None)
    page = to_html(report)
    assert "<svg" not in page
    for text in (printed(report), to_markdown(report), page):
        assert "0 of 16" in text
        assert text.count("Not measured yet.") == 3
    Outline(page)


def test_the_page_is_whole_and_loads_nothing(store, everything) -> None:
    fill(store, everything, constant)
    report = make_report(everything, store)
    page = to_html(report)
    outline = Outline(page)
    assert not outline.tags & {"script", "link", "img", "iframe"}
    assert all(link.startswith("#") for link in outline.links)
    assert len(outline.ids) == len(set(outline.ids))
    assert {link[1:] for link in outline.links} <= set(outline.ids)
    assert not re.search(r"url\((?!#)|@import", page)
    assert "prefers-color-scheme: dark" in page
    assert page.count("<svg") == 2
    assert to_html(make_report(everything, store)) == page


def test_nothing_in_the_data_is_markup(store) -> None:
    nasty = "_<script>alert('$x^$')</script>&[bold]|*漢"
    spec = a_spec(
        title=nasty,
        algorithms=[AlgorithmSpec("lra", label=nasty)],
        baseline=nasty,
        figures=[Figure("f", nasty, y="cycles", paper=nasty)],
        tables=[Table("t", nasty, rows="label", paper=nasty)],
        numbers=[PaperNumber(nasty, 1, "cycles", "")],
        claims=[Claim(nasty, "SELECT true")],
    )
    fill(store, spec, lambda job: {"cycles": 1.0, "error": nasty if job["agents"] == 10 else None})
    report = make_report(spec, store)
    assert "script" not in Outline(to_html(report)).tags
    assert printed(report).count(nasty) >= 8
    text = to_markdown(report)
    assert "<script" not in text.replace("\\<", "")
    assert not re.search(r"(?<!\\)\*", text)
    assert report.to_json()["title"] == nasty


def drawing(store: Store, values: dict[str, float], **more) -> str:
    spec = a_spec(figures=[Figure("f", "F", y="cycles", **more)])
    fill(store, spec, lambda job: {"cycles": values[job["label"]] * job["agents"]})
    page = to_html(make_report(spec, store))
    return page[page.index("<svg") : page.index("</svg>")]


def test_a_figure_is_logarithmic_where_one_curve_would_hide_another(store) -> None:
    assert ">100</text>" in drawing(store, {"plain": 0.1, "noisy": 40.0})
    linear = drawing(store, {"plain": 1.0, "noisy": 40.0})
    assert ">200</text>" in linear
    assert ">400</text>" in linear


def test_a_figure_names_its_curves_and_takes_the_pages_colour(store) -> None:
    svg = drawing(store, {"plain": 1.0, "noisy": 2.0}, x="map")
    for text in ("plain", "noisy", "map", "random:seed=0", "random:seed=1", "cells entered again, per agent"):
        assert f">{text}</text>" in svg
    assert "currentColor" in svg
    assert "#010203" not in svg


# --- views, and numbers beside the paper's ----------------------------------------------------------------------------


def test_figures_and_tables_may_show_one_view(store) -> None:
    views = {"short": View("short", limits={"max_ticks": 5}), "long": View("long", limits={"max_ticks": 50})}
    figure = Figure("f", "F", "cycles", where="view = 'long'")
    table = Table("t", "T", rows="view", columns="label", values=["cycles"])
    spec = a_spec(views=views, figures=[figure], tables=[table])
    fill(store, spec, lambda job: {"reached_rate": 1.0, "cycles": float(job["limits"]["max_ticks"])})
    report = make_report(spec, store, scale="quick", baseline="plain")
    assert [entry.mean.value for line in report.figures[0].sheets[0].entries for entry in line] == [50.0] * 4
    assert report.tables[0].sheets[0].rows == ["short", "long"]
    assert cell(report.tables[0], "short", "noisy").mean == Mean(5.0, 5.0, 5.0, 8)
    assert cell(report.tables[0], "short", "noisy").difference.value == 0.0     # of the same view


def test_numbers_of_the_paper_stand_beside_ours(store) -> None:
    table = Table(
        "t", "T", rows="map", columns="label", values=["reached_rate"],
        printed_columns=["plain", "absent"], printed={"random:seed=1": [0.75, 0.5], "elsewhere": [0.1, 0.2]},
    )  # fmt: skip
    spec = a_spec(tables=[table])
    fill(store, spec, constant)
    report = make_report(spec, store, scale="quick")
    (sheet,) = report.tables[0].sheets
    assert [[entry.printed for entry in line] for line in sheet.entries] == [[None, None], [0.75, None]]
    for text in (printed(report), to_markdown(report).replace("\\", ""), to_html(report)):
        assert "[75.0 %]" in text
        assert "In brackets: the paper" in text
    assert [entry["printed"] for entry in report.to_json()["tables"][0]["entries"]] == [None, None, 0.75, None]


def test_a_measure_may_be_shown_with_more_digits() -> None:
    mean = Mean(19.512520, 19.262520, 19.762520, 5)
    assert str(_value(Measure("a length"), mean.value, mean)) == "19.5 ±0.2"
    assert str(_value(Measure("a length", digits=7), mean.value, mean)) == "19.51252 ±0.25000"
