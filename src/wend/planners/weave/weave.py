# mypy: disallow-untyped-calls=False
"""Weave: agents look some steps ahead for a way on which they meet few others, and PIBT decides who goes where.

It takes three ideas together.

    Silver: Cooperative Pathfinding (AIIDE 2005)                        windows: some steps ahead, then the distance
    Okumura et al.: Priority Inheritance with Backtracking              every tick, who goes where: pibt/pibt.py
    (Artificial Intelligence 310, 2022), with swap and hindrance
    Arita, Okumura: Local Guidance for Configuration-Based              windows as a wish, and not as a
    Multi-Agent Pathfinding (AAAI 2026)                                 reservation: guidance.py

Nobody is boxed in by the plans of others, and units that are at home are in the way, but are no walls. The agent that
has been away from home longest has its way first, so that none waits for ever behind younger ones. Of a crowd that is
sent somewhere together, it is the one whose goal lies deepest: depths.py.

With a budget, distances to far goals may take many ticks. Until they are known an agent is rough, and takes part in the
same decisions with what it believes (planners/courses.py).

Work per tick: O(agents) to decide, a bounded search for the guide path of about a quarter of the agents, and backward
searches go on where they stopped. Guide paths have so many expansions for each agent in a tick without a budget, too:
in a packed crowd nearly all agents would search in every tick, as they are pushed off their paths, for little gain.

Of a budget, most goes into lookaheads of rough agents (planners/courses.py says how much), guide paths come next, and
what is left goes into distances, the agent that is longest away first. Of a large budget a fifth of that is kept for
deciding: agents that know how far they have to go find out then how far it is from the cells beside them. Without that
they knew of no way round while others still searched, and crowds with 8,000 expansions did worse than with 2,000.

Deviations from PIBT: see pibt/pibt.py; from local guidance: see guidance.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, OUT_OF_BUDGET, OUT_OF_SPACE
from wend.kernel.arrays import allocate, grown
from wend.planners.base import Budget, Intent, Overlay, Proposal, State, parameter
from wend.planners.courses import RoughCourses
from wend.planners.overlays import TRAFFIC, draw_traffic
from wend.planners.pibt.pibt import Pibt
from wend.planners.waiting import is_away
from wend.planners.weave.depths import Depths
from wend.planners.weave.guidance import Guidance, drop_path, drop_paths, follow_paths, guided_cells, make_trial
from wend.planners.weave.steps import WeaveScene, decide_all, find_distances, guide_phase
from wend.search.reverse_resumable import carry_on

_FOR_DECIDING = 0.2     # of what lookaheads and guide paths leave of a large budget,
_LARGE = 4_000          # ... which has more expansions than these: with fewer, distances take too long as it is
_PER_AGENT = 16         # expansions for guide paths in a tick without a budget,
_AT_LEAST = 4_000       # ... and no fewer than these for all of them

LETS_OTHERS_PASS = "lets others pass: to go on now it would meet them"


@dataclass
class Weave(Pibt):
    """PIBT with guide paths."""

    uncaptured: ClassVar[Sequence[str]] = ("_trial",)   # scratch

    overlays: ClassVar[Mapping[str, Overlay]] = {
        **Pibt.overlays,
        "traffic": TRAFFIC,
    }

    window: int = parameter(16, "steps of a guide path", minimum=1, maximum=60)

    def _allocate(self, state: State) -> None:
        super()._allocate(state)
        cells = state.grid.size
        self._trial = make_trial()
        slots = 1 << (self.window - 1).bit_length()
        self._guidance = allocate(Guidance, agents=0, steps=self.window, cells=cells, slots=slots)
        self._rough = RoughCourses(state.grid, self._distances.beliefs)
        self._depths = Depths(self._distances.beliefs)

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        self._waits_for = proposal.waits_for
        state = self.state
        self._depths.find(state, budget, self._priorities.first)
        order = self._order()
        self._keep_time(order, budget)
        carry_on(self._distances.known.reverse)
        follow_paths(state.grid.tables, self._guidance, state.agents, state.tick)
        if budget.is_limited:
            self._rough.look_ahead(state, budget)
            self._distances.share()
        else:
            self._rough.do_without()
            self._find_distances(order, budget)
        self._find_guide_paths(order, budget)
        if budget.is_limited:
            assert budget.size is not None
            budget.keep_expansions(_FOR_DECIDING if budget.size > _LARGE else 0)
            self._find_distances(order, budget)
            budget.keep_expansions(0)
        self._decide(decide_all, order, proposal, budget)

    def _find_guide_paths(self, order: NDArray[np.int32], budget: Budget) -> None:
        enough, before, answer = max(_PER_AGENT * order.size, _AT_LEAST), -1, OUT_OF_SPACE
        while answer == OUT_OF_SPACE or (answer == OUT_OF_BUDGET and budget.is_timed and budget.spent > before):
            before, expansions = budget.spent, budget.slice() if budget.is_limited else enough
            answer = self._run(budget, guide_phase, self._scene(0), order, expansions, self.state.tick)

    def _find_distances(self, order: NDArray[np.int32], budget: Budget) -> None:
        self._ask_for_all(budget, find_distances, order)

    def _scene(self, lot: int) -> WeaveScene:  # type: ignore[override]
        return WeaveScene(*super()._scene(lot), self._rough.courses, self._guidance, self._trial)

    def counters(self) -> dict[str, int]:
        return {"guide_paths": int(self._guidance.counts[0].found)}

    def intent(self, agent: int) -> Intent:
        """Its guide path, without the waits, as long as it follows it; then what PIBT says."""
        intent, here = super().intent(agent), int(self.state.agents.cell[agent])
        planned = guided_cells(self.state.grid.tables, self._guidance, agent)
        if not is_away(self.state, agent) or planned[1:2] != [here]:
            return intent
        ahead = tuple(cell for cell, _ in groupby(planned[1:]))[1:]
        if planned[0] == here and intent.waits_for == NO_AGENT:
            return Intent(ahead, reason=LETS_OTHERS_PASS)
        return intent._replace(path=ahead or intent.path)

    def _draw_overlay(self, name: str, agent: int) -> NDArray[Any]:
        if name != "traffic":
            return super()._draw_overlay(name, agent)
        tables, guidance, agents = self.state.grid.tables, self._guidance, range(self.state.agents.cell.size)
        coming = [cell for agent in agents for cell in guided_cells(tables, guidance, agent)[1:]]
        return draw_traffic(np.array(coming, np.int32), self.state.grid.size)

    def make_room(self, agents: int) -> None:
        super().make_room(agents)
        space = self._priorities.away.size
        if space > self._guidance.at.size:
            self._guidance = grown(self._guidance, agents=space)
            self._rough.reserve(space)
            self._depths.reserve(space)
            self._distances.share()

    def agent_removed(self, agent: int) -> None:
        self._drop_path(agent)
        self._depths.drop(agent)
        self._rough.courses.is_rough[agent] = False     # only those that decide are told anew, and all rough ones learn
        super().agent_removed(agent)

    def agent_retasked(self, agent: int) -> None:
        self._drop_path(agent)
        if self._rough.aim(agent, int(self.state.agents.goal[agent]), self.state.tick):
            self._depths.sent(agent)
        super().agent_retasked(agent)

    def agents_retasked(self, agents: NDArray[np.int32]) -> None:
        drop_paths(self.state.grid.tables, self._guidance, agents, self.state.tick - 1)
        self._depths.sent(self._rough.aim_all(agents, self.state.agents.goal[agents], self.state.tick))
        super().agents_retasked(agents)

    def _drop_path(self, agent: int) -> None:
        """Between two ticks: where agents went in the last one has not been noted yet."""
        drop_path(self.state.grid.tables, self._guidance, agent, self.state.tick - 1)

    def cells_changed(self, cells: NDArray[np.int32]) -> None:
        super().cells_changed(cells)
        self._rough.begin_anew()
        self._depths.cells_changed()
