# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The referee: judges every tick by rules.py, and whether a planner moved only the agents that it may move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wend.errors import ViolationError
from wend.kernel import NO_CELL, jit
from wend.kernel.compiling import prepared
from wend.maps.grid import Grid
from wend.planners.base import Agents
from wend.rules import Judge, Violation
from wend.world.roster import Roster
from wend.world.trace import Trace


@jit
def _keeps_to_its_own(cells, cell, goal, controlled, pinned, announced, proposed):
    """Whether a joint move moves only agents that the planner may move, and keeps all of them on the map."""
    for agent in range(proposed.size):
        here, there = cell[agent], proposed[agent]
        if there != announced[agent] and not controlled[agent]:
            return False
        if there != here and (here == NO_CELL or there < 0 or there >= cells):
            return False
        if there != here and here == goal[agent] and pinned[agent] and controlled[agent]:
            return False
    return True


class Referee:
    """Judges the ticks of one world."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._judge = Judge(grid)

    def judge(
        self, tick: int, agents: Agents, announced: NDArray[np.int32], proposed: NDArray[np.int32]
    ) -> list[Violation]:
        """All that is wrong with a proposed joint move.

        `announced` is where the program moves the agents that it moves itself, and where all others stand.
        """
        if prepared(_keeps_to_its_own)(self._grid.size, *agents, announced, proposed):
            return self._judge.judge(tick, agents.cell, proposed)
        found: list[Violation] = []
        moved = proposed != agents.cell
        mine = (announced != proposed) & ~agents.controlled
        unpinned = moved & agents.pinned & agents.controlled & (agents.cell == agents.goal)
        lost = moved & ((agents.cell == NO_CELL) | (proposed < 0) | (proposed >= self._grid.size))
        for kind, wrong in (("uncontrolled", mine), ("pinned", unpinned), ("lost", lost)):
            for agent in np.flatnonzero(wrong).tolist():
                found.append(Violation(tick, kind, (agent,), None))
        return found

    def enforced(
        self, tick: int, agents: Agents, announced: NDArray[np.int32], proposed: NDArray[np.int32], roster: Roster, *,
        raises: bool,
    ) -> tuple[NDArray[np.int32], list[Violation]]:  # fmt: skip
        """A joint move that is legal, and all that was wrong with the proposed one; or an error, if there is anything.

        Violations name agents by their handles. Offenders stay where they are. An agent of the program that the planner
        moved elsewhere moves as announced.
        Should even that be illegal, it stays too: that all agents stay is always legal, so this comes to an end.
        Mutates: announced, proposed.
        """
        all_found: list[Violation] = []
        while found := self.judge(tick, agents, announced, proposed):
            told = [replace(violation, agents=tuple(roster.handles_of(violation.agents))) for violation in found]
            if raises:
                raise ViolationError(told)
            all_found += told
            offenders = np.unique([agent for violation in found for agent in violation.agents])
            stay = offenders[agents.controlled[offenders] | (proposed[offenders] == announced[offenders])]
            proposed[offenders] = announced[offenders]
            proposed[stay] = announced[stay] = agents.cell[stay]
        return proposed, all_found


def judge_trace(trace: Trace, *, at_most: int = 10_000) -> list[Violation]:
    """Judge a whole run again, from its trace alone; the search ends when so many violations are found."""
    grid = trace.grid.copy()
    judge = Judge(grid)
    cells = trace.positions()
    events = trace.events_by_tick()
    nowhere = np.full(trace.agents, NO_CELL, dtype=np.int32)
    found: list[Violation] = []
    for tick in range(trace.ticks + 1):
        if len(found) >= at_most:
            break
        # Between two ticks the map is edited, some agents leave and others appear, also where one has just left.
        stand = cells[tick].copy()
        for event in events.get(tick, ()):
            if event.kind == "removed":
                stand[event.agent] = NO_CELL
            elif event.kind in ("blocked", "unblocked"):
                points = [(x, y) for x, y in event.data["cells"]]
                (grid.block if event.kind == "blocked" else grid.unblock)(points)
        if tick in events:
            found += judge.judge(tick, nowhere, stand)
        if tick < trace.ticks:
            move = cells[tick + 1].copy()
            for event in reversed(events.get(tick + 1, ())):    # where agents were before what happened after this tick
                if event.kind == "added":
                    move[event.agent] = NO_CELL
                elif event.kind == "teleported":
                    move[event.agent] = grid.cell(*event.data["at"])
            found += judge.judge(tick + 1, stand, move)
    return found[:at_most]
