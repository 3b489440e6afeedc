"""Another planner takes over between two ticks, and the world keeps all of its promises."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from wend import ALGORITHMS, Grid, Planner, Snapshot, Trace, World, create
from wend.errors import FormatError, ParameterError, SnapshotError
from wend.world import snapshot as snapshots
from wend.world.comparing import first_difference
from wend.world.referee import judge_trace

YARD = """
    ............#...........
    .###........#...........
    .#.#........#.....##....
    .###........#.....##....
    ............#...........
    ........................
    ............#...........
    ....##......#...........
    ....##......#...........
    ............#...........
"""


def busy_world(planner: str = "lra", **parameters: object) -> World:
    """A group, a follower, a pinned agent, one of the program's, one that has left, and a shared goal."""
    world = World(Grid.from_text(YARD), create(planner, **parameters), seed=4)
    units = [world.add((x, y), goal=(14 + x, y)) for y in (0, 4, 5) for x in range(4, 9)]
    world.pin(world.add((12, 5)), False)
    world.pin(world.add((20, 8)))
    mine = world.add((2, 9), controlled=False)
    world.move(mine, (3, 9))
    world.order_group(units[:4], (20, 2), "attack_move")
    world.follow(units[4], mine)
    for unit in units[5:8]:
        world.order(unit, (15, 5))
    world.remove(units[9])
    return world


@pytest.mark.parametrize("key", ALGORITHMS)
def test_every_planner_takes_over_and_brings_the_agents_home(key: str) -> None:
    world = busy_world("weave")
    for _ in range(5):
        world.tick()
    orders = [world.order_of(agent) for agent in range(world.agents) if agent != 9]
    routes = [world.waypoints(agent) for agent in range(world.agents) if agent != 9]
    before = world.positions().tolist()
    world.change_planner(key)
    assert world.planner == create(key)
    assert [world.order_of(agent) for agent in range(world.agents) if agent != 9] == orders
    assert [world.waypoints(agent) for agent in range(world.agents) if agent != 9] == routes
    assert world.positions().tolist() == before
    world.run(max_ticks=12)
    world.change_planner("weave")
    assert world.run(max_ticks=400) == "done"
    assert judge_trace(world.trace()) == []


def test_from_then_on_it_does_what_it_would_do_from_there() -> None:
    """A planner that takes over knows the agents as they stand, and nothing of what was before."""
    world = World(Grid.from_text(YARD), "lra", seed=4)
    for x in range(6):
        world.add((x, 0), goal=(23 - x, 9))
    world.run(max_ticks=7)
    fresh = World(Grid.from_text(YARD), "weave", seed=4)
    for agent in range(6):
        fresh.add(world.position(agent), goal=world.goal(agent))
    fresh.state.tick = world.ticks      # their clock, which planners see
    world.change_planner("weave")
    for _ in range(20):
        world.tick()
        fresh.tick()
        assert world.positions().tolist() == fresh.positions().tolist()


def test_the_trace_and_the_hash_know_of_it(tmp_path: Path) -> None:
    world, twin = busy_world(), busy_world()
    world.tick()
    twin.tick()
    world.change_planner("surge", vision=float("inf"))
    assert world.state_hash() != twin.state_hash()
    event = world.trace().events[-1]
    assert (event.tick, event.kind, event.agent, event.data["algorithm"]) == (1, "planner", None, "surge")
    assert event.data["parameters"]["vision"] == float("inf")
    world.tick()
    twin.tick()
    world.trace().save(tmp_path / "run.wend")
    loaded = Trace.load(tmp_path / "run.wend")
    assert next(event.kind for event in loaded.events if event.tick == 1) == "planner"
    found = first_difference(loaded, twin.trace())
    assert found is not None
    assert "planner" in found.what
    twin.change_planner(create("far"))
    assert twin.trace().events[-1].data["algorithm"] == "wend.planners.far.far:Far"


def test_a_planner_event_without_a_planner_is_refused(tmp_path: Path) -> None:
    world = busy_world()
    world.change_planner("weave")
    trace = world.trace()
    del trace.events[-1].data["algorithm"]
    trace.save(tmp_path / "run.wend")
    with pytest.raises(FormatError, match="without algorithm"):
        Trace.load(tmp_path / "run.wend")


def test_the_planner_so_far_is_free_again_and_one_at_work_is_refused() -> None:
    first, second = create("lra"), create("weave")
    world = World(Grid.from_text("....."), first)
    world.add((0, 0), goal=(4, 0))
    other = World(Grid.from_text("....."), "surge")
    world.change_planner(second)
    world.change_planner(first)
    for taken in (first, other.planner):
        with pytest.raises(ParameterError, match="at work in a world already"):
            world.change_planner(taken)
    other.change_planner(second)
    assert world.run(max_ticks=9) == "done"


class TakesNotes(Planner):
    """A planner that notes down how it meets the agents."""

    def bind(self, state, seed) -> None:
        super().bind(state, seed)
        self.notes: list[tuple[str, int]] = []

    def make_room(self, agents: int) -> None:
        self.notes.append(("room for", agents))

    def agent_added(self, agent: int) -> None:
        self.notes.append(("meets", agent))

    def plan(self, proposal, budget) -> None:
        pass


def test_a_planner_that_takes_over_hears_first_how_many_agents_there_are() -> None:
    world, successor = busy_world(), TakesNotes()
    world.change_planner(successor)
    assert successor.notes == [("room for", 18), *(("meets", agent) for agent in range(18))]


@pytest.mark.parametrize("key", ["weave", "surge", "pibt"])
def test_room_for_many_agents_changes_nothing_but_the_time_it_takes(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who met 200 agents one by one, and grew with them, make the same moves."""
    grid = Grid(np.ones((30, 30)))
    runs = []
    for _ in range(2):
        world = World(grid, "lra", seed=2)
        for k in range(200):
            world.add((k % 30, k // 30), goal=(29 - k % 30, 29 - k // 30))
        world.change_planner(key)
        world.run(max_ticks=25, budget=2_000)
        runs.append(world.positions().tolist())
        monkeypatch.setattr(type(world.planner), "make_room", _one_by_one(type(world.planner).make_room))
    assert runs[0] == runs[1]


def _one_by_one(make_room):
    """A `make_room` that does not look ahead."""
    def grown(self, agents: int) -> None:
        make_room(self, min(agents, self.state.agents.cell.size))
    return grown


class CannotStart(Planner):
    """A planner that fails while it gets to know the agents."""

    def agent_added(self, agent: int) -> None:
        raise RuntimeError("no room")

    def plan(self, proposal, budget) -> None:
        pass


def test_a_planner_that_cannot_start_leaves_the_old_one_at_work() -> None:
    world, twin, broken = busy_world(), busy_world(), CannotStart()
    with pytest.raises(RuntimeError, match="no room"):
        world.change_planner(broken)
    assert not hasattr(broken, "state")
    assert world.planner == create("lra")
    for _ in range(9):
        world.tick()
        twin.tick()
    assert world.state_hash() == twin.state_hash()
    assert world.expansions == twin.expansions      # which has forgotten nothing


@pytest.mark.parametrize(
    ("key", "successor"), [*((key, "weave") for key in ALGORITHMS if key != "auto"), ("weave", "surge")]
)
def test_a_snapshot_brings_its_planner_back(key: str, successor: str) -> None:
    """To the same world, to one that never changed its planner, and to one that changed it to a third one."""
    world = busy_world(key)
    world.run(max_ticks=3)
    before = world.snapshot()
    world.run(max_ticks=4)
    hash_of_first = world.state_hash()
    world.restore(before)
    world.change_planner(successor)
    world.tick()
    after = world.snapshot()
    world.run(max_ticks=4)
    hash_of_second = world.state_hash()

    third = busy_world(key)
    third.change_planner("far")
    for place in (world, busy_world(key), third):
        for taken, planner, expected in (
            (before, create(key), hash_of_first), (after, create(successor), hash_of_second),
        ) * 2:  # fmt: skip
            for read in (taken, Snapshot.from_bytes(bytes(taken))):
                place.restore(read)
                assert place.planner == planner
                place.run(max_ticks=4)
                assert place.state_hash() == expected


def test_the_planner_of_a_snapshot_must_be_known() -> None:
    world = busy_world("weave")
    world.change_planner(StandsStill())
    whole = bytes(world.snapshot())
    name = f"{__name__}:StandsStill".encode()
    assert name in whole
    for other in (b"os:" + b"x" * (len(name) - 3), name[:-1] + b"?"):
        data = whole[:-16].replace(name, other)
        with pytest.raises(SnapshotError, match="which this program has not loaded"):
            world.restore(Snapshot.from_bytes(data + snapshots._digest(data)))
    data = whole[:-16].replace(b'"window":', b'"windov":')
    with pytest.raises(SnapshotError):
        world.restore(Snapshot.from_bytes(data + snapshots._digest(data)))
    world.restore(Snapshot.from_bytes(whole))


class StandsStill(Planner):
    """A planner as its user writes it."""

    def plan(self, proposal, budget) -> None:
        pass


def test_copies_go_on_with_the_new_planner() -> None:
    world = busy_world()
    world.tick()
    world.change_planner("weave", window=5)
    twins = [copy.deepcopy(world), pickle.loads(pickle.dumps(world))]
    for each in (world, *twins):
        each.run(max_ticks=20)
        assert each.planner == create("weave", window=5)
        assert each.state_hash() == world.state_hash()


def test_a_new_planner_has_time_to_move_before_the_run_is_called_stuck() -> None:
    world = World(Grid.from_text("....."), StandsStill())
    world.add((0, 0), goal=(4, 0))
    assert world.run(max_ticks=50, stuck_ticks=8) == "stuck"
    world.change_planner("lra")
    assert world.run(max_ticks=50, stuck_ticks=8) == "done"
