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
    re-rooting                                  RealTimeLacam._walk
    (ours: what an order or a wall leaves)      restart, prune; live.py
    (ours: the plan is refined on the way)      ahead.py, refining.py
    (ours: the way out of a jam)                unjamming.py, pushing.py
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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND
from wend.kernel.arrays import allocate
from wend.kernel.compiling import prepared
from wend.planners.base import Agents, Budget, Intent, Proposal, State, all_stay, parameter
from wend.planners.lacam.ahead import PlanAhead, RefinementEffort, find_plan
from wend.planners.lacam.live import (
    EXHAUSTED,
    FULL,
    LiveSearch,
    Party,
    enter,
    explain,
    gather,
    make_tree,
    next_node,
    plant,
    prune,
    restart,
    search_ahead,
)
from wend.planners.lacam.tree import NONE, ROOT, Tree
from wend.planners.lacam.unjamming import Unjamming
from wend.planners.pibt.pibt import Pibt
from wend.planners.units import are_units
from wend.search.pibt import forget_decisions
from wend.search.reverse_resumable import carry_on

_TICK_BITS = 20             # the tick in which a search begins, times 2 to this, is the number of its first step
_MOST_CHECKED = 1 << 20     # cells of agents in nodes that are looked at after an edit; a larger tree is planted anew


@dataclass
class RealTimeLacam(Pibt):
    """Real-Time LaCAM, with swaps."""

    configurations: int = parameter(10, "configurations tried in each tick, as far as its budget allows", minimum=1)
    refinement: int = parameter(5_000, "expansions in each tick to refine a plan, if its budget allows", minimum=0)
    lead: int = parameter(2, "ticks ahead for which the plan is not refined any more", minimum=0)

    def bind(self, state: State, seed: int) -> None:
        self._tree = allocate(Tree, nodes=0, units=0, slots=1, opened=0, constraints=0, edges=0)
        self._root = NONE                           # the node where the units stand
        self._is_stale = True                       # the tree does not hold in the next tick
        self._is_edited = False                     # walls have changed since the search began
        self._party = allocate(Party, {"units": 0, "order": np.empty(0, np.int32)}, agents=0, others=0)
        self._ahead: PlanAhead | None = None        # the plan, once it is known to the end
        self._unjamming = Unjamming()
        self._tried = 0                             # configurations
        self._cell = np.empty(0, np.int32)          # scratch of the search: where agents stand,
        self._occupant = state.occupant.copy()      # ... and who stands where
        super().bind(state, seed)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        self._waits_for = proposal.waits_for
        carry_on(self._distances.known.reverse)
        is_new = self._follow(proposal)
        if not self._stands_still(budget, is_new):
            self._look_ahead(budget, 1 if is_new else self.configurations)
            self._walk(proposal)
        self._is_prepared = True

    def think(self, budget: Budget) -> None:
        super().think(budget)           # the distances come first
        if budget.is_limited and self._ahead is None:       # a plan is refined in ticks alone: thoughts have an end
            self._follow(all_stay(self.state))
            self._explore(budget, self.configurations, is_free=False)

    def _stands_still(self, budget: Budget, is_new: bool) -> bool:
        """Whether the units are to stay where they are, until there is a plan out of a jam."""
        if is_new:
            self._unjamming.begin(self.state.tick)
        elif self._ahead is None:
            self._unjamming.watch(self.state, self._party, self._distances.known.reverse.allowance)
            if self._unjamming.is_at_work:
                self._ahead = self._unjamming.work(self.state, self._party, self._distances, self._run, budget)
        return self._unjamming.is_at_work

    def _follow(self, proposal: Proposal) -> bool:
        """Begin the search anew, with what holds of the tree, if what it is about has changed; whether it has."""
        agents, is_unit, order = self.state.agents, are_units(self.state.agents), self._order()
        is_moving = not np.array_equal(proposal.next_cell, agents.cell)
        stands = (
            not is_moving and not self._is_stale and np.array_equal(is_unit, self._party.is_unit)
            and np.array_equal(agents.cell, self._tree.cell[self._root, : agents.cell.size])
        )  # fmt: skip
        if stands and not self._is_edited and self._party.has_goals_of(agents):
            return False
        self._party, self._ahead = gather(agents, is_unit, order, proposal.next_cell), None
        steps = self.state.tick << _TICK_BITS
        if stands and not (self._is_edited and self._tree.counts[0].nodes * agents.cell.size > _MOST_CHECKED):
            self._restart(steps)
        else:
            self._plant(steps)
        self._is_stale, self._is_edited = is_moving, False
        return True

    def _restart(self, steps: int) -> None:
        """Begin the search where the units stand, and keep what holds of the tree."""
        is_explored = not self._is_edited and self._tree.counts[0].opened == 0
        if self._is_edited:
            self._root = int(self._call(prune, self._tree, self.state.grid.tables, self._root))
        self._call(restart, self._search(), self._root, steps, is_explored)

    def _plant(self, steps: int) -> None:
        """Begin a tree where the units stand."""
        agents, space = self.state.agents, max(1, self._decisions.target.size)
        if self._tree.cell.shape[1] < space:
            self._tree = make_tree(space)
        self._cell, self._root = agents.cell.copy(), ROOT
        self._occupant[:] = self.state.occupant
        forget_decisions(self._decisions)
        self._decisions.target[: agents.cell.size] = agents.cell
        self._call(plant, self._search(), agents.cell, steps)

    def _search(self) -> LiveSearch:
        party, goal = self._party, self.state.agents.goal
        agents = Agents(self._cell, goal, party.is_unit, np.zeros(party.is_unit.size, np.bool_))
        return LiveSearch(
            self.state.grid.tables, self._tree, self._decisions, agents, self._occupant, party.units, party.order,
            party.outside, party.goes, self._distances.known, self.swap, self.seed,
        )  # fmt: skip

    def _call(self, kernel: Callable[..., Any], *given: Any) -> Any:
        """Call a kernel that expands nothing."""
        return (prepared(kernel) if self._is_prepared else kernel)(*given)

    def _look_ahead(self, budget: Budget, steps: int) -> None:
        """Search for a plan, or refine the one that there is, as far as the budget allows."""
        if self._ahead is None:
            self._explore(budget, steps, is_free=True)
            if self.refinement > 0 and not self._is_stale and self._tree.counts[0].goal != NONE:
                self._ahead = find_plan(self._tree, self._party.is_unit, self._party.goes, self.state.grid.size)
        if self._ahead is not None:
            effort, state = RefinementEffort(self.lead, self.refinement, self.seed), self.state
            self._ahead.refine(state.grid.tables, state.agents.goal, self._distances.known, effort, budget)

    def _explore(self, budget: Budget, steps: int, *, is_free: bool) -> None:
        """Go on with the search for so many steps, as far as the budget allows."""
        counts, units = self._tree.counts[0], self._party.units
        begun = int(counts.steps)
        while counts.steps < begun + steps:
            is_free = is_free and counts.steps == begun
            if not is_free and budget.slice() < units:
                break
            left, limit = begun + steps - counts.steps, budget.slice()
            answer = self._run(budget, search_ahead, self._search(), left, is_free, limit, budget.is_limited)
            if answer == FULL:
                self._party = self._party._replace(order=self._tree.order[self._root, :units].copy())
                self._plant(int(counts.steps))
            elif answer in (FOUND, EXHAUSTED):
                break
        self._tried += int(counts.steps) - begun

    def _walk(self, proposal: Proposal) -> None:
        """Make one step of the plan, or along the tree, and turn that round."""
        tree, root, is_unit = self._tree, self._root, self._party.is_unit
        if self._ahead is None:
            node = int(self._call(next_node, tree))
            cells = tree.cell[node, : is_unit.size]
        else:
            cells = tree.cell[root, : is_unit.size].copy()
            cells[is_unit] = self._ahead.step()
            node = int(self._call(enter, self._search(), root, cells))
            if node == NONE:                        # the tree is full, and the plan goes on
                self._plant(int(tree.counts[0].steps))
                tree, root = self._tree, self._root
                node = int(self._call(enter, self._search(), root, cells))
            self._ahead = None if self._ahead.is_over else self._ahead
        proposal.next_cell[is_unit] = cells[is_unit]
        self._call(explain, self._search(), root, cells, proposal.waits_for)
        if node != root:
            tree.parent[root], tree.parent[node] = node, NONE
            self._root = node

    def intent(self, agent: int) -> Intent:
        """What PIBT says of it, or its plan if there is one, and whether it is known that not all can get home."""
        intent, counts = super().intent(agent), self._tree.counts[0]
        if intent.path and self._unjamming.is_at_work:
            return Intent(intent.path, reason="a plan out of the jam is in the making")
        if intent.path and self._ahead is not None and self._party.knows(self.state.agents, agent):
            return self._ahead.intent_of(agent, intent.waits_for)
        if intent.path and counts.goal == NONE and counts.opened == 0:
            return intent._replace(reason="there is no plan that brings all agents home")
        return intent

    def counters(self) -> dict[str, int]:
        return {"configurations": self._tried}

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        super().cells_changed(cells)
        self._is_edited = True
