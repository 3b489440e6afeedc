"""Problem: a grid, and for every agent a start and a goal. Code that is given a Problem need not check it again.

Starts are distinct, goals are distinct, all of them are passable cells, and every agent can reach its goal under the
grid's own rules of movement. An agent may start at its goal, and a cell may be one agent's start and another's goal.
`wend.problems.scenarios` draws problems from a seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wend import arguments
from wend.errors import ParameterError, ProblemError
from wend.maps.grid import Grid
from wend.maps.terrain import Point

if TYPE_CHECKING:
    from wend.maps.movingai import Scenario

# How an error says what a start or a goal is to its agent, and what it is to two agents at once.
_VERBS = {"starts": "starts at", "goals": "has its goal at"}
_SHARED_VERBS = {"starts": "both start at", "goals": "both have their goal at"}


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Where each agent starts, and where it wants to be. Checked when it is made, and read-only.

    >>> grid = Grid.from_text('''
    ...     ...
    ...     @.@
    ... ''')
    >>> Problem.from_points(grid, starts=[(0, 0), (2, 0)], goals=[(2, 0), (1, 1)]).goal_points()
    [(2, 0), (1, 1)]
    """

    grid: Grid                  # shared, not copied: a problem holds for the map as it was
    starts: NDArray[np.int32]   # int32[agents] cells
    goals: NDArray[np.int32]    # int32[agents] cells
    name: str = "problem"
    seed: int | None = None     # what it was drawn from, if it was

    def __post_init__(self) -> None:
        arguments.instance(self.grid, "grid", Grid, "a Grid")
        arguments.instance(self.name, "name", str, "a text")
        object.__setattr__(self, "seed", None if self.seed is None else arguments.whole(self.seed, "seed"))
        starts, goals = _cells("starts", self.starts), _cells("goals", self.goals)
        object.__setattr__(self, "starts", _checked(self.grid, "starts", starts))
        object.__setattr__(self, "goals", _checked(self.grid, "goals", goals))
        if self.starts.size != self.goals.size:
            raise ProblemError(f"{self.starts.size} starts and {self.goals.size} goals: every agent needs one of each")
        apart = np.flatnonzero(self.grid.component[self.starts] != self.grid.component[self.goals])
        if apart.size:
            agent = int(apart[0])
            start, goal = self.grid.xy(int(self.starts[agent])), self.grid.xy(int(self.goals[agent]))
            raise ProblemError(f"agent {agent} cannot reach its goal: no path joins {start} and {goal}")

    @classmethod
    def from_points(
        cls,
        grid: Grid,
        starts: Iterable[Point],
        goals: Iterable[Point],
        *,
        name: str = "problem",
        seed: int | None = None,
    ) -> Problem:
        """Make a problem from (x, y) pairs; agent i goes from the i-th start to the i-th goal."""
        arguments.instance(grid, "grid", Grid, "a Grid")
        return cls(grid, _cells_of_points(grid, "starts", starts), _cells_of_points(grid, "goals", goals), name, seed)

    @classmethod
    def from_scen(cls, grid: Grid, scenario: Scenario | str | Path, *, agents: int) -> Problem:
        """Take the first rows of a scenario, one per agent, as the MAPF benchmarks do.

        The scenario may be named: the path of a `.scen` file, or a name of the data folder (`mapf/den312d-random-1`).
        """
        from wend.maps.movingai import Scenario  # not before: a world without files starts sooner
        from wend.maps.sources import load_scenario

        arguments.instance(grid, "grid", Grid, "a Grid")
        arguments.instance(scenario, "scenario", (Scenario, str, Path), "a Scenario or the name of one")
        if not isinstance(scenario, Scenario):
            scenario = load_scenario(scenario)
        rows = scenario.first(arguments.whole(agents, "agents")).rows
        for number, row in enumerate(rows, start=1):
            if row.width is not None and (row.width, row.height) != (grid.width, grid.height):
                raise ProblemError(
                    f"scenario {scenario.name}, row {number}: made for a map of {row.width} x {row.height}, "
                    f"but this one is {grid.width} x {grid.height}; load {row.map!r} in that size"
                )
        try:
            return cls.from_points(grid, [row.start for row in rows], [row.goal for row in rows], name=scenario.name)
        except ProblemError as error:
            raise ProblemError(f"scenario {scenario.name} (agent 0 is row 1): {error}") from error

    @property
    def agents(self) -> int:
        """The number of agents."""
        return int(self.starts.size)

    def start_points(self) -> list[Point]:
        """Where each agent starts, as (x, y)."""
        return [self.grid.xy(cell) for cell in self.starts.tolist()]

    def goal_points(self) -> list[Point]:
        """Where each agent wants to be, as (x, y)."""
        return [self.grid.xy(cell) for cell in self.goals.tolist()]

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, Problem)
            and (self.name, self.seed) == (other.name, other.seed)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.goals, other.goals)
            and self.grid == other.grid
        )

    __hash__ = None     # type: ignore[assignment]      # as its grid, which can be edited

    def __repr__(self) -> str:
        drawn = "" if self.seed is None else f" (seed {self.seed})"
        return f"<Problem {self.name}{drawn}: {self.agents} agents on {self.grid}>"


def _cells_of_points(grid: Grid, what: str, points: Iterable[Point]) -> NDArray[np.int32]:
    """Turn points into cells. A point off the map is refused here, because its cell would be some other point's."""
    cells = []
    for agent, point in enumerate(arguments.series(points, what, "points (x, y)")):
        try:
            x, y = arguments.point(point, what)
        except ParameterError:
            raise ProblemError(f"agent {agent} {_VERBS[what]} {point!r}, which is no (x, y) of whole numbers") from None
        if not (0 <= x < grid.width and 0 <= y < grid.height):
            size = f"{grid.width} x {grid.height}"
            raise ProblemError(f"agent {agent} {_VERBS[what]} {(x, y)}, off the map, which is {size}")
        cells.append(y * grid.width + x)
    return np.array(cells, dtype=np.int32)


def _cells(what: str, given: ArrayLike) -> NDArray[np.int64]:
    try:
        cells = np.asarray(given)
    except ValueError:
        cells = np.zeros((0, 0))
    if cells.ndim != 1 or (cells.size and cells.dtype.kind not in "iu"):
        raise ProblemError(f"{what} must be a flat array of cells; for (x, y) pairs there is Problem.from_points")
    return cells.astype(np.int64)


def _checked(grid: Grid, what: str, cells: NDArray[np.int64]) -> NDArray[np.int32]:
    """The cells as a read-only copy; an error that names the agent and the place if one cannot be used."""
    off = np.flatnonzero((cells < 0) | (cells >= grid.size))
    if off.size:
        agent = int(off[0])
        place = f"cell {cells[agent]}, off the map, which has {grid.size} cells"
        raise ProblemError(f"agent {agent} {_VERBS[what]} {place}")
    free = grid.free_cells().size
    if cells.size > free:
        raise ProblemError(f"{cells.size} agents do not fit on the map, which has {free} passable cells")
    blocked = np.flatnonzero(~grid.passable.ravel()[cells])
    if blocked.size:
        agent = int(blocked[0])
        raise ProblemError(f"agent {agent} {_VERBS[what]} {grid.xy(int(cells[agent]))}, which is in a wall")
    order = np.argsort(cells, kind="stable")
    again = np.flatnonzero(np.diff(cells[order]) == 0)
    if again.size:
        first, second = order[again[0]], order[again[0] + 1]
        at = grid.xy(int(cells[first]))
        raise ProblemError(f"agents {first} and {second} {_SHARED_VERBS[what]} {at}; {what} must be distinct")
    copy = cells.astype(np.int32)
    copy.flags.writeable = False
    return copy
