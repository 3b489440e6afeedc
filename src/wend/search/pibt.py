# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""PIBT: one step for an agent, and for all whom it has to push out of its way.

Okumura, Machida, Défago, Tamura: Priority Inheritance with Backtracking for Iterative Multi-agent Path Finding.
Artificial Intelligence 310, 2022. An agent takes the best of its next cells. If another agent stands there that has not
decided yet, that one decides next, with the priority of the first: it may go anywhere but to the cell of the agent that
pushes it. If it finds no place it stays, and the one before it tries its next best cell.

    paper                                       here
    Algorithm 1, procedure PIBT                 decide; the recursion is a chain of agents
    candidates, best first                      rank, which the caller passes
    swap: pull, required, possible              partner, should_swap (Okumura: Improving LaCAM, IJCAI 2023)

The caller passes two kernels and its own bundle `scene`, which has at least `tables`, `agents` and `occupant`:

    rank(scene, decisions, depth)       lists next cells of the agent chain[depth] with `offer`. When all of them have
                                        been tried it is called again (asked[depth] says how often it was), until it
                                        lists none. So a wish can come first, and the rest be ranked only if need be.
                                        It returns 0, or one of the negative answer codes, which undoes everything.
                                        It may name a partner[depth], which then follows into the cell that is left.
    may_push(scene, root, other)        says whether `other` may be pushed for the sake of `root`.

Agents whose next cell is fixed beforehand (`fix`) are walked around, and never pushed.

Deviations
- A partner follows whichever cell the agent gets, as long as it leaves its own; not only the first of its list.
- In a swap, a dead end of one cell counts as closed if any agent stands in it other than the one that pushes. In the
  paper this holds for agents whose goal it is.

Work: each agent is decided at most once per tick, so O(agents).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit
from wend.kernel.arrays import flags, int32, int64, record

_CHOICE = -2        # what `_onward` answers where a corridor branches


class Decisions(NamedTuple):
    """Who goes where in the tick at hand, and the chain of agents that push each other at the moment."""

    decided: Annotated[np.ndarray, flags("agents")]                 # its next cell is settled
    target: Annotated[np.ndarray, int32("agents")]                  # that cell
    trail: Annotated[np.ndarray, int32("agents")]                   # who was decided, the first one first
    taken: Annotated[                                   # the agent whose next cell it is, or NO_AGENT; what is from
        np.ndarray, int32("cells", fill=NO_AGENT, is_scratch=True)      # ... ticks before counts for nothing
    ]
    chain: Annotated[np.ndarray, int32("agents", is_scratch=True)]      # who pushes whom, the first one first
    partner: Annotated[np.ndarray, int32("agents", is_scratch=True)]    # by place there: who is to follow, or NO_AGENT;
    asked: Annotated[np.ndarray, int32("agents", is_scratch=True)]      # ... how often its cells were ranked;
    options: Annotated[np.ndarray, int32("agents", is_scratch=True)]    # ... how many cells were listed,
    tried: Annotated[np.ndarray, int32("agents", is_scratch=True)]      # ... how many of these were tried,
    option: Annotated[np.ndarray, int32("agents", 9, is_scratch=True)]  # ... the cells, best first,
    key: Annotated[np.ndarray, int64("agents", 9, is_scratch=True)]     # ... and by what they are ordered, ascending
    pushes: Annotated[np.ndarray, int32("agents", is_scratch=True)]     # by agent: how many others would have to be
    queue: Annotated[np.ndarray, int32("agents", is_scratch=True)]      # ... pushed until one has a free cell
    counts: Annotated[
        np.ndarray,
        record(
            "decided",      # agents in the trail
            "movers",       # where in the trail the agents begin that the last call of `decide` moves
            "has_pushes",   # `pushes` are of the tick at hand
        ),
    ]


@jit
def fix(decisions, agent, cell):
    """Settle an agent's next cell. Mutates: decisions."""
    counts = decisions.counts[0]
    decisions.decided[agent] = True
    decisions.target[agent] = cell
    decisions.taken[cell] = agent
    decisions.trail[counts.decided] = agent
    counts.decided += 1


@jit
def undo(decisions, begin, end):
    """Take back what was decided of the agents trail[begin:end]. Mutates: decisions."""
    counts = decisions.counts[0]
    for k in range(begin, end):
        _release(decisions, decisions.trail[k])
    for k in range(end, counts.decided):
        decisions.trail[begin + k - end] = decisions.trail[k]
    counts.decided -= end - begin


@jit
def forget_decisions(decisions):
    """Begin a tick: nothing is decided. Mutates: decisions."""
    decisions.counts[0].has_pushes = 0
    undo(decisions, 0, decisions.counts[0].decided)


@jit
def _release(decisions, agent):
    """Let an agent be undecided. Mutates: decisions."""
    cell = decisions.target[agent]
    if decisions.taken[cell] == agent:
        decisions.taken[cell] = NO_AGENT
    decisions.decided[agent] = False


@jit
def offer(decisions, depth, cell, key):
    """Put a cell among the next cells of an agent in the chain, by its key. Mutates: decisions."""
    option, keys = decisions.option[depth], decisions.key[depth]
    k = np.int64(decisions.options[depth])
    while k > 0 and keys[k - 1] > key:
        keys[k], option[k] = keys[k - 1], option[k - 1]
        k -= 1
    keys[k], option[k] = key, cell
    decisions.options[depth] += 1


@jit
def turn_round(decisions, depth):
    """Reverse the order of the cells listed for an agent in the chain. Mutates: decisions."""
    option, last = decisions.option[depth], decisions.options[depth] - 1
    for k in range((last + 1) // 2):
        option[k], option[last - k] = option[last - k], option[k]


@jit
def decide(decisions, scene, root, rank, may_push):
    """Decide for an agent, and for all whom it pushes (Alg. 1): 1 if it gets a cell that was listed, 0 if it stays.

    It stays undecided if its own cell is another's next one. Where `rank` answers otherwise, so does this, and nothing
    is decided. Agents that were pushed in vain stay where they are; they stand in the trail before counts.movers, those
    in the chain that succeeded behind it. Mutates: decisions, and what `rank` does.
    """
    cells, occupant, counts = scene.agents.cell, scene.occupant, decisions.counts[0]
    chain, decided, taken, target = decisions.chain, decisions.decided, decisions.taken, decisions.target
    begun = counts.decided
    depth = 0
    _join(decisions, depth, root)
    while depth >= 0:
        agent = chain[depth]
        here = cells[agent]
        if decisions.tried[depth] == decisions.options[depth]:
            decisions.tried[depth] = decisions.options[depth] = 0
            answer = rank(scene, decisions, depth)
            decisions.asked[depth] += 1
            if answer < 0:
                for k in range(depth):
                    _release(decisions, chain[k])
                undo(decisions, begun, counts.decided)
                return answer
            if decisions.options[depth] == 0:           # it stays, and the one that pushed it tries another cell
                if depth > 0 or taken[here] == NO_AGENT:
                    fix(decisions, agent, here)
                depth -= 1
                if depth >= 0:
                    decided[chain[depth]] = False
                continue
        there = decisions.option[depth, decisions.tried[depth]]
        decisions.tried[depth] += 1
        if taken[there] != NO_AGENT:
            continue
        other = occupant[there]
        is_pushing = other != NO_AGENT and other != agent and not decided[other]
        if is_pushing and not may_push(scene, root, other):
            continue
        if other != NO_AGENT and decided[other] and target[other] == here:
            continue                                    # the two would exchange cells
        decided[agent] = True
        target[agent] = there
        taken[there] = agent
        if is_pushing:
            depth += 1
            _join(decisions, depth, other)
            continue
        counts.movers = counts.decided
        for k in range(depth + 1):
            decisions.trail[counts.decided] = chain[k]
            counts.decided += 1
        for k in range(depth, -1, -1):
            follower, left = decisions.partner[k], cells[chain[k]]
            if follower != NO_AGENT and not decided[follower] and taken[left] == NO_AGENT:
                fix(decisions, follower, left)
        return 1
    return 0


@jit
def may_push_any(scene, root, other):  # noqa: ARG001
    """Whom an agent may push, for callers that let it push all: whoever's next cell is not fixed."""
    return True


@jit
def _join(decisions, depth, agent):
    """Let an agent be the next one in the chain. Mutates: decisions."""
    decisions.chain[depth], decisions.partner[depth] = agent, NO_AGENT
    decisions.asked[depth] = decisions.options[depth] = decisions.tried[depth] = 0


@jit
def should_swap(scene, far, pusher, behind, other, ahead):
    """Whether two agents in a corridor have to exchange places, and can: 1, 0, or a negative answer of `far`.

    `pusher` on `behind` wants past `other` on `ahead`. To see what is going to happen if the first of the two goes a
    step further, ask as if both had made that step. `far(scene, agent, cell)` is the distance from a cell to an agent's
    goal. Mutates: what `far` does.
    """
    answer = _must_swap(scene, far, pusher, behind, other, ahead)
    if answer != 1:
        return answer
    return 1 if _can_swap(scene, pusher, behind, ahead) else 0


@jit
def _onward(scene, pusher, cell, back):
    """The one cell that leads on from a cell if `back` is behind; NO_CELL in a dead end, _CHOICE if there are more."""
    moves, offset, occupant = scene.tables.moves, scene.tables.offset, scene.occupant
    onward = NO_CELL
    for d in range(8):
        if not moves[cell] >> d & 1:
            continue
        beside = cell + offset[d]
        if beside == back:
            continue
        exits = moves[beside]
        if exits & (exits - 1) == 0 and occupant[beside] != NO_AGENT and occupant[beside] != pusher:
            continue
        if onward != NO_CELL:
            return _CHOICE
        onward = beside
    return onward


@jit
def _must_swap(scene, far, pusher, behind, other, ahead):
    """Whether the two can only go on if they exchange places. Mutates: what `far` does.

    Follow the corridor until it ends or branches, and see who wants to be where.
    """
    while True:
        pusher_behind, pusher_ahead = far(scene, pusher, behind), far(scene, pusher, ahead)
        if pusher_behind < 0 or pusher_ahead < 0:
            return min(pusher_behind, pusher_ahead)
        if pusher_ahead >= pusher_behind:
            break
        onward = _onward(scene, pusher, ahead, behind)
        if onward == _CHOICE:
            return 0
        if onward == NO_CELL:
            break
        behind, ahead = ahead, onward
    other_behind, other_ahead = far(scene, other, behind), far(scene, other, ahead)
    if other_behind < 0 or other_ahead < 0:
        return min(other_behind, other_ahead)
    return 1 if other_behind < other_ahead and (pusher_behind == 0 or pusher_ahead < pusher_behind) else 0


@jit
def _can_swap(scene, pusher, behind, ahead):
    """Whether the corridor branches somewhere behind, so that two agents can exchange places there."""
    first = behind
    while True:
        onward = _onward(scene, pusher, behind, ahead)
        if onward == _CHOICE:
            return True
        if onward == NO_CELL or onward == first:
            return False
        ahead, behind = behind, onward
