# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""MAPP's path search: a path along which a blank can always be fetched to where it is needed next.

Ko-Hsin Cindy Wang, Adi Botea: MAPP (JAIR 42, 2011), section 5.2.

    paper                                            here
    path computation (5.2), initial blank            find_path

A node of the search is a cell with the move that led there, because whether a unit may go on depends on where it comes
from. Fewest tunnels count first, then fewest foreign targets crossed, then length.
The heuristic is the length of the path on the bare map, and the tunnels that no path can avoid (biconnected.py).

Deviations and open points
- The paper's heuristic is the Manhattan distance. Ours expands a fraction of the nodes.
- The paper has penalties of unsaid size; here they outweigh each other outright. Shortest paths are simple that way.
- A cell whose triples all have an alternate path without a target is closed as a whole when it is first expanded:
  where a unit comes from makes no difference there. The paper expands it once per parent.
- A triple whose alternate path crosses targets costs as many penalties. An edge costs one for each end that is a
  foreign target.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from wend.kernel import NO_AGENT, OUT_OF_SPACE, UNREACHABLE, jit
from wend.kernel.arrays import allocate, int32, int64, record, uint8
from wend.maps.grid import Grid
from wend.planners.mapp import ladder as open_list
from wend.planners.mapp.alternates import OBSTACLE, TARGET, alternate, is_clear
from wend.planners.mapp.biconnected import count_changes
from wend.planners.mapp.ladder import Ladder
from wend.search.flood import count_moves

_TUNNEL = np.int64(2**32)       # penalties: a tunnel outweighs every number of targets, a target every length
_AT_START = 4                   # instead of the direction of the last move
_ANY_LENGTH = 2**30             # of paths: all cells are near enough


class Request(NamedTuple):
    """What a search is to find."""

    start: int
    goal: int
    blank_first: bool = False   # the first move leads to a blank
    tunnels: bool = True        # triples without an alternate path may be walked
    loose: bool = False         # walls alone count, what else is in the way costs a penalty: tells why there is no path


class PairSearch(NamedTuple):
    """The workspace of the path search. Node cell * 4 + d: the cell, reached by a move in direction d."""

    ladder: Ladder
    state: Annotated[np.ndarray, int32("nodes")]    # 2 * search: reached, 2 * search + 1: closed
    shut: Annotated[np.ndarray, int32("cells")]     # the search in which the cell was closed for all directions
    g: Annotated[np.ndarray, int32("nodes")]        # moves from the start
    penalty: Annotated[np.ndarray, int64("nodes")]  # tunnels << 32 | targets
    came: Annotated[np.ndarray, uint8("nodes")]     # direction of the move before, or _AT_START
    far: Annotated[np.ndarray, int32("cells")]      # moves to the goal, or UNREACHABLE
    queue: Annotated[np.ndarray, int32("cells")]
    path: Annotated[np.ndarray, int32("cells")]     # the path that was found, and ...
    around: Annotated[np.ndarray, int32("cells")]   # ... its alternate paths, UNREACHABLE where there is none
    counts: Annotated[np.ndarray, record("serial", "expanded")]     # number of this search; nodes expanded by all


def make_pair_search(grid: Grid) -> PairSearch:
    """A workspace for maps of this size."""
    cells = grid.size
    return allocate(
        PairSearch, cells=cells, nodes=4 * cells, entries=12 * cells + 5, rungs=2 * cells + grid.width + grid.height
    )


@jit
def find_path(ground, search, occupant, request):
    """Find pi; answer its number of cells, UNREACHABLE or OUT_OF_SPACE. Mutates: search, ground."""
    tables, alternates, setting = ground.tables, ground.alternates, ground.setting
    start, goal, tunnels, loose = request.start, request.goal, request.tunnels, request.loose
    moves, offset, mark, far, changes = tables.moves, tables.offset, setting.mark, search.far, setting.tree.changes
    ladder, state, g, penalty, came = search.ladder, search.state, search.g, search.penalty, search.came
    counts = search.counts[0]
    counts.serial += 1
    if counts.serial >= 2**30:
        state[:] = 0
        search.shut[:] = 0
        counts.serial = 1
    serial = counts.serial
    reached = 2 * serial
    search.path[0] = start
    if start == goal:
        return 1
    if mark[goal] & OBSTACLE and not loose:
        return UNREACHABLE
    count_moves(tables, far, search.queue, start, goal, _ANY_LENGTH)
    if far[start] == UNREACHABLE:
        return UNREACHABLE
    count_changes(tables, setting.block, setting.tree, goal)
    open_list.clear(ladder, far[start])
    search.shut[start] = serial
    node, cell, came_by = -1, start, _AT_START
    while True:
        counts.expanded += 1
        here_foreign = mark[cell] & TARGET != 0 and cell != goal
        all_open = not here_foreign
        cost_here = 0 if came_by == _AT_START else g[node]
        paid_here = np.int64(0) if came_by == _AT_START else penalty[node]
        for d in range(4):
            if not moves[cell] >> d & 1 or d == came_by ^ 2:
                continue
            beside = cell + offset[d]
            foreign = mark[beside] & TARGET != 0 and beside != goal
            if not loose and (mark[beside] & OBSTACLE or (foreign and not setting.through_targets)):
                continue
            if came_by == _AT_START and request.blank_first and occupant[beside] != NO_AGENT:
                continue
            ahead = np.int64(0) if loose else np.int64(changes[setting.block[cell * 4 + d]])
            if ahead > 0 and not tunnels:
                continue
            paid = paid_here + foreign + here_foreign + (loose and mark[beside] & OBSTACLE != 0)
            if came_by != _AT_START and beside != goal and not loose and not is_clear(alternates, cell, came_by ^ 2, d):
                k = alternate(ground, cell, came_by ^ 2, d, goal)
                if k == OUT_OF_SPACE:
                    return OUT_OF_SPACE
                if k == UNREACHABLE:
                    all_open = False
                    if not tunnels:
                        continue
                    paid += _TUNNEL
                elif alternates.counts[0].toll > 0:
                    all_open = False
                    paid += alternates.counts[0].toll
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
            came[after] = came_by
            open_list.push(ladder, paid + ahead * _TUNNEL, cost + far[beside], after)
        if all_open and came_by != _AT_START and mark[cell - offset[came_by]] & TARGET == 0:
            search.shut[cell] = serial
        while True:
            node = open_list.pop(ladder)
            if node < 0:
                return UNREACHABLE
            cell, came_by = node // 4, node % 4
            if state[node] == reached and search.shut[cell] != serial:
                break
        if cell == goal:
            break
        state[node] = reached + 1
    return _read_off(ground, search, node, goal, loose)


@jit
def _read_off(ground, search, node, goal, loose):
    """Write the path that ends in a node, and its alternate paths; answer as `find_path`. Mutates: search, ground."""
    length = search.g[node]
    path, around = search.path, search.around
    for i in range(length, 0, -1):
        path[i] = node // 4
        around[i] = node % 4                            # for a moment: the move that leads here
        node = (path[i] - ground.tables.offset[node % 4]) * 4 + search.came[node]
    came_by = around[1]
    for i in range(1, length):
        following = around[i + 1]
        around[i] = UNREACHABLE
        if i < length - 1 and not loose:
            around[i] = alternate(ground, path[i], came_by ^ 2, following, goal)
            if around[i] == OUT_OF_SPACE:
                return OUT_OF_SPACE
        came_by = following
    around[0] = UNREACHABLE
    around[length] = UNREACHABLE
    return length + 1
