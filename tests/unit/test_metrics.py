"""Every metric on runs small enough to count by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from wend import Grid, Trace, World, metrics
from wend.errors import FormatError
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
def test_costs_over_their_lower_bounds(run: Trace) -> None:
    assert (metrics.sum_of_costs_bound(run), metrics.makespan_bound(run)) == (2 + 2 + 5 + 0, 5)
    assert [metrics.soc_ratio(run), metrics.makespan_ratio(run), metrics.first_solution_seconds(run)] == [None] * 3
    done = trace_of("....", [((0, 0), (1, 0)), ((3, 0), (2, 0))], [[W, WEST], [E, W], [W, W]])
    assert (metrics.sum_of_costs_bound(done), metrics.makespan_bound(done)) == (2, 1)
    assert (metrics.soc_ratio(done), metrics.makespan_ratio(done)) == (3 / 2, 2)
    assert metrics.first_solution_seconds(done) == pytest.approx(0.003)     # the third tick came after the last arrival
    still = trace_of("..", [((0, 0), (0, 0))], [[W]])
    assert (metrics.soc_ratio(still), metrics.makespan_ratio(still), metrics.first_solution_seconds(still)) == (
        None, None, 0.0,
    )  # fmt: skip
    apart = trace_of(".@.", [((0, 0), (2, 0))], [[W]])
    assert (metrics.sum_of_costs_bound(apart), metrics.soc_ratio(apart)) == (0, None)


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
    assert metrics.counter(alone, "repaths") is None
    world = World(Grid.from_text("......"), "lra")
    world.add((0, 0), (5, 0))
    world.add((5, 0), (0, 0))
    for _ in range(4):
        world.tick()
    assert metrics.counter(world.trace(), "repaths") == 1      # each met the other once, and searched again


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


# --- cohesion --------------------------------------------------------------------------------------------------------

# A long wall with a gap at either end: two ways from west to east.
WALL = [(x, y) for x in (14, 15) for y in range(2, 19)]
TWO_WAYS = Grid.from_text("\n".join("".join("@" if (x, y) in WALL else "." for x in range(30)) for y in range(21)))


def group(tick: int, agents: list[int]) -> Event:
    return Event(tick, "group", None, {"agents": agents, "target": (0, 0), "mode": "move"})


def marched(mode: str) -> World:
    """Eleven units west of the wall, ordered to the east of it."""
    world = World(TWO_WAYS, "lra")
    world.order_group([world.add((2, y)) for y in range(5, 16)], (27, 10), mode)
    world.run(max_ticks=100)
    return world


@pytest.mark.small
def test_the_spread_is_that_of_the_group_that_was_ordered_last() -> None:
    """0 and 1 walk apart, and are a group from tick 1 on; 2 and 3 stand three cells apart, and are one from tick 3."""
    run = trace_of(
        "..........\n..........",
        [((4, 0), (0, 0)), ((5, 0), (9, 0)), ((0, 1), (0, 1)), ((3, 1), (3, 1))],
        [[WEST, E, W, W]] * 4,
    )
    assert np.isnan(metrics.group_spread(run)).all()
    assert metrics.cohesion(run) is None
    run.events += [group(3, [2, 3]), group(1, [0, 1])]
    assert np.isnan(metrics.group_spread(run)[0])
    assert metrics.group_spread(run)[1:].tolist() == [1.5, 2.5, 1.5, 1.5]
    assert metrics.cohesion(run) == {"members": [2, 3], "spread_mean": 1.5, "spread_peak": 1.5, "separated": False}
    run.events[-2:] = [group(1, [0, 1])]
    assert metrics.cohesion(run) == {"members": [0, 1], "spread_mean": 3.0, "spread_peak": 4.5, "separated": False}
    numbers = metrics.summary(run)
    assert (numbers["spread_mean"], numbers["spread_peak"], numbers["separated"]) == (3.0, 4.5, False)


@pytest.mark.small
def test_who_has_left_the_map_no_longer_counts() -> None:
    world = World(Grid.from_text("......."), "lra")
    members = [world.add((x, 0)) for x in (0, 2, 6)]
    world.order_group(members, (1, 0))
    world.remove(members[2])
    run = world.trace()
    assert metrics.cohesion(run)["spread_peak"] == pytest.approx(20 / 9)      # after its last tick it is still there
    world.tick()
    assert metrics.group_spread(world.trace())[1] <= 1.5
    for member in members[:2]:
        world.remove(member)
    world.tick()
    found = metrics.cohesion(world.trace())
    assert (found["members"], found["separated"]) == (members, False)
    assert np.isnan(metrics.group_spread(world.trace())[2])


@pytest.mark.small
def test_a_group_is_separated_by_the_walls_that_it_passed_on_both_sides() -> None:
    world = marched("move")
    apart, together = metrics.cohesion(world.trace()), metrics.cohesion(marched("attack_move").trace())
    assert (apart["separated"], together["separated"]) == (True, False)
    assert apart["spread_peak"] > together["spread_peak"]
    world.unblock(WALL)
    assert metrics.cohesion(world.trace())["separated"] is False     # it has not stood all the time
    world.block(WALL)
    world.order_group(range(11), (2, 10), "attack_move")
    world.run(max_ticks=100)
    assert metrics.cohesion(world.trace())["separated"] is False     # only the last order counts


@pytest.mark.small
def test_a_group_that_can_never_meet_is_separated() -> None:
    world = World(Grid.from_text("...@..."), "lra")
    world.order_group([world.add((0, 0)), world.add((6, 0))], (2, 0))
    world.run(max_ticks=20)
    assert metrics.cohesion(world.trace())["separated"] is True
    world.unblock([(3, 0)])
    assert metrics.cohesion(world.trace())["separated"] is False


@pytest.mark.small
def test_the_trace_tells_of_every_new_group_order(tmp_path) -> None:
    world = World(Grid.from_text("......"), "lra")
    world.add((0, 0))
    world.add((2, 0))
    world.order_group([], (5, 0))
    for _ in range(3):
        world.order_group([1, 0], (5, 0))       # again and again the same
    world.tick()
    world.order_group([1], (0, 0), "attack_move")
    trace = world.trace()
    trace.save(tmp_path / "run.wend")
    told = [(event.tick, event.data) for event in Trace.load(tmp_path / "run.wend").events_of("group")]
    assert told == [
        (0, {"agents": [0, 1], "target": [5, 0], "mode": "move"}),
        (1, {"agents": [1], "target": [0, 0], "mode": "attack_move"}),
    ]
    for data in ({"agents": [2]}, {"agents": None}, {"agents": ["a"]}, {"target": (6, 0)}):
        trace.events[-1] = Event(1, "group", None, {"agents": [1], "target": (0, 0), "mode": "move", **data})
        trace.save(tmp_path / "bad.wend")
        with pytest.raises(FormatError, match=r"bad\.wend"):
            Trace.load(tmp_path / "bad.wend")


# --- the table -------------------------------------------------------------------------------------------------------


def documented(page: str) -> dict[str, list[str]]:
    """The rows of a page's tables, by the name in their first column."""
    lines = (Path(__file__).resolve().parents[2] / "docs" / page).read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {name.strip(" `"): row[1:] for row in rows for name in row[0].split(",")}


@pytest.mark.small
def test_every_measure_is_a_number_of_any_run_or_none(run: Trace) -> None:
    for trace in (run, World(Grid.from_text("."), "lra").trace()):
        for name in metrics.MEASURES:
            value = metrics.measure(trace, name)
            assert value is None or math.isfinite(value), name


@pytest.mark.small
def test_the_summary_is_taken_from_the_table(run: Trace) -> None:
    numbers = metrics.summary(run)
    assert list(numbers) == ["agents", *metrics.SUMMARY]
    assert numbers["distance_mean"] == metrics.measure(run, "distance")
    assert numbers["first_move_ticks_max"] == metrics.measure(run, "first_move_ticks")
    assert numbers["tick_ms"] == metrics.tick_ms(run)
    assert [numbers[key] for key in ("makespan", "separated")] == [None, None]


@pytest.mark.small
def test_the_docs_list_every_measure() -> None:
    rows = documented("metrics.md")
    for name, measure in metrics.MEASURES.items():
        unit = "%" if measure.percent else measure.unit or "-"
        assert [rows[name][0], rows[name][-1]] == [unit, measure.help], name
    assert set(documented("formats/solve-json.md")) >= {"agents", *metrics.SUMMARY}
