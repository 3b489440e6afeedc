from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from wend import Budget, Planner, create, parameter
from wend.errors import ParameterError, UnknownNameError
from wend.planners.base import Parameter
from wend.planners.registry import ALGORITHMS, Algorithm, find


@dataclass
class Example(Planner):
    window: int = parameter(8, "ticks", minimum=1, maximum=64)
    factor: float = parameter(0.5, "share", minimum=0)
    push: bool = parameter(False, "whether")
    order: str = parameter("id", "who first", choices=("id", "age"))

    def plan(self, proposal, budget) -> None:
        pass


@pytest.mark.small
def test_parameters_are_derived_from_the_fields() -> None:
    assert Example.parameters() == (
        Parameter("window", int, 8, "ticks", 1, 64),
        Parameter("factor", float, 0.5, "share", 0),
        Parameter("push", bool, False, "whether"),
        Parameter("order", str, "id", "who first", choices=("id", "age")),
    )


@pytest.mark.small
def test_values_are_read_from_text_and_from_numbers() -> None:
    made = Example(window="16", factor="0.25", push="true", order="age")  # type: ignore[arg-type]
    assert (made.window, made.factor, made.push, made.order) == (16, 0.25, True, "age")
    assert Example(window=4.0).window == 4  # type: ignore[arg-type]
    assert Example(push=True).push is True


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"window": 0}, "window is a whole number from 1 up to 64, not 0"),
        ({"window": 65}, "up to 64"),
        ({"window": 2.5}, "whole number"),
        ({"window": True}, "whole number"),
        ({"window": "many"}, "not 'many'"),
        ({"window": float("inf")}, "whole number"),
        ({"factor": -1}, "factor is a number from 0, not -1"),
        ({"factor": float("nan")}, "not nan"),
        ({"push": "maybe"}, "true or false"),
        ({"order": "size"}, "order is one of id, age, not 'size'"),
    ],
)
def test_values_that_cannot_be_are_refused(given, reason) -> None:
    with pytest.raises(ParameterError, match=reason):
        Example(**given)


@pytest.mark.small
def test_the_registry_knows_its_names() -> None:
    for key, entry in ALGORITHMS.items():
        assert find(key) is entry
        assert entry.key == key
        assert entry.summary.endswith(".")
        assert isinstance(entry.create(), Planner)
    with pytest.raises(UnknownNameError, match=r"unknown algorithm 'lr'\. Did you mean 'lra'"):
        create("lr")
    with pytest.raises(UnknownNameError, match=r"unknown parameter of lra 'window'\. Known: noise, calm_moves"):
        create("lra", window=3)


@pytest.mark.small
def test_an_alias_presets_what_makes_it_one() -> None:
    where = "wend.planners.local_repair:LocalRepair"
    alias = Algorithm("lra-3", "LRA*-3", "Noisy.", "none", online=True, where=where, preset={"noise": 3})
    assert alias.create(calm_moves=2).noise == 3  # type: ignore[attr-defined]
    assert [p.name for p in alias.parameters()] == ["calm_moves"]
    with pytest.raises(UnknownNameError, match="'noise'"):
        alias.create(noise=1)


@pytest.mark.small
def test_budgets_are_spent() -> None:
    budget = Budget(expansions=10)
    assert budget.slice() == 10
    budget.spend(7)
    assert (budget.slice(), budget.spent) == (3, 7)
    budget.spend(3)
    assert budget.slice() == 0
    assert Budget().slice() > 10**15
    assert 0 < Budget(milliseconds=1e6).slice() < 10**5
    assert Budget(milliseconds=1e-9).slice() == 0


@pytest.mark.small
def test_time_that_is_kept_back_is_in_no_slice() -> None:
    budget = Budget(milliseconds=1e6)
    assert budget.is_timed
    assert not Budget(expansions=5).is_timed
    budget.keep_back(1e9)                           # half of it, at the most
    assert budget.slice() > 0
    late = Budget(milliseconds=20)
    late.keep_back(0.0199)
    time.sleep(0.011)
    assert late.slice() == 0
    counted = Budget(expansions=5)
    counted.keep_back(1.0)
    assert counted.slice() == 5


@pytest.mark.small
def test_expansions_that_are_kept_are_in_no_slice_until_they_are_free_again() -> None:
    budget = Budget(expansions=12)
    budget.spend(2)
    budget.keep_expansions(0.2)
    assert budget.slice() == 8
    budget.spend(8)
    assert budget.slice() == 0
    budget.keep_expansions(0)
    assert budget.slice() == 2


@pytest.mark.small
def test_a_budget_says_whether_there_is_any_limit() -> None:
    assert not Budget().is_limited
    assert Budget(expansions=10).is_limited
    assert Budget(milliseconds=1.5).is_limited
