"""Everything that Wend raises on purpose.

    WendError
    ├── FormatError          a file is not what it claims to be; names file, line and reason
    │   └── VersionError     ... because a newer Wend wrote it
    ├── MapError             a position is off the map or in a wall
    ├── NoPathError          no path joins two places
    ├── ProblemError         starts and goals that cannot be a problem
    ├── UnknownNameError     no algorithm, parameter, map or generator of that name; lists the known ones
    ├── ParameterError       a known parameter has a value that it cannot have
    ├── SnapshotError        a snapshot that cannot be taken, or belongs to another world
    ├── InUseError           a world is called while another call to it is under way
    ├── DataError            the data folder, or a download, cannot be used
    ├── ViolationError       a planner proposed an illegal joint move; carries the violations
    └── ConformanceError     a planner does not do what the world expects of one
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


class WendError(Exception):
    """Base of all errors that Wend raises on purpose."""


class FormatError(WendError):
    """A file that cannot be read, with the place where reading stopped."""

    def __init__(self, source: str | Path, reason: str, *, line: int | None = None) -> None:
        self.source = str(source)
        self.reason = reason
        self.line = line
        place = self.source if line is None else f"{self.source}, line {line}"
        super().__init__(f"{place}: {reason}")


class VersionError(FormatError):
    """A file written by a newer, incompatible version."""


class MapError(WendError):
    """A position that is off the map or in a wall."""


class NoPathError(WendError):
    """No path joins two places."""


class ProblemError(WendError):
    """Starts and goals that cannot be a problem."""


class UnknownNameError(WendError):
    """A name that is not registered; says which ones are."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.hint = hint
        close = difflib.get_close_matches(str(name), self.known, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(self.known) or "none"
        super().__init__(f"unknown {kind} {name!r}.{guess} Known: {listed}.{hint and ' '}{hint}")


class ParameterError(WendError):
    """A known parameter with a value that it cannot have."""


class SnapshotError(WendError):
    """A snapshot that cannot be taken, or one that a world cannot be restored from."""


class InUseError(WendError):
    """A world was called while another call to it was under way, in another thread or in this one."""


class DataError(WendError):
    """The data folder, or a download into it, cannot be used."""


class ViolationError(WendError):
    """A planner proposed an illegal joint move."""

    def __init__(self, violations: Sequence[Any]) -> None:
        self.violations = tuple(violations)
        shown = "; ".join(str(v) for v in self.violations[:3])
        more = f" (and {len(self.violations) - 3} more)" if len(self.violations) > 3 else ""
        super().__init__(f"illegal joint move: {shown}{more}")


class ConformanceError(WendError):
    """A planner does not do what the world expects of one."""

    def __init__(self, message: str, report: Any = None) -> None:
        self.report = report        # everything that was found about it, a wend.conformance.Conformance
        super().__init__(message)
