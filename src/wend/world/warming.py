# mypy: disallow-untyped-calls=False
"""Getting ready before the first frame: every kernel that a game can call is compiled, or loaded from the cache.

Kernels are compiled when they are first called, so this calls them all: a small game is played with everything that a
world can do. `tests/unit/world/test_warming.py` plays another one afterwards and finds nothing left to compile.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from wend import arguments
from wend.kernel import NO_AGENT, keeping
from wend.kernel.packing import LINE, pack, packed_size, unpack
from wend.kernel.pages import has_space, make_pages
from wend.kernel.pools import enlarged, make_pool
from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.planners import registry
from wend.planners.base import Planner
from wend.planners.lacam import unjamming
from wend.planners.lacam.real_time import RealTimeLacam
from wend.planners.mapp import making_room
from wend.planners.mapp.mapp import Mapp
from wend.search.astar import shortest_path
from wend.search.real_time import can_learn, make_learned
from wend.world.world import World

_YARD = """
    ............#...........
    .###........#...........
    .#.#........#.....##....
    .###........#.....##....
    ............#...........
    ........................
    ............#...........
    ....##......#...........
    ....##......#...........
    ............#...........
    ............#...........
    ............#...........
"""
_CELL_IN_WALLS = 2, 2
_DOOR = 12, 5


def warm_up(*planners: Planner | str, progress: Callable[[str, int, int], None] | None = None) -> float:
    """Compile every kernel that a game with these planners can call, or load it; return the seconds that it took.

    `planners` are planners or their names; without any, all of Wend's. To compile takes seconds per planner, once per
    machine and version; to load takes less than one. Call it behind a loading screen: `progress` is called before each
    planner, with its name, how many are done and how many there are, and once at the end.
    """
    began = time.perf_counter()
    arguments.function(progress, "progress")
    for k, planner in enumerate(planners):
        arguments.instance(planner, f"planners[{k}]", (Planner, str), "a planner or the name of one")
    wanted: Sequence[Planner | str] = planners or list(registry.ALGORITHMS)
    twins = [
        (each, registry.create(each)) if isinstance(each, str) else (type(each).__name__, replace(each))
        for each in wanted
    ]
    chosen = dict.fromkeys(name for _, twin in twins for name in twin.portfolio())      # what they may hand over to
    twins += [(name, registry.create(name)) for name in chosen if name not in wanted]
    for done, (name, twin) in enumerate(twins):
        if progress is not None:
            progress(name, done, len(twins))
        _play(twin)
    if progress is not None:
        progress("", len(twins), len(twins))
    return time.perf_counter() - began


def load_kernels(planner: Planner, group_mode: str | None = None, *, with_budget: bool = False) -> None:
    """Compile or load the kernels that a run of a problem with this kind of planner needs, and not many more.

    With `group_mode`, those of a run of a group that is ordered about in this mode; `with_budget`, also those by which
    agents move for which a tick's budget does not suffice.
    """
    world = World(Grid(np.ones((6, 6))), replace(planner))
    places = [(x, y) for y in (0, 5) for x in range(4)]             # enough for a crowd
    units = [world.add((x, y), goal=(5 - x, 5 - y)) for x, y in places]
    if group_mode is not None:
        world.order_group(units, (3, 3), group_mode)
    if with_budget:
        world.tick(budget=1)
    world.run(max_ticks=20)


def _play(planner: Planner) -> None:
    """A small game with everything in it."""
    grid = Grid.from_text(_YARD)
    shortest_path(grid, (0, 0), (23, 11))
    enlarged(make_pool(1))                                          # what a large map leads to,
    has_space(make_pages(1), 1)
    can_learn(make_learned(grid), 1)
    line, packed = np.zeros(LINE, np.uint64), np.zeros(packed_size(LINE), np.uint64)
    pack(line, line[0], packed, 0)                                  # ... also in snapshots
    unpack(packed, 0, line[0], line)
    keeping.rehearse()
    if isinstance(planner, Mapp):
        making_room.rehearse(grid)
    if isinstance(planner, RealTimeLacam):
        unjamming.rehearse(grid)
    world = World(grid, planner, record_reasons=True)
    units = [world.add((x, y), goal=(14 + x, y)) for y in range(5) for x in range(4, 10, 2)]
    tower = world.add((2, 8), pinned=True)
    enemy = world.add((20, 9), controlled=False)
    world.move(enemy, (20, 10))
    world.think(budget=10)
    world.tick(budget=50)                                           # suspended searches
    world.tick(budget_ms=0.5)
    world.order_group(units, (18, 5))
    world.tick()
    world.block([_DOOR])                                            # cuts paths, and all goals beyond it off
    world.order(units[0], _CELL_IN_WALLS)                           # a goal out of reach
    world.run(max_ticks=4)
    world.unblock([_DOOR])
    world.order_group(units, (20, 3), mode="attack_move")
    world.tick()
    world.block(_vacant(world, [_DOOR]))
    world.run(max_ticks=4)
    world.unblock([_DOOR, (3, 2)])                                  # the door, and a way out of the cell
    world.remove(tower)
    world.remove(units.pop())
    units += [world.add(place, goal=(0, 11)) for place in _vacant(world, [(23, 0), (22, 1), (2, 2)])]
    world.run(max_ticks=60)
    for unit in units:
        world.order(unit, (2, 9))                                   # all to one place
    world.run(max_ticks=30)
    world.teleport(units[0], _vacant(world, [(23, 11), (22, 11)])[0])
    world.follow(units[1], enemy)
    world.run(max_ticks=6)
    world.states()
    for unit in units:
        world.intent(unit)
        world.agent_state(unit)
    world.trace()
    world.state_hash()
    before = world.snapshot()
    world.tick()
    world.snapshot()                                                # which shares with the one before
    world.restore(before)
    twin = pickle.loads(pickle.dumps(world))
    twin.tick()
    for unit in units:
        world.order(unit, (20, 3))
    world.tick(budget=50)
    for unit in units:
        world.intent(unit)                                          # of one that does not know its way yet
    street = World(Grid.from_text("....."), replace(planner))
    street.add((0, 0), goal=(4, 0))
    street.block([(2, 0)])                                          # cuts off one that was sent by itself
    street.tick()


def _vacant(world: World, points: list[Point]) -> list[Point]:
    """Those on which no agent stands."""
    return [point for point in points if world.state.occupant[world.grid.cell(*point)] == NO_AGENT]
