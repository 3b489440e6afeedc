# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""MAPP's paths, and which units are promised to arrive: the SLIDABLE conditions and their relaxations.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), sections 4, 5.2, 7.1 and 7.2.

    paper                                            here
    path computation (5.2), initial blank            find_path
    Def. 1: alternate connectivity, target isolation judge
    TI (7.1): the relation u << v, cycles            survey, _break_cycles
    AC (7.2): tunnels, buffer zones beta, tau        survey

    pi      the path of a unit, cells l_0 .. l_L
    Omega   the alternate path of a triple of pi (alternates.py)
    beta    cells behind the last tunnel, in which a unit that crosses tunnels needs tau blanks

A node of the path search is a cell with the move that led there, because whether a unit may go on depends on where it
comes from. Fewest tunnels count first, then fewest foreign targets crossed, then length.
The heuristic is the length of the way on the bare map, and the tunnels that no way can avoid (biconnected.py).

Deviations and open points
- The paper's heuristic is the Manhattan distance. Ours expands a fraction of the nodes.
- The paper has penalties of unsaid size; here they outweigh each other outright. Shortest paths are simple that way.
- A cell whose triples all have an alternate path without a target is closed as a whole when it is first expanded:
  where a unit comes from makes no difference there. The paper expands it once per parent.
- A triple whose alternate path crosses targets costs as many penalties. An edge costs one for each end that is a
  foreign target.
- A tunnel is a maximal run of triples without alternate path, which counts both its mouths already. The paper's tau is
  the length of the longest tunnel, + 2. That is too little where there are several: every step through any of them may
  push a unit into the buffer, and none comes back. Here tau is the number of all triples without alternate path.
- The last cell of the last tunnel, l_j, is not part of the buffer, though alternate paths behind it may touch it: that
  blank is the one that the unit itself will take.
- The paper takes units that are not slidable off the map. Here they stay, and one of them may stand on the target of a
  unit that is: such a unit is slidable, but not provable, as nobody can say when the other leaves. The same holds for
  units that stand on the target of such a one, and so on.
- Ours, on request (`initial_blank`): where the first cell of every path is occupied, a unit may wait for its usher, the
  unit that stands there, if that one is provable and leaves: usher << unit. What stands on the first cell at the
  beginning of a step is then the usher or nothing, and by the time that the unit is the master, nothing.
- Cycles of u << v are broken by dropping, in each strongly connected part, the unit with most neighbours in it, then
  the one with the longest path, then the largest index, and looking again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, UNREACHABLE, jit
from wend.maps.grid import Grid
from wend.planners.mapp import ladder as open_list
from wend.planners.mapp.alternates import (
    MISSING,
    NO_ROOM,
    OBSTACLE,
    TARGET,
    TOLL,
    AlternatePaths,
    Setting,
    alternate,
    is_clear,
)
from wend.planners.mapp.biconnected import count_changes
from wend.planners.mapp.ladder import Ladder, make_ladder
from wend.search.flood import count_moves

# What `find_path` answers instead of a length
NO_PATH = -1
ROOM_NEEDED = -2

_TUNNEL = np.int64(2**32)       # penalties: a tunnel outweighs every number of targets, a target every length
_START_WAY = 4
_ANY_LENGTH = 2**30     # of paths: everywhere is near enough

_Path = tuple[NDArray[np.int32], NDArray[np.int32]]     # pi and Omega

# Why a unit is not promised to arrive
PROVABLE, SHARED_TARGET, INITIAL_BLANK, ALTERNATES, ISOLATION, WALLED_IN, CYCLE, BUFFER, NO_WAY, OCCUPIED = range(10)


class PairSearch(NamedTuple):
    """The workspace of the path search. Node cell * 4 + d: the cell, reached by a move in direction d."""

    ladder: Ladder
    state: np.ndarray   # int32[4 * cells]  2 * search: reached, 2 * search + 1: closed
    shut: np.ndarray    # int32[cells]      the search in which the cell was closed for all directions
    g: np.ndarray       # int32[4 * cells]  moves from the start
    penalty: np.ndarray # int64[4 * cells]  tunnels << 32 | targets
    came: np.ndarray    # uint8[4 * cells]  direction of the move before, _START_WAY at the start
    far: np.ndarray     # int32[cells]      moves to the goal, or UNREACHABLE
    queue: np.ndarray   # int32[cells]
    path: np.ndarray    # int32[cells]      the path that was found, and ...
    around: np.ndarray  # int32[cells]      ... its alternate paths
    tally: np.ndarray   # int64[2]          number of this search, nodes expanded by all


def make_pair_search(grid: Grid) -> PairSearch:
    """A workspace for maps of this size."""
    cells = grid.size
    return PairSearch(
        make_ladder(12 * cells + 5, 2 * cells + grid.width + grid.height), np.zeros(4 * cells, np.int32),
        np.zeros(cells, np.int32), np.empty(4 * cells, np.int32), np.empty(4 * cells, np.int64),
        np.empty(4 * cells, np.uint8), np.empty(cells, np.int32), np.empty(cells, np.int32), np.empty(cells, np.int32),
        np.empty(cells, np.int32), np.zeros(2, np.int64),
    )  # fmt: skip


@jit
def find_path(tables, alternates, setting, tree, detour, search, occupant, start, goal, blank_first, tunnels, loose):
    """Find pi from start to goal; answer its number of cells, NO_PATH or ROOM_NEEDED. Mutates: search, alternates.

    `blank_first`: the first move leads to a blank. `tunnels`: triples without alternate path may be walked. `loose`:
    walls alone count, and what else is in the way costs a penalty; tells what a unit without a path founders on.
    """
    moves, offset, mark, far = tables.moves, tables.offset, setting.mark, search.far
    ladder, state, g, penalty, came = search.ladder, search.state, search.g, search.penalty, search.came
    search.tally[0] += 1
    if search.tally[0] >= 2**30:
        state[:] = 0
        search.shut[:] = 0
        search.tally[0] = 1
    serial = search.tally[0]
    reached = 2 * serial
    search.path[0] = start
    if start == goal:
        return 1
    if mark[goal] & OBSTACLE and not loose:
        return NO_PATH
    count_moves(tables, far, search.queue, start, goal, _ANY_LENGTH)
    if far[start] == UNREACHABLE:
        return NO_PATH
    count_changes(tables, setting.block, tree, goal)
    open_list.clear(ladder, far[start])
    search.shut[start] = serial
    node, cell, way = -1, start, _START_WAY
    while True:
        search.tally[1] += 1
        here_foreign = mark[cell] & TARGET != 0 and cell != goal
        all_open = not here_foreign
        cost_here = 0 if way == _START_WAY else g[node]
        paid_here = np.int64(0) if way == _START_WAY else penalty[node]
        for d in range(4):
            if not moves[cell] >> d & 1 or d == way ^ 2:
                continue
            beside = cell + offset[d]
            foreign = mark[beside] & TARGET != 0 and beside != goal
            if not loose and (mark[beside] & OBSTACLE or (foreign and not setting.through_targets)):
                continue
            if way == _START_WAY and blank_first and occupant[beside] != NO_AGENT:
                continue
            ahead = np.int64(0) if loose else np.int64(tree.changes[setting.block[cell * 4 + d]])
            if ahead > 0 and not tunnels:
                continue
            paid = paid_here + foreign + here_foreign + (loose and mark[beside] & OBSTACLE != 0)
            if way != _START_WAY and beside != goal and not loose and not is_clear(alternates, cell, way ^ 2, d):
                k = alternate(tables, alternates, setting, detour, cell, way ^ 2, d, goal)
                if k == NO_ROOM:
                    return ROOM_NEEDED
                if k == MISSING:
                    all_open = False
                    if not tunnels:
                        continue
                    paid += _TUNNEL
                elif alternates.tally[TOLL] > 0:
                    all_open = False
                    paid += alternates.tally[TOLL]
            if search.shut[beside] == serial:
                continue
            after = beside * 4 + d
            if state[after] == reached + 1:
                continue
            cost = cost_here + 1
            if state[after] == reached and (
                paid > penalty[after] or (paid == penalty[after] and cost >= g[after])
            ):
                continue
            state[after] = reached
            g[after] = cost
            penalty[after] = paid
            came[after] = way
            open_list.push(ladder, paid + ahead * _TUNNEL, cost + far[beside], after)
        if all_open and way != _START_WAY and mark[cell - offset[way]] & TARGET == 0:
            search.shut[cell] = serial
        while True:
            node = open_list.pop(ladder)
            if node < 0:
                return NO_PATH
            cell, way = node // 4, node % 4
            if state[node] == reached and search.shut[cell] != serial:
                break
        if cell == goal:
            break
        state[node] = reached + 1
    return _read_off(tables, alternates, setting, detour, search, node, goal, loose)


@jit
def _read_off(tables, alternates, setting, detour, search, node, goal, loose):
    """Write the path that ends in a node, and its alternate paths. Mutates: search, alternates, detour."""
    length = search.g[node]
    path, around = search.path, search.around
    for i in range(length, 0, -1):
        path[i] = node // 4
        around[i] = node % 4                            # for a moment: the move that leads here
        node = (path[i] - tables.offset[node % 4]) * 4 + search.came[node]
    way = around[1]
    for i in range(1, length):
        following = around[i + 1]
        around[i] = MISSING
        if i < length - 1 and not loose:
            around[i] = alternate(tables, alternates, setting, detour, path[i], way ^ 2, following, goal)
            if around[i] == NO_ROOM:
                return ROOM_NEEDED
        way = following
    around[0] = MISSING
    around[length] = MISSING
    return length + 1


class Paths(NamedTuple):
    """pi and Omega of all units, and what follows from them."""

    begin: np.ndarray       # int64[units + 1]  pi of unit u is cell[begin[u] : begin[u + 1]]; empty: it has none
    cell: np.ndarray        # int32[total]      l_i
    around: np.ndarray      # int32[total]      Omega_i, or MISSING
    last_gap: np.ndarray    # int32[units]      j, the largest i without Omega_i, -1 if there is none
    tau: np.ndarray         # int32[units]      number of i without Omega_i
    after: np.ndarray       # int64[units + 1]  those that u goes before are follower[after[u] : after[u + 1]]
    follower: np.ndarray    # int32[pairs]      v with u << v
    zone: np.ndarray        # int64[cells + 1]  units with a cell in their buffer: owner[zone[cell] : zone[cell + 1]]
    owner: np.ndarray       # int32[pairs]
    usher: np.ndarray       # int32[units]      the unit on l_1 that u waits for at first, NO_AGENT if there is none


@jit
def survey(paths, alternate_begin, alternate_cells, target_of, stamp, fill, followers, owners):
    """Find tunnels, foreign targets on pi and Omega, and buffers. Mutates: all but the alternates and target_of.

    Without `fill`, `followers` (per unit) and `owners` (per cell) are counted; with it, they are where the next one is
    written to in `paths.follower` and `paths.owner`. `stamp` is int64[2, cells], of 0.
    """
    for u in range(paths.begin.size - 1):
        begin, end = paths.begin[u], paths.begin[u + 1]
        length = end - begin - 1
        gap, gaps = -1, 0
        for i in range(1, length - 1):
            if paths.around[begin + i] == MISSING:
                gap = i
                gaps += 1
        paths.last_gap[u] = gap
        paths.tau[u] = gaps
        mine = 2 * u + 1 + fill
        if gap != -1:
            stamp[1, paths.cell[begin + gap]] = mine        # l_j is none of the buffer
        for i in range(length + 1):
            k = paths.around[begin + i]
            first = alternate_begin[k] if k != MISSING else 0
            last = alternate_begin[k + 1] if k != MISSING else 0
            for j in range(first - 1, last):
                cell = paths.cell[begin + i] if j == first - 1 else alternate_cells[j]
                v = target_of[cell]
                if v != NO_AGENT and v != u and stamp[0, cell] != mine:
                    stamp[0, cell] = mine
                    if fill:
                        paths.follower[followers[u]] = v
                    followers[u] += 1
                if gap != -1 and gap + 2 <= i < length and stamp[1, cell] != mine:
                    stamp[1, cell] = mine
                    if fill:
                        paths.owner[owners[cell]] = u
                    owners[cell] += 1


@dataclass
class Plans:
    """The paths of all units, and the verdict on each."""

    paths: Paths
    reason: NDArray[np.int8]    # int8[units]   PROVABLE, or why not
    at: NDArray[np.int32]       # int32[units]  the cell where the condition fails, or NO_CELL
    kappa: NDArray[np.int32]    # int32[units]  blanks in the buffer

    @property
    def provable(self) -> NDArray[np.bool_]:
        """Whom the algorithm promises to bring home."""
        return np.asarray(self.reason == PROVABLE)

    @property
    def slidable(self) -> NDArray[np.bool_]:
        """Who meets the paper's conditions, and would be provable if the others were taken off the map."""
        return np.asarray((self.reason == PROVABLE) | (self.reason == OCCUPIED))


@dataclass
class Pathfinder:
    """Finds the paths of the units of one problem after another, on one map."""

    alternates: AlternatePaths
    expansions: int = 0
    search: PairSearch = field(init=False)

    def __post_init__(self) -> None:
        self.search = make_pair_search(self.alternates.grid)

    def plan(
        self,
        starts: NDArray[np.int32],
        goals: NDArray[np.int32],
        obstacles: NDArray[np.int32],
        *,
        target_isolation: bool,
        alternate_connectivity: bool,
        initial_blank: bool = False,
        only_provable: bool = False,
    ) -> Plans:
        """Find everybody's path, and say who is promised to arrive. A goal of NO_CELL: the unit has none of its own.

        The first three flags are the paper's names of the conditions: true means that the condition is relaxed. With
        the last, units that are not provable get no path.
        """
        grid = self.alternates.grid
        aimed = np.flatnonzero(goals != NO_CELL)
        setting = self.alternates.begin_problem(goals[aimed], obstacles, through_targets=target_isolation)
        occupant = np.full(grid.size, NO_AGENT, np.int32)
        occupant[starts] = np.arange(starts.size, dtype=np.int32)
        occupant[obstacles] = starts.size
        found: list[_Path] = []
        reason, at = np.zeros(starts.size, np.int8), np.full(starts.size, NO_CELL, np.int32)
        usher = np.full(starts.size, NO_AGENT, np.int32)
        nothing = np.empty(0, np.int32)
        self.search.tally[1] = self.alternates.detour.serial[1] = 0
        for u, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
            if goal == NO_CELL:
                reason[u], at[u] = SHARED_TARGET, start
                found.append((nothing, nothing))
                continue
            path = self._find(setting, occupant, start, goal, tunnels=alternate_connectivity)
            if path is None:
                path = self._find(setting, occupant, start, goal, blank_first=False, tunnels=alternate_connectivity)
                if path is not None:
                    in_front = occupant[path[0][1]]
                    if initial_blank and starts[in_front] != goals[in_front]:
                        usher[u] = in_front
                    else:
                        reason[u], at[u] = INITIAL_BLANK, path[0][1]
                else:
                    reason[u], at[u] = self._what_is_in_the_way(setting, occupant, start, goal)
            found.append(path or (nothing, nothing))
        self.expansions += int(self.search.tally[1] + self.alternates.detour.serial[1])
        plans = Plans(self._survey(found, goals, aimed), reason, at, np.empty(0, np.int32))
        _judge(plans, usher, occupant, goals, target_isolation=target_isolation)
        if only_provable and not plans.provable.all():
            found = [path if kept else (nothing, nothing) for path, kept in zip(found, plans.provable, strict=True)]
            usher[~plans.provable] = NO_AGENT
            plans.paths = _behind_ushers(self._survey(found, goals, aimed), usher)
            plans.kappa = _blanks(plans.paths, occupant)
        return plans

    def _find(
        self,
        setting: Setting,
        occupant: NDArray[np.int32],
        start: int,
        goal: int,
        *,
        blank_first: bool = True,
        tunnels: bool,
        loose: bool = False,
    ) -> _Path | None:
        answer = ROOM_NEEDED
        while answer == ROOM_NEEDED:
            known = self.alternates
            answer = find_path(
                known.grid.tables, known.alternates, setting, known.tree, known.detour, self.search, occupant,
                start, goal, blank_first, tunnels, loose,
            )  # fmt: skip
            if answer == ROOM_NEEDED:
                known.grow()
        if answer == NO_PATH:
            return None
        around = self.search.around[:answer].copy()
        if answer == 1:
            around[:] = MISSING
        return self.search.path[:answer].copy(), around

    def _what_is_in_the_way(
        self, setting: Setting, occupant: NDArray[np.int32], start: int, goal: int
    ) -> tuple[int, int]:
        """Which condition keeps a unit from having a path, and where."""
        path = self._find(setting, occupant, start, goal, blank_first=False, tunnels=True)
        if path is not None:
            return ALTERNATES, int(path[0][1 + int(np.flatnonzero(path[1][1:-2] == MISSING)[0])])
        path = self._find(setting, occupant, start, goal, blank_first=False, tunnels=True, loose=True)
        if path is None:
            return NO_WAY, goal
        cells = path[0][1:]
        for cell, mark in zip(cells.tolist(), setting.mark[cells].tolist(), strict=True):
            if mark & OBSTACLE:
                return WALLED_IN, cell
            if mark & TARGET and cell != goal:
                return ISOLATION, cell
        raise AssertionError(f"cell {goal} is in reach of {start}, and yet no path was found")

    def _survey(self, found: list[_Path], goals: NDArray[np.int32], aimed: NDArray[np.intp]) -> Paths:
        units, cells = len(found), self.alternates.grid.size
        target_of = np.full(cells, NO_AGENT, np.int32)
        target_of[goals[aimed]] = aimed
        followers, owners = np.zeros(units + 1, np.int64), np.zeros(cells + 1, np.int64)
        empty = np.empty(0, np.int32)
        paths = Paths(
            begin=np.concatenate([[0], np.cumsum([cell.size for cell, _ in found], dtype=np.int64)]).astype(np.int64),
            cell=np.concatenate([empty, *(cell for cell, _ in found)]),
            around=np.concatenate([empty, *(around for _, around in found)]),
            last_gap=np.empty(units, np.int32), tau=np.empty(units, np.int32),
            after=followers, follower=empty, zone=owners, owner=empty, usher=np.full(units, NO_AGENT, np.int32),
        )  # fmt: skip
        known, stamp = self.alternates.alternates, np.zeros((2, cells), np.int64)
        survey(paths, known.begin, known.cells, target_of, stamp, False, followers, owners)
        after, zone = (np.concatenate([[0], np.cumsum(count[:-1])]) for count in (followers, owners))
        paths = paths._replace(
            after=after, follower=np.empty(after[-1], np.int32), zone=zone, owner=np.empty(zone[-1], np.int32)
        )
        survey(paths, known.begin, known.cells, target_of, stamp, True, after.copy(), zone.copy())
        return paths


def _blanks(paths: Paths, occupant: NDArray[np.int32]) -> NDArray[np.int32]:
    """kappa of every unit."""
    blank = np.repeat(occupant == NO_AGENT, np.diff(paths.zone))
    return np.bincount(paths.owner[blank], minlength=paths.tau.size).astype(np.int32)


def _behind_ushers(paths: Paths, usher: NDArray[np.int32]) -> Paths:
    """The paths, with usher << unit for those that have one."""
    units = usher.size
    led = np.flatnonzero(usher != NO_AGENT)
    crossing = np.repeat(np.arange(units), np.diff(paths.after)) * units + paths.follower
    source, follower = np.divmod(np.union1d(crossing, usher[led].astype(np.int64) * units + led), units)
    after = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=units))])
    return paths._replace(after=after, follower=follower.astype(np.int32), usher=usher)


def _judge(
    plans: Plans,
    usher: NDArray[np.int32],
    occupant: NDArray[np.int32],
    goals: NDArray[np.int32],
    *,
    target_isolation: bool,
) -> None:
    """Check the conditions that concern more than one unit, or the blanks ahead. Mutates: plans."""
    paths, reason, at = plans.paths, plans.reason, plans.at
    plans.kappa = _blanks(paths, occupant)
    short = np.flatnonzero((plans.kappa < paths.tau) & (reason == PROVABLE))
    reason[short], at[short] = BUFFER, paths.cell[paths.begin[short] + paths.last_gap[short]]
    if not target_isolation:
        crossed = np.unique(paths.follower)
        crossed = crossed[reason[crossed] == PROVABLE]
        reason[crossed], at[crossed] = ISOLATION, goals[crossed]
    plans.paths = paths = _behind_ushers(paths, usher)
    dropped = _break_cycles(paths, reason)
    reason[dropped], at[dropped] = CYCLE, goals[dropped]
    units, led = np.arange(goals.size), usher != NO_AGENT
    stands = np.where(goals == NO_CELL, NO_AGENT, occupant[goals])      # on the unit's target, at first
    in_the_way = (stands != NO_AGENT) & (stands != units)
    while True:
        provable = reason == PROVABLE
        waits = provable & led & ~provable[usher]
        blocked = provable & in_the_way & ~waits
        blocked[blocked] = ~provable[stands[blocked]]
        if not (waits | blocked).any():
            return
        reason[waits], at[waits] = INITIAL_BLANK, paths.cell[paths.begin[:-1][waits] + 1]
        reason[blocked], at[blocked] = OCCUPIED, goals[blocked]


def _break_cycles(paths: Paths, reason: NDArray[np.int8]) -> NDArray[np.intp]:
    """The units to drop so that u << v has no cycles among the rest."""
    dropped: list[int] = []
    source = np.repeat(np.arange(reason.size), np.diff(paths.after))
    kept = reason == PROVABLE
    length = np.diff(paths.begin)
    while True:
        inside = kept[source] & kept[paths.follower]
        edges = list(zip(source[inside].tolist(), paths.follower[inside].tolist(), strict=True))
        parts = [part for part in _strong_parts(edges) if len(part) > 1]
        if not parts:
            return np.array(sorted(dropped), np.intp)
        part_of = {u: k for k, part in enumerate(parts) for u in part}
        degree = dict.fromkeys(part_of, 0)
        for u, v in edges:
            if u in part_of and part_of[u] == part_of.get(v):
                degree[u] += 1
                degree[v] += 1
        for part in parts:
            worst = max(part, key=lambda u: (degree[u], length[u], u))
            dropped.append(worst)
            kept[worst] = False


def _strong_parts(edges: list[tuple[int, int]]) -> list[list[int]]:
    """Strongly connected components (Tarjan 1972), without recursion."""
    following: dict[int, list[int]] = {}
    for u, v in edges:
        following.setdefault(u, []).append(v)
        following.setdefault(v, [])
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    stacked: set[int] = set()
    parts: list[list[int]] = []
    for root in sorted(following):
        if root in number:
            continue
        calls = [(root, iter(following[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        stacked.add(root)
        while calls:
            u, rest = calls[-1]
            after = next(rest, None)
            if after is None:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[u])
                if low[u] == number[u]:
                    at = stack.index(u)
                    parts.append(stack[at:])
                    stacked.difference_update(stack[at:])
                    del stack[at:]
            elif after not in number:
                number[after] = low[after] = len(number)
                stack.append(after)
                stacked.add(after)
                calls.append((after, iter(following[after])))
            elif after in stacked:
                low[u] = min(low[u], number[after])
    return parts
