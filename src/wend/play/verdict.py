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
    if score.home_in is not None:
        return f"{score.title} has brought all {score.units} units home in {score.home_in} ticks."
    return f"{score.title} has brought {score.home} of {score.units} units home in {score.ticks} ticks{_stuck(score)}."


def _compared(one: PaneScore, other: PaneScore) -> str:
    if one.home_in is not None and other.home_in is not None:
        first, second = sorted((one, other), key=lambda score: score.home_in or 0)
        if one.home_in == other.home_in:
            return f"{one.title} and {other.title} both brought all {one.units} units home in {one.home_in} ticks."
        return (
            f"{first.title} brought all {first.units} units home in {first.home_in} ticks, "
            f"{second.title} in {second.home_in}."
        )
    if one.home_in is not None or other.home_in is not None:
        done, late = (one, other) if one.home_in is not None else (other, one)
        return (
            f"{done.title} has brought all {done.units} units home in {done.home_in} ticks; after {late.ticks}, "
            f"{late.title} has {late.units - late.home} still to come{_stuck(late)}."
        )
    first, second = (one, other) if one.home >= other.home else (other, one)
    if first.home == second.home:
        return f"After {one.ticks} ticks, both have {one.home} of {one.units} units home{_stuck_apart(one, other)}."
    return (
        f"After {first.ticks} ticks, {first.title} has {first.home} of {first.units} units home{_stuck(first)}, "
        f"{second.title} has {second.home}{_stuck(second)}."
    )


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
