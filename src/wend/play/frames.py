"""Frames: the state of a pane as bytes, as a page can hand them to the graphics card. Little-endian.

    header, 20 bytes    u8 kind, u8 pane, u16 scene, u32 frame, u32 tick, u32 count, u32 extra
    1 map               u8[count]: the class of every cell
    2 full              per unit u16 x, u16 y, u8 move code of the last tick, u8 flags, u16 group or 0
    3 moves             u8[(count + 1) // 2]: two move codes each, the first in the low bits; then `extra` changes of
                        flags: u32 agent, u8 flags, 3 bytes unused
    4 overlay           u8[count]: 0..255; `extra` holds the bits of the float32 that 255 stands for
    5 cells             count edits of the map: u32 cell, u8 class, 3 bytes unused

Everything is computed for all units at once. docs/formats/live.md says how the frames are used.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.maps.terrain import DX, DY
from wend.world.conduct import STATES
from wend.world.trace import ABSENT

MAP, FULL, MOVES, OVERLAY, CELLS = 1, 2, 3, 4, 5

_HEADER = struct.Struct("<BBHIIII")

# What an agent is doing, in the lowest three bits of its flags.
SHOWN_STATES = ("moving", "waiting", "arrived", "stuck", "absent", "yielding", "unreachable")
_SHOWN = np.array([SHOWN_STATES.index(name) for name in STATES], np.uint8)
FOLLOWS, PINNED, UNCONTROLLED = 1 << 3, 1 << 4, 1 << 5

UNIT = np.dtype([("x", "<u2"), ("y", "<u2"), ("code", "u1"), ("flags", "u1"), ("group", "<u2")])
CHANGE = np.dtype([("which", "<u4"), ("value", "u1"), ("unused", "u1", 3)])

_CODES = np.zeros((3, 3), np.uint8)     # [dy + 1, dx + 1] -> what the trace calls the move
for _direction, (_dx, _dy) in enumerate(zip(DX, DY, strict=True)):
    _CODES[_dy + 1, _dx + 1] = 1 + _direction


class Header(NamedTuple):
    """What stands before every frame."""

    kind: int
    pane: int
    scene: int
    frame: int
    tick: int
    entries: int    # `count` in docs/formats/live.md
    extra: int


HEADER_BYTES = _HEADER.size


def read_header(frame: bytes) -> Header:
    """What a frame says of itself."""
    return Header(*_HEADER.unpack_from(frame))


class Body(NamedTuple):
    """A frame without what differs from client to client."""

    kind: int
    entries: int
    extra: int
    data: bytes

    def framed(self, *, pane: int, scene: int, frame: int, tick: int) -> bytes:
        """The whole frame."""
        return _HEADER.pack(*Header(self.kind, pane, scene, frame, tick, self.entries, self.extra)) + self.data


def move_codes(before: NDArray[np.int32], after: NDArray[np.int32]) -> NDArray[np.uint8]:
    """uint8[units] how each unit came from one place to the other, as a trace says it; both are int32[units, 2].

    A unit that was put there came by no move. Places are (-1, -1) for units that are not on the map.
    """
    steps = after - before
    steps[(np.abs(steps) > 1).any(axis=1)] = 0
    codes: NDArray[np.uint8] = _CODES[steps[:, 1] + 1, steps[:, 0] + 1]
    codes[after[:, 0] < 0] = ABSENT
    return codes


def flags_of(
    states: NDArray[np.uint8], follows: NDArray[np.bool_], pinned: NDArray[np.bool_], controlled: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """uint8[units] what each unit is doing (an index into STATES), and what it is."""
    flags: NDArray[np.uint8] = _SHOWN[states]
    flags |= follows * np.uint8(FOLLOWS)
    flags |= pinned * np.uint8(PINNED)
    flags |= ~controlled * np.uint8(UNCONTROLLED)
    return flags


def map_body(classes: NDArray[np.uint8]) -> Body:
    """The whole map."""
    return Body(MAP, classes.size, 0, classes.tobytes())


def cells_body(cells: NDArray[np.integer[Any]], classes: NDArray[np.uint8]) -> Body:
    """Some cells of the map that have changed."""
    return Body(CELLS, cells.size, 0, _changes(cells, classes[cells]).tobytes())


def full_body(
    places: NDArray[np.int32], codes: NDArray[np.uint8], flags: NDArray[np.uint8], groups: NDArray[np.uint16]
) -> Body:
    """All units, wherever they are; those that are not on the map are at (0, 0)."""
    units = np.empty(len(places), UNIT)
    units["x"], units["y"] = places.clip(min=0).T
    units["code"], units["flags"], units["group"] = codes, flags, groups
    return Body(FULL, len(places), 0, units.tobytes())


def moves_body(codes: NDArray[np.uint8], flags: NDArray[np.uint8], flags_before: NDArray[np.uint8]) -> Body:
    """What all units did in one tick, and the flags that have changed in it."""
    even = np.append(codes, np.uint8(0)) if codes.size % 2 else codes
    pairs = even[0::2] | even[1::2] << 4
    changed = np.flatnonzero(flags != flags_before)
    return Body(MOVES, codes.size, changed.size, pairs.tobytes() + _changes(changed, flags[changed]).tobytes())


def overlay_body(values: NDArray[Any]) -> Body:
    """A picture over the map, from 0 to its largest value.

    What is negative or no number is nothing, and shown as 0. Beside it, what is 0 is shown as 1.
    """
    given = np.asarray(values, np.float64)
    is_known = np.isfinite(given) & (given >= 0)
    known = np.where(is_known, given, 0.0)
    most = np.float32(known.max(initial=0.0))
    levels = np.zeros(known.size)
    if most > 0:
        levels = np.ceil(known / float(most) * 255).clip(max=255)       # whatever is there can be seen
    if not is_known.all():
        levels[is_known] = levels[is_known].clip(min=1)
    return Body(OVERLAY, known.size, int(most.view(np.uint32)), levels.astype(np.uint8).tobytes())


def _changes(which: NDArray[np.integer[Any]], values: NDArray[np.uint8]) -> NDArray[Any]:
    changes = np.zeros(which.size, CHANGE)
    changes["which"], changes["value"] = which, values
    return changes
