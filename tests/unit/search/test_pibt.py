"""The kernel against the reference, and what PIBT and PIBT with swaps must be able to do on small maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from tests.reference.grid import legal_steps
from tests.reference.pibt import ReferencePibt, ReferenceSwap
from tests.reference.reverse_resumable import distances
from wend import Grid
from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_BUDGET, jit, scramble
from wend.kernel.arrays import allocate
from wend.maps.terrain import GridTables, Point
from wend.planners.base import Agents
from wend.rules import Judge
from wend.search.pibt import Decisions, decide, fix, forget_decisions, offer, should_swap, turn_round, undo


class Crowd(NamedTuple):
    """A whole PIBT, as a planner would give it to the kernel."""

    tables: GridTables
    agents: Agents
    occupant: np.ndarray    # int32[cells]
    far: np.ndarray         # int64[agents, cells]  distances to each agent's goal
    firm: np.ndarray        # bool[agents]          may not be pushed
    fixed: np.ndarray       # int32[agents]         the next cell that is settled beforehand, or NO_CELL
    lot: int                # decides among equals
    swaps: bool
    considerate: bool       # among equals, rather where no agent stands or wants to go


@jit
def far_of(crowd, agent, cell):
    return crowd.far[agent, cell]


@jit
def hindrance(crowd, here, there):
    """How many agents beside this one want to go where it goes."""
    count = 0
    for d in range(8):
        if crowd.tables.moves[here] >> d & 1:
            beside = here + crowd.tables.offset[d]
            other = crowd.occupant[beside]
            if other != NO_AGENT and beside != there and crowd.far[other, there] < crowd.far[other, beside]:
                count += 1
    return count


@jit
def partner_of(crowd, decisions, agent, here, best):
    """The one ahead, or one beside that would have to pass if this one went on (clear operation)."""
    ahead = crowd.occupant[best]
    if best == here:
        return NO_AGENT
    if ahead != NO_AGENT and not decisions.decided[ahead] and should_swap(crowd, far_of, agent, here, ahead, best) == 1:
        return ahead
    for d in range(8):
        if crowd.tables.moves[here] >> d & 1:
            beside = here + crowd.tables.offset[d]
            other = crowd.occupant[beside]
            if other != NO_AGENT and beside != best and should_swap(crowd, far_of, other, here, agent, best) == 1:
                return other
    return NO_AGENT


@jit
def rank(crowd, decisions, depth):
    if decisions.asked[depth] > 0:
        return 0
    agent = decisions.chain[depth]
    here = crowd.agents.cell[agent]
    for d in range(9):
        if d == 8 or crowd.tables.moves[here] >> d & 1:
            there = here + crowd.tables.offset[d] if d < 8 else here
            is_busy = crowd.occupant[there] != NO_AGENT and crowd.occupant[there] != agent
            crowded = hindrance(crowd, here, there) << 1 | is_busy if crowd.considerate else 0
            lot = scramble(crowd.lot ^ scramble(agent * 9 + d)) & 255
            offer(decisions, depth, there, (crowd.far[agent, there] << 5 | crowded) << 8 | lot)
    if crowd.swaps:
        partner = partner_of(crowd, decisions, agent, here, decisions.option[depth, 0])
        if partner != NO_AGENT:
            turn_round(decisions, depth)
            decisions.partner[depth] = partner
    return 0


@jit
def may_push(crowd, root, other):  # noqa: ARG001
    return not crowd.firm[other]


@jit
def step(decisions, crowd, order):
    """One tick. Mutates: decisions."""
    forget_decisions(decisions)
    for agent in range(crowd.fixed.size):
        if crowd.fixed[agent] != NO_CELL:
            fix(decisions, agent, crowd.fixed[agent])
    for agent in order:
        if not decisions.decided[agent]:
            decide(decisions, crowd, agent, rank, may_push)


@dataclass
class Run:
    """PIBT on a map, tick by tick: the agent that has waited longest for its goal decides first."""

    grid: Grid
    at: list[Point]
    goals: list[Point]
    swaps: bool = False
    considerate: bool = True
    firm: tuple[int, ...] = ()
    seed: int = 0
    ticks: int = 0
    visited: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.far = np.full((len(self.at), self.grid.size), 2**40, np.int64)
        for agent, goal in enumerate(self.goals):
            for cell, cost in distances(self.grid, self.grid.cell(*goal)).items():
                self.far[agent, cell] = cost >> 16
        self.first = [int(self.far[agent, self.grid.cell(*at)]) for agent, at in enumerate(self.at)]
        self.age = [0] * len(self.at)
        self.decisions = allocate(Decisions, agents=len(self.at), cells=self.grid.size)

    @property
    def lot(self) -> int:
        return int(scramble(self.seed * 1_000 + self.ticks))

    def order(self) -> list[int]:
        return sorted(range(len(self.at)), key=lambda agent: (-self.age[agent], -self.first[agent], agent))

    def crowd(self, fixed: dict[int, Point]) -> Crowd:
        cells = np.array([self.grid.cell(*point) for point in self.at], np.int32)
        goals = np.array([self.grid.cell(*point) for point in self.goals], np.int32)
        count = cells.size
        occupant = np.full(self.grid.size, NO_AGENT, np.int32)
        occupant[cells] = np.arange(count)
        firm = np.isin(np.arange(count), self.firm)
        beforehand = [self.grid.cell(*fixed[agent]) if agent in fixed else NO_CELL for agent in range(count)]
        agents = Agents(cells, goals, np.ones(count, np.bool_), np.zeros(count, np.bool_))
        return Crowd(
            self.grid.tables, agents, occupant, self.far, firm, np.array(beforehand, np.int32), self.lot, self.swaps,
            self.considerate,
        )  # fmt: skip

    def next(self, fixed: dict[int, Point]) -> list[Point]:
        """Where all agents go, by the kernel; every such step is legal."""
        crowd = self.crowd(fixed)
        step(self.decisions, crowd, np.array(self.order(), np.int32))
        goes = np.where(self.decisions.decided, self.decisions.target, crowd.agents.cell)
        assert not Judge(self.grid).judge(1, crowd.agents.cell, goes)
        return [self.grid.xy(int(cell)) for cell in goes]

    def next_by_reference(self, fixed: dict[int, Point]) -> list[Point]:
        """The same, by the reference."""
        standing = {point: agent for agent, point in enumerate(self.at)}

        def far(agent: int, point: Point) -> int:
            return int(self.far[agent, self.grid.cell(*point)])

        swap = ReferenceSwap(self.grid.neighbours, standing, far)

        def key(agent: int, d: int, there: Point) -> tuple[int, int, bool, int]:
            here = self.at[agent]
            others = [standing[p] for p in self.grid.neighbours(here) if p in standing and p != there]
            hindered = sum(far(other, there) < far(other, self.at[other]) for other in others)
            lot = scramble(self.lot ^ scramble(agent * 9 + d)) & 255
            is_busy = standing.get(there, agent) != agent
            crowded = (hindered, is_busy) if self.considerate else (0, False)
            return far(agent, there), *crowded, lot

        def options(agent: int, pusher: int | None) -> tuple[Sequence[Point], int | None]:  # noqa: ARG001
            here = self.at[agent]
            steps = [*legal_steps(self.grid, here), (8, here)]
            points = [there for d, there in sorted(steps, key=lambda step: key(agent, *step))]
            best, partner = points[0], None
            if self.swaps and best != here:
                ahead = standing.get(best)
                if ahead is not None and ahead not in pibt.goes and swap.should(agent, here, ahead, best):
                    partner = ahead
                else:
                    beside = [standing[p] for _, p in legal_steps(self.grid, here) if p in standing and p != best]
                    partner = next((other for other in beside if swap.should(other, here, agent, best)), None)
            return (points if partner is None else points[::-1]), partner

        pibt = ReferencePibt(self.at, options, may_push=lambda _, other: other not in self.firm, fixed=fixed)
        for agent in self.order():
            if agent not in pibt.goes:
                pibt.decide(agent)
        return [pibt.goes.get(agent, at) for agent, at in enumerate(self.at)]

    def go(self, to: list[Point]) -> None:
        self.ticks += 1
        self.at = to
        for agent, point in enumerate(to):
            self.age[agent] = 0 if point == self.goals[agent] else self.age[agent] + 1
            if point == self.goals[agent]:
                self.visited.add(agent)

    def until_home(self, limit: int) -> int | None:
        """Ticks until all stand on their goals at the same time, or None."""
        while self.at != self.goals and self.ticks < limit:
            self.go(self.next({}))
        return self.ticks if self.at == self.goals else None


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("considerate", [False, True])
def test_the_kernel_agrees_with_the_reference_tick_by_tick(connectivity: int, swaps: bool, considerate: bool) -> None:
    """Some agents may not be pushed, and in every third tick the next cells of some are fixed beforehand."""
    waited = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        grid = Grid(rng.random((5, 7)) < 0.8, connectivity=connectivity)
        cells = grid.largest_component()
        count = int(rng.integers(2, max(3, int(cells.size * 0.8))))
        at, goals = ([grid.xy(int(cell)) for cell in rng.permutation(cells)[:count]] for _ in range(2))
        firm = tuple(np.flatnonzero(rng.random(count) < 0.1).tolist())
        run = Run(grid, at, goals, swaps, considerate, firm, seed)
        for _ in range(15):
            fixed: dict[int, Point] = {}
            if run.ticks % 3 == 2:
                for agent in rng.permutation(count)[:2].tolist():
                    free = [p for p in grid.neighbours(run.at[agent]) if p not in run.at and p not in fixed.values()]
                    fixed[agent] = free[0] if free else run.at[agent]
            goes = run.next(fixed)
            assert goes == run.next_by_reference(fixed), f"seed {seed}, tick {run.ticks}"
            assert all(goes[agent] == there for agent, there in fixed.items())
            waited += sum(there == here for there, here in zip(goes, run.at, strict=True))
            run.go(goes)
    assert waited > 50


T = Grid.from_text("#.#\n...\n###", connectivity=4)
POCKET = Grid.from_text(".....\n##.##", connectivity=4)
LOOP = Grid.from_text("....\n.##.\n.##.\n....", connectivity=4)
SQUARE = Grid(np.ones((2, 2)), connectivity=4)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize(
    ("grid", "ends", "least", "most"),
    [(T, [(0, 1), (2, 1)], 4, 5), (POCKET, [(0, 0), (4, 0)], 6, 8)],
    ids=["T", "pocket"],
)
def test_two_exchange_places_in_a_corridor_only_with_swaps(
    grid: Grid, ends: list[Point], least: int, most: int, connectivity: int, seed: int
) -> None:
    grid = grid.with_rules(connectivity=connectivity)
    assert Run(grid, ends, ends[::-1], seed=seed).until_home(60) is None
    ticks = Run(grid, ends, ends[::-1], swaps=True, seed=seed).until_home(60)
    assert ticks is not None
    assert least <= ticks <= most


@pytest.mark.small
@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("text", [".....\n.####", "...", ".."], ids=["bent corridor", "3-corridor", "2x1"])
def test_nobody_exchanges_places_where_that_is_impossible(text: str, swaps: bool) -> None:
    grid = Grid.from_text(text, connectivity=4)
    ends = [(0, 0), (grid.width - 1, 0)]
    assert Run(grid, ends, ends[::-1], swaps).until_home(60) is None


@pytest.mark.small
@pytest.mark.parametrize("swaps", [False, True])
def test_a_full_square_turns_in_one_tick(swaps: bool) -> None:
    ring: list[Point] = [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert Run(SQUARE, ring, [*ring[1:], ring[0]], swaps).until_home(5) == 1


@pytest.mark.small
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("swaps", [False, True])
def test_two_exchange_places_in_a_full_square_if_they_may_go_diagonally(swaps: bool, seed: int) -> None:
    at: list[Point] = [(0, 0), (1, 0), (1, 1), (0, 1)]
    goals: list[Point] = [(1, 0), (0, 0), (1, 1), (0, 1)]
    assert Run(SQUARE, at, goals, swaps, seed=seed).until_home(60) is None
    ticks = Run(SQUARE.with_rules(connectivity=8), at, goals, swaps, seed=seed).until_home(60)
    assert ticks is not None
    assert 2 <= ticks <= 4


@pytest.mark.small
@pytest.mark.parametrize(("connectivity", "least", "most"), [(4, 4, 6), (8, 2, 2)])
@pytest.mark.parametrize("swaps", [False, True])
def test_two_pass_each_other_where_there_are_two_lanes(connectivity: int, least: int, most: int, swaps: bool) -> None:
    grid = Grid(np.ones((2, 3)), connectivity=connectivity)
    ticks = Run(grid, [(0, 0), (2, 0)], [(2, 0), (0, 0)], swaps).until_home(60)
    assert ticks is not None
    assert least <= ticks <= most


@pytest.mark.small
@pytest.mark.parametrize("swaps", [False, True])
def test_on_a_loop_all_visit_their_goals_but_never_together(swaps: bool) -> None:
    """Every edge is on a simple cycle, so that the agent of highest priority always gets through."""
    run = Run(LOOP, [(0, 0), (0, 2), (0, 1)], [(0, 2), (0, 1), (0, 3)], swaps)
    assert run.until_home(120) is None
    assert run.visited == {0, 1, 2}


@pytest.mark.small
def test_a_firm_agent_is_not_pushed_but_goes_by_itself() -> None:
    grid = Grid.from_text("....", connectivity=4)
    row: list[Point] = [(0, 0), (1, 0)]
    assert Run(grid, row, [(3, 0), (1, 0)], firm=(1,)).next({}) == row
    assert Run(grid, row, [(2, 0), (3, 0)], firm=(1,)).next({}) != row


@pytest.mark.small
def test_an_agent_whose_cell_is_anothers_next_one_must_leave_it_or_stays_undecided() -> None:
    grid = Grid.from_text("...", connectivity=4)
    run = Run(grid, [(0, 0), (1, 0)], [(0, 0), (1, 0)])
    assert run.next({0: (1, 0)}) == [(1, 0), (2, 0)]
    corner = Run(Grid.from_text("..", connectivity=4), [(0, 0), (1, 0)], [(0, 0), (1, 0)])
    crowd = corner.crowd({0: (1, 0)})
    step(corner.decisions, crowd, np.array([1, 0], np.int32))
    assert corner.decisions.decided.tolist() == [True, False]


@jit
def rank_until(crowd, decisions, depth):
    """Like `rank`, but of the third agent in a chain nothing is known."""
    return OUT_OF_BUDGET if depth == 2 else rank(crowd, decisions, depth)


@jit
def decide_until(decisions, crowd, root):
    return decide(decisions, crowd, root, rank_until, may_push)


@pytest.mark.small
def test_what_is_not_known_undoes_the_whole_chain_and_so_does_undo() -> None:
    grid = Grid.from_text("......", connectivity=4)
    row: list[Point] = [(x, 0) for x in range(4)]
    run = Run(grid, row, [(5, 0), *row[1:]])
    crowd, decisions = run.crowd({}), run.decisions
    forget_decisions(decisions)
    assert decide_until(decisions, crowd, 0) == OUT_OF_BUDGET
    assert not decisions.decided.any()
    assert (decisions.taken == NO_AGENT).all()
    assert decisions.counts[0].decided == 0
    assert run.next({}) == [(1, 0), (2, 0), (3, 0), (4, 0)]
    assert decisions.trail[: decisions.counts[0].decided].tolist() == [0, 1, 2, 3]
    undo(decisions, 0, 2)
    assert decisions.decided.tolist() == [False, False, True, True]
    assert decisions.trail[: decisions.counts[0].decided].tolist() == [2, 3]
    assert decisions.taken.tolist() == [NO_AGENT, NO_AGENT, NO_AGENT, 2, 3, NO_AGENT]


@jit
def ask_for_swap(crowd, pusher, behind, other, ahead):
    return should_swap(crowd, far_of, pusher, behind, other, ahead)


@pytest.mark.small
@pytest.mark.parametrize("connectivity", [4, 8])
def test_in_a_mirror_the_same_agents_swap(connectivity: int) -> None:
    swaps = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        free = rng.random((4, 6)) < 0.6
        grid, mirrored = (Grid(rows, connectivity=connectivity) for rows in (free, free[:, ::-1]))
        if not free.any():
            continue
        cells = grid.largest_component()
        count = min(4, cells.size)
        at, goals = ([grid.xy(int(cell)) for cell in rng.permutation(cells)[:count]] for _ in range(2))
        seen_at, seen_goals = ([(5 - x, y) for x, y in points] for points in (at, goals))
        crowd, seen = Run(grid, at, goals).crowd({}), Run(mirrored, seen_at, seen_goals).crowd({})
        for a, b in ((a, b) for a in range(count) for b in range(count) if at[b] in grid.neighbours(at[a])):
            asked = ask_for_swap(crowd, a, crowd.agents.cell[a], b, crowd.agents.cell[b])
            assert asked == ask_for_swap(seen, a, seen.agents.cell[a], b, seen.agents.cell[b])
            swaps += asked
    assert swaps > 5
