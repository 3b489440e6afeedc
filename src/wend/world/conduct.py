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

    waited: Annotated[np.ndarray, int32("agents")]                      # ticks since it last moved
    been_home: Annotated[np.ndarray, flags("agents")]                   # it has reached its goal since the last order
    waits_for: Annotated[np.ndarray, int32("agents", fill=NO_AGENT)]    # the agent in its way, as the planner last said


@jit
def carry_out(width, agents, goal, next_cell, occupant, conduct, codes):
    """Move all agents at once, and note what they did. Mutates: agents.cell, occupant, conduct, codes."""
    cell = agents.cell
    for agent in range(cell.size):
        if cell[agent] != NO_CELL:
            occupant[cell[agent]] = NO_AGENT
    for agent in range(cell.size):
        here, there = cell[agent], next_cell[agent]
        if here == NO_CELL:
            codes[agent] = ABSENT
            continue
        occupant[there] = agent
        codes[agent] = _CODE[there // width - here // width + 1, there % width - here % width + 1]
        conduct.waited[agent] = conduct.waited[agent] + 1 if there == here else 0
        conduct.been_home[agent] = conduct.been_home[agent] or there == goal[agent]
        cell[agent] = there


@jit
def is_any_away(agents, goal):
    """Whether one of the planner's agents is not on its goal."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] != goal[agent] and agents.cell[agent] != NO_CELL and agents.controlled[agent]:
            return True
    return False
