"""How a report looks: on a terminal, in Markdown, and as one HTML page with its figures inside.

All three show the same blocks in the same order; `_chapters` makes them. Nothing of the data is read as markup: on the
terminal it is plain text, in Markdown its special characters are escaped, and on the page all of it is.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

from wend import __version__
from wend.experiments.measures import MEASURES

if TYPE_CHECKING:
    from rich.console import Console

    from wend.experiments.report import Comparison, Entry, Key, Report, Sheet, Verdict

NOTHING = "-"
NOT_MEASURED = "not measured"

_TERMINAL_STYLES = {"good": "green", "bad": "red", "faint": "dim"}


class Cell(NamedTuple):
    """What stands in one place of a table."""

    text: str
    error: str = ""             # half the width of the confidence interval
    difference: str = ""        # to the baseline
    tone: str = ""              # good | bad | faint

    def __str__(self) -> str:
        return " ".join(part for part in (self.text, self.error, self.difference) if part)


@dataclass(frozen=True)
class Block:
    """A table with what is to be said about it."""

    title: str
    header: list[str]
    rows: list[list[Cell]]
    paper: str = ""                     # what the paper shows here
    note: str = ""
    figure: Sheet | None = None         # to be drawn above the table
    numeric: bool = True                # all columns but the first are numbers


# --- words and numbers -----------------------------------------------------------------------------------------------


def metric_name(metric: str) -> str:
    """A metric as a heading."""
    return metric.replace("_", " ")


def number(value: float, digits: int = 3, sign: str = "") -> str:
    """A number with so many significant digits, but never without its whole part.

    >>> number(1234.5), number(0.123456), number(0.5, sign="+")
    ('1,234', '0.123', '+0.5')
    """
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:{sign},.0f}"
    return f"{value + 0.0:{sign}.{digits}g}"


def shown(value: float, metric: str, sign: str = "") -> str:
    """A value of a metric: shares as a percentage with one decimal. The unit is left out of differences."""
    if MEASURES[metric].percent:
        return f"{round(100 * value, 1) + 0.0:{sign}.1f}" + ("" if sign else " %")
    return number(value, sign=sign)


def _error(half_width: float | None, metric: str) -> str:
    if half_width is None:
        return ""
    return f"±{100 * half_width:.1f}" if MEASURES[metric].percent else f"±{number(half_width, digits=2)}"


def _word(key: Key) -> str:
    if key is None:
        return NOTHING
    return number(key) if isinstance(key, float) else str(key)


def _entry(entry: Entry, metric: str) -> Cell:
    if entry.mean is None:
        return Cell(NOTHING)
    cell = Cell(shown(entry.mean.value, metric), _error(entry.mean.half_width, metric))
    if entry.difference is None:
        return cell
    by, half_width = entry.difference.value, entry.difference.half_width
    certain = half_width is not None and abs(by) > half_width
    return cell._replace(difference=f"({shown(by, metric, sign='+')})", tone="" if certain else "faint")


# --- what there is to show -------------------------------------------------------------------------------------------


def _facts(report: Report) -> list[tuple[str, str]]:
    from wend.experiments.report import missing

    ended = ", ".join(f"{limit} {count}" for limit, count in report.stopped_by.items())
    facts = [
        ("scale", report.scale),
        ("jobs done", f"{report.done} of {report.jobs}"),
        ("failed", str(report.failed)),
        ("runs ended by", ended),
        ("not registered yet", ", ".join(missing(report.spec))),
        ("Wend", ", ".join(report.versions)),
        ("commit", ", ".join(report.commits)),
        ("CPU", ", ".join(report.cpus)),
    ]
    return [(name, value) for name, value in facts if value]


def _tally(report: Report) -> str:
    """One sentence on the claims; "" if there are none."""
    if not report.claims:
        return ""
    answers = [verdict.holds for verdict in report.claims]
    hold, fail, open_ = (sum(answer is wanted for answer in answers) for wanted in (True, False, None))
    return f"Of {len(answers)} claims of the paper {hold} hold, {fail} fail, {open_} are not measured."


def _chapters(report: Report) -> list[tuple[str, list[Block]]]:
    """The blocks under their headings, without empty chapters."""
    numbers = [_compared(comparison) for comparison in report.numbers]
    claims = [_judged(verdict) for verdict in report.claims]
    failures = [[Cell(failure.job), Cell(" ".join(failure.error.split()))] for failure in report.failures]
    listed = f"The first {len(failures)} of {report.failed}." if report.failed > len(failures) else ""
    chapters = [
        ("Figures", [_sheet(sheet, "", figure=sheet) for sheet in report.figures]),
        ("Tables", [_sheet(sheet, report.baseline) for sheet in report.tables]),
        ("Numbers that the paper prints", [
            Block("", ["place", "metric", "ours", "runs", "paper", "difference"], numbers)] if numbers else []),
        ("Claims of the paper", [
            Block("", ["", "claim"], claims, note=_tally(report), numeric=False)] if claims else []),
        ("Failed jobs", [Block("", ["job", "error"], failures, note=listed, numeric=False)] if failures else []),
    ]  # fmt: skip
    return [(heading, blocks) for heading, blocks in chapters if blocks]


def _sheet(sheet: Sheet, baseline: str, figure: Sheet | None = None) -> Block:
    by_metric = sheet.columns == sheet.metrics
    columns = [metric_name(metric) for metric in sheet.metrics] if by_metric else [_word(key) for key in sheet.columns]
    rows = [
        [Cell(_word(row)), *(_entry(entry, metric) for entry, metric in zip(line, sheet.metrics, strict=True))]
        for row, line in zip(sheet.rows, sheet.entries, strict=True)
    ]
    return Block(
        title=sheet.title,
        header=[sheet.row_column, *columns],
        rows=rows,
        paper=sheet.paper,
        note=_sheet_note(sheet, baseline, by_metric),
        figure=figure if rows else None,
    )


def _sheet_note(sheet: Sheet, baseline: str, by_metric: bool) -> str:
    """What the numbers are, over how many runs."""
    runs = [entry.mean.runs for line in sheet.entries for entry in line if entry.mean]
    if not runs:
        return f"{NOT_MEASURED.capitalize()} yet."
    count = str(min(runs)) if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
    said = f"Means of {count} runs each, ± half the 95 % confidence interval."
    if any(entry.difference for line in sheet.entries for entry in line):
        said += f" In parentheses: the difference to {baseline} on the same problems."
    metrics = list(dict.fromkeys(sheet.metrics))
    meanings = [f"{metric_name(metric)}: {MEASURES[metric].help}" if by_metric else MEASURES[metric].help for metric in metrics]
    return f"{said} {'; '.join(meanings).capitalize() if not by_metric else '; '.join(meanings)}."


def _compared(comparison: Comparison) -> list[Cell]:
    said, ours = comparison.number, comparison.ours
    start, theirs = [Cell(said.place), Cell(metric_name(said.metric))], Cell(shown(said.value, said.metric))
    if ours is None:
        return [*start, Cell(NOT_MEASURED, tone="faint"), Cell(NOTHING), theirs, Cell(NOTHING)]
    mean = Cell(shown(ours.value, said.metric), _error(ours.half_width, said.metric))
    difference = Cell(shown(ours.value - said.value, said.metric, sign="+"))
    return [*start, mean, Cell(str(ours.runs)), theirs, difference]


def _judged(verdict: Verdict) -> list[Cell]:
    words = {True: Cell("holds", tone="good"), False: Cell("fails", tone="bad"), None: Cell(NOT_MEASURED, tone="faint")}
    return [words[verdict.holds], Cell(verdict.claim.sentence)]


# --- terminal --------------------------------------------------------------------------------------------------------


def to_console(report: Report, console: Console) -> None:
    """Print the report."""
    console.print(Text(report.spec.title, style="bold"))
    for line in (report.spec.paper, report.spec.about):
        if line:
            console.print(Text(line))
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(report):
        facts.add_row(Text(name, style="dim"), Text(value))
    console.print(facts)
    for heading, blocks in _chapters(report):
        console.print()
        console.rule(Text(heading), align="left")
        for block in blocks:
            _print_block(block, console)


def _print_block(block: Block, console: Console) -> None:
    if block.title:
        console.print()
        console.print(Text(block.title, style="bold"))
    if block.paper:
        console.print(Text(f"In the paper: {block.paper}"))
    if block.rows:
        table = Table()
        for k, name in enumerate(block.header):
            table.add_column(Text(name), justify="right" if block.numeric and k else "left")
        for row in block.rows:
            table.add_row(*(Text(str(cell), style=_terminal_style(cell)) for cell in row))
        console.print(table)
    if block.note:
        console.print(Text(block.note, style="dim"))


def _terminal_style(cell: Cell) -> str:
    return "" if cell.difference else _TERMINAL_STYLES.get(cell.tone, "")


# --- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(report: Report) -> str:
    """The report as GitHub's Markdown; figures are there as their numbers."""
    parts = [f"# {_escaped(report.spec.title)}"]
    parts += [_escaped(line) for line in (report.spec.paper, report.spec.about) if line]
    parts.append("\n".join(f"- {name}: {_escaped(value)}" for name, value in _facts(report)))
    for heading, blocks in _chapters(report):
        parts.append(f"## {heading}")
        for block in blocks:
            parts += [f"### {_escaped(block.title)}"] if block.title else []
            parts += [f"In the paper: {_escaped(block.paper)}"] if block.paper else []
            parts += [_markdown_table(block)] if block.rows else []
            parts += [_escaped(block.note)] if block.note else []
    return "\n\n".join(parts) + "\n"


def _markdown_table(block: Block) -> str:
    aligned = ["---", *["---:" if block.numeric else "---"] * (len(block.header) - 1)]
    lines = [[_escaped(name) for name in block.header], aligned, *([_escaped(str(cell)) for cell in row] for row in block.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", " ".join(text.split()))


# --- HTML ------------------------------------------------------------------------------------------------------------


def to_html(report: Report) -> str:
    """The report as one page that needs nothing beside it."""
    page = Template(files("wend.experiments").joinpath("page.html").read_text(encoding="utf-8"))
    chapters = _chapters(report)
    facts = "".join(f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>" for name, value in _facts(report))
    body = "".join(
        f'<section id="{_anchor(heading)}"><h2>{html.escape(heading)}</h2>{"".join(map(_html_block, blocks))}</section>\n'
        for heading, blocks in chapters
    )
    return page.substitute(
        title=html.escape(report.spec.title),
        paper=html.escape(report.spec.paper),
        about=html.escape(report.spec.about),
        tally=html.escape(_tally(report)),
        facts=facts,
        links="".join(f'<a href="#{_anchor(heading)}">{html.escape(heading)}</a>' for heading, _ in chapters),
        body=body,
        name=html.escape(report.spec.name),
        version=html.escape(__version__),
    )


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _html_block(block: Block) -> str:
    parts = [f"<h3>{html.escape(block.title)}</h3>"] if block.title else []
    drawing = ""
    if block.figure is not None:
        from wend.experiments.figures import draw     # drawing is slow to import, and only pages need it

        drawing = draw(block.figure, block.header[0])
    said = f"<aside><h4>In the paper</h4><p>{html.escape(block.paper)}</p></aside>" if block.paper else ""
    if drawing or said:
        parts.append(f'<div class="beside">{f"<figure>{drawing}</figure>" if drawing else ""}{said}</div>')
    if block.rows:
        header = "".join(f"<th>{html.escape(name)}</th>" for name in block.header)
        rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>\n" for row in block.rows)
        kind = "numbers" if block.numeric else "words"
        table = f'<table class="{kind}"><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>'
        parts.append(f'<div class="scroll">{table}</div>')
    parts += [f'<p class="note">{html.escape(block.note)}</p>'] if block.note else []
    return f"<article>{''.join(parts)}</article>\n"


def _html_cell(cell: Cell) -> str:
    text = f"<span>{html.escape(cell.text)}</span>"
    if cell.error:
        text += f" <small>{html.escape(cell.error)}</small>"
    if cell.difference:
        text += f' <span class="difference">{html.escape(cell.difference)}</span>'
    return f'<td class="{cell.tone}">{text}</td>' if cell.tone else f"<td>{text}</td>"
