"""A state machine that does to a world whatever a program may do, and what it may not, while the referee watches.

It runs for every planner and for every option, on small maps. For longer runs, by hand:

    WEND_MACHINE_EXAMPLES=200 WEND_MACHINE_TICKS=200 NUMBA_BOUNDSCHECK=1 python -m pytest -n auto \\
        tests/properties/test_world_machine.py
"""

from __future__ import annotations

import copy
import math
import os
import pickle
import tempfile
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.captures import assert_holds_all
from tests.golden.runs import OPTIONS
from tests.interrupts import Interrupt
from tests.reference.conduct import state_name
from wend import ALGORITHMS, Grid, Snapshot, World, create, warm_up
from wend.errors import InUseError, WendError
from wend.kernel import NO_AGENT, NO_CELL
from wend.planners.mapp.mapp import Mapp
from wend.world.referee import judge_trace

EXAMPLES = int(os.environ.get("WEND_MACHINE_EXAMPLES", "0"))    # 0: as many as below
MOST, FEW = (4, 1) if os.environ.get("NUMBA_DISABLE_JIT") == "1" else (10, 3)      # for planners, and for options
TICKS = int(os.environ.get("WEND_MACHINE_TICKS", "20"))      # at most, in one go

SIZES = ((9, 7), (9, 7), (9, 7), (9, 7), (1, 1), (12, 1), (1, 9), (2, 2), (8, 2), (2, 7), (3, 3), (3, 8))
CORRIDORS = """
    @@@@.@@@@
    .........
    @@@@.@@@@
    @@@@.@...
    .........
    @.@@@@@.@
    @.......@
"""
SHORT = {"lacam": {"max_expansions": 100}}      # it tries as many configurations wherever there is no plan
OLD_OPTIONS: list[tuple[str, dict[str, Any]]] = [(key, {**SHORT.get(key, {}), **options}) for key, options in OPTIONS]
MORE_OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("ca", {"max_states": 100, "forbid_cross": True}),
    ("far", {"flow": "none", "commit": "slide"}),
    ("bmaa", {"expansions": 3, "moves": 2, "vision": 3.5, "flow": "local"}),
    ("bmaa", {"vision": math.inf, "threads": 3, "heuristic": "blocks"}),
    ("mapp", {"alternates_folder": "a folder of its own"}),
    ("lacam", {"max_expansions": 100, "anytime_ms": 2.0, "guides": False}),
    ("whca", {"abstraction": 1, "boxed_in": "push", "order": "age"}),
    ("lacam-rt", {"refinement": 200, "lead": 5, "configurations": 3}),
    ("auto", {}),
    ("auto", {"offline": True, "switch": False, "model": "no such file"}),
]
MACHINES = OLD_OPTIONS + MORE_OPTIONS

small = st.integers(0, 63)
spots = st.tuples(small, small)         # a place, once it is folded onto the map
NO_PLACES = ((99, 0), (-1, 0), (0.5, 0), (math.nan, 0), "ab", (0, 0, 0), 7)
STRANGE = World(Grid.from_text(".@."), "lra").snapshot()
NO_AGENTS = (999, -1, 0.5, "0", None, True)


class WorldMachine(RuleBasedStateMachine):
    """What a program may do to a world, in any order. A violation raises inside `tick`."""

    algorithm = "lra"
    options: dict[str, Any] = {}        # noqa: RUF012

    @initialize(
        seed=st.integers(0, 2**16), size=st.sampled_from([*SIZES, None]), crowd=st.integers(0, 24),
        rules=st.sampled_from([{"connectivity": 4}, {}, {"corner_cutting": True}]),
    )  # fmt: skip
    def begin(self, seed: int, size: tuple[int, int] | None, crowd: int, rules: dict[str, Any]) -> None:
        draw = np.random.default_rng(seed)
        if size is None:
            grid = Grid.from_text(CORRIDORS, **rules)
        else:
            grid = Grid(draw.random((size[1], size[0])) < (0.8 if min(size) > 2 else 0.95), **rules)
        self.world = World(grid, create(self.algorithm, **self.options), seed=seed)
        self.there: set[int] = set()
        self.mine: set[int] = set()
        self.announced: dict[int, tuple[int, int]] = {}
        self.kept: list[tuple[Any, ...]] = []           # snapshots, and what the world looked like
        starts, goals = draw.permutation(grid.free_cells())[:crowd], draw.permutation(grid.free_cells())[:crowd]
        for start, goal in zip(starts.tolist(), goals.tolist(), strict=True):
            self.there.add(self.world.add(grid.xy(start), grid.xy(goal)))

    def place(self, spot: tuple[int, int]) -> tuple[int, int]:
        return spot[0] % self.world.grid.width, spot[1] % self.world.grid.height

    def vacant(self, place: tuple[int, int]) -> bool:
        cell = self.world.grid.cell(*place)
        is_empty = self.world.state.occupant[cell] == NO_AGENT and place not in self.announced.values()
        return self.world.grid.is_free(place) and is_empty

    def fingerprint(self) -> tuple[Any, ...]:
        """All that a call may change, except for what the planner has in mind."""
        world, claims = self.world, self.world._dispatch._claims
        return (
            world.state_hash(), world.grid.digest(), world.grid.component.tolist(), world.ticks, world.expansions,
            [array.tolist() for array in world.state.agents], world.state.occupant.tolist(), dict(world._announced),
            [(world.agent_state(agent).name, world.agent_state(agent).waited_ticks, world.order_of(agent),
              world.waypoints(agent)) for agent in sorted(self.there)],
            len(world.trace().events), world.positions().tolist(), world.previous_positions().tolist(),
            world.events(), world.quiet(), claims._holder.tolist(), claims._sent.tolist(), claims._shared,
            dict(world._dispatch._pursuits._followed), sorted(claims.unsettled), repr(world.planner),
        )  # fmt: skip

    def follow(self) -> None:
        """Learn from the world what an interrupted call came to."""
        self.there = set(self.world.living().tolist())
        controlled, index_of, xy = self.world.state.agents.controlled, self.world.index_of, self.world.grid.xy
        self.mine = {agent for agent in self.there if not controlled[index_of(agent)]}
        announced = self.world._announced
        self.announced = {agent: xy(announced[index_of(agent)]) for agent in self.mine if index_of(agent) in announced}

    @rule(at=spots, goal=spots, controlled=st.booleans(), pinned=st.booleans(), wrap=st.booleans())
    def add(self, at, goal, controlled, pinned, wrap) -> None:
        at, goal = self.place(at), self.place(goal)
        if self.vacant(at) and len(self.there) < 30:
            place = np.array if wrap else tuple
            flag = np.bool_ if wrap else bool
            agent = self.world.add(place(at), place(goal), controlled=flag(controlled), pinned=flag(pinned))
            self.there.add(agent)
            if not controlled:
                self.mine.add(agent)

    @precondition(lambda self: self.there)
    @rule(data=st.data(), wrap=st.booleans())
    def remove(self, data, wrap) -> None:
        agent = data.draw(st.sampled_from(sorted(self.there)))
        self.world.remove(np.int32(agent) if wrap else agent)
        self.there.discard(agent)
        self.mine.discard(agent)
        self.announced.pop(agent, None)

    @rule()
    def remove_all(self) -> None:
        for agent in sorted(self.there):
            self.world.remove(agent)
        self.there.clear()
        self.mine.clear()
        self.announced.clear()

    @precondition(lambda self: self.there)
    @rule(data=st.data(), goal=spots, wrap=st.booleans())
    def order(self, data, goal, wrap) -> None:
        agent, goal = data.draw(st.sampled_from(sorted(self.there))), self.place(goal)
        answer = self.world.order(np.int64(agent), np.array(goal)) if wrap else self.world.order(agent, goal)
        assert self.world.grid.reachable(self.world.position(agent), answer.goal)
        assert answer.reachable == self.world.grid.reachable(self.world.position(agent), goal)

    @rule(goal=spots)
    def share_a_goal(self, goal) -> None:
        for agent in sorted(self.there):
            self.world.order(agent, self.place(goal))

    @precondition(lambda self: self.there - self.mine)
    @rule(
        data=st.data(), spot=spots, mode=st.sampled_from(["move", "attack_move"]), wrap=st.booleans(),
        budget=st.none() | st.integers(1, 60),
    )  # fmt: skip
    def order_group(self, data, spot, mode, wrap, budget) -> None:
        place, theirs = self.place(spot), sorted(self.there - self.mine)
        group = data.draw(st.lists(st.sampled_from(theirs), min_size=1, max_size=12, unique=True))
        before = {agent: self.world.goal(agent) for agent in self.there}
        spent = self.world.expansions
        answers = self.world.order_group(np.array(group) if wrap else group, place, mode, budget=budget)
        assert 0 <= self.world.expansions - spent <= (budget or 0)
        assert [answer.agent for answer in answers] == group
        assert len({answer.goal for answer in answers}) == len(group)
        for answer in answers:
            here = self.world.position(answer.agent)
            assert self.world.goal(answer.agent) == answer.goal
            assert self.world.grid.reachable(here, answer.goal)
            assert answer.reachable or not self.world.grid.reachable(here, place)
        for agent in self.there.difference(group):      # the others keep their goals, or get the places they asked for
            assert self.world.goal(agent) == before[agent] or not self.world.order_of(agent).shared

    @precondition(lambda self: len(self.there) > 1 and self.there - self.mine)
    @rule(data=st.data(), wrap=st.booleans())
    def follow_another(self, data, wrap) -> None:
        agent = data.draw(st.sampled_from(sorted(self.there - self.mine)))
        other = data.draw(st.sampled_from(sorted(self.there - {agent})))
        answer = self.world.follow(np.int64(agent), np.int64(other)) if wrap else self.world.follow(agent, other)
        assert answer.asked == self.world.position(other)
        assert self.world.grid.reachable(self.world.position(agent), answer.goal)

    @precondition(lambda self: self.there)
    @rule(data=st.data(), to=spots, wrap=st.booleans())
    def teleport(self, data, to, wrap) -> None:
        agent, to = data.draw(st.sampled_from(sorted(self.there))), self.place(to)
        if self.vacant(to):
            asked = self.world.order_of(agent).asked
            self.world.teleport(agent, np.array(to) if wrap else to)
            assert self.world.position(agent) == to
            assert self.world.order_of(agent).asked == asked or agent in self.world._dispatch._pursuits.followers
            self.announced.pop(agent, None)

    @precondition(lambda self: self.there)
    @rule(data=st.data(), pinned=st.booleans(), wrap=st.booleans())
    def pin(self, data, pinned, wrap) -> None:
        self.world.pin(data.draw(st.sampled_from(sorted(self.there))), np.bool_(pinned) if wrap else pinned)

    @precondition(lambda self: self.mine)
    @rule(data=st.data(), wrap=st.booleans())
    def move(self, data, wrap) -> None:
        agent = data.draw(st.sampled_from(sorted(self.mine)))
        steps = [p for p in self.world.grid.neighbours(self.world.position(agent)) if self.vacant(p)]
        if steps:
            self.announced[agent] = data.draw(st.sampled_from(steps))
            self.world.move(agent, np.array(self.announced[agent]) if wrap else self.announced[agent])

    @rule(walls=st.lists(spots, max_size=3), wrap=st.booleans())
    def block(self, walls, wrap) -> None:
        places = [place for place in map(self.place, walls) if self.vacant(place)]
        cancelled = self.world.block(np.array(places) if wrap else places)
        for agent in cancelled:
            del self.announced[agent]
        for agent, to in self.announced.items():
            here = self.world.position(agent)
            assert to in (here, *self.world.grid.neighbours(here))

    @rule(walls=st.lists(spots, max_size=3))
    def unblock(self, walls) -> None:
        self.world.unblock(map(self.place, walls))

    @rule(ticks=st.integers(1, TICKS), budget=st.none() | st.integers(1, 60), wrap=st.booleans())
    def tick(self, ticks, budget, wrap) -> None:
        for _ in range(ticks):
            self.world.tick(budget=budget if budget is None or not wrap else np.int32(budget))
            self.announced.clear()

    @precondition(lambda self: not self.world.planner.portfolio())      # one that will hand over to another first
    @rule(budget=st.none() | st.integers(1, 60))
    def think(self, budget) -> None:
        """Nothing is changed but what the planner knows, and the record of it."""
        before, spent = self.fingerprint(), self.world.expansions
        thought = self.world.think(budget=budget)
        assert 0 <= thought <= (budget or thought)
        assert self.world.expansions == spent + thought
        after = self.fingerprint()
        noted = {0, 4, 9}                                       # hash, expansions, number of events
        assert [v for k, v in enumerate(after) if k not in noted] == [
            v for k, v in enumerate(before) if k not in noted
        ]
        assert (after[9] - before[9], after[0] != before[0]) == (thought > 0, thought > 0)

    @rule(data=st.data(), made=st.booleans())
    def change_planner(self, data, made) -> None:
        """Nothing is changed but the planner, and the record of it."""
        key, options = data.draw(st.sampled_from([(self.algorithm, self.options), ("weave", {}), ("surge", {})]))
        before, former = self.fingerprint(), self.world.planner
        if made:
            self.world.change_planner(create(key, **options))
        else:
            self.world.change_planner(key, **options)
        assert self.world.planner == create(key, **options)
        assert not hasattr(former, "state")
        after = self.fingerprint()
        assert after[9] == before[9] + 1
        assert after[1:9] + after[10:-1] == before[1:9] + before[10:-1]

    @rule(data=st.data(), spot=spots)
    def fail(self, data, spot) -> None:
        """A call that is refused changes nothing."""
        world, place = self.world, self.place(spot)
        agent = data.draw(st.sampled_from(sorted(self.there))) if self.there else 0
        no_place, no_agent = data.draw(st.sampled_from(NO_PLACES)), data.draw(st.sampled_from(NO_AGENTS))
        calls = [
            lambda: world.add(no_place), lambda: world.add(place, no_place), lambda: world.add(place, pinned="no"),
            lambda: world.remove(no_agent), lambda: world.order(agent, no_place), lambda: world.order(no_agent, place),
            lambda: world.order_group([agent, no_agent], place), lambda: world.order_group([agent, agent], place),
            lambda: world.order_group([agent], place, "fly"), lambda: world.order_group([agent], no_place),
            lambda: world.order_group([agent], place, budget=0),
            lambda: world.follow(agent, agent), lambda: world.follow(agent, no_agent),
            lambda: world.teleport(agent, no_place), lambda: world.teleport(no_agent, place),
            lambda: world.pin(agent, "no"), lambda: world.pin(no_agent), lambda: world.move(no_agent, place),
            lambda: world.move(agent, no_place), lambda: world.block([place, no_place]),
            lambda: world.block([place, world.position(agent)]), lambda: world.unblock([place, no_place]),
            lambda: world.think(budget=0), lambda: world.think(budget_ms=-1),
            lambda: world.restore(no_place), lambda: world.restore(STRANGE),
            lambda: world.change_planner("wave"), lambda: world.change_planner("weave", window=-1),
            lambda: world.change_planner(world.planner), lambda: world.change_planner(create("lra"), noise=1),
            lambda: world.tick(budget=0), lambda: world.tick(budget=1.5), lambda: world.tick(budget_ms=math.nan),
        ]  # fmt: skip
        call, before = data.draw(st.sampled_from(calls)), self.fingerprint()
        intents = [world.intent(agent) for agent in sorted(self.there)]
        with pytest.raises(WendError):
            call()
        assert self.fingerprint() == before
        assert [world.intent(agent) for agent in sorted(self.there)] == intents

    @rule(data=st.data(), lines=st.integers(1, 300), spot=spots)
    def interrupt(self, data, lines, spot) -> None:
        """A call that is interrupted happened or did not; the invariant and the judge of the trace say if it is whole.

        A tick that did not happen leaves everything as it was.
        """
        world, place = self.world, self.place(spot)
        taken = self.kept[-1][0] if self.kept else world.snapshot()
        calls: list[Any] = [world.tick, world.tick, world.tick, world.think, lambda: world.unblock([place])]
        if self.vacant(place):
            calls.append(lambda: world.block([place]))
        if self.there:
            agent = data.draw(st.sampled_from(sorted(self.there)))
            calls += [lambda: world.order(agent, place), lambda: world.pin(agent)]
            if self.vacant(place):
                calls.append(lambda: world.teleport(agent, place))
        calls += [lambda: world.restore(taken), world.snapshot, lambda: world.change_planner("weave")]
        if theirs := sorted(self.there - self.mine):
            calls.append(lambda: world.order_group(theirs, place, "attack_move"))
            calls.append(lambda: world.order_group(theirs, place, "move", budget=lines))
            calls.append(lambda: [world.order(agent, place) for agent in theirs])
            if len(theirs) > 1:
                calls.append(lambda: world.follow(theirs[0], theirs[-1]))
        call, before = data.draw(st.sampled_from(calls)), self.fingerprint()
        Interrupt(lines).during(call)
        if call == world.tick and world.ticks == before[3]:
            assert self.fingerprint() == before
        self.follow()

    @rule(copied=st.sampled_from([copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))]))
    def go_on_with_a_copy(self, copied) -> None:
        before, old = self.fingerprint(), self.world
        self.world = copied(old)
        assert self.fingerprint() == before
        old.block([place for place in [self.place((3, 3))] if self.vacant(place)])      # which is not seen by the copy
        assert self.fingerprint() == before

    @rule()
    def take_a_snapshot(self) -> None:
        """What it shares with others is what a full copy has."""
        taken = self.world.snapshot()
        assert_holds_all(taken, self.world)
        self.kept.append((taken, self.fingerprint()))

    @precondition(lambda self: self.kept)
    @rule(data=st.data(), sent=st.booleans())
    def restore(self, data, sent) -> None:
        """Back to any snapshot, or on to one; as bytes it has no trace, but what was restored before has one again."""
        taken, before = data.draw(st.sampled_from(self.kept))
        if sent:
            self.world.restore(Snapshot.from_bytes(bytes(taken)))
            assert self.world.state_hash() == before[0]
        self.world.restore(taken)
        assert_holds_all(taken, self.world)
        self.follow()
        assert self.fingerprint() == before

    @precondition(lambda self: "anytime_ms" not in self.options)
    @rule(ticks=st.integers(1, 3), budget=st.none() | st.integers(1, 60))
    def tick_twice(self, ticks, budget) -> None:
        """What happens after a snapshot happens again."""
        taken, seen = self.world.snapshot(), []
        for _ in range(2):
            self.world.restore(taken)
            for _ in range(ticks):
                self.world.tick(budget=budget)
            seen.append((self.fingerprint(), [self.world.intent(agent) for agent in sorted(self.there)]))
        is_mapp = isinstance(self.world.planner, Mapp)      # it counts no expansions for what it knows by now
        assert seen[0] == seen[1] or is_mapp
        assert seen[0][0][0] == seen[1][0][0]
        self.announced.clear()

    @precondition(lambda self: not self.world.planner.portfolio())
    @rule()
    def tick_in_another_thread(self) -> None:
        """A world may be handed on to another thread; one that calls in the middle of a tick is turned away."""
        world, planner, plan = self.world, self.world.planner, self.world.planner.plan
        refused: list[bool] = []

        def call() -> None:
            for attempt in (world.tick, lambda: world.unblock([(0, 0)])):
                try:
                    attempt()
                except InUseError:
                    refused.append(True)

        def plan_and_be_disturbed(*arguments: Any) -> None:
            run_in_a_thread(call)
            plan(*arguments)

        planner.plan = plan_and_be_disturbed      # type: ignore[method-assign]
        try:
            run_in_a_thread(world.tick)
        finally:
            del planner.plan      # type: ignore[method-assign]
        assert refused == ([True, True] if world.planner is planner else [])    # another may have taken over
        self.announced.clear()

    @invariant()
    def nobody_is_lost(self) -> None:
        there, cells = set(self.world.living().tolist()), self.world.state.agents.cell
        assert there == self.there
        indices = {agent: self.world.index_of(agent) for agent in there}
        assert np.flatnonzero(cells != NO_CELL).tolist() == sorted(indices.values())
        standing = {int(cells[index]): index for index in indices.values()}
        assert len(standing) == len(there)
        occupied = np.flatnonzero(self.world.state.occupant != NO_AGENT).tolist()
        assert {cell: int(self.world.state.occupant[cell]) for cell in occupied} == standing
        goals = [self.world.goal(agent) for agent in there - self.mine]
        assert len(set(goals)) == len(goals)            # no two agents of the planner have the same goal
        states, places = self.world.states().tolist(), self.world.positions().tolist()
        for agent in there:
            assert self.world.grid.is_free(self.world.position(agent))
            assert states[agent] == self.world.agent_state(agent).name == state_name(self.world, agent)
            assert tuple(places[agent]) == self.world.position(agent)
            heading = self.world.grid.xy(int(self.world.state.agents.goal[self.world.index_of(agent)]))
            if agent not in self.mine:
                assert self.world.grid.reachable(self.world.position(agent), heading)
                assert heading == [*self.world.waypoints(agent), self.world.goal(agent)][0]

    def teardown(self) -> None:
        if hasattr(self, "world"):
            trace = self.world.trace()
            assert trace.ticks == self.world.ticks
            assert judge_trace(trace) == []
            last = trace.positions()[-1]
            for agent in self.there:
                assert last[agent] == self.world.state.agents.cell[self.world.index_of(agent)]


def run_in_a_thread(call: Any) -> None:
    """Run a call in a thread of its own, and raise what it raises."""
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def test_every_option_is_tried() -> None:
    """Both values of each flag, all choices, and for each number one that is not the default."""
    for algorithm in ALGORITHMS.values():
        tried = [vars(create(key, **options)) for key, options in MACHINES
                 if ALGORITHMS[key].where == algorithm.where]  # fmt: skip
        for declared in algorithm.planner_class().parameters():
            values = {values[declared.name] for values in tried}
            if declared.type is bool:
                assert values == {False, True}, (algorithm.key, declared.name)
            elif declared.choices:
                assert values == set(declared.choices), (algorithm.key, declared.name)
            else:
                assert len(values | {declared.default}) > 1, (algorithm.key, declared.name)


@pytest.mark.small
@pytest.mark.parametrize(("key", "options"), MACHINES, ids=str)
def test_whatever_happens_no_rule_is_broken_and_nobody_is_lost(key: str, options: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if "alternates_folder" in options:
            options = {**options, "alternates_folder": folder}
        if key in ("ca", "hca"):                # where there is no plan, they look at so many states
            options = {"max_states": 500, **options}
        warm_up(create(key, **options), "weave", "surge")
        machine = type("Machine", (WorldMachine,), {"algorithm": key, "options": options})
        machine.TestCase.settings = settings(
            max_examples=EXAMPLES or (MOST if ALGORITHMS[key].online and not options else FEW),
            stateful_step_count=40, deadline=None, derandomize=not EXAMPLES, database=None,
            suppress_health_check=[HealthCheck.too_slow],
        )  # fmt: skip
        machine.TestCase().runTest()
