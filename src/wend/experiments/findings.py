"""What a report says, as data: sheets of means, the paper's numbers beside ours, rulings on its claims, failed jobs.

`report` works it out from the results, `render` shows it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from wend.experiments.results import Entry, Key, Line, Mean
from wend.experiments.spec import Claim, PaperNumber, Spec
from wend.metrics import Measure


@dataclass(frozen=True)
class Sheet:
    """Means by row and column: a table, or the points of a figure, with a row for each x and a column per curve."""

    id: str
    title: str
    paper: str                  # what the paper shows here, in words
    row_column: str             # the column of the results whose values are the rows
    rows: list[Key]
    columns: list[Key]
    metrics: list[str]          # of each column
    measures: list[Measure]     # ... and what is known about them
    entries: list[list[Entry]]  # [row][column]
    series: str = ""            # of a figure: the column of the results whose values are the columns
    lines: list[Line | None] | None = None      # ... and the line of each, if it has enough points; None: not `log`


@dataclass(frozen=True)
class Comparison:
    """A number of the paper and ours."""

    number: PaperNumber
    measure: Measure
    ours: Mean | None           # None: not measured


@dataclass(frozen=True)
class Ruling:
    """A claim of the paper, and what our results say about it."""

    claim: Claim
    holds: bool | None          # None: not measured


@dataclass(frozen=True)
class Failure:
    """A job that ended in an error."""

    job: str
    error: str


@dataclass(frozen=True)
class Report:
    """Everything that a report says. `wend.experiments.report.make_report` makes one."""

    spec: Spec
    scale: str
    jobs: int
    done: int                   # jobs that have a result, the failed ones included
    failed: int
    illegal: int                # runs and plans in which the referee found a violation
    others: dict[str, int]      # other solvers, whose results were added, with the number of their rows
    versions: list[str]
    commits: list[str]
    cpus: list[str]
    stopped_by: dict[str, int]  # how many runs each limit ended
    baseline: str               # a label; "" if there is none
    figures: list[Sheet]
    tables: list[Sheet]
    numbers: list[Comparison]
    claims: list[Ruling]
    failures: list[Failure]     # the first few

    def to_json(self) -> dict[str, Any]:
        """Everything, as one object that JSON can carry."""
        about = {name: getattr(self.spec, name) for name in ("title", "paper", "about", "page")}
        counts = ("scale", "jobs", "done", "failed", "illegal", "others", "stopped_by", "baseline")
        origins = ("versions", "commits", "cpus")
        return {
            "experiment": self.spec.name,
            **about,
            **{name: getattr(self, name) for name in (*counts, *origins)},
            "figures": [_sheet_as_json(sheet) for sheet in self.figures],
            "tables": [_sheet_as_json(sheet) for sheet in self.tables],
            "numbers": [{**dataclasses.asdict(each.number), "ours": _as_json(each.ours)} for each in self.numbers],
            "claims": [{"sentence": each.claim.sentence, "holds": each.holds} for each in self.claims],
            "failures": [dataclasses.asdict(failure) for failure in self.failures],
        }


def _sheet_as_json(sheet: Sheet) -> dict[str, Any]:
    """A sheet with its entries in one flat list."""
    entries = [
        {
            "row": row,
            "column": column,
            "metric": metric,
            **(_as_json(entry.mean) or {}),
            "difference": _as_json(entry.difference),
            "printed": entry.printed,
        }
        for row, line in zip(sheet.rows, sheet.entries, strict=True)
        for column, metric, entry in zip(sheet.columns, sheet.metrics, line, strict=True)
        if entry.mean is not None
    ]
    lines = sheet.lines or [None] * len(sheet.columns)
    slopes = [
        {"column": column, "slope": line.slope, "r2": line.r2, "points": line.points}
        for column, line in zip(sheet.columns, lines, strict=True)
        if line is not None
    ]
    about = {"id": sheet.id, "title": sheet.title, "paper": sheet.paper, "rows": sheet.row_column}
    return {**about, "entries": entries, "slopes": slopes}


def _as_json(mean: Mean | None) -> dict[str, Any] | None:
    return None if mean is None else {"mean": mean.value, "ci95": mean.half_width, "runs": mean.runs}
