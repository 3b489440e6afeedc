# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Real-Time LaCAM: the search over configurations goes on from tick to tick, and the agents walk after it.

Liang, Veerapaneni, Harabor, Li, Likhachev: Real-Time LaCAM for Real-Time MAPF (SoCS 2025), on LaCAM (Okumura, AAAI
2023) and PIBT with swaps and hindrance.

OPEN and EXPLORED are kept. In every tick the search makes a few steps, and then all units make one step along the tree
towards the node on top of OPEN, or, once it is found, towards the configuration in which all are home. The edge that
was walked is turned round, so that the node where the units stand is the root; moves are reversible, so what the search
backtracks can be walked back. While goals and walls stand, this is LaCAM spread over ticks, and as complete. The search
runs ahead of the units. Once it has found a plan, the time is spent on refining what lies ahead of them.

    paper                                       here
    LaCAM for so many iterations                search_ahead; steps.py, tree.py
    a shorter way to a known configuration      _shorten
    one step from the root towards a node       next_node
    re-rooting                                  RootedTree.walk; rooted.py
    (ours: what an order or a wall leaves)      restart, prune; live.py
    (ours: the plan is refined on the way)      ahead.py, refining.py
    (ours: the way out of a jam)                unjamming.py, push_and_swap.py
    (ours: budgets)                             RealTimeLacam

An order or a wall begins the search anew where the units stand, with what holds of the tree; live.py says why that is
as complete as a new tree. Where the units, or the agents outside of the plan, which are walls to it, are not those that
they were, or are elsewhere, a new tree is planted. The order of the units is kept, and so are distances: what such a
beginning costs is PIBT's tick. Where an order comes in every tick, this is PIBT.

Work per tick: O(units) for each configuration, plus the searches for distances, plus refinement.

Deviations and open points
- Distances are PIBT's: exact ones as soon as the budget allows, until then rough ones. They decide what is tried first,
  not what is tried, so that they may change under the tree.
- A budget counts what searches for distances expand, one for each unit in each configuration after the first one of
  the tick, and what refinement expands. The first configuration is not counted, as in PIBT: units move with the
  smallest budget.
- A tree that is full is planted anew. From then on it is complete no more, but it does not grow for ever. So is,
  after a wall, one that is so large that to check it would take longer than a tick may.
- When all has been tried in vain, the units go to the configuration found in which most of them are home.
- In the first tick of a search one configuration is tried, whatever is allowed: the next order may come at once. If
  agents of the program move in this tick, that is one step of PIBT around them, and the tree holds no longer.
- To keep the tree saves searching where little is left to be tried: among few units in a narrow place. In a crowd the
  configurations that are kept are hardly ever met again: of 12 scenes with new orders, each went as with a new tree, in
  the same time.
- A known way to where units are ordered is not taken for that reason alone. Mostly it is the way by which they came,
  and back along it those that arrived first would leave last.
- An order ends the plan of all. To keep it, and let only those find new paths that have new goals, gained 1 % at best.
- There are no guide paths (guides.py). Without a budget they would make what is walked up to a third cheaper, but they
  need all distances, and after an order all of them are to be made anew: 10 to 450 ms on the maps of docs/planners.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND
from wend.planners.base import Budget, Intent, Proposal, State, all_stay, parameter
from wend.planners.lacam.ahead import PlanAhead, RefinementEffort, find_plan
from wend.planners.lacam.live import EXHAUSTED, FULL, gather, search_ahead
from wend.planners.lacam.rooted import Means, RootedTree
from wend.planners.lacam.tree import NONE
from wend.planners.lacam.unjamming import Unjamming
from wend.planners.pibt.pibt import Pibt
from wend.planners.units import are_units
from wend.search.reverse_resumable import carry_on

_TICK_BITS = 20             # the tick in which a search begins, times 2 to this, is the number of its first step


@dataclass
class RealTimeLacam(Pibt):
    """Real-Time LaCAM, with swaps."""

    configurations: int = parameter(10, "configurations tried in each tick, as far as its budget allows", minimum=1)
    refinement: int = parameter(5_000, "expansions in each tick to refine a plan, if its budget allows", minimum=0)
    lead: int = parameter(2, "ticks ahead for which the plan is not refined any more", minimum=0)

    def bind(self, state: State, seed: int) -> None:
        self._rooted = RootedTree(state)
        self._is_stale = True                       # the tree does not hold in the next tick
        self._is_edited = False                     # walls have changed since the search began
        self._ahead: PlanAhead | None = None        # the plan, once it is known to the end
        self._unjamming = Unjamming()
        self._tried = 0                             # configurations
        super().bind(state, seed)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        self._waits_for = proposal.waits_for
        carry_on(self._distances.known.reverse)
        is_new = self._follow(proposal)
        if not self._stands_still(budget, is_new):
            self._look_ahead(budget, 1 if is_new else self.configurations)
            self._walk(proposal)
        self._is_prepared = self._rooted.is_prepared = True

    def think(self, budget: Budget) -> None:
        super().think(budget)           # the distances come first
        if budget.is_limited and self._ahead is None:       # a plan is refined in ticks alone: thoughts have an end
            self._follow(all_stay(self.state))
            self._explore(budget, self.configurations, is_free=False)

    def _means(self) -> Means:
        return Means(self._decisions, self._distances.known, self.swap, self.seed)

    def _stands_still(self, budget: Budget, is_new: bool) -> bool:
        """Whether the units are to stay where they are, until there is a plan out of a jam."""
        unjamming, party = self._unjamming, self._rooted.party
        if is_new:
            unjamming.begin(self.state.tick)
        elif self._ahead is None:
            unjamming.watch(self.state, party, self._distances)
            self._ahead = unjamming.work(self.state, party, self._distances, self._run, budget)
        return unjamming.is_at_work

    def _follow(self, proposal: Proposal) -> bool:
        """Begin the search anew, with what holds of the tree, if what it is about has changed; whether it has."""
        rooted, agents, is_unit, order = self._rooted, self.state.agents, are_units(self.state.agents), self._order()
        is_moving = not np.array_equal(proposal.next_cell, agents.cell)
        stands = not is_moving and not self._is_stale and rooted.has_units_of(is_unit)
        if stands and not self._is_edited and rooted.party.has_goals_of(agents):
            return False
        rooted.party, self._ahead = gather(agents, is_unit, order, proposal.next_cell), None
        steps = self.state.tick << _TICK_BITS
        if stands and not (self._is_edited and rooted.is_too_large()):
            rooted.restart(self._means(), steps, is_edited=self._is_edited)
        else:
            rooted.plant(self._means(), steps)
        self._is_stale, self._is_edited = is_moving, False
        return True

    def _look_ahead(self, budget: Budget, steps: int) -> None:
        """Search for a plan, or refine the one that there is, as far as the budget allows."""
        state, rooted = self.state, self._rooted
        if self._ahead is None:
            self._explore(budget, steps, is_free=True)
            if self.refinement > 0 and not self._is_stale and rooted.tree.counts[0].goal != NONE:
                self._ahead = find_plan(rooted.tree, rooted.party.is_unit, rooted.party.goes, state.grid.size)
        if self._ahead is not None:
            effort = RefinementEffort(self.lead, self.refinement, self.seed)
            self._ahead.refine(state.grid.tables, state.agents.goal, self._distances.known, effort, budget)

    def _explore(self, budget: Budget, steps: int, *, is_free: bool) -> None:
        """Go on with the search for so many steps, as far as the budget allows."""
        rooted, counts = self._rooted, self._rooted.tree.counts[0]
        begun = int(counts.steps)
        while counts.steps < begun + steps:
            is_free = is_free and counts.steps == begun
            if not is_free and budget.slice() < rooted.party.units:
                break
            search, left, limit = rooted.search(self._means()), begun + steps - counts.steps, budget.slice()
            answer = self._run(budget, search_ahead, search, left, is_free, limit, budget.is_limited)
            if answer == FULL:
                rooted.plant_again(self._means(), int(counts.steps))
            elif answer in (FOUND, EXHAUSTED):
                break
        self._tried += int(counts.steps) - begun

    def _walk(self, proposal: Proposal) -> None:
        """Make one step of the plan, or along the tree, and turn that round."""
        rooted, is_unit = self._rooted, self._rooted.party.is_unit
        if self._ahead is None:
            node, cells = rooted.step()
        else:
            node, cells = rooted.step_to(self._means(), self._ahead.step())
            self._ahead = None if self._ahead.is_over else self._ahead
        proposal.next_cell[is_unit] = cells[is_unit]
        rooted.walk(self._means(), node, cells, proposal.waits_for)

    def intent(self, agent: int) -> Intent:
        """What PIBT says of it, or its plan if there is one, and whether it is known that not all can get home."""
        intent, counts = super().intent(agent), self._rooted.tree.counts[0]
        if intent.path and self._unjamming.is_at_work:
            return Intent(intent.path, reason="a plan out of the jam is in the making")
        if intent.path and self._ahead is not None and self._rooted.party.knows(self.state.agents, agent):
            return self._ahead.intent_of(agent, intent.waits_for)
        if intent.path and counts.goal == NONE and counts.opened == 0:
            return intent._replace(reason="there is no plan that brings all agents home")
        return intent

    def counters(self) -> dict[str, int]:
        return {"configurations": self._tried}

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        super().cells_changed(cells)
        self._is_edited = True
