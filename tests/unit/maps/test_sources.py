"""What a MAP or SCEN argument may be, and what is said when it is none of them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from wend.errors import FormatError, UnknownNameError
from wend.maps import sources
from wend.maps.grid import Grid
from wend.maps.movingai import write_map
from wend.maps.sources import load_passable, load_scenario

SCEN = "version 1\n0\ta.map\t2\t1\t0\t0\t1\t0\t1\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and a data folder: one map and one scenario as files, in a zip and in a set."""
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    write_map([[True, False]], "a.map")
    Path("a.scen").write_text(SCEN)
    with zipfile.ZipFile("z-map.zip", "w") as archive:
        archive.write("a.map")
        archive.write("a.scen")
    Path("data").mkdir()
    Path("data/set-map.zip").write_bytes(Path("z-map.zip").read_bytes())
    return tmp_path


@pytest.mark.parametrize("source", ["a.map", "./a.map", "z-map.zip/a.map", "set/a", "set/a.map"])
def test_maps(source: str) -> None:
    assert load_passable(source).tolist() == [[True, False]]
    assert load_passable(Path(source)).tolist() == [[True, False]]


@pytest.mark.parametrize("source", ["a.scen", "z-map.zip/a.scen", "set/a", "set/a.scen"])
def test_scenarios(source: str) -> None:
    assert load_scenario(source).rows[0].goal == (1, 0)
    assert load_scenario(Path(source)).name == "a"


def test_file_wins_over_the_data_folder() -> None:
    write_map([[False, True]], "set/a")
    assert load_passable("set/a").tolist() == [[False, True]]


def test_generator() -> None:
    assert load_passable("open:width=3,height=2").tolist() == [[True] * 3] * 2


@pytest.fixture
def specs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands in for the drawings; the list of what they were asked for."""
    asked: list[str] = []

    def draw_spec(text: str) -> np.ndarray:
        asked.append(text)
        return np.array([[True, True, False]])

    monkeypatch.setattr(sources, "draw_spec", draw_spec)
    return asked


@pytest.mark.parametrize("spec", ["rooms:", "rooms:seed=3,size=64", "rts-arena:seed=" + "9" * 400])
def test_generators_get_the_whole_text(spec: str, specs: list[str]) -> None:
    assert load_passable(spec).tolist() == [[True, True, False]]
    assert specs == [spec]


def test_file_wins_over_a_generator(specs: list[str]) -> None:
    write_map([[False, True]], "rooms:1")
    assert load_passable("rooms:1").tolist() == [[False, True]]
    assert specs == []


@pytest.mark.parametrize("source", ["C:\\maps\\a.map", "rooms", "nope.map", "nope/b", "set/b", "", "data"])
def test_error_says_what_was_tried(source: str, specs: list[str]) -> None:
    with pytest.raises(UnknownNameError) as caught:
        load_passable(source)
    message = str(caught.value)
    assert message.startswith("unknown ")
    assert "It is no file, and no generator (kind: or kind:key=value,...)." in message
    assert "wend data add" in message
    assert specs == []


def test_error_of_a_scenario_says_what_was_tried() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown scenario 'set/b'.*set/a.*It is no file"):
        load_scenario("set/b")


def test_bad_file_is_not_looked_for_elsewhere() -> None:
    Path("set").mkdir()
    Path("set/a").write_text("garbage")
    with pytest.raises(FormatError, match="set/a, line 1"):
        load_passable("set/a")
    with pytest.raises(FormatError, match=r"z-map\.zip: has no entry 'b\.map'"):
        load_passable("z-map.zip/b.map")


def test_grid_load_takes_all_of_them(specs: list[str]) -> None:
    assert Grid.load("a.map") == Grid.load("set/a") == Grid([[True, False]])
    assert Grid.load("rooms:seed=1") == Grid([[True, True, False]])
    assert specs == ["rooms:seed=1"]
