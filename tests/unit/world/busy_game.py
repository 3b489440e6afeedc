"""A game with everything going on, as a program: `busy_game.py ALGORITHM CONNECTIVITY [warm]`.

It prints which kernels the game loaded or compiled, and how many had to be compiled. With `warm`, `wend.warm_up` is
called before.
"""

from __future__ import annotations

import gc
import json
import random
import sys

import wend
from wend.kernel.compiling import compiling_told
from wend.kernel.linking import Kernel


def play(key: str, connectivity: int) -> None:
    """Orders, groups, walls, deaths, spawns, budgets, an enemy that the program moves, and questions."""
    drawn = wend.mapgen.generate("arena", seed=3, width=48, height=40)
    grid = wend.Grid(drawn.free.reshape(drawn.height, drawn.width), connectivity=connectivity)
    free = [grid.xy(int(cell)) for cell in grid.free.nonzero()[0]]
    draw = random.Random(5)
    draw.shuffle(free)
    world = wend.World(grid, key, seed=2)
    units = [world.add(place, goal=draw.choice(free)) for place in free[:40]]
    enemy = world.add(free[41], controlled=False)
    world.add(free[42], pinned=True)

    def is_vacant(place: tuple[int, int]) -> bool:
        cell = world.grid.cell(*place)
        return bool(world.grid.free[cell]) and world.state.occupant[cell] < 0

    walls: list[tuple[int, int]] = []
    for tick in range(90):
        world.tick(**draw.choice([{}, {"budget": 500}, {"budget_ms": 2.0}]))
        for unit in draw.sample(units, 2):
            world.order(unit, draw.choice(free))
        if tick % 13 == 0:
            world.order_group(draw.sample(units, 15), draw.choice(free), draw.choice(["move", "attack_move"]))
        if tick % 7 == 0:
            built = [place for place in draw.sample(free, 4) if is_vacant(place)]
            world.block(built)
            walls += built
        if tick % 11 == 0:
            world.unblock(walls[:6])
            del walls[:6]
        if tick % 9 == 0:
            world.remove(units.pop(draw.randrange(len(units))))
            units.append(world.add(next(filter(is_vacant, free)), goal=draw.choice(free)))
        steps = list(filter(is_vacant, world.grid.neighbours(world.position(enemy))))
        if steps:
            world.move(enemy, steps[0])
        if tick % 8 == 0:
            world.teleport(draw.choice(units), next(filter(is_vacant, free)))
            world.follow(draw.choice(units), enemy)
        if tick % 10 == 0:
            world.states()
            for unit in units:
                world.intent(unit)
                world.agent_state(unit)
            wend.shortest_path(world.grid, world.position(units[0]), world.position(units[1]))
    for unit in units[:20]:
        world.order(unit, free[5])
    world.run(max_ticks=40)


def versions() -> dict[str, int]:
    """How many versions of each kernel this process has loaded or compiled."""
    kernels = [each for each in gc.get_objects() if isinstance(each, Kernel)]
    return {f"{each.py_func.__module__}.{each.py_func.__name__}": len(each.overloads) for each in kernels}


def main() -> None:
    key, connectivity, *warm = sys.argv[1:]
    if warm:
        wend.warm_up(key)
    before = versions()
    compiled = []
    with compiling_told(lambda: compiled.append(1)):
        play(key, int(connectivity))
    loaded = sorted(name for name, count in versions().items() if count > before.get(name, 0))
    print(json.dumps({"loaded": loaded, "compiled": len(compiled)}))


if __name__ == "__main__":
    main()
