"""A session: one client at the socket, and what it asks for.

What a client says is read, checked and answered one message after the other. What is wrong with a message is told and
counted, and changes nothing. What is to be done between two ticks is waited for without holding up the next message.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from wend.errors import ParameterError, WendError
from wend.kernel import NO_AGENT
from wend.play.catalogue import Recipe
from wend.play.controller import Controller
from wend.play.feed import Feed, Socket
from wend.play.messages import PAINTS, VERSION, Message, read_message, type_of
from wend.play.scene import LiveScene
from wend.play.why import why

_SLOWED_AT_MOST = 2_000         # messages in a row that came too fast, before the socket is closed
_LONGEST_REASON = 2_000
_CLOSE_POLICY = 1008


class Session:
    """One client."""

    def __init__(self, socket: Socket, controller: Controller, server: str) -> None:
        """`server` is a name that tells one server from another, so that a page that comes back knows it again."""
        self._socket = socket
        self._controller = controller
        self._server = server
        self.feed = Feed(socket, controller)
        self._limits = controller.limits
        self._is_greeted = False
        self._refused = 0
        self._bucket = Bucket(self._limits.messages_per_second)
        self._tasks: set[asyncio.Task[None]] = set()

    def end(self) -> None:
        """The client has gone."""
        for task in self._tasks:
            task.cancel()

    async def hear(self, text: str | None) -> bool:
        """Do what a client asks for; None: it sent bytes. Return whether it is still welcome."""
        slow = self._bucket.take(asyncio.get_running_loop().time())
        if slow:
            if self._bucket.slowed == 1:
                most = self._limits.messages_per_second
                await self._refuse(f"more than {most} messages per second: slowed down", None)
            if self._bucket.slowed > _SLOWED_AT_MOST:
                await self._socket.close(_CLOSE_POLICY, "too many messages")
                return False
            await asyncio.sleep(slow)
        if text is None:
            await self._refuse("a message is a text, not bytes", None)
            return True
        try:
            message = read_message(text, self._limits)
            if message.type != "hello" and not self._is_greeted:
                raise ParameterError("the first message is `hello`")
            await _HANDLERS[message.type](self, message)
        except WendError as error:
            await self._refuse(str(error), type_of(text))
        return True

    async def _refuse(self, reason: str, of: str | None) -> None:
        self._refused += 1
        await self.feed.say("refused", reason=reason[:_LONGEST_REASON], of=of, count=self._refused)

    async def _hello(self, message: Message) -> None:
        if message.given["version"] != VERSION:
            raise ParameterError(f"this server speaks version {VERSION}; load the page again")
        catalogue, limits = self._controller.catalogue, self._limits
        await self._controller.is_described.wait()
        picture = self._controller.picture
        await self.feed.say(
            "welcome", version=VERSION, session=self._server,
            limits={
                "cells": limits.cells, "units": limits.units, "message_bytes": limits.message_bytes,
                "messages_per_second": limits.messages_per_second, "unacknowledged": limits.unacknowledged,
            },
            maps=catalogue.maps(), problems=catalogue.problems(), algorithms=catalogue.algorithms(),
            paints=[{"name": name, "class": number} for name, number in PAINTS.items()],
            given=catalogue.given_name, scene=None if picture is None else picture.number,
        )  # fmt: skip
        self._is_greeted = True
        self.feed.begin()

    async def _ack(self, message: Message) -> None:
        self.feed.acknowledge(message.given["frame"])

    async def _full(self, _: Message) -> None:
        self.feed.ask_full()

    async def _new(self, message: Message) -> None:
        self._controller.new(Recipe(**message.given))

    async def _algorithm(self, message: Message) -> None:
        given = message.given
        change = self._controller.change_algorithm
        self._wait(message, lambda: change(given["pane"], given["name"], given["parameters"]))

    async def _budget(self, message: Message) -> None:
        self._do(message, lambda scene: scene.set_budget(message.given["value"]))

    async def _order(self, message: Message) -> None:
        given = dict(message.given)
        if message.type == "paint":
            given["paint"] = given.pop("as")
        self._do(message, lambda scene: getattr(scene, message.type)(**given))

    async def _pause(self, _: Message) -> None:
        self._controller.pause()

    async def _resume(self, _: Message) -> None:
        self._controller.resume()

    async def _step(self, _: Message) -> None:
        self._controller.step()

    async def _speed(self, message: Message) -> None:
        self._controller.set_speed(message.given["ticks_per_second"])

    async def _why(self, message: Message) -> None:
        pane, agent = message.given["pane"], message.given["agent"]

        async def answer(found: dict[str, Any]) -> None:
            await self.feed.say("why", pane=pane, **found)

        self._do(message, lambda scene: why(scene.pane(pane).world, agent).as_json(), answer, changes=False)

    async def _overlay(self, message: Message) -> None:
        pane, name, agent = (message.given[key] for key in ("pane", "name", "agent"))

        async def choose(_: Any) -> None:
            self.feed.choose(pane, name, agent)

        def try_it(scene: LiveScene) -> None:
            if name is not None:
                scene.pane(pane).draw(name, NO_AGENT if agent is None else agent)

        self._do(message, try_it, choose, changes=False)

    def _do(
        self,
        message: Message,
        what: Callable[[LiveScene], Any],
        answer: Callable[[Any], Awaitable[None]] | None = None,
        *,
        changes: bool = True,
    ) -> None:
        """Have something done between two ticks."""
        self._wait(message, lambda: self._controller.do(what, changes=changes), answer)

    def _wait(
        self, message: Message, act: Callable[[], Awaitable[Any]],
        answer: Callable[[Any], Awaitable[None]] | None = None,
    ) -> None:  # fmt: skip
        """Tell what comes of an act when it is known, and go on reading meanwhile.

        The act begins in the task: if the client goes before that, nothing is left that is never awaited.
        """

        async def wait() -> None:
            try:
                said = await act()
                if answer is not None:
                    await answer(said)
                elif said:
                    self.feed.notice(said)
            except WendError as error:
                await self._refuse(str(error), message.type)
            except ConnectionError:
                raise
            except Exception as error:      # told of in the log where it happened
                await self._refuse(f"an error of the server: {type(error).__name__}", message.type)

        async def wait_unless_gone() -> None:
            with contextlib.suppress(ConnectionError):      # the client has gone meanwhile
                await wait()

        task = asyncio.create_task(wait_unless_gone())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


_HANDLERS: dict[str, Callable[[Session, Message], Awaitable[None]]] = {
    "hello": Session._hello, "ack": Session._ack, "full": Session._full, "new": Session._new,
    "algorithm": Session._algorithm, "budget": Session._budget,
    **dict.fromkeys(("order", "follow", "hold", "paint", "add", "remove"), Session._order),
    "pause": Session._pause, "resume": Session._resume, "step": Session._step, "speed": Session._speed,
    "why": Session._why, "overlay": Session._overlay,
}  # fmt: skip


class Bucket:
    """Messages that may come at once: so many per second, and twice as many after a rest."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._left = 2.0 * per_second
        self._at = 0.0
        self.slowed = 0         # messages in a row that came too fast

    def take(self, now: float) -> float:
        """Count a message; return how many seconds to wait before it is read."""
        self._left = min(self._left + (now - self._at) * self._per_second, 2.0 * self._per_second)
        self._at = now
        self._left -= 1
        if self._left >= 0:
            if self._left >= self._per_second / 2:
                self.slowed = 0
            return 0.0
        self.slowed += 1
        return -self._left / self._per_second
