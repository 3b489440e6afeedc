"""Runs and plan files for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from wend.errors import FormatError
from wend.interchange.formats import read_plan
from wend.interchange.plan import Plan
from wend.maps.grid import Grid
from wend.maps.terrain import DIRECTION_NAMES, Point
from wend.world.trace import ABSENT, Event, Trace

READ_BACK = ("lacam", "eecbs", "yaml")
OPEN = "....\n" * 3

TWO_AGENTS = [((0, 0), (2, 1), "E - E S"), ((3, 2), (3, 1), "- N - -")]

ROOM = """
    ....
    .@..
    ....
"""

CIRCLE: list[Point] = [(2, 0), (3, 0), (3, 1), (2, 1)]
MARCH: list[list[Point]] = [    # four in a circle, and two in a file, of whom the second steps where the first stood
    *([*CIRCLE[k:], *CIRCLE[: k + 1]] for k in range(4)),
    [(1, 2), (2, 2), (3, 2), (3, 2), (3, 2)],
    [(0, 2), (1, 2), (2, 2), (2, 2), (2, 2)],
]


def trace_of(
    grid: Grid, agents: list[tuple[Point, Point, str]], *, events: list[Event] | None = None, **meta: object
) -> Trace:
    """A run of agents given as (start, goal, moves), moves being directions and `-` for a wait, parted by blanks."""
    codes = {"-": 0, "gone": ABSENT} | {name: 1 + d for d, name in enumerate(DIRECTION_NAMES)}
    moves = np.array([[codes[move] for move in moves.split()] for _, _, moves in agents], dtype=np.uint8).T
    added = [
        Event(0, "added", agent, {"at": list(start), "goal": list(goal), "asked": list(goal)})
        for agent, (start, goal, _) in enumerate(agents)
    ]
    ticks = len(moves)
    return Trace(grid, moves, added + (events or []), np.full(ticks, 2.5), np.full(ticks, 7, dtype=np.int64), meta)


def random_walk(seed: int, *, agents: int = 5, ticks: int = 12) -> Trace:
    """Agents that walk at random through each other, each with the place where it ends as its goal."""
    rng = np.random.default_rng(seed)
    grid = Grid(rng.random((7, 9)) < 0.8)
    free = grid.free_cells()
    walks = []
    for cell in rng.choice(free, agents).tolist():
        start, moves = grid.xy(cell), []
        for _ in range(ticks):
            legal = [d for d in range(8) if int(grid.tables.moves[cell]) >> d & 1]
            d = int(rng.choice([-1, *legal]))
            moves.append("-" if d < 0 else DIRECTION_NAMES[d])
            cell += 0 if d < 0 else int(grid.tables.offset[d])
        walks.append((start, grid.xy(cell), " ".join(moves)))
    return trace_of(grid, walks)


def lacam(paths: list[list[Point]]) -> str:
    rows = zip(*paths, strict=True)
    return "".join(f"{t}:" + "".join(f"({x},{y})," for x, y in row) + "\n" for t, row in enumerate(rows))


def eecbs(paths: list[list[Point]]) -> str:
    return "".join(f"Agent {i}: " + "".join(f"({y},{x})->" for x, y in path) + "\n" for i, path in enumerate(paths))


def schedule(paths: list[list[Point]]) -> str:
    agents = {
        f"agent{i}": [{"x": x, "y": y, "t": t} for t, (x, y) in enumerate(path)] for i, path in enumerate(paths)
    }
    return yaml.safe_dump({"statistics": {"cost": 1}, "schedule": agents}, sort_keys=False)


TEXTS = {"lacam": lacam, "eecbs": eecbs, "yaml": schedule}


def plan_from(folder: Path, text: str | bytes) -> Plan:
    file = folder / "plan"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_plan(file)


def assert_refused(text: str, line: int | None, reason: str, folder: Path) -> None:
    """Reading ends in an error that names the file, the line and the reason, and does not repeat all of the file."""
    with pytest.raises(FormatError, match=reason) as caught:
        plan_from(folder, text)
    assert str(folder / "plan") in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(folder))
    if line is not None:
        assert caught.value.line == line
