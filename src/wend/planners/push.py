# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""The push: one step of an agent that is stuck, and of all whom it has to move out of its way.

Okumura, Machida, Defago, Tamura: Priority Inheritance with Backtracking for Iterative Multi-agent Path Finding.
Artificial Intelligence 310, 2022. An agent takes the cell that is nearest to its goal; if somebody stands there, that
one moves first, in the same way, and if it cannot, the next best cell is tried. Weave (windowed/whca.py) does this
for single agents, in the midst of others that follow their plans.

    paper                                  here
    PIBT, Algorithm 1                      find_push; the recursion is a stack
    candidates, sorted by distance         list_options
    swap required, swap possible           must_swap, can_swap (Okumura: Improving LaCAM, IJCAI 2023)

Deviations
- Only agents that are younger than the one at the root are pushed: those that left their homes later, or stay there.
- The one at the root does not stay: where that is its best cell there is no push.
- Agents that the program moves, and pinned ones on their goals, are not pushed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, NO_CELL, jit, scramble
from wend.search.reverse_resumable import distance

STABLE_TICKS = 8        # an agent that stayed on its goal for so long has arrived for good


class Push(NamedTuple):
    """Who has been given its next step in this tick, and the push at hand."""

    fixed: np.ndarray       # bool[agents]      has been given its next step in this tick, and keeps it
    taken: np.ndarray       # int32[cells]      agent that is given this cell in this tick, or NO_AGENT
    claimed: np.ndarray     # int32[agents]     the cells that are in `taken`
    moved: np.ndarray       # int32[agents]     who was decided by the push at hand,
    target: np.ndarray      # int32[agents]     ... and where it goes
    option: np.ndarray      # int32[depth, 9]   the choices of each of them, best first
    option_key: np.ndarray  # int64[depth, 9]   ... and by what they are ordered
    options: np.ndarray     # int32[depth]      how many there are,
    tried: np.ndarray       # int32[depth]      ... and how many were tried; -1 when they are not listed yet
    boxed_in: np.ndarray    # int64[agents]     the last push in which there was no place for it
    tally: np.ndarray       # int64[4]          see below


# Push.tally holds
_CLAIMED = 0    # cells that are claimed
_MOVED = 1      # agents that the push at hand moves
_FOLLOWER = 2   # agent that changes places with the one that pushes, or NO_AGENT
_SERIAL = 3     # number of the push at hand


def make_push(agents: int, cells: int) -> Push:
    """Nothing is decided yet."""
    ints = np.zeros((5, agents + 1), np.int32)
    return Push(
        np.zeros(agents, np.bool_), np.full(cells, NO_AGENT, np.int32), ints[0], ints[1], ints[2],
        np.zeros((agents + 1, 9), np.int32), np.zeros((agents + 1, 9), np.int64), ints[3], ints[4],
        np.zeros(agents, np.int64), np.zeros(4, np.int64),
    )  # fmt: skip


@jit
def begin_pushes(push):
    """Forget what was decided in the last tick. Mutates: push."""
    for k in range(push.tally[_CLAIMED]):
        push.taken[push.claimed[k]] = NO_AGENT
    push.tally[_CLAIMED] = 0
    push.fixed[:] = False


@jit
def pushed(push):
    """How many agents the last push moves."""
    return push.tally[_MOVED]


@jit
def list_options(tables, agents, occupant, push, reverse, search, tick, seed, agent, depth):
    """Sort an agent's next cells by their distance to its goal; return 0, or as `distance` does.

    Mutates: push, reverse.
    """
    here = agents.cell[agent]
    count = 0
    for d in range(9):                                          # the ninth is to stay
        if d < 8 and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d < 8 else here
        far = distance(tables, reverse, search, there)
        if far < 0:
            return far
        busy = occupant[there] != NO_AGENT and occupant[there] != agent
        key = (far << 1 | busy) << 8 | (scramble(seed ^ scramble(tick * 9 + d) ^ agent) & 255)
        k = count
        while k > 0 and push.option_key[depth, k - 1] > key:
            push.option_key[depth, k], push.option[depth, k] = push.option_key[depth, k - 1], push.option[depth, k - 1]
            k -= 1
        push.option_key[depth, k], push.option[depth, k] = key, there
        count += 1
    push.options[depth] = count
    return 0


@jit
def way_on(tables, occupant, pusher, cell, back):
    """The one cell that leads on from a cell when `back` is behind: NO_CELL in a dead end, -2 where there is a choice.

    A dead end of one cell leads nowhere if there is an agent in it, other than the one that pushes and so leaves it.
    """
    onward = NO_CELL
    for d in range(8):
        if not tables.moves[cell] >> d & 1:
            continue
        beside = cell + tables.offset[d]
        if beside == back:
            continue
        exits = tables.moves[beside]
        if exits & (exits - 1) == 0 and occupant[beside] != NO_AGENT and occupant[beside] != pusher:
            continue
        if onward != NO_CELL:
            return -2
        onward = beside
    return onward


@jit
def must_swap(tables, occupant, reverse, search_of, pusher, behind, other, ahead):
    """Whether two agents in a corridor can only go on if they change places: 1, 0, or as `distance` answers.

    `pusher` stands on `behind` and wants past `other` on `ahead`. Follow the corridor until it ends or branches, and
    see who wants to be where. Mutates: reverse.
    """
    while True:
        far_behind = distance(tables, reverse, search_of[pusher], behind)
        far_ahead = distance(tables, reverse, search_of[pusher], ahead)
        if far_behind < 0 or far_ahead < 0:
            return min(far_behind, far_ahead)
        if far_ahead >= far_behind:
            break
        onward = way_on(tables, occupant, pusher, ahead, behind)
        if onward == -2:
            return 0
        if onward == NO_CELL:
            break
        behind, ahead = ahead, onward
    others_behind = distance(tables, reverse, search_of[other], behind)
    others_ahead = distance(tables, reverse, search_of[other], ahead)
    if others_behind < 0 or others_ahead < 0:
        return min(others_behind, others_ahead)
    return 1 if others_behind < others_ahead and (far_behind == 0 or far_ahead < far_behind) else 0


@jit
def can_swap(tables, occupant, pusher, behind, ahead):
    """Whether the corridor branches somewhere behind, so that two agents can change places there."""
    first = behind
    while True:
        onward = way_on(tables, occupant, pusher, behind, ahead)
        if onward == -2:
            return True
        if onward == NO_CELL or onward == first:
            return False
        ahead, behind = behind, onward


@jit
def turn_round(tables, agents, occupant, push, reverse, search_of, agent, depth):
    """Let an agent prefer to go back, if it must change places with the one ahead, or would block its pusher.

    Returns 1 if it does because of the one ahead, which is then to follow it; 0 if not, or as `distance` does.
    Mutates: push, reverse.
    """
    here, ahead = agents.cell[agent], push.option[depth, 0]
    other = occupant[ahead]
    answer = 0
    follows = False
    if depth == 0 and ahead != here and other != NO_AGENT and agents.controlled[other]:
        answer = must_swap(tables, occupant, reverse, search_of, agent, here, other, ahead)
        follows = answer == 1 and can_swap(tables, occupant, agent, here, ahead)
    elif depth > 0 and ahead != here:
        pusher = push.moved[depth - 1]
        answer = must_swap(tables, occupant, reverse, search_of, pusher, here, agent, ahead)
        if answer == 1:
            answer = int(can_swap(tables, occupant, pusher, here, ahead))
    if answer < 0:
        return answer
    if follows or (depth > 0 and answer == 1):
        count = push.options[depth]
        for k in range(count // 2):
            last = count - 1 - k
            push.option[depth, k], push.option[depth, last] = push.option[depth, last], push.option[depth, k]
    return int(follows)


@jit
def in_the_way(agents, occupant, plans, push, next_cell, agent, there, root):
    """The agent that must be pushed if `agent` is to go there, NO_AGENT if none, or -2 if it cannot go there."""
    here, other = agents.cell[agent], occupant[there]
    if push.taken[there] != NO_AGENT:
        return -2
    if other == NO_AGENT or other == agent:
        return NO_AGENT
    if push.fixed[other]:                                       # it leaves, or the cell would be taken
        return -2 if push.taken[here] == other else NO_AGENT
    if not agents.controlled[other]:
        return -2 if next_cell[other] == there or next_cell[other] == here else NO_AGENT
    if agents.pinned[other] and agents.cell[other] == agents.goal[other]:
        return -2
    if push.boxed_in[other] == push.tally[_SERIAL]:
        return -2
    is_older = plans.left_home[other] < plans.left_home[root] and plans.home_ticks[other] < STABLE_TICKS
    return -2 if is_older else other


@jit
def follow(agents, push, root):
    """Let the one that the root changes places with follow it into the cell that it leaves. Mutates: push."""
    other, left = push.tally[_FOLLOWER], agents.cell[root]
    if other != NO_AGENT and not push.fixed[other] and push.taken[left] == NO_AGENT and push.target[0] != left:
        last = push.tally[_MOVED]
        push.moved[last], push.target[last] = other, left
        push.taken[left] = other
        push.fixed[other] = True
        push.tally[_MOVED] += 1


@jit
def find_push(tables, agents, occupant, plans, push, reverse, search_of, tick, seed, next_cell, root):
    """One step of PIBT for `root`, depth first: whoever is pushed takes its best free cell, or pushes the next one.

    Answers 1 if everybody found a place (push.moved and push.target tell who goes where), 0 if not, or as `distance`
    does. Mutates: push, reverse.
    """
    depth = 0
    push.tally[_SERIAL] += 1
    push.moved[0] = root
    push.tried[0] = -1                                          # its options are not listed yet
    while depth >= 0:
        agent = push.moved[depth]
        if push.tried[depth] == -1:
            answer = list_options(tables, agents, occupant, push, reverse, search_of[agent], tick, seed, agent, depth)
            if answer >= 0:
                best = push.option[depth, 0]
                answer = turn_round(tables, agents, occupant, push, reverse, search_of, agent, depth)
                if depth == 0:
                    push.tally[_FOLLOWER] = occupant[best] if answer == 1 else NO_AGENT
            if answer < 0:
                while depth > 0:                                # undo, to be asked again
                    depth -= 1
                    push.taken[push.target[depth]] = NO_AGENT
                    push.fixed[push.moved[depth]] = False
                return answer
            push.tried[depth] = 0
        pushing = -2
        while pushing == -2 and push.tried[depth] < push.options[depth]:
            there = push.option[depth, push.tried[depth]]
            push.tried[depth] += 1
            pushing = in_the_way(agents, occupant, plans, push, next_cell, agent, there, root)
        if pushing == -2:                                       # no place for it: the one before tries its next cell
            push.boxed_in[agent] = push.tally[_SERIAL]          # and nobody asks it again
            depth -= 1
            if depth >= 0:
                push.taken[push.target[depth]] = NO_AGENT
                push.fixed[push.moved[depth]] = False
            continue
        if depth == 0 and there == agents.cell[agent]:          # nothing better than to stay: that is no push
            return 0
        push.target[depth] = there
        push.taken[there] = agent
        push.fixed[agent] = True
        if pushing == NO_AGENT:
            push.tally[_MOVED] = depth + 1
            follow(agents, push, root)
            return 1
        depth += 1
        push.moved[depth] = pushing
        push.tried[depth] = -1
    return 0


@jit
def claim(push, agent, cell):
    """Give a cell to an agent for this tick. Mutates: push."""
    push.taken[cell] = agent
    push.claimed[push.tally[_CLAIMED]] = cell
    push.tally[_CLAIMED] += 1
