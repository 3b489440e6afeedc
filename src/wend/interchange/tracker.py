"""A results row of the MAPF Tracker: CSV with a letter per move, in which `u` is row + 1. Written only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from wend.errors import ParameterError
from wend.interchange.writing import course_of, last_part, meta_line
from wend.maps.movingai import MAPF_SCENARIO
from wend.world.trace import Trace

_LETTERS = "wdrul"      # by code of the trace: wait, N, E, S, W; the tracker's rows count upwards


def write(trace: Trace) -> Iterator[str]:
    """The text of the file, piece by piece; a run that is no such plan is a ParameterError."""
    course = course_of(trace)
    if not course.solved:
        raise ParameterError("the run does not end with every agent on its goal: the MAPF Tracker takes solutions only")
    moves = trace.moves[: course.ticks]
    diagonal = np.argwhere(moves >= len(_LETTERS))
    if diagonal.size:
        tick, agent = diagonal[0].tolist()
        raise ParameterError(
            f"agent {agent} moves diagonally in tick {tick + 1}: the MAPF Tracker knows 4-connected moves only, "
            "so solve the problem with connectivity 4"
        )
    scenario = MAPF_SCENARIO.match(last_part(meta_line(trace, "problem")))
    map_name, scen_type, type_id = scenario.groups() if scenario else (last_part(meta_line(trace, "map")), "", "")
    lines = (
        "".join(_LETTERS[code] for code in moves[:cost, agent].tolist())
        for agent, cost in enumerate(course.costs.tolist())
    )
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["map_name", "scen_type", "type_id", "agents", "lower_cost", "solution_cost", "solution_plan"])
    lower_cost = sum(course.lower_bounds(trace.grid.with_rules(connectivity=4)))
    writer.writerow(
        [map_name, scen_type, type_id, trace.agents, lower_cost, int(course.costs.sum()), "\n".join(lines)]
    )
    yield table.getvalue()
