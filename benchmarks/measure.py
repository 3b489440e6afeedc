"""How contenders are timed, and what a benchmark returns."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One result: our time, the time of the baseline if there is one, and the target."""

    what: str
    unit: str
    ours: float                     # in that unit; less is better
    baseline: str = ""              # the library or method whose time is `theirs`
    theirs: float | None = None
    where: str = ""                 # the map
    at_least: float | None = None   # target for the ratio
    at_most: float | None = None    # target for `ours`

    @property
    def ratio(self) -> float | None:
        """How many times faster than the baseline we are; None without a baseline, and where ours is nothing at all."""
        return None if self.theirs is None or self.ours == 0 else self.theirs / self.ours

    @property
    def target(self) -> str:
        """The target in words; empty if there is none."""
        if self.at_least is not None:
            return f"at least {self.at_least:g}x"
        return "" if self.at_most is None else f"at most {self.at_most:g} {self.unit}"

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is none."""
        if self.at_least is not None:
            return self.ratio is not None and self.ratio >= self.at_least
        return None if self.at_most is None else self.ours <= self.at_most

    def cells(self) -> tuple[str, ...]:
        """The row as a table shows it; see COLUMNS."""
        theirs = "" if self.theirs is None else f"{self.theirs:.3g} {self.unit} ({self.baseline})"
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}x"
        met = {True: "yes", False: "NO", None: ""}[self.met]
        return self.what, self.where, f"{self.ours:.3g} {self.unit}", theirs, ratio, self.target, met

    def as_json(self) -> dict[str, Any]:
        """The row as a JSON object."""
        return {**vars(self), "ratio": self.ratio, "met": self.met}


COLUMNS = ("what", "map", "ours", "theirs", "ratio", "target", "target met")


def best_seconds(contenders: Mapping[str, Callable[[], object]], *, rounds: int = 5) -> dict[str, float]:
    """Time all contenders in turn, round after round; return the seconds of each one's best round.

    The machine's other work only ever adds time, so the best round is the least disturbed one; taking turns gives every
    contender the same chance of it. A round before the first is not counted: it compiles and warms the caches.
    """
    best = dict.fromkeys(contenders, float("inf"))
    for counted in [False] + [True] * rounds:
        for name, contender in contenders.items():
            seconds = timeit.timeit(contender, number=1)
            if counted:
                best[name] = min(best[name], seconds)
    return best
