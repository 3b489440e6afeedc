"""Situations: how a run notices that its agents go round in circles, and will not get home however long it goes on.

A situation is where all agents stand and head for, and which planner moves them. A run keeps those that it has seen
since an agent last arrived. Agents that still find their way come to a new one sooner or later: the more there are, the
longer it may take. Two agents that cannot pass each other see the same few again and again, even where chance decides.
"""

from __future__ import annotations

from wend.planners.base import State

AS_LONG_AS = 4      # a run circles when no situation has been new for so many ticks per situation that there was


class Situations:
    """Those of one run. No process sees another one's, so that Python's own hashes do, which are the quickest."""

    def __init__(self) -> None:
        self._arrived_at = -1               # the tick in which an agent last arrived
        self._seen: set[tuple[str, int, int]] = set()       # the situations since then: planner, and two hashes,
        self._movers: set[str] = set()      # ... and the planners that were at work
        self._goals = b"", 0                # where all agents headed for in the last situation, and the hash of that
        self._repeats = 0                   # ticks in a row that led to no new one, although there was budget to spare

    def note(self, state: State, mover: str, arrived_at: int, *, had_spare: bool) -> None:
        """A tick has led to a situation."""
        if arrived_at != self._arrived_at:
            self._arrived_at = arrived_at
            self._seen.clear()
            self._movers.clear()
        goals = state.agents.goal.tobytes()
        if goals != self._goals[0]:
            self._goals = goals, hash(goals)
        situation = mover, hash(state.agents.cell.tobytes()), self._goals[1]
        if situation in self._seen:
            self._repeats += had_spare
        else:
            self._seen.add(situation)
            self._movers.add(mover)
            self._repeats = 0

    def are_the_same(self, ticks: int, movers: tuple[str, ...]) -> bool:
        """Whether none was new for so many ticks, and AS_LONG_AS there were situations, with all of these planners."""
        return self._repeats >= max(ticks, AS_LONG_AS * len(self._seen)) and self._movers.issuperset(movers)
