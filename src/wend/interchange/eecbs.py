"""The path file of EECBS: a line per agent, with places as `(row,col)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError
from wend.interchange.plan import Plan
from wend.interchange.reading import EXCERPT, filled, numbered_lines, parse_places
from wend.interchange.writing import course_of, in_brackets
from wend.world.trace import Trace

SIGN = re.compile(r"Agent [0-9]")       # how such a file begins
_AGENT = re.compile(r"Agent ([0-9]{1,9}):\s*")


def read(file: TextIO, path: str | Path) -> Plan:
    """Read the plan; a file that holds none is a FormatError."""
    paths: list[NDArray[np.int32]] = []
    for number, line in numbered_lines(file, path):
        agent = _AGENT.match(line)
        if not agent:
            raise FormatError(path, f"expected `Agent {len(paths)}:`, found {line[:EXCERPT]!r}", line=number)
        if int(agent[1]) != len(paths):
            raise FormatError(path, f"agent {int(agent[1])} stands where agent {len(paths)} belongs", line=number)
        rows_and_columns = parse_places(line[agent.end() :], "->", "(row,col)", path, number)
        paths.append(rows_and_columns[:, ::-1])
    return Plan("eecbs", filled(paths, path), None, None, {})


def write(trace: Trace) -> Iterator[str]:
    """The text of the file, piece by piece; a run that is no such plan is a ParameterError."""
    for agent, path in enumerate(course_of(trace).paths()):
        yield f"Agent {agent}: {in_brackets(((y, x) for x, y in path), '->')}\n"
