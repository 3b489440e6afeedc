"""Handovers: who plans for a world. The program says so, or a chooser that stays in the world (decision 015)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wend import arguments
from wend.errors import ParameterError
from wend.kernel import NO_CELL
from wend.planners import registry
from wend.planners.base import Budget, Handover, Planner, Situation
from wend.world.recorder import Notes
from wend.world.rewinding import Rewindable
from wend.world.snapshot import name_of


class Handovers(Rewindable):
    """A world in which one planner ends and another begins to move the agents, at a tick boundary."""

    _stalled_ticks: int     # ticks in a row in which no agent moved, although the planner had budget to spare
    _arrived_at: int        # the tick in which an agent last arrived
    _note: Notes            # writes down what is done to the world

    def change_planner(self, planner: Planner | str, **parameters: Any) -> None:
        """Let another planner move the agents from the next tick on, which keep their places, goals and orders.

        `planner` is a planner or the name of one, whose parameters can then be given by name. The one so far may be
        used again.
        """
        arguments.instance(planner, "planner", (Planner, str), "a planner or the name of one")
        if parameters and not isinstance(planner, str):
            raise ParameterError("planner is one that is made already: parameters go with the name of one")
        with self._calls, self._calls.journal as journal:
            successor = registry.create(planner, **parameters) if isinstance(planner, str) else planner
            former = [self.planner, self._chooser or self.planner]
            self._hand_over(successor, Handover(self.ticks, name_of_given(planner), "the program asked for it"))
            journal.keep_attribute(self, "_chooser")
            self._chooser = successor if successor.portfolio() else None
            journal.decide(_unbind, former)
            journal.settle()

    def _consult(self, chooser: Planner, budget: Budget) -> None:
        """Let the chooser say who plans from this tick on."""
        agents = self.state.agents
        present = int(((agents.cell != NO_CELL) & agents.controlled).sum())
        told_at = self._liaison.told_at
        quiet_ticks = self.ticks - max(self._arrived_at, told_at, self._handovers[-1].tick)
        situation = Situation(present, self.home_count(), quiet_ticks, self.ticks - told_at)
        if named := chooser.successor(situation, self._handovers, self.planner, budget):
            successor = registry.create(named.algorithm, **named.parameters)
            handover = Handover(self.ticks, named.algorithm, named.reason, present, budget.size, named.tried)
            if successor == self.planner:       # it is at work already, as one that was likely to be chosen
                self._write_down(handover)
            else:
                self._hand_over(successor, handover)

    def _hand_over(self, successor: Planner, handover: Handover) -> None:
        """Let another planner move the agents from now on, and write it down."""
        journal = self._calls.journal
        self._liaison.hand_over(successor)
        for name in ("planner", "_stalled_ticks"):
            journal.keep_attribute(self, name)
        self.planner, self._stalled_ticks = successor, 0
        self._write_down(handover)

    def _write_down(self, handover: Handover) -> None:
        self._calls.journal.keep_attribute(self, "_handovers")
        self._handovers = [*self._handovers, handover]
        parameters = asdict(self.planner)
        self._note("planner", algorithm=handover.algorithm, parameters=parameters, reason=handover.reason)


def name_of_given(planner: Planner | str) -> str:
    """What a planner is called that was given by its name or as one."""
    return planner if isinstance(planner, str) else name_of(planner)


def _unbind(planners: list[Planner]) -> None:
    for planner in planners:
        planner.unbind()
