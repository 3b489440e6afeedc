"""How a report looks: on a terminal, in Markdown, and as one HTML page with its figures inside.

All three show the same blocks in the same order; `_chapters` makes them. Nothing of the data is read as markup: on the
terminal it is plain text, in Markdown its special characters are escaped, and on the page all of it is.
"""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from wend import __version__
from wend.experiments.findings import Comparison, Report, Ruling, Sheet
from wend.experiments.results import Entry, Key
from wend.files import printable
from wend.metrics import Measure
from wend.theme import stylesheet

if TYPE_CHECKING:
    from rich.console import Console

NOTHING = "-"
NOT_MEASURED = "not measured"

_MOST_DECIMALS = 6
_TERMINAL_STYLES = {"good": "green", "bad": "red", "faint": "dim"}


class Cell(NamedTuple):
    """What stands in one place of a table."""

    text: str
    error: str = ""             # half the width of the confidence interval
    printed: str = ""           # what the paper says
    difference: str = ""        # to the baseline
    tone: str = ""              # good | bad | faint

    def __str__(self) -> str:
        return " ".join(part for part in (self.text, self.error, self.printed, self.difference) if part)


@dataclass(frozen=True)
class Block:
    """A table with what is to be said about it."""

    title: str
    header: list[str]
    rows: list[list[Cell]]
    paper: str = ""                     # what the paper shows here
    note: str = ""
    figure: Sheet | None = None         # to be drawn above the table
    text_columns: int = 1               # so many on the left hold words, the others numbers


# --- words and numbers -----------------------------------------------------------------------------------------------


def metric_name(metric: str) -> str:
    """A metric as a heading."""
    return metric.replace("_", " ")


def _value(measure: Measure, value: float, half_width: float | None = None) -> Cell:
    """A number as people read it: shares in percent with one decimal, others with a few digits and their whole part."""
    unit = " %" if measure.percent else ""
    error = "" if half_width is None else "±" + _rounded(measure, half_width, like=value)
    return Cell(_rounded(measure, value, like=value) + unit, error)


def _rounded(measure: Measure, value: float, *, like: float, sign: str = "") -> str:
    """A number with as many decimals as `like` is shown with: what belongs together ends at the same digit."""
    if measure.percent:
        value, decimals = 100 * value, 1
    else:
        whole = 1 if like == 0 else 1 + math.floor(math.log10(abs(like)))
        decimals = min(max(measure.digits - whole, 0), _MOST_DECIMALS)
    return f"{round(value, decimals) + 0.0:{sign},.{decimals}f}"      # + 0.0: there is no -0


def _word(key: Key) -> str:
    if key is None:
        return NOTHING
    return f"{key:g}" if isinstance(key, float) else str(key)


def _entry(entry: Entry, measure: Measure) -> Cell:
    if entry.mean is None:
        return Cell(NOTHING)
    cell = _value(measure, entry.mean.value, entry.mean.half_width)
    if entry.printed is not None:
        cell = cell._replace(printed=f"[{_value(measure, entry.printed)}]")
    if entry.difference is None:
        return cell
    by, half_width = entry.difference.value, entry.difference.half_width
    certain = half_width is not None and abs(by) > half_width
    difference = _rounded(measure, by, like=entry.mean.value, sign="+")
    return cell._replace(difference=f"({'' if certain else '~'}{difference})", tone="" if certain else "faint")


# --- what there is to show -------------------------------------------------------------------------------------------


def _facts(report: Report) -> list[tuple[str, str]]:
    ended = ", ".join(f"{limit} {count}" for limit, count in report.stopped_by.items())
    facts = [
        ("scale", report.scale),
        ("jobs done", f"{report.done} of {report.jobs}"),
        ("failed", str(report.failed)),
        ("runs with illegal moves", str(report.illegal or "")),
        ("runs ended by", ended),
        ("results of other solvers", ", ".join(f"{label} ({count})" for label, count in report.others.items())),
        ("Wend", ", ".join(report.versions)),
        ("commit", ", ".join(report.commits)),
        ("CPU", ", ".join(report.cpus)),
        ("differences explained in", report.spec.page and f"docs/{report.spec.page}"),
    ]
    return [(name, value) for name, value in facts if value]


def _tally(report: Report) -> str:
    """One sentence on the claims; "" if there are none."""
    if not report.claims:
        return ""
    answers = [ruling.holds for ruling in report.claims]
    hold, fail, open_ = (sum(answer is wanted for answer in answers) for wanted in (True, False, None))
    return f"Of {len(answers)} claims of the paper {hold} hold, {fail} fail, {open_} are not measured."


def _chapters(report: Report) -> list[tuple[str, list[Block]]]:
    """The blocks under their headings, without empty chapters."""
    numbers = [_compared(comparison) for comparison in report.numbers]
    claims = [_judged(ruling) for ruling in report.claims]
    failures = [[Cell(failure.job), Cell(" ".join(failure.error.split()))] for failure in report.failures]
    listed = f"The first {len(failures)} of {report.failed}." if report.failed > len(failures) else ""
    compared = ["place", "metric", "ours", "runs", "paper", "difference"]
    chapters = {
        "Figures": [_sheet(sheet, report.baseline, drawn=True) for sheet in report.figures],
        "Tables": [_sheet(sheet, report.baseline) for sheet in report.tables],
        "Numbers that the paper prints": [Block("", compared, numbers, text_columns=2)],
        "Claims of the paper": [Block("", ["", "claim"], claims, note=_tally(report), text_columns=2)],
        "Failed jobs": [Block("", ["job", "error"], failures, note=listed, text_columns=2)],
    }
    return [(heading, blocks) for heading, blocks in chapters.items() if any(b.rows or b.title for b in blocks)]


def _sheet(sheet: Sheet, baseline: str, *, drawn: bool = False) -> Block:
    by_metric = sheet.columns == sheet.metrics
    columns = [metric_name(metric) for metric in sheet.metrics] if by_metric else [_word(key) for key in sheet.columns]
    rows = [
        [Cell(_word(row)), *(_entry(entry, measure) for entry, measure in zip(line, sheet.measures, strict=True))]
        for row, line in zip(sheet.rows, sheet.entries, strict=True)
    ]
    return Block(
        title=sheet.title,
        header=[metric_name(sheet.row_column), *columns],
        rows=rows + _slopes(sheet),
        paper=sheet.paper,
        note=_sheet_note(sheet, baseline),
        figure=sheet if drawn and any(entry.mean for line in sheet.entries for entry in line) else None,
    )


def _slopes(sheet: Sheet) -> list[list[Cell]]:
    """Rows below a column's numbers with its line, if any column has one."""
    lines = sheet.lines or []
    if not any(lines):
        return []
    shown = {
        "slope": [f"{line.slope:.2f}" if line else NOTHING for line in lines],
        "r²": [f"{line.r2:.3f}" if line else NOTHING for line in lines],
        "points": [str(line.points) if line else NOTHING for line in lines],
    }
    return [[Cell(name), *map(Cell, texts)] for name, texts in shown.items()]


def _sheet_note(sheet: Sheet, baseline: str) -> str:
    """What the numbers are, over how many runs."""
    runs = [entry.mean.runs for line in sheet.entries for entry in line if entry.mean]
    if not runs:
        return f"{NOT_MEASURED.capitalize()} yet."
    count = str(min(runs)) if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
    said = "One run each." if count == "1" else f"Means of {count} runs each, ± half the 95 % confidence interval."
    if any(entry.difference for line in sheet.entries for entry in line):
        said += f" In parentheses: the difference to {baseline} on the same problems, ~ where its interval contains 0."
    if any(entry.printed is not None for line in sheet.entries for entry in line):
        said += " In brackets: the paper's numbers."
    if sheet.lines is not None:
        said += " Slope: of the least-squares line through the points of a column, both axes logarithmic."
    known = dict(zip(sheet.metrics, sheet.measures, strict=True))
    meanings = [f"{metric_name(metric)}: {measure.help}" for metric, measure in known.items()]
    return f"{said} {'; '.join(meanings)}."


def _compared(comparison: Comparison) -> list[Cell]:
    said, measure, ours = comparison.number, comparison.measure, comparison.ours
    start, theirs = [Cell(said.place), Cell(metric_name(said.metric))], _value(measure, said.value)
    if ours is None:
        return [*start, Cell(NOT_MEASURED, tone="faint"), Cell(NOTHING), theirs, Cell(NOTHING)]
    mean = _value(measure, ours.value, ours.half_width)
    difference = _rounded(measure, ours.value - said.value, like=max(ours.value, said.value, key=abs), sign="+")
    return [*start, mean, Cell(str(ours.runs)), theirs, Cell(difference)]


def _judged(ruling: Ruling) -> list[Cell]:
    words = {True: Cell("holds", tone="good"), False: Cell("fails", tone="bad"), None: Cell(NOT_MEASURED, tone="faint")}
    return [words[ruling.holds], Cell(ruling.claim.sentence)]


# --- terminal --------------------------------------------------------------------------------------------------------


def to_console(report: Report, console: Console) -> None:
    """Print the report."""
    console.print(_text(report.spec.title, "bold"))
    for line in (report.spec.paper, report.spec.about):
        if line:
            console.print(_text(line))
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(report):
        facts.add_row(_text(name, "dim"), _text(value))
    console.print(facts)
    for heading, blocks in _chapters(report):
        console.print()
        console.rule(Text(heading), align="left")
        for block in blocks:
            _print_block(block, console)


def _text(text: str, style: str = "") -> Text:
    """Text of a spec or of a result, of which nothing reaches the terminal that is not printable."""
    return Text(printable(" ".join(text.split())), style=style)


def _print_block(block: Block, console: Console) -> None:
    if block.title:
        console.print()
        console.print(_text(block.title, "bold"))
    if block.paper:
        console.print(_text(f"In the paper: {block.paper}"))
    if block.rows:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)      # without vertical lines: wide tables just fit
        for k, name in enumerate(block.header):
            table.add_column(_text(name), justify="left" if k < block.text_columns else "right", overflow="fold")
        for row in block.rows:
            table.add_row(*map(_terminal_cell, row))
        console.print(table)
    if block.note:
        console.print(_text(block.note, "dim"))


def _terminal_cell(cell: Cell) -> Text:
    """A cell with its difference, which has the tone, on a line of its own."""
    style = _TERMINAL_STYLES.get(cell.tone, "")
    if not cell.difference:
        return _text(str(cell), style)
    return Text.assemble(_text(str(cell._replace(difference=""))), "\n", (cell.difference, style))


# --- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(report: Report) -> str:
    """The report as GitHub's Markdown; figures are there as their numbers."""
    parts = [f"# {_escaped(report.spec.title)}"]
    parts += [_escaped(line) for line in (report.spec.paper, report.spec.about) if line]
    parts.append("\n".join(f"- {name}: {_escaped(value)}" for name, value in _facts(report)))
    if report.spec.page:        # from docs/results/, where reports are kept
        parts.append(f"[Where results and paper differ, and why](../{report.spec.page})")
    for heading, blocks in _chapters(report):
        parts.append(f"## {heading}")
        for block in blocks:
            parts += [f"### {_escaped(block.title)}"] if block.title else []
            parts += [f"In the paper: {_escaped(block.paper)}"] if block.paper else []
            parts += [_markdown_table(block)] if block.rows else []
            parts += [_escaped(block.note)] if block.note else []
    return "\n\n".join(parts) + "\n"


def _markdown_table(block: Block) -> str:
    aligned = ["---" if k < block.text_columns else "---:" for k in range(len(block.header))]
    rows = [[_escaped(str(cell)) for cell in row] for row in block.rows]
    lines = [[_escaped(name) for name in block.header], aligned, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", " ".join(text.split()))


# --- HTML ------------------------------------------------------------------------------------------------------------


def to_html(report: Report) -> str:
    """The report as one page that needs nothing beside it."""
    page = Template(files("wend.experiments").joinpath("page.html").read_text(encoding="utf-8"))
    chapters = _chapters(report)
    facts = [f"<div><dt>{name}</dt><dd>{html.escape(value)}</dd></div>" for name, value in _facts(report)]
    sections = [
        f'<section id="{_anchor(heading)}"><h2>{heading}</h2>{"".join(map(_html_block, blocks))}</section>\n'
        for heading, blocks in chapters
    ]
    return page.substitute(
        theme=stylesheet(),
        title=html.escape(report.spec.title),
        paper=html.escape(report.spec.paper),
        about=html.escape(report.spec.about),
        tally=html.escape(_tally(report)),
        facts="".join(facts),
        links="".join(f'<a href="#{_anchor(heading)}">{heading}</a>' for heading, _ in chapters),
        body="".join(sections),
        name=html.escape(report.spec.name),
        version=html.escape(__version__),
    )


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _html_block(block: Block) -> str:
    parts = [f"<h3>{html.escape(block.title)}</h3>"] if block.title else []
    drawing = ""
    if block.figure is not None:
        from wend.experiments.figures import draw  # slow to import, and only pages need it

        drawing = draw(block.figure, block.header[0])
    said = f"<aside><h4>In the paper</h4><p>{html.escape(block.paper)}</p></aside>" if block.paper else ""
    if drawing or said:
        parts.append(f'<div class="beside">{f"<figure>{drawing}</figure>" if drawing else ""}{said}</div>')
    if block.rows:
        header = _html_row("th", block.text_columns, [Cell(name) for name in block.header])
        rows = "".join(_html_row("td", block.text_columns, row) for row in block.rows)
        parts.append(f'<div class="scroll"><table><thead>{header}</thead><tbody>{rows}</tbody></table></div>')
    parts += [f'<p class="note">{html.escape(block.note)}</p>'] if block.note else []
    return f"<article>{''.join(parts)}</article>\n"


def _html_row(tag: str, text_columns: int, cells: list[Cell]) -> str:
    parts = []
    for k, cell in enumerate(cells):
        kind = f"{'words' if k < text_columns else 'number'} {cell.tone}".strip()
        parts.append(f'<{tag} class="{kind}">{_html_cell(cell)}</{tag}>')
    return f"<tr>{''.join(parts)}</tr>\n"


def _html_cell(cell: Cell) -> str:
    text = f"<span>{html.escape(cell.text)}</span>"
    if cell.error:
        text += f" <small>{html.escape(cell.error)}</small>"
    if cell.printed:
        text += f" {html.escape(cell.printed)}"
    if cell.difference:
        text += f' <span class="difference">{html.escape(cell.difference)}</span>'
    return text
