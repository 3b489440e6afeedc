"""The log of lacam3, which mapf-visualizer shows: a header of `key=value`, then the places `(x,y)` tick by tick."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError
from wend.interchange.plan import Plan
from wend.interchange.reading import EXCERPT, as_points, numbered_lines, parse_integer, parse_places
from wend.interchange.writing import course_of, in_brackets, last_part, meta_line
from wend.world.trace import Trace

SIGN = re.compile(r"[A-Za-z_]+=|[0-9]+:\(")     # how such a file begins
_TICK = re.compile(r"([0-9]{1,9}):")


def read(file: TextIO, path: str | Path) -> Plan:
    """Read the plan; a file that holds none is a FormatError."""
    meta: dict[str, str] = {}
    listed: dict[str, NDArray[np.int32]] = {}
    rows: list[NDArray[np.int32]] = []
    agents: int | None = None       # as the first line with agents says; the others must agree
    for number, line in numbered_lines(file, path):
        key, equals, value = line.partition("=")
        tick = _TICK.match(line)
        if tick:
            if int(tick[1]) != len(rows):
                raise FormatError(path, f"tick {int(tick[1])} stands where tick {len(rows)} belongs", line=number)
            rows.append(parse_places(line[tick.end() :], ",", "(x,y)", path, number))
            count = len(rows[-1])
        elif not equals or rows:
            raise FormatError(path, f"expected `key=value` or `tick:(x,y),`, found {line[:EXCERPT]!r}", line=number)
        elif key in ("starts", "goals"):
            listed[key] = parse_places(value, ",", "(x,y)", path, number)
            count = len(listed[key])
        elif key == "agents":
            meta[key] = value
            count = parse_integer(value, "agents", path, number)
        else:
            meta[key] = value
            continue
        if agents is None:
            agents = count
        elif count != agents:
            raise FormatError(path, f"{count} agents here, {agents} in the lines before", line=number)
    if not rows:
        raise FormatError(path, "the log ends without a solution: there is no plan in it to check")
    meta.pop("solution", None)      # the headline of the rows
    return Plan("lacam", np.stack(rows), as_points(listed.get("starts")), as_points(listed.get("goals")), meta)


def write(trace: Trace) -> Iterator[str]:
    """The text of the file, piece by piece; a run that is no such plan is a ParameterError."""
    course = course_of(trace)
    bounds = course.lower_bounds(trace.grid)
    name = last_part(meta_line(trace, "map"))
    header = {
        "agents": trace.agents,
        "map_file": name and f"{name}.map",
        "solver": meta_line(trace, "algorithm"),
        "solved": int(course.solved),
        "soc": int(course.costs.sum()),
        "soc_lb": sum(bounds),
        "makespan": course.ticks,
        "makespan_lb": max(bounds),
        "sum_of_loss": course.loss,
        "sum_of_loss_lb": sum(bounds),
        "comp_time": f"{float(trace.plan_ms.sum()):.3f}",
        "seed": meta_line(trace, "seed", 0),
        "starts": in_brackets(trace.starts(), ","),
        "goals": in_brackets(trace.goals(), ","),
        "solution": "",
    }
    yield "".join(f"{key}={value}\n" for key, value in header.items())
    for tick, places in enumerate(course.positions):
        yield f"{tick}:{in_brackets(places.tolist(), ',')}\n"
