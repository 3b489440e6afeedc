"""Making the report of an experiment: what its results say, beside what the paper says.

`make_report` reads the results of one scale and works out everything that is shown: means with confidence intervals for
the spec's figures and tables, our values of the paper's numbers, and whether its claims hold.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping

from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.experiments.findings import Comparison, Failure, Report, Ruling, Sheet
from wend.experiments.render import metric_name
from wend.experiments.results import Entries, Entry, Key, Line, Results, line_through, mean_of
from wend.experiments.spec import SCALES, Claim, Figure, PaperNumber, Spec, Table
from wend.experiments.store import Store

FAILURES_LISTED = 10


def make_report(spec: Spec, store: Store, *, scale: str | None = None, baseline: str | None = None) -> Report:
    """Work out what the results of one scale say.

    Without a scale it is the largest that is complete, or else the one that is most complete. A baseline, by default
    the spec's, is a label or the name of an algorithm; tables then show differences to it.
    """
    store.check(spec.store)
    scale = _fullest_scale(spec, store) if scale is None else scale
    jobs = spec.jobs(scale)
    label = _baseline(spec, spec.baseline if baseline is None else baseline)
    results = Results(spec, store, jobs)
    errors = results.ask(
        "SELECT concat(label, ' on ', map, ', ', agents, ' agents, instance ', instance), error "
        "FROM results WHERE error IS NOT NULL AND NOT is_foreign",
        "errors",
    )
    ended = results.ask(
        "SELECT stopped_by, count(*) FROM results WHERE NOT is_foreign GROUP BY 1 ORDER BY count(*) DESC, 1", "ends"
    )
    ((done, illegal),) = results.ask(
        "SELECT count(DISTINCT id) FILTER (NOT is_foreign), count(DISTINCT id) FILTER (violations > 0) FROM results",
        "counts",
    )
    others = results.ask(
        "SELECT label, count(DISTINCT id) FROM results WHERE is_foreign GROUP BY 1 ORDER BY 1", "other solvers"
    )
    return Report(
        spec=spec,
        scale=scale,
        jobs=len({job["id"] for job in jobs}),
        done=done,
        failed=len(errors),
        illegal=illegal,
        others={str(label): int(count) for label, count in others},
        versions=results.distinct("wend_version"),
        commits=results.distinct('"commit"'),
        cpus=results.distinct("cpu"),
        stopped_by={str(limit): int(count) for limit, count in ended},
        baseline=label,
        figures=[_figure(results, figure) for figure in spec.figures],
        tables=[sheet for table in spec.tables for sheet in _table(results, table, label)],
        numbers=[_comparison(results, number) for number in spec.numbers],
        claims=[_rule(results, claim) for claim in spec.claims],
        failures=[Failure(str(job), str(error)) for job, error in errors[:FAILURES_LISTED]],
    )


def _fullest_scale(spec: Spec, store: Store) -> str:
    """The largest scale of which all jobs are done, or else the one with the largest share done."""
    if not spec.scales:
        raise FormatError(spec.name, "it has no scales, so there is nothing to report")
    done = store.done()
    shares = {}
    for name in sorted(spec.scales, key=SCALES.index):
        ids = {job["id"] for job in spec.jobs(name)}
        shares[name] = len(ids & done) / len(ids) if ids else 0.0
    complete = [name for name, share in shares.items() if share == 1]
    return complete[-1] if complete else max(shares, key=lambda name: shares[name])


def _baseline(spec: Spec, wanted: str) -> str:
    """The label that a baseline means."""
    chosen = spec.contenders()
    labels = {algorithm.label for algorithm in chosen}
    if not wanted or wanted in labels:
        return wanted
    of_name = [algorithm.label for algorithm in chosen if algorithm.name == wanted]
    if len(of_name) > 1:
        raise ParameterError(f"the baseline {wanted!r} may be any of {', '.join(of_name)}: name one of them")
    if of_name:
        return of_name[0]
    raise UnknownNameError("baseline", wanted, sorted(labels | {algorithm.name for algorithm in chosen}))


def _figure(results: Results, figure: Figure) -> Sheet:
    """The points of a figure, by x."""
    found = results.measure(figure.x, figure.series, figure.y, figure.where, f"figure {figure.id}")
    entries = {at: entry for at, entry in found.items() if _is_shown(at[0])}
    in_order = dict(sorted(entries.items(), key=lambda item: (isinstance(item[0][0], str), item[0][0])))
    columns = _once(column for _, column in entries)
    sheet = _sheet(results.spec, figure, figure.title, figure.x, in_order, dict.fromkeys(columns, figure.y))
    lines = _lines(results.spec, sheet) if figure.log else None
    return dataclasses.replace(sheet, series=figure.series, lines=lines)


def _is_shown(x: Key) -> bool:
    return x is not None and not (isinstance(x, float) and not math.isfinite(x))


def _lines(spec: Spec, sheet: Sheet) -> list[Line | None]:
    """The line through the means of each column."""
    xs = [x for x in sheet.rows if isinstance(x, (int, float))]
    if len(xs) < len(sheet.rows):
        raise FormatError(spec.name, f"figure {sheet.id}: {sheet.row_column} is no number, so `log` cannot show it")
    columns = ([line[k].mean for line in sheet.entries] for k in range(len(sheet.columns)))
    return [line_through([(x, mean.value) for x, mean in zip(xs, means, strict=True) if mean]) for means in columns]


def _table(results: Results, table: Table, baseline: str) -> list[Sheet]:
    """One sheet with the values as columns, or a sheet for each value where the table has columns of its own."""
    values = table.values or results.spec.metrics
    place = f"table {table.id}"
    sheets: list[Sheet] = []
    together: Entries = {}
    for metric in values:
        entries = results.measure(table.rows, table.columns or table.rows, metric, table.where, place, baseline)
        if table.columns:
            for row, numbers in table.printed.items():
                for at, number in zip(((row, column) for column in table.printed_columns), numbers, strict=True):
                    if at in entries:
                        entries[at] = dataclasses.replace(entries[at], printed=number)
            title = table.title if len(values) == 1 else f"{table.title}: {metric_name(metric)}"
            columns = _once(column for _, column in entries)
            sheets.append(_sheet(results.spec, table, title, table.rows, entries, dict.fromkeys(columns, metric)))
        else:
            together |= {(row, metric): entry for (row, _), entry in entries.items()}
    by_value: dict[Key, str] = {metric: metric for metric in values}
    return sheets or [_sheet(results.spec, table, table.title, table.rows, together, by_value)]


def _sheet(
    spec: Spec, head: Figure | Table, title: str, row_column: str, entries: Entries, columns: Mapping[Key, str]
) -> Sheet:
    """Entries, laid out; `columns` gives each column's metric."""
    rows = _once(row for row, _ in entries)
    empty = Entry(None)
    return Sheet(
        id=head.id,
        title=title,
        paper=head.paper,
        row_column=row_column,
        rows=rows,
        columns=list(columns),
        metrics=list(columns.values()),
        measures=[spec.measure(metric) for metric in columns.values()],
        entries=[[entries.get((row, column), empty) for column in columns] for row in rows],
    )


def _once(keys: Iterable[Key]) -> list[Key]:
    """Each key once, in the order in which they come: that of the spec."""
    return list(dict.fromkeys(keys))


def _comparison(results: Results, number: PaperNumber) -> Comparison:
    found = results.values((), number.metric, number.where, f"number {number.place!r}")
    ours = mean_of([value for _, value in found if value is not None])
    return Comparison(number, results.spec.measure(number.metric), ours)


def _rule(results: Results, claim: Claim) -> Ruling:
    place = f"claim {claim.sentence!r}"
    answer = results.ask(claim.sql, place)
    if len(answer) != 1 or len(answer[0]) != 1 or type(answer[0][0]) not in (bool, type(None)):
        raise FormatError(results.spec.name, f"{place}: its SQL must answer with one boolean, not {answer[:3]}")
    return Ruling(claim, answer[0][0])
