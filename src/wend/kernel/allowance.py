# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""An allowance of expansions: the part of a tick's budget that kernels may spend before they return to Python."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel.arrays import record
from wend.kernel.compiling import jit


class Allowance(NamedTuple):
    """What has been spent, and what may be."""

    counts: Annotated[np.ndarray, record("spent", "limit")]     # node expansions made so far, and allowed in all


@jit
def allow(allowance, expansions):
    """Let so many expansions be made from now on. Mutates: allowance."""
    counts = allowance.counts[0]
    counts.limit = counts.spent + expansions


@jit
def spend(allowance, expansions):
    """Count so many expansions if they are allowed; else False. Mutates: allowance."""
    counts = allowance.counts[0]
    if counts.spent + expansions > counts.limit:
        return False
    counts.spent += expansions
    return True


def spent(allowance: Allowance) -> int:
    """Expansions made so far."""
    return int(allowance.counts["spent"].item())
