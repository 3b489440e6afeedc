"""Auto's way out, as somebody would do it who keeps a diary: everything that matters is kept in mind between ticks."""

from __future__ import annotations

from typing import NamedTuple

WAITS = {"weave": 200, "surge": 100, "lacam-rt": 300}


class News(NamedTuple):
    """What is seen before a tick."""

    agents: int
    home: int
    has_arrived: bool       # an agent, in the tick before
    is_told: bool           # agents got orders, came or left, or the map was edited, since then


def diary(all_news: list[News], width: int, height: int, first: str = "weave") -> list[tuple[int, str]]:
    """Who takes over before which tick, from a first planner on that is at work since tick 0."""
    entries: list[tuple[int, str]] = []
    mover, before, failures = first, "", 0
    began = told_at = last_news = 0
    for tick, news in enumerate(all_news):
        if news.is_told:
            told_at = tick
        if news.is_told or news.has_arrived:
            last_news = tick
        after = ""
        everybody_is_home = news.home == news.agents
        has_other_orders = told_at > began and tick - began >= 150
        if failures > 0 and (everybody_is_home or has_other_orders):
            after, failures = first, 0
        elif not everybody_is_home:
            wait = max(WAITS[mover], (width + height) // 4)
            for _ in range(failures // 3):
                wait *= 2
            if news.home < news.agents / 2:
                wait *= 4
            if tick - last_news >= wait:
                failures += 1
                after = {"weave": "surge", "surge": "weave"}[before] if mover == "lacam-rt" else "lacam-rt"
        if after:
            entries.append((tick, after))
            before, mover = mover, after
            began = last_news = tick
    return entries
