"""The registry of algorithms: their names, the papers they come from, and the parameters that can be set.

It is a table of names, so listing it imports no kernel. An alias is an algorithm with some parameters preset.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wend.errors import UnknownNameError
from wend.planners.base import Parameter, Planner

SILVER = "Silver: Cooperative Pathfinding (AIIDE 2005)"
WANG = "Wang, Botea: Fast and Memory-Efficient Multi-Agent Pathfinding (ICAPS 2008)"
WANG_MAPP = "Wang, Botea: MAPP: a Scalable Multi-Agent Path Planning Algorithm (JAIR 2011)"
SIGURDSON = "Sigurdson et al.: Multi-Agent Pathfinding with Real-Time Heuristic Search (CIG 2018)"
OKUMURA_PIBT = "Okumura et al.: Priority Inheritance with Backtracking (Artificial Intelligence 2022)"
OKUMURA_LACAM = "Okumura: Improving LaCAM for Scalable Eventually Optimal Multi-Agent Pathfinding (IJCAI 2023)"


@dataclass(frozen=True)
class Algorithm:
    """One entry of the registry."""

    key: str                # what the command line and files call it
    title: str              # what people call it
    summary: str            # one line
    paper: str              # where it comes from
    online: bool            # stays within a budget in every tick, the first included
    where: str              # module:class
    preset: Mapping[str, Any] = field(default_factory=dict)     # parameters that make the alias, and cannot be set
    defaults: Mapping[str, Any] = field(default_factory=dict)   # defaults that differ from the class's

    def planner_class(self) -> type[Planner]:
        """The class that implements it; importing it loads the kernels."""
        module, name = self.where.split(":")
        found: type[Planner] = getattr(importlib.import_module(module), name)
        return found

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that can be set, with the defaults of this algorithm."""
        return tuple(
            replace(p, default=self.defaults.get(p.name, p.default))
            for p in self.planner_class().parameters()
            if p.name not in self.preset
        )

    def create(self, **parameters: Any) -> Planner:
        """A planner with these parameters; the others keep their defaults."""
        known = [p.name for p in self.parameters()]
        for name in parameters:
            if name not in known:
                raise UnknownNameError(f"parameter of {self.key}", name, known)
        return self.planner_class()(**{**self.defaults, **self.preset, **parameters})


_ALGORITHMS = (
    Algorithm(
        key="lra",
        title="LRA*",
        summary="Each agent follows its own A* path and replans when another agent is in the way.",
        paper=SILVER,
        online=True,
        where="wend.planners.local_repair:LocalRepair",
    ),
    Algorithm(
        key="ca",
        title="CA*",
        summary="Each agent plans once, in space and time, around the plans of the agents before it.",
        paper=SILVER,
        online=False,
        where="wend.planners.cooperative:Cooperative",
        preset={"hierarchical": False},
    ),
    Algorithm(
        key="hca",
        title="HCA*",
        summary="CA* with true distances around the walls, searched backwards from the goal.",
        paper=SILVER,
        online=False,
        where="wend.planners.cooperative:Cooperative",
        preset={"hierarchical": True},
    ),
    Algorithm(
        key="whca",
        title="WHCA*",
        summary="HCA* in a moving window of time; agents step off their goals for others.",
        paper=SILVER,
        online=True,
        where="wend.planners.windowed.whca:Windowed",
    ),
    Algorithm(
        key="weave",
        title="Weave",
        summary="WHCA* with a soft tail; the agent away from home longest plans first; boxed-in agents push.",
        paper="ours, after Silver (2005) and Okumura et al. (2022)",
        online=True,
        where="wend.planners.windowed.whca:Windowed",
        preset={"order": "age", "boxed_in": "push", "soft_tail": 1},
        defaults={"window": 8},
    ),
    Algorithm(
        key="far",
        title="FAR",
        summary="Each agent follows its own A* path on one-way streets and reserves a few moves ahead.",
        paper=WANG,
        online=True,
        where="wend.planners.far.far:Far",
    ),
    Algorithm(
        key="astar-replan",
        title="A*-Replan",
        summary="FAR without one-way streets.",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.far.far:Far",
        preset={"flow": "none"},
    ),
    Algorithm(
        key="bmaa",
        title="BMAA*",
        summary="Each agent looks a few nodes ahead, learns, and treats the others as moving obstacles.",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
    ),
    Algorithm(
        key="bmaa-c",
        title="BMAA*-c",
        summary="BMAA* in which agents push others off their goals for a moment.",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        preset={"push": True, "flow": "none"},
    ),
    Algorithm(
        key="bmaa-f",
        title="BMAA*-f",
        summary="BMAA* on one-way streets.",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        preset={"push": False, "flow": "global"},
    ),
    Algorithm(
        key="bmaa-fc",
        title="BMAA*-f-c",
        summary="BMAA* on one-way streets, in which agents push others off their goals for a moment.",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        preset={"push": True, "flow": "global"},
    ),
    Algorithm(
        key="surge",
        title="Surge",
        summary="BMAA* with distances over blocks; agents in the way step aside, pushing others in a chain.",
        paper="ours, after Sigurdson et al. (2018) and Okumura et al. (2022)",
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        preset={"heuristic": "blocks", "make_way": True, "push": False, "flow": "none"},
        defaults={"vision": 0.0, "spread": 16},
    ),
    Algorithm(
        key="pibt",
        title="PIBT",
        summary="Each agent takes the best next cell; agents in its way make way in a chain, or swap places with it.",
        paper=OKUMURA_PIBT,
        online=True,
        where="wend.planners.pibt.pibt:Pibt",
    ),
    Algorithm(
        key="lacam",
        title="LaCAM*",
        summary="One plan for all agents at once, by a search over configurations; improved while there is time.",
        paper=OKUMURA_LACAM,
        online=False,
        where="wend.planners.lacam.lacam:Lacam",
    ),
    Algorithm(
        key="mapp",
        title="MAPP",
        summary="Units slide past each other like tiles; says beforehand which units are sure to arrive.",
        paper=WANG_MAPP,
        online=False,
        where="wend.planners.mapp.mapp:Mapp",
    ),
)

ALGORITHMS: Mapping[str, Algorithm] = {algorithm.key: algorithm for algorithm in _ALGORITHMS}


def find(key: str) -> Algorithm:
    """The algorithm with that key; raises an error that lists the known ones."""
    if key not in ALGORITHMS:
        raise UnknownNameError("algorithm", key, ALGORITHMS)
    return ALGORITHMS[key]


def create(key: str, **parameters: Any) -> Planner:
    """A planner by name, such as `create("lra", noise=2)`."""
    return find(key).create(**parameters)
