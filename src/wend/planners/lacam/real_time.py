# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Real-Time LaCAM: the search over configurations goes on from tick to tick, and the agents walk after it.

Liang, Veerapaneni, Harabor, Li, Likhachev: Real-Time LaCAM for Real-Time MAPF (SoCS 2025), on LaCAM (Okumura, AAAI
2023) and PIBT with swaps and hindrance.

OPEN and EXPLORED are kept. In every tick the search makes a few steps, and then all units make one step along the tree
towards the node on top of OPEN, or, once it is found, towards the configuration in which all are home. The edge that
was walked is turned round, so that the node where the units stand is the root; moves are reversible, so what the search
backtracks can be walked back. While goals and walls stand, this is LaCAM spread over ticks, and as complete.

    paper                                       here
    LaCAM for so many iterations                search_ahead; steps.py, tree.py
    a shorter way to a known configuration      _shorten
    one step from the root towards a node       next_node
    re-rooting                                  RealTimeLacam._walk
    (ours: orders, walls, budgets)              RealTimeLacam

The tree holds for as long as its units, their goals, the walls, and the agents outside of the plan, which are walls to
it, stay as they are. Otherwise a new one is planted where the units stand. Their order is kept, and so are distances:
what a new tree costs is PIBT's tick. Where an order comes in every tick, this is PIBT.

Work per tick: O(units) for each configuration, plus the searches for distances.

Deviations and open points
- Distances are PIBT's: exact ones as soon as the budget allows, until then rough ones. They decide what is tried first,
  not what is tried, so that they may change under the tree.
- A budget counts what searches for distances expand, and one for each unit in each configuration after the first one of
  the tick. The first one is not counted, as in PIBT: units move with the smallest budget.
- A tree that is full is planted anew. From then on it is complete no more, but it does not grow for ever.
- When all has been tried in vain, the units go to the configuration found in which most of them are home.
- In the first tick of a tree one configuration is tried, whatever is allowed: the next order may come at once. If
  agents of the program move in this tick, that is one step of PIBT around them, and the tree holds no longer.
- A plan that was found is walked as it is: it is not refined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit, scramble
from wend.kernel.allowance import allow, spend
from wend.kernel.arrays import allocate, flags, int32
from wend.kernel.compiling import prepared
from wend.maps.terrain import GridTables
from wend.planners.base import Agents, Budget, Intent, Proposal, State, all_stay, parameter
from wend.planners.lacam.steps import continue_constraint, fix_units, propose, take_up
from wend.planners.lacam.tree import CHOICES, NONE, ROOT, Tree, enter_node, find_node, open_node, take_constraint
from wend.planners.pibt.distances import STEP, KnownDistances, search_blocks, search_cells
from wend.planners.pibt.pibt import Pibt, PibtScene, in_the_way, rank
from wend.planners.units import are_units
from wend.search.pibt import Decisions, fix, forget_decisions
from wend.search.reverse_resumable import carry_on

_EXHAUSTED = UNREACHABLE    # OPEN is empty: there is no plan
_FULL = OUT_OF_SPACE - 1    # the tree is
_MOST_NODES = 8192          # of a tree, but not more than
_MOST_BYTES = 1 << 26       # ... this allows for, and at least
_LEAST_NODES = 1024
_TICK_BITS = 20             # the tick in which a tree is planted, times 2 to this, is the number of its first step


class Party(NamedTuple):
    """The agents that a tree is about, and the others, as they were when it was planted."""

    units: int
    is_unit: Annotated[np.ndarray, flags("agents")]     # the tree is about it
    goal: Annotated[np.ndarray, int32("agents")]
    outside: Annotated[np.ndarray, int32("others")]     # the agents on the map that are no units,
    goes: Annotated[np.ndarray, int32("others")]        # ... and where each of them is next

    def is_of(self, agents: Agents, is_unit: NDArray[np.bool_]) -> bool:
        """Whether these are the units, and have the goals that they had."""
        return np.array_equal(is_unit, self.is_unit) and np.array_equal(agents.goal[is_unit], self.goal[is_unit])


def gather(agents: Agents, is_unit: NDArray[np.bool_], next_cell: NDArray[np.int32]) -> Party:
    """These units, and all others; `next_cell` says where those that the program moves are next."""
    outside = np.flatnonzero(~is_unit & (agents.cell != NO_CELL)).astype(np.int32)
    return Party(int(np.count_nonzero(is_unit)), is_unit, agents.goal.copy(), outside, next_cell[outside])


class LiveSearch(NamedTuple):
    """The search, as it goes on from tick to tick."""

    tables: GridTables
    tree: Tree
    decisions: Decisions
    agents: Agents          # in the configuration at hand; only units are controlled
    occupant: np.ndarray    # int32[cells]  the agent that stands there, or NO_AGENT
    units: int
    outside: np.ndarray     # as in Party
    goes: np.ndarray
    distances: KnownDistances
    swaps: bool
    seed: int


@jit
def _fix_outside(search):
    """Let the agents that are no units go where they do anyway. Mutates: search.decisions."""
    for k in range(search.outside.size):
        fix(search.decisions, search.outside[k], search.goes[k])


@jit
def _has_space(tree):
    """Whether one more step fits into the tree."""
    counts = tree.counts[0]
    return (
        counts.nodes < tree.cell.shape[0]
        and counts.constraints + CHOICES <= tree.fixed_unit.size
        and counts.opened < tree.open.size
    )


@jit
def _depth(tree, node):
    """How many steps it is from the root to a node."""
    depth = 0
    while tree.parent[node] != NONE:
        node = tree.parent[node]
        depth += 1
    return depth


@jit
def _shorten(tree, node, known):
    """Let the way to a known node lead over another one, from which there is a move, if that is shorter. Mutates: tree.

    It is never shorter if the known node lies before the other one, so that no circle is closed.
    """
    if _depth(tree, node) + 1 < _depth(tree, known):
        tree.parent[known] = node


@jit
def plant(search, cells, order, steps):
    """Begin a tree with the configuration in which the units stand, in this order; count steps from here on.

    Mutates: search.tree.
    """
    counts = search.tree.counts[0]
    search.tree.slot[:] = NONE
    counts.nodes, counts.constraints, counts.opened, counts.goal, counts.nearest = 0, 1, 0, NONE, ROOT
    counts.steps = steps
    _add(search, cells, order, order, NONE)


@jit
def _add(search, cells, order, first_order, parent):
    """Add a new configuration, and count who is not home there. Mutates: search.tree."""
    tree, goal = search.tree, search.agents.goal
    node = enter_node(tree, goal, cells, order, first_order, parent)
    away = 0
    for unit in order:
        away += int(cells[unit] != goal[unit])
    tree.h[node] = away
    if away < tree.h[tree.counts[0].nearest]:
        tree.counts[0].nearest = node


@jit
def _arrive(search, node):
    """Enter the configuration that was decided into the tree, or open the one that is known. Mutates: search.tree."""
    tree, after = search.tree, search.decisions.target[: search.agents.cell.size]
    known = find_node(tree, after)
    if known == NONE:
        _add(search, after, tree.order[node, : search.units], tree.order[ROOT, : search.units], node)
    elif known != node:
        _shorten(tree, node, known)
        open_node(tree, known)


@jit
def search_ahead(search, steps, is_free, expansions, is_limited):
    """Go on with the search for so many steps, within so many expansions; say why it stopped. Mutates: search.

    If it `is_free`, the first step counts no expansions but those for distances. The answer is FOUND, _EXHAUSTED,
    OUT_OF_BUDGET, _FULL, or OUT_OF_SPACE if distances need more of it.
    """
    tree, allowance, units = search.tree, search.distances.reverse.allowance, search.units
    counts = tree.counts[0]
    allow(allowance, expansions)
    last = counts.steps + steps
    while counts.goal == NONE:
        if counts.opened == 0:
            return _EXHAUSTED
        node = np.int64(tree.open[counts.opened - 1])
        if tree.first[node] == NONE:
            counts.opened -= 1
            continue
        if counts.steps >= last:
            return OUT_OF_BUDGET
        if not _has_space(tree):
            return _FULL
        cost = 0 if is_free else units
        if not spend(allowance, cost):
            return OUT_OF_BUDGET
        lot = scramble(search.seed ^ scramble(counts.steps))
        answer = _step(search, node, lot, is_limited)
        if answer == OUT_OF_SPACE:
            allowance.counts[0].spent -= cost
            return OUT_OF_SPACE
        is_free = False
        counts.steps += 1
    return FOUND


@jit
def _step(search, node, lot, is_limited):
    """Ask PIBT for the next configuration after a node: 1 if there is one, 0 if not, or OUT_OF_SPACE. Mutates: search.

    In the last case nothing has happened.
    """
    tree, order = search.tree, search.tree.order[node, : search.units]
    scene = PibtScene(search.tables, search.agents, search.occupant, search.distances, STEP, search.swaps, lot)
    take_up(search, node)
    if is_limited:
        search_blocks(scene, order)
    if search_cells(scene, order) == OUT_OF_SPACE:
        return OUT_OF_SPACE
    constraint = take_constraint(tree, node)
    _fix_outside(search)
    fix_units(search, constraint)
    answer = propose(search, scene, node, constraint, rank)
    if answer == OUT_OF_SPACE:
        tree.first[node] = constraint
        return OUT_OF_SPACE
    if answer == 1:
        _arrive(search, node)
    forget_decisions(search.decisions)
    _fix_outside(search)
    continue_constraint(search, node, constraint, fix_units(search, constraint), lot)
    return answer


@jit
def next_node(tree):
    """The node after the root on the way to where the units head; the root itself if they are there.

    They head for their goals as soon as these are found, until then for the top of OPEN, and for the nearest
    configuration when all has been tried.
    """
    counts = tree.counts[0]
    node = counts.goal
    if node == NONE:
        node = np.int64(tree.open[counts.opened - 1]) if counts.opened > 0 else counts.nearest
    while tree.parent[node] != NONE and tree.parent[tree.parent[node]] != NONE:
        node = tree.parent[node]
    return np.int64(node)


@jit
def explain(search, root, node, waits_for):
    """Say whom those wait for that stay away from home in the step from the root to a node. Mutates: search, waits_for.

    Distances are read as far as they are known.
    """
    tree, agents, decisions = search.tree, search.agents, search.decisions
    scene = PibtScene(search.tables, agents, search.occupant, search.distances, STEP, search.swaps, 0)
    allow(search.distances.reverse.allowance, 0)
    take_up(search, root)
    _fix_outside(search)
    for unit in tree.order[root, : search.units]:
        fix(decisions, unit, tree.cell[node, unit])
    for unit in tree.order[root, : search.units]:
        if decisions.target[unit] == agents.cell[unit] != agents.goal[unit]:
            waits_for[unit] = in_the_way(scene, decisions, unit)


@dataclass
class RealTimeLacam(Pibt):
    """Real-Time LaCAM, with swaps."""

    configurations: int = parameter(1, "configurations tried in each tick, as far as its budget allows", minimum=1)

    def bind(self, state: State, seed: int) -> None:
        self._tree = allocate(Tree, nodes=0, units=0, slots=1, opened=0, constraints=0, edges=0)
        self._root = NONE                           # the node where the units stand
        self._is_stale = True                       # the tree does not hold in the next tick
        self._party = allocate(Party, {"units": 0}, agents=0, others=0)
        self._tried = 0                             # configurations
        self._cell = np.empty(0, np.int32)          # scratch of the search: where agents stand,
        self._occupant = state.occupant.copy()      # ... and who stands where
        super().bind(state, seed)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        self._waits_for = proposal.waits_for
        carry_on(self._distances.known.reverse)
        is_new = self._follow(proposal)
        self._explore(budget, 1 if is_new else self.configurations, is_free=True)
        self._walk(proposal)
        self._is_prepared = True

    def think(self, budget: Budget) -> None:
        super().think(budget)           # the distances come first
        self._follow(all_stay(self.state))
        self._explore(budget, self.configurations, is_free=False)

    def _follow(self, proposal: Proposal) -> bool:
        """Plant a new tree, if the one that there is no longer holds; whether it was so."""
        agents, is_unit, order = self.state.agents, are_units(self.state.agents), self._order()
        is_moving = not np.array_equal(proposal.next_cell, agents.cell)
        if (
            not is_moving and not self._is_stale and self._party.is_of(agents, is_unit)
            and np.array_equal(agents.cell, self._tree.cell[self._root, : agents.cell.size])
        ):  # fmt: skip
            return False
        self._party = gather(agents, is_unit, proposal.next_cell)
        self._plant(order, self.state.tick << _TICK_BITS)
        self._is_stale = is_moving
        return True

    def _plant(self, order: NDArray[np.int32], steps: int) -> None:
        """Begin a tree where the units stand."""
        agents, space = self.state.agents, max(1, self._decisions.target.size)
        if self._tree.cell.shape[1] < space:
            self._tree = _make_tree(space)
        self._cell, self._root = agents.cell.copy(), ROOT
        self._occupant[:] = self.state.occupant
        forget_decisions(self._decisions)
        self._decisions.target[: agents.cell.size] = agents.cell
        self._call(plant, self._search(), agents.cell, order, steps)

    def _search(self) -> LiveSearch:
        party, goal = self._party, self.state.agents.goal
        agents = Agents(self._cell, goal, party.is_unit, np.zeros(party.is_unit.size, np.bool_))
        return LiveSearch(
            self.state.grid.tables, self._tree, self._decisions, agents, self._occupant, party.units, party.outside,
            party.goes, self._distances.known, self.swap, self.seed,
        )  # fmt: skip

    def _call(self, kernel: Callable[..., Any], *given: Any) -> Any:
        """Call a kernel that expands nothing."""
        return (prepared(kernel) if self._is_prepared else kernel)(*given)

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
            if answer == _FULL:
                self._plant(self._tree.order[self._root, :units].copy(), int(counts.steps))
            elif answer in (FOUND, _EXHAUSTED):
                break
        self._tried += int(counts.steps) - begun

    def _walk(self, proposal: Proposal) -> None:
        """Make one step along the tree, and turn it round."""
        tree, root, is_unit = self._tree, self._root, self._party.is_unit
        node = int(self._call(next_node, tree))
        proposal.next_cell[is_unit] = tree.cell[node, : is_unit.size][is_unit]
        self._call(explain, self._search(), root, node, proposal.waits_for)
        if node != root:
            tree.parent[root], tree.parent[node] = node, NONE
            self._root = node

    def intent(self, agent: int) -> Intent:
        """What PIBT says of it, and whether it is known that not all can get home."""
        intent, counts = super().intent(agent), self._tree.counts[0]
        if intent.path and counts.goal == NONE and counts.opened == 0:
            return intent._replace(reason="there is no plan that brings all agents home")
        return intent

    def counters(self) -> dict[str, int]:
        return {"configurations": self._tried}

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        super().cells_changed(cells)
        self._is_stale = True


def _make_tree(agents: int) -> Tree:
    """A tree without nodes over so many agents; memory that is never touched costs nothing."""
    nodes = min(_MOST_NODES, max(_LEAST_NODES, 1 << (_MOST_BYTES // (8 * agents)).bit_length() - 1))
    return allocate(
        Tree, nodes=nodes, units=agents, slots=2 * nodes, opened=4 * nodes, constraints=CHOICES * nodes, edges=0
    )
