"""A state machine that spawns, orders, re-tasks, pins, walls and ticks at random, while the referee watches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from wend import ALGORITHMS, Grid, World
from wend.kernel import NO_AGENT, NO_CELL
from wend.world.referee import judge_trace

WIDTH, HEIGHT = 9, 7
places = st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1))


class WorldMachine(RuleBasedStateMachine):
    """What a program may do to a world, in any order. A violation raises inside `tick`."""

    algorithm = "lra"

    @initialize(seed=st.integers(0, 2**16), connectivity=st.sampled_from([4, 8]), crowd=st.integers(0, 24))
    def begin(self, seed: int, connectivity: int, crowd: int) -> None:
        draw = np.random.default_rng(seed)
        grid = Grid(draw.random((HEIGHT, WIDTH)) < 0.8, connectivity=connectivity)
        self.world = World(grid, self.algorithm, seed=seed)
        self.there: set[int] = set()
        self.mine: set[int] = set()
        self.announced: dict[int, tuple[int, int]] = {}
        starts, goals = draw.permutation(grid.free_cells())[:crowd], draw.permutation(grid.free_cells())[:crowd]
        for start, goal in zip(starts.tolist(), goals.tolist(), strict=True):
            self.there.add(self.world.add(grid.xy(start), grid.xy(goal)))

    def vacant(self, place: tuple[int, int]) -> bool:
        cell = self.world.grid.cell(*place)
        is_empty = self.world.state.occupant[cell] == NO_AGENT and place not in self.announced.values()
        return self.world.grid.is_free(place) and is_empty

    @rule(at=places, goal=places, controlled=st.booleans(), pinned=st.booleans())
    def add(self, at, goal, controlled, pinned) -> None:
        if self.vacant(at) and len(self.there) < 30:
            agent = self.world.add(at, goal, controlled=controlled, pinned=pinned)
            self.there.add(agent)
            if not controlled:
                self.mine.add(agent)

    @precondition(lambda self: self.there)
    @rule(data=st.data())
    def remove(self, data) -> None:
        agent = data.draw(st.sampled_from(sorted(self.there)))
        self.world.remove(agent)
        self.there.discard(agent)
        self.mine.discard(agent)
        self.announced.pop(agent, None)

    @precondition(lambda self: self.there)
    @rule(data=st.data(), goal=places)
    def order(self, data, goal) -> None:
        agent = data.draw(st.sampled_from(sorted(self.there)))
        answer = self.world.order(agent, goal)
        assert self.world.grid.reachable(self.world.position(agent), answer.goal)
        assert answer.reachable == self.world.grid.reachable(self.world.position(agent), goal)

    @precondition(lambda self: self.there - self.mine)
    @rule(data=st.data(), place=places, mode=st.sampled_from(["move", "attack_move"]))
    def order_group(self, data, place, mode) -> None:
        theirs = sorted(self.there - self.mine)
        group = data.draw(st.lists(st.sampled_from(theirs), min_size=1, max_size=12, unique=True))
        before = {agent: self.world.goal(agent) for agent in self.there}
        answers = self.world.order_group(group, place, mode)
        assert [answer.agent for answer in answers] == group
        assert len({answer.goal for answer in answers}) == len(group)
        for answer in answers:
            here = self.world.position(answer.agent)
            assert self.world.goal(answer.agent) == answer.goal
            assert self.world.grid.reachable(here, answer.goal)
            assert answer.reachable or not self.world.grid.reachable(here, place)
        assert all(self.world.goal(agent) == before[agent] for agent in self.there.difference(group))

    @precondition(lambda self: self.there)
    @rule(data=st.data(), pinned=st.booleans())
    def pin(self, data, pinned) -> None:
        self.world.pin(data.draw(st.sampled_from(sorted(self.there))), pinned)

    @precondition(lambda self: self.mine)
    @rule(data=st.data())
    def move(self, data) -> None:
        agent = data.draw(st.sampled_from(sorted(self.mine)))
        steps = [p for p in self.world.grid.neighbours(self.world.position(agent)) if self.vacant(p)]
        if steps:
            self.announced[agent] = data.draw(st.sampled_from(steps))
            self.world.move(agent, self.announced[agent])

    @rule(place=places)
    def block(self, place) -> None:
        if self.vacant(place):
            self.world.block([place])

    @rule(place=places)
    def unblock(self, place) -> None:
        self.world.unblock([place])

    @rule(ticks=st.integers(1, 20), budget=st.none() | st.integers(1, 60))
    def tick(self, ticks, budget) -> None:
        for _ in range(ticks):
            self.world.tick(budget=budget)
            self.announced.clear()

    @invariant()
    def nobody_is_lost(self) -> None:
        cells = self.world.state.agents.cell
        there = {agent for agent in range(self.world.agents) if cells[agent] != NO_CELL}
        assert there == self.there
        standing = {int(cells[agent]): agent for agent in there}
        assert len(standing) == len(there)
        occupied = np.flatnonzero(self.world.state.occupant != NO_AGENT).tolist()
        assert {cell: int(self.world.state.occupant[cell]) for cell in occupied} == standing
        for agent in there:
            assert self.world.grid.is_free(self.world.position(agent))
            assert self.world.agent_state(agent).name
            heading = self.world.grid.xy(int(self.world.state.agents.goal[agent]))
            if agent not in self.mine:
                assert self.world.grid.reachable(self.world.position(agent), heading)
                assert heading == [*self.world.waypoints(agent), self.world.goal(agent)][0]

    def teardown(self) -> None:
        if hasattr(self, "world"):
            trace = self.world.trace()
            assert judge_trace(trace) == []
            last = trace.positions()[-1]
            for agent in self.there:
                assert last[agent] == self.world.state.agents.cell[agent]


@pytest.mark.small
@pytest.mark.parametrize("key", [key for key, entry in ALGORITHMS.items() if entry.online])
def test_whatever_happens_no_rule_is_broken_and_nobody_is_lost(key: str) -> None:
    machine = type("Machine", (WorldMachine,), {"algorithm": key})
    machine.TestCase.settings = settings(
        max_examples=100, stateful_step_count=40, deadline=None, derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    machine.TestCase().runTest()
