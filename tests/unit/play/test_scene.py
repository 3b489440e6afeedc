"""Scenes: orders, walls and units go to both worlds alike, and pictures show what there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wend.errors import MapError, ParameterError, ProblemError, UnknownNameError, WendError
from wend.kernel import NO_AGENT
from wend.maps.grid import Grid
from wend.play.catalogue import GIVEN, Catalogue, Recipe, settable
from wend.play.frames import UNIT
from wend.play.messages import PlayLimits
from wend.play.scene import LivePicture, LiveScene

pytestmark = pytest.mark.small

LIMITS = PlayLimits(cells=4_000, units=50)
GONE = 4


def make(**given: Any) -> LiveScene:
    recipe = Recipe(**{"map": "open:width=12,height=8", "agents": 6, "algorithm": "lra", "problem": "random", **given})
    catalogue = Catalogue(LIMITS, Grid.from_text("....\n...."), "my.map")
    catalogue.check(recipe)
    planners = [catalogue.planner(key, parameters) for key, parameters in recipe.algorithms]
    return LiveScene(recipe, catalogue.grid(recipe), planners, LIMITS)


def units(picture: LivePicture, pane: int = 0) -> np.ndarray:
    return np.frombuffer(picture.full[pane].data, UNIT)


def hashes(scene: LiveScene) -> set[str]:
    return {pane.world.state_hash() for pane in scene.panes}


def test_both_panes_have_the_same_problem_and_the_same_orders() -> None:
    scene = make(versus="lra")
    assert [pane.algorithm for pane in scene.panes] == ["lra", "lra"]
    scene.order([0, 1, 2], (5, 5), "move")
    scene.tick()
    scene.hold([3])
    scene.follow([4], 5)
    scene.paint([(0, 0), (11, 7)], "wall")
    scene.add([(6, 0), (6, 1)])
    scene.remove([1])
    scene.tick()
    assert len(hashes(scene)) == 1              # the same algorithm twice does the same
    assert scene.panes[0].world.ticks == 2


def test_a_picture_shows_where_units_are_and_what_they_do() -> None:
    scene = make()
    scene.hold([2])
    scene.follow([3], 4)
    scene.remove([5])
    shown = units(scene.picture())
    world = scene.panes[0].world
    for agent in range(5):
        assert (shown["x"][agent], shown["y"][agent]) == world.position(agent)
    assert shown["flags"][2] & 0b10111 == 0b10010       # at home, and pinned
    assert [bool(flags & 8) for flags in shown["flags"]] == [False, False, False, True, False, False]
    assert (shown["flags"][5] & 7, shown["code"][5]) == (GONE, 9)


def test_moves_lead_from_one_picture_to_the_next() -> None:
    scene = make(agents=20)
    before = scene.picture()
    for _ in range(5):
        scene.tick()
        after = scene.picture()
        assert after.serial == before.serial + 1
        assert len(after.moves) == 1
        before = after


def test_what_moves_cannot_say_is_not_said_by_moves() -> None:
    scene = make()
    scene.picture()
    scene.tick()
    scene.tick()
    assert scene.picture().moves == ()          # two ticks
    scene.add([(0, 0), (1, 0), (2, 0)])
    scene.tick()
    assert scene.picture().moves == ()          # more units
    scene.order([0, 1], (5, 5), "move")
    scene.tick()
    assert scene.picture().moves == ()          # another group
    scene.tick()
    assert len(scene.picture().moves) == 1


def test_a_picture_of_what_was_seen_already_has_the_same_serial() -> None:
    scene = make()
    assert scene.picture().serial == scene.picture().serial == 1
    scene.hold([0])
    assert scene.picture().serial == 2


def test_walls_are_built_where_no_unit_stands_in_any_pane() -> None:
    scene = make(versus="pibt", agents=5)
    for _ in range(4):
        scene.tick()
    one, other = ([pane.world.position(agent) for agent in range(5)] for pane in scene.panes)
    everything = [(x, y) for x in range(12) for y in range(8)]
    said = scene.paint(everything, "wall")
    taken = set(one) | set(other)
    assert said == f"{len(taken)} of 96 cells stay free: units stand on them"
    for pane in scene.panes:
        assert {point for point in everything if pane.world.grid.is_free(point)} == taken
    ground = scene.picture().ground
    assert (ground.revision, int(ground.classes.sum())) == (1, 96 - len(taken))
    scene.paint(everything, "free")
    assert scene.picture().ground.revision == 2
    assert ground.classes.sum() == 96 - len(taken)      # an older picture does not change
    assert scene.paint(everything, "free") == ""
    assert scene.picture().ground.revision == 2         # nothing was changed


def test_units_are_added_where_there_is_room_in_all_panes() -> None:
    scene = make(agents=2)
    at = scene.panes[0].world.position(0)
    assert scene.add([at, (0, 0), (0, 0)]) == "1 of 2 units were not added: there is a wall or a unit"
    assert scene.units == 3
    with pytest.raises(MapError, match="a wall or a unit on each"):
        scene.add([at])
    with pytest.raises(ParameterError, match="at most 50 units"):
        scene.add([(x, y) for x in range(12) for y in range(5)])
    assert scene.units == 3


def test_who_holds_its_place_is_released_by_the_next_order() -> None:
    scene = make()
    scene.hold([1])
    assert scene.panes[0].world.state.agents.pinned.tolist() == [False, True] + [False] * 4
    scene.order([1], (3, 3), "move")
    assert not scene.panes[0].world.state.agents.pinned.any()


def test_orders_to_groups_number_them_and_measure_their_spread() -> None:
    scene = make()
    assert scene.picture().panes[0]["spread"] is None
    scene.order([0, 1, 2], (5, 5), "attack")
    picture = scene.picture()
    assert units(picture)["group"].tolist() == [1, 1, 1, 0, 0, 0]
    assert picture.panes[0]["spread"] > 0
    scene.order([2], (1, 1), "move")
    assert units(scene.picture())["group"].tolist() == [1, 1, 0, 0, 0, 0]


def test_what_is_not_on_the_map_is_left_out_or_refused() -> None:
    scene = make()
    scene.remove([3])
    assert scene.order([2, 3, 99], (5, 5), "move") == "2 of 3 units are not on the map"
    for refused in (
        lambda: scene.order([3], (5, 5), "move"),
        lambda: scene.order([], (5, 5), "move"),
        lambda: scene.order([1], (12, 5), "move"),
        lambda: scene.follow([1], 3),
        lambda: scene.follow([1], 1),
        lambda: scene.hold([99]),
        lambda: scene.paint([(-1, 0)], "wall"),
        lambda: scene.paint([], "wall"),
        lambda: scene.add([(0, 99)]),
    ):
        before = hashes(scene)
        with pytest.raises(WendError):
            refused()
        assert hashes(scene) == before


def test_numbers_and_verdict() -> None:
    scene = make(versus="pibt", agents=4)
    while not scene.is_at_rest():
        scene.tick()
        assert scene.ticks < 100
    picture = scene.picture()
    for numbers in picture.panes:
        assert (numbers["units"], numbers["home"], numbers["moving"]) == (4, 4, 0)
        assert numbers["tick_ms"] > 0
    assert "home in" in picture.verdict
    assert {event["kind"] for event in picture.events} == {"arrived"}
    assert [event["number"] for event in picture.events] == list(range(1, 9))


def test_the_same_algorithm_twice_is_told_apart() -> None:
    scene = make(versus="lra")
    assert [pane["title"] for pane in scene.picture().about["panes"]] == ["LRA* A", "LRA* B"]
    assert "LRA* A" in scene.picture().verdict


def test_another_algorithm_takes_over_in_one_pane() -> None:
    scene = make(versus="lra")
    scene.tick()
    said = scene.change_algorithm(1, "pibt", {}, Catalogue(LIMITS).planner("pibt", {}))
    assert said == "from tick 2 on, PIBT moves the units"
    about = scene.picture().about
    assert [pane["algorithm"] for pane in about["panes"]] == ["lra", "pibt"]
    assert [pane["title"] for pane in about["panes"]] == ["LRA*", "PIBT"]
    scene.tick()


def test_overlays_of_the_world_and_of_its_planner() -> None:
    scene = make(algorithm="pibt", agents=6)
    scene.tick()
    pane = scene.pane(0)
    here = pane.world.state.agents.cell
    assert (pane.draw("density", NO_AGENT)[here] >= 1).all()
    assert pane.draw("distance", 0).size == 96
    with pytest.raises(ParameterError, match="what a single agent knows"):
        pane.draw("distance", NO_AGENT)
    with pytest.raises(UnknownNameError, match="overlay 'flow'"):
        pane.draw("flow", NO_AGENT)
    with pytest.raises(ParameterError, match="no pane 1"):
        scene.pane(1)


def test_where_units_wait_there_is_heat_that_fades() -> None:
    scene = make(map="open:width=5,height=5", problem="empty")
    scene.add([(0, 0), (2, 2)])
    scene.hold([1])
    scene.paint([(1, 0), (0, 1), (1, 1)], "wall")
    scene.panes[0].world.order(0, (0, 0))
    world = scene.panes[0].world
    heat = scene.panes[0].heat
    for waits in [[(0, 0)]] * 10 + [[]] * 200:
        heat.note(5, np.array(waits, np.int32).reshape(-1, 2))
    drawn = heat.draw("waiting", world)
    assert 0 < drawn[0] < 1
    assert drawn[1:].sum() == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"map": "../../etc/passwd"}, "unknown"),
        ({"map": "/etc/passwd"}, "unknown"),
        ({"map": "bg512/AR0414SR"}, "unknown"),
        ({"map": "arena:seed=1,sed=2"}, "unknown parameter of arena 'sed'"),
        ({"map": "open:width=4096,height=4096"}, "at most 4000 cells"),
        ({"map": "crossing:room=100,length=50"}, "at most 4000 cells"),
        ({"problem": "riddle"}, "unknown kind of problem 'riddle'"),
        ({"agents": 51}, "at most 50 units"),
        ({"agents": 0}, "take the problem `empty`"),
        ({"map": "open:width=4,height=4", "agents": 17}, "17 agents need more space"),
        ({"algorithm": "os:system"}, "unknown algorithm 'os:system'"),
        ({"versus": "wend.planners.local_repair:LocalRepair"}, "unknown algorithm"),
        ({"algorithm": "mapp", "parameters": {"alternates_folder": "/tmp"}}, "unknown parameter of mapp"),
        ({"parameters": {"noise": -1}}, "noise is"),
    ],
)
def test_recipes_that_cannot_be_made_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises((ParameterError, UnknownNameError, ProblemError)) as refused:
        make(**given)
    assert says in str(refused.value)


def test_the_given_map_has_a_name_and_no_path() -> None:
    scene = make(map=GIVEN, agents=3)
    assert (scene.picture().about["width"], scene.picture().about["height"]) == (4, 2)
    with pytest.raises(UnknownNameError, match="started without one"):
        Catalogue(LIMITS).check(Recipe(map=GIVEN))


def test_no_parameter_that_a_client_may_set_is_a_free_text() -> None:
    catalogue = Catalogue(LIMITS)
    for algorithm in catalogue.algorithms():
        assert {p["kind"] for p in algorithm["parameters"]} <= {"int", "float", "bool", "choice"}
    assert "alternates_folder" not in [p.name for p in settable("mapp")]


def test_a_group_is_sent_to_one_place() -> None:
    scene = make(problem="group")
    assert units(scene.picture())["group"].tolist() == [1] * 6


def test_a_scene_tells_which_planner_moves_the_units_and_why() -> None:
    scene = make(algorithm="auto", versus="lra")
    scene.tick()
    chosen = scene.picture().about
    assert chosen["panes"][1]["reason"] == ""
    assert chosen["panes"][0]["reason"].startswith("tick 0: weave, because ")
    scene.tick()
    assert scene.picture().about is chosen
