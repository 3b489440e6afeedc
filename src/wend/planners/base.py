"""What a planner is: bound once to a world's state, then asked each tick for the next cell of every agent.

A planner is a dataclass whose fields are its parameters, each declared once with `parameter(...)`: default, meaning and
range. The command line's flags, the experiments' keys and the docs are derived from them. The smallest planner:

    @dataclass
    class StandStill(Planner):
        def plan(self, proposal, budget):
            pass        # the proposal comes filled with "every agent stays"

`wend.check_planner` puts any planner through the conformance suite. (This one is legal, and not good: no agent ever
gets home.)

The window into a planner is `intent` (what one agent is about to do, and why), `overlays` (named pictures over the map)
and `promises` (which agents are sure to arrive). Viewers, tests and the command line look through it and nowhere else;
each planner provides what applies to it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import time
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend import arguments
from wend.errors import ParameterError, UnknownNameError
from wend.kernel import NO_AGENT, NO_CELL
from wend.kernel.allowance import Allowance, spent
from wend.kernel.arrays import flags, int32
from wend.maps.grid import Grid
from wend.maps.terrain import GridTables, Point

_SLICE_EXPANSIONS = 2_000       # nodes expanded between two looks at the clock; about 0.2 ms
_EXPANSIONS_PER_MS = 5_000      # what a millisecond is taken for where no clock may be looked at
_UNLIMITED = 2**62
_LARGEST = 2**31 - 1            # of a whole number that is a parameter; kernels add to them and multiply them


class Agents(NamedTuple):
    """The agents of one world, structure of arrays. An agent keeps its index until it is removed."""

    cell: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]  # where each agent stands, NO_CELL once it is removed
    goal: Annotated[np.ndarray, int32("agents", fill=NO_CELL)]  # where it heads now: its goal, or the next waypoint
    controlled: Annotated[np.ndarray, flags("agents")]          # the planner moves it; otherwise the program does
    pinned: Annotated[np.ndarray, flags("agents")]              # no other agent may push it off its goal


@dataclass
class State:
    """What a planner may see of its world. The world owns and changes it; planners only read."""

    uncaptured: ClassVar[Sequence[str]] = ("agents",)   # the first rows of an array of the world's

    grid: Grid
    agents: Agents
    occupant: NDArray[np.int32]     # int32[cells]  the agent that stands there, or NO_AGENT
    tick: int = 0                   # ticks made so far


class Proposal(NamedTuple):
    """What a planner answers. It comes filled with "every agent stays and waits for no other".

    Agents that the program moves already have their next cell filled in; no other agent may enter it in this tick.
    """

    next_cell: np.ndarray   # int32[agents]  where the agent is to stand after this tick
    waits_for: np.ndarray   # int32[agents]  the agent that is in its way, or NO_AGENT


def all_stay(state: State) -> Proposal:
    """What a proposal comes filled with, as long as the program has announced no move."""
    return Proposal(state.agents.cell.copy(), np.full(state.agents.cell.size, NO_AGENT, np.int32))


class Moment(NamedTuple):
    """One tick as kernels see it: the state, and the proposal that they fill in."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]   the agent that stands there, or NO_AGENT
    tick: int               # ticks made so far
    next_cell: np.ndarray   # int32[agents]  as in Proposal
    waits_for: np.ndarray   # int32[agents]  as in Proposal


def moment_of(state: State, proposal: Proposal) -> Moment:
    """The tick that a planner is asked for."""
    return Moment(state.grid.tables, state.agents, state.occupant, state.tick, *proposal)


class Intent(NamedTuple):
    """What an agent is about to do, and why it stayed where it is in the last tick, as far as its planner knows."""

    path: tuple[int, ...] = ()      # the cells ahead, the next one first; empty where none is known
    waits_for: int = NO_AGENT       # the agent that kept it where it is
    reason: str = ""                # why it stayed, or left its path, in a few words; empty if it did neither


class Overlay(NamedTuple):
    """A picture that a planner can draw over the map."""

    shows: str                  # what, in words
    of_agent: bool = False      # it shows what a single agent knows


@dataclass(frozen=True)
class Promise:
    """What a planner can say about an agent before anything moves."""

    agent: int
    provable: bool      # it is sure to arrive
    condition: str      # the condition that fails, empty if the agent is provable
    at: Point | None    # where it fails

    def __str__(self) -> str:
        why = "" if self.at is None else f"{self.condition} at ({self.at[0]}, {self.at[1]})"
        return f"agent {self.agent}: {'provable' if self.provable else 'not provable'}{why and ', '}{why}"


class TimedPlan(NamedTuple):
    """A plan that brings all agents home."""

    seconds: float      # of planning until it was found
    sum_of_costs: int


class Budget:
    """How much a planner may search in one tick: in node expansions, in milliseconds, in both, or without limit.

    A planner asks `slice()` how many expansions it may make before it asks again, and reports them with `spend`, or has
    `call` report those of a kernel. It may keep some of the time back for what it has to do when searches are over, and
    some of the expansions for searches that come later.
    """

    def __init__(self, *, expansions: int | None = None, milliseconds: float | None = None) -> None:
        self.spent = 0      # expansions so far in this tick
        self.size: int | None = None    # expansions in all, about; None: without limit
        self._expansions = _UNLIMITED
        self._deadline = None
        self._seconds = self._kept_seconds = 0.0    # in all, and kept back,
        self._kept_expansions = 0                   # ... as these are
        if expansions is not None:
            self._expansions = min(arguments.whole(expansions, "budget"), _UNLIMITED)
            if self._expansions < 1:
                few = self._expansions
                raise ParameterError(f"a budget of {few} expansions per tick allows no search; give at least 1")
            self.size = self._expansions
        if milliseconds is not None:
            seconds = arguments.number(milliseconds, "budget_ms") / 1000
            if seconds <= 0:
                raise ParameterError(f"a budget of {milliseconds} ms per tick allows no search; give more than 0")
            self._deadline, self._seconds = time.perf_counter() + seconds, seconds
            in_time = int(min(seconds * 1000 * _EXPANSIONS_PER_MS, _UNLIMITED)) + 1
            self.size = in_time if self.size is None else min(self.size, in_time)

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return self.size is not None

    @property
    def is_timed(self) -> bool:
        """Whether it is limited in milliseconds, so that there may be another slice after the one at hand."""
        return self._deadline is not None

    def keep_back(self, seconds: float) -> None:
        """Keep so much of the time back from all slices, half of it at most; 0 gives it free again."""
        self._kept_seconds = min(seconds, self._seconds / 2)

    def keep_expansions(self, share: float) -> None:
        """Keep a share of the expansions that are left back from all slices; 0 gives them free again."""
        self._kept_expansions = int(share * (self._expansions - self.spent))

    def slice(self) -> int:
        """Expansions that may be made now; 0 when the tick's budget is used up."""
        left = self._expansions - self.spent - self._kept_expansions
        if self._deadline is None or left <= 0:
            return max(left, 0)
        return min(left, _SLICE_EXPANSIONS) if time.perf_counter() < self._deadline - self._kept_seconds else 0

    def spend(self, expansions: int) -> None:
        """Report how many nodes were expanded."""
        self.spent += int(expansions)

    def call(self, allowance: Allowance, kernel: Callable[..., Any], *given: Any) -> int:
        """Call a kernel that counts its expansions in an allowance, and report them; return its answer."""
        before = spent(allowance)
        answer: int = kernel(*given)
        self.spend(spent(allowance) - before)
        return answer


class Handover(NamedTuple):
    """A planner began to move the agents of a world."""

    tick: int                   # ticks made before
    algorithm: str              # its name
    reason: str                 # why it, in words
    agents: int = 0             # of the planner's there were then
    budget: int | None = None   # its size then
    tried: int = 0              # planners that were at work in vain before it, in the same jam


class Situation(NamedTuple):
    """How a world fares, as far as it matters to who plans for it."""

    agents: int         # of the planner's there are on the map
    home: int           # of them are on their goals
    quiet_ticks: int    # since an agent last arrived, got an order, came or left, or the map was edited
    told_ticks: int = 0     # the same, but for arrivals


class Successor(NamedTuple):
    """The planner that is to go on from here, by its name, and why."""

    algorithm: str
    parameters: dict[str, Any]
    reason: str
    tried: int = 0      # as in Handover


@dataclass(frozen=True)
class Parameter:
    """A planner's parameter as the command line and the docs show it."""

    name: str
    type: type
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None
    clock: bool = False         # a time: unless it is 0, runs differ from machine to machine

    def parse(self, value: Any) -> Any:
        """Convert text or a number to the parameter's type; raise an error that says what is allowed."""
        try:
            parsed = _parse(self.type, value)
        except (TypeError, ValueError, OverflowError, ParameterError):
            raise ParameterError(f"{self.name} is {self._describe()}, not {value!r}") from None
        too_small = self.minimum is not None and parsed < self.minimum
        too_large = self._most is not None and parsed > self._most
        if too_small or too_large or (self.choices is not None and parsed not in self.choices):
            raise ParameterError(f"{self.name} is {self._describe()}, not {value!r}")
        return parsed

    @property
    def _most(self) -> float | None:
        return _LARGEST if self.maximum is None and self.type is int else self.maximum

    def _describe(self) -> str:
        if self.choices is not None:
            return "one of " + ", ".join(self.choices)
        kind = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[self.type]
        low = "" if self.minimum is None else f" from {self.minimum:.10g}"
        high = "" if self._most is None else f" up to {self._most:.10g}"
        return kind + low + high


def _parse(kind: type, value: Any) -> Any:
    if kind is bool:
        known = {"true": True, "false": False}
        if str(value).lower() not in known:
            raise ValueError
        return known[str(value).lower()]
    if kind is int and not isinstance(value, str):
        return arguments.whole(value, "it")
    if isinstance(value, (bool, np.bool_)) or (kind is str and not isinstance(value, (str, os.PathLike))):
        raise ValueError
    parsed = kind(value)
    if kind is float and parsed != parsed:
        raise ValueError
    return parsed


def parameter(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] | None = None,
    clock: bool = False,
) -> Any:
    """Declare a parameter as a field of a planner; `clock` says that it is a time, and 0 for none."""
    about = {"help": help, "minimum": minimum, "maximum": maximum, "choices": choices, "clock": clock}
    return dataclasses.field(default=default, metadata=about)


@dataclass
class Planner(ABC):
    """Base of all planners. Its fields are its parameters; everything else is set up in `bind`."""

    overlays: ClassVar[Mapping[str, Overlay]] = {}      # what `overlay` can draw, by name
    uncaptured: ClassVar[Sequence[str]] = ("_is_prepared",)     # attributes that no snapshot holds: scratch and caches

    def __post_init__(self) -> None:
        for declared in self.parameters():
            setattr(self, declared.name, declared.parse(getattr(self, declared.name)))

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """The parameters, in the order of their declaration."""
        return _parameters_of(cls)

    def depends_on_clock(self) -> bool:
        """Whether its runs differ from machine to machine."""
        return any(declared.clock and getattr(self, declared.name) for declared in self.parameters())

    def bind(self, state: State, seed: int) -> None:
        """Start work in a world. Called once, before anything else."""
        self.require_free()
        self.state = state
        self.seed = seed

    def require_free(self) -> None:
        """Raise an error if it is at work in a world."""
        if hasattr(self, "state"):
            name = type(self).__name__
            raise ParameterError(f"this {name} is at work in a world already; make another one, one for each world")

    def unbind(self) -> None:
        """Forget the world, so that the planner can be bound again: a planner that was interrupted starts anew."""
        vars(self).pop("state", None)

    @abstractmethod
    def plan(self, proposal: Proposal, budget: Budget) -> None:
        """Fill in the next cell of every controlled agent, within the budget. Called once per tick."""

    def think(self, budget: Budget) -> None:
        """Search ahead for the next call of `plan`, within the budget. Called between two ticks, any number of times.

        A planner without a search that it could make beforehand does nothing, and spends nothing.
        """

    def is_improving(self) -> bool:
        """Whether `plan` is at work, has an answer already, and looks for a better one.

        A KeyboardInterrupt then ends the looking and not the run: the planner catches it and answers with what it has.
        """
        return False

    # Choosing another planner. One that does so stays in the world, and is asked before every tick.

    def portfolio(self) -> tuple[str, ...]:
        """The names of the planners that it may choose; empty for one that plans by itself."""
        return ()

    def successor(
        self, situation: Situation, made: Sequence[Handover], mover: Planner, budget: Budget
    ) -> Successor | None:
        """Who is to plan from this tick on, if not `mover`, who planned the last one. It changes nothing.

        `made` are the handovers so far, the first of which is to this planner itself.
        """
        return None

    def first_mover(self, grid: Grid, agents: int, budget: Budget) -> Planner:
        """A planner like the one that will plan the first tick with so many agents; with none, the likeliest one."""
        return dataclasses.replace(self)

    def counters(self) -> dict[str, int]:
        """Numbers worth knowing about the run so far, by name; `repaths`, where given, counts repeated searches."""
        return {}

    def solutions(self) -> Sequence[TimedPlan]:
        """The plans that were found for the run as it began, each better than the one before it.

        Empty for a planner that decides tick by tick: it has no whole plan before the last agent is home.
        """
        return ()

    # The window into a planner.

    def intent(self, agent: int) -> Intent:
        """What an agent is about to do, and why it stayed in the last tick, as the last call of `plan` left it.

        It is worked out when it is asked for, and changes nothing: a tick costs the same whether or not one asks.
        """
        return Intent()

    def overlay(self, name: str, agent: int = NO_AGENT) -> NDArray[Any]:
        """One of `overlays` as an array over the cells of the map; some show what a single agent knows."""
        if name not in self.overlays:
            raise UnknownNameError("overlay", name, self.overlays)
        if self.overlays[name].of_agent and not 0 <= agent < self.state.agents.cell.size:
            raise ParameterError(f"the overlay {name!r} shows what a single agent knows: name one of the agents")
        return self._draw_overlay(name, agent)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        """Draw one of `overlays`."""
        raise NotImplementedError

    def promises(self) -> Sequence[Promise] | None:
        """For every agent, whether it is sure to arrive; None from a planner that promises nothing."""
        return None

    # Events between two ticks. The state already shows them; a planner forgets what they invalidate, and no more.

    def make_room(self, agents: int) -> None:
        """So many agents are about to be added, one by one: time to make arrays for all of them at once."""

    def agent_added(self, agent: int) -> None:
        """An agent was added; its index is the next one, or that of an agent that was removed or teleported."""

    def agent_removed(self, agent: int) -> None:
        """An agent left the map."""

    def agent_teleported(self, agent: int) -> None:
        """An agent was put on another cell. Unless a planner knows better, it forgets the agent and meets it anew."""
        self.agent_removed(agent)
        self.agent_added(agent)

    def agent_retasked(self, agent: int) -> None:
        """An agent has a new goal."""

    def agents_retasked(self, agents: NDArray[np.int32]) -> None:
        """These agents have new goals, all at once: many that a wall has cut off, or a group that sets out."""
        for agent in agents.tolist():
            self.agent_retasked(agent)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        """These cells were blocked or unblocked."""

    def world_restored(self) -> None:
        """The world was led back to a snapshot, and all attributes of the planner but those in `uncaptured`."""


@functools.cache
def _parameters_of(kind: type[Planner]) -> tuple[Parameter, ...]:
    """The parameters of a class of planners, in the order of their declaration."""
    kinds = typing.get_type_hints(kind)
    return tuple(Parameter(f.name, kinds[f.name], f.default, **f.metadata) for f in dataclasses.fields(kind))
