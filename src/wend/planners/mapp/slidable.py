# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""MAPP's paths, and which units are promised to arrive: the SLIDABLE conditions and their relaxations.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), sections 4, 7.1 and 7.2.

    paper                                            here
    path computation (5.2), initial blank            path_search.py
    Def. 1: alternate connectivity, target isolation _judge
    TI (7.1): the relation u << v, cycles            survey, _break_cycles
    AC (7.2): tunnels, buffer zones beta, tau        survey

    pi      the path of a unit, cells l_0 .. l_L
    Omega   the alternate path of a triple of pi (alternates.py)
    beta    cells behind the last tunnel, in which a unit that crosses tunnels needs tau blanks

Deviations and open points
- A tunnel is a maximal run of triples without an alternate path, which counts both its mouths already. The paper's tau
  is the length of the longest tunnel, + 2. That is too little where there are several: every step through any of them
  may push a unit into the buffer, and none comes back. Here tau is the number of all triples without an alternate path.
- The last cell of the last tunnel, l_j, is not part of the buffer, though alternate paths behind it may touch it: that
  blank is the one that the unit itself will take.
- The paper takes units that are not slidable off the map. Here they stay, and one of them may stand on the target of a
  unit that is: such a unit is slidable, but not provable, because nothing says when the other leaves. The same holds
  for units that stand on the target of such a one, and so on.
- Ours, on request (`initial_blank`): where the first cell of every path is occupied, a unit may wait for its usher, the
  unit that stands there, if that one is provable and leaves: usher << unit. What stands on the first cell at the
  beginning of a step is then the usher or nothing, and by the time that the unit is the master, nothing.
- Cycles of u << v are broken by dropping, in each strongly connected component, the unit with most neighbours in it,
  then the one with the longest path, then the largest index, and looking again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wend.kernel import NO_AGENT, NO_CELL, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.arrays import allocate, int32, int64
from wend.maps.grid import Grid
from wend.planners.base import Promise
from wend.planners.mapp.alternates import OBSTACLE, TARGET, Ground, MarkedMap
from wend.planners.mapp.known_alternates import AlternatePaths
from wend.planners.mapp.path_search import PairSearch, Request, find_path, make_pair_search
from wend.search.strong_components import StrongComponents, label_strong_components

_Path = tuple[NDArray[np.int32], NDArray[np.int32]]     # pi and Omega
_NO_PATH: _Path = np.empty(0, np.int32), np.empty(0, np.int32)

# Why a unit is not promised to arrive
PROVABLE, SHARED_TARGET, INITIAL_BLANK, ALTERNATES, ISOLATION, WALLED_IN, CYCLE, BUFFER, CUT_OFF, OCCUPIED = range(10)

_CONDITIONS = {
    SHARED_TARGET: "its goal is also another agent's",
    INITIAL_BLANK: "initial blank: the first cell of every path it could take is occupied",
    ALTERNATES: "alternate connectivity: there is no way around this cell",
    ISOLATION: "target isolation: this target is in the way of another path",
    WALLED_IN: "an agent that does not move stands in the way",
    CYCLE: "target isolation: its path and those of others cross each other's targets in a circle",
    OCCUPIED: "target isolation: an agent that is not provable stands on its goal",
    BUFFER: "buffer zone: too few blanks behind the last tunnel, which ends here",
    CUT_OFF: "no path along rows and columns leads there",
}


class Instance(NamedTuple):
    """What is to be solved: units, where they stand and where they want to be."""

    starts: np.ndarray      # int32[units]
    goals: np.ndarray       # int32[units]  NO_CELL if the unit has none of its own
    obstacles: np.ndarray   # int32[]       where agents stand that do not move


class UnitPaths(NamedTuple):
    """pi and Omega of all units, and what follows from them."""

    begin: Annotated[np.ndarray, int64("bounds")]       # pi of unit u is cell[begin[u] : begin[u + 1]]; empty: none
    cell: Annotated[np.ndarray, int32("total")]         # l_i
    around: Annotated[np.ndarray, int32("total")]       # Omega_i, or UNREACHABLE
    last_gap: Annotated[np.ndarray, int32("units")]     # j, the largest i without Omega_i, -1 if there is none
    tau: Annotated[np.ndarray, int32("units")]          # number of i without Omega_i
    after: Annotated[np.ndarray, int64("bounds")]       # u goes before follower[after[u] : after[u + 1]]
    follower: Annotated[np.ndarray, int32("followers")]     # v with u << v
    zone: Annotated[np.ndarray, int64("zones")]         # a cell is in the buffers of owner[zone[cell] : zone[cell + 1]]
    owner: Annotated[np.ndarray, int32("owners")]
    usher: Annotated[np.ndarray, int32("units", fill=NO_AGENT)]     # the unit on l_1 that u waits for at first, if any


@jit
def survey(paths, alternates, target_of, stamp, fill, followers, owners):
    """Find tunnels, foreign targets on pi and Omega, and buffers. Mutates: all but the alternates and target_of.

    Without `fill`, `followers` (per unit) and `owners` (per cell) are counted; with it, they are where the next one is
    written to in `paths.follower` and `paths.owner`. `stamp` is int64[2, cells], of 0.
    """
    for u in range(paths.begin.size - 1):
        begin, end = paths.begin[u], paths.begin[u + 1]
        length = end - begin - 1
        gap, gaps = -1, 0
        for i in range(1, length - 1):
            if paths.around[begin + i] == UNREACHABLE:
                gap = i
                gaps += 1
        paths.last_gap[u] = gap
        paths.tau[u] = gaps
        mine = 2 * u + 1 + fill
        if gap != -1:
            stamp[1, paths.cell[begin + gap]] = mine        # l_j is not part of the buffer
        for i in range(length + 1):
            k = paths.around[begin + i]
            first = alternates.begin[k] if k != UNREACHABLE else 0
            last = alternates.begin[k + 1] if k != UNREACHABLE else 0
            for j in range(first - 1, last):
                cell = paths.cell[begin + i] if j == first - 1 else alternates.cells[j]
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
class Prospects:
    """The paths of all units, and the verdict on each."""

    paths: UnitPaths
    reason: NDArray[np.int8]    # int8[units]   PROVABLE, or why not
    at: NDArray[np.int32]       # int32[units]  the cell where the condition fails, or NO_CELL
    kappa: NDArray[np.int32]    # int32[units]  blanks in the buffer

    @property
    def provable(self) -> NDArray[np.bool_]:
        """Which units the algorithm promises to bring home."""
        return np.asarray(self.reason == PROVABLE)

    @property
    def slidable(self) -> NDArray[np.bool_]:
        """Which units meet the paper's conditions, and would be provable if the others were taken off the map."""
        return np.asarray((self.reason == PROVABLE) | (self.reason == OCCUPIED))


@dataclass
class Pathfinder:
    """Finds the paths of the units of one problem after another, on one map."""

    alternates: AlternatePaths
    expansions: int = 0
    search: PairSearch = field(init=False)

    def __post_init__(self) -> None:
        self.search = make_pair_search(self.alternates.grid)

    def find_paths(
        self,
        instance: Instance,
        *,
        target_isolation: bool,
        alternate_connectivity: bool,
        initial_blank: bool = False,
        only_provable: bool = False,
    ) -> Prospects:
        """Find the path of every unit, and say which are promised to arrive.

        The first three flags are the paper's names of the conditions: true means that the condition is relaxed. With
        the last, units that are not provable get no path.
        """
        starts, goals, obstacles = instance
        units, tunnels = starts.size, alternate_connectivity
        aimed = np.flatnonzero(goals != NO_CELL)
        setting = self.alternates.begin_problem(goals[aimed], obstacles, through_targets=target_isolation)
        occupant = np.full(self.alternates.grid.size, NO_AGENT, np.int32)
        occupant[starts] = np.arange(units, dtype=np.int32)
        occupant[obstacles] = units
        found: list[_Path] = []
        reason, at = np.zeros(units, np.int8), np.full(units, NO_CELL, np.int32)
        usher = np.full(units, NO_AGENT, np.int32)
        self.search.counts[0].expanded = self.alternates.detour.counts[0].expanded = 0
        for u, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
            if goal == NO_CELL:
                reason[u], at[u] = SHARED_TARGET, start
                found.append(_NO_PATH)
                continue
            path = self._find(setting, occupant, Request(start, goal, blank_first=True, tunnels=tunnels))
            if path is None:
                path = self._find(setting, occupant, Request(start, goal, tunnels=tunnels))
                if path is not None:
                    in_front = occupant[path[0][1]]
                    if initial_blank and starts[in_front] != goals[in_front]:
                        usher[u] = in_front
                    else:
                        reason[u], at[u] = INITIAL_BLANK, path[0][1]
                else:
                    reason[u], at[u] = self._what_is_in_the_way(setting, occupant, start, goal)
            found.append(path or _NO_PATH)
        self.expansions += int(self.search.counts[0].expanded + self.alternates.detour.counts[0].expanded)
        prospects = Prospects(self._survey(found, goals, aimed), reason, at, np.empty(0, np.int32))
        _judge(prospects, usher, occupant, goals, target_isolation=target_isolation)
        if only_provable and not prospects.provable.all():
            found = [path if kept else _NO_PATH for path, kept in zip(found, prospects.provable, strict=True)]
            usher[~prospects.provable] = NO_AGENT
            prospects.paths = _behind_ushers(self._survey(found, goals, aimed), usher)
            prospects.kappa = _blanks(prospects.paths, occupant)
        return prospects

    def _find(self, setting: MarkedMap, occupant: NDArray[np.int32], request: Request) -> _Path | None:
        known, answer = self.alternates, OUT_OF_SPACE
        while answer == OUT_OF_SPACE:
            ground = Ground(known.grid.tables, known.alternates, setting, known.detour)
            answer = find_path(ground, self.search, occupant, request)
            if answer == OUT_OF_SPACE:
                known.grow()
        if answer == UNREACHABLE:
            return None
        around = self.search.around[:answer].copy()
        if answer == 1:
            around[:] = UNREACHABLE
        return self.search.path[:answer].copy(), around

    def _what_is_in_the_way(
        self, setting: MarkedMap, occupant: NDArray[np.int32], start: int, goal: int
    ) -> tuple[int, int]:
        """Which condition keeps a unit from having a path, and where."""
        path = self._find(setting, occupant, Request(start, goal))
        if path is not None:
            return ALTERNATES, int(path[0][1 + int(np.flatnonzero(path[1][1:-2] == UNREACHABLE)[0])])
        path = self._find(setting, occupant, Request(start, goal, loose=True))
        if path is None:
            return CUT_OFF, goal
        cells = path[0][1:]
        for cell, mark in zip(cells.tolist(), setting.mark[cells].tolist(), strict=True):
            if mark & OBSTACLE:
                return WALLED_IN, cell
            if mark & TARGET and cell != goal:
                return ISOLATION, cell
        raise AssertionError(f"cell {goal} is in reach of {start}, and yet no path was found")

    def _survey(self, found: list[_Path], goals: NDArray[np.int32], aimed: NDArray[np.intp]) -> UnitPaths:
        units, cells = len(found), self.alternates.grid.size
        target_of = np.full(cells, NO_AGENT, np.int32)
        target_of[goals[aimed]] = aimed
        followers, owners = np.zeros(units + 1, np.int64), np.zeros(cells + 1, np.int64)
        bounds = np.zeros(units + 1, np.int64)
        np.cumsum([cell.size for cell, _ in found], out=bounds[1:])
        counted = {
            "begin": bounds, "cell": np.concatenate([_NO_PATH[0], *(cell for cell, _ in found)]),
            "around": np.concatenate([_NO_PATH[1], *(around for _, around in found)]),
        }  # fmt: skip
        paths = allocate(UnitPaths, counted, units=units, bounds=units + 1, zones=cells + 1, followers=0, owners=0)
        known, stamp = self.alternates.alternates, np.zeros((2, cells), np.int64)
        survey(paths, known, target_of, stamp, False, followers, owners)
        after, zone = (np.concatenate([[0], np.cumsum(count[:-1])]) for count in (followers, owners))
        paths = paths._replace(
            after=after, follower=np.empty(after[-1], np.int32), zone=zone, owner=np.empty(zone[-1], np.int32)
        )
        survey(paths, known, target_of, stamp, True, after.copy(), zone.copy())
        return paths


def _blanks(paths: UnitPaths, occupant: NDArray[np.int32]) -> NDArray[np.int32]:
    """kappa of every unit."""
    blank = np.repeat(occupant == NO_AGENT, np.diff(paths.zone))
    return np.bincount(paths.owner[blank], minlength=paths.tau.size).astype(np.int32)


def _behind_ushers(paths: UnitPaths, usher: NDArray[np.int32]) -> UnitPaths:
    """The paths, with usher << unit for those that have one."""
    units = usher.size
    led = np.flatnonzero(usher != NO_AGENT)
    crossing = np.repeat(np.arange(units), np.diff(paths.after)) * units + paths.follower
    source, follower = np.divmod(np.union1d(crossing, usher[led].astype(np.int64) * units + led), units)
    after = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=units))])
    return paths._replace(after=after, follower=follower.astype(np.int32), usher=usher)


def _judge(
    prospects: Prospects,
    usher: NDArray[np.int32],
    occupant: NDArray[np.int32],
    goals: NDArray[np.int32],
    *,
    target_isolation: bool,
) -> None:
    """Check the conditions that concern more than one unit, or the blanks ahead. Mutates: prospects."""
    paths, reason, at = prospects.paths, prospects.reason, prospects.at
    prospects.kappa = _blanks(paths, occupant)
    short = np.flatnonzero((prospects.kappa < paths.tau) & (reason == PROVABLE))
    reason[short], at[short] = BUFFER, paths.cell[paths.begin[short] + paths.last_gap[short]]
    if not target_isolation:
        crossed = np.unique(paths.follower)
        crossed = crossed[reason[crossed] == PROVABLE]
        reason[crossed], at[crossed] = ISOLATION, goals[crossed]
    prospects.paths = paths = _behind_ushers(paths, usher)
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


def _break_cycles(paths: UnitPaths, reason: NDArray[np.int8]) -> NDArray[np.intp]:
    """The units to drop so that u << v has no cycles among the rest."""
    units, length = np.arange(reason.size), np.diff(paths.begin)
    source = np.repeat(units, np.diff(paths.after))
    kept = reason == PROVABLE
    found = allocate(StrongComponents, nodes=units.size)
    while True:
        inside = kept[source] & kept[paths.follower]
        u, v = source[inside], paths.follower[inside]
        label_strong_components(np.searchsorted(u, np.arange(units.size + 1)), v, found)
        component = found.component
        in_cycle = component[u] == component[v]         # no unit goes before itself
        if not in_cycle.any():
            return np.flatnonzero((reason == PROVABLE) & ~kept)
        degree = np.bincount(np.concatenate([u[in_cycle], v[in_cycle]]), minlength=units.size)
        tied = np.flatnonzero(degree)                   # the units of components of more than one unit
        ranked = tied[np.lexsort((tied, length[tied], degree[tied], component[tied]))]
        is_worst = np.append(component[ranked[1:]] != component[ranked[:-1]], True)
        kept[ranked[is_worst]] = False


def promises_on(grid: Grid, agents: NDArray[Any], prospects: Prospects) -> list[Promise]:
    """The verdicts on these agents, which are the units of the prospects."""
    promises = []
    for agent, reason, at in zip(agents.tolist(), prospects.reason.tolist(), prospects.at.tolist(), strict=True):
        place = None if at == NO_CELL else grid.xy(at)
        promises.append(Promise(agent, reason == PROVABLE, _CONDITIONS.get(reason, ""), place))
    return promises
