"""The specs of the thesis's chapter 5 are as large as the thesis says, and hold the numbers that it prints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from wend.experiments.papers import selection
from wend.experiments.spec import load_spec

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_thesis_has_2800_problems_of_seven_types() -> None:
    jobs = load_spec("selection/portfolio").jobs("full")
    assert len(jobs) == 2800 * 3 * 2
    problems = {(job["map"], job["instance"]) for job in jobs}
    assert len(problems) == 2800
    assert len({name for name, _ in problems}) == 20
    assert {job["agents"] for job in jobs} == {300}
    types = Counter(selection._TYPES[instance % 7] for _, instance in problems)
    assert set(types.values()) == {400}
    shared = {(job["view"], job["id"]) for job in jobs if job["algorithm"] == "bmaa"}
    assert len({name for _, name in shared}) == len(shared) / 2       # both views have the same runs of BMAA*


def test_the_instances_of_a_map_go_through_the_types() -> None:
    job = {"map": "open:width=20,height=20", "connectivity": 8, "corner_cutting": False, "agents": 5}
    drawn = [selection._problem(job | {"instance": k}) for k in range(15)]
    assert [problem.name for problem in drawn] == [*selection._TYPES, *selection._TYPES, "random"]
    assert [problem.seed for problem in drawn] == [0] * 7 + [1] * 7 + [2]


def test_the_means_of_the_printed_types_are_those_of_the_thesis() -> None:
    tables = {table.id: table for table in load_spec("selection/portfolio").tables}
    printed = np.array(list(tables["types-E"].printed.values()))
    assert printed.shape == (7, 3)
    assert (100 * printed.mean(axis=0)).round(1).tolist() == [65.2, 66.3, 53.1]
    assert set(tables["types-T"].printed) == set(selection._TYPES)
