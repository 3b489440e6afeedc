"""`wend replay`: write a page that plays a run or another tool's plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wend.cli.foreign import PlanMap, PlanScen, is_run, judged
from wend.cli.shared import Connectivity, CornerCutting, Json, print_written, say

if TYPE_CHECKING:
    from wend.world.trace import Trace


def replay(
    run: Annotated[Path, typer.Argument(help="A run of Wend, or a plan of another tool (see `wend check`).")],
    html: Annotated[Path, typer.Option(help="The page to write.")],
    map: PlanMap = None,
    scen: PlanScen = None,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Write one self-contained page that plays a run in any browser; of a plan, with all that is wrong with it."""
    from wend.files import check_writable
    from wend.viewer.replay import write_replay
    from wend.world.trace import Trace

    trace = Trace.load(run) if is_run(run) else _of_plan(run, map, scen, connectivity, corner_cutting)
    replaced = check_writable(html, inputs=[run])
    write_replay(trace, html)
    print_written(html, json, replaced=replaced)


def _of_plan(file: Path, map: str | None, scen: str | None, connectivity: int | None, corner_cutting: bool) -> Trace:
    from wend.interchange.plan import to_trace

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
