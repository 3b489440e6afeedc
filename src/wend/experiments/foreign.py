"""Results of other solvers, as rows beside ours. Their columns: docs/formats/results.md.

A file of results is CSV with a header, or JSON with a list of objects. A row names a problem of the experiment and says
what a solver made of it; or it names a plan file, and the referee and our own measures say it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from wend.errors import FormatError, UnknownNameError, WendError
from wend.experiments.jobs import load_grid, load_problem
from wend.experiments.spec import Job, Spec
from wend.experiments.store import COLUMNS, SCHEMA, Row
from wend.files import parse_json, read_bytes
from wend.interchange.formats import read_plan
from wend.interchange.plan import check_plan, to_trace
from wend.metrics import MEASURES, measure
from wend.metrics.agents import over_bound
from wend.problems.problem import Problem
from wend.search.flood import move_distances

NEEDED = ("map", "scen", "agents", "solver")
TEXTS = ("map", "scen", "solver", "plan", "cpu")
OPTIONAL = ("solved", "sum_of_costs", "makespan", "seconds", "plan", "cpu")

_MAX_BYTES = 2**26
_YES_NO = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_NOT_OF_PLANS = {name for name, each in MEASURES.items() if each.clock} | {"expansions"}    # a plan does not tell


@dataclass(frozen=True)
class ForeignRow:
    """One row of a file."""

    place: int                  # its line in a CSV file, its number in a JSON file
    values: dict[str, Any]      # by column, without empty ones


def rows_of(path: Path, spec: Spec) -> tuple[list[Row], int]:
    """The rows of a file that are about problems of the experiment, and how many others there are."""
    jobs = _problems(spec)
    rows: dict[str, Row] = {}
    others = 0
    for entry in _entries(path, spec):
        job = jobs.get(_key(*(entry.values[name] for name in ("map", "scen", "agents"))))
        if job is None:
            others += 1
            continue
        row = _row(path, entry, spec, job)
        if row["id"] in rows:
            raise FormatError(path, f"{row['label']} has two rows on this problem: one is needed", line=entry.place)
        rows[row["id"]] = row
    if not rows:
        sizes = sorted({f"{job['scen']} with {job['agents']} agents" for job in jobs.values()})
        known = f"the experiment has, for example, {sizes[0]}" if sizes else "the experiment has no scenarios"
        raise FormatError(path, f"none of its {others} rows is about a problem of {spec.store}: {known}")
    return list(rows.values()), others


def _problems(spec: Spec) -> dict[tuple[str, str, int], Job]:
    """A job for each problem of the experiment that comes from a scenario."""
    jobs = (job for scale in spec.scales for job in spec.jobs(scale))
    return {_key(job["map"], job["scen"], job["agents"]): job for job in jobs if job["scen"]}


def _key(map: str, scen: str, agents: int) -> tuple[str, str, int]:
    """A problem by bare names: solvers are given files, and the experiment names of the data folder."""
    return _bare(map), _bare(scen), agents


def _bare(name: str) -> str:
    """A name without folders and endings."""
    return PurePosixPath(name.replace("\\", "/")).name.removesuffix(".scen").removesuffix(".map")


# --- reading ---------------------------------------------------------------------------------------------------------


def _entries(path: Path, spec: Spec) -> Iterator[ForeignRow]:
    known = [*NEEDED, *OPTIONAL, *(name for name in spec.metrics if name not in OPTIONAL)]
    for place, found in _records(path):
        given = {column: value for column, value in found.items() if value is not None and str(value).strip()}
        for column in found:
            if column not in known:
                raise FormatError(path, str(UnknownNameError("column", str(column), known)), line=place)
        for column in NEEDED:
            if column not in given:
                raise FormatError(path, f"the column {column!r} is missing or empty", line=place)
        values = {column: _value(path, place, column, value) for column, value in given.items()}
        if "plan" not in values and "solved" not in values:
            raise FormatError(path, "either `solved` or `plan` is needed", line=place)
        yield ForeignRow(place, values)


def _records(path: Path) -> Iterable[tuple[int, dict[Any, Any]]]:
    """The rows with their places."""
    data = read_bytes(path, at_most=_MAX_BYTES)
    if data.lstrip()[:1] in (b"[", b"{"):
        found = parse_json(data, path)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise FormatError(path, "a list of objects is needed, one for each result")
        return enumerate(found, start=1)
    try:
        text = data.decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restkey="too many columns")
        return [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(path, f"neither CSV in UTF-8 nor JSON: {error}") from None


def _value(path: Path, place: int, column: str, given: Any) -> Any:
    """What stands in a cell, as the type that its column has."""
    text = str(given).strip()
    if column in TEXTS:
        return text
    if column == "solved":
        if text.lower() not in _YES_NO:
            raise FormatError(path, f"solved is true or false, not {text[:24]!r}", line=place)
        return _YES_NO[text.lower()]
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0 or (column == "agents" and number != int(number)):
        raise FormatError(path, f"{column} is a number of at least 0, not {text[:24]!r}", line=place)
    return int(number) if column == "agents" else number


# --- a row -----------------------------------------------------------------------------------------------------------


def _row(path: Path, entry: ForeignRow, spec: Spec, job: Job) -> Row:
    """A row of the store from what a file says, or from the plan that it names."""
    values = entry.values
    problem = load_problem(load_grid(job["map"], job["connectivity"], job["corner_cutting"]), job)
    try:
        found, violations = _of_plan(path.parent / values["plan"], problem, spec) if "plan" in values else ({}, None)
        solved = bool(found.get("all_home", values.get("solved")))      # what is judged counts, not what is claimed
        measured = _of_claims(values, problem, solved=solved) | found
    except WendError as error:
        raise FormatError(path, str(error), line=entry.place) from None
    measured |= {name: values[name] for name in spec.metrics if name in values and name not in OPTIONAL}
    about = {
        "id": _id(job, values["solver"]),
        "experiment": spec.store,
        "map": job["map"],
        "problem": job["scen"],
        "agents": job["agents"],
        "instance": job["instance"],
        "algorithm": "",
        "label": values["solver"],
        "stopped_by": "done" if measured["all_home"] else "",
        "violations": violations,
        "cpu": values.get("cpu", ""),
        "schema": SCHEMA,
    }
    return {**dict.fromkeys(COLUMNS), **about, **{name: measured.get(name) for name in spec.metrics}}


def _id(job: Job, solver: str) -> str:
    named = "\0".join((job["map"], job["scen"], str(job["agents"]), solver))
    return f"foreign-{hashlib.blake2b(named.encode(), digest_size=10).hexdigest()}"


def _of_claims(values: dict[str, Any], problem: Problem, *, solved: bool) -> dict[str, float | None]:
    """Our metrics, from what a row says. Costs count only where the problem was solved."""
    seconds = values.get("seconds")
    found: dict[str, float | None] = {"all_home": float(solved), "plan_seconds": seconds}
    if not solved:
        return found
    shortest = [
        int(move_distances(problem.grid, goal)[0][start])
        for start, goal in zip(problem.starts.tolist(), problem.goals.tolist(), strict=True)
    ]
    found |= {"completion_rate": 1.0, "completed": float(problem.agents), "first_solution_seconds": seconds}
    for name, ratio, bound in (
        ("sum_of_costs", "soc_ratio", sum(shortest)),
        ("makespan", "makespan_ratio", max(shortest, default=0)),
    ):
        cost = values.get(name)
        if cost is not None and cost < bound:
            rules = f"moves in {problem.grid.connectivity} directions"
            raise FormatError(name, f"{cost:g} is below the lower bound of {bound} ({rules}): is it the same problem?")
        found |= {name: cost, ratio: None if cost is None else over_bound(cost, bound)}
    return found


def _of_plan(path: Path, problem: Problem, spec: Spec) -> tuple[dict[str, float | None], int]:
    """Our metrics of a plan, and how often it is wrong. A plan that is wrong anywhere solves nothing."""
    plan = read_plan(path)
    if plan.agents != problem.agents:
        raise FormatError(path, f"moves {plan.agents} agents, and the problem has {problem.agents}")
    goals = problem.goal_points()
    wrong = check_plan(plan, problem.grid, problem.start_points(), goals)
    if wrong:
        return {"all_home": 0.0}, len(wrong)
    trace = to_trace(plan, problem.grid, goals)
    names = {"all_home", *spec.metrics} - _NOT_OF_PLANS
    return {name: measure(trace, name) for name in names if name in MEASURES}, 0
