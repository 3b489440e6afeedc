"""A game with everything going on: 500 units on 256 x 256 cells. What do the worst tick and the worst calls take?

Units get new orders, walls rise and fall, units die and others are born, enemies are moved by the program, a turret is
pinned, groups are sent about in both modes, and units follow enemies. It takes minutes, so it runs only when named;
`--ticks` says for how long. Each planner has its own process.

Times are those of the processor, so that other programs on the machine do not count. The first ticks, in which kernels
are loaded and pools grow to their usual size, are left out.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Row
from wend import ALGORITHMS, Grid, World, warm_up
from wend.problems.scenarios import make_problem

PLANNERS = tuple(key for key, entry in ALGORITHMS.items() if entry.online)
MAP = "rooms:width=256,height=256,seed=0"
AGENTS = 500
ENEMIES = 8
GROUP = 60
TICKS = 20_000
BUDGET = 8_000          # expansions per tick
LEFT_OUT = 50           # ticks
WALLS = 40              # doors that are closed at the same time, at most


def run(ticks: int = TICKS) -> list[Row]:
    """For each planner: expansions and milliseconds of the worst tick, and of the worst call of each kind."""
    rows = []
    for planner in PLANNERS:
        command = [sys.executable, "-m", "benchmarks.game", planner, str(ticks)]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        name = f"{planner}, {ticks} ticks"
        rows.append(Row(f"{name}: worst tick", "expansions", found["expansions"], where=MAP, at_most=BUDGET))
        for call, taken in found["ms"].items():
            rows += [Row(f"{name}: {which} {call}", "ms", ms, where=MAP) for which, ms in taken.items()]
    return rows


def play(planner: str, ticks: int) -> dict[str, Any]:
    """Play with one planner, and measure it."""
    warm_up(planner)
    game = _Game(planner)
    gc.collect()
    gc.freeze()
    for tick in range(ticks):
        game.measures = tick >= LEFT_OUT
        game.play(tick)
    taken = {
        name: {"median": float(np.median(ms)), "99 %": float(np.percentile(ms, 99)), "worst": max(ms)}
        for name, ms in sorted(game.taken.items())
    }
    return {"expansions": game.most_expansions, "ms": taken}


class _Game:
    """The game, and what its calls took."""

    def __init__(self, planner: str) -> None:
        self.draw = np.random.default_rng(0)
        grid = Grid.load(MAP)
        problem = make_problem("random", grid, agents=AGENTS, seed=1)
        self.world = World.from_problem(problem, planner, seed=0, record=False)
        self.places = [grid.xy(cell) for cell in grid.largest_component().tolist()]
        self.units = list(range(AGENTS))
        self.enemies = [self.world.add(self._vacant(), controlled=False) for _ in range(ENEMIES)]
        self.world.add(self._vacant(), pinned=True)
        self.walls: list[list[tuple[int, int]]] = []
        self.measures = False
        self.taken: dict[str, list[float]] = defaultdict(list)
        self.most_expansions = 0

    def play(self, tick: int) -> None:
        """All that happens in one tick."""
        world, draw = self.world, self.draw
        for unit in draw.choice(self.units, 5, replace=False).tolist():
            self._timed("order", world.order, unit, self._place())
        if tick % 40 == 7:
            mode = "move" if tick % 80 == 7 else "attack_move"
            group, place = draw.choice(self.units, GROUP, replace=False).tolist(), self._place()
            self._timed(f"order_group, {mode}", lambda: world.order_group(group, place, mode, budget=BUDGET // 2))
        if tick % 10 == 3:
            x, y = self._place()
            door = [place for place in ((x + k, y) for k in range(4)) if self._is_vacant(place)]
            self.walls.append(door)
            self._timed("block", world.block, door)
        if len(self.walls) > WALLS:
            self._timed("unblock", world.unblock, self.walls.pop(0))
        if tick % 20 == 11:
            self._timed("remove", world.remove, self.units.pop(int(draw.integers(len(self.units)))))
            self.units.append(self._timed("add", world.add, self._vacant(), self._place()))
        if tick % 16 == 5:
            self._timed("follow", world.follow, self.units[tick % 50], self.enemies[tick % ENEMIES])
        announced: set[tuple[int, int]] = set()
        for enemy in self.enemies:
            beside = world.grid.neighbours(world.position(enemy))
            steps = [place for place in beside if self._is_vacant(place) and place not in announced]
            if steps and draw.random() < 0.5:
                there = steps[int(draw.integers(len(steps)))]
                announced.add(there)
                world.move(enemy, there)
        before = world.expansions
        self._timed("tick", lambda: world.tick(budget=BUDGET))
        self.most_expansions = max(self.most_expansions, world.expansions - before)

    def _timed(self, name: str, call: Callable[..., Any], *given: Any) -> Any:
        """Make a call, and note the milliseconds that it took."""
        began = time.process_time()
        answer = call(*given)
        if self.measures:
            self.taken[name].append((time.process_time() - began) * 1000)
        return answer

    def _place(self) -> tuple[int, int]:
        return self.places[int(self.draw.integers(len(self.places)))]

    def _is_vacant(self, place: tuple[int, int]) -> bool:
        grid = self.world.grid
        return grid.is_free(place) and self.world.state.occupant[grid.cell(*place)] < 0

    def _vacant(self) -> tuple[int, int]:
        while not self._is_vacant(place := self._place()):
            pass
        return place


if __name__ == "__main__":
    print(json.dumps(play(sys.argv[1], int(sys.argv[2]))))
