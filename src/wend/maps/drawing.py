# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Drawings: maps drawn from parameters and a seed, as masks that are True where a unit may stand.

Each drawing is a function of keyword parameters with good defaults. Its passable cells are one connected component
under the octile rule. The same parameters give the same map on every machine. `generators.py` makes grids of them.

Terrain for play and measurement: `open_map`, `random_map` (Silver's), `rooms`, `maze`, `caves`, `arena`. Places where
units jam: `counterflow`, `corner`, `crossing`, `door`; `wend.problems.scenarios` has the problems that belong to them.
In the jams, `width` is that of the narrow part; the size of the map follows from the parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError, UnknownNameError
from wend.kernel import jit
from wend.maps.masks import Mask, carve, carve_way, grown, largest_part, opened, solid, window_sum
from wend.maps.parameters import narrow_and_room, parse_spec, seeded, share, sides, whole

# --- terrain -----------------------------------------------------------------------------------------------------


def open_map(*, width: int = 32, height: int = 32) -> Mask:
    """A map without walls."""
    width, height = sides(width, height, smallest=1)
    return np.ones((height, width), dtype=np.bool_)


def random_map(*, seed: int = 0, width: int = 32, height: int = 32, blocked: float = 0.2) -> Mask:
    """Silver's maps: a share of the cells blocked at random, then all but the largest component filled.

    Exactly `round(blocked * width * height)` cells are blocked before the filling. (D. Silver, "Cooperative
    Pathfinding", AIIDE 2005.)
    """
    width, height = sides(width, height, smallest=4)
    blocked = share("blocked", blocked, 0.0, 0.9)
    rng = seeded(seed)
    free = np.ones(width * height, dtype=np.bool_)
    free[rng.permutation(free.size)[: round(blocked * free.size)]] = False
    return _largest_component(free.reshape(height, width))


def rooms(
    *, seed: int = 0, width: int = 64, height: int = 64, room: int = 6, door: int = 2, loops: float = 0.4
) -> Mask:
    """A building: rooms of `room` to twice `room` cells a side, joined by doors that are `door` cells wide.

    The first doors join all rooms as a tree. Of the walls that are left, a share `loops` gets a door too.
    """
    width, height = sides(width, height, smallest=8)
    room = whole("room", room, 2, min(width, height) - 2, given=f"{width=}, {height=}")
    door = whole("door", door, 1, room, given=f"{room=}")
    loops = share("loops", loops, 0.0, 1.0)
    rng = seeded(seed)
    room_of = np.full((height, width), -1, dtype=np.int32)
    count = 0
    parts = [(1, 1, width - 1, height - 1)]
    while parts:
        left, top, right, bottom = parts.pop()
        across, down = right - left, bottom - top
        if max(across, down) < 2 * room + 1:
            room_of[top:bottom, left:right] = count
            count += 1
        elif across >= down:
            wall = int(rng.integers(left + room, right - room))
            parts += [(left, top, wall, bottom), (wall + 1, top, right, bottom)]
        else:
            wall = int(rng.integers(top + room, bottom - room))
            parts += [(left, top, right, wall), (left, wall + 1, right, bottom)]
    free = (room_of >= 0).ravel()
    walls = _shared_walls(room_of)
    ends = np.array([pair for pair, _ in walls], dtype=np.int32).reshape(-1, 2)
    for k in np.flatnonzero(_spanning_tree(rng, ends, count) | (rng.random(len(walls)) < loops)):
        cells = walls[k][1]
        begin = int(rng.integers(max(cells.size - door, 0) + 1))
        free[cells[begin : begin + door]] = True
    return free.reshape(height, width)


def maze(*, seed: int = 0, width: int = 64, height: int = 64, corridor: int = 2, loops: float = 0.1) -> Mask:
    """A maze of corridors that are `corridor` cells wide; a share `loops` of the dividing walls is taken out again."""
    width, height = sides(width, height, smallest=5)
    corridor = whole("corridor", corridor, 1, (min(width, height) - 3) // 2, given=f"{width=}, {height=}")
    loops = share("loops", loops, 0.0, 1.0)
    rng = seeded(seed)
    columns, rows = (width - 1) // (corridor + 1), (height - 1) // (corridor + 1)
    node = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    east = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    south = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    ends = np.concatenate([east, south])
    is_open = _spanning_tree(rng, ends, node.size) | (rng.random(len(ends)) < loops)
    # The maze in small: nodes on even rows and columns, the walls between them on odd ones.
    small = np.zeros((2 * rows - 1, 2 * columns - 1), dtype=np.bool_)
    small[::2, ::2] = True
    small[::2, 1::2] = is_open[: len(east)].reshape(rows, columns - 1)
    small[1::2, ::2] = is_open[len(east) :].reshape(rows - 1, columns)
    scaled = small.repeat(_alternating(corridor, rows), axis=0).repeat(_alternating(corridor, columns), axis=1)
    free = np.zeros((height, width), dtype=np.bool_)
    top, left = (height - scaled.shape[0]) // 2, (width - scaled.shape[1]) // 2
    free[top : top + scaled.shape[0], left : left + scaled.shape[1]] = scaled
    return free


def caves(*, seed: int = 0, width: int = 96, height: int = 64, blocked: float = 0.44, smoothing: int = 4) -> Mask:
    """Caves: random rock, smoothed by a cellular automaton; only the largest cave is kept.

    After a step, a cell is rock if at least five cells of the 3 x 3 square around it were. Off the map, all is rock.
    """
    width, height = sides(width, height, smallest=16)
    blocked = share("blocked", blocked, 0.0, 0.5)
    smoothing = whole("smoothing", smoothing, 1, 20)
    rng = seeded(seed)
    rock = rng.random((height, width)) < blocked
    for _ in range(smoothing):
        rock = window_sum(np.pad(rock, 1, constant_values=True), 3) >= 5
    return _largest_component(opened(~rock, 2))


# The terraces of an arena, as (u, v) from -1 to 1 across the map. These are the first player's; the second player has
# the same ones turned by half a turn, written with a prime.
_TERRACES = {
    "base": (-0.74, -0.60),
    "natural": (-0.76, 0.16),
    "pocket": (-0.76, 0.78),
    "north": (-0.20, -0.70),
    "south": (-0.24, 0.68),
    "west": (-0.38, 0.04),
}
# Every arena has these ramps and their turned twins: two out of each base, and two ways from base to base that share no
# terrace, base -> north -> south' -> pocket' -> natural' -> base' and its twin.
_RAMPS = [
    ("base", "natural"),
    ("base", "north"),
    ("natural", "pocket"),
    ("natural", "west"),
    ("pocket", "south"),
    ("north", "south'"),
    ("west", "middle"),
]
_MAYBE_RAMPS = [("north", "west"), ("south", "west"), ("south", "middle"), ("north", "middle")]


def arena(*, seed: int = 0, width: int = 96, height: int = 64, choke: int = 4) -> Mask:
    """An arena of a strategy game for two: bases in opposite corners, a contested middle, several ways between.

    Terraces are the warped Voronoi regions of thirteen spots, cliffs stand where two of them meet, and ramps that are
    `choke` cells wide cut through the cliffs. Every passable cell is part of a passable square of that side. The map
    looks the same after half a turn, so neither player has an advantage.
    """
    width, height = sides(width, height, smallest=32, largest=1024)
    choke = whole("choke", choke, 2, min(8, width // 8, height // 8), given=f"{width=}, {height=}")
    if height > width:
        return arena(seed=seed, width=height, height=width, choke=choke).T
    rng = seeded(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)

    def field(grain: int, symmetry: int) -> NDArray[np.float64]:
        """Smooth noise within -1 to 1 that a half turn leaves as it is (symmetry 1) or negates (-1)."""
        noise = rng.integers(-1000, 1001, (height, width))
        for _ in range(2):
            noise = window_sum(np.pad(noise, grain, mode="edge"), 2 * grain + 1)
        noise = noise + symmetry * noise[::-1, ::-1]
        return np.asarray(noise / np.abs(noise).max(), dtype=np.float64)

    spots = {"middle": ((width - 1) / 2, (height - 1) / 2)}
    for name, (u, v) in _TERRACES.items():
        u += 0.06 * (2 * rng.random() - 1)
        v += 0.07 * (2 * rng.random() - 1)
        spots[name] = ((1 + u) * (width - 1) / 2, (1 + v) * (height - 1) / 2)
        spots[name + "'"] = ((1 - u) * (width - 1) / 2, (1 - v) * (height - 1) / 2)
    larger = {"base": 0.12, "base'": 0.12, "middle": 0.03}      # terraces that push their cliffs outwards

    warped_x = x + 0.08 * height * field(height // 12, -1)
    warped_y = y + 0.08 * height * field(height // 12, -1)
    distance = np.stack([
        np.sqrt((warped_x - spot_x) ** 2 + (warped_y - spot_y) ** 2) - larger.get(name, 0.0) * height
        for name, (spot_x, spot_y) in spots.items()
    ])
    distance.sort(axis=0)
    cliff_width = 3.4 + 0.09 * height * np.maximum(field(height // 20, 1), 0)
    walls = (distance[1] - distance[0] < cliff_width) | (distance[2] - distance[0] < 0.11 * height)
    to_edge = np.minimum(np.minimum(x, width - 1 - x), np.minimum(y, height - 1 - y))
    walls |= to_edge < 1 + 0.07 * height * np.maximum(field(height // 16, 1), 0)
    walls |= walls[::-1, ::-1]      # rounding must not decide who has a wall

    ramps = np.zeros_like(walls)
    for one, other in _RAMPS + [ramp for ramp in _MAYBE_RAMPS if rng.random() < 0.5]:
        carve_way(ramps, spots[one], spots[other], choke)
    ramps |= ramps[::-1, ::-1]
    walls &= ~ramps
    rocks = field(max(height // 26, 1), 1) > 0.34
    walls |= rocks & ~ramps & ~grown(walls, choke)     # the way round a rock is no narrower than a ramp
    walls = opened(np.pad(walls, 1, constant_values=True), 2)[1:-1, 1:-1]     # no slivers of rock
    return _largest_component(opened(~walls, choke))


# --- jams --------------------------------------------------------------------------------------------------------


def counterflow(*, width: int = 1, length: int = 12, room: int = 8) -> Mask:
    """Two rooms, `room` cells a side, joined by a straight corridor of `width` by `length` cells."""
    width, length, room = narrow_and_room(width, length, room)
    free = solid(2 * room + length + 2, room + 2)
    carve(free, 1, 1, room, room)
    carve(free, 1 + room, 1 + (room - width) // 2, length, width)
    carve(free, 1 + room + length, 1, room, room)
    return free


def corner(*, width: int = 2, length: int = 8, room: int = 8) -> Mask:
    """Two rooms joined by a corridor with a right angle; each leg is `length` cells long, without the angle."""
    width, length, room = narrow_and_room(width, length, room, bent=True)
    inset = (room - width) // 2
    angle_x, angle_y = 1 + room + length, 1 + inset
    second_x, second_y = angle_x - inset, angle_y + width + length
    free = solid(second_x + room + 1, second_y + room + 1)
    carve(free, 1, 1, room, room)
    carve(free, 1 + room, angle_y, length + width, width)
    carve(free, angle_x, angle_y, width, width + length)
    carve(free, second_x, second_y, room, room)
    return free


def crossing(*, width: int = 2, length: int = 5, room: int = 6) -> Mask:
    """Four rooms around the crossing of two corridors; each arm is `length` cells long."""
    width, length, room = narrow_and_room(width, length, room, bent=True)
    side = 2 * (room + length) + width + 2
    inset = 1 + room + length
    beside = inset - (room - width) // 2
    free = solid(side, side)
    carve(free, 1, inset, side - 2, width)
    carve(free, inset, 1, width, side - 2)
    for far in (1, side - 1 - room):
        carve(free, far, beside, room, room)
        carve(free, beside, far, room, room)
    return free


def door(*, width: int = 1, room: int = 10) -> Mask:
    """A room, `room` cells a side, with one door of `width` cells into a hall twice as wide."""
    width, _, room = narrow_and_room(width, 1, room)
    free = solid(3 * room + 3, room + 2)
    carve(free, 1, 1, room, room)
    carve(free, 1 + room, 1 + (room - width) // 2, 1, width)
    carve(free, 2 + room, 1, 2 * room, room)
    return free


# --- by name -----------------------------------------------------------------------------------------------------

DRAWINGS: dict[str, Callable[..., Mask]] = {
    "open": open_map,
    "random": random_map,
    "rooms": rooms,
    "maze": maze,
    "caves": caves,
    "arena": arena,
    "counterflow": counterflow,
    "corner": corner,
    "crossing": crossing,
    "door": door,
}


def parameters(kind: str) -> dict[str, int | float]:
    """The parameters of a kind of map and their defaults, in order."""
    if kind not in DRAWINGS:
        raise UnknownNameError("map generator", kind, DRAWINGS)
    return {name: p.default for name, p in inspect.signature(DRAWINGS[kind]).parameters.items()}


def draw(kind: str, **params: int | float) -> Mask:
    """Draw a map of that kind."""
    known = parameters(kind)
    for name in params:
        if name not in known:
            raise UnknownNameError(f"parameter of the map generator {kind!r}:", name, known)
    return DRAWINGS[kind](**params)


def draw_spec(spec: str) -> Mask:
    """Draw a map from text: `kind` or `kind:name=value,name=value`."""
    kind, params = parse_spec(spec)
    return draw(kind, **params)


# --- tools -------------------------------------------------------------------------------------------------------


def _largest_component(free: Mask) -> Mask:
    """The map with everything but its largest component filled."""
    kept = largest_part(free)
    if not kept.any():
        raise ParameterError("no passable cell is left; take a smaller share of blocked cells, or another seed")
    return kept


def _alternating(corridor: int, nodes: int) -> list[int]:
    """How many cells each row of the small maze takes: corridors, and the single walls between them."""
    return [corridor, 1] * (nodes - 1) + [corridor]


def _shared_walls(room_of: NDArray[np.int32]) -> list[tuple[tuple[int, int], NDArray[np.int64]]]:
    """The walls between two rooms: the rooms, and the wall's cells from end to end."""
    cells = np.arange(room_of.size).reshape(room_of.shape)
    sides = [
        (room_of[:, :-2], room_of[:, 2:], cells[:, 1:-1]),
        (room_of[:-2], room_of[2:], cells[1:-1]),
    ]
    walls = []
    for one, other, between in sides:
        is_wall = (room_of.ravel()[between] < 0) & (one >= 0) & (other >= 0)
        a, b, cell = one[is_wall], other[is_wall], between[is_wall]
        order = np.lexsort((cell, b, a))
        a, b, cell = a[order], b[order], cell[order]
        begins = np.flatnonzero((np.diff(a, prepend=-1) != 0) | (np.diff(b, prepend=-1) != 0))
        runs = np.split(cell, begins)[1:]       # the first part, before the first run, is empty
        walls += [((int(a[begin]), int(b[begin])), run) for begin, run in zip(begins, runs, strict=True)]
    return walls


def _spanning_tree(rng: np.random.Generator, ends: NDArray[np.int32], nodes: int) -> Mask:
    """Which edges a random spanning tree takes (Kruskal's algorithm over the edges in random order)."""
    order = rng.permutation(len(ends))
    taken = np.zeros(len(ends), dtype=np.bool_)
    _join(ends, order, np.arange(nodes, dtype=np.int32), taken)
    return taken


@jit
def _join(ends, order, parent, taken):
    """Take each edge whose ends are not joined yet. Mutates: parent, taken."""
    for k in range(order.size):
        edge = order[k]
        a = _root(parent, ends[edge, 0])
        b = _root(parent, ends[edge, 1])
        if a != b:
            parent[a] = b
            taken[edge] = True


@jit
def _root(parent, node):
    """The representative of a node's set. Mutates: parent, whose chains it halves."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
