"""Why a unit stands where it does, in words and as a chain."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from wend import Grid, Planner, World
from wend.errors import ParameterError
from wend.planners.base import Budget, Intent, Proposal
from wend.play.why import why

pytestmark = pytest.mark.small


@dataclass
class Waits(Planner):
    """Nobody moves; each waits for whom it is told, or has a reason of its own."""

    def __post_init__(self) -> None:
        self.waits: dict[int, int] = {}
        self.reasons: dict[int, str] = {}

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        for agent, other in self.waits.items():
            proposal.waits_for[agent] = other

    def intent(self, agent: int) -> Intent:
        return Intent(waits_for=self.waits.get(agent, -1), reason=self.reasons.get(agent, ""))


def row_of(units: int, **waits: int) -> tuple[World, Waits]:
    """Units in a row that want to go right, after a tick in which nobody moved."""
    planner = Waits()
    planner.waits = {int(agent[1:]): other for agent, other in waits.items()}
    world = World(Grid.from_text("." * (units + 3)), planner)
    for agent in range(units):
        world.add((agent, 0), goal=(agent + 3, 0))
    return world, planner


def sentence(world: World, agent: int = 0, ticks: int = 3) -> str:
    world.run(max_ticks=ticks)
    return why(world, agent).sentence


def test_whoever_waits_names_the_one_in_its_way() -> None:
    world, planner = row_of(2, a0=1)
    planner.reasons[1] = "its next search is due"
    assert sentence(world) == (
        "Unit 0 has waited 3 ticks at (0, 0), on its way to (3, 0): unit 1 is in its way; "
        "unit 1 stays because its next search is due."
    )


def test_the_chain_is_followed_to_its_end() -> None:
    world, planner = row_of(6, a0=1, a1=2, a2=3, a3=4, a4=5)
    planner.reasons[5] = "it has no path yet"
    assert sentence(world) == (
        "Unit 0 has waited 3 ticks at (0, 0), on its way to (3, 0): unit 1 is in its way, which waits for unit 2, "
        "which waits for unit 3, and so on, 5 units in all; unit 5 stays because it has no path yet."
    )
    found = why(world, 0)
    assert [link.agent for link in found.chain] == [0, 1, 2, 3, 4, 5]
    assert found.chain[2].cell == (2, 0)
    assert (found.cycle, found.back_to) == (False, None)


def test_two_that_wait_for_each_other_are_a_circle() -> None:
    world, _ = row_of(2, a0=1, a1=0)
    assert sentence(world).endswith(": it and unit 1 wait for each other.")
    found = why(world, 0)
    assert (found.cycle, found.back_to, len(found.chain)) == (True, 0, 2)


def test_a_circle_of_many_and_one_ahead() -> None:
    world, _ = row_of(4, a0=1, a1=2, a2=3, a3=1)
    assert sentence(world, 1).endswith("it is one of 3 units that wait for one another in a circle, unit 2 first.")
    assert sentence(world, 0).endswith(
        "unit 1 is in its way, and ahead of it 3 units wait for one another in a circle, unit 1 among them."
    )
    assert why(world, 0).back_to == 1


def test_a_long_wait_is_stuck() -> None:
    world, _ = row_of(2, a0=1)
    assert sentence(world, ticks=40).startswith("Unit 0 has been stuck for 40 ticks at (0, 0)")


def test_before_the_first_tick_nobody_has_moved() -> None:
    world, _ = row_of(1)
    assert why(world, 0).sentence == "Unit 0 has not moved yet: no tick was made. It is to go to (3, 0)."


def test_who_is_home_is_where_it_was_sent() -> None:
    world = World(Grid.from_text("......"), "lra")
    agents = [world.add((0, 0), goal=(2, 0)), world.add((5, 0))]
    world.run(max_ticks=9)
    assert why(world, agents[0]).sentence == "Unit 0 is where it was sent, at (2, 0)."
    world.pin(agents[1])
    assert why(world, agents[1]).sentence == "Unit 1 is where it was sent, at (5, 0), and holds its place."
    world.order(agents[0], (5, 0))
    world.run(max_ticks=9)
    assert why(world, agents[0]).sentence == "Unit 0 is where it was sent, at (3, 0), its place near (5, 0)."


def test_who_moves_says_where_to() -> None:
    world = World(Grid.from_text("......"), "lra")
    world.add((0, 0), goal=(5, 0))
    world.add((2, 0))
    world.follow(1, 0)
    world.tick()
    found = why(world, 0)
    assert found.sentence == "Unit 0 is on its way to (5, 0), 4 moves ahead of it."
    assert (found.state, found.way, found.goal) == ("moving", [(2, 0), (3, 0), (4, 0), (5, 0)], (5, 0))
    assert why(world, 1).following == 0


def test_waits_at_the_end_of_a_plan_are_no_way_ahead() -> None:
    world = World(Grid.from_text("......"), "whca")
    world.add((0, 0), goal=(3, 0))
    world.tick()
    assert why(world, 0).way == [(2, 0), (3, 0)]
    world.run(max_ticks=9)
    assert why(world, 0).way == []


def test_who_has_made_way_goes_back() -> None:
    world = World(Grid.from_text("....."), "pibt")
    world.add((2, 0))
    world.add((0, 0), goal=(4, 0))
    said = []
    for _ in range(4):
        world.tick()
        said.append(why(world, 0).sentence)
    assert "Unit 0 has made way for another, and goes back to (2, 0)." in said


def test_what_cannot_be_reached_is_said() -> None:
    world = World(Grid.from_text("...@.."), "lra")
    world.add((0, 0), goal=(5, 0))
    world.run(max_ticks=9)
    assert why(world, 0).sentence == (
        "Unit 0 cannot get to (5, 0): no way leads there. It stands at (2, 0), as near as it can get."
    )


def test_units_of_the_program_are_told_apart() -> None:
    world = World(Grid.from_text("..."), "lra")
    world.add((0, 0), controlled=False)
    assert why(world, 0).sentence == "Unit 0 is moved by the program, not by the planner."
    with pytest.raises(ParameterError, match="no agent 7"):
        why(world, 7)
