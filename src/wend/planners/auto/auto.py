"""Auto: the planner for this map, these agents and this budget, and a way out when it was the wrong one.

D. Sigurdson's thesis (University of Alberta, 2018) chooses a planner for each problem before the run, and names two
things as future work: to change it in the middle of a run, and to choose under a real-time limit. This does both.

    what                                        function
    which planner to begin with                 `Auto.first`, by the model or, for want of one, by the rule (model.py)
    all at once, where there is time            the same
    ... but no plan for all was found           `Auto._after_offline`
    another number of agents, or budget         `Auto._reconsidered`
    nobody arrives any more                     `_way_out`
    ... and the jam is over                     `Auto._back`

A world asks `successor` before every tick, and lets the planner that it names take over (docs/auto.md). Everything is
counted in ticks, agents and expansions, never in seconds, so that a run can be repeated. Auto keeps nothing in mind:
what it says follows from the handovers that were made and from how the world fares, which a snapshot holds.

Work: a few comparisons per tick; the first choice counts the free cells of the map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wend.maps.grid import Grid
from wend.planners import registry
from wend.planners.auto.model import PORTFOLIO, Advice, Regime, choose
from wend.planners.base import Budget, Handover, Planner, Proposal, Situation, Successor, parameter

# Ticks without an arrival before another planner takes over; doubled whenever all three were at work in vain. Of the
# runs that bring all home by themselves, few with Weave ever pause for as long once half are home, and none with Surge
# (docs/auto.md). Where fewer are home it takes longer, as many of them have still far to walk.
WAY_OUT = "lacam-rt"
WAY_OUT_PARAMETERS = {"configurations": 16}
PATIENCE_TICKS = {"weave": 200, "surge": 100, WAY_OUT: 300}
WALK = 8                # ... but at least the way around the map over this: far goals are no jam
FEW_HOME = 4            # so many times as long before half are home
STAY_TICKS = 150        # for which a way out is left to work when there are other orders
LOOK_TICKS = 16         # between two looks at the number of agents and the budget
MUCH = 4.0              # so many times as many agents, or as large a budget, are reason to choose again

OFFLINE = "lacam"
OFFLINE_CELLS = 0.05            # from this share of the free cells that agents stand on, all are planned at once
OFFLINE_CONFIGURATIONS = 3_000  # that it may try


@dataclass
class Auto(Planner):
    """Lets the planner move the agents that suits them best, and another one when they no longer arrive."""

    offline: bool = parameter(False, "whether all may be planned at once in the first tick, if there is no budget")
    switch: bool = parameter(True, "whether another planner takes over when agents no longer arrive")
    model: str = parameter("", "what `wend train auto` has written; empty for what Wend comes with")

    def portfolio(self) -> tuple[str, ...]:
        return (*PORTFOLIO, WAY_OUT, *((OFFLINE,) if self.offline else ()))

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        """Nothing: before the first tick another planner takes over."""

    def first_mover(self, grid: Grid, agents: int, budget: Budget) -> Planner:
        first = self.first(regime_of(grid, agents, budget))
        return registry.create(first.algorithm, **first.parameters)

    def successor(
        self, situation: Situation, made: Sequence[Handover], mover: Planner, budget: Budget
    ) -> Successor | None:
        if made[-1].algorithm not in self.portfolio():
            return self.first(regime_of(self.state.grid, situation.agents, budget))
        now = made[-1]
        if now.algorithm == OFFLINE:
            return self._after_offline(situation, mover, budget)
        if now.tried and self._is_over(situation, now):
            return self._back(situation, now, budget)
        if self.switch and (way_out := _way_out(self.state.grid, situation, made)):
            return way_out
        if self.state.tick % LOOK_TICKS == 0 and _is_other(situation, now, budget):
            return self._reconsidered(situation, now, budget)
        return None

    def choice(self, regime: Regime) -> Advice:
        """What it says of a number of agents on a map, with a budget."""
        return choose(regime, self.model)

    def first(self, regime: Regime) -> Successor:
        """What it begins with."""
        if self.offline and regime.budget is None and regime.agents >= OFFLINE_CELLS * regime.cells:
            reason = (
                f"{regime}: there is time, and it is dense, so that all is planned at once; if that takes more than "
                f"{OFFLINE_CONFIGURATIONS:,} configurations, {self.choice(regime).algorithm} goes on"
            )
            return Successor(OFFLINE, {"max_expansions": OFFLINE_CONFIGURATIONS}, reason)
        chosen = self.choice(regime)
        return Successor(chosen.algorithm, {}, chosen.reason)

    def _after_offline(self, situation: Situation, mover: Planner, budget: Budget) -> Successor | None:
        """What goes on where no plan for all was found, or it was not carried out."""
        if situation.home == situation.agents or not mover.counters().get("moves_left", 0):
            return None
        chosen = self.choice(regime_of(self.state.grid, situation.agents, budget))
        reason = f"{OFFLINE} found no plan that brings all home within its share; {chosen.reason}"
        return Successor(chosen.algorithm, {}, reason)

    def _is_over(self, situation: Situation, now: Handover) -> bool:
        """Whether a jam is over, in which planners were at work in vain: all are home, or they have other orders."""
        worked = self.state.tick - now.tick
        return situation.home == situation.agents or situation.told_ticks < worked >= STAY_TICKS

    def _back(self, situation: Situation, now: Handover, budget: Budget) -> Successor:
        """What it would begin with, once a jam is over."""
        chosen = self.choice(regime_of(self.state.grid, situation.agents, budget))
        return Successor(chosen.algorithm, {}, f"the jam that {now.algorithm} was taken for is over; {chosen.reason}")

    def _reconsidered(self, situation: Situation, now: Handover, budget: Budget) -> Successor | None:
        """Another choice, if there are many more agents by now, or far fewer, or the budget is another one."""
        chosen = self.choice(regime_of(self.state.grid, situation.agents, budget))
        if chosen.algorithm == now.algorithm:
            return None
        was = f"it was chosen for {now.agents:,} agents and {told(now.budget)}"
        return Successor(chosen.algorithm, {}, f"{now.algorithm} no longer suits: {was}; {chosen.reason}")


def regime_of(grid: Grid, agents: int, budget: Budget) -> Regime:
    """The numbers that the choice depends on."""
    return Regime(agents, int(np.count_nonzero(grid.free)), budget.size)


def _way_out(grid: Grid, situation: Situation, made: Sequence[Handover]) -> Successor | None:
    """Another planner, if nobody has arrived for long: Real-Time LaCAM, and if it is at work, the other of the two."""
    agents, home, quiet, _ = situation
    now = made[-1]
    if home == agents:
        return None
    patience = patience_ticks(grid, now.algorithm) << min(now.tried // 3, 8)
    if quiet < (patience if 2 * home >= agents else FEW_HOME * patience):
        return None
    saw = f"{home:,} of {agents:,} agents are home, and none has arrived for {quiet} ticks with {now.algorithm}"
    if now.algorithm != WAY_OUT:
        reason = f"{saw}: {WAY_OUT} searches for a way for all of them"
        return Successor(WAY_OUT, WAY_OUT_PARAMETERS, reason, now.tried + 1)
    other = PORTFOLIO[1] if made[-2].algorithm == PORTFOLIO[0] else PORTFOLIO[0]
    return Successor(other, {}, f"{saw}: {other} may stir them", now.tried + 1)


def patience_ticks(grid: Grid, algorithm: str) -> int:
    """For how many ticks without an arrival a planner stays at work on a map, if half are home."""
    return max(PATIENCE_TICKS[algorithm], 2 * (grid.width + grid.height) // WALK)


def _is_other(situation: Situation, now: Handover, budget: Budget) -> bool:
    """Whether agents or budget are other ones than at the last handover, by much."""
    more = max(situation.agents, 1) / max(now.agents, 1)
    if budget.size is None or now.budget is None:
        larger = 1.0 if budget.size is now.budget else MUCH
    else:
        larger = budget.size / now.budget
    return not (1 / MUCH < more < MUCH and 1 / MUCH < larger < MUCH)


def told(budget: int | None) -> str:
    """A budget in words."""
    return "no budget" if budget is None else f"{budget:,} expansions per tick"
