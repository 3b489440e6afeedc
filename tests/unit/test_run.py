"""`solve`: what ends a run, who is told about it, and what the Run holds afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from wend import Grid, Limits, Problem, Trace, World, make_problem, mapgen, metrics, solve
from wend.errors import ParameterError, UnknownNameError
from wend.planners.local_repair import LocalRepair
from wend.problems.scenarios import make_group


@pytest.fixture
def problem() -> Problem:
    return make_problem("random", mapgen.random_map(seed=1, width=16, height=16), agents=12, seed=1)


@pytest.mark.small
def test_a_run_is_what_a_world_does_with_the_problem(problem: Problem) -> None:
    world = World.from_problem(problem, "lra", seed=3)
    ended = world.run(max_ticks=200)
    run = solve(problem, "lra", Limits(max_ticks=200), seed=3)
    assert (run.stopped_by, run.state_hash, run.counters) == (ended, world.state_hash(), world.planner.counters())
    assert run.violations == []
    assert run.trace.ticks == world.ticks
    assert run.summary()["completed"] == run.measure("completed") == metrics.completed(world.trace())
    assert run.first_tick_seconds == run.trace.plan_ms[0] / 1000
    assert run.run_seconds >= run.measure("plan_seconds") > 0
    with pytest.raises(UnknownNameError, match="unknown measure 'joy'"):
        run.measure("joy")


@pytest.mark.small
def test_the_trace_remembers_how_the_run_came_about(problem: Problem, tmp_path) -> None:
    run = solve(problem, LocalRepair(noise=2), Limits(max_ticks=5, seconds=60.0, expansions=10**6), seed=4, budget=900)
    run.trace.save(tmp_path / "run.wend")
    meta = Trace.load(tmp_path / "run.wend").meta
    assert meta == {
        "counters": run.counters, "parameters": {"noise": 2, "calm_moves": 5}, "seed": 4, "stopped_by": "max-ticks",
        "state_hash": run.state_hash, "violations": [], "plan_seconds": run.measure("plan_seconds"),
        "time_limit": 60.0, "max_expansions": 10**6, "budget": 900,
    }  # fmt: skip


@pytest.mark.small
@pytest.mark.parametrize(
    ("limits", "reason", "ticks"),
    [
        (Limits(max_ticks=0), "max-ticks", 0),
        (Limits(max_ticks=4), "max-ticks", 4),
        (Limits(expansions=1), "expansions", 1),
        (Limits(seconds=1e-9), "time-limit", 1),
        (Limits(hard_seconds=0), "hard-limit", 1),
    ],
)
def test_limits_end_a_run_after_the_tick_at_hand(problem: Problem, limits, reason, ticks) -> None:
    run = solve(problem, "lra", limits)
    assert (run.stopped_by, run.trace.ticks) == (reason, ticks)


@pytest.mark.small
def test_progress_begins_before_the_first_tick_and_stop_is_asked_after_each(problem: Problem) -> None:
    seen: list[int] = []
    run = solve(problem, "lra", progress=lambda world: seen.append(world.ticks), stop=lambda: len(seen) == 4)
    assert seen == [0, 1, 2, 3]
    assert (run.stopped_by, run.trace.ticks) == ("interrupted", 4)


@pytest.mark.small
def test_an_interrupt_is_an_error_unless_the_run_was_asked_to_stop(problem: Problem) -> None:
    @dataclass
    class Interrupted(LocalRepair):
        def plan(self, proposal, budget) -> None:
            if self.state.tick == 3 and self.state.grid.size > 36:      # not while kernels are loaded
                raise KeyboardInterrupt
            super().plan(proposal, budget)

    with pytest.raises(KeyboardInterrupt):
        solve(problem, Interrupted())
    with pytest.raises(KeyboardInterrupt):
        solve(problem, Interrupted(), stop=lambda: False)
    answers = iter([False, False, False, True])
    run = solve(problem, Interrupted(), stop=lambda: next(answers))
    assert (run.stopped_by, run.trace.ticks) == ("interrupted", 3)


@pytest.mark.small
def test_a_group_is_ordered_to_its_target() -> None:
    group = make_group(Grid.from_text("\n".join(["." * 16] * 12)), agents=6, seed=2, chain="compact")
    run = solve(group, "lra", mode="attack_move")
    (order,) = run.trace.events_of("group")
    assert order.data == {"agents": list(range(6)), "target": group.target, "mode": "attack_move"}
    assert (run.stopped_by, run.measure("separated")) == ("done", False)


@pytest.mark.small
def test_kernels_are_loaded_once_and_a_rehearsal_plans_one_tick(problem: Problem) -> None:
    worlds: list[int] = []

    @dataclass
    class Counted(LocalRepair):
        def bind(self, state, seed) -> None:
            worlds.append(state.grid.size)
            super().bind(state, seed)

    size = problem.grid.size
    solve(problem, Counted(), Limits(max_ticks=1))
    assert worlds == [36, size]         # the small world of the warm-up, and the run
    solve(problem, Counted(), Limits(max_ticks=1))
    assert worlds == [36, size, size]
    rehearsed = solve(problem, Counted(), rehearse=True)
    assert worlds == [36, size, size, size, size]
    assert rehearsed.state_hash == solve(problem, Counted()).state_hash


@pytest.mark.small
def test_illegal_moves_are_stopped_and_listed() -> None:
    class Stampede(LocalRepair):
        """Sends all agents to the cell of the first."""

        def plan(self, proposal, budget) -> None:
            if self.state.grid.size > 36:
                proposal.next_cell[:] = self.state.agents.cell[0]

    grid = Grid.from_text("." * 40)
    run = solve(Problem.from_points(grid, [(0, 0), (1, 0)], [(5, 0), (6, 0)]), Stampede(), Limits(max_ticks=2))
    assert len(run.violations) == len(run.trace.meta["violations"]) >= 2
    assert str(run.violations[0]) == run.trace.meta["violations"][0]
    assert run.measure("completed") == 0


# --- what a Run can tell ---------------------------------------------------------------------------------------------


@pytest.mark.small
def test_a_run_has_paths_and_costs_beside_their_lower_bounds() -> None:
    """Two agents meet head-on beside a niche; one steps into it and lets the other pass."""
    grid = Grid.from_text(".....\n@@.@@", connectivity=4)
    problem = Problem.from_points(grid, [(0, 0), (4, 0)], [(4, 0), (0, 0)])
    run = solve(problem, "weave", time_limit=30)
    assert run.paths.shape == (run.trace.ticks + 1, 2, 2)
    assert run.paths[0].tolist() == [[0, 0], [4, 0]]
    assert run.paths[-1].tolist() == [[4, 0], [0, 0]]
    assert np.abs(np.diff(run.paths, axis=0)).sum(axis=-1).max() == 1
    assert (run.sum_of_costs, run.sum_of_costs_lower_bound) == (metrics.sum_of_costs(run.trace), 8)
    assert (run.makespan, run.makespan_lower_bound) == (run.trace.ticks, 4)
    assert run.sum_of_costs is not None
    assert 8 < run.sum_of_costs <= 2 * run.trace.ticks
    assert repr(run) == f"<Run: 2 of 2 agents home after {run.trace.ticks} ticks, stopped by done>"
    unfinished = solve(problem, "weave", Limits(max_ticks=2))
    assert (unfinished.sum_of_costs, unfinished.makespan) == (None, None)
    assert repr(unfinished) == "<Run: 0 of 2 agents home after 2 ticks, stopped by max-ticks>"


@pytest.mark.small
def test_the_time_limit_is_a_limit(problem: Problem) -> None:
    run = solve(problem, "lra", time_limit=1e-9)
    assert (run.stopped_by, run.trace.ticks, run.trace.meta["time_limit"]) == ("time-limit", 1, 1e-9)
    with pytest.raises(ParameterError, match="not both"):
        solve(problem, "lra", Limits(seconds=3), time_limit=3)
    for bad in (-1, "3", float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="time_limit is a finite number from 0"):
            solve(problem, "lra", time_limit=bad)


@pytest.mark.small
def test_a_run_says_why_agents_waited_if_asked(problem: Problem, tmp_path) -> None:
    run = solve(problem, "lra", reasons=True)
    assert len(run.trace.waits)
    assert run.state_hash == solve(problem, "lra").state_hash
    run.save(tmp_path / "run.wend")
    assert Trace.load(tmp_path / "run.wend").reasons == run.trace.reasons
    assert not len(solve(problem, "lra").trace.waits)


@pytest.mark.small
def test_a_run_is_shown_in_a_browser_or_it_is_said_where_it_is(problem: Problem, tmp_path, monkeypatch, capsys) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    monkeypatch.setenv("DISPLAY", ":0")
    run = solve(problem, "lra", Limits(max_ticks=3))
    assert run.show(tmp_path / "run.html") == tmp_path / "run.html"
    assert opened == [(tmp_path / "run.html").as_uri()]
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = run.show()
    assert page.read_text().startswith("<!doctype html>")
    assert str(page.resolve()) in capsys.readouterr().out
    assert len(opened) == 1
