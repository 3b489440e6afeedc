"""`wend solve`: bring agents to their goals, and say how well it went."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wend import __version__
from wend.cli.shared import (
    EXIT_INTERRUPTED,
    Connectivity,
    CornerCutting,
    Json,
    compiling_said,
    connectivity_of,
    print_json,
    print_table,
    print_text,
    progress_bar,
    readable,
    say,
    split_words,
)
from wend.errors import ParameterError

if TYPE_CHECKING:
    from wend.maps.grid import Grid
    from wend.planners.base import Planner
    from wend.problems.problem import Problem
    from wend.problems.scenarios import Group
    from wend.run import Run
    from wend.world.world import World

EPILOG = "An algorithm's parameters are flags too, such as --noise 2: `wend algorithms NAME` lists them."

_VIOLATIONS_LISTED = 20
_LARGE_GB = 1.0         # a map that takes more is told of beforehand


def solve(
    context: typer.Context,
    map: Annotated[str, typer.Argument(help="A .map file, a name (bg512/AR0414SR), or a generator (arena:seed=3).")],
    scen: Annotated[str | None, typer.Option(help="A .scen file or a name in the data folder; its first rows.")] = None,
    problem: Annotated[str, typer.Option(help="Drawn from the seed, unless --scen; group: all to one.")] = "random",
    mode: Annotated[str | None, typer.Option(help="The order to a group: move (default) or attack_move.")] = None,
    agents: Annotated[int, typer.Option(help="How many agents.")] = 100,
    algorithm: Annotated[str, typer.Option(help="Which one: see `wend algorithms`; or your module:Class.")] = "auto",
    seed: Annotated[int, typer.Option(help="What the problem and the planner draw from.")] = 0,
    time_limit: Annotated[float | None, typer.Option(help="Stop after this many seconds in ticks.")] = None,
    max_ticks: Annotated[int, typer.Option(help="Stop after this many ticks.")] = 10_000,
    budget: Annotated[int | None, typer.Option(help="Node expansions that the planner may make per tick.")] = None,
    connectivity: Connectivity = None,
    corner_cutting: CornerCutting = False,
    out: Annotated[Path | None, typer.Option(help="Save the run to this file (.wend).")] = None,
    reasons: Annotated[bool, typer.Option("--reasons", help="Save why agents waited, too.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Move nothing; say who surely arrives (mapp).")] = False,
    json: Json = False,
) -> None:
    """Bring agents to their goals, and say how well it went."""
    from wend.files import check_writable
    from wend.maps.grid import Grid
    from wend.maps.memory import require_memory
    from wend.planners import registry
    from wend.problems.problem import Problem
    from wend.run import AT_ONCE, INTERRUPTED, Limits
    from wend.run import solve as run_solve

    entry = registry.find(algorithm)
    words, given = split_words([map, *context.args], entry.parameters(), f"parameter of {algorithm}")
    if len(words) != 1:
        raise ParameterError(f"one map is needed, and this is {len(words)}: {' '.join(words)!r}")
    source = words[0]
    planner = entry.create(**{**(AT_ONCE if algorithm == registry.AUTO else {}), **given})
    if max_ticks < 0 or (time_limit is not None and not time_limit > 0):
        raise ParameterError("--max-ticks is 0 or more, and --time-limit more than 0 seconds")
    is_there = out is not None and check_writable(out, inputs=_inputs(source, scen))
    grid = Grid.load(source, connectivity=connectivity_of(connectivity, scen), corner_cutting=corner_cutting)
    gigabytes = require_memory(grid.width, grid.height, source=source, in_world=True)
    if gigabytes > _LARGE_GB:
        say(f"a map of {grid.width:,} x {grid.height:,} cells: a world on it takes about {gigabytes:.1f} GB")
    task = _task(grid, scen, problem, agents, seed)
    if reasons and out is None:
        raise ParameterError("--reasons are kept in the saved run: it needs --out")
    if mode is not None and isinstance(task, Problem):
        raise ParameterError("--mode is the order to a group: it needs --problem group")
    if explain:
        return _explain(algorithm, planner, task, json)

    limits = Limits(max_ticks=max_ticks, seconds=time_limit)
    failure: OSError | None = None
    with _Watch(entry.title, max_ticks) as watch:    # no interrupt comes between the last tick and the end of saving
        run = run_solve(
            task, planner, limits, seed=seed, mode=mode or "move", budget=budget,
            reasons=reasons, progress=watch.show, stop=watch.was_asked_to_stop,
        )  # fmt: skip
        run.trace.meta.update(
            wend=__version__,
            algorithm=algorithm,
            map=source,
            problem=scen if scen is not None else problem,
            peak_rss_mb=_peak_rss_mb(),
        )
        if out is not None:
            try:
                run.trace.save(out)
            except OSError as error:        # a full disk: the result is printed all the same
                failure = error
    _print_result(run, json)
    if failure is not None:
        raise failure
    if out is not None:
        say(f"replaced {out}" if is_there else f"saved to {out}")
    if run.stopped_by == INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)
    raise typer.Exit(1 if run.violations else 0)


def _inputs(map: str, scen: str | None) -> list[Path]:
    """The files that the map and the scenario come from."""
    from wend.maps.sources import file_at, place_of_map, place_of_scenario

    places = [place_of_map(map), None if scen is None else place_of_scenario(scen)]
    return [file_at(place) for place in places if place is not None]


def _task(grid: Grid, scen: str | None, kind: str, agents: int, seed: int) -> Problem | Group:
    """What is to be solved: rows of a scenario, or a group or a problem that is drawn from the seed."""
    from wend.problems.problem import Problem
    from wend.problems.scenarios import make_group, make_problem

    if scen is not None:
        return Problem.from_scen(grid, scen, agents=agents)
    if kind == "group":
        return make_group(grid, agents=agents, seed=seed, chain="compact")
    return make_problem(kind, grid, agents=agents, seed=seed)


def _explain(algorithm: str, planner: Planner, task: Problem | Group, json: bool) -> None:
    """Print which agents are promised to arrive, and why the others are not."""
    from wend.planners.base import Planner
    from wend.planners.registry import ALGORITHMS
    from wend.problems.problem import Problem
    from wend.world.world import World

    if not isinstance(task, Problem):
        raise ParameterError("--explain is for problems in which every agent has a goal of its own, not for a group")
    World.from_problem(task, planner)       # binds the planner
    promises = planner.promises()
    if promises is None:
        able = [key for key, entry in ALGORITHMS.items() if entry.planner_class().promises is not Planner.promises]
        needed = " or ".join(able)
        raise ParameterError(f"{algorithm} promises nothing beforehand: --explain needs --algorithm {needed}")
    provable = sum(promise.provable for promise in promises)
    if json:
        listed = [{"agent": p.agent, "provable": p.provable, "condition": p.condition, "at": p.at} for p in promises]
        print_json({"agents": len(promises), "provable": provable, "verdicts": listed})
        return
    lines = [str(promise) for promise in promises if not promise.provable]
    print_text("\n".join([*lines, f"{provable} of {len(promises)} agents are provable\n"]))


def _print_result(run: Run, json: bool) -> None:
    from wend.run import INTERRUPTED

    about = run.trace.meta
    result: dict[str, Any] = {
        **{key: about[key] for key in ("algorithm", "parameters", "map", "seed")},
        **run.summary(),
        **{key: about[key] for key in ("stopped_by", "state_hash", "peak_rss_mb")},
        "violations": len(run.violations),
    }
    chosen = about.get("reasons", [])[1:]       # without the one that says that it was to be chosen
    if json:
        print_json({**result, "reasons": chosen} if chosen else result)
    else:
        rows = [(key.replace("_", " "), readable(value)) for key, value in result.items()]
        print_table(f"{about['algorithm']} on {about['map']}", ("", ""), rows)
        for reason in chosen:
            say(reason)
    for violation in run.violations[:_VIOLATIONS_LISTED]:
        say(violation)
    if run.stopped_by == INTERRUPTED:
        say(f"wend: interrupted after {run.trace.ticks} ticks; this is what was computed until then")


def _peak_rss_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


class _Watch:
    """What a person at the terminal sees of a run, and their Ctrl-C.

    While kernels are loaded, Ctrl-C ends the command. Later, the first one ends the run after the tick at hand, and the
    second one in the middle of it; what was computed is kept, and saving it is not interrupted. While a planner
    improves its plan, Ctrl-C ends the improving, and the run goes on with the best plan so far. A process that was
    started with interrupts ignored, as shells start jobs in the background, goes on ignoring them.
    """

    def __init__(self, title: str, max_ticks: int) -> None:
        self._title = title
        self._max_ticks = max_ticks
        self._is_loading = True
        self._world: World | None = None
        self._was_asked = False
        self._has_cut_short = False
        self._handler_before = signal.getsignal(signal.SIGINT)
        self._opened = ExitStack()
        self._loading = ExitStack()

    def __enter__(self) -> _Watch:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("tick {task.completed}")
        self._bar = self._opened.enter_context(progress_bar(*columns, TimeElapsedColumn(), transient=True))
        self._opened.enter_context(_remarks(self._remark))
        self._shown = self._bar.add_task("loading kernels ...", total=None)
        self._loading.enter_context(compiling_said(self._title))
        if self._handler_before != signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loading.__exit__(kind, error, at)
        self._opened.close()
        signal.signal(signal.SIGINT, self._handler_before)

    def _interrupt(self, _: int, frame: FrameType | None) -> None:
        if self._is_loading:
            raise KeyboardInterrupt
        if self._world is not None and self._world.planner.is_improving():
            raise KeyboardInterrupt
        if self._was_asked and not self._has_cut_short and _is_in_tick(frame):
            self._has_cut_short = True
            raise KeyboardInterrupt
        self._was_asked = True

    def _remark(self, remark: str, is_warning: bool) -> None:
        """Show what a planner says of its work, above the bar where there is one."""
        if self._is_loading and not is_warning:
            return
        if self._bar.disable:
            say(remark)
        else:
            self._bar.console.print(remark, markup=False)

    def was_asked_to_stop(self) -> bool:
        return self._was_asked

    def show(self, world: World) -> None:
        """Called before the first tick and after every tick."""
        if self._is_loading:
            self._is_loading = False
            self._loading.close()
            self._world = world
            self._bar.reset(self._shown, total=self._max_ticks, description="")
        if world.ticks % 10 == 0 and not self._bar.disable:
            said = f"{world.home_count()}/{world.agents} home"
            self._bar.update(self._shown, completed=world.ticks, description=said)


@contextmanager
def _remarks(show: Callable[[str, bool], None]) -> Iterator[None]:
    """Pass what planners log about their work on, meanwhile."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            show(record.getMessage(), record.levelno >= logging.WARNING)

    handler, logger = Handler(logging.INFO), logging.getLogger("wend")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def _is_in_tick(frame: FrameType | None) -> bool:
    """Whether a tick of a world is under way."""
    from wend.world.world import World

    while frame is not None and frame.f_code is not World.tick.__code__:
        frame = frame.f_back
    return frame is not None
