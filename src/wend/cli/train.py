"""`wend train`: learn from the results of an experiment which algorithm to run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wend.cli.report import require_experiments
from wend.cli.shared import Json, compiling_said, print_json, print_table, say
from wend.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from wend.selection.evaluation import Portfolio, SelectorScores

app = typer.Typer(help="Learn from results.", no_args_is_help=True)

View = Annotated[str, typer.Option(help="Which limits the runs had: E (expansions) or T (ticks).")]
Scale = Annotated[str | None, typer.Option(help="Which scale; by default the largest that is complete.")]


@app.callback()
def train() -> None:
    """Learn from results."""


@app.command()
def selector(
    data: Annotated[Path, typer.Argument(help="The results folder of selection/portfolio.")],
    view: View = "E",
    scale: Scale = None,
    learner: Annotated[str, typer.Option("--with", help="What learns: trees, or a network: alexnet, small.")] = "trees",
    splits: Annotated[int, typer.Option(help="How many random splits it is judged on, of each kind.")] = 10,
    trees: Annotated[int, typer.Option(help="How many trees the selector has.")] = 100,
    seed: Annotated[int, typer.Option(help="What the trees or the network are drawn from.")] = 0,
    out: Annotated[Path | None, typer.Option(help="The file; selector.npz, or selector.onnx of a network.")] = None,
    json: Json = False,
) -> None:
    """Judge selectors on splits of the data, train one on all of it, and write that to a file."""
    require_experiments()
    from dataclasses import asdict

    from wend.experiments.papers.selection import load_portfolio
    from wend.files import check_writable
    from wend.selection.evaluation import standings
    from wend.selection.networks import SHAPES
    from wend.selection.selector import train_selector

    if splits < 1 or trees < 1 or seed < 0:
        raise ParameterError("--splits is 1 or more, --trees is 1 or more, and --seed 0 or more")
    if learner not in ("trees", *SHAPES):
        raise UnknownNameError("learner", learner, ("trees", *SHAPES))
    if learner in SHAPES:
        _require_training()
    out = out or Path("selector.npz" if learner == "trees" else "selector.onnx")
    if (out.suffix == ".onnx") != (learner in SHAPES):
        raise ParameterError(f"{out}: the file of a network ends in .onnx, and that of trees does not")
    replaced = check_writable(out)
    with compiling_said("looking at problems"):
        known = load_portfolio(data, scale, view)
    found = list(standings(known, splits))
    scores = [asdict(each) for each in found]
    if learner == "trees":
        train_selector(known, trees=trees, seed=seed, view=view, scores=scores).save(out)
    else:
        _train_network(known, data, scale, view, learner, seed, out)
    if json:
        print_json({"file": str(out), "problems": len(known.names), "maps": len(set(known.maps)), "scores": scores})
        return
    title = f"{len(known.names)} problems on {len(set(known.maps))} maps, {splits} splits of each kind"
    columns = ("selector", "split", "training part", "completion %", "accuracy %", "gap closed %")
    print_table(title, columns, [_row(each) for each in found])
    say(f"{'replaced' if replaced else 'written to'} {out}")


@app.command()
def auto(
    data: Annotated[Path, typer.Argument(help="The results folder of selection/auto.")],
    scale: Annotated[str | None, typer.Option(help="Only the problems of this scale.")] = None,
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("auto.json"),
    json: Json = False,
) -> None:
    """Make the model by which `auto` chooses a planner, and write it to a file; `--model FILE` makes `auto` use it."""
    require_experiments()
    from wend.experiments.papers.auto import train_auto
    from wend.files import check_writable
    from wend.planners.auto.model import CROWDINGS, LOADS, PORTFOLIO

    replaced = check_writable(out)
    model = train_auto(data, scale)
    model.save(out)
    if json:
        print_json({"file": str(out), **vars(model)})
        return
    loads = ["no budget", *(f"load from {low:,.0f}" for low in LOADS)]
    rows = [
        (
            loads[k], f"{100 * crowding:.0f} %", str(model.problems[k][j]),
            *(f"{100 * (model.ticks[name][k][j] - 1):.1f}" for name in PORTFOLIO),
        )
        for k in range(len(loads)) for j, crowding in enumerate(CROWDINGS) if model.problems[k][j]
    ]  # fmt: skip
    title = f"{model.about['problems']} problems on {len(model.about['maps'])} maps: % longer away than with the better"
    print_table(title, ("load", "crowding from", "problems", *PORTFOLIO), rows)
    say(f"{'replaced' if replaced else 'written to'} {out}")


@app.command()
def networks(
    data: Annotated[Path, typer.Argument(help="The results of selection/portfolio, rths/walks or rths/lak506d.")],
    shape: Annotated[str, typer.Option(help="The network: alexnet, as in the thesis, or small.")] = "small",
    view: View = "E",
    scale: Scale = None,
    splits: Annotated[int | None, typer.Option(help="How many splits of each kind; 10, or 20 of rths.")] = None,
    seed: Annotated[int, typer.Option(help="What the networks are drawn from.")] = 0,
    lessons: Annotated[Path | None, typer.Option(help="Write what is to be learned to this file, and stop.")] = None,
) -> None:
    """Train a network on every split of some results, so that reports can judge its choices."""
    require_experiments()
    from wend.experiments.papers import rths, selection
    from wend.experiments.provenance import recorded_spec
    from wend.files import check_writable
    from wend.selection.networks import SHAPES, answer_all, save_answers

    if shape not in SHAPES:
        raise UnknownNameError("network", shape, SHAPES)
    if seed < 0 or (splits is not None and splits < 1):
        raise ParameterError("--splits is 1 or more, and --seed 0 or more")
    if lessons is None:
        _require_training()
    with compiling_said("looking at problems"):
        if recorded_spec(data).job == selection.JOB:
            scale = selection.complete_scale(data, scale)
            task = selection.network_lessons(data, scale, view, splits or 10, curve=shape == "small")
            out = selection.networks_file(data, scale, view, shape)
        else:
            scale = scale or "full"
            task = rths.network_lessons(data, scale, splits or 20)
            out = rths.networks_file(data, scale, shape)
    if lessons is not None:
        check_writable(lessons)
        task.save(lessons)
        say(f"{len(task.names)} lessons of {len(task.pictures)} pictures are in {lessons}; the answers belong to {out}")
        return
    out.parent.mkdir(exist_ok=True)
    save_answers(out, task, *answer_all(task, shape, seed=seed, told=say))
    say(f"written to {out}")


def _train_network(
    known: Portfolio, data: Path, scale: str | None, view: str, shape: str, seed: int, out: Path
) -> None:
    """Train one network on all of the data."""
    from dataclasses import asdict

    from wend.experiments.papers.selection import complete_scale, problem_pictures
    from wend.selection.lessons import whole_lesson
    from wend.selection.network_selector import save_network
    from wend.selection.networks import learn

    pictures = problem_pictures(data, complete_scale(data, scale), view)
    network, record = learn(whole_lesson(known, pictures), 0, shape, seed)
    about: dict[str, Any] = {"problems": len(known.names), "maps": sorted(set(known.maps)), "view": view}
    save_network(network, known.algorithms, about | {"training": asdict(record)}, out)


def _require_training() -> None:
    """Say what to install if the extra `train` is not installed."""
    from importlib.util import find_spec

    missing = [module for module in ("torch", "onnx", "onnxruntime") if find_spec(module) is None]
    if missing:
        raise ParameterError(f"networks need {', '.join(missing)}: pip install 'wend[train]'")


def _row(each: SelectorScores) -> tuple[str, ...]:
    return (
        each.selector, each.split, f"{each.training:.0%}",
        _percent(each.completion, each.completion_deviation), f"{100 * each.accuracy:.0f}",
        _percent(each.gap_closed, each.gap_closed_deviation),
    )  # fmt: skip


def _percent(mean: float | None, deviation: float | None) -> str:
    return "-" if mean is None or deviation is None else f"{round(100 * mean, 1) + 0.0} ± {100 * deviation:.1f}"
