"""The verdict in words."""

from __future__ import annotations

import pytest

from wend.play.verdict import PaneScore, verdict

pytestmark = pytest.mark.small

SEARCHED = " Nodes searched: Weave 1,500, LRA* 2.5 million."


def score(title: str, home: int, home_in: int | None = None, *, stuck: int = 0) -> PaneScore:
    return PaneScore(title, 20, home, stuck, home_in, 90, 1_500 if title == "Weave" else 2_500_000)


@pytest.mark.parametrize(
    ("weave", "lra", "says"),
    [
        ((20, 40), (20, 60), "Weave brought all 20 units home in 40 ticks, LRA* in 60."),
        ((20, 80), (20, 60), "LRA* brought all 20 units home in 60 ticks, Weave in 80."),
        ((20, 60), (20, 60), "Weave and LRA* both brought all 20 units home in 60 ticks."),
        ((20, 40), (19, None), "Weave has brought all 20 units home in 40 ticks; after 90, LRA* has 1 still to come."),
        ((17, None), (20, 70), "LRA* has brought all 20 units home in 70 ticks; after 90, Weave has 3 still to come."),
        ((17, None), (5, None), "After 90 ticks, Weave has 17 of 20 units home, LRA* has 5."),
        ((5, None), (17, None), "After 90 ticks, LRA* has 17 of 20 units home, Weave has 5."),
        ((5, None), (5, None), "After 90 ticks, both have 5 of 20 units home."),
        ((20, 0), (20, 0), "All 20 units are home."),
    ],
)  # fmt: skip
def test_two_are_compared(weave: tuple[int, int | None], lra: tuple[int, int | None], says: str) -> None:
    assert verdict([score("Weave", *weave), score("LRA*", *lra)]) == says + SEARCHED


def test_those_that_are_stuck_are_counted() -> None:
    weave, lra = score("Weave", 5), score("LRA*", 5, stuck=9)
    assert "both have 5 of 20 units home (0 stuck with Weave, 9 with LRA*)." in verdict([weave, lra])
    assert "LRA* has 5 (9 stuck)." in verdict([score("Weave", 6), lra])


def test_one_alone() -> None:
    assert verdict([score("Weave", 20, 40)]) == "Weave has brought all 20 units home in 40 ticks."
    assert verdict([score("Weave", 3, stuck=2)]) == "Weave has brought 3 of 20 units home in 90 ticks (2 stuck)."


def test_one_unit_and_one_tick_are_no_plural() -> None:
    one = PaneScore("Weave", 1, 1, 0, 1, 1, 1_500)
    assert verdict([one]) == "Weave has brought the unit home in 1 tick."
    assert verdict([one._replace(home_in=0)]) == "The unit is home."
    late = PaneScore("LRA*", 1, 0, 0, None, 1, 2_500_000)
    assert verdict([late]) == "LRA* has brought 0 of 1 unit home in 1 tick."
    both = "Weave has brought the unit home in 1 tick; after 1, LRA* has 1 still to come."
    assert verdict([one, late]) == both + SEARCHED


def test_nothing_is_said_of_an_empty_scene() -> None:
    assert verdict([PaneScore("Weave", 0, 0, 0, 0, 3, 0)]) == ""
