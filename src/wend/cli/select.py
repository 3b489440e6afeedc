"""`wend select`: which algorithm to run on a problem, what to expect of each, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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


def select(
    map: Annotated[str, typer.Argument(help="A .map file, a name (bg512/AR0414SR), or a generator (arena:seed=3).")],
    scen: Annotated[str | None, typer.Option(help="A .scen file or a name in the data folder; its first rows.")] = None,
    problem: Annotated[str, typer.Option(help="The kind that is drawn from the seed, unless --scen.")] = "random",
    agents: Annotated[int, typer.Option(help="How many agents.")] = 100,
    seed: Annotated[int, typer.Option(help="What the problem is drawn from.")] = 0,
    model: Annotated[Path, typer.Option(help="What `wend train selector` has written.")] = Path("selector.npz"),
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Look at a problem, and say which algorithm to run, what to expect of each, and why."""
    from wend.maps.grid import Grid
    from wend.problems.problem import Problem
    from wend.problems.scenarios import make_problem
    from wend.selection.network_selector import load_selector

    selector = load_selector(model)
    grid = Grid.load(map, connectivity=connectivity_of(connectivity, scen), corner_cutting=corner_cutting)
    if scen is not None:
        task = Problem.from_scen(grid, scen, agents=agents)
    else:
        task = make_problem(problem, grid, agents=agents, seed=seed)
    with compiling_said("looking at problems"):
        choice = selector.choose(task)
    if json:
        print_json({"algorithm": choice.algorithm, "expected": choice.expected, "reasons": choice.reasons})
        return
    lines = [f"run {choice.algorithm}", f"expected {choice.measure}:"]
    lines += [f"  {name}: {100 * share:.1f} %" for name, share in choice.expected.items()]
    lines += ["because:", *(f"  {reason}" for reason in choice.reasons)] if choice.reasons else []
    print_text("\n".join(lines) + "\n")
