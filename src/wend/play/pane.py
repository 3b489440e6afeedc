"""A pane: one world of a scene, what its ticks cost, and how it looks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import UnknownNameError
from wend.groups.cohesion import spread
from wend.kernel import NO_AGENT
from wend.planners import registry
from wend.play.frames import Body, flags_of, full_body, move_codes, moves_body
from wend.play.heat import OVERLAYS, Heat
from wend.play.verdict import PaneScore
from wend.world.conduct import STATES
from wend.world.world import World

_WAITS = [STATES.index(name) for name in ("waiting", "stuck")]


class Look(NamedTuple):
    """How a pane looks at one time."""

    full: Body
    moves: Body | None          # from the look before, if that had as many units and one tick has been made since
    numbers: dict[str, Any]


@dataclass
class Pane:
    """One world of a scene."""

    algorithm: str
    parameters: dict[str, Any]
    world: World
    heat: Heat
    tick_ms: float = 0.0                            # of the last tick
    expansions: int = 0                             # of the last tick
    home_at: int | None = None                      # the tick after which all units were home
    has_new_mover: bool = False                     # whether another planner took over in the last tick
    flags: NDArray[np.uint8] | None = None          # of the last look

    @property
    def title(self) -> str:
        """What people call its algorithm."""
        return registry.find(self.algorithm).title

    @property
    def reason(self) -> str:
        """Which planner its algorithm has chosen, and why; empty if it moves the units itself."""
        is_itself = isinstance(self.world.planner, registry.find(self.algorithm).planner_class())
        return "" if is_itself else self.world.reasons()[-1]

    def tick(self, budget: int | None) -> None:
        """Make one tick, and see what it cost."""
        world, before, began = self.world, self.world.expansions, time.perf_counter()
        reasons = world.reasons()
        world.tick(budget=budget)
        self.tick_ms = (time.perf_counter() - began) * 1000
        self.has_new_mover = world.reasons() != reasons
        self.expansions = world.expansions - before
        self.heat.note(world.grid.width, world.positions()[np.isin(world.state_codes(), _WAITS)])
        if not world.all_home():
            self.home_at = None
        elif self.home_at is None:
            self.home_at = world.ticks

    def draw(self, overlay: str, agent: int) -> NDArray[Any]:
        """A picture over the map: one of the planner's, or one that any world can show."""
        if overlay in self.world.planner.overlays:
            return self.world.planner.overlay(overlay, agent if agent == NO_AGENT else self.world.index_of(agent))
        if overlay not in OVERLAYS:
            raise UnknownNameError("overlay", overlay, [*OVERLAYS, *self.world.planner.overlays])
        return self.heat.draw(overlay, self.world)

    def look(self, groups: NDArray[np.uint16], last_group: list[int]) -> Look:
        """How it looks now; `groups` are the groups of all units, `last_group` those whose spread is measured."""
        world = self.world
        places, states = world.positions(), world.state_codes()
        codes = move_codes(world.previous_positions(), places)
        flags = flags_of(states, world.followed() != NO_AGENT, world.pinned(), world.controlled())
        moves = None
        if self.flags is not None and self.flags.size == flags.size:
            moves = moves_body(codes, flags, self.flags)
        self.flags = flags
        return Look(full_body(places, codes, flags, groups), moves, self._numbers(states, last_group))

    def _numbers(self, states: NDArray[np.uint8], last_group: list[int]) -> dict[str, Any]:
        counts = dict(zip(STATES, np.bincount(states, minlength=len(STATES)).tolist(), strict=True))
        return {
            "units": states.size - counts["absent"], "home": counts["arrived"] + counts["unreachable"],
            **{name: counts[name] for name in ("moving", "waiting", "stuck", "yielding", "unreachable")},
            "tick_ms": round(self.tick_ms, 3), "expansions": self.expansions, "spread": self._spread(last_group),
        }  # fmt: skip

    def _spread(self, group: list[int]) -> float | None:
        """How far the units of a group are from their centre, on average; None if none is on the map."""
        places = self.world.positions()[group]
        there = places[places[:, 0] >= 0]
        return round(float(spread(there[np.newaxis])[0]), 2) if there.size else None

    def score(self, title: str, look: Look, ordered_at: int) -> PaneScore:
        """How its algorithm, of this title, has done since the last order."""
        home_in = None if self.home_at is None else max(self.home_at - ordered_at, 0)
        units, home, stuck = (look.numbers[name] for name in ("units", "home", "stuck"))
        return PaneScore(title, units, home, stuck, home_in, self.world.ticks - ordered_at, self.world.expansions)
