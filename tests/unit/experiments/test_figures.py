"""Figures as files, and what a drawing does with curves that lie on one another."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.experiments.sample_results import MAPS, a_spec, constant, fill
from wend.experiments.figures import (
    FORMATS,
    _lying_together,
    _offsets,
    draw_for_page,
    draw_problem,
    draw_to_file,
    file_names,
)
from wend.experiments.findings import Exhibit
from wend.experiments.report import make_report
from wend.experiments.spec import AlgorithmSpec, Figure, Picture, Scale
from wend.experiments.store import Store
from wend.metrics import Measure

BEGINNINGS = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}


def figure_of(tmp_path, result=constant, curves: int = 2, **more) -> Exhibit:
    algorithms = [AlgorithmSpec("lra", label=f"curve {k}", parameters={"noise": k}) for k in range(curves)]
    scales = {"quick": Scale(MAPS, [10, 20, 30], 2)}
    figure = Figure("f", "F", **{"y": "reached_rate", **more})
    spec = a_spec(algorithms=algorithms, scales=scales, figures=[figure])
    store = Store.create(tmp_path / "results", "a/b")
    fill(store, spec, result)
    return make_report(spec, store).figures[0]


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_is_of_its_format_and_the_same_each_time(tmp_path, format) -> None:
    figure = figure_of(tmp_path, facets="map")
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        draw_to_file(figure, file, format)
    assert files[0].getvalue().startswith(BEGINNINGS[format])
    assert files[0].getvalue() == files[1].getvalue()
    assert b"#010203" not in files[0].getvalue()


def test_files_are_named_after_the_figures_and_stay_in_their_folder() -> None:
    ids = ["fig3", "fig3", "Fig3", "../../etc/passwd", "a b*c", "", "..", "漢"]
    exhibits = [Exhibit(id, "", "", []) for id in ids]
    assert file_names(exhibits) == [
        "fig3", "fig3-2", "Fig3-3", "etc-passwd", "a-b-c", "figure", "figure-2", "figure-3",
    ]  # fmt: skip


def test_each_curve_has_its_error_bars_and_its_own_look(tmp_path) -> None:
    figure = figure_of(tmp_path, lambda job: {"reached_rate": 0.5 + 0.1 * job["instance"]}, curves=13)
    svg = draw_for_page(figure)
    for k in range(13):
        assert f">curve {k}</text>" in svg
    assert svg.count("stroke-dasharray") >= 13      # all lie on one another: each has a part of every line


def test_a_heat_figure_has_a_square_with_its_number_for_each_place(tmp_path) -> None:
    heights = {10: 0.125, 20: 0.25, 30: 0.5}
    figure = figure_of(tmp_path, lambda job: {"reached_rate": heights[job["agents"]]}, heat=True)
    svg = draw_for_page(figure)
    for text, count in (("12.5", 2), ("25", 2), ("50", 2), ("curve 0", 1), ("curve 1", 1), ("30", 1)):
        assert svg.count(f">{text}</text>") == count
    assert "#440154" in svg     # the least and the most have the ends of the scale
    assert "#fde725" in svg


@pytest.mark.parametrize(("facets", "letters"), [("", 51), ("map", 42)])
def test_a_label_is_not_longer_than_the_figure_is_high(tmp_path, facets, letters) -> None:
    """One row of panels is less high than a single figure."""
    figure = figure_of(tmp_path, facets=facets)
    long = [Measure("what is shown in this figure " * 3)] * 2
    drawing = draw_for_page(replace(figure, sheets=[replace(sheet, measures=long) for sheet in figure.sheets]))
    lines = re.findall(r">((?:what|is|shown|in|this|figure) [^<>]+)</text>", drawing)
    assert letters - 7 < max(map(len, lines)) <= letters


def test_curves_apart_are_whole_lines(tmp_path) -> None:
    figure = figure_of(tmp_path, lambda job: {"reached_rate": 0.2 + 0.6 * job["parameters"]["noise"]})
    assert "stroke-dasharray" not in draw_for_page(figure)


def test_curves_lie_together_where_both_ends_do() -> None:
    ends = np.array([[0.1, 0.1, 0.1, 0.9, 0.102], [0.5, 0.5, 0.7, 0.5, 0.503]])
    assert _lying_together([0, 1, 2, 3, 4], ends) == [[0, 1, 4], [2], [3]]
    assert _lying_together([], ends) == []


def test_curves_stand_beside_each_other_within_some_width() -> None:
    assert _offsets(1, 4, 28).tolist() == [0]
    assert _offsets(3, 4, 28).tolist() == [-4, 0, 4]
    assert np.ptp(_offsets(13, 4, 28)) == 28


def test_a_problem_is_a_picture_on_the_page_and_a_map_that_is_not_there_is_named() -> None:
    drawn = draw_problem(Picture("P", "open:width=20,height=20", 10))
    assert drawn.startswith('<img width="340" height="340" alt="P" src="data:image/png;base64,iVBOR')
    assert draw_problem(Picture("P", "open:width=20,height=20", 10)) == drawn
    assert draw_problem(Picture("P", "open:width=20,height=20", 10, "swap-sides")) != drawn
    assert "nowhere.map" in draw_problem(Picture("P", "nowhere.map", 10))
