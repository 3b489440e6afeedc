"""The catalogue: the maps, problems and algorithms that a client may choose from, and whether a choice is one of them.

A client names things and never places: a map is a generator with its parameters, or the one that the server was started
with; an algorithm is one of the registry, and those of its parameters that are texts without a list of choices, which
may be paths, are not offered.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wend import arguments
from wend.errors import ParameterError, ProblemError, UnknownNameError, WendError
from wend.maps import drawing, generators
from wend.maps.grid import Grid
from wend.maps.parameters import MAX_SEED, parse_spec
from wend.planners import registry
from wend.planners.base import Overlay, Parameter, Planner
from wend.play import heat
from wend.play.messages import PlayLimits
from wend.problems.problem import Problem
from wend.problems.scenarios import PROBLEMS, Group, make_group, make_problem
from wend.world.world import World

GIVEN = "given"     # the map that the server was started with
GROUP, EMPTY = "group", "empty"
_OWN_PROBLEMS = {
    GROUP: "All units stand together, and are sent to one place.",
    EMPTY: "No units: add them by hand.",
}
_KINDS = {int: "int", float: "float", bool: "bool", str: "choice"}


@dataclass(frozen=True)
class Recipe:
    """What a scene is made from."""

    map: str = "arena:"
    problem: str = "cross-sides"
    agents: int = 200
    seed: int = 0
    algorithm: str = "auto"
    parameters: dict[str, Any] = field(default_factory=dict)
    versus: str | None = None
    versus_parameters: dict[str, Any] = field(default_factory=dict)
    budget: int | None = None       # expansions per tick

    @property
    def algorithms(self) -> list[tuple[str, dict[str, Any]]]:
        """The algorithm of each pane, and its parameters."""
        versus = [] if self.versus is None else [(self.versus, self.versus_parameters)]
        return [(self.algorithm, self.parameters), *versus]


class Catalogue:
    """What scenes can be made of in one server."""

    def __init__(
        self, limits: PlayLimits, given: Grid | None = None, given_name: str = "", planners: Sequence[str] = ()
    ) -> None:
        """`given` is the map of the command line; `planners` are named there too, and may be the user's own."""
        self._limits = limits
        self._given = given
        self.given_name = given_name if given is not None else None
        self._algorithms = list(dict.fromkeys([*registry.names(), *planners]))
        self._described: list[dict[str, Any]] = []
        if given is not None:
            self._check_size(given.size)

    # --- what there is ---------------------------------------------------------------------------------------------

    def maps(self) -> list[dict[str, Any]]:
        """The generators of maps, and their parameters."""
        return [
            {
                "name": kind,
                "about": _first_line(generators.GENERATORS[kind]),
                "parameters": [{"name": n, "value": v} for n, v in generators.parameters(kind).items()],
            }
            for kind in generators.GENERATORS
        ]

    def problems(self) -> list[dict[str, Any]]:
        """The kinds of problems."""
        drawn = {kind: _first_line(draw) for kind, draw in PROBLEMS.items()}
        return [{"name": kind, "about": about} for kind, about in {**drawn, **_OWN_PROBLEMS}.items()]

    def algorithms(self) -> list[dict[str, Any]]:
        """The algorithms, and the parameters that a client may set; those that cannot be imported are left out.

        The first call imports all planners, and no other thread may do so meanwhile.
        """
        if not self._described:
            for key in self._algorithms:
                with contextlib.suppress(WendError):
                    self._described.append(_described(key))
        return self._described

    # --- what is made of it ----------------------------------------------------------------------------------------

    def check(self, recipe: Recipe) -> None:
        """Refuse a recipe that names what there is not; what only shows when it is made is told then."""
        if recipe.map == GIVEN:
            if self._given is None:
                raise UnknownNameError("map", GIVEN, generators.GENERATORS, hint="The server was started without one.")
        else:
            kind, values = parse_spec(recipe.map)
            known = drawing.parameters(kind)
            for name in values:
                if name not in known:
                    raise UnknownNameError(f"parameter of {kind}", name, known)
            both = {**known, **values}
            if {"width", "height"} <= set(both):
                self._check_size(math.prod(max(both[side], 0) for side in ("width", "height")))
        if recipe.problem not in PROBLEMS and recipe.problem not in _OWN_PROBLEMS:
            raise UnknownNameError("kind of problem", recipe.problem, [*PROBLEMS, *_OWN_PROBLEMS])
        arguments.whole(recipe.agents, "agents", low=0)
        arguments.whole(recipe.seed, "seed", low=0, high=MAX_SEED)
        if recipe.budget is not None:
            arguments.whole(recipe.budget, "budget", low=1)
        if recipe.agents > self._limits.units:
            raise ParameterError(f"a scene has at most {self._limits.units} units, not {recipe.agents}")
        for key, parameters in recipe.algorithms:
            self.planner(key, parameters)

    def planner(self, key: str, parameters: dict[str, Any]) -> Planner:
        """A planner by its name, with parameters that a client may set."""
        if key not in self._algorithms:
            raise UnknownNameError("algorithm", key, self._algorithms)
        known = [p.name for p in settable(key)]
        for name in parameters:
            if name not in known:
                raise UnknownNameError(f"parameter of {key}", name, known)
        return registry.create(key, **parameters)

    def grid(self, recipe: Recipe) -> Grid:
        """The map of a recipe."""
        if recipe.map == GIVEN and self._given is not None:
            return self._given
        grid = generators.from_spec(recipe.map)
        self._check_size(grid.size)
        return grid

    def _check_size(self, cells: float) -> None:
        if cells > self._limits.cells:
            raise ParameterError(f"a map has at most {self._limits.cells} cells here, not {cells:.0f}")


def settable(key: str) -> list[Parameter]:
    """The parameters of an algorithm that a client may set: numbers, flags and choices, and no texts."""
    return [p for p in registry.find(key).parameters() if p.type is not str or p.choices is not None]


def overlays_of(planner: type[Planner]) -> list[dict[str, Any]]:
    """What can be drawn over the map in a world with this kind of planner."""
    found: dict[str, Overlay] = {**heat.OVERLAYS, **planner.overlays}
    return [{"name": name, "about": about.shows, "of_agent": about.of_agent} for name, about in found.items()]


def drawn(recipe: Recipe, grid: Grid) -> Problem | Group | None:
    """Where the units of a recipe stand and go; None if there are no units."""
    if recipe.problem == EMPTY:
        return None
    if recipe.agents == 0:
        raise ProblemError("0 units: take the problem `empty`")
    if recipe.problem == GROUP:
        return make_group(grid, agents=recipe.agents, seed=recipe.seed, chain="compact")
    return make_problem(recipe.problem, grid, agents=recipe.agents, seed=recipe.seed)


def set_up(recipe: Recipe, grid: Grid, planner: Planner) -> World:
    """A world in which the units of a recipe stand on their starts and have their orders. It keeps no trace."""
    world = World(grid, planner, seed=recipe.seed, on_violation="record", record=False)
    units = drawn(recipe, grid)
    if isinstance(units, Group):
        world.order_group([world.add(start) for start in units.starts], units.target)
    elif units is not None:
        for start, goal in zip(units.start_points(), units.goal_points(), strict=True):
            world.add(start, goal)
    return world


def _described(key: str) -> dict[str, Any]:
    entry = registry.find(key)
    return {
        "name": key,
        "title": entry.title,
        "about": entry.summary,
        "suits": entry.suits,
        "online": entry.online,
        "parameters": [_parameter(p) for p in settable(key)],
        "overlays": overlays_of(entry.planner_class()),
    }


def _parameter(declared: Parameter) -> dict[str, Any]:
    about = {
        "name": declared.name, "value": declared.default, "kind": _KINDS[declared.type], "about": declared.help,
        "low": declared.minimum, "high": declared.maximum, "choices": declared.choices,
    }  # fmt: skip
    return {key: value for key, value in about.items() if value is not None}


def _first_line(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().splitlines()[0]
