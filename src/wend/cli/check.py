"""`wend check`: judge every tick of a run or of another tool's plan, or find where two runs begin to differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from wend.cli.shared import Connectivity, CornerCutting, Json, print_json, print_text, say
from wend.errors import ParameterError


def check(
    file: Annotated[Path, typer.Argument(help="A run, a lacam3 log, EECBS paths or a libMultiRobotPlanning YAML.")],
    other: Annotated[Path | None, typer.Argument(help="Another run, which should be the same.")] = None,
    map: Annotated[str | None, typer.Option(help="The map that a foreign plan is for.")] = None,
    scen: Annotated[str | None, typer.Option(help="The scenario that it claims to solve.")] = None,
    connectivity: Connectivity = 8,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Judge every tick of a run or a plan: one line per violation, exit code 1 if there is any.

    With two runs, say in which tick and with which agent they begin to differ: exit code 1 if they do.
    """
    from wend.files import opened
    from wend.world.referee import judge_trace
    from wend.world.trace import LIMIT_BYTES, Trace

    if other is not None:
        _compare(file, other, json=json)
    with opened(file, at_most=LIMIT_BYTES) as binary:
        is_run = binary.read(2) == b"PK"        # how a zip begins
    if is_run:
        trace = Trace.load(file)
        agents, ticks, found = trace.agents, trace.ticks, [str(violation) for violation in judge_trace(trace)]
    else:
        agents, ticks, found = _check_foreign(file, map, scen, connectivity, corner_cutting)
    if json:
        print_json({"file": str(file), "agents": agents, "ticks": ticks, "legal": not found, "violations": found})
    else:
        print_text("".join(f"{line}\n" for line in found))
        say(f"{file}: {agents} agents, {ticks} ticks, {len(found)} violations")
    raise typer.Exit(1 if found else 0)


def _compare(file: Path, other: Path, *, json: bool) -> NoReturn:
    """Say where two runs begin to differ."""
    from wend.world.comparing import first_difference
    from wend.world.trace import Trace

    one = Trace.load(file)
    found = first_difference(one, Trace.load(other))
    if json:
        about = {"tick": found.tick, "agent": found.agent, "what": found.what} if found else None
        print_json({"file": str(file), "other": str(other), "same": found is None, "first_difference": about})
    elif found:
        print_text(f"{found}\n")
    else:
        say(f"{file} and {other}: the same, {one.agents} agents, {one.ticks} ticks")
    raise typer.Exit(1 if found else 0)


def _check_foreign(
    file: Path, map: str | None, scen: str | None, connectivity: int, corner_cutting: bool
) -> tuple[int, int, list[str]]:
    """The agents, ticks and violations of another tool's plan."""
    from wend.interchange.formats import read_plan
    from wend.interchange.plan import check_plan
    from wend.maps.grid import Grid
    from wend.maps.sources import load_scenario

    plan = read_plan(file)
    if map is None:
        raise ParameterError(f"{file} is a {plan.format} plan, which does not carry its map: name it with --map")
    grid = Grid.load(map, connectivity=connectivity, corner_cutting=corner_cutting)
    starts = goals = None
    if scen is not None:
        rows = load_scenario(scen).first(plan.agents).rows
        starts, goals = [row.start for row in rows], [row.goal for row in rows]
    return plan.agents, plan.ticks, check_plan(plan, grid, starts, goals)
