"""`wend check`: judge every tick of a run or of another tool's plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wend.cli.foreign import PlanMap, PlanScen, is_run, judged
from wend.cli.shared import Connectivity, CornerCutting, Json, print_json, print_text, say


def check(
    file: Annotated[Path, typer.Argument(help="A run, a lacam3 log, EECBS paths or a libMultiRobotPlanning YAML.")],
    map: PlanMap = None,
    scen: PlanScen = None,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Judge every tick of a run or a plan: one line per violation, exit code 1 if there is any."""
    from wend.world.referee import judge_trace
    from wend.world.trace import Trace

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
