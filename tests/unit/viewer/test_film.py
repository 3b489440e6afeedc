"""Films: that they play, as long as they should, and that bad wishes are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from wend.errors import ParameterError
from wend.maps.grid import Grid
from wend.viewer.film import write_film
from wend.viewer.pictures import Pictures
from wend.world.trace import Event, Trace

E = 2       # the code of a move


@pytest.fixture
def trace() -> Trace:
    """One agent that walks ten cells to the east."""
    events = [Event(0, "added", 0, {"at": [1, 2], "goal": [11, 2]})]
    return Trace(Grid(np.ones((5, 13))), np.full((10, 1), E, np.uint8), events, np.zeros(10), np.zeros(10, np.int64))


@pytest.mark.parametrize(("format", "tolerance"), [("gif", 0), ("webm", 40)])
def test_a_film_plays_and_shows_the_run(trace: Trace, tmp_path: Path, format: str, tolerance: int) -> None:
    av = pytest.importorskip("av", reason="needs PyAV: pip install '.[video]'")
    path = tmp_path / f"run.{format}"
    write_film(trace, format, path, size=130, speed=5, first=2, last=6)
    with av.open(str(path)) as film:
        frames = list(film.decode(video=0))
    assert len(frames) == 4 * 4 + 1 + 20        # four pictures for each of four ticks, the last for a second more
    assert [frame.time for frame in frames[:3]] == pytest.approx([0, 0.05, 0.1], abs=0.002)
    pictures = Pictures(trace, 130)
    for number, (tick, fraction) in {0: (2, 0), 5: (3, 0.25), 16: (6, 0), 36: (6, 0)}.items():
        drawn = pictures.palette[pictures.at(tick, fraction)][..., 1:].astype(int)
        shown = frames[number].to_ndarray(format="rgb24").astype(int)
        assert abs(shown - drawn).mean() <= tolerance / 10
        middle = 20 + 5, round((1 + tick + fraction) * 10) + 5
        assert (abs(shown[middle] - drawn[middle]) <= tolerance).all()


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"first": 7, "last": 3}, "ticks of the run, 0 to 10"),
        ({"last": 11}, "ticks of the run"),
        ({"first": -1}, "ticks of the run"),
        ({"speed": 0}, "1 to 50"),
        ({"speed": 51}, "1 to 50"),
        ({"size": 9999}, "16 to 4096"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wish: dict[str, int], reason: str
) -> None:
    monkeypatch.setitem(sys.modules, "av", object())        # nothing is encoded
    with pytest.raises(ParameterError, match=reason):
        write_film(trace, "gif", tmp_path / "run.gif", **wish)
    assert not list(tmp_path.iterdir())


def test_a_film_that_would_be_too_long_is_refused(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", object())
    trace.moves = np.zeros((6000, 1), np.uint8)
    with pytest.raises(ParameterError, match="12000 pictures, over the limit of 5000: choose a part"):
        write_film(trace, "gif", tmp_path / "run.gif")


def test_without_pyav_it_says_what_to_install(trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ParameterError, match=r"pip install 'wend\[video\]'"):
        write_film(trace, "gif", tmp_path / "run.gif")
