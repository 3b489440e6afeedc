"""Every metric on runs small enough to count by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wend import Grid, Trace, World, metrics
from wend.world.trace import Event

W, N, E, S, WEST, NE, SE = 0, 1, 2, 3, 4, 5, 6


def trace_of(drawing: str, agents: list[tuple[tuple[int, int], tuple[int, int]]], rows: list[list[int]]) -> Trace:
    """A run from a drawing, (start, goal) of each agent, and the codes of each tick."""
    events = [Event(0, "added", a, {"at": s, "goal": g, "controlled": True}) for a, (s, g) in enumerate(agents)]
    moves = np.array(rows, dtype=np.uint8).reshape(len(rows), len(agents))
    plan_ms = np.arange(1.0, len(rows) + 1)
    return Trace(Grid.from_text(drawing), moves, events, plan_ms, np.full(len(rows), 10), {})


@pytest.fixture
def run() -> Trace:
    """Agent 0 arrives in tick 2, is pushed away in tick 3 and is back in tick 4; 1 goes diagonally and arrives in tick
    2; 2 never gets home and walks in a circle; 3 stands on its goal all the time."""
    return trace_of(
        "......\n......\n......",
        [((0, 0), (2, 0)), ((3, 0), (5, 2)), ((0, 2), (5, 1)), ((2, 2), (2, 2))],
        [[E, SE, E, W], [E, SE, WEST, W], [S, W, W, W], [N, W, W, W]],
    )


@pytest.mark.small
def test_completion(run: Trace) -> None:
    assert metrics.completed(run) == 3
    assert metrics.completion_rate(run) == 0.75
    assert metrics.completion_ticks(run).tolist()[:2] == [4, 2]
    assert math.isnan(metrics.completion_ticks(run)[2])
    assert metrics.completion_ticks(run)[3] == 0
    assert metrics.completion_ticks(run, unfinished=99)[2] == 99
    assert metrics.completion_seconds(run, unfinished=30).tolist() == pytest.approx([0.010, 0.003, 30, 0])


@pytest.mark.small
def test_distance_and_length(run: Trace) -> None:
    assert metrics.travel_distance(run).tolist() == pytest.approx([4, 2 * math.sqrt(2), 2, 0])
    assert metrics.path_length(run).tolist()[:2] == [2, 2]
    assert math.isnan(metrics.path_length(run)[2])
    assert metrics.path_length(run)[3] == 0
    assert metrics.cycles(run).tolist() == [1, 0, 1, 0]
    assert metrics.detour_ratio(run).tolist()[:2] == pytest.approx([2, 1])
    assert np.isnan(metrics.detour_ratio(run)[2:]).all()


@pytest.mark.small
def test_what_needs_everybody_home(run: Trace) -> None:
    assert metrics.makespan(run) is None
    assert metrics.sum_of_costs(run) is None
    done = trace_of("...", [((0, 0), (1, 0)), ((2, 0), (2, 0))], [[W, W], [E, W]])
    assert (metrics.makespan(done), metrics.sum_of_costs(done)) == (2, 2)


@pytest.mark.small
def test_clocks(run: Trace) -> None:
    assert metrics.tick_ms(run) == pytest.approx({"p50": 2.5, "p99": 3.97, "max": 4.0})
    assert metrics.expansions(run) == 40
    late = trace_of("....", [((0, 0), (1, 0)), ((3, 0), (2, 0))], [[W, W], [W, WEST], [E, W]])
    assert metrics.first_move_ticks(late).tolist() == [3, 2]
    assert metrics.ticks_until_moved(late) == 3
    assert metrics.ticks_until_moved(late, share=0.5) == 2
    never = trace_of("....", [((0, 0), (1, 0))], [[W]])
    assert metrics.ticks_until_moved(never) is None
    assert np.isnan(metrics.first_move_ticks(never)).all()


@pytest.mark.small
def test_crowds() -> None:
    stops = trace_of(
        "......", [((0, 0), (5, 0)), ((5, 0), (4, 0))],
        [[E, WEST], [W, W], [W, W], [E, W], [W, W]],
    )  # fmt: skip
    assert metrics.hard_stops(stops).tolist() == [2, 0]     # to stand on the goal is no stop
    assert metrics.peak_density(stops) == pytest.approx(2 / 4)      # at the end, at 2 and 4: cells 2 to 5
    alone = trace_of("...\n...\n...", [((1, 1), (1, 1))], [[W]])
    assert metrics.peak_density(alone) == pytest.approx(1 / 9)
    assert metrics.repaths(alone) is None
    world = World(Grid.from_text("......"), "lra")
    world.add((0, 0), (5, 0))
    world.add((5, 0), (0, 0))
    for _ in range(4):
        world.tick()
    assert metrics.repaths(world.trace()) == 1      # each met the other once, and searched again


@pytest.mark.small
def test_the_last_order_counts_and_strangers_do_not() -> None:
    world = World(Grid.from_text("......"), "lra")
    agent = world.add((0, 0), (1, 0))
    world.add((5, 0), controlled=False)
    gone = world.add((4, 0), (5, 0))
    world.tick()
    world.tick()
    world.remove(gone)
    world.order(agent, (3, 0))
    world.run(max_ticks=9)
    run = world.trace()
    assert metrics.counted(run).tolist() == [agent]
    assert metrics.summary(run)["agents"] == 1
    assert metrics.completion_rate(run) == 1
    assert metrics.path_length(run).tolist() == [2]
    assert metrics.first_move_ticks(run).tolist() == [1]
    assert metrics.detour_ratio(run).tolist() == [1]
    assert metrics.completion_ticks(run).tolist() == [4]


@pytest.mark.small
def test_nobody_and_nothing() -> None:
    empty = World(Grid.from_text("."), "lra").trace()
    numbers = metrics.summary(empty)
    assert (numbers["agents"], numbers["completion_rate"], numbers["distance_mean"]) == (0, 1.0, None)
    assert (numbers["makespan"], numbers["first_move_ticks_max"], numbers["tick_ms"]["max"]) == (0, None, 0.0)
