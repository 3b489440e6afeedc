"""The model behind `auto`: how each planner has fared in problems like this one, as a small table.

What a problem is like is said by two numbers. The *load* is agents x cells / budget: in about so many ticks the budget
would pay for exact distances from every cell to every goal. The *crowding* is the share of the free cells that agents
stand on. For each class of both, the table has the mean of the ticks that agents were away from home, as a multiple of
what they were with the best planner for that problem, and the number of problems that this is the mean of.

The file is JSON, written by `wend train auto` from the results of the experiment `selection/auto`. It says for which
version of Wend it was made. One that is missing, damaged, or of another version is not used: a warning says so, once,
and the rule takes over: the first of the portfolio, which is ahead in most classes.
"""

from __future__ import annotations

import bisect
import functools
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from wend import __version__
from wend.errors import FormatError, VersionError
from wend.files import parse_json, read_bytes, replacing, to_json

FORMAT, VERSION = "wend-auto", 1
PORTFOLIO = ("weave", "surge")      # the first is what the rule takes
MARGIN = 0.02                       # another one must be ahead by more than that: less is noise

LOADS = (0.0, 300.0, 3_000.0, 30_000.0)     # lower ends of the classes, after the one without a budget
CROWDINGS = (0.0, 0.03, 0.1)                # lower ends of the classes
FEWEST = 4                  # problems of a class that the table must know to be believed

SHIPPED = Path(__file__).with_name("model.json")
_LIMIT_BYTES = 2**20
_log = logging.getLogger("wend.auto")


class Regime(NamedTuple):
    """What the choice depends on."""

    agents: int
    cells: int              # free ones
    budget: int | None      # expansions per tick; None: as many as it takes

    @property
    def load(self) -> float:
        """Ticks in which the budget would pay for exact distances, at most; 0 without a budget."""
        return 0.0 if self.budget is None else self.agents * self.cells / self.budget

    @property
    def crowding(self) -> float:
        """The share of the free cells that agents stand on."""
        return self.agents / max(self.cells, 1)

    def place(self) -> tuple[int, int]:
        """Its classes of load and of crowding."""
        load = 0 if self.budget is None else bisect.bisect_right(LOADS, self.load)
        return load, bisect.bisect_right(CROWDINGS, self.crowding) - 1

    def __str__(self) -> str:
        within = "no budget" if self.budget is None else f"{self.budget:,} expansions per tick"
        return f"{self.agents:,} agents on {self.cells:,} cells with {within}"


@dataclass(frozen=True)
class Advice:
    """A planner, and why it."""

    algorithm: str
    reason: str                         # in words, with what is expected
    expected: Mapping[str, float]       # by planner: ticks away from home, as a multiple of the best; empty by the rule
    problems: int                       # that this was measured on


@dataclass(frozen=True)
class Model:
    """The table."""

    ticks: dict[str, list[list[float]]]     # by planner, load and crowding: as a multiple of the best planner's
    problems: list[list[int]]               # by load and crowding
    about: dict[str, Any]                   # how it was made

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        label = {"format": FORMAT, "version": VERSION, "wend": __version__, "loads": LOADS, "crowdings": CROWDINGS}
        with replacing(path) as file:
            file.write(to_json({**label, **vars(self)}, indent=1).encode())

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read a model; a FormatError that says why if it is none, or none for this Wend."""
        found = parse_json(read_bytes(path, at_most=_LIMIT_BYTES), path)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FormatError(path, "not a model of auto: `wend train auto` makes one")
        if (found.get("version"), found.get("wend")) != (VERSION, __version__):
            raise VersionError(path, f"made for the planners of Wend {found.get('wend')}, and this is {__version__}")
        if (found.get("loads"), found.get("crowdings")) != (list(LOADS), list(CROWDINGS)):
            raise VersionError(path, "its classes of problems are others than this Wend's: `wend train auto` again")
        ticks: Any = found.get("ticks")
        problems: Any = found.get("problems")
        if not isinstance(ticks, dict) or set(ticks) != set(PORTFOLIO) or not isinstance(found.get("about"), dict):
            raise FormatError(path, "a damaged model of auto: it does not tell of the planners that it chooses from")
        if not _is_table(problems, (int,)) or not all(_is_table(table, (int, float)) for table in ticks.values()):
            raise FormatError(path, "a damaged model of auto: its tables are not whole")
        return cls(ticks, problems, found["about"])


def _is_table(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether it is a number of at least 0 for each class of load and of crowding."""
    if not isinstance(value, list) or len(value) != 1 + len(LOADS):
        return False
    if not all(isinstance(row, list) and len(row) == len(CROWDINGS) for row in value):
        return False
    return all(type(number) in kinds and number >= 0 for row in value for number in row)


def choose(regime: Regime, path: str = "") -> Advice:
    """The planner for a regime, by the model in this file, or the one that Wend comes with."""
    model = _known(path or str(SHIPPED))
    load, crowding = regime.place()
    problems = 0 if model is None else model.problems[load][crowding]
    if model is None or problems < FEWEST:
        why = "its model cannot be used" if model is None else "few problems like this were measured"
        reason = f"{regime}: {why}; by the rule it is {PORTFOLIO[0]}, which is ahead in most classes of problems"
        return Advice(PORTFOLIO[0], reason, {}, 0)
    expected = {name: model.ticks[name][load][crowding] for name in PORTFOLIO}
    best = min(PORTFOLIO, key=lambda name: expected[name] - (MARGIN if name == PORTFOLIO[0] else 0.0))
    longer = {name: f"{100 * (expected[name] - 1):.0f} %" for name in PORTFOLIO}
    others = " and ".join(f"{longer[name]} longer with {name}" for name in PORTFOLIO if name != best)
    reason = (
        f"{regime}: in {problems} problems like this, agents took {longer[best]} longer to get home with {best} than "
        f"with the better planner of each, and {others}"
    )
    return Advice(best, reason, expected, problems)


@functools.lru_cache(maxsize=16)
def _known(path: str) -> Model | None:
    """The model in a file, if it can be used. A file is read once."""
    try:
        return Model.load(path)
    except (FormatError, OSError) as error:
        _log.warning("auto goes by its rule, as its model cannot be used: %s", error)
        return None
