# mypy: disallow-untyped-calls=False
"""MAPP from start to end: progression and repositioning in turn, and rounds of them, until no more units get home.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), Algorithm 1. A round is what the paper does; that there are several
is ours (see mapp.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_CELL, OUT_OF_SPACE
from wend.kernel.arrays import ahead, allocate, grown
from wend.planners.base import Budget
from wend.planners.mapp.crowd import Stage, make_crowd, make_log
from wend.planners.mapp.making_room import make_room
from wend.planners.mapp.parameters import MappParameters
from wend.planners.mapp.repositioning import Undoing, by_counting, by_reversing, minimally
from wend.planners.mapp.slidable import Instance, Pathfinder, Prospects
from wend.planners.mapp.sliding import make_step, promote

_FRUITLESS_ROUNDS = 3       # rounds that bring no more units home, after which nothing more is tried


@dataclass
class Solution:
    """The moves of a plan, one after the other, and what there is to know about them."""

    unit: NDArray[np.int32]
    to: NDArray[np.int32]
    first: Prospects            # the paths and verdicts of the first round
    home: int                   # units at their goals in the end
    broken: int                 # units that are not, though they were provable
    counters: dict[str, int]


@dataclass
class _Round:
    """The moves of one round, and where they lead."""

    unit: NDArray[np.int32]
    to: NDArray[np.int32]
    cells: NDArray[np.int32]    # where each unit stands in the end
    counters: dict[str, int]


def own_goals(starts: NDArray[np.int32], goals: NDArray[np.int32]) -> NDArray[np.int32]:
    """The goals, with NO_CELL for units whose goal is another's: the unit that stands there has it, else the first."""
    order = np.lexsort((np.arange(goals.size), starts != goals))
    _, first = np.unique(goals[order], return_index=True)
    own = np.full(goals.size, NO_CELL, np.int32)
    own[order[first]] = goals[order[first]]
    return own


def solve(parameters: MappParameters, pathfinder: Pathfinder, instance: Instance, budget: Budget) -> Solution:
    """Find the moves, one after the other, that bring the units from their starts to their goals."""
    with pathfinder.alternates.lock:
        solution = _play_rounds(parameters, pathfinder, instance, budget)
        if solution.broken:
            path_moves = solution.counters["path_moves"]        # of all units
            solution = _play_rounds(parameters, pathfinder, instance, budget, provable_first=True)
            solution.counters["path_moves"] = path_moves
        if solution.broken:
            raise AssertionError(f"{solution.broken} units were promised to arrive and did not: please report this")
        if parameters.alternates_folder:
            pathfinder.alternates.keep_in(parameters.alternates_folder)
    return solution


def look_ahead(
    parameters: MappParameters, pathfinder: Pathfinder, instance: Instance, *, only_provable: bool = False
) -> Prospects:
    """Find the path of every unit, and say which are promised to arrive."""
    with pathfinder.alternates.lock:
        return pathfinder.find_paths(
            instance, target_isolation=parameters.target_isolation,
            alternate_connectivity=parameters.alternate_connectivity, initial_blank=parameters.initial_blank,
            only_provable=only_provable,
        )  # fmt: skip


def _play_rounds(
    parameters: MappParameters,
    pathfinder: Pathfinder,
    instance: Instance,
    budget: Budget,
    *,
    provable_first: bool = False,
) -> Solution:
    """Rounds as long as they bring more units home; with `provable_first`, only the provable move in the first."""
    cells, goals, obstacles = instance
    rounds: list[_Round] = []
    first, best, kept = None, (0, 0), 0     # the first round's prospects; the best end so far, and its number of rounds
    seen = {cells.tobytes()}
    upcoming, room_made = [goals], 0        # what is aimed at in the next rounds; `kept` when room was last made
    while upcoming and len(rounds) < parameters.rounds + provable_first:
        aims = Instance(cells, upcoming.pop(0), obstacles)
        alone = not parameters.attempt_all or (provable_first and not rounds)
        before = pathfinder.expansions
        prospects = look_ahead(parameters, pathfinder, aims, only_provable=alone)
        budget.spend(pathfinder.expansions - before)
        first = first or prospects
        rounds.append(_play(parameters, pathfinder, prospects, aims))
        cells = rounds[-1].cells
        home = cells == goals
        reached = -int((first.provable & ~home).sum()), int(home.sum())
        if kept == 0 or reached > best:
            best, kept = reached, len(rounds)
        if home.all() or not parameters.attempt_all:
            break
        if not upcoming:
            if cells.tobytes() not in seen and len(rounds) < kept + _FRUITLESS_ROUNDS:
                upcoming = [goals]
            elif room_made != kept:
                room_made = kept
                left = Instance(cells, goals, obstacles)
                paths = look_ahead(parameters, pathfinder, left).paths
                upcoming = make_room(pathfinder.alternates.grid, paths, left)
        seen.add(cells.tobytes())
    assert first is not None
    counters = {name: sum(played.counters[name] for played in rounds[:kept]) for name in rounds[0].counters}
    for name in ("alternates_searched", "alternates_reused"):
        counters[name] = sum(played.counters[name] for played in rounds)
    counters["rounds"] = kept
    counters["path_moves"] = int(np.maximum(np.diff(first.paths.begin) - 1, 0).sum())
    counters["provable"] = int(first.provable.sum())
    unit, to = (np.concatenate([getattr(played, name) for played in rounds[:kept]]) for name in ("unit", "to"))
    return Solution(unit, to, first, best[1], -best[0], counters)


def _play(parameters: MappParameters, pathfinder: Pathfinder, prospects: Prospects, instance: Instance) -> _Round:
    """Algorithm 1, l. 5-8: progression and repositioning in turn, while they bring units home."""
    known, units = pathfinder.alternates, instance.starts.size
    tables, cells = known.grid.tables, known.grid.size
    crowd, goals = make_crowd(prospects, instance, cells), instance.goals
    stage = Stage(tables, known.alternates, prospects.paths, crowd, make_log(cells, units))
    undoing = allocate(Undoing, units=units, cells=cells)
    counts, undone = crowd.counts[0], 0
    until_stopped = parameters.turn == "until-stopped"
    seen: set[bytes] = set()
    while True:
        solved = int(counts.solved)
        while make_step(stage, until_stopped, parameters.inline_return) == OUT_OF_SPACE:
            stage = with_longer_log(stage, int(counts.moves) + cells, int(counts.guests) + cells)
        active = ~crowd.solved
        if not (active & (crowd.cell != goals)).any():
            break
        got_on = counts.solved > solved
        if not got_on and not (active & crowd.slidable).any():
            break
        if got_on:
            seen.clear()
        stage = reposition(parameters, stage, undoing)
        undone += int(counts.moves - counts.step_ended)
        if parameters.later_provable:
            promote(stage.paths, crowd)
        state = crowd.cell.tobytes()
        if state in seen:
            break
        seen.add(state)
    moves = int(counts.moves)
    return _Round(stage.log.unit[:moves].copy(), stage.log.to[:moves].copy(), crowd.cell, {
        "alternates_searched": int(known.alternates.counts[0].searched),
        "alternates_reused": int(known.alternates.counts[0].reused),
        "total_moves": moves, "undo_moves": undone,
        "push_moves": int(counts.pushes), "progressions": int(counts.step),
    })  # fmt: skip


def with_longer_log(stage: Stage, moves: int, guests: int = 0) -> Stage:
    """The same stage with a log for so many moves and guests."""
    log = stage.log
    return stage._replace(log=grown(log, moves=ahead(log.to.size, moves), guests=ahead(log.guest.size, guests)))


def reposition(parameters: MappParameters, stage: Stage, undoing: Undoing) -> Stage:
    """Undo moves until all units are well positioned; the same stage, its log perhaps longer."""
    counts = stage.crowd.counts[0]
    stage = with_longer_log(stage, int(2 * counts.step_ended - counts.step_began) + 1)
    done = parameters.minimal_rollback and minimally(stage, undoing)
    done = done or (parameters.counting and by_counting(stage, undoing))
    if not done and not by_reversing(stage):
        raise AssertionError("a repositioning step did not end well positioned: please report this")
    return stage
