"""A scene: one problem in one or two worlds, side by side under one clock, and what people do to them.

Orders, walls, new units and removals go to all panes alike, between two ticks. So that the panes stay comparable, all
of them have the same map and the same units for ever: a wall is built, and a unit added, only where no unit stands in
any pane.

A scene is used by one thread at a time. What others look at is a `LivePicture`, which never changes.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.errors import MapError, ParameterError
from wend.kernel import NO_AGENT
from wend.maps.grid import Grid
from wend.maps.terrain import Point, places_of
from wend.planners.base import Planner
from wend.play.catalogue import GROUP, Recipe, overlays_of, set_up
from wend.play.frames import Body
from wend.play.heat import Heat
from wend.play.messages import HOW, PAINTS, PlayLimits
from wend.play.pane import Pane
from wend.play.verdict import verdict
from wend.world.conduct import AgentEvent

_EVENTS_KEPT = 50
_AGENTS_NAMED = 10      # of an event
_numbers = itertools.count(1)


class MapPicture(NamedTuple):
    """The map of a scene at one time."""

    revision: int
    classes: NDArray[np.uint8]      # uint8[cells]  as in a map frame
    edited: NDArray[np.int32]       # int32[cells]  the revision that last changed it


class LivePicture(NamedTuple):
    """A scene at one time, for those who show it."""

    number: int                         # of the scene
    about: dict[str, Any]               # what a client is told of the scene; another object when it has changed
    serial: int                         # how often units have changed so far
    tick: int
    full: tuple[Body, ...]              # of each pane
    moves: tuple[Body, ...]             # of each pane, from the picture before; empty if no single tick lies between
    ground: MapPicture
    panes: tuple[dict[str, Any], ...]   # the numbers of each pane
    events: tuple[dict[str, Any], ...]  # the newest ones, with their serial numbers
    verdict: str


class LiveScene:
    """One or two worlds with the same map, units and orders."""

    def __init__(self, recipe: Recipe, grid: Grid, planners: list[Planner], limits: PlayLimits) -> None:
        self.number = next(_numbers) & 0xFFFF
        self.recipe = recipe
        self.budget = recipe.budget
        self._limits = limits
        self._grid = grid
        algorithms = zip(recipe.algorithms, planners, strict=True)
        self.panes = [
            Pane(key, given, set_up(recipe, grid, planner), Heat(grid.size)) for (key, given), planner in algorithms
        ]
        self._groups = np.zeros(self.units, np.uint16)
        self._last_group: list[int] = []            # the agents that were last ordered as a group
        self._group_numbers = itertools.cycle(range(1, 2**16))
        self._ordered_at = 0
        self._serial = 0
        self._pictured_tick = -1
        self._has_changed_units = True              # since the last picture, otherwise than by a tick
        classes = np.where(grid.free, PAINTS["free"], PAINTS["wall"]).astype(np.uint8)
        self._ground = MapPicture(0, classes, np.zeros(grid.size, np.int32))
        self._events: deque[dict[str, Any]] = deque(maxlen=_EVENTS_KEPT)
        self._event_numbers = itertools.count(1)
        if recipe.problem == GROUP:
            self._form_group(list(range(self.units)))
        self._about = self._described()

    @property
    def units(self) -> int:
        """Units that there ever were."""
        return self.panes[0].world.agents

    @property
    def ticks(self) -> int:
        """Ticks made so far, in every pane."""
        return self.panes[0].world.ticks

    def titles(self) -> list[str]:
        """What to call the algorithms of the panes; with letters if it is the same in both."""
        titles = [pane.title for pane in self.panes]
        if len(set(titles)) == len(titles):
            return titles
        return [f"{title} {letter}" for title, letter in zip(titles, "AB", strict=True)]

    def pane(self, number: int) -> Pane:
        """One of the panes."""
        if number >= len(self.panes):
            raise ParameterError(f"there is no pane {number}")
        return self.panes[number]

    def set_budget(self, value: int | None) -> None:
        """Let the planners expand so many nodes in a tick."""
        self.budget = value
        self._about = self._described()

    def change_algorithm(self, pane: int, key: str, parameters: dict[str, Any], planner: Planner) -> str:
        """Let another algorithm move the units of a pane from the next tick on."""
        changed = self.pane(pane)
        changed.world.change_planner(planner)
        changed.algorithm, changed.parameters = key, parameters
        self._about = self._described()
        return f"from tick {self.ticks + 1} on, {self.titles()[pane]} moves the units"

    def _described(self) -> dict[str, Any]:
        recipe, grid = self.recipe, self._grid
        panes = [
            {
                "algorithm": pane.algorithm,
                "title": title,
                "parameters": pane.parameters,
                "overlays": overlays_of(type(pane.world.planner)),
                "reason": pane.reason,
            }
            for pane, title in zip(self.panes, self.titles(), strict=True)
        ]
        return {
            "scene": self.number, "width": grid.width, "height": grid.height, "units": self.units,
            "connectivity": grid.connectivity, "corner_cutting": grid.corner_cutting, "seed": recipe.seed,
            "map": recipe.map, "problem": recipe.problem, "agents": recipe.agents, "budget": self.budget,
            "versus": len(self.panes) > 1, "panes": panes,
        }  # fmt: skip

    # --- the clock -------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """One tick in every pane."""
        for number, pane in enumerate(self.panes):
            pane.tick(self.budget)
            for event in pane.world.events():
                self._events.append(self._told(number, event))
        if any(pane.has_new_mover for pane in self.panes):
            self._about = self._described()

    def is_at_rest(self) -> bool:
        """Whether ticks change nothing until somebody does something."""
        return all(pane.world.quiet() for pane in self.panes)

    def _told(self, pane: int, event: AgentEvent) -> dict[str, Any]:
        agents = event.agents[:_AGENTS_NAMED]
        return {
            "number": next(self._event_numbers), "pane": pane, "tick": event.tick, "kind": event.kind,
            "agents": agents, "count": len(event.agents), "at": event.place,
        }  # fmt: skip

    # --- orders ----------------------------------------------------------------------------------------------------

    def order(self, agents: list[int], to: Point, how: str) -> str:
        """Send units to a place; all of these methods answer what is to be said about it, mostly nothing."""
        self._grid.cell_at(to, "to")
        present = self._present(agents)
        self._release(present)
        for pane in self.panes:
            if len(present) == 1 and how == "move":
                pane.world.order(present[0], to)
            else:
                pane.world.order_group(present, to, HOW[how])
        if len(present) > 1:
            self._form_group(present)
        else:
            self._groups[present] = 0
        return self._after_orders(agents, present)

    def follow(self, agents: list[int], other: int) -> str:
        """Let units follow another one."""
        self._present([other])
        present = [agent for agent in self._present(agents) if agent != other]
        if not present:
            raise ParameterError(f"unit {other} cannot follow itself")
        self._release(present)
        for pane in self.panes:
            for agent in present:
                pane.world.follow(agent, other)
        self._groups[present] = 0
        return self._after_orders([agent for agent in agents if agent != other], present)

    def hold(self, agents: list[int]) -> str:
        """Let units stay where they stand, and let nobody push them until their next order."""
        present = self._present(agents)
        for pane in self.panes:
            for agent in present:
                pane.world.order(agent, pane.world.position(agent))
                pane.world.pin(agent)
        self._groups[present] = 0
        return self._after_orders(agents, present)

    def paint(self, cells: list[Point], paint: str) -> str:
        """Build walls where no unit stands, or tear them down."""
        wanted = np.unique(np.array(self._grid.cells_at(cells, "cells"), np.int32))
        if not wanted.size:
            raise ParameterError("cells is empty")
        is_wall = paint == "wall"
        usable = wanted[~self._is_taken(wanted)] if is_wall else wanted
        world = self.panes[0].world
        changed = usable[world.grid.free[usable] == is_wall]
        points = [(x, y) for x, y in places_of(self._grid.width, changed).tolist()]
        for pane in self.panes:
            (pane.world.block if is_wall else pane.world.unblock)(points)
        if changed.size:
            classes, edited, revision = self._ground.classes.copy(), self._ground.edited.copy(), self._ground.revision
            classes[changed], edited[changed] = PAINTS[paint], revision + 1
            self._ground = MapPicture(revision + 1, classes, edited)
            self._has_changed_units = True      # goals may have moved
        left = wanted.size - usable.size
        if left and wanted.size == 1:
            return "the cell stays free: a unit stands on it"
        return f"{left} of {wanted.size} cells stay free: units stand on them" if left else ""

    def add(self, cells: list[Point]) -> str:
        """Put new units on free cells; they stay there until they are ordered."""
        wanted = np.array(list(dict.fromkeys(self._grid.cells_at(cells, "cells"))), np.int32)
        if not wanted.size:
            raise ParameterError("cells is empty")
        if self.units + wanted.size > self._limits.units:
            raise ParameterError(f"a scene has at most {self._limits.units} units, counting those that have left")
        usable = wanted[~self._is_taken(wanted) & self.panes[0].world.grid.free[wanted]]
        if not usable.size:
            raise MapError("there is a wall or a unit on each of these cells")
        for point in places_of(self._grid.width, usable).tolist():
            for pane in self.panes:
                pane.world.add((point[0], point[1]))
        self._groups = np.append(self._groups, np.zeros(usable.size, np.uint16))
        self._has_changed_units = True
        left = wanted.size - usable.size
        return f"{left} of {wanted.size} units were not added: there is a wall or a unit" if left else ""

    def remove(self, agents: list[int]) -> str:
        """Take units off the map."""
        present = self._present(agents)
        for pane in self.panes:
            for agent in present:
                pane.world.remove(agent)
        return self._after_orders(agents, present)

    def _present(self, agents: list[int]) -> list[int]:
        """Those that are on the map; an error if none is."""
        living = set(self.panes[0].world.living().tolist())
        present = [agent for agent in agents if agent in living]
        if not present:
            raise ParameterError("none of these units is on the map" if agents else "agents is empty")
        return present

    def _release(self, agents: list[int]) -> None:
        """Units that hold their place may be pushed again."""
        for pane in self.panes:
            for agent in agents:
                pane.world.pin(agent, False)

    def _form_group(self, agents: list[int]) -> None:
        self._groups[agents] = next(self._group_numbers)
        self._last_group = agents

    def _after_orders(self, agents: list[int], present: list[int]) -> str:
        self._ordered_at = self.ticks
        self._has_changed_units = True
        left = len(agents) - len(present)
        return f"{left} of {len(agents)} units are not on the map" if left else ""

    def _is_taken(self, cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether a unit stands on each of these cells, in any pane."""
        taken = np.zeros(cells.size, np.bool_)
        for pane in self.panes:
            taken |= pane.world.state.occupant[cells] != NO_AGENT
        return taken

    # --- what can be seen ------------------------------------------------------------------------------------------

    def picture(self) -> LivePicture:
        """The scene as it is now."""
        looks = [pane.look(self._groups, self._last_group) for pane in self.panes]
        is_next_tick = self.ticks == self._pictured_tick + 1 and not self._has_changed_units
        moves = [look.moves for look in looks if is_next_tick and look.moves is not None]
        if self._has_changed_units or self.ticks != self._pictured_tick:
            self._serial += 1
        self._pictured_tick, self._has_changed_units = self.ticks, False
        seen = zip(self.panes, self.titles(), looks, strict=True)
        scores = [pane.score(title, look, self._ordered_at) for pane, title, look in seen]
        return LivePicture(
            number=self.number, about=self._about, serial=self._serial, tick=self.ticks,
            full=tuple(look.full for look in looks), moves=tuple(moves), ground=self._ground,
            panes=tuple(look.numbers for look in looks), events=tuple(self._events), verdict=verdict(scores),
        )  # fmt: skip
