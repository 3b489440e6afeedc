"""Push and Swap in plain Python: the moves of `planners/lacam/push_and_swap.py`, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from tests.reference.grid import legal_steps
from wend.maps.grid import Grid
from wend.maps.terrain import Point

_MOST_TRIED = 64


class Stuck(Exception):
    """What was tried cannot be done."""


class ReferencePushing:
    """Brings units home one after the other, those with the longest way first."""

    def __init__(
        self, grid: Grid, starts: list[Point], goals: list[Point], others: Iterable[Point],
        far: Callable[[int, Point], int],
    ) -> None:  # fmt: skip
        """`far(unit, place)` is the distance to a unit's goal."""
        self.grid, self.at, self.goals, self.far = grid, dict(enumerate(starts)), goals, far
        self.walls = set(others)
        self.home = {unit for unit, place in self.at.items() if place == goals[unit]}
        self.moves: list[tuple[int, Point, Point]] = []

    def bring_all_home(self) -> bool:
        """Whether all got home."""
        failed: set[int] = set()
        arrived = 0
        while len(self.home) < len(self.at):
            ready = [unit for unit in self.at if unit not in self.home | failed]
            if not ready:
                if arrived == 0:
                    return False
                failed, arrived = set(), 0
                continue
            unit = max(ready, key=lambda unit: (self.far(unit, self.at[unit]), -unit))
            if self._bring_home(unit):
                arrived += 1
            else:
                failed.add(unit)
        return True

    def _bring_home(self, unit: int) -> bool:
        self.home.add(unit)
        away: list[int] = []        # units that it has swapped away from their goals
        try:
            while self.at[unit] != self.goals[unit]:
                there = self._next_place(unit)
                other = self._who(there)
                self._enter(unit, there)
                if other in self.home:
                    away.append(other)      # type: ignore[arg-type]
                else:
                    while away:
                        self._enter(away[-1], self.goals[away[-1]])
                        away.pop()
        except Stuck:
            self.home -= {unit, *away}
            return False
        return True

    def _next_place(self, unit: int) -> Point:
        def cost(place: Point) -> tuple[int, int]:
            other = self._who(place)
            return self.far(unit, place), 0 if other is None else 2 if other in self.home else 1

        best, least = None, (self.far(unit, self.at[unit]), 0)
        for place in self._beside(self.at[unit]):
            if cost(place) < least:
                best, least = place, cost(place)
        if best is None:
            raise Stuck
        return best

    def _enter(self, unit: int, place: Point) -> None:
        other = self._who(place)
        if other is not None and (other in self.home or not self._push(place, {self.at[unit]}, self.home)):
            self._swap(unit, other)
            return
        self._move(unit, place)

    def _push(self, place: Point, shut: set[Point], firm: set[int]) -> bool:
        """Empty a place: all from there to the nearest empty one move up by one, but none that is `firm`."""
        came: dict[Point, Point | None] = {place: None}
        queue = deque([place])
        while queue:
            here = queue.popleft()
            if self._who(here) is None:
                while (before := came[here]) is not None:
                    self._move(self._who(before), here)     # type: ignore[arg-type]
                    here = before
                return True
            for beside in self._beside(here):
                if beside not in came and beside not in shut and self._who(beside) not in firm:
                    came[beside] = here
                    queue.append(beside)
        return False

    def _swap(self, first: int, second: int) -> None:
        came: dict[Point, Point | None] = {self.at[first]: None, self.at[second]: None}
        queue, tried, begun = deque(came), 0, len(self.moves)
        while queue and tried < _MOST_TRIED:
            here = queue.popleft()
            for beside in self._beside(here):
                if beside not in came:
                    came[beside] = here
                    queue.append(beside)
            if len(self._beside(here)) < 3:
                continue
            tried += 1
            path = [here]
            while (before := came[path[0]]) is not None:
                path.insert(0, before)
            leader, follower = (first, second) if path[0] == self.at[first] else (second, first)
            if self._lead(leader, follower, path) and (between := self._clear(leader, follower)):
                self._exchange(leader, follower, begun, between)
                return
            self._undo(begun)
        raise Stuck

    def _lead(self, leader: int, follower: int, path: list[Point]) -> bool:
        for place in path[1:]:
            here = self.at[leader]
            if not self._push(place, {here, self.at[follower]}, set()):
                return False
            self._move(leader, place)
            self._move(follower, here)
        return True

    def _clear(self, leader: int, follower: int) -> tuple[Point, Point] | None:
        """Two empty places beside the leader."""
        pair, one = {self.at[leader], self.at[follower]}, None
        for beside in self._beside(self.at[leader]):
            if beside in pair:
                continue
            begun = len(self.moves)
            shut = pair if one is None else pair | {one}
            is_empty = self._push(beside, shut, set())
            if not is_empty and one is not None:
                is_empty = self._push(beside, pair, set()) and self._push(one, pair | {beside}, set())
            if not is_empty:
                self._undo(begun)
            elif one is None:
                one = beside
            else:
                return one, beside
        return None

    def _exchange(self, leader: int, follower: int, begun: int, between: tuple[Point, Point]) -> None:
        """The two exchange places, and all moves since `begun` are made backwards, each of the two as the other."""
        here, behind, done = self.at[leader], self.at[follower], self.moves[begun:]
        for unit, place in [
            (leader, between[0]), (follower, here), (follower, between[1]), (leader, here), (leader, behind),
            (follower, here),
        ]:  # fmt: skip
            self._move(unit, place)
        instead = {leader: follower, follower: leader}
        for unit, place, _ in reversed(done):
            self._move(instead.get(unit, unit), place)

    def _move(self, unit: int, place: Point) -> None:
        assert self._who(place) is None
        self.moves.append((unit, self.at[unit], place))
        self.at[unit] = place

    def _undo(self, begun: int) -> None:
        while len(self.moves) > begun:
            unit, place, _ = self.moves.pop()
            self.at[unit] = place

    def _who(self, place: Point) -> int | None:
        return next((unit for unit, at in self.at.items() if at == place), None)

    def _beside(self, place: Point) -> list[Point]:
        return [beside for _, beside in legal_steps(self.grid, place) if beside not in self.walls]
