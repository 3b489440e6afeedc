# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Surge: BMAA* with short paths, in which no agent is left in a jam. It is ours; bmaa.py has the options.

- `heuristic = "blocks"`: before anything is learned, agents believe in distances between blocks of the map
  (search/blocks.py), not in those of an empty map. They are searched when an agent needs them, at the budget's expense.
- `make_way`: in place of the execution phase, agents in the way make way for the agent that has been away from home
  longest (ranking.py, by PIBT). `wish_phase` says where each agent wants to be, `follow_phase` notes what became of it.
  An agent that is pushed off its path goes by what it believes until that path would have expired, which saves most of
  the searches in a crowd. One that has stood still for `patience` ticks falls back, at random, to the end of the line:
  in a dead end, the agent inside must be let out first.
- `spread`: paths expire up to so many ticks early, those of some agents more than those of others, so that searches do
  not come in waves.
- `vision = 0`: with `make_way`, other agents are no obstacles to a search. It would only learn that streets are closed
  when they are not.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_CELL, jit, scramble
from wend.kernel.arrays import allocate, grown, int64
from wend.planners.base import Proposal, State
from wend.planners.bmaa.ranking import Wishes, settle
from wend.planners.bmaa.search_phase import Prefixes
from wend.search.pibt import Decisions
from wend.search.real_time import Learned, knows_distance


class Seniority(NamedTuple):
    """Which agent goes first: the one that has been away from home longest."""

    away: Annotated[np.ndarray, int64("agents")]    # tick when the agent was last at home, or got its order, or gave up
    moved: Annotated[np.ndarray, int64("agents")]   # tick when it last moved, or was at home, or gave up


@jit
def wish_phase(tables, agents, prefixes, seniority, learned, time, patience, lot, wish):
    """Say where each agent wants to be next, NO_CELL if it has no path but can do without. Mutates: seniority, wish."""
    for agent in range(agents.cell.size):
        wish[agent] = agents.cell[agent]
        if agents.cell[agent] == NO_CELL:
            continue
        is_home = agents.cell[agent] == agents.goal[agent]
        gives_up = time - seniority.moved[agent] >= patience and scramble(lot ^ scramble(agent)) & 7 == 0
        if is_home or gives_up:
            seniority.away[agent] = seniority.moved[agent] = time
        if is_home:
            continue
        if prefixes.done[agent] < prefixes.length[agent]:
            wish[agent] += tables.offset[prefixes.step[agent, prefixes.done[agent]]]
        elif knows_distance(learned, agent, agents.cell[agent]):
            wish[agent] = NO_CELL


@jit
def follow_phase(agents, prefixes, seniority, wish, time, replans, next_cell):
    """Note which agents make the next step of their paths, and which lose them. Mutates: prefixes, seniority."""
    for agent in range(agents.cell.size):
        if next_cell[agent] != agents.cell[agent]:
            seniority.moved[agent] = time
        if prefixes.done[agent] == prefixes.length[agent]:
            continue
        if next_cell[agent] == wish[agent]:
            prefixes.done[agent] += 1
        elif next_cell[agent] != agents.cell[agent]:
            prefixes.done[agent] = prefixes.length[agent] = 0
        elif replans:
            prefixes.limit[agent] = 0


class MakingWay:
    """The execution phase in which agents make way."""

    def __init__(self, state: State, seed: int, *, patience: int, replans: bool) -> None:
        self._state, self._seed, self._patience, self._replans = state, seed, patience, replans
        self._seniority = allocate(Seniority, agents=0)

    def reserve(self, agents: int) -> None:
        """Make space for so many agents."""
        self._seniority = grown(self._seniority, agents=agents)
        self._decisions = allocate(Decisions, agents=agents, cells=self._state.grid.size)

    def aim(self, agent: int) -> None:
        """Note when an agent got its order."""
        self._seniority.away[agent] = self._seniority.moved[agent] = self._state.tick

    def run(self, prefixes: Prefixes, learned: Learned, proposal: Proposal) -> None:
        """Settle where all agents go."""
        state, seniority = self._state, self._seniority
        tables, agents = state.grid.tables, state.agents
        lot = int(scramble(self._seed ^ int(scramble(state.tick))))
        wish = np.empty(agents.cell.size, np.int32)
        wish_phase(tables, agents, prefixes, seniority, learned, state.tick, self._patience, lot, wish)
        order = np.argsort(seniority.away[: wish.size], kind="stable").astype(np.int32)
        settle(Wishes(tables, agents, state.occupant, learned, wish, lot), order, self._decisions, *proposal)
        follow_phase(agents, prefixes, seniority, wish, state.tick, self._replans, proposal.next_cell)
