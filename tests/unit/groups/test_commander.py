from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
import pytest

from wend import Grid, Order
from wend.groups.claims import Claims
from wend.groups.commander import (
    AHEAD_AFTER_TICKS,
    EXCHANGE_AFTER_TICKS,
    SETTLE_AFTER_TICKS,
    Commander,
    should_exchange,
)
from wend.groups.orders import Errand
from wend.groups.routes import Routes
from wend.journal import Journal
from wend.kernel import NO_AGENT
from wend.kernel.arrays import allocate
from wend.maps import generators as mapgen
from wend.maps.terrain import Point
from wend.planners.base import Agents, State


class Field:
    """Agents that never move, and a commander whose errands are written down."""

    def __init__(self, grid: Grid, places: list[Point]) -> None:
        agents = allocate(Agents, agents=len(places))
        occupant = np.full(grid.size, -1, dtype=np.int32)
        self.state, self.routes = State(grid, agents, occupant), Routes(Journal())
        self.claims = Claims(self.state, self.routes, Journal())
        self.commander = Commander(self.state, self.routes, self.claims, Journal())
        self.ahead: dict[int, int] = {}         # which agent is in another's way, as a planner would say
        for agent, place in enumerate(places):
            self.routes.add_agent(agent)
            agents.cell[agent], agents.controlled[agent] = grid.cell(*place), True
            occupant[agents.cell[agent]] = agent
            self.claims.enter(agent, agents.cell[agent], agents.cell[agent], agents.cell[agent])
            self.send([self.errand(agent, place)])

    def send(self, errands: Iterable[Errand]) -> list[Order]:
        sent, xy = [], self.state.grid.xy
        for errand in errands:
            self.claims.leave(errand.agent)
            self.claims.enter(*errand[:4])
            self.state.agents.goal[errand.agent] = self.routes.aim(*errand)
            sent.append(Order(errand.agent, xy(errand.asked), xy(errand.nearest), xy(errand.goal)))
        return sent

    def errand(self, agent: int, goal: Point, target: Point | None = None) -> Errand:
        asked = self.state.grid.cell(*(target or goal))
        return Errand(agent, asked, asked, self.state.grid.cell(*goal))

    def order(self, members: list[int], target: Point) -> list[Order]:
        return self.send(self.commander.order(members, target, "move", at_once=True))

    def settle(self, *waited: int) -> list[Order]:
        ticks = np.array([waited, (0,) * len(waited)], dtype=np.int32)
        return self.send(self.commander.settle(*ticks, lambda agent: self.ahead.get(agent, NO_AGENT)))


@pytest.mark.small
def test_an_order_sends_everyone_once() -> None:
    field = Field(mapgen.open_map(width=40, height=9), [(1, 2), (1, 4), (1, 6)])
    orders = field.order([2, 0, 1], (30, 4))
    assert [order.agent for order in orders] == [0, 1, 2]
    assert [field.state.grid.xy(int(cell)) for cell in field.routes.goal] == [order.goal for order in orders]
    assert all(field.commander.leads(agent) and field.routes.waypoints(agent) for agent in range(3))
    assert field.order([0, 1, 2], (30, 4)) == []
    assert field.order([], (30, 4)) == []


@pytest.mark.small
def test_an_agent_that_was_dropped_is_nobodys_until_the_order_is_given_again() -> None:
    field = Field(mapgen.open_map(width=40, height=9), [(1, 2), (1, 4)])
    field.order([0, 1], (30, 4))
    field.commander.drop(1)
    assert [field.commander.leads(agent) for agent in (0, 1)] == [True, False]
    assert [order.agent for order in field.order([0, 1], (30, 4))] == [0, 1]
    assert field.commander.leads(1)


@pytest.mark.small
def test_an_edit_gives_new_paths_to_those_whose_paths_it_cuts() -> None:
    grid = Grid.from_text("\n".join("." * 40 if y in (0, 8) else "." * 20 + "@" + "." * 19 for y in range(9)))
    field = Field(grid, [(1, 1), (1, 7)])
    orders = field.order([0, 1], (38, 4))
    assert max(grid.xy(cell)[1] for cell in field.routes.waypoints(0)) <= 4
    grid.block([(20, 0)])
    assert field.send(chain(*field.commander.edit([]))) == orders[:1]
    assert field.routes.waypoints(0) == []
    assert field.commander.search(20) == (20, [])
    made, errands = field.commander.search(1000)
    assert 20 < made < 1000
    assert field.send(errands) == orders[:1]
    assert max(grid.xy(cell)[1] for cell in field.routes.waypoints(0)) > 4
    assert not field.commander.is_searching or field.commander.search(0) == (0, [])
    assert field.send(chain(*field.commander.edit([]))) == []


@pytest.mark.small
def test_agents_that_wait_exchange_slots_or_settle_nearby() -> None:
    field = Field(mapgen.open_map(width=20, height=1), [(3, 0), (4, 0)])
    field.order([0, 1], (5, 0))
    field.send([field.errand(0, (6, 0), (5, 0)), field.errand(1, (4, 0), (5, 0))])

    def goal(agent: int, x: int) -> Order:
        return Order(agent, (5, 0), (5, 0), (x, 0))

    assert field.settle(EXCHANGE_AFTER_TICKS - 1, 0) == []
    assert field.settle(EXCHANGE_AFTER_TICKS, 0) == [goal(0, 4), goal(1, 6)]
    assert field.settle(EXCHANGE_AFTER_TICKS, 0) == []
    assert field.settle(SETTLE_AFTER_TICKS, 0) == [goal(0, 3)]
    assert field.settle(0, SETTLE_AFTER_TICKS) == [goal(1, 4)]
    assert field.settle(SETTLE_AFTER_TICKS, SETTLE_AFTER_TICKS) == []


@pytest.mark.small
def test_an_agent_exchanges_slots_with_the_one_that_it_waits_for_though_that_is_not_beside_it() -> None:
    field = Field(mapgen.open_map(width=20, height=1), [(3, 0), (5, 0)])
    field.send([field.errand(0, (9, 0), (7, 0)), field.errand(1, (5, 0), (7, 0))])
    assert field.settle(EXCHANGE_AFTER_TICKS, 0) == []
    field.ahead[0] = 1
    assert field.settle(EXCHANGE_AFTER_TICKS, 0) == []
    assert [order.goal for order in field.settle(AHEAD_AFTER_TICKS, 0)] == [(5, 0), (9, 0)]
    assert field.settle(AHEAD_AFTER_TICKS, 0) == []


@pytest.mark.small
def test_slots_are_exchanged_when_that_helps_and_not_back_again() -> None:
    assert should_exchange((3, 3), (4, 4), (4, 4), (3, 3))          # each stands where the other wants to be
    assert should_exchange((3, 3), (6, 3), (4, 3), (4, 3))          # the one at home moves on, farther in
    assert not should_exchange((3, 3), (4, 3), (4, 3), (6, 3))      # ... and does not get its old slot back
    assert not should_exchange((3, 3), (2, 3), (4, 3), (4, 3))      # the other is not in the way
