# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""RTAA*: an A* that stops after a few expansions, and learns from them. For one agent, or for each of many.

Koenig, Likhachev: Real-Time Adaptive A* (AAMAS 2006), as printed in Sigurdson et al. (CIG 2018), Algorithms 4 and 5.

`look_ahead` expands a bounded number of nodes around an agent. The node that it would expand next is where the agent
heads for: `write_prefix` reads off the path there, and `learn` raises the heuristic values of all expanded nodes to
what that node promises, so that no agent stays in a dead end for ever. `rtaa_star` is all of it, for one agent alone.

An agent whose turn to search has not come need not stand: `step_beside` learns what the best cell beside it promises
(LRTA*, Korf: Real-Time Heuristic Search, 1990) and answers with a step. It looks at eight cells and expands no node.

Learned values are private to an agent and stay until `forget`. They are sparse: an agent learns where it has been. So
the map is cut into pages of 8 x 8 cells; an agent has a directory that says where in a pool each of its pages begins,
and the page of all unlearned cells is page 0, which is nobody's. When `can_learn` says that too few pages are left for
what a search may learn, Python lets the pool grow (`with_space`) between two calls.

Expansion is in the order of the open list: f, then larger g, then first in, first out; a node's number is its place in
that queue. Costs are in the units of grid.CARDINAL_COST.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple

import numpy as np

from wend.errors import NoPathError, ParameterError
from wend.kernel import NO_AGENT, jit
from wend.kernel.arrays import allocate, int32, int64, marks, record, uint8
from wend.kernel.pages import (
    NO_PAGE,
    SIDE,
    Pages,
    across_and_down,
    give_back,
    has_space,
    make_pages,
    new_page,
    page_at,
    place_at,
    with_more,
)
from wend.kernel.pools import get, put
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, DX, DY, GridTables, Point, empty_map_cost, place_of
from wend.search.astar import Path
from wend.search.blocks import NO_ROW, Blocks, DistanceRows, cost_over_blocks, is_known, no_blocks
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push

NO_NODE = -1
NO_STEP = -1

_UNLEARNED = 0
_FAR = 2**62            # taken off a learned value, so that none is _UNLEARNED
_PAGES = 1 << 17        # at most, in the pool at first, which is enough for 2,000 agents; untouched, they cost nothing
_AGENTS = 64            # that know the whole map have space at first, on a small map: copies of a world copy the pool
_CLOSED = 1


class Learned(NamedTuple):
    """The heuristic values that each agent has learned for its own goal."""

    across: int     # pages in a row of the map
    page_of: Annotated[np.ndarray, int32("agents", "map_pages", marked_by="has_paged")]     # where a page begins in
    has_paged: Annotated[np.ndarray, marks("agents", "page_rows")]  # ... `values`, or NO_PAGE
    values: Pages   # by cell: cost to the goal - _FAR, or _UNLEARNED
    beside: Annotated[np.ndarray, int64("agents", 9, is_scratch=True)]  # what it believed when it learned last, of the
    # ... cells beside it by direction, and of its own
    row: Annotated[np.ndarray, int32("agents", fill=NO_ROW)]        # the row of `rows` with distances to its goal
    blocks: Blocks          # what is believed of cells that nothing was learned of, if there is a row;
    rows: DistanceRows      # otherwise, that the map is empty


class Surroundings(NamedTuple):
    """What searches look at: the map, what agents have learned of it, and where they stand."""

    tables: GridTables      # the moves that a search may make
    learned: Learned
    taken: np.ndarray       # int32[cells]  the agent on each cell, or NO_AGENT
    vision_square: int      # agents within this squared distance are walls to a search


class Lookahead(NamedTuple):
    """The workspace of one bounded search at a time. A node is a cell that the search has reached."""

    open_list: OpenList
    node_of: Annotated[np.ndarray, int32("cells")]  # node k is the cell's if k < reached and cell[k] is that cell
    cell: Annotated[np.ndarray, int32("nodes")]
    x: Annotated[np.ndarray, int32("nodes")]
    y: Annotated[np.ndarray, int32("nodes")]
    g: Annotated[np.ndarray, int64("nodes")]        # cost of the best path found so far
    h: Annotated[np.ndarray, int64("nodes")]        # estimated cost of the rest
    came: Annotated[np.ndarray, uint8("nodes")]     # direction that leads there; the start, node 0, has none
    state: Annotated[np.ndarray, uint8("nodes")]    # _CLOSED once expanded
    counts: Annotated[
        np.ndarray,
        record(
            "reached",      # number of nodes
            "expanded",     # number of closed nodes
            "seen",         # the first agent that was in the search's way, or NO_AGENT
        ),
    ]


def make_learned(grid: Grid, *, agents: int = 0) -> Learned:
    """Nothing learned, by so many agents."""
    across, down = across_and_down(grid.width, grid.height)
    blocks, rows = no_blocks()
    pages = min(_PAGES, _AGENTS * across * down + 1)
    given = {"across": across, "values": make_pages(pages), "blocks": blocks, "rows": rows}
    return allocate(Learned, given, agents=agents, map_pages=across * down, page_rows=down)


def make_lookahead(cells: int, max_expansions: int) -> Lookahead:
    """A workspace for searches that expand so many nodes at most, on maps of so many cells."""
    most = min(max_expansions, cells)
    return allocate(Lookahead, {"open_list": make_open_list(most)}, cells=cells, nodes=8 * most + 1)


@jit
def can_learn(learned, max_expansions):
    """Whether there are enough pages for all that a search may learn."""
    return has_space(learned.values, min(max_expansions, learned.page_of.shape[1]))


def with_space(learned: Learned) -> Learned:
    """The same with more pages."""
    return learned._replace(values=with_more(learned.values))


@jit
def _place_of(learned, agent, x, y):
    """Where in the pool an agent's value for (x, y) is, or one that is not learned."""
    return learned.page_of[agent, page_at(learned.across, x, y)] + place_at(x, y)


@jit
def heuristic(tables, learned, agent, x, y, goal_x, goal_y):
    """What an agent believes the path from (x, y) to its goal to cost."""
    value = get(learned.values.pool, _place_of(learned, agent, x, y))
    cost = empty_map_cost(tables, abs(x - goal_x), abs(y - goal_y))
    row = learned.row[agent]
    if row == NO_ROW:
        return value + _FAR if value != _UNLEARNED else cost
    # What blocks tell grows as they are searched, so what was learned before may be less.
    cost = cost_over_blocks(tables, learned.blocks, learned.rows, row, x, y, cost)
    return cost if value == _UNLEARNED else max(cost, value + _FAR)


@jit
def straight_heuristic(tables, learned, agent, x, y, goal_x, goal_y):
    """The same for an agent that does not trust the distances over blocks: they are not known where it stands."""
    value = get(learned.values.pool, _place_of(learned, agent, x, y))
    cost = empty_map_cost(tables, abs(x - goal_x), abs(y - goal_y))
    return cost if value == _UNLEARNED else max(cost, value + _FAR)


@jit
def knows_distance(learned, agent, cell):
    """Whether the distance over blocks from a cell to an agent's goal is final; without blocks it always is."""
    row = learned.row[agent]
    return row == NO_ROW or is_known(learned.rows.far[row], learned.blocks.group[cell])


@jit
def set_heuristic(learned, agent, x, y, value):
    """Remember what the path from (x, y) costs. Mutates: learned."""
    at = page_at(learned.across, x, y)
    if learned.page_of[agent, at] == NO_PAGE:
        learned.page_of[agent, at] = new_page(learned.values)
        learned.has_paged[agent, at // learned.across] = True
    put(learned.values.pool, _place_of(learned, agent, x, y), value - _FAR)


@jit
def _forget_page(values, page_of, has_paged, agent, at):
    """Let an agent forget one page of the map. Mutates: values, page_of, has_paged."""
    page = page_of[agent, at]
    if page != NO_PAGE:
        give_back(values, page)
        page_of[agent, at] = NO_PAGE
        has_paged[agent, at * has_paged.shape[1] // page_of.shape[1]] = True


@jit
def forget(values, page_of, has_paged, agent):
    """Let an agent forget all that it has learned: fields of `Learned`. Mutates: values, page_of, has_paged."""
    for at in range(page_of.shape[1]):
        _forget_page(values, page_of, has_paged, agent, at)


@jit
def forget_all(learned, agents):
    """Let some agents forget all that they have learned. Mutates: learned."""
    for agent in agents:
        forget(learned.values, learned.page_of, learned.has_paged, agent)


@jit
def _forget_pages(learned, pages):
    """Let all agents forget some pages of the map. Mutates: learned."""
    for at in pages:
        for agent in range(learned.page_of.shape[0]):
            _forget_page(learned.values, learned.page_of, learned.has_paged, agent, at)


def forget_around(learned: Learned, places: Iterable[Point]) -> None:
    """Let all agents forget the pages that lie within half a page, four cells, of these places."""
    down = learned.has_paged.shape[1]
    pages = {
        (row, column)
        for x, y in places
        for row in ((y - 4) // SIDE, (y + 4) // SIDE)
        for column in ((x - 4) // SIDE, (x + 4) // SIDE)
        if 0 <= row < down and 0 <= column < learned.across
    }
    _forget_pages(learned, np.array(sorted(row * learned.across + column for row, column in pages), np.int32))


@jit
def believed(tables, learned, agent, here, there, goal):
    """What an agent that stands `here` believes the path from `there` to its goal to cost.

    It trusts the distances over blocks only if they are known where it stands.
    """
    x, y = place_of(tables, there)
    goal_x, goal_y = place_of(tables, goal)
    if knows_distance(learned, agent, here):
        return heuristic(tables, learned, agent, x, y, goal_x, goal_y)
    return straight_heuristic(tables, learned, agent, x, y, goal_x, goal_y)


@jit
def learn_beside(tables, learned, agent, here, goal):
    """Let an agent believe of its cell what the best cell beside it promises (LRTA*), if that is more.

    Returns what it believes of its cell then. Mutates: learned, which has the page that it may need.
    """
    beside, bits, promised = learned.beside[agent], tables.moves[here], np.int64(_FAR)
    for d in range(8):
        if bits >> d & 1:
            beside[d] = believed(tables, learned, agent, here, here + tables.offset[d], goal)
            promised = min(promised, beside[d] + (CARDINAL_COST if d < 4 else DIAGONAL_COST))
    beside[8] = believed(tables, learned, agent, here, here, goal)
    if beside[8] < promised < _FAR:
        beside[8] = promised
        x, y = place_of(tables, here)
        set_heuristic(learned, agent, x, y, promised)
    return beside[8]


@jit
def believed_beside(tables, learned, agent, here, there):
    """What `believed` says of a cell beside an agent, or of its own, if nothing has happened since it learned."""
    bits = tables.moves[here]
    for d in range(8):
        if bits >> d & 1 and here + tables.offset[d] == there:
            return learned.beside[agent, d]
    return learned.beside[agent, 8]


@jit
def step_beside(around, agent, here, goal):
    """The direction of the best cell beside an agent, after it has learned: where no agent is and the goal is nearer.

    NO_STEP if there is none. Mutates: around.learned, which has the page that it may need.
    """
    tables, learned, taken = around.tables, around.learned, around.taken
    known, best, least = learn_beside(tables, learned, agent, here, goal), NO_STEP, np.int64(_FAR)
    for d in range(8):
        if not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d]
        if taken[there] != NO_AGENT and taken[there] != agent:
            continue
        on = believed(tables, learned, agent, here, there, goal)
        cost = on + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
        if on < known and cost < least:
            best, least = d, cost
    return best


@jit
def look_ahead(around, lookahead, agent, start, goal, max_expansions):
    """Search from start (Alg. 5); return the node to head for, NO_NODE if the open list ran empty. Mutates: lookahead.

    Cells that are taken and within the agent's vision of the start are walls, except for the goal.
    """
    tables, learned, taken = around.tables, around.learned, around.taken
    moves, offset, width = tables.moves, tables.offset, tables.width
    open_list, node_of, state = lookahead.open_list, lookahead.node_of, lookahead.state
    start_x, start_y = start % width, start // width
    goal_x, goal_y = goal % width, goal // width
    h = heuristic(tables, learned, agent, start_x, start_y, goal_x, goal_y)
    node_of[start] = 0
    lookahead.cell[0], lookahead.x[0], lookahead.y[0] = start, start_x, start_y
    lookahead.g[0], lookahead.h[0], state[0] = 0, h, 0
    clear(open_list, h)
    push(open_list, h, h, 0)
    reached, expanded, seen, answer = 1, 0, NO_AGENT, NO_NODE
    while not is_empty(open_list, state, _CLOSED):          # Alg. 5, l. 7
        node = first(open_list)
        if state[node] == _CLOSED:                          # an entry from before the node was improved
            drop_first(open_list)
            continue
        cell = lookahead.cell[node]
        if cell == goal or expanded >= max_expansions:      # Alg. 5, l. 8-11
            answer = node
            break
        drop_first(open_list)
        state[node] = _CLOSED                               # Alg. 5, l. 12-13
        x, y, g = lookahead.x[node], lookahead.y[node], lookahead.g[node]
        bits = moves[cell]
        for d in range(8):                                  # Alg. 5, l. 14
            if not bits >> d & 1:
                continue
            beside = cell + offset[d]
            cost = g + (CARDINAL_COST if d < 4 else DIAGONAL_COST)
            other = node_of[beside]
            if other >= reached or lookahead.cell[other] != beside:
                beside_x, beside_y = x + DX[d], y + DY[d]
                if (
                    (beside_x - start_x) ** 2 + (beside_y - start_y) ** 2 <= around.vision_square
                    and taken[beside] != NO_AGENT
                    and beside != goal
                ):
                    if seen == NO_AGENT:
                        seen = taken[beside]
                    continue                                # Alg. 5, l. 15-20
                other = reached
                reached += 1
                node_of[beside] = other
                lookahead.cell[other], lookahead.x[other], lookahead.y[other] = beside, beside_x, beside_y
                lookahead.h[other] = heuristic(tables, learned, agent, beside_x, beside_y, goal_x, goal_y)
                state[other] = 0
            elif state[other] == _CLOSED or cost >= lookahead.g[other]:
                continue                                    # Alg. 5, l. 21, 25
            lookahead.g[other] = cost                       # Alg. 5, l. 26-30
            lookahead.came[other] = d
            push(open_list, cost + lookahead.h[other], lookahead.h[other], other)
        expanded += 1                                       # Alg. 5, l. 34
    counts = lookahead.counts[0]
    counts.reached, counts.expanded, counts.seen = reached, expanded, seen
    return answer


@jit
def note_closed(lookahead, node, cells, values):
    """Write down what `node` promises of each closed node (Alg. 4); return their number. Mutates: cells, values."""
    f = lookahead.g[node] + lookahead.h[node]
    count = 0
    for k in range(lookahead.counts[0].reached):
        if lookahead.state[k] == _CLOSED:
            cells[count] = lookahead.cell[k]
            values[count] = f - lookahead.g[k]
            count += 1
    return count


@jit
def learn(tables, learned, agent, cells, values):
    """Believe of every cell the value beside it. Mutates: learned, which has the pages it may need."""
    for k in range(cells.size):
        set_heuristic(learned, agent, cells[k] % tables.width, cells[k] // tables.width, values[k])


@jit
def write_prefix(tables, lookahead, node, steps):
    """Write the directions of the path to a node, first move first; return their number. Mutates: steps."""
    length = 0
    k = node
    while k != 0:
        k = lookahead.node_of[lookahead.cell[k] - tables.offset[lookahead.came[k]]]
        length += 1
    for place in range(length - 1, -1, -1):
        steps[place] = lookahead.came[node]
        node = lookahead.node_of[lookahead.cell[node] - tables.offset[steps[place]]]
    return length


def rtaa_star(grid: Grid, start: Point, goal: Point, *, expansions: int = 32, moves: int = 32) -> Path:
    """The path of an agent that looks `expansions` nodes ahead, makes up to `moves` moves and looks ahead again.

    >>> grid = Grid.from_text("......\\n.####.\\n....#.\\n.####.\\n......")
    >>> [rtaa_star(grid, (0, 2), (5, 2), expansions=n).cost for n in (2, 4)]
    [17.0, 9.0]
    """
    if expansions < 1 or moves < 1:
        raise ParameterError(f"{expansions} expansions and {moves} moves lead nowhere; both are 1 or more")
    expansions, moves = int(expansions), int(moves)
    cell, last = grid.free_cell(start), grid.free_cell(goal)
    if grid.component[cell] != grid.component[last]:
        raise NoPathError(f"no path joins ({start[0]}, {start[1]}) and ({goal[0]}, {goal[1]})")
    tables, lookahead = grid.tables, make_lookahead(grid.size, expansions)
    around = Surroundings(tables, make_learned(grid, agents=1), np.full(grid.size, NO_AGENT, np.int32), 0)
    steps, closed, values = (np.empty(expansions, kind) for kind in (np.uint8, np.int32, np.int64))
    points, expanded = [grid.xy(cell)], 0
    while cell != last:
        while not can_learn(around.learned, expansions):
            around = around._replace(learned=with_space(around.learned))
        node = look_ahead(around, lookahead, 0, cell, last, expansions)
        learn(tables, around.learned, 0, closed[: note_closed(lookahead, node, closed, values)], values)
        expanded += int(lookahead.counts[0].expanded)
        for d in steps[: min(moves, write_prefix(tables, lookahead, node, steps))].tolist():
            cell += int(tables.offset[d])
            points.append(grid.xy(cell))
    return Path(tuple(points), expanded)
