# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Conduct: what agents do in a tick, how each has fared so far, and how that is told to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import flags, int32
from wend.maps.terrain import DX, DY, Point
from wend.world.trace import ABSENT

STUCK_AFTER_TICKS = 16      # an agent that has waited this long away from its goal is called stuck

_CODE = np.zeros((3, 3), dtype=np.uint8)        # [dy + 1, dx + 1] -> what the trace calls the move
for _direction, (_dx, _dy) in enumerate(zip(DX, DY, strict=True)):
    _CODE[_dy + 1, _dx + 1] = 1 + _direction


@dataclass(frozen=True)
class AgentState:
    """What an agent is doing, for people to see."""

    name: str               # moving | waiting | yielding | stuck | arrived | unreachable, see `World.agent_state`
    waits_for: int | None   # the agent that is in its way, where the planner knows
    waited_ticks: int       # since it last moved


@dataclass(frozen=True)
class AgentIntent:
    """What an agent is about to do, as far as its planner knows."""

    path: tuple[Point, ...]     # the places ahead, the next one first; empty where none is known
    waits_for: int | None       # the agent that is in its way
    reason: str                 # why it does not simply follow its path, in words; empty if it does


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


@jit
def is_any_away(agents, goal):
    """Whether one of the planner's agents is not on its goal."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] != goal[agent] and agents.cell[agent] != NO_CELL and agents.controlled[agent]:
            return True
    return False
