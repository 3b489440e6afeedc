# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Parametrized real-time heuristic search: one agent that sees its neighbours only, and learns as it goes.

V. Bulitko: Evolving Real-Time Heuristic Search Algorithms (2016), as printed in D. Sigurdson, "Automatic Algorithm
Selection in Videogame Pathfinding" (MSc thesis, University of Alberta, 2018), Algorithm 1.

The agent raises the heuristic value of the cell where it stands to what its neighbours promise, and steps to the
neighbour that promises most. Six parameters say how it learns; some of their settings are algorithms with names of
their own (`Configuration.name`). The look-ahead is one move.

| Algorithm 1                     | here                   |
|---------------------------------|------------------------|
| l. 4-5, L of the least learning | `_least_learned`       |
| l. 7, lop over L_b^f            | `_promise`             |
| l. 8-9, expendable, removal     | `_prunable`, `_prune`  |
| all, and the move of l. 10      | `walk`                 |

h, h0: learned and first heuristic value. near: h of the neighbours that the agent may go to, infinite for others.

Deviations: none that the thesis decides. Where it is silent: f has the weight wc in the order and in the learning, the
move has none; b keeps the first max(1, floor(b * neighbours)); with da, the agent learns from the cells that it may go
to, and whether a cell is expendable is asked of all its neighbours; a removed cell still counts as free ground beside a
diagonal; ties go to the first direction clockwise from north; and a walk ends after MAX_MOVES, when it has cost
MAX_RATIO times the shortest path, or when h is too large for a number.

Costs are exact: a diagonal costs DIAGONAL_COST / CARDINAL_COST, so sums of moves are free of rounding, ties are ties,
and "has learned" means that h has grown. A walk leaves the workspace as it found it, so thousands of configurations can
share one. Cells here have a rim of one cell around the map, so that no neighbour is ever looked for off the map.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend import arguments
from wend.errors import UnknownNameError
from wend.kernel import FOUND, OUT_OF_BUDGET, jit
from wend.kernel.arrays import allocate, flags, float64, int32, record, uint8
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, DX, DY, Point
from wend.search.astar import Path, shortest_path

LOPS = ("min", "avg", "median", "max")
MAX_MOVES = 1_000_000
MAX_RATIO = 10_000.0

CLOCKWISE = (0, 4, 1, 5, 2, 6, 3, 7)        # the grid's directions, clockwise from north
DIAGONAL = DIAGONAL_COST / CARDINAL_COST    # exact: a multiple of 2**-32
_COST = (1.0, DIAGONAL, 1.0, DIAGONAL, 1.0, DIAGONAL, 1.0, DIAGONAL)
_INFINITE = math.inf
_SAME = 1e-9                                # amounts of learning that differ by less are equal
_MIN, _AVG, _MEDIAN = 0, 1, 2               # places in LOPS

# Why a walk ended before the goal; FOUND and OUT_OF_BUDGET are the other answers of `walk`.
TOO_MANY_MOVES, TOO_COSTLY, TOO_LARGE = -11, -12, -13
STOPPED_BY = {FOUND: "goal", TOO_MANY_MOVES: "moves", TOO_COSTLY: "cost", TOO_LARGE: "overflow"}


class Landscape(NamedTuple):
    """A map and a goal, as all walks to it see them. Directions are clockwise, cells those of a map with a rim."""

    goal: int
    moves: Annotated[np.ndarray, uint8("cells")]        # bit k set: the move in direction k is legal
    offset: Annotated[np.ndarray, int32(8)]             # what direction k adds to a cell
    h0: Annotated[np.ndarray, float64("cells")]         # cost to the goal on an empty map
    prunable: Annotated[np.ndarray, flags(1 << 16)]     # by legal moves << 8 | moves to cells that are left


class Mind(NamedTuple):
    """What the agent has made of it. Between two walks it is empty, which is h = h0 and left = moves."""

    h: Annotated[np.ndarray, float64("cells")]
    left: Annotated[np.ndarray, uint8("cells")]         # the legal moves that lead to cells which are not removed
    learned: Annotated[np.ndarray, int32("cells")]      # the cells whose h has grown
    removed: Annotated[np.ndarray, int32("cells")]      # the cells that are removed, in the order of removal
    near: Annotated[np.ndarray, float64(8)]             # by direction: h there, infinite where the agent may not go
    f: Annotated[np.ndarray, float64(8)]                # what each of these neighbours promises, in ascending order
    trail: Annotated[np.ndarray, int32("moves")]        # where the last call of `walk` led
    job: Annotated[
        np.ndarray,
        record(
            "cell",         # where the agent is
            "moves",        # made so far
            "diagonals",    # among them
            "learned",      # number of cells in `learned`
            "removed",      # number of cells in `removed`
            "stranded",     # how often removals left the agent without a move and were taken back
        ),
    ]


class Settings(NamedTuple):
    """Configurations as kernels read them."""

    w: Annotated[np.ndarray, float64("configurations")]
    wc: Annotated[np.ndarray, float64("configurations")]
    kept: Annotated[np.ndarray, int32("configurations", 9)]     # of so many neighbours, how many are learned from
    lop: Annotated[np.ndarray, int32("configurations")]         # place in LOPS
    da: Annotated[np.ndarray, flags("configurations")]
    expendable: Annotated[np.ndarray, flags("configurations")]


@dataclass(frozen=True)
class Configuration:
    """One setting of the six parameters; the default is LRTA*."""

    w: float = 1.0              # weight of what is learned
    wc: float = 1.0             # weight of the cost of a move in what is learned
    b: float = 0.0              # share of the neighbours that is learned from, the best first; 0: the best alone
    lop: str = "min"            # what is learned from them: min, avg, median or max
    da: bool = False            # avoid depressions: go where least was learned
    expendable: bool = False    # remove cells that no path needs

    def __post_init__(self) -> None:
        for name in ("w", "wc"):
            object.__setattr__(self, name, arguments.number(getattr(self, name), name, low=1, finite=True))
        object.__setattr__(self, "b", arguments.number(self.b, "b", low=0, high=1))
        if self.lop not in LOPS:
            raise UnknownNameError("lop", str(self.lop), LOPS)
        for name in ("da", "expendable"):
            object.__setattr__(self, name, arguments.flag(getattr(self, name), name))

    @property
    def name(self) -> str:
        """What the algorithm is called: LRTA*, and what was added to it."""
        parts = [
            ("weighted", self.w > 1 or self.wc > 1),
            ("lateral", self.b > 0 and self.lop != "min"),      # the min of some is that of all
            ("depression-avoiding", self.da),
            ("pruning", self.expendable),
        ]
        return " ".join([*(word for word, is_so in parts if is_so), "LRTA*"])


def random_configurations(count: int, seed: int) -> list[Configuration]:
    """So many configurations, drawn uniformly from the thesis's space: w and wc from 1 to 10, the others from all."""
    rng = np.random.default_rng(arguments.whole(seed, "seed", low=0))
    return [
        Configuration(
            w=float(rng.uniform(1, 10)),
            wc=float(rng.uniform(1, 10)),
            b=float(rng.uniform(0, 1)),
            lop=LOPS[int(rng.integers(len(LOPS)))],
            da=bool(rng.integers(2)),
            expendable=bool(rng.integers(2)),
        )
        for _ in range(arguments.whole(count, "count", low=1))
    ]


# --- setting up ------------------------------------------------------------------------------------------------------


def make_landscape(grid: Grid) -> Landscape:
    """A map as walks see it, without a goal yet."""
    across = grid.width + 2
    ring = np.zeros((grid.height, grid.width), np.uint8)
    table = grid.tables.moves.reshape(ring.shape)
    for k, d in enumerate(CLOCKWISE):
        ring |= (table >> d & 1) << k
    moves = np.zeros((grid.height + 2, across), np.uint8)
    moves[1:-1, 1:-1] = ring
    offset = np.array([DY[d] * across + DX[d] for d in CLOCKWISE], np.int32)
    prunable = _prunable(grid.connectivity == 8, grid.corner_cutting)
    given = {"goal": 0, "moves": moves.ravel(), "offset": offset, "prunable": prunable}
    return allocate(Landscape, given, cells=moves.size)


def make_mind(land: Landscape, *, trail: int = 4096) -> Mind:
    """An empty mind for this map, which knows no goal yet."""
    mind = allocate(Mind, cells=land.moves.size, moves=trail)
    mind.left[:] = land.moves
    return mind


def with_goal(grid: Grid, land: Landscape, mind: Mind, goal: Point) -> Landscape:
    """The same map with another goal, and a mind, which is empty, that believes what it says. Mutates: mind."""
    x = np.abs(np.arange(-1, grid.width + 1) - goal[0])
    y = np.abs(np.arange(-1, grid.height + 1) - goal[1])[:, None]
    minor = grid.tables.minor / CARDINAL_COST
    land.h0.reshape(y.size, x.size)[...] = np.maximum(x, y) + minor * np.minimum(x, y)
    mind.h[:] = land.h0
    return land._replace(goal=rimmed(grid, goal))


def rimmed(grid: Grid, point: Point) -> int:
    """The cell of a point on the map with its rim."""
    return (point[1] + 1) * (grid.width + 2) + point[0] + 1


def make_settings(configurations: list[Configuration]) -> Settings:
    """These configurations for kernels."""
    settings = allocate(Settings, configurations=len(configurations))
    for k, configuration in enumerate(configurations):
        settings.w[k], settings.wc[k] = configuration.w, configuration.wc
        settings.kept[k] = [max(1, math.floor(configuration.b * count)) for count in range(9)]
        settings.lop[k] = LOPS.index(configuration.lop)
        settings.da[k], settings.expendable[k] = configuration.da, configuration.expendable
    return settings


@functools.cache
def _prunable(eight: bool, cutting: bool) -> NDArray[np.bool_]:
    """By legal moves << 8 | moves to cells that are left: whether paths among these cells join all of them."""
    moves = np.arange(1 << 16, dtype=np.int64)
    free, left = moves >> 8, moves & 255
    joined = left & -left               # grows from the first of them
    for _ in range(8 if eight else 0):  # without diagonals no two of them touch
        for k in range(8):
            here = joined >> k & 1
            for side in (1, 7):
                joined = joined | here << (k + side) % 8 & left
                if k % 2 == 0:          # over a diagonal, which needs the cell in the corner
                    passable = 1 if cutting else free >> (k + side) % 8 & 1
                    joined = joined | (here & passable) << (k + 2 * side) % 8 & left
    return np.asarray(joined == left)


# --- the walk --------------------------------------------------------------------------------------------------------


@jit
def begin(mind, start):
    """Put the agent, whose mind is empty, on its start. Mutates: mind."""
    job = mind.job[0]
    job.cell, job.moves, job.diagonals, job.learned, job.removed, job.stranded = start, 0, 0, 0, 0, 0


@jit
def forget(land, mind):
    """Empty the mind again. Mutates: mind."""
    job = mind.job[0]
    for k in range(job.learned):
        mind.h[mind.learned[k]] = land.h0[mind.learned[k]]
    _restore(land, mind)


@jit
def _restore(land, mind):
    """Take all removals back. Mutates: mind."""
    for k in range(mind.job[0].removed):
        cell = mind.removed[k]
        for d in range(8):
            beside = cell + land.offset[d]
            if land.moves[beside] >> (d ^ 4) & 1:
                mind.left[beside] |= 1 << (d ^ 4)
    mind.job[0].removed = 0


@jit
def _prune(land, mind, cell):
    """Remove a cell: no move leads there any more. Mutates: mind."""
    for d in range(8):
        mind.left[cell + land.offset[d]] &= ~(1 << (d ^ 4)) & 255
    mind.removed[mind.job[0].removed] = cell
    mind.job[0].removed += 1


@jit
def _least_learned(land, mind, cell):
    """Keep the neighbours of which least was learned (l. 4-5); return their number. Mutates: mind.near."""
    near, h0, offset = mind.near, land.h0, land.offset
    least = _INFINITE
    for k in range(8):
        least = min(least, near[k] - h0[cell + offset[k]])
    count = 0
    for k in range(8):
        is_kept = near[k] - h0[cell + offset[k]] <= least + _SAME
        count += is_kept
        near[k] = near[k] if is_kept else _INFINITE
    return count


@jit
def _sort(f):
    """Sort eight numbers, by a network of 19 comparisons. Mutates: f."""
    for i, j in _NETWORK:
        low, high = min(f[i], f[j]), max(f[i], f[j])
        f[i], f[j] = low, high


_NETWORK = (
    (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7), (0, 1), (2, 3), (4, 5), (6, 7),
    (2, 4), (3, 5), (1, 4), (3, 6), (1, 2), (3, 4), (5, 6),
)  # fmt: skip


@jit
def _promise(mind, wc, lop, kept):
    """What the `kept` best neighbours promise together (l. 7). Mutates: mind.f."""
    f, near = mind.f, mind.near
    if lop == _MIN or kept == 1:
        least = _INFINITE
        for k in range(8):
            least = min(least, wc * _COST[k] + near[k])
        return least
    for k in range(8):
        f[k] = wc * _COST[k] + near[k]
    _sort(f)
    if lop == _AVG:
        total = 0.0
        for k in range(kept):
            total += f[k]
        return total / kept
    if lop == _MEDIAN:
        return (f[(kept - 1) >> 1] + f[kept >> 1]) / 2
    return f[kept - 1]


@jit
def walk(land, mind, settings, configuration, max_moves, max_cost):
    """Go on until the goal (FOUND), a limit, or the end of the trail (OUT_OF_BUDGET); Alg. 1. Mutates: mind."""
    h, left, near, trail, job = mind.h, mind.left, mind.near, mind.trail, mind.job[0]
    offset, goal = land.offset, land.goal
    w, wc, lop = settings.w[configuration], settings.wc[configuration], settings.lop[configuration]
    da, expendable = settings.da[configuration], settings.expendable[configuration]
    cell, moves, diagonals = job.cell, job.moves, job.diagonals
    answer, made = OUT_OF_BUDGET, 0
    while made < trail.size:
        if cell == goal:
            answer = FOUND
            break
        if moves >= max_moves:
            answer = TOO_MANY_MOVES
            break
        if moves + diagonals * (DIAGONAL - 1) > max_cost:
            answer = TOO_COSTLY
            break
        bits = left[cell]
        if bits == 0:
            _restore(land, mind)
            job.stranded += 1
            bits = left[cell]
        count = 0
        for k in range(8):
            is_open = bits >> k & 1
            count += is_open
            near[k] = h[cell + offset[k]] if is_open else _INFINITE
        if da:                                                          # l. 4-5
            count = _least_learned(land, mind, cell)
        before = h[cell]                                                # l. 6
        after = w * _promise(mind, wc, lop, settings.kept[configuration, count])
        if after > before:                                              # l. 7
            if after == _INFINITE:
                answer = TOO_LARGE
                break
            if before == land.h0[cell]:
                mind.learned[job.learned] = cell
                job.learned += 1
            h[cell] = after
            if expendable and land.prunable[np.int64(land.moves[cell]) << 8 | bits]:
                _prune(land, mind, cell)                              # l. 8-9
        best, towards = _INFINITE, 0
        for k in range(8):                                              # l. 10
            f = _COST[k] + near[k]
            if f < best:
                best, towards = f, k
        cell += offset[towards]
        diagonals += towards & 1
        moves += 1
        trail[made] = cell
        made += 1
    job.cell, job.moves, job.diagonals = cell, moves, diagonals
    return answer


@jit
def walk_all(land, mind, settings, start, max_moves, max_cost, answers):
    """Walk with every configuration in turn, from an empty mind each time. Mutates: mind, answers."""
    for configuration in range(settings.w.size):
        begin(mind, start)
        answer = OUT_OF_BUDGET
        while answer == OUT_OF_BUDGET:
            answer = walk(land, mind, settings, configuration, max_moves, max_cost)
        job = mind.job[0]
        answers.answer[configuration] = answer
        answers.moves[configuration] = job.moves
        answers.diagonals[configuration] = job.diagonals
        answers.removed[configuration] = job.removed
        answers.stranded[configuration] = job.stranded
        forget(land, mind)


# --- in a program ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Walk:
    """What became of an agent. `rths` makes one."""

    configuration: Configuration
    path: tuple[Point, ...]     # where it was, from the start on
    optimal: float              # cost of a shortest path
    pruned: int                 # cells that it removed
    stopped_by: str             # goal | moves | cost | overflow

    @property
    def reached(self) -> bool:
        """Whether the agent came to its goal."""
        return self.stopped_by == "goal"

    @property
    def moves(self) -> int:
        """Number of moves."""
        return len(self.path) - 1

    @property
    def travelled(self) -> float:
        """Cost of these moves."""
        return Path(self.path, 0).cost

    @property
    def suboptimality(self) -> float:
        """Travelled cost over optimal cost; 1 where the agent starts at its goal."""
        return self.travelled / self.optimal if self.optimal else 1.0

    def __repr__(self) -> str:
        where = "goal reached" if self.reached else f"stopped by {self.stopped_by}"
        return f"<Walk of {self.configuration.name}: {where}, {self.moves} moves, {self.suboptimality:.4g} x optimal>"


def rths(grid: Grid, start: Point, goal: Point, **parameters: Any) -> Walk:
    """Walk from start to goal by real-time heuristic search; the parameters are those of `Configuration`.

    >>> grid = Grid.from_text("......\\n.####.\\n....#.\\n.####.\\n......")
    >>> rths(grid, (0, 2), (5, 2)), rths(grid, (0, 2), (5, 2), w=2).suboptimality
    (<Walk of LRTA*: goal reached, 21 moves, 2.333 x optimal>, 1.6666666666666667)
    """
    known = [field.name for field in fields(Configuration)]
    for name in parameters:
        if name not in known:
            raise UnknownNameError("parameter of rths", name, known)
    configuration = Configuration(**parameters)
    optimal = shortest_path(grid, start, goal).cost     # the points and the path between them are checked here
    start, goal = arguments.point(start, "start"), arguments.point(goal, "goal")
    land, settings = make_landscape(grid), make_settings([configuration])
    mind = make_mind(land)
    land = with_goal(grid, land, mind, goal)
    begin(mind, rimmed(grid, start))
    trails, answer = [np.array([rimmed(grid, start)], np.int32)], OUT_OF_BUDGET
    while answer == OUT_OF_BUDGET:
        before = int(mind.job[0].moves)
        answer = walk(land, mind, settings, 0, MAX_MOVES, MAX_RATIO * optimal)
        trails.append(mind.trail[: int(mind.job[0].moves) - before].copy())
    cells = np.concatenate(trails)
    across = grid.width + 2
    path = zip((cells % across - 1).tolist(), (cells // across - 1).tolist(), strict=True)
    return Walk(configuration, tuple(path), optimal, int(mind.job[0].removed), STOPPED_BY[answer])


class Answers(NamedTuple):
    """How the walks of all configurations ended."""

    answer: Annotated[np.ndarray, int32("configurations")]      # a key of STOPPED_BY
    moves: Annotated[np.ndarray, int32("configurations")]
    diagonals: Annotated[np.ndarray, int32("configurations")]
    removed: Annotated[np.ndarray, int32("configurations")]
    stranded: Annotated[np.ndarray, int32("configurations")]

    @property
    def travelled(self) -> NDArray[np.float64]:
        """What each walk cost."""
        return np.asarray(self.moves - self.diagonals + math.sqrt(2) * self.diagonals)


class Walker:
    """Walks on one map with many configurations; what it needs for that is set up once."""

    def __init__(self, grid: Grid, configurations: list[Configuration]) -> None:
        self._grid = grid
        self._land = make_landscape(grid)
        self._mind = make_mind(self._land)
        self._settings = make_settings(configurations)

    def walks(self, start: Point, goal: Point) -> tuple[float, Answers]:
        """The cost of a shortest path, and how each configuration got from start to goal."""
        optimal = shortest_path(self._grid, start, goal).cost
        self._land = with_goal(self._grid, self._land, self._mind, goal)
        answers = allocate(Answers, configurations=self._settings.w.size)
        begun = rimmed(self._grid, start)
        walk_all(self._land, self._mind, self._settings, begun, MAX_MOVES, MAX_RATIO * optimal, answers)
        return optimal, answers
