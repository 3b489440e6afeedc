"""A feed: what one client is sent.

A client gets the newest state and never a queue: while `unacknowledged` frames are on their way to it, it is sent none,
and then the state as it is by that time. So a slow client misses ticks and lags behind by a few frames, and no other
client or tick waits for it. (A socket's own back-pressure comes too late: its buffers hold many seconds of frames.)
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from wend.errors import ParameterError, WendError
from wend.files import to_json
from wend.kernel import NO_AGENT
from wend.play.controller import RESTING, RUNNING, Controller
from wend.play.frames import Body, cells_body, map_body, overlay_body
from wend.play.scene import LivePicture, LiveScene

TEXTS_PER_SECOND = 20           # of `tick`
VERDICTS_PER_SECOND = 1
OVERLAYS_PER_SECOND = 4         # of each pane
_NOTICES_KEPT = 20


class Socket(Protocol):
    """What is needed of a WebSocket; each of these raises a ConnectionError when the client has gone."""

    async def send_text(self, data: str) -> None:
        """Send a text."""

    async def send_bytes(self, data: bytes) -> None:
        """Send a frame."""

    async def close(self, code: int, reason: str) -> None:
        """Hang up."""


class Rate:
    """How often something may be sent."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second
        self._next = 0.0        # by the loop's clock

    def wait(self) -> float:
        """Count it, and return 0; or how many seconds it has to wait."""
        now = asyncio.get_running_loop().time()
        if now < self._next:
            return self._next - now
        self._next = now + self._interval
        return 0.0


@dataclass
class Chosen:
    """An overlay that a client looks at."""

    name: str
    agent: int
    rate: Rate
    serial: int = -1        # of the units when it was last drawn

    def draw(self, scene: LiveScene, pane: int) -> Body:
        """The overlay as it is now."""
        return overlay_body(scene.pane(pane).draw(self.name, self.agent))


class Feed:
    """What one client was sent so far, and what it has not seen yet."""

    def __init__(self, socket: Socket, controller: Controller) -> None:
        self._socket = socket
        self._controller = controller
        self._limit = controller.limits.unacknowledged
        self._is_on = False
        self._frame = 0                     # the last one that was sent
        self._acknowledged = 0
        self._about: dict[str, Any] | None = None   # the scene that was sent last, ...
        self._serial = 0                    # ... its units, ...
        self._revision = -1                 # ... and its map
        self._event = 0                     # the last event that was sent
        self._state: tuple[str, float] | None = None
        self._verdict = ""
        self._verdict_rate = Rate(VERDICTS_PER_SECOND)
        self._overlays: dict[int, Chosen] = {}  # by pane
        self._ticked: LivePicture | None = None     # of which the numbers were sent
        self._numbers_rate = Rate(TEXTS_PER_SECOND)
        self._notices: list[str] = []
        self._wake = asyncio.Event()
        self._sending = asyncio.Lock()

    # --- what the client does ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The client is there, with nothing on its page."""
        self._is_on, self._about, self._acknowledged = True, None, self._frame
        self._wake.set()

    def acknowledge(self, frame: int) -> None:
        """The client has drawn a frame, and all before it."""
        if frame > self._frame:
            raise ParameterError(f"frame {frame} was not sent yet; the last one is {self._frame}")
        self._acknowledged = max(self._acknowledged, frame)
        self._wake.set()

    def ask_full(self) -> None:
        """The client has lost track of its units or its map."""
        self._serial, self._revision = 0, -1
        self._wake.set()

    def choose(self, pane: int, overlay: str | None, agent: int | None) -> None:
        """The client wants to see an overlay of a pane from now on, or none."""
        self._overlays.pop(pane, None)
        if overlay is not None:
            self._overlays[pane] = Chosen(overlay, NO_AGENT if agent is None else agent, Rate(OVERLAYS_PER_SECOND))
        self._wake.set()

    # --- what it is sent ---------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Send what is new, for ever."""
        unsubscribe = self._controller.subscribe(self._wake.set, self.notice)
        try:
            while True:
                self._wake.clear()
                due = await self._send_news()
                with contextlib.suppress(TimeoutError):     # not `wait_for`, which may swallow that it is cancelled
                    async with asyncio.timeout(due):
                        await self._wake.wait()
        finally:
            unsubscribe()

    def notice(self, text: str) -> None:
        """Have something said to the client, unless a lot is to be said to it already."""
        if len(self._notices) < _NOTICES_KEPT:
            self._notices.append(text)
        self._wake.set()

    async def say(self, kind: str, **fields: Any) -> None:
        """Send a text message."""
        async with self._sending:
            await self._socket.send_text(to_json({"type": kind, **fields}, separators=(",", ":")))

    async def _send_news(self) -> float | None:
        """Send what is new; return after how many seconds there is more to send, if that is known."""
        controller = self._controller
        if not self._is_on:
            return None
        if controller.state != RESTING or self._state is None:
            await self._send_state(self._state_before_frames())
        notices, self._notices = self._notices, []
        for text in notices:
            await self.say("notice", text=text)
        picture = controller.picture
        if picture is None or self._is_far_behind():
            return None
        if picture.about is not self._about:
            await self._send_about(picture)
        await self._send_ground(picture)
        await self._send_units(picture)
        if picture is controller.picture:       # if the clock rests: that comes after the last frame
            await self._send_state(controller.state)
        later = [
            await self._send_numbers(picture),
            await self._send_verdict(picture),
            *[await self._send_overlay(picture, pane, chosen) for pane, chosen in list(self._overlays.items())],
        ]
        return min((seconds for seconds in later if seconds is not None), default=None)

    def _state_before_frames(self) -> str:
        """The state to tell while there may be more to see: that the clock rests comes after its last frame."""
        return RUNNING if self._controller.state == RESTING else self._controller.state

    async def _send_state(self, name: str) -> None:
        state = name, self._controller.ticks_per_second
        if state != self._state:
            self._state = state
            await self.say("state", name=state[0], ticks_per_second=state[1])

    def _is_far_behind(self) -> bool:
        return self._frame - self._acknowledged >= self._limit

    async def _send_about(self, picture: LivePicture) -> None:
        """Tell what is played; if it is another scene, nothing of it was sent yet."""
        controller = self._controller
        state, speed = self._state_before_frames(), controller.ticks_per_second
        if controller.state == RESTING:
            self._state = state, speed      # so that it is said, again, after the frames
        if self._about is None or self._about["scene"] != picture.number:
            self._serial, self._revision, self._event, self._ticked = 0, -1, 0, None
            self._overlays.clear()
        self._about = picture.about
        given = controller.catalogue.given_name
        await self.say("scene", **picture.about, given=given, state=state, ticks_per_second=speed)

    async def _send_ground(self, picture: LivePicture) -> None:
        ground = picture.ground
        if ground.revision == self._revision:
            return
        body = map_body(ground.classes)
        if self._revision >= 0:
            edits = cells_body(np.flatnonzero(ground.edited > self._revision), ground.classes)
            body = min(body, edits, key=lambda each: len(each.data))
        self._revision = ground.revision
        for pane in range(len(picture.full)):
            await self._send_frame(picture, pane, body)

    async def _send_units(self, picture: LivePicture) -> None:
        if picture.serial == self._serial:
            return
        follows = bool(picture.moves) and picture.serial == self._serial + 1
        self._serial = picture.serial
        for pane, full in enumerate(picture.full):
            moves = picture.moves[pane] if follows else full
            await self._send_frame(picture, pane, min(full, moves, key=lambda each: len(each.data)))

    async def _send_frame(self, picture: LivePicture, pane: int, body: Body) -> None:
        self._frame += 1
        framed = body.framed(pane=pane, scene=picture.number, frame=self._frame, tick=picture.tick)
        async with self._sending:
            await self._socket.send_bytes(framed)

    async def _send_numbers(self, picture: LivePicture) -> float | None:
        """Send the numbers of a picture, but not too often; return when it is time for them."""
        if picture is self._ticked:
            return None
        if wait := self._numbers_rate.wait():
            return wait
        self._ticked = picture
        events = [event for event in picture.events if event["number"] > self._event]
        if events:
            self._event = events[-1]["number"]
        await self.say("tick", tick=picture.tick, panes=picture.panes, events=events)
        return None

    async def _send_verdict(self, picture: LivePicture) -> float | None:
        """Send the verdict, if it has changed, but not too often; return when it is time for it."""
        if picture.verdict == self._verdict:
            return None
        if wait := self._verdict_rate.wait():
            return wait
        self._verdict = picture.verdict
        await self.say("verdict", sentence=picture.verdict)
        return None

    async def _send_overlay(self, picture: LivePicture, pane: int, chosen: Chosen) -> float | None:
        """Have an overlay drawn if it may have changed, but not too often; return when it is time for it."""
        if chosen.serial == picture.serial:
            return None
        if wait := chosen.rate.wait():
            return wait
        chosen.serial = picture.serial
        try:
            body = await self._controller.do(partial(chosen.draw, pane=pane), changes=False)
        except WendError as error:      # its agent has left, or another planner has come
            self._overlays.pop(pane, None)
            self.notice(f"the overlay {chosen.name} cannot be drawn any more: {error}")
        else:
            await self._send_frame(picture, pane, body)
        return None
