"""The verdict: how two algorithms do on the same problem under the same orders, in words."""

from __future__ import annotations

from typing import NamedTuple


class PaneScore(NamedTuple):
    """How one algorithm has done so far."""

    title: str
    units: int
    home: int               # units on their goals, or as near as they can get
    stuck: int
    home_in: int | None     # ticks from the last order until all were home; None if they are not
    ticks: int              # since the last order
    expansions: int         # nodes that it has searched so far


def verdict(scores: list[PaneScore]) -> str:
    """One or two sentences; none for a scene without units."""
    if not scores[0].units:
        return ""
    if len(scores) == 1:
        return _alone(scores[0])
    one, other = scores
    return f"{_compared(one, other)} {_searched(one, other)}"


def _alone(score: PaneScore) -> str:
    if score.home_in == 0:
        return _at_home(score)
    if score.home_in is not None:
        return f"{score.title} has brought {_all(score)} home in {_ticks(score.home_in)}."
    brought = f"{score.home} of {_units(score.units)}"
    return f"{score.title} has brought {brought} home in {_ticks(score.ticks)}{_stuck(score)}."


def _compared(one: PaneScore, other: PaneScore) -> str:
    if one.home_in is not None and other.home_in is not None:
        first, second = sorted((one, other), key=lambda score: score.home_in or 0)
        if second.home_in == 0:
            return _at_home(one)
        if one.home_in == other.home_in:
            return f"{one.title} and {other.title} both brought {_all(one)} home in {_ticks(one.home_in)}."
        in_first = f"{first.title} brought {_all(first)} home in {_ticks(first.home_in)}"
        return f"{in_first}, {second.title} in {second.home_in}."
    if one.home_in is not None or other.home_in is not None:
        done, late = (one, other) if one.home_in is not None else (other, one)
        return (
            f"{done.title} has brought {_all(done)} home in {_ticks(done.home_in)}; after {late.ticks}, "
            f"{late.title} has {late.units - late.home} still to come{_stuck(late)}."
        )
    first, second = (one, other) if one.home >= other.home else (other, one)
    if first.home == second.home:
        both = f"both have {one.home} of {_units(one.units)} home"
        return f"After {_ticks(one.ticks)}, {both}{_stuck_apart(one, other)}."
    return (
        f"After {_ticks(first.ticks)}, {first.title} has {first.home} of {_units(first.units)} home{_stuck(first)}, "
        f"{second.title} has {second.home}{_stuck(second)}."
    )


def _at_home(score: PaneScore) -> str:
    return "The unit is home." if score.units == 1 else f"All {score.units} units are home."


def _all(score: PaneScore) -> str:
    return "the unit" if score.units == 1 else f"all {score.units} units"


def _units(count: int) -> str:
    return f"{count} unit{'' if count == 1 else 's'}"


def _ticks(count: int | None) -> str:
    return f"{count} tick{'' if count == 1 else 's'}"


def _stuck(score: PaneScore) -> str:
    return f" ({score.stuck} stuck)" if score.stuck else ""


def _stuck_apart(one: PaneScore, other: PaneScore) -> str:
    if not one.stuck and not other.stuck:
        return ""
    return f" ({one.stuck} stuck with {one.title}, {other.stuck} with {other.title})"


def _searched(one: PaneScore, other: PaneScore) -> str:
    return f"Nodes searched: {one.title} {_many(one.expansions)}, {other.title} {_many(other.expansions)}."


def _many(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} million"
    return f"{count:,}"
