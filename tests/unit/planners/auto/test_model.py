"""The model behind auto: its classes, its file, and the rule that takes over."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from wend import Grid, World
from wend.errors import FormatError, VersionError
from wend.planners.auto import model
from wend.planners.auto.auto import Auto
from wend.planners.auto.model import CROWDINGS, LOADS, PORTFOLIO, Model, Regime, choose


def table(value: Any) -> list[list[Any]]:
    return [[value] * len(CROWDINGS) for _ in range(1 + len(LOADS))]


def made(**ticks: float) -> Model:
    """A model in which each planner fares alike in all problems."""
    return Model({name: table(ticks[name]) for name in PORTFOLIO}, table(9), {"problems": 9})


def test_the_classes_of_a_regime() -> None:
    assert Regime(100, 10_000, None).place() == (0, 0)
    assert Regime(100, 10_000, 100_000).place() == (1, 0)       # a load of 10
    assert Regime(300, 10_000, 10_000).place() == (2, 1)        # 300, and 3 % of the cells
    assert Regime(1_000, 10_000, 100).place() == (4, 2)
    assert Regime(0, 0, 1).place() == (1, 0)
    assert str(Regime(1_000, 20_000, 500)) == "1,000 agents on 20,000 cells with 500 expansions per tick"


def test_it_takes_the_planner_with_the_fewest_ticks_and_says_so(tmp_path: Path) -> None:
    for best, other, ticks in (("weave", "surge", (1.02, 1.2)), ("surge", "weave", (1.0, 1.3))):
        path = tmp_path / f"{best}.json"
        made(**{best: ticks[0], other: ticks[1]}).save(path)
        choice = choose(Regime(10, 100, 50), str(path))
        assert choice.algorithm == best
        assert choice.expected == {best: ticks[0], other: ticks[1]}
        longer, others = (f"{100 * number - 100:.0f} % longer" for number in ticks)
        assert f"in 9 problems like this, agents took {longer} to get home with {best} than" in choice.reason
        assert choice.reason.endswith(f", and {others} with {other}")
        world = World(Grid.from_text("....."), Auto(model=str(path)))
        world.add((0, 0), goal=(4, 0))
        world.tick()
        assert world.reasons()[-1].startswith(f"tick 0: {best}, because")


def test_what_is_within_the_noise_is_no_reason_to_leave_the_rule(tmp_path: Path) -> None:
    for lead, expected in ((model.MARGIN - 0.005, "weave"), (model.MARGIN + 0.005, "surge")):
        path = tmp_path / f"{expected}.json"
        made(weave=1.0 + lead, surge=1.0).save(path)
        assert choose(Regime(10, 100, 50), str(path)).algorithm == expected


def test_a_class_of_few_problems_is_left_to_the_rule(tmp_path: Path) -> None:
    few = made(weave=2.0, surge=1.0)
    few.problems[0][0] = model.FEWEST - 1
    few.save(tmp_path / "m.json")
    choice = choose(Regime(10, 10_000, None), str(tmp_path / "m.json"))
    assert (choice.algorithm, choice.expected, choice.problems) == ("weave", {}, 0)
    assert "few problems like this were measured; by the rule it is weave" in choice.reason
    assert choose(Regime(10, 10_000, 10_000), str(tmp_path / "m.json")).algorithm == "surge"


def test_the_model_that_wend_comes_with_is_one_for_this_wend() -> None:
    shipped = Model.load(model.SHIPPED)
    assert shipped.about["problems"] == sum(map(sum, shipped.problems))


DAMAGE = {
    "missing": None,
    "no JSON": "{",
    "a list": "[1]",
    "something else": '{"format": "wend-selector"}',
    "other planners": ("ticks", {"weave": table(1), "far": table(1)}),
    "a short table": ("problems", table(1)[:-1]),
    "a short row": ("problems", [[1]] * (1 + len(LOADS))),
    "a text in a table": ("problems", table("1")),
    "a flag in a table": ("problems", table(True)),
    "less than nothing": ("ticks", {"weave": table(-1.0), "surge": table(1.0)}),
    "nothing about it": ("about", None),
}
OLD = {"an old format": ("version", 0), "an old Wend": ("wend", "0.0.9"), "other classes": ("loads", [0.0])}


@pytest.mark.parametrize("damage", [*DAMAGE, *OLD])
def test_a_file_that_is_none_is_told_of_once_and_the_rule_takes_over(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m.json"
    change = {**DAMAGE, **OLD}[damage]
    if isinstance(change, str):
        path.write_text(change)
    elif change is not None:
        made(weave=9.0, surge=1.0).save(path)
        path.write_text(json.dumps({**json.loads(path.read_text()), change[0]: change[1]}))
    with pytest.raises(VersionError if damage in OLD else FormatError) as raised:
        Model.load(path)
    assert str(path) in str(raised.value)
    with caplog.at_level(logging.WARNING, "wend.auto"):
        world = World(Grid.from_text("....."), Auto(model=str(path)))
        world.add((0, 0), goal=(4, 0))
        assert world.run(max_ticks=9) == "done"
        assert choose(Regime(1, 5, None), str(path)).algorithm == "weave"
    assert "by the rule it is weave" in world.reasons()[-1]
    (record,) = caplog.records
    assert record.getMessage().startswith("auto goes by its rule, as its model cannot be used: ")
    assert str(path) in record.getMessage()
