"""`wend select`: which algorithm to run on a problem, what to expect of each, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wend.cli.shared import (
    Connectivity,
    CornerCutting,
    Json,
    compiling_said,
    connectivity_of,
    print_json,
    print_text,
)
from wend.errors import ParameterError

if TYPE_CHECKING:
    from wend.planners.base import Budget
    from wend.problems.problem import Problem
    from wend.selection.selector import Choice


def select(
    map: Annotated[str, typer.Argument(help="A .map file, a name (bg512/AR0414SR), or a generator (arena:seed=3).")],
    scen: Annotated[str | None, typer.Option(help="A .scen file or a name in the data folder; its first rows.")] = None,
    problem: Annotated[str, typer.Option(help="The kind that is drawn from the seed, unless --scen.")] = "random",
    agents: Annotated[int, typer.Option(help="How many agents.")] = 100,
    seed: Annotated[int, typer.Option(help="What the problem is drawn from.")] = 0,
    budget: Annotated[int | None, typer.Option(help="Node expansions that the planner may make per tick.")] = None,
    model: Annotated[Path | None, typer.Option(help="Ask what `wend train selector` has written instead.")] = None,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Look at a problem, and say which algorithm to run, what to expect of each, and why.

    That is what `auto` begins with in `wend solve`, or what a selector of your own says.
    """
    from wend.maps.grid import Grid
    from wend.planners.base import Budget
    from wend.problems.problem import Problem
    from wend.problems.scenarios import make_problem
    from wend.selection.network_selector import load_selector

    selector = None if model is None else load_selector(model)
    allowance = Budget(expansions=budget)
    if selector is not None and budget is not None:
        raise ParameterError("--budget is for `auto`: a selector of your own knows of none, so leave out --model")
    grid = Grid.load(map, connectivity=connectivity_of(connectivity, scen), corner_cutting=corner_cutting)
    if scen is not None:
        task = Problem.from_scen(grid, scen, agents=agents)
    else:
        task = make_problem(problem, grid, agents=agents, seed=seed)
    if selector is None:
        _print_first(task, allowance, json)
    else:
        with compiling_said("looking at problems"):
            _print_choice(selector.choose(task), json)


def _print_choice(choice: Choice, json: bool) -> None:
    """Print what a selector says."""
    if json:
        print_json({"algorithm": choice.algorithm, "expected": choice.expected, "reasons": choice.reasons})
        return
    lines = [f"run {choice.algorithm}", f"expected {choice.measure}:"]
    lines += [f"  {name}: {100 * share:.1f} %" for name, share in choice.expected.items()]
    lines += ["because:", *(f"  {reason}" for reason in choice.reasons)] if choice.reasons else []
    print_text("\n".join(lines) + "\n")


def _print_first(task: Problem, budget: Budget, json: bool) -> None:
    """Print what `auto` begins with."""
    from wend.planners.auto.auto import WAY_OUT, Auto, patience_ticks, regime_of

    auto, regime = Auto(offline=True), regime_of(task.grid, len(task.starts), budget)
    first, choice = auto.first(regime), auto.choice(regime)
    ticks = patience_ticks(task.grid, choice.algorithm)
    jam = f"{WAY_OUT} takes over if no agent arrives for {ticks} ticks with {choice.algorithm}, once half are home"
    if json:
        known = {"expected": dict(choice.expected), "problems": choice.problems}
        print_json({"algorithm": first.algorithm, **known, "reasons": [first.reason], "jam": jam})
    else:
        print_text(f"run {first.algorithm}\nbecause:\n  {first.reason}\nin a jam:\n  {jam}\n")
