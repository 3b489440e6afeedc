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
from wend.experiments.estimates import Mean
from wend.experiments.findings import FAILS, HOLDS, UNDECIDED, Comparison, Entry, Exhibit, Report, Ruling, Sheet
from wend.experiments.results import Key
from wend.experiments.sheets import metric_name
from wend.experiments.spec import Picture
from wend.files import printable
from wend.metrics import Measure
from wend.theme import stylesheet

if TYPE_CHECKING:
    from rich.console import Console

NOTHING = "-"
NOT_MEASURED = "not measured"
OTHER_HARDWARE = "other hardware"

_MOST_DECIMALS = 6
_TERMINAL_STYLES = {"good": "green", "bad": "red", "open": "yellow", "faint": "dim"}
_TONES = {HOLDS: "good", FAILS: "bad", UNDECIDED: "open", None: "faint"}


class Cell(NamedTuple):
    """What stands in one place of a table."""

    text: str
    error: str = ""             # half the width of the confidence interval, or its ends
    of: str = ""                # how many problems
    printed: str = ""           # what the paper says
    difference: str = ""        # to the baseline
    tone: str = ""              # good | bad | open | faint

    def __str__(self) -> str:
        return " ".join(part for part in (self.text, self.error, self.of, self.printed, self.difference) if part)


@dataclass(frozen=True)
class Block:
    """A table with what is to be said about it."""

    title: str
    header: list[str]
    rows: list[list[Cell]]
    paper: str = ""                     # what the paper shows here
    note: str = ""
    figure: Exhibit | None = None       # to be drawn above the table
    picture: Picture | None = None      # ... or instead of one, on a page
    text_columns: int = 1               # so many on the left hold words, the others numbers


# --- words and numbers -----------------------------------------------------------------------------------------------


def _value(measure: Measure, value: float, mean: Mean | None = None) -> Cell:
    """A number as people read it, with its interval if it is a mean.

    Shares are in percent with one decimal, other numbers have a few digits and their whole part. Rates show what they
    are of: 4/5.
    """
    text = _rounded(measure, value, like=value) + (" %" if _is_share(measure) else "")
    if mean is None or mean.low is None or mean.high is None or mean.half_width is None:
        return Cell(text)
    if mean.yes is None:
        return Cell(text, "±" + _rounded(measure, mean.half_width, like=value))
    rate, low, high = (f"{100 * share:.0f}" for share in (value, mean.low, mean.high))
    return Cell(f"{mean.yes}/{mean.problems} = {rate} %,", f"{low} to {high}")


def _is_share(measure: Measure) -> bool:
    return measure.percent or measure.yes_no


def _rounded(measure: Measure, value: float, *, like: float, sign: str = "") -> str:
    """A number with as many decimals as `like` is shown with: what belongs together ends at the same digit."""
    if _is_share(measure):
        value, decimals = 100 * value, 1
    else:
        whole = 1 if like == 0 else 1 + math.floor(math.log10(abs(like)))
        decimals = min(max(measure.digits - whole, 0), _MOST_DECIMALS)
    return f"{round(value, decimals) + 0.0:{sign},.{decimals}f}"      # + 0.0: there is no -0


def _word(key: Key) -> str:
    if key is None:
        return NOTHING
    return f"{key:g}" if isinstance(key, float) else str(key)


def _entry(entry: Entry, measure: Measure, *, counted: bool) -> Cell:
    mean, difference = entry.mean, entry.difference
    if mean is None:
        return Cell(NOTHING)
    cell = _value(measure, mean.value, mean)
    if counted and mean.yes is None:
        cell = cell._replace(of=f"of {mean.problems}")
    if entry.printed is not None:
        cell = cell._replace(printed=f"[{_value(measure, entry.printed)}]")
    if difference is None:
        return cell
    by = _difference(measure, difference.value, difference.contains(0), like=mean.value)
    return cell._replace(difference=f"({by})", tone="faint" if difference.contains(0) else "")


def _difference(measure: Measure, by: float, may_be_chance: bool, *, like: float) -> str:
    return ("~" if may_be_chance else "") + _rounded(measure, by, like=like, sign="+")


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
    verdicts = [ruling.verdict for ruling in report.claims]
    hold, fail, open_, missing = (verdicts.count(wanted) for wanted in (HOLDS, FAILS, UNDECIDED, None))
    said = f"{hold} hold, {fail} fail, {open_} are undecided, {missing} are not measured"
    return f"Of {len(verdicts)} claims of the paper {said}."


def _chapters(report: Report) -> list[tuple[str, list[Block]]]:
    """The blocks under their headings, without empty chapters."""
    numbers = [_compared(comparison) for comparison in report.numbers]
    claims = [_judged(ruling) for ruling in report.claims]
    failures = [[Cell(failure.job), Cell(" ".join(failure.error.split()))] for failure in report.failures]
    listed = f"The first {len(failures)} of {report.failed}." if report.failed > len(failures) else ""
    compared = ["place", "metric", "ours", "problems", "paper", "difference"]
    chapters = {
        "Problems as networks see them": [_pictured(picture) for picture in report.spec.pictures],
        "Figures": [_exhibit(exhibit, report.baseline, drawn=True) for exhibit in report.figures],
        "Tables": [_exhibit(exhibit, report.baseline) for exhibit in report.tables],
        "Numbers that the paper prints": [Block("", compared, numbers, note=_numbers_note(report), text_columns=2)],
        "Claims of the paper": [
            Block("", ["", "claim", "borne out"], claims, note=_claims_note(report), text_columns=2)
        ],
        "Failed jobs": [Block("", ["job", "error"], failures, note=listed, text_columns=2)],
    }
    return [(heading, blocks) for heading, blocks in chapters.items() if any(b.rows or b.title for b in blocks)]


def _pictured(picture: Picture) -> Block:
    told = f"{picture.problem} on {picture.map}, {picture.agents} agents: starts green, goals red, walls white."
    return Block(picture.title, [], [], note=told, picture=picture)


def _exhibit(exhibit: Exhibit, baseline: str, *, drawn: bool = False) -> Block:
    """A figure or a table; the panels of a figure stand below each other in one table."""
    first = exhibit.sheets[0]
    columns = [_word(key) if first.column_column else metric_name(str(key)) for key in first.columns]
    facets = [metric_name(exhibit.facets)] if exhibit.facets else []
    counted = [_is_counted(exhibit, k) for k in range(len(first.columns))]
    rows = []
    for sheet in exhibit.sheets:
        facet = [Cell(sheet.title)] if exhibit.facets else []
        for row, line in zip(sheet.rows, sheet.entries, strict=True):
            each = zip(line, sheet.measures, counted, strict=True)
            rows.append([*facet, Cell(_word(row)), *(_entry(entry, of, counted=count) for entry, of, count in each)])
        rows += [[*facet, *cells] for cells in _slopes(sheet)]
    return Block(
        title=exhibit.title,
        header=[*facets, _row_heading(first), *columns],
        rows=rows,
        paper=exhibit.paper,
        note=_exhibit_note(exhibit, baseline),
        figure=exhibit if drawn and not all(sheet.is_empty for sheet in exhibit.sheets) else None,
        text_columns=1 + len(facets),
    )


def _row_heading(sheet: Sheet) -> str:
    name = metric_name(sheet.row_column)
    return name if sheet.steps is None else f"within {name}"


def _is_counted(exhibit: Exhibit, column: int) -> bool:
    """Whether the entries of a column say of how many problems they are: costs do, and those that differ in it."""
    means = (line[column].mean for sheet in exhibit.sheets for line in sheet.entries)
    return exhibit.sheets[0].measures[column].of_solved or len({mean.problems for mean in means if mean}) > 1


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


def _exhibit_note(exhibit: Exhibit, baseline: str) -> str:
    """What the numbers are, and over how many problems."""
    first = exhibit.sheets[0]
    entries = [entry for sheet in exhibit.sheets for line in sheet.entries for entry in line]
    means = [entry.mean for entry in entries if entry.mean]
    if not means:
        is_common = bool(first.common) and all(first.common)
        return "No problem was solved by all." if is_common else f"{NOT_MEASURED.capitalize()} yet."
    said = [_said_of_means(means)]
    if any(first.common):
        said.append(
            "Commonly solved: only problems on which every algorithm in the comparison brought all agents home; "
            "algorithms that solved none are not asked."
        )
    if any(entry.difference for entry in entries):
        said.append(f"In parentheses: the difference to {baseline} on the same problems, ~ where it may be chance.")
    if any(entry.printed is not None for entry in entries):
        said.append("In brackets: the paper's numbers.")
    if first.lines is not None:
        said.append("Slope: of the least-squares line through the points of a column, both axes logarithmic.")
    known = dict(zip(first.metrics, first.measures, strict=True))
    meanings = [f"{metric_name(metric)}: {measure.help}" for metric, measure in known.items()]
    return f"{' '.join(said)} {'; '.join(meanings)}."


def _said_of_means(means: list[Mean]) -> str:
    counts = [mean.problems for mean in means]
    count = str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    if any(mean.yes is None for mean in means):
        said = "One problem each." if count == "1" else f"Means of {count} problems each, ± half the 95 % interval."
        return f"{said} Rates with Wilson's 95 % interval." if any(mean.yes is not None for mean in means) else said
    return f"Rates of {count} problems each, with Wilson's 95 % interval."


def _compared(comparison: Comparison) -> list[Cell]:
    said, measure, ours = comparison.number, comparison.measure, comparison.ours
    start, theirs = [Cell(said.place), Cell(metric_name(said.metric))], _value(measure, said.value)
    if ours is None:
        return [*start, Cell(NOT_MEASURED, tone="faint"), Cell(NOTHING), theirs, Cell(NOTHING)]
    mean = _value(measure, ours.value, ours)
    if measure.clock:
        return [*start, mean, Cell(str(ours.problems)), theirs, Cell(OTHER_HARDWARE, tone="faint")]
    larger = max(ours.value, said.value, key=abs)
    difference = _difference(measure, ours.value - said.value, ours.contains(said.value), like=larger)
    return [*start, mean, Cell(str(ours.problems)), theirs, Cell(difference)]


def _numbers_note(report: Report) -> str:
    said = "Ours is a mean over so many problems, with its 95 % interval; ~ where that contains the paper's number."
    if any(each.measure.clock for each in report.numbers):
        said += " Times on other hardware are shown, but not subtracted."
    return said


def _judged(ruling: Ruling) -> list[Cell]:
    verdict = Cell(ruling.verdict or NOT_MEASURED, tone=_TONES[ruling.verdict])
    share = NOTHING if ruling.borne_out is None else f"{100 * ruling.borne_out:.0f} % of {ruling.resamples}"
    return [verdict, Cell(ruling.claim.sentence), Cell("exact" if ruling.claim.exact else share)]


def _claims_note(report: Report) -> str:
    said = [_tally(report), "Borne out: by so many resamples of the problems; a verdict needs 95 % that agree."]
    if any(ruling.claim.exact for ruling in report.claims):
        said.append("Exact: a claim about these runs and no others.")
    if any(ruling.verdict == UNDECIDED and ruling.borne_out is None for ruling in report.claims):
        said.append("Undecided without a share: too few problems were drawn to tell.")
    return " ".join(said)


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
        from wend.experiments.figures import draw_for_page  # slow to import, and only pages need it

        wide = ' class="wide"' if len(block.figure.sheets) > 1 else ""
        drawing = f"<figure{wide}>{draw_for_page(block.figure)}</figure>"
    if block.picture is not None:
        from wend.experiments.figures import draw_problem

        drawing = f"<figure>{draw_problem(block.picture)}</figure>"
    said = f"<aside><h4>In the paper</h4><p>{html.escape(block.paper)}</p></aside>" if block.paper else ""
    if drawing or said:
        parts.append(f'<div class="beside">{drawing}{said}</div>')
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
    for part in (cell.error, cell.of):
        text += f" <small>{html.escape(part)}</small>" if part else ""
    if cell.printed:
        text += f" {html.escape(cell.printed)}"
    if cell.difference:
        text += f' <span class="difference">{html.escape(cell.difference)}</span>'
    return text
