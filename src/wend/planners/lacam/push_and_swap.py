# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Push and Swap: a plan for all units where a search over configurations finds none.

Luna, Bekris: Push and Swap: Fast Cooperative Path-Finding with Completeness Guarantees (IJCAI 2011), with what de
Wilde, ter Mors and Witteveen say of it (Push and Rotate, JAIR 2014). It never searches over configurations. Units go
home one after the other, each along a shortest path, and those that are home are home in the end.

    paper                                       here
    Algorithm 1, the units in turn              push_home
    PUSH: make the next cell free               _push
    SWAP: exchange places with the unit there   _swap; for each cell that branches, the nearest first, _swap_at:
    MULTIPUSH: both go there                    ... _lead
    CLEAR: two cells beside it are made free    ... _exchange
    EXECUTESWAP, and all moves back             ... _exchange, _swap_at
    RESOLVE: those swapped away go back         _resolve
    (ours: moves at the same time)              plan_of

A unit pushes units that are not home yet out of its way: the cells from there to the nearest empty one move up by one.
With a unit that is home, or one that cannot be pushed, it swaps: both go to a cell with three others beside it, two of
which are cleared; there they exchange places; then all that was done for it is done backwards, so that nobody else has
moved. The unit that was home goes back as soon as the other one has gone on.

Moves are written down one after the other. `plan_of` then lets each of them happen as early as it can: when its unit
has made its move before, and when the unit before it has left the cell. So the plan is legal at any tick, and takes
much less time than it has moves.

Deviations
- Who is home from the start counts as done: where few are left, few are moved. Of the others, the one with the longest
  way is next. It mostly goes deepest into a crowd of goals, where those that come later need not pass it.
- CLEAR tries the first two of the paper's four cases, at up to `_MOST_TRIED` cells. So this is not complete where
  hardly any cell is empty.
- A step that takes more than a tick's whole budget is not made.
- Where a unit gets no further, those that it has moved from their goals are to go home like all others; a round in
  which nobody else gets home is the last.

Work: O(cells) for each push, and for each cell that is tried for a swap; far less where empty cells are near.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.allowance import Allowance, allow, spend
from wend.kernel.arrays import allocate, flags, int32, record
from wend.maps.terrain import GridTables

_MOST_MOVES = 1 << 18           # of a plan
_MOST_TRIED = 64                # cells that branch, for one swap
_CELLS_PER_EXPANSION = 16       # that a flood comes to: they take as long as one expansion of A*
_WALL = 2**31 - 1               # `shut` for good
_TOO_LONG = OUT_OF_SPACE - 1    # there are more moves than a plan may have


class Flood(NamedTuple):
    """A breadth-first search over cells."""

    mark: Annotated[np.ndarray, int32("cells")]         # the number of the last flood that came here,
    came: Annotated[np.ndarray, int32("cells")]         # ... and from which cell
    queue: Annotated[np.ndarray, int32("cells")]
    counts: Annotated[np.ndarray, record("number", "head", "tail")]


class Pushing(NamedTuple):
    """A plan in the making: where all units are after the moves so far, and these moves."""

    tables: GridTables
    goal: np.ndarray        # int32[units]
    cell: Annotated[np.ndarray, int32("units")]
    occupant: Annotated[np.ndarray, int32("cells", fill=NO_AGENT)]
    is_home: Annotated[np.ndarray, flags("units")]      # it is, or is swapped away for a moment, or it is its turn
    has_failed: Annotated[np.ndarray, flags("units")]   # it got no further in this round
    mover: Annotated[np.ndarray, int32("moves")]        # the unit that makes each move,
    origin: Annotated[np.ndarray, int32("moves")]       # ... from where,
    target: Annotated[np.ndarray, int32("moves")]       # ... and whereto
    away: Annotated[np.ndarray, int32("units")]         # units that were swapped away from their goals, the last last
    shut: Annotated[np.ndarray, int32("cells")]         # the last search for which nobody may be moved there
    pushed: Flood           # from a cell that is to be emptied
    met: Flood              # from two units that are to swap
    path: Annotated[np.ndarray, int32("cells")]
    allowance: Allowance
    counts: Annotated[
        np.ndarray,
        record(
            "moves",
            "searches",
            "away",
            "unit",         # whose turn it is, or NO_AGENT
            "home",         # units that got home in this round
        ),
    ]

    def lengths_in_use(self) -> dict[str, int]:
        """How many of the moves a snapshot has to hold."""
        return {"moves": int(self.counts[0].moves)}


@jit
def _begin(flood):
    """Begin a flood. Mutates: flood."""
    counts = flood.counts[0]
    counts.number += 1
    counts.head = counts.tail = 0


@jit
def _reach(flood, cell, before):
    """Let a flood come to a cell from another one, unless it has been there. Mutates: flood."""
    counts = flood.counts[0]
    if flood.mark[cell] != counts.number:
        flood.mark[cell], flood.came[cell] = counts.number, before
        flood.queue[counts.tail] = cell
        counts.tail += 1


@jit
def _move(pushing, unit, cell):
    """Let a unit go to an empty cell beside it. Mutates: pushing."""
    counts, here = pushing.counts[0], pushing.cell[unit]
    pushing.mover[counts.moves], pushing.origin[counts.moves], pushing.target[counts.moves] = unit, here, cell
    counts.moves += 1
    pushing.occupant[here], pushing.occupant[cell], pushing.cell[unit] = NO_AGENT, unit, cell


@jit
def _undo(pushing, moves):
    """Forget all moves but the first. Mutates: pushing."""
    counts = pushing.counts[0]
    while counts.moves > moves:
        counts.moves -= 1
        unit, here = pushing.mover[counts.moves], pushing.origin[counts.moves]
        pushing.occupant[pushing.target[counts.moves]], pushing.occupant[here] = NO_AGENT, unit
        pushing.cell[unit] = here


@jit
def _shut_for(pushing, first, second):
    """Begin a search in which nobody may be moved to two cells. Mutates: pushing."""
    counts = pushing.counts[0]
    counts.searches += 1
    pushing.shut[first] = pushing.shut[second] = counts.searches


@jit
def _push(pushing, cell, moves_all):
    """Empty a cell: 1 if that is possible, else 0; or OUT_OF_BUDGET or _TOO_LONG. Mutates: pushing.

    All from there to the nearest empty cell move up by one; unless it `moves_all`, units at home do not.
    """
    flood, moves, offset = pushing.pushed, pushing.tables.moves, pushing.tables.offset
    counts, searches = flood.counts[0], pushing.counts[0].searches
    if pushing.occupant[cell] == NO_AGENT:
        return 1
    _begin(flood)
    _reach(flood, cell, NO_CELL)
    answer = 0
    while counts.head < counts.tail:
        here = np.int64(flood.queue[counts.head])
        counts.head += 1
        if pushing.occupant[here] == NO_AGENT:
            answer = 1
            break
        for d in range(8):
            if moves[here] >> d & 1:
                beside = here + offset[d]
                other = pushing.occupant[beside]
                is_open = pushing.shut[beside] < searches
                if is_open and (moves_all or other == NO_AGENT or not pushing.is_home[other]):
                    _reach(flood, beside, here)
    if not spend(pushing.allowance, counts.tail // _CELLS_PER_EXPANSION + 1):
        return OUT_OF_BUDGET
    if answer == 1:
        while flood.came[here] != NO_CELL:
            if pushing.counts[0].moves == pushing.mover.size:
                return _TOO_LONG
            before = np.int64(flood.came[here])
            _move(pushing, pushing.occupant[before], here)
            here = before
    return answer


@jit
def _swap(pushing, first, second):
    """Let two units that stand side by side exchange places: 1 if they can, else 0; or a reason. Mutates: pushing."""
    flood, tables, cells = pushing.met, pushing.tables, pushing.cell
    counts, begun = flood.counts[0], pushing.counts[0].moves
    _begin(flood)
    _reach(flood, cells[first], NO_CELL)
    _reach(flood, cells[second], NO_CELL)
    tried = 0
    while counts.head < counts.tail and tried < _MOST_TRIED:
        here = np.int64(flood.queue[counts.head])
        counts.head += 1
        branches = 0
        for d in range(8):
            beside = here + tables.offset[d]
            if tables.moves[here] >> d & 1 and pushing.shut[beside] != _WALL:
                branches += 1
                _reach(flood, beside, here)
        if branches < 3:
            continue
        tried += 1
        answer = _swap_at(pushing, here, first, second)
        if answer == 1:
            return 1
        _undo(pushing, begun)
        if answer < 0:
            return answer
    return 0


@jit
def _swap_at(pushing, branching, first, second):
    """Let two units exchange places at a cell that branches: 1, 0 or a reason. Mutates: pushing."""
    path, came, counts, cells = pushing.path, pushing.met.came, pushing.counts[0], pushing.cell
    length, at, begun = 0, np.int64(branching), counts.moves
    while at != NO_CELL:                                                # the way there, and who is first on it
        path[length] = at
        length += 1
        at = np.int64(came[at])
    leader, follower = (first, second) if path[length - 1] == cells[first] else (second, first)
    answer = _lead(pushing, leader, follower, length)
    if answer == 1:
        answer = _exchange(pushing, leader, follower)
    if answer != 1:
        return answer
    done = counts.moves - 6
    if counts.moves + done - begun > pushing.mover.size:
        return _TOO_LONG
    for k in range(done - 1, begun - 1, -1):                            # all moves back, the two in each other's place
        unit = pushing.mover[k]
        unit = follower if unit == leader else leader if unit == follower else unit
        _move(pushing, unit, pushing.origin[k])
    return 1


@jit
def _lead(pushing, leader, follower, length):
    """Bring two units along `path`, which is written backwards: 1, 0 or a reason. Mutates: pushing."""
    for k in range(length - 2, -1, -1):
        here, there = pushing.cell[leader], pushing.path[k]
        _shut_for(pushing, here, pushing.cell[follower])
        answer = _push(pushing, there, True)
        if answer != 1:
            return answer
        if pushing.counts[0].moves + 2 > pushing.mover.size:
            return _TOO_LONG
        _move(pushing, leader, there)
        _move(pushing, follower, here)
    return 1


@jit
def _exchange(pushing, leader, follower):
    """Let two units exchange places, the first of them where it branches: 1, 0 or a reason. Mutates: pushing."""
    here, behind, tables = np.int64(pushing.cell[leader]), pushing.cell[follower], pushing.tables
    counts = pushing.counts[0]
    _shut_for(pushing, here, behind)
    one = NO_CELL
    for d in range(8):
        beside = here + tables.offset[d]
        if not tables.moves[here] >> d & 1 or beside == behind or pushing.shut[beside] == _WALL:
            continue
        begun = counts.moves
        answer = _push(pushing, beside, True)
        if answer == 0 and one != NO_CELL:              # it may go where the first one was cleared
            pushing.shut[one] = 0
            answer = _push(pushing, beside, True)
            pushing.shut[beside] = counts.searches
            if answer == 1:
                answer = _push(pushing, one, True)
            pushing.shut[one] = counts.searches
        if answer < 0:
            return answer
        if answer == 0:
            _undo(pushing, begun)
            pushing.shut[beside] = 0
            continue
        pushing.shut[beside] = counts.searches
        if one == NO_CELL:
            one = beside
            continue
        if counts.moves + 6 > pushing.mover.size:
            return _TOO_LONG
        _move(pushing, leader, one)
        _move(pushing, follower, here)
        _move(pushing, follower, beside)
        _move(pushing, leader, here)
        _move(pushing, leader, behind)
        _move(pushing, follower, here)
        return 1
    return 0


@jit
def _enter(pushing, unit, cell):
    """Bring a unit to the cell beside it, whoever stands there: 1, 0, or a reason. Mutates: pushing."""
    other, here = pushing.occupant[cell], pushing.cell[unit]
    if other != NO_AGENT:
        answer = 0
        if not pushing.is_home[other]:
            _shut_for(pushing, here, here)
            answer = _push(pushing, cell, False)
        if answer == 0:
            return _swap(pushing, unit, other)
        if answer < 0:
            return answer
    if pushing.counts[0].moves == pushing.mover.size:
        return _TOO_LONG
    _move(pushing, unit, cell)
    return 1


@jit
def _resolve(pushing):
    """Let units that were swapped away go home again, the last one first: 1, 0 or a reason. Mutates: pushing."""
    counts = pushing.counts[0]
    while counts.away > 0:
        unit = pushing.away[counts.away - 1]
        answer = _enter(pushing, unit, pushing.goal[unit])
        if answer != 1:
            return answer
        counts.away -= 1
    return 1


@jit
def _next_cell(pushing, instance, far, unit):
    """The cell beside a unit that is next on its way home, or a negative answer. Mutates: what `far` does."""
    tables, here = pushing.tables, np.int64(pushing.cell[unit])
    best, least = np.int64(UNREACHABLE), np.int64(far(instance, unit, here))
    if least < 0:
        return least
    least <<= 2
    for d in range(8):
        beside = here + tables.offset[d]
        if not tables.moves[here] >> d & 1 or pushing.shut[beside] == _WALL:
            continue
        cost, other = far(instance, unit, beside), pushing.occupant[beside]
        if cost < 0:
            return np.int64(cost)
        cost = np.int64(cost) << 2 | (0 if other == NO_AGENT else 2 if pushing.is_home[other] else 1)
        if cost < least:
            best, least = beside, cost
    return best


@jit
def _next_unit(pushing, instance, far):
    """Of the units that are not home and have not failed, the one with the longest way; or why it is not known.

    It is len(units) if there is none. Mutates: what `far` does.
    """
    next_unit, most = np.int64(pushing.cell.size), np.int64(-1)
    for unit in range(pushing.cell.size):
        if not pushing.is_home[unit] and not pushing.has_failed[unit]:
            cost = np.int64(far(instance, unit, pushing.cell[unit]))
            if cost == OUT_OF_BUDGET or cost == OUT_OF_SPACE:
                return cost
            if cost > most:
                next_unit, most = np.int64(unit), cost
    return next_unit


@jit
def _give_up(pushing, unit):
    """Let a unit that gets no further wait for the next round, and those that it has swapped away. Mutates: pushing."""
    counts = pushing.counts[0]
    pushing.has_failed[unit] = True
    pushing.is_home[unit] = False
    for k in range(counts.away):
        pushing.is_home[pushing.away[k]] = False
    counts.away, counts.unit = 0, NO_AGENT


@jit
def push_home(pushing, instance, far, expansions):
    """Go on with a plan within so many expansions: FOUND, or UNREACHABLE if it does not bring all home, or why not yet.

    `far(instance, unit, cell)` is how far it is to a unit's goal, or a negative answer. Mutates: pushing, and what
    `far` does.
    """
    allow(pushing.allowance, expansions)
    answer, spent = np.int64(0), pushing.allowance.counts[0].spent
    while answer == 0:
        answer = _take_turns(pushing, instance, far)
        if answer == 0:
            answer = _step(pushing, instance, far, spent)
    return np.int64(UNREACHABLE) if answer == _TOO_LONG else answer


@jit
def _take_turns(pushing, instance, far):
    """See to it that it is a unit's turn: 0, or what `push_home` is to answer. Mutates: pushing."""
    counts = pushing.counts[0]
    while counts.unit == NO_AGENT:
        unit = _next_unit(pushing, instance, far)
        if unit < 0:
            return unit
        if unit < pushing.cell.size:
            counts.unit = unit
            pushing.is_home[unit] = True
        elif pushing.is_home.all():
            return np.int64(FOUND)
        elif counts.home == 0:
            return np.int64(UNREACHABLE)
        else:
            pushing.has_failed[:] = False
            counts.home = 0
    return np.int64(0)


@jit
def _step(pushing, instance, far, spent):
    """Bring the unit whose turn it is a step further: 0, or why that has to wait. Mutates: pushing.

    What had been `spent` before this call of `push_home` tells a step for which the whole allowance is too small: there
    the unit gets no further.
    """
    counts, unit = pushing.counts[0], pushing.counts[0].unit
    if pushing.cell[unit] == pushing.goal[unit]:
        counts.unit = NO_AGENT
        counts.home += 1
        return np.int64(0)
    there = _next_cell(pushing, instance, far, unit)
    if there == UNREACHABLE:
        _give_up(pushing, unit)
        return np.int64(0)
    if there < 0:
        return there
    begun, away, other = counts.moves, counts.away, pushing.occupant[there]
    is_first = pushing.allowance.counts[0].spent == spent
    answer = np.int64(_enter(pushing, unit, there))
    if answer == 1 and other != NO_AGENT and pushing.is_home[other]:
        pushing.away[counts.away] = other
        counts.away += 1
    elif answer == 1:
        answer = np.int64(_resolve(pushing))
    if answer < 0:
        _undo(pushing, begun)
        counts.away = away
        if answer == OUT_OF_BUDGET and is_first:
            _give_up(pushing, unit)
        return answer
    if answer == 0:
        _give_up(pushing, unit)
    return np.int64(0)


@jit
def _time_moves(pushing, ready, left):
    """How many ticks the moves take if each is made as early as it can be. Mutates: ready, left, pushing.origin.

    The tick of each move is written to `origin`.
    """
    ticks = 0
    for k in range(pushing.counts[0].moves):
        unit, here, there = pushing.mover[k], pushing.origin[k], pushing.target[k]
        tick = max(ready[unit], left[there])
        left[here], ready[unit], pushing.origin[k] = tick, tick + 1, tick
        ticks = max(ticks, tick + 1)
    return ticks


@jit
def _write_ticks(pushing, plan):
    """Write where all units are at each tick; the first column has where they start. Mutates: plan."""
    for k in range(pushing.counts[0].moves):
        unit, tick = pushing.mover[k], pushing.origin[k]
        plan[unit, tick + 1] = pushing.target[k]
    for unit in range(plan.shape[0]):
        for tick in range(1, plan.shape[1]):
            if plan[unit, tick] == NO_CELL:
                plan[unit, tick] = plan[unit, tick - 1]


def make_pushing(
    tables: GridTables, starts: NDArray[np.int32], goals: NDArray[np.int32], others: NDArray[np.int32],
    allowance: Allowance,
) -> Pushing:  # fmt: skip
    """Units with these starts and goals, among agents on the cells `others` that do not move."""
    given = {"tables": tables, "goal": goals, "cell": starts.copy(), "is_home": starts == goals, "allowance": allowance}
    pushing = allocate(Pushing, given, units=starts.size, cells=tables.moves.size, moves=_MOST_MOVES)
    pushing.occupant[starts] = np.arange(starts.size)
    pushing.shut[others] = _WALL
    pushing.counts[0].unit = NO_AGENT
    return pushing


def plan_of(pushing: Pushing, starts: NDArray[np.int32]) -> NDArray[np.int32]:
    """The plan, int32[units, ticks + 1], once it is found: where each unit is at each tick."""
    ticks = int(_time_moves(pushing, np.zeros(starts.size, np.int32), np.zeros(pushing.tables.moves.size, np.int32)))
    plan = np.full((starts.size, ticks + 1), NO_CELL, np.int32)
    plan[:, 0] = starts
    _write_ticks(pushing, plan)
    return plan
