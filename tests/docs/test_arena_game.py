"""The pygame example runs, without a screen: units are selected, sent, walled off, and drawn between two ticks."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wend

os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy", PYGAME_HIDE_SUPPORT_PROMPT="1")
pygame = pytest.importorskip("pygame", reason="needs pygame: pip install '.[examples]'")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "arena_game.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("arena_game", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def game(example: ModuleType) -> Any:
    pygame.init()
    grid = wend.mapgen.generate("arena", seed=3)
    return example.Game(pygame.display.set_mode((grid.width * example.CELL, grid.height * example.CELL)), grid)


def drag(game: Any, start: tuple[int, int], end: tuple[int, int]) -> None:
    game.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=start))
    game.draw()
    game.handle(pygame.event.Event(pygame.MOUSEBUTTONUP, button=1, pos=end))


def test_units_in_the_box_go_where_the_mouse_points(game: Any) -> None:
    drag(game, (300, 640), (0, 0))
    assert game.chosen == set(game.units)
    game.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=3, pos=(600, 300)))
    for _ in range(6 * 200):
        game.update(1 / 60)
    assert game.world.all_home()
    assert np.abs(game.world.positions()[game.units] - (60, 30)).max() < 20
    drag(game, (0, 0), (3, 3))
    assert game.chosen == set()


def test_units_are_drawn_between_two_ticks(game: Any) -> None:
    drag(game, (0, 0), (300, 640))
    game.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=3, pos=(600, 300)))
    seen = [game.on_screen()]
    for _ in range(60):
        game.update(1 / 60)
        seen.append(game.on_screen())
    assert game.world.ticks in (9, 10)
    assert np.abs(np.diff(seen, axis=0)).max() < 10 / 6 + 0.01      # a sixth of a cell per frame, and never a jump
    game.update(60.0)                                               # a hitch
    assert game.world.ticks <= 12


def test_walls_are_built_where_no_unit_stands(game: Any) -> None:
    x, y = game.world.position(game.units[0])
    game.build((x * 10 + 5, y * 10 + 5), wall=True)
    assert game.world.grid.is_free((x, y))
    free = next(place for place in ((40, y) for y in range(64)) if game.world.grid.is_free(place))
    game.build((free[0] * 10, free[1] * 10), wall=True)
    assert not game.world.grid.is_free(free)
    game.build((free[0] * 10, free[1] * 10), wall=False)
    assert game.world.grid.is_free(free)
    game.build((99_999, 99_999), wall=True)                         # beyond the map: its last cell


def test_the_program_runs_until_its_window_is_closed(example: ModuleType) -> None:
    pygame.init()
    pygame.time.set_timer(pygame.QUIT, 300, loops=1)
    example.main()
    assert not pygame.display.get_init()
