"""Frames, byte for byte against the slow reference."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import frames as reference
from wend.play import frames
from wend.play.heat import box_sums
from wend.world.conduct import STATES

pytestmark = pytest.mark.small

places = st.tuples(st.integers(0, 65535), st.integers(0, 65535))


@st.composite
def units(draw: st.DrawFn) -> reference.Unit:
    now = draw(places)
    step = draw(st.sampled_from([*reference.STEPS, (5, 0)]))
    state = draw(st.sampled_from(STATES))
    if state == "absent":
        now = (-1, -1)
    flags = (draw(st.booleans()) for _ in range(3))
    return (now[0] - step[0], now[1] - step[1]), now, state, *flags, draw(st.integers(0, 65535))


@given(st.lists(units(), min_size=1, max_size=9), st.data())
def test_full_and_moves_are_what_the_format_says(several: list[reference.Unit], data: st.DataObject) -> None:
    before, now = (np.array([unit[k] for unit in several], np.int32) for k in (0, 1))
    states = np.array([STATES.index(unit[2]) for unit in several], np.uint8)
    follows, pinned, controlled = (np.array([unit[k] for unit in several], np.bool_) for k in (3, 4, 5))
    groups = np.array([unit[6] for unit in several], np.uint16)
    codes = frames.move_codes(before, now)
    flags = frames.flags_of(states, follows, pinned, controlled)
    assert frames.full_body(now, codes, flags, groups) == (frames.FULL, len(several), 0, reference.full(several))

    flags_before = data.draw(st.lists(st.integers(0, 63), min_size=len(several), max_size=len(several)))
    body = frames.moves_body(codes, flags, np.array(flags_before, np.uint8))
    changes, expected = reference.moves(several, flags_before)
    assert body == (frames.MOVES, len(several), changes, expected)


def test_a_frame_begins_with_its_header() -> None:
    framed = frames.map_body(np.array([0, 1, 0], np.uint8)).framed(pane=1, scene=513, frame=7, tick=70_000)
    assert framed == struct.pack("<BBHIIII", 1, 1, 513, 7, 70_000, 3, 0) + b"\0\1\0"
    assert frames.read_header(framed) == (frames.MAP, 1, 513, 7, 70_000, 3, 0)


def test_edits_of_the_map_name_their_cells() -> None:
    body = frames.cells_body(np.array([2, 70_000]), np.arange(70_001, dtype=np.int64).astype(np.uint8))
    assert body == (frames.CELLS, 2, 0, struct.pack("<IB3xIB3x", 2, 2, 70_000, 70_000 % 256))


@pytest.mark.parametrize(
    ("values", "levels", "most"),
    [
        ([0.0, 1.0, 2.0], [0, 128, 255], 2.0),
        ([0, 0], [0, 0], 0.0),
        ([-1, 0, 4], [0, 1, 255], 4.0),                     # nothing, then 0: it can be told from nothing
        ([np.nan, 3.0, np.inf], [0, 255, 0], 3.0),
        ([1e-300, 0.0], [0, 0], 0.0),                       # less than a float32 can say
    ],
)  # fmt: skip
def test_overlays_are_scaled_to_a_byte(values: list[float], levels: list[int], most: float) -> None:
    body = frames.overlay_body(np.array(values))
    assert list(body.data) == levels
    assert struct.unpack("<f", struct.pack("<I", body.extra)) == (most,)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 3))
def test_sums_around_every_cell(width: int, height: int, reach: int) -> None:
    rows = np.random.default_rng(width * 7 + height).integers(0, 5, (height, width))
    sums = box_sums(rows, reach)
    assert sums.tolist() == [
        [reference.box_sum(rows.tolist(), reach, x, y) for x in range(width)] for y in range(height)
    ]
