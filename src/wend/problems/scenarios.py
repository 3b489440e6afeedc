"""Problems drawn from a seed: the thesis's seven types, and the jams; and groups that are sent to one place.

    make_problem("swap-sides", grid, agents=300, seed=1)
    make_group(grid, agents=50, seed=1)

The seven types are those of D. Sigurdson, "Automatic Algorithm Selection in Videogame Pathfinding" (MSc thesis,
University of Alberta, 2018). The thesis has one sentence for each; the precise form here is ours. In all of them C is
the largest component of the map, and regions are shares of its bounding box, so that a type looks alike on all maps.
"Nearest" counts moves (breadth-first search under the grid's own rules). A region that holds fewer cells than there are
agents grows by a tenth at a time. No agent starts at its own goal; one agent's start may be another's goal.

The jams are for the maps of the same names in `wend.mapgen`, or any map of that shape: rooms joined by something
narrower. Agents start and end in the half of a room that is farthest from the other rooms, so no goal is in a
doorway, and there is space to let others pass. `docs/problems.md` describes every kind.

The groups are those of E. Wicks Rivas, R. Souza: "Map Marker". The paper draws its three scenarios without
dimensions; those here reproduce its average path lengths to all five decimals. Of its groups on StarCraft maps it says
only that a unit is placed "adjacent to the previous agent"; the three ways to do so here are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.errors import ProblemError, UnknownNameError
from wend.maps.grid import Grid
from wend.maps.masks import opened
from wend.maps.parameters import MAX_NARROW, MAX_SEED, whole
from wend.maps.terrain import Point
from wend.problems.problem import Problem
from wend.search.flood import move_distances

STRIP = 0.2     # share of the box that a side takes
RING = 0.15     # share of the box that the outside takes, on each side
GROWTH = 1.1    # a region that is too small grows by this factor at a time
TRIES = 100     # how many second clusters are drawn before one may overlap the first

Cells = NDArray[np.int32]
Pairs = tuple[Cells, Cells]     # starts and goals; agent i goes from the i-th to the i-th


def make_problem(kind: str, grid: Grid, *, agents: int, seed: int) -> Problem:
    """Draw a problem of that kind. The same arguments give the same problem on every machine.

    It is drawn from the seed and the number of agents together: with another number, all of them are elsewhere.
    """
    if kind not in PROBLEMS:
        raise UnknownNameError("kind of problem", kind, PROBLEMS)
    agents = whole("agents", agents, 1, 2**31 - 1)
    seed = whole("seed", seed, 0, MAX_SEED)
    starts, goals = PROBLEMS[kind](grid, agents, np.random.default_rng((seed, agents)))
    return Problem(grid, starts, goals, name=kind, seed=seed)


# --- the seven types ---------------------------------------------------------------------------------------------


def random(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """Starts and goals anywhere in C."""
    cells = _playground(grid, agents)
    return _matched(_draw(rng, cells, agents), lambda: _draw(rng, cells, agents))


def cross_sides(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """All agents go from one side of the map to the opposite one."""
    here, there = _two_sides(grid, agents, rng)
    return _matched(_draw(rng, here, agents), lambda: _draw(rng, there, agents))


def swap_sides(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """Half of the agents go from one side to the opposite one, the others come the other way."""
    here, there = _two_sides(grid, agents, rng)
    going = (agents + 1) // 2

    def from_both(first: Cells, second: Cells) -> Cells:
        """Distinct cells: first those of the agents on the first side, then those of the agents on the second."""
        drawn = _draw(rng, first, going)
        return np.concatenate([drawn, _draw(rng, np.setdiff1d(second, drawn), agents - going)])

    return _matched(from_both(here, there), lambda: from_both(there, here))


def inside_out(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """From the middle of the map to its outer ring."""
    cells = _playground(grid, agents)
    x, y = cells.astype(np.int64) % grid.width, cells.astype(np.int64) // grid.width
    # Twice the offset from the box's centre is a whole number, so ties are ties, and the lowest cell wins them.
    off_centre = (2 * x - x.min() - x.max()) ** 2 + (2 * y - y.min() - y.max()) ** 2
    middle = _nearest(grid, int(cells[off_centre.argmin()]), 3 * agents)
    ring = cells[_region(np.minimum.reduce([*_from_sides(x), *_from_sides(y)]), RING, agents)]
    return _matched(_draw(rng, middle, agents), lambda: _draw(rng, ring, agents))


def outside_in(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """From the outer ring of the map to its middle: inside-out, backwards."""
    starts, goals = inside_out(grid, agents, rng)
    return goals, starts


def tight_to_tight(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """From one dense cluster to another, far away."""
    here, there = _two_clusters(grid, agents, rng)
    starts, goals = _nearest(grid, here, agents), _nearest(grid, there, agents)
    return _matched(_draw(rng, starts, agents), lambda: _draw(rng, goals, agents))


def tight_to_wide(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """From a dense cluster to a loose one, far away."""
    here, there = _two_clusters(grid, agents, rng)
    starts, area = _nearest(grid, here, agents), _nearest(grid, there, 6 * agents)
    return _matched(_draw(rng, starts, agents), lambda: _draw(rng, area, agents))


# --- the jams ----------------------------------------------------------------------------------------------------


def counterflow(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """Two rooms exchange their agents through what joins them."""
    one, other = _places(grid, _rooms(grid, 2))
    return _streams(rng, agents, [(one, other), (other, one)])


def crossing(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """Four rooms around a crossing; each sends its agents to the room opposite."""
    places = _places(grid, _rooms(grid, 4))
    x = [float(np.mean(cells % grid.width)) for cells in places]
    y = [float(np.mean(cells // grid.width)) for cells in places]
    west, east, north, south = (places[int(k)] for k in (np.argmin(x), np.argmax(x), np.argmin(y), np.argmax(y)))
    return _streams(rng, agents, [(west, east), (north, south), (east, west), (south, north)])


def door(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """The smaller of two rooms is emptied into the larger one; starts are anywhere in the room."""
    rooms = _rooms(grid, 2)
    smaller = int(rooms[1].size < rooms[0].size)
    return _streams(rng, agents, [(rooms[smaller], _places(grid, rooms)[1 - smaller])])


# --- by name -----------------------------------------------------------------------------------------------------

SEVEN_TYPES: dict[str, Callable[[Grid, int, np.random.Generator], Pairs]] = {
    "random": random,
    "cross-sides": cross_sides,
    "swap-sides": swap_sides,
    "inside-out": inside_out,
    "outside-in": outside_in,
    "tight-to-tight": tight_to_tight,
    "tight-to-wide": tight_to_wide,
}
JAMS: dict[str, Callable[[Grid, int, np.random.Generator], Pairs]] = {
    "counterflow": counterflow,
    "corner": counterflow,
    "crossing": crossing,
    "door": door,
}
PROBLEMS = SEVEN_TYPES | JAMS


# --- groups ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Group:
    """Some units, and the one place that all of them are sent to."""

    grid: Grid
    starts: tuple[Point, ...]   # in the order in which they were placed
    target: Point


def marker_scenario(name: str) -> Group:
    """One of Map Marker's scenarios: 18 units, in two rows of nine, below an obstacle, and the target above it.

    Corners may be cut. Each row is listed from right to left, the front row first.
    """
    if name not in MARKER_SCENARIOS:
        raise UnknownNameError("Map Marker scenario", name, MARKER_SCENARIOS)
    rows, (left, right), (near, far) = MARKER_SCENARIOS[name]
    front = _MARGIN + rows                      # the row of the front units; the target is `rows` above it
    free = np.ones((front + 2 + _MARGIN, 2 * _MARGIN + 9), dtype=np.bool_)
    centre = free.shape[1] // 2
    free[front - far : front - near + 1, centre + left : centre + right + 1] = False
    starts = tuple((centre + x, front + row) for row in (0, 1) for x in range(4, -5, -1))
    return Group(Grid(free, corner_cutting=True), starts, (centre, _MARGIN))


# How many rows the target is above the front units; the obstacle's columns, 0 being the centre's; and its rows, counted
# from the front units.
MARKER_SCENARIOS = {
    "lonely-tree": (18, (0, 0), (8, 8)),
    "chinese-wall": (24, (0, 0), (3, 14)),
    "boulder": (18, (-5, 5), (4, 13)),
}
_MARGIN = 8     # open cells on all sides of it


def make_group(grid: Grid, *, agents: int, seed: int, chain: str = "line") -> Group:
    """Draw a start and a target in C, and place the units of a group from the start on.

    Each stands beside the one before: in the `line`, on the first free place in the order of rows and columns, at
    `random`, on any. A unit that has no place left beside it is followed by one beside the nearest unit that has. Or
    they stand `compact`, as near to the start as possible.
    """
    if chain not in CHAINS:
        raise UnknownNameError("chain", chain, CHAINS)
    agents = whole("agents", agents, 1, 2**31 - 1)
    rng = np.random.default_rng(whole("seed", seed, 0, MAX_SEED))
    start, target = (int(cell) for cell in _draw(rng, _playground(grid, agents), 2))
    cells = CHAINS[chain](grid, start, agents, rng)
    return Group(grid, tuple(grid.xy(cell) for cell in cells), grid.xy(target))


def _line(grid: Grid, start: int, agents: int, _: np.random.Generator) -> list[int]:
    return _chain(grid, start, agents, lambda _: 0)


def _random_chain(grid: Grid, start: int, agents: int, rng: np.random.Generator) -> list[int]:
    return _chain(grid, start, agents, lambda places: int(rng.integers(places)))


def _compact(grid: Grid, start: int, agents: int, _: np.random.Generator) -> list[int]:
    return [int(cell) for cell in _nearest(grid, start, agents)]


def _chain(grid: Grid, start: int, agents: int, choose: Callable[[int], int]) -> list[int]:
    """Cells one after the other; `choose` is given how many are free beside the last, and picks one by its index."""
    cells = [start]
    taken = {start}
    while len(cells) < agents:
        x, y = grid.xy(cells[-1])
        by_distance = sorted(cells, key=lambda cell: (cell % grid.width - x) ** 2 + (cell // grid.width - y) ** 2)
        for cell in by_distance:                # the last one is the first
            places = sorted(grid.cell(*point) for point in grid.neighbours(grid.xy(cell)))
            places = [place for place in places if place not in taken]
            if places:
                break
        cells.append(places[choose(len(places))])
        taken.add(cells[-1])
    return cells


CHAINS: dict[str, Callable[[Grid, int, int, np.random.Generator], list[int]]] = {
    "line": _line,
    "random": _random_chain,
    "compact": _compact,
}


# --- regions -----------------------------------------------------------------------------------------------------


def _playground(grid: Grid, agents: int) -> Cells:
    """C, the cells of the largest component, if there are enough of them."""
    cells = grid.largest_component()
    if cells.size < max(agents, 2):
        raise ProblemError(f"{agents} agents need more space: the map's largest component has {cells.size} cells")
    return cells


def _from_sides(coordinate: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far from the low and from the high side of the box, as shares of it; exactly each other's mirror image."""
    low, high = int(coordinate.min()), int(coordinate.max())
    extent = max(high - low, 1)
    return (coordinate - low) / extent, (high - coordinate) / extent


def _region(distance: NDArray[np.float64], share: float, agents: int) -> NDArray[np.bool_]:
    """Where the distance is at most that share of the box, or as little more as makes room for all agents."""
    while np.count_nonzero(distance <= share) < agents:
        share *= GROWTH
    return distance <= share


def _two_sides(grid: Grid, agents: int, rng: np.random.Generator) -> Pairs:
    """The cells along two opposite sides of the map, with axis and direction at random."""
    cells = _playground(grid, agents)
    x_or_y = cells % grid.width if rng.integers(2) else cells // grid.width
    sides = [cells[_region(distance, STRIP, agents)] for distance in _from_sides(x_or_y.astype(np.int64))]
    here = int(rng.integers(2))
    return sides[here], sides[1 - here]


def _two_clusters(grid: Grid, agents: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two cells at least half of the first one's eccentricity apart, whose clusters do not overlap if that can be."""
    cells = _playground(grid, agents)
    here = int(rng.choice(cells))
    distance = move_distances(grid, here)[0]
    far = cells[2 * distance[cells] >= distance[cells].max()]
    starts = _nearest(grid, here, agents)
    for there in rng.permutation(far)[:TRIES]:
        if np.intersect1d(starts, _nearest(grid, int(there), agents)).size == 0:
            break
    return here, int(there)


def _rooms(grid: Grid, count: int) -> list[Cells]:
    """The rooms of a jam: what stays when everything is taken out that is narrower than a square of some side.

    The side is the smallest at which exactly that many parts are left, so corridors may have any width.
    """
    free = np.zeros(grid.size, dtype=np.bool_)
    free[grid.largest_component()] = True
    for side in range(2, MAX_NARROW + 2):
        wide = Grid(opened(free.reshape(grid.height, grid.width), side))
        labels = sorted(wide.component_sizes())
        if len(labels) == count:
            return [np.flatnonzero(wide.component == label).astype(np.int32) for label in labels]
    raise ProblemError(
        f"this kind of problem needs a map of {count} rooms joined by something narrower; draw one of the same name"
    )


def _places(grid: Grid, rooms: list[Cells]) -> list[Cells]:
    """Of each room, the half of its cells that is farthest from the other rooms."""
    places = []
    for k, room in enumerate(rooms):
        others = np.concatenate(rooms[:k] + rooms[k + 1 :])
        _, order = move_distances(grid, others)
        places.append(order[np.isin(order, room)][-(room.size // 2) :])
    return places


# --- drawing -----------------------------------------------------------------------------------------------------


def _draw(rng: np.random.Generator, cells: Cells, count: int) -> Cells:
    """That many distinct cells, in random order."""
    return rng.permutation(cells)[:count]


def _matched(starts: Cells, draw_goals: Callable[[], Cells]) -> Pairs:
    """Draw goals until no agent starts at its own; about one draw in three succeeds."""
    goals = draw_goals()
    while np.any(starts == goals):
        goals = draw_goals()
    return starts, goals


def _streams(rng: np.random.Generator, agents: int, ways: list[Pairs]) -> Pairs:
    """Deal the agents out to the ways in turn, and draw each agent's start and goal from its way's ends."""
    room = len(ways) * min(min(here.size, there.size) for here, there in ways)
    if agents > room:
        raise ProblemError(f"{agents} agents are too many for this map: its rooms have places for {room}")
    starts, goals = np.empty(agents, dtype=np.int32), np.empty(agents, dtype=np.int32)
    for k, (here, there) in enumerate(ways):
        count = starts[k :: len(ways)].size
        starts[k :: len(ways)] = _draw(rng, here, count)
        goals[k :: len(ways)] = _draw(rng, there, count)
    return starts, goals


def _nearest(grid: Grid, start: int, count: int) -> Cells:
    """The cells nearest to that one, itself first; fewer if its component has fewer."""
    return move_distances(grid, start, nearest=count)[1]
