"""Pictures of a run: what is drawn where, and in which colours."""

from __future__ import annotations

import numpy as np
import pytest

from wend.errors import ParameterError
from wend.maps.grid import Grid
from wend.theme import light_colours
from wend.viewer.pictures import Pictures
from wend.world.trace import ABSENT, WAIT, Event, Trace

E = 2       # the code of a move

pytestmark = pytest.mark.small


def a_trace() -> Trace:
    """Agent 0 walks east and waits, agent 1 is at home and leaves, a wall comes and another goes; 4 x 2 cells."""
    events = [
        Event(0, "added", 0, {"at": [0, 0], "goal": [3, 0]}),
        Event(0, "added", 1, {"at": [0, 1], "goal": [0, 1]}),
        Event(1, "blocked", None, {"cells": [[1, 1]]}),
        Event(2, "unblocked", None, {"cells": [[3, 1]]}),
        Event(2, "ordered", 0, {"goal": [1, 0]}),
    ]
    moves = np.array([[E, WAIT], [WAIT, WAIT], [WAIT, ABSENT]], np.uint8)
    return Trace(Grid.from_text("....\n...@"), moves, events, np.zeros(3), np.zeros(3, np.int64))


def colours_at(pictures: Pictures, tick: int, fraction: float = 0) -> list[list[str]]:
    """The name of the colour of each cell, left of its middle, where a ring has no hole; cells have 20 pixels."""
    known = ("floor", "wall", "opened", "closed", "moving", "waiting", "home")
    names = {light_colours()[name]: name for name in known}
    rgb = pictures.palette[pictures.at(tick, fraction)[10::20, 4::20]][..., 1:]
    return [[names["#{:02x}{:02x}{:02x}".format(*cell)] for cell in row] for row in rgb]


def test_agents_and_walls_are_where_the_trace_has_them() -> None:
    pictures = Pictures(a_trace(), size=80)
    assert pictures.shape == (40, 80)
    assert colours_at(pictures, 0) == [["moving", "floor", "floor", "floor"], ["home", "floor", "floor", "wall"]]
    assert colours_at(pictures, 1) == [["floor", "waiting", "floor", "floor"], ["home", "closed", "floor", "wall"]]
    assert colours_at(pictures, 2) == [["floor", "home", "floor", "floor"], ["home", "closed", "floor", "opened"]]
    assert colours_at(pictures, 3) == [["floor", "home", "floor", "floor"], ["floor", "closed", "floor", "opened"]]


def test_an_agent_moves_between_two_ticks() -> None:
    pictures = Pictures(a_trace(), size=80)
    whole = [pictures.at(0, step / 4)[10] for step in range(4)]     # the row through the middle of agent 0
    left = [int(np.flatnonzero(row)[0]) for row in whole]
    assert np.diff(left).tolist() == [5, 5, 5]


def test_a_waiting_agent_is_a_ring_and_a_small_one_a_square() -> None:
    pictures = Pictures(a_trace(), size=80)
    assert pictures.at(1, 0)[10, 30] == 0               # its middle: the floor
    assert len({tuple(map(tuple, stamp)) for stamp in Pictures(wide(), size=16).stamps}) == 1


def wide() -> Trace:
    """Nobody on a map of 64 x 3 cells, of which the first 10 columns are walls."""
    free = np.ones((3, 64))
    free[:, :10] = 0
    return Trace(Grid(free), np.zeros((0, 0), np.uint8), [], np.zeros(0), np.zeros(0, np.int64))


def test_only_what_matters_is_shown_and_both_sides_are_even() -> None:
    pictures = Pictures(wide(), size=16)
    assert (pictures.scale, pictures.cells, pictures.shape) == (1, (3, 56), (4, 56))
    assert pictures.at(0, 0)[:, :3].tolist() == [[1, 1, 0]] * 3 + [[1, 1, 1]]


@pytest.mark.parametrize("size", [0, 15, 4097, "large", 3.5])
def test_a_size_that_makes_no_sense_is_refused(size: object) -> None:
    with pytest.raises(ParameterError):
        Pictures(a_trace(), size=size)      # type: ignore[arg-type]
