"""The recorded runs: every planner, both connectivities, with and without a budget, through orders, walls and deaths.

`state_hashes.json` holds the hash of the world after each of them. A hash that changes means that some agent went
elsewhere in some tick. Where that is meant, record them again, and say why in the commit:

    python -m tests.golden.runs
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from wend import ALGORITHMS, Grid, World, create

RECORDED = Path(__file__).with_name("state_hashes.json")

OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((key, {}) for key in ALGORITHMS if key != "auto"),       # whose choices change with its model
    ("lra", {"noise": 3, "calm_moves": 1}),
    ("ca", {"order": "far_first", "no_follow": True}),
    ("hca", {"forbid_cross": True, "program_ticks": 2}),
    ("whca", {"window": 5, "abstraction": 1}),
    ("whca", {"abstraction": 2, "order": "age", "soft_tail": 2}),
    ("whca", {"boxed_in": "push", "patience": 3, "no_follow": True}),
    ("whca", {"window": 8, "order": "age", "boxed_in": "push", "soft_tail": 1}),
    ("whca", {
        "window": 16, "order": "age", "boxed_in": "push", "soft_tail": 1, "patience": 2, "forbid_cross": True,
    }),
    ("weave", {"window": 3, "swap": False}),
    ("far", {"commit": "slide", "flow": "local", "reservation": 5, "patience": 9}),
    ("far", {"patience": 4, "proxy_expansions": 9}),
    ("bmaa", {"replan_when_blocked": True, "spread": 4}),
    ("bmaa", {"heuristic": "blocks", "block": 4, "push": True}),
    ("bmaa", {"make_way": True, "patience": 2}),
    ("surge", {"block": 5, "threads": 2, "patience": 3}),
    ("mapp", {"turn": "until-stopped"}),
    ("pibt", {"swap": False}),
    ("lacam", {"swap": False, "max_expansions": 300, "anytime_expansions": 20}),
    ("lacam-rt", {"swap": False, "configurations": 5}),
    ("mapp", {"target_isolation": False, "needless": "keep", "rounds": 1}),
    ("mapp", {"alternate_connectivity": False, "counting": False, "needless": "trim"}),
    ("mapp", {"minimal_rollback": True, "inline_return": True}),
    ("mapp", {"initial_blank": True, "later_provable": True, "attempt_all": False, "patience_ticks": 3}),
)
BUDGETS = (None, 120)
CONNECTIVITIES = (4, 8)


def name_of(key: str, options: dict[str, Any], connectivity: int, budget: int | None) -> str:
    """What a run is called in the file."""
    given = " ".join(f"{name}={value}" for name, value in options.items())
    limit = "no budget" if budget is None else f"budget {budget}"
    return ", ".join(part for part in (key, given, f"{connectivity} neighbours", limit) if part)


def state_hash(key: str, options: dict[str, Any], connectivity: int, budget: int | None) -> str:
    """Play a run of 120 ticks: a crowd, two agents of the program, walls that rise and fall, deaths, spawns, groups."""
    draw = np.random.default_rng(7)
    width, height = 22, 17
    grid = Grid(draw.random((height, width)) < 0.85, connectivity=connectivity)
    world = World(grid, create(key, **options), seed=3)
    starts, goals = draw.permutation(grid.free_cells()), draw.permutation(grid.free_cells())
    for start, goal in zip(starts[:48].tolist(), goals[:48].tolist(), strict=True):
        world.add(grid.xy(start), grid.xy(goal))
    walkers = [world.add(grid.xy(cell), controlled=False) for cell in starts[48:50].tolist()]
    world.pin(5)
    present = list(range(48))
    walls: list[tuple[int, int]] = []

    def is_vacant(point: tuple[int, int]) -> bool:
        return world.grid.is_free(point) and world.state.occupant[world.grid.cell(*point)] < 0

    for tick in range(120):
        if tick % 7 == 3:
            for agent in draw.choice(present, 3, replace=False).tolist():
                world.order(agent, grid.xy(int(draw.choice(goals))))
        if tick % 11 == 5:
            for cell in draw.choice(grid.free_cells(), 2).tolist():
                if is_vacant(grid.xy(cell)):
                    world.block([grid.xy(cell)])
                    walls.append(grid.xy(cell))
            if len(walls) > 5:
                world.unblock([walls.pop(0)])
        if tick in (20, 60):
            world.remove(present.pop(int(draw.integers(len(present)))))
        if tick in (30, 75):
            cell = int(draw.choice([c for c in world.grid.free_cells().tolist() if world.state.occupant[c] < 0]))
            present.append(world.add(grid.xy(cell), grid.xy(int(draw.choice(goals)))))
        if tick in (45, 90):
            group = sorted(draw.choice(present, 9, replace=False).tolist())
            world.order_group(group, grid.xy(int(draw.choice(goals))), "move" if tick == 45 else "attack_move")
        for walker in walkers:
            steps = sorted(p for p in world.grid.neighbours(world.position(walker)) if is_vacant(p))
            if steps and tick % 2 == walker % 2:
                world.move(walker, steps[int(draw.integers(len(steps)))])
        world.tick(budget=budget)
    return world.state_hash()


def all_runs() -> list[tuple[str, dict[str, Any], int, int | None]]:
    """Everything that is recorded."""
    return [(key, options, k, b) for key, options in OPTIONS for k in CONNECTIVITIES for b in BUDGETS]


if __name__ == "__main__":
    RECORDED.write_text(json.dumps({name_of(*run): state_hash(*run) for run in all_runs()}, indent=1) + "\n")
