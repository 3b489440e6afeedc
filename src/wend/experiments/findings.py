"""What a report says, as data: sheets of means, the paper's numbers beside ours, rulings on its claims, failed jobs.

`report` works it out from the results, `render` shows it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from wend.experiments.estimates import Line, Mean
from wend.experiments.results import Key
from wend.experiments.spec import Claim, PaperNumber, Spec
from wend.metrics import Measure

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"     # what a ruling says


@dataclass(frozen=True)
class Entry:
    """One place of a sheet."""

    mean: Mean | None                   # None: no run has this number
    difference: Mean | None = None      # to the baseline, over the problems that both have run on
    printed: float | None = None        # what the paper says


@dataclass(frozen=True)
class Sheet:
    """Means by row and column: a table, or the points of a figure, with a row for each x and a column per curve."""

    title: str
    row_column: str             # the column of the results whose values are the rows
    column_column: str          # ... and the one whose values are the columns; "" if each column is a metric
    rows: list[Key]
    columns: list[Key]
    metrics: list[str]          # of each column
    measures: list[Measure]     # ... and what is known about them
    common: list[bool]          # ... and whether it is of commonly solved problems only
    entries: list[list[Entry]]  # [row][column]
    lines: list[Line | None] | None = None      # of a `log` figure: the line of each column, if it has enough points
    is_heat: bool = False       # of a figure: drawn as coloured squares
    is_even: bool = False       # ... its rows stand equally far from each other, whatever their numbers are
    steps: list[list[float]] | None = None      # of a cactus plot: what each column's solved problems took, sorted
    printed: dict[Key, list[tuple[float, float]]] = field(default_factory=dict)     # of a figure: the paper's curves

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it is measured."""
        return not any(entry.mean for line in self.entries for entry in line)


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table of the report: one sheet, or one for each panel of a figure."""

    id: str
    title: str
    paper: str                  # what the paper shows here, in words
    sheets: list[Sheet]
    facets: str = ""            # of a figure: the column of the results whose values are the panels


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
    verdict: str | None             # holds | fails | undecided; None: not measured
    answer: bool | None = None      # what the claim's SQL says of the runs as they are
    borne_out: float | None = None  # the share of resamples in which it is true; None if they do not say
    resamples: int = 0              # that said


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
    figures: list[Exhibit]
    tables: list[Exhibit]
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
            "figures": [_exhibit_as_json(exhibit) for exhibit in self.figures],
            "tables": [_exhibit_as_json(exhibit) for exhibit in self.tables],
            "numbers": [{**dataclasses.asdict(each.number), "ours": _as_json(each.ours)} for each in self.numbers],
            "claims": [_ruling_as_json(ruling) for ruling in self.claims],
            "failures": [dataclasses.asdict(failure) for failure in self.failures],
        }


def _exhibit_as_json(exhibit: Exhibit) -> dict[str, Any]:
    """An exhibit with the entries of all its sheets in one flat list."""
    entries, slopes = [], []
    for sheet in exhibit.sheets:
        facet = {exhibit.facets: sheet.title} if exhibit.facets else {}
        entries += [
            {
                **facet,
                "row": row,
                "column": column,
                "metric": metric,
                "common": common,
                **(_as_json(entry.mean) or {}),
                "difference": _as_json(entry.difference),
                "printed": entry.printed,
            }
            for row, line in zip(sheet.rows, sheet.entries, strict=True)
            for column, metric, common, entry in zip(sheet.columns, sheet.metrics, sheet.common, line, strict=True)
            if entry.mean is not None
        ]
        slopes += [
            {**facet, "column": column, "slope": line.slope, "r2": line.r2, "points": line.points}
            for column, line in zip(sheet.columns, sheet.lines or [None] * len(sheet.columns), strict=True)
            if line is not None
        ]
    about = {"id": exhibit.id, "title": exhibit.title, "paper": exhibit.paper, "rows": exhibit.sheets[0].row_column}
    return {**about, "entries": entries, "slopes": slopes}


def _ruling_as_json(ruling: Ruling) -> dict[str, Any]:
    found = {name: getattr(ruling, name) for name in ("verdict", "answer", "borne_out", "resamples")}
    return {"sentence": ruling.claim.sentence, "exact": ruling.claim.exact, **found}


def _as_json(mean: Mean | None) -> dict[str, Any] | None:
    if mean is None:
        return None
    rate = {} if mean.yes is None else {"yes": mean.yes}
    return {"mean": mean.value, "low": mean.low, "high": mean.high, "problems": mean.problems, **rate}
