"""Comparing two runs that should be the same: the first thing that differs, which is where a desync began."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from wend.kernel import NO_CELL
from wend.maps.terrain import DIRECTION_NAMES
from wend.world.trace import ABSENT, WAIT, Event, Trace


@dataclass(frozen=True)
class Difference:
    """The first thing that differs between two runs."""

    tick: int               # the tick in which it differs; 0: before the first
    agent: int | None       # the agent concerned, None if it is no single one
    what: str               # in words: in the one run, and in the other

    def __str__(self) -> str:
        return f"tick {self.tick}: {self.what}"


def first_difference(one: Trace, other: Trace) -> Difference | None:
    """The first thing that differs, or None. What was done after a tick counts to that tick, its moves come first.

    What planning cost is not compared, nor how the runs came about.
    """
    if one.grid != other.grid:
        return Difference(0, None, "the maps, or their rules, differ from the start")
    agents, ticks = min(one.agents, other.agents), min(one.ticks, other.ticks)
    differs = one.moves[:ticks, :agents] != other.moves[:ticks, :agents]
    move_tick = int(differs.any(axis=1).argmax()) + 1 if differs.any() else ticks + 1
    done, done_in_other = one.events_by_tick(), other.events_by_tick()
    for tick in sorted({*done, *done_in_other}):
        if tick >= move_tick:
            break
        if found := _first_event(tick, done.get(tick, []), done_in_other.get(tick, [])):
            return found
    if move_tick <= ticks:
        return _move(one, other, move_tick, int(differs[move_tick - 1].argmax()))
    if one.ticks != other.ticks:
        return Difference(ticks + 1, None, f"one run has {one.ticks} ticks, the other {other.ticks}; equal so far")
    return None


def _first_event(tick: int, ones: list[Event], others: list[Event]) -> Difference | None:
    """The first event after a tick that only one of two runs has."""
    for k in range(max(len(ones), len(others))):
        one, other = (events[k] if k < len(events) else None for events in (ones, others))
        if _described(one) != _described(other):
            agent = next((event.agent for event in (one, other) if event is not None), None)
            return Difference(tick, agent, f"after it, {_described(one)} in the one, {_described(other)} in the other")
    return None


def _described(event: Event | None) -> str:
    if event is None:
        return "nothing more"
    whom = "" if event.agent is None else f"agent {event.agent} "
    return f"{whom}{event.kind} {json.dumps(event.data, sort_keys=True)}"


def _move(one: Trace, other: Trace, tick: int, agent: int) -> Difference:
    """How an agent moved differently in a tick."""
    cell = int(one.positions()[tick - 1, agent])
    here = f" at {one.grid.xy(cell)}" if cell != NO_CELL and 0 <= cell < one.grid.size else ""
    ways = [_way(trace.moves[tick - 1, agent]) for trace in (one, other)]
    return Difference(tick, agent, f"agent {agent}{here} {ways[0]} in the one, {ways[1]} in the other")


def _way(code: np.uint8) -> str:
    names = {WAIT: "waits", ABSENT: "is not on the map"}
    return names.get(int(code)) or f"goes {DIRECTION_NAMES[int(code) - 1]}"
