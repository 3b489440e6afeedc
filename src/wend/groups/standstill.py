"""Standstill: which crowds will not get to their slots, however long they try.

A crowd stands still when for STANDSTILL_TICKS no more of it have been home than ever since the last one came or left.
To count those at home is the one measure that agents cannot undo: to exchange slots, to push one another aside and to
come back takes them nearer to their slots again and again, and may go on for ever. Once a crowd stands still it does so
until all are home, or others join it or leave it; so it ends however many places it gives up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.groups.routes import Cells
from wend.journal import Journal

LOOK_EVERY = 8          # ticks from one count to the next
STANDSTILL_TICKS = 128


class Standstill:
    """How the crowds of one world fare that are not home."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        # By crowd: its agents, the fewest of them that were ever away, and the tick in which they were that few first.
        self._fewest: dict[int, tuple[int, int, int]] = {}

    def forget(self) -> None:
        """All crowds are home."""
        if self._fewest:
            self._journal.keep_attribute(self, "_fewest")
            self._fewest = {}

    def reached_by(
        self, tick: int, crowds: Cells, is_ours: NDArray[np.bool_], away: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """bool[agents] whether the crowd of each stands still. `is_ours` are the planner's agents, `away` those of them
        that are in crowds and not home.
        """
        if tick % LOOK_EVERY == 0:
            self._count(tick, crowds, is_ours, away)
        still = [crowd for crowd, (_, _, since) in self._fewest.items() if tick - since >= STANDSTILL_TICKS]
        return np.isin(crowds, still) if still else np.zeros(crowds.size, np.bool_)

    def _count(self, tick: int, crowds: Cells, is_ours: NDArray[np.bool_], away: NDArray[np.bool_]) -> None:
        """Count those that are away, in each crowd."""
        ours = crowds[is_ours]
        fewest = {}
        for crowd, now in zip(*(found.tolist() for found in np.unique(crowds[away], return_counts=True)), strict=True):
            size = int(np.count_nonzero(ours == crowd))
            known, before, since = self._fewest.get(crowd, (0, 0, 0))
            is_better = now < before and tick - since < STANDSTILL_TICKS
            fewest[crowd] = (size, now, tick) if known != size or is_better else (size, before, since)
        self._journal.keep_attribute(self, "_fewest")
        self._fewest = fewest
