"""Write the tables of metrics and events into their pages, from the code that they describe: python docs/tables.py"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wend.metrics import MEASURES, Measure
from wend.world.trace import EVENTS

DOCS = Path(__file__).resolve().parent
BEGIN, END = "<!-- written by docs/tables.py -->", "<!-- end -->"


def metrics_table() -> str:
    """Every metric."""
    rows = (
        (f"`{name}`", "%" if measure.percent else measure.unit or "-", ", ".join(_kinds(measure)) or "-", measure.help)
        for name, measure in MEASURES.items()
    )
    return _table(("metric", "unit", "kind", "what"), rows)


def _kinds(measure: Measure) -> list[str]:
    known = {"rate": measure.yes_no, "of solved": measure.of_solved, "clock": measure.clock}
    return [kind for kind, is_so in known.items() if is_so]


def events_table() -> str:
    """Every kind of event."""
    return _table(("kind", "further fields", "what"), ((f"`{kind}`", *said) for kind, said in EVENTS.items()))


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


TABLES = {DOCS / "metrics.md": metrics_table, DOCS / "formats" / "trace.md": events_table}


def with_table(page: str, table: str) -> str:
    """A page with the table in its place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"


if __name__ == "__main__":
    for path, table in TABLES.items():
        path.write_text(with_table(path.read_text(), table()))
