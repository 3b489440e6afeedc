"""A call to a world happens as a whole or not at all, and one at a time."""

from __future__ import annotations

import copy
import gc
import math
import multiprocessing
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.interrupts import Interrupt
from wend import ALGORITHMS, Budget, Grid, Planner, Problem, World, create, solve
from wend.errors import InUseError, MapError, ParameterError, ViolationError, WendError
from wend.groups import map_marker
from wend.planners.base import Proposal
from wend.planners.local_repair import LocalRepair
from wend.run import Limits
from wend.world.referee import judge_trace
from wend.world.trace import Trace

DRAWING = """
    ..........
    ..@@@.....
    ......@@..
    ..........
"""
NO_POINTS = [(99, 99), (-1, 0), (0.5, 3), (math.nan, 0), "ab", (1, 2, 3), (2**70, 0), None, 7, (True, 0), {1: 2, 3: 4}]
NO_AGENTS = [99, -1, 2**70, 0.5, "0", None, True, [0], np.array([0, 1]), math.nan]


def busy_world(planner: Planner | str = "lra") -> World:
    """A world in which everything that a world has is there: a group on its way, announced moves, a dead agent."""
    world = World(Grid.from_text(DRAWING), planner, seed=2)
    for x in range(6):
        world.add((x, 0), (9 - x, 3))
    world.add((9, 0), controlled=False)
    world.remove(4)
    world.order_group([0, 1], (8, 3))
    world.order(5, (8, 3))
    world.follow(3, 6)
    world.tick()
    world.move(6, (9, 1))
    return world


def seen(world: World) -> tuple[Any, ...]:
    """All that can be seen of a world."""
    agents = world.living().tolist()
    return (
        world.state_hash(), world.grid.to_text(), world.grid.component.tolist(), world.ticks, world.expansions,
        [array.tolist() for array in world.state.agents], world.state.occupant.tolist(),
        [(world.agent_state(a), world.order_of(a), world.waypoints(a), world.intent(a)) for a in agents],
        world._dispatch._claims._holder.tolist(), world._dispatch._claims._sent.tolist(), world.events(),
        world.trace().events, world.trace().moves.tolist(), world.violations,
    )  # fmt: skip


def goes_on_alike(world: World, twin: World) -> bool:
    """Whether two worlds see the same and do the same from here on, announced moves included."""
    if seen(world) != seen(twin):
        return False
    for _ in range(6):
        world.tick()
        twin.tick()
    return seen(world) == seen(twin)


def bad_calls() -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    for point in NO_POINTS:
        calls += [("add", (point,), {}), ("order", (0, point), {}), ("order_group", ([0, 1], point), {})]
        calls += [("move", (6, point), {}), ("block", ([(0, 3), point],), {}), ("unblock", ([(2, 1), point],), {})]
        calls.append(("teleport", (0, point), {}))
        if point is not None:
            calls.append(("add", ((0, 3), point), {}))
    for agent in NO_AGENTS:
        calls += [("remove", (agent,), {}), ("order", (agent, (0, 3)), {}), ("order_group", ([0, agent], (0, 3)), {})]
        calls += [("pin", (agent,), {}), ("move", (agent, (8, 1)), {}), ("position", (agent,), {})]
        calls += [("goal", (agent,), {}), ("waypoints", (agent,), {}), ("agent_state", (agent,), {})]
        calls += [("intent", (agent,), {}), ("teleport", (agent, (0, 3)), {}), ("order_of", (agent,), {})]
        calls += [("follow", (agent, 0), {}), ("follow", (0, agent), {})]
    calls += [("teleport", (0, place), {}) for place in ((9, 0), (2, 1), (9, 1))]
    calls += [("follow", (0, 0), {}), ("follow", (6, 0), {})]
    calls += [("block", ((3, 3),), {}), ("unblock", (np.array([2, 1]),), {})]
    calls += [("on", ("arrive", print), {}), ("on", (5, print), {}), ("on", ("arrived", 5), {})]
    calls += [("on", ("arrived", None), {}), ("off", ("arrived", print), {}), ("off", ("arrive", print), {})]
    for series in (5, None, "ab", 0.5):
        calls += [("block", (series,), {}), ("unblock", (series,), {}), ("order_group", (series, (0, 3)), {})]
    for value in (2, "yes", None, 0.5):
        calls += [("add", ((0, 3),), {"controlled": value}), ("add", ((0, 3),), {"pinned": value})]
        calls.append(("pin", (0, value), {}))
    for value in (0, -1, 1.5, "5", math.nan, True, [3], 2**70):
        calls += [("tick", (), {"budget": value}), ("run", (), {"max_ticks": 3, "budget": value})]
    for value in (0, -1, "5", math.nan, True, [3]):
        calls += [("tick", (), {"budget_ms": value}), ("run", (), {"max_ticks": 3, "budget_ms": value})]
    for value in (-1, 1.5, "5", math.nan, [3]):
        calls += [("run", (), {"max_ticks": value}), ("run", (), {"max_expansions": value})]
        calls.append(("run", (), {"max_ticks": 3, "stuck_ticks": value}))
    for value in (-1, "5", math.nan, [3]):
        calls.append(("run", (), {"time_limit_s": value}))
    calls += [("run", (), {"max_ticks": 1, "progress": 3}), ("run", (), {})]
    calls += [("order_group", ([0, 0], (0, 3)), {}), ("order_group", ([0, 6], (0, 3)), {})]
    calls += [("order_group", ([0], (0, 3), mode), {}) for mode in ("fly", 5, None, [])]
    calls += [("add", ((9, 0),), {}), ("add", ((2, 1),), {}), ("add", ((9, 1),), {}), ("move", (0, (0, 1)), {})]
    calls += [("change_planner", (planner,), {}) for planner in (5, None, "", "wave", LocalRepair)]
    calls += [("change_planner", ("lra",), {"nose": 1}), ("change_planner", ("lra",), {"noise": "loud"})]
    calls += [("move", (6, (5, 3)), {}), ("block", ([(9, 3), (9, 1)],), {}), ("block", ([(9, 3), (9, 0)],), {})]
    return calls


@pytest.mark.small
def test_bad_arguments_are_wend_errors_and_change_nothing() -> None:
    world, twin = busy_world(), busy_world()
    before = seen(world)
    for name, given, options in bad_calls():
        with pytest.raises(WendError):
            print(name, given, options, getattr(world, name)(*given, **options))
        assert world.state_hash() == before[0], (name, given, options)
    assert goes_on_alike(world, twin)


@pytest.mark.small
@pytest.mark.parametrize(
    "call",
    [
        lambda: World("map", "lra"), lambda: World(Grid.from_text("."), 5), lambda: World(Grid.from_text("."), None),
        lambda: World(Grid.from_text("."), "lra", seed=0.5), lambda: World(Grid.from_text("."), "lra", seed=2**63),
        lambda: World(Grid.from_text("."), "lra", record="no"), lambda: World.from_problem("problem", "lra"),
        lambda: World(Grid.from_text("."), "lra", on_violation=[]),
        lambda: Grid("ab"), lambda: Grid([[1, 2, 3]]), lambda: Grid([[0.5]]), lambda: Grid([[None]]),
        lambda: Grid([[math.nan]]), lambda: Grid([["a"]]), lambda: Grid([[1], [1, 2]]),
        lambda: Grid(None), lambda: Grid.from_text(5),
        lambda: Grid([[1]], connectivity="8"), lambda: Grid([[1]], connectivity=np.array([8, 8])),
        lambda: Grid([[1]], corner_cutting="no"),
        *(lambda p=p: Grid.from_text(DRAWING).block([(0, 0), p]) for p in NO_POINTS),
        *(lambda p=p: Grid.from_text(DRAWING).unblock([(2, 1), p]) for p in NO_POINTS),
        *(lambda p=p: Grid.from_text(DRAWING).neighbours(p) for p in NO_POINTS),
        *(lambda p=p: Grid.from_text(DRAWING).reachable((0, 0), p) for p in NO_POINTS),
        *(lambda p=p: Grid.from_text(DRAWING).free_cell(p) for p in NO_POINTS),
        *(lambda p=p: Grid.from_text(DRAWING).cell(p, 0) for p in (0.5, "a", None, -1, 99, 2**70)),
        *(lambda p=p: Grid.from_text(DRAWING).xy(p) for p in (0.5, "a", None, -1, 99, 2**70)),
        *(lambda p=p: Problem.from_points(Grid.from_text(DRAWING), [p], [(0, 0)]) for p in NO_POINTS),
        lambda: Problem.from_points(Grid.from_text(DRAWING), 5, [(0, 0)]), lambda: Problem("g", [0], [0]),
        lambda: Problem(Grid.from_text(DRAWING), [[0], [0, 1]], [0]),
        lambda: solve("problem", "lra"), lambda: Limits(max_ticks=None), lambda: Limits(max_ticks=-1),
        lambda: Limits(seconds=math.nan), lambda: Limits(expansions=1.5),
        lambda: solve(Problem(Grid.from_text(DRAWING), [0], [1]), 7),
        lambda: solve(Problem(Grid.from_text(DRAWING), [0], [1]), "lra", 100),
        lambda: solve(Problem(Grid.from_text(DRAWING), [0], [1]), "lra", seed="a"),
        lambda: solve(Problem(Grid.from_text(DRAWING), [0], [1]), "lra", budget=1.5),
        lambda: create("lra", calm_moves=2**63), lambda: create("lra", calm_moves=np.float32(1.5)),
        lambda: create("lra", calm_moves=None), lambda: create("far", patience=2**31), lambda: create("lra", noise=[1]),
    ],
)  # fmt: skip
def test_bad_arguments_elsewhere_are_wend_errors_too(call: Callable[[], Any]) -> None:
    with pytest.raises(WendError):
        call()


@pytest.mark.small
def test_bad_arguments_are_named() -> None:
    world = busy_world()
    for call, message in (
        (lambda: world.block((3, 3)), r"points is a series of points \(x, y\), not \[3, 3\]: put the one point into"),
        (lambda: world.order(0, (0.5, 3)), r"goal is a point \(x, y\) of whole numbers, not \(0.5, 3\)"),
        (lambda: world.order(0, None), "goal is a point .* not None"),
        (lambda: world.teleport(0, None), "to is a point .* not None"),
        (lambda: world.follow(0, None), "other is a whole number, not None"),
        (lambda: world.on("arrived", None), "listener is a function, not None"),
        (lambda: Grid([[1, 2, 3]]), "a map holds True and False, or 1 and 0"),
    ):
        with pytest.raises(WendError, match=message):
            call()


@pytest.mark.small
def test_the_map_of_a_world_is_edited_by_the_world_alone() -> None:
    world = busy_world()
    for edit in (world.grid.block, world.grid.unblock, world.state.grid.block, copy.deepcopy(world).grid.block):
        with pytest.raises(MapError, match="belongs to a world"):
            edit([(0, 3)])
    with pytest.raises(MapError, match="belongs to a world"):
        world.grid.take_back([], np.empty(0, np.bool_))
    own = world.grid.copy()
    own.block([(0, 3)])
    assert world.grid.is_free((0, 3))
    world.block([(0, 3)])
    assert not world.grid.is_free((0, 3))
    assert world.grid == own


@pytest.mark.small
def test_a_failed_edit_of_a_grid_changes_nothing() -> None:
    grid = Grid.from_text(DRAWING)
    with pytest.raises(MapError):
        grid.block([(0, 0), (99, 0)])
    assert grid == Grid.from_text(DRAWING)


@pytest.mark.small
def test_numpys_numbers_are_welcome() -> None:
    grid = Grid.from_text(DRAWING)
    plain, numpys = World(grid, "lra", seed=5), World(grid, "lra", seed=np.int64(5))
    for world, wrap in ((plain, lambda value: value), (numpys, np.array)):
        for x in range(4):
            world.add(wrap((x, 0)), wrap((9 - x, 3)), pinned=wrap(x == 0), controlled=wrap(x < 3))
        world.order(wrap(1), wrap((9, 0)))
        world.order_group(wrap([0, 2]), wrap((8, 2)))
        world.block(wrap([[3, 3], [4, 3]]))
        world.unblock(wrap([[3, 3]]))
        world.pin(wrap(1), wrap(True))
        world.move(wrap(3), wrap((4, 0)))
        world.tick(budget=wrap(50))
        world.remove(wrap(1))
        world.tick(budget=wrap(50), budget_ms=wrap(1e6))
        world.run(max_ticks=wrap(5), time_limit_s=wrap(100.0), max_expansions=wrap(1000))
    assert numpys.state_hash() == plain.state_hash()
    numpys.trace(seed=numpys.seed)


def test_a_trace_with_numpys_numbers_can_be_saved(tmp_path) -> None:
    world = World(Grid(np.ones((4, 5)), connectivity=np.int64(8)), "lra", seed=np.int64(1))
    world.add(np.array([0, 0]), np.array([4, 3]))
    world.block(np.array([[3, 0], [3, 1]]))
    world.pin(np.int64(0), np.bool_(True))
    world.tick()
    world.trace().save(tmp_path / "run.wend")
    assert Trace.load(tmp_path / "run.wend").positions().tolist() == world.trace().positions().tolist()


@pytest.mark.small
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (2, 2), (2, 9), (3, 3), (3, 8), (7, 2)])
@pytest.mark.parametrize("mode", ["move", "attack_move"])
def test_groups_are_ordered_on_narrow_maps(size: tuple[int, int], mode: str) -> None:
    grid = Grid(np.ones(size))
    world = World(grid, "lra")
    group = [world.add(grid.xy(cell)) for cell in range(0, grid.size, 2)]
    answers = world.order_group(group, grid.xy(grid.size - 1), mode)
    assert len({answer.goal for answer in answers}) == len(group)
    world.run(max_ticks=20)


@pytest.mark.small
def test_a_group_may_be_added_as_it_is_ordered() -> None:
    world = World(Grid.from_text(DRAWING), "lra")
    assert len(world.order_group((world.add((x, 0)) for x in range(3)), (9, 3))) == 3


@dataclass
class Fails(Planner):
    """Moves nobody, and raises when it is told to."""

    def __post_init__(self) -> None:
        self.fails_in = ""
        self.known: list[int] = []

    def bind(self, state, seed) -> None:
        super().bind(state, seed)
        self.known = []

    def _fail(self, name: str) -> None:
        if self.fails_in == name:
            raise RuntimeError(name)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        assert sorted(self.known) == np.flatnonzero(self.state.agents.cell >= 0).tolist()
        budget.spend(3)
        self._fail("plan")

    def agent_added(self, agent: int) -> None:
        assert agent not in self.known
        assert self.state.occupant[self.state.agents.cell[agent]] == agent
        self.known.append(agent)
        self._fail("agent_added")

    def agent_removed(self, agent: int) -> None:
        self.known.remove(agent)
        self._fail("agent_removed")

    def agent_retasked(self, agent: int) -> None:
        self._fail("agent_retasked")

    def cells_changed(self, cells) -> None:
        self._fail("cells_changed")


@pytest.mark.small
@pytest.mark.parametrize(
    ("event", "call"),
    [
        ("agent_added", lambda world: world.add((0, 3), (9, 1))),
        ("agent_removed", lambda world: world.remove(0)),
        ("agent_retasked", lambda world: world.order(0, (0, 3))),
        ("agent_retasked", lambda world: world.order(2, (8, 3))),
        ("agent_retasked", lambda world: world.follow(2, 0)),
        ("agent_retasked", lambda world: world.remove(next(k for k in (0, 1, 5) if not world.order_of(k).shared))),
        ("agent_removed", lambda world: world.teleport(2, (0, 3))),
        ("agent_added", lambda world: world.teleport(2, (0, 3))),
        ("agent_retasked", lambda world: world.order_group([0, 1, 2], (1, 3), "attack_move")),
        ("agent_retasked", lambda world: world.block([(5, 3), (8, 3), (9, 3), (0, 3)])),
        ("cells_changed", lambda world: world.block([(6, 3), (5, 3)])),
        ("cells_changed", lambda world: world.unblock([(2, 1), (3, 1)])),
        ("plan", lambda world: world.tick()),
    ],
)
def test_a_call_whose_planner_raises_changes_nothing(event: str, call: Callable[[World], Any]) -> None:
    world, twin = busy_world(Fails()), busy_world(Fails())
    assert isinstance(world.planner, Fails)
    world.planner.fails_in = event
    with pytest.raises(RuntimeError, match=event):
        call(world)
    world.planner.fails_in = ""
    assert goes_on_alike(world, twin)
    call(world)
    world.tick()


@pytest.mark.small
def test_a_violation_leaves_the_world_as_it_was() -> None:
    world = busy_world(Fails())
    before = seen(world)
    plan = world.planner.plan
    world.planner.plan = lambda proposal, _: proposal.next_cell.fill(0)    # type: ignore[method-assign]
    with pytest.raises(ViolationError):
        world.tick()
    world.planner.plan = plan       # type: ignore[method-assign]
    assert seen(world) == before
    world.tick()
    assert world.position(6) == (9, 1)      # the announced move is still to be made


@pytest.mark.small
def test_a_refused_budget_does_not_cancel_announced_moves() -> None:
    world = busy_world()
    with pytest.raises(ParameterError, match="allows no search"):
        world.tick(budget=0)
    world.tick()
    assert world.position(6) == (9, 1)


@pytest.mark.small
def test_a_planner_works_in_one_world() -> None:
    planner = create("lra")
    world = busy_world(planner)
    before = seen(world)
    with pytest.raises(ParameterError, match="at work in a world already"):
        World(Grid.from_text("...."), planner)
    assert seen(world) == before
    world.tick()


@pytest.mark.small
def test_a_planner_that_refused_one_map_may_take_another() -> None:
    class Choosy(Fails):
        def bind(self, state, seed) -> None:
            super().bind(state, seed)
            if state.grid.size < 9:
                raise MapError("too small")

    planner = Choosy()
    with pytest.raises(MapError, match="too small"):
        World(Grid.from_text("."), planner)
    World(Grid.from_text(DRAWING), planner).tick()


# --- interrupts ------------------------------------------------------------------------------------------------------


def check_whole(world: World) -> None:
    """World, trace and occupancy agree, and nothing in the trace is illegal."""
    trace = world.trace()
    assert judge_trace(trace) == []
    assert trace.ticks == world.ticks
    here, there = world.state.agents.cell, [world.index_of(agent) for agent in world.living().tolist()]
    assert trace.positions()[-1][world.living()].tolist() == here[there].tolist()
    occupied = np.flatnonzero(world.state.occupant >= 0)
    assert dict(zip(here[there].tolist(), there, strict=True)) == dict(
        zip(occupied.tolist(), world.state.occupant[occupied].tolist(), strict=True)
    )


CALLS: dict[str, Callable[[World], Any]] = {
    "tick": lambda world: world.tick(),
    "add": lambda world: world.add((0, 3), (9, 1)),
    "remove": lambda world: world.remove(0),
    "order": lambda world: world.order(0, (0, 3)),
    "order to a place that is taken": lambda world: world.order(2, (8, 3)),
    "follow": lambda world: world.follow(2, 5),
    "teleport": lambda world: world.teleport(3, (0, 3)),
    "order_group": lambda world: world.order_group([1, 2, 3], (1, 3), "attack_move"),
    "order_group within a budget": lambda world: world.order_group([1, 2, 3], (1, 3), "attack_move", budget=3),
    "pin": lambda world: world.pin(2),
    "move": lambda world: world.move(6, (8, 0)),
    "block": lambda world: world.block([(5, 3), (8, 1), (8, 3)]),
    "unblock": lambda world: world.unblock([(2, 1), (6, 2)]),
    "change_planner": lambda world: world.change_planner("lra", noise=2),
}


def looks(world: World) -> list[Any]:
    """What a program sees of a world without a call to it."""
    arrays = (world.positions(), world.previous_positions(), world.goals(), world.states(), world.grid.free)
    return [world.ticks, world.quiet(), world.events(), *(array.tolist() for array in arrays)]


@pytest.mark.small
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_at_any_line_leaves_a_whole_world(name: str) -> None:
    """It is as it was, or as the call makes it, and goes on legally. The call can be made again.

    A tick made again may differ, because the planner forgot what it had in mind.
    """
    world, call = busy_world(), CALLS[name]
    call(copy.deepcopy(world))      # kernels are loaded now
    vars(map_marker._kept).clear()  # so that each call makes as many lines as the last: none finds a workspace
    done, all_lines = copy.deepcopy(world), Interrupt(10**6)
    all_lines.during(lambda: call(done))
    count = 10**6 - all_lines.lines_left
    assert count > 10
    results, step = set(), max(7, count // 100)         # without the compiler, there are thousands of lines
    for lines in range(1, count + 1):
        if 60 < lines < count - 40 and lines % step:    # all lines at its begin and its end, some between
            continue
        vars(map_marker._kept).clear()
        struck, interrupt = copy.deepcopy(world), Interrupt(lines)
        assert interrupt.during(lambda struck=struck: call(struck))
        shown = looks(struck)
        results.add(struck.state_hash())
        assert looks(struck) == shown, interrupt.at     # what was seen before the next call is what there is
        check_whole(struck)
        if struck.state_hash() == world.state_hash():
            if name not in ("block", "unblock"):        # there the labels of components may have other numbers
                assert seen(struck)[2:7] == seen(world)[2:7], interrupt.at
            call(struck)
        assert name == "tick" or struck.state_hash() == done.state_hash(), interrupt.at
        assert struck.grid == done.grid
        struck.tick()
        check_whole(struck)
    assert world.state_hash() in results
    assert results <= {world.state_hash(), done.state_hash()}


@pytest.mark.parametrize("key", ALGORITHMS)
def test_every_planner_survives_an_interrupted_tick(key: str) -> None:
    """Whatever line it is interrupted at, the run goes on legally, and the same way from wherever plan() was left."""
    world = busy_world(create(key))
    hashes = set()
    lines = 1
    while True:
        struck, interrupt = copy.deepcopy(world), Interrupt(lines)
        if not interrupt.during(struck.tick):
            break
        check_whole(struck)
        struck.run(max_ticks=5)
        struck.block([(0, 1)] if struck.state.occupant[10] < 0 else [])
        struck.run(max_ticks=8)
        check_whole(struck)
        hashes.add(struck.state_hash())
        lines += 3
    assert len(hashes) <= 3     # interrupted before the planner was called, while it was at work, or after


def interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.small
def test_a_second_interrupt_while_the_first_is_taken_back() -> None:
    world = busy_world()
    before = world.state_hash()
    for lines in range(1, 90):
        struck = copy.deepcopy(world)
        struck.planner.plan = interrupted       # type: ignore[method-assign]
        Interrupt(lines).during(struck.tick)
        del struck.planner.plan         # type: ignore[method-assign]
        assert struck.state_hash() == before
        check_whole(struck)
        struck.tick()
        check_whole(struck)


# --- one at a time ---------------------------------------------------------------------------------------------------


@dataclass
class Waits(Planner):
    """Plans for as long as the test wants."""

    def __post_init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        self.begun.set()
        assert self.may_end.wait(60)


def test_a_second_thread_gets_an_error_at_once() -> None:
    planner = Waits()
    world = World(Grid.from_text(DRAWING), planner)
    world.add((0, 0), (9, 0))
    before = world.state_hash()
    ticking = threading.Thread(target=world.tick)
    ticking.start()
    assert planner.begun.wait(60)
    for call in (world.tick, lambda: world.order(0, (1, 0)), lambda: world.add((3, 0)), lambda: copy.deepcopy(world)):
        with pytest.raises(InUseError, match="another thread was in the middle of tick"):
            call()
    planner.may_end.set()
    ticking.join()
    assert world.ticks == 1
    assert world.state_hash() != before
    world.order(0, (1, 0))


@pytest.mark.small
def test_a_planner_may_not_call_its_world() -> None:
    world = busy_world(Fails())
    before = world.state_hash()
    world.planner.plan = lambda *_: world.remove(0)   # type: ignore[method-assign]
    with pytest.raises(InUseError, match="remove was called while this thread was in the middle of tick"):
        world.tick()
    assert world.state_hash() == before


@pytest.mark.small
@pytest.mark.parametrize("collects", [True, False])
def test_no_garbage_is_collected_while_a_second_call_looks_for_the_first(monkeypatch, collects: bool) -> None:
    """Python 3.11 hangs if it does, once in many thousand times."""
    seen, list_frames = [], sys._current_frames

    def watched() -> dict[int, Any]:
        seen.append(gc.isenabled())
        return list_frames()

    monkeypatch.setattr(sys, "_current_frames", watched)
    (gc.enable if collects else gc.disable)()
    try:
        test_a_planner_may_not_call_its_world()
        assert gc.isenabled() is collects
    finally:
        gc.enable()
    assert seen == [False]


def _tick_in_child(world: World, answers: Any) -> None:
    world.run(max_ticks=5)
    answers.put(world.state_hash())


def test_a_forked_world_makes_its_own_threads() -> None:
    world = busy_world(create("surge", threads=2))
    world.tick()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_tick_in_child, args=(world, answers), daemon=True)
    child.start()
    answer = answers.get(timeout=120)
    child.join()
    world.run(max_ticks=5)
    assert answer == world.state_hash()


# --- copies ----------------------------------------------------------------------------------------------------------

COPIED: list[tuple[str, dict[str, Any]]] = [
    *((key, {}) for key in ALGORITHMS), ("surge", {"threads": 2}), ("whca", {"abstraction": 1}),
    ("far", {"flow": "local"}), ("bmaa", {"heuristic": "blocks", "push": True}),
]  # fmt: skip


def vacant(world: World) -> tuple[int, int]:
    """The last free place on which no agent stands."""
    return world.grid.xy(int(np.flatnonzero(world.grid.free & (world.state.occupant < 0))[-1]))


@pytest.mark.parametrize(("key", "options"), COPIED)
@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda world: pickle.loads(pickle.dumps(world))])
def test_copies_go_on_like_the_original_and_apart_from_it(key: str, options: dict[str, Any], copied: Any) -> None:
    world = busy_world(create(key, **options))
    world.run(max_ticks=2)
    twin, other = copied(world), copied(world)
    other.block([vacant(other)])
    other.unblock([(2, 1), (3, 1), (4, 1)])
    other.remove(2)
    for both in (world, twin):
        both.run(max_ticks=3)
        both.unblock([(2, 1), (3, 1), (4, 1)])
        both.add(vacant(both), (3, 1))
        both.run(max_ticks=8)
        both.block([vacant(both)])
        both.run(max_ticks=8)
        check_whole(both)
    assert twin.state_hash() == world.state_hash()
    assert other.ticks == 3
    other.run(max_ticks=10)
    check_whole(other)
