"""What a client is sent: the newest state and never a queue, whatever it acknowledges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.unit.play.loops import run_to_its_end
from wend.errors import ParameterError
from wend.play.catalogue import Catalogue, Recipe
from wend.play.controller import RESTING, RUNNING, Controller
from wend.play.feed import TEXTS_PER_SECOND, Feed
from wend.play.frames import FULL, MAP, MOVES, Header, read_header
from wend.play.messages import PlayLimits
from wend.play.scene import LiveScene

pytestmark = pytest.mark.small

LIMITS = PlayLimits(unacknowledged=4)


class Box:
    """A socket that keeps what it is given."""

    def __init__(self) -> None:
        self.texts: list[dict[str, Any]] = []
        self.frames: list[Header] = []
        self.kinds: list[str | int] = []        # of both, in the order in which they came

    async def send_text(self, data: str) -> None:
        self.texts.append(json.loads(data))
        self.kinds.append(self.texts[-1]["type"])

    async def send_bytes(self, data: bytes) -> None:
        self.frames.append(read_header(data))
        self.kinds.append(self.frames[-1].kind)

    async def close(self, code: int, reason: str) -> None:
        raise AssertionError((code, reason))


def scene_of(**given: Any) -> LiveScene:
    recipe = Recipe(**{"map": "open:width=8,height=8", "problem": "random", "agents": 5, "algorithm": "lra", **given})
    catalogue = Catalogue(LIMITS)
    planners = [catalogue.planner(*each) for each in recipe.algorithms]
    return LiveScene(recipe, catalogue.grid(recipe), planners, LIMITS)


def fed(play: Callable[[Controller, Feed, Box], Awaitable[None]]) -> None:
    """Run a feed from a controller whose pictures the test makes."""

    async def run() -> None:
        controller, box = Controller(Catalogue(LIMITS), LIMITS), Box()
        feed = Feed(box, controller)
        running = asyncio.create_task(feed.run())
        feed.begin()
        await play(controller, feed, box)
        running.cancel()

    run_to_its_end(run())


async def show(controller: Controller, scene: LiveScene, *, ticks: int = 0) -> None:
    """Make ticks, and let everybody see each of them."""
    for _ in range(ticks):
        scene.tick()
        await show(controller, scene)
    if not ticks:
        controller.picture = scene.picture()
        controller._tell()
        for _ in range(20):
            await asyncio.sleep(0)


def test_no_more_than_so_many_frames_are_on_their_way_and_then_the_newest_comes() -> None:
    async def play(controller: Controller, feed: Feed, box: Box) -> None:
        scene = scene_of()
        scene.tick()
        await show(controller, scene)
        assert [frame.kind for frame in box.frames] == [MAP, FULL]
        await show(controller, scene, ticks=50)
        assert [(frame.kind, frame.tick) for frame in box.frames[2:]] == [(MOVES, 2), (MOVES, 3)]
        feed.acknowledge(1)
        await asyncio.sleep(0.01)
        assert [(frame.kind, frame.tick) for frame in box.frames[4:]] == [(FULL, 51)]       # not the next
        assert [frame.frame for frame in box.frames] == [1, 2, 3, 4, 5]
        feed.acknowledge(5)
        await show(controller, scene, ticks=1)
        assert (box.frames[-1].kind, box.frames[-1].tick) == (MOVES, 52)
        with pytest.raises(ParameterError, match="was not sent yet"):
            feed.acknowledge(7)

    fed(play)


def test_that_the_clock_rests_is_said_after_the_last_frame() -> None:
    async def play(controller: Controller, feed: Feed, box: Box) -> None:
        def states() -> list[str]:
            return [text["name"] for text in box.texts if text["type"] == "state"]

        scene = scene_of()
        controller.state = RUNNING
        await show(controller, scene)
        await show(controller, scene, ticks=9)
        controller.state = RESTING
        await show(controller, scene)
        assert (states(), box.frames[-1].tick) == (["running"], 2)
        feed.acknowledge(4)
        await asyncio.sleep(0.01)
        assert (states(), box.frames[-1].tick) == (["running", "resting"], 9)

    fed(play)


def test_whoever_comes_while_the_clock_rests_is_told_so_after_the_frames() -> None:
    async def play(controller: Controller, _: Feed, box: Box) -> None:
        controller.state = RESTING
        await show(controller, scene_of())
        assert box.kinds[:5] == ["state", "scene", MAP, FULL, "state"]
        told = [text.get("name") or text["state"] for text in box.texts[:3]]
        assert told == ["running", "running", "resting"]

    fed(play)


def test_two_panes_are_sent_together() -> None:
    async def play(controller: Controller, feed: Feed, box: Box) -> None:
        scene = scene_of(versus="lra")
        scene.tick()
        await show(controller, scene)
        assert [(frame.kind, frame.pane) for frame in box.frames] == [(MAP, 0), (MAP, 1), (FULL, 0), (FULL, 1)]
        feed.acknowledge(4)
        await show(controller, scene, ticks=1)
        assert [(frame.kind, frame.pane) for frame in box.frames[4:]] == [(MOVES, 0), (MOVES, 1)]

    fed(play)


def test_whoever_has_lost_track_gets_all_of_it() -> None:
    async def play(controller: Controller, feed: Feed, box: Box) -> None:
        scene = scene_of()
        await show(controller, scene)
        feed.acknowledge(2)
        feed.ask_full()
        await asyncio.sleep(0.01)
        assert [frame.kind for frame in box.frames[2:]] == [MAP, FULL]

    fed(play)


def test_numbers_come_at_most_so_often_and_the_last_ones_come_for_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(controller: Controller, feed: Feed, box: Box) -> None:
        def ticks() -> list[int]:
            return [text["tick"] for text in box.texts if text["type"] == "tick"]

        scene, loop = scene_of(), asyncio.get_running_loop()
        now = loop.time()
        with monkeypatch.context() as patch:
            patch.setattr(loop, "time", lambda: now)        # all of this takes no time
            for _ in range(30):
                await show(controller, scene, ticks=1)
                feed.acknowledge(box.frames[-1].frame)
            assert ticks() == [1]
            now += 1.01 / TEXTS_PER_SECOND
            await show(controller, scene, ticks=1)
            feed.acknowledge(box.frames[-1].frame)
            await show(controller, scene, ticks=1)
            assert ticks() == [1, 31]
        while ticks()[-1] != 32:        # nothing else happens, but they come
            await asyncio.sleep(0.01)
        numbers = [event["number"] for text in box.texts if text["type"] == "tick" for event in text["events"]]
        assert numbers == sorted(set(numbers))              # no event twice

    fed(play)


def test_nothing_is_sent_before_hello() -> None:
    async def run() -> None:
        controller, box = Controller(Catalogue(LIMITS), LIMITS), Box()
        running = asyncio.create_task(Feed(box, controller).run())
        await show(controller, scene_of())
        assert (box.texts, box.frames) == ([], [])
        running.cancel()

    run_to_its_end(run())
