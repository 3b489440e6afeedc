"""Why a unit stands where it does: one sentence of plain English, and the chain of those who wait for one another.

Everything comes through the world's own window (`agent_state`, `intent`, `order_of`): this knows no planner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wend.maps.terrain import Point
from wend.world.conduct import AgentIntent, AgentState
from wend.world.world import World

MOST_LINKS = 64     # of a chain
_NAMED = 3          # of them, in the sentence


@dataclass(frozen=True)
class Link:
    """One unit of a chain."""

    agent: int
    cell: Point
    state: str          # as `World.agent_state` names it
    reason: str         # why it stayed, as far as is known


@dataclass(frozen=True)
class Why:
    """What one unit is doing, and why."""

    agent: int
    tick: int
    state: str
    sentence: str
    way: list[Point]            # the places ahead, as far as they are known
    goal: Point
    chain: list[Link]           # the unit itself, whom it waits for, whom that one waits for, and so on
    back_to: int | None         # the place in the chain of the one that the last waits for, if they wait in a circle
    following: int | None
    pinned: bool
    controlled: bool

    @property
    def cycle(self) -> bool:
        """Whether units wait for one another in a circle."""
        return self.back_to is not None

    def as_json(self) -> dict[str, Any]:
        """What a page is told."""
        return {**vars(self), "chain": [vars(link) for link in self.chain], "cycle": self.cycle}


def why(world: World, agent: int) -> Why:
    """What a unit is doing, and why it stands if it does."""
    state, intent = world.agent_state(agent), world.intent(agent)
    chain, back_to = _chain(world, agent)
    other = int(world.followed()[agent])
    agents, index = world.state.agents, world.index_of(agent)
    found = Why(
        agent, world.ticks, state.name, "", _way(chain[0].cell, intent), world.goal(agent), chain, back_to,
        other if other >= 0 else None, bool(agents.pinned[index]), bool(agents.controlled[index]),
    )  # fmt: skip
    return Why(**{**vars(found), "sentence": _sentence(world, found, state, intent)})


def _way(here: Point, intent: AgentIntent) -> list[Point]:
    """The places ahead, without the waits at the end of a plan."""
    way = list(intent.path)
    while way and way[-1] == (way[-2] if len(way) > 1 else here):
        way.pop()
    return way


def _chain(world: World, agent: int) -> tuple[list[Link], int | None]:
    """Who waits for whom, from one unit on; and where the chain bites its tail, if it does."""
    chain: list[Link] = []
    place_of: dict[int, int] = {}
    following: int | None = agent
    while following is not None and len(chain) < MOST_LINKS:
        if following in place_of:
            return chain, place_of[following]
        state = world.agent_state(following)
        stays = state.name in ("waiting", "yielding", "stuck")
        intent = world.intent(following)
        place_of[following] = len(chain)
        chain.append(Link(following, world.position(following), state.name, intent.reason if stays else ""))
        following = state.waits_for if stays else None
    return chain, None


def _sentence(world: World, found: Why, state: AgentState, intent: AgentIntent) -> str:
    unit, goal = f"Unit {found.agent}", _at(found.goal)
    order = world.order_of(found.agent)
    if not found.controlled:
        return f"{unit} is moved by the program, not by the planner."
    if state.name == "arrived":
        holds = ", and holds its place" if found.pinned else ""
        near = f", its place near {_named(order.nearest)}" if order.shared else ""
        follows = f", beside unit {found.following}, which it follows" if found.following is not None else ""
        return f"{unit} is where it was sent, {goal}{follows or near}{holds}."
    if state.name == "unreachable":
        return f"{unit} cannot get {_to(order.asked)}: no way leads there. It stands {goal}, as near as it can get."
    if state.name == "moving":
        aim = f"follows unit {found.following}" if found.following is not None else f"is on its way {_to(found.goal)}"
        moves = len(found.way)
        left = f", {moves} move{'' if moves == 1 else 's'} ahead of it" if moves else ""
        return f"{unit} {aim}{left}{'; ' + intent.reason if intent.reason else ''}."
    if world.ticks == 0:
        return f"{unit} has not moved yet: no tick was made. It is to go {_to(found.goal)}."
    here, ticks = _at(found.chain[0].cell), f"{state.waited_ticks} tick{'' if state.waited_ticks == 1 else 's'}"
    if state.name == "yielding" and state.waited_ticks == 0:
        return f"{unit} has made way for another, and goes back {_to(found.goal)}."
    if state.name == "yielding":
        back = f"to go back {_to(found.goal)}"
        return f"{unit} has made way for another, and has waited {ticks} {here} {back}: {_because(found)}."
    since = f"has been stuck for {ticks}" if state.name == "stuck" else f"has waited {ticks}"
    return f"{unit} {since} {here}, on its way {_to(found.goal)}: {_because(found)}."


def _because(found: Why) -> str:
    """What keeps a unit that stays."""
    first, *others = found.chain
    if not others:
        return first.reason or "nothing is known to be in its way"
    if found.back_to is None:
        said = f"unit {others[0].agent} is in its way"
        for link in others[1:_NAMED]:
            said += f", which waits for unit {link.agent}"
        if len(others) > _NAMED:
            said += f", and so on, {len(others)} units in all"
        return f"{said}; unit {others[-1].agent} {_end(others[-1])}"
    circle = [link.agent for link in found.chain[found.back_to :]]
    if found.back_to > 0:
        return f"unit {others[0].agent} is in its way, and ahead of it {_in_circle(circle)}"
    if len(circle) == 2:
        return f"it and unit {circle[1]} wait for each other"
    return f"it is one of {len(circle)} units that wait for one another in a circle, unit {circle[1]} first"


def _in_circle(circle: list[int]) -> str:
    if len(circle) == 2:
        return f"units {circle[0]} and {circle[1]} wait for each other"
    return f"{len(circle)} units wait for one another in a circle, unit {circle[0]} among them"


def _end(last: Link) -> str:
    """What the unit at the end of a chain is doing."""
    if last.state in ("arrived", "unreachable"):
        return "is at home"
    if last.state == "moving":
        return "is moving"
    return f"stays because {last.reason}" if last.reason else "stays"


def _named(point: Point) -> str:
    return f"({point[0]}, {point[1]})"


def _at(point: Point) -> str:
    return f"at {_named(point)}"


def _to(point: Point) -> str:
    return f"to {_named(point)}"
