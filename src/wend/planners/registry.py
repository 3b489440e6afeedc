"""The registry of algorithms: their names, the papers they come from, and the parameters that can be set.

It is a table of names, so listing it imports no kernel. An alias is an algorithm with some parameters preset.

Planners that are no part of Wend have names too: `module:Class` works at once, `register` gives one a short name in a
program, and a package registers its planners as entry points of the group `wend.planners`.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wend import plugins
from wend.errors import ParameterError, UnknownNameError
from wend.planners.base import Parameter, Planner

SILVER = "Silver: Cooperative Pathfinding (AIIDE 2005)"
WANG = "Wang, Botea: Fast and Memory-Efficient Multi-Agent Pathfinding (ICAPS 2008)"
WANG_MAPP = "Wang, Botea: MAPP: a Scalable Multi-Agent Path Planning Algorithm (JAIR 2011)"
SIGURDSON = "Sigurdson et al.: Multi-Agent Pathfinding with Real-Time Heuristic Search (CIG 2018)"
OKUMURA_PIBT = "Okumura et al.: Priority Inheritance with Backtracking (Artificial Intelligence 2022)"
LIANG = "Liang et al.: Real-Time LaCAM for Real-Time MAPF (SoCS 2025)"
OKUMURA_LACAM = "Okumura: Improving LaCAM for Scalable Eventually Optimal Multi-Agent Pathfinding (IJCAI 2023)"

AUTO = "auto"       # what chooses between the others, wherever none is named


@dataclass(frozen=True)
class Algorithm:
    """One entry of the registry."""

    key: str                # what the command line and files call it
    title: str              # what people call it
    summary: str            # one line
    paper: str              # where it comes from
    online: bool | None     # stays within a budget in every tick, the first included; None: nobody has said
    where: str              # module:Class
    suits: str = ""         # what to take it for; only what was measured
    restless: str = ""      # why a crowd that was sent to one place may never come to rest; empty: it does
    loses_track: str = ""   # why a unit that is sent after a walking one may not get nearer; empty: it does
    preset: Mapping[str, Any] = field(default_factory=dict)     # parameters that make the alias, and cannot be set
    defaults: Mapping[str, Any] = field(default_factory=dict)   # defaults that differ from the class's

    def planner_class(self) -> type[Planner]:
        """The class that implements it; importing it loads the kernels."""
        found: type[Planner] = plugins.load(self.where, plugins.PLANNER)
        return found

    @property
    def is_foreign(self) -> bool:
        """Whether it is no part of Wend."""
        return not self.where.startswith("wend.")

    def source(self) -> str | None:
        """A hash of the source of a foreign planner; None for Wend's own, whose version says it."""
        return plugins.source_digest(self.planner_class()) if self.is_foreign else None

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


_WANDERS = "in a dense crowd an agent that cannot get to its place walks about, and never waits beside those at home"
_FORGETS = "with every order an agent forgets what it has learned of the walls"

_ALGORITHMS = (
    Algorithm(
        key=AUTO,
        title="Auto",
        summary="Chooses a planner for the agents, the map and the budget, and another when agents no longer arrive.",
        suits="everything, to start with: it is what Wend takes where none is named",
        paper="ours, after Sigurdson: Automatic Algorithm Selection in Videogame Pathfinding (2018)",
        online=True,
        where="wend.planners.auto.auto:Auto",
    ),
    Algorithm(
        key="lra",
        title="LRA*",
        summary="Each agent follows its own A* path and replans when another agent is in the way.",
        suits="comparing: what a plain A* for each unit makes of a crowd",
        paper=SILVER,
        online=True,
        where="wend.planners.local_repair:LocalRepair",
    ),
    Algorithm(
        key="ca",
        title="CA*",
        summary="Each agent plans once, in space and time, around the plans of the agents before it.",
        suits="comparing: all paths are planned in the first tick",
        paper=SILVER,
        online=False,
        where="wend.planners.cooperative:Cooperative",
        preset={"hierarchical": False},
    ),
    Algorithm(
        key="hca",
        title="HCA*",
        summary="CA* with true distances around the walls, searched backwards from the goal.",
        suits="comparing: all paths are planned in the first tick",
        paper=SILVER,
        online=False,
        where="wend.planners.cooperative:Cooperative",
        preset={"hierarchical": True},
    ),
    Algorithm(
        key="whca",
        title="WHCA*",
        summary="HCA* in a moving window of time; agents step off their goals for others.",
        suits="comparing: Weave is built on it",
        paper=SILVER,
        online=True,
        where="wend.planners.windowed.whca:Windowed",
    ),
    Algorithm(
        key="weave",
        title="Weave",
        summary="Agents look some steps ahead for a way on which they meet few others; PIBT decides who goes where.",
        suits="games: resolves all jams of the benchmark, and is ahead nearly everywhere",
        paper="ours, after Silver (2005), Okumura et al. (2022) and Arita, Okumura (2026)",
        online=True,
        where="wend.planners.weave.weave:Weave",
    ),
    Algorithm(
        key="far",
        title="FAR",
        summary="Each agent follows its own A* path on one-way streets and reserves a few moves ahead.",
        suits="many units with room to pass and few new orders: 0.2 ms per tick for 2,000 units",
        paper=WANG,
        online=True,
        where="wend.planners.far.far:Far",
    ),
    Algorithm(
        key="astar-replan",
        title="A*-Replan",
        summary="FAR without one-way streets.",
        suits="comparing: what FAR's one-way streets are worth",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.far.far:Far",
        preset={"flow": "none"},
    ),
    Algorithm(
        key="bmaa",
        title="BMAA*",
        summary="Each agent looks a few nodes ahead, learns, and treats the others as moving obstacles.",
        suits="comparing: Surge is built on it",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        loses_track=_FORGETS,
        restless=_WANDERS,
    ),
    Algorithm(
        key="bmaa-c",
        title="BMAA*-c",
        summary="BMAA* in which agents push others off their goals for a moment.",
        suits="comparing: what pushing is worth in BMAA*",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        loses_track=_FORGETS,
        preset={"push": True, "flow": "none"},
    ),
    Algorithm(
        key="bmaa-f",
        title="BMAA*-f",
        summary="BMAA* on one-way streets.",
        suits="comparing: what one-way streets are worth in BMAA*",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        loses_track=_FORGETS,
        restless=_WANDERS,
        preset={"push": False, "flow": "global"},
    ),
    Algorithm(
        key="bmaa-fc",
        title="BMAA*-f-c",
        summary="BMAA* on one-way streets, in which agents push others off their goals for a moment.",
        suits="comparing: what both are worth in BMAA*",
        paper=SIGURDSON,
        online=True,
        where="wend.planners.bmaa.bmaa:Bmaa",
        loses_track=_FORGETS,
        restless=_WANDERS,
        preset={"push": True, "flow": "global"},
    ),
    Algorithm(
        key="surge",
        title="Surge",
        summary="BMAA* with distances over blocks; agents in the way step aside, pushing others in a chain.",
        suits="games with 1,000 units and more: 2,000 units get home on all maps of the BMAA* paper",
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
        suits="comparing: the plainest planner that lets a crowd through",
        paper=OKUMURA_PIBT,
        online=True,
        where="wend.planners.pibt.pibt:Pibt",
    ),
    Algorithm(
        key="lacam",
        title="LaCAM*",
        summary="One plan for all agents at once, by a search over configurations; improved while there is time.",
        suits="plans made beforehand in dense and narrow places: solves 85 of 85 instances of the MAPF benchmark",
        paper=OKUMURA_LACAM,
        online=False,
        where="wend.planners.lacam.lacam:Lacam",
    ),
    Algorithm(
        key="lacam-rt",
        title="Real-Time LaCAM",
        summary="LaCAM's search goes on from tick to tick, and the agents walk after it, its backtracking included.",
        suits="jams: it is complete while orders and walls stand",
        paper=LIANG,
        online=True,
        where="wend.planners.lacam.real_time:RealTimeLacam",
    ),
    Algorithm(
        key="mapp",
        title="MAPP",
        summary="Units slide past each other like tiles; says beforehand which units are sure to arrive.",
        suits="plans made beforehand, with a promise who arrives: 9 s for 2,000 units",
        paper=WANG_MAPP,
        online=False,
        where="wend.planners.mapp.mapp:Mapp",
    ),
)

ALGORITHMS: dict[str, Algorithm] = {algorithm.key: algorithm for algorithm in _ALGORITHMS}
"""Wend's own, and those that this program has registered."""

_KEY = re.compile(r"[A-Za-z_][\w.+-]*")


def register(
    key: str, planner: type[Planner], *, title: str = "", summary: str = "", paper: str = "", online: bool | None = None
) -> None:
    """Give a planner of your own a name that works wherever the name of a planner does, until the program ends.

    The others say what lists and reports show; `title` is the name of the class by default, `summary` the first line of
    its docstring, and `online` whether it claims to stay within a budget in every tick.
    """
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ParameterError(f"key is a short name such as 'greedy', not {key!r}")
    if key in ALGORITHMS and not ALGORITHMS[key].is_foreign:
        raise ParameterError(f"key is a name that no algorithm of Wend has, and {key!r} is {ALGORITHMS[key].title}")
    _check_class(planner, "planner")
    where = f"{planner.__module__}:{planner.__qualname__}"
    if not plugins.is_code(where) or plugins.load(where, plugins.PLANNER) is not planner:
        raise ParameterError(f"{planner.__qualname__} must stand at the top level of a module, where others find it")
    entry = _foreign(key, where)
    ALGORITHMS[key] = replace(
        entry, title=title or entry.title, summary=summary or entry.summary, paper=paper or entry.paper, online=online
    )


def names() -> list[str]:
    """The names of all algorithms: Wend's own, those that this program has registered, and those of packages."""
    return list(dict.fromkeys([*ALGORITHMS, *plugins.registered(plugins.PLANNER)]))


def find(key: str) -> Algorithm:
    """The algorithm of that name, or the planner `module:Class`; raises an error that lists the known names."""
    if key in ALGORITHMS:
        return ALGORITHMS[key]
    where = key if plugins.is_code(key) else plugins.registered(plugins.PLANNER).get(key)
    if where is None:
        raise UnknownNameError("algorithm", key, names(), hint="A planner of your own is named 'module:Class'.")
    return _foreign(key, where)


def create(key: str, **parameters: Any) -> Planner:
    """A planner by name, such as `create("lra", noise=2)`."""
    return find(key).create(**parameters)


def _foreign(key: str, where: str) -> Algorithm:
    """What is known of a planner that is no part of Wend."""
    planner = plugins.load(where, plugins.PLANNER)
    _check_class(planner, where)
    first_line, *_ = (planner.__doc__ or "").strip().splitlines() or [""]
    is_signature = first_line.startswith(f"{planner.__name__}(")       # what a dataclass has for want of a docstring
    summary = "" if is_signature else first_line
    return Algorithm(key, planner.__name__, summary, paper=where, online=None, where=where)


def _check_class(planner: Any, name: str) -> None:
    """Refuse what is no planner, or does not declare its parameters as planners do."""
    if not isinstance(planner, type) or not issubclass(planner, Planner):
        raise ParameterError(f"{name}: a class that derives from wend.Planner is needed, not {planner!r}")
    if inspect.isabstract(planner):
        raise ParameterError(f"{name}: {planner.__name__} has no method `plan`")
    if any(isinstance(value, dataclasses.Field) for value in vars(planner).values()):
        raise ParameterError(f"{name}: {planner.__name__} declares parameters, so it needs @dataclass above the class")
    for declared in dataclasses.fields(planner):
        if "help" not in declared.metadata:
            raise ParameterError(f"{name}: declare {declared.name!r} with wend.parameter(default, help)")
