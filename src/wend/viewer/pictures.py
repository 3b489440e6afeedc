"""Pictures of a run, drawn as arrays of palette entries: the map, enlarged, and each agent stamped on it.

Agents are discs while they move, rings while they wait and squares at their goals, in the colours of the replay page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend import arguments
from wend.errors import ParameterError
from wend.kernel import NO_CELL
from wend.maps.terrain import DX, DY
from wend.theme import light_colours
from wend.world.trace import ABSENT, WAIT, Trace

MOST_PIXELS = 4096          # a side

_MOVING, _WAITING, _HOME = range(3)
_STATES = ("moving", "waiting", "home")             # their colours in the theme
_TERRAIN = ("floor", "wall", "opened", "closed")    # as on the page: the last two were a wall, and floor, at the start
_SHADES = 4                 # of an agent's edge: how much of a pixel it covers, in quarters
_RIM = 2                    # cells of wall that are shown around the free ones
_SMALLEST_SHAPE = 4         # pixels per cell; smaller agents are squares
_STEP_X, _STEP_Y = np.array([0, *DX, 0]), np.array([0, *DY, 0])     # by code of a move

Picture = NDArray[np.uint8]     # [height, width] palette entries


class Stamp(NamedTuple):
    """The shape of an agent, as pixels around its middle."""

    x: NDArray[np.int64]        # [pixels]
    y: NDArray[np.int64]
    shade: NDArray[np.int64]    # 1 to _SHADES


class Pictures:
    """How a run is drawn: what part of the map is shown, how large, and in which colours."""

    def __init__(self, trace: Trace, size: int = 720) -> None:
        """`size` is the length of the longer side in pixels, about: a cell is a whole number of them, at least one."""
        size = arguments.whole(size, "size")
        self.trace = trace
        self.x0, self.y0, x1, y1 = _bounds(trace)
        columns, rows = x1 - self.x0, y1 - self.y0
        if not 16 <= size <= MOST_PIXELS or max(columns, rows) > MOST_PIXELS:
            raise ParameterError(
                f"a picture has 16 to {MOST_PIXELS} pixels a side, not {size}, and shows maps of as many cells"
            )
        self.scale = max(size // max(columns, rows), 1)     # pixels per cell
        self.cells = rows, columns
        height, width = rows * self.scale, columns * self.scale
        self.shape = height + height % 2, width + width % 2     # encoders want even numbers: a line of wall is added
        self.stamps = [_stamp(shape, self.scale) for shape in (_is_disc, _is_ring, _is_square)]     # by state
        self.palette = _palette()
        self._positions = trace.positions()
        self._events = trace.events_by_tick()
        self._known_until = 0                   # the ticks before it have been made, in these two:
        self._blocked = ~trace.grid.passable
        self._goal = np.full(trace.agents, NO_CELL, np.int64)

    def between(self, first: int, last: int, per_tick: int) -> Iterator[Picture]:
        """The pictures from one tick to another, with so many per tick on the way."""
        for tick in range(first, last):
            for step in range(per_tick):
                yield self.at(tick, step / per_tick)
        yield self.at(last, 0)

    def at(self, tick: int, fraction: float) -> Picture:
        """The world after so many ticks, and a fraction of the way to the next. Ticks must not be taken back."""
        self._catch_up(tick)
        picture = self._ground()
        flat, (height, width) = picture.reshape(-1), picture.shape
        trace, grid = self.trace, self.trace.grid
        cell = self._positions[tick].astype(np.int64)
        code = trace.moves[min(tick, trace.ticks - 1)] if trace.ticks else np.zeros(trace.agents, np.uint8)
        state = np.where((code == WAIT) | (code == ABSENT), _WAITING, _MOVING)
        state[cell == self._goal] = _HOME
        x = (cell % grid.width - self.x0 + 0.5 + _STEP_X[code] * fraction) * self.scale
        y = (cell // grid.width - self.y0 + 0.5 + _STEP_Y[code] * fraction) * self.scale
        for kind, stamp in enumerate(self.stamps):
            there = (cell >= 0) & (state == kind)
            left, top = np.floor(x[there]).astype(np.int64), np.floor(y[there]).astype(np.int64)
            at_x, at_y = left[:, None] + stamp.x, top[:, None] + stamp.y
            seen = (at_x >= 0) & (at_x < width) & (at_y >= 0) & (at_y < height)
            shades = np.broadcast_to(_entry(kind, stamp.shade), at_x.shape)
            flat[(at_y * width + at_x)[seen]] = shades[seen]
        return picture

    def _catch_up(self, tick: int) -> None:
        cell = self.trace.grid.cell
        for at in range(self._known_until, tick + 1):
            for event in self._events.get(at, ()):
                if event.kind in ("added", "ordered"):
                    self._goal[event.agent] = cell(*event.data["goal"])
                elif event.kind in ("blocked", "unblocked"):
                    for px, py in event.data["cells"]:
                        self._blocked[py, px] = event.kind == "blocked"
        self._known_until = max(self._known_until, tick + 1)

    def _ground(self) -> Picture:
        """The map, enlarged."""
        rows, columns = self.cells
        is_changed = self._blocked == self.trace.grid.passable
        terrain = (self._blocked + 2 * is_changed)[self.y0 : self.y0 + rows, self.x0 : self.x0 + columns]
        enlarged = terrain.astype(np.uint8).repeat(self.scale, axis=0).repeat(self.scale, axis=1)
        picture = np.ones(self.shape, np.uint8)
        picture[: enlarged.shape[0], : enlarged.shape[1]] = enlarged
        return picture


def _palette() -> NDArray[np.uint8]:
    """[256, 4] alpha, red, green, blue: the terrain, then the shades of each state on floor."""
    colour = {name: np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) for name, code in light_colours().items()}
    palette = np.full((256, 4), 255, np.uint8)
    for i, name in enumerate(_TERRAIN):
        palette[i, 1:] = colour[name]
    for i, name in enumerate(_STATES):
        for shade in range(1, _SHADES + 1):
            mixed = (shade * colour[name] + (_SHADES - shade) * colour["floor"]) / _SHADES
            palette[_entry(i, shade), 1:] = np.round(mixed)
    return palette


def _entry(state: int, shade: Any) -> Any:
    """Where a shade of a state is in the palette."""
    return len(_TERRAIN) + state * _SHADES + shade - 1


def _bounds(trace: Trace) -> tuple[int, int, int, int]:
    """The columns and rows that matter, half-open: all cells that are ever free, and a rim."""
    free = trace.grid.passable.copy()
    for event in trace.events_of("unblocked"):
        for x, y in event.data["cells"]:
            free[y, x] = True
    height, width = free.shape
    rows, columns = np.flatnonzero(free.any(axis=1)), np.flatnonzero(free.any(axis=0))
    if not rows.size:
        return 0, 0, width, height
    x0, y0 = max(int(columns[0]) - _RIM, 0), max(int(rows[0]) - _RIM, 0)
    return x0, y0, min(int(columns[-1]) + _RIM + 1, width), min(int(rows[-1]) + _RIM + 1, height)


def _is_disc(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.hypot(x, y) <= 0.44


def _is_ring(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    return _is_disc(x, y) & (np.hypot(x, y) > 0.19)


def _is_square(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.maximum(abs(x), abs(y)) <= 0.38


def _stamp(shape: Callable[..., NDArray[np.bool_]], scale: int) -> Stamp:
    """A shape, which is given in cells around the middle of one, in pixels. A small agent is a square."""
    if scale < _SMALLEST_SHAPE:
        around = np.arange(scale) - scale // 2
        x, y = (each.ravel() for each in np.meshgrid(around, around))
        return Stamp(x, y, np.full(x.size, _SHADES))
    fine = (np.arange(scale * _SHADES) + 0.5) / (scale * _SHADES) - 0.5
    inside = shape(*np.meshgrid(fine, fine)).reshape(scale, _SHADES, scale, _SHADES).mean(axis=(1, 3))
    shade = np.round(inside * _SHADES).astype(np.int64)
    y, x = np.nonzero(shade)
    return Stamp(x - scale // 2, y - scale // 2, shade[y, x])
