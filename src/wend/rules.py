# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""What a legal joint move is: defined once, here, and from the terrain alone.

All agents move at the same time, each to a neighbouring cell or not at all. A step is illegal when it

- leaves the map (`off-map`) or enters a wall (`wall`),
- spans more than one cell in a direction, or is diagonal on a 4-connected map (`jump`),
- is diagonal while one of the two cells beside it is blocked, unless the map allows corner cutting (`corner`).

A joint move is illegal as well when two agents end in one cell (`collision`) or exchange their cells (`swap`).
Following into a cell that is vacated in the same tick is legal.

The planners' neighbour table is not used: a mistake in it would be invisible to a judge who shares it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.maps.grid import Grid
from wend.maps.terrain import Point

OFF_MAP = -2    # a position that is on no cell; NO_CELL means that the agent is not there at all

KINDS = ("legal", "off-map", "wall", "jump", "corner", "collision", "swap")
_LEGAL, _OFF_MAP, _WALL, _JUMP, _CORNER, _COLLISION, _SWAP = range(len(KINDS))

@dataclass(frozen=True)
class Violation:
    """One way in which one joint move was illegal."""

    tick: int                   # the tick whose move it is; the first move of a run is tick 1
    kind: str                   # one of KINDS, but not "legal"
    agents: tuple[int, ...]     # one agent, or the two that met
    at: Point | None            # where it was going, None if off the map

    def __str__(self) -> str:
        who = " and ".join(str(agent) for agent in self.agents)
        where = "off the map" if self.at is None else f"at ({self.at[0]}, {self.at[1]})"
        return f"tick {self.tick}: {self.kind} of agent {who} {where}"


@jit
def judge_step(free, width, diagonals, cutting, start, end):
    """Judge one agent's step by the terrain alone; return an index into KINDS."""
    if end == OFF_MAP:
        return _OFF_MAP
    if not free[end]:
        return _WALL
    if start < 0 or start == end:       # it was not on the map before, or it stays
        return _LEGAL
    dx = end % width - start % width
    dy = end // width - start // width
    if abs(dx) > 1 or abs(dy) > 1 or (dx != 0 and dy != 0 and not diagonals):
        return _JUMP
    if dx != 0 and dy != 0 and not cutting and not (free[start + dx] and free[start + dy * width]):
        return _CORNER
    return _LEGAL


@jit
def judge_joint(free, width, diagonals, cutting, before, after, visitors, found):
    """Judge a joint move; write rows (kind, agent, other or NO_AGENT) to `found` and return their number.

    `visitors` (int32[cells, 2]) says who stood on a cell, and who arrived there; it is full of NO_AGENT before the call
    and after it. `found` has space for three rows per agent. Mutates: found.
    """
    count = 0
    for agent in range(before.size):
        if before[agent] >= 0:
            visitors[before[agent], 0] = agent
    for agent in range(before.size):
        end = after[agent]
        if end == NO_CELL:
            continue
        kind = judge_step(free, width, diagonals, cutting, before[agent], end)
        if kind != _LEGAL:
            found[count, 0], found[count, 1], found[count, 2] = kind, agent, NO_AGENT
            count += 1
        if end == OFF_MAP:
            continue
        stood, arrived = visitors[end, 0], visitors[end, 1]
        if arrived != NO_AGENT:
            found[count, 0], found[count, 1], found[count, 2] = _COLLISION, arrived, agent
            count += 1
        visitors[end, 1] = agent
        if stood != NO_AGENT and stood < agent and before[agent] >= 0 and after[stood] == before[agent]:
            found[count, 0], found[count, 1], found[count, 2] = _SWAP, stood, agent
            count += 1
    for agent in range(before.size):
        if before[agent] >= 0:
            visitors[before[agent], 0] = NO_AGENT
        if after[agent] >= 0:
            visitors[after[agent], 1] = NO_AGENT
    return count


def _no_visitors(grid: Grid) -> NDArray[np.int32]:
    return np.full((grid.size, 2), NO_AGENT, dtype=np.int32)


class Judge:
    """Judges joint moves on one grid. Edits of the grid take effect at once."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._found = np.empty((0, 3), dtype=np.int32)
        self._visitors: NDArray[np.int32] | None = _no_visitors(grid)       # None while it is in use

    def judge(self, tick: int, before: NDArray[np.int32], after: NDArray[np.int32]) -> list[Violation]:
        """All violations of the joint move that leads from `before` to `after`, cells by agent."""
        if len(self._found) < 3 * before.size:
            self._found = np.empty((6 * before.size, 3), dtype=np.int32)
        grid = self._grid
        # A call that is interrupted does not put its scratch back, so that the next one makes a clean one.
        visitors, self._visitors = self._visitors, None
        if visitors is None:
            visitors = _no_visitors(grid)
        count = judge_joint(
            grid.free, grid.width, grid.connectivity == 8, grid.corner_cutting, before, after, visitors, self._found
        )
        self._visitors = visitors
        return [] if count == 0 else [self._violation(tick, after, *row) for row in self._found[:count].tolist()]

    def _violation(self, tick: int, after: NDArray[np.int32], kind: int, agent: int, other: int) -> Violation:
        agents = (agent,) if other == NO_AGENT else (agent, other)
        end = int(after[agents[-1]])
        return Violation(tick, KINDS[kind], agents, self._grid.xy(end) if end >= 0 else None)
