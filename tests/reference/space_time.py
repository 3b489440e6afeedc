"""Reservations in dicts, and A* over them with a heap of tuples (f, h, order, state)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST

State = tuple[int, int]     # cell, step


@dataclass
class Table:
    """Who will stand where, and when."""

    slots: dict[tuple[int, int], int] = field(default_factory=dict)     # (cell, time) -> agent
    holds: dict[int, tuple[int, int]] = field(default_factory=dict)     # cell -> agent, from when on for good

    def reserve(self, cell: int, time: int, agent: int) -> None:
        self.slots[cell, time] = agent

    def release(self, cell: int, time: int, agent: int) -> None:
        if self.slots.get((cell, time)) == agent:
            del self.slots[cell, time]

    def hold(self, cell: int, time: int, agent: int) -> None:
        self.holds[cell] = agent, time

    def release_hold(self, cell: int, agent: int) -> None:
        if cell in self.holds and self.holds[cell][0] == agent:
            del self.holds[cell]

    def owner(self, cell: int, time: int) -> int | None:
        if (cell, time) in self.slots:
            return self.slots[cell, time]
        agent, since = self.holds.get(cell, (None, 0))
        return agent if since <= time else None

    def other(self, cell: int, time: int, agent: int) -> int | None:
        owner = self.owner(cell, time)
        return None if owner == agent else owner

    def free_from(self, cell: int, time: int, agent: int) -> int | None:
        """The first time, `time` or later, from which on nobody else has the cell; None if somebody stays there."""
        if self.holds.get(cell, (agent, 0))[0] != agent:
            return None
        return max([time] + [t + 1 for (c, t), owner in self.slots.items() if c == cell and owner != agent])

    def may_move(
        self, grid: Grid, here: int, there: int, time: int, agent: int, *, no_follow: bool, forbid_cross: bool
    ) -> bool:
        """Whether a step disturbs nobody: it is compared with what each of the others does in that tick."""
        if self.other(there, time + 1, agent) is not None:
            return False
        if here == there:
            return True
        if no_follow and self.other(there, time, agent) is not None:    # I would come while another leaves
            return False
        (x, y), (to_x, to_y) = grid.xy(here), grid.xy(there)
        forbidden = [(there, here)]
        if forbid_cross and x != to_x and y != to_y:
            corners = grid.cell(x, to_y), grid.cell(to_x, y)
            forbidden += [corners, corners[::-1]]
        return not any(
            self.other(a, time, agent) is not None and self.other(a, time, agent) == self.owner(b, time + 1)
            for a, b in forbidden
        )


@dataclass(frozen=True)
class Found:
    """What a search found."""

    way: list[int] | None   # cells, the start included; None if there is no way
    cost: int               # of the way and what is left beyond it
    expanded: int


def search(
    grid: Grid,
    table: Table,
    tails: Mapping[int, tuple[int, int]],
    distance: Mapping[int, int],
    agent: int,
    start: int,
    time: int,
    goal: int,
    steps: int,
    *,
    window: bool,
    no_follow: bool = False,
    forbid_cross: bool = False,
    soft_tail: int = 0,
) -> Found:
    """The best way of an agent that stands on `start` after tick `time`.

    `tails`: cell -> the agent whose plan ends there, and when. `distance`: what every cell that leads to the goal is
    taken to be away from it.
    """
    soonest = time if window else table.free_from(goal, time, agent)
    if start not in distance or soonest is None:
        return Found(None, 0, 0)

    def estimate(cell: int, step: int) -> int:
        """Cost to the goal: its distance, or the ticks until it is free."""
        return max(distance[cell], (soonest - time - step) * CARDINAL_COST)

    first = (start, 0)
    g = {first: 0}
    order = {first: 0}
    parent: dict[State, State] = {}
    closed: set[State] = set()
    queue = [(estimate(*first), distance[start], 0, first)]
    while queue:
        f, _, _, state = heapq.heappop(queue)
        if state in closed:
            continue
        cell, step = state
        if step == steps if window else cell == goal and time + step >= soonest:
            way = [cell]
            while state in parent:
                state = parent[state]
                way.append(state[0])
            return Found(way[::-1], f, len(closed))
        closed.add(state)
        if step == steps:
            continue
        legal = legal_steps(grid, grid.xy(cell))
        moves = [(CARDINAL_COST if d < 4 else DIAGONAL_COST, grid.cell(*place)) for d, place in legal]
        moves.append((0 if window and cell == goal else CARDINAL_COST, cell))
        for cost, there in moves:
            if there not in distance or not table.may_move(
                grid, cell, there, time + step, agent, no_follow=no_follow, forbid_cross=forbid_cross
            ):
                continue
            owner, end = tails.get(there, (agent, 0))
            if owner != agent and end < time + step + 1:
                cost += soft_tail * CARDINAL_COST
            cost += g[state]
            beyond = (there, step + 1)
            if beyond in closed or cost >= g.get(beyond, cost + 1):
                continue
            g[beyond] = cost
            parent[beyond] = state
            order.setdefault(beyond, len(order))
            heapq.heappush(queue, (cost + estimate(*beyond), distance[there], order[beyond], beyond))
    return Found(None, 0, len(closed))
