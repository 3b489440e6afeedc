from __future__ import annotations

from typing import Any

import pytest

from wend.experiments.papers.marker import drawn_group, paper_scenario
from wend.experiments.spec import load_spec


def job(name: str, **changes: Any) -> dict[str, Any]:
    """A job as a spec makes it."""
    first = load_spec(name).jobs("quick")[0]
    return {**first, **changes}


def test_a_scenario_of_the_paper_is_measured() -> None:
    apart = paper_scenario(job("marker/table1", map="boulder", parameters={"factor": 1.0, "cap": 1.0}))
    assert (apart["left"], apart["passed"], apart["separated"]) == (10, 0, 1)
    assert apart["length"] == pytest.approx(23.29859, abs=2e-5)
    together = paper_scenario(job("marker/table1", map="boulder", parameters={"factor": 0.9, "cap": 0.75}))
    assert (together["left"], together["passed"], together["separated"]) == (18, 1, 0)
    assert together["spread"] < apart["spread"]
    assert together["state_hash"] != apart["state_hash"]
    tree = paper_scenario(job("marker/table1", map="lonely-tree", parameters={"factor": 1.0, "cap": 1.0}))
    assert (tree["left"], tree["passed"], tree["separated"]) == (10, 1, 0)


def test_a_drawn_group_is_measured_and_says_how_it_was_placed() -> None:
    of_map = {"map": "arena:seed=1", "agents": 20}
    line = drawn_group(job("marker/starcraft", **of_map))
    assert line["problem"] == "group, line"
    compact = drawn_group(job("marker/starcraft", **of_map, parameters={"chain": "compact"}))
    assert compact["problem"] == "group, compact"
    assert compact["spread"] < line["spread"]
    assert all(line[metric] is not None for metric in load_spec("marker/starcraft").metrics)
    again = drawn_group(job("marker/starcraft", **of_map))
    assert again["state_hash"] == line["state_hash"]
