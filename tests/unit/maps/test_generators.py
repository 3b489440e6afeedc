"""The generators: what each promises about its maps, and what is said of parameters that cannot be."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict, deque
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wend.errors import ParameterError, UnknownNameError
from wend.maps import generators as mapgen
from wend.maps import grid as grid_module
from wend.maps.drawing import DRAWINGS
from wend.maps.generators import GENERATORS, from_spec, generate, parameters
from wend.maps.grid import Grid
from wend.maps.masks import opened
from wend.maps.parameters import MAX_SIDE
from wend.maps.terrain import Point

DOCS = Path(__file__).resolve().parents[3] / "docs" / "maps.md"
SEEDED = [kind for kind in GENERATORS if "seed" in parameters(kind)]
JAMS = [kind for kind in GENERATORS if "room" in parameters(kind) and kind not in SEEDED]

# The default map of every kind: the same on every machine and with every supported version of numpy.
DIGESTS = {
    "open": "666c9299cca6ca424d6cd198dc8bd632",
    "random": "5d406818e35bbfba1f68b037ba71ffae",
    "rooms": "7c5e5e4968e54c563ab0b046357f1cef",
    "maze": "b962371eb06f733210cc90a37e514406",
    "caves": "b6a772213ccfbec28399852237b28e50",
    "arena": "33d91931679ca329305015fac07f248f",
    "counterflow": "b7721e1b8c740d99246689fccfaf3631",
    "corner": "65d4d9d0baa4180d8cbfdfaab9a3dd25",
    "crossing": "cbfd6688685e64ce24d8756dcdd3c03d",
    "door": "0e384b05318226026282c09f324963c7",
}


# --- what holds for all --------------------------------------------------------------------------------------------


def test_the_kinds() -> None:
    assert " ".join(GENERATORS) == "open random rooms maze caves arena counterflow corner crossing door"
    assert list(GENERATORS) == list(DRAWINGS)


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_generator_is_its_drawing_as_a_grid(kind: str) -> None:
    drawing, generator = DRAWINGS[kind], GENERATORS[kind]
    assert generator() == Grid(drawing())
    assert (generator.__name__, generator.__doc__) == (drawing.__name__, drawing.__doc__)
    assert inspect.signature(generator).parameters == inspect.signature(drawing).parameters
    assert inspect.signature(generator).return_annotation == "Grid"
    assert getattr(mapgen, generator.__name__) is generator


@pytest.mark.parametrize("make", [generate, lambda kind: from_spec(f"{kind}:"), lambda kind: Grid.load(f"{kind}:")])
@pytest.mark.parametrize("kind", GENERATORS)
def test_tables_and_labels_are_derived_once(kind: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tables, components = Mock(wraps=grid_module.make_tables), Mock(wraps=grid_module.Components)
    monkeypatch.setattr(grid_module, "make_tables", make_tables)
    monkeypatch.setattr(grid_module, "Components", components)
    assert len(make(kind).component_sizes()) == 1
    assert (make_tables.call_count, components.call_count) == (1, 1)


@pytest.mark.parametrize("kind", GENERATORS)
def test_default_maps_are_the_same_everywhere(kind: str) -> None:
    assert generate(kind).digest() == DIGESTS[kind]


@pytest.mark.parametrize("kind", SEEDED)
def test_seeds_make_the_difference(kind: str) -> None:
    small = {"width": 40, "height": 32}
    drawn = {generate(kind, seed=seed, **small).digest() for seed in range(8)}
    assert len(drawn) == 8
    assert generate(kind, seed=3, **small) == generate(kind, seed=3, **small)


@pytest.mark.parametrize("kind", ["open", *SEEDED])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63 - 1), width=st.integers(32, 80), height=st.integers(32, 80))
def test_maps_have_the_size_asked_for_and_one_component(kind: str, seed: int, width: int, height: int) -> None:
    grid = generate(kind, width=width, height=height, **({"seed": seed} if kind in SEEDED else {}))
    assert (grid.width, grid.height) == (width, height)
    assert len(grid.component_sizes()) == 1
    assert (grid.connectivity, grid.corner_cutting) == (8, False)


@pytest.mark.parametrize(
    "spec",
    [
        "open:width=1,height=1",
        "random:width=4,height=4,blocked=0.9",
        "rooms:width=8,height=8,room=6",
        "rooms:width=8,height=40,room=2,door=1",
        "rooms:width=30,height=9,room=2,door=2,loops=1",
        "maze:width=5,height=5,corridor=1",
        "maze:width=8,height=64,corridor=2,loops=1",
        "caves:width=16,height=16,smoothing=1",
        "caves:blocked=0",
        "arena:width=32,height=32,choke=4",
        "arena:width=32,height=90,choke=2",
        "counterflow:room=2,length=1",
        "counterflow:room=65,width=64",
        "corner:room=2,width=1,length=2",
        "crossing:room=2,width=1,length=2",
        "door:room=2",
    ],
)
def test_the_ends_of_the_ranges(spec: str) -> None:
    assert len(from_spec(spec).component_sizes()) == 1


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("rooms:room=63", "room is 63, but with width=64, height=64 must be from 2 to 62"),
        ("rooms:room=4,door=5", "door is 5, but with room=4 must be from 1 to 4"),
        ("maze:width=6", "corridor is 2, but with width=6, height=64 must be from 1 to 1"),
        ("arena:choke=9", "choke is 9, but with width=96, height=64 must be from 2 to 8"),
        ("arena:height=2000", "height is 2000, but must be from 32 to 1024"),
        ("counterflow:room=3,width=3", "width is 3, but with room=3 must be from 1 to 2"),
        ("counterflow:length=0", "length is 0, but must be from 1 to 1024"),
        ("caves:smoothing=0", "smoothing is 0, but must be from 1 to 20"),
    ],
)
def test_beyond_the_ends_of_the_ranges(spec: str, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        from_spec(spec)


# --- terrain -------------------------------------------------------------------------------------------------------


def test_open() -> None:
    assert generate("open", width=3, height=2).to_text() == "...\n...\n"


@pytest.mark.parametrize("blocked", [0.0, 0.05, 0.1, 0.2])
def test_random_blocks_exactly_the_share_and_then_fills_pockets(blocked: float) -> None:
    walls = [np.count_nonzero(~generate("random", seed=seed, blocked=blocked).passable) for seed in range(20)]
    assert min(walls) == round(blocked * 32 * 32)       # no pocket to fill
    assert max(walls) < round(blocked * 32 * 32) + 30   # a few


@pytest.mark.parametrize("loops", [0.0, 0.4, 1.0])
def test_rooms_are_rooms(loops: float) -> None:
    """Closing the doors again leaves rectangles with sides of `room` to twice `room`."""
    grid = generate("rooms", seed=5, width=60, height=50, room=5, door=2, loops=loops)
    closed = opened(grid.passable, 3)      # a door is one cell deep: no square of three fits through it
    parts = Grid(closed)
    sizes = parts.component_sizes()
    assert len(sizes) > 20
    for label in sizes:
        y, x = np.nonzero(parts.component.reshape(50, 60) == label)
        across, down = np.ptp(x) + 1, np.ptp(y) + 1
        assert across * down == sizes[label]
        assert 5 <= across <= 10
        assert 5 <= down <= 10
    doors = Grid(grid.passable & ~closed)
    assert max(doors.component_sizes().values()) == 2
    if loops == 0.0:
        assert len(doors.component_sizes()) == len(sizes) - 1


@pytest.mark.parametrize("corridor", [1, 2, 3])
def test_maze_corridors_have_their_width(corridor: int) -> None:
    free = generate("maze", seed=2, width=40, height=31, corridor=corridor).passable
    assert np.array_equal(opened(free, corridor), free)
    assert not opened(free, corridor + 1).any()


def test_a_maze_without_loops_is_a_tree() -> None:
    grid = generate("maze", seed=2, width=41, height=31, corridor=1, loops=0)
    free = grid.passable
    edges = np.count_nonzero(free[:, 1:] & free[:, :-1]) + np.count_nonzero(free[1:] & free[:-1])
    assert edges == np.count_nonzero(free) - 1


def test_caves_are_spacious() -> None:
    shares = [generate("caves", seed=seed).passable.mean() for seed in range(20)]
    assert min(shares) > 0.4
    assert max(shares) < 0.8


def test_caves_have_no_passage_of_one_cell() -> None:
    free = generate("caves", seed=7).passable
    assert np.array_equal(opened(free, 2), free)


# --- the arena -----------------------------------------------------------------------------------------------------

ARENAS: list[dict[str, Any]] = [
    {},
    {"choke": 2},
    {"choke": 8},
    {"width": 48, "height": 32, "choke": 3},
    {"width": 33, "height": 32},
    {"width": 64, "height": 96},
]


@pytest.mark.parametrize("size", ARENAS)
def test_arenas_are_fair_and_alive(size: dict[str, Any]) -> None:
    for seed in range(20):
        grid = generate("arena", seed=seed, **size)
        free = grid.passable
        assert np.array_equal(free, free[::-1, ::-1])
        assert np.array_equal(opened(free, size.get("choke", 4)), free)
        assert free.mean() > 0.5
        assert free[: grid.height // 3, : grid.width // 3].mean() > 0.5     # a base is a place to build on
        assert free[grid.height // 2, grid.width // 2]


@pytest.mark.parametrize("seed", range(6))
def test_arenas_have_two_wide_ways_from_base_to_base(seed: int) -> None:
    grid = generate("arena", seed=seed, choke=4)
    assert disjoint_ways(grid, (12, 12), (83, 51)) >= 2 * 4


def test_a_tall_arena_is_a_wide_one_on_its_side() -> None:
    wide, tall = generate("arena", width=80, height=48), generate("arena", width=48, height=80)
    assert np.array_equal(wide.passable.T, tall.passable)


def disjoint_ways(grid: Grid, start: Point, goal: Point) -> int:
    """How many cardinal paths lead from around `start` to around `goal` without sharing a cell: a maximum flow."""
    capacity: dict[Any, dict[Any, int]] = defaultdict(dict)

    def link(a: Any, b: Any) -> None:
        capacity[a][b] = 1
        capacity[b].setdefault(a, 0)

    for y, x in np.argwhere(grid.passable).tolist():
        link((x, y, "in"), (x, y, "out"))
        for beside in [(x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)]:
            if grid.is_free(beside):
                link((x, y, "out"), (*beside, "in"))
        if max(abs(x - start[0]), abs(y - start[1])) <= 4:
            link("start", (x, y, "in"))
        if max(abs(x - goal[0]), abs(y - goal[1])) <= 4:
            link((x, y, "out"), "goal")
    ways = 0
    while True:
        parent: dict[Any, Any] = {"start": None}
        queue = deque(["start"])
        while queue and "goal" not in parent:
            here = queue.popleft()
            for there, left in capacity[here].items():
                if left and there not in parent:
                    parent[there] = here
                    queue.append(there)
        if "goal" not in parent:
            return ways
        ways += 1
        there = "goal"
        while parent[there] is not None:
            here = parent[there]
            capacity[here][there] -= 1
            capacity[there][here] += 1
            there = here


def test_the_count_of_ways_counts() -> None:
    grid = Grid.from_text("\n".join(["." * 21, *["." * 9 + "@@@" + "." * 9] * 7, "." * 21]))
    assert disjoint_ways(grid, (4, 4), (16, 4)) == 2


# --- jams ----------------------------------------------------------------------------------------------------------


def test_counterflow() -> None:
    assert generate("counterflow", width=2, length=3, room=4).to_text() == (
        "@@@@@@@@@@@@@\n"
        "@....@@@....@\n"
        "@...........@\n"
        "@...........@\n"
        "@....@@@....@\n"
        "@@@@@@@@@@@@@\n"
    )


def test_corner() -> None:
    assert generate("corner", width=1, length=2, room=3).to_text() == (
        "@@@@@@@@@\n"
        "@...@@@@@\n"
        "@......@@\n"
        "@...@@.@@\n"
        "@@@@@@.@@\n"
        "@@@@@...@\n"
        "@@@@@...@\n"
        "@@@@@...@\n"
        "@@@@@@@@@\n"
    )


def test_crossing() -> None:
    free = generate("crossing", width=2, length=3, room=4).passable
    assert free.shape == (18, 18)
    for turned in (free.T, free[::-1], free[:, ::-1]):
        assert np.array_equal(turned, free)


def test_door() -> None:
    assert generate("door", width=1, room=2).to_text() == (
        "@@@@@@@@@\n"
        "@.......@\n"
        "@..@....@\n"
        "@@@@@@@@@\n"
    )


@pytest.mark.parametrize("kind", JAMS)
@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_narrow_part_has_its_width(kind: str, width: int) -> None:
    """A unit of `width` cells fits through, one that is a cell wider does not."""
    free = generate(kind, width=width).passable
    assert np.array_equal(opened(free, width), free)
    assert len(Grid(opened(free, width + 1)).component_sizes()) == (4 if kind == "crossing" else 2)


@pytest.mark.parametrize("kind", ["corner", "crossing"])
def test_rooms_around_a_bend_never_touch(kind: str) -> None:
    for room in range(2, 9):
        for width in range(1, room):
            shortest = (room - width + 1) // 2 + 1
            with pytest.raises(ParameterError, match="length"):
                generate(kind, width=width, room=room, length=shortest - 1)
            free = generate(kind, width=width, room=room, length=shortest).passable
            assert len(Grid(opened(free, width + 1)).component_sizes()) == (4 if kind == "crossing" else 2)


# --- by name -------------------------------------------------------------------------------------------------------


def test_parameters_come_from_the_signature() -> None:
    assert parameters("random") == {"seed": 0, "width": 32, "height": 32, "blocked": 0.2}


def test_from_spec() -> None:
    assert from_spec("rooms") == from_spec("rooms:") == generate("rooms")
    assert from_spec(" rooms : seed = 3, width=40 ") == generate("rooms", seed=3, width=40)
    assert from_spec("random:blocked=0") == generate("open")
    assert from_spec("random:blocked=1e-1") == generate("random", blocked=0.1)


@pytest.mark.parametrize("spec", ["roooms", "", ":seed=1", "Rooms:seed=1"])
def test_unknown_kinds(spec: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown map generator .* Known: open, random, rooms"):
        from_spec(spec)


def test_unknown_parameters() -> None:
    with pytest.raises(UnknownNameError, match=r"'sed'\. Did you mean 'seed'\? Known: seed, width, height, blocked"):
        from_spec("random:sed=1")
    with pytest.raises(UnknownNameError, match="'seed'"):
        generate("open", seed=1)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("rooms:seed", r"'seed' is not of the form name=value"),
        ("rooms:seed=", r"'seed=' is not of the form name=value"),
        ("rooms:=3", r"'=3' is not of the form name=value"),
        ("rooms:seed=1,", r"'' is not of the form name=value"),
        ("rooms:seed=1,seed=2", "seed is given twice"),
        ("rooms:seed=x", "seed must be a number, not 'x'"),
        ("rooms:seed=1.5", r"seed must be a whole number, not 1\.5"),
        ("rooms:seed=-1", "seed is -1, but must be from 0"),
        (f"open:width={MAX_SIDE + 1}", "width is 4097, but must be from 1 to 4096"),
        ("random:blocked=nan", "blocked is nan"),
        ("random:blocked=inf", "blocked is inf"),
        ("random:blocked=1", "blocked is 1, but must be from 0.0 to 0.9"),
        ("rooms:seed=" + "9" * 5000, "seed must be a whole number, not inf"),
    ],
)
def test_bad_values(spec: str, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        from_spec(spec)


def test_bad_types() -> None:
    with pytest.raises(ParameterError, match="seed must be a whole number, not True"):
        generate("rooms", seed=True)
    with pytest.raises(ParameterError, match="loops must be a number, not None"):
        generate("rooms", loops=None)  # type: ignore[arg-type]
    assert generate("rooms", seed=np.int32(3)) == generate("rooms", seed=3)  # type: ignore[arg-type]


def test_nothing_left_is_said() -> None:
    with pytest.raises(ParameterError, match="no passable cell is left"):
        generate("caves", seed=10, width=16, height=16, blocked=0.5, smoothing=20)


# --- the documentation ---------------------------------------------------------------------------------------------


def test_the_pictures_in_the_documentation_are_true() -> None:
    text = DOCS.read_text(encoding="utf-8")
    pictures = re.findall(r"^`(\S+)`\n\n```text\n(.*?)^```", text, flags=re.M | re.S)
    assert [spec.partition(":")[0] for spec, _ in pictures] == list(GENERATORS)
    for spec, picture in pictures:
        assert from_spec(spec).to_text() == picture


def test_the_parameters_in_the_documentation_are_all() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for kind in GENERATORS:
        section = text.split(f"## {kind}\n")[1].split("\n## ")[0]
        listed = re.findall(r"^\| `(\w+)` \| (\S+) \|", section, flags=re.M)
        assert listed == [(name, str(default)) for name, default in parameters(kind).items()]
