"""A small skirmish: what does a group gain by keeping together? An instrument, not a game.

E. Wicks Rivas, R. Souza: Map Marker: a Multi-Agent Pathfinder for Cohesive Groups in Real-Time Strategy Games, section
V. There, 18 units of StarCraft II attack-moved along paths of A* and of Map Marker, without enemies and with nine of
them on their paths; counted were the seconds until all had arrived, and the casualties.

Here units are discs on the map's cells, all alike. A unit follows its path; if it sees enemies within `ACQUIRES` it
goes for the nearest, and bites when it is near enough. When it sees no more, it goes on along its path. Enemies wait
where they are until they see a unit. All move in turn; a unit without space ahead tries to pass at 45 and 90 degrees.

Deviations (the game is not at hand, and the paper gives no measures)
- Hit points, damage, cooldown, size and speed are like those of the paper's units; the rest is ours.
- Walls are for centres, not for discs: the paper's paths cut corners, where discs do not fit.
- Walls hide what is behind them. Otherwise units would press against a wall with enemies behind it.
- A unit has arrived when it has been within `ARRIVES` of the target; from then on it blocks no other.
- A fight over, a unit goes on at the nearest later point of its path; with `goes_back`, at the point that it left for
  the fight, as the paper observed. The seed decides in which order units move, and with that all ties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.maps.grid import Grid
from wend.maps.terrain import Point

TICKS_PER_SECOND = 16
HIT_POINTS = 35
DAMAGE = 5
COOLDOWN_TICKS = 8                  # 0.497 s
RADIUS = 0.375                      # cells
BITES = 2 * RADIUS + 0.1            # cells between centres
SPEED = 4.13 / TICKS_PER_SECOND     # cells per tick
ACQUIRES = 8.0                      # cells
ARRIVES = 2.0                       # cells
PASSES = 1.5                        # cells; a unit this near to a point of its path heads for the next

_TURNS = [(1.0, 0.0), (math.sqrt(0.5), math.sqrt(0.5)), (math.sqrt(0.5), -math.sqrt(0.5)), (0.0, 1.0), (0.0, -1.0)]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """How a skirmish ended."""

    seconds: float      # until every unit that lives has arrived, or the time was up
    casualties: int     # of the group
    enemies_left: int


class Skirmish:
    """A group that follows its paths, and enemies that wait for it."""

    def __init__(
        self,
        grid: Grid,
        paths: Sequence[Sequence[Point]],
        enemies: Sequence[Point] = (),
        *,
        seed: int = 0,
        goes_back: bool = False,
    ) -> None:
        self.grid = grid
        self.paths = [np.array(path, dtype=np.float64) for path in paths]
        self.goes_back = goes_back
        self.units = len(paths)
        self.at: Floats = np.array([path[0] for path in paths] + list(enemies), dtype=np.float64)
        self.side = np.arange(len(self.at)) < self.units        # True: of the group
        self.hit_points = np.full(len(self.at), HIT_POINTS)
        self.ready = np.zeros(len(self.at), dtype=np.int64)     # tick from which on it may bite again
        self.ahead = np.ones(self.units, dtype=np.int64)        # index of the point of its path that a unit heads for
        self.arrived = np.zeros(len(self.at), dtype=np.bool_)
        self.order = np.random.default_rng(seed).permutation(len(self.at))
        self.tick = 0

    def run(self, *, limit_seconds: float = 60.0) -> Outcome:
        """Fight it out."""
        while not self.is_over() and self.tick < limit_seconds * TICKS_PER_SECOND:
            self.step()
        alive = self.hit_points > 0
        fallen = self.units - int(alive[self.side].sum())
        return Outcome(self.tick / TICKS_PER_SECOND, fallen, int(alive[~self.side].sum()))

    def is_over(self) -> bool:
        """Whether all units of the group that live have arrived."""
        return bool((self.arrived | (self.hit_points <= 0))[self.side].all())

    def step(self) -> None:
        """One tick: all look, then move in turn or bite; wounds count when all have done so."""
        prey = self._prey()
        wounds = np.zeros_like(self.hit_points)
        for k in self._front_first():
            if prey[k] >= 0:
                if _length(self.at[prey[k]] - self.at[k]) > BITES:
                    self._move(k, self.at[prey[k]])
                elif self.tick >= self.ready[k]:
                    wounds[prey[k]] += DAMAGE
                    self.ready[k] = self.tick + COOLDOWN_TICKS
                if self.side[k] and not self.goes_back:
                    self._look_ahead(k)
            elif self.side[k] and not self.arrived[k]:
                self._look_ahead(k)
                self._move(k, self.paths[k][self.ahead[k]])
                self.arrived[k] = _length(self.paths[k][-1] - self.at[k]) <= ARRIVES
        self.hit_points -= wounds
        self.tick += 1

    def _front_first(self) -> list[int]:
        """The units that live, in the order in which they move: those ahead first, so that others can follow."""
        to_target = np.zeros(len(self.at))
        to_target[: self.units] = [_length(path[-1] - at) for path, at in zip(self.paths, self.at, strict=False)]
        by_distance = self.order[np.argsort(to_target[self.order], kind="stable")]
        return [k for k in by_distance.tolist() if self.hit_points[k] > 0]

    def _prey(self) -> NDArray[np.int64]:
        """The nearest enemy that each sees, -1 if it sees none."""
        apart = np.sqrt(((self.at[:, None] - self.at[None]) ** 2).sum(axis=2))
        apart[:, self.hit_points <= 0] = np.inf
        apart[self.side[:, None] == self.side[None]] = np.inf
        apart[apart > ACQUIRES] = np.inf
        for one, other in np.argwhere(np.isfinite(apart)).tolist():
            if not self._sees(self.at[one], self.at[other]):
                apart[one, other] = np.inf
        nearest = apart[:, self.order].argmin(axis=1)       # of equally near ones, the first to move
        return np.where(np.isfinite(apart.min(axis=1)), self.order[nearest], -1)

    def _sees(self, here: Floats, there: Floats) -> bool:
        """Whether no wall is between two points."""
        shares = np.linspace(0.0, 1.0, 1 + math.ceil(4 * _length(there - here)))
        x, y = np.rint(here + shares[:, None] * (there - here)).astype(np.int64).T
        return bool(self.grid.passable[y, x].all())

    def _look_ahead(self, unit: int) -> None:
        """Head for the next point of the path, if it is in sight and nearer, or the one at hand is near enough."""
        path, last = self.paths[unit], len(self.paths[unit]) - 1
        while self.ahead[unit] < last:
            here, this, following = self.at[unit], path[self.ahead[unit]], path[self.ahead[unit] + 1]
            near = _length(this - here)
            is_past = near <= PASSES or _length(following - here) <= near
            if near > SPEED and not (is_past and self._sees(here, following)):
                break
            self.ahead[unit] += 1

    def _move(self, k: int, target: Floats) -> None:
        """Go a step towards a point, or past what is in the way; units of odd index try the other side first."""
        gap = target - self.at[k]
        far = _length(gap)
        if far == 0:
            return
        step = gap * (min(SPEED, far) / far)
        for cosine, sine in _TURNS:
            if k % 2:
                sine = -sine
            there = self.at[k] + (step[0] * cosine - step[1] * sine, step[0] * sine + step[1] * cosine)
            if self._has_room(k, there):
                self.at[k] = there
                return

    def _has_room(self, k: int, there: Floats) -> bool:
        if not self.grid.is_free((round(float(there[0])), round(float(there[1])))):
            return False
        others = (self.hit_points > 0) & ~self.arrived
        others[k] = False
        return bool((((self.at[others] - there) ** 2).sum(axis=1) >= (2 * RADIUS) ** 2).all())


def _length(offset: Floats) -> float:
    return math.sqrt(float(offset[0]) ** 2 + float(offset[1]) ** 2)
