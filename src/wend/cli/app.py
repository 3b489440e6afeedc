"""The command line: parses, calls, prints.

Standard output carries results, standard error carries talk. With `--json` a command prints one JSON object on standard
output and nothing else there. Exit codes: 0 done, 1 the answer is no, 2 bad use or bad input, 130 interrupted.

Nothing heavy is imported before a command needs it: `wend --help` must not wait for the compiler.
"""

from __future__ import annotations

import json as json_module
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from wend import __version__
from wend.errors import ParameterError, UnknownNameError, WendError

if TYPE_CHECKING:
    from rich.console import Console

    from wend.experiments.runner import Tally
    from wend.maps.grid import Grid
    from wend.planners.base import Parameter, Planner
    from wend.problems.problem import Problem
    from wend.world.trace import Trace
    from wend.world.world import World

INTERRUPTED = 130

app = typer.Typer(
    name="wend",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Move many units through a game map, in real time, without jams.",
)
maps_app = typer.Typer(help="Maps of our own, drawn from a seed.", invoke_without_command=True)
data_app = typer.Typer(help="The data folder with benchmark maps.", no_args_is_help=True)
app.add_typer(maps_app, name="maps")
app.add_typer(data_app, name="data")

FREE_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else there.")]
Connectivity = Annotated[int, typer.Option(help="8 for diagonal moves as well, 4 for none.")]
CornerCutting = Annotated[bool, typer.Option("--corner-cutting", help="Diagonals may pass blocked cells.")]


def main() -> None:
    """Entry point of the `wend` command."""
    try:
        app()
    except WendError as error:
        _fail(str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}")


def _fail(message: str) -> NoReturn:
    print(f"wend: {message}", file=sys.stderr)
    sys.exit(2)


def _talk() -> Console:
    """Where progress and remarks go."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def _print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; nothing in it is read as markup."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*columns, title=escape(title), title_justify="left")
    for row in rows:
        table.add_row(*(escape(word) for word in row))
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)


def _print_json(value: Any) -> None:
    print(json_module.dumps(value, allow_nan=False))


# --- wend solve ------------------------------------------------------------------------------------------------------


@app.command(
    context_settings=FREE_WORDS,
    epilog="An algorithm's parameters are flags too, such as --noise 2: `wend algorithms NAME` lists them.",
)
def solve(
    context: typer.Context,
    map: Annotated[str, typer.Argument(help="A .map file, a name (bg512/AR0414SR), or a generator (arena:seed=3).")],
    scen: Annotated[str | None, typer.Option(help="A .scen file or a name in the data folder; its first rows.")] = None,
    problem: Annotated[str, typer.Option(help="Drawn from the seed, unless --scen; group: all to one.")] = "random",
    mode: Annotated[str | None, typer.Option(help="The order to a group: move (default) or attack_move.")] = None,
    agents: Annotated[int, typer.Option(help="How many agents.")] = 100,
    algorithm: Annotated[str, typer.Option(help="Which one: see `wend algorithms`.")] = "weave",
    seed: Annotated[int, typer.Option(help="What the problem and the planner draw from.")] = 0,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds in ticks.")] = None,
    max_ticks: Annotated[int, typer.Option(help="Stop after so many ticks.")] = 10_000,
    budget: Annotated[int | None, typer.Option(help="Node expansions that the planner may make per tick.")] = None,
    connectivity: Connectivity = 8,
    corner_cutting: CornerCutting = False,
    out: Annotated[Path | None, typer.Option(help="Save the run to this file (.wend).")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Move nobody; say who will surely arrive (mapp).")] = False,
    json: Json = False,
) -> None:
    """Bring agents to their goals, and say how well it went."""
    from wend.files import check_writable
    from wend.maps.grid import Grid
    from wend.planners import registry
    from wend.world.world import World, warm_up

    entry = registry.find(algorithm)
    words, given = _split_words([map, *context.args], entry.parameters(), f"parameter of {algorithm}")
    source = _only(words, "map")
    planner = entry.create(**given)
    if max_ticks < 0 or (time_limit is not None and not time_limit > 0):
        raise ParameterError("--max-ticks is 0 or more, and --time-limit more than 0 seconds")
    if out is not None:
        check_writable(out)
    grid = Grid.load(source, connectivity=connectivity, corner_cutting=corner_cutting)
    task = None if problem == "group" and scen is None else _problem(grid, scen, problem, agents, seed)
    if mode is not None and task is not None:
        raise ParameterError("--mode is the order to a group: it needs --problem group")
    if explain and task is None:
        raise ParameterError("--explain is for problems in which every agent has a goal of its own, not for a group")
    if explain and task is not None:
        return _explain(algorithm, task, given, json)
    talk = _talk()
    with talk.status("loading kernels (some seconds on the first run of a version) ..."):
        warm_up(planner)
    if task is None:
        world = _ordered_group(grid, planner, agents, seed, mode or "move")
    else:
        world = World.from_problem(task, planner, seed=seed, on_violation="record")
    with _progress(talk, max_ticks) as progress:
        try:
            stopped_by = world.run(max_ticks=max_ticks, time_limit_s=time_limit, budget=budget, progress=progress)
        except KeyboardInterrupt:
            stopped_by = "interrupted"
    trace = world.trace(
        wend=__version__,
        algorithm=algorithm,
        parameters={p.name: getattr(planner, p.name) for p in planner.parameters()},
        map=source,
        problem=scen if scen is not None else problem,
        seed=seed,
        stopped_by=stopped_by,
        state_hash=world.state_hash(),
        violations=[str(violation) for violation in world.violations],
        plan_seconds=sum(world.trace().plan_ms) / 1000,
        time_limit=time_limit,
        budget=budget,
        peak_rss_mb=_peak_rss_mb(),
    )
    _print_result(trace, json)
    if out is not None:
        trace.save(out)
        print(f"saved to {out}", file=sys.stderr)
    if stopped_by == "interrupted":
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(1 if world.violations else 0)


def _explain(algorithm: str, task: Problem, given: dict[str, Any], json: bool) -> None:
    """Print who is promised to arrive, and why the others are not."""
    if algorithm != "mapp":
        raise ParameterError(f"{algorithm} promises nothing beforehand: --explain needs --algorithm mapp")
    from wend.planners.mapp.mapp import provable

    verdicts = provable(task, **given)
    if json:
        listed = [{"agent": v.agent, "provable": v.provable, "condition": v.condition, "at": v.at} for v in verdicts]
        _print_json({"agents": len(verdicts), "provable": sum(v.provable for v in verdicts), "verdicts": listed})
        return
    for verdict in verdicts:
        if not verdict.provable:
            print(verdict)
    print(f"{sum(v.provable for v in verdicts)} of {len(verdicts)} agents are provable")


def _problem(grid: Grid, scen: str | None, kind: str, agents: int, seed: int) -> Problem:
    from wend.maps.sources import load_scenario
    from wend.problems.problem import Problem
    from wend.problems.scenarios import make_problem

    if scen is not None:
        return Problem.from_scen(grid, load_scenario(scen), agents=agents)
    return make_problem(kind, grid, agents=agents, seed=seed)


def _ordered_group(grid: Grid, planner: Planner, agents: int, seed: int, mode: str) -> World:
    """A world in which a crowd has been ordered to one place."""
    from wend.problems.scenarios import make_group
    from wend.world.world import World

    group = make_group(grid, agents=agents, seed=seed, chain="compact")
    world = World(grid, planner, seed=seed, on_violation="record")
    world.order_group([world.add(start) for start in group.starts], group.target, mode)
    return world


def _print_result(trace: Trace, json: bool) -> None:
    from wend import metrics

    result = {
        **{key: trace.meta[key] for key in ("algorithm", "parameters", "map", "seed")},
        **metrics.summary(trace),
        **{key: trace.meta[key] for key in ("stopped_by", "state_hash", "peak_rss_mb")},
        "violations": len(trace.meta["violations"]),
    }
    if json:
        _print_json(result)
    else:
        title = f"{trace.meta['algorithm']} on {trace.meta['map']}"
        _print_table(title, ("", ""), [(key.replace("_", " "), _shown(value)) for key, value in result.items()])
    for violation in trace.meta["violations"][:20]:
        print(violation, file=sys.stderr)
    if trace.meta["stopped_by"] == "interrupted":
        print(f"wend: interrupted after {trace.ticks} ticks; this is what was computed until then", file=sys.stderr)


def _shown(value: Any) -> str:
    """A number or a small object as people read it."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(part)}" for key, part in value.items()) or "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _peak_rss_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


@contextmanager
def _progress(talk: Console, max_ticks: int) -> Iterator[Callable[[World], None]]:
    """A progress bar, and a Ctrl-C that waits for the end of the tick; a second one does not wait."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    asked_to_stop = False

    def stop(*_: object) -> None:
        nonlocal asked_to_stop
        if asked_to_stop:
            raise KeyboardInterrupt
        asked_to_stop = True

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("tick {task.completed}"), TimeElapsedColumn())
    before = signal.signal(signal.SIGINT, stop)
    try:
        with Progress(*columns, console=talk, transient=True, disable=not talk.is_terminal) as bar:
            shown = bar.add_task("", total=max_ticks)

            def report(world: World) -> None:
                if asked_to_stop:
                    raise KeyboardInterrupt
                if world.ticks % 10 == 0 and talk.is_terminal:
                    bar.update(shown, completed=world.ticks, description=f"{world.home_count()}/{world.agents} home")

            yield report
    finally:
        signal.signal(signal.SIGINT, before)


# --- free words: parameters of algorithms and generators -------------------------------------------------------------


def _split_words(words: list[str], known: Sequence[Parameter], kind: str) -> tuple[list[str], dict[str, Any]]:
    """Part `--name value`, `--name=value`, `--flag` and `--no-flag` from the other words."""
    by_name = {p.name: p for p in known}
    rest: list[str] = []
    given: dict[str, Any] = {}
    queue = iter(words)
    for word in queue:
        if not word.startswith("--"):
            rest.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        off = name.startswith("no_") and name not in by_name and name[3:] in by_name and by_name[name[3:]].type is bool
        name = name[3:] if off else name
        if name not in by_name:
            raise UnknownNameError(kind, word[2:].partition("=")[0], [n.replace("_", "-") for n in by_name])
        if by_name[name].type is bool and not equals:
            value = "false" if off else "true"
        elif not equals:
            try:
                value = next(queue)
            except StopIteration:
                raise ParameterError(f"{word} needs a value") from None
        given[name] = by_name[name].parse(value)
    return rest, given


def _only(words: list[str], what: str) -> str:
    if len(words) != 1:
        raise ParameterError(f"one {what} is needed, and this is {len(words)}: {' '.join(words)!r}")
    return words[0]


# --- wend check, export, replay --------------------------------------------------------------------------------------


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A run, a lacam3 log, EECBS paths or a libMultiRobotPlanning YAML.")],
    map: Annotated[str | None, typer.Option(help="The map that a foreign plan is for.")] = None,
    scen: Annotated[str | None, typer.Option(help="The scenario that it claims to solve.")] = None,
    connectivity: Connectivity = 8,
    corner_cutting: CornerCutting = False,
    json: Json = False,
) -> None:
    """Judge every tick of a run or a plan: one line per violation, exit code 1 if there is any."""
    import zipfile

    from wend.world.referee import judge_trace
    from wend.world.trace import Trace

    if not file.is_file():
        raise ParameterError(f"{file}: there is no such file")
    if zipfile.is_zipfile(file):
        trace = Trace.load(file)
        agents, ticks, found = trace.agents, trace.ticks, [str(violation) for violation in judge_trace(trace)]
    else:
        agents, ticks, found = _check_foreign(file, map, scen, connectivity, corner_cutting)
    if json:
        _print_json({"file": str(file), "agents": agents, "ticks": ticks, "legal": not found, "violations": found})
    else:
        for line in found:
            print(line)
        print(f"{file}: {agents} agents, {ticks} ticks, {len(found)} violations", file=sys.stderr)
    raise typer.Exit(1 if found else 0)


def _check_foreign(
    file: Path, map: str | None, scen: str | None, connectivity: int, corner_cutting: bool
) -> tuple[int, int, list[str]]:
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


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="A run of Wend.")],
    format: Annotated[str, typer.Option(help="lacam, eecbs, yaml or tracker.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    json: Json = False,
) -> None:
    """Write a run in the format of another tool."""
    from wend.interchange.formats import write_plan
    from wend.world.trace import Trace

    write_plan(Trace.load(run), format, out)
    _print_written(out, json)


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="A run of Wend.")],
    html: Annotated[Path, typer.Option(help="The page to write.")],
    json: Json = False,
) -> None:
    """Write one self-contained page that plays a run in any browser."""
    from wend.viewer.replay import write_replay
    from wend.world.trace import Trace

    write_replay(Trace.load(run), html)
    _print_written(html, json)


def _print_written(path: Path, json: bool) -> None:
    if json:
        _print_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        print(path.resolve())


# --- wend bench, report ----------------------------------------------------------------------------------------------

Out = Annotated[Path | None, typer.Option(help="The results folder; results/NAME by default.")]
Baseline = Annotated[str | None, typer.Option(help="The algorithm that tables show differences to.")]


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(help="An experiment; without it they are listed.")] = None,
    scale: Annotated[str, typer.Option(help="quick (minutes), standard (an hour), full (the paper's size).")] = "quick",
    jobs: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    cluster: Annotated[str | None, typer.Option(help="The address of a running Dask scheduler, instead.")] = None,
    out: Out = None,
    baseline: Baseline = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed jobs again.")] = False,
    json: Json = False,
) -> None:
    """Run an experiment, or what is missing of it, and report."""
    _needs_experiments()
    from wend.experiments.runner import run_experiment
    from wend.experiments.spec import list_specs, load_spec

    if name is None:
        return _print_specs({known: load_spec(known).title for known in list_specs()}, json)
    spec = load_spec(name)
    folder = out or Path("results") / spec.store
    with _bench_progress(spec.name) as progress:
        tally = run_experiment(
            spec, scale, out=folder, workers=jobs, cluster=cluster, retry_failed=retry_failed, progress=progress
        )
    said = f"{tally.ran} jobs run, {tally.failed} of them failed, {tally.kept} were done before; results in {folder}"
    print(said, file=sys.stderr)
    _print_report(spec.name if name == spec.name else name, folder, scale, baseline, json, html=None, markdown=None)
    return None


@app.command()
def report(
    name: Annotated[str, typer.Argument(help="An experiment, such as silver/figures.")],
    out: Out = None,
    scale: Annotated[str | None, typer.Option(help="Which scale; by default the largest that is complete.")] = None,
    baseline: Baseline = None,
    html: Annotated[Path | None, typer.Option(help="Write the report to this page, one file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the report's tables to this file.")] = None,
    json: Json = False,
) -> None:
    """Put the results beside the paper's: tables, figures, and which of its sentences hold."""
    _needs_experiments()
    _print_report(name, out, scale, baseline, json, html, markdown)


def _print_report(
    name: str,
    out: Path | None,
    scale: str | None,
    baseline: str | None,
    json: bool,
    html: Path | None,
    markdown: Path | None,
) -> None:
    from rich.console import Console

    from wend.experiments.report import make_report
    from wend.experiments.spec import load_spec
    from wend.experiments.store import Store
    from wend.files import replacing

    spec = load_spec(name)
    made = make_report(spec, Store(out or Path("results") / spec.store), scale=scale, baseline=baseline)
    for path, text in ((html, made.to_html), (markdown, made.to_markdown)):
        if path is not None:
            with replacing(path) as file:
                file.write(text().encode())
            print(f"written to {path}", file=sys.stderr)
    if json:
        _print_json(made.to_json())
    else:
        made.print(Console(highlight=False, width=None if sys.stdout.isatty() else 120))


def _needs_experiments() -> None:
    """Say what to install where the extra is not."""
    from importlib.util import find_spec

    missing = [module for module in ("duckdb", "joblib", "matplotlib", "pyarrow") if find_spec(module) is None]
    if missing:
        raise ParameterError(f"experiments need {', '.join(missing)}: pip install 'wend[experiments]'")


def _print_specs(titles: dict[str, str], json: bool) -> None:
    if json:
        _print_json({"experiments": titles})
    else:
        _print_table("Experiments", ("name", "what it measures"), list(titles.items()))


@contextmanager
def _bench_progress(name: str) -> Iterator[Callable[[Tally], None]]:
    """A progress bar with an estimate of what is left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    talk = _talk()
    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    with Progress(*columns, console=talk, disable=not talk.is_terminal) as bar:
        shown = bar.add_task(name, total=None)
        yield lambda tally: bar.update(shown, total=tally.total - tally.kept, completed=tally.ran)


# --- wend algorithms, maps, data, version ----------------------------------------------------------------------------


@app.command()
def algorithms(
    name: Annotated[str | None, typer.Argument(help="One of them, to see its parameters.")] = None, json: Json = False
) -> None:
    """List the algorithms, or one with its parameters."""
    from wend.planners import registry

    chosen = [registry.find(name)] if name is not None else list(registry.ALGORITHMS.values())
    if json:
        _print_json({"algorithms": [_described(entry) for entry in chosen]})
        return
    for entry in chosen if name is not None else []:
        flags = [(f"--{p.name.replace('_', '-')}", _shown(p.default), p.help) for p in entry.parameters()]
        _print_table(f"{entry.title} ({entry.paper})", ("flag", "default", "what it sets"), flags)
    if name is None:
        rows = [(e.key, e.title, "yes" if e.online else "no", e.summary, e.paper) for e in chosen]
        _print_table("Algorithms", ("name", "algorithm", "online", "what it does", "paper"), rows)


def _described(entry: Any) -> dict[str, Any]:
    parameters = [
        {"name": p.name, "type": p.type.__name__, "default": p.default, "help": p.help,
         "minimum": p.minimum, "maximum": p.maximum, "choices": p.choices}
        for p in entry.parameters()
    ]  # fmt: skip
    about = {key: getattr(entry, key) for key in ("key", "title", "summary", "paper", "online")}
    return {**about, "preset": dict(entry.preset), "parameters": parameters}


@maps_app.callback()
def maps(context: typer.Context, json: Json = False) -> None:
    """List the generators of maps."""
    if context.invoked_subcommand is not None:
        return
    from wend.maps import generators as mapgen

    known = {kind: mapgen.parameters(kind) for kind in mapgen.GENERATORS}
    if json:
        _print_json({"generators": known})
        return
    rows = [
        (kind, ", ".join(f"{name}={value}" for name, value in defaults.items()), _first_line(mapgen.GENERATORS[kind]))
        for kind, defaults in known.items()
    ]
    _print_table("Generators", ("kind", "parameters and defaults", "what it draws"), rows)


def _first_line(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().splitlines()[0]


@maps_app.command(context_settings=FREE_WORDS, epilog="Parameters are flags: wend maps generate rooms --seed 3")
def generate(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="Which generator: see `wend maps`.")],
    out: Annotated[Path | None, typer.Option(help="The .map file to write; without it the map is printed.")] = None,
    json: Json = False,
) -> None:
    """Draw a map from a seed."""
    from wend.maps import generators as mapgen
    from wend.planners.base import Parameter

    known = [Parameter(name, type(value), value, "") for name, value in mapgen.parameters(kind).items()]
    words, given = _split_words(context.args, known, f"parameter of {kind}")
    if words:
        raise ParameterError(f"what is {' '.join(words)!r}? Parameters are written --name value")
    grid = mapgen.generate(kind, **given)
    if out is not None:
        grid.save(out)
    if json:
        about = {"kind": kind, "width": grid.width, "height": grid.height, "passable": int(grid.passable.sum())}
        _print_json({**about, "rows": None if out else grid.to_text().splitlines()})
    elif out is not None:
        _print_written(out, json)
    else:
        print(grid.to_text(), end="")


@data_app.command("add")
def data_add(
    source: Annotated[Path, typer.Argument(help="A zip of the MovingAI site, or a folder with .map and .scen files.")],
    json: Json = False,
) -> None:
    """Copy maps and scenarios into the data folder."""
    from wend.maps import data

    _print_sets([data.add(source)], json)


@data_app.command("list")
def data_list(json: Json = False) -> None:
    """List what the data folder holds."""
    from wend.maps import data

    _print_sets(data.list_sets(), json)


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(metavar="SET", help="A set of the MovingAI site, such as bg512.")],
    url: Annotated[str | None, typer.Option(help="A mirror to download from.")] = None,
    json: Json = False,
) -> None:
    """Download a set of maps from the MovingAI site into the data folder."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from wend.maps import data

    talk = _talk()
    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=talk, transient=True, disable=not talk.is_terminal) as bar:
        shown = bar.add_task(name, total=None)
        fetched = data.fetch(
            name, base_url=url, progress=lambda have, total: bar.update(shown, completed=have, total=total)
        )
    _print_sets([fetched], json)


def _print_sets(sets: Sequence[Any], json: bool) -> None:
    from wend.maps import data

    if json:
        listed = [{"name": s.name, "maps": s.maps, "scens": s.scens, "files": [str(f) for f in s.files]} for s in sets]
        _print_json({"folder": str(data.data_folder()), "sets": listed})
        return
    rows = [(s.name, str(s.maps), str(s.scens)) for s in sets]
    _print_table(f"Data folder {data.data_folder()}", ("set", "maps", "scenarios"), rows)


@app.command()
def version(json: Json = False) -> None:
    """Print the version."""
    if json:
        _print_json({"wend": __version__})
    else:
        print(__version__)
