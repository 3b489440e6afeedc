"""The pictures of docs/teaching.md are drawn by code that runs, and show what the page says."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from wend.planners.waiting import LETS_PASS

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


@pytest.fixture(scope="module")
def teaching() -> ModuleType:
    os.environ.setdefault("MPLBACKEND", "Agg")
    spec = importlib.util.spec_from_file_location("teaching", IMAGES / "teaching.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_pictures_are_drawn(teaching: ModuleType, tmp_path: Path) -> None:
    teaching.main(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in IMAGES.glob("teaching-*.png")}
    page = (IMAGES.parent / "teaching.md").read_text()
    assert all(f"(images/{name})" in page for name in drawn)


def test_in_the_niche_the_third_waits_for_the_second(teaching: ModuleType) -> None:
    world = teaching.niche()
    teaching.tick_until_one_waits(world)
    assert world.ticks == 3
    assert teaching.agents_that_wait(world) == [2]
    assert (world.intent(2).waits_for, world.intent(2).reason) == (1, LETS_PASS)
    reserved = world.planner.overlay("next")
    planned = {agent: world.grid.cell(*world.intent(agent).path[0]) for agent in range(3)}
    assert {int(reserved[cell]): cell for cell in np.flatnonzero(reserved >= 0).tolist()} == planned


def test_in_the_dead_end_agents_learn_that_it_is_one(teaching: ModuleType) -> None:
    world = teaching.dead_end()
    before = world.planner.overlay("learned", 0)
    world.tick()
    raised = (world.planner.overlay("learned", 0) - before).reshape(5, 9)
    assert (raised >= 0).all()
    assert (raised[2, 1:6] > 1).all()
    assert not raised[:, 7:].any()
    path = world.intent(0).path
    assert [x for x, _ in path[:2]] == [1, 0]
    teaching.tick_until_one_waits(world)
    (waiting,) = teaching.agents_that_wait(world)
    assert world.intent(waiting).waits_for == 1 - waiting
    streets = teaching.dead_end("bmaa-f")
    assert (streets.planner.overlay("flow") != streets.grid.tables.moves).any()


def test_in_the_yard_units_wait_for_those_that_pass_first(teaching: ModuleType) -> None:
    world = teaching.yard()
    teaching.tick_until_one_waits(world)
    for unit in teaching.agents_that_wait(world):
        assert world.intent(unit).waits_for is not None
        assert world.intent(unit).reason == "another agent is to pass there first"
    left = sum(len(world.intent(unit).path) for unit in range(world.agents))
    assert world.planner.overlay("traffic").sum() == left
