"""What the writers share: a run seen as a plan, and the pieces of text that several formats have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.search.flood import move_distances
from wend.world.trace import Trace


@dataclass(frozen=True, eq=False)
class Course:
    """A run as plan files see it: it ends when the last agent has come to its goal for good."""

    trace: Trace
    positions: NDArray[np.int64]    # [ticks + 1, agents, 2] (x, y)
    goals: NDArray[np.int32]        # [agents] cells
    costs: NDArray[np.int64]        # [agents] ticks until it stays on its goal; all ticks if it is not on it at the end
    loss: int                       # ticks that agents did not spend waiting on their goals
    solved: bool

    @property
    def ticks(self) -> int:
        """How many joint moves the plan makes."""
        return len(self.positions) - 1

    def paths(self) -> Iterator[list[Point]]:
        """The places of each agent until it stays on its goal."""
        for agent, cost in enumerate(self.costs.tolist()):
            yield [(x, y) for x, y in self.positions[: cost + 1, agent].tolist()]

    def lower_bounds(self, grid: Grid) -> list[int]:
        """The fewest moves that would bring each agent to its goal if it were alone; 0 where none would."""
        starts = [grid.cell(*point) for point in self.trace.starts()]
        return [
            max(int(move_distances(grid, goal)[0][start]), 0)
            for start, goal in zip(starts, self.goals.tolist(), strict=True)
        ]


def course_of(trace: Trace) -> Course:
    """Look at a run as a plan; a ParameterError if it is none."""
    if trace.agents == 0:
        raise ParameterError("a run without agents cannot be written as a plan")
    edit = next(trace.events_of("blocked", "unblocked"), None)
    if edit is not None:
        raise ParameterError(f"the map was edited at tick {edit.tick}: plan files know one map for the whole run")
    cells = trace.positions()
    away = np.argwhere(cells < 0)       # NO_CELL or OFF_MAP
    if away.size:
        tick, agent = away[0].tolist()
        raise ParameterError(
            f"agent {agent} is not on the map at tick {tick}: plan files hold every agent from the first tick to the "
            "last, so a run in which agents are added later or removed cannot be written as one"
        )
    goals = np.array([trace.grid.cell(*goal) for goal in trace.goals()], dtype=np.int32)
    off_goal = cells != goals
    after_last_off = trace.ticks + 1 - np.argmax(off_goal[::-1], axis=0)
    costs = np.where(off_goal.any(axis=0), np.minimum(after_last_off, trace.ticks), 0)
    end = int(costs.max())
    kept = cells[: end + 1]
    return Course(
        trace=trace,
        positions=np.stack([kept % trace.grid.width, kept // trace.grid.width], axis=-1).astype(np.int64),
        goals=goals,
        costs=costs,
        loss=int((off_goal[:end] | off_goal[1 : end + 1]).sum()),
        solved=not off_goal[-1].any(),
    )


def meta_line(trace: Trace, key: str, default: object = "") -> str:
    """An entry of the trace's meta, on one line."""
    value = trace.meta.get(key)
    return " ".join(str(default if value is None else value).split())


def last_part(name: str) -> str:
    """`mapf/den312d` and `maps/den312d.map` are both the map den312d."""
    return name.replace("\\", "/").rpartition("/")[2].removesuffix(".map")


def in_brackets(points: Iterable[Iterable[int]], after_each: str) -> str:
    """Each pair in round brackets, followed by that text."""
    return "".join(f"({a},{b}){after_each}" for a, b in points)
