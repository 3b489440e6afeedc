"""The conformance suite over the registry, and planners that must fail it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from wend import ALGORITHMS, Planner, check_planner, parameter
from wend.conformance import GOOD, LEGAL
from wend.errors import ConformanceError, ParameterError, UnknownNameError
from wend.planners.base import Intent, Overlay, Promise
from wend.planners.local_repair import LocalRepair


@pytest.mark.parametrize("key", list(ALGORITHMS))
def test_every_registered_planner_conforms(key: str) -> None:
    report = check_planner(ALGORITHMS[key].create, online=bool(ALGORITHMS[key].online))
    assert report.is_good, str(report)
    untested = {finding.check for finding in report.findings if finding.verdict == "not tested"}
    assert untested == (set() if ALGORITHMS[key].online else {"budget_is_kept", "little_budget_is_enough"})


@dataclass
class StandsStill(Planner):
    def plan(self, proposal, budget) -> None:
        pass


@dataclass
class Raises(Planner):
    def plan(self, proposal, budget) -> None:
        if self.state.agents.cell.size >= 12:
            raise LookupError("too many")


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
        (Raises, "crowd_moves_legally: LookupError: too many; .*crowd_gets_home: LookupError"),
        (Greedy, "lone_agent_gets_home: illegal joint move: tick .*: (wall|corner)"),
        (Unmeant, "parameters_are_declared: parameter speed has no help"),
        (Shared, "same_seed_same_trace"),
        (Overspends, "budget_is_kept: .* expansions in a tick"),
        (PushesPinned, "others_are_left_alone: illegal joint move: .*pinned"),
        (SeesThroughWalls, "window_is_truthful: the way of agent .*, which is not free"),
        (Leaps, "window_is_truthful: agent .* cannot step to"),
        (WaitsForGodot, "window_is_truthful: agent .* waits for index .*, which no agent has"),
        (DrawsTooLittle, r"window_is_truthful: overlay nothing is \(1,\), not one per cell"),
        (PromisesAnybody, "window_is_truthful: a promise about index 99"),
        (PromisesForNoReason, "window_is_truthful: agent 0 is provable, or"),
    ],
)
def test_bad_planners_are_found_out(planner, reason) -> None:
    with pytest.raises(ConformanceError, match=reason):
        check_planner(planner)


def test_an_error_has_the_whole_report_and_the_cause() -> None:
    with pytest.raises(ConformanceError) as caught:
        check_planner(Raises)
    assert isinstance(caught.value.__cause__, LookupError)
    report = caught.value.report
    assert not report.is_legal
    assert not report.is_good
    assert str(report).startswith("Raises is not legal.\n")
    assert {finding.verdict for finding in report.findings} == {"passed", "not good", "not legal"}


def test_an_offline_planner_need_not_keep_a_budget() -> None:
    report = check_planner(Overspends, online=False)
    assert report.is_good
    assert ("budget_is_kept", "it does not claim to keep a budget") in {(f.check, f.found) for f in report.findings}


def test_a_planner_that_only_stands_is_legal_and_not_good() -> None:
    report = check_planner(StandsStill)
    assert report.is_legal
    assert not report.is_good
    assert {finding.check: finding.verdict for finding in report.findings} == {
        "parameters_are_declared": "passed",
        "crowd_moves_legally": "passed",
        "same_seed_same_trace": "passed",
        "empty_and_tiny_worlds_tick": "passed",
        "orders_and_edits_break_nothing": "passed",
        "others_are_left_alone": "passed",
        "budget_is_kept": "not tested",
        "window_is_truthful": "passed",
        "lone_agent_gets_home": "not good",
        "agents_at_home_stay": "passed",
        "crowd_gets_home": "not good",
        "new_orders_are_heeded": "not good",
        "unreachable_goals_are_approached": "not good",
        "little_budget_is_enough": "not good",
    }
    found = {finding.check: finding.found for finding in report.findings}
    assert found["lone_agent_gets_home"] == "a lone agent did not reach (11, 9) in 200 ticks"
    assert found["crowd_gets_home"] == "only 0 of 24 agents ever got home in 150 ticks"
    assert found["budget_is_kept"] == "reported no expansions: the budget was not tested"


def test_a_planner_may_be_named_and_what_makes_none_is_refused() -> None:
    assert check_planner("lra").planner == "LocalRepair"
    with pytest.raises(UnknownNameError, match="Did you mean 'weave'"):
        check_planner("weeve")
    for wrong in (LocalRepair(), 3, None):
        with pytest.raises(ParameterError, match="factory is what makes a planner"):
            check_planner(wrong)    # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="what factory makes is a planner, not 5"):
        check_planner(lambda: 5)    # type: ignore[arg-type,return-value]


def test_the_report_lists_what_was_checked_and_what_was_found() -> None:
    printed = str(check_planner(LocalRepair)).splitlines()
    assert printed[0] == "LocalRepair is legal and good."
    assert [line for line in printed if not line.startswith(" ")][1:] == ["legal:", "good:"]
    listed = [line for line in printed if line.startswith(" ")]
    for check, claim, found in zip(LEGAL + GOOD, listed[::2], listed[1::2], strict=True):
        assert claim == f"  passed      {check.__name__}: {check.__doc__}"
        assert found.startswith(" " * 14)
        assert found.strip()
