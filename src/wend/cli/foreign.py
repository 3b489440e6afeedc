"""What `check`, `replay` and `view` share: runs, and plans of other tools, judged on a map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wend.cli.shared import connectivity_of, say
from wend.errors import ParameterError

if TYPE_CHECKING:
    from wend.interchange.plan import Plan
    from wend.maps.grid import Grid
    from wend.maps.terrain import Point
    from wend.world.trace import Trace

PlanMap = Annotated[str | None, typer.Option(help="The map that a foreign plan is for.")]
PlanScen = Annotated[str | None, typer.Option(help="The scenario that it claims to solve.")]


@dataclass(frozen=True)
class Judged:
    """A plan, and all that is wrong with it, one line each."""

    plan: Plan
    grid: Grid
    goals: list[Point] | None       # of the scenario, if there is one
    wrong: list[str]


def is_run(file: Path) -> bool:
    """Whether a file is a run of Wend, and not a plan of another tool."""
    from wend.files import opened
    from wend.world.trace import LIMIT_BYTES

    with opened(file, at_most=LIMIT_BYTES) as binary:
        return binary.read(2) == b"PK"      # how a zip begins


def judged(file: Path, map: str | None, scen: str | None, connectivity: int | None, corner_cutting: bool) -> Judged:
    """Read another tool's plan and judge it."""
    from wend.interchange.formats import read_plan
    from wend.interchange.plan import check_plan
    from wend.maps.grid import Grid
    from wend.maps.sources import load_scenario

    plan = read_plan(file)
    if map is None:
        raise ParameterError(f"{file} holds a plan ({plan.format}), and not the map that it is for: name it with --map")
    grid = Grid.load(map, connectivity=connectivity_of(connectivity, scen), corner_cutting=corner_cutting)
    rows = None if scen is None else load_scenario(scen).first(plan.agents).rows
    starts = None if rows is None else [row.start for row in rows]
    goals = None if rows is None else [row.goal for row in rows]
    return Judged(plan, grid, goals, check_plan(plan, grid, starts, goals))


def trace_of(file: Path, map: str | None, scen: str | None, connectivity: int | None, corner_cutting: bool) -> Trace:
    """A run, or another tool's plan as one, with all that is wrong with it."""
    from wend.interchange.plan import to_trace
    from wend.world.trace import Trace

    if is_run(file):
        return Trace.load(file)
    found = judged(file, map, scen, connectivity, corner_cutting)
    solver = found.plan.meta.get("solver") or f"{found.plan.format} plan"
    about = {"algorithm": solver, "map": map, "problem": scen, "plan": str(file), "violations": found.wrong}
    trace = to_trace(found.plan, found.grid, found.goals, {**found.plan.meta, **about})
    if found.wrong:
        say(f"{file}: {len(found.wrong)} violations, marked on the page")
    if trace.ticks < found.plan.ticks:
        jump = f"in tick {trace.ticks + 1} an agent jumps, or leaves the map"
        say(f"{file}: {jump}: the page shows the {trace.ticks} ticks before")
    return trace
