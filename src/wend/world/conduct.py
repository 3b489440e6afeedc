# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Conduct: what agents do in a tick, how each has fared so far, and how that is told to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.groups.routes import Errands
from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import flags, int32
from wend.maps.terrain import DX, DY, Point
from wend.planners.base import Agents, Planner, State
from wend.planners.waiting import agent_ahead, is_away
from wend.world.roster import Roster
from wend.world.trace import ABSENT, WAIT, Wait

STUCK_AFTER_TICKS = 16      # an agent that has waited this long for its goal is called stuck

_CODE = np.zeros((3, 3), dtype=np.uint8)        # [dy + 1, dx + 1] -> what the trace calls the move
for _direction, (_dx, _dy) in enumerate(zip(DX, DY, strict=True)):
    _CODE[_dy + 1, _dx + 1] = 1 + _direction


# What an agent is doing, for people to see: what `World.agent_state` and `World.states` answer. See docs/world.md.
STATES = ("absent", "moving", "waiting", "yielding", "stuck", "arrived", "unreachable")
_ABSENT, _MOVING, _WAITING, _YIELDING, _STUCK, _ARRIVED, _UNREACHABLE = range(len(STATES))

# What happens to an agent in a tick, as bits; what `World.events` answers. See docs/world.md.
KINDS = ("arrived", "stuck", "unstuck", "unreachable", "reachable")
_HAS_ARRIVED, _IS_STUCK, _IS_UNSTUCK, _IS_CUT_OFF, _IS_OPENED = (1 << k for k in range(len(KINDS)))


@dataclass(frozen=True)
class AgentState:
    """What an agent is doing, for people to see."""

    name: str               # one of STATES
    waits_for: int | None   # the agent that kept it where it is, as far as is known
    waited_ticks: int       # since it last moved


@dataclass(frozen=True)
class AgentIntent:
    """What an agent is about to do, and why it stayed where it is in the last tick, as far as its planner knows."""

    path: tuple[Point, ...]     # the places ahead, the next one first; empty where none is known
    waits_for: int | None       # the agent that kept it where it is
    reason: str                 # why it stayed, or left its path, in a few words; empty if it did neither


@dataclass(frozen=True)
class AgentEvent:
    """What happened to an agent, or to all that were sent to one place."""

    tick: int                   # the tick in which it happened
    kind: str                   # one of KINDS, or "settled"
    agents: tuple[int, ...]     # the agent that it happened to; all of them where they have settled
    place: Point                # where it stands; for those that have settled, or cannot get there, the place asked for


class Conduct(NamedTuple):
    """How each agent has fared, with spare rows for agents to come."""

    moved_at: Annotated[np.ndarray, int32("agents")]                    # the tick in which it last moved, or came
    previous: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]      # where it stood before the last tick
    nearer_at: Annotated[np.ndarray, int32("agents")]                   # the tick in which it last came nearer to ...
    nearer_to: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]     # ... this goal
    moves_left: Annotated[np.ndarray, int32("agents")]                  # how near it was then, in moves on an empty map
    is_stuck: Annotated[np.ndarray, flags("agents")]                    # its state was `stuck` after the last tick
    cut_off: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]       # a cell out of reach, of which that was told
    nobody: Annotated[np.ndarray, int32("agents", fill=NO_AGENT)]       # it waits for none: what a proposal begins with


class Cast(NamedTuple):
    """The agents of a world, and all that a tick changes of them."""

    agents: Agents
    sent: Errands
    occupant: np.ndarray    # int32[cells]  the agent that stands there, or NO_AGENT
    conduct: Conduct


@jit
def has_waited_long(tick, sent, conduct, agent):
    """Whether it is long enough since an agent last moved, and since it got its goal, to call it stuck."""
    since = max(conduct.moved_at[agent], conduct.nearer_at[agent])
    return (conduct.nearer_to[agent] == sent.goal[agent]) & (tick - since >= STUCK_AFTER_TICKS)


@jit
def state_of(tick, agents, sent, conduct, agent):
    """What an agent is doing, as an index into STATES."""
    if agents.cell[agent] == NO_CELL:
        return _ABSENT
    waited = tick - conduct.moved_at[agent]
    if agents.controlled[agent]:
        if agents.cell[agent] == sent.goal[agent]:
            return _ARRIVED if sent.asked[agent] == sent.nearest[agent] else _UNREACHABLE
        if sent.been_home[agent]:
            return _YIELDING
        if has_waited_long(tick, sent, conduct, agent):
            return _STUCK
    return _WAITING if waited > 0 or tick == 0 else _MOVING


@jit
def carry_out(width, tick, before, after, cast, codes):
    """Move all agents at once, and note what they did. To do so again changes nothing.

    `before` and `after` (int32[agents]) are the cells of all agents before this tick and after it.
    Mutates: cast.sent.been_home, agents.cell, occupant, conduct; codes.
    """
    agents, sent, occupant, conduct = cast.agents, cast.sent, cast.occupant, cast.conduct
    for agent in range(before.size):
        if before[agent] != after[agent]:
            occupant[before[agent]] = NO_AGENT
    for agent in range(before.size):
        here, there = before[agent], after[agent]
        conduct.previous[agent] = here
        if here == NO_CELL:
            codes[agent] = ABSENT
            continue
        codes[agent] = WAIT
        if there != here:
            occupant[there] = agent
            codes[agent] = _CODE[there // width - here // width + 1, there % width - here % width + 1]
            conduct.moved_at[agent] = tick
        agents.cell[agent] = there
        goal, moves_left = sent.goal[agent], 0
        if there != goal:
            moves_left = max(abs(there % width - goal % width), abs(there // width - goal // width))
        if conduct.nearer_to[agent] != goal or moves_left < conduct.moves_left[agent]:
            conduct.nearer_to[agent], conduct.moves_left[agent], conduct.nearer_at[agent] = goal, moves_left, tick
        has_been_home = sent.been_home[agent] = sent.been_home[agent] | (there == goal)
        is_stuck = agents.controlled[agent] & (not has_been_home) & has_waited_long(tick, sent, conduct, agent)
        conduct.is_stuck[agent] = is_stuck
        conduct.cut_off[agent] = sent.asked[agent] if sent.asked[agent] != sent.nearest[agent] else NO_CELL


@jit
def look(tick, after, cast, told):
    """See what will have happened to agents after a tick that ends on these cells; return to how many anything has.

    Each of these has a row in `told` (int32[agents, 4]): the agent, what has happened to it as bits, where it will
    stand, and where it was sent. Mutates: told.
    """
    agents, sent, conduct, count = cast.agents, cast.sent, cast.conduct, 0
    for agent in range(after.size):
        there = after[agent]
        if there == NO_CELL or not agents.controlled[agent]:
            continue
        asked, has_been_home, was_stuck = sent.asked[agent], sent.been_home[agent], conduct.is_stuck[agent]
        is_home, stays = there == sent.goal[agent], there == agents.cell[agent]
        is_stuck = stays & (not is_home) & (not has_been_home) & has_waited_long(tick, sent, conduct, agent)
        is_cut_off, was_told = asked != sent.nearest[agent], conduct.cut_off[agent] == asked
        news = (                                                # without a branch: none could be foreseen
            _HAS_ARRIVED * (is_home & (not has_been_home) & (not is_cut_off))
            | _IS_STUCK * (is_stuck & (not was_stuck))
            | _IS_UNSTUCK * (was_stuck & (not is_stuck))
            | _IS_CUT_OFF * (is_cut_off & (not was_told))
            | _IS_OPENED * (was_told & (not is_cut_off))
        )
        if news != 0:
            told[count, 0], told[count, 1], told[count, 2], told[count, 3] = agent, news, there, asked
            count += 1
    return count


@jit
def all_states(tick, agents, sent, conduct, states):
    """What each agent is doing. Mutates: states (uint8[agents])."""
    for agent in range(states.size):
        states[agent] = state_of(tick, agents, sent, conduct, agent)


def explain(
    planner: Planner, state: State, roster: Roster, agent: int, named: int, *, stayed: bool
) -> AgentIntent:
    """What an agent is about to do, and why it stayed in the last tick, if it did.

    Where its planner does not say whom it waits for, that is the agent `named` in the proposal; where that names none
    and no reason is known either, the one on its shortest path, if there is any. An index of no agent counts for none,
    and so does that of one that has come since.
    """
    path, waits_for, reason = planner.intent(agent)
    waits_for, named = (k if roster.was_there(k, state.tick) else NO_AGENT for k in (waits_for, named))
    if stayed and is_away(state, agent):
        waits_for = named if waits_for == NO_AGENT else waits_for
        if not reason and waits_for == NO_AGENT:
            waits_for = agent_ahead(state, agent)
            reason = "its planner does not say why" if waits_for == NO_AGENT else "another is on its shortest path"
        reason = reason or "another agent is in its way"
    places = tuple(map(state.grid.xy, path))
    return AgentIntent(places, None if waits_for == NO_AGENT else int(roster.handles[waits_for]), reason)


def waits_of(
    planner: Planner, state: State, roster: Roster, named: NDArray[np.int32], stayed: NDArray[np.bool_]
) -> dict[int, Wait]:
    """By handle: why the agents that stayed in the last tick, away from their goals, did so.

    The tick is made: a planner that fails to answer cannot undo it, so that its failure is what is told.
    """
    agents = state.agents
    waits = {}
    for agent in np.flatnonzero(stayed & agents.controlled & (agents.cell != agents.goal)).tolist():
        handle = int(roster.handles[agent])
        try:
            told = explain(planner, state, roster, agent, int(named[agent]), stayed=True)
            waits[handle] = Wait(told.waits_for, told.reason)
        except Exception as error:
            waits[handle] = Wait(None, f"its planner failed to say why: {type(error).__name__}")
    return waits


@jit
def is_any_away(agents, goal):
    """Whether one of the planner's agents is not on its goal."""
    for agent in range(agents.cell.size):
        if agents.cell[agent] != goal[agent] and agents.cell[agent] != NO_CELL and agents.controlled[agent]:
            return True
    return False
