"""`wend train selector`: learn from the results of an experiment which algorithm to run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wend.cli.report import require_experiments
from wend.cli.shared import Json, compiling_said, print_json, print_table, say
from wend.errors import ParameterError

app = typer.Typer(help="Learn from results.", no_args_is_help=True)


@app.callback()
def train() -> None:
    """Learn from results."""


@app.command()
def selector(
    data: Annotated[Path, typer.Argument(help="The results folder of selection/portfolio.")],
    view: Annotated[str, typer.Option(help="Which limits the runs had: E (expansions) or T (ticks).")] = "E",
    scale: Annotated[str | None, typer.Option(help="Which scale; by default the largest that is complete.")] = None,
    splits: Annotated[int, typer.Option(help="How many random splits it is judged on, of each kind.")] = 10,
    trees: Annotated[int, typer.Option(help="How many trees the selector has.")] = 100,
    seed: Annotated[int, typer.Option(help="What the trees are drawn from.")] = 0,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("selector.npz"),
    json: Json = False,
) -> None:
    """Judge selectors on splits of the data, train one on all of it, and write that to a file."""
    require_experiments()
    from dataclasses import asdict

    from wend.experiments.papers.selection import load_portfolio
    from wend.files import check_writable
    from wend.selection.evaluation import standings
    from wend.selection.selector import train_selector

    if splits < 1 or trees < 1 or seed < 0:
        raise ParameterError("--splits is 1 or more, --trees is 1 or more, and --seed 0 or more")
    replaced = check_writable(out)
    with compiling_said("looking at problems"):
        known = load_portfolio(data, scale, view)
    found = list(standings(known, splits))
    scores = [asdict(each) for each in found]
    train_selector(known, trees=trees, seed=seed, view=view, scores=scores).save(out)
    if json:
        print_json({"file": str(out), "problems": len(known.names), "maps": len(set(known.maps)), "scores": scores})
        return
    rows = [
        (
            each.selector, each.split, f"{each.training:.0%}",
            _percent(each.completion, each.completion_deviation), f"{100 * each.accuracy:.0f}",
            _percent(each.gap_closed, each.gap_closed_deviation),
        )
        for each in found
    ]  # fmt: skip
    title = f"{len(known.names)} problems on {len(set(known.maps))} maps, {splits} splits of each kind"
    columns = ("selector", "split", "training part", "completion %", "accuracy %", "gap closed %")
    print_table(title, columns, rows)
    say(f"{'replaced' if replaced else 'written to'} {out}")


def _percent(mean: float | None, deviation: float | None) -> str:
    return "-" if mean is None or deviation is None else f"{round(100 * mean, 1) + 0.0} ± {100 * deviation:.1f}"
