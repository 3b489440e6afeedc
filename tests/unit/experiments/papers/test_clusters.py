"""Two worlds in step are one: every tick of both together is a legal joint move."""

from __future__ import annotations

import numpy as np

from wend import Grid, Problem, World
from wend.experiments.jobs import run_job
from wend.experiments.papers import clusters
from wend.experiments.spec import load_spec

SPEC = """
title = "A test"
job = "wend.experiments.papers.clusters:clusters"
metrics = ["completion", "distance", "expansions_of_all"]
[measures]
completion = { help = "" }
distance = { help = "" }
expansions_of_all = { help = "" }
[limits]
max_ticks = 60
[scales.quick]
maps = ["random:width=20,height=20,seed=1"]
agents = [16]
instances = 1
[[algorithms]]
name = "alone"
parameters = { first = "pibt" }
[[algorithms]]
name = "pair"
parameters = { first = "pibt", second = "lra" }
"""


def test_clusters_are_halves_that_lie_apart() -> None:
    grid = Grid(np.ones((3, 60)))
    starts = [(x, y) for x in (*range(5), *range(40, 45)) for y in range(3)]
    problem = Problem.from_points(grid, starts, [(x + 10, y) for x, y in starts])
    is_first = clusters.two_clusters(problem)
    assert is_first.sum() == 15
    assert set((problem.starts[is_first] % 60 < 30).tolist()) in ({True}, {False})
    assert is_first.tolist() == [is_first[0]] * 15 + [not is_first[0]] * 15


def test_agents_are_put_where_they_went_even_in_a_circle() -> None:
    world = World(Grid(np.ones((4, 4))), "pibt")
    for point in ((0, 0), (1, 0), (1, 1), (0, 1), (3, 3)):
        world.add(point, controlled=False)
    clusters.put(world, np.array([1, 5, 4, 0, 11], np.int32))
    assert world.state.agents.cell.tolist() == [1, 5, 4, 0, 11]


def test_a_pair_brings_agents_home_by_legal_moves(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.toml").write_text(SPEC)
    for row in (run_job(job, {}) for job in load_spec("spec.toml").jobs("quick")):
        assert row.get("error") is None
        assert row["completion"] > 0.8
        assert row["distance"] > 3
        assert row["violations"] == 0
