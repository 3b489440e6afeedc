"""`wend check`: judge every tick of a run or of another tool's plan, or find where two runs begin to differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from wend.cli.foreign import PlanMap, PlanScen, is_run, judged
from wend.cli.shared import Connectivity, CornerCutting, Json, print_json, print_text, say


def check(
    file: Annotated[Path, typer.Argument(help="A run, a lacam3 log, EECBS paths or a libMultiRobotPlanning YAML.")],
    other: Annotated[Path | None, typer.Argument(help="Another run, which should be the same.")] = None,
    map: PlanMap = None,
    scen: PlanScen = None,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Judge every tick of a run or a plan: one line per violation, exit code 1 if there is any.

    With two runs, say in which tick and with which agent they begin to differ: exit code 1 if they do.
    """
    from wend.world.referee import judge_trace
    from wend.world.trace import Trace

    if other is not None:
        _compare(file, other, json=json)
    if is_run(file):
        trace = Trace.load(file)
        agents, ticks, found = trace.agents, trace.ticks, [str(violation) for violation in judge_trace(trace)]
    else:
        plan = judged(file, map, scen, connectivity, corner_cutting)
        agents, ticks, found = plan.plan.agents, plan.plan.ticks, plan.wrong
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

