"""Figures and tables of a report, worked out from the results: means by two columns, panels, commonly solved problems.

A place of a sheet is a mean over problems. Where several runs on one problem fall into the same place, their mean
counts as one, since runs on the same problem are no independent draws.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from wend.errors import FormatError
from wend.experiments.estimates import Line, estimate, estimate_difference, line_through, rate_of
from wend.experiments.findings import Comparison, Entry, Exhibit, Sheet
from wend.experiments.results import Key, Keys, Results
from wend.experiments.spec import Figure, PaperNumber, Table
from wend.files import parse_array
from wend.metrics import Measure

Place = tuple[Key, Key]         # row and column
Entries = dict[Place, Entry]

COMMON = "commonly solved"

_ALGORITHM_COLUMNS = {"label", "algorithm", "parameters"}
_SAME_PROBLEM = ("map", "problem", "agents", "instance", "view")     # agreeing in these, two runs can be compared
_MOST_THRESHOLDS = 8            # rows of the table of a cactus plot


class Sample(NamedTuple):
    """What one run contributes to a sheet."""

    at: Place
    facet: Key                  # its panel; None if there is one
    label: Key
    problem: Keys
    is_solved: bool             # it has the number, and all agents are home
    value: float | None


# --- figures and tables ----------------------------------------------------------------------------------------------


def make_figure(results: Results, figure: Figure) -> list[Exhibit]:
    """The figure, and once more for commonly solved problems where that makes a difference."""
    place = f"figure {figure.id}"
    samples = _samples(results, figure.x, figure.series, figure.y, figure.where, place, figure.facets)
    if figure.cactus:
        return [_cactus(results, figure, samples)]
    if figure.anytime:
        samples, figure = _over_time(results, figure, samples), dataclasses.replace(figure, x="seconds")
    shown = [sample for sample in samples if _is_shown(sample.at[0])]
    exhibits = [_curves(results, figure, shown, shown)]
    common = _common_view(results, figure.y, (figure.x, figure.series), shown)
    return exhibits if common is None else [*exhibits, _curves(results, figure, shown, common, is_common=True)]


def make_table(results: Results, table: Table, baseline: str) -> list[Exhibit]:
    """One sheet with the values as columns, or a sheet for each value where the table has columns of its own."""
    values = table.values or results.spec.metrics
    of_each = {metric: _of_metric(results, table, metric, baseline) for metric in values}
    if table.columns:
        return [
            Exhibit(table.id, sheet.title, table.paper, [sheet])
            for metric, views in of_each.items()
            for sheet in _two_way(results, table, metric, views, len(values) == 1)
        ]
    together: Entries = {}
    columns: dict[Key, tuple[str, bool]] = {}
    for metric, views in of_each.items():
        for entries, is_common in zip(views, (False, True), strict=False):
            heading = f"{metric}, {COMMON}" if is_common else metric
            columns[heading] = metric, is_common
            together |= {(row, heading): entry for (row, _), entry in entries.items()}
    sheet = _sheet(results, table.title, (table.rows, ""), together, columns)
    return [Exhibit(table.id, table.title, table.paper, [sheet])]


def comparison(results: Results, number: PaperNumber) -> Comparison:
    """A number of the paper, and ours."""
    measure = results.spec.measure(number.metric)
    found = results.values(_SAME_PROBLEM, number.metric, number.where, f"number {number.place!r}")
    return Comparison(number, measure, estimate(measure, list(_by_problem(found).values())))


# --- the parts of a figure -------------------------------------------------------------------------------------------


def _curves(
    results: Results, figure: Figure, samples: list[Sample], shown: list[Sample], *, is_common: bool = False
) -> Exhibit:
    """The points of a figure by x, of the samples that are shown; all of them say which curves and panels there are."""
    measure = results.spec.measure(figure.y)
    columns = dict.fromkeys(_once(sample.at[1] for sample in samples), (figure.y, is_common))
    sheets = []
    for facet in _once(sample.facet for sample in samples) or [None]:
        there = {sample.at[0] for sample in samples if sample.facet == facet}
        entries = _entries([sample for sample in shown if sample.facet == facet], measure)
        curves: dict[Key, list[tuple[float, float]]] = {}
        for label, points in () if is_common else figure.printed.items():
            curves[label] = [(x, y) for x, y in points]
            for x, y in points:
                if (x, label) in entries:
                    entries[x, label] = dataclasses.replace(entries[x, label], printed=y)
        title = "" if facet is None else str(facet)
        sheet = _sheet(results, title, (figure.x, figure.series), entries, columns, rows=sorted(there, key=_in_order))
        lines = _lines(results.spec.name, figure, sheet) if figure.log else None
        drawn = dataclasses.replace(sheet, is_heat=figure.heat, is_even=figure.anytime)
        sheets.append(dataclasses.replace(drawn, lines=lines, printed=curves))
    name, title = (f"{figure.id}-common", f"{figure.title}, {COMMON}") if is_common else (figure.id, figure.title)
    return Exhibit(name, title, figure.paper, sheets, figure.facets)


def _in_order(x: Key) -> tuple[bool, Any]:
    return isinstance(x, str), x


def _is_shown(x: Key) -> bool:
    return x is not None and not (isinstance(x, float) and not math.isfinite(x))


def _lines(name: str, figure: Figure, sheet: Sheet) -> list[Line | None]:
    """The line through the means of each column."""
    xs = [x for x in sheet.rows if isinstance(x, (int, float))]
    if len(xs) < len(sheet.rows):
        raise FormatError(name, f"figure {figure.id}: {sheet.row_column} is no number, so `log` cannot show it")
    columns = ([line[k].mean for line in sheet.entries] for k in range(len(sheet.columns)))
    return [line_through([(x, mean.value) for x, mean in zip(xs, means, strict=True) if mean]) for means in columns]


def _over_time(results: Results, figure: Figure, samples: list[Sample]) -> list[Sample]:
    """The samples after some round numbers of seconds each: of the best plan that the run had by then, if any."""
    rows = results.values(("data",), figure.y, figure.where, f"figure {figure.id}")
    courses = [_course(sample, data) for sample, ((data,), _) in zip(samples, rows, strict=True)]
    found = []
    for second in _round_numbers([seconds for course in courses for seconds, _ in course]):
        for sample, course in zip(samples, courses, strict=True):
            value = next((cost for seconds, cost in reversed(course) if seconds <= second), None)
            is_solved = sample.is_solved and value is not None
            found.append(sample._replace(at=(second, sample.at[1]), is_solved=is_solved, value=value))
    return found


def _course(sample: Sample, data: Any) -> list[tuple[float, float]]:
    """When a run had a better plan, and what that cost; without such data, when it had its only one."""
    if sample.value is None or not _is_shown(x := sample.at[0]):
        return []
    if data is None:
        return [(cast(float, x), sample.value)]
    plans = parse_array(data, "float64", "solutions").reshape(-1, 2).tolist()
    return [(seconds, sample.value * cost / (plans[-1][1] or 1)) for seconds, cost in plans]


def _cactus(results: Results, figure: Figure, samples: list[Sample]) -> Exhibit:
    """How many problems each column has solved within some x: the steps, and the rates at a few round numbers."""
    columns = _once(sample.at[1] for sample in samples)
    known = [sample for sample in samples if sample.value is not None]
    took = [_took(sample) for sample in known]
    rows: list[Key] = [*_round_numbers([x for x in took if math.isfinite(x)])]
    sheets = []
    for facet in _once(sample.facet for sample in samples) or [None]:
        steps: list[list[float]] = []
        entries: Entries = {}
        for column in columns:
            here = sorted(_took(sample) for sample in known if (sample.facet, sample.at[1]) == (facet, column))
            steps.append([x for x in here if math.isfinite(x)])
            for x in rows if here else []:
                assert isinstance(x, float)
                entries[x, column] = Entry(rate_of(sum(each <= x for each in here), len(here)))
        title = "" if facet is None else str(facet)
        of_columns = dict.fromkeys(columns, (figure.y, False))
        sheet = _sheet(results, title, (figure.x, figure.series), entries, of_columns, rows=rows)
        sheets.append(dataclasses.replace(sheet, steps=steps))
    return Exhibit(figure.id, figure.title, figure.paper, sheets, figure.facets)


def _took(sample: Sample) -> float:
    """What a solved problem took; infinity if it was not solved."""
    x = sample.at[0]
    return float(x) if sample.value and isinstance(x, (int, float)) and _is_shown(x) else math.inf


def _round_numbers(values: Sequence[float]) -> list[float]:
    """A few of 1, 2, 5, 10 and so on that span the values; the last is not below any."""
    positive = [value for value in values if value > 0]
    if not positive:
        return [0.0] if values else []
    low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    rungs = [float(f"{digit}e{power}") for power in range(low, high + 1) for digit in (1, 2, 5)]
    first = max((k for k, rung in enumerate(rungs) if rung <= min(positive)), default=0)
    last = next(k for k, rung in enumerate(rungs) if rung >= max(positive))
    stride = math.ceil((last - first) / _MOST_THRESHOLDS) or 1
    return rungs[last:first:-stride][::-1] or [rungs[last]]


# --- the parts of a table --------------------------------------------------------------------------------------------


def _of_metric(results: Results, table: Table, metric: str, baseline: str) -> list[Entries]:
    """The entries of one value of a table, and those of commonly solved problems where these are others."""
    measure, place = results.spec.measure(metric), f"table {table.id}"
    by = (table.rows, table.columns or table.rows)
    samples = _samples(results, *by, metric, table.where, place)
    there: dict[Keys, float] = {}
    if baseline and set(by) & _ALGORITHM_COLUMNS:
        of_baseline = "label = '" + baseline.replace("'", "''") + "'"
        there = _by_problem(results.values(_SAME_PROBLEM, metric, of_baseline, place))
    common = _common_view(results, metric, by, samples)
    views = [samples] if common is None else [samples, common]
    return [_entries(view, measure, there, baseline) for view in views]


def _two_way(results: Results, table: Table, metric: str, views: list[Entries], is_alone: bool) -> list[Sheet]:
    """A sheet with the columns of the table, and one for commonly solved problems where it is another."""
    title = table.title if is_alone else f"{table.title}: {metric_name(metric)}"
    rows, columns = _once(row for row, _ in views[0]), _once(column for _, column in views[0])
    for row, numbers in table.printed.items():
        for at, number in zip(((row, column) for column in table.printed_columns), numbers, strict=True):
            if at in views[0]:
                views[0][at] = dataclasses.replace(views[0][at], printed=number)
    sheets = []
    for entries, heading, is_common in zip(views, (title, f"{title}, {COMMON}"), (False, True), strict=False):
        of_columns = dict.fromkeys(columns, (metric, is_common))
        sheets.append(_sheet(results, heading, (table.rows, table.columns), entries, of_columns, rows=rows))
    return sheets


# --- what both are made of -------------------------------------------------------------------------------------------


def metric_name(metric: str) -> str:
    """A metric as a heading."""
    return metric.replace("_", " ")


def _samples(
    results: Results, row: str, column: str, metric: str, where: str, place: str, facets: str = ""
) -> list[Sample]:
    """What the runs contribute to a sheet of a metric by two columns of the results."""
    columns = (row, column, facets or column, "label", "stopped_by", *_SAME_PROBLEM)
    samples = []
    for (at_row, at_column, facet, label, stopped_by, *problem), value in results.values(columns, metric, where, place):
        is_solved = stopped_by == "done" and value is not None
        samples.append(Sample((at_row, at_column), facet if facets else None, label, tuple(problem), is_solved, value))
    return samples


def _common_view(results: Results, metric: str, by: Place, samples: list[Sample]) -> list[Sample] | None:
    """The samples on problems that all contenders have solved, if the metric asks for it and it leaves some out.

    The contenders are those of the same row or column, and of the same panel, that solved any problem there at all.
    """
    if not results.spec.measure(metric).of_solved or not set(by) & _ALGORITHM_COLUMNS:
        return None

    def group(sample: Sample) -> Keys:
        return (sample.facet, *(key for key, name in zip(sample.at, by, strict=True) if name not in _ALGORITHM_COLUMNS))

    solved: defaultdict[Keys, defaultdict[Key, set[Keys]]] = defaultdict(lambda: defaultdict(set))
    for sample in samples:
        if sample.is_solved:
            solved[group(sample)][sample.label].add(sample.problem)
    shared = {key: set.intersection(*by_label.values()) for key, by_label in solved.items()}
    common = [sample for sample in samples if sample.problem in shared.get(group(sample), ())]
    return None if len(common) == sum(sample.value is not None for sample in samples) else common


def _entries(
    samples: Sequence[Sample], measure: Measure, there: Mapping[Keys, float] | None = None, baseline: str = ""
) -> Entries:
    """The mean over problems in each place, and its difference to what the baseline has there."""
    places: defaultdict[Place, list[Sample]] = defaultdict(list)
    for sample in samples:
        places[sample.at].append(sample)
    entries = {}
    for at, here in places.items():
        ours = _by_problem((sample.problem, sample.value) for sample in here)
        pairs = [(value, there[problem]) for problem, value in ours.items() if there and problem in there]
        is_baseline = all(sample.label == baseline for sample in here)
        difference = None if is_baseline else estimate_difference(measure, pairs)
        entries[at] = Entry(estimate(measure, list(ours.values())), difference)
    return entries


def _by_problem(values: Iterable[tuple[Keys, float | None]]) -> dict[Keys, float]:
    """The mean value of the runs on each problem."""
    found: defaultdict[Keys, list[float]] = defaultdict(list)
    for problem, value in values:
        if value is not None:
            found[problem].append(value)
    return {problem: statistics.fmean(each) for problem, each in found.items()}


def _sheet(
    results: Results,
    title: str,
    by: tuple[str, str],
    entries: Entries,
    columns: Mapping[Key, tuple[str, bool]],
    rows: list[Key] | None = None,
) -> Sheet:
    """Entries, laid out; `columns` gives each column's metric and whether it is of commonly solved problems."""
    rows = _once(row for row, _ in entries) if rows is None else rows
    empty = Entry(None)
    metrics = [metric for metric, _ in columns.values()]
    return Sheet(
        title=title,
        row_column=by[0],
        column_column=by[1],
        rows=rows,
        columns=list(columns),
        metrics=metrics,
        measures=[results.spec.measure(metric) for metric in metrics],
        common=[is_common for _, is_common in columns.values()],
        entries=[[entries.get((row, column), empty) for column in columns] for row in rows],
    )


def _once(keys: Iterable[Key]) -> list[Key]:
    """Each key once, in the order in which they come: that of the spec."""
    return list(dict.fromkeys(keys))
