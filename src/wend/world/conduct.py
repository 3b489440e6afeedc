# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Conduct: what agents do in a tick, how each has fared so far, and how that is told to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import flags, int32
from wend.maps.terrain import DX, DY, Point
from wend.planners.base import Planner, State
from wend.planners.waiting import agent_ahead, is_away
from wend.world.trace import ABSENT, Wait

STUCK_AFTER_TICKS = 16      # an agent that has waited this long away from its goal is called stuck

_CODE = np.zeros((3, 3), dtype=np.uint8)        # [dy + 1, dx + 1] -> what the trace calls the move
for _direction, (_dx, _dy) in enumerate(zip(DX, DY, strict=True)):
    _CODE[_dy + 1, _dx + 1] = 1 + _direction


@dataclass(frozen=True)
class AgentState:
    """What an agent is doing, for people to see."""

    name: str               # moving | waiting | yielding | stuck | arrived | unreachable, see `World.agent_state`
    waits_for: int | None   # the agent that kept it where it is, as far as is known
    waited_ticks: int       # since it last moved


@dataclass(frozen=True)
class AgentIntent:
    """What an agent is about to do, and why it stayed where it is in the last tick, as far as its planner knows."""

    path: tuple[Point, ...]     # the places ahead, the next one first; empty where none is known
    waits_for: int | None       # the agent that kept it where it is
    reason: str                 # why it stayed, or left its path, in a few words; empty if it did neither


class Conduct(NamedTuple):
    """How each agent has fared, with spare rows for agents to come."""

    moved_at: Annotated[np.ndarray, int32("agents")]                    # the tick in which it last moved, or came
    been_home: Annotated[np.ndarray, flags("agents")]                   # it has reached its goal since the last order
    nobody: Annotated[np.ndarray, int32("agents", fill=NO_AGENT)]       # it waits for none: what a proposal begins with


@jit
def carry_out(width, tick, before, after, goal, cell, occupant, moved_at, been_home, codes):
    """Move all agents at once, and note what they did. To do so again changes nothing.

    `before` and `after` (int32[agents]) are the cells of all agents before this tick and after it.
    Mutates: cell, occupant, moved_at, been_home, codes.
    """
    for agent in range(before.size):
        if before[agent] != NO_CELL:
            occupant[before[agent]] = NO_AGENT
    for agent in range(before.size):
        here, there = before[agent], after[agent]
        if here == NO_CELL:
            codes[agent] = ABSENT
            continue
        occupant[there] = agent
        codes[agent] = _CODE[there // width - here // width + 1, there % width - here % width + 1]
        if there != here:
            moved_at[agent] = tick
        if there == goal[agent]:
            been_home[agent] = True
        cell[agent] = there


def explain(planner: Planner, state: State, agent: int, named: int, *, stayed: bool) -> AgentIntent:
    """What an agent is about to do, and why it stayed in the last tick, if it did.

    Where its planner does not say whom it waits for, that is the agent `named` in the proposal; where that names none
    and no reason is known either, the one on its shortest path, if there is any. An index of no agent counts for none.
    """
    path, waits_for, reason = planner.intent(agent)
    waits_for, named = (k if 0 <= k < state.agents.cell.size else NO_AGENT for k in (waits_for, named))
    if stayed and is_away(state, agent):
        waits_for = named if waits_for == NO_AGENT else waits_for
        if not reason and waits_for == NO_AGENT:
            waits_for = agent_ahead(state, agent)
            reason = "its planner does not say why" if waits_for == NO_AGENT else "another is on its shortest path"
        reason = reason or "another agent is in its way"
    places = tuple(map(state.grid.xy, path))
    return AgentIntent(places, None if waits_for == NO_AGENT else int(waits_for), reason)


def waits_of(planner: Planner, state: State, named: NDArray[np.int32], stayed: NDArray[np.bool_]) -> dict[int, Wait]:
    """Why the agents that stayed in the last tick, away from their goals, did so.

    The tick is made: a planner that fails to answer cannot undo it, so that its failure is what is told.
    """
    agents = state.agents
    waits = {}
    for agent in np.flatnonzero(stayed & agents.controlled & (agents.cell != agents.goal)).tolist():
        try:
            told = explain(planner, state, agent, int(named[agent]), stayed=True)
            waits[agent] = Wait(told.waits_for, told.reason)
        except Exception as error:
            waits[agent] = Wait(None, f"its planner failed to say why: {type(error).__name__}")
    return waits


@jit
def is_any_away(agents, goal):
    """Whether one of the planner's agents is not on its goal."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] != goal[agent] and agents.cell[agent] != NO_CELL and agents.controlled[agent]:
            return True
    return False
