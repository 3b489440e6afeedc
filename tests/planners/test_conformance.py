"""The conformance suite over the registry, and planners that must fail it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from wend import ALGORITHMS, Planner, check_planner, parameter
from wend.errors import ConformanceError
from wend.planners.base import Intent, Overlay, Promise
from wend.planners.local_repair import LocalRepair


@pytest.mark.parametrize("key", list(ALGORITHMS))
def test_every_registered_planner_conforms(key: str) -> None:
    check_planner(ALGORITHMS[key].create, online=ALGORITHMS[key].online)


@dataclass
class StandsStill(Planner):
    def plan(self, proposal, budget) -> None:
        pass


@dataclass
class Greedy(Planner):
    """Walks straight at its goal and over anybody."""

    def plan(self, proposal, budget) -> None:
        width = self.state.grid.width
        cell, goal = self.state.agents.cell, self.state.agents.goal
        dx, dy = np.sign(goal % width - cell % width), np.sign(goal // width - cell // width)
        proposal.next_cell[:] = np.where(cell >= 0, cell + dx + dy * width, cell)


@dataclass
class Unmeant(LocalRepair):
    speed: int = parameter(1, "")


class Shared(LocalRepair):
    """Keeps its count of ticks in the class, so that two worlds disturb each other."""

    ticks = 0

    def plan(self, proposal, budget) -> None:
        Shared.ticks += 1
        if Shared.ticks % 2 == 0:
            super().plan(proposal, budget)


class Overspends(LocalRepair):
    def plan(self, proposal, budget) -> None:
        super().plan(proposal, budget)
        budget.spend(1_000)


class PushesPinned(LocalRepair):
    def plan(self, proposal, budget) -> None:
        super().plan(proposal, budget)
        agents = self.state.agents
        for agent in np.flatnonzero(agents.pinned).tolist():
            for x, y in self.state.grid.neighbours(self.state.grid.xy(int(agents.cell[agent]))):
                cell = self.state.grid.cell(x, y)
                if self.state.occupant[cell] < 0 and cell not in proposal.next_cell:
                    proposal.next_cell[agent] = cell


class SeesThroughWalls(LocalRepair):
    def intent(self, agent) -> Intent:
        return Intent(path=(self.state.grid.cell(3, 1),))


class Leaps(LocalRepair):
    def intent(self, agent) -> Intent:
        cell, free = int(self.state.agents.cell[agent]), self.state.grid.free_cells()
        return Intent(path=(int(free[0] if cell > self.state.grid.size // 2 else free[-1]),))


class WaitsForGodot(LocalRepair):
    def intent(self, agent) -> Intent:
        return Intent(waits_for=self.state.agents.cell.size)


class DrawsTooLittle(LocalRepair):
    overlays: ClassVar[Mapping[str, Overlay]] = {"nothing": Overlay("nothing at all")}

    def _draw_overlay(self, name, agent):
        return np.zeros(1)


class PromisesAnybody(LocalRepair):
    def promises(self) -> list[Promise]:
        return [Promise(agent=99, provable=True, condition="", at=None)]


class PromisesForNoReason(LocalRepair):
    def promises(self) -> list[Promise]:
        return [Promise(agent=0, provable=False, condition="", at=None)]


@pytest.mark.parametrize(
    ("planner", "reason"),
    [
        (StandsStill, "lone_agent_gets_home: a lone agent did not reach"),
        (Greedy, "lone_agent_gets_home: illegal joint move: tick .*: (wall|corner)"),
        (Unmeant, "parameters_are_declared: parameter speed has no help"),
        (Shared, "same_seed_same_trace"),
        (Overspends, "budget_is_kept: .* expansions in a tick"),
        (PushesPinned, "others_are_left_alone: illegal joint move: .*pinned"),
        (SeesThroughWalls, "window_is_truthful: the way of agent .*, which is not free"),
        (Leaps, "window_is_truthful: agent .* cannot step to"),
        (WaitsForGodot, "window_is_truthful: agent .* waits for agent .*, which is not there"),
        (DrawsTooLittle, r"window_is_truthful: overlay nothing is \(1,\), not one per cell"),
        (PromisesAnybody, "window_is_truthful: a promise about agent 99"),
        (PromisesForNoReason, "window_is_truthful: agent 0 is provable, or"),
    ],
)
def test_bad_planners_are_found_out(planner, reason) -> None:
    with pytest.raises(ConformanceError, match=reason):
        check_planner(planner)


def test_an_offline_planner_need_not_keep_a_budget() -> None:
    check_planner(Overspends, online=False)
