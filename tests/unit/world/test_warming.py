"""After warm_up, a game has no kernel left to compile.

`WEND_WARM_UP="surge bmaa far"` names the planners that are compiled into an empty cache (about 20 seconds each).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wend import ALGORITHMS, World, create, errors, mapgen, warm_up
from wend.kernel import scramble

GAME = Path(__file__).with_name("busy_game.py")
COMPILED_ANEW = os.environ.get("WEND_WARM_UP", "weave").split()
needs_the_compiler = pytest.mark.skipif(not hasattr(scramble, "overloads"), reason="kernels are plain Python here")


def run(*words: str, **env: str) -> str:
    command = [sys.executable, *words]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env})
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def game(key: str, *words: str, **env: str) -> Any:
    return json.loads(run(str(GAME), key, *words, **env))


@needs_the_compiler
@pytest.mark.parametrize("key", ALGORITHMS)
def test_a_game_after_warming_up_loads_no_kernel(key: str) -> None:
    """What is not loaded in the same process was not rehearsed, whether the cache has it or not."""
    assert game(key, "8", "warm") == {"loaded": [], "compiled": 0}


@needs_the_compiler
def test_a_map_of_four_neighbours_needs_no_kernels_of_its_own() -> None:
    assert game("weave", "4", "warm") == {"loaded": [], "compiled": 0}


BUDGETED = """
import sys
from busy_game import versions
from wend import World, create, make_problem, mapgen
from wend.world.warming import load_kernels
loaded = set()
for key in sys.argv[1:]:
    load_kernels(create(key), with_budget=True)
    world = World.from_problem(make_problem("random", mapgen.generate("rooms", seed=1), agents=60, seed=1), key)
    before = versions()
    for _ in range(12):
        world.tick(budget=300)
    loaded |= {(key, name) for name, count in versions().items() if count > before.get(name, 0)}
print(sorted(loaded))
"""


@needs_the_compiler
def test_a_run_with_a_budget_loads_no_kernel_in_its_ticks() -> None:
    online = [key for key, algorithm in ALGORITHMS.items() if algorithm.online and key != "auto"]
    assert run("-c", BUDGETED, *online, PYTHONPATH=str(GAME.parent)) == "[]\n"


@needs_the_compiler
def test_what_a_game_loads_is_seen() -> None:
    assert "wend.groups.orders._follow" in game("lra", "8")["loaded"]


@needs_the_compiler
@pytest.mark.parametrize("key", COMPILED_ANEW)
def test_a_second_process_compiles_nothing(key: str, tmp_path: Path) -> None:
    run("-c", f"import wend; wend.warm_up({key!r})", NUMBA_CACHE_DIR=str(tmp_path))
    played = game(key, "8", NUMBA_CACHE_DIR=str(tmp_path))
    assert played["loaded"] != []
    assert played["compiled"] == 0


def test_progress_names_what_comes_next() -> None:
    told: list[tuple[str, int, int]] = []
    assert warm_up("far", create("astar-replan"), progress=lambda *step: told.append(step)) > 0
    assert told == [("far", 0, 2), ("Far", 1, 2), ("", 2, 2)]


def test_bad_arguments_are_named() -> None:
    with pytest.raises(errors.WendError, match="unknown algorithm 'larry'"):
        warm_up("larry")
    with pytest.raises(errors.ParameterError, match=r"planners\[1\] is a planner or the name of one"):
        warm_up("lra", 3)       # type: ignore[arg-type]
    with pytest.raises(errors.ParameterError, match="progress"):
        warm_up("lra", progress=3)      # type: ignore[arg-type]


@pytest.mark.small
def test_warming_up_leaves_the_planner_unbound() -> None:
    planner = World(mapgen.open_map(), "far").planner
    state = planner.state
    assert warm_up(planner) > 0
    assert planner.state is state
