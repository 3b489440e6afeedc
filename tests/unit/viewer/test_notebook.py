"""What notebooks show of traces, worlds and runs."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from wend import Grid, Limits, Problem, World, solve
from wend.viewer.replay import replay_page

pytestmark = pytest.mark.small


@pytest.fixture
def world() -> World:
    world = World(Grid(np.ones((4, 6))), "lra")
    world.add((0, 0), (5, 3))
    world.tick()
    return world


def test_a_world_and_its_trace_are_shown_as_the_replay_page_in_a_frame(world: World) -> None:
    trace = world.trace()
    frame = trace._repr_html_()
    assert frame == world._repr_html_()
    source = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts"( \w+="[^"]*")+></iframe>', frame)
    assert source is not None
    assert html.unescape(source[1]) == replay_page(trace)


def test_a_run_is_shown_like_its_trace() -> None:
    run = solve(Problem.from_points(Grid(np.ones((4, 6))), [(0, 0)], [(5, 3)]), "lra", Limits(max_ticks=3))
    assert run._repr_html_() == run.trace._repr_html_()


def test_a_world_without_a_trace_says_so() -> None:
    shown = World(Grid(np.ones((4, 6))), "lra", record=False)._repr_html_()
    assert "make it without record=False" in shown
    assert "&lt;World at tick 0" in shown
    assert "<iframe" not in shown


def test_a_run_that_is_too_large_says_so(world: World) -> None:
    trace = world.trace()
    trace.meta["note"] = np.random.default_rng(0).bytes(2_000_000).hex()
    shown = trace._repr_html_()
    assert len(shown) < 1000
    assert "notebooks are given at most 2 MB" in shown
