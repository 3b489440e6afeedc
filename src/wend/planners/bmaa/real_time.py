# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""RTAA*: an A* that stops after a few expansions, and learns from them. For one agent, or for each of many.

Koenig, Likhachev: Real-Time Adaptive A* (AAMAS 2006), as printed in Sigurdson et al. (CIG 2018), Algorithms 4 and 5.

`look_ahead` expands a bounded number of nodes around an agent. The node that it would expand next is where the agent
heads for: `write_prefix` reads off the way there, and `learn` raises the heuristic values of all expanded nodes to what
that node promises, so that nobody stays in a dead end for ever. `rtaa_star` is all of it, for one agent alone.

Learned values are private to an agent and stay until `forget`. They are sparse: an agent learns where it has been. So
the map is cut into pages of 8 x 8 cells; an agent has a directory that says which page of a pool holds its values, and
the page of all unlearned cells is page 0, which is nobody's. Kernels take pages that were given back or are fresh; when
`pages_left` are too few, `with_more_pages` makes more, in Python, between two calls.

Expansion is in the order of the open list: f, then larger g, then first in, first out; a node's number is its place in
that queue. Costs are in the units of grid.CARDINAL_COST.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from wend.errors import NoPathError, ParameterError
from wend.kernel import NO_AGENT, jit
from wend.maps.grid import Grid
from wend.maps.terrain import CARDINAL_COST, DIAGONAL_COST, DX, DY, Point, empty_map_cost
from wend.planners.bmaa.blocks import NO_ROW, UNIT_SHIFT, Blocks, Ways, block_cost, no_blocks
from wend.search.astar import Path
from wend.search.open_list import OpenList, clear, drop_first, first, is_empty, make_open_list, push

NO_NODE = -1

_NO_PAGE = 0                # a page of unlearned cells, which is never written
_NOT_LEARNED = 2**62
_PAGE_SHIFT = 3             # a page is 8 x 8 cells
_PAGE_CELLS = 64
_PAGES_PER_AGENT = 64       # set aside for each agent, which is what 3,000 ticks on a large map need
_GROWTH = 1.5               # of the pool, when that is not enough
_CLOSED = 1


class Learned(NamedTuple):
    """The heuristic values that each agent has learned for its own goal."""

    across: int             # pages in a row of the map
    directory: np.ndarray   # int32[agents, pages of the map]  where in the pool the agent's page is, _NO_PAGE = nowhere
    pool: np.ndarray        # int64[room, 64]                  learned cost to the goal, or _NOT_LEARNED
    fresh: np.ndarray       # int64[1]                         the first page of the pool that was never used
    given: np.ndarray       # int32[room]                      a stack of pages that were given back
    given_count: np.ndarray # int64[1]                         its height
    row: np.ndarray         # int32[agents]                    whose of `ways` are those to its goal, or NO_ROW
    blocks: Blocks          # what is believed of cells that nothing was learned of, if there is a row;
    ways: Ways              # otherwise, that the map is empty


class Lookahead(NamedTuple):
    """The workspace of one bounded search at a time, reused by all. A node is a cell that the search has reached."""

    open_list: OpenList
    node_of: np.ndarray     # int32[cells]  node k is the cell's if k < reached and cell[k] is that cell
    cell: np.ndarray        # int32[nodes]
    x: np.ndarray           # int32[nodes]
    y: np.ndarray           # int32[nodes]
    g: np.ndarray           # int64[nodes]  cost of the best way found so far
    h: np.ndarray           # int64[nodes]  estimated cost of the rest
    came: np.ndarray        # uint8[nodes]  direction of the move that leads there; of no meaning at the start, node 0
    state: np.ndarray       # uint8[nodes]  _CLOSED once expanded
    reached: np.ndarray     # int32[1]      number of nodes
    expanded: np.ndarray    # int32[1]      number of closed nodes
    seen: np.ndarray        # int32[1]      the first agent that was in the search's way, or NO_AGENT


def make_learned(grid: Grid) -> Learned:
    """Nothing learned, by nobody."""
    across, down = ((side + 7) >> _PAGE_SHIFT for side in (grid.width, grid.height))
    return Learned(
        across, np.empty((0, across * down), np.int32),
        np.full((1, _PAGE_CELLS), _NOT_LEARNED, np.int64), np.ones(1, np.int64),
        np.empty(1, np.int32), np.zeros(1, np.int64),
        np.empty(0, np.int32), *no_blocks(),
    )  # fmt: skip


def with_agents(learned: Learned, agents: int) -> Learned:
    """The same with room for so many agents."""
    known, map_pages = learned.directory.shape
    directory = np.empty((agents, map_pages), np.int32)
    directory[:known] = learned.directory
    directory[known:] = _NO_PAGE        # written now: the first tick has enough to do
    row = np.pad(learned.row, (0, agents - known), constant_values=NO_ROW)
    learned = learned._replace(directory=directory, row=row)
    return with_more_pages(learned, (agents - known) * min(_PAGES_PER_AGENT, map_pages))


def with_more_pages(learned: Learned, pages: int) -> Learned:
    """The same with so many more fresh pages, or some more."""
    used = int(learned.fresh[0])
    room = max(len(learned.pool) + pages, int(used * _GROWTH))
    words = np.empty(room * _PAGE_CELLS + 7, np.int64)      # what is not used takes no memory
    shift = -words.ctypes.data // 8 % 8                     # a row of a page is a line of the cache: a tenth faster
    pool = words[shift : shift + room * _PAGE_CELLS].reshape(room, _PAGE_CELLS)
    pool[:used] = learned.pool[:used]
    given = np.empty(room, np.int32)
    given[: len(learned.given)] = learned.given
    return learned._replace(pool=pool, given=given)


def make_lookahead(cells: int, max_expansions: int, *, workers: int = 0) -> Lookahead:
    """A workspace for searches that expand so many nodes at most, on maps of so many cells.

    With `workers`, one for each: all arrays have one more axis, the first.
    """
    nodes = 8 * min(max_expansions, cells) + 1
    one = Lookahead(
        make_open_list(min(max_expansions, cells)),
        np.zeros(cells, np.int32),
        *(np.zeros(nodes, np.int32) for _ in range(3)),
        *(np.zeros(nodes, np.int64) for _ in range(2)),
        *(np.zeros(nodes, np.uint8) for _ in range(2)),
        *(np.zeros(1, np.int32) for _ in range(3)),
    )
    if workers == 0:
        return one
    return Lookahead(
        OpenList(*(np.stack([array] * workers) for array in one.open_list)),
        *(np.stack([array] * workers) for array in one[1:]),
    )


@jit
def pages_needed(learned, max_expansions):
    """How many pages a search may take at most when it learns."""
    return min(max_expansions, learned.directory.shape[1])


@jit
def pages_left(learned):
    """How many pages there are to take."""
    return learned.pool.shape[0] - learned.fresh[0] + learned.given_count[0]


@jit
def heuristic(tables, learned, agent, x, y, goal_x, goal_y):
    """What an agent believes the way from (x, y) to its goal to cost."""
    page = learned.directory[agent, (y >> _PAGE_SHIFT) * learned.across + (x >> _PAGE_SHIFT)]
    value = learned.pool[page, (y & 7) << _PAGE_SHIFT | (x & 7)]
    cost = empty_map_cost(tables, abs(x - goal_x), abs(y - goal_y))
    row = learned.row[agent]
    if row == NO_ROW:
        return value if value != _NOT_LEARNED else cost
    # What blocks tell grows as they are searched, so what was learned before may be less.
    here = learned.blocks.group[y * tables.width + x]
    if here != learned.ways.goal[row]:
        minor = tables.minor >> UNIT_SHIFT
        far = block_cost(minor, learned.blocks.about, learned.ways.far[row], here, x, y)
        cost = max(cost, np.int64(far) << UNIT_SHIFT)
    return cost if value == _NOT_LEARNED else max(cost, value)


@jit
def _set_heuristic(learned, agent, x, y, value):
    """Remember what the way from (x, y) costs. Mutates: learned."""
    at = (y >> _PAGE_SHIFT) * learned.across + (x >> _PAGE_SHIFT)
    page = learned.directory[agent, at]
    if page == _NO_PAGE:
        if learned.given_count[0] > 0:
            learned.given_count[0] -= 1
            page = learned.given[learned.given_count[0]]
        else:
            page = np.int32(learned.fresh[0])
            learned.fresh[0] += 1
        for k in range(_PAGE_CELLS):
            learned.pool[page, k] = _NOT_LEARNED
        learned.directory[agent, at] = page
    learned.pool[page, (y & 7) << _PAGE_SHIFT | (x & 7)] = value


@jit
def _give_back(learned, agent, at):
    """Let an agent forget one page of the map. Mutates: learned."""
    page = learned.directory[agent, at]
    if page != _NO_PAGE:
        learned.given[learned.given_count[0]] = page
        learned.given_count[0] += 1
        learned.directory[agent, at] = _NO_PAGE


@jit
def forget(learned, agent):
    """Let an agent forget all that it has learned. Mutates: learned."""
    for at in range(learned.directory.shape[1]):
        _give_back(learned, agent, at)


@jit
def _forget_pages(learned, pages):
    """Let everybody forget some pages of the map. Mutates: learned."""
    for at in pages:
        for agent in range(learned.directory.shape[0]):
            _give_back(learned, agent, at)


def forget_around(learned: Learned, places: Iterable[Point]) -> None:
    """Let everybody forget the pages that lie within half a page, four cells, of these places."""
    down = learned.directory.shape[1] // learned.across
    pages = {
        (row, column)
        for x, y in places
        for row in ((y - 4) >> _PAGE_SHIFT, (y + 4) >> _PAGE_SHIFT)
        for column in ((x - 4) >> _PAGE_SHIFT, (x + 4) >> _PAGE_SHIFT)
        if 0 <= row < down and 0 <= column < learned.across
    }
    _forget_pages(learned, np.array(sorted(row * learned.across + column for row, column in pages), np.int32))


@jit
def look_ahead(tables, learned, agent, lookahead, taken, start, goal, vision_square, max_expansions):
    """Search from start (Alg. 5); return the node to head for, NO_NODE if the open list ran empty. Mutates: lookahead.

    `taken` int32[cells] holds the agent on each cell, or NO_AGENT. Cells so taken whose squared distance from the start
    is at most `vision_square` are walls, but for the goal.
    """
    moves, offset, width = tables.moves, tables.offset, tables.width
    open_list, node_of, state = lookahead.open_list, lookahead.node_of, lookahead.state
    start_x, start_y = start % width, start // width
    goal_x, goal_y = goal % width, goal // width
    h = heuristic(tables, learned, agent, start_x, start_y, goal_x, goal_y)
    node_of[start] = 0
    lookahead.cell[0], lookahead.x[0], lookahead.y[0] = start, start_x, start_y
    lookahead.g[0], lookahead.h[0], state[0] = 0, h, 0
    lookahead.seen[0] = NO_AGENT
    clear(open_list, h)
    push(open_list, h, h, 0)
    reached, expanded, answer = 1, 0, NO_NODE
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
                    (beside_x - start_x) ** 2 + (beside_y - start_y) ** 2 <= vision_square
                    and taken[beside] != NO_AGENT
                    and beside != goal
                ):
                    if lookahead.seen[0] == NO_AGENT:
                        lookahead.seen[0] = taken[beside]
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
    lookahead.reached[0] = reached
    lookahead.expanded[0] = expanded
    return answer


@jit
def note_closed(lookahead, node, cells, values):
    """Write down what `node` promises of each closed node (Alg. 4); return their number. Mutates: cells, values."""
    f = lookahead.g[node] + lookahead.h[node]
    count = 0
    for k in range(lookahead.reached[0]):
        if lookahead.state[k] == _CLOSED:
            cells[count] = lookahead.cell[k]
            values[count] = f - lookahead.g[k]
            count += 1
    return count


@jit
def learn(tables, learned, agent, cells, values):
    """Believe of every cell the value beside it. Mutates: learned, which has the pages it may need."""
    for k in range(cells.size):
        _set_heuristic(learned, agent, cells[k] % tables.width, cells[k] // tables.width, values[k])


@jit
def write_prefix(tables, lookahead, node, steps):
    """Write the directions of the way to a node, first move first; return their number. Mutates: steps."""
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
    """The way that one agent walks to its goal when it looks `expansions` nodes ahead, and anew after `moves` moves.

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
    learned, lookahead = with_agents(make_learned(grid), 1), make_lookahead(grid.size, expansions)
    nobody = np.full(grid.size, NO_AGENT, np.int32)
    steps, closed, values = (np.empty(expansions, kind) for kind in (np.uint8, np.int32, np.int64))
    points, expanded = [grid.xy(cell)], 0
    while cell != last:
        if pages_left(learned) < pages_needed(learned, expansions):
            learned = with_more_pages(learned, pages_needed(learned, expansions))
        node = look_ahead(grid.tables, learned, 0, lookahead, nobody, cell, last, 0, expansions)
        learn(grid.tables, learned, 0, closed[: note_closed(lookahead, node, closed, values)], values)
        expanded += int(lookahead.expanded[0])
        for d in steps[: min(moves, write_prefix(grid.tables, lookahead, node, steps))].tolist():
            cell += int(grid.tables.offset[d])
            points.append(grid.xy(cell))
    return Path(tuple(points), expanded)
