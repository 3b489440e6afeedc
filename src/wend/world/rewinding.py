"""Rewinding: a world's way back to a state that it was in, and its copies."""

from __future__ import annotations

import copy
from typing import Any, Self

from wend import arguments
from wend.kernel.capture import capture
from wend.kernel.keeping import Keeper
from wend.kernel.recalling import recall
from wend.kernel.storing import Step
from wend.planners.base import Agents, Planner
from wend.world.outlook import Outlook
from wend.world.recorder import Record
from wend.world.snapshot import MOVER, Snapshot, described


class Rewindable(Outlook):
    """What a world keeps of itself, and how it goes back there."""

    uncaptured = ("_calls", "_listeners", "_recorder", "_referee", "_identity", "_on_violation", "_keeper", "_keeping")

    _agent_rows: Agents                 # those of the state, and spare rows for agents to come
    _chooser: Planner | None            # says who moves the agents, before each tick
    _identity: dict[str, Any]           # what snapshots of it belong to
    _keeper: Keeper                     # what its snapshots share

    def snapshot(self) -> Snapshot:
        """The state of the world and its planner, to go back to with `restore`."""
        with self._calls:
            hash_then, record = self._recorder.state_hash(), self._recorder.record()
            about = {**self._identity, MOVER: described(self.planner)}
            return Snapshot(about, self.ticks, hash_then, capture(self, self._keeper), record)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, of this world or of one that was set up with the same map, seed and planner.

        All goes on from there, with the planner that moved the agents then. What was recorded since is gone from the
        trace. The bytes of a snapshot hold no trace: a world that is restored from them goes on without one.
        """
        with self._calls, self._calls.journal as journal:
            arguments.instance(snapshot, "snapshot", Snapshot, "a snapshot")
            captured, record = snapshot.of(self._identity)
            former = [self.planner] if self._chooser is None else [self.planner, self._chooser]
            if snapshot.about[MOVER] != described(self.planner):
                self._liaison.stand_in(mover := snapshot.mover())
                journal.keep_attribute(self, "planner")
                self.planner = mover
            trusted = ("wend", type(self.planner).__module__.partition(".")[0])
            steps = recall(self, captured, trusted, self._keeper)
            journal.decide(self._go_back, steps, former, bytes.fromhex(snapshot.state_hash), record)
            journal.settle()

    def _go_back(self, steps: list[Step], former: list[Planner], hash_then: bytes, record: Record | None) -> None:
        """Make the steps that lead back to a snapshot. To make them again changes nothing."""
        for step, given in steps:
            step(*given)
        for planner in former:
            if planner is not self.planner and planner is not self._chooser:
                planner.unbind()
        self.state.agents = self._first_agents(self._roster.size)
        self._dispatch.after_restore()
        self.planner.world_restored()
        self._recorder.go_back(hash_then, record)

    def __getstate__(self) -> dict[str, Any]:
        with self._calls:
            return {name: value for name, value in vars(self).items() if name != "_keeper"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._keeper = Keeper()         # a copy shares nothing with snapshots of the original
        self.state.agents = self._first_agents(self._roster.size)       # a copy of a view is no view

    def __copy__(self) -> Self:
        return copy.deepcopy(self)      # two worlds share nothing

    def _first_agents(self, count: int) -> Agents:
        """The rows of the first so many agents."""
        return Agents(*(array[:count] for array in self._agent_rows))
