"""Plan: where every agent stands at every tick, as another solver's file says, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import ParameterError
from wend.kernel import NO_CELL
from wend.maps.grid import Grid
from wend.maps.terrain import DX, DY, Point
from wend.rules import OFF_MAP, Judge, Violation
from wend.world.trace import WAIT, Event, Trace


@dataclass(frozen=True, eq=False)
class Plan:
    """Where every agent is at every tick, as a file says."""

    format: str                         # lacam | eecbs | yaml
    positions: NDArray[np.int32]        # [ticks + 1, agents, 2] (x, y); may be off any map
    starts: list[Point] | None          # what the file's header says, None where the format has no such field
    goals: list[Point] | None
    meta: dict[str, str]                # what else the header says, word for word

    @property
    def ticks(self) -> int:
        """How many joint moves the plan makes."""
        return int(self.positions.shape[0]) - 1

    @property
    def agents(self) -> int:
        """How many agents it moves."""
        return int(self.positions.shape[1])


def judge_plan(plan: Plan, grid: Grid, *, at_most: int = 10_000) -> list[Violation]:
    """The illegal moves of a plan on this map, in order; places at which agents must not begin have tick 0.

    The search ends with the tick that brings the list to `at_most`: a plan held against the wrong map is wrong
    everywhere.
    """
    judge = Judge(grid)
    size = np.array([grid.width, grid.height])
    violations: list[Violation] = []
    before = np.full(plan.agents, NO_CELL, dtype=np.int32)
    for tick, places in enumerate(plan.positions):
        on_map = ((places >= 0) & (places < size)).all(axis=1)
        after = np.where(on_map, places[:, 1] * grid.width + places[:, 0], OFF_MAP).astype(np.int32)
        violations += judge.judge(tick, before, after)
        if len(violations) >= at_most:
            break
        before = after
    return violations[:at_most]


def check_plan(
    plan: Plan,
    grid: Grid,
    starts: Sequence[Point] | None = None,
    goals: Sequence[Point] | None = None,
    *,
    at_most: int = 10_000,
) -> list[str]:
    """All that is wrong with a plan, one line each, which names tick and agents; an empty list for a good plan.

    `starts` and `goals` are those of the problem, which may have more agents than the plan moves: the first ones count.
    Without them the plan is held against the starts and goals in its own header, if it has any.
    """
    lines = _misplaced(plan, 0, plan.starts if starts is None else starts, "start")
    lines += [str(violation) for violation in judge_plan(plan, grid, at_most=at_most)]
    lines += _misplaced(plan, plan.ticks, plan.goals if goals is None else goals, "goal")
    return lines[:at_most]


def to_trace(
    plan: Plan, grid: Grid, goals: Sequence[Point] | None = None, meta: dict[str, Any] | None = None
) -> Trace:
    """A plan as a trace, with no planning time and no expansions.

    A trace holds steps to neighbouring cells of the map. It ends before the first tick in which an agent jumps farther,
    or off the map. Goals are those that are given, those of the plan's header, or else where the agents end.
    """
    wanted = plan.goals if goals is None else goals
    ends = [(x, y) for x, y in plan.positions[-1].tolist()] if wanted is None else wanted[: plan.agents]
    places = plan.positions
    on_map = np.asarray(((places >= 0) & (places < [grid.width, grid.height])).all(axis=(1, 2)))
    if not on_map[0] or not all(0 <= x < grid.width and 0 <= y < grid.height for x, y in ends):
        size = f"{grid.width} x {grid.height}"
        raise ParameterError(f"the plan has starts or goals that are off the map, which is {size}")
    if len(ends) < plan.agents:
        raise ParameterError(f"the plan moves {plan.agents} agents, and the problem has goals for {len(ends)}")
    steps = np.diff(places, axis=0)
    shown: NDArray[np.bool_] = np.asarray(on_map[1:] & (np.abs(steps) <= 1).all(axis=(1, 2)))
    ticks = plan.ticks if shown.all() else int(np.argmin(shown))
    codes = np.full((3, 3), WAIT, dtype=np.uint8)       # by dy + 1 and dx + 1
    for direction, (dx, dy) in enumerate(zip(DX, DY, strict=True)):
        codes[dy + 1, dx + 1] = direction + 1
    events = [
        Event(0, "added", agent, {"at": start, "goal": list(goal), "asked": list(goal), "controlled": True})
        for agent, (start, goal) in enumerate(zip(places[0].tolist(), ends, strict=True))
    ]
    moves = codes[steps[:ticks, :, 1] + 1, steps[:ticks, :, 0] + 1]
    return Trace(grid, moves, events, np.zeros(ticks), np.zeros(ticks, dtype=np.int64), meta or {})


def _misplaced(plan: Plan, tick: int, wanted: Sequence[Point] | None, what: str) -> list[str]:
    """One line for each agent that is not at that tick where it should be."""
    if wanted is None:
        return []
    lines = []
    for agent, (x, y) in enumerate(plan.positions[tick].tolist()):
        should = (int(wanted[agent][0]), int(wanted[agent][1])) if agent < len(wanted) else None
        if should is None:
            lines.append(f"tick {tick}: agent {agent} is one too many, the problem has {len(wanted)}")
        elif (x, y) != should:
            lines.append(f"tick {tick}: agent {agent} is at ({x}, {y}), its {what} is ({should[0]}, {should[1]})")
    return lines
