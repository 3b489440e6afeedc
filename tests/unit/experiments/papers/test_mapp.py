"""MAPP's job says beforehand what a run comes to, and takes off the map what is not promised."""

from __future__ import annotations

import pytest

from wend import World
from wend.experiments.jobs import load_grid, load_problem, run_job
from wend.experiments.spec import Job, load_spec
from wend.metrics import completion_rate, travel_distance
from wend.planners import registry

SPEC = """
title = "A test"
job = "wend.experiments.papers.mapp:run"
metrics = ["provable_rate", "planned_rate", "completion_rate", "all_home", "distance", "planned_moves"]
[problem]
connectivity = 4
[scales.quick]
maps = ["random:seed={0..2}"]
agents = [40]
instances = 1
"""


def jobs(folder, parameters: str) -> list[Job]:
    path = folder / "a.toml"
    path.write_text(SPEC + f'[[algorithms]]\nname = "mapp"\nparameters = {parameters}\n')
    return load_spec(str(path)).jobs("quick")


def test_the_plan_of_the_first_tick_is_what_a_whole_run_comes_to(tmp_path) -> None:
    for job in jobs(tmp_path, "{}"):
        row = run_job(job, {})
        problem = load_problem(load_grid(job["map"], 4, False), job)
        world = World.from_problem(problem, registry.create("mapp"), seed=0)
        world.run(max_ticks=5000)
        assert row["completion_rate"] == completion_rate(world.trace())
        assert row["distance"] == pytest.approx(travel_distance(world.trace()).mean())
        assert row["all_home"] == (row["completion_rate"] == 1)


def test_units_that_are_not_promised_are_taken_off_the_map(tmp_path) -> None:
    rows = [run_job(job, {}) for job in jobs(tmp_path, "{ attempt_all = false, alternate_connectivity = false }")]
    assert any(row["provable_rate"] < 1 for row in rows)
    for row in rows:
        assert row["completion_rate"] == pytest.approx(row["provable_rate"])
        assert row["all_home"] == (row["provable_rate"] == 1)
