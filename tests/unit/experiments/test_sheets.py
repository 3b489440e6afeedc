"""Rates, counts, commonly solved problems, panels and cactus plots of a report."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tests.unit.experiments.sample_results import MAPS, a_spec, cell, fill, printed
from wend.errors import FormatError
from wend.experiments.estimates import mean_of, rate_of
from wend.experiments.render import to_html, to_markdown
from wend.experiments.report import make_report
from wend.experiments.spec import AlgorithmSpec, Figure, PaperNumber, Scale, Spec, Table, load_spec
from wend.experiments.store import Store
from wend.files import array_bytes

METRICS = ["all_home", "makespan", "plan_seconds"]
COSTS = Table("costs", "Costs", rows="label", values=["all_home", "makespan"])
# The makespan on each of four problems, the hardest last; None: not solved. Weak solves the easy ones only.
STRONG, WEAK = [10.0, 20.0, 60.0, 110.0], [12.0, 26.0, None, None]


def spec_of(**more) -> Spec:
    names = {"strong": {}, "weak": {"noise": 2}}
    algorithms = [AlgorithmSpec("lra", label=label, parameters=given) for label, given in names.items()]
    return a_spec(metrics=METRICS, algorithms=algorithms, scales={"quick": Scale(MAPS, [10], 2)}, **more)


def solved(job: dict) -> dict:
    number = 2 * int(job["map"][-1]) + job["instance"]
    span = (STRONG if job["label"] == "strong" else WEAK)[number]
    ended = {"stopped_by": "max-ticks" if span is None else "done"}
    return {"all_home": float(span is not None), "makespan": span, "plan_seconds": 0.1 * (number + 1), **ended}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store.create(tmp_path / "results", "a/b")


def test_rates_show_what_they_are_of_and_costs_their_number(store) -> None:
    spec = spec_of(tables=[COSTS])
    fill(store, spec, solved)
    report = make_report(spec, store)
    assert cell(report.tables[0], "weak", "all_home").mean == rate_of(2, 4)
    for text in (printed(report), to_markdown(report)):
        assert "2/4 = 50 %, 15 to 85" in text
        assert "4/4 = 100 %, 51 to 100" in text
        assert "19.0 ±88.9 of 2" in text
        assert "Rates with Wilson's 95 % interval" in text
    entries = report.to_json()["tables"][0]["entries"]
    assert [entry["yes"] for entry in entries if entry["metric"] == "all_home"] == [4, 2]


def test_who_solves_only_the_easy_ones_is_compared_on_those(store) -> None:
    """The mean of all that were solved says 50 against 19, that of the two commonly solved ones 15 against 19."""
    spec = spec_of(tables=[COSTS], baseline="strong")
    fill(store, spec, solved)
    (table,) = make_report(spec, store).tables
    (sheet,) = table.sheets
    assert sheet.columns == ["all_home", "makespan", "makespan, commonly solved"]
    assert sheet.common == [False, False, True]
    assert cell(table, "strong", "makespan").mean == mean_of(STRONG)
    assert cell(table, "strong", "makespan, commonly solved").mean == mean_of([10.0, 20.0])
    assert cell(table, "weak", "makespan").mean == mean_of([12.0, 26.0])
    assert cell(table, "weak", "makespan, commonly solved").mean == mean_of([12.0, 26.0])
    assert cell(table, "weak", "makespan, commonly solved").difference == mean_of([2.0, 6.0])
    text = to_markdown(make_report(spec, store))
    assert "| label | all home | makespan | makespan, commonly solved |" in text
    assert "only problems on which every algorithm in the comparison brought all agents home" in text


def test_commonly_solved_problems_are_those_of_a_column(store) -> None:
    spec = spec_of(tables=[Table("t", "T", rows="label", columns="map", values=["makespan"])])
    fill(store, spec, solved)
    alone, common = make_report(spec, store).tables
    assert (alone.title, common.title) == ("T", "T, commonly solved")
    assert common.sheets[0].columns == ["random:seed=0", "random:seed=1"]
    assert cell(common, "strong", "random:seed=0").mean == mean_of([10.0, 20.0])
    # Weak has solved none of the other map's, so it is not asked there.
    assert cell(common, "strong", "random:seed=1").mean == mean_of([60.0, 110.0])
    assert cell(common, "weak", "random:seed=1").mean is None


def test_a_figure_of_costs_has_a_twin_for_commonly_solved_problems(store) -> None:
    spec = spec_of(figures=[Figure("f", "F", y="makespan")])
    fill(store, spec, solved)
    report = make_report(spec, store)
    assert [(figure.id, figure.title) for figure in report.figures] == [("f", "F"), ("f-common", "F, commonly solved")]
    assert cell(report.figures[1], 10, "strong").mean == mean_of([10.0, 20.0])
    assert [entry["common"] for entry in report.to_json()["figures"][1]["entries"]] == [True, True]
    assert to_html(report).count("<svg") == 2


@pytest.mark.parametrize("rows", ["label", "agents"])
def test_there_is_no_such_view_where_all_solve_or_algorithms_are_not_told_apart(store, rows) -> None:
    spec = spec_of(tables=[Table("t", "T", rows=rows, values=["makespan"])])
    fill(store, spec, lambda job: solved(job) if rows == "agents" else {"makespan": 7.0, "all_home": 1.0})
    (table,) = make_report(spec, store).tables
    assert table.sheets[0].columns == ["makespan"]


def test_problems_that_nobody_solves_in_common_are_said_to_be_none(store) -> None:
    spec = spec_of(figures=[Figure("f", "F", y="makespan")])
    even = {"strong": 0, "weak": 1}
    fill(store, spec, lambda job: {"makespan": 5.0 if job["instance"] == even[job["label"]] else None})
    report = make_report(spec, store)
    assert cell(report.figures[1], 10, "strong").mean is None
    assert "No problem was solved by all." in to_markdown(report)
    assert to_html(report).count("<svg") == 1


def test_an_unsolved_run_is_not_common_even_if_some_of_its_agents_are_home(store) -> None:
    spec = spec_of(tables=[Table("t", "T", rows="label", values=["makespan"])])
    fill(store, spec, lambda job: {**solved(job), "makespan": solved(job)["makespan"] or 1.0})
    (table,) = make_report(spec, store).tables
    assert cell(table, "weak", "makespan").mean.problems == 4
    assert cell(table, "weak", "makespan, commonly solved").mean == mean_of([12.0, 26.0])


def test_runs_on_one_problem_count_once(store) -> None:
    """Pooled over algorithms, four problems are no eight draws."""
    spec = spec_of(
        tables=[Table("t", "T", rows="agents", values=["plan_seconds"])],
        numbers=[PaperNumber("here", 0.25, "plan_seconds", ""), PaperNumber("there", 1, "all_home", "")],
    )
    fill(store, spec, solved)
    report = make_report(spec, store)
    assert cell(report.tables[0], 10, "plan_seconds").mean == mean_of([0.1, 0.2, 0.30000000000000004, 0.4])
    assert [number.ours.problems for number in report.numbers] == [4, 4]
    assert report.numbers[1].ours.value == pytest.approx(0.75)
    assert report.numbers[1].ours.yes is None


def test_times_are_not_subtracted_from_those_of_other_hardware(store) -> None:
    numbers = [PaperNumber("t", 50, "plan_seconds", ""), PaperNumber("s", 40, "makespan", "label = 'strong'")]
    spec = spec_of(numbers=numbers)
    fill(store, spec, solved)
    text = to_markdown(make_report(spec, store))
    assert "| t | plan seconds | 0.250 ±0.205 | 4 | 50.0 | other hardware |" in text
    assert "| s | makespan | 50.0 ±72.3 | 4 | 40.0 | \\~+10.0 |" in text
    assert "Times on other hardware are shown, but not subtracted." in text


# --- panels, the paper's curves, cactus plots ------------------------------------------------------------------------


def test_a_figure_may_have_a_panel_for_each_map(store) -> None:
    spec = spec_of(figures=[Figure("f", "F", y="all_home", facets="map")])
    fill(store, spec, solved)
    report = make_report(spec, store)
    (figure,) = report.figures
    assert [sheet.title for sheet in figure.sheets] == ["random:seed=0", "random:seed=1"]
    assert [sheet.entries[0][1].mean for sheet in figure.sheets] == [rate_of(2, 2), rate_of(0, 2)]
    text = to_markdown(report)
    assert "| map | agents | strong | weak |" in text
    assert "| random:seed=1 | 10 | 2/2 = 100 %, 34 to 100 | 0/2 = 0 %, 0 to 66 |" in text
    assert report.to_json()["figures"][0]["entries"][3]["map"] == "random:seed=1"
    page = to_html(report)
    assert page.count("<svg") == 1
    assert ">random:seed=1</text>" in page


def test_panels_of_which_one_is_empty(store) -> None:
    spec = spec_of(figures=[Figure("f", "F", y="makespan", facets="map")])
    fill(store, spec, lambda job: solved(job) if job["map"].endswith("0") else {"stopped_by": "max-ticks"})
    report = make_report(spec, store)
    assert [sheet.is_empty for sheet in report.figures[0].sheets] == [False, True]
    assert ">random:seed=1</text>" not in to_html(report)


def test_the_papers_curve_is_drawn_and_stands_beside_ours(store) -> None:
    printed_curves = {"strong": [[10, 0.9], [20, 0.8]], "elsewhere": [[10, 0.1]]}
    spec = spec_of(figures=[Figure("f", "F", y="all_home", printed=printed_curves)])
    fill(store, spec, solved)
    report = make_report(spec, store)
    assert report.figures[0].sheets[0].printed["strong"] == [(10, 0.9), (20, 0.8)]
    assert "| 10 | 4/4 = 100 %, 51 to 100 [90.0 %] | 2/4" in to_markdown(report).replace("\\", "")
    assert ">the paper</text>" in to_html(report)


CACTUS = Figure("c", "C", x="plan_seconds", y="all_home", cactus=True)


def test_a_cactus_plot_counts_what_is_solved_within_some_time(store) -> None:
    spec = spec_of(figures=[CACTUS])
    fill(store, spec, solved)
    report = make_report(spec, store)
    (sheet,) = report.figures[0].sheets
    assert sheet.steps == [pytest.approx([0.1, 0.2, 0.3, 0.4]), pytest.approx([0.1, 0.2])]
    assert sheet.rows == [0.2, 0.5]
    assert [entry.mean for entry in sheet.entries[0]] == [rate_of(2, 4), rate_of(2, 4)]
    assert [entry.mean for entry in sheet.entries[1]] == [rate_of(4, 4), rate_of(2, 4)]
    assert "| within plan seconds | strong | weak |" in to_markdown(report)
    assert ">problems solved</text>" in to_html(report)


def test_a_cactus_plot_of_nothing_solved_is_no_picture(store) -> None:
    spec = spec_of(figures=[CACTUS])
    fill(store, spec, lambda _: {"all_home": 0.0, "plan_seconds": math.inf})
    report = make_report(spec, store)
    assert report.figures[0].sheets[0].steps == [[], []]
    assert "<svg" not in to_html(report)


def test_a_cactus_plot_has_a_panel_for_a_map_on_which_nothing_is_solved(store) -> None:
    spec = spec_of(figures=[Figure("c", "C", x="plan_seconds", y="all_home", cactus=True, facets="map")])
    fill(store, spec, lambda job: {**solved(job), "all_home": float(job["map"].endswith("0"))})
    report = make_report(spec, store)
    assert [sheet.steps[0] for sheet in report.figures[0].sheets] == [pytest.approx([0.1, 0.2]), []]
    assert ">random:seed=1</text>" in to_html(report)
    assert "| random:seed=1 | 0.2 | 0/2 = 0 %, 0 to 66 | 0/2 = 0 %, 0 to 66 |" in to_markdown(report)


def test_cost_over_time_is_that_of_the_best_plan_so_far(store) -> None:
    """Strong has plans of 30, 20 and 10 after 0.15, 0.4 and 3 s on each problem; weak one on the first two, at once."""
    plans = array_bytes(np.array([[0.15, 30.0], [0.4, 20.0], [3.0, 10.0]]))
    figure = Figure("t", "T", x="first_solution_seconds", y="soc_ratio", anytime=True)
    spec = dataclasses.replace(spec_of(figures=[figure]), metrics=["soc_ratio", "first_solution_seconds"])

    def planned(job: dict) -> dict:
        if job["label"] == "strong":
            return {"soc_ratio": 1.1, "first_solution_seconds": 0.15, "data": plans}
        if job["map"].endswith("1"):
            return {"stopped_by": "max-ticks"}
        return {"soc_ratio": 2.0, "first_solution_seconds": 0.1}

    fill(store, spec, planned)
    figure, common = make_report(spec, store).figures
    (sheet,) = figure.sheets
    assert (sheet.row_column, sheet.rows) == ("seconds", [0.2, 0.5, 1.0, 2.0, 5.0])
    assert [[(each.mean.value, each.mean.problems) for each in line] for line in sheet.entries] == [
        [(pytest.approx(ratio), 4), (2.0, 2)] for ratio in (3.3, 2.2, 2.2, 2.2, 1.1)
    ]
    assert all(each.mean.problems == 2 for line in common.sheets[0].entries for each in line)
    page = to_html(make_report(spec, store))
    assert ">seconds</text>" in page
    assert ">0.5</text>" in page


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ('y = "makespan"\nx = "plan_seconds"\ncactus = true', "shows a metric that is yes or no"),
        ('y = "all_home"\ncactus = true', "over another metric"),
        ('y = "all_home"\nx = "plan_seconds"\ncactus = true\nlog = true', "at most one of `log`, `cactus`"),
        ('y = "all_home"\nx = "plan_seconds"\ncactus = true\nprinted = { a = [[1, 2]] }', "no `printed` curves"),
        ('y = "makespan"\nx = "plan_seconds"\nanytime = true', r"shows sum_of_costs or soc_ratio \(y\)"),
        ('y = "all_home"\nprinted = { a = [[1]] }', r"a point of a printed curve is \[x, y\]"),
        ('y = "all_home"\nfacets = "map"\nprinted = { a = [[1, 2]] }', "which panel"),
    ],
)
def test_a_figure_that_makes_no_sense_is_refused(tmp_path, keys, reason) -> None:
    file = tmp_path / "own.toml"
    scale = '[scales.quick]\nmaps = ["open:"]\nagents = [1]\ninstances = 1\n[[algorithms]]\nname = "lra"\n'
    file.write_text(f'title = "T"\nmetrics = {METRICS}\n{scale}[[figures]]\nid = "f"\ntitle = "F"\n{keys}\n')
    with pytest.raises(FormatError, match=f"figure f: .*{reason}"):
        load_spec(str(file))
