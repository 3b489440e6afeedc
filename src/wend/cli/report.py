"""`wend report`: put an experiment's results beside the paper's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wend.cli.shared import Json, print_json, print_text, result_console, say
from wend.errors import ParameterError

if TYPE_CHECKING:
    from wend.experiments.findings import Report
    from wend.experiments.spec import Spec

Out = Annotated[Path | None, typer.Option(help="The results folder; results/NAME by default.")]
AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Run planners, measures and jobs that the spec names as module:name.")
]
Baseline = Annotated[str | None, typer.Option(help="The algorithm that tables show differences to.")]


def report(
    name: Annotated[str, typer.Argument(help="An experiment, such as silver/figures.")],
    out: Out = None,
    scale: Annotated[str | None, typer.Option(help="Which scale; by default the largest that is complete.")] = None,
    baseline: Baseline = None,
    html: Annotated[Path | None, typer.Option(help="Write the report to this page, one file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the report's tables to this file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the rows that it is made from to this file.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write each figure to this folder, as SVG, PDF and PNG.")] = None,
    json: Json = False,
) -> None:
    """Put the results beside the paper's: tables, figures, and which of its sentences hold."""
    require_experiments()
    from wend.experiments.spec import load_spec

    if figures is not None and figures.exists() and not figures.is_dir():
        raise ParameterError(f"--figures {figures}: a folder is needed, and this is none")
    spec = load_spec(name)
    print_report(spec, results_folder(spec, out), scale, baseline, json, html, markdown, csv, figures)


def print_report(
    spec: Spec,
    folder: Path,
    scale: str | None,
    baseline: str | None,
    json: bool,
    html: Path | None = None,
    markdown: Path | None = None,
    csv: Path | None = None,
    figures: Path | None = None,
) -> Report:
    """Make the report of the results in a folder, write it to the files that are named, and print it."""
    from wend.experiments.render import to_console, to_html, to_markdown
    from wend.experiments.report import make_report
    from wend.experiments.results import Results
    from wend.experiments.store import Store
    from wend.files import check_writable, replacing

    store = Store(folder)
    made = make_report(spec, store, scale=scale, baseline=baseline)
    renders: list[tuple[Path | None, Callable[[], str]]] = [
        (html, lambda: to_html(made)),
        (markdown, lambda: to_markdown(made)),
        (csv, lambda: Results(spec, store, spec.jobs(made.scale)).to_csv()),
    ]
    for path, render in renders:
        if path is not None:
            replaced = check_writable(path)
            with replacing(path) as file:
                file.write(render().encode())
            say(f"replaced {path}" if replaced else f"written to {path}")
    if figures is not None:
        write_figures(made, figures)
    if json:
        print_json(made.to_json())
    else:
        console = result_console()
        with console.capture() as capture:
            to_console(made, console)
        print_text(capture.get())
    return made


def write_figures(report: Report, folder: Path) -> None:
    """Draw the figures of a report that have any points into a folder."""
    from wend.experiments.figures import FORMATS, draw_to_file, file_names
    from wend.files import check_writable, replacing

    drawn = [exhibit for exhibit in report.figures if not all(sheet.is_empty for sheet in exhibit.sheets)]
    paths = [folder / f"{name}.{format}" for name in file_names(drawn) for format in FORMATS]
    for path in paths:
        check_writable(path)
    for path, (exhibit, format) in zip(paths, itertools.product(drawn, FORMATS), strict=True):
        with replacing(path) as file:
            draw_to_file(exhibit, file, format)
    say(f"figures written to {folder}: {len(drawn)}, each as {', '.join(FORMATS)}")


def results_folder(spec: Spec, out: Path | None) -> Path:
    """The folder that was named, or the one where an experiment's results are kept."""
    return out or Path("results") / spec.store


def require_experiments() -> None:
    """Say what to install if the extra `experiments` is not installed."""
    from importlib.util import find_spec

    missing = [module for module in ("duckdb", "joblib", "matplotlib", "pyarrow") if find_spec(module) is None]
    if missing:
        raise ParameterError(f"experiments need {', '.join(missing)}: pip install 'wend[experiments]'")
